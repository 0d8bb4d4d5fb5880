"""Tables of answers of any tool, ragas' and DeepEval's among them: a row is a trace, of a dialogue each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragbench.core.types import Chunk
from ragbench.data.payloads import Passage, count, number
from ragbench.data.samples import SAID, samples_of
from ragbench.data.vocabulary import field_of, key
from ragbench.extras.traces.spans import Span, Trace

COUNTED = ("inputtokencount", "outputtokencount", "tokencost")
"""What DeepEval says of an answer, beside `completion_time`."""


def is_one(record: Mapping[str, Any]) -> bool:
    """Whether a record has a question beside anything that was said of it."""
    fields = {field_of(name) for name in record}
    return bool(fields & {"user_input", "messages"}) or len(fields & SAID) > 1


def parts(record: Mapping[str, Any], name: str) -> Iterator[Trace]:
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
