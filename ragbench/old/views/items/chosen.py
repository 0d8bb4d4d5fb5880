"""Which items a page has, which of them are meant, as data frames, and one of them with all that is known of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragbench.old.core import terminal
from ragbench.old.core.names import meant, nearest
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics.verdict_tables import statuses
from ragbench.old.views.basics.marks import kind_of, named
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean
from ragbench.old.views.basics.web import Web, drawn, html
from ragbench.old.views.items import contents, questions, trial_answers
from ragbench.old.views.items.contents import (
    SHARE,
    Claim,
    Claimed,
    Entry,
    Items,
    Judged,
    Measured,
    Numbers,
    Place,
    Section,
    pieces,
    placed,
)
from ragbench.old.views.view import style

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 8
"""How many values of a column an error lists."""


def chosen_questions(material: Material, which: Any) -> tuple[list[str], str]:
    """The ids of the questions that are meant, in the page's order, and how they were chosen, in words.

    which: see `Page.subset`. Raises ValueError for what names no question, with what is legal.
    """
    import pandas as pd

    table = material.measurement.questions
    known = [str(name) for name in table["sample"]]
    if isinstance(which, str):
        wanted, said = set(_fitting(table, which)), which
    else:
        given = _ids(which, known) if isinstance(which, pd.Series | pd.DataFrame) else [str(name) for name in which]
        there = set(known)
        for name in given:
            if name not in there:
                raise ValueError(f"there is no question {name!r}; the nearest are {', '.join(nearest(name, known))}")
        wanted, said = set(given), material.text("chosen by their ids")
    if not wanted and not isinstance(which, str):
        raise ValueError(f"no question is chosen; there are {len(known)}, {', '.join(known[:SHOWN])}, …")
    if not wanted:
        raise ValueError(f"{said!r} leaves no question of {len(known)}{_values(table, said)}")
    return [name for name in known if name in wanted], said


def _fitting(table: pd.DataFrame, condition: str) -> Iterable[str]:
    columns = [str(name) for name in table]
    try:
        matches: Any = table.eval(condition, engine="python")
    except Exception as error:  # whatever pandas makes of a text that people write
        name = re.search(r"name '([^']+)' is not defined", str(error))
        near = meant(name[1], columns) if name else ""
        raise ValueError(
            f"{condition!r} is no condition on questions: {error}{near}; columns are {', '.join(columns)}"
        ) from None
    if getattr(matches, "dtype", None) not in (bool, "boolean") or len(matches) != len(table):
        raise ValueError(
            f"{condition!r} is no condition: it is neither true nor false of a question; one is kind == 'colloquial', "
            f"and columns are {', '.join(columns)}"
        )
    return [str(name) for name, fits in zip(table["sample"], matches.fillna(False), strict=True) if fits]


def _ids(which: pd.Series[Any] | pd.DataFrame, known: list[str]) -> list[str]:
    """Ids of a frame's rows, of a column of ids, or of where a column of true and false is true."""
    import pandas as pd

    if isinstance(which, pd.DataFrame):
        return list(map(str, dict.fromkeys(which.get("sample", which.index))))
    if which.dtype not in (bool, "boolean"):
        return list(map(str, which))
    true = which.fillna(False).to_numpy(dtype=bool)
    if isinstance(which.index, pd.RangeIndex):  # one value a question, in their order
        if len(which) != len(known):
            raise ValueError(f"{len(which)} values for {len(known)} questions: one is needed for each, or ids as index")
        return [name for name, is_true in zip(known, true, strict=True) if is_true]
    return list(map(str, which.index[true]))


def _values(table: pd.DataFrame, condition: str) -> str:
    """What the columns hold that a condition names."""
    said = []
    for name in table:
        if re.search(rf"\b{re.escape(str(name))}\b", condition) and name not in ("sample", "text", "reference"):
            values = sorted({str(value) for value in table[name] if not isinstance(value, list)})
            more = f", … ({len(values)} in all)" if len(values) > SHOWN else ""
            said.append(f"; {name} is one of {', '.join(values[:SHOWN])}{more}")
    return "".join(said)


QUESTION = ("text", "kind", "language", "source", "cluster", "answerable", "reference")


