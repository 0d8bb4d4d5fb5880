"""A figure of a page as one for JupyterLab: its title, its legend and its charts in a single figure of Plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.parts import Figure, Plain, Plot
from ragbench.views.basics import chart

TITLE, LEGEND, PANEL = 44, 26, 26
"""Pixels above the charts for the title, the legend, and the title of a chart that is one of several."""
ACROSS = 2
"""Charts in a row."""
GAP = 0.06
"""Between two of them, as a share of the width."""
_AXES = ("xaxis", "yaxis", "scene")
_REFERENCES = {"anchor", "matches", "scaleanchor", "overlaying", "xref", "yref", "xaxis", "yaxis", "scene"}


def in_one(figure: Figure, _: Translator) -> dict[str, Any]:
    """The figure as JSON with named colours; without data where it has none."""
    if len(figure.plots) == 1:
        made = deepcopy(dict(figure.plots[0].chart))
        made["layout"] = dict(made["layout"])
    else:
        made = _beside(figure.plots, _)
    layout = made["layout"]
    above = TITLE + (LEGEND if figure.legend else 0) + (PANEL if len(figure.plots) > 1 else 0)
    margin = layout.get("margin") or {}
    layout["margin"] = margin | {"t": margin.get("t", 0) + above}
    layout["height"] = layout.get("height", 0) + above
    title = chart.plain(Plain(_).phrase(figure.title or next((plot.label for plot in figure.plots), "")))
    layout["title"] = {"text": title, "font": {"size": 15}, "x": 0, "xref": "paper", "y": 1, "yref": "container",
                       "yanchor": "top", "pad": {"t": 12}}  # fmt: skip
    layout["showlegend"] = bool(figure.legend)
    if figure.legend:
        layout["legend"] = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"}
        _once(made["data"])
    return made


def _once(traces: Sequence[dict[str, Any]]) -> None:
    """Each name stands in the legend once, and switches all that it is the name of."""
    seen = set[str]()
    for trace in traces:
        name = str(trace.get("name", ""))
        trace["legendgroup"] = name
        trace["showlegend"] = bool(name) and name not in seen and trace.get("fill") != "toself"
        seen |= {name} if trace["showlegend"] else set()


def _beside(plots: Sequence[Plot], _: Translator) -> dict[str, Any]:
    """Charts in rows, each under its title, with axes of its own."""
    rows = -(-len(plots) // ACROSS) or 1
    across = min(ACROSS, len(plots)) or 1
    width = (1 - GAP * (across - 1)) / across
    height = max((plot.chart["layout"].get("height", 0) for plot in plots), default=0)
    inner = max(rows * height + (rows - 1) * PANEL, 1)
    data, layout, next_numbers = list[Any](), dict[str, Any](), dict.fromkeys(_AXES, 1)
    for place, plot in enumerate(plots):
        row, column = divmod(place, ACROSS)
        left, top = column * (width + GAP), 1 - row * (height + PANEL) / inner
        domains = {"x": [left, left + width], "y": [max(0.0, top - height * 0.86 / inner), top]}
        renamed = _renamed(plot.chart["layout"], next_numbers)
        data += [_pointed(_placed(trace), renamed) for trace in plot.chart["data"]]
        for name, value in plot.chart["layout"].items():
            kind, own = name.rstrip("0123456789"), _pointed(value, renamed)
            if kind == "scene":
                layout[renamed[name]] = own | {"domain": domains}
            elif kind in _AXES:  # without an anchor it would stand at the first chart's
                anchor = renamed["y" if kind == "xaxis" else "x"]
                layout[renamed[name]] = {"anchor": anchor} | own | {"domain": domains[kind[0]]}
            elif name in ("annotations", "shapes"):
                layout[name] = [*layout.get(name, []), *(_pointed(_held(mark), renamed) for mark in value)]
            else:
                layout.setdefault(name, value)
        at = {"xref": "paper", "yref": "paper", "x": left, "y": top, "xanchor": "left", "yanchor": "bottom"}
        title = {"text": chart.plain(Plain(_).phrase(plot.title)), **at, "showarrow": False, "font": {"size": 12}}
        layout["annotations"] = [*layout.get("annotations", []), title]
    layout["height"] = inner
    return {"data": data, "layout": layout}


def _renamed(layout: Mapping[str, Any], numbers: dict[str, int]) -> dict[str, str]:
    """The axes of a chart by their names among those of all charts; counts them."""
    made = dict[str, str]()
    for name in layout:
        kind = name.rstrip("0123456789")
        if kind in _AXES:
            number = "" if numbers[kind] == 1 else str(numbers[kind])
            numbers[kind] += 1
            short, new = (text.replace("axis", "") for text in (name, f"{kind}{number}"))
            made |= {name: f"{kind}{number}", short: new}
    return made


def _placed(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace that names its axes, also the first ones."""
    return {"scene": "scene", **trace} if trace["type"].endswith("3d") else {"xaxis": "x", "yaxis": "y", **trace}


def _held(mark: Mapping[str, Any]) -> dict[str, Any]:
    """A shape or a text that names the axes it is held to."""
    return {"xref": "x", "yref": "y", **mark}


def _pointed(value: Any, renamed: Mapping[str, str], key: str = "") -> Any:
    """The same with the names of axes replaced, wherever one is referred to."""
    if isinstance(value, Mapping):
        return {name: _pointed(own, renamed, name) for name, own in value.items()}
    return renamed.get(value, value) if key in _REFERENCES and isinstance(value, str) else value
