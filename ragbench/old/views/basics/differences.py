"""Differences: a forest of them, their columns in a table, and footnotes on intervals and p."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.old.core.language import Translator
from ragbench.old.core.parts import (
    Call,
    Cell,
    Column,
    Drawing,
    Entries,
    Group,
    Link,
    Note,
    P,
    Part,
    Phrase,
    Row,
    Section,
    Table,
    Value,
    small,
)
from ragbench.old.core.types import Comparison, Estimate, IntervalNote
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics import withholding
from ragbench.old.tiers.basics.verdict_tables import beside, doubted, interval_name, noted
from ragbench.old.views.basics.marks import chip, measured, named, series
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean


class Notes:
    """Footnotes in the order in which the table calls for them."""

    def __init__(self, material: Material, prefix: str = "note") -> None:
        self._material = material
        self._prefix = prefix
        self._called: dict[tuple[str, str, str], int] = {}

    def mark(self, estimate: Estimate | Comparison) -> Phrase:
        """The marks of a number whose printed interval is not the bootstrap's, or of which one may err more often than
        it says; empty for any other."""
        unsure = doubted(estimate, self._material.text) if isinstance(estimate, Estimate) else ""
        return (self._kind(estimate), self._call("doubted", unsure) if unsure else "")

    def _kind(self, estimate: Estimate | Comparison) -> Phrase:
        """The mark of one whose interval is not the bootstrap's."""
        corrected = estimate.method in BY_PEOPLE
        if estimate.note == "empty" or not (estimate.note or corrected):
            return ""
        note: IntervalNote = estimate.note
        if corrected:
            return self._call(note, estimate.method)
        if note == "few" and estimate.clusters and (isinstance(estimate, Estimate) or estimate.method == "t_effective"):
            note = "few_clusters"
        elif isinstance(estimate, Comparison) and note in BETWEEN_TWO:
            note = BETWEEN_TWO[note]
        lender = estimate.lender if isinstance(estimate, Estimate) else ""
        return self._call(note, estimate.method, lender)

    def unidentified(self, system: str, metric: str, where: Mapping[str, Any] | None = None) -> Phrase:
        """The mark of a number that hangs on passages of which too many are none of the data set's; else empty."""
        reason = withholding.why(self._material.facts, [system], metric, where)
        return self._call("unidentified", reason) if reason else ""

    def _call(self, note: str, method: str, lender: str = "") -> Call:
        number = self._called.setdefault((note, method, lender), len(self._called) + 1)
        return Call(f"{self._prefix}-{number}", self._material.text("note {n}", n=number), _letter(number))

    def parts(self) -> list[Part]:
        """The list of footnotes; none if none was called."""
        notes = [
            Note(f"{self._prefix}-{number}", _letter(number), explained(self._material, *called))
            for called, number in self._called.items()
        ]
        return [Entries(notes, "rb-notes")] if notes else []


BETWEEN_TWO: dict[str, IntervalNote] = {
    "few": "few_moved",
    "no_spread": "none_moved",
    "equal_groups": "groups_moved_alike",
}
"""What a note of a single system says of a difference."""
BY_PEOPLE = ("prediction_powered", "people")
"""Methods of a mean that people's labels correct, or that is theirs alone; n counts the labels."""


def without_judge(note: str, _: Translator) -> str:
    """Why people's labels stand alone and the judge is left aside; empty where it is not."""
    reasons = {
        "weak_judge": _("people alone: the judge does not follow them"),
        "few": _("people alone: too few labels, or all answers are labelled"),
        "no_spread": _("people alone: labels or scores do not differ"),
        "ceiling": _("people alone: nearly all labels lie at one end of the scale"),
        "empty": _("no label is of an answer that was judged"),
    }
    return reasons.get(note, "")


def explained(material: Material, note: str, method: str, lender: str = "") -> str:
    """Why the printed interval is not the bootstrap's. lender: whose design effect was taken, for "borrowed_spread".

    Of "unidentified" `method` is the reason for which nothing can be concluded from a number, of "doubted" the whole
    sentence.
    """
    _ = material.text
    if note == "doubted":
        return f"{method[:1].upper()}{method[1:]}."
    if note == "unidentified":
        return _("Nothing can be concluded from it: {reason}.", reason=reason_in(method, _))
    name = interval_name(method, _)
    if method in BY_PEOPLE:
        reason = without_judge(note, _)
        text = _("{method}; n counts labels.", method=name[:1].upper() + name[1:])
        return " ".join(filter(None, [text, f"{reason[:1].upper()}{reason[1:]}." if reason else ""]))
    reason = noted(note, _, clean(lender))
    return _("{method}; {reason}.", method=name[:1].upper() + name[1:], reason=reason)


