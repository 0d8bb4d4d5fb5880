"""Clients for tests: opened at a test server, asked many texts at once."""

from __future__ import annotations

import asyncio
import functools
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from ragbench.old.llm import Client, Completion, Decoding
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_shapes import Rating, request, settings


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that waits, ten seconds at most."""

    @functools.wraps(test)
    def run(*given: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*given, **named), 10))

    return run


@asynccontextmanager
async def open_client(server: ChatServer | str, name: str = "a", **more: Any) -> AsyncIterator[Client]:
    own = {key: more.pop(key) for key in ("journal", "budget", "tally", "official") if key in more}
    client = Client(name, settings(server, **more), **own)
    try:
        yield client
    finally:
        await client.close()


def ask(server: ChatServer | str, texts: Iterable[str], **more: Any) -> list[Completion]:
    """Complete one request a text, all at once. more: as `open_client` takes it; `shape`, and `max_tokens` or
    `decoding`, besides."""
    shape = more.pop("shape", Rating)
    decoding = more.pop("decoding", None) or Decoding(max_tokens=more.pop("max_tokens", 1024))

    async def work() -> list[Completion]:
        async with open_client(server, **more) as client:
            return await asyncio.gather(*(client.complete(request(text, shape, decoding=decoding)) for text in texts))

    return asyncio.run(work())


def scripted(*contents: Any, **more: Any) -> ChatServer:
    """A server that gives these contents in turn, the last one for ever."""
    left = list(contents)
    return ChatServer(answer=lambda body: left.pop(0) if len(left) > 1 else left[0], **more)


def packed(size: int, name: str = "gzip") -> bytes:
    """A response of `size` blanks, packed, with the honest length of its packed form."""
    packer = zlib.compressobj(1, wbits=31 if name == "gzip" else 15)
    block = b" " * 2**20
    body = b"".join(packer.compress(block[: size - start]) for start in range(0, size, len(block))) + packer.flush()
    return f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def answering(raw: bytes | Callable[[], bytes], then: bytes = b"", times: int = 0, pause: float = 0.0) -> ChatServer:
    """A server that answers these bytes to everything, and so many more parts after them, with pauses between.

    raw: also a function that makes them, where that takes its time.
    """
    server = ChatServer()
    made = functools.cache(raw if callable(raw) else lambda: raw)

    async def send(writer: Any, fault: str, body: dict[str, Any]) -> bool:
        writer.write(made())
        for _ in range(times):
            writer.write(then)
            await writer.drain()
            await asyncio.sleep(pause)
        return True

    server._decide = lambda path, raw, body: ("500", 200, None)  # type: ignore[method-assign]
    server._break = send  # type: ignore[method-assign]
    return server


def in_time(took: float, limit: float) -> bool:
    """Whether this limit ended the waiting, and none of the others, which are half a minute away or further: between
    them is room for a machine that stands still for seconds."""
    return took < limit + 20
