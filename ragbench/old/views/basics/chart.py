"""What all charts share, and those of bars, of lines with a band, and of stacked shares: plain Plotly JSON.

On a page, colours are names (`@series-1`) that the page's script looks up in the style sheet, so that a chart follows
the reader's light or dark scheme; in JupyterLab they are colours that suit both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape as escape_html
from html import unescape
from typing import Any

from ragbench.old.core.language import DASH, Translator
from ragbench.old.core.measurement import without_nan
from ragbench.old.core.parts import Column, Content, Drawing, Entries, Phrase, Plot, Table, Text, Value, spoken
from ragbench.old.core.types import Estimate
from ragbench.old.views.basics.marks import SYMBOLS, named, series
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import ANSWERABLE, GOOD, UNMEASURED, Blamed
from ragbench.old.views.basics.text import ELLIPSIS, clean

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


HEIGHT = 160  # pixels, by eye: bars whose height is compared without scrolling


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
            {"data": [_trace(bars)], "layout": layout(material.text, HEIGHT, bargap=0.25) | _axes(bars)},
            bars.title,
            bars.title,
        )
        for bars in drawn
    ]


def _trace(bars: Bars) -> dict[str, Any]:
    names = [plain(name) for name in bars.names]
    return {
        "type": "bar",
        "x": names,
        "y": list(bars.counts),
        "marker": {"color": "@series-1", "line": {"width": 0}},
        "text": [f"{name}: {plain(said)}" for name, said in zip(names, bars.counted, strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "xaxis": "x",
        "yaxis": "y",
        "showlegend": False,
    }


MOST_LABELS = 4
"""Below a small chart; more would be turned, and reach into the title of the chart below."""


def _axes(bars: Bars) -> dict[str, Any]:
    across = axis(type="category", showgrid=False, showline=True, linecolor="@muted", anchor="y")
    if len(bars.names) > MOST_LABELS:
        labelled = [plain(name) for name in bars.names[:: math.ceil(len(bars.names) / MOST_LABELS)]]
        across |= {"tickmode": "array", "tickvals": labelled, "ticktext": labelled, "tickangle": 0}
    up = axis(rangemode="tozero", nticks=4, anchor="x") | ({"dtick": 1} if max(bars.counts) <= 3 else {})
    return {"xaxis": across, "yaxis": up}


BAND = 0.16  # two that lie over one another are both seen


def lines(
    material: Material,
    estimates: Mapping[str, Mapping[int, Estimate]],
    said: Callable[[int], str],
) -> list[dict[str, Any]]:
    """Bands below, lines above. found: system → estimates by where they stand. said: the name of such a place."""
    bands, made = [], []
    for system, rows in estimates.items():
        number, name = series(material, system), plain(system)
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
    return axis(range=[max(0.0, math.floor(10 * least - 0.2) / 10), 1.01], tickformat=".1f", nticks=6)


WRITTEN = 0.07
"""From this share of the width on a piece has room for its number."""


def bars(blamed: Blamed, of: str = "") -> Content:
    """A bar a system, its pieces in the order of work, and the share of good answers with its interval.

    of: the page's title, where bars of several stand on one page.
    """
    _ = blamed.material.text
    parts = [part for part in (*_parts(blamed), UNMEASURED) if any(_count(blamed, s, part) for s in blamed.systems)]
    legend = [(Drawing("swatch", {"part": _kind(part), "text": ""}), blamed.name(part)) for part in parts]
    title = _("What became of the questions")
    level = _.percent(next((e.level for e in blamed.shares.values()), 0.95))
    columns = (
        Column(_("system")),
        Column(_("share of the questions that can be answered"), look="rb-drawn"),
        Column((blamed.name(GOOD), ", ", _("{level} interval", level=level)), "interval", label=blamed.name(GOOD)),
    )
    rows = [
        (named(blamed.material, system), _bar(blamed, system, parts), _good(blamed, system))
        for system in blamed.systems
    ]
    counted = blamed.material.population(sum(blamed.measured(system, ANSWERABLE)) for system in blamed.systems)
    said = _("share of the questions that can be answered ({population})", population=counted)
    label = f"{title}: {of}" if of else title
    table = Table(columns, tuple(rows), label, language=_.language, look="rb-forest rb-blame")
    return (Entries(legend, "rb-legend"), table, Text(said, "rb-axis"))


def _parts(blamed: Blamed) -> Sequence[str]:
    """Good answers first, so that their bars begin at one line."""
    return (GOOD, *reversed([part for part in blamed.parts(ANSWERABLE) if part != GOOD]))


def _count(blamed: Blamed, system: str, part: str) -> int:
    return blamed.measured(system, ANSWERABLE)[1] if part == UNMEASURED else blamed.count(system, part)


def _bar(blamed: Blamed, system: str, parts: Sequence[str]) -> Phrase:
    counts = [(_kind(part), blamed.name(part), _count(blamed, system, part)) for part in parts]
    return stack(counts, sum(blamed.measured(system, ANSWERABLE)), blamed.material.text)


def stack(counts: Iterable[tuple[str, str, int]], total: int, _: Translator) -> Phrase:
    """A bar of pieces, left to right: of each its kind in the style sheet, its name and its count; none of 0."""
    pieces: list[Mapping[str, Any]] = []
    start = 0.0
    for kind, name, count in counts:
        if not count:
            continue
        share = count / total
        said = _("{part}: {count} of {n} ({share})", part=name, count=_.integer(count), n=_.integer(total),
                 share=_.percent(share))  # fmt: skip
        pieces.append({
            "part": kind, "start": round(100 * start, 3), "width": round(100 * share, 3),
            "middle": round(100 * (start + share / 2), 3), "text": _.percent(share) if share >= WRITTEN else "",
            "said": said,
        })  # fmt: skip
        start += share
    said = "; ".join(str(piece["said"]) for piece in pieces)
    return Drawing("stack", {"label": said, "segments": pieces}) if pieces else DASH


def _kind(part: str) -> str:
    """The part as the style sheet names it."""
    return part.replace("_", "-")


def _good(blamed: Blamed, system: str) -> Value | None:
    share = blamed.share(system, GOOD)
    return None if share is None else Value.of(share, percent=True, bare=True)
