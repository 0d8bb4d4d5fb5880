"""From bytes to a checked value, or to nothing: no reply is ever bent into a score."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types.reason import Reason, clause
from ragbench.old.llm.errors import Fault
from ragbench.old.llm.request import Asked

AnyShape = TypeVar("AnyShape", bound=BaseModel)
MAX_CHARACTERS = 1_000_000  # far above any answer, and parsed in a moment: who writes a reply may be hostile
MAX_DEPTH = 60  # far below the 1,000 calls that end a recursion of Python
LONGEST_NAME = 200  # of what an endpoint calls itself, which is kept with each reply
MOST_TOKENS = 10**8
"""Of one call: ten times the longest context that there is. What reports more is not believed."""
MOST_FENCES = 20
"""Of a reply, that are looked into."""
LARGEST_INTEGER = 2**63
"""From it on, either way of 0, no database has a whole number."""
_FENCE = re.compile(r"(?:```|~~~)(?:json[c5l]?)?\s*(?=\{)", re.IGNORECASE)
_FENCED = re.compile(r"\s*(?:```|~~~|\Z)")
_THOUGHT = re.compile(
    r"[<\[◁](?P<end>/|\|end_of_)?(?:\||\|begin_of_|\w+:)?(?:think|thinking|thought|reasoning|reflection)\|?[>\]▷]",
    re.IGNORECASE,
)
"""What models put around their thinking, or behind it, where the mark before it stands in the prompt."""
_MARKED = re.compile(r"<\|?[\w:]+\|?>\s*(\{.*\})\s*<[/|][\w:]+\|?>", re.DOTALL)
"""An object between two marks: <answer>…</answer>."""
_FINAL = re.compile(
    r"<\|channel\|>\s*final\s*(?:<\|constrain\|>\s*\w+\s*)?<\|message\|>|\A(?:analysis|commentary).*?assistantfinal",
    re.DOTALL,
)
"""Where the answer begins in a reply of channels, with its marks or without them."""
_ENDS = {
    "length": "length|max_tokens|model_length|model_context_window_exceeded",
    "content_filter": "content_filter.*|refusal|blacklist|blocklist|safety|recitation|prohibited_content|spii|"
    "sensitive",
    "broken": "error|insufficient_system_resource|network_error",
}
"""How providers call the three ways in which a reply ends early: OpenAI's own names, and those of Mistral, Anthropic,
GigaChat, Gemini, Z.ai, OpenRouter and DeepSeek."""
_SPOKEN = ("text", "output_text")
"""How parts of a reply are called that are no thought."""
_NO_SUCH_PATH = re.compile(r"unexpected endpoint", re.IGNORECASE)
"""LM Studio's word, in a good response, for an address without its /v1."""
_END = re.compile(r"<\|(?:return|end|call)\|>.*", re.DOTALL)
_ENDED = re.compile(r"(?:<\|?(?:im_end|eot_id|eom_id|endoftext|end_of_turn|end_of_text|eos)\|?>|</s>)\Z")
"""The mark of a template behind a reply."""


class MalformedError(ValueError):
    """A reply that is not of its shape; the message says why, in words that a model can act on."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the endpoint said, as far as the protocol goes.

    finish: "stop", "length", "content_filter" or what else the endpoint says; refusal: its own field, if filled.
    input_tokens, output_tokens: as reported; None where the endpoint does not report usage. served_model: the name of
    the model that answered, as the endpoint gives it. asked: how it was asked for, for the endpoint to learn from.
    """

    text: str
    finish: str
    refusal: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    served_model: str | None = None
    asked: Asked | None = None


Refusal = Callable[[int, Mapping[str, str], bytes], Fault]


