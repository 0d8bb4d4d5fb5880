"""Exit codes: one table, made from the code, and commands that end as it says."""

from __future__ import annotations

import itertools
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ragbench.old.cli.console import interruption
from ragbench.old.core.endings import MEANINGS, WORST, Ending, worst
from tests.old.cli.command_line import ragbench
from tests.old.small_project import add

PACKAGE = Path(__file__).parents[3] / "ragbench" / "old"


def test_the_codes_of_all_ends() -> None:
    assert [code.value for code in MEANINGS] == [0, 1, 2, 3, 4, 5, 130, 143]
    assert set(interruption.CODES.values()) == {Ending.INTERRUPTED, Ending.TERMINATED}


def test_of_several_the_worst_one_is_told() -> None:
    assert worst() == Ending.HELD
    for several in itertools.permutations(WORST, 2):
        assert worst(*several) == min(several, key=WORST.index)
    assert WORST[0] == Ending.UNMEASURED, "a gate on what was not measured says nothing"


def test_no_command_ends_with_a_number_of_its_own() -> None:
    """Numbers that stand in the code are those of processes that read something for a command."""
    found = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in sorted([*(PACKAGE / "commands").rglob("*.py"), PACKAGE / "__main__.py"])
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"(typer\.Exit|sys\.exit|SystemExit)\(\d+\)", line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("metrics", "mrr"), 0),
        (("metrics", "mrrr"), 3),
        (("nothing",), 3),
        (("run", "--nothing"), 3),
        (("run", "tier1_retrieval", "-p", "k=many"), 3),
        (("run", "nowhere"), 3),
        (("gate", "nowhere"), 3),
        (("score", "nowhere.jsonl"), 3),
        (("score", "a.jsonl", "-m", "exact_match", "--gate", "exact_match"), 3),
        (("score", "a.jsonl", "-m", "exact_match"), 0),
        (("score", "a.jsonl", "-m", "exact_match", "--gate", "exact_match>=0.1"), 0),
        (("score", "a.jsonl", "-m", "exact_match", "--gate", "exact_match>=0.9"), 1),
        (("score", "a.jsonl", "-m", "exact_match", "--gate", "exact_match>=0.45"), 2),
        (("score", "b.jsonl", "-m", "faithfulness", "--judge", "lexical"), 4),
        (("score", "b.jsonl", "-m", "faithfulness", "--judge", "lexical", "--gate", "faithfulness>=0.1"), 4),
        (("score", "a.jsonl", "-m", "faithfulness", "--judge", "dead"), 4),
        (("score", "a.jsonl", "-m", "faithfulness", "-m", "exact_match", "--judge", "dead"), 4),
        (("score", "a.jsonl", "-m", "exact_match", "-m", "faithfulness", "--judge", "dead", "--gate",
          "exact_match>=0.9"), 4),
        (("compare", "one", "two"), 3),
        (("publish", "nowhere", "--to", "site"), 3),
        (("runs", "send", "nowhere", "--to", "memory://x/y"), 3),
        (("load", "beir", "nowhere"), 3),
        (("trec", "eval", "nowhere", "nowhere"), 3),
    ],
)  # fmt: skip
def test_every_command_ends_as_the_table_says(project: Path, words: tuple[str, ...], code: int) -> None:
    add(project, '[judges.dead]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nattempts = 1\n')
    good, bad, none = (
        f'{{"user_input": "Q?", "response": {given}, "reference": "That.", "retrieved_contexts": ["That."]}}\n'
        for given in ('"That."', '"This."', '""')
    )
    (project / "a.jsonl").write_text((good + bad) * 20, encoding="utf-8")
    (project / "b.jsonl").write_text(none * 20, encoding="utf-8")
    done = ragbench(*words)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    if code == Ending.UNMEASURED:
        assert "nothing was measured" in done.stderr


@pytest.mark.fault("disk", tried="a limit on a file's size (ulimit -f), in a command", count=1)
def test_a_file_that_may_not_grow_ends_in_one_sentence(tmp_path: Path) -> None:
    rows = '{"user_input": "Q?", "response": "That.", "reference": "That."}\n' * 1000
    (tmp_path / "a.jsonl").write_text(rows, encoding="utf-8")
    (tmp_path / "x.json").write_text("old", encoding="utf-8")
    words = [sys.executable, "-P", "-m", "ragbench", "score", "a.jsonl", "-m", "exact_match", "--json", "x.json"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, 2**14)),
    )  # fmt: skip
    assert done.returncode == Ending.REFUSED, done.stderr
    [said] = [line for line in done.stderr.splitlines() if line.startswith("ragbench: ")]
    assert said.startswith("ragbench: x.json: File too large; what was there is as it was")
    assert "ulimit -f" in said
    assert "Traceback" not in done.stderr
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == "old"


