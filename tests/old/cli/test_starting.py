"""A command starts with what it needs: rooms offer names without opening every module behind them."""

from __future__ import annotations

import ast
import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from ragbench.old import data, llm, store, systems, tiers
from ragbench.old.__main__ import application, main

PACKAGE = Path(tiers.__file__).parent.parent
DATABASE = ("sqlalchemy", "psycopg", "pgvector")
TABLES = ("pandas", "sklearn", "scipy.stats", "plotly")


@pytest.mark.parametrize("room", [tiers, data, importlib.import_module("ragbench.old.judge"), llm, store, systems])
def test_what_a_room_offers_is_what_it_tells_whoever_reads_types(room: object) -> None:
    path = Path(str(vars(room)["__file__"]))
    told = {
        alias.asname or alias.name: str(node.module)
        for branch in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    name = vars(room)["__name__"]
    assert vars(room)["__all__"] == sorted(told)
    assert set(dir(room)) >= set(told)
    for one, module in told.items():
        is_module = module == name
        found = importlib.import_module(f"{name}.{one}") if is_module else getattr(importlib.import_module(module), one)
        assert getattr(room, one) is found
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = room.nothing  # type: ignore[attr-defined]


ANSWERS = "question,answer,ground_truth\nWho?,the cat sat,the cat\nWhere?,on a mat,on the mat\n"


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["metrics", "mrr"], (*DATABASE, *TABLES)),
        (["score", "answers.csv", "-m", "rouge1_f"], (*DATABASE, *TABLES, "ragbench.old.views", "ragbench.old.report")),
        pytest.param(
            ["score", "answers.csv"], (*DATABASE, "ragbench.old.views", "ragbench.old.report"), marks=pytest.mark.slow
        ),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_command_leaves_closed_what_it_does_not_need(
    words: list[str], without: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    assert_closed(words, without, tmp_path)


def assert_closed(words: list[str], without: tuple[str, ...], folder: Path) -> None:
    program = (
        "import runpy, sys\n"
        f"sys.argv = {['ragbench', *words]!r}\n"
        "try:\n    runpy.run_module('ragbench', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('opened:', [name for name in {without!r} if name in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "RAGBENCH_CONFIG": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "opened: []"


@pytest.mark.parametrize(
    ("words", "built"),
    [("score --help", ["score"]), ("db --help", ["db"]), ("scor", None), ("--encoding koi8-r score --help", None)],
)
def test_one_command_alone_is_built_and_says_what_it_says_among_all(
    words: str, built: list[str] | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, get_command = [], typer.main.get_command
    monkeypatch.setattr("typer.main.get_command", lambda one: made.append(get_command(one)) or made[-1])
    monkeypatch.setattr(sys, "argv", ["ragbench", *words.split()])
    said = []
    for call in (main, application):
        with pytest.raises(SystemExit):
            call()
        said.append(capsys.readouterr())
    every = [list(vars(one)["commands"]) for one in made]
    assert every[0] == (built or every[1])
    assert {"init", "run", "score", "db"} < set(every[1])
    assert said[0] == said[1]
    assert any(said[0])


def test_a_projects_own_metrics_are_known_to_commands_that_open_little(tmp_path: Path) -> None:
    (tmp_path / "ragbench.toml").write_text(
        '[metrics.polite]\nquestion = "Is it polite?"\n[metrics.ndcg]\noptions = { gain = "exponential" }\n',
        encoding="utf-8",
    )
    program = (
        "from ragbench.old.tiers.basics.choices import parted\n"
        "from ragbench.old.core.metric import parse\n"
        "print(*(parse(name).label for name in parted('polite, ndcg@10')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "RAGBENCH_CONFIG": str(tmp_path / "ragbench.toml")}
    done = subprocess.run(
        [sys.executable, "-c", "import ragbench.old.metrics\nragbench.metrics.catalogue()\n" + program],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["polite", "ndcg(gain=exponential)@10"], done.stderr


def test_no_module_is_loaded_by_its_first_attribute() -> None:
    """A C module that is (`importlib.util.LazyLoader`) asks itself for its specification without end, from Python
    3.12.3 on."""
    lazy = [path for path in PACKAGE.rglob("*.py") if "LazyLoader" in path.read_text(encoding="utf-8")]
    assert lazy == []


SCRIPT = str(Path(sys.executable).with_name("ragbench"))
MOMENTS = (
    "ragbench.old.core.early",
    "importlib.metadata",
    "shlex",
    "ragbench.old.core.endings",
    "typer",
    "ragbench.old.cli.run",
)


@pytest.mark.fault("interrupt", tried="a signal while the command line is still being imported", count=12)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("begun", [[SCRIPT], [sys.executable, "-m", "ragbench"]], ids=["ragbench", "python -m"])
def test_a_signal_in_the_midst_of_imports_ends_in_one_sentence(tmp_path: Path, begun: list[str], moment: str) -> None:
    number = (signal.SIGINT, signal.SIGTERM)[MOMENTS.index(moment) % 2]
    words, settled = [*begun, "run", "--plan"], {**os.environ, "PYTHONVERBOSE": "1"}
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=settled) as child:
        assert child.stderr is not None
        imported = f"import '{moment}'".encode()
        assert any(line.startswith(imported) for line in child.stderr), "it came to that moment"
        child.send_signal(number)
        rest = child.stderr.read().decode()
    assert child.returncode == 128 + number, rest[-2000:]
    assert len(re.findall("^interrupted", rest, re.MULTILINE)) == 1
    assert "Traceback" not in rest
    assert "KeyboardInterrupt" not in rest
