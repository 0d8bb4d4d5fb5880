"""One notebook, executed in a kernel of its own that ends with the run."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.old.core import expectations, trust
from ragbench.old.core.settings import RUN_FOLDER
from ragbench.old.report.execution import kernel_pool
from ragbench.old.report.execution.kernel_pool import Kernel
from ragbench.old.store.errors import DisturbedClockError

Born = Callable[[Sequence[str], Mapping[str, str], str], Kernel]
"""Makes a kernel of its arguments, its variables and its folder. Raises OSError, EOFError where it cannot."""
PACKAGE = f"{Path(__file__).parents[2]}{os.sep}"
FOR_PEOPLE = ("ValueError", "FileNotFoundError", "FileExistsError")
GROUP = "ExceptionGroup"
SEVERAL = "Exception Group Traceback"
UNHEARD = "CellExecutionError"
"""What papermill calls the error of a cell that reported none."""
_PLACE = re.compile(r"""^[ \t|]*+File (?:"(.+?)", line \d+|(.+?):\d+)""", re.MULTILINE)
_IN_GROUP = re.compile(r"^ *\| (?!Traceback|\S*ExceptionGroup)([\w.]+)(?:: (.*))?$", re.MULTILINE)
"""An error among those of a group, as Python prints it; what it was raised by, or what it was raised in, is before."""
_KERNEL = """
import runpy, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
if hasattr(signal, "pthread_sigmask"):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
runpy.run_module("ipykernel_launcher", run_name="__main__")
"""
"""A kernel that is interrupted before it is one would print a trace; once it works on a cell it listens by itself."""
BEGIN = (sys.executable, "-P", "-c", _KERNEL)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
PROJECT_LAST = "__import__('importlib').import_module('ragbench.old.core.trust').join_path()"
"""A notebook's own modules lie beside ragbench.toml; found last, and after ragbench, none of them takes the place of
another; of a folder that is not trusted none is found."""
ALONE = ("--IPKernelApp.ignore_cwd=True", f"--IPKernelApp.exec_lines={PROJECT_LAST}")
KILLED = 9  # SIGKILL, which Windows has not
STOP_SECONDS = 1.0
"""So long a notebook that is interrupted may hand over what it has: replies that were paid for go into the journal."""
ADDRESSES, ADDRESSES_OF_A_CORE = 3 * 2**30, 2**27
"""That a notebook's process maps at most, most of it never touched: each library's threads ask for some a core. Where
they are refused some, a thread that was not started is waited for, and for ever."""
_running: dict[int, subprocess.Popen[bytes] | None] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Failure:
    """What went wrong in a notebook: one line for people, the cell it happened in, and the traceback.

    disturbed: nothing, but that a clock had to be read while other notebooks ran.
    """

    line: str
    cell: str = ""
    traceback: str = ""
    disturbed: bool = False


def execute(
    notebook: Any,
    *,
    name: str,
    folder: Path,
    workplace: Path,
    advance: Callable[[int, int], None] | None = None,
    environment: Mapping[str, str] | None = None,
    stopped: threading.Event | None = None,
    born: Born | None = None,
) -> Failure | None:
    """Execute the cells of `notebook` in place; the notebook keeps what was done until a cell failed.

    folder: where the notebook's code stores what it measured; it is named to it by RAGBENCH_RUN_FOLDER.
    workplace: the folder that the code runs in. advance: called with the cells done and the cells there are.
    environment: variables of the notebook's process besides those of this one. Whether the notebook may run is not
    asked here: see `ragbench.old.report.reach`. stopped: set before `end_all`, which does not see a kernel
    that is still being started: that one ends as soon as it is there. born: makes the kernel; None starts it anew.
    """
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    if cramped := _cramped():
        return Failure(cramped)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ragbench-", ignore_cleanup_errors=True) as private:
        variables = {**(environment or {}), RUN_FOLDER: str(folder.resolve()), **trust.passed_on()}
        manager = _manager(Path(private), variables, stopped or threading.Event(), born)
        try:
            _papermill(notebook, manager, workplace, advance)
        except PapermillExecutionError as error:
            trace = plain("\n".join(error.traceback)) or _printed(notebook, str(error.source))
            disturbed = error.ename == DisturbedClockError.__name__
            return Failure(_line(error.ename, error.evalue, trace), str(error.source), trace, disturbed)
        except (DeadKernelError, CellTimeoutError, RuntimeError) as error:
            return Failure(f"the notebook's process ended before its work was done: {_end_of(manager, error)}")
        finally:
            _end(manager)
    return _broken_off(notebook)


def _printed(notebook: Any, source: str) -> str:
    """What a cell printed as it failed: of several errors at once IPython prints the traces, and reports no error."""
    outputs = [output for cell in notebook.cells if cell.source == source for output in cell.get("outputs", ())]
    said = plain("".join(output.text for output in outputs if output.get("name") == "stderr"))
    return "".join(said.partition(SEVERAL)[1:])


def _end_of(manager: Any, error: Exception) -> str:
    """Why a notebook's process ended by itself."""
    code = getattr(manager.begun, "returncode", None)
    if code is None or code >= 0:
        return plain(str(error)).strip()
    if code == -KILLED:
        return (
            "it was killed, as a system does that is short of memory; measure fewer questions or systems at a time, or "
            "give it more memory, then run again"
        )
    return f"a signal ended it ({signal.strsignal(-code)}); run again"


