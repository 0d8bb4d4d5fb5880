"""What a page of agents shows besides values: where runs first go wrong, and what they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, cast

from ragbench.core.language import Translator
from ragbench.core.parts import Column, Content, Drawing, Entries, Number, Table, Text, Value
from ragbench.extras.standards.agents_page import EFFORT, WRONG, AgentFacts
from ragbench.metrics.explanation import reason_in
from ragbench.views.basics.marks import Untyped, chip, named, rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.view import view

LATE = 4
"""From this step on wrong steps are one piece of a bar."""
PARTS = ("good", "missing", "not-retrieved", "too-low", "not-used")
"""The colours of the pieces: right throughout, then wrong at steps 1 to LATE."""
WRITTEN = 0.07
"""From this share of the width on a piece has room for its number."""
SHOWN = 5


@view("agent_steps")
def steps(material: Material, present: frozenset[str]) -> Content:
    """A bar a system of the steps at which runs first go wrong, and what was called there instead."""
    _, runs = material.text, {name: rows_of(Untyped, material.kept(WRONG), name) for name in material.systems}
    runs = {name: rows for name, rows in runs.items() if rows}
    if not runs:
        return ()
    counts = {name: Counter(min(int(row["step"]), LATE) for row in rows) for name, rows in runs.items()}
    places = sorted({place for count in counts.values() for place in count})
    legend = [(Drawing("swatch", {"part": PARTS[place], "text": ""}), _name(place, _)) for place in places]
    title = _("Where runs first go wrong")
    columns = (
        Column(_("system")), Column(_("share of the runs"), look="rb-drawn"), Column(_("runs"), "count"),
        Column(_("right throughout"), "count"), Column(_("first wrong step, middle"), "number"),
    )  # fmt: skip
    rows = [(named(material, name), _bar(count, _), count.total(), count[0], _middle(runs[name]))
            for name, count in counts.items()]  # fmt: skip
    lead = _(
        "A run goes wrong at the first call that is not the reference's: another tool, other arguments, one that is "
        "lacking, or one too many. The middle is the median over runs that go wrong."
    )
    bars = Table(columns, tuple(rows), title, language=_.language, look="rb-forest rb-blame")
    return (Text(title, "h2"), Text(lead, "rb-lede"), Entries(legend, "rb-legend"), bars, _instead(material, runs))


def _name(place: int, _: Translator) -> str:
    if not place:
        return _("right throughout")
    return _("wrong from step {n} on or later", n=place) if place == LATE else _("wrong at step {n}", n=place)


def _middle(rows: Sequence[Mapping[Any, Any]]) -> Number | None:
    wrong = [int(row["step"]) for row in rows if row["step"]]
    return Number(median(wrong), 1) if wrong else None


def _bar(count: Counter[int], _: Translator) -> Drawing:
    pieces: list[Mapping[str, Any]] = []
    start, total = 0.0, count.total()
    for place in sorted(count):
        share = count[place] / total
        said = _("{part}: {count} of {n} ({share})", part=_name(place, _), count=_.integer(count[place]),
                 n=_.integer(total), share=_.percent(share))  # fmt: skip
        pieces.append({
            "part": PARTS[place], "start": round(100 * start, 3), "width": round(100 * share, 3),
            "middle": round(100 * (start + share / 2), 3), "text": _.percent(share) if share >= WRITTEN else "",
            "said": said,
        })  # fmt: skip
        start += share
    return Drawing("stack", {"label": "; ".join(str(piece["said"]) for piece in pieces), "segments": pieces})


def _instead(material: Material, runs: Mapping[str, Sequence[Mapping[Any, Any]]]) -> Content:
    """The commonest pairs of an expected and a made call at the first wrong step."""
    _ = material.text
    rows = []
    for name, own in runs.items():
        pairs = Counter((str(row["expected"]), str(row["called"])) for row in own if row["step"])
        for (expected, called), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]:
            same = _("the same tool, with other arguments") if expected == called else shown(called, 80)
            made = (
                shown(expected, 80) if expected else _("nothing more"),
                same if called else _("nothing more"),
                count,
            )
            rows.append((named(material, name), made))
    heads = (_("expected"), (_("called instead"), "rb-word"), _("runs"))
    title = _("What is called at the first wrong step")
    table = Table.grouped(_, title, heads, rows)
    return (Text(title, "h3"), table) if rows else ()


@view("agent_unasked")
def unasked(material: Material, present: frozenset[str]) -> Content:
    """Which metrics nobody was asked for, because no judge answered, and why."""
    _, told = material.text, cast(AgentFacts, material.facts).get("unasked")
    if not told:
        return ()
    said = _("Not measured, because no judge answered: {metrics}. {reason}",
             metrics=_.enumeration(list(told["metrics"])), reason=reason_in(told["reason"], _))  # fmt: skip
    return Text(said, "rb-lede")


@view("agent_effort")
def effort(material: Material, present: frozenset[str]) -> Content:
    """Turns, calls and money of a run and of all runs, each system beside the baseline."""
    _ = material.text
    words = {"agent_turns": _("turns"), "agent_calls": _("calls of tools"), "agent_cost": _("money")}
    rows = []
    for metric in EFFORT:
        for name in material.systems:
            estimate = material.estimate(name, metric)
            if estimate is None or not estimate.n:
                continue
            digits = material.digits(metric)
            difference = material.comparison(name, metric)
            total = Number(estimate.value * estimate.n, digits if metric == "agent_cost" else 0)
            beside = () if len(material.systems) < 2 else (
                None if difference is None else Value.of(difference, digits),
                None if difference is None else chip(material, difference),
            )  # fmt: skip
            of_run = (named(material, name), Value.of(estimate, digits), total, estimate.n, *beside)
            rows.append((words[metric], of_run))
    heads = [_("system"), _("a run"), _("all runs"), _("runs")]
    heads += [_("difference"), _("verdict")] if len(material.systems) > 1 else []
    title = _("What a run takes")
    lead = _("Turns are messages of the agent, each a call of its model. Money is what was logged; what nobody logged "
             "is not free, and in no mean.")  # fmt: skip
    return (Text(title, "h2"), Text(lead, "rb-lede"), Table.grouped(_, title, heads, rows)) if rows else ()
