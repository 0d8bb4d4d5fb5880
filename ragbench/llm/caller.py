"""One endpoint that is asked for what no journal keeps, vectors and the scores of rerankers, in its provider's line."""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from ragbench.core.settings import EmbedderSettings, RerankerSettings
from ragbench.llm import planning
from ragbench.llm.limiter import line_of
from ragbench.llm.transport import MAX_BYTES, Transport, load, own_client, patiently

Post = Callable[[Transport, float], Awaitable[bytes]]
"""Sends one call within so many seconds; the body of a good response."""


class Caller:
    """Keeps the connections of one endpoint, on each loop that it is used on, as long as it lives itself.

    who: how messages name it. max_bytes: of a response.
    """

    def __init__(
        self,
        who: str,
        settings: EmbedderSettings | RerankerSettings,
        key: SecretStr | None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._who, self._settings, self._key, self._max_bytes = who, settings, key, max_bytes
        if planning.folder() is None:  # at once: loading it is no part of the first question's latency
            load()
        self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, Transport] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """Connections stay in their process."""
        return Caller, (self._who, self._settings, self._key, self._max_bytes)

    async def post(self, post: Post, tokens: float = 0.0) -> bytes:
        """What a call gives, tried within the settings' attempts and patience (waiting in line does not count).

        tokens: that it reads, about. Raises the last Fault.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._transports:
            own = own_client(self._who, self._settings)
            made = Transport(self._settings, self._key, self._settings.concurrency, self._max_bytes, client=own)
            self._transports[loop] = made
            _close_with(self, made)
        transport = self._transports[loop]
        return await patiently(self._settings, lambda seconds: self._attempt(transport, post, tokens, seconds))

    async def _attempt(self, transport: Transport, post: Post, tokens: float, seconds: float) -> bytes:
        line = line_of(self._settings, None)
        ticket = await line.acquire(tokens)
        with line.leaving(ticket, self._settings.patience_seconds):
            content = await post(transport, seconds)
        line.succeeded(ticket, tokens)
        return content


def _close_with(owner: object, transport: Transport) -> None:
    """Let the connections go when their owner goes, or the process: aiohttp complains of those that nobody closed."""

    loop = asyncio.get_running_loop()

    def close(seconds: float = 0.0) -> None:
        if loop.is_running():
            ended = asyncio.run_coroutine_threadsafe(transport.close(), loop)
            if seconds:
                ended.result(seconds)

    owned = weakref.finalize(owner, close)
    owned.atexit = False  # those run when the loop has stopped already
    atexit.register(lambda: close(1.0) if owned.detach() else None)
