"""What a cell says that fails in JupyterLab, where nobody runs it: the sentence that every reader of a run has."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from ragbench.old.report.execution.execute import plain
from ragbench.old.report.execution.kernel_pool import KernelPool
from tests.old.cli.command_line import ROOT
from tests.old.report.failure_cases import CASES, without_the_drivers_words
from tests.old.small_project import add

ELSEWHERE = {
    "a killed kernel": "JupyterLab says that the kernel died",
    "a crashed kernel": "JupyterLab says that the kernel died",
    "an exit": "ends nothing there",
    "an exit as if all were well": "ends nothing there",
    "several errors at once": "IPython prints all of them",
    "several errors of ours at once": "IPython prints all of them",
    "a full disk": "Python's own sentence",
    "a full disk under our own writer": "Python's own sentence",
    "a file that is not there": "Python's own sentence",
    "more memory than there is": "Python's own sentence",
    "an array larger than the memory": "Python's own sentence",
    "a package that is not there": "Python's own sentence",
}
"""Failures that no part of ragbench is told of, or that are none there."""


@pytest.fixture
def kernels(one_pool: KernelPool | None) -> type[AsyncKernelManager]:
    """JupyterLab's."""

    class Forked(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd: list[str], **words: Any) -> None:
            if one_pool is None:
                await super()._async_launch_kernel(kernel_cmd, **words)
                return
            local: Any = self.provisioner
            arguments = kernel_cmd[kernel_cmd.index("-f") :]
            local.process = await asyncio.to_thread(one_pool.kernel, arguments, words["env"], words["cwd"])
            local.pid = local.pgid = local.process.pid

        _launch_kernel = _async_launch_kernel

    return Forked


def shown(
    project: Path, code: str, kernels: type[AsyncKernelManager], patch: pytest.MonkeyPatch, **variables: str
) -> str:
    """The last lines of what a kernel says of the cell, on one line."""
    for name, value in {"PYTHONPATH": str(ROOT), "RAGBENCH_TRUST": "/", **variables}.items():
        patch.setenv(name, value)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True, kernel_manager_class=kernels,
                   resources={"metadata": {"path": str(project)}}).execute()  # fmt: skip
    [error] = [one for one in notebook.cells[0].outputs if one.output_type == "error"]
    return " ".join(plain(error.traceback[-1]).split())


@pytest.mark.slow
@pytest.mark.parametrize("name", [one for one in CASES if one not in ELSEWHERE])
def test_a_cell_that_fails_ends_with_the_sentence_of_the_other_readers(
    project: Path, kernels: type[AsyncKernelManager], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    case = CASES[name]
    with case.world(project) as url:
        add(project, case.settings.replace("{url}", url))
        variables = {key: value.replace("{url}", url) for key, value in case.variables.items()}
        said = without_the_drivers_words(shown(project, case.does, kernels, monkeypatch, **variables))
    expected = case.said.replace("{url}", url).replace("{project}", str(project))
    assert re.sub(r"^\w+: ", "", said) == re.sub(r"^[A-Z]\w+Error: ", "", expected)


DISK = "from unittest import mock\nfrom ragbench.old import tiers\nerror = {error}\n"
FAILING = "with mock.patch('ragbench.old.tiers.basics.session.kept', side_effect=error):\n    tiers.overview()\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "last"),
    [
        ("OSError(28, 'No space left on device', 'reports/x')",
         "reports/x: No space left on device: make room there, then run again"),
        ("MemoryError()",
         "there is not enough memory: measure fewer questions or systems at a time, or give it more, then run again"),
        ("ModuleNotFoundError(\"No module named 'umap'\")",
         "No module named 'umap': install it beside ragbench, or put it beside ragbench.toml, then run again"),
    ],
)  # fmt: skip
def test_what_python_says_of_disk_memory_and_packages_is_followed_by_what_to_do(
    project: Path, kernels: type[AsyncKernelManager], monkeypatch: pytest.MonkeyPatch, error: str, last: str
) -> None:
    assert shown(project, DISK.format(error=error) + FAILING, kernels, monkeypatch) == last


@pytest.mark.slow
def test_a_function_that_hangs_leaves_the_kernel_free_to_stop(
    project: Path, kernels: type[AsyncKernelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES["a function that hangs"]
    with case.world(project):
        add(project, case.settings)
        begun = time.monotonic()
        shown(project, case.does, kernels, monkeypatch)
    assert time.monotonic() - begun < 60
