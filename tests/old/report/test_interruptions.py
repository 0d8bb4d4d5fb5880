"""A run that is stopped, by whatever signal: no process stays, what was paid for is kept, and how to go on is said."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest

from ragbench.old.report.execution import execute
from ragbench.old.store import Store
from tests.old.embed.servers import embeddings_server
from tests.old.judge import judged_project
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines
from tests.old.store.own_database import frozen, own_database

ROOT = Path(__file__).parents[3]
RUNNER = """
import sys
from pathlib import Path
from ragbench.old import report
from ragbench.old.report.execution import kernel_pool
kernel_pool.FORKED_FROM = int(sys.argv[2])
report.run([Path(sys.argv[1])])
"""
KILLS = 20


def sleeper(folder: Path, mark: str) -> Path:
    """A notebook that starts a process of its own, tells that it did, and sleeps."""
    source = (
        "import os, pathlib, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)  # {mark}'])\n"
        f"pathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(60)  # {mark}"
    )
    path = folder / "sleeper.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="sleep")]), path)
    return path


def started(folder: Path, mark: str, *, forked: bool = False, **options: Any) -> subprocess.Popen[Any]:
    """A run of the sleeping notebook, whose processes have the mark. forked: as kernels of many notebooks are."""
    command = [sys.executable, "-c", RUNNER, str(sleeper(folder, mark)), "1" if forked else "2"]
    return subprocess.Popen(command, cwd=folder, env={**os.environ, "TEST_MARK": mark}, **options)


def asked(words: Sequence[str], **variables: str) -> subprocess.Popen[str]:
    """A command that tells what it says."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(ROOT), **variables}, **pipes)


