"""Kernels that begin with the library loaded: one process loads it, and forks for every page.

Each page still has a process of its own, which knows nothing of what the others did.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import NoReturn

from ragbench.core.errors import BenchError

CAN_FORK = sys.platform == "linux"  # elsewhere libraries of the system do not stand it
# What most pages import.
LOADED = (
    "bm25s",
    "ipykernel.kernelapp",
    "pyarrow.parquet",
    "ragbench.views.results",
    "ragbench.systems.opening",
    "ragbench.views.comparison",
    "ragbench.views.questions",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.neighbors",
)


class Forks:
    """The process that has loaded the library, and forks kernels."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._lock = Lock()
        self._process = subprocess.Popen(  # noqa: S603  our own code
            # -P: no file of this folder stands in for a module of the library.
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def start(self, arguments: Sequence[str], environment: Mapping[str, str], cwd: str) -> Fork:
        """Start a kernel. arguments: those of ipykernel, with the file of its connection."""
        process = self._process
        assert process.stdin and process.stdout  # noqa: PT018  both are pipes
        with self._lock:
            print(json.dumps([arguments, environment, cwd]), file=process.stdin, flush=True)
            pid = process.stdout.readline()
        if not pid:
            raise BenchError("the process that starts kernels has ended; why, stands above")
        return Fork(int(pid))

    def close(self) -> None:
        """End the process, which may be loading still."""
        self._process.kill()
        self._process.communicate()


class Fork:
    """A forked kernel, with what jupyter_client asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return None while it runs, then 0: how it ended, its parent alone knows."""
        try:
            self.send_signal(0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # jupyter_client calls it when it has polled

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    terminate = kill


def serve() -> None:
    """Load the library; then become a kernel for each line of standard input, and print its pid."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run ends its kernels itself
    signal.signal(signal.SIGCHLD, reap)
    for name in LOADED:
        import_module(name)
    prepare()
    gc.freeze()  # else each kernel's search for garbage would copy the memory that they share
    parent = os.getpid()
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            run_kernel(parent, *json.loads(line))
        print(pid, flush=True)


def prepare() -> None:
    """Do once for all kernels what takes each page its first time: compile, read, build classes."""
    from ragbench.core.language import load_language
    from ragbench.report.figures import new_figure
    from ragbench.report.page import template

    template("questions.html.j2")
    for code in ("en", "ru"):
        language = load_language(code)
        language.number(0.5)
        new_figure(language).add_scatter(x=[0]).to_json()


def reap(*_: object) -> None:
    """Let kernels that have ended go: until then they seem to be there."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def run_kernel(
    parent: int, arguments: Sequence[str], environment: Mapping[str, str], cwd: str
) -> NoReturn:
    """Be a kernel, in a group of processes of its own, until it or the parent is ended."""
    from ipykernel.kernelapp import launch_new_instance

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # standard output is for the pids
    os.environ.update(environment)
    os.chdir(cwd)
    sys.path.insert(0, "")  # where a kernel looks for the user's modules
    launch_new_instance([*arguments, f"--IPKernelApp.parent_handle={parent}"])
    # To take the library apart object by object would copy its memory, and last longer than a page.
    atexit._run_exitfuncs()
    os._exit(0)
