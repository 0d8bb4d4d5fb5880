"""Calling users' code: once more where a connection failed, coroutines too, errors in one line."""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.secrets import mask
from ragbench.llm import StopError
from ragbench.store.engine import went_away

LONGEST_ERROR = 300  # characters


@dataclass(frozen=True)
class Outcome:
    """What came of a call: a value, or in one line why there is none."""

    value: Any = None
    latency_ms: float = math.nan
    error: str = ""


def attempt(function: Callable[..., Any], *arguments: Any, read: Any = None) -> Outcome:
    """Call a function and await its coroutine; once more where it was the connection that failed.

    read: makes the value of what it returns; its errors are errors of the call. StopError alone is
    raised: it ends the run.
    """
    for is_last in (False, True):
        began = time.perf_counter()
        try:
            value = function(*arguments)
            if inspect.isawaitable(value):
                value = asyncio.run_coroutine_threadsafe(wait_for(value), open_loop()).result()
            latency_ms = (time.perf_counter() - began) * 1000
            return Outcome(value if read is None else read(value), latency_ms)
        except StopError:
            raise
        except Exception as error:  # whatever users' code raises
            if is_last or not is_connection_error(error):
                return Outcome(error=say_error(error))
    raise AssertionError("the second call is the last one")


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
    return went_away(error) or any("Connect" in name or "Timeout" in name for name in names)


def read_text(value: Any) -> str:
    """Return a text, or that of a message. Raises BenchError for anything else."""
    text = getattr(value, "content", value)
    if not isinstance(text, str) or not text.strip():
        raise BenchError(f"it returned {type(value).__name__}; a text is expected")
    return text


def say_error(error: Exception) -> str:
    """Write an error in one line, without secrets."""
    kind = "" if isinstance(error, BenchError) else f"{type(error).__name__}: "
    return mask(kind + " ".join(str(error).split()))[:LONGEST_ERROR]
