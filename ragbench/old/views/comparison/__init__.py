"""Systems beside each other: the answer in a sentence each, intervals, the forest of differences, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragbench.old.core.gaps import brackets, missing
from ragbench.old.core.language import DASH
from ragbench.old.core.parts import (
    Cell,
    Column,
    Figure,
    Group,
    Link,
    Name,
    Number,
    Part,
    Phrase,
    Plot,
    Section,
    Table,
    Text,
    Value,
    small,
    spoken,
)
from ragbench.old.core.stand_ins import marked
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.tiers.basics.findings import merged, said
from ragbench.old.views.basics import chart, interpretation
from ragbench.old.views.basics.differences import Compared, Notes, Panel, drawn, level
from ragbench.old.views.basics.marks import (
    SYMBOLS,
    behind,
    link,
    measured,
    metric_name,
    named,
    one_by_one,
    series,
    shared_legend,
)
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.comparison.question_groups import correlations, slices, ways, worst
from ragbench.old.views.sentences import conclusions
from ragbench.old.views.sentences.conclusions import facts, sentences
from ragbench.old.views.view import view

__all__ = ["answer", "correlations", "forest", "intervals", "slices", "table", "ways", "worst"]


@view("table")
def table(material: Material, present: frozenset[str]) -> list[Part]:
    """Values, differences, corrected p and verdict words, metric by metric."""
    _ = material.text
    if not material.metrics:
        return [Text(_("Nothing was measured."))]
    adjusted = [c.comparison for c in material.measurement.comparisons if c.comparison.p_adjusted is not None]
    family = "; ".join(dict.fromkeys(comparison.family for comparison in adjusted))
    compared = Compared.of(material, Notes(material), family, corrected=bool(adjusted))
    made = _wide(compared, present) if len(material.systems) <= 2 else _long(compared, present)
    return [
        made,
        Text(_measured(material), "rb-meta"),
        *_families(material),
        *conclusions.repeats_table(material),
        *compared.notes.parts(),
        *interpretation.parts(material, present),
        *behind(material, present),
    ]


def _families(material: Material) -> list[Part]:
    """What p, verdicts and the intervals of differences are adjusted for; folded, the interval of each by itself."""
    _ = material.text
    made = [c for c in material.measurement.comparisons if c.comparison.family]
    families = "; ".join(filter(None, dict.fromkeys(said(c.comparison.family, _) for c in made)))
    same = merged((c.comparison for c in made), _)
    wider = [c for c in made if c.comparison.alone != (c.comparison.low, c.comparison.high)]
    if not wider:
        told = _("Differences: {families}.", families=families)
        return [Text(" ".join(filter(None, (told, same))), "rb-meta")] if families else []
    several = len(material.challengers) > 1
    title = _("Interval of each difference by itself")
    columns = [
        Column(_("metric")),
        *([Column(_("system"))] if several else []),
        Column(_("difference"), "number", signed=True),
        Column(_("interval"), "interval", signed=True),
    ]
    rows = [
        (
            clean(c.metric),
            *([clean(c.comparison.challenger)] if several else []),
            Number(c.comparison.difference),
            Value(None, *c.comparison.alone),
        )
        for c in wider
    ]
    digits = [material.digits(c.metric) for c in wider]
    told = _("Differences: {families}; their intervals hold together.", families=families)
    return [
        Text(" ".join(filter(None, (told, same))), "rb-meta"),
        Section([Table(tuple(columns), tuple(rows), title, digits=digits, language=_.language)], title),
    ]


def _wide(compared: Compared, present: frozenset[str]) -> Table:
    """A row a metric, a column a system."""
    material = compared.material
    _, challenger = material.text, material.challengers[0] if material.baseline and material.challengers else None
    columns = [Column(_("metric"))]
    columns += [
        Column(named(material, name), "interval", head="rb-name", label=clean(name)) for name in material.systems
    ]
    columns += [*(compared.columns if challenger is not None else []), *_count_columns(material)]
    rows = []
    for metric in material.metrics:
        cells: list[Any] = [_metric_name(material, metric, present)]
        cells += [_value(compared, name, metric, present) for name in material.systems]
        comparison = None if challenger is None else material.comparison(challenger, metric)
        if challenger is not None:
            cells += _compared(compared, comparison, metric, present)
        cells += _counts(material, metric, comparison, material.systems)
        rows.append(compared.row(cells, comparison, metric, anchor("metric", metric)))
    return Table(tuple(columns), tuple(rows), _("Values and comparisons"), language=_.language)


def _long(compared: Compared, present: frozenset[str]) -> Table:
    """A row a system, under its metric."""
    material = compared.material
    _, rows = material.text, list[Any]()
    columns = [Column(_("system")), Column(compared.value, "interval"), *compared.columns, *_count_columns(material)]
    for metric in material.metrics:
        rows.append(Group(_metric_name(material, metric, present), anchor("metric", metric), apart=True))
        for name in material.systems:
            comparison = material.comparison(name, metric)
            cells = [named(material, name), _value(compared, name, metric, present)]
            cells += (
                [compared.baseline()] if name == material.baseline else _compared(compared, comparison, metric, present)
            )
            rows.append(compared.row([*cells, *_counts(material, metric, comparison, (name,))], comparison, metric))
    return Table(tuple(columns), tuple(rows), _("Values and comparisons"), language=_.language, look="rb-long")


def _metric_name(material: Material, metric: str, present: frozenset[str]) -> Phrase:
    declared = material.declaration(metric)
    published = declared.published if declared is not None and declared.published else ""
    lower = material.text("lower is better") if material.lower_is_better(metric) else ""
    words = material.text("not shown to order systems as people do") if metric in marked(material.facts) else ""
    beside = ", ".join(part for part in (published, lower, words) if part)
    return (metric_name(material, present, metric), small(beside))


def _value(compared: Compared, system: str, metric: str, present: frozenset[str]) -> Phrase | None:
    material = compared.material
    estimate = material.estimate(system, metric)
    if estimate is None:
        return None
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    return (
        Link(measured(material, estimate, metric), address),
        compared.notes.mark(estimate),
        compared.notes.unidentified(system, metric),
        interpretation.below(material, metric, estimate, system),
        small(material.judge_alone(system, metric)),
        small(material.text("not measured") if math.isnan(estimate.value) else ""),
    )


def _compared(compared: Compared, difference: Comparison | None, metric: str, present: frozenset[str]) -> list[Any]:
    if difference is None:
        return compared.cells(None, metric)
    material = compared.material
    wish = {"metric": clean(metric), "system": clean(difference.challenger), "against": clean(difference.baseline)}
    judge = material.difference_alone(difference.challenger, metric)
    return compared.cells(difference, metric, link(material, present, **wish, sort="lost"), judge)


def _count_columns(material: Material) -> list[Column]:
    _ = material.text
    return [Column(_("n"), "count"), *([Column(_("unmeasured"), "count")] if material.unmeasured else [])]


def _counts(material: Material, metric: str, comparison: Comparison | None, systems: Sequence[str]) -> list[Any]:
    """n: pairs where two systems are compared, else measured questions. Unmeasured: of each system, where any are."""
    _ = material.text
    estimates = [e for name in systems if (e := material.estimate(name, metric)) is not None]
    counts = [comparison.n] if comparison is not None else sorted({e.n for e in estimates})
    cells: list[Any] = [tuple(counts) or DASH]
    if material.unmeasured:
        lacked = [missing(e, _, material.digits(metric)) for e in estimates]
        text = " / ".join(lacked if len(set(lacked)) > 1 else lacked[:1]) or DASH
        cells.append(Cell(text, "" if any(e.n_unmeasured for e in estimates) else "rb-quiet"))
    return cells


def _measured(material: Material) -> str:
    """The sentence below the table: that nothing is missing, or how much is."""
    _ = material.text
    if not material.unmeasured:
        return _("Every value was measured: nothing is left out of a mean.")
    text = _.plural(
        "{n} value could not be measured; it is in no mean.",
        "{n} values could not be measured; they are in no mean.",
        material.unmeasured,
    )
    return f"{text} {brackets((e.estimate for e in material.measurement.estimates), _)}"


@view("answer")
def answer(material: Material, present: frozenset[str]) -> list[Part]:
    """The answer in a sentence for each challenger, and the facts it stands on."""
    return [Section(one_by_one(material.text, sentences(material)), look="rb-says"), *facts(material)]


@view("forest")
def forest(material: Material, present: frozenset[str]) -> list[Part]:
    """The difference of every challenger from the baseline, by key metric, where metrics are compared."""
    panels = []
    for metric in material.key_metrics:
        rows = tuple(c for name in material.challengers if (c := material.comparison(name, metric)) is not None)
        lower = material.text("lower is better") if material.lower_is_better(metric) else ""
        panels.append(Panel((Name(shown(metric)), small(lower)), metric, material.digits(metric), rows))
    panels = [panel for panel in panels if panel.rows]
    if not panels:
        return []
    key = material.text(
        "mean difference per question from {baseline}, in the metric's unit ({population}); same bounds, same scale",
        baseline=clean(panels[0].rows[0].baseline),
        population=material.population(row.n for panel in panels for row in panel.rows),
    )
    return [*drawn(material, panels), Text(key, "rb-axis")]


LABEL = 26  # characters that 390 pixels leave beside an interval
MARKS = 30
"""So many marks are read at once; of more, those of the first metric."""
AXIS_PIXELS = 44  # a line of ticks and its title
TOP, BOTTOM = 6, 26  # pixels: half a mark, a line of ticks


@view("intervals")
def intervals(material: Material, present: frozenset[str]) -> list[Part]:
    """Means of the key metrics with their intervals, system by system, under the finding as a title."""
    _ = material.text
    title = conclusions.finding(material)
    if not _panels(material):
        return [Text(_("Nothing was measured, so there is nothing to draw."))]
    said = _("{title}. The table below holds the same numbers.", title=clean(title))
    axis, (leading, others) = axis_text(material), _leading(material)
    drawn = Figure(title, [Plot(figure(material, leading), said)], shared_legend(material), axis)
    if not others:
        return [drawn]
    more = _.plural("{n} more metric", "{n} more metrics", len(others))
    folded = Figure("", [Plot(figure(material, others), said)], axis=axis)
    return [drawn, Section([folded], f"{more}: {', '.join(others)}")]


def _leading(material: Material) -> tuple[list[str], list[str]]:
    """The metrics that are drawn at once, and those of very many systems that are folded: all but the first."""
    metrics = [metric for panel in _panels(material) for metric in panel]
    if len(metrics) * len(material.systems) <= MARKS:
        return material.key_metrics, []
    first = next(metric for metric in material.key_metrics if metric in metrics)
    return [first], [metric for metric in material.key_metrics if metric in metrics and metric != first]


def axis_text(material: Material) -> str:
    """What is drawn, of what: `mean over questions (n = 129, campus:en), 95% interval`."""
    _ = material.text
    drawn = [
        e.n for metric in material.key_metrics for name in material.systems if (e := _drawable(material, name, metric))
    ]
    said = {"population": material.population(drawn), "level": level(material)}
    if material.facts.get("sets"):
        return _("mean over questions, or value of all answers ({population}), {level} interval", **said)
    return _("mean over questions ({population}), {level} interval", **said)


def figure(material: Material, metrics: Sequence[str] | None = None) -> dict[str, Any]:
    """Plotly JSON with named colours. metrics: those of the key metrics that are drawn; all of them if None."""
    panels = _panels(material, metrics)
    rows = [len(metrics) for metrics in panels]
    row_pixels = max(40, 12 * len(material.systems) + 18)
    inner = sum(rows) * row_pixels + (len(panels) - 1) * AXIS_PIXELS
    layout = chart.layout(
        material.text,
        inner + TOP + BOTTOM,
        margin={"l": 8, "r": 16, "t": TOP, "b": BOTTOM, "pad": 0},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        annotations=[],
    )
    traces: list[dict[str, Any]] = []
    top = 1.0
    for number, metrics in enumerate(panels, start=1):
        share = (rows[number - 1] * row_pixels) / inner
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = _x_axis(material, metrics, suffix)
        layout[f"yaxis{suffix}"] = _y_axis(metrics, (max(0.0, top - share), top), suffix)
        layout["annotations"] += [_label(metric, row, suffix) for row, metric in enumerate(metrics)]
        traces += [_trace(material, name, metrics, suffix) for name in material.systems]
        top -= share + AXIS_PIXELS / inner
    return {"data": traces, "layout": layout}


def _panels(material: Material, drawn: Sequence[str] | None = None) -> list[list[str]]:
    """Metrics parted by scale: those whose numbers lie between 0 and 1 share a panel, any other has its own."""
    shares: list[str] = []
    others: list[str] = []
    for metric in material.key_metrics if drawn is None else drawn:
        if _ends(material, [metric]):
            (shares if _is_share(material, [metric]) else others).append(metric)
    return ([shares] if shares else []) + [[metric] for metric in others]


def _ends(material: Material, metrics: list[str]) -> list[float]:
    """All numbers that are drawn of these metrics."""
    estimates = [_drawable(material, name, metric) for metric in metrics for name in material.systems]
    return [x for e in estimates if e is not None for x in (e.value, e.low, e.high) if x is not None]


def _is_share(material: Material, metrics: list[str]) -> bool:
    numbers = _ends(material, metrics)
    return bool(numbers) and min(numbers) >= 0 and max(numbers) <= 1


def _drawable(material: Material, system: str, metric: str) -> Estimate | None:
    estimate = material.estimate(system, metric)
    return None if estimate is None or not math.isfinite(estimate.value) else estimate


def _trace(material: Material, system: str, metrics: list[str], suffix: str) -> dict[str, Any]:
    count, place = len(material.systems), material.systems.index(system)
    step = min(0.24, 0.64 / max(count - 1, 1))
    shift = (place - (count - 1) / 2) * step
    marks = [(row, metric, e) for row, metric in enumerate(metrics) if (e := _drawable(material, system, metric))]
    number = series(material, system)
    colour = f"@series-{number}"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": chart.plain(system),
        "x": [e.value for _, _, e in marks],
        "y": [row + shift for row, _, _ in marks],
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "marker": {"color": colour, "size": 9, "symbol": SYMBOLS[number], "line": {"width": 0}},
        "error_x": chart.reach([e for _, _, e in marks], colour, 2.5),
        "text": [_hover(material, system, metric, e) for _, metric, e in marks],
        "hovertemplate": "%{text}<extra></extra>",
        "legendgroup": chart.plain(system),
        "showlegend": suffix == "",
        "cliponaxis": False,
    }


def _hover(material: Material, system: str, metric: str, estimate: Estimate) -> str:
    _ = material.text
    count = _.plural("{n} question", "{n} questions", estimate.n)
    named, number = (
        f"<b>{chart.plain(system)}</b> · {chart.plain(metric)}",
        spoken(_).phrase(measured(material, estimate, metric)),
    )
    return f"{named}<br>{chart.plain(number)}<br>{chart.plain(count)}"


def _x_axis(material: Material, metrics: list[str], suffix: str) -> dict[str, Any]:
    axis = chart.axis(anchor=f"y{suffix}", nticks=6, showline=True, linecolor="@muted", automargin=False)
    if _is_share(material, metrics):
        axis |= {"range": [-0.015, 1.015], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "tickformat": ".1f"}
    return axis


def _y_axis(metrics: list[str], domain: tuple[float, float], suffix: str) -> dict[str, Any]:
    return {
        "anchor": f"x{suffix}",
        "domain": [round(domain[0], 6), round(domain[1], 6)],
        "range": [len(metrics) - 0.45, -0.55],
        "tickvals": list(range(len(metrics))),
        "ticktext": [chart.plain(metric, LABEL) + "  " for metric in metrics],
        "fixedrange": True,
        "zeroline": False,
        "showgrid": False,
        "ticks": "",
        "automargin": True,
    }


def _label(metric: str, row: int, suffix: str) -> dict[str, Any]:
    """The metric's name above its row: what a narrow page shows in place of the axis."""
    return {
        "text": chart.plain(metric),
        "xref": "paper",
        "yref": f"y{suffix}",
        "x": 0,
        "y": row - 0.5,
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
        "visible": False,
        "font": {"size": 12, "color": "@ink"},
        "bgcolor": "@paper",
    }