def parse_envelope(body: bytes, hide: Callable[[str], str] = str, refusal: Refusal | None = None) -> Reply:
    """The chat completion in a response's body. hide: masks what was sent back and must not be kept. refusal: what an
    error means that stands inside with the status that it would have had.

    Raises Fault ("server") for anything that is not one: HTML, half a JSON document, no choices, an error inside.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        begun = excerpt(hide(body[:2000].decode("utf-8", "replace")), 60)
        told = Reason("the response is not JSON, it begins with {said}; look at `base_url`", said=begun)
        is_cut = body.lstrip().startswith(b"{")
        raise Fault("server", told, otherwise="server" if is_cut else "fatal") from None
    if not isinstance(document, dict):
        raise Fault("server", Reason("the response is not a JSON object"))
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, dict):
        _refuse(document, hide, refusal)
        held = clause(excerpt(hide(json.dumps(document, ensure_ascii=False)), 200))
        raise Fault("server", Reason("the response has no choices: {said}", said=held))
    _refuse({"error": document.get("error") or first.get("error")}, hide, refusal)
    message = first.get("message")
    if not isinstance(message, dict):
        raise Fault("server", Reason("the response has no message"))
    usage = document.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    refusal, named, finish = message.get("refusal"), document.get("model"), _finish(first.get("finish_reason"))
    if finish == "broken":
        raise Fault("server", Reason("the reply broke off: {said}", said=hide(str(first["finish_reason"]))))
    return Reply(
        text=storable(hide(_text_of(message))),
        finish=storable(hide(finish)[:LONGEST_NAME]),
        refusal=storable(hide(refusal)) if isinstance(refusal, str) and refusal else None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        served_model=storable(hide(named)[:LONGEST_NAME]) if isinstance(named, str) else None,
    )


def refuse_error(content: bytes, hide: Callable[[str], str], refusal: Refusal) -> None:
    """Raises Fault where a response of a good status holds an error, with the status that it would have had."""
    with suppress(ValueError, RecursionError):
        if isinstance(document := json.loads(content), dict):
            _refuse(document, hide, refusal)


def _refuse(document: Mapping[str, Any], hide: Callable[[str], str], refusal: Refusal | None) -> None:
    error = document.get("error") or ("message" in document and document)
    if not error:
        return
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    said = error.get("message", error) if isinstance(error, dict) else error
    said = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    status = 404 if _NO_SUCH_PATH.search(said) else _status(code)
    if refusal is not None and status is not None:
        raise refusal(status, {}, json.dumps({"error": error}).encode())
    told = Reason("the response reports an error: {said}", said=clause(hide(said)[:300]))
    raise Fault("mechanism", told, otherwise="server")


def read(text: str, shape: type[AnyShape]) -> AnyShape:
    """The one JSON object that the text is, checked strictly against the shape.

    What stands about it goes: what a reasoning model thinks first, marks of channels or of an answer, and a fence, also
    one in prose if it is the only one; bare prose does not. A word of a list may be written in capitals and end like a
    sentence. NaN, infinities, repeated keys, numbers for words, words for numbers and booleans for either are refused.
    Raises MalformedError.
    """
    inner = _ENDED.sub("", text.rstrip()).strip("\ufeff\u200b \t\r\n\xa0")
    if len(inner) > MAX_CHARACTERS:
        raise MalformedError(Reason("the reply has more than {count} characters", count=MAX_CHARACTERS))
    if not inner.startswith("{"):
        inner = without_thought(inner).strip()
        if (marked := _MARKED.fullmatch(inner)) is not None:
            inner = marked[1]
        inner = inner if inner.startswith("{") else _fenced(inner)
    if not inner:
        raise MalformedError(Reason("the reply is empty"))
    try:
        decoded = _DECODER.decode(inner)
        _shallow(decoded)
    except MalformedError:
        raise
    except RecursionError:
        raise MalformedError(Reason("the reply is nested more than {count} deep", count=MAX_DEPTH)) from None
    except ValueError as error:
        raise MalformedError(Reason("the reply is not one JSON object: {said}", said=str(error))) from None
    if not isinstance(decoded, dict):
        raise MalformedError(Reason("the reply is not a JSON object"))
    try:
        return shape.model_validate_json(inner, strict=True)
    except ValidationError as error:
        known = error
    if _spelled(decoded, known):
        try:
            return shape.model_validate_json(json.dumps(decoded), strict=True)
        except ValidationError as error:
            known = error
    faults = [f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}" for fault in known.errors()[:5]]
    raise MalformedError("; ".join(faults))


def without_thought(text: str) -> str:
    """A reply without what a reasoning model thinks in front of it: `<think>…</think>` and its like, or all before a
    lone `</think>`; of a reply of channels the final one."""
    if (final := _FINAL.search(text)) is not None:
        return _END.sub("", text[final.end() :])
    bare = text.lstrip()
    opening = _THOUGHT.match(bare)
    first = opening or _THOUGHT.search(bare)
    if first is None or (opening is None and (not first["end"] or bare.startswith(("{", "```")))):
        return text  # no mark, one that has its answer in front of it, or one within the answer
    end, is_open = 0, True
    for mark in _THOUGHT.finditer(bare):
        if not is_open and bare[end : mark.start()].strip():
            break  # else another thought follows at once
        is_open = not mark["end"]
        end = end if is_open else mark.end()
    return bare[end:] if end else text


def _fenced(text: str) -> str:
    """What stands in a text's fences that hold an object; the text itself where there is none, or several objects."""
    fenced, at = [], 0
    for _ in range(MOST_FENCES):
        if (fence := _FENCE.search(text, at)) is None:
            break
        at = fence.end()
        try:
            _, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if _FENCED.match(text, end):
            fenced.append(text[at:end])
            at = end
    return fenced[0] if len({*fenced}) == 1 else text


