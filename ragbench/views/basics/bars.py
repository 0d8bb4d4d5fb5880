"""Small charts beside each other: how many of something there are of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.parts import Plot
from ragbench.views.basics import chart
from ragbench.views.basics.material import Material

HEIGHT = 160


@dataclass(frozen=True)
class Bars:
    """One small chart. counted: what is said of each bar beside its name."""

    title: str
    names: Sequence[str]
    counts: Sequence[int]
    counted: Sequence[str]


def plots(material: Material, drawn: Sequence[Bars]) -> list[Plot]:
    """The charts, each with its title."""
    return [
        Plot(
            {"data": [_trace(bars)], "layout": chart.layout(material.text, HEIGHT, bargap=0.25) | _axes(bars)},
            bars.title,
            bars.title,
        )
        for bars in drawn
    ]


def _trace(bars: Bars) -> dict[str, Any]:
    names = [chart.plain(name) for name in bars.names]
    return {
        "type": "bar",
        "x": names,
        "y": list(bars.counts),
        "marker": {"color": "@series-1", "line": {"width": 0}},
        "text": [f"{name}: {chart.plain(said)}" for name, said in zip(names, bars.counted, strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "xaxis": "x",
        "yaxis": "y",
        "showlegend": False,
    }


def _axes(bars: Bars) -> dict[str, Any]:
    across = chart.axis(type="category", showgrid=False, showline=True, linecolor="@muted", anchor="y")
    up = chart.axis(rangemode="tozero", nticks=4, anchor="x") | ({"dtick": 1} if max(bars.counts) <= 3 else {})
    return {"xaxis": across, "yaxis": up}
