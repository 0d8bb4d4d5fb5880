"""Execute one notebook by papermill, and read what it became.

Each notebook has a kernel of its own. Another way to start kernels is one class here.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.core.folders import ASKED_FILE, ENDED_SYSTEMS, RUN_FOLDER, RUN_PAGE
from ragbench.core.secrets import mask
from ragbench.report.fork import CAN_FORK, Forks

if TYPE_CHECKING:
    from nbformat import NotebookNode

WHY = "out of memory, or by its code"  # kernels end
ERROR_CELL = "papermill-error-cell-tag"  # of the cells that papermill adds
LONGEST_FOLDER = 80  # characters: the name of a socket has 107 at most


class Kernels:
    """The kernels of a run, so that they can be ended together. A context manager.

    They listen on sockets in a folder that only this user can open; where its name is too long for
    a socket, on the loopback address. workers, pages: as many as the smaller number run side by
    side, and share the cores.
    """

    def __init__(self, workers: int, pages: int) -> None:
        # More threads than cores wait for each other by spinning: ten times the work.
        at_once = max(min(workers, pages), 1)
        threads = str(max((os.cpu_count() or 1) // at_once, 1))
        self.environment = {"OMP_NUM_THREADS": threads, **os.environ}
        self.managers: list[Any] = []
        self.numbers = itertools.count()
        self.is_ended = False
        self.folder = Path(tempfile.mkdtemp(prefix="ragbench-"))
        self.forks = Forks(self.environment) if CAN_FORK else None

    def __enter__(self) -> Kernels:
        return self

    def __exit__(self, *error: object) -> None:
        if self.forks is not None:
            self.forks.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def manager_class(self, environment: Mapping[str, str], folder: Path) -> type:
        """Return the class by which nbclient starts the kernel of one notebook."""
        from jupyter_client.manager import AsyncKernelManager

        kernels = self
        place: dict[str, str] = {}
        if len(str(self.folder)) <= LONGEST_FOLDER:
            number = next(self.numbers)
            place = {"transport": "ipc", "ip": str(self.folder / f"kernel-{number}")}
            place["connection_file"] = str(self.folder / f"kernel-{number}.json")

        class PageKernel(AsyncKernelManager):
            """A kernel with the page's environment, which is known to `kernels`."""

            def __init__(self, **options: Any) -> None:
                super().__init__(**place, **options)

            async def _async_start_kernel(self, **options: Any) -> None:
                options |= {"env": kernels.environment | dict(environment), "cwd": str(folder)}
                kernels.managers.append(self)
                await super()._async_start_kernel(**options)
                if kernels.is_ended:  # while this one was starting
                    kernels.end()

            # nbclient calls it by this name, which the class above binds to its own method.
            start_kernel = _async_start_kernel

            async def _async_launch_kernel(self, kernel_cmd: list[str], **options: Any) -> None:
                if kernels.forks is None:
                    await super()._async_launch_kernel(kernel_cmd, **options)
                    return
                arguments = kernel_cmd[kernel_cmd.index("-f") :]
                fork = kernels.forks.start(arguments, options["env"], options["cwd"])
                provisioner: Any = self.provisioner
                provisioner.process = fork
                provisioner.pid = provisioner.pgid = fork.pid
                self._reconcile_connection_info(provisioner.connection_info)

            async def _async_interrupt_kernel(self) -> None:
                """Do nothing: an idle kernel that is asked to end would print an error."""

            interrupt_kernel = _async_interrupt_kernel

        return PageKernel

    def end(self) -> None:
        """End all kernels at once, with whatever they started, and those still to come."""
        self.is_ended = True
        for manager in self.managers:
            group = getattr(manager.provisioner, "pgid", None)
            if group:
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook."""
    # nbformat loads jsonschema, which for a second compiles a grammar of international addresses
    # where this module is there. No notebook has such an address.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import nbformat

    return nbformat.read(path, as_version=4)


def execute_notebook(
    source: Path,
    target: Path,
    parameters: Mapping[str, Any],
    kernels: Kernels,
    *,
    folder: Path,
) -> tuple[NotebookNode, str]:
    """Execute a notebook and write it; returns it, and why it failed or "".

    folder: where its kernel works. A notebook that fails is written as far as it came. Where its
    kernel ended while a system was asked, it is executed once more without asking that system.
    """
    import nbformat

    asked_file = kernels.folder / f"{target.stem}.asked"
    environment = {RUN_FOLDER: str(target.parent), RUN_PAGE: target.stem}
    environment[ASKED_FILE] = str(asked_file)
    ended: list[str] = []
    while True:
        asked_file.write_text("", encoding="utf-8")
        environment[ENDED_SYSTEMS] = "\n".join(ended)
        failure = execute_once(
            source, target, parameters, kernels.manager_class(environment, folder)
        )
        asked = asked_file.read_text(encoding="utf-8")
        if failure is not None or not asked or kernels.is_ended:
            break
        ended.append(asked)
    notebook = read_notebook(target if target.exists() else source)
    if failure is None:
        failure = f"its kernel ended while it ran the cell {last_cell(notebook)!r}: {WHY}"
    elif ended and not failure:
        failure = f"the kernel ended while it asked {', '.join(ended)}: {WHY}"
    clean(notebook)
    target.write_text(mask(nbformat.writes(notebook)), encoding="utf-8")
    return notebook, mask(failure)


def execute_once(
    source: Path, target: Path, parameters: Mapping[str, Any], manager_class: type
) -> str | None:
    """Execute a notebook; returns why it failed, "" if it did not, None if its kernel ended."""
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.engines import NBClientEngine, papermill_engines
    from papermill.exceptions import PapermillExecutionError

    class WrittenOnce(NBClientEngine):
        """Writes the notebook at its end or failure, not before and after each cell as well."""

        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, *arguments: Any, **options: Any) -> None:
            path, nb_man.output_path = nb_man.output_path, None
            try:
                super().execute_managed_notebook(nb_man, *arguments, **options)
            finally:
                nb_man.output_path = path

    papermill_engines.register("written once", WrittenOnce)
    # What is wrong is said of the page, in one sentence.
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    try:
        papermill.execute_notebook(
            str(source),
            str(target),
            parameters=dict(parameters),
            engine_name="written once",
            kernel_name="python3",
            progress_bar=False,
            kernel_manager_class=manager_class,
        )
    except PapermillExecutionError as error:
        return f"{error.ename}: {error.evalue}"
    except DeadKernelError:
        return None
    return ""


def last_cell(notebook: NotebookNode) -> str:
    """Return the id of the cell that was begun last."""
    begun = [
        cell.id for cell in notebook.cells if cell.metadata.get("papermill", {}).get("start_time")
    ]
    return begun[-1] if begun else notebook.cells[0].id


def clean(notebook: NotebookNode) -> None:
    """Remove what differs from run to run: clocks, counters, progress, papermill's own cells."""
    notebook.cells = [cell for cell in notebook.cells if not has_tag(cell, ERROR_CELL)]
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if has_tag(cell, "injected-parameters"):
            cell.id = "injected-parameters"
        if cell.cell_type == "code":
            outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.outputs = outputs


def has_tag(cell: NotebookNode, tag: str) -> bool:
    """Whether a cell is tagged so."""
    return tag in cell.metadata.get("tags", [])


def parameter_names(notebook: NotebookNode) -> set[str]:
    """Return the names that the cells of parameters give values to."""
    import ast

    names = set()
    for cell in notebook.cells:
        if has_tag(cell, "parameters") or has_tag(cell, "more-parameters"):
            for line in ast.parse(cell.source).body:
                if isinstance(line, ast.Assign):
                    names |= {target.id for target in line.targets if isinstance(target, ast.Name)}
    return names