def _spelled(decoded: dict[str, Any], error: ValidationError) -> bool:
    """Write words of a list as the list has them, where that is all that is wrong: "Yes." for "yes"."""
    for fault in error.errors():
        words = re.findall("'([^']*)'", str(fault.get("ctx", {}).get("expected", "")))
        given = fault["input"]
        plain = given.strip(" .!*\n").casefold() if isinstance(given, str) else None
        meant = [word for word in words if word.casefold() == plain]
        if fault["type"] not in ("literal_error", "enum") or len(meant) != 1:
            return False
        *path, last = fault["loc"]
        try:
            place: Any = decoded
            for step in path:
                place = place[step]
            place[last] = meant[0]
        except (KeyError, IndexError, TypeError):  # the place of a union's branch is none of the reply
            return False
    return True


def _finish(reason: Any) -> str:
    """Why a reply ended, by OpenAI's names; "broken" where somebody failed in the middle of it."""
    if not isinstance(reason, str) or reason in ("", "stop"):
        return "stop"
    return next((name for name, known in _ENDS.items() if re.fullmatch(known, reason, re.IGNORECASE)), reason)


def _status(code: Any) -> int | None:
    """The HTTP status that the code of an error is, None for any other code."""
    digits = str(code)
    return int(digits) if re.fullmatch(r"[45]\d\d", digits) else None


def _text_of(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and len(calls) == 1 and isinstance(calls[0], dict):
        function = calls[0].get("function")
        if isinstance(function, dict) and isinstance(function.get("arguments"), str | dict):
            message = {"content": function["arguments"]}
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type", "text") in _SPOKEN]
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, dict):  # of servers that have read the JSON already
        return json.dumps(content, ensure_ascii=False)
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
    decoded = dict(pairs)
    if len(decoded) < len(pairs):
        raise MalformedError(Reason("a key stands twice in one object"))
    return decoded


def _shallow(value: Any, depth: int = 0) -> None:
    if depth > MAX_DEPTH:
        raise MalformedError(Reason("the reply is nested more than {count} deep", count=MAX_DEPTH))
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            _shallow(child, depth + 1)


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded, object_pairs_hook=_once
)