def _broken_off(notebook: Any) -> Failure | None:
    """A notebook that ended itself without an error: for papermill it is whole, however many cells are left."""
    for cell in notebook.cells:
        if any(output.get("ename") == "SystemExit" for output in cell.get("outputs", ())):
            return Failure(_line("SystemExit", "", ""), str(cell.source))
    return None


def _cramped() -> str:
    """Why no notebook can run to its end within this process's limit on addresses; "" where there is room."""
    if os.name != "posix":
        return ""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = ADDRESSES + ADDRESSES_OF_A_CORE * (os.cpu_count() or 1)
    if limit == resource.RLIM_INFINITY or limit >= needed:
        return ""
    return (
        f"not started: this shell limits a process to {limit // 1024:,} kB of addresses, and a notebook needs "
        f"{needed // 1024:,}; run `ulimit -v unlimited` and the same command again (a limit on memory itself is "
        "`systemd-run --user --scope -p MemoryMax=2G`)"
    )


def _papermill(notebook: Any, manager: Any, workplace: Path, advance: Callable[[int, int], None] | None) -> None:
    import logging

    from papermill.execute import execute_notebook

    logging.getLogger("papermill").setLevel(logging.ERROR)
    execute_notebook(
        notebook,
        None,
        engine_name=_engine(),
        kernel_name="python3",
        language="python",
        progress_bar=False,
        km=manager,
        resources={"metadata": {"path": str(workplace)}},
        source=notebook,
        advance=advance,
    )


@lru_cache(maxsize=1)
def _engine() -> str:
    """The name of papermill's engine with our kernel and our progress, registered once."""
    from papermill.engines import NBClientEngine, papermill_engines

    class Engine(NBClientEngine):
        @classmethod
        def execute_managed_notebook(
            cls, nb_man: Any, kernel_name: str, *, km: Any, source: Any, advance: Any, **more: Any
        ) -> Any:
            complete, done = nb_man.cell_complete, 0
            total = sum(cell.cell_type == "code" for cell in nb_man.nb.cells)

            def counted(cell: Any, cell_index: int | None = None, **words: Any) -> None:
                nonlocal done
                complete(cell, cell_index=cell_index, **words)
                if cell.cell_type == "code" and advance is not None:
                    done += 1
                    advance(done, total)

            nb_man.cell_complete = counted
            try:
                return super().execute_managed_notebook(nb_man, kernel_name, km=km, **more)
            finally:
                _end(km)
                # papermill works on a copy, drops it when a cell fails, and puts cells of its own into this very list
                source.cells = list(nb_man.nb.cells)

    papermill_engines.register("ragbench", Engine)
    return "ragbench"


