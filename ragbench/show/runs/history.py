"""Values over runs: a chart a metric with intervals, breaks where the data changed, and marks of what changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench import stand_ins
from ragbench.counts import counted
from ragbench.language import DASH
from ragbench.measurement import estimate_of
from ragbench.show.basics import chart
from ragbench.show.basics.cells import cell, head, row, table
from ragbench.show.basics.marks import GLYPHS, SERIES, SYMBOLS, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import shown
from ragbench.show.comparison.headline import standing_in
from ragbench.show.page import view
from ragbench.show.runs.compared import digits_of, kind, why

HEIGHT = 320
MOST_LABELS = 5
ASIDE = 0.3  # how far the systems of a run stand apart together, in runs
Point = Mapping[str, Any]


@view("history")
def history(material: Material, present: frozenset[str]) -> Markup:
    """Values with intervals over runs, and marks of what changed."""
    _ = material.text
    points = [{str(key): value for key, value in one.items()} for one in material.kept("points").to_dict("records")]
    if not points:
        return Markup("<p>{}</p>").format(_("No run has kept such a number."))
    groups = dict.fromkeys((one["notebook"], one["metric"]) for one in points)
    parts = []
    for notebook, metric in groups:
        own = [one for one in points if (one["notebook"], one["metric"]) == (notebook, metric)]
        title = Markup("<h2>{} · {}</h2>").format(shown(notebook), shown(metric))
        parts.append(title + _figure(material, metric, own) + _table(material, own))
    return standing_in(material) + Markup("").join(parts)


def _systems(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(str(one["system"]) for one in points))


def _figure(material: Material, metric: str, points: Sequence[Point]) -> Markup:
    _ = material.text
    systems = _systems(points)
    places = sorted({int(one["place"]) for one in points})
    legend = Markup("").join(
        Markup('<li><span class="rb-s{0}" aria-hidden="true">{1}</span>{2}</li>').format(
            number % SERIES, GLYPHS[number % SERIES], shown(name)
        )
        for number, name in enumerate(systems)
    )
    title = _.plural("{metric} over {n} run", "{metric} over {n} runs", len(places), metric=shown(metric))
    key = _(
        "c code, d data, m model, p prompt changed before this run. Values on other data are not joined; crosses are "
        "not comparable."
    )
    made = {
        "data": [
            trace
            for number, name in enumerate(systems)
            for trace in _traces(
                material, number, name, [_aside(one, number, len(systems)) for one in points if one["system"] == name]
            )
        ]
        + _marks(material, places, points),
        "layout": chart.layout(
            _, HEIGHT, margin={"l": 8, "r": 16, "t": 8, "b": 56, "pad": 0},
            xaxis=chart.axis(
                showgrid=False, tickangle=0, range=[places[0] - 0.5, places[-1] + 0.5], **_labels(points, places)
            ),
            yaxis=chart.axis(nticks=6),
        ),
    }  # fmt: skip
    return Markup(
        '<figure><figcaption><span class="rb-title">{}</span><ul class="rb-legend">{}</ul></figcaption>{}'
        '<p class="rb-axis">{}</p></figure>'
    ).format(title, legend, chart.plot(made, _("{title}. The table below holds the same numbers.", title=title)), key)


def _aside(one: Point, number: int, count: int) -> Point:
    """A system's place beside those of the others of its run, so that no interval hides another."""
    return {**one, "place": int(one["place"]) + ASIDE * ((number + 0.5) / count - 0.5)}


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


def _traces(material: Material, number: int, name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    """A line through each stretch of one data set, and the marks of what is not comparable by themselves."""
    measured = [one for one in points if math.isfinite(one["value"])]
    groups: list[tuple[str, list[Point]]] = [
        ("lines+markers", [one for one in measured if one["stretch"] == stretch and one["comparable"]])
        for stretch in sorted({one["stretch"] for one in measured})
    ]
    groups.append(("markers", [one for one in measured if not one["comparable"]]))
    return [_trace(material, number, name, mode, group) for mode, group in groups if group]


def _trace(material: Material, number: int, name: str, mode: str, points: Sequence[Point]) -> dict[str, Any]:
    colour = f"@series-{number % SERIES}"
    symbol = SYMBOLS[number % SERIES] if mode != "markers" else "x-open"
    return {
        "type": "scatter",
        "mode": mode,
        "name": chart.plain(name),
        "x": [round(float(one["place"]), 3) for one in points],
        "y": [one["value"] for one in points],
        "line": {"color": colour, "width": 1.5},
        "marker": {"color": colour, "size": 9, "symbol": symbol},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(one, "high") for one in points],
            "arrayminus": [_reach(one, "low") for one in points],
            "color": colour,
            "thickness": 2,
            "width": 0,
        },
        "text": [_hover(material, one) for one in points],
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
        "cliponaxis": False,
    }


