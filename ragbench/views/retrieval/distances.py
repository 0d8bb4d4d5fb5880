"""An embedding space in curves: how distances are spread, and how many dimensions hold the variance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ragbench.core.parts import Content, Figure, Plot, Text
from ragbench.views.basics import chart
from ragbench.views.basics.marks import series, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.sentences.descriptions import fact, value
from ragbench.views.view import view

if TYPE_CHECKING:
    import pandas as pd

PANEL = 130
SPECTRUM = 220
DASHES = ("solid", "solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
MARKED = 0.95


@view("distances")
def distances(material: Material, present: frozenset[str]) -> Content:
    """How distances to nearest neighbours, and of all pairs, are spread."""
    said = material.text("how often a distance occurs; the area under every curve is the same")
    return _drawn(material, "histograms", _distances_title, distances_figure, said)


@view("spectrum")
def spectrum(material: Material, present: frozenset[str]) -> Content:
    """How much of the variance the first principal components hold."""
    drawn = _drawn(material, "spectrum", _spectrum_title, spectrum_figure)
    count = int(material.facts.get("n_texts", 0))
    if not any(fact(material, name, "width") >= count for name in material.systems):
        return drawn
    text = material.text.plural(
        "{n} text spans no more dimensions than there are texts less one, however wide its vector is.",
        "{n} texts span no more dimensions than there are texts less one, however wide their vectors are.",
        count,
    )
    return (drawn, Text(text, "rb-meta"))


def _drawn(material: Material, table: str, title: Any, figure: Any, axis: str = "") -> Content:
    if not len(material.kept(table)):
        return (
            Text(material.text("Nothing was measured, so there is nothing to draw.")),
            Text(axis, "rb-axis") if axis else (),
        )
    plots = [Plot(figure(material), title(material))]
    return Figure(title(material), plots, shared_legend(material), axis)


def _of_each(material: Material, said: Callable[[str], str]) -> str:
    """What is said of every embedder, each by its name where there are several."""
    several = len(material.systems) > 1
    return material.text.enumeration([f"{said(name)} ({name})" if several else said(name) for name in material.systems])


def _distances_title(material: Material) -> str:
    _ = material.text

    def share(name: str) -> str:
        near, pair = (value(material, name, metric) for metric in ("avg_nn_distance", "avg_pairwise_distance"))
        return _.percent(near / pair) if pair > 0 else _.number(None)

    shares = _of_each(material, share)
    return _("The nearest neighbour lies at {shares} of the mean distance between two texts", shares=shares)


def _spectrum_title(material: Material) -> str:
    _ = material.text

    def held(name: str) -> str:
        dimensions = _.number(value(material, name, "effective_dimensionality"), 0)
        width = _.integer(fact(material, name, "width"))
        return _("{dimensions} of {width} dimensions", dimensions=dimensions, width=width)

    return _("95% of the variance lies in {held}", held=_of_each(material, held))


def _line(material: Material, system: str) -> dict[str, Any]:
    """What the curve of an embedder begins with."""
    place = series(material, system)
    return {
        "type": "scatter",
        "name": chart.plain(system),
        "line": {"color": f"@series-{place}", "width": 2, "dash": DASHES[place]},
        "hovertemplate": "%{text}<extra></extra>",
        "legendgroup": chart.plain(system),
    }


def _titled(text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 6, "font": {"size": 12, "color": "@muted"}}


def distances_figure(material: Material) -> dict[str, Any]:
    """Step curves whose area is 1, so that sets of different size and classes of different width compare."""
    _ = material.text
    layout = chart.layout(material.text, 2 * PANEL + 78, margin={"l": 8, "r": 16, "t": 26, "b": 42, "pad": 0})
    panels = (
        ("nearest", _("distance to the nearest neighbour")),
        ("pairs", _("distance between two texts, all pairs")),
    )
    traces = []
    for number, (kind, title) in enumerate(panels):
        suffix = "" if number == 0 else "2"
        domain = [0.56, 1.0] if number == 0 else [0.0, 0.44]
        layout[f"yaxis{suffix}"] = chart.axis(
            domain=domain, anchor=f"x{suffix}", showticklabels=False, showgrid=False, rangemode="tozero"
        )
        layout[f"xaxis{suffix}"] = chart.axis(
            anchor=f"y{suffix}",
            title=_titled(title),
            showline=True,
            linecolor="@muted",
            rangemode="tozero",
            **({"matches": "x", "showticklabels": True} if suffix else {}),
        )
        traces += [_steps(material, name, kind, suffix) for name in material.systems]
    return {"data": [trace for trace in traces if trace["x"]], "layout": layout}


def _steps(material: Material, system: str, kind: str, suffix: str) -> dict[str, Any]:
    _ = material.text
    rows = _trimmed(_of(material.kept("histograms"), system).query("kind == @kind"))
    total = max(int(rows["count"].sum()), 1)
    lows, highs, counts = (rows[column].tolist() for column in ("low", "high", "count"))
    places = [*lows[:1], *lows, *highs[-1:]]
    widths = [max(high - low, 1e-12) for low, high in zip(lows, highs, strict=True)]
    densities = [count / total / width for count, width in zip(counts, widths, strict=True)]
    hovers = [
        f"<b>{chart.plain(system)}</b><br>{_.number(low)} – {_.number(high)}: {_.percent(count / total, 1)}"
        for low, high, count in zip(lows, highs, counts, strict=True)
    ]
    line = _line(material, system)
    return line | {
        "mode": "lines",
        "x": [round(x, 6) for x in places],
        "y": [round(y, 6) for y in [0.0, *densities, 0.0][: len(places)]],
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "line": {"shape": "hv", **line["line"]},
        "text": [*hovers[:1], *hovers, *hovers[-1:]],
        "showlegend": suffix == "",
    }


def _trimmed(rows: pd.DataFrame) -> pd.DataFrame:
    """Without the empty classes at both ends."""
    full = rows["count"].to_numpy().nonzero()[0]
    return rows.iloc[full[0] : full[-1] + 1] if len(full) else rows


def spectrum_figure(material: Material) -> dict[str, Any]:
    """Cumulative shares on a logarithmic axis, so that the first components can be told apart."""
    _ = material.text
    layout = chart.layout(material.text, SPECTRUM, margin={"l": 8, "r": 24, "t": 10, "b": 42, "pad": 0})
    layout["xaxis"] = chart.axis(
        type="log",
        title=_titled(_("principal components")),
        showline=True,
        linecolor="@muted",
        dtick=1,
        minor={"showgrid": False},
    )
    ticks = [0.0, 0.25, 0.5, 0.75, MARKED]
    layout["yaxis"] = chart.axis(range=[0, 1.04], tickvals=ticks, ticktext=[_.percent(share) + " " for share in ticks])
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": MARKED, "y1": MARKED}
    layout["shapes"] = [across | {"line": {"color": "@muted", "width": 1, "dash": "dot"}}]
    traces = []
    for name in material.systems:
        rows, line = _of(material.kept("spectrum"), name), _line(material, name)
        shares = [round(share, 6) for share in rows["share"]]
        share_at = dict(zip(rows["components"].tolist(), shares, strict=True))
        hovers = {
            count: f"<b>{chart.plain(name)}</b><br>{_.integer(int(count))}: {_.percent(share, 1)}"
            for count, share in share_at.items()
        }
        traces.append(line | {"mode": "lines", "x": list(share_at), "y": shares, "text": list(hovers.values())})
        needed = value(material, name, "effective_dimensionality")
        reached = round(needed) if math.isfinite(needed) else 0
        if reached in share_at:
            marker = {"size": 9, "color": line["line"]["color"]}
            mark = {"mode": "markers", "marker": marker, "showlegend": False, "x": [reached]}
            traces.append(line | mark | {"y": [share_at[reached]], "text": [hovers[reached]]})
    return {"data": traces, "layout": layout}


def _of(table: pd.DataFrame, system: str) -> pd.DataFrame:
    return table[table["system"] == system]
