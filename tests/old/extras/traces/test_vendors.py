"""Files after the documentation of vendors whose programs run as services alone: one small story, told by each."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.data.payloads import answer_of
from ragbench.old.extras.traces import assembly

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


def tempo_whole() -> Any:
    """As it answers: what it read for it beside the trace."""
    return {"status": "COMPLETE", "message": "", **tempo_anew(), "metrics": {"inspectedBytes": "1024"}}


def jaeger_anew() -> Any:
    """As the third version of its interface gives it."""
    return {"result": {"resourceSpans": tempo()["batches"]}}


def zipkin_shared() -> Any:
    """The call of a client, and what the server did under the same id."""
    whole, *steps = zipkin()
    call = {**whole, "kind": "CLIENT", "tags": {"http.method": "POST"}}
    return [call, {**whole, "kind": "SERVER", "shared": True}, *steps]


def zipkin_of_several() -> Any:
    """Of a search: a list a trace."""
    return [zipkin()]


def logfire() -> Any:
    """Rows of its table: attributes are a text."""
    return [
        {"trace_id": "t", "span_id": name, "parent_span_id": None if name == "1" else "1", "kind": "span",
         "start_timestamp": stamp(start), "end_timestamp": stamp(start + took), "span_name": name,
         "attributes": json.dumps(OPENINFERENCE[name])}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip


def of_attributes(told: dict[str, dict[str, Any]]) -> Any:
    spans = [
        {"traceId": "t", "spanId": name, "parentSpanId": "" if name == "1" else "1", "name": name,
         "startTimeUnixNano": f"{AT + start}000000", "endTimeUnixNano": f"{AT + start + took}000000",
         "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told[name].items()]}
        for name, (start, took) in TIMES.items()
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


MODEL = {"gen_ai.request.model": "small-1", "gen_ai.usage.input_tokens": "10", "gen_ai.usage.output_tokens": "4"}


def haystack() -> Any:
    """Its own attributes: the kind of a step is the end of its class."""
    return of_attributes({
        "1": {"haystack.pipeline.input_data": json.dumps({"search": {"query": ASKED}, "writer": {"question": ASKED}}),
              "haystack.pipeline.output_data": json.dumps({"llm": {"replies": [SAID]}})},
        "2": {"haystack.component.type": "InMemoryBM25Retriever",
              "haystack.component.input": json.dumps({"query": ASKED}),
              "haystack.component.output": json.dumps({"documents": [FOUND]})},
        "3": {"haystack.component.type": "OpenAIGenerator",
              "haystack.component.output": json.dumps({"replies": [SAID]}), **MODEL},
    })  # fmt: skip


def vercel() -> Any:
    """Of the AI SDK; what its own function found is a list of passages and nothing else."""
    return of_attributes({
        "1": {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"messages": [USER]}),
              "ai.response.text": SAID},
        "2": {"output.value": json.dumps([FOUND])},
        "3": {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps([USER]),
              "ai.response.text": SAID, **MODEL},
    })  # fmt: skip


STORY = {
    "id": "t", "retrieved": [["d1", 0.9]], "answer": SAID, "latency_ms": 350, "search_ms": 40, "generate_ms": 300,
    "input_tokens": 10, "output_tokens": 4, "model": "small-1",
}  # fmt: skip


VENDORS = (
    datadog, datadog_intake, jaeger, jaeger_anew, zipkin, zipkin_shared, zipkin_of_several, tempo, tempo_anew,
    tempo_whole, weave, braintrust, logfire, haystack, vercel,
)  # fmt: skip


@pytest.mark.parametrize("made", VENDORS, ids=lambda made: made.__name__)
def test_a_vendors_documented_form_tells_the_story(tmp_path: Path, made: Callable[[], Any]) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(made()), encoding="utf-8")
    found, logged = assembly.read([path])
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
    [line] = assembly.read([tmp_path / "e.jsonl"])[1]["logged"]
    assert (line["error"], "answer" in line) == (why, False)


def test_an_exception_of_jaegers_log_says_why(tmp_path: Path) -> None:
    [trace] = jaeger()["data"]
    fields = [("event", "exception"), ("exception.type", "TimeoutError"), ("exception.message", "no reply")]
    for span in (trace["spans"][0], trace["spans"][2]):
        span["tags"] = [tag for tag in span["tags"] if not tag["key"].startswith(("output", "llm.output"))]
        span["tags"].append({"key": "otel.status_code", "type": "string", "value": "ERROR"})
        span["logs"] = [{"timestamp": 1, "fields": [{"key": key, "value": value} for key, value in fields]}]
    (tmp_path / "j.json").write_text(json.dumps({"data": [trace]}), encoding="utf-8")
    [line] = assembly.read([tmp_path / "j.json"])[1]["logged"]
    assert line["error"] == "TimeoutError: no reply"


def test_an_answer_beside_columns_that_datadog_has_is_an_answer(tmp_path: Path) -> None:
    row = {"id": "x", "type": "t", "attributes": "red", "question": ASKED, "answer": SAID}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")
    [line] = assembly.read([tmp_path / "a.jsonl"])[1]["logged"]
    assert line == {"id": "x", "answer": SAID}


def logged(tmp_path: Path, records: Any) -> tuple[Any, list[dict[str, Any]]]:
    (tmp_path / "a.json").write_text(json.dumps(records))
    found, lines = assembly.read([tmp_path / "a.json"])
    return found, list(lines["logged"])


def test_a_single_call_is_a_trace_with_its_own_time_tokens_and_money(tmp_path: Path) -> None:
    """LiteLLM's `response_time` is in seconds, and of the first word where it streams; Portkey's is in milliseconds."""
    reply = {"model": "small-1", "choices": [{"message": REPLY}]}
    took = {"end_user": "ann", "startTime": AT / 1000, "endTime": AT / 1000 + 0.3, "response_time": 0.1}
    litellm = {"id": "t", "call_type": "acompletion", "messages": [USER], "response": reply, "model": "small-1",
               "prompt_tokens": 10, "completion_tokens": 4, "response_cost": 0.5, **took}  # fmt: skip
    found, [line] = logged(tmp_path, [litellm])
    assert (line["latency_ms"], line["input_tokens"], line["cost"], line["model"]) == (300, 10, 0.5, "small-1")
    assert [past.user for past in found.history] == ["ann"]
    portkey = {"id": "1", "trace_id": "t", "created_at": stamp(0), "request": {"body": {"messages": [USER]}},
               "response": {**reply, "usage": {"prompt_tokens": 10}}, "response_time": 300}  # fmt: skip
    assert logged(tmp_path, [portkey])[1][0]["latency_ms"] == 300


def test_a_log_of_bedrock_is_calls(tmp_path: Path) -> None:
    """As its guide has records of Converse and InvokeModel; an embedding is of no question."""

    def record(name: str, operation: str, given: Any, told: Any, **more: Any) -> dict[str, Any]:
        return {
            "schemaType": "ModelInvocationLog", "schemaVersion": "1.0", "timestamp": stamp(0), "requestId": name,
            "operation": operation, "modelId": "small-1", "requestMetadata": {"team": "a"},
            "input": {"inputContentType": "application/json", "inputBodyJson": given, "inputTokenCount": 10},
            "output": {"outputContentType": "application/json", "outputBodyJson": told, "outputTokenCount": 4}, **more,
        }  # fmt: skip

    asked = {"messages": [{"role": "user", "content": [{"text": ASKED}]}]}
    said = {"message": {"role": "assistant", "content": [{"text": SAID}]}}
    about = {"stopReason": "end_turn", "metrics": {"latencyMs": 300}}
    found, lines = logged(tmp_path, [
        record("a", "Converse", asked, {"output": said, **about}),
        record("b", "InvokeModel", {"prompt": ASKED, "top_p": 0.9}, {"generation": SAID, "stop_reason": "stop"}),
        record("c", "InvokeModel", {"inputText": "A text."}, {"embedding": [0.1]}, modelId="amazon.titan-embed-text"),
        record("d", "Converse", asked, None, errorCode="ThrottlingException"),
    ])  # fmt: skip
    assert [(question.id, question.text) for question in found.questions] == [(name, ASKED) for name in "abd"]
    first = {"answer": SAID, "latency_ms": 300, "input_tokens": 10, "output_tokens": 4, "model": "small-1"}
    assert lines[0].items() >= first.items()
    assert [line.get("answer", line.get("error")) for line in lines] == [SAID, SAID, "ThrottlingException"]


def test_events_of_posthog_are_traces(tmp_path: Path) -> None:
    about = {"$ai_trace_id": "t", "$ai_session_id": "s"}
    events = {
        "$ai_trace": {"$ai_input_state": {"question": ASKED}, "$ai_output_state": SAID, "$ai_latency": 0.35},
        "$ai_span": {"$ai_span_id": "2", "$ai_parent_id": "t", "$ai_output_state": [FOUND]},
        "$ai_generation": {"$ai_span_id": "3", "$ai_parent_id": "t", "$ai_model": "small-1", "$ai_input": [USER],
                           "$ai_output_choices": [REPLY], "$ai_input_tokens": 10, "$ai_total_cost_usd": 0.5},
    }  # fmt: skip
    rows = [{"event": name, "timestamp": stamp(0), "distinct_id": "ann", "properties": {**about, **told}}
            for name, told in events.items()]  # fmt: skip
    _, [line] = logged(tmp_path, {"results": rows, "next": None})
    assert line.items() >= {"retrieved": [["d1", 0.9]], "answer": SAID, "latency_ms": 350, "model": "small-1"}.items()
    assert (line["input_tokens"], line["cost"]) == (10, 0.5)


def test_scores_in_columns_and_marks_of_users_are_ratings(tmp_path: Path) -> None:
    """Langfuse's tables have a column of lists for each score."""
    trace = {"id": "t", "timestamp": stamp(0), "sessionId": "s", "input": ASKED, "output": SAID, "tags": []}
    found, _ = logged(tmp_path, [{**trace, "user-feedback": [1], "faithfulness": [0.8], "other": None}])
    assert [own.ratings for own in found.ratings] == [{"user-feedback": 5.0}]
    assert any("faithfulness 1" in note for note in found.notes)
    (tmp_path / "a.csv").write_text(
        f'id,timestamp,sessionId,input,output,thumbs\nt,{stamp(0)},s,{ASKED},{SAID},"[0]"\n'
    )
    assert [own.ratings for own in assembly.read([tmp_path / "a.csv"])[0].ratings] == [{"thumbs": 1.0}]
    helicone = {
        "request_id": "t",
        "request_body": {"messages": [USER]},
        "response_body": {"choices": [{"message": REPLY}]},
    }
    found, _ = logged(tmp_path, [{**helicone, "feedback_rating": False}])
    assert [own.ratings for own in found.ratings] == [{"feedback_rating": 1.0}]


