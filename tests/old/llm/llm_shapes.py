"""Shapes, requests and settings that the tests of models share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from ragbench.old.core.settings import JudgeSettings
from ragbench.old.llm import Request
from tests.old.llm.chat_server import ChatServer


class Rating(BaseModel):
    """A score from 1 to 5."""

    score: int = Field(ge=1, le=5)
    reason: str = ""


class Grade(BaseModel):
    """A share."""

    grade: float = Field(ge=0, le=1)


class Unbounded(BaseModel):
    """A number without ends."""

    value: float


def settings(server: ChatServer | str, **more: Any) -> JudgeSettings:
    """A judge at the test server, impatient."""
    url = server if isinstance(server, str) else server.url
    return JudgeSettings(**{"base_url": url, "model": "tester", "concurrency": 16, "timeout_seconds": 5.0, **more})


def request(text: str = "one", shape: type[BaseModel] | None = Rating, **more: Any) -> Request:
    """A question about a text."""
    return Request((("system", "Judge."), ("user", text)), "test", 1, shape, **more)
