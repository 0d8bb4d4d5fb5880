"""What every vendor's record is turned into, the spans of a trace; and what they say together: one question, what was
found for it, where the time went, and the agent's run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragbench.old.core.types import ToolCall
from ragbench.old.data.cells import opened
from ragbench.old.data.payloads import MAX_DEPTH, Passage, answer_of, calls_of, label

Kind = Literal["whole", "retrieve", "rerank", "generate", "embed", "tool", "other"]


@dataclass(frozen=True, slots=True)
class Rating:
    """A score that a trace was given. by_people: False where the vendor says that a program gave it, True where it
    says that a person did, None where it does not say."""

    name: str
    value: float
    by_people: bool | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """One step of a trace, or (kind "whole") what a vendor says of the trace as a whole, which goes before its steps.

    start, end: seconds since 1970; None where the record does not say. seconds: how long it took, where it says so.
    question, answer: what went in and came out, as a text; passages: in rank order, None for a step that gives none.
    cost: in the currency of the vendor, mostly USD. calls: of a model those that it asks for, of a tool its own.
    result: what a tool gave. error: why it failed. relevant: the passages that people named as relevant, None where
    nobody did.
    """

    trace: str
    id: str
    parent: str | None = None
    kind: Kind = "other"
    start: float | None = None
    end: float | None = None
    seconds: float | None = None
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
    reference: str | None = None
    relevant: tuple[Passage, ...] | None = None
    session: str | None = None
    user: str | None = None
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole(Span):
    """A trace read as one question.

    start: when it was asked. seconds: from the question to the answer. passages: what the answer was written from, each
    once: the lists of all retrievers in the order of their calls, a passage at its first rank; where something was
    reranked, the lists of the rerankers instead. A retriever within another is a part of it. lists: of how many
    retrievers. retrieving, generating: seconds in which a retriever or a reranker was at work, and in which a model was
    once all was retrieved; None where no clock was read. Tokens and cost are of all models together, an inner one not
    counted twice. run: the messages of an agent, None of what called no tool.
    """

    lists: int = 0
    is_reranked: bool = False
    retrieving: float | None = None
    generating: float | None = None
    run: list[dict[str, Any]] | None = None


def whole(trace: Sequence[Span]) -> Whole:
    """Everything that the spans of a trace say."""
    told = [span for span in trace if span.kind == "whole"]
    spans = sorted((span for span in trace if span.kind != "whole"), key=lambda span: (span.start is None, span.start))
    above = {span.id: span for span in spans}
    root = [span for span in spans if span.parent not in above][:1]
    retrievers = _outermost([span for span in spans if span.kind == "retrieve"], above)
    rerankers = [span for span in spans if span.kind == "rerank" and span.passages]
    models = _outermost([span for span in spans if span.kind == "generate"], above)
    working = _outermost([span for span in spans if span.kind in ("tool", "generate") or span.calls], above)
    retrieved = max((span.end for span in (*retrievers, *rerankers) if span.end is not None), default=None)
    writing = [s for s in models if retrieved is None or s.start is None or s.start >= retrieved] or models[-1:]
    lists = [span.passages for span in rerankers or retrievers or [*told, *root] if span.passages is not None]
    is_index = bool(spans) and all(span.kind == "embed" for span in spans)  # what it was made of is no question
    question = _first("question", *told, *(() if is_index else (*root, *retrievers, *reversed(models), *spans)))
    answer = _first("answer", *told, *root, *reversed(models))
    failed = None if answer else _first("error", *reversed(spans))
    return Whole(
        trace[0].trace,
        "",
        kind="whole",
        start=_first("start", *told, *root),
        seconds=_known(_first("seconds", *told), _taken(told), _taken(root)),
        question=question,
        answer=answer or (None if failed or models else _first("answer", *reversed(spans))),
        passages=_merged(lists) if lists else None,
        model=_first("model", *reversed(writing), *told),
        error=_first("error", *told, *root) or failed,
        ratings=tuple(rating for span in trace for rating in span.ratings),
        lists=len(retrievers),
        is_reranked=bool(rerankers),
        retrieving=_taken([*retrievers, *rerankers]),
        generating=_taken(writing),
        run=run(question, answer, working) if question else None,
        **{name: _first(name, *trace) for name in ("reference", "relevant", "session", "user")},
        **{name: _total(name, told, models, root) for name in ("input_tokens", "output_tokens", "cost")},
    )


def _outermost(spans: Sequence[Span], above: dict[str, Span]) -> list[Span]:
    """Those that stand within no other of the same kind."""
    inner = {span.id for span in spans}
    outermost = []
    for span in spans:
        at, seen = span.parent, {span.id}
        while at not in inner and at in above and at not in seen:
            seen.add(at)
            at = above[at].parent
        if at not in inner or at in seen:
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


def _total(name: str, told: Sequence[Span], models: Sequence[Span], root: Sequence[Span]) -> Any:
    """Of tokens or of money: what is told of the whole, else of all models together, else of the first step."""
    spent = [value for span in models if (value := getattr(span, name)) is not None]
    return _known(_first(name, *told), sum(spent) if spent else None, _first(name, *root))


def _first(name: str, *spans: Span) -> Any:
    return _known(*(getattr(span, name) for span in spans))


def _known(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


TYPED = ("tool_call", "tool_use")
"""The parts of a message that are calls: of OpenTelemetry's conventions, and of Anthropic."""
OPENINFERENCE = "tool_call.function."
"""How the members of a call begin there."""


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
    asked = value.get("tool_calls")
    if not asked and isinstance(flat := value.get("message.tool_calls"), list):
        asked = [{str(name).removeprefix(OPENINFERENCE): own for name, own in call.items()} for call in flat]
    if asked:
        return calls_of(asked) or ()
    return next(filter(None, (announced(inner, depth + 1) for inner in value.values())), ())


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
