"""One event loop in a thread of its own, so that a notebook cell, a script and the command line all call the same way.

A cell runs inside a loop already; starting a second one there is an error, and patching the first one breaks other
libraries. Here the work happens beside it. Who has to wait for an answer on the loop itself, as an embedder between
two measurements, waits for another loop, which has another name.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import gc
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

Result = TypeVar("Result")
USUAL = "ragbench"
BESIDE = "ragbench-beside"
"""For who waits on the usual loop for what is asked there too, and would wait for ever."""
STOP_SECONDS = 1.5

OBJECTS = 20_000
_guard = threading.Lock()
_loops: dict[str, asyncio.AbstractEventLoop] = {}


def background_loop(name: str = USUAL) -> asyncio.AbstractEventLoop:
    """The loop of that name in this process; started at the first call."""
    with _guard:
        loop = _loops.get(name)
        if loop is None or loop.is_closed():
            # of this kind on every system: on the usual one of Windows no database driver can wait
            loop = _loops[name] = asyncio.SelectorEventLoop()
            threading.Thread(target=loop.run_forever, name=name, daemon=True).start()
            atexit.register(loop.call_soon_threadsafe, loop.stop)
    return loop


def free_loop() -> str:
    """The name of the loop that this thread may wait for: the usual one, where all who ask one provider wait in one
    line, unless it is this thread's own."""
    return BESIDE if threading.current_thread().name == USUAL else USUAL


def run(work: Coroutine[Any, Any, Result], name: str = USUAL) -> Result:
    """The result of a coroutine on the loop of that name, from anywhere that is not this loop itself.

    Ctrl-C (or a signal handler that raises) cancels the work, gives it STOP_SECONDS to hand received replies to the
    journal, and goes on as KeyboardInterrupt.
    """
    loop = background_loop(name)
    if threading.current_thread().name == name:
        work.close()
        raise RuntimeError("run() was called from the background loop itself: await the coroutine there")
    with _collection:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return _wait(future)
        except BaseException:
            if not future.done():
                future.cancel()
                _let_finish(loop)
            raise


async def submit(work: Coroutine[Any, Any, Result]) -> Result:
    """The same for those who are inside another event loop and want to await: `await submit(coroutine)`."""
    with _collection:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, background_loop()))


class _Collection:
    """While anybody is inside, garbage is looked for after OBJECTS new objects, not after the usual few hundred.

    All that calls in flight hold is looked at anew each time else, for nothing: a quarter of the time that they take.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._usual = gc.get_threshold()

    def __enter__(self) -> None:
        with _guard:
            if self._inside == 0:
                self._usual = gc.get_threshold()
                often, *rest = self._usual
                if often:  # else it is switched off
                    gc.set_threshold(max(OBJECTS, often), *rest)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with _guard:
            self._inside -= 1
            if self._inside == 0:
                gc.set_threshold(*self._usual)


_collection = _Collection()


def _wait(future: Future[Result]) -> Result:
    while True:  # a wait without end would not see Ctrl-C on every system
        try:
            return future.result(timeout=0.2)
        except FutureTimeoutError:
            if future.done():
                return future.result()


def _let_finish(loop: asyncio.AbstractEventLoop) -> None:
    async def rest() -> None:
        mine = asyncio.current_task()
        end = loop.time() + STOP_SECONDS
        await asyncio.sleep(0)
        while ending := [task for task in asyncio.all_tasks() if task is not mine and task.cancelling()]:
            if loop.time() >= end:
                return
            await asyncio.wait(ending, timeout=end - loop.time())

    with contextlib.suppress(FutureTimeoutError, CancelledError):
        asyncio.run_coroutine_threadsafe(rest(), loop).result(timeout=STOP_SECONDS)
