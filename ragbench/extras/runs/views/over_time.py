"""Values over runs: a panel a metric with intervals, breaks where the data changed, and marks of what changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ragbench.core import stand_ins
from ragbench.core.facts import Facts
from ragbench.core.gaps import counted
from ragbench.core.language import DASH
from ragbench.core.parts import (
    Column,
    Content,
    Drawn,
    Entries,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    Value,
    bold,
    small,
    spoken,
)
from ragbench.core.types import Estimate
from ragbench.extras.runs.run_tables import ChangeRow, Point, PointRow, run_facts
from ragbench.extras.runs.views.side_by_side import kind
from ragbench.extras.runs.views.unpaired import reason_said, why
from ragbench.views.basics.differences import scaled
from ragbench.views.basics.marks import named, rows_of, series
from ragbench.views.basics.material import Material, digits_of
from ragbench.views.basics.text import clean, shortened, shown
from ragbench.views.basics.web import GLYPHS, Web, drawn
from ragbench.views.sentences.conclusions import standing_in
from ragbench.views.view import view

HEIGHT = 132
EDGE = 10  # pixels above and below what is drawn, for half a mark
FEW = 6
"""So many runs have their names below the panels; of more the table has them."""
ASIDE = 0.3  # how far the systems of a run stand apart together, in runs
SHORT = 28
"""Signs of a value that a sentence has room for."""
CROSS = "✕"


@view("history")
def history(material: Material, present: frozenset[str]) -> Content:
    """Values with intervals over the runs of each project on each data set, a panel a metric, and what changed."""
    points: list[Point] = [
        {**row, "estimate": named.estimate}
        for row, named in zip(
            rows_of(PointRow, material.kept("points", "section", "stretch")),
            material.measurement.estimates_by("run", "notebook"),
            strict=True,
        )
    ]
    if not points:
        return Text(material.text("No run has kept such a number."))
    parts: list[Content] = [standing_in(material)]
    for number, section in enumerate(run_facts(material.facts)["sections"]):
        own = [point for point in points if point["section"] == number]
        parts.append(_section(_coloured(material, section), section, number, own))
    return parts


def _coloured(material: Material, section: Mapping[str, Any]) -> Material:
    """The same with the order of the section's systems, that gives them their colours on the pages of its runs."""
    pages = [{"systems": section["systems"], "baseline": section["baseline"]}]
    facts: Facts = {**material.facts, "project_systems": section["project_systems"], "pages": pages}
    return Material(replace(material.measurement, facts=facts), material.text)


def _section(material: Material, section: Mapping[str, Any], number: int, points: Sequence[Point]) -> Content:
    """A data set's panels over its runs, which runs those are, and folded the numbers."""
    _ = material.text
    several = len({other["project"] for other in run_facts(material.facts)["sections"]}) > 1
    title = " · ".join(filter(None, [section["project"] if several else "", section["dataset"]]))
    runs = [next(run for run in run_facts(material.facts)["runs"] if run["id"] == name) for name in section["runs"]]
    told = {place: _changed(material, number, place) for place in range(len(runs))}
    groups: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        groups.setdefault((point["notebook"], point["metric"]), []).append(point)
    labels = [
        {"number": place + 1, "title": _name(run), "changed": ", ".join(_kinds(material, told[place]))}
        for place, run in enumerate(runs)
    ]
    drawing = drawn(
        "history", _, height=HEIGHT, few=FEW, labels=labels,
        marks=[round(100 * place / len(runs), 3) for place, ones in told.items() if ones],
        panels=[_panel(material, *named, own, len(runs)) for named, own in groups.items()],
    )  # fmt: skip
    notes = [_("A dotted line: something changed before the run. Values on other data are not joined.")]
    if not all(value["comparable"] for value in points):
        notes.append(_("{cross} is not comparable with the others.", cross=CROSS))
    tables = [
        part
        for (notebook, metric), own in groups.items()
        for part in (
            Text(shown(" · ".join(filter(None, (metric, notebook, _judged_by(material, own))))), "h3"),
            _table(material, runs, own, f"{metric} · {notebook}"),
        )
    ]
    return (
        Text(shown(title), "h2") if title else (),
        Entries([named(material, name) for name in section["systems"]], "rb-legend"),
        Drawn(drawing),
        Text(" ".join(notes), "rb-meta"),
        _listed(material, runs, told),
        Section(tables, _("Values of every run")),
    )


