"""Texts as points: an embedding space laid out in two or three dimensions, coloured by what the texts belong to."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ragbench.core.parts import Content, Figure, Phrase, Plot, Section, Styled, System, Text, bold
from ragbench.views.basics import chart
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.marks import SERIES
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.view import view

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("auto", "page", "folder", "section", "kind", "cluster")
AXES = {2: ("x2", "y2"), 3: ("x3", "y3", "z3")}
HEIGHT = 380
HOVER, LINE = 240, 56
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
    rows = _of(material, system)
    if colour == "cluster":
        known = rows_of(material.kept("clusters"), system)
        words = {int(row["cluster"]): ", ".join(row["words"]) for row in known}
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
    rows = _of(material, system)
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


def _of(material: Material, system: str) -> pd.DataFrame:
    table = material.kept("projection")
    return table[table["system"] == system]
