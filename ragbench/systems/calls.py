"""Calling users' code: once more where a connection failed, coroutines too, errors in one line."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.secrets import mask

LONGEST_ERROR = 300  # characters


def call(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return what a function gives, and its milliseconds; a coroutine is awaited.

    It is called once more where it was the connection that failed. Raises what it raises.
    """
    try:
        return call_once(function, *arguments)
    except Exception as error:
        if not is_connection_error(error):
            raise
    return call_once(function, *arguments)


def call_once(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """See `call`."""
    began = time.perf_counter()
    value = function(*arguments)
    if inspect.isawaitable(value):
        value = asyncio.run_coroutine_threadsafe(wait_for(value), open_loop()).result()
    return value, (time.perf_counter() - began) * 1000


async def wait_for(work: Any) -> Any:
    """Return the result of an awaitable."""
    return await work


@cache
def open_loop() -> asyncio.AbstractEventLoop:
    """Start the one loop of users' coroutines: what they keep open belongs to one loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def is_connection_error(error: Exception) -> bool:
    """Say whether an error is of a connection, as HTTP clients and drivers call theirs."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return any("Connect" in name or "Timeout" in name for name in names)


def say_error(error: Exception) -> str:
    """Write an error in one line, without secrets."""
    kind = "" if isinstance(error, BenchError) else f"{type(error).__name__}: "
    return mask(kind + " ".join(str(error).split()))[:LONGEST_ERROR]
