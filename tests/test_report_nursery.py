"""Kernels that are forked are those that would have been started anew: surroundings, memory, how they end."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from ragbench.report.execution import execute, nursery
from ragbench.report.execution.nursery import Nursery

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
def kernels() -> Iterator[Nursery]:
    with nursery.opened() as made:
        if made is None:
            pytest.skip("kernels are not forked on this system")
        yield made


def said(folder: Path, source: str, made: Nursery | None, **variables: str) -> tuple[str, execute.Failure | None]:
    """What a notebook of one cell prints."""
    notebook: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    failure = execute.execute(
        notebook, name="one", folder=folder / "run", workplace=folder, environment=variables, nursery=made
    )
    outputs = notebook.cells[-1].get("outputs", ())
    return "".join(one.text for one in outputs if one.output_type == "stream"), failure


def test_it_stands_where_one_started_anew_would(tmp_path: Path, kernels: Nursery) -> None:
    anew, forked = (json.loads(said(tmp_path, SURROUNDINGS, made, MORE="ё")[0]) for made in (None, kernels))
    assert forked == anew
    assert forked["folder"] == str(tmp_path)
    assert forked["variables"]["MORE"] == "ё"


def test_it_has_a_memory_and_a_chance_of_its_own(tmp_path: Path, kernels: Nursery) -> None:
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
def test_the_signal_that_ended_it_is_told(tmp_path: Path, kernels: Nursery, source: str, reason: str) -> None:
    failure = said(tmp_path, source, kernels)[1]
    assert failure is not None
    assert reason in failure.line


def test_no_kernel_is_left_of_a_nursery_that_was_killed(tmp_path: Path) -> None:
    with nursery.opened() as made:
        if made is None:
            pytest.skip("kernels are not forked on this system")
        failure = said(tmp_path, "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass", made)[1]
        assert failure is not None
        assert "it was killed" in failure.line
        there = [one.info for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(tmp_path)]
        assert not there
        assert said(tmp_path, "print(1)", made) == ("1\n", None)  # started anew
