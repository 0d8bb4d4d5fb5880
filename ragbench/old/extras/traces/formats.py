"""Formats of traces, each a record of how it is known; what their fields are called is one vocabulary for all of them,
`formats.toml`. A row of a table of answers, ragas' and DeepEval's among them, is a trace too; of a dialogue each
question is one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ragbench.old.core.types import Chunk, ToolCall
from ragbench.old.data.cells import mark, opened
from ragbench.old.data.payloads import (
    Passage,
    answer_of,
    count,
    label,
    moment,
    number,
    passage_of,
    passages_of,
    question_of,
    quoted,
)
from ragbench.old.data.samples import SAID, samples_of
from ragbench.old.data.systems_of_answers import Ids
from ragbench.old.data.vocabulary import field_of, key
from ragbench.old.extras.traces import spans
from ragbench.old.extras.traces.spans import Kind, Rating, Span

_TABLE: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FORMATS, MARKS = (
    {name: [set(mark.split()) for mark in marks] for name, marks in _TABLE[part].items()}
    for part in ("formats", "marks")
)
"""What people call a format, or a part of one → sets of names of fields; a record that has all of one set is of it."""
TABLE = "a table of answers"
"""What has the marks of none of them and a question with anything that was said of it."""
DOCUMENTS = "LangChain documents"

KINDS: Mapping[str, Kind] = {name: kind for kind, names in _TABLE["kinds"].items() for name in names.split()}  # type: ignore[misc]
NAMES: Mapping[str, Mapping[str, set[str]]] = {
    field: {name: {".".join(name.split(".")[:end]) for end in range(1, name.count(".") + 2)} for name in names.split()}
    for field, names in _TABLE["names"].items()
}
"""Field → what vendors call it, in snake case: names of attributes, and paths in a record, the likelier first; each
with what a record has, some of it, that has such a path."""
MEMBERS = {name: own.split() for name, own in _TABLE["members"].items()}
UNITS = {"start_ns": 1e9, "operation_Id": 1e3}
"""What a record has whose duration is not in microseconds → how many of its units are a second."""
NO_MESSAGE = "an error without a message"
TRACEBACK = "Traceback (most recent call last)"
FOUND = "db.query.result"
"""The event that tells of one passage that was found."""
MAX_DEPTH, MOST_RUNS = 8, 64  # a file of strangers: recursion has an end
_HUMP = re.compile(r"(?<=[a-z])[A-Z]+|^[A-Z]")
_NUMBERS = re.compile(r"\[-?\d")
_LISTED = re.compile(r"(.+?)\.(\d{1,6})\.(.+)")
"""A field of an item of a list that is written one attribute a field: `retrieval.documents.3.document.id`."""
R = TypeVar("R")


def format_of(record: Mapping[str, Any]) -> str:
    """The format whose marks the record has, else a table's; empty where it is neither."""
    given = {**record}
    for member in MEMBERS["envelopes"]:
        given |= inner if isinstance(inner := record.get(member), Mapping) else {}
    inner = given.get("attributes")
    names = {*given, *(f"attributes.{name}" for name in (inner if isinstance(inner, Mapping) else ()))}
    if {"inputs", "outputs"} <= names and any(
        field_of(name) == "reference" or name in MEMBERS["graded"] for name in names
    ):
        return TABLE  # an answer beside its reference: no example, whose outputs are the reference
    if known := next((known for known, marks in FORMATS.items() if any(names >= mark for mark in marks)), ""):
        return known
    fields = {field_of(name) for name in record}
    return TABLE if fields & {"user_input", "messages"} or len(fields.intersection(SAID)) > 1 else ""


def parts(known: str, record: Mapping[str, Any], name: str) -> Iterator[Span | Passage]:
    """What a record of a format holds: spans, or a document. name: an id for what has none of its own. Raises
    DatasetError for a row with what is no list of texts."""
    if known == TABLE:
        yield from _of_row(record, name)
    elif known == DOCUMENTS:
        yield from filter(None, [passage_of(record)])
    else:
        yield from _spans(_snake(record), name, "", 0)


def _of_row(record: Mapping[str, Any], name: str) -> Iterator[Span]:
    """The trace of a row; of a dialogue one for each question. Beside an answer DeepEval says what it took."""
    known = {key(column): value for column, value in record.items()}
    for sample in samples_of(dict(record), "a row", ids=Ids(name)):
        yield Span(
            sample.id,
            "row",
            kind="whole",
            seconds=number(known.get("completiontime")),
            question=sample.user_input or None,
            answer=sample.response or None,
            passages=_passages(sample.contexts),
            input_tokens=count(known.get("inputtokencount")),
            output_tokens=count(known.get("outputtokencount")),
            cost=sample.cost,
            reference=sample.reference or None,
            relevant=_passages(sample.reference_contexts),
            session=sample.cluster,
        )


def _passages(chunks: tuple[Chunk, ...] | None) -> tuple[Passage, ...] | None:
    if chunks is None:
        return None
    return tuple(Passage(chunk.text or None, None if chunk.is_nameless else chunk.id) for chunk in chunks)


def _spans(given: Mapping[str, Any], name: str, above: str, depth: int) -> Iterator[Span]:
    """The spans of a record and of those within it. above: the trace that it stands within, if it does."""
    for member in MEMBERS["about"]:
        if isinstance(about := opened(given.get(member)), Mapping) and (
            member != "attributes" or about.keys() & {"trace_id", "spans"}  # Datadog's are the span
        ):
            given = {**_snake(about), **given}
    if "traces" in given:  # a session
        for child in _objects(given["traces"]) if depth < MOST_RUNS else ():
            yield from _spans(child, name, "", depth + 1)
        return
    is_step = bool(above) or any(given.keys() >= marks for marks in MARKS["step"])
    order = label(given.get("dotted_order")) or ""
    trace = above or order.split(".")[0].rpartition("Z")[2] or label(_first(given, "trace"))
    span = label(_first(given, "span")) or ("" if is_step else trace)
    if given.get("shared") is True:  # the server's half of a step of Zipkin, under the id of the client's
        given, span = {**given, "parent_id": span}, f"{span} shared"
    if not is_step and {"trace_id", "name", "value"} <= given.keys():
        if given["trace_id"] is not None and (ratings := _ratings([given])):
            yield Span(str(trace), f"score {span}", kind="whole", ratings=ratings)
    elif not is_step and "inputs" in given:  # an example: a question with its reference
        asked, wanted = question_of(opened(given["inputs"])), answer_of(opened(given.get("outputs")))
        yield Span(label(given.get("id")) or name, "example", kind="whole", question=asked, reference=wanted)
    elif trace is not None and span is not None:
        yield _span(given, trace, span, "other" if is_step else "whole")
    for child in _objects(_first(given, "steps")) if depth < MOST_RUNS else ():
        yield from _spans({"parent_run_id": span, **child}, name, trace or "", depth + 1)


def _span(given: Mapping[str, Any], trace: str, name: str, kind: Kind) -> Span:
    """What a record says of a step, or of its trace as a whole."""
    written = {key.removeprefix("attributes."): v for key, v in given.items() if key.startswith("attributes.")}
    said = flat(given.get("tags")) | flat(opened(given.get("attributes"))) | flat(written)
    attributes = {key: quoted(value) if key.startswith("mlflow.") else value for key, value in said.items()}
    given = {**_events(given), **_grouped(attributes), **given}
    if "run_type" in given:  # what LangSmith calls its session is the project
        given = {**given, "session_id": None}
    if kind != "whole":
        kind = next(filter(None, (_kind(name) for name in _all(given, "kind") if isinstance(name, str))), kind)
        kind = "embed" if kind == "generate" and "embed" in str(_first(given, "model")) else kind
    documents = _read(given, "documents", passages_of)
    told = opened(_first(given, "output")) if documents is None and kind in ("other", "tool", "whole") else None
    told = told.get("outputs", told) if isinstance(told, Mapping) else told  # of LangChain's steps
    if kind != "whole" and _are_passages(told):
        documents = passages_of(told)
    calls, result = _called(given, kind)
    is_whole = kind == "whole" or not given.keys().isdisjoint(("answer", "rag.answer"))
    if documents is not None and kind in ("other", "embed", "tool") and not is_whole:
        kind = "retrieve"
    elif documents is None and isinstance(told, Mapping):  # beside the answer
        lists = [({name: value}, value) for name, value in told.items() if isinstance(value, list)]
        documents = passages_of(next((own[1] for own in lists if any(map(_are_passages, own))), None))
    gives = kind in ("retrieve", "rerank")
    scores = _objects(_first(given, "scores"))
    for named in map(opened, (given.get("feedback_stats"), given.get("scores"))):  # nothing says who gave them
        for score, about in named.items() if isinstance(named, Mapping) else ():
            scores.append({"name": score, "value": about.get("avg") if isinstance(about, Mapping) else about})
    scores += [{"name": name, "value": _at(given, name)} for name in NAMES["rating"]]
    scores += [{"name": name, "value": value[0]} for name, cell in given.items() if len(value := _numbers(cell)) == 1]
    above = [
        *(own.get("span_id") for own in _objects(given.get("references"))),
        *(opened(given.get("span_parents")) or ()),
    ]
    start, end, seconds = moment(_first(given, "start")), moment(_first(given, "end")), number(given.get("duration"))
    if seconds is not None:
        seconds /= next((unit for mark, unit in UNITS.items() if mark in given), 1e6)
    elif (milliseconds := _number(given, "milliseconds", number)) is not None:
        seconds = milliseconds / 1000
    else:
        seconds = _number(given, "seconds", number)
    if start is not None and end is None and seconds:  # beside an end it may be of the first word
        end = start + seconds
    tokens = [_number(given, f"{side}_tokens", count) for side in ("input", "output")]
    tokens = tokens if any(tokens) else [None, None]  # a step without a model has zeros
    return Span(
        trace,
        name,
        next(filter(None, map(label, above)), label(_first(given, "parent"))),
        kind,
        start,
        end,
        (seconds or None) if start is None else None,
        _read(given, "input", question_of),
        None if gives or kind == "embed" or label(_first(given, "error")) else _read(given, "output", answer_of),
        _read(given, "output", passages_of) if documents is None and gives else documents,
        label(_first(given, "model")),
        tokens[0],
        tokens[1],
        _number(given, "cost", number) or None,
        _error(given),
        calls,
        result,
        next(filter(None, map(_expected, scores)), _read(given, "reference", answer_of)),
        session=label(_first(given, "session")),
        user=label(_first(given, "user")),
        ratings=_ratings(scores),
    )


@lru_cache(maxsize=1024)
def _kind(name: str) -> Kind | None:
    """The kind of a step that is called so, or ends so as a class does: `InMemoryBM25Retriever`."""
    return next((kind for ending, kind in KINDS.items() if name.strip().lower().endswith(ending)), None)


def _are_passages(told: Any) -> bool:
    """Whether a step gives passages and nothing else, whatever its kind is called."""
    if isinstance(told, Mapping):
        return told.keys() in MARKS["passages alone"]
    return isinstance(told, list) and bool(told) and all(
        isinstance(own, Mapping) and "role" not in own and any(own.keys() >= marks for marks in MARKS["a passage"])
        for own in told
    )  # fmt: skip


def _numbers(cell: Any) -> list[Any]:
    """The numbers of a column of scores, as Langfuse's tables have one a name; none of anything else."""
    listed = opened(cell) if isinstance(cell, str) and _NUMBERS.match(cell) else cell
    return listed if isinstance(listed, list) and all(isinstance(own, int | float) for own in listed) else []


def _events(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the events of a step tell, by their names; of those that were found one after the other all."""
    told: dict[str, Any] = {}
    for event in (*_objects(given.get("events")), *_objects(given.get("logs"))):
        about = flat(event.get("attributes")) | flat(event.get("fields"))
        name = str(event.get("name", about.get("event")))
        about = {key.removeprefix(f"{name}."): value for key, value in about.items()}
        if name == FOUND:
            told.setdefault(FOUND, []).append({**about, "text": about.get("document")})
        else:
            told[name] = about
    return told


def _error(given: Mapping[str, Any]) -> str | None:
    """Why a step failed; an exception in one that did not was caught."""
    if (ended := label(_first(given, "error"))) is not None:
        return ended.partition(TRACEBACK)[0]
    if str(_first(given, "status")) not in MEMBERS["failed"]:
        return None
    raised = [label(_at(given, f"exception.{part}")) for part in ("type", "message")]
    return label(_first(given, "message")) or ": ".join(filter(None, raised)) or NO_MESSAGE


def _called(given: Mapping[str, Any], kind: Kind) -> tuple[tuple[ToolCall, ...], str | None]:
    """The calls of a step, and what a tool gave; LangChain writes what went in as the field `input` alone."""
    if kind == "generate":
        return next(filter(None, (spans.announced(given.get(name)) for name in NAMES["output"])), ()), None
    if kind != "tool":
        return (), None
    arguments = _first(given, "arguments")
    arguments = opened(_first(given, "input") if arguments is None else arguments)
    if isinstance(arguments, Mapping) and arguments.keys() == {"input"}:
        arguments = arguments["input"]
    return spans.made(_first(given, "tool"), arguments), spans.result(_first(given, "output"))


def _ratings(scores: Iterable[Mapping[str, Any]]) -> tuple[Rating, ...]:
    """Scores with a name: a number, or a word that means yes (1) or no (0); any other is none.

    A score that was sent by a program of the user's (source API) may be either a person's or not.
    """
    ratings = []
    for score in scores:
        name, source = label(score.get("assessment_name", score.get("name"))), score.get("source")
        value, rate = _at(score, "feedback.value") if score.get("value") is None else score["value"], None
        with suppress(ValueError):
            rate = mark(score.get("string_value") or value)
        if name is not None and rate is not None and score.get("valid") is not False:
            by = source.get("source_type") == "HUMAN" if isinstance(source, Mapping) else {
                "ANNOTATION": True, "EVAL": False}.get(str(source).upper())  # fmt: skip
            ratings.append(Rating(name, rate, by))
    return tuple(ratings)


def _expected(score: Mapping[str, Any]) -> str | None:
    """The reference that an assessment holds, if it is one."""
    return (
        answer_of(quoted(_at(score, "expectation.value")))
        if score.get("assessment_name") in MEMBERS["references"]
        else None
    )


def _at(given: Mapping[str, Any], name: str) -> Any:
    """What stands under a name, or under a path of names."""
    if name in given or "." not in name:
        return given.get(name)
    path, _, last = name.rpartition(".")
    inner = opened(_at(given, path))
    return inner.get(last) if isinstance(inner, Mapping) else None


def _all(given: Mapping[str, Any], field: str) -> Iterator[Any]:
    there = (name for name, begins in NAMES[field].items() if not given.keys().isdisjoint(begins))
    return (value for name in there if (value := _at(given, name)) is not None)


def _first(given: Mapping[str, Any], field: str) -> Any:
    return next(_all(given, field), None)


def _read(given: Mapping[str, Any], field: str, read: Callable[[Any], R | None]) -> R | None:
    """The first of the field's values that can be read; attributes may be texts in JSON."""
    there = (quoted(given[name]) for name in NAMES[field] if name in given)
    return next((said for value in there if (said := read(value)) is not None), None)


def _number(given: Mapping[str, Any], field: str, read: Callable[[Any], R | None]) -> R | None:
    """The first of the field's numbers that is not 0, else a 0 that stands there."""
    numbers = [value for given_value in _all(given, field) if (value := read(given_value)) is not None]
    return next(filter(None, numbers), numbers[0] if numbers else None)


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name if "." in name else _HUMP.sub(_parted, name.removeprefix("$ai_")): value
            for name, value in record.items()}  # fmt: skip