def _reach(one: Point, end: str) -> float:
    bound = one[end]
    return 0.0 if bound is None or bound != bound else abs(bound - one["value"])


def _hover(material: Material, one: Point) -> str:
    names = f"<b>{chart.plain(str(one['system']))}</b> · {chart.plain(str(one['run']))}"
    text = f"{names}<br>{chart.plain(_value(material, one))}"
    return text if one["comparable"] else f"{text}<br>{chart.plain(str(why(material, one['reason']).striptags()))}"


def _value(material: Material, one: Point) -> str:
    _ = material.text
    digits = digits_of([one["value"], one["low"], one["high"]])
    if one["low"] is None or one["low"] != one["low"]:
        return _.number(one["value"], digits)
    return f"{_.number(one['value'], digits)} {_.interval(one['low'], one['high'], digits)}"


def _marks(material: Material, places: Sequence[int], points: Sequence[Point]) -> list[dict[str, Any]]:
    """The first letters of what changed before a run, in a row above the values."""
    found = {place: _changed(material, place) for place in places}
    texts = {
        place: " ".join(dict.fromkeys(_letter(one["kind"]) for one in ones)) for place, ones in found.items() if ones
    }
    tops = [x for one in points for x in (one["value"], one["high"]) if x is not None and math.isfinite(x)]
    if not texts or not tops:
        return []
    lows = [x for one in points for x in (one["value"], one["low"]) if x is not None and math.isfinite(x)]
    top = max(tops) + 0.12 * ((max(tops) - min(lows)) or 1.0)
    return [
        {
            "type": "scatter",
            "mode": "text",
            "x": list(texts),
            "y": [top] * len(texts),
            "text": list(texts.values()),
            "textfont": {"color": "@muted", "size": 12},
            "hovertext": [chart.plain(_told(material, found[place]), 300) for place in texts],
            "hoverinfo": "text",
            "showlegend": False,
            "cliponaxis": False,
        }
    ]


def _letter(name: str) -> str:
    return name[:1]


def _changed(material: Material, place: int) -> list[dict[str, Any]]:
    found = material.kept("changes")
    own = found[found["place"] == place].to_dict("records") if len(found) else []
    return [{str(key): value for key, value in one.items()} for one in own]


def _told(material: Material, ones: Sequence[Mapping[str, Any]]) -> str:
    names: dict[str, list[str]] = {}
    for one in ones:
        names.setdefault(kind(material, one["kind"]), []).append(str(one["name"]))
    return "; ".join(f"{word}: {', '.join(named)}" for word, named in names.items())


def _table(material: Material, points: Sequence[Point]) -> Markup:
    """One row a run, the newest first, one column a system."""
    _ = material.text
    systems = _systems(points)
    mixed = len({_stood_in(material, one) for one in points}) > 1
    heads = [head(_("run")), *(head(shown(name), "rb-name") for name in systems), head(_("changed"), "rb-word")]
    rows = []
    for place in sorted({int(one["place"]) for one in points}, reverse=True):
        own = {str(one["system"]): one for one in points if one["place"] == place}
        any_one = next(iter(own.values()))
        first = Markup("<th scope=row>{} <small>{}</small></th>").format(shown(any_one["run"], 60), any_one["started"])
        changed = _told(material, _changed(material, place))
        cells = [cell(shown(name), _number(material, own.get(name), mixed)) for name in systems]
        rows.append(row([first, *cells, cell(_("changed"), shown(changed, 200) or DASH, "rb-word")]))
    return table(_("Values of every run"), heads, rows, "rb-wide rb-history")


def _number(material: Material, one: Point | None, mixed: bool) -> Markup:
    """A value, how many it stands on, and where not all are made by the same, the stand-ins that made it."""
    if one is None:
        return Markup("{}").format(DASH)
    number = spread(_value(material, one))
    small = [shown(counted(estimate_of(one), material.text, digits_of([one["value"], one["low"], one["high"]])))]
    if mixed and (names := stand_ins.names(_stood_in(material, one), material.text)):
        small.append(shown(material.text("offline stand-ins: {names}", names=names)))
    if not one["comparable"]:
        small.append(why(material, one["reason"]))
    return number + Markup(" <small>{}</small>").format(Markup("; ").join(small))


def _stood_in(material: Material, one: Point) -> tuple[stand_ins.StandIn, ...]:
    """What stood in for a model where the value was made."""
    run = next(each for each in material.facts["runs"] if each["id"] == one["run"])
    return stand_ins.of({"stand_ins": run.get("stand_ins", {}).get(one["notebook"])}, one["system"])
