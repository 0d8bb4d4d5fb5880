"""A forest of paired differences: a mark for every difference, a line for its interval, a stated scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.parts import Cell, Column, Drawing, Group, Link, P, Part, Phrase, Section, Table, Value
from ragbench.core.types import Comparison
from ragbench.views.basics.compared import corrected_title, p_column
from ragbench.views.basics.marks import chip, named, series
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean

ROWS = 24
"""So many differences are read at once; of more, those of the first panel."""
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
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
