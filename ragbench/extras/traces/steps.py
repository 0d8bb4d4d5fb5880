"""What the spans of one trace say together: question, answer, passages, and where the time went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ragbench.data.payloads import Passage
from ragbench.extras.traces.spans import Span, Trace

N = TypeVar("N", int, float)


@dataclass(frozen=True)
class Steps:
    """A trace read as one question.

    passages: what the answer was written from, in rank order, each once: the lists of all retrievers in the order of
    their calls, a passage at its first rank; where something was reranked, the lists of the rerankers instead. None
    where nothing retrieves. A retriever within another is a part of it. lists: of how many retrievers.
    retrieving, generating: seconds in which a retriever or a reranker was at work, and in which a model was once all
    was retrieved; None where no clock was read. Tokens and cost are of all models together, an inner one not counted
    twice.
    """

    question: str | None
    answer: str | None
    passages: tuple[Passage, ...] | None
    lists: int
    reranked: bool
    seconds: float | None
    retrieving: float | None
    generating: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    model: str | None
    asked_at: float | None
    error: str | None

    @classmethod
    def of(cls, trace: Trace) -> Steps:
        """Everything that the trace and its spans say."""
        spans = sorted(trace.spans, key=lambda span: (span.start is None, span.start or 0.0))
        above = {span.id: span for span in spans}
        root = next((span for span in spans if span.parent not in above), None)
        retrievers = _outermost([span for span in spans if span.kind == "retrieve"], above)
        rerankers = [span for span in spans if span.kind == "rerank" and span.passages]
        models = _outermost([span for span in spans if span.kind == "generate"], above)
        lists = [span.passages for span in rerankers or retrievers if span.passages is not None]
        retrieved = max((span.end for span in (*retrievers, *rerankers) if span.end is not None), default=None)
        writing = [s for s in models if retrieved is None or s.start is None or s.start >= retrieved] or models[-1:]
        counted = models or ([root] if root else [])
        answer = trace.answer or (root.answer if root else None) or _last(span.answer for span in models)
        failed = _last(span.error for span in spans) if not answer else None
        question = trace.question or (root.question if root else None)
        return cls(
            question or next((s.question for s in (*retrievers, *reversed(models), *spans) if s.question), None),
            answer or (None if failed or models else _last(span.answer for span in spans)),
            _merged(lists) if lists else None,
            len(retrievers),
            bool(rerankers),
            trace.seconds if trace.seconds is not None else _taken([root] if root else []),
            _taken([*retrievers, *rerankers]),
            _taken(writing),
            _sum(span.input_tokens for span in counted),
            _sum(span.output_tokens for span in counted),
            trace.cost if trace.cost is not None else _sum(span.cost for span in counted),
            _last(span.model for span in writing),
            trace.asked_at if trace.asked_at is not None else root.start if root else None,
            trace.error or (root.error if root else None) or failed,
        )


def _outermost(spans: Sequence[Span], above: dict[str, Span]) -> list[Span]:
    """Those that stand within no other of the same kind."""
    inner = {span.id for span in spans}
    outermost = []
    for span in spans:
        at, seen = span.parent, {span.id}
        while at is not None and at not in inner and at in above and at not in seen:
            seen.add(at)
            at = above[at].parent
        if at is None or at not in inner or at in seen:
            outermost.append(span)
    return outermost


def _merged(lists: Iterable[Iterable[Passage]]) -> tuple[Passage, ...]:
    """The lists one after the other, a passage at its first place."""
    merged: dict[tuple[str | None, str | None], Passage] = {}
    for passage in (own for some in lists for own in some):
        merged.setdefault((passage.id, None) if passage.id else (None, passage.text), passage)
    return tuple(merged.values())


def _taken(spans: Iterable[Span]) -> float | None:
    """Seconds that these spans cover together; None where none has both its ends."""
    times = sorted((s.start, s.end) for s in spans if s.start is not None and s.end is not None and s.end >= s.start)
    total, until = 0.0, float("-inf")
    for start, end in times:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total if times else None


def _sum(values: Iterable[N | None]) -> N | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _last(values: Iterable[str | None]) -> str | None:
    return next((value for value in reversed([*values]) if value), None)
