"""What every vendor's record is turned into: a trace with its spans, and the agent's run that they make together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from ragbench.core.types import ToolCall
from ragbench.data.cells import opened
from ragbench.data.payloads import MAX_DEPTH, Passage, answer_of, calls_of, label

WITHIN = (
    "output", "outputs", "messages", "choices", "message", "generations", "kwargs", "additional_kwargs", "parts",
    "content", "response",
)  # fmt: skip
"""Where in a model's reply its calls may stand."""
TYPED = ("tool_call", "tool_use")
"""The parts of a message that are calls: of OpenTelemetry's conventions, and of Anthropic."""
_FLAT = re.compile(r"message\.tool_calls\.(\d{1,4})\.tool_call\.function\.(name|arguments)")


def announced(value: Any, depth: int = 0) -> tuple[ToolCall, ...]:
    """The calls in a model's reply, as OpenAI, Anthropic, LangChain, OpenInference and OpenTelemetry write them."""
    value = opened(value)
    if depth > MAX_DEPTH:
        return ()
    if isinstance(value, list):
        if typed := [part for part in value if isinstance(part, dict) and part.get("type") in TYPED]:
            return calls_of(typed) or ()
        return tuple(call for part in value for call in announced(part, depth + 1))
    if not isinstance(value, dict):
        return ()
    flat: dict[int, dict[str, Any]] = {}
    for name, given in value.items():
        if (found := _FLAT.fullmatch(name)) is not None:
            flat.setdefault(int(found[1]), {})[found[2]] = given
    asked = value.get("tool_calls") or [flat[place] for place in sorted(flat)]
    if asked:
        return calls_of(asked) or ()
    inner = (announced(value[name], depth + 1) for name in WITHIN if name in value)
    return next((calls for calls in inner if calls), ())


def made(name: Any, arguments: Any) -> tuple[ToolCall, ...]:
    """The call that a step of a tool is; what went in as a plain text is its argument `input`. None without a name."""
    if (called := label(name)) is None:
        return ()
    given = opened(arguments)
    if isinstance(given, str) and not given.lstrip().startswith(("{", "[")):
        given = {"input": given} if given.strip() else {}
    return calls_of([{"name": called, "arguments": {} if given is None else given}]) or ()


def result(value: Any) -> str | None:
    """What a tool gave, as a text."""
    return answer_of(value) or (None if value in (None, "") else str(value))


def run(question: str, answer: str | None, steps: Sequence[Span]) -> list[dict[str, Any]] | None:
    """The messages of an agent's run, as OpenAI writes them: each step of a model is a message of the agent, with the
    calls that it asks for, and those that were made after it without being asked for; each step of a tool what it gave.

    None where no tool was called.
    """
    if not any(span.calls for span in steps):
        return None
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    said: dict[str, Any] | None = None
    waiting: list[str] = []
    for span in steps:
        if span.kind == "generate":
            said = {"role": "assistant", "content": span.answer or "", "tool_calls": list(map(_written, span.calls))}
            waiting = [call.name for call in span.calls]
            messages.append(said)
            continue
        for call in span.calls:
            if call.name in waiting:
                waiting.remove(call.name)
            else:
                if said is None:
                    messages.append(said := {"role": "assistant", "content": "", "tool_calls": []})
                said["tool_calls"].append(_written(call))
        messages.append({"role": "tool", "content": span.error or span.result or ""})
    if answer and (said is None or said["content"] != answer or messages[-1] is not said):
        messages.append({"role": "assistant", "content": answer})
    return [{name: value for name, value in message.items() if value != []} for message in messages]


def _written(call: ToolCall) -> Mapping[str, Any]:
    return {"name": call.name, "arguments": call.written if call.arguments is None else dict(call.arguments)}


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
        merged = {"id", "spans", "ratings"}
        given = {
            part.name: getattr(more, part.name)
            for part in fields(self)
            if part.name not in merged and getattr(self, part.name) is None
        }
        return replace(self, spans=self.spans + more.spans, ratings=self.ratings + more.ratings, **given)
