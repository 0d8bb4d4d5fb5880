"""Kernels of a run: a process that has imported what they need and becomes each, and how many there are at once.

What not all need, a kernel pool of its own imports, itself a fork of the first: meanwhile the others are served.

A fork has memory of its own, and all else that a kernel started anew would have: environment, folder, process group,
signals. The kernel pool runs one thread and nothing of a project's, so that what is copied is always whole.

The runner holds the writing end of the guard's input. A runner that is killed can end nothing any more, but its end of
the pipe closes, and that wakes the guard. (A signal at the parent's death would come when the parent's thread ends, and
reach the kernel alone.)

A clock is read with nothing beside it. Where readings of the data are kept, all notebooks run side by side, and one
that finds that it has to read a clock after all is executed again, alone; else those that may read one come first and
one by one. What a project sends, and what of its own code it runs, has limits and habits that hold within one process:
then notebooks run one by one.
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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from multiprocessing import Pipe, reduction
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, TypeVar

from ragbench.old.core import trust
from ragbench.old.core.settings import BESIDE

_BEGIN = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from ragbench.old.report.execution import kernel_pool
kernel_pool.main({handle})
"""
"""Interrupted before it works on a cell, a pool or a kernel would print a trace; a kernel then listens by itself."""
_NEEDED = (
    *("ipykernel.kernelapp", "ipykernel.zmqshell", "ragbench.old.views", "ragbench.old.store"),
    *("pandas", "scipy.stats", "sklearn.feature_extraction.text", "sklearn.utils.extmath", "snowballstemmer"),
    *("babel.dates", "babel.lists", "babel.numbers", "rich.console"),
)
_PARTS = ("ragbench.old.tiers", "ragbench.old.metrics")
"""Packages of which every module is needed by one notebook or another."""
FORKED_FROM = 3
"""Kernels of a run that are forked: fewer import less by themselves than is imported for all."""
YOUNG = 100_000
"""New objects after which a fork looks for garbage: tables are made of many, and after a few hundred it finds none."""
Made = TypeVar("Made")
Libraries = tuple[str, ...]
"""Names of modules that a fork needs besides."""


class _Start(NamedTuple):
    """A kernel: the arguments of `ipykernel_launcher`, its variables, its folder."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str


class _Call(NamedTuple):
    """A call: a function that a module has, and what it is given."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Kernel:
    """A kernel of a kernel pool, with what jupyter_client reads of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int, told: Connection) -> None:
        """told: where the kernel pool says how it ended."""
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
                    except EOFError:  # of a kernel pool that was killed, whose kernels end without it
                        self.returncode = -signal.SIGKILL
            return self.returncode


class KernelPool:
    """The kernel pool's end in the runner. It ends when this end is closed, whether by the runner or with it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._lock = threading.Lock()

    def kernel(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: str, libraries: Libraries = ()
    ) -> Kernel:
        """A kernel with the arguments of `ipykernel_launcher`. Raises OSError, EOFError where the pool has ended."""
        told = self._asked(_Start(list(arguments), dict(environment), folder), libraries)
        return Kernel(int(told.recv()), told)

    def call(self, function: Callable[..., Made], *arguments: Any, libraries: Libraries = ()) -> Made:
        """What a function of a module makes of these arguments in a fork of its own, all of them plain values.

        Raises OSError, EOFError where the kernel pool has ended, or the fork before it had a result.
        """
        with self._asked(_Call(function, arguments), libraries) as told:
            said = told.recv()
        if not isinstance(said, tuple):  # how it ended, and nothing before
            raise EOFError("the fork ended before it had a result")
        made: Made = said[0]
        return made

    def prepare(self, libraries: Libraries) -> None:
        """Begin to import what forks will need besides, without waiting for it."""
        with contextlib.suppress(OSError), self._lock:  # whoever needs it will notice
            self._line.send((None, libraries))

    def _asked(self, task: _Start | _Call, libraries: Libraries) -> Connection:
        receiver, sender = Pipe(duplex=False)
        with sender, self._lock:
            self._line.send((task, libraries))
            reduction.send_handle(self._line, sender.fileno(), None)
        return receiver


