"""The attributes of a span: OpenInference, the GenAI semantic conventions of OpenTelemetry, Traceloop, Langfuse.

Sources: github.com/Arize-ai/openinference (spec/semantic_conventions.md), the package
openinference-semantic-conventions 0.1.42; opentelemetry.io/docs/specs/semconv/gen-ai, the package
opentelemetry-semantic-conventions 0.66b2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragbench.core.types import ToolCall
from ragbench.data.cells import opened
from ragbench.data.payloads import answer_of, count, label, message_text, number, passages_of, question_of
from ragbench.extras.traces import agents
from ragbench.extras.traces.spans import Kind, Span, Trace

KINDS: Mapping[str, Kind] = {
    "retriever": "retrieve", "retrieval": "retrieve", "reranker": "rerank", "rerank": "rerank", "llm": "generate",
    "chat": "generate", "chat_model": "generate", "generation": "generate", "completion": "generate",
    "text_completion": "generate", "generate_content": "generate", "embedding": "embed", "embeddings": "embed",
    "tool": "tool", "execute_tool": "tool",
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
    name: Any = None,
) -> Trace:
    """The part of a trace that a span with these attributes is. span: without what attributes say.

    events: their names and attributes. kind: what the vendor calls the kind of the step beside the attributes. name: of
    the step.
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
    if passages is not None and step in ("other", "embed", "tool"):
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
                *_called(given, step, name),
            ),
        ),
        session=label(_any(given, *SESSION)),
        user=label(_any(given, *USER)),
    )  # fmt: skip


def _called(given: Mapping[str, Any], step: Kind, name: Any) -> tuple[tuple[ToolCall, ...], str | None]:
    """The calls of a step, and what a tool gave."""
    if step == "generate":
        return next((calls for key in OUTPUT if (calls := agents.announced(given.get(key)))), ()), None
    if step != "tool":
        return (), None
    called = _any(given, "gen_ai.tool.name", "tool.name", "tool_call.function.name", "traceloop.entity.name")
    arguments = _any(given, "gen_ai.tool.call.arguments", "tool_call.function.arguments", *INPUT)
    return agents.made(called or name, arguments), agents.result(_any(given, "gen_ai.tool.call.result", *OUTPUT))


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
