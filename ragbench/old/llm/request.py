"""One question to a model, as it is meant, and the ways in which an endpoint can be asked it, best first."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from ragbench.old.core.answered_by import SHAPE, SYSTEM

UNSENT = "unsent"
"""In a request that is kept: what of it was left out when it was sent, which is no part of what was meant."""
READER_VERSION = 1
"""Part of every key: raised when the reading of replies changes what a journaled reply means."""

_IN_WORDS = "Reply with one JSON object that follows this JSON schema, and with nothing before or after it:"
Message = tuple[str, str]
"""Role ("system", "user", "assistant") and text."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the model chooses its words; None leaves the endpoint's default."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 1024
    seed: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The parameters that are set, under the protocol's names."""
        known = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, independent of where it is asked.

    prompt, version: of the prompt that the messages were made from. shape: None asks for free text.
    repeat: 0, 1, …: the same question asked anew, independently. anew: how many runs before this one have asked it in
    vain, so that it is asked once more.
    """

    messages: tuple[Message, ...]
    prompt: str
    version: int
    shape: type[BaseModel] | None = None
    decoding: Decoding = field(default_factory=Decoding)
    repeat: int = 0
    anew: int = 0

    def as_json(self) -> dict[str, Any]:
        """The whole request as plain JSON values: what the journal keeps, and what its key is made from."""
        return {
            "messages": [{"role": role, "content": text} for role, text in self.messages],
            "prompt": self.prompt,
            "version": self.version,
            "shape": schema_of(self.shape) if self.shape is not None else None,
            "decoding": self.decoding.as_json(),
            "repeat": self.repeat,
            "reader": READER_VERSION,
            **({"anew": self.anew} if self.anew else {}),
        }

    def with_budget(self, max_tokens: int) -> Request:
        """The same request with another length limit."""
        return replace(self, decoding=replace(self.decoding, max_tokens=max_tokens))

    def followed_by(self, *messages: Message) -> Request:
        """The same request with a longer conversation."""
        return replace(self, messages=(*self.messages, *messages))


def key_of(identity: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    """The journal's key: SHA-256 over who is asked (`identity`) and what (`Request.as_json`), as hexadecimal digits."""
    meant = {name: value for name, value in request.items() if name != UNSENT}
    text = json.dumps([dict(identity), meant], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=512)
def schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """The shape's JSON schema in the strict form that endpoints ask for: closed objects, every property required."""
    schema = shape.model_json_schema()
    _close(schema)
    return schema


def in_words(shape: type[BaseModel]) -> str:
    """How a prompt asks for a reply of the shape where nothing else does."""
    return f"{_IN_WORDS}\n{json.dumps(schema_of(shape), ensure_ascii=False)}"


