"""What an answer and a dialogue consist of: places that cite passages, messages, and calls of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that a part of a response names as its source: where that part stands, in characters of the response
    (`end` is not of it), and what it names, the id of a context or its number from 1."""

    start: int
    end: int
    passage: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that an agent called, or should: arguments by name, None where `written` holds no object of them."""

    name: str
    arguments: Mapping[str, Any] | None
    written: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said to an agent, the agent, or a tool: the role, the text, and calls that it makes."""

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
