"""From the body of a response to a checked value, or to a reason. What is not clear is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from pydantic import ValidationError

from ragbench.core.errors import Unmeasured
from ragbench.core.secrets import shorten
from ragbench.llm.errors import Fault, UnusableReplyError, read_refusal
from ragbench.llm.types import Shape

MOST_CHARACTERS = 1_000_000  # far above any reply; whoever writes one may be hostile
MOST_TOKENS = 10**8  # of one call: what reports more is not believed
# What models put around their thinking; gpt-oss has channels instead.
END_OF_THOUGHT = re.compile(
    r"</(?:think|thinking|thought|reasoning|reflection)>|\[/think\]|◁/think▷|"
    r"<\|channel\|>final[^{]{0,40}<\|message\|>|assistantfinal",
    re.IGNORECASE,
)
THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning|reflection)>|\[think\]", re.IGNORECASE)
# How providers call a reply that a filter ended: OpenAI, Gemini, GigaChat, Anthropic, Z.ai.
FILTERED = re.compile(
    r"content_filter.*|refusal|blacklist|safety|recitation|prohibited_content|sensitive",
    re.IGNORECASE,
)
CUT = re.compile(r"length|max_tokens|model_length|.*context_window_exceeded", re.IGNORECASE)
SPOKEN = ("text", "output_text")  # parts of a reply that are no thoughts
# Somebody failed in the middle of a reply: OpenRouter, DeepSeek, Z.ai.
BROKEN = ("error", "insufficient_system_resource", "network_error")


@dataclass(frozen=True)
class Completion:
    """A reply of chat completions. tokens_in, tokens_out: None where the endpoint does not say."""

    text: str
    finish: str
    tokens_in: int | None
    tokens_out: int | None


def read_body(content: bytes, kind: str) -> dict[str, Any]:
    """Return the JSON object that a response is.

    kind: its content type. Raises Fault for anything else.
    """
    # Some proxies send a byte-order mark.
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if kind.startswith("text/event-stream") or text.startswith("data:"):
        raise Fault("the endpoint streams, though not asked to; switch its streaming off")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        # What begins as JSON was cut on its way; a page of HTML stays one.
        is_cut = text.lstrip().startswith("{")
        begin = shorten(text[:400], 80)
        reason = f"the response is no JSON, it begins with {begin!r}; look at base_url"
        raise Fault(reason, kind="passes" if is_cut else "alone") from None
    if not isinstance(body, dict):
        raise Fault(f"the response is no JSON object: {shorten(text[:400], 80)}")
    return body


def check_no_error(body: Mapping[str, Any]) -> None:
    """Refuse a good response that holds an error, by the status that it would have had."""
    error = body.get("error")
    if not error or body.get("choices"):
        return
    code = error.get("code") if isinstance(error, dict) else None
    status = code if type(code) is int and 400 <= code < 600 else 400
    raise read_refusal(status, {}, json.dumps(body))


def read_completion(body: Mapping[str, Any]) -> Completion:
    """Return the reply that a body holds.

    Raises Fault for what is no chat completion and where somebody failed in the middle,
    UnusableReplyError where nothing was said.
    """
    try:
        choice = (body["choices"] or [{}])[0]
        message = choice.get("message") or {}
        text = storable(text_of(message))
    except (AttributeError, KeyError, TypeError):
        raise Fault(name_other_interface(body)) from None
    finish = str(choice.get("finish_reason") or "stop")[:80]
    if finish in BROKEN or choice.get("error"):
        raise Fault(f"the reply broke off: {shorten(choice.get('error') or finish)}", kind="passes")
    if not text.strip() or FILTERED.fullmatch(finish):
        raise explain_silence(message, finish)
    usage = body.get("usage")
    tokens = [_read_count(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    return Completion(text, "length" if CUT.fullmatch(finish) else "stop", *tokens)


def text_of(message: Mapping[str, Any]) -> str:
    """Return what a message says, in any of the forms in which servers say it."""
    content = message.get("content")
    if not content and message.get("tool_calls"):
        # Servers without response_format may answer by a tool call with the same object.
        content = message["tool_calls"][0]["function"]["arguments"]
    if isinstance(content, list):
        spoken = [part for part in content if part.get("type", "text") in SPOKEN]
        return "".join(str(part.get("text") or "") for part in spoken)
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)  # some proxies parse the reply
    return content if isinstance(content, str) else ""


def read_vectors(body: Mapping[str, Any], count: int) -> np.ndarray:
    """Return (count, width) float32 vectors in the order of the texts.

    Raises Unmeasured for another number of vectors, of several widths, or that are no numbers.
    """
    try:
        rows = body["data"]
        # Each vector says of which text it is, whatever their order.
        places = [row.get("index", place) for place, row in enumerate(rows)]
        array = np.array([row["embedding"] for row in rows], dtype=np.float32)
        array = array[np.argsort(places)]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise Unmeasured("parse_error", f"the endpoint's vectors cannot be read: {error}") from None
    if array.ndim != 2 or sorted(places) != list(range(count)):
        raise Unmeasured("parse_error", f"the endpoint gave {len(rows)} vectors for {count} texts")
    return array


def explain_silence(message: Mapping[str, Any], finish: str) -> UnusableReplyError:
    """Say why a message holds nothing."""
    if message.get("refusal"):
        refusal = shorten(message["refusal"], 200)
        return UnusableReplyError(f"the model refused: {refusal}", "refused")
    if FILTERED.fullmatch(finish):
        return UnusableReplyError(f"a filter of the provider ended the reply ({finish})", "refused")
    if CUT.fullmatch(finish):
        return UnusableReplyError(
            "the limit of tokens was reached before anything was said; raise max_tokens",
            "truncated",
        )
    # What a model thinks is no reply: it may hold drafts of a verdict.
    if message.get("reasoning_content") or message.get("reasoning"):
        return UnusableReplyError("the model only thought; switch its thinking off")
    return UnusableReplyError(f"the reply is empty (finish_reason: {finish})")


def name_other_interface(body: Mapping[str, Any]) -> str:
    """Say what a body is that is no reply of chat completions."""
    if "done" in body and ("message" in body or "response" in body):
        return "this is Ollama's own interface; set base_url to its other one: http://HOST:11434/v1"
    begin = shorten(json.dumps(body, ensure_ascii=False), 120)
    return f"this is no reply of chat completions: {begin}"


def read_reply(text: str, shape: type[Shape]) -> Shape:
    """Return the one object of a shape that a reply holds.

    What a model thinks first, fences and prose around the object are passed over. Numbers are
    taken as they are written: NaN, infinity, and true for 1 are refused. Raises
    UnusableReplyError where there is no object, are several, or the values are not the shape's.
    """
    if len(text) > MOST_CHARACTERS:
        raise UnusableReplyError(f"the reply has more than {MOST_CHARACTERS} characters")
    if not text.lstrip().startswith("{"):
        ends = [found.end() for found in END_OF_THOUGHT.finditer(text)]
        text = text[ends[-1] :] if ends else text
        if THOUGHT.search(text):
            raise UnusableReplyError("the reply ends within the model's thoughts")
    objects = find_objects(text)
    if len(objects) > 1:
        # An example may be quoted before the verdict, or a correction follow it.
        raise UnusableReplyError(f"the reply holds {len(objects)} JSON objects instead of one")
    if not objects:
        raise UnusableReplyError("the reply holds no JSON object")
    try:
        plain = json.dumps(objects[0], allow_nan=False)
        return shape.model_validate_json(plain, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UnusableReplyError(f"{place or 'reply'}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise UnusableReplyError("the reply holds a number that is none") from None


def find_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects that stand in a text, the outermost ones.

    What looks like an object and is broken is not searched for a part that happens to be whole.
    """
    objects = []
    start = text.find("{")
    while start >= 0:
        try:
            value, end = DECODER.raw_decode(text, start)
        except RecursionError:
            raise UnusableReplyError("the reply is nested too deeply") from None
        except ValueError as error:
            raise UnusableReplyError(f"the reply is broken JSON: {error}") from None
        objects.append(value)
        start = text.find("{", end)
    return objects


def storable(text: str) -> str:
    """Return a text without what no database stores: zeros, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _read_count(usage: Any, name: str) -> int | None:
    """Return a number of tokens; None where there is none."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise UnusableReplyError("the reply says one key twice")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise UnusableReplyError(f"the reply holds {name}, which is no number")


# strict=False lets line breaks stand within a text, as small models write them.
DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_repeats, parse_constant=_refuse_constant, strict=False
)
