"""What every vendor's record is turned into: a trace with its spans, in field terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ragbench.core.types import ToolCall
from ragbench.data.payloads import Passage

Kind = Literal["retrieve", "rerank", "generate", "embed", "tool", "other"]


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a trace.

    start, end: seconds since 1970; None where the record does not say. question, answer: what went in and came out, as
    a text; passages: in rank order, None for a step that gives none. cost: in the currency of the vendor, mostly USD.
    calls: of a model those that it asks for, of a tool its own. result: what a tool gave. error: why it failed.
    """

    id: str
    parent: str | None = None
    kind: Kind = "other"
    start: float | None = None
    end: float | None = None
    question: str | None = None
    answer: str | None = None
    passages: tuple[Passage, ...] | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    error: str | None = None
    calls: tuple[ToolCall, ...] = ()
    result: str | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """A score that a trace was given. by_people: False where the vendor says that a program gave it, True where it
    says that a person did, None where it does not say."""

    name: str
    value: float
    by_people: bool | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One question and what was done for it, or a part of that: parts of one id are joined.

    What a vendor says of the trace as a whole goes before what its spans say. relevant: the passages that people named
    as relevant, None where nobody did. seconds: from the question to the answer. asked_at: seconds since 1970.
    """

    id: str
    spans: tuple[Span, ...] = ()
    question: str | None = None
    answer: str | None = None
    reference: str | None = None
    relevant: tuple[Passage, ...] | None = None
    session: str | None = None
    user: str | None = None
    asked_at: float | None = None
    seconds: float | None = None
    cost: float | None = None
    error: str | None = None
    ratings: tuple[Rating, ...] = ()

    def joined(self, more: Trace) -> Trace:
        """This and another part of the same trace; where both say something, the first does."""
        named = (
            "question",
            "answer",
            "reference",
            "relevant",
            "session",
            "user",
            "asked_at",
            "seconds",
            "cost",
            "error",
        )
        given = {
            name: value for name in named if getattr(self, name) is None and (value := getattr(more, name)) is not None
        }
        return replace(self, spans=self.spans + more.spans, ratings=self.ratings + more.ratings, **given)
