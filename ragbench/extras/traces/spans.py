"""What every vendor's record is turned into, a trace with its spans, and their attributes by any convention.

Sources: github.com/Arize-ai/openinference (spec/semantic_conventions.md), the package
openinference-semantic-conventions 0.1.42; opentelemetry.io/docs/specs/semconv/gen-ai, the package
opentelemetry-semantic-conventions 0.66b2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ragbench.data.payloads import (
    Passage,
    answer_of,
    count,
    label,
    message_text,
    number,
    opened,
    passages_of,
    question_of,
)

Kind = Literal["retrieve", "rerank", "generate", "embed", "other"]


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a trace.

    start, end: seconds since 1970; None where the record does not say. question, answer: what went in and came out, as
    a text; passages: in rank order, None for a step that gives none. cost: in the currency of the vendor, mostly USD.
    error: why it failed.
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


KINDS: Mapping[str, Kind] = {
    "retriever": "retrieve", "retrieval": "retrieve", "reranker": "rerank", "rerank": "rerank", "llm": "generate",
    "chat": "generate", "chat_model": "generate", "generation": "generate", "completion": "generate",
    "text_completion": "generate", "generate_content": "generate", "embedding": "embed", "embeddings": "embed",
}  # fmt: skip
"""What vendors call the kinds of steps, in small letters."""
KIND = ("openinference.span.kind", "gen_ai.operation.name", "langfuse.observation.type", "traceloop.span.kind",
        "llm.request.type")  # fmt: skip
SESSION = ("session.id", "gen_ai.conversation.id", "langfuse.session.id",
           "traceloop.association.properties.session_id")  # fmt: skip
USER = ("user.id", "enduser.id", "langfuse.user.id", "traceloop.association.properties.user_id")
INPUT = ("input.value", "gen_ai.retrieval.query.text", "gen_ai.input.messages", "llm.input_messages",
         "langfuse.observation.input", "traceloop.entity.input", "gen_ai.prompt")  # fmt: skip
OUTPUT = ("output.value", "gen_ai.output.messages", "llm.output_messages", "langfuse.observation.output",
          "traceloop.entity.output", "gen_ai.completion")  # fmt: skip
DOCUMENTS = ("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents")
_LISTED = re.compile(
    r"(llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion)|retrieval\.documents|reranker\.output_documents)"
    r"\.(\d{1,6})\.(.+)"
)
"""A field of an item of a list that is written one attribute a field."""


def kind_of(*names: Any) -> Kind:
    """The kind of a step by the first name that is known."""
    for name in names:
        if isinstance(name, str) and (kind := KINDS.get(name.strip().lower())):
            return kind
    return "other"


def trace_of(
    trace: str,
    span: Span,
    attributes: Mapping[str, Any],
    *,
    events: Iterable[tuple[str, Mapping[str, Any]]] = (),
    kind: Any = None,
) -> Trace:
    """The part of a trace that a span with these attributes is. span: without what attributes say.

    events: their names and attributes. kind: what the vendor calls the kind of the step beside the attributes.
    """
    given = _grouped(attributes)
    step = kind_of(*(given.get(name) for name in KIND), kind)
    question, answer, passages, error = None, None, None, span.error
    for name, about in events:
        if name == "exception":
            said = [label(about.get(f"exception.{part}")) for part in ("type", "message")]
            error = error or ": ".join(filter(None, said)) or None
        elif name == "gen_ai.user.message":
            question = message_text(about) or question
        elif name == "gen_ai.choice":
            answer = answer_of(opened(about.get("message"))) or answer
        elif name == "db.query.result":
            result = {key.removeprefix("db.query.result."): value for key, value in about.items()}
            passages = (*(passages or ()), *(passages_of([{**result, "text": result.get("document")}]) or ()))
    documents = next((documents for name in DOCUMENTS if (documents := passages_of(given.get(name))) is not None), None)
    passages = passages if documents is None else documents
    if passages is not None and step in ("other", "embed"):
        step = "retrieve"
    if passages is None and step in ("retrieve", "rerank"):
        passages = next((some for name in OUTPUT if (some := passages_of(given.get(name))) is not None), None)
    return Trace(
        trace,
        (
            Span(
                span.id,
                span.parent,
                step,
                span.start,
                span.end,
                question or next((text for name in INPUT if (text := question_of(given.get(name)))), None),
                answer or next((text for name in OUTPUT if (text := answer_of(given.get(name)))), None)
                if step not in ("retrieve", "rerank", "embed")
                else None,
                passages,
                label(_any(given, "llm.response.model_name", "gen_ai.response.model", "llm.model_name",
                           "gen_ai.request.model", "langfuse.observation.model.name")),
                count(_any(given, "llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")),
                count(_any(given, "llm.token_count.completion", "gen_ai.usage.output_tokens",
                           "gen_ai.usage.completion_tokens")),
                number(_any(given, "llm.cost.total", "gen_ai.usage.cost")),
                error,
            ),
        ),
        session=label(_any(given, *SESSION)),
        user=label(_any(given, *USER)),
    )  # fmt: skip


def _any(given: Mapping[str, Any], *names: str) -> Any:
    return next((value for name in names if (value := given.get(name)) is not None), None)


def _grouped(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes, where `retrieval.documents.3.document.id` and its like have become lists of objects."""
    grouped: dict[str, Any] = {}
    lists: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        if (parts := _LISTED.fullmatch(name)) is None:
            grouped[name] = value
            continue
        item = lists.setdefault(parts[1], {}).setdefault(int(parts[2]), {})
        if parts[3].startswith("message.contents."):
            if parts[3].endswith(".message_content.text"):
                item.setdefault("message.contents", []).append({"text": value})
        else:
            item[parts[3]] = value
    for name, items in lists.items():
        grouped[name] = [items[place] for place in sorted(items)]
    return grouped