def said(material: Material) -> pd.DataFrame:
    """The values of single questions, with their reasons in the page's language."""
    scores = material.measurement.scores.reset_index(drop=True)
    words = {reason: reason_in(reason, material.text) for reason in scores["reason"].unique()}
    return scores.assign(reason=scores["reason"].map(words))


def long(material: Material) -> pd.DataFrame:
    """One row a system, metric and question, as `Page.to_pandas` has it."""
    scores = said(material).join(_questions(material), on="sample")
    answers = _answers(material)
    if answers is None:
        return scores.assign(answer=None)
    return scores.join(answers.rename("answer"), on=["system", "sample"])


def wide(material: Material, items: Items) -> pd.DataFrame:
    """One row an item, as `Page.to_pandas` has it: unrounded values; of a measure that is a kind, its words."""
    import pandas as pd

    index = pd.Index(list(items.ids), name="sample")
    columns: dict[str, Any] = {"text": pd.Series(list(items.texts), index, dtype=object)}
    columns |= {parting.key: pd.Series(list(parting.values), index, dtype=object) for parting in items.partings}
    if not items.kind:
        columns |= {str(name): known for name, known in _questions(material).reindex(index).items()}
    for measured in items.measures:
        for system in material.systems:
            if not items.kind:
                known = material.wide_scores.get((measured.key, system))
                values: Any = [None] * len(index) if known is None else known.reindex(index).astype(float)
            else:
                values = _long_values(measured.values.get(system, [None] * len(index)), measured.words)
            columns[f"{system} {measured.key}"] = values
    answers = None if items.kind else _answers(material)
    if answers is not None:
        by_system = answers.unstack("system")
        columns |= {f"{name} answer": by_system[name].reindex(index) for name in material.systems if name in by_system}
    return pd.DataFrame(columns, index=index)


def _long_values(numbers: Numbers, words: Any) -> list[Any]:
    if words:
        return [None if value is None else words[int(value)] for value in numbers]
    return [float("nan") if value is None else float(value) for value in numbers]


def _questions(material: Material) -> pd.DataFrame:
    """What is known of every question, by its id."""
    table = material.measurement.questions.drop_duplicates("sample").set_index("sample")
    return table[[name for name in QUESTION if name in table]]


def _answers(material: Material) -> pd.Series[Any] | None:
    """The first answer of every system to every question; None where no answers are kept."""
    table = material.kept("answers", "system", "sample", "response")
    if not len(table):
        return None
    firsts = table.drop_duplicates(["system", "sample"])
    answers: pd.Series[Any] = firsts.set_index(["system", "sample"])["response"]
    return answers


