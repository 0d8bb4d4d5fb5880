"""Faults around runs: full and read-only disks, many at once, secrets in every channel; the same bytes twice."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import text

from ragbench.old import report
from ragbench.old.core import settings
from ragbench.old.report.keeping import kept
from ragbench.old.store import Store
from tests.old import small_project
from tests.old.faults.small_disk import contents, fill, small_disk
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement

ROOT = Path(__file__).parents[3]


NOTEBOOK = """import os
from pathlib import Path
from tests.old.views.measurements import measurement
made = measurement(questions=12, notebook="own")
made.save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / "own")
"""


def notebook(project: Path, more: str = "") -> Path:
    return small_project.own_notebook(project, NOTEBOOK + more)


@pytest.mark.fault("disk", tried="a full disk, under a report and a site", count=2)
def test_a_full_disk_leaves_the_old_report_and_the_old_site_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    publish = pytest.importorskip("ragbench.old.extras.publishing.publish")
    run = kept_runs.make(project / "reports", "one", measurement(questions=6))
    with small_disk(project / "disk") as disk:
        old = kept_runs.make(disk / "reports", "old", measurement(questions=2))
        (disk / "reports" / "latest").symlink_to("old")
        (disk / "site").mkdir()
        for name in (".ragbench", "index.html"):
            (disk / "site" / name).write_text("old")
        fill(disk, but=100_000)  # less than the script that draws charts and the styles take
        before = contents(disk)
        with pytest.raises(OSError, match="No space left"):
            publish.publish(run, disk / "site")
        assert contents(disk) == before
        with pytest.raises(OSError, match="No space left"):
            report.run([notebook(project)], out=disk / "reports")
        assert {name: data for name, data in contents(disk).items() if ".partial/" not in name} == before
        assert (disk / "reports" / "latest").resolve() == old.resolve()
        assert not [path for path in disk.rglob(".*") if path.name != ".ragbench"], "no half of a file stays"
        (partial,) = disk.glob("reports/*.partial")
        pages = [path for path in partial.iterdir() if path.suffix == ".html"]
        assert all(path.read_bytes().rstrip().endswith(b"</html>") for path in pages)


@pytest.mark.fault("disk", tried="a read-only disk, under a report and a site", count=2)
def test_a_disk_that_cannot_be_written_to_says_so_and_nothing_is_lost(project: Path) -> None:
    publish = pytest.importorskip("ragbench.old.extras.publishing.publish")
    run = kept_runs.make(project / "reports", "one", measurement(questions=6))
    with small_disk(project / "disk") as disk:
        (disk / "site").mkdir()
        (disk / "site" / ".ragbench").write_text("")
        before = contents(disk)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(OSError, match="Read-only file system"):
            publish.publish(run, disk / "site")
        with pytest.raises(OSError, match="Read-only file system"):
            report.run([notebook(project)], out=disk / "reports")
        assert contents(disk) == before


RECORD = """
import sys
from pathlib import Path
from ragbench.old.report.keeping import kept
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement
made = measurement(("a", "b"), questions=8)
for number in range(25):
    folder = kept_runs.make(Path(sys.argv[1]), f"{sys.argv[2]}-{number}", made)
    print(kept.record(folder))
"""


@pytest.mark.fault("parallel-runs", tried="runs of eight processes, recorded under equal names", count=200)
@pytest.mark.slow
def test_eight_processes_record_25_runs_each_under_the_same_names(project: Path, store: Store) -> None:
    """The reports of every process are folders of their own with equal names: 200 of 200 are kept apart."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", RECORD, str(project / f"reports{n}"), project.name],
            stdout=subprocess.PIPE, text=True, env=environment,
        )
        for n in range(8)
    ]  # fmt: skip
    names = [name for worker in workers for name in worker.communicate(timeout=300)[0].split()]
    assert [worker.returncode for worker in workers] == [0] * 8
    assert len(names) == len(set(names)) == 200
    from ragbench.old.store.runs import Runs

    runs = Runs(store.engine)
    found = [runs.find(name) for name in names]
    assert len({one.folder for one in found}) == 200
    assert all(len(one.scores[0].samples) == 8 for one in found)


