"""The interval figure: a mark for each mean and a line for its interval, systems by colour, a panel a scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragbench.core.parts import Figure, Part, Plot, Section, Text, spoken
from ragbench.core.types import Estimate
from ragbench.views.basics import chart
from ragbench.views.basics.compared import level
from ragbench.views.basics.marks import SYMBOLS, measured, series, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.sentences import findings
from ragbench.views.view import view

LABEL = 26
MARKS = 30
"""So many marks are read at once; of more, those of the first metric."""
AXIS_PIXELS = 44
TOP, BOTTOM = 6, 26


@view("intervals")
def intervals(material: Material, present: frozenset[str]) -> list[Part]:
    """Means of the key metrics with their intervals, system by system, under the finding as a title."""
    _ = material.text
    title = findings.finding(material)
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