@pytest.mark.fault("disk", tried="a limit on a file's size, where the database is made", count=1)
def test_a_database_that_cannot_be_made_says_what_the_server_could_not_do() -> None:
    """PostgreSQL's last word is that it tidies up; why it has to stands before."""
    words = [sys.executable, "-P", "-m", "ragbench", "db", "start"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # for root's server, which is another user's
        done = subprocess.run(
            words, env={**os.environ, "RAGBENCH_DATABASE__FOLDER": folder}, capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16)),
        )  # fmt: skip
    assert done.returncode == Ending.REFUSED
    assert re.search(r"initdb failed in .*: FATAL: could not .*: File too large; mend what it says", done.stderr)
    assert len(done.stderr.splitlines()) == 1


IN_A_LIBRARY = """
import os, signal
from typing import Any
from pydantic import BaseModel, field_serializer
from ragbench.old.cli.console import interruption

class Row(BaseModel):
    text: str

    @field_serializer("text")
    def written(self, text: str) -> str:
        os.kill(os.getpid(), {number})
        return text

def main() -> None:
    Row(text="a").model_dump_json()

interruption.PROGRAM = "__main__:main"
interruption.program()
"""


@pytest.mark.parametrize(("number", "code"), [(int(number), int(code)) for number, code in interruption.CODES.items()])
def test_a_signal_that_a_library_makes_an_error_of_ends_in_one_sentence(number: int, code: int, tmp_path: Path) -> None:
    """As while rows of a file are written: pydantic makes an error of its own of whatever is raised meanwhile."""
    script = tmp_path / "written.py"
    script.write_text(IN_A_LIBRARY.format(number=number), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == "\ninterrupted; what models have answered is kept. To go on: ragbench\n"


WHERE_NOTHING_CAN_BE_RAISED = """
import os, signal, sys, time, weakref
from ragbench.old.__main__ import application
from ragbench.old.cli.console import interruption

class Finder:
    def find_spec(self, *module: object) -> None:
        sys.meta_path.remove(self)
        signal.getsignal({number})({number}, sys._getframe(1))

@application.command()
def tidied() -> None:
    lock = {{0}}
    reference = weakref.ref(lock, lambda gone: os.kill(os.getpid(), {number}))
    del lock
    time.sleep(20)

@application.command()
def imported() -> None:
    sys.meta_path.insert(0, Finder())
    import this
    time.sleep(20)

interruption.program()
"""


@pytest.mark.parametrize(("command", "printed"), [("tidied", ""), ("imported", "The Zen of Python, by Tim Peters")])
@pytest.mark.parametrize("number", [int(number) for number in interruption.CODES])
def test_a_signal_is_not_lost_where_nothing_can_be_raised(
    number: int, command: str, printed: str, tmp_path: Path
) -> None:
    """In a weak reference's callback, whose errors Python only prints, and among the locks of imports."""
    script = tmp_path / "tidied.py"
    script.write_text(WHERE_NOTHING_CAN_BE_RAISED.format(number=number), encoding="utf-8")
    words = [sys.executable, str(script), command]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=15)
    assert (done.returncode, done.stdout.partition("\n")[0]) == (interruption.CODES[signal.Signals(number)], printed)
    said = "interrupted; what models have answered is kept. To go on: ragbench"
    assert done.stderr == f"\n{said} {command}\n"


def test_an_error_without_a_signal_is_told_whole(tmp_path: Path) -> None:
    script = tmp_path / "written.py"
    script.write_text(IN_A_LIBRARY.format(number=0), encoding="utf-8")
    script.write_text(script.read_text().replace("os.kill(os.getpid(), 0)", "raise LookupError('no such row')"))
    done = subprocess.run([sys.executable, str(script)], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == Ending.UNMEASURED
    assert "no such row" in done.stderr
    assert "interrupted" not in done.stderr