def test_what_langfuse_downloads_of_a_trace_and_of_a_session_is_whole(tmp_path: Path) -> None:
    trace = {"id": "t", "timestamp": stamp(0), "sessionId": "s", "userId": "ann", "input": ASKED, "output": SAID}
    score = {"id": "x", "name": "user-feedback", "value": 1, "source": "API"}
    step = {"id": "2", "traceId": "t", "type": "RETRIEVER", "startTime": stamp(0), "output": [FOUND]}
    found, [line] = logged(tmp_path, {"trace": {**trace, "scores": [score]}, "observations": [step]})
    assert line["retrieved"] == [["d1", 0.9]]
    assert [(past.user, past.score) for past in found.history] == [("ann", 5)]
    assert [question.cluster for question in found.questions] == ["s"]
    session = {"id": "s", "createdAt": stamp(0), "projectId": "p", "traces": [trace, {**trace, "id": "u"}]}
    [dialogue] = logged(tmp_path, session)[0].dialogues
    assert (dialogue.id, [turn.answer for turn in dialogue.turns]) == ("s", [SAID, SAID])


def test_messages_that_a_step_gives_are_no_passages(tmp_path: Path) -> None:
    step = {"traceId": "t", "spanId": "2", "parentSpanId": "1", "name": "x", "attributes": {}}
    root = {**step, "spanId": "1", "parentSpanId": "", "attributes": {"input.value": ASKED, "output.value": SAID}}
    for given in ([{"id": "1", **REPLY}], [{"id": "1"}], []):
        spans = [root, {**step, "attributes": {"output.value": json.dumps(given)}}]
        assert "retrieved" not in logged(tmp_path, spans)[1][0]