def _letter(number: int) -> str:
    return chr(ord("a") + (number - 1) % 26)


ROWS = 24
"""So many differences are read at once; of more, those of the first panel."""
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)  # steps that people count in
TICKS = 4
MOST_NUMBERS = 5
"""Of more ticks every other has a number, or they would run into each other."""
LEAST = 1e-12
"""A difference below it is none that a scale is drawn for."""
ROOM = 0.12
"""Of the scale that is kept free on the side of zero where nothing lies."""


@dataclass(frozen=True)
class Panel:
    """The differences on one metric. title: what stands above them. address: where a difference leads to.

    name: what they are called where they are folded; the metric, if nothing.
    """

    title: Phrase
    metric: str
    digits: int
    rows: tuple[Comparison, ...]
    address: str | None = None
    name: str = ""


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, in the metric's unit."""

    low: float
    high: float
    step: float

    def place(self, value: float) -> float:
        """Where a difference stands, in per cent of the width."""
        return round(100 * (value - self.low) / (self.high - self.low), 3)

    @property
    def ticks(self) -> list[float]:
        """The multiples of the step that lie on it."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        return [number * self.step for number in range(first, last + 1)]


def drawn(material: Material, panels: Sequence[Panel]) -> list[Part]:
    """The panels, those of metrics of the same bounds on one scale; of very many all but the first are folded.

    None for none.
    """
    if not panels:
        return []
    scales = _scales(material, panels)
    if sum(len(panel.rows) for panel in panels) <= ROWS:
        return [_table(material, panels, scales)]
    more = material.text.plural("{n} more metric", "{n} more metrics", len(panels) - 1)
    more = f"{more}: {', '.join(panel.name or panel.metric for panel in panels[1:])}"
    folded = [Section([_table(material, panels[1:], scales)], more)] if panels[1:] else []
    return [_table(material, panels[:1], scales), *folded]


def _table(material: Material, panels: Sequence[Panel], scales: Mapping[str, Scale]) -> Table:
    _ = material.text
    every = [compared for panel in panels for compared in panel.rows]
    corrected = [compared.family for compared in every if compared.p_adjusted is not None]
    title = corrected_title(material, "; ".join(dict.fromkeys(corrected))) if corrected else _("p")
    level = _.percent(next((compared.level for compared in every), 0.95))
    alone = {compared.challenger for compared in every} if len(every) == len(panels) else set()
    columns = (
        Column(named(material, *alone) if len(alone) == 1 else _("system")),
        Column(_("difference from the baseline"), look="rb-drawn"),
        Column(_("difference, {level} interval", level=level), "interval", label=_("difference")),
        p_column(title),
        Column(_("verdict"), "verdict", look="rb-word"),
    )
    of = ", ".join(clean(panel.name or panel.metric) for panel in panels)  # a page may have several such tables
    label = f"{_('Differences from the baseline')}: {of}"
    rows = _lines(material, panels, scales) if len(alone) == 1 else _bodies(material, panels, scales)
    look = "rb-forest rb-lines" if len(alone) == 1 else "rb-forest"
    return Table(columns, tuple(rows), label, language=_.language, look=look)


def _lines(material: Material, panels: Sequence[Panel], scales: Mapping[str, Scale]) -> list[Any]:
    """A row a metric, of a single challenger; a scale is written over the first of the rows that follow it."""
    rows, before = [], None
    for panel in panels:
        scale, [compared] = scales[panel.metric], panel.rows
        rows.append(
            _row(
                material, panel, compared, scale, panel.title, "" if scale == before else _ticks(material, panel, scale)
            )
        )
        before = scale
    return rows


def _bodies(material: Material, panels: Sequence[Panel], scales: Mapping[str, Scale]) -> list[Any]:
    """A metric's name and its scale, and below them a row a challenger."""
    rows = list[Any]()
    for panel in panels:
        scale = scales[panel.metric]
        rows.append(Group(panel.title, cells=(_ticks(material, panel, scale), Cell("", span=3)), apart=True))
        rows += [_row(material, panel, own, scale, named(material, own.challenger)) for own in panel.rows]
    return rows


def _ticks(material: Material, panel: Panel, scale: Scale) -> Drawing:
    _, digits = material.text, max(0, min(panel.digits, _decimals(scale.step)))
    apart = 1 if len(scale.ticks) <= MOST_NUMBERS else 2
    marks = [
        (scale.place(tick), "" if round(tick / scale.step) % apart else _.number(tick, digits, signed=True))
        for tick in scale.ticks
    ]
    return Drawing("ticks", {"marks": marks})


