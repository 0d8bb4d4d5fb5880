"""What all charts share: plain Plotly JSON with colours by name, quiet axes, and texts that Plotly cannot misread.

On a page, colours are names (`@series-1`) that the page's script looks up in the style sheet, so that a chart follows
the reader's light or dark scheme; in JupyterLab they are colours that suit both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape as escape_html
from html import unescape
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.measurement import without_nan
from ragbench.core.types import Estimate
from ragbench.views.basics.text import ELLIPSIS, clean

NOTEBOOK_COLOURS = {
    "@series-0": "#8795a1",
    "@series-1": "#3f8fd9",
    "@series-2": "#cf9a20",
    "@series-3": "#9a5aa6",
    "@series-4": "#3a8a5a",
    "@series-5": "#a48c5c",
    "@series-6": "#35b0ee",
    "@series-7": "#6a62ee",
    "@ink": "#7a858f",
    "@muted": "#7a858f",
    "@line": "rgba(128,140,150,0.25)",
    "@paper": "rgba(0,0,0,0)",
}


def layout(text: Translator, height: int, **more: Any) -> dict[str, Any]:
    """What every chart's layout begins with."""
    return {
        "height": height,
        "autosize": True,
        "margin": {"l": 8, "r": 16, "t": 6, "b": 26, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "@ink"},
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@line", "font": {"color": "@ink"}, "align": "left"},
        "hovermode": "closest",
        "dragmode": False,
        "showlegend": False,
        "separators": ",\u202f" if text.number(0.5, 1) == "0,5" else ".,",
        **more,
    }


def axis(**more: Any) -> dict[str, Any]:
    """A quiet axis: a grid, small grey numbers, no zooming."""
    return {
        "fixedrange": True,
        "zeroline": False,
        "showgrid": True,
        "gridcolor": "@line",
        "gridwidth": 1,
        "ticks": "",
        "tickfont": {"color": "@muted", "size": 12},
        "showline": False,
        "automargin": True,
        **more,
    }


def reach(estimates: Sequence[Estimate], colour: str, thickness: float) -> dict[str, Any]:
    """The bars of intervals, from each value to its ends; none where there is no interval."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if e.high is None else abs(e.high - e.value) for e in estimates],
        "arrayminus": [0 if e.low is None else abs(e.value - e.low) for e in estimates],
        "color": colour,
        "thickness": thickness,
        "width": 0,
    }


def numbers(figure: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a figure draws, a row a mark: `panel` (its axes), `name`, `x`, `y`, `z`, `low`, `high`, `text`."""
    rows = []
    for trace in figure["data"]:
        common = {
            "panel": f"{trace.get('xaxis', 'x')}{trace.get('yaxis', 'y')}",
            "name": unescape(trace.get("name", "")),
        }
        if trace.get("type") == "heatmap":
            named = [figure["layout"].get(f"{axis}axis", {}).get("ticktext") or trace[axis] for axis in "xy"]
            rows += [{"panel": "xy", "name": "", "x": named[0][column], "y": named[1][row], "z": value}
                     for row, cells in enumerate(trace["z"]) for column, value in enumerate(cells)]  # fmt: skip
            continue
        if trace.get("fill") == "toself":  # the band of a line that is there itself
            continue
        for place in range(len(trace.get("x") or ())):
            row = common | {axis: trace[axis][place] for axis in "xyz" if axis in trace}
            along = "x" if "error_x" in trace else "y"
            if reach := trace.get(f"error_{along}"):
                at = row[along] + (trace["base"][place] if isinstance(trace.get("base"), list) else 0)
                up, down = (reach.get(side, [None] * (place + 1))[place] for side in ("array", "arrayminus"))
                row |= {"low": None if down is None else at - down, "high": None if up is None else at + up}
            if isinstance(trace.get("text"), list):
                row["text"] = unescape(re.sub(r"<[^<>]++>", " ", str(trace["text"][place]))).strip()
            rows.append(row)
    return rows


def in_notebook(figure: Mapping[str, Any]) -> dict[str, Any]:
    """The same figure with colours that suit JupyterLab's light and dark themes."""
    coloured: dict[str, Any] = replaced(without_nan(figure), lambda text: NOTEBOOK_COLOURS.get(text, text))
    return coloured


def plain(text: str, limit: int | None = None) -> str:
    """A text for Plotly, which reads a little HTML: signs of markup escaped, cut in the middle past `limit`."""
    known = clean(text)
    if limit is not None and len(known) > limit:
        known = known[: limit - 9] + ELLIPSIS + known[-8:]
    return escape_html(known, quote=False).replace("$", "&#36;")


def replaced(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON value with every text changed."""
    if isinstance(value, dict):
        return {key: replaced(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