CANARIES = {
    "OPENAI_API_KEY": "sk-canary-0123456789abcdef",
    "MY_SECRET": "canary-of-a-secret",
    "HF_TOKEN": "hf_canary_0123456789",
    "DB_PASSWORD": "canary-of-a-password",
    "SOME_URL": "https://user:canary-in-url@example.org/x",
    "RAGBENCH_DATABASE_URL": "postgresql://reader:canary-p%40ss@127.0.0.1:1/rag",
}
PARTS = [*CANARIES.values(), "canary-p%40ss", "canary-p@ss", "canary-in-url"]
LEAK = """
from dataclasses import replace
leaked = " ".join(os.environ.get(name, "") for name in {names!r})
made = replace(made, facts={{**made.facts, "note": leaked, "systems": [{{"name": "x", "prompt": leaked}}]}},
               scores=made.scores.assign(reason=leaked))
made.save(Path(os.environ["RAGBENCH_RUN_FOLDER"]) / "parts" / "own")
print(leaked)
raise RuntimeError("cannot reach " + leaked)
"""
RUNNER = """
import sys
from pathlib import Path
from ragbench.old import report
result = report.run([Path(sys.argv[1])], {"k": 2}, keep=True)
print(result.folder)
print(result.failures, result.unkept, file=sys.stderr)
"""


def hits(folder: Path) -> list[tuple[str, str]]:
    """Files of a folder that hold a secret."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = pd.read_parquet(path).to_csv().encode() if path.suffix == ".parquet" else path.read_bytes()
            found += [(path.name, secret) for secret in PARTS if secret.encode() in data]
    return found


@pytest.mark.slow
@pytest.mark.fault(
    "secrets", tried="canary keys printed and raised in a notebook, looked for in files, logs and tables", count=12
)
@pytest.mark.parametrize("database", ["away", "there"])
def test_no_secret_reaches_a_report_an_export_a_log_or_the_database(
    project: Path, store: Store, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, value in CANARIES.items():
        known = database == "away" or name != "RAGBENCH_DATABASE_URL"
        monkeypatch.setenv(name if known else "OTHER_DATABASE", value)
    settings.load.cache_clear()
    path = notebook(project, LEAK.format(names=[*CANARIES, "OTHER_DATABASE"]))
    done = subprocess.run([sys.executable, "-c", RUNNER, str(path)], capture_output=True, text=True, cwd=project)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert not [secret for secret in PARTS if secret in said]
    assert ("Connection refused" in said) == (database == "away")
    folder = Path(done.stdout.strip().splitlines()[-1])
    pytest.importorskip("ragbench.old.extras.publishing.publish").publish(folder, project / "site")
    assert hits(folder) + hits(project / "site") == []
    if database == "there":
        tables = ("run", "run_part", "run_value", "run_comparison", "run_question", "run_score")
        with store.engine.connect() as connection:
            rows = "".join(str(connection.execute(text(f"SELECT * FROM ragbench.{name}")).all()) for name in tables)
        assert folder.name in rows
        assert not [secret for secret in PARTS if secret in rows]
    assert not [secret for secret in PARTS if secret in repr(kept.of_folder(folder))]


@pytest.mark.fault("determinism", tried="two runs to the byte", count=2)
@pytest.mark.slow
def test_two_runs_of_all_notebooks_and_their_drawing_anew_give_the_same_bytes(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything that `ragbench run` measures, on the sample data set, twice; then drawn again from what was stored."""
    from ragbench.old.cli.run import tiers

    (tmp_path / "ragbench.toml").write_bytes((ROOT / "ragbench.toml").read_bytes())  # no checkout: no commit on pages
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    monkeypatch.setenv("RAGBENCH_DATA_FOLDER", str(ROOT / "data"))
    monkeypatch.setenv("RAGBENCH_NOTEBOOKS_FOLDER", str(ROOT / "notebooks"))
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    names = tiers()
    assert len(names) >= 4
    runs = [report.run(names, {"resamples": 500}, out=tmp_path / str(number), jobs=2) for number in range(2)]
    assert [dict(run.failures) for run in runs] == [{}, {}]
    first, second = (_drawn(run.folder) for run in runs)
    assert {f"{name}.html" for name in names if name != "overview"} <= set(first), "the index is its page"
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    report.render(runs[0].folder)
    anew = _drawn(runs[0].folder)
    assert [name for name in first if first[name] != anew[name]] == []


def _drawn(folder: Path) -> dict[str, bytes]:
    """All that a browser reads of a run."""
    return {name: data for name, data in contents(folder).items() if name.endswith((".html", ".css", ".js"))}
