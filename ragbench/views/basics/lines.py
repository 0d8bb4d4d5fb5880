"""Lines with a band for their intervals, one a system: how a share grows with what one spends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ragbench.core.parts import Value, spoken
from ragbench.core.types import Estimate
from ragbench.views.basics import chart
from ragbench.views.basics.marks import SYMBOLS, series
from ragbench.views.basics.material import Material

BAND = 0.16


def lines(
    material: Material,
    estimates: Mapping[str, Mapping[int, Estimate]],
    said: Callable[[int], str],
) -> list[dict[str, Any]]:
    """Bands below, lines above. found: system → estimates by where they stand. said: the name of such a place."""
    bands, made = [], []
    for system, rows in estimates.items():
        number, name = series(material, system), chart.plain(system)
        colour, common = f"@series-{number}", {"type": "scatter", "name": name}
        known = {x: (e.low, e.high) for x, e in rows.items() if e.low is not None and e.high is not None}
        bands.append(
            common
            | {
                "x": [*known, *reversed(known)],
                "y": [high for _low, high in known.values()] + [low for low, _high in reversed(known.values())],
                "fill": "toself", "fillcolor": colour, "opacity": BAND, "line": {"width": 0}, "mode": "lines",
                "hoverinfo": "skip", "showlegend": False,
            }
        )  # fmt: skip
        made.append(
            common
            | {
                "x": list(rows),
                "y": [estimate.value for estimate in rows.values()],
                "mode": "lines+markers",
                "line": {"color": colour, "width": 2},
                "marker": {"color": colour, "size": 6, "symbol": SYMBOLS[number]},
                "text": [
                    f"<b>{name}</b> · {said(x)}<br>{spoken(material.text).phrase(Value.of(e))}" for x, e in rows.items()
                ],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    return bands + made


def scale(estimates: Iterable[Estimate]) -> dict[str, Any]:
    """From the tenth below the lowest number up to 1: all panels of a figure have the same."""
    ends = [end for estimate in estimates for end in (estimate.value, estimate.low) if end is not None and end == end]
    least = min(ends, default=0.0)
    return chart.axis(range=[max(0.0, math.floor(10 * least - 0.2) / 10), 1.01], tickformat=".1f", nticks=6)