def _name(run: Mapping[str, Any]) -> str:
    """What is short enough to stand below a panel: its name, else its day, else its id."""
    return shortened(run["name"] or run["started"].partition(" ")[0] or run["id"], 40)


def _panel(material: Material, notebook: str, metric: str, points: Sequence[Point], count: int) -> dict[str, Any]:
    """What a panel draws: where the marks of its points, their intervals and the lines between them are."""
    _ = material.text
    numbers = [x for point in points for x in (point["estimate"].value, point["estimate"].low, point["estimate"].high)]
    known = [x for x in numbers if x is not None and math.isfinite(x)]
    scale = scaled(known or [0.0, 1.0], zero=False)
    systems = list(dict.fromkeys(str(point["system"]) for point in points))

    def height(value: float) -> float:
        return round(EDGE + (HEIGHT - 2 * EDGE) * (1 - scale.place(value) / 100), 2)

    lines, marks = [], []
    for number, system in enumerate(systems):
        aside = ASIDE * ((number + 0.5) / len(systems) - 0.5)
        own = [point for point in points if point["system"] == system and math.isfinite(point["estimate"].value)]
        at = [(round(100 * (int(point["place"]) + 0.5 + aside) / count, 3), point) for point in own]
        colour = series(material, system)
        lines += [
            {"series": colour, "x1": x, "y1": height(before["estimate"].value), "x2": x_next,
             "y2": height(after["estimate"].value)}
            for (x, before), (x_next, after) in pairwise(each for each in at if each[1]["comparable"])
            if before["stretch"] == after["stretch"]
        ]  # fmt: skip
        for x, plotted in at:
            estimate: Estimate = plotted["estimate"]
            ends = [height(end) for end in (estimate.low, estimate.high) if end is not None and math.isfinite(end)]
            marks.append(
                {"series": colour, "x": x, "y": height(estimate.value), "said": _said(material, plotted),
                 "glyph": GLYPHS[colour] if plotted["comparable"] else CROSS,
                 "ends": ends if len(ends) == 2 else None}
            )  # fmt: skip
    lower = next((point["better"] for point in points if point["better"]), None) == "lower"
    beside = ", ".join(filter(None, (_("lower is better") if lower else "", _judged_by(material, points))))
    title = Web(_).phrase((bold(shown(metric)), " ", shown(notebook), small(shown(beside)) if beside else ""))
    said = _.plural("{metric} over {n} run", "{metric} over {n} runs", count, metric=clean(metric))
    digits = min(digits_of(known, metric), 2 if scale.step >= 0.01 else 3)
    return {
        "title": title,
        "said": _("{title}. The table below holds the same numbers.", title=said),
        "ticks": [(height(tick), _.number(tick, digits)) for tick in scale.ticks],
        "lines": lines,
        "points": marks,
    }  # fmt: skip


def _judged_by(material: Material, points: Sequence[Point]) -> str:
    """The offline judge that alone judged all of these values, in words; else empty."""
    names = {str(point["judged_by"]) for point in points}
    return stand_ins.judged_by(names.pop() if len(names) == 1 else "", material.text)


def _said(material: Material, point: Point) -> str:
    run = next(each for each in run_facts(material.facts)["runs"] if each["id"] == point["run"])
    parts = [str(point["system"]), _name(run), _value(material, point["estimate"])]
    parts += [] if point["comparable"] else [reason_said(str(point["reason"]), material.text)]
    return clean(" · ".join(parts))


