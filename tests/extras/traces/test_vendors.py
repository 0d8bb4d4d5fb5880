"""Files after the documentation of vendors whose programs run as services alone: one small story, told by each."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ragbench.extras.traces import files_of_traces

ASKED, SAID = "When does it open?", "It opens at 8."
FOUND = {"id": "d1", "text": "The library opens at 8.", "score": 0.9}
AT = 1_760_000_000_000  # milliseconds
TIMES = {"1": (0, 350), "2": (5, 40), "3": (45, 300)}
"""Of the whole, the search and the model: when it began, and how long it took, in milliseconds."""
USER, REPLY = {"role": "user", "content": ASKED}, {"role": "assistant", "content": SAID}
OPENINFERENCE: dict[str, dict[str, Any]] = {
    "1": {"openinference.span.kind": "CHAIN", "input.value": ASKED, "output.value": SAID},
    "2": {
        "openinference.span.kind": "RETRIEVER", "input.value": ASKED, "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.content": FOUND["text"], "retrieval.documents.0.document.score": 0.9,
    },
    "3": {
        "openinference.span.kind": "LLM", "llm.model_name": "small-1", "llm.token_count.prompt": 10,
        "llm.token_count.completion": 4, "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": SAID,
    },
}  # fmt: skip


def stamp(milliseconds: int) -> str:
    return datetime.fromtimestamp((AT + milliseconds) / 1000, UTC).isoformat()


def datadog() -> Any:
    """What its Export API gives."""
    told: dict[str, dict[str, Any]] = {
        "1": {"span_kind": "workflow", "parent_id": "undefined", "input": {"value": ASKED}, "output": {"value": SAID}},
        "2": {"span_kind": "retrieval", "input": {"value": ASKED}, "output": {"documents": [FOUND]}},
        "3": {
            "span_kind": "llm", "model_name": "small-1", "input": {"value": ASKED, "messages": [USER]},
            "output": {"messages": [REPLY]}, "metrics": {"input_tokens": 10, "output_tokens": 4},
        },
    }  # fmt: skip
    spans = [
        {"span_id": name, "trace_id": "t", "parent_id": "1", "name": name, "status": "ok", "ml_app": "a",
         "start_ns": (AT + start) * 1_000_000, "duration": took * 1e6, "tags": ["env:prod"], **told[name]}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip
    data = [{"id": span["span_id"], "type": "span", "attributes": span} for span in spans]
    return {"data": data, "meta": {"elapsed": 3, "status": "done"}}


def datadog_intake() -> Any:
    """What is sent to it."""
    spans = [span["attributes"] for span in datadog()["data"]]
    for span in spans:
        span["meta"] = {"kind": span.pop("span_kind"), "input": span.pop("input"), "output": span.pop("output")}
    return {"data": {"type": "span", "attributes": {"ml_app": "a", "session_id": "1", "spans": spans}}}


def jaeger() -> Any:
    kinds = {str: "string", int: "int64", float: "float64"}
    spans = [
        {
            "traceID": "t", "spanID": name, "operationName": name, "startTime": (AT + start) * 1000,
            "duration": took * 1000, "logs": [], "processID": "p1", "warnings": None,
            "references": [] if name == "1" else [{"refType": "CHILD_OF", "traceID": "t", "spanID": "1"}],
            "tags": [
                {"key": key, "type": kinds[type(value)], "value": value} for key, value in OPENINFERENCE[name].items()
            ],
        }
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip
    return {"data": [{"traceID": "t", "spans": spans, "processes": {"p1": {"serviceName": "s"}}}], "total": 0}


def zipkin() -> Any:
    return [
        {"traceId": "t", "id": name, **({} if name == "1" else {"parentId": "1"}), "name": name,
         "timestamp": (AT + start) * 1000, "duration": took * 1000, "localEndpoint": {"serviceName": "s"},
         "tags": {key: str(value) for key, value in OPENINFERENCE[name].items()}}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip


def tempo() -> Any:
    kinds = {str: "stringValue", int: "intValue", float: "doubleValue"}
    spans = [
        {"traceId": "t", "spanId": name, "parentSpanId": "" if name == "1" else "1", "name": name,
         "startTimeUnixNano": f"{AT + start}000000", "endTimeUnixNano": f"{AT + start + took}000000",
         "attributes": [{"key": key, "value": {kinds[type(value)]: value}}
                        for key, value in OPENINFERENCE[name].items()]}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip
    return {"batches": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": spans}]}]}


def tempo_anew() -> Any:
    """As the second version of its interface gives it."""
    return {"trace": {"resourceSpans": tempo()["batches"]}}


def weave() -> Any:
    reply = {"choices": [{"message": REPLY}], "usage": {"prompt_tokens": 10, "completion_tokens": 4}}
    told: dict[str, dict[str, Any]] = {
        "1": {"inputs": {"question": ASKED}, "output": {"answer": SAID}},
        "2": {"inputs": {"query": ASKED}, "output": {"documents": [FOUND]}},
        "3": {"inputs": {"messages": [USER]}, "output": {"model": "small-1", **reply},
              "attributes": {"weave": {"kind": "llm"}}},
    }  # fmt: skip
    return [
        {"id": name, "op_name": f"weave:///e/p/op/{name}:abc", "trace_id": "t", "parent_id": None if name == "1" else
         "1", "started_at": stamp(start), "ended_at": stamp(start + took), "exception": None, "attributes": {},
         "summary": {"weave": {"status": "success"}}, **told[name]}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip


def braintrust() -> Any:
    told: dict[str, dict[str, Any]] = {
        "1": {"input": ASKED, "output": SAID, "scores": {"Factuality": 0.6}},
        "2": {"input": {"query": ASKED}, "output": {"documents": [FOUND]}},
        "3": {"input": [USER], "output": [{"message": REPLY, "index": 0}], "metadata": {"model": "small-1"}},
    }
    kinds = {"1": "task", "2": "function", "3": "llm"}
    tokens = {"3": {"prompt_tokens": 10, "completion_tokens": 4}}
    return {"events": [
        {"id": f"r{name}", "span_id": name, "root_span_id": "t", "span_parents": None if name == "1" else ["1"],
         "created": stamp(start), "expected": None, "error": None, "span_attributes": {"name": name, "type":
         kinds[name]}, "metrics": {"start": (AT + start) / 1000, "end": (AT + start + took) / 1000,
         **tokens.get(name, {})}, **told[name]}
        for name, (start, took) in TIMES.items()
    ]}  # fmt: skip


STORY = {
    "id": "t", "retrieved": [["d1", 0.9]], "answer": SAID, "latency_ms": 350, "search_ms": 40, "generate_ms": 300,
    "input_tokens": 10, "output_tokens": 4, "model": "small-1",
}  # fmt: skip


VENDORS = (datadog, datadog_intake, jaeger, zipkin, tempo, tempo_anew, weave, braintrust)


@pytest.mark.parametrize("made", VENDORS, ids=lambda made: made.__name__)
def test_a_vendors_documented_form_tells_the_story(tmp_path: Path, made: Callable[[], Any]) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(made()), encoding="utf-8")
    found, logged = files_of_traces.read([path])
    assert ([question.text for question in found.questions], found.left_out) == ([ASKED], {})
    assert [chunk.text for chunk in found.chunks] == [FOUND["text"]]
    [line] = logged["logged"]
    assert {name: round(value) if name.endswith("ms") else value for name, value in line.items()} == STORY
    assert [past.asked_at for past in found.history] == [stamp(0)]


@pytest.mark.parametrize(
    ("made", "spoil", "why"),
    [
        (datadog, {"status": "error", "output": {}}, "an error without a message"),
        (weave, {"exception": "TimeoutError: no reply", "output": None}, "TimeoutError: no reply"),
        (braintrust, {"error": "TimeoutError: no reply", "output": None}, "TimeoutError: no reply"),
    ],
)
def test_a_vendors_error_is_a_question_without_an_answer(
    tmp_path: Path, made: Callable[[], Any], spoil: dict[str, Any], why: str
) -> None:
    rows = made() if made is weave else made()["events" if made is braintrust else "data"]
    for row in (rows[0], rows[2]):
        row.get("attributes", row).update(spoil) if made is datadog else row.update(spoil)
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [line] = files_of_traces.read([tmp_path / "e.jsonl"])[1]["logged"]
    assert (line["error"], "answer" in line) == (why, False)


def test_an_exception_of_jaegers_log_says_why(tmp_path: Path) -> None:
    [trace] = jaeger()["data"]
    fields = [("event", "exception"), ("exception.type", "TimeoutError"), ("exception.message", "no reply")]
    for span in (trace["spans"][0], trace["spans"][2]):
        span["tags"] = [tag for tag in span["tags"] if not tag["key"].startswith(("output", "llm.output"))]
        span["tags"].append({"key": "otel.status_code", "type": "string", "value": "ERROR"})
        span["logs"] = [{"timestamp": 1, "fields": [{"key": key, "value": value} for key, value in fields]}]
    (tmp_path / "j.json").write_text(json.dumps({"data": [trace]}), encoding="utf-8")
    [line] = files_of_traces.read([tmp_path / "j.json"])[1]["logged"]
    assert line["error"] == "TimeoutError: no reply"


def test_an_answer_beside_columns_that_datadog_has_is_an_answer(tmp_path: Path) -> None:
    row = {"id": "x", "type": "t", "attributes": "red", "question": ASKED, "answer": SAID}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")
    [line] = files_of_traces.read([tmp_path / "a.jsonl"])[1]["logged"]
    assert line == {"id": "x", "answer": SAID}
