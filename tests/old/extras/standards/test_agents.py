"""Agents: ragas' formulas of calls, goals and topics, calls that are no JSON, and what a run takes."""

from __future__ import annotations

from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Message, Sample, Score, Status, ToolCall
from ragbench.old.data.payloads import messages_of
from ragbench.old.data.samples import samples_of
from ragbench.old.extras.standards.agents import agent_calls, agent_cost, agent_turns, lines_of, tool_call_accuracy
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from tests.old.judge.scripted_judge import ScriptedJudge, score

Made = list[tuple[str, dict[str, Any] | None]]


def calls(made: Made) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(name, arguments, "…" if arguments is None else str(arguments)) for name, arguments in made)


def sample(made: Made, wanted: Made | None) -> Sample:
    said = (Message("user", "Book a table."), Message("assistant", "", calls(made)), Message("assistant", "Done."))
    return Sample("s", trajectory=said, reference_tool_calls=None if wanted is None else calls(wanted), language="en")


PARIS: Made = [("weather", {"city": "Paris", "day": 1}), ("book", {"table": 2})]


@pytest.mark.parametrize(
    ("made", "wanted", "strict", "any_order", "f1"),
    [
        (PARIS, PARIS, 1.0, 1.0, 1.0),
        (PARIS[::-1], PARIS, 0.0, 1.0, 1.0),
        ([("weather", {"city": "Rome", "day": 1}), PARIS[1]], PARIS, 0.75, 0.75, 0.5),
        ([PARIS[0], ("extra", {}), PARIS[1]], PARIS, 1.0, 1.0, 0.8),  # the reference is a subsequence
        (PARIS[:1], PARIS, 0.0, 0.0, 2 / 3),
        ([], PARIS, 0.0, 0.0, 0.0),
        (PARIS, [], 0.0, 0.0, 0.0),
        ([], [], 1.0, 1.0, 1.0),
        ([("weather", None), PARIS[1]], PARIS, 0.5, 0.5, 0.5),  # no JSON: a call with no argument right
        ([("ping", {})], [("ping", {})], 1.0, 1.0, 1.0),
        ([("ping", {"a": 1})], [("ping", {})], 0.0, 0.0, 0.0),
        ([("weather", {"city": "Rome"}), ("weather", {"city": "Paris"})],
         [("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})], 1.0, 1.0, 1.0),  # best match, each used once
    ],
)  # fmt: skip
def test_calls_as_ragas_counts_them(made: Made, wanted: Made, strict: float, any_order: float, f1: float) -> None:
    for label, value in (("tool_call_accuracy", strict), ("tool_call_accuracy(order=any)", any_order),
                         ("tool_call_f1", f1)):  # fmt: skip
        assert score(parse(label)(sample(made, wanted))).value == pytest.approx(value), label


def test_the_first_wrong_step_and_arguments_that_are_no_json() -> None:
    found = score(tool_call_accuracy(sample([PARIS[0], ("book", None)], PARIS)))
    assert found.detail["first_wrong"] == 2
    assert [line["verdict"] for line in found.detail["statements"]] == ["yes", "no"]
    assert "Arguments that are no JSON object: “…”" in explain(found, translator("en"))
    assert score(tool_call_accuracy(sample(PARIS, PARIS))).detail["first_wrong"] is None
    assert score(tool_call_accuracy(sample(PARIS[:1], PARIS))).detail["first_wrong"] == 2


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (PARIS, 1.0), (PARIS[:1], 0.5), (PARIS[::-1], 0.0), ([], 0.0), ([*PARIS, PARIS[0]], 1.0),
        ([PARIS[0], ("extra", {}), PARIS[1]], 0.5), ([("weather", None), PARIS[1]], 0.0),
    ],
)  # fmt: skip
def test_right_steps_end_at_the_first_wrong_one(made: Made, value: float) -> None:
    assert score(parse("right_steps")(sample(made, PARIS))).value == value


@pytest.mark.parametrize("label", ["tool_call_accuracy", "tool_call_f1", "right_steps"])
def test_an_agent_without_messages_or_a_reference_is_unmeasured(label: str) -> None:
    assert score(parse(label)(sample(PARIS, None))).status is Status.MISSING_FIELD
    assert score(parse(label)(Sample("s", trajectory=(), reference_tool_calls=()))).status is Status.EMPTY_INPUT


@pytest.mark.parametrize("value", [5, True, [[1]], [{"x": 1}], {"a": {}}])
def test_what_is_no_message_is_no_turn_and_no_call(value: Any) -> None:
    assert messages_of(value) == ()


@pytest.mark.parametrize(
    ("value", "calls"),
    [
        ([{"role": "assistant", "content": "Done."}], 0), ("Done.", 0), ([{"name": "weather"}], 1),
        ([{"type": "function", "function": {"name": "weather", "arguments": "{}"}}], 1),
    ],
)  # fmt: skip
def test_what_names_a_role_or_a_tool_is_one(value: Any, calls: int) -> None:
    [message] = messages_of(value) or ()
    assert len(message.calls) == calls


class TestGoals:
    @pytest.mark.parametrize("reached", [True, False])
    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_a_judge_reads_all_messages_and_calls(self, reached: bool, language: str) -> None:
        judge = ScriptedJudge(agent_goal={"reason": "so", "reached": reached})
        found: Score = score(parse("goal_reached")(sample(PARIS, None), judge=judge))
        assert found.value == float(reached)
        assert "book({'table': 2})" in judge.asked("agent_goal")[0]["messages"][1]
        assert judge.asked("agent_goal")[0]["reference"] == ""
        assert explain(found, translator(language))

    def test_with_a_reference_one_is_needed(self) -> None:
        found = score(parse("goal_reached(reference=true)")(sample(PARIS, None), judge=ScriptedJudge()))
        assert found.status is Status.MISSING_FIELD


@pytest.mark.parametrize(("mode", "value"), [("precision", 2 / 3), ("recall", 2 / 4), ("f1", 4 / 7)])
def test_subjects_as_ragas_counts_them(mode: str, value: float) -> None:
    topics = [("a", True, True), ("b", True, True), ("c", True, False), ("d", False, True), ("e", False, True),
              ("f", False, False)]  # fmt: skip
    reply = {"topics": [dict(zip(("topic", "answered", "allowed"), one, strict=True)) for one in topics]}
    known = Sample("s", trajectory=(Message("user", "a?"),), reference_topics=("a",), language="en")
    found = score(parse(f"topic_adherence(mode={mode})")(known, judge=ScriptedJudge(agent_topics=reply)))
    assert found.value == pytest.approx(value)
    assert [line["verdict"] for line in found.detail["statements"]] == ["yes", "yes", "no", "no", "no", "yes"]


def test_where_nothing_counts_there_is_no_value() -> None:
    known = Sample("s", trajectory=(Message("user", "a?"),), reference_topics=("a",), language="en")
    for mode, topics in (("precision", [False, True]), ("recall", [True, False])):
        reply = {"topics": [{"topic": "a", "answered": topics[0], "allowed": topics[1]}]}
        found = score(parse(f"topic_adherence(mode={mode})")(known, judge=ScriptedJudge(agent_topics=reply)))
        assert found.status is Status.EMPTY_DECOMPOSITION


ROWS: list[dict[str, Any]] = [
    {"user_input": [{"role": "user", "content": "Weather in Paris?"},
                    {"role": "assistant", "content": None, "tool_calls": [
                        {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
                    ]},
                    {"role": "tool", "content": "sunny"},
                    {"role": "assistant", "content": "It is sunny."}],
     "reference_tool_calls": [{"name": "weather", "args": {"city": "Paris"}}]},
    {"messages": [{"type": "human", "content": "Weather in Paris?"},
                  {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "arguments": "{city"}]}],
     "reference_tool_calls": '[{"name": "weather", "args": {"city": "Paris"}}]'},
    {"question": "Weather?", "answer": "Sunny.",
     "tools_called": [{"name": "weather", "input_parameters": {"city": "Paris"}}],
     "expected_tools": [{"name": "weather", "input_parameters": {"city": "Paris"}}]},
]  # fmt: skip


def test_tables_of_other_programs_are_read() -> None:
    found = rb.score(ROWS, ["tool_call_accuracy", "goal_reached"], "lexical")
    assert found["tool_call_accuracy"] == [1.0, 0.0, 1.0]
    first = found.samples[0]
    assert (first.user_input, first.response) == ("Weather in Paris?", "It is sunny.")
    assert lines_of(first.trajectory)[1] == 'assistant: calls weather({"city": "Paris"})'


def test_by_words_alone() -> None:
    said = (Message("user", "Does the library open at nine?"), Message("assistant", "The library opens at nine."))
    known = Sample("s", reference="The library opens at nine.", trajectory=said, reference_topics=("the library",))
    assert score(parse("goal_reached(reference=true)")(known, judge=LexicalJudge())).value == 1.0
    assert score(parse("topic_adherence")(known, judge=LexicalJudge())).value == 1.0


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


def test_calls_without_a_role_are_one_message_of_the_agent() -> None:
    [message] = messages_of([{"name": "search", "args": {"q": "key"}}, {"name": "open", "args": {}}]) or ()
    assert (message.role, [call.name for call in message.calls]) == ("assistant", ["search", "open"])
