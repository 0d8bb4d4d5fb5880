"""Connections and programs that wait for nothing frozen: a server that is silent is asked over another connection.

A server whose processes are stopped, or whose machine hangs, keeps its sockets open, and its own time limits do not
run. A statement that takes long is told from it by this: a server that works on one answers others.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

import psutil
import psycopg
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout

Result = TypeVar("Result")

SHARE = 0.5
"""Of the seconds that connecting may take: so long a server may be silent before it is asked."""
AGAIN_SECONDS = 5
"""To connect to a server that was silent a moment ago: a command ends by several questions to it."""
STILL_SECONDS = 30
"""So long a program of PostgreSQL's may do nothing at all before it is looked for whoever works for it."""
LOOK_SECONDS = 1.0
"""So often it is looked whether it has done something."""
_silent: set[tuple[object, object]] = set()
"""Host and port of servers that did not answer this process."""


class WatchedConnection(psycopg.Connection[Any]):
    """Raises ConnectionTimeout instead of waiting for a frozen server, and is closed then."""

    @classmethod
    def connect(cls, conninfo: str = "", **parameters: Any) -> Self:
        """As the driver's, for AGAIN_SECONDS where the server was silent before."""
        place = parameters.get("host"), parameters.get("port")
        if place in _silent:
            parameters["connect_timeout"] = min(AGAIN_SECONDS, parameters.get("connect_timeout", AGAIN_SECONDS))
        try:
            made = super().connect(conninfo, **parameters)
        except ConnectionTimeout:
            _silent.add(place)
            raise
        _silent.discard(place)
        return made

    def wait(self, gen: PQGen[Result], *arguments: Any, **options: Any) -> Result:
        return super().wait(_watched(self, gen), *arguments, **options)


class WatchedAsyncConnection(psycopg.AsyncConnection[Any]):
    """The same on an event loop, which goes on meanwhile."""

    async def wait(self, gen: PQGen[Result], *arguments: Any, **options: Any) -> Result:
        return await super().wait(_watched(self, gen), *arguments, **options)


def _patience(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> float:
    """Seconds of silence; parameters take longer to read than a short statement, so only who waits reads them."""
    return SHARE * int(connection.info.get_parameters().get("connect_timeout", 10))


def _watched(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], gen: PQGen[Result]) -> PQGen[Result]:
    """What the driver waits for, step by step; it is woken every tenth of a second."""
    heard, question = time.monotonic(), None
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                heard, question = time.monotonic(), None
            elif question is None:
                if time.monotonic() - heard > _patience(connection):
                    question = _Question(connection.info)
                    question.start()
            elif not question.is_alive():
                if question.unanswered:
                    _silent.add((connection.info.host, connection.info.port))
                    connection.pgconn.finish()
                    raise ConnectionTimeout(f"not a word for {time.monotonic() - heard:.0f} s, nor to a new connection")
                heard, question = time.monotonic(), None
            wanted = gen.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result


class _Question(threading.Thread):
    """Whether the server takes another connection, asked aside; refusing one is an answer, too."""

    unanswered = False

    def __init__(self, info: psycopg.ConnectionInfo) -> None:
        super().__init__(daemon=True)  # whoever ends does not wait for the answer
        self._parameters: dict[str, Any] = {**info.get_parameters(), "password": info.password}

    def run(self) -> None:
        with suppress(psycopg.Error):
            try:
                psycopg.connect(**self._parameters).close()
            except ConnectionTimeout:
                self.unanswered = True


class StillError(RuntimeError):
    """A program did nothing, nor anybody for it; what that is like, for people."""


def run(
    command: Sequence[str], *, wanting: Callable[[], str | None] = lambda: "", **how: Any
) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` of a program, without input, that is killed where nothing has moved for STILL_SECONDS.

    wanting: why nobody works for it meanwhile; None where somebody does. Raises StillError.
    """
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, encoding="utf-8", errors="replace", **pipes, **how) as program:  # noqa: S603 - our own binaries, no shell
        moved, before = time.monotonic(), None
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    said, complained = program.communicate(timeout=LOOK_SECONDS)
                    return subprocess.CompletedProcess(command, program.returncode, said, complained)
                if (now := _moves(program.pid)) != before:
                    moved, before = time.monotonic(), now
                elif (still := time.monotonic() - moved) > STILL_SECONDS:
                    if (why := wanting()) is not None:
                        raise StillError(f"it has done nothing for {still:.0f} s{why}")
                    moved = time.monotonic()
        finally:
            program.kill()


def _moves(pid: int) -> object:
    """Something that is another thing whenever a process or one of its children has run, or waits for the disk."""
    moves = []
    with suppress(psutil.Error):
        for process in (started := psutil.Process(pid), *started.children(recursive=True)):
            with suppress(psutil.Error):
                if process.status() == psutil.STATUS_DISK_SLEEP:
                    return object()
                moves.append((process.pid, process.num_ctx_switches(), process.cpu_times()))
    return moves
