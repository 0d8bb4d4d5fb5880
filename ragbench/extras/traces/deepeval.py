"""DeepEval: test cases and goldens, names in snake or in camel case, and conversations with their turns.

Source: deepeval 4.3.1 (LLMTestCase, Golden, EvaluationDataset.save_as).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.data.payloads import Passage, count, label, message_text, number, opened, passages_of, role_of
from ragbench.extras.traces.spans import Span, Trace

NAME = "DeepEval"
MARKS = (
    {"input", "actual_output"}, {"input", "actualOutput"}, {"input", "expected_output"}, {"input", "expectedOutput"},
    {"turns", "scenario"}, {"turns", "chatbot_role"},
)  # fmt: skip
JOINED = "|"
"""Between the passages of a cell of CSV, or a text of JSON Lines: one that has it itself cannot be told from two."""


def parts(record: Mapping[str, Any], name: str) -> Iterator[Trace]:
    """The trace of a test case; of a conversation one for each question of its user."""
    turns = opened(record.get("turns"))
    if isinstance(turns, list):
        yield from _dialogue([one for one in turns if isinstance(one, dict)], name)
        return
    answer = label(_any(record, "actual_output", "actualOutput"))
    retrieved = _passages(_any(record, "retrieval_context", "retrievalContext"))
    seconds = number(_any(record, "completion_time", "completionTime"))
    spans = [] if retrieved is None else [Span("retrieve", kind="retrieve", passages=retrieved)]
    spans.append(
        Span(
            "answer",
            kind="generate",
            answer=answer,
            input_tokens=count(_any(record, "input_token_count", "inputTokenCount")),
            output_tokens=count(_any(record, "output_token_count", "outputTokenCount")),
            cost=number(_any(record, "token_cost", "tokenCost")),
        )
    )
    yield Trace(
        name,
        tuple(spans),
        label(record.get("input")),
        answer,
        label(_any(record, "expected_output", "expectedOutput")),
        _passages(record.get("context")),
        seconds=seconds,
    )


def _dialogue(turns: list[Mapping[str, Any]], name: str) -> Iterator[Trace]:
    asked: str | None = None
    number = 0
    for turn in [*turns, {"role": "user"}]:
        if role_of(turn) == "user":
            if asked is not None:
                number += 1
                yield Trace(f"{name}.{number}", (), asked, session=name)
            asked = message_text(turn)
        elif asked is not None:
            number += 1
            found = _passages(turn.get("retrieval_context", turn.get("retrievalContext")))
            spans = () if found is None else (Span("retrieve", kind="retrieve", passages=found),)
            yield Trace(f"{name}.{number}", spans, asked, message_text(turn), session=name)
            asked = None


def _passages(value: Any) -> tuple[Passage, ...] | None:
    value = opened(value)
    if isinstance(value, str):
        value = [text for text in value.split(JOINED) if text.strip()]
    if isinstance(value, list):  # one with the source that DeepEval knows of it
        value = [
            {"text": one["context"], **one} if isinstance(one, dict) and "context" in one else one for one in value
        ]
    return passages_of(value)


def _any(record: Mapping[str, Any], *names: str) -> Any:
    return next((value for name in names if (value := record.get(name)) not in (None, "")), None)
