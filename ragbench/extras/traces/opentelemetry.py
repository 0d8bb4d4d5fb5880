"""OpenTelemetry: spans as OTLP/JSON (`resourceSpans`, ids in hex or base64), as the SDK's console exporter prints them,
and as Phoenix's REST interface gives them.

Sources: opentelemetry-proto 1.45 (trace.proto and its JSON form), opentelemetry-sdk 1.45.2 (ReadableSpan.to_json),
arize-phoenix-client 3.5.0 (spans).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.payloads import label, moment, number
from ragbench.extras.traces.attributes import trace_of
from ragbench.extras.traces.spans import Span, Trace

NAME = "OpenTelemetry"
MARKS = (
    {"resourceSpans"}, {"resource_spans"}, {"scopeSpans"}, {"traceId", "spanId"}, {"trace_id", "span_id", "attributes"},
    {"context", "attributes", "start_time"},
)  # fmt: skip
FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")
MAX_DEPTH = 8


def parts(record: Mapping[str, Any], _: str) -> Iterator[Trace]:
    """A part of a trace for each span of the record."""
    for resource in _lists(record, "resourceSpans", "resource_spans") or (record,):
        scopes = _lists(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in scopes or (resource,):
            for span in _lists(scope, "spans") or ([scope] if scope is record else ()):
                if (part := _part(span)) is not None:
                    yield part


def _part(span: Mapping[str, Any]) -> Trace | None:
    context = span.get("context")
    context = context if isinstance(context, dict) else span
    trace, name = label(_any(context, "traceId", "trace_id")), label(_any(context, "spanId", "span_id"))
    if trace is None or name is None:
        return None
    status = span.get("status", span)
    status = status if isinstance(status, dict) else {}
    failed = _any(status, "code", "status_code") in FAILED
    said = label(_any(status, "message", "description", "status_message"))
    plain = Span(
        name,
        label(_any(span, "parentSpanId", "parent_span_id", "parent_id")),
        start=moment(_any(span, "startTimeUnixNano", "start_time_unix_nano", "start_time")),
        end=moment(_any(span, "endTimeUnixNano", "end_time_unix_nano", "end_time")),
        error=(said or "an error without a message") if failed else None,
    )
    events = [
        (str(event.get("name")), flat(event.get("attributes")))
        for event in _lists(span, "events")
        if "attributes" in event
    ]
    if not failed:
        events = [event for event in events if event[0] != "exception"]  # it was caught
    return trace_of(trace, plain, flat(span.get("attributes")), events=events, kind=span.get("span_kind"),
                    name=span.get("name"))  # fmt: skip


def flat(attributes: Any) -> dict[str, Any]:
    """Attributes by name, out of a list of OTLP's keys and values, or out of an object, nested or not."""
    if isinstance(attributes, list):
        return {
            attribute["key"]: _value(attribute.get("value"), 0)
            for attribute in attributes
            if isinstance(attribute, dict) and isinstance(attribute.get("key"), str)
        }
    return dict(_flat(attributes, "", 0)) if isinstance(attributes, dict) else {}


def _flat(attributes: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in attributes.items():
        if isinstance(value, dict) and depth < MAX_DEPTH and name not in ("metadata", "document.metadata"):
            yield from _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _value(given: Any, depth: int) -> Any:
    """What one of OTLP's values holds."""
    if not isinstance(given, dict) or depth > MAX_DEPTH:
        return None
    for name, value in given.items():
        if name in ("intValue", "int_value"):
            whole = number(value)
            return None if whole is None else int(whole)
        if name in ("arrayValue", "array_value"):
            return [_value(entry, depth + 1) for entry in _lists(value, "values")]
        if name in ("kvlistValue", "kvlist_value"):
            return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in _lists(value, "values")}
        return value
    return None


def _lists(holder: Any, *names: str) -> list[Mapping[str, Any]]:
    """The objects of the first list that is there."""
    if isinstance(holder, dict):
        for name in names:
            if isinstance(members := holder.get(name), list):
                return [member for member in members if isinstance(member, dict)]
    return []


def _any(holder: Mapping[str, Any], *names: str) -> Any:
    return next((value for name in names if (value := holder.get(name)) is not None), None)
