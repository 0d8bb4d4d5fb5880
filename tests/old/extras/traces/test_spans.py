"""Agents in traces: whatever the vendor, one run of messages and calls, which the page of agents reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.data.payloads import Passage
from ragbench.old.data.samples import read_samples
from ragbench.old.extras.traces import assembly
from ragbench.old.extras.traces.spans import Span, announced, made, result, run, whole

ASKED, ANSWER, ARGUMENTS = "Weather in Paris?", "It is sunny.", '{"city": "Paris"}'
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}}
RUN = [
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "weather", "arguments": {"city": "Paris"}}]},
    {"role": "tool", "content": "sunny"},
    {"role": "assistant", "content": ANSWER},
]
STEPS = (("a", "agent", 0, 9), ("m1", "LLM", 1, 2), ("w", "TOOL", 3, 4), ("m2", "LLM", 5, 6))


def stamp(second: int) -> str:
    return f"2026-11-20T10:00:0{second}.000000+00:00"


def openinference() -> list[dict[str, Any]]:
    said: dict[str, dict[str, Any]] = {
        "a": {"openinference.span.kind": "AGENT", "input.value": ASKED, "output.value": ANSWER},
        "m1": {
            "openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "weather",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": ARGUMENTS,
            "llm.cost.total": 0.001,
        },
        "w": {"openinference.span.kind": "TOOL", "tool.name": "weather", "input.value": ARGUMENTS,
              "output.value": "sunny"},
        "m2": {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
               "llm.output_messages.0.message.content": ANSWER, "llm.cost.total": 0.002},
    }  # fmt: skip
    return [
        {"context": {"trace_id": "t", "span_id": name}, "parent_id": None if name == "a" else "a", "name": name,
         "start_time": stamp(start), "end_time": stamp(end), "attributes": said[name]}
        for name, _, start, end in STEPS
    ]  # fmt: skip


def phoenix() -> list[dict[str, Any]]:
    return [
        {
            "context.trace_id": "t", "context.span_id": row["context"]["span_id"], "parent_id": row["parent_id"],
            "name": row["name"], "span_kind": kind, "start_time": row["start_time"], "end_time": row["end_time"],
            **{f"attributes.{key}": value for key, value in row["attributes"].items()},
        }
        for row, (_, kind, _, _) in zip(openinference(), STEPS, strict=True)
    ]  # fmt: skip


def genai() -> list[dict[str, Any]]:
    asked = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "weather",
                                              "arguments": {"city": "Paris"}}]}]  # fmt: skip
    said = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    attributes: dict[str, dict[str, Any]] = {
        "a": {"gen_ai.operation.name": "invoke_agent",
              "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": ASKED}]}])},
        "m1": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(asked),
               "gen_ai.usage.cost": 0.001},
        "w": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather",
              "gen_ai.tool.call.arguments": ARGUMENTS, "gen_ai.tool.call.result": "sunny"},
        "m2": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said), "gen_ai.usage.cost": 0.002},
    }  # fmt: skip
    return [{**row, "attributes": attributes[row["name"]]} for row in openinference()]


def langfuse() -> list[dict[str, Any]]:
    more: dict[str, dict[str, Any]] = {
        "m1": {"type": "GENERATION", "output": {"role": "assistant", "content": None, "tool_calls": [CALL]}},
        "w": {"type": "TOOL", "name": "weather", "input": {"city": "Paris"}, "output": "sunny"},
        "m2": {"type": "GENERATION", "output": {"role": "assistant", "content": ANSWER}},
    }
    observations = [
        {"id": name, "traceId": "t", "startTime": stamp(start), "endTime": stamp(end), **more[name]}
        for name, _, start, end in STEPS[1:]
    ]
    return [{"id": "t", "timestamp": stamp(0), "input": ASKED, "output": ANSWER, "totalCost": 0.003, "latency": 9,
             "observations": observations, "scores": []}]  # fmt: skip


def langsmith() -> list[dict[str, Any]]:
    def generated(content: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
        said = {"content": content, "type": "ai", "tool_calls": calls}
        return {"generations": [[{"text": content, "message": {"lc": 1, "type": "constructor", "kwargs": said}}]]}

    asked = [{"name": "weather", "args": {"city": "Paris"}, "id": "c1", "type": "tool_call"}]
    more: dict[str, dict[str, Any]] = {
        "a": {"run_type": "chain", "inputs": {"question": ASKED}, "outputs": {"answer": ANSWER}},
        "m1": {"run_type": "llm", "inputs": {"messages": []}, "outputs": generated("", asked), "total_cost": 0.001},
        "w": {"run_type": "tool", "name": "weather", "inputs": {"input": "{'city': 'Paris'}"},
              "outputs": {"output": "sunny"}},
        "m2": {"run_type": "llm", "inputs": {"messages": []}, "outputs": generated(ANSWER, []), "total_cost": 0.002},
    }  # fmt: skip
    return [
        {"id": name, "trace_id": "t", "parent_run_id": None if name == "a" else "a", "start_time": stamp(start),
         "end_time": stamp(end), **more[name]}
        for name, _, start, end in STEPS
    ]  # fmt: skip


@pytest.mark.parametrize("records", [openinference, phoenix, genai, langfuse, langsmith])
def test_a_vendors_own_records_are_one_run(records: Any, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records()), encoding="utf-8")
    [line] = assembly.read([path])[1]["logged"]
    assert line["trajectory"] == RUN
    assert line["cost"] == pytest.approx(0.003)
    log = tmp_path / "answers.logged.jsonl"
    log.write_text(json.dumps(line) + "\n", encoding="utf-8")
    [sample] = read_samples(log)
    assert (sample.user_input, sample.response, sample.cost) == (ASKED, ANSWER, pytest.approx(0.003))
    calls_of = pytest.importorskip("ragbench.old.extras.standards.agents").calls_of
    assert [(call.name, call.arguments) for call in calls_of(sample)] == [("weather", {"city": "Paris"})]


def test_a_trace_without_tools_has_no_run() -> None:
    assert run("q", "a", [Span("t", "m", kind="generate", answer="a")]) is None


def test_calls_that_no_model_was_seen_to_ask_for_are_the_agents() -> None:
    steps = [Span("t", "w", kind="tool", calls=made("weather", "Paris"), result="sunny")]
    assert run("q", "a", steps) == [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "weather", "arguments": {"input": "Paris"}}]},
        {"role": "tool", "content": "sunny"},
        {"role": "assistant", "content": "a"},
    ]


def test_arguments_that_are_no_json_stay_as_they_were_written() -> None:
    [call] = announced({"tool_calls": [{"function": {"name": "weather", "arguments": "{city"}}]})
    assert (call.name, call.arguments, call.written) == ("weather", None, "{city")
    [told] = run("q", None, [Span("t", "m", kind="generate", calls=(call,))])[1]["tool_calls"]  # type: ignore[index]
    assert told["arguments"] == "{city"


@pytest.mark.parametrize(
    "value", [None, "", "text", 7, [], {}, [[[]]], {"tool_calls": None}, {"output": {"output": 1}}]
)
def test_what_holds_no_calls_gives_none(value: Any) -> None:
    assert announced(value) == ()


@pytest.mark.parametrize(
    "value",
    [
        {"content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "weather", "input": {}}]},
        [{"role": "assistant", "parts": [{"type": "tool_call", "name": "weather", "arguments": {}}]}],
    ],
)
def test_calls_may_be_parts_of_a_message(value: Any) -> None:
    assert [call.name for call in announced(value)] == ["weather"]


def test_a_reranker_that_tells_no_passages_changes_none() -> None:
    found = (Passage(text="It opens at 8."),)
    steps = [Span("t", "r", kind="retrieve", start=0, passages=found), Span("t", "s", kind="rerank", start=1)]
    assert whole(steps).passages == found


@pytest.mark.parametrize(("value", "said"), [(None, None), ("", None), (7, "7"), (False, "False"), ("sunny", "sunny")])
def test_what_a_tool_gave_is_a_text_or_nothing(value: Any, said: str | None) -> None:
    assert result(value) == said
