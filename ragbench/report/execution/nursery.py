"""A process that has imported what notebooks need, and becomes a kernel for each: imports are paid once a run.

A fork has memory of its own, and all else that a kernel started anew would have: environment, folder, process group,
signals. The nursery runs one thread and nothing of a project's, so that what is copied is always whole.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection, wait

from ragbench.report.execution import guard

_BEGIN = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from ragbench.report.execution import nursery
nursery.main({handle}, {more!r})
"""
"""Interrupted before it works on a cell, a nursery or a kernel would print a trace; a kernel then listens by itself."""
_NEEDED = (
    *("ipykernel.kernelapp", "ipykernel.zmqshell", "ragbench.show", "ragbench.store"),
    *("pandas", "scipy.stats", "sklearn.feature_extraction.text", "sklearn.utils.extmath", "snowballstemmer"),
    *("babel.dates", "babel.lists", "babel.numbers", "rich.console"),
)
_PARTS = ("ragbench.bench", "ragbench.metrics")
"""Packages of which every module is needed by one notebook or another."""


class Kernel:
    """A kernel of a nursery, with what jupyter_client reads of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, told: Connection) -> None:
        """told: where the nursery says how it ended."""
        self.pid = pid
        self.returncode: int | None = None
        self._told = told
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """The code that it ended with, negative for a signal; None as long as it runs."""
        return self._ended(0.0)

    def wait(self) -> int | None:
        """The same, waited for."""
        return self._ended(None)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, seconds: float | None) -> int | None:
        with self._lock:
            if self.returncode is None and self._told.poll(seconds):
                with self._told:
                    try:
                        self.returncode = int(self._told.recv())
                    except EOFError:  # of a nursery that was killed, whose kernels end without it
                        self.returncode = -signal.SIGKILL
            return self.returncode


class Nursery:
    """The nursery's end in the runner. It ends when this end is closed, whether by the runner or with it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._lock = threading.Lock()

    def kernel(self, arguments: Sequence[str], environment: Mapping[str, str], folder: str) -> Kernel:
        """A kernel with the arguments of `ipykernel_launcher`. Raises OSError, EOFError where the nursery has ended."""
        told, telling = Pipe(duplex=False)
        with telling, self._lock:
            self._line.send([list(arguments), dict(environment), folder])
            reduction.send_handle(self._line, telling.fileno(), None)
        return Kernel(int(told.recv()), told)


@contextlib.contextmanager
def opened(more: Sequence[str] = ()) -> Iterator[Nursery | None]:
    """A nursery for the kernels of a run; None where a process that has imported so much is not safe to fork.

    more: modules that it imports besides.
    """
    if sys.platform != "linux":
        yield None
        return
    own, its = Pipe()
    with own:
        with its:
            command = [sys.executable, "-P", "-c", _BEGIN.format(handle=its.fileno(), more=tuple(more))]
            process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, pass_fds=(its.fileno(),), start_new_session=True
            )
        watcher = guard.watch(process.pid)  # while it imports, it does not see that the runner is gone
        try:
            yield Nursery(own)
        finally:
            process.kill()
            process.wait()
            guard.release(watcher)


def main(handle: int, more: Sequence[str] = ()) -> None:
    """Be a nursery until the runner is gone, and in each fork a kernel."""
    with Connection(handle) as line:
        for name in (*_NEEDED, *more):
            importlib.import_module(name)
        for name in _PARTS:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                importlib.import_module(module.name)
        gc.collect()
        gc.freeze()  # a fork's collections would copy every page that they look at
        arguments = _serve(line)
    if arguments is not None:
        sys.argv[1:] = arguments
        runpy.run_module("ipykernel_launcher", run_name="__main__")


def _serve(line: Connection) -> list[str] | None:
    """Fork on request, and tell how forks end; the arguments of a kernel in a fork, None once the runner is gone."""
    running: dict[int, Connection] = {}
    alarm, ring = Pipe(duplex=False)
    os.set_blocking(ring.fileno(), False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(ring.fileno(), warn_on_full_buffer=False)
    while True:
        ready = wait([line, alarm])
        if alarm in ready:
            os.read(alarm.fileno(), 1024)
            _bury(running)
        if line in ready:
            try:
                arguments, environment, folder = line.recv()
                told = Connection(reduction.recv_handle(line), readable=False)
            except (EOFError, OSError):
                return None
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (alarm, ring, *running.values()):
                    other.close()
                return _become(arguments, environment, folder, told)
            running[pid] = told


def _bury(running: dict[int, Connection]) -> None:
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as told, contextlib.suppress(OSError):  # nobody asks any more
                told.send(os.waitstatus_to_exitcode(status))


def _become(arguments: list[str], environment: Mapping[str, str], folder: str, told: Connection) -> list[str]:
    """Take the place that a kernel started anew would have, then say that it is there."""
    import numpy as np

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    np.random.seed()  # noqa: NPY002 - whoever draws from the one that every fork would share
    with told:
        told.send(os.getpid())
    return [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]  # else read from what was there at the import