PASSAGE = {"id": "d1", "text": FOUND["text"]}
DOCUMENT = {"lc": 1, "type": "constructor", "id": ["Document"], "kwargs": {"page_content": FOUND["text"], "id": "d1"}}
SPANS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "Traceloop's retriever": (
        {"traceloop.span.kind": "workflow", "traceloop.entity.input": json.dumps({"inputs": {"question": ASKED}}),
         "traceloop.entity.output": json.dumps({"outputs": {"answer": SAID}})},
        {"traceloop.span.kind": "task", "traceloop.entity.output": json.dumps({"outputs": {"documents": [DOCUMENT]}})},
        {"llm.request.type": "chat", "gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 4},
    ),
    "Vercel's tool": (
        {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"messages": [USER]}), "ai.response.text": SAID},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.args": json.dumps({"q": ASKED}),
         "ai.toolCall.result": json.dumps([PASSAGE])},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.usage.promptTokens": 10, "ai.usage.completionTokens": 4},
    ),
    "a tool of GenAI's conventions": (
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps([USER]),
         "gen_ai.output.messages": json.dumps([REPLY])},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
         "gen_ai.tool.call.arguments": json.dumps({"q": ASKED}), "gen_ai.tool.call.result": json.dumps([PASSAGE])},
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 4},
    ),
    "Langfuse's usage": (
        {"langfuse.observation.input": ASKED, "langfuse.observation.output": SAID},
        {"langfuse.observation.type": "retriever", "langfuse.observation.output": json.dumps([PASSAGE])},
        {"langfuse.observation.type": "generation",
         "langfuse.observation.usage_details": json.dumps({"input": 10, "output": 4})},
    ),
    "Haystack's replies": (
        {"haystack.pipeline.input_data": json.dumps({"retriever": {"query": ASKED}}),
         "haystack.pipeline.output_data": json.dumps({"llm": {"replies": [SAID], "meta": [{}]}})},
        {"haystack.component.type": "InMemoryBM25Retriever",
         "haystack.component.output": json.dumps({"documents": [{"id": "d1", "content": FOUND["text"]}]})},
        {"haystack.component.type": "OpenAIGenerator", "gen_ai.usage.input_tokens": 10,
         "gen_ai.usage.output_tokens": 4},
    ),
}  # fmt: skip


