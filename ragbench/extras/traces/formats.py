"""Formats of traces, each a record of how it is known; what their fields are called is one vocabulary for all of them,
`formats.toml`. A row of a table of answers, ragas' and DeepEval's among them, is a trace too; of a dialogue each
question is one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ragbench.core.types import Chunk, ToolCall
from ragbench.data.cells import mark, opened
from ragbench.data.files import DatasetError, cut_list
from ragbench.data.payloads import (
    Passage,
    answer_of,
    count,
    label,
    message_text,
    moment,
    number,
    passage_of,
    passages_of,
    question_of,
    quoted,
)
from ragbench.data.samples import SAID, samples_of
from ragbench.data.vocabulary import field_of, key
from ragbench.extras.traces import spans
from ragbench.extras.traces.spans import Kind, Rating, Span, Trace


class Format(NamedTuple):
    """NAME: what people call it. MARKS: sets of names of fields; a record that has all of one set is of this format."""

    NAME: str
    MARKS: tuple[set[str], ...]


_TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FORMATS = tuple(Format(name, tuple(set(mark.split()) for mark in marks)) for name, marks in _TABLE["formats"].items())
TABLE = Format("a table of answers", ())
"""What has the marks of none of them and a question with anything that was said of it."""

KINDS: Mapping[str, Kind] = {name: kind for kind, names in _TABLE["kinds"].items() for name in names.split()}  # type: ignore[misc]
ENVELOPES = ("resource_spans", "scope_spans", "instrumentation_library_spans")
NAMES: Mapping[str, tuple[str, ...]] = {field: tuple(names.split()) for field, names in _TABLE["names"].items()}
"""Field → what vendors call it, in snake case: names of attributes, and paths in a record, the likelier first."""
FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")  # OpenTelemetry's StatusCode.ERROR is 2
NO_MESSAGE = "an error without a message"
GRADED = ("expectations", "reference_outputs")
REFERENCES = ("expected_response", "expected_answer", "reference")
"""Names of MLflow's assessments that hold one."""
ONLY_PASSAGES = tuple({name} for name in ("documents", "docs", "nodes", "chunks", "passages", "contexts"))
"""What a step gives that only retrieves, whatever its kind is called."""
MAX_DEPTH, MOST_RUNS = 8, 64  # a file of strangers: recursion has an end
_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
_LISTED = re.compile(
    r"(llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion)|retrieval\.documents|reranker\.output_documents)"
    r"\.(\d{1,6})\.(.+)"
)
"""A field of an item of a list that is written one attribute a field."""
R = TypeVar("R")


def format_of(record: Mapping[str, Any]) -> Format | None:
    """The format whose marks the record has, else a table's; None where it is neither."""
    names = record.keys()
    known = next((known for known in FORMATS if any(names >= marks for marks in known.MARKS)), None)
    if {"inputs", "outputs"} <= names and any(field_of(name) == "reference" or name in GRADED for name in names):
        return TABLE  # an answer beside its reference: no example, whose outputs are the reference
    return known or (TABLE if is_answer_row(record) else None)


def unknown(path: Path, place: str, record: Mapping[str, Any]) -> DatasetError:
    """What is said of a file whose first record is of no format."""
    looked = "; ".join(f"{known.NAME}: {' or '.join('+'.join(sorted(m)) for m in known.MARKS)}" for known in FORMATS)
    return DatasetError(
        f"{place}: of no format that is known; it has {cut_list(record)}. Looked for were {looked}. "
        f"Tables with other names: `ragbench load answers {path.name} --name NAME`"
    )


def parts(known: Format, record: Mapping[str, Any], name: str) -> Iterator[Trace | Passage]:
    """What a record of a format holds: parts of traces, or a document. name: an id for what has none of its own."""
    if known is TABLE:
        yield from traces_of_row(record, name)
    elif known.NAME == "LangChain documents":
        yield from filter(None, [passage_of(record)])
    else:
        yield from _parts(_snake(record), name)


