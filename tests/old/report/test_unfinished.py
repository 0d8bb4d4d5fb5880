"""Runs that were killed: noticed by the next command, kept as interrupted with what they had measured, once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.report import run
from ragbench.old.report.execution.orchestration import MARK, _left, _mark, marked, notice
from ragbench.old.report.keeping import kept, results
from tests.old.cli.command_line import ragbench
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement

RUNNER = """
import sys
from pathlib import Path
from ragbench.old import report
report.run([Path(name) for name in sys.argv[1:]], keep=True)
"""
MEASURED = """
import os, time
from pathlib import Path
from tests.old.views.measurements import measurement
measurement(questions=12, notebook="own").save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / "own")
Path("began").touch()
time.sleep(60)
"""
BEGUN = {"started": kept_runs.STARTED, "notebooks": ["own", "later"]}


def notebook(project: Path, name: str, code: str) -> Path:
    cells = [
        nbformat.v4.new_code_cell("k = 1  # nothing", id="parameters", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(code, id="measure"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), project / f"{name}.ipynb")
    return project / f"{name}.ipynb"


@pytest.fixture
def killed(project: Path) -> Path:
    """The folder of a run whose process is gone: one of its two notebooks had measured something."""
    folder = project / "reports" / f"{project.name}{results.PARTIAL}"
    measurement(questions=12, notebook="own").save(folder / "parts" / "own")
    handle = _mark(folder, BEGUN)
    assert handle is not None
    handle.close()
    return folder


@pytest.mark.slow
@pytest.mark.fault("kill", tried="a run that is killed, and then noticed", count=1)
def test_a_killed_run_is_noticed_once_with_what_it_had_measured(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    sources = [str(notebook(project, "own", MEASURED)), str(notebook(project, "later", "k"))]
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, *sources], cwd=project)
    end = time.monotonic() + 90
    while not (project / "began").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    assert notice(project / "reports") == {}, "it is under way"
    runner.send_signal(signal.SIGKILL)
    runner.wait(20)
    (partial,) = (project / "reports").glob("*.partial")
    assert not (partial / results.MANIFEST).exists(), "it had no moment to say anything"

    listed = ragbench("runs", "--json", "--limit", "1000")
    name = partial.name.removesuffix(".partial")
    assert f"the run {name} was killed; it is kept as interrupted" in listed.stderr
    (found,) = [each for each in json.loads(listed.stdout) if each["folder"] == f"reports/{partial.name}"]
    assert (found["status"], found["notebooks"]) == ("interrupted", ["own"])
    assert found["headlines"], "the numbers of the notebook that came to its numbers"
    assert kept_runs.read_json(partial / results.MANIFEST)["unfinished"] == ["later"]
    again = ragbench("runs", "--json", "--limit", "1000")
    assert (again.stderr, json.loads(again.stdout)) == ("", json.loads(listed.stdout))


def test_a_run_holds_its_mark_and_takes_it_away_at_its_end(project: Path) -> None:
    folder = results.new_run(project / "reports")
    with marked(folder, BEGUN):
        assert (folder / MARK).is_file()
        assert notice(project / "reports") == {}
    assert list(folder.iterdir()) == []
    done = run([notebook(project, "own", "k")], keep=True)
    assert done.exit_code == 0
    assert [path.name for path in done.folder.iterdir() if path.name.startswith(".")] == []


@pytest.mark.fault("parallel-runs", tried="two commands that find a killed run", count=2)
def test_two_commands_that_look_at_the_same_time_notice_it_once(killed: Path) -> None:
    with _left(killed) as left, _left(killed) as other:
        assert (left, other) == (True, False)
    assert list(notice(killed.parent).values()) == [""]
    assert notice(killed.parent) == {}


@pytest.mark.fault("database", tried="a server that is away while a killed run is noticed", count=1)
def test_it_is_noticed_again_where_the_database_was_away(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(folder: Path) -> str:
        raise OSError("the server is away\nand more")

    with monkeypatch.context() as patched:
        patched.setattr(kept, "record", away)
        assert notice(killed.parent) == {killed.name.removesuffix(".partial"): "the server is away"}
    assert kept_runs.read_json(killed / results.MANIFEST)["status"] == "interrupted", "the folder says it already"
    assert list(notice(killed.parent).values()) == [""]
    assert kept.find(killed.name.removesuffix(".partial")).status == "interrupted"


def test_a_mark_that_was_cut_says_when_at_least(killed: Path) -> None:
    (killed / MARK).write_text('{"started": 17', encoding="utf-8")
    assert list(notice(killed.parent).values()) == [""]
    found = kept_runs.read_json(killed / results.MANIFEST)
    assert abs(found["started"] - time.time()) < 600
    assert found["unfinished"] == []


@pytest.mark.fault("secrets", tried="a key in what a killed run left", count=1)
def test_secrets_do_not_come_into_the_database_by_a_kill(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_API_KEY", "canary-5d41402abc4b")
    made = measurement(questions=12, notebook="own", facts={"said": "refused canary-5d41402abc4b"})
    made.save(killed / "parts" / "own")
    settings.load.cache_clear()
    notice(killed.parent)
    record = kept.find(killed.name)
    assert record.parts[0].facts["said"] == "refused ••••"


@pytest.mark.fault("kill", tried="a measurement cut in two", count=1)
def test_a_measurement_that_a_kill_cut_in_two_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = measurement(questions=12)

    def cut(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", cut)
        with pytest.raises(KeyboardInterrupt):
            made.save(tmp_path)
    assert not list(tmp_path.glob("*findings.json*"))
    made.save(tmp_path)
    assert Measurement.load(tmp_path).estimates == made.estimates
