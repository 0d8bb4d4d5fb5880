"""From bytes to a checked value, or to nothing: no reply is ever bent into a score."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ragbench.core.types.reason import Reason
from ragbench.llm.errors import Fault

AnyShape = TypeVar("AnyShape", bound=BaseModel)
MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 60
LONGEST_NAME = 200
MOST_TOKENS = 10**8
"""Of one call: ten times the longest context that there is. What reports more is not believed."""
LARGEST_INTEGER = 2**63
"""From it on, either way of 0, no database has a whole number."""
_FENCE = re.compile(r"```(?:json)?[ \t]*\r?\n(?P<inside>.*)\r?\n?```", re.DOTALL | re.IGNORECASE)


class MalformedError(ValueError):
    """A reply that is not of its shape; the message says why, in words that a model can act on."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the endpoint said, as far as the protocol goes.

    finish: "stop", "length", "content_filter" or what else the endpoint says; refusal: its own field, if filled.
    input_tokens, output_tokens: as reported; None where the endpoint does not report usage. served_model: the name of
    the model that answered, as the endpoint gives it.
    """

    text: str
    finish: str
    refusal: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    served_model: str | None = None


def parse_envelope(body: bytes, hide: Callable[[str], str] = str) -> Reply:
    """The chat completion in a response's body. hide: masks what was sent back and must not be kept.

    Raises Fault ("server") for anything that is not one: HTML, half a JSON document, no choices, an error inside.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise Fault("server", Reason("the response is not JSON")) from None
    if not isinstance(document, dict):
        raise Fault("server", Reason("the response is not a JSON object"))
    if error := document.get("error"):
        said = error.get("message", error) if isinstance(error, dict) else error
        said = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        raise Fault("server", Reason("the response reports an error: {said}", said=hide(said)[:300]))
    choices = document.get("choices")
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        raise Fault("server", Reason("the response has no choices"))
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise Fault("server", Reason("the response has no message"))
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    refusal, named, finish = message.get("refusal"), document.get("model"), choices[0].get("finish_reason")
    return Reply(
        text=storable(hide(_text_of(message))),
        finish=storable(hide(finish)[:LONGEST_NAME]) if isinstance(finish, str) and finish else "stop",
        refusal=storable(hide(refusal)) if isinstance(refusal, str) and refusal else None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        served_model=storable(hide(named)[:LONGEST_NAME]) if isinstance(named, str) else None,
    )


def read(text: str, shape: type[AnyShape]) -> AnyShape:
    """The one JSON object that the text is, checked strictly against the shape.

    A leading <think> block of reasoning models and one fence around the whole are taken off; prose is not. NaN,
    infinities, repeated keys, numbers for words, words for numbers and booleans for either are refused.
    Raises MalformedError.
    """
    inner = without_thought(text).strip()
    fence = _FENCE.fullmatch(inner)
    inner = fence["inside"].strip() if fence else inner
    if not inner:
        raise MalformedError(Reason("the reply is empty"))
    if len(inner) > MAX_CHARACTERS:
        raise MalformedError(Reason("the reply has more than {count} characters", count=MAX_CHARACTERS))
    try:
        found = _DECODER.decode(inner)
        _shallow(found)
    except MalformedError:
        raise
    except RecursionError:
        raise MalformedError(Reason("the reply is nested more than {count} deep", count=MAX_DEPTH)) from None
    except ValueError as error:
        raise MalformedError(Reason("the reply is not one JSON object: {said}", said=str(error))) from None
    if not isinstance(found, dict):
        raise MalformedError(Reason("the reply is not a JSON object"))
    try:
        return shape.model_validate_json(inner, strict=True)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}" for fault in error.errors()[:5]]
        raise MalformedError("; ".join(faults)) from None


def without_thought(text: str) -> str:
    """A reply without the block `<think>…</think>` that a reasoning model puts in front of it."""
    bare = text.lstrip()
    _, end, rest = bare.partition("</think>") if bare.startswith("<think>") else ("", "", "")
    return rest if end else text


def _text_of(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and len(calls) == 1 and isinstance(calls[0], dict):
        function = calls[0].get("function")
        if isinstance(function, dict) and isinstance(function.get("arguments"), str):
            return str(function["arguments"])
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def storable(text: str) -> str:
    """Without what no database stores: the null character, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def _no_constant(name: str) -> float:
    raise MalformedError(Reason("{name} is not a JSON number", name=name))


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refused(digits)


def _bounded(digits: str) -> int:
    value = int(digits) if len(digits) <= len(str(LARGEST_INTEGER)) + 1 else LARGEST_INTEGER
    return value if abs(value) < LARGEST_INTEGER else _refused(digits)


def _refused(digits: str) -> NoReturn:
    raise MalformedError(Reason("{said} is too large a number", said=digits[:20]))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedError(Reason("a key stands twice in one object"))
    return found


def _shallow(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise MalformedError(Reason("the reply is nested more than {count} deep", count=MAX_DEPTH))
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            _shallow(child, depth + 1)


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded, object_pairs_hook=_once
)
