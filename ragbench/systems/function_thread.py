"""The thread that users' own functions run in, left behind with what hangs in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from itertools import count
from queue import SimpleQueue
from typing import Any, ClassVar, TypeVar

Result = TypeVar("Result")
GRACE_SECONDS = 0.5
"""More than its limit that a call gets, so that a coroutine that is cancelled at the limit can say so."""


class OutOfTimeError(Exception):
    """A function has not answered within its time."""


class Hands:
    """One thread and the name of one event loop, for all functions of a process: what a module opened when it was
    imported (a connection of SQLite, say) is for the thread that opened it.

    A notebook's cell runs inside a loop, and a judge is asked on another: a user's coroutine needs one of its own.
    """

    _numbers: ClassVar = count()
    _guard: ClassVar = threading.Lock()
    _shared: ClassVar[Hands | None] = None

    def __init__(self) -> None:
        self.loop = f"ragbench-callables-{next(self._numbers)}"
        self._works: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._left = False
        threading.Thread(target=self._work, name=f"{self.loop}-calls", daemon=True).start()

    @classmethod
    def shared(cls) -> Hands:
        """Those of this process; new ones where the last ones hang."""
        with cls._guard:
            if cls._shared is None or cls._shared._left:
                cls._shared = cls()
            return cls._shared

    def do(self, work: Callable[[], Result], seconds: float | None = None, over: str = "") -> Result:
        """What `work` returns or raises. Raises OutOfTimeError, which says `over`, when its time is over.

        Who is interrupted while he waits leaves the thread behind too: the next call would wait for it.
        """
        if threading.current_thread().name == f"{self.loop}-calls":  # a function that calls another
            return work()
        done: Future[Result] = Future()
        self._works.put((work, done))
        end = None if seconds is None else time.monotonic() + seconds + GRACE_SECONDS
        try:
            return self._result(done, end, over)
        except BaseException:
            self._left = self._left or not done.done()
            raise

    @staticmethod
    def _result(done: Future[Result], end: float | None, over: str) -> Result:
        while True:  # a wait without end would not see Ctrl-C on every system
            rest = 0.2 if end is None else min(0.2, end - time.monotonic())
            try:
                return done.result(timeout=max(0.0, rest))
            except FutureTimeoutError:
                if done.done():
                    return done.result()
                if end is not None and time.monotonic() >= end:
                    raise OutOfTimeError(over) from None

    def _work(self) -> None:
        while not self._left:
            work, done = self._works.get()
            try:
                outcome = work()
            except BaseException as error:  # whatever a function ends with belongs to who called it
                done.set_exception(error)
            else:
                done.set_result(outcome)
