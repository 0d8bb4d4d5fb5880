"""agent_turns, agent_calls, agent_cost: what is counted, and that what nobody logged is not free."""

from __future__ import annotations

import pytest

from ragbench.core.metric import Metric
from ragbench.core.types import Message, Sample, Status, ToolCall
from ragbench.data.samples import samples_of
from ragbench.extras.standards.agents import agent_calls, agent_cost, agent_turns
from tests.judge.scripted_judge import score

CALL = ToolCall("weather", {}, "{}")
RUN = (
    Message("user", "?"),
    Message("assistant", "", (CALL, CALL)),
    Message("tool", "sunny"),
    Message("assistant", "Sun."),
)


@pytest.mark.parametrize(("metric", "value"), [(agent_turns, 2), (agent_calls, 2), (agent_cost, 0.25)], ids=str)
def test_what_a_run_takes(metric: Metric, value: float) -> None:
    assert score(metric(Sample("s", trajectory=RUN, cost=0.25))).value == value
    assert score(metric(Sample("s"))).status is Status.MISSING_FIELD


@pytest.mark.parametrize("metric", [agent_turns, agent_calls], ids=str)
def test_an_agent_without_messages_is_unmeasured(metric: Metric) -> None:
    assert score(metric(Sample("s", trajectory=()))).status is Status.EMPTY_INPUT


@pytest.mark.parametrize(
    ("given", "cost"), [(0.5, 0.5), ("0.5", 0.5), (0, 0.0), (-1, None), ("free", None), (None, None), (True, None)]
)
def test_a_cost_is_a_number_from_zero(given: object, cost: float | None) -> None:
    [sample] = samples_of({"question": "?", "answer": "!", "cost": given}, "a row")
    assert sample.cost == cost