@contextlib.contextmanager
def opened(kernels: int = FORKED_FROM) -> Iterator[KernelPool | None]:
    """A pool for a run of so many kernels; None where that costs more than it saves, and where a process that has
    imported so much is not safe to fork."""
    if sys.platform != "linux" or kernels < FORKED_FROM:
        yield None
        return
    own, its = Pipe()
    with own:
        with its:
            command = [sys.executable, "-P", "-c", _BEGIN.format(handle=its.fileno())]
            process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, pass_fds=(its.fileno(),), start_new_session=True
            )
        watcher = watch(process.pid)  # while it imports, it does not see that the runner is gone
        try:
            yield KernelPool(own)
        finally:
            process.kill()
            process.wait()
            release(watcher)


def main(handle: int) -> None:
    """Be a kernel pool until the runner is gone, and in each fork what was asked for."""
    gc.disable()  # imports leave next to no garbage, and looking for it takes a sixth of their time
    gc.set_threshold(YOUNG)
    with Connection(handle) as line:
        for name in _NEEDED:
            importlib.import_module(name)
        for name in _PARTS:
            package = importlib.import_module(name)
            for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                importlib.import_module(module.name)
        arguments = _serve(line)
    if arguments is not None:
        sys.argv[1:] = arguments
        runpy.run_module("ipykernel_launcher", run_name="__main__")