def _parts(given: Mapping[str, Any], name: str) -> Iterator[Trace]:
    scopes = [inner for envelope in ENVELOPES for inner in _objects(given.get(envelope))]
    if scopes or not given.keys() - {"scope", "resource", "spans", "schema_url"}:
        for inner in scopes or _objects(given.get("spans")):
            yield from _parts(inner, name)
        return
    if "info" in given and "data" in given:
        halves = [opened(given[half]) for half in ("data", "info")]
        if not all(isinstance(half, Mapping) for half in halves):
            return
        given = {**halves[0], **halves[1]}
    if "run_type" in given:
        yield from _runs(given, None, 0)
    elif given.keys() & {"span_id", "context", "context.span_id"} or {"type", "start_time"} <= given.keys():
        trace, span = label(_first(given, "trace")), label(_first(given, "span"))
        if trace is not None and span is not None:
            yield _step(given, trace, span)
    elif "trace_id" in given and {"name", "value"} <= given.keys():
        if (trace := label(given["trace_id"])) is not None and (rating := rated(given)) is not None:
            yield Trace(trace, ratings=(rating,))
    elif "inputs" in given:  # an example: a question with its reference
        asked, wanted = question_of(opened(given["inputs"])), answer_of(opened(given.get("outputs")))
        yield Trace(label(given.get("id")) or name, question=asked, reference=wanted)
    elif (trace := label(_first(given, "whole"))) is not None:
        yield _whole(given, trace)


def _whole(given: Mapping[str, Any], trace: str) -> Trace:
    """A trace that is a record of its own, with its steps and what it was given."""
    for name in ("tags", "request_metadata", "trace_metadata"):
        about = opened(given.get(name))
        given = {**(about if isinstance(about, Mapping) else {}), **given}
    steps = [_step(step, trace, label(_first(step, "span")) or "") for step in _objects(_first(given, "steps"))]
    scores, milliseconds = _objects(_first(given, "scores")), _number(given, "milliseconds", number)
    seconds = _number(given, "seconds", number) if milliseconds is None else milliseconds / 1000
    moments = [moment(_first(given, end)) for end in ("start", "end")]
    if seconds is None and moments[0] is not None and moments[1] is not None:  # Opik has both alone
        seconds = max(moments[1] - moments[0], 0.0)
    return Trace(
        trace,
        tuple(span for step in steps for span in step.spans),
        question_of(quoted(_first(given, "asked"))),
        answer_of(quoted(_first(given, "said"))),
        next(filter(None, map(_expected, scores)), None),
        session=label(_first(given, "session")),
        user=label(_first(given, "user")),
        asked_at=moment(_first(given, "at")),
        seconds=seconds or None,
        cost=_number(given, "cost", number),
        ratings=tuple(rating for score in scores if (rating := rated(score)) is not None),
    )


def _runs(run: Mapping[str, Any], above: str | None, depth: int) -> Iterator[Trace]:
    """A run of LangSmith and each one below it; the project that it calls its session is none."""
    name, order = label(run.get("id")), label(run.get("dotted_order")) or ""
    trace = above or label(run.get("trace_id")) or order.split(".")[0].rpartition("Z")[2] or name
    if name is None or trace is None:
        return
    extra = opened(run.get("extra"))
    extra = dict(extra) if isinstance(extra, Mapping) else {"metadata": run.get("metadata")}
    spared = {"session_id"} if kind_of(run.get("run_type")) == "generate" else {
        "session_id", "prompt_tokens", "completion_tokens", "total_cost"}  # fmt: skip
    yield _step({key: v for key, v in run.items() if key not in spared} | {"extra": extra}, trace, name)
    for child in _objects(run.get("child_runs")) if depth < MOST_RUNS else ():
        yield from _runs({"parent_run_id": name, **child}, trace, depth + 1)


def kind_of(*names: Any) -> Kind:
    """The kind of a step by the first name that is known."""
    known = (KINDS.get(name.strip().lower()) for name in names if isinstance(name, str))
    return next(filter(None, known), "other")


