"""The forest of paired differences: a mark for every difference, a line for its interval, a stated scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragbench.core.types import Comparison
from ragbench.views.basics.marks import chip, named, series, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import clean, shown
from ragbench.views.comparison.verdict_table import corrected_title
from ragbench.views.view import view

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

    title: Markup
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


@view("forest")
def forest(material: Material, present: frozenset[str]) -> Markup:
    """The difference of every challenger from the baseline, by key metric, where metrics are compared."""
    panels = []
    for metric in material.key_metrics:
        rows = tuple(c for name in material.challengers if (c := material.comparison(name, metric)) is not None)
        lower = material.text("lower is better") if material.lower_is_better(metric) else ""
        title = html.all(shown(metric), Markup(" ") + html.small(lower) if lower else "")
        panels.append(Panel(title, metric, material.digits(metric), rows))
    panels = [panel for panel in panels if panel.rows]
    if not panels:
        return Markup("")
    key = material.text(
        "mean difference per question from {baseline}, in the metric's unit ({population}); same bounds, same scale",
        baseline=clean(panels[0].rows[0].baseline),
        population=material.population(row.n for panel in panels for row in panel.rows),
    )
    return html.all(drawn(material, panels), html.p(key, "rb-axis"))


def drawn(material: Material, panels: Sequence[Panel]) -> Markup:
    """The panels, those of metrics of the same bounds on one scale; of very many all but the first are folded.

    Empty for none.
    """
    if not panels:
        return Markup("")
    scales = _scales(material, panels)
    if sum(len(panel.rows) for panel in panels) <= ROWS:
        return _table(material, panels, scales)
    more = material.text.plural("{n} more metric", "{n} more metrics", len(panels) - 1)
    more = f"{more}: {', '.join(panel.name or panel.metric for panel in panels[1:])}"
    first = _table(material, panels[:1], scales)
    return html.all(first, html.fold(more, _table(material, panels[1:], scales)) if panels[1:] else "")


def _table(material: Material, panels: Sequence[Panel], scales: Mapping[str, Scale]) -> Markup:
    _ = material.text
    every = [comparison for panel in panels for comparison in panel.rows]
    p = corrected_title(
        material,
        "; ".join(dict.fromkeys(comparison.family for comparison in every if comparison.p_adjusted is not None)),
    )
    title = p if any(comparison.p_adjusted is not None for comparison in every) else _("p")
    level = _.percent(next((comparison.level for comparison in every), 0.95))
    alone = {comparison.challenger for comparison in every} if len(every) == len(panels) else set()
    heads = [
        html.head(named(material, *alone) if len(alone) == 1 else _("system")),
        html.head(_("difference from the baseline"), "rb-drawn"),
        html.head(_("difference, {level} interval", level=level)),
        html.head(title, "" if "," in title else "rb-short"),
        html.head(_("verdict"), "rb-word"),
    ]
    of = ", ".join(clean(panel.name or panel.metric) for panel in panels)  # a page may have several such tables
    label = f"{_('Differences from the baseline')}: {of}"
    if len(alone) == 1:
        return html.bodies(label, heads, [_lines(material, panels, scales, title)], "rb-forest rb-lines")
    bodies = [_body(material, panel, scales[panel.metric], title) for panel in panels]
    return html.bodies(label, heads, bodies, "rb-forest")


def _lines(material: Material, panels: Sequence[Panel], scales: Mapping[str, Scale], title: str) -> list[Markup]:
    """A row a metric, of a single challenger; a scale is written over the first of the rows that follow it."""
    rows, before = [], None
    for panel in panels:
        scale, [comparison] = scales[panel.metric], panel.rows
        above = Markup("") if scale == before else _ticks(material, panel, scale)
        rows.append(_row(material, panel, comparison, scale, title, panel.title, above))
        before = scale
    return rows


def _body(material: Material, panel: Panel, scale: Scale, title: str) -> list[Markup]:
    """A metric's name and its scale, and below them a row a challenger."""
    rows = [
        _row(material, panel, comparison, scale, title, named(material, comparison.challenger))
        for comparison in panel.rows
    ]
    return [html.panel_row(panel.title, _ticks(material, panel, scale), 3), *rows]


def _ticks(material: Material, panel: Panel, scale: Scale) -> Markup:
    _, digits = material.text, max(0, min(panel.digits, _decimals(scale.step)))
    apart = 1 if len(scale.ticks) <= MOST_NUMBERS else 2
    return html.ticks(
        [
            (scale.place(tick), "" if round(tick / scale.step) % apart else _.number(tick, digits, signed=True))
            for tick in scale.ticks
        ]
    )


def _row(
    material: Material,
    panel: Panel,
    comparison: Comparison,
    scale: Scale,
    title: str,
    name: Markup,
    above: Markup | str = "",
) -> Markup:
    """A difference, drawn and in numbers. title: what its p is called; above: what stands over the drawing."""
    _, ends = material.text, None
    if (
        comparison.low is not None
        and comparison.high is not None
        and math.isfinite(comparison.low)
        and math.isfinite(comparison.high)
    ):
        ends = (scale.place(comparison.low), scale.place(comparison.high))
    drawing = html.reach(
        series(material, comparison.challenger), scale.place(0.0), scale.place(comparison.difference), ends
    )
    value = _.number(comparison.difference, panel.digits, signed=True)
    number = spread(f"{value} {_.interval(comparison.low, comparison.high, panel.digits, signed=True)}")
    p_value = _.p_value(comparison.p if comparison.p_adjusted is None else comparison.p_adjusted)
    return html.row(
        [
            html.row_head(name),
            html.drawn_cell(html.all(above, drawing if math.isfinite(comparison.difference) else "")),
            html.cell(_("difference"), html.link(panel.address, number)),
            html.cell(title, html.number(p_value)),
            html.cell(_("verdict"), chip(material, comparison), "rb-word"),
        ]
    )


def _scales(material: Material, panels: Sequence[Panel]) -> dict[str, Scale]:
    """By metric; metrics that lie between the same two bounds share one."""
    families: dict[object, list[Panel]] = {}
    for panel in panels:
        declared = material.declaration(panel.metric)
        bounds = (None, None) if declared is None else declared.bounds
        families.setdefault(panel.metric if None in bounds else bounds, []).append(panel)
    scales: dict[str, Scale] = {}
    for own in families.values():
        scale = scaled(
            x
            for panel in own
            for comparison in panel.rows
            for x in (comparison.low, comparison.difference, comparison.high)
            if x is not None
        )
        scales |= dict.fromkeys((panel.metric for panel in own), scale)
    return scales


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
