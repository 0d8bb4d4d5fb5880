"""Phoenix: its frame of spans, written to JSON Lines, CSV or Parquet, with a dotted column for each attribute.

Source: arize-phoenix-client 3.5.0 (get_spans_dataframe).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.payloads import label, moment
from ragbench.extras.traces.attributes import trace_of
from ragbench.extras.traces.opentelemetry import flat
from ragbench.extras.traces.spans import Span, Trace

NAME = "Phoenix"
MARKS = ({"context.trace_id", "context.span_id"}, {"context.trace_id", "span_kind", "parent_id"})
PREFIX = "attributes."


def parts(record: Mapping[str, Any], _: str) -> Iterator[Trace]:
    """The part of a trace that a row is."""
    trace = label(record.get("context.trace_id"))
    name = label(record.get("context.span_id")) or label(record.get("span_id"))
    if trace is None or name is None:
        return
    failed = record.get("status_code") == "ERROR"
    span = Span(
        name,
        label(record.get("parent_id")),
        start=moment(record.get("start_time")),
        end=moment(record.get("end_time")),
        error=(label(record.get("status_message")) or "an error without a message") if failed else None,
    )
    columns = {name.removeprefix(PREFIX): value for name, value in record.items() if name.startswith(PREFIX)}
    yield trace_of(trace, span, flat(columns), kind=record.get("span_kind"), name=record.get("name"))
