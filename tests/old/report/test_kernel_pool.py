"""Kernels that are forked are those that would have been started anew: surroundings, memory, how they end."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from ragbench.old.report.execution import execute, kernel_pool
from ragbench.old.report.execution.kernel_pool import KernelPool, Libraries

SURROUNDINGS = """
import json, os, signal, sys, threading
names = set(os.environ) - {"IPYTHONDIR", "JPY_PARENT_PID"}
print(json.dumps({
    "variables": {name: os.environ[name] for name in sorted(names)},
    "folder": os.getcwd(), "path": sys.path, "options": [word.partition("=")[0] for word in sys.argv[1:4:2]],
    "leads": [os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid()],
    "signals": {one.name: str(signal.getsignal(one)) for one in signal.Signals if one is not signal.SIGINT},
    "input": sys.stdin.isatty(), "main": __name__, "safe": sys.flags.safe_path,
}))
"""
CHANGED = "import builtins, os, ragbench\nbuiltins.left = ragbench.left = os.environ['LEFT'] = 'left'"
UNCHANGED = (
    "import builtins, os, ragbench\nprint([hasattr(builtins, 'left'), hasattr(ragbench, 'left'), 'LEFT' in os.environ])"
)
DRAWN = "import random, numpy\nprint(random.random(), numpy.random.random())"


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kernels() -> Iterator[KernelPool]:
    with kernel_pool.opened() as made:
        if made is None:
            pytest.skip("kernels are not forked on this system")
        yield made


def said(
    folder: Path, source: str, made: KernelPool | None, libraries: Libraries = (), **variables: str
) -> tuple[str, execute.Failure | None]:
    """What a notebook of one cell prints."""
    notebook: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    failure = execute.execute(
        notebook,
        name="one",
        folder=folder / "run",
        workplace=folder,
        environment=variables,
        born=None if made is None else partial(made.kernel, libraries=libraries),
    )
    outputs = notebook.cells[-1].get("outputs", ())
    return "".join(one.text for one in outputs if one.output_type == "stream"), failure


def test_it_stands_where_one_started_anew_would(tmp_path: Path, kernels: KernelPool) -> None:
    anew, forked = (json.loads(said(tmp_path, SURROUNDINGS, made, MORE="ё")[0]) for made in (None, kernels))
    assert forked == anew
    assert forked["folder"] == str(tmp_path)
    assert forked["variables"]["MORE"] == "ё"


def test_it_has_a_memory_and_a_chance_of_its_own(tmp_path: Path, kernels: KernelPool) -> None:
    assert said(tmp_path, CHANGED, kernels)[1] is None
    assert said(tmp_path, UNCHANGED, kernels)[0].strip() == "[False, False, False]"
    first, second = (said(tmp_path, DRAWN, kernels)[0].split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f"import os, signal\nos.kill(os.getpid(), {int(signal.SIGKILL)})", "it was killed, as a system does"),
        (f"import os, signal\nos.kill(os.getpid(), {int(signal.SIGSEGV)})", "a signal ended it (Segmentation fault)"),
    ],
)
def test_the_signal_that_ended_it_is_told(tmp_path: Path, kernels: KernelPool, source: str, reason: str) -> None:
    failure = said(tmp_path, source, kernels)[1]
    assert failure is not None
    assert reason in failure.line


def test_no_kernel_is_left_of_a_nursery_that_was_killed(tmp_path: Path) -> None:
    with kernel_pool.opened() as made:
        if made is None:
            pytest.skip("kernels are not forked on this system")
        failure = said(tmp_path, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass", made)[1]
        assert failure is not None
        assert "it was killed" in failure.line
        there = [one.info for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(tmp_path)]
        assert not there
        assert said(tmp_path, "print(1)", made) == ("1\n", None)  # started anew


MORE = ("mailbox", "wave")  # of the standard library, and needed by nobody here
THERE = "import os, sys\nprint([name in sys.modules for name in ('mailbox', 'wave')], os.getppid())"


def test_what_one_imports_besides_the_others_have_not(tmp_path: Path, kernels: KernelPool) -> None:
    assert not {*MORE} & {*sys.modules}, "else this test shows nothing"
    first, again = (said(tmp_path, THERE, kernels, MORE)[0] for _ in range(2))
    assert first == again, "imported once, for all who need it"
    without, parent = said(tmp_path, THERE, kernels)[0].rsplit(maxsplit=1)
    assert without == "[False, False]"
    assert first.split("]")[0] == "[True, True"
    assert first.split()[-1] != parent


def test_what_is_imported_beforehand_is_there_when_it_is_needed(tmp_path: Path) -> None:
    with kernel_pool.opened() as made:
        if made is None:
            pytest.skip("kernels are not forked on this system")
        made.prepare(("mailbox",))
        assert said(tmp_path, THERE, made, ("mailbox",))[0].startswith("[True, False]")


def test_a_call_gives_its_result_and_leaves_nothing(kernels: KernelPool) -> None:
    assert kernels.call(divmod, 7, 2) == (3, 1)
    first, second = kernels.call(os.getpid), kernels.call(os.getpid, libraries=MORE)
    assert len({first, second, os.getpid()}) == 3
    assert kernels.call(sorted, ["b", "a"], libraries=MORE) == ["a", "b"]


@pytest.mark.parametrize("libraries", [(), MORE])
def test_a_call_without_a_result_says_so(kernels: KernelPool, libraries: Libraries) -> None:
    for function, *given in ((int, "no number"), (os._exit, 0), (os.abort,)):
        with pytest.raises(EOFError):
            kernels.call(function, *given, libraries=libraries)  # type: ignore[arg-type]
    assert kernels.call(abs, -1, libraries=libraries) == 1


def test_few_kernels_are_started_by_themselves() -> None:
    with kernel_pool.opened(2) as made:
        assert made is None