def answered(path: Path) -> tuple[dict[str, Any], str]:
    """The only line of the log, and the text of the passage that it names first."""
    found, logged = assembly.read([path])
    assert [question.text for question in found.questions] == [ASKED]
    [line] = logged["logged"]
    texts = {chunk.id: chunk.text for chunk in found.chunks}
    [first] = line["retrieved"]
    assert (line["answer"], line["latency_ms"]) == (SAID, 350)
    assert (line["input_tokens"], line["output_tokens"]) == (10, 4)
    return line, texts[first if isinstance(first, str) else first[0]]


@pytest.mark.parametrize("name", SPANS)
def test_steps_of_each_convention_tell_the_same_story(tmp_path: Path, name: str) -> None:
    spans = [
        {"traceId": "a" * 32, "spanId": own * 16, "parentSpanId": "" if own == "1" else "1" * 16, "name": own,
         "startTimeUnixNano": str((AT + start) * 10**6), "endTimeUnixNano": str((AT + start + took) * 10**6),
         "attributes": [{"key": key, "value": {"intValue" if isinstance(value, int) else "stringValue": value}}
                        for key, value in SPANS[name][place].items()]}
        for place, (own, (start, took)) in enumerate(TIMES.items())
    ]  # fmt: skip
    path = tmp_path / "o.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    line, text = answered(path)
    assert text == FOUND["text"]
    if "tool" in name:  # it is a search, and a call of the agent's all the same
        calls = [call["name"] for said in line["trajectory"] for call in said.get("tool_calls", ())]
        assert calls == ["search"]


@pytest.mark.parametrize("kind", ["workspace", "portal", "cells"])
def test_what_azure_monitor_exports(tmp_path: Path, kind: str) -> None:
    rows = []
    for place, (own, (start, took)) in enumerate(TIMES.items()):
        about = {key: str(value) for key, value in SPANS["a tool of GenAI's conventions"][place].items()}
        parent = "" if own == "1" else "1"
        rows.append(
            {"timestamp": stamp(start), "id": own, "operation_Id": "t", "operation_ParentId": parent, "duration": took,
             "name": own, "customDimensions": json.dumps(about)}
            if kind == "portal" else
            {"TimeGenerated": stamp(start), "Id": own, "OperationId": "t", "ParentId": parent, "DurationMs": took,
             "Name": own, "Properties": json.dumps(about) if kind == "cells" else about}
        )  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert answered(path)[1] == FOUND["text"]


@pytest.mark.parametrize(
    "attributes",
    [
        {"input.value": ASKED, "output.value": json.dumps({"answer": SAID, "context": [DOCUMENT]})},
        {"rag.question": ASKED, "rag.answer": SAID, "rag.contexts": json.dumps([PASSAGE])},
        {"question": ASKED, "answer": SAID, "rag.documents": json.dumps([PASSAGE])},
    ],
)
def test_passages_beside_the_answer_of_a_whole_are_those_that_it_was_written_from(
    tmp_path: Path, attributes: dict[str, str]
) -> None:
    own = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    span = {"traceId": "a" * 32, "spanId": "1" * 16, "parentSpanId": "", "name": "POST /ask", "attributes": own}
    path = tmp_path / "o.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    found, logged = assembly.read([path])
    [line], [chunk] = logged["logged"], found.chunks
    assert (line["answer"], line["retrieved"], chunk.text) == (SAID, [chunk.id], FOUND["text"])


def test_what_a_model_s_service_says_of_a_fault_is_no_answer(tmp_path: Path) -> None:
    row = {"request_id": "1", "request_created_at": stamp(0), "request_body": {"messages": [USER]},
           "response_body": {"error": {"message": "No quota."}}, "response_status": 429}  # fmt: skip
    path = tmp_path / "h.jsonl"
    path.write_text(json.dumps(row))
    [line] = assembly.read([path])[1]["logged"]
    assert "answer" not in line
    assert line["error"] == "No quota."
    assert answer_of({"error": {"message": "No quota."}}) is None
