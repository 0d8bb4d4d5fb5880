"""What stands for a system on every page, its numbers and verdicts as parts, lists that unfold, and links to items."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlencode

from ragbench.old.core.language import Translator
from ragbench.old.core.parts import (
    Chip,
    Content,
    Entries,
    Link,
    Mark,
    Name,
    Number,
    Part,
    Parts,
    Phrase,
    Section,
    System,
    Text,
    Value,
)
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.metrics.cache import Serving
from ragbench.old.metrics.decisions import Cell
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean

if TYPE_CHECKING:
    import pandas as pd


SERIES = 8  # colours that eyes tell apart; more systems begin anew
SYMBOLS = ("circle", "circle", "diamond", "square", "triangle-up", "circle-open", "diamond-open", "square-open")


def legend(material: Material) -> list[Phrase]:
    """Systems with the colour and the sign of their marks."""
    return [named(material, name) for name in material.systems]


def shared_legend(material: Material) -> list[Phrase]:
    """The same; empty where there is one system, which needs no telling apart."""
    return legend(material) if len(material.systems) > 1 else []


def named(material: Material, system: str) -> System:
    """A system's sign in its colour, and its name."""
    return System(clean(system), series(material, system))


def series(material: Material, system: str) -> int:
    """The colour of a system, the same on all pages of a run: 0 is the baseline's, the others count from 1 and begin
    again after the last."""
    number = material.order[system]
    return 1 + (number - 1) % (SERIES - 1) if number else 0


def measured(material: Material, number: Estimate | Comparison, metric: str, **more: Any) -> Value:
    """A metric's value or difference with its interval, in as many decimals as the metric has."""
    return Value.of(number, material.digits(metric), **more)


def mark(material: Material, system: str, content: Phrase) -> Mark:
    """What is said of a system beside others, told by its sign."""
    return Mark(content, System(clean(system), series(material, system)))


def value_of(material: Material, sample: str, metric: str, system: str) -> Mark:
    """`● 0.500`: a system's value on a question."""
    return mark(material, system, Number(material.score(sample, metric, system), material.digits(metric)))


def chip(material: Material, of: Comparison | Verdict) -> Chip:
    """A verdict in words, with its sign."""
    return Chip.of(of if isinstance(of, Verdict) else of.verdict, material.verdict(of))


def milliseconds(value: float, low: float | None, high: float | None) -> Value | None:
    """A quantile with its interval; None where nothing was read."""
    if not math.isfinite(value):
        return None
    return Value(value, low, high, digits=2 if value < 10 else 1 if value < 1000 else 0, open=True)


FIRST = 3
"""So many of a list are read at once; the others are folded."""
SYSTEMS = 3
"""Of so many systems the lists stand one below the other; those of the others are folded."""


def ordered(entries: Sequence[Any]) -> Parts:
    """Entries that unfold, in their order."""
    return [Entries(entries, "rb-questions", ordered=True)]


def shortened(
    _: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Parts] = ordered, first: int = FIRST
) -> list[Part]:
    """A list of entries, or of the rows that `drawn` makes a table of: the `first` of them, and the others folded."""
    if len(made) <= first + 1:  # a fold is no shorter than what it would hide
        return list(drawn(made))
    more = _.plural("{n} more", "{n} more", len(made) - first)
    return [*drawn(made[:first]), Section(drawn(made[first:]), more)]


def one_by_one(_: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Parts] | None = None) -> list[Part]:
    """What is shown or said of every system, one below the other; of very many the later ones folded.

    made: of each its parts, or what `drawn` makes parts of.
    """
    return shortened(_, made, drawn or (lambda some: [part for parts in some for part in parts]), SYSTEMS)


def with_examples(
    _: Translator, heading: str, lines: Sequence[str], examples: Sequence[Content], more: Content = ()
) -> Section:
    """What is said of a kind of texts, and folded the first of them."""
    folded = Section((Entries(examples, "rb-hits"), more), _("Examples")) if examples else ()
    return Section((Text(heading, "h3"), list(map(Text, lines)), folded), look="rb-oddity")


def example(identifier: str, text: str, other: str, beside: str) -> list[Part]:
    """A text, what stands beside it, and the ids of both."""
    more = [Text(beside, "rb-more")] if beside else []
    return [Text(text), *more, Text(" · ".join(filter(None, (identifier, other))), "rb-meta")]


