"""The page of agents: what they reached, with which calls, where they first went wrong, and what it took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ragbench.core.facts import Facts, Told
from ragbench.core.measurement import Measurement
from ragbench.core.metric import Metric
from ragbench.core.types import Sample
from ragbench.core.types.reason import kept, reason_of
from ragbench.extras.standards.agents import calls_of, first_wrong
from ragbench.llm.errors import ProviderRefused, ProviderUnreachable, RepliesUnusable
from ragbench.tiers.answers.rag_metrics import RagMetricsRequest, answers_of, scored, state
from ragbench.tiers.basics.choices import BenchError, parted
from ragbench.tiers.basics.requests import tier
from ragbench.tiers.scoring.answer_tables import AnswerTable
from ragbench.tiers.scoring.ledger import system_name
from ragbench.tiers.scoring.measure import applicable

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
    tables = {WRONG: _table(map(_wrong, samples), ("step", "expected", "called")), MESSAGES: _messages(told)}
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
    """The number of the first wrong step from 1, 0 where there is none, with the tools' names there."""
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
    return _table([rows], ("role", "text"))


def _table(parts: Iterable[Iterable[tuple[Any, ...]]], columns: tuple[str, ...]) -> Any:
    import pandas as pd

    return pd.DataFrame([row for part in parts for row in part], columns=["system", "sample", *columns])
