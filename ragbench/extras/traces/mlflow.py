"""MLflow: traces as `Trace.to_json` writes them, of versions 2 and 3, and rows of the frame of `search_traces`.

Source: mlflow-skinny 3.17.2 (entities.Trace, tracing.constant).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.cells import opened
from ragbench.data.payloads import answer_of, count, label, moment, number, passages_of, question_of, quoted
from ragbench.extras.traces import agents
from ragbench.extras.traces.attributes import kind_of
from ragbench.extras.traces.spans import Rating, Span, Trace

NAME = "MLflow"
MARKS = ({"info", "data"}, {"trace_id", "spans"}, {"request_id", "spans"})
FAILED = ("ERROR", "STATUS_CODE_ERROR")


def parts(record: Mapping[str, Any], _: str) -> Iterator[Trace]:
    """The trace that a record is."""
    info, data = opened(record.get("info", record)), opened(record.get("data", record))
    if not isinstance(info, dict) or not isinstance(data, dict):
        return
    trace = label(info.get("trace_id")) or label(info.get("request_id"))
    if trace is None:
        return
    about = opened(info.get("trace_metadata", info.get("request_metadata")))
    about = about if isinstance(about, dict) else {}
    tags = opened(info.get("tags"))
    about = {**(tags if isinstance(tags, dict) else {}), **about}
    milliseconds = number(
        info.get("execution_duration_ms", info.get("execution_time_ms", info.get("execution_duration")))
    )
    given = opened(info.get("assessments"))
    spans = opened(data.get("spans"))
    yield Trace(
        trace,
        tuple(_span(span) for span in spans if isinstance(span, dict)) if isinstance(spans, list) else (),
        question_of(quoted(data.get("request"))),
        answer_of(quoted(data.get("response"))),
        next((text for assessment in _objects(given) if (text := _expected(assessment))), None),
        session=label(about.get("mlflow.trace.session")),
        user=label(about.get("mlflow.trace.user")),
        asked_at=moment(info.get("request_time", info.get("timestamp_ms"))),
        seconds=None if milliseconds is None else milliseconds / 1000,
        ratings=tuple(rating for each in _objects(given) if (rating := _rated(each)) is not None),
    )


def _span(span: Mapping[str, Any]) -> Span:
    context = span.get("context")
    context = context if isinstance(context, dict) else span
    given = span.get("attributes")
    attributes = {name: quoted(value) for name, value in given.items()} if isinstance(given, dict) else {}
    status = span.get("status")
    status = (
        status if isinstance(status, dict) else {"code": span.get("status_code"), "message": span.get("status_message")}
    )
    kind = kind_of(attributes.get("mlflow.spanType"))
    gives = kind in ("retrieve", "rerank")
    usage = attributes.get("mlflow.chat.tokenUsage")
    usage = usage if isinstance(usage, dict) else {}
    costs = attributes.get("mlflow.llm.cost")
    outputs = attributes.get("mlflow.spanOutputs")
    failed = str(status.get("code")) in FAILED
    return Span(
        label(context.get("span_id")) or "",
        label(span.get("parent_span_id")) or label(span.get("parent_id")),
        kind,
        moment(span.get("start_time_unix_nano", span.get("start_time"))),
        moment(span.get("end_time_unix_nano", span.get("end_time"))),
        question_of(attributes.get("mlflow.spanInputs")),
        None if gives or kind == "embed" else answer_of(outputs),
        passages_of(outputs) if gives else None,
        label(attributes.get("mlflow.llm.model")),
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        number(costs.get("total_cost")) if isinstance(costs, dict) else None,
        (label(status.get("message")) or "an error without a message") if failed else None,
        agents.made(span.get("name"), attributes.get("mlflow.spanInputs")) if kind == "tool"
        else agents.announced(outputs) if kind == "generate" else (),
        agents.result(outputs) if kind == "tool" else None,
    )  # fmt: skip


def _rated(assessment: Mapping[str, Any]) -> Rating | None:
    feedback, source = assessment.get("feedback"), assessment.get("source")
    value = feedback.get("value") if isinstance(feedback, dict) else None
    value = float(value) if isinstance(value, bool) else number(value)
    name = label(assessment.get("assessment_name", assessment.get("name")))
    if name is None or value is None or assessment.get("valid") is False:
        return None
    return Rating(name, value, isinstance(source, dict) and source.get("source_type") == "HUMAN")


def _expected(assessment: Mapping[str, Any]) -> str | None:
    """The reference that an assessment holds, if it is one."""
    expectation = assessment.get("expectation")
    if assessment.get("assessment_name") not in ("expected_response", "expected_answer", "reference"):
        return None
    return answer_of(quoted(expectation.get("value"))) if isinstance(expectation, dict) else None


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []
