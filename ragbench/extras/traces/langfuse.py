"""Langfuse: traces with their observations and scores, as its interface and its exports write them; or each in a file
of its own (`traces`, `observations`, `scores`), names in camel or in snake case.

Sources: langfuse 3.15.0 (TraceWithFullDetails) and 5.0.4 (ObservationV2, scores);
langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.cells import opened
from ragbench.data.payloads import answer_of, count, label, moment, number, passages_of, question_of
from ragbench.extras.traces import agents
from ragbench.extras.traces.attributes import kind_of
from ragbench.extras.traces.spans import Rating, Span, Trace

NAME = "Langfuse"
MARKS = (
    {"observations", "timestamp"}, {"htmlPath", "timestamp"}, {"timestamp", "sessionId", "input"},
    {"timestamp", "session_id", "input"}, {"traceId", "startTime", "type"}, {"trace_id", "start_time", "type"},
    {"traceId", "name", "value", "source"}, {"trace_id", "name", "value", "source"},
)  # fmt: skip
_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
YES, NO = ("true", "yes", "positive", "good", "like", "up", "thumbs_up"), (
    "false", "no", "negative", "bad", "dislike", "down", "thumbs_down",
)  # fmt: skip


def parts(record: Mapping[str, Any], _: str) -> Iterator[Trace]:
    """The trace, the observation or the score that a record is."""
    given = _snake(record)
    trace = label(given.get("trace_id"))
    if trace is not None and "type" in given and "start_time" in given:
        yield Trace(trace, (_span(given),), session=label(given.get("session_id")), user=label(given.get("user_id")))
    elif trace is not None:
        if (rating := rated(given)) is not None:
            yield Trace(trace, ratings=(rating,))
    elif (name := label(given.get("id"))) is not None:
        spans = [_span(_snake(observation)) for observation in _objects(given.get("observations"))]
        ratings = [rated(_snake(score)) for score in _objects(given.get("scores"))]
        yield Trace(
            name,
            tuple(spans),
            question_of(given.get("input")),
            answer_of(given.get("output")),
            session=label(given.get("session_id")),
            user=label(given.get("user_id")),
            asked_at=moment(given.get("timestamp")),
            seconds=number(given.get("latency")) or None,
            cost=number(given.get("total_cost")) or None,
            ratings=tuple(user_rating for user_rating in ratings if user_rating is not None),
        )


def rated(score: Mapping[str, Any]) -> Rating | None:
    """A score with a name: a number, or a word that means yes (1) or no (0); None for any other.

    A score that was sent by a program of the user's (source API) may be either a person's or not.
    """
    name, value = label(score.get("name")), number(score.get("value"))
    word = score.get("string_value") or score.get("value")
    if isinstance(word, str) and number(word) is None:
        said = word.strip().lower()
        value = 1.0 if said in YES else 0.0 if said in NO else None
    elif isinstance(score.get("value"), bool):
        value = float(score["value"])
    if name is None or value is None:
        return None
    return Rating(name, value, {"ANNOTATION": True, "EVAL": False}.get(str(score.get("source")).upper()))


def _span(given: Mapping[str, Any]) -> Span:
    kind = kind_of(given.get("type"))
    usage = opened(given.get("usage_details")) or given.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    costs = opened(given.get("cost_details"))
    costs = costs if isinstance(costs, dict) else {}
    counted = usage.get("input") or usage.get("output")  # a step without a model has zeros
    failed = given.get("level") == "ERROR"
    gives = kind in ("retrieve", "rerank")
    return Span(
        label(given.get("id")) or "",
        label(given.get("parent_observation_id")),
        kind,
        moment(given.get("start_time")),
        moment(given.get("end_time")),
        question_of(given.get("input")),
        None if gives or kind == "embed" else answer_of(given.get("output")),
        passages_of(given.get("output")) if gives else None,
        label(given.get("model")) or label(given.get("provided_model_name")),
        count(usage.get("input")) if counted else None,
        count(usage.get("output")) if counted else None,
        number(given.get("total_cost")) or number(given.get("calculated_total_cost")) or number(costs.get("total")),
        (label(given.get("status_message")) or "an error without a message") if failed else None,
        agents.made(given.get("name"), given.get("input")) if kind == "tool"
        else agents.announced(given.get("output")) if kind == "generate" else (),
        agents.result(given.get("output")) if kind == "tool" else None,
    )  # fmt: skip


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {_HUMP.sub(lambda hump: f"_{hump[0].lower()}", name): value for name, value in record.items()}


def _objects(value: Any) -> list[Mapping[str, Any]]:
    members = opened(value)
    return [member for member in members if isinstance(member, dict)] if isinstance(members, list) else []