def _step(given: Mapping[str, Any], trace: str, name: str) -> Trace:
    """The part of a trace that a step is."""
    written = {key.removeprefix("attributes."): v for key, v in given.items() if key.startswith("attributes.")}
    attributes = {key: quoted(value) if key.startswith("mlflow.") else value
                  for key, value in (flat(given.get("attributes")) | flat(written)).items()}  # fmt: skip
    given = {**_grouped(attributes), **given}
    step = kind_of(*(_at(given, key) for key in NAMES["kind"]))
    has_failed = _first(given, "status") in FAILED
    error = (label(_first(given, "message")) or NO_MESSAGE) if has_failed else None
    ended = label(given.get("error"))
    question, answer, passages, error = _told_by_events(given, error if ended is None else None, has_failed)
    documents = next((own for key in NAMES["documents"] if (own := passages_of(given.get(key))) is not None), None)
    passages = passages if documents is None else documents
    told = opened(_first(given, "output"))
    if passages is None and step == "other" and isinstance(told, Mapping) and told.keys() in ONLY_PASSAGES:
        passages = passages_of(told)
    if passages is not None and step in ("other", "embed", "tool"):
        step = "retrieve"
    gives = step in ("retrieve", "rerank")
    if passages is None and gives:
        passages = _said(given, "output", passages_of)
    tokens = [_number(given, f"{side}_tokens", count) for side in ("input", "output")]
    is_counted = any(tokens)  # a step without a model has zeros
    span = Span(
        name,
        label(_first(given, "parent")),
        step,
        moment(_first(given, "start")),
        moment(_first(given, "end")),
        question or _said(given, "input", question_of),
        None if gives or step == "embed" or ended else answer or _said(given, "output", answer_of),
        passages,
        label(_first(given, "model")) if step == "generate" or "run_type" not in given else None,
        tokens[0] if is_counted else None,
        tokens[1] if is_counted else None,
        _number(given, "cost", number),
        ended.partition("Traceback (most recent call last)")[0] if ended else error,
        *_called(given, step),
    )
    ratings = tuple(_means(given.get("feedback_stats")))
    return Trace(trace, (span,), session=label(_first(given, "session")), user=label(_first(given, "user")),
                 ratings=ratings)  # fmt: skip


def _told_by_events(
    given: Mapping[str, Any], error: str | None, has_failed: bool
) -> tuple[str | None, str | None, tuple[Passage, ...] | None, str | None]:
    """Question, answer, passages and error, as the events of a step tell them; an exception without one was caught."""
    question, answer, passages = None, None, None
    for event in _objects(given.get("events")):
        about, name = flat(event.get("attributes")), event.get("name")
        if name == "exception" and has_failed:
            said = [label(about.get(f"exception.{part}")) for part in ("type", "message")]
            error = (error if error != NO_MESSAGE else None) or ": ".join(filter(None, said)) or error
        elif name == "gen_ai.user.message":
            question = message_text(about) or question
        elif name == "gen_ai.choice":
            answer = answer_of(opened(about.get("message"))) or answer
        elif name == "db.query.result":
            result = {key.removeprefix("db.query.result."): value for key, value in about.items()}
            passages = (*(passages or ()), *(passages_of([{**result, "text": result.get("document")}]) or ()))
    return question, answer, passages, error


def _called(given: Mapping[str, Any], step: Kind) -> tuple[tuple[ToolCall, ...], str | None]:
    """The calls of a step, and what a tool gave; LangChain writes what went in as the field `input` alone."""
    if step == "generate":
        return next((calls for key in NAMES["output"] if (calls := spans.announced(given.get(key)))), ()), None
    if step != "tool":
        return (), None
    arguments = _first(given, "arguments")
    arguments = opened(_first(given, "input") if arguments is None else arguments)
    if isinstance(arguments, Mapping) and arguments.keys() == {"input"}:
        arguments = arguments["input"]
    result = given.get("gen_ai.tool.call.result")
    return spans.made(_first(given, "tool"), arguments), spans.result(
        _first(given, "output") if result is None else result
    )


def rated(score: Mapping[str, Any]) -> Rating | None:
    """A score with a name: a number, or a word that means yes (1) or no (0); None for any other.

    A score that was sent by a program of the user's (source API) may be either a person's or not.
    """
    name, value = label(score.get("assessment_name", score.get("name"))), score.get("value")
    value = _at(score, "feedback.value") if value is None else value
    rate = None
    with suppress(ValueError):
        rate = mark(score.get("string_value") or value)
    if name is None or rate is None or score.get("valid") is False:
        return None
    source = score.get("source")
    by = source.get("source_type") == "HUMAN" if isinstance(source, Mapping) else {
        "ANNOTATION": True, "EVAL": False}.get(str(source).upper())  # fmt: skip
    return Rating(name, rate, by)


def _expected(score: Mapping[str, Any]) -> str | None:
    """The reference that an assessment holds, if it is one."""
    return answer_of(quoted(_at(score, "expectation.value"))) if score.get("assessment_name") in REFERENCES else None


def _means(stats: Any) -> Iterator[Rating]:
    """The mean of each score that a run was given; nothing says who gave it."""
    stats = opened(stats)
    for name, about in stats.items() if isinstance(stats, Mapping) else ():
        if isinstance(about, Mapping) and (mean := number(about.get("avg"))) is not None:
            yield Rating(str(name), mean)


