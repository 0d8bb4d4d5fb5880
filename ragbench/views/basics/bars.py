"""Small charts beside each other: how many of something there are of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ragbench.views.basics import chart
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html

HEIGHT = 160


@dataclass(frozen=True)
class Bars:
    """One small chart. counted: what is said of each bar beside its name."""

    title: str
    names: Sequence[str]
    counts: Sequence[int]
    counted: Sequence[str]


def panels(material: Material, drawn: Sequence[Bars]) -> Markup:
    """The charts, each with its title, as many in a row as there is room for."""
    parts = []
    for bars in drawn:
        layout = chart.layout(material.text, HEIGHT, bargap=0.25) | _axes(bars)
        parts.append(
            html.div(html.lead(bars.title) + chart.plot({"data": [_trace(bars)], "layout": layout}, bars.title))
        )
    return html.div(html.all(*parts), "rb-maps")


def figure(material: Material, title: str, drawn: Sequence[Bars]) -> dict[str, Any]:
    """The charts in one figure, two a row, for JupyterLab."""
    rows = (len(drawn) + 1) // 2
    layout = chart.layout(material.text, rows * (HEIGHT + 40) + 40, bargap=0.25)
    layout["margin"] = {"l": 8, "r": 8, "t": 50, "b": 30, "pad": 0}
    layout["title"] = {"text": chart.plain(title), "font": {"size": 15}, "x": 0, "xref": "paper"}
    traces = []
    for place, bars in enumerate(drawn):
        suffix = "" if place == 0 else str(place + 1)
        row, column = divmod(place, 2)
        axes = _axes(bars, suffix)
        heading = {"text": chart.plain(bars.title), "font": {"size": 12}}
        axes[f"xaxis{suffix}"] |= {"domain": [column * 0.54, column * 0.54 + 0.46], "title": heading}
        axes[f"yaxis{suffix}"]["domain"] = [1 - (row + 0.72) / rows, 1 - row / rows]
        layout |= axes
        traces.append(_trace(bars, suffix))
    return {"data": traces, "layout": layout}


def _trace(bars: Bars, suffix: str = "") -> dict[str, Any]:
    names = [chart.plain(name) for name in bars.names]
    return {
        "type": "bar",
        "x": names,
        "y": list(bars.counts),
        "marker": {"color": "@series-1", "line": {"width": 0}},
        "text": [f"{name}: {chart.plain(said)}" for name, said in zip(names, bars.counted, strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "showlegend": False,
    }


def _axes(bars: Bars, suffix: str = "") -> dict[str, Any]:
    across = chart.axis(type="category", showgrid=False, showline=True, linecolor="@muted", anchor=f"y{suffix}")
    up = chart.axis(rangemode="tozero", nticks=4, anchor=f"x{suffix}") | ({"dtick": 1} if max(bars.counts) <= 3 else {})
    return {f"xaxis{suffix}": across, f"yaxis{suffix}": up}