def _serve(line: Connection) -> list[str] | None:
    """Fork on request, and tell how forks end; the arguments of a kernel in a fork, None once the runner is gone."""
    gc.collect()
    gc.freeze()  # a fork's collections would copy every page that they look at
    running: dict[int, Connection] = {}
    others: dict[Libraries, Connection] = {}
    alarm, ring = Pipe(duplex=False)
    os.set_blocking(ring.fileno(), False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(ring.fileno(), warn_on_full_buffer=False)
    while True:
        ready = wait([line, alarm])
        if alarm in ready:
            os.read(alarm.fileno(), 1024)
            _bury(running)
        if line not in ready:
            continue
        try:
            task, libraries = line.recv()
            told = None if task is None else Connection(reduction.recv_handle(line), readable=False)
        except (EOFError, OSError):
            return None
        known = (line, alarm, ring, *running.values(), *others.values())
        if libraries:
            if libraries not in others:
                others[libraries], its = Pipe()
                if os.fork() == 0:
                    _leave(*known, others[libraries], *filter(None, [told]))
                    for name in libraries:
                        importlib.import_module(name)
                    return _serve(its)
                its.close()
            if told is not None:
                with told, contextlib.suppress(OSError):  # it was killed, and whoever asked sees the end of the line
                    others[libraries].send((task, ()))
                    reduction.send_handle(others[libraries], told.fileno(), None)
        elif told is not None:
            if (pid := os.fork()) == 0:
                _leave(*known)
                gc.enable()
                if isinstance(task, _Start):
                    return _become(task, told)
                _go(task, told)
            running[pid] = told


def _leave(*lines: Connection) -> None:
    """In a fork: what is the kernel pool's own stays with it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for line in lines:
        line.close()


def _bury(running: dict[int, Connection]) -> None:
    for pid in list(running):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with running.pop(pid) as told, contextlib.suppress(OSError):  # nobody asks any more
                told.send(os.waitstatus_to_exitcode(status))


def _go(call: _Call, told: Connection) -> None:
    """Run the call, tell its result, and end without what an interpreter does at its end: it is not ours."""
    try:
        told.send((call.function(*call.arguments),))
    finally:
        os._exit(0)


def _become(start: _Start, told: Connection) -> list[str]:
    """Take the place that a kernel started anew would have, then say that it is there."""
    import numpy as np

    os.setsid()
    os.environ.clear()
    os.environ.update(start.environment)
    limit_threads()
    os.chdir(start.folder)
    np.random.seed()  # noqa: NPY002 - whoever draws from the one that every fork would share
    with told:
        told.send(os.getpid())
    return [
        *start.arguments,
        f"--IPKernelApp.parent_handle={os.getppid()}",
    ]  # else read from what was there at the import


_WORK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdin.buffer.read()
try:
    os.killpg(int(sys.argv[1]), signal.SIGKILL)
except OSError:
    pass
"""


def watch(group: int) -> subprocess.Popen[bytes] | None:
    """Begin to watch over a process group; None where there are no process groups."""
    if os.name != "posix":
        return None
    command = [sys.executable, "-I", "-S", "-c", _WORK, str(group)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)  # noqa: S603


def release(guard: subprocess.Popen[bytes] | None) -> None:
    """End the guard; the group is no longer its business."""
    if guard is None:
        return
    guard.kill()
    guard.wait()
    if guard.stdin is not None:
        guard.stdin.close()


CLOCK = "fresh_timings"
"""The parameter of every notebook that reads the clock."""
MEMORY = 2**31
"""Bytes that a notebook's process may take, with a model of embeddings in it, and what the others need beside it."""
HARMLESS = frozenset({"server", "storage", "folder"})
"""Kinds of what a project reaches that every notebook shares: the database's own server, the copy of a data set."""


THREADS = "OPENBLAS_NUM_THREADS"
"""How many threads of a process multiply matrices. Where each notebook had one a core, they would wait for each other:
a run of all would take a fifth longer.

Last digits depend on it: of Tier 0 on more than 4,096 texts (4,500 random ones: 3,104 of 13,500 values differ between
one thread and two, by 2e-9 at most), and on the sample data 9 of Tier 3's 3,870 scores, by 6e-14, and what is nearest
in the cache of tier_ux. So a notebook keeps its share to its end, also where it is the last one left: raised when
others have ended, the same command would give other bytes as they end sooner or later. Exact search gives the same
bytes with any number of threads."""


class Round(NamedTuple):
    """Notebooks by name, how many of them run at the same time, and whether they may read a clock."""

    names: tuple[str, ...]
    jobs: int
    clock: bool = True

    @property
    def environment(self) -> dict[str, str]:
        """Variables of their processes. How many threads is not said where somebody has said so, or one runs alone."""
        alone = THREADS in os.environ or self.jobs < 2
        threads = {} if alone else {THREADS: str(max(1, cores() // self.jobs))}
        return threads if self.clock else {BESIDE: "1", **threads}


def rounds(
    parameters: Mapping[str, Mapping[str, Any]],
    jobs: int | None,
    reach: Iterable[trust.Item],
    kept: Callable[[], bool],
    late: Collection[str] = (),
) -> Sequence[Round]:
    """The notebooks in the rounds that they run in, one after the other.

    parameters: each notebook's, with their values. jobs: as somebody said; all are one round then. reach: what the run
    would run and send. kept: whether there are readings of what these notebooks measure. late: those whose processes
    take long to begin: of notebooks that run side by side, twice as many others as run at a time go before them.
    """
    if jobs is None and any(item.kind not in HARMLESS for item in reach):
        jobs = 1
    if jobs is not None:
        return [Round(tuple(parameters), jobs)]
    timed = tuple(name for name, values in parameters.items() if CLOCK in values)
    others, at_once = tuple(name for name in parameters if name not in timed), affordable()
    if timed and min(at_once, len(parameters)) > 1 and not any(parameters[name][CLOCK] for name in timed) and kept():
        soon = [name for name in (*timed, *others) if name not in late]
        slow = (name for name in parameters if name in late)
        return [Round((*soon[: 2 * at_once], *slow, *soon[2 * at_once :]), at_once, clock=False)]
    return [turn for turn in (Round(timed, 1), Round(others, at_once)) if turn.names]


def affordable() -> int:
    """How many processes of notebooks this one's cores and the memory that is free allow, one at least."""
    import psutil

    return max(1, min(cores(), psutil.virtual_memory().available // MEMORY))


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_threads() -> None:
    """What THREADS says, for a process that was begun without it; at its begin a library reads it by itself."""
    from threadpoolctl import threadpool_limits

    said = os.environ.get(THREADS, "")
    if said.isdecimal() and int(said):  # of all else a library takes no notice
        threadpool_limits(int(said), "blas")
