"""Users' functions that hang: a question lost with its reason, never a run, and never a process that cannot end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.old.core.settings import GeneratorSettings
from ragbench.old.systems import callables
from ragbench.old.systems.callables import FunctionGenerator, FunctionSystem, OutOfTimeError, WorkerThreads
from ragbench.old.systems.generation import Task
from ragbench.old.systems.retrieval import RetrievalError
from tests.old.cli.command_line import ROOT
from tests.old.systems.test_systems import CHUNKS, QUESTIONS, dataset_of

Function = Callable[..., object]
HANGS = {
    "a call": "import time\ndef find(question, k):\n    {when}time.sleep(30)\n    return ['c2']\n",
    "a coroutine": (
        "import asyncio\nasync def find(question, k):\n    {when}await asyncio.sleep(30)\n    return ['c2']\n"
    ),
    "a coroutine that blocks its loop": (
        "import time\nasync def find(question, k):\n    {when}time.sleep(30)\n    return ['c2']\n"
    ),
    "a coroutine that will not be cancelled": (
        "import asyncio\nasync def find(question, k):\n    while {which}:\n        try:\n"
        "            await asyncio.sleep(30)\n        except asyncio.CancelledError:\n            pass\n"
        "    return ['c2']\n"
    ),
    "a lock that nobody lets go": (
        "import threading\nlock = threading.Lock()\nlock.acquire()\ndef find(question, k):\n"
        "    {when}lock.acquire()\n    return ['c2']\n"
    ),
}
FIRST = "'пароль' in question"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Writes a module beside ragbench.toml; gives its name. What will not end is left soon."""
    monkeypatch.setattr(callables, "GRACE_SECONDS", 0.1)
    (tmp_path / "ragbench.toml").write_text("")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))

    def written(text: str) -> str:
        name = f"hanging_{abs(hash(text))}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return written


@pytest.mark.parametrize("kind", HANGS)
def test_a_question_at_which_a_function_hangs_is_raised_and_the_others_go_on(
    write: Callable[[str], str], kind: str
) -> None:
    name = write(HANGS[kind].format(when=f"if {FIRST}: ", which=FIRST))
    begun = time.monotonic()
    found = FunctionSystem("mine", f"{name}:find", dataset_of(CHUNKS, QUESTIONS), 0.8).retrieve(QUESTIONS, 2)
    assert time.monotonic() - begun < 20
    said = "no answer within 0.8 s; look what it waits for, or raise systems.mine.timeout_seconds"
    assert found.errors == {"q1": said}
    assert found.facts["errors_first"] == [said]
    assert [[hit.chunk.id for hit in hits] for hits in found.hits] == [[], ["c2"], ["c2"]]


@pytest.mark.slow
def test_a_function_that_hangs_again_and_again_is_called_no_more(write: Callable[[str], str]) -> None:
    name = write("import time\ncalls = []\ndef find(question, k):\n    calls.append(1)\n    time.sleep(30)\n")
    system = FunctionSystem("mine", f"{name}:find", dataset_of(CHUNKS, QUESTIONS), 0.01)
    for _ in range(2):
        with pytest.raises(RetrievalError, match=r"failed for all 3 questions: no answer within 0\.01 s"):
            system.retrieve(QUESTIONS, 2)
    with pytest.raises(RetrievalError, match=r"not asked: 5 calls before it ran out of time one after the other"):
        system.retrieve(QUESTIONS, 2)
    assert len(sys.modules[name].calls) == callables.IN_A_ROW


@pytest.mark.slow
def test_one_answer_in_time_begins_the_count_anew(write: Callable[[str], str]) -> None:
    name = write("import time\nimport itertools\nturn = itertools.count(1)\ndef find(question, k):\n"
                 "    if next(turn) % 3:\n        time.sleep(30)\n    return ['c2']\n")  # fmt: skip
    find = callables.find(f"{name}:find", "(question, k)", 0.01, "limit")
    said = []
    for _ in range(9):
        try:
            said.append(find("?", 1))
        except OutOfTimeError:
            said.append(None)
    assert said == [None, None, ["c2"]] * 3


def test_a_generator_of_ones_own_that_hangs_loses_that_answer_alone(write: Callable[[str], str]) -> None:
    name = write(f"import time\ndef write(question, contexts):\n    if {FIRST}: time.sleep(30)\n    return 'yes'\n")
    settings = GeneratorSettings(kind="callable", callable=f"{name}:write", timeout_seconds=0.8)
    found = FunctionGenerator("mine", settings).generate([Task(question, ()) for question in QUESTIONS])
    assert [one.answer for one in found] == [None, "yes", "yes"]
    assert found[0].reason == (
        "no answer within 0.8 s; look what it waits for, or raise generators.mine.timeout_seconds"
    )


def test_a_timeout_of_the_functions_own_is_told_as_its_own(write: Callable[[str], str]) -> None:
    name = write("async def find(question, k):\n    raise TimeoutError('the index')\n")
    with pytest.raises(TimeoutError, match=r"^the index$"):
        callables.find(f"{name}:find", "(question, k)", 5, "limit")("?", 1)


def test_what_a_module_opened_is_used_in_the_thread_that_opened_it(write: Callable[[str], str]) -> None:
    name = write("import sqlite3\nbase = sqlite3.connect(':memory:')\n"
                 "def find(question, k):\n    return [base.execute('SELECT 1').fetchone()[0]]\n")  # fmt: skip
    assert callables.find(f"{name}:find", "(question, k)", 5, "limit")("?", 1) == [1]


def test_a_function_may_call_another_and_be_called_from_a_loop(write: Callable[[str], str]) -> None:
    name = write("from ragbench.old.systems.callables import WorkerThreads\n"
                 "def find(question, k):\n    return WorkerThreads.shared().do(lambda: [k])\n")  # fmt: skip
    find = callables.find(f"{name}:find", "(question, k)", 5, "limit")

    async def cell() -> object:
        return find("?", 3)

    assert asyncio.run(cell()) == [3]


def test_an_interrupt_leaves_what_hangs_behind() -> None:
    before = WorkerThreads.shared()

    class Interrupt(BaseException):
        """As a signal raises in the thread that waits."""

    class Raising(WorkerThreads):
        @staticmethod
        def _result(*_: object) -> object:
            raise Interrupt

    threads = Raising()
    with pytest.raises(Interrupt):
        threads.do(lambda: time.sleep(30))
    assert threads._left
    assert WorkerThreads.shared() is before or not before._left


@pytest.mark.slow
def test_a_process_ends_while_a_function_of_it_hangs(write: Callable[[str], str], tmp_path: Path) -> None:
    name = write(
        "import time\ndef find(question, k):\n    time.sleep(60)\nasync def wait(question, k):\n    time.sleep(60)\n"
    )
    code = (
        "from ragbench.old.systems.callables import find\n"
        f"for one in ('find', 'wait'):\n    try:\n        find('{name}:' + one, '(question, k)', 0.1, 'x')('?', 1)\n"
        "    except Exception as error:\n        print(error)\n"
    )
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAGBENCH_TRUST": "/"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("no answer within 0.1 s") == 2
    assert time.monotonic() - begun < 15