Row = TypeVar("Row", bound=Mapping[str, object])


def rows_of(kind: type[Row], table: pd.DataFrame, system: str | None = None) -> list[Row]:
    """The rows of a table, of one system where it is named. kind: what a row is, declared beside what writes it."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return cast(list[Row], table.to_dict("records")) if len(table) else []


METRIC_PAGES = "metrics"
"""The folder of the pages on metrics, beside the pages of a report; a page that has it says so in `present`."""


def link(material: Material, present: frozenset[str], **wish: str | None) -> str | None:
    """The address of the table of questions as it is wished for; None where the page does not hold it.

    wish: metric, system, against (the system beside it), slice (`kind:well_formed`), sort (`worst`, `lost`, `order`),
    outcome (`better`, `measured`, `=0` for the first of a measure's words).
    """
    if "questions" not in present:
        return None
    return "#questions?" + urlencode({key: value for key, value in wish.items() if value})


def behind(material: Material, present: frozenset[str], text: str = "") -> list[Part]:
    """The way from numbers to the questions they were made of, in the words of `text` where these are others; none
    where the page does not list them."""
    if "questions" not in present:
        return []
    text = text or material.text("Every question with its values")
    return [Text(Link(text, "#questions"), "rb-meta rb-behind")]


def metric_name(material: Material, present: frozenset[str], label: str) -> Phrase:
    """A metric's label, leading to its own page where the report has such pages."""
    declared = material.declaration(label)
    if METRIC_PAGES not in present or declared is None:
        return Name(clean(label))
    return Link(Name(clean(label)), f"{METRIC_PAGES}/{declared.name}.html", "rb-metric")


def row_anchor(metric: str, describes: bool) -> str:
    """The anchor of a metric's row on a page that compares, or on one that describes."""
    return anchor("measure" if describes else "metric", metric)


def left(material: Material, number: int, count: int) -> list[Part]:
    """How many of `number` a list of the first `count` leaves to the tables of the run; none where it holds all."""
    if number <= count:
        return []
    _ = material.text
    more = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", number - count)
    return [Text(more, "rb-meta")]


PASSAGE, PAGE = "passage", "page"
SERVINGS = (Serving.WRONG, Serving.DOUBTFUL, Serving.UNKNOWN, Serving.RIGHT)
"""What a served answer can be, the worst first; what is not served comes after all of them."""
OUTCOMES = (
    Cell.FALSE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE, Cell.TRUE_NEGATIVE,
    Cell.TRUE_POSITIVE,
)  # fmt: skip
"""How a decision can fall, the worst first."""
SHARES = ("decision_cost", "balanced_accuracy", "accuracy", "decision_precision", "decision_recall", "f1_score")
CACHE = ("cache_hit_rate", "wrong_hit_rate")
DIALOGUE = ("context_preservation", "multi_turn_consistency", "answer_consistency")
MEASURES: Mapping[str, tuple[str, ...]] = {
    "decisions": (*SHARES, "avg_latency_ms"),
    "dialogues": (*CACHE, *DIALOGUE),
    "judges": ("consistency_score", "error_rate"),
    "sources": ("utilization_rate", "total_chunks", "used_chunks", "unused_chunks"),
}
"""By what a page describes: its measures whose numbers are made of its items."""


def kind_of(material: Material) -> str:
    """What the page's items are: decisions, dialogues, judges' answers, sources; questions of any other."""
    return "decisions" if material.facts.get("describes_decisions") else str(material.facts.get("describes") or "")


def has_items(material: Material, metric: str) -> bool:
    """Whether a measure's number is made of values of single items, or questions, that a table of them shows."""
    return metric in MEASURES.get(kind_of(material), material.scored)


def served_link(serving: Serving) -> str:
    """What the column of servings is narrowed to for one of them."""
    return f"={SERVINGS.index(serving)}"


def cell_link(place: Cell) -> str:
    """What the column of outcomes is narrowed to for one cell of the matrix."""
    return f"={OUTCOMES.index(place)}"


def page_id(url: Any) -> str:
    """The id of a page's row."""
    return f"{PAGE}.{clean(url)}"
