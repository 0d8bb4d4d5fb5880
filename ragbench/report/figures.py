"""How every figure looks: colours in light and dark, signs of systems, the layout they begin with.

Figures are made in the light colours of `COLOURS`. On our pages a small script puts the dark ones
in their place; JupyterLab and paper show the light ones. plotly's scattergl and the like need to
make code at run time, which our pages forbid; scatter and scatter3d do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.language import Language

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Name → (light, dark). The page's stylesheet has them as --ink, --accent and so on.
COLOURS = {
    "ink": ("#1f2d36", "#d8e0e5"),
    "heading": ("#1b3a4b", "#eaf1f5"),
    "muted": ("#566570", "#9dabb6"),
    "line": ("#e2e6e9", "#2f3a42"),
    "paper": ("#ffffff", "#12181d"),
    "wash": ("#f6f7f8", "#1b242a"),
    "accent": ("#c4533a", "#ee8b70"),
    "grey": ("#7d8b97", "#8e9ca8"),
    "soft": ("#e5ab9c", "#8f5a4c"),
    "blue1": ("#1d5673", "#8cc3e0"),
    "blue2": ("#6f9bb3", "#5b8aa3"),
    "blue3": ("#a9c0cd", "#3d6075"),
}
FONT = "system-ui, DejaVu Sans, sans-serif"
# plotly's symbol, and the sign that stands for it in texts and tables.
SYMBOLS = (
    ("circle", "●"),
    ("diamond", "◆"),
    ("square", "■"),
    ("triangle-up", "▲"),
    ("x", "✕"),
    ("star", "★"),
    ("triangle-down", "▼"),
)
SERIES = ("grey", "accent", "blue1", "blue2", "muted", "blue3", "soft")


@dataclass(frozen=True)
class Style:
    """How one system is drawn: a colour, plotly's symbol, and the same sign in texts."""

    colour: str
    symbol: str
    sign: str


def colour(name: str) -> str:
    """Return the light colour of a name, such as `accent`."""
    return COLOURS[name][0]


def system_styles(systems: Sequence[str], baseline: str = "") -> dict[str, Style]:
    """Return the style of every system: grey for the baseline, the accent for the first challenger.

    The same systems look the same on every page. Without a baseline the first is the accent.
    """
    others = [name for name in systems if name != baseline]
    styles = {}
    for place, name in enumerate([baseline, *others]):
        symbol, sign = SYMBOLS[place % len(SYMBOLS)]
        styles[name] = Style(colour(SERIES[place % len(SERIES)]), symbol, sign)
    return {name: styles[name] for name in systems}


def new_figure(language: Language, height: int = 340, **layout: Any) -> go.Figure:
    """Return an empty figure of the house's look. height: pixels. layout: plotly's own words."""
    import plotly.graph_objects as go

    axis = {
        "gridcolor": colour("line"),
        "linecolor": colour("heading"),
        "zeroline": False,
        "automargin": True,
        "title": {"font": {"size": 12, "color": colour("muted")}, "standoff": 8},
    }
    return go.Figure(
        layout={
            # Plotly's own would bring seven kilobytes of other colours.
            "template": go.layout.Template(data_scatter=[{"marker": {"size": 9}}]),
            "height": height,
            "font": {"family": FONT, "size": 13, "color": colour("ink")},
            "paper_bgcolor": colour("paper"),
            "plot_bgcolor": colour("paper"),
            "colorway": [colour(name) for name in SERIES[1:]],
            "margin": {"l": 20, "r": 12, "t": 36, "b": 44},
            "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
            "hoverlabel": {"bgcolor": colour("paper"), "bordercolor": colour("line")},
            "separators": ",\N{NO-BREAK SPACE}" if language.code == "ru" else ".,",
            "xaxis": axis,
            "yaxis": axis,
            **layout,
        }
    )


def add_intervals(
    figure: go.Figure,
    name: str,
    values: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    positions: Sequence[float],
    style: Style,
    texts: Sequence[str],
) -> None:
    """Add points with horizontal intervals: one series of a forest plot.

    positions: on the vertical axis. texts: what a reader sees who points at one. A NaN in lows or
    highs is a point without an interval.
    """
    middle = np.asarray(values, dtype=float)
    figure.add_scatter(
        name=name,
        x=middle,
        y=list(positions),
        error_x={
            "symmetric": False,
            "array": np.nan_to_num(np.asarray(highs, dtype=float) - middle),
            "arrayminus": np.nan_to_num(middle - np.asarray(lows, dtype=float)),
            "thickness": 2.5,
            "width": 0,
        },
        mode="markers",
        marker={"color": style.colour, "symbol": style.symbol},
        customdata=list(texts),
        hovertemplate="%{fullData.name} · %{customdata}<extra></extra>",
    )