def _manager(private: Path, environment: Mapping[str, str], stopped: threading.Event, born: Born | None) -> Any:
    """A kernel of this very interpreter, on a private socket, with no history, start-up files or settings of a user."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class Manager(AsyncKernelManager):
        begun: Any = None

        async def _async_pre_start_kernel(self, **words: Any) -> Any:
            words["env"] = {**os.environ, **words.get("env", {}), **environment, "IPYTHONDIR": str(private / "ipython")}
            return await super()._async_pre_start_kernel(**words)

        pre_start_kernel = _async_pre_start_kernel

        async def _async_launch_kernel(self, kernel_cmd: list[str], **words: Any) -> None:
            if born is not None:
                with contextlib.suppress(
                    OSError, EOFError
                ):  # a kernel pool that was killed; without one a kernel starts anew
                    arguments = kernel_cmd[len(BEGIN) :]
                    made = await asyncio.to_thread(born, arguments, words["env"], words["cwd"])
                    local: Any = self.provisioner
                    local.process, local.pid, local.pgid = made, made.pid, made.pid
                    return
            with _uninterrupted():
                await super()._async_launch_kernel(kernel_cmd, **words)

        _launch_kernel = _async_launch_kernel

        async def _async_start_kernel(self, **words: Any) -> None:
            await super()._async_start_kernel(**words)
            self.begun = getattr(self.provisioner, "process", None)  # which the provisioner forgets once it ended
            pid = getattr(self.provisioner, "pid", 0)
            with _lock:
                _running[pid] = None  # known before it is watched, should there be no process left for a guard
                _running[pid] = kernel_pool.watch(pid) if pid else None
            if stopped.is_set():
                _kill(pid)

        start_kernel = _async_start_kernel

    manager = Manager(kernel_name="python3", connection_file=str(private / "kernel.json"))
    manager._kernel_spec = KernelSpec(
        argv=[*BEGIN, "-f", "{connection_file}", *ALONE],
        display_name="Python",
        language="python",
    )
    if os.name == "posix":
        manager.transport = "ipc"
        manager.ip = str(private / "k")
    return manager


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """A process that is started here gets no SIGINT until its own first line: Python would end it with a trace."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(manager: Any) -> None:
    """End the kernel's whole process group: whatever a notebook started and left in it ends too."""
    pid = getattr(manager.provisioner, "pid", None)
    if pid:
        _kill(pid)


def _kill(pid: int) -> None:
    with _lock:
        if not pid or pid not in _running:
            return
        watcher = _running.pop(pid)
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    else:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    kernel_pool.release(watcher)


def end_all() -> None:
    """End every kernel that this process started, after a moment in which their work may stop by itself."""
    with _lock:
        pids = list(_running)
    if pids and os.name == "posix":
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGINT)
        time.sleep(STOP_SECONDS)
    for pid in pids:
        _kill(pid)


def _line(name: str, value: str, trace: str) -> str:
    """What an error says, its first paragraph in one line; where the notebook's own code raised it, with its class.

    Of errors that were raised together the first one's. What people can mend says how, and never its class.
    """
    text = plain(value).strip()
    first = " ".join(text.split("\n\n")[0].split())
    if (name == UNHEARD or name.endswith(GROUP)) and (grouped := _IN_GROUP.search(trace)):
        return _line(grouped[1].rpartition(".")[2], grouped[2] or "", trace[: grouped.start()])
    kind = getattr(builtins, name, None)
    if said := expectations.of(name, first):
        return said
    if name == "SystemExit":
        return f"the notebook ended itself before its last cell{f': {first}' if first else ''}"
    if name == UNHEARD:
        return "a cell failed and did not say why: run the notebook's cells in `ragbench lab`"
    meant = name in FOR_PEOPLE or kind is None
    places = [quoted or plainly for quoted, plainly in _PLACE.findall(trace)]
    if first and meant and "".join(places[-1:]).startswith(PACKAGE):
        return first
    return f"{name}: {first}" if first else name


def plain(text: str) -> str:
    """A text without the terminal's colours."""
    return _ANSI.sub("", text)
