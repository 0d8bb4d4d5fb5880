"""Clients for tests: opened at a test server, asked many texts at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ragbench.llm import (
    Client,
    Completion,
    Decoding,
)
from tests.chat_server import ChatServer
from tests.llm_shapes import Rating, request, settings


@asynccontextmanager
async def open_client(server: ChatServer | str, name: str = "a", **more: Any) -> AsyncIterator[Client]:
    own = {key: more.pop(key) for key in ("journal", "budget", "tally", "providers") if key in more}
    client = Client(name, settings(server, **more), **own)
    try:
        yield client
    finally:
        await client.close()


def ask(server: ChatServer | str, texts: list[str], **more: Any) -> list[Completion]:
    """Complete one request a text, all at once."""
    shape, decoding = more.pop("shape", Rating), Decoding(max_tokens=more.pop("max_tokens", 1024))

    async def work() -> list[Completion]:
        async with open_client(server, **more) as client:
            return await asyncio.gather(*(client.complete(request(text, shape, decoding=decoding)) for text in texts))

    return asyncio.run(work())


def scripted(*contents: Any, **more: Any) -> ChatServer:
    """A server that gives these contents in turn, the last one for ever."""
    left = list(contents)
    return ChatServer(answer=lambda body: left.pop(0) if len(left) > 1 else left[0], **more)
