"""Values over runs: a chart a metric with intervals, breaks where the data changed, and marks of what changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench import stand_ins
from ragbench.counts import counted
from ragbench.language import DASH
from ragbench.show.basics import chart
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.marks import GLYPHS, SERIES, SYMBOLS, small, spread
from ragbench.show.basics.material import Material, digits_of
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.show.comparison.headline import standing_in
from ragbench.show.runs.compared import kind, why
from ragbench.show.view import view
from ragbench.types import Estimate

HEIGHT = 320
MOST_LABELS = 5
ASIDE = 0.3  # how far the systems of a run stand apart together, in runs
Point = Mapping[str, Any]
"""A row of the table of points, with its `estimate`."""


@view("history")
def history(material: Material, present: frozenset[str]) -> Markup:
    """Values with intervals over runs, and marks of what changed."""
    points = [
        {**row, "estimate": one.estimate}
        for row, one in zip(
            rows_of(material.kept("points", "stretch")),
            material.measurement.estimates_by("run", "notebook"),
            strict=True,
        )
    ]
    if not points:
        return html.p(material.text("No run has kept such a number."))
    parts = [standing_in(material)]
    for notebook, metric in dict.fromkeys((one["notebook"], one["metric"]) for one in points):
        own = [one for one in points if (one["notebook"], one["metric"]) == (notebook, metric)]
        parts += [
            html.heading(shown(f"{notebook} · {metric}"), 2),
            _figure(material, metric, own),
            _table(material, own),
        ]
    return html.all(*parts)


def _systems(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(str(one["system"]) for one in points))


def _places(points: Sequence[Point]) -> list[int]:
    return sorted({int(one["place"]) for one in points})


def _figure(material: Material, metric: str, points: Sequence[Point]) -> Markup:
    _ = material.text
    systems, places = _systems(points), _places(points)
    legend = html.items(
        html.sign(number % SERIES, GLYPHS[number % SERIES], shown(name)) for number, name in enumerate(systems)
    )
    title = _.plural("{metric} over {n} run", "{metric} over {n} runs", len(places), metric=shown(metric))
    key = _(
        "c code, d data, m model, p prompt changed before this run. Values on other data are not joined; crosses are "
        "not comparable."
    )
    traces = [
        trace
        for number, name in enumerate(systems)
        for trace in _traces(material, number, len(systems), [one for one in points if one["system"] == name])
    ]
    made = {
        "data": traces + _marks(material, places, points),
        "layout": chart.layout(
            _, HEIGHT, margin={"l": 8, "r": 16, "t": 8, "b": 56, "pad": 0},
            xaxis=chart.axis(
                showgrid=False, tickangle=0, range=[places[0] - 0.5, places[-1] + 0.5], **_labels(points, places)
            ),
            yaxis=chart.axis(nticks=6),
        ),
    }  # fmt: skip
    plot = chart.plot(made, _("{title}. The table below holds the same numbers.", title=title))
    return html.figure(title, legend, plot, key)


def _labels(points: Sequence[Point], places: Sequence[int]) -> dict[str, Any]:
    """Day, time and year of runs below each other, else their names: no more than a phone has room for."""
    step = max(1, math.ceil(len(places) / MOST_LABELS))
    named = {int(one["place"]): _lines(one) for one in points}
    chosen = list(places)[::step]
    return {"tickvals": chosen, "ticktext": [named[place] for place in chosen]}


def _lines(one: Point) -> str:
    year, dash, rest = str(one["started"]).partition("-")
    lines = [*rest.split(), year] if dash else [str(one["run"])]
    return "<br>".join(chart.plain(line, 16) for line in lines)


def _traces(material: Material, number: int, count: int, points: Sequence[Point]) -> list[dict[str, Any]]:
    """A line through each stretch of one data set, and the marks of what is not comparable by themselves.

    number, count: a system's place among those of a run, which stand beside each other: no interval hides another.
    """
    measured = [one for one in points if math.isfinite(one["estimate"].value)]
    groups: list[tuple[str, list[Point]]] = [
        ("lines+markers", [one for one in measured if one["stretch"] == stretch and one["comparable"]])
        for stretch in sorted({one["stretch"] for one in measured})
    ]
    groups.append(("markers", [one for one in measured if not one["comparable"]]))
    aside = ASIDE * ((number + 0.5) / count - 0.5)
    return [_trace(material, number, aside, mode, group) for mode, group in groups if group]


def _trace(material: Material, number: int, aside: float, mode: str, points: Sequence[Point]) -> dict[str, Any]:
    colour = f"@series-{number % SERIES}"
    symbol = SYMBOLS[number % SERIES] if mode != "markers" else "x-open"
    found: list[Estimate] = [one["estimate"] for one in points]
    return {
        "type": "scatter",
        "mode": mode,
        "name": chart.plain(points[0]["system"]),
        "x": [round(int(one["place"]) + aside, 3) for one in points],
        "y": [one.value for one in found],
        "line": {"color": colour, "width": 1.5},
        "marker": {"color": colour, "size": 9, "symbol": symbol},
        "error_y": chart.reach(found, colour, 2),
        "text": [_hover(material, one) for one in points],
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
        "cliponaxis": False,
    }


def _hover(material: Material, one: Point) -> str:
    names = f"<b>{chart.plain(str(one['system']))}</b> · {chart.plain(str(one['run']))}"
    text = f"{names}<br>{chart.plain(_value(material, one['estimate']))}"
    return text if one["comparable"] else f"{text}<br>{chart.plain(str(why(material, one['reason']).striptags()))}"


def _digits(one: Estimate) -> int:
    return digits_of((one.value, one.low, one.high))


def _value(material: Material, one: Estimate) -> str:
    value = material.text.number(one.value, _digits(one))
    return value if one.low is None else f"{value} {material.text.interval(one.low, one.high, _digits(one))}"


def _marks(material: Material, places: Sequence[int], points: Sequence[Point]) -> list[dict[str, Any]]:
    """The first letters of what changed before a run, in a row above the values."""
    found = {place: changed for place in places if (changed := _changed(material, place))}
    numbers = [x for one in points for x in (one["estimate"].value, one["estimate"].high) if x is not None]
    tops = list(filter(math.isfinite, numbers))
    if not found or not tops:
        return []
    lows = [x for one in points for x in (one["estimate"].value, one["estimate"].low) if x is not None]
    top = max(tops) + 0.12 * ((max(tops) - min(filter(math.isfinite, lows))) or 1.0)
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": list(found),
            "y": [top] * len(found),
            "text": [" ".join(dict.fromkeys(one["kind"][:1] for one in ones)) for ones in found.values()],
            "textfont": {"color": "@muted", "size": 12},
            "hovertext": [chart.plain(_told(material, ones), 300) for ones in found.values()],
            "hoverinfo": "text",
            "showlegend": False,
            "cliponaxis": False,
        }
    ]


def _changed(material: Material, place: int) -> list[Mapping[Any, Any]]:
    return [one for one in rows_of(material.kept("changes")) if one["place"] == place]


def _told(material: Material, ones: Sequence[Mapping[Any, Any]]) -> str:
    names: dict[str, list[str]] = {}
    for one in ones:
        names.setdefault(kind(material, one["kind"]), []).append(str(one["name"]))
    return "; ".join(f"{word}: {', '.join(named)}" for word, named in names.items())


def _table(material: Material, points: Sequence[Point]) -> Markup:
    """One row a run, the newest first, one column a system."""
    _ = material.text
    systems = _systems(points)
    mixed = len({_stood_in(material, one) for one in points}) > 1
    heads = [html.head(_("run")), *(html.head(shown(name), "rb-name") for name in systems)]
    rows = []
    for place in reversed(_places(points)):
        own = {str(one["system"]): one for one in points if one["place"] == place}
        run = next(iter(own.values()))
        cells = [html.row_head(html.all(shown(run["run"], 60), " ", html.small(run["started"])))]
        cells += [html.cell(shown(name), _number(material, own.get(name), mixed)) for name in systems]
        changed = shown(_told(material, _changed(material, place)), 200) or DASH
        rows.append(html.row([*cells, html.cell(_("changed"), changed, "rb-word")]))
    heads.append(html.head(_("changed"), "rb-word"))
    return html.table(_("Values of every run"), heads, rows, "rb-wide rb-history")


def _number(material: Material, one: Point | None, mixed: bool) -> Markup | str:
    """A value, how many it stands on, and where not all are made by the same, the stand-ins that made it."""
    if one is None:
        return DASH
    estimate: Estimate = one["estimate"]
    said = [shown(counted(estimate, material.text, _digits(estimate)))]
    if mixed and (names := stand_ins.names(_stood_in(material, one), material.text)):
        said.append(shown(material.text("offline stand-ins: {names}", names=names)))
    if not one["comparable"]:
        said.append(why(material, one["reason"]))
    return spread(_value(material, estimate)) + small(Markup("; ").join(said))


def _stood_in(material: Material, one: Point) -> tuple[stand_ins.StandIn, ...]:
    """What stood in for a model where the value was made."""
    run = next(each for each in material.facts["runs"] if each["id"] == one["run"])
    return stand_ins.of({"stand_ins": run.get("stand_ins", {}).get(one["notebook"])}, one["system"])