def _row(
    material: Material, panel: Panel, compared: Comparison, scale: Scale, name: Phrase, above: Phrase = ""
) -> tuple[Any, ...]:
    """A difference, drawn and in numbers. above: what stands over the drawing."""
    ends = None
    if all(end is not None and math.isfinite(end) for end in (compared.low, compared.high)):
        ends = (scale.place(compared.low), scale.place(compared.high))
    places = {"zero": scale.place(0.0), "value": scale.place(compared.difference), "ends": ends}
    drawing = Drawing("reach", {"series": series(material, compared.challenger), **places})
    return (
        name,
        (above, drawing if math.isfinite(compared.difference) else ""),
        Link(Value.of(compared, panel.digits), panel.address),
        P.of(compared),
        chip(material, compared),
    )


def _scales(material: Material, panels: Sequence[Panel]) -> dict[str, Scale]:
    """By metric; metrics that lie between the same two bounds share one."""
    families: dict[object, list[Panel]] = {}
    for panel in panels:
        declared = material.declaration(panel.metric)
        bounds = (None, None) if declared is None else declared.bounds
        families.setdefault(panel.metric if None in bounds else bounds, []).append(panel)
    found: dict[str, Scale] = {}
    for own in families.values():
        scale = scaled(
            x for panel in own for one in panel.rows for x in (one.low, one.difference, one.high) if x is not None
        )
        found |= dict.fromkeys((panel.metric for panel in own), scale)
    return found


def scaled(numbers: Iterable[float], *, zero: bool = True) -> Scale:
    """The scale that holds these numbers, between round ones; of differences, which have a zero, that too."""
    known = [*([0.0] if zero else []), *(x for x in numbers if math.isfinite(x))]
    low, high = min(known), max(known)
    width = high - low if high - low > LEAST else 1.0
    low, high = (min(low, -ROOM * width), max(high, ROOM * width)) if zero else (low, low + width)
    rough = (high - low) / TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in NICE if size * each >= rough * (1 - 1e-9))
    return Scale(math.floor(low / step) * step, math.ceil(high / step) * step, step)


def _decimals(step: float) -> int:
    """How many decimals write the multiples of a step of `NICE`."""
    exponent = math.floor(math.log10(step))
    return -exponent + (not math.isclose(step / 10.0**exponent, round(step / 10.0**exponent)))


@dataclass(frozen=True)
class Compared:
    """Of a family of comparisons. value: what a column of means is called. p: what its p is called."""

    material: Material
    notes: Notes
    value: str
    p: str

    @classmethod
    def of(cls, material: Material, notes: Notes, family: str, *, corrected: bool = True) -> Compared:
        """With the level of the page's intervals."""
        value = material.text("mean, {level} interval", level=level(material))
        return cls(material, notes, value, corrected_title(material, family) if corrected else material.text("p"))

    @property
    def columns(self) -> list[Column]:
        """A difference, its p and its verdict."""
        _ = self.material.text
        difference = _("difference, {level} interval", level=level(self.material))
        return [
            Column(difference, "interval", signed=True, label=_("difference")),
            p_column(self.p),
            Column(_("verdict"), "verdict", look="rb-word"),
        ]

    def cells(self, compared: Comparison | None, metric: str, address: str | None = None, judge: str = "") -> list[Any]:
        """Their cells. address: where the difference leads to. judge: what the judge alone says of it."""
        if compared is None:
            return [None, None, None]
        number = Link(measured(self.material, compared, metric), address)
        return [(number, self.notes.mark(compared), small(judge)), P.of(compared), chip(self.material, compared)]

    def baseline(self) -> Cell:
        """What stands there for the system that others are compared with."""
        return Cell(self.material.text("baseline"), span=3)

    def row(
        self, cells: Sequence[Any], compared: Comparison | None, metric: str, anchor: str = "", *, brief: bool = False
    ) -> Row:
        """A row, and below it what a comparison without a verdict could have shown; brief: the first of it alone."""
        more = [] if compared is None else beside(compared, self.material.text, self.material.digits(metric))
        return Row(cells, anchor, "; ".join(more[:1] if brief else more))


def level(material: Material) -> str:
    """That of the page's intervals, as per cent."""
    return material.text.percent(next((e.estimate.level for e in material.measurement.estimates), 0.95))


def p_column(title: str) -> Column:
    """The column of a p of that title."""
    return Column(title, "p", head="" if "," in title else "rb-short")


def corrected_title(material: Material, family: str) -> str:
    """`p (Holm)`: the name of a corrected p by what its family says of the correction."""
    names = {"max-t": "max-T", "holm": "Holm", "benjamini": "Benjamini–Hochberg"}
    by = [name for key, name in names.items() if key in family.lower()]
    if len(by) > 1:  # too long for a line, which breaks between the names alone
        return f"p ({', '.join(by)})".replace("p (", "p\u00a0(").replace("-", "\u2011")
    return f"p ({by[0]})" if by else material.text("p (corrected)")