def _at(given: Mapping[str, Any], name: str) -> Any:
    """What stands under a name, or under a path of names."""
    if name in given or "." not in name:
        return given.get(name)
    path, _, last = name.rpartition(".")
    inner = opened(_at(given, path))
    return inner.get(last) if isinstance(inner, Mapping) else None


def _first(given: Mapping[str, Any], field: str) -> Any:
    return next((value for name in NAMES[field] if (value := _at(given, name)) is not None), None)


def _said(given: Mapping[str, Any], field: str, read: Callable[[Any], R | None]) -> R | None:
    """The first of the field's values that can be read."""
    return next((said for name in NAMES[field] if (said := read(given.get(name)))), None)


def _number(given: Mapping[str, Any], field: str, read: Callable[[Any], R | None]) -> R | None:
    """The first of the field's numbers that is not 0, else a 0 that stands there."""
    numbers = [value for name in NAMES[field] if (value := read(_at(given, name))) is not None]
    return next(filter(None, numbers), numbers[0] if numbers and field != "cost" else None)


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name if name.startswith("attributes.") else _HUMP.sub(lambda hump: f"_{hump[0].lower()}", name): value
            for name, value in record.items()}  # fmt: skip


def _objects(value: Any) -> list[dict[str, Any]]:
    members = opened(value)
    return [_snake(member) for member in members if isinstance(member, Mapping)] if isinstance(members, list) else []


def flat(attributes: Any) -> dict[str, Any]:
    """Attributes by name, out of a list of OTLP's keys and values, or out of an object, nested or not."""
    if isinstance(attributes, list):
        pairs = [each for each in attributes if isinstance(each, dict) and isinstance(each.get("key"), str)]
        return {pair["key"]: _value(pair.get("value"), 0) for pair in pairs}
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
    for name, value in _snake(given).items():
        if name == "int_value":
            whole = number(value)
            return None if whole is None else int(whole)
        inner: Iterable[dict[str, Any]] = _objects(value.get("values")) if isinstance(value, dict) else ()
        if name == "array_value":
            return [_value(entry, depth + 1) for entry in inner]
        if name == "kvlist_value":
            return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in inner}
        return value
    return None


def _grouped(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, where `retrieval.documents.3.document.id` and its like have become lists of objects."""
    grouped: dict[str, Any] = {}
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        if (parted := _LISTED.fullmatch(name)) is None:
            grouped[name] = value
            continue
        item = lists.setdefault(parted[1], {}).setdefault(int(parted[2]), {})
        if parted[3].startswith("message.contents."):
            if parted[3].endswith(".message_content.text"):
                item.setdefault("message.contents", []).append({"text": value})
        else:
            item[parted[3]] = value
    return grouped | {name: [items[place] for place in sorted(items)] for name, items in lists.items()}


COUNTED = ("inputtokencount", "outputtokencount", "tokencost")
"""What DeepEval says of an answer, beside `completion_time`."""


def is_answer_row(record: Mapping[str, Any]) -> bool:
    """Whether a record has a question beside anything that was said of it."""
    fields = {field_of(name) for name in record}
    return bool(fields & {"user_input", "messages"}) or len(fields & SAID) > 1


def traces_of_row(record: Mapping[str, Any], name: str) -> Iterator[Trace]:
    """The trace of a row; of a dialogue one for each question. Raises DatasetError for what is no list of texts."""
    known = {key(column): value for column, value in record.items()}
    for sample in samples_of(dict(record), "a row", numbered=name):
        retrieved = _passages(sample.contexts)
        spans = [] if retrieved is None else [Span("retrieve", kind="retrieve", passages=retrieved)]
        if any(known.get(name) is not None for name in COUNTED):
            spans.append(
                Span(
                    "answer",
                    kind="generate",
                    answer=sample.response or None,
                    input_tokens=count(known.get("inputtokencount")),
                    output_tokens=count(known.get("outputtokencount")),
                    cost=number(known.get("tokencost")),
                )
            )
        yield Trace(
            sample.id,
            tuple(spans),
            sample.user_input or None,
            sample.response or None,
            sample.reference or None,
            _passages(sample.reference_contexts),
            session=sample.cluster,
            seconds=number(known.get("completiontime")),
        )


def _passages(chunks: tuple[Chunk, ...] | None) -> tuple[Passage, ...] | None:
    if chunks is None:
        return None
    return tuple(Passage(chunk.text or None, None if chunk.is_nameless else chunk.id) for chunk in chunks)
