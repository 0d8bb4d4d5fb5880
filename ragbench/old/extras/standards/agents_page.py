"""The page of agents: what they reached, with which calls, where runs first go wrong, and what they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, ClassVar, TypedDict, cast

from ragbench.old.core.facts import Facts, Told
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement, columns
from ragbench.old.core.metric import Metric
from ragbench.old.core.parts import Column, Content, Drawing, Entries, Number, Phrase, Table, Text, Value
from ragbench.old.core.types import Sample
from ragbench.old.core.types.reason import kept, reason_of
from ragbench.old.extras.standards.agents import calls_of, first_wrong
from ragbench.old.llm.errors import ProviderRefused, ProviderUnreachable, RepliesUnusable
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.answers.rag_metrics import RagMetricsRequest, answers_of, scored, state
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.requests import tier
from ragbench.old.tiers.scoring.ledger import system_name
from ragbench.old.tiers.scoring.measure import applicable
from ragbench.old.tiers.scoring.table_sources import AnswerTable
from ragbench.old.views.basics.chart import stack
from ragbench.old.views.basics.marks import chip, named, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown
from ragbench.old.views.view import view

LATE = 4
"""From this step on wrong steps are one piece of a bar."""
PARTS = ("good", "missing", "not-retrieved", "too-low", "not-used")
"""The colours of the pieces: right throughout, then wrong at steps 1 to LATE."""
SHOWN = 5  # the commonest; all are in the table below


@view("agent_steps")
def steps(material: Material, present: frozenset[str]) -> Content:
    """A bar a system of the steps at which runs first go wrong, and what was called there instead."""
    _, runs = material.text, {name: rows_of(WrongRow, material.kept(WRONG), name) for name in material.systems}
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


def _bar(count: Counter[int], _: Translator) -> Phrase:
    return stack([(PARTS[place], _name(place, _), count[place]) for place in sorted(count)], count.total(), _)


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
    """Which metrics nobody was asked for, because no judge gave a usable answer, and why."""
    _, told = material.text, cast(AgentFacts, material.facts).get("unasked")
    if not told:
        return ()
    said = _("Not measured, because no judge gave a usable answer: {metrics}. {reason}",
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


EFFORT: Mapping[str, str] = {"agent_turns": "trajectory", "agent_calls": "trajectory", "agent_cost": "cost"}
MEASURED: Mapping[str, str] = {
    "goal_reached(reference=true)": "reference", "goal_reached": "trajectory",
    "tool_call_accuracy": "reference_tool_calls", "tool_call_accuracy(order=any)": "reference_tool_calls",
    "tool_call_f1": "reference_tool_calls", "right_steps": "reference_tool_calls",
    "topic_adherence": "reference_topics", **EFFORT,
}  # fmt: skip
"""What is measured where nothing is named, each where any sample has this field; the first is the primary one."""
WRONG, MESSAGES = "first_wrong", "messages"
"""Tables: of every run with reference calls its first wrong step; and the messages of every run that is listed."""


class WrongRow(TypedDict):
    """The number of a run's first wrong step from 1, 0 where there is none, with the tools' names there."""

    system: str
    sample: str
    step: int
    expected: str
    called: str


class MessageRow(TypedDict):
    """A message of a run, with the calls in it."""

    system: str
    sample: str
    role: str
    text: str


class AgentsRequest(RagMetricsRequest):
    """Which agents' runs are scored, by what and by whom."""

    spares_judges: ClassVar[bool] = True

    notebook: str = "agents"


@tier(AgentsRequest, state)
def agents(request: AgentsRequest) -> Measurement:
    """Score runs of agents, rows with messages and tool calls: goals, calls, subjects, turns, money.

    A judge that stops answering, or none of whose replies can be used, takes with it only what it was asked for: the
    fact `unasked` says which, and why.
    Raises BenchError, DatasetError or ValueError, before anything is paid for, each with what is legal.
    """
    answers = answers_of(request)
    samples = tuple(answers.samples)
    if not any(sample.trajectory for sample in samples):
        raise BenchError(
            f"{answers.facts['dataset']}: no row has an agent's messages or calls; a column `trajectory` (messages as "
            "OpenAI, LangChain or ragas write them) or `tools_called` is expected. `ragbench load traces FILE` writes "
            "such rows from traces"
        )
    usual = [label for label, field in MEASURED.items() if any(getattr(each, field) is not None for each in samples)]
    made = _scored(request, answers, applicable(samples, list(parted(request.metrics)) or usual))
    listed = set(zip(made.extra["answers"]["system"], made.extra["answers"]["sample"], strict=True))
    told = [sample for sample in samples if (system_name(sample), sample.id) in listed]
    tables = {WRONG: _table(map(_wrong, samples), WrongRow), MESSAGES: _messages(told)}
    return replace(made, extra={**made.extra, **{name: table for name, table in tables.items() if len(table)}})


class AgentFacts(Facts, total=False):
    """unasked: the `metrics` that no judge was asked for, and the `reason`."""

    unasked: Told


def _scored(request: AgentsRequest, answers: AnswerTable, metrics: Sequence[Metric]) -> Measurement:
    """By all of the metrics; where no judge gives a usable answer, by those that need none, if there are any."""
    try:
        return scored(request, answers, metrics)
    except (ProviderRefused, ProviderUnreachable, RepliesUnusable) as error:
        judged = [metric.label for metric in metrics if "judge" in metric.needs]
        others = [metric for metric in metrics if metric.label not in judged]
        if not others:
            raise
        given = request.model_copy(update={"primary": "" if request.primary in judged else request.primary})
        made = scored(given, answers, others)
        facts: AgentFacts = {**made.facts, "unasked": {"metrics": judged, "reason": kept(reason_of(error))}}
        return replace(made, facts=facts)


def _wrong(sample: Sample) -> Iterable[tuple[Any, ...]]:
    if sample.reference_tool_calls is None or not sample.trajectory:
        return
    made, wanted = calls_of(sample), sample.reference_tool_calls
    place = first_wrong(made, wanted)
    names = ("", "") if place is None else tuple(
        calls[place].name if place < len(calls) else "" for calls in (wanted, made)
    )  # fmt: skip
    yield system_name(sample), sample.id, 0 if place is None else place + 1, *names


def _messages(samples: Iterable[Sample]) -> Any:
    seen: set[tuple[str, str]] = set()
    rows: list[tuple[Any, ...]] = []
    for sample in samples:
        if (run := (system_name(sample), sample.id)) not in seen:  # of repeats the first
            seen.add(run)
            for message in sample.trajectory or ():
                calls = [f"{call.name}({call.written})" for call in message.calls]
                rows.append((*run, message.role, "\n".join(filter(None, (message.text, *calls)))))
    return _table([rows], MessageRow)


def _table(parts: Iterable[Iterable[tuple[Any, ...]]], row: type) -> Any:
    import pandas as pd

    return pd.DataFrame([row for part in parts for row in part], columns=columns(row))