def _close(node: Any) -> None:
    if isinstance(node, list):
        for child in node:
            _close(child)
    if not isinstance(node, dict):
        return
    if node.get("type") == "object" and "properties" in node:
        node["additionalProperties"] = False
        node["required"] = list(node["properties"])
    for word in ("title", "default"):
        node.pop(word, None)
    for word, child in node.items():
        for inner in child.values() if word in ("properties", "$defs") else (child,):
            _close(inner)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, without the model's tokenizer: a quarter of its Latin letters, 2/5 of others.

    Good to about a third either way; used before a call for limits and plans, never in place of reported usage.
    """
    plain = len(text.encode("ascii", "ignore"))
    return 1 + round(plain / 4 + (len(text) - plain) * 0.4)


Mechanism = Literal["json_schema", "json_object", "tool", "text"]
LADDER: tuple[Mechanism, ...] = ("json_schema", "json_object", "tool", "text")
IGNORED_AFTER, LOST_AFTER = 2, 5
"""So many first replies in a row, or so many later ones, that are not of the shape say that the asking is not heard."""
_ABOUT_SHAPES = re.compile(
    r"response_format|json_object|json[ _-]?(mode|output|schema)|structured|tool_choice|tool use|\btools?\b|"
    r"function call|schema|grammar|guided|generate parser|no endpoints found",
    re.IGNORECASE,
)
_ABOUT_ROLES = re.compile(
    r"\b(system|developer)\b[^.\n]{0,20}\b(roles?|messages?|prompts?|instructions?)\b|"
    r"\broles?\b[^\n]{0,80}\b(system|alternate|user\W{1,4}or\W{1,4}assistant)\b|"
    r"\bsystem\W{0,3}\bis not one of\b",
    re.IGNORECASE,
)
_ABOUT_LENGTH = re.compile(r"context (length|window|size)|maximum context|prompt is too long", re.IGNORECASE)
"""Of this one question, whatever parameters it names besides."""
_UNFINISHED = {
    "length": re.compile(r"could not finish the message because max_tokens", re.IGNORECASE),
    "stop": re.compile(r"json_validate_failed|tool_use_failed|output_parse_failed"),
}
"""How models of OpenAI's say by HTTP 400 that they thought to the end of their tokens, and Groq that this reply was not
of the shape."""


@dataclass(frozen=True)
class Asked:
    """How a request was put, so that what is learnt from its end is learnt of this way alone.

    meant: what of it an endpoint may refuse, by its name; without: what of that was left out.
    """

    mechanism: Mechanism | None
    length_parameter: str
    meant: frozenset[str]
    without: frozenset[str]

    @property
    def unsent(self) -> str:
        """What was left out, as the journal keeps it."""
        shape = {SHAPE} if self.mechanism not in (None, LADDER[0]) else set()
        return " ".join(sorted(self.without | shape))


@dataclass
class Dialect:
    """What one endpoint and model understand, learnt from their refusals and their replies.

    mechanism: the present rung of the ladder. fixed: it was configured, and is never left. length_parameter:
    `max_tokens`, or the name by which newer models call it. without: parameters that are not sent, "system" for the
    role, and rungs that are never tried.
    """

    mechanism: Mechanism = "json_schema"
    fixed: bool = False
    length_parameter: str = "max_tokens"
    without: frozenset[str] = frozenset()
    _unheard: int = 0
    _ever_heard: bool = False

    def __post_init__(self) -> None:
        if not self.fixed and self.mechanism in self.without:
            self._step_down()

    def asked(self, request: Request) -> Asked:
        """How a request is put now."""
        meant = {*request.decoding.as_json(), *(SYSTEM for role, _ in request.messages if role == SYSTEM)}
        mechanism = None if request.shape is None else self.mechanism
        return Asked(mechanism, self.length_parameter, frozenset(meant), self.without & meant)

    def body(self, model: str, request: Request) -> dict[str, Any]:
        """The chat-completions request as JSON values."""
        messages = [{"role": role, "content": text} for role, text in request.messages]
        if SYSTEM in self.without:
            messages = _without_system(messages)
        known = request.decoding.as_json()
        decoding = {name: value for name, value in known.items() if name not in self.without}
        if self.length_parameter != "max_tokens" and "max_tokens" in decoding:
            decoding[self.length_parameter] = decoding.pop("max_tokens")
        body: dict[str, Any] = {"model": model, "messages": messages, **decoding}
        if request.shape is None:
            return body
        schema = schema_of(request.shape)
        name = re.sub(r"[^A-Za-z0-9_-]", "_", request.shape.__name__)[:64]
        if self.mechanism == "json_schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "strict": True, "schema": schema},
            }
        elif self.mechanism == "tool":
            body["tools"] = [{"type": "function", "function": {"name": name, "strict": True, "parameters": schema}}]
            body["tool_choice"] = {"type": "function", "function": {"name": name}}
        else:
            if self.mechanism == "json_object":
                body["response_format"] = {"type": "json_object"}
            messages[0] = {**messages[0], "content": f"{messages[0]['content']}\n\n{in_words(request.shape)}"}
        return body

    def learn(self, reason: str, asked: Asked) -> bool:
        """Leave out, rename or step down after a refusal that names what it refuses; whether a second try makes sense.

        asked: how the refused request was put; another call may have learnt the same meanwhile.
        """
        if _ABOUT_LENGTH.search(reason):
            return False
        sent = asked.meant - asked.without
        if asked.length_parameter == "max_tokens" and "max_tokens" in sent and "max_completion_tokens" in reason:
            self.length_parameter = "max_completion_tokens"
            return True
        named = [name for name in sent - {SYSTEM} if _names(reason, name, asked)]
        if not named and SYSTEM in sent and _ABOUT_ROLES.search(reason):
            named = [SYSTEM]
        if named:
            self.without |= frozenset(named)
            return True
        if asked.mechanism is None or not _ABOUT_SHAPES.search(reason) or self.fixed:
            return False
        return asked.mechanism != self.mechanism or self._step_down()

    def heard(self, asked: Asked, is_readable: bool) -> None:
        """Learn of a first reply whether the asking is heard: some endpoints take a schema and ignore it."""
        if asked.mechanism != self.mechanism or self.fixed:
            return
        self._unheard = 0 if is_readable else self._unheard + 1
        self._ever_heard = self._ever_heard or is_readable
        if self._unheard >= (LOST_AFTER if self._ever_heard else IGNORED_AFTER):
            self._step_down()

    def _step_down(self) -> bool:
        lower = [rung for rung in LADDER[LADDER.index(self.mechanism) + 1 :] if rung not in self.without]
        if not lower:
            return False
        self.mechanism, self._unheard, self._ever_heard = lower[0], 0, False
        return True


def finish_in(reason: str) -> str | None:
    """How the reply ended that a refusal tells of: "length", or "stop" where it was not of the shape; None of none."""
    return next((finish for finish, told in _UNFINISHED.items() if told.search(reason)), None)


def _names(reason: str, parameter: str, asked: Asked) -> bool:
    named = asked.length_parameter if parameter == "max_tokens" else parameter
    return re.search(rf"(?<![A-Za-z_]){named}(?![A-Za-z_])", reason) is not None


def _without_system(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The same said by the user: rules before the first question."""
    rules = [message["content"] for message in messages if message["role"] == "system"]
    others = [dict(message) for message in messages if message["role"] != "system"]
    if not others:
        return [{"role": "user", "content": "\n\n".join(rules)}]
    others[0]["content"] = "\n\n".join((*rules, others[0]["content"]))
    return others
