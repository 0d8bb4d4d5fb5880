"""What tests of the client share: a shape, questions, and one call that asks them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from ragbench.core.settings import Budget, Model
from ragbench.core.types import Rating
from ragbench.llm import Client, Reply, Request, Spending, resolve
from tests.llm.chat_server import Server


class Verdict(BaseModel):
    """A shape of replies, as a judge has it."""

    reason: str
    rating: Rating = Field(ge=1, le=5)


def question(number: int, system: bool = False, **more: Any) -> Request[Verdict]:
    messages = [{"role": "user", "content": f"Question {number}?"}]
    if system:
        messages.insert(0, {"role": "system", "content": "Judge."})
    return Request(messages, Verdict, **more)


def make_client(
    server: Server | str,
    journal: Path | str | None = None,
    budget: Budget | None = None,
    **table: Any,
) -> Client:
    own = {name: table.pop(name) for name in ("openai_client", "function", "name") if name in table}
    url = server if isinstance(server, str) else server.url
    model = resolve("judges.j", Model(**{"base_url": url, "model": "m", **table}), {})
    return Client(model, journal, spending=Spending(budget or Budget()), **own)


def ask(
    server: Server | str,
    count: int = 1,
    journal: Path | str | None = None,
    requests: list[Request[Any]] | None = None,
    **table: Any,
) -> list[Reply[Verdict]]:
    """Ask the first questions, all at once, by a new client."""
    asked = requests if requests is not None else [question(number) for number in range(count)]

    async def run() -> list[Reply[Verdict]]:
        async with make_client(server, journal, **table) as client:
            tasks = [client.ask(request) for request in asked]
            replies = await asyncio.gather(*tasks, return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
        return replies  # type: ignore[return-value]

    return asyncio.run(run())