WIDTH = 80  # of a plain terminal


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `page.explain` returns: it shows itself in JupyterLab, and prints as plain lines.

    item: its id. title: its text. about: id and slices. sections: what is known of the item itself, under headings.
    values: by system, (metric, value in words). sides: by system, what it found, answered, and how that was judged.
    """

    material: Material
    item: str
    title: str
    about: str
    sections: Sequence[Section]
    values: dict[str, list[tuple[str, str]]]
    sides: dict[str, Sequence[Section]]

    def _repr_html_(self) -> str:
        sides = [
            (Web(self.material.text).phrase(named(self.material, name)), self.values[name], sections)
            for name, sections in self.sides.items()
        ]
        _ = self.material.text
        own = {"title": self.title, "about": self.about, "shared": self.sections, "sides": sides}
        body = drawn("explanation", _, **own, marked=_marked, share=_.percent(SHARE))
        return str(style("questions.css") + html.div(body, "rb"))

    def __repr__(self) -> str:
        """The first ten lines of what `print` shows."""
        return terminal.brief(str(self))

    def __str__(self) -> str:
        lines = [*_wrapped(self.title), *_wrapped(self.about), *_lines(self.sections)]
        for name, sections in self.sides.items():
            values = " · ".join(f"{metric} {value}" for metric, value in self.values[name])
            lines += ["", *_wrapped(f"== {name}"), *_wrapped(values), *_lines(sections)]
        return "\n".join(lines)


def explanation(material: Material, item: str) -> Explanation:
    """All that is known of the item of that id. Raises ValueError, naming the nearest ids, for any other."""
    items = items_of(material)
    places = {clean(name): place for place, name in enumerate(items.ids)}  # as people see them
    if (place := places.get(clean(item))) is None:
        near = ", ".join(nearest(item, places)) or "none: this page has no items"
        raise ValueError(f"there is no item {item!r}; the nearest are {near}")
    detail = items.read(place)
    slices = [
        f"{parting.name}: {parting.words.get(value, value)}"
        for parting in items.partings
        if (value := parting.values[place])
    ]
    return Explanation(
        material,
        item,
        clean(detail.title or items.texts[place]) or clean(item),
        " · ".join([clean(item), *map(clean, slices)]),
        [_section(material, section) for section in detail.sections],
        {name: _worded_values(material, items, place, name) for name in material.systems},
        {name: [_section(material, section) for section in detail.sides.get(name, ())] for name in material.systems},
    )


def _worded_values(material: Material, items: Items, place: int, system: str) -> list[tuple[str, str]]:
    return [(clean(measure.name), _value(material, measure, place, system)) for measure in items.measures]


def _value(material: Material, measure: Measured, place: int, system: str) -> str:
    known = measure.values.get(system)
    value = None if known is None else known[place]
    if value is not None:
        return measure.words[int(value)] if measure.words else material.text.number(value, measure.digits)
    status = next((status for status, rows in measure.missing.get(system, {}).items() if place in rows), "")
    return statuses(material.text).get(status, status) or material.text.number(None)


def _section(material: Material, section: Section) -> Section:
    """The section with clean texts, and with the gain of every passage in its mark."""
    lead, body = section
    if isinstance(body, str):
        return clean(lead), clean(body)
    if isinstance(body, Claimed):
        return clean(lead), Claimed(clean(body.text), tuple(_claim(claim) for claim in body.claims))
    if isinstance(body, Judged):
        verdicts = [(clean(title), [_entry(material, entry) for entry in lines]) for title, lines in body.verdicts]
        return clean(lead), Judged(body.value, clean(body.said), verdicts)
    return clean(lead), [_entry(material, entry) for entry in body]


def _entry(material: Material, entry: Entry) -> Entry:
    _ = material.text
    gain = "" if entry.gain is None else _("gain {value}", value=f"{entry.gain:g}")
    mark = ", ".join(filter(None, (clean(entry.mark), gain)))
    claims = tuple(_claim(each) for each in entry.claims)
    return entry._replace(text=clean(entry.text), meta=clean(entry.meta), mark=mark, claims=claims)


def _claim(claim: Claim) -> Claim:
    return Claim(clean(claim.statement), clean(claim.verdict), claim.kind, clean(claim.judged))


def _marked(text: str, claims: Sequence[Claim]) -> tuple[list[tuple[str, Place | None]], list[Claim]]:
    """The pieces of a text with the claims that stand in them, and the claims that stand in none."""
    places, left = placed(text, claims)
    return list(pieces(text, places)), left


def _lines(sections: Sequence[Section]) -> Iterator[str]:
    for lead, body in sections:
        if isinstance(body, Judged):
            yield from _wrapped(f"{lead}: {body.value}", "  ")
            yield from _wrapped(body.said, "    ")
            for title, entries in body.verdicts:
                yield from _wrapped(title, "    ")
                yield from _listed(entries, "      ", numbered=False)
            continue
        yield from _wrapped(lead, "  ")
        if isinstance(body, str | Claimed):
            yield from _wrapped(body if isinstance(body, str) else body.text, "    ")
        else:
            yield from _listed(body, "    ", numbered=any(entry.mark for entry in body))


def _listed(entries: Sequence[Entry], indent: str, *, numbered: bool) -> Iterator[str]:
    for number, entry in enumerate(entries, 1):
        said = " · ".join(filter(None, (entry.mark, entry.meta)))
        lead = f"{number}." if numbered else "-"
        yield from _wrapped(f"{lead} {entry.text}" if entry.text else f"{lead} {said}", indent)
        if entry.text:
            yield from _wrapped(said, f"{indent}   ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of the terminal's usual width; nothing for an empty text."""
    said = terminal.plain(" ".join(text.split()))
    return textwrap.wrap(said, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if indent else "")


KINDS: Mapping[str, Callable[[Material], Items]] = {
    "decisions": trial_answers.decisions,
    "dialogues": questions.dialogue_items,
    "judges": trial_answers.trials,
    "sources": contents.items,
}


def items_of(material: Material) -> Items:
    """The page's items: questions where it does not say that its numbers are made of something else."""
    return KINDS.get(kind_of(material), questions.items)(material)
