"""An embedding space: how distances are spread, the texts as points, those too near to each other, and those apart."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Figure,
    Item,
    Lines,
    Number,
    Phrase,
    Plot,
    Section,
    Styled,
    System,
    Text,
    bold,
    filled,
)
from ragbench.old.tiers.retrieval.tier0_embeddings import ClosestRow, ClusterRow, OutlierRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.marks import SERIES, named, one_by_one, rows_of, series, shared_legend, shortened
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.sentences.descriptions import fact, known, value
from ragbench.old.views.view import view

if TYPE_CHECKING:
    import pandas as pd


PANEL = 130  # pixels, by eye: two panels on one screen
SPECTRUM = 220  # pixels, by eye: a slope is seen
DASHES = ("solid", "solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
MARKED = 0.95  # the usual share of variance that few components are asked to hold


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


SUMMARY = 110  # characters of a line
PAIR_LINE = 74  # of a pair, whose texts stand one below the other
EXCERPT = 600


@view("closest")
def closest(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The closest pairs of texts of each embedder, near-duplicates marked."""
    made = [_closest(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


@view("outliers")
def outliers(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The texts that lie farthest from their nearest neighbour."""
    made = [_outliers(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


def _nothing(material: Material) -> Content:
    return Text(material.text("Nothing was measured."))


def _closest(material: Material, system: str, count: int) -> Content:
    _, within = material.text, fact(material, system, "near_duplicates")
    threshold = _.number(known(material, system).get("near_distance"))
    text = _("no two texts are nearly the same (within {distance}); these come closest", distance=threshold)
    if within:
        text = _.plural(
            "{n} pair of texts is nearly the same (within {distance})",
            "{n} pairs of texts are nearly the same (within {distance})",
            within,
            distance=threshold,
        )
    title = Text((bold(name(material, system)), ": ", text), "h3")
    made = []
    for row in rows_of(ClosestRow, material.kept("closest"), system)[:count]:
        both = [material.texts.get(key, {}) for key in (row["first"], row["second"])]
        identifier = anchor(f"near{material.systems.index(system)}", f"{row['first']}--{row['second']}")
        label = Styled(_("nearly the same"), look="rb-worse") if row["near"] else ""
        marks = (label, " ", Number(row["distance"]))
        summary = Lines([shown(neighbour.get("text"), PAIR_LINE) for neighbour in both])
        made.append(Entry(identifier, summary, marks, [Entries([passage(neighbour) for neighbour in both], "rb-hits")]))
    return (title, shortened(_, made))


def _outliers(material: Material, system: str, count: int) -> Content:
    _, made = material.text, []
    for row in rows_of(OutlierRow, material.kept("outliers"), system)[:count]:
        own, nearest = (material.texts.get(key, {}) for key in (row["text"], row["nearest"]))
        identifier = anchor(f"far{material.systems.index(system)}", str(row["text"]))
        lead = Text(_("Its nearest neighbour"), "rb-lead")
        body = (Entries([passage(own)], "rb-hits"), lead, Entries([passage(nearest)], "rb-hits"))
        distance = Number(row["distance"])
        made.append(Entry(identifier, shown(own.get("text"), SUMMARY), distance, body))
    title = filled(_("<b>{system}</b>: farthest from their nearest neighbour"), system=name(material, system))
    return (Text(title, "h3"), shortened(_, made))


def passage(text: Mapping[str, Any]) -> Item:
    """A text, and what is known of where it stands."""
    places = [shown(text.get(key), 80) for key in ("id", "title", "section", "url")]
    where = " · ".join(filter(None, dict.fromkeys(places)))
    return Item([Text(shown(text.get("text"), EXCERPT)), Text(where, "rb-meta")])


def name(material: Material, system: str) -> Phrase:
    """A system by its name, with its sign where there are several."""
    return named(material, system) if len(material.systems) > 1 else shown(system)


COLOURS = ("auto", "page", "folder", "section", "kind", "cluster")
AXES = {2: ("x2", "y2"), 3: ("x3", "y3", "z3")}
HEIGHT = 380  # pixels, by eye: thousands of points stay apart
HOVER, LINE = 240, 56  # characters of five lines, and of one
LEAST_COLOURED = 0.4  # share of the texts: a colouring that leaves more of them grey tells little


def _drawable(material: Material, dimensions: int = 2, colour: str = "auto") -> None:
    if dimensions not in AXES or colour not in COLOURS:
        names = ", ".join(COLOURS)
        raise ValueError(f"map({dimensions}, {colour!r}): dimensions are 2 or 3, the colour is one of {names}")


@view("map", check=_drawable)
def projection(material: Material, present: frozenset[str], dimensions: int = 2, colour: str = "auto") -> Content:
    """The texts as points in 2 or 3 dimensions; colour: auto, page, folder, section, kind or cluster."""
    _ = material.text
    if not len(material.kept("projection")):
        return Text(_("There are too few texts for a picture, or none was asked for."))
    colour = chosen(material, colour)
    own = colour == "cluster"
    plots = [
        Plot(
            figure(material, name, dimensions, colour),
            _("{embedder}, {n} dimensions", embedder=name, n=_.integer(dimensions)),
            bold(shown(name)),
            legend(material, grouped(material, name, colour)) if own else (),
        )
        for name in material.systems
    ]
    shared = None if own else legend(material, grouped(material, material.systems[0], colour))
    title, note = _title(material, dimensions, colour), Text(_note(material), "rb-meta")
    if dimensions == max(AXES):
        return Section([Figure("", plots, shared, look="rb-maps"), note], title)
    return (Figure(title, plots, shared, look="rb-maps"), note)


def _title(material: Material, dimensions: int, colour: str) -> str:
    _ = material.text
    named = {
        "page": _("coloured by page"),
        "folder": _("coloured by part of the site"),
        "section": _("coloured by section"),
        "kind": _("coloured by kind of question"),
        "cluster": _("coloured by cluster (KMeans)"),
    }
    return _("The texts in {n} dimensions, {coloured}", n=_.integer(dimensions), coloured=named[colour])


def _note(material: Material) -> str:
    _, drawn, count = material.text, material.facts.get("projected", 0), material.facts.get("n_texts", 0)
    said = _("UMAP with a fixed seed. Neighbours stay neighbours; distances between far groups mean nothing.")
    if drawn >= count:
        return said
    places = {"drawn": _.integer(drawn), "count": _.integer(count)}
    return said + " " + _("{drawn} of {count} texts are drawn, chosen at random.", **places)


def chosen(material: Material, colour: str) -> str:
    """What texts are coloured by; "auto" takes the first whose seven largest groups hold two fifths."""
    if colour != "auto":
        return colour
    for name in COLOURS[1:-1]:
        drawn = grouped(material, material.systems[0], name)
        named = [len(places) for group, places in drawn.items() if group]
        if len(named) > 1 and sum(named) >= LEAST_COLOURED * sum(map(len, drawn.values())) and max(named) > 1:
            return name
    return "cluster"


def _group(text: Mapping[str, Any], colour: str) -> str:
    if colour == "page":
        return clean(text.get("title") or text.get("url"))
    if colour == "folder":
        parts = urlsplit(clean(text.get("url")))
        folders = [part for part in parts.path.split("/") if part]
        return folders[0] if parts.scheme in ("http", "https") and len(folders) > 1 else ""
    return clean(text.get(colour))


def grouped(material: Material, system: str, colour: str) -> dict[str, list[int]]:
    """Rows of the picture by group: the seven largest in their order, then all others under the empty name."""
    rows = _placed(material, system)
    if colour == "cluster":
        known = rows_of(ClusterRow, material.kept("clusters"), system)
        words = {row["cluster"]: ", ".join(row["words"]) for row in known}
        names = [words.get(int(number)) or str(int(number)) for number in rows["cluster"]]
    else:
        names = [_group(material.texts.get(str(key), {}), colour) for key in rows["text"]]
    sizes = Counter(name for name in names if name)
    largest = [name for name, _ in sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[: SERIES - 1]]
    groups: dict[str, list[int]] = {name: [] for name in [*largest, ""]}
    for place, name in enumerate(names):
        groups[name if name in groups else ""].append(place)
    return {name: places for name, places in groups.items() if places}


def legend(material: Material, groups: Mapping[str, list[int]]) -> list[Phrase]:
    """Groups with their colours and how many texts each has."""
    _ = material.text
    return [
        (System(shown(name, 60) if name else _("all others"), number, dot=True), " ", Styled(len(places), "small"))
        for name, number, places in _coloured(groups)
    ]


def _coloured(groups: Mapping[str, list[int]]) -> list[tuple[str, int, list[int]]]:
    """Groups with the number of their colour: grey, the 0th, is for all others."""
    numbers = iter(range(1, SERIES))
    return [(name, next(numbers) if name else 0, places) for name, places in groups.items()]


def figure(material: Material, system: str, dimensions: int, colour: str) -> dict[str, Any]:
    """One embedder's picture."""
    layout = chart.layout(material.text, HEIGHT, margin={"l": 0, "r": 0, "t": 4, "b": 4, "pad": 0})
    layout |= _places(dimensions)
    return {"data": _points(material, system, dimensions, colour), "layout": layout}


def _places(dimensions: int) -> dict[str, Any]:
    """Axes without numbers: their units mean nothing."""
    if dimensions == 2:
        hidden = chart.axis(showgrid=False, showticklabels=False, visible=False, automargin=False)
        return {"xaxis": hidden | {"anchor": "y"}, "yaxis": hidden | {"scaleanchor": "x", "anchor": "x"}}
    quiet: dict[str, Any] = dict.fromkeys(("showticklabels", "showspikes", "zeroline", "showbackground"), False)
    quiet |= {"title": {"text": ""}, "gridcolor": "@line"}
    scene: dict[str, Any] = {f"{axis}axis": dict(quiet) for axis in "xyz"}
    return {
        "scene": scene
        | {"aspectmode": "data", "dragmode": "orbit", "camera": {"eye": {"x": 1.15, "y": 1.15, "z": 0.6}}}
    }


def _points(material: Material, system: str, dimensions: int, colour: str) -> list[dict[str, Any]]:
    rows = _placed(material, system)
    size: float = 8 if len(rows) <= 300 else 6 if len(rows) <= 1000 else 4
    size = size if dimensions == 2 else size / 2
    columns = {axis[0]: rows[axis].tolist() for axis in AXES[dimensions]}
    ids = [str(key) for key in rows["text"]]
    traces = []
    for name, number, places in reversed(_coloured(grouped(material, system, colour))):
        opacity = 0.9 if number else 0.55
        trace: dict[str, Any] = {
            "type": "scatter" if dimensions == 2 else "scatter3d",
            "mode": "markers",
            "name": chart.plain(name) or material.text("all others"),
            **{axis: [values[place] for place in places] for axis, values in columns.items()},
            "marker": {"color": f"@series-{number}", "size": size, "opacity": opacity, "line": {"width": 0}},
            "text": [_hover(material, ids[place], name) for place in places],
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
        }
        at = {"xaxis": "x", "yaxis": "y"} if dimensions == 2 else {"scene": "scene"}
        traces.append(trace | at)
    return traces


def _hover(material: Material, key: str, group: str) -> str:
    """The text's beginning in short lines, under its group and its id."""
    text = material.texts.get(key, {})
    head = " · ".join(dict.fromkeys(part for part in (chart.plain(group, 60), chart.plain(key, 60)) if part))
    beginning = shown(text.get("text"), HOVER)
    lines = textwrap.wrap(beginning, LINE) or [""]
    return "<br>".join([f"<b>{head}</b>", *(chart.plain(line) for line in lines)])


def _placed(material: Material, system: str) -> pd.DataFrame:
    table = material.kept("projection")
    return table[table["system"] == system]