def _listed(material: Material, runs: Sequence[Mapping[str, Any]], told: Mapping[int, Sequence[ChangeRow]]) -> Content:
    """Which runs these are, the newest first, and in words what changed before each."""
    _ = material.text
    heads = ["", (_("run"), "rb-word"), (_("started"), "rb-word"), (_("changed before it"), "rb-word")]
    rows = []
    for place in reversed(range(len(runs))):
        run = runs[place]
        title = (bold(shown(run["name"])), small(run["id"])) if run["name"] else shown(run["id"], 60)
        note = Styled(shown(run["note"]), look="rb-beside") if run["note"] else ""
        changed = shown(_told(material, told[place]), 240) or DASH
        rows.append((str(place + 1), (title, note), shown(run["started"]) or DASH, changed))
    return Table.of(_, _("Runs"), heads, rows, "rb-wide rb-listed")


def _digits(estimate: Estimate) -> int:
    return digits_of((estimate.value, estimate.low, estimate.high))


def _value(material: Material, estimate: Estimate) -> str:
    return spoken(material.text).phrase(Value.of(estimate, _digits(estimate), bare=True))


def _changed(material: Material, section: int, place: int) -> list[ChangeRow]:
    return [
        change
        for change in rows_of(ChangeRow, material.kept("changes"))
        if (change["section"], change["place"]) == (section, place)
    ]


def _kinds(material: Material, ones: Sequence[ChangeRow]) -> list[str]:
    return list(dict.fromkeys(kind(material, change["kind"]) for change in ones))


def _told(material: Material, ones: Sequence[ChangeRow]) -> str:
    """`data: tier1_retrieval; parameter: k (tier1_retrieval) 10 → 20`: short values are said."""
    names: dict[str, list[str]] = {}
    for change in ones:
        short = all(0 < len(str(change[key])) <= SHORT for key in ("before", "after"))
        moved = f" {change['before']} → {change['after']}" if short else ""
        names.setdefault(kind(material, change["kind"]), []).append(f"{change['name']}{moved}")
    return "; ".join(f"{word}: {', '.join(own)}" for word, own in names.items())


def _table(material: Material, runs: Sequence[Mapping[str, Any]], points: Sequence[Point], of: str) -> Content:
    """One row a run, the newest first, one column a system. of: what the values are of."""
    _ = material.text
    systems = list(dict.fromkeys(str(point["system"]) for point in points))
    mixed = len({(_stood_in(material, point), point["judged_by"]) for point in points}) > 1
    columns = [Column(_("run"))]
    columns += [Column(named(material, name), "interval", head="rb-name", label=clean(name)) for name in systems]
    rows = []
    for place in sorted({int(point["place"]) for point in points}, reverse=True):
        own = {str(point["system"]): point for point in points if point["place"] == place}
        cells = [_number(material, own.get(name), mixed) for name in systems]
        rows.append((f"{place + 1} {shown(_name(runs[place]))}", *cells))
    title = f"{_('Values of every run')}: {clean(of)}"
    return Table(tuple(columns), tuple(rows), title, language=_.language, look="rb-wide rb-history")


def _number(material: Material, point: Point | None, mixed: bool) -> Phrase | None:
    """A value, how many it stands on, and where not all are made by the same, the stand-ins that made it."""
    if point is None:
        return None
    estimate: Estimate = point["estimate"]
    said = [shown(counted(estimate, material.text, _digits(estimate)))]
    if mixed and (names := stand_ins.names(_stood_in(material, point), material.text)):
        said.append(shown(material.text("offline stand-ins: {names}", names=names)))
    if not point["comparable"]:
        said.append(why(material, point["reason"]))
    return (Value.of(estimate, _digits(estimate), bare=True), small("; ".join(said)))


def _stood_in(material: Material, point: Point) -> tuple[stand_ins.StandIn, ...]:
    """What stood in for a model where the value was made."""
    run = next(each for each in run_facts(material.facts)["runs"] if each["id"] == point["run"])
    return stand_ins.of({"stand_ins": run.get("stand_ins", {}).get(point["notebook"])}, point["system"])
