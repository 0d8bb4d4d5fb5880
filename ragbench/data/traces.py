"""Exports of traces: of the many steps of a trace one answer is made.

Langfuse, LangSmith, Phoenix, MLflow and OpenTelemetry (OTLP, console, log records); where their
parts stand is in vocabulary.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.types import Passage
from ragbench.data.files import LeftOut, Table
from ragbench.data.messages import text_inside
from ragbench.data.passages import read_passages
from ragbench.data.values import Row, find, first_found, is_missing, unpack
from ragbench.data.vocabulary import LISTS, TRACES

NUMBERED = re.compile(r"([^\d]+)\.(\d+)\.(.+)")
# OTLP nests what it exports three deep.
OTLP = {
    "resourceSpans": ("scopeSpans", "spans"),
    "resourceLogs": ("scopeLogs", "logRecords"),
}
# Events that hold one message, and the attribute of newer conventions that holds it.
EVENTS = {"user.message": "gen_ai.prompt", "choice": "gen_ai.completion"}


@dataclass
class Step:
    """One step of a trace. kind: llm, retriever, chain, …."""

    trace: str
    id: str
    parent: str
    kind: str
    input: Any
    output: Any
    documents: Any
    cluster: Any


def is_trace_export(rows: list[Row]) -> bool:
    """Whether the rows are steps of traces, or traces with their steps. The first row tells."""
    steps = _unfold(rows[0]) if rows else []
    return bool(steps) and all(map(_record_of, steps))


def rows_of_traces(rows: list[Row]) -> Table:
    """Return a row with question, answer and contexts for each trace, and what gives none."""
    steps_by_trace: dict[str, dict[str, Step]] = {}
    answers = Table()
    for number, row in enumerate(rows, 1):
        try:
            for step in map(_read_step, _unfold(row)):
                steps = steps_by_trace.setdefault(step.trace, {})
                # Log records tell of one step several times, each a part of it.
                before = steps.get(step.id, step)
                steps[step.id] = replace(
                    step, input=step.input or before.input, output=step.output or before.output
                )
        except BenchError as error:
            answers.left_out.append(LeftOut(f"row {number}", str(error)))
    for trace, steps in steps_by_trace.items():
        try:
            answers.rows.append(_row_of_trace(trace, list(steps.values())))
        except BenchError as error:
            answers.left_out.append(LeftOut(f"trace {trace}", str(error)))
    return answers


def _row_of_trace(trace: str, steps: list[Step]) -> Row:
    first = _first_step(steps)
    question = text_inside(first.input, "question")
    answer = text_inside(first.output, "answer")
    if question is None:
        raise BenchError("its first step has no question")
    if answer is None and unpack(first.output):
        # Something was answered: to call it no answer would count it as a failure of the system.
        raise BenchError(f"its output {str(first.output)[:60]!r} has no text known as an answer")
    clusters = [step.cluster for step in steps if not is_missing(step.cluster)]
    return {
        "id": trace,
        "question": question,
        "answer": answer,
        "contexts": _read_contexts(steps),
        "cluster": clusters[0] if clusters else None,
    }


def _first_step(steps: list[Step]) -> Step:
    """Return the step that began the trace: its input is the question, its output the answer."""
    names = {step.id for step in steps}
    silent = LISTS["silent_kinds"]  # a retriever that stands beside the model is no answer
    answering = [
        step for step in steps if step.parent not in names and step.kind.lower() not in silent
    ]
    if len(answering) != 1:
        # Of several no rule can tell whose output the user saw; without any, the export was cut.
        raise BenchError(
            f"has {len(answering)} first steps; one is expected, whose output is the answer"
        )
    return answering[0]


def _read_contexts(steps: list[Step]) -> tuple[Passage, ...] | None:
    """Return what the rerankers left, or else what the retrievers found, each passage once."""
    # The model reads what a reranker leaves, not what it was given.
    for kinds in (LISTS["reranker_kinds"], LISTS["retriever_kinds"]):
        found = [step for step in steps if step.kind.lower() in kinds]
        passages: list[Passage] = []
        for step in found:
            documents = unpack(step.output if is_missing(step.documents) else step.documents)
            if isinstance(documents, dict):
                documents = first_found(documents, ("documents", "output", "value"))
            passages += read_passages(documents) or ()
        if found:
            return tuple(dict.fromkeys(passages))
    return None


def _record_of(row: Row) -> Mapping[str, list[str]] | None:
    for record in TRACES:
        if all(find(row, name) is not None for name in record["known_by"]):
            return record
    return None


def _read_step(row: Row) -> Step:
    record = _record_of(row)
    if record is None:
        seen = ", ".join(map(str, row))
        raise BenchError(f"a step with the keys {seen} lacks the ids of its trace and itself")
    values = {name: first_found(row, record[name]) for name in Step.__annotations__}
    names = {name: str(unpack(values[name]) or "") for name in ("trace", "id", "parent", "kind")}
    return Step(**{**values, **names})


def _unfold(row: Row) -> list[Row]:
    """Return the steps that a row holds; a row that is a step already comes back alone."""
    try:
        return _steps_of(row)
    except (AttributeError, KeyError, TypeError) as error:
        # A broken export can lack any part at any depth: one sentence stands for a check of each.
        raise BenchError(
            f"is no trace as its tool writes it ({error!r}); export it again"
        ) from None


def _steps_of(row: Row) -> list[Row]:
    for name, inner in OTLP.items():
        if name in row:
            return _otlp_steps(row[name], *inner)
    if isinstance(row.get("observations"), list) and "id" in row:
        return _langfuse_steps(row)
    # MLflow's table has the whole trace in a column.
    info = first_found(row, ("info", "trace.info"))
    steps = first_found(row, ("data.spans", "trace.data.spans"))
    if steps and info:
        # MLflow names a trace in two ways; people see the one of `info`.
        trace = first_found(info, ("trace_id", "request_id"))
        return [{**step, "trace_id": trace, "info": info} for step in steps]
    return [_with_events(row) if isinstance(row.get("attributes"), dict) else row]


def _langfuse_steps(trace: Row) -> list[Row]:
    """Langfuse's trace is itself the first step of its observations."""
    steps = [{**trace, "traceId": trace["id"], "type": "TRACE", "startTime": "of the first"}]
    below = {"traceId": trace["id"], "parentObservationId": trace["id"]}
    return steps + [{**observation, **below} for observation in trace["observations"]]


