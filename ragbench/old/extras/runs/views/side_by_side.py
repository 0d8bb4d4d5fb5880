"""Several runs side by side: which they are, what differs between them, and their values over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.gaps import counted
from ragbench.old.core.language import DASH
from ragbench.old.core.parts import (
    Column,
    Content,
    Drawn,
    Entries,
    Group,
    Link,
    Number,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    Value,
    bold,
    joined,
    small,
    spoken,
)
from ragbench.old.core.types import Estimate
from ragbench.old.extras.runs.changes import Refusal, said
from ragbench.old.extras.runs.run_tables import (
    ChangeRow,
    PageRow,
    Point,
    PointRow,
    RefusedRow,
    SettingRow,
    run_facts,
)  # fmt: skip
from ragbench.old.extras.runs.views.unpaired import reason_said, why
from ragbench.old.views.basics.differences import scaled
from ragbench.old.views.basics.marks import chip, measured, named, rows_of, series
from ragbench.old.views.basics.material import Material, digits_of
from ragbench.old.views.basics.text import ELLIPSIS, clean, shortened, shown
from ragbench.old.views.basics.web import GLYPHS, Web, drawn
from ragbench.old.views.sentences.conclusions import standing_in
from ragbench.old.views.view import view

EXCERPT = 160  # two lines of a page
LONG = 40  # below it both are read whole at a glance
FIRST = 8
"""So many settings that differ are read at once; the others are folded."""
ACROSS = "rb-wide rb-across"
"""Tables with a column a run, whose first column stays in sight."""


@view("runs")
def runs(material: Material, present: frozenset[str]) -> Content:
    """The runs that are compared, a column each: what they are, and what differs between them; of one run, all."""
    _ = material.text
    known = _runs(material)
    told = [row for row in _told_of(material, known) if len(known) == 1 or row.differs or row.always]
    own = [(row.title, *map(_told, row.values)) for row in told]
    rows = [_setting(material, setting) for setting in _settings(material, differs=True)]
    first = rows if len(rows) <= FIRST + 1 else rows[:FIRST]
    table = _table(material, _("Runs"), known, [*own, *([Group("", apart=True)] if first else []), *first])
    folded: Content = ()
    if rows[len(first) :]:
        more = _.plural("{n} more", "{n} more", len(rows) - FIRST)
        folded = Section([_table(material, more, known, rows[FIRST:])], more)
    nothing = _(
        "Nothing that the runs say of themselves differs: code, data, models, prompts and parameters are equal."
    )
    silent = len(known) > 1 and not rows and run_facts(material.facts).get("identified")
    return (table, folded, Text(nothing, "rb-meta") if silent else (), standing_in(material))


@view("alike")
def alike(material: Material, present: frozenset[str]) -> Content:
    """What is the same in all runs that are compared, folded; empty where nothing is known."""
    _ = material.text
    known = _runs(material)
    own = [row for row in _told_of(material, known) if not row.differs and not row.always]
    rows: list[tuple[Phrase, Phrase]] = [(row.title, _told(row.values[0])) for row in own]
    for setting in _settings(material, differs=False):
        value = next(text for text in setting["values"] if text is not None)
        rows.append((_named(material, setting), _told(value)))
    if len(known) < 2 or not rows:
        return ()
    title = _.plural("{n} setting", "{n} settings", len(rows))
    return Section([Table.of(_, _("The same in all these runs"), ["", (_("in all runs"), "rb-word")], rows)], title)


@view("equal")
def equal(material: Material, present: frozenset[str]) -> Content:
    """The pages of a comparison whose runs no question tells apart; empty where there is none."""
    known = [page for page in rows_of(PageRow, material.kept("compared_pages")) if page["equal"]]
    return Entries([Link(shown(page["title"]), f"{page['page']}.html") for page in known]) if known else ()


@dataclass(frozen=True)
class _Row:
    """What runs say of themselves, a value a run; always: shown where it is equal too."""

    title: str
    values: tuple[Any, ...]
    always: bool = False

    @property
    def differs(self) -> bool:
        return any(value != self.values[0] for value in self.values)


def _runs(material: Material) -> list[Mapping[str, Any]]:
    return [run for run in run_facts(material.facts).get("runs", ()) if isinstance(run, Mapping)]


def _table(material: Material, title: str, known: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> Table:
    """A column a run."""
    columns = [
        Column(""),
        *(Column(_head(run), look="rb-word", head="rb-word rb-name", label=_label(run)) for run in known),
    ]
    return Table(tuple(columns), tuple(rows), title, language=material.text.language, look=ACROSS)


def _head(run: Mapping[str, Any]) -> Phrase:
    """`A bigger chunks`."""
    parts = [Styled(shown(run["letter"]), look="rb-letter") if run.get("letter") else "", shown(run.get("name"))]
    return joined(" ", parts)


def _label(run: Mapping[str, Any]) -> str:
    """The same where a row is a card."""
    return " ".join(filter(None, [clean(run.get("letter")), clean(run.get("name"))]))


def _told_of(material: Material, known: Sequence[Mapping[str, Any]]) -> list[_Row]:
    _ = material.text
    states = {"complete": _("complete"), "failed": _("failed"), "interrupted": _("interrupted")}
    titles = {
        "id": _("run"),
        "note": _("note"),
        "started": _("started"),
        "datasets": _("data set"),
        "systems": _("systems"),
        "notebooks": _("pages"),
        "status": _("status"),
        "origin": _("loaded from"),
    }
    if len(known) == 1:
        titles["commit"] = _("commit")
    rows = []
    for key, title in titles.items():
        values = tuple(run.get(key) for run in known)
        values = tuple(states.get(str(state), state) for state in values) if key == "status" else values
        if any(value not in (None, "", []) for value in values):
            rows.append(_Row(title, values, key in ("id", "note", "started")))
    return rows


def _settings(material: Material, *, differs: bool) -> list[SettingRow]:
    return [
        setting
        for setting in rows_of(SettingRow, material.kept("settings", "differs"))
        if bool(setting["differs"]) == differs
    ]


def _setting(material: Material, setting: SettingRow) -> Sequence[Any]:
    """A setting that differs; values that are not the baseline's stand out."""
    values = list(setting["values"])
    cells = list[Phrase]()
    for place, text in enumerate(values):
        others = [each for other, each in enumerate(values) if other != place and each and each != text]
        said = _told(differing(text or "", others))
        cells.append(bold(said) if text and place and text != values[0] else said)
    return (_named(material, setting), *cells)