def wait(condition: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def alive(mark: str) -> list[int]:
    """Processes, zombies aside, that have the mark in their command or their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if any(mark.encode() in (path / part).read_bytes() for part in ("cmdline", "environ")):
                found.append(int(path.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


@pytest.mark.fault("orphans", tried="SIGINT and SIGTERM to a run with kernels", count=4)
@pytest.mark.fault("interrupt", tried="SIGINT and SIGTERM to a run with kernels", count=4)
@pytest.mark.slow
@pytest.mark.parametrize("forked", [False, True])
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGINT, -2)])
def test_a_signal_ends_the_run_with_all_its_processes(
    bare: Path, number: signal.Signals, expected: int, forked: bool
) -> None:
    mark = f"ragbench-test-{os.getpid()}-{number}-{forked}"
    runner = started(bare, mark, forked=forked)
    wait(lambda: (bare / "pid").exists(), 60)
    runner.send_signal(number)
    assert runner.wait(20) == expected
    wait(lambda: not alive(mark), 5)
    (partial,) = (bare / "reports").iterdir()
    assert partial.name.endswith(".partial")
    assert json.loads((partial / "manifest.json").read_text())["status"] == "interrupted"


@pytest.mark.fault("orphans", tried="kills of a run with kernels", count=20)
@pytest.mark.slow
def test_twenty_kills_leave_no_process(bare: Path) -> None:
    """At any point, from the kernel's first breath to the middle of its work, with a child of its own."""
    source, left = random.Random(3), []
    for kill in range(KILLS):
        mark = f"ragbench-test-{os.getpid()}-kill{kill}"
        (bare / "pid").unlink(missing_ok=True)
        runner = started(bare, mark, forked=kill % 4 > 1)
        wait(lambda mark=mark: len(alive(mark)) >= 2, 60)  # the runner and what it started
        if kill % 2:
            wait(lambda: (bare / "pid").exists(), 60)
        time.sleep(source.uniform(0, 0.5))
        runner.send_signal(signal.SIGKILL)
        runner.wait(20)
        end = time.monotonic() + 15
        while alive(mark) and time.monotonic() < end:
            time.sleep(0.1)
        left += alive(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.mark.fault("interrupt", tried="SIGINT and SIGTERM at any point of judging", count=20)
@pytest.mark.slow
def test_twenty_interruptions_say_how_to_go_on_and_lose_nothing(project: Path) -> None:
    """SIGINT and SIGTERM by turns, of `run` and of `score`, at any point of judging; then both come to their end."""
    source, answers, in_flight = random.Random(4), 160, 4
    rows = [
        {"user_input": f"What of {n}?", "response": f"It is {n}.", "retrieved_contexts": [f"It was {n}."]}
        for n in range(answers)
    ]
    (project / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    with ChatServer(latency=0.1, answer=judged_project.reply).running() as server:
        notebook = str(judged_project.make(project, server.url, "one", answers, concurrency=in_flight))
        score = "score answers.json -m faithfulness --judge one --language"
        commands = {f"run {notebook} -p judges=one": 3 * answers}  # and the calls that each needs
        commands |= {f"{score} {language}": 2 * answers for language in ("en", "ru")}
        for turn in range(KILLS):
            number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[turn % 2]
            command = list(commands)[turn % 3]
            words = [sys.executable, "-m", "ragbench", *command.split()]
            goal = server.calls + source.randint(1, 15)
            running = asked(words)
            wait(lambda goal=goal, running=running: server.calls >= goal or running.poll() is not None, 120)
            assert running.poll() is None, running.communicate()
            running.send_signal(number)
            _, said = running.communicate(timeout=20)
            assert running.returncode == code, said
            assert f"To go on: ragbench {command}" in said
            assert "Traceback" not in said
        for command in commands:
            words = [sys.executable, "-m", "ragbench", *command.split()]
            running = asked(words)
            _, said = running.communicate(timeout=300)
            assert running.returncode == 0, said
            assert ("replies of models that the interrupted run" in said) == command.startswith("run ")
        repeats = server.calls - sum(commands.values())
        print(f"{KILLS} interruptions: {repeats} calls repeated, {KILLS * in_flight} allowed")
        assert repeats <= KILLS * in_flight


@pytest.mark.slow
@pytest.mark.fault(
    "interrupt", tried="signals at 20 moments over a command's whole length, from imports to pages", count=40
)
@pytest.mark.parametrize("command", ["run", "score"])
def test_at_any_moment_of_a_command_a_signal_is_answered(project: Path, command: str) -> None:
    """From the first import over the database's start to the drawing of pages: the code, the way on, and no trace."""
    rows = [{"user_input": f"{n}?", "response": f"{n}.", "retrieved_contexts": [f"{n}."]} for n in range(8)]
    (project / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    mark = f"ragbench-test-{os.getpid()}-{command}"
    source = random.Random(7)
    with ChatServer(latency=0.05, answer=judged_project.reply).running() as server:
        notebook = judged_project.make(project, server.url, "one", 8)
        lines = {"run": f"run {notebook} -p judges=one",
                 "score": "score answers.json -m faithfulness --judge one --out page"}  # fmt: skip
        words = [sys.executable, "-m", "ragbench", *lines[command].split()]
        began = time.monotonic()
        first = asked(words, TEST_MARK=mark)
        _, said = first.communicate(timeout=300)
        assert first.returncode == 0, said
        whole = time.monotonic() - began
        page = (project / "reports" / "latest").resolve() if command == "run" else project / "page"
        names = {path.name for path in page.iterdir()}
        for turn in range(KILLS):
            number, code = ((signal.SIGINT, 130), (signal.SIGTERM, 143))[turn % 2]
            running = asked(words, TEST_MARK=mark)
            time.sleep(0.3 + (whole - 0.3) * (turn + source.random()) / KILLS)  # the interpreter itself has begun
            running.send_signal(number)
            _, said = running.communicate(timeout=30)
            assert running.returncode in (code, 0), said
            assert ("To go on: ragbench" in said) == (running.returncode == code)
            assert "Traceback" not in said
            assert {path.name for path in page.iterdir()} >= names
            assert all(path.read_bytes().rstrip().endswith(b"</html>") for path in page.glob("*.html"))
        wait(lambda: not alive(mark), 10)


@pytest.mark.slow
@pytest.mark.fault("database", tried="a server that freezes while a command starts, and while it judges", count=4)
@pytest.mark.parametrize("calls", [0, 5])
@pytest.mark.parametrize("command", ["run", "score"])
def test_a_database_that_freezes_ends_a_command_within_a_minute(project: Path, command: str, calls: int) -> None:
    rows = [{"user_input": f"{n}?", "response": f"{n}.", "retrieved_contexts": [f"{n}."]} for n in range(80)]
    (project / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    with own_database() as own, ChatServer(latency=0.3, answer=judged_project.reply).running() as chat:
        notebook = judged_project.make(project, chat.url, "one", 80)
        line = {"run": f"run {notebook} -p judges=one", "score": "score answers.json -m faithfulness --judge one"}
        with Store.open(own):
            running = asked(
                [sys.executable, "-m", "ragbench", *line[command].split()],
                RAGBENCH_DATABASE__FOLDER=str(own.database.folder),
            )
            wait(lambda: chat.calls >= calls or running.poll() is not None, 120)
            with frozen(own):
                _, said = running.communicate(timeout=60)
    assert running.returncode in (3, 4), said
    assert "does not answer" in said
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.fault("interrupt", tried="a signal while a notebook's process is being started", count=8)
def test_a_notebook_that_is_being_started_is_not_carried_out(bare: Path) -> None:
    """The run is told to end before it knows its kernel: the kernel ends as soon as it is there, without a trace."""
    source = random.Random(8)
    for turn in range(8):
        mark = f"ragbench-test-{os.getpid()}-starting{turn}"
        before = len(list(bare.glob("reports/*.partial")))
        runner = started(bare, mark, forked=turn % 2 > 0, stderr=subprocess.PIPE)
        wait(lambda before=before: len(list(bare.glob("reports/*.partial"))) > before, 60)
        time.sleep(source.uniform(0, 1.0))
        runner.send_signal(signal.SIGTERM)
        _, said = runner.communicate(timeout=20)  # the notebook would sleep for 60 s
        assert runner.returncode == 143
        assert b"ipykernel" not in said, said.decode()
        wait(lambda mark=mark: not alive(mark), 5)


@pytest.mark.fault("interrupt", tried="a signal in a notebook's process before its first line", count=1)
def test_a_kernel_that_is_interrupted_before_its_first_line_prints_nothing() -> None:
    with execute._uninterrupted():
        kernel = asked([*execute.BEGIN, "--version"])
    kernel.send_signal(signal.SIGINT)
    version, said = kernel.communicate(timeout=60)
    assert (kernel.returncode, said) == (0, "")
    assert version[:1].isdigit()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_vectors_that_were_computed_before_a_run_was_ended_are_not_computed_again(
    project: Path, number: signal.Signals
) -> None:
    passages = 60
    lines = [{"id": f"p{n}", "text": f"Text {n} of {number.name}."} for n in range(passages)]
    write_lines(project / "data" / "small" / "chunks.en.jsonl", lines)
    write_lines(
        project / "data" / "small" / "questions.en.jsonl", [{"id": "q", "text": "What?", "relevant": {"p1": 1}}]
    )
    with embeddings_server() as server:
        server.change = lambda reply: (time.sleep(0.1), reply)[1]
        add(
            project,
            f'[embedders.far]\nkind = "openai"\nmodel = "{number.name}"\nbase_url = "{server.url}"\nbatch = 2\n'
            "concurrency = 1\n"
            '[systems.far]\nembedder = "far"\n',
        )
        words = [sys.executable, "-P", "-m", "ragbench", "run", "tier1_retrieval", "-s", "far", "-p", "repeats=1"]
        words += ["-p", "resamples=100", "-p", "timed_questions=0"]
        first = asked(words)
        wait(lambda: len(server.requests) >= 12, 120)
        first.send_signal(number)
        first.communicate(timeout=60)
        time.sleep(1.0)  # a kernel whose runner was killed ends by itself
        before = len(server.texts)
        assert before < passages
        again = asked(words)
        said, _ = again.communicate(timeout=300)
        assert again.returncode == 0
        texts = [text for text in server.texts if text.startswith("Text ")]
    assert set(texts) == {line["text"] for line in lines}
    assert len(texts) - passages <= 2, "of what was in flight alone is anything asked twice"
    [told] = [line for line in said.splitlines() if line.startswith("from the store: ")]
    kept, _, whole = told.removeprefix("from the store: ").partition(" of ")
    assert 16 <= int(kept) < passages
    assert whole == f"{passages} passage vectors (far)"