def _otlp_steps(resources: list[Row], scopes: str, records: str) -> list[Row]:
    steps = []
    for resource in resources:
        for scope in resource[scopes]:
            for step in scope[records]:
                body = _otlp_value(step.get("body", {}))
                attributes = _attributes(step.get("attributes", []))
                steps.append(_with_events({**step, "attributes": attributes, "body": body}))
    return steps


def _with_events(step: Row) -> Row:
    """Older conventions write the texts as events of a step, or each as a log record of its own."""
    name = first_found(step, ("event_name", "attributes.event.name"))
    record = {"name": name, "attributes": step.get("body")}
    attributes: Row = {}
    for event in [*(step.get("events") or []), record]:
        pairs = event.get("attributes") or {}
        values = pairs if isinstance(pairs, dict) else _attributes(pairs)
        for ending, field in EVENTS.items():
            if str(event["name"]).endswith(ending):
                values = {field: values}
        attributes.update(values)
    return {**step, "attributes": _gather({**attributes, **step["attributes"]})}


def _attributes(pairs: Iterable[Row]) -> Row:
    return {pair["key"]: _otlp_value(pair.get("value", {})) for pair in pairs}


def _otlp_value(value: Row) -> Any:
    """{"stringValue": "a"} is "a"; arrays and mappings hold such values themselves."""
    if "arrayValue" in value:
        return [_otlp_value(item) for item in value["arrayValue"].get("values", [])]
    if "kvlistValue" in value:
        return _attributes(value["kvlistValue"].get("values", []))
    return next(iter(value.values()), None)


def _gather(attributes: Row) -> Row:
    """Make lists of numbered attributes: `documents.0.document.id` is of the first document."""
    gathered: Row = {}
    numbered: dict[str, dict[int, Row]] = {}
    for name, value in attributes.items():
        match = NUMBERED.fullmatch(name)
        if match:
            # By number and not by name: as texts, 10 comes before 2.
            items = numbered.setdefault(match[1], {})
            items.setdefault(int(match[2]), {})[match[3]] = value
        else:
            gathered[name] = value
    for name, items in numbered.items():
        gathered[name] = [items[number] for number in sorted(items)]
    return gathered
