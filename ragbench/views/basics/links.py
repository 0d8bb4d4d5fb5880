"""Ways from a number to the items that it was made of, in the table of them, and from a metric to what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from ragbench.core.parts import Link, Name, Part, Phrase, Text
from ragbench.metrics.cache import Serving
from ragbench.metrics.decisions import Cell
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean

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