def _parted(hump: re.Match[str]) -> str:
    return f"{'_' * bool(hump.start())}{hump[0].lower()}"


def _objects(value: Any) -> list[dict[str, Any]]:
    members = opened(value)
    return [_snake(member) for member in members if isinstance(member, Mapping)] if isinstance(members, list) else []


def flat(attributes: Any) -> dict[str, Any]:
    """Attributes by name, out of a list of OTLP's keys and values, or out of an object, nested or not."""
    if isinstance(attributes, list):
        return {str(pair["key"]): _value(pair.get("value"), 0) for pair in attributes
                if isinstance(pair, dict) and "key" in pair}  # fmt: skip
    return dict(_flat(attributes, "", 0)) if isinstance(attributes, dict) else {}


def _flat(attributes: Mapping[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in attributes.items():
        if isinstance(value, dict) and depth < MAX_DEPTH and name not in ("metadata", "document.metadata"):
            yield from _flat(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value


def _value(given: Any, depth: int) -> Any:
    """What one of OTLP's values holds; a plain one, as Jaeger has them, is itself."""
    if not isinstance(given, dict) or depth > MAX_DEPTH:
        return given if depth == 0 else None
    for name, value in _snake(given).items():
        inner = value.get("values") if isinstance(value, dict) else None
        if name == "int_value":
            whole = number(value)
            return None if whole is None else int(whole)
        if name == "array_value":
            return [_value(entry, depth + 1) for entry in _objects(inner)]
        if name == "kvlist_value":
            return {str(pair.get("key")): _value(pair.get("value"), depth + 1) for pair in _objects(inner)}
        return value
    return None


def _grouped(attributes: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """The attributes, where `retrieval.documents.3.document.id` and its like have become lists of objects."""
    grouped: dict[str, Any] = {}
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        if depth > MAX_DEPTH or (parted := _LISTED.fullmatch(name)) is None:
            grouped[name] = value
        else:
            lists.setdefault(parted[1], {}).setdefault(int(parted[2]), {})[parted[3]] = value
    for name, items in lists.items():
        grouped[name] = [_grouped(items[place], depth + 1) for place in sorted(items)]
    return grouped
