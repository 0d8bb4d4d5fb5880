"""One question to a model, as it is meant: messages, shape and decoding, free of any endpoint's ways."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

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