def _named(material: Material, setting: SettingRow) -> Phrase:
    word = kind(material, str(setting["kind"]))
    return (shown(setting["name"], EXCERPT), small(word))


def _told(value: Any) -> Phrase:
    texts = value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]
    return ", ".join(shown(each, EXCERPT) for each in texts) or DASH


def differing(text: str, others: Sequence[str]) -> str:
    """A long text without the words that all the others have too, an ellipsis in place of each run of them."""
    words = text.split()
    known = set.intersection(*(set(other.split()) for other in others)) if others else set()
    if len(text) <= LONG or not any(word in known for word in words) or not set(words) - known:
        return text
    kept = [word if word not in known else ELLIPSIS for word in words]
    return " ".join(
        word for place, word in enumerate(kept) if word != ELLIPSIS or kept[place - 1 : place] != [ELLIPSIS]
    )


@view("across")
def across(material: Material, present: frozenset[str]) -> Content:
    """Values with the systems of a page, or the runs of a system, as columns: the key metrics, then all others folded.

    Below a value stands how it differs from the baseline's, and what that is worth.
    """
    _ = material.text
    if not material.metrics:
        return ()
    others = [metric for metric in material.metrics if metric not in material.key_metrics]
    parts: list[Content] = [_across(material, material.key_metrics)]
    if others:
        more = _.plural("{n} more metric", "{n} more metrics", len(others))
        parts.append(Section([_across(material, others)], more))
    return parts


def _across(material: Material, metrics: Sequence[str]) -> Content:
    _ = material.text
    columns = [Column(_("metric"))]
    columns += [Column(named(material, name), "interval", head="rb-name", label=clean(name))
                for name in material.systems]  # fmt: skip
    rows = []
    for metric in metrics:
        lower = _("lower is better") if material.lower_is_better(metric) else ""
        cells: list[Phrase] = [(shown(metric), small(", ".join(filter(None, (lower, material.judged_by(metric))))))]
        for name in material.systems:
            estimate, difference = material.estimate(name, metric), material.comparison(name, metric)
            value: Phrase = DASH if estimate is None else measured(material, estimate, metric)
            if difference is not None:
                against = (material.difference(difference, metric), " ", chip(material, difference))
                value = (value, " ", Styled(against, look="rb-beside"))
            cells.append(value)
        rows.append(tuple(cells))
    estimates = (material.estimate(name, metric) for name in material.systems for metric in metrics)
    said = _(
        "means over questions ({population}), and their differences from the baseline",
        population=material.population(each.n for each in estimates if each is not None),
    )
    title = _("Values and differences from the baseline")
    table = Table(tuple(columns), tuple(rows), title, language=_.language, look=ACROSS)
    return (table, Text(said, "rb-axis"))


def kind(material: Material, name: str) -> str:
    """The word for a kind of change."""
    _ = material.text
    words = {
        "code": _("code"),
        "data": _("data"),
        "models": _("model"),
        "prompts": _("prompt"),
        "parameters": _("parameter"),
        "thresholds": _("threshold"),
    }
    return words.get(name, name)


@view("refused")
def refused(material: Material, present: frozenset[str]) -> Content:
    """What was not compared, and what would make it comparable; empty where everything was."""
    _ = material.text
    refusals = [Refusal(**row) for row in rows_of(RefusedRow, material.kept("refused"))]
    if not refusals:
        return ()
    several = len(_runs(material)) > 2
    whose = [" ".join(filter(None, [refusal.run if several else "", refusal.notebook])) for refusal in refusals]
    items = [
        (bold(shown(whom)), ": " if whom else "", shown(said(refusal, _)))
        for whom, refusal in zip(whose, refusals, strict=True)
    ]
    return Section([Text(_("Not compared:")), Entries(items)], look="rb-standin")


@view("fallen")
def fallen(material: Material, present: frozenset[str]) -> Content:
    """How many questions fell out of the pairing of runs."""
    _, facts = material.text, run_facts(material.facts)
    known, number = list(facts.get("fallen") or ()), int(facts.get("n_questions") or 0)
    if len(known) == 1:
        told = [_.plural("{n} question is in both runs", "{n} questions are in both runs", number)]
    else:
        told = [_.plural("{n} question is in all these runs", "{n} questions are in all these runs", number)]
    for pairing in known:
        counts = {key: int(pairing[key]) for key in ("only_first", "only_second", "altered")}
        own = []
        if counts["only_first"]:
            own.append(_.plural("{n} is only in A", "{n} are only in A", counts["only_first"]))
        if counts["only_second"]:
            text = _.plural("{n} is only in {run}", "{n} are only in {run}", counts["only_second"], run=pairing["run"])
            own.append(text)
        if counts["altered"]:
            own.append(
                _.plural(
                    "{n} has the same name in both and is not the same question",
                    "{n} have the same names in both and are not the same questions",
                    counts["altered"],
                )
            )
        told += own if len(known) == 1 else [f"A, {pairing['run']}: {', '.join(own)}"] if own else []
    warning = ""
    if facts.get("other_data"):
        warning = _(
            "The runs have other data: the questions are the same, the passages behind them may differ. A difference "
            "is one of system and data together."
        )
    return (Text(f"{'; '.join(told)}.", "rb-meta"), Text(warning, "rb-standin") if warning else ())


@view("effects")
def effects(material: Material, present: frozenset[str]) -> Content:
    """Effect sizes of the comparisons, and the smallest difference that each could have shown."""
    _ = material.text
    several = len(material.challengers) > 1
    heads = [_("metric"), *([_("system")] if several else []), _("effect size")]
    heads += [_("smallest difference that would be shown"), _("n")]
    heads += [_("smallest difference of interest"), _("n that shows it")]
    rows = []
    for finding in material.measurement.comparisons:
        c, least = finding.comparison, Number(finding.comparison.minimum_detectable, material.digits(finding.metric))
        size = Number(c.effect_size, 2, signed=True)
        who = [shown(c.challenger)] if several else []
        rows.append([shown(finding.metric), *who, size, least, c.n, _.exact(c.margin), c.questions_needed])
    if not rows:
        return ()
    note = _(
        "The effect size is the mean difference divided by the standard deviation of the questions' differences. The "
        "smallest difference is what four of five such comparisons would show, at the level that the correction "
        "leaves. The last column is how many questions would show the smallest difference of interest as surely."
    )
    return (Table.of(_, _("Effect sizes"), heads, rows), Text(note, "rb-meta"))


HEIGHT = 132  # pixels: panels of several metrics on one screen
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
            _values_over_runs(material, runs, own, f"{metric} · {notebook}"),
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
        changed = shown(_changes_told(material, told[place]), 240) or DASH
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


def _changes_told(material: Material, ones: Sequence[ChangeRow]) -> str:
    """`data: tier1_retrieval; parameter: k (tier1_retrieval) 10 → 20`: short values are said."""
    names: dict[str, list[str]] = {}
    for change in ones:
        short = all(0 < len(str(change[key])) <= SHORT for key in ("before", "after"))
        moved = f" {change['before']} → {change['after']}" if short else ""
        names.setdefault(kind(material, change["kind"]), []).append(f"{change['name']}{moved}")
    return "; ".join(f"{word}: {', '.join(own)}" for word, own in names.items())


def _values_over_runs(
    material: Material, runs: Sequence[Mapping[str, Any]], points: Sequence[Point], of: str
) -> Content:
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
