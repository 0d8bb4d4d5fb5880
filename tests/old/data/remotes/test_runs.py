"""Runs on shared storage: sent whole, read again by every reader, and nothing lost where that fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest

from ragbench.old import report
from ragbench.old.core.settings.urls import Url
from ragbench.old.data import remotes
from ragbench.old.data.remotes import RemoteError
from ragbench.old.report.keeping import kept
from tests.old.cli.command_line import one_line, ragbench
from tests.old.report import kept_runs
from tests.old.small_project import add
from tests.old.views.measurements import measurement

REPORTS = "memory://bucket/reports"
RUN = "20261122T070000-01"


@pytest.fixture(autouse=True)
def _own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def memory() -> Iterator[Any]:
    storage = fsspec.filesystem("memory")
    yield storage
    storage.store.clear()
    storage.pseudo_dirs[:] = [""]


@pytest.fixture
def run(project: Path) -> Path:
    """A finished run among the project's reports, drawn."""
    made = kept_runs.make(project / "reports", RUN, measurement())
    report.render(made)
    return made


def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are written from now on, in their order."""
    paths: list[str] = []
    write = remotes._write

    def noted(storage: Any, url: Url, source: Path, path: str) -> None:
        paths.append(path)
        write(storage, url, source, path)

    monkeypatch.setattr(remotes, "_write", noted)
    return paths


def test_a_run_is_sent_whole_and_what_leads_to_it_last(run: Path, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = written(monkeypatch)
    assert kept.send(RUN, REPORTS) == f"{REPORTS}/{RUN}/index.html"
    assert [path.rpartition("/")[2] for path in paths[-2:]] == ["index.html", "manifest.json"]
    for path in (one for one in run.rglob("*") if one.is_file()):
        assert memory.cat_file(f"/bucket/reports/{RUN}/{path.relative_to(run).as_posix()}") == path.read_bytes()
    assert memory.cat_file("/bucket/reports/latest") == f"{RUN}\n".encode()


def test_a_run_is_read_at_its_url_by_every_reader(project: Path, run: Path, memory: Any) -> None:
    kept_runs.make(project / "reports", "20261123T070000-01", measurement(), started=kept_runs.STARTED + 86_400)
    kept.send(RUN, REPORTS)
    kept.send("20261123T070000-01", f"{REPORTS}/")
    assert kept.find(f"{REPORTS}/latest").id == "20261123T070000-01"
    add(project, '[gate.own]\nnotebook = "tier1_retrieval"\nmetric = "mrr"\nat_least = 0.0\n')
    done = ragbench("gate", f"{REPORTS}/{RUN}")
    assert done.returncode == 0, done.stderr
    place = kept.pages_of(f"{REPORTS}/{RUN}")
    assert place.name == RUN
    assert project / "reports" not in place.parents


def test_pages_and_strange_files_beside_a_run_are_not_brought(run: Path, memory: Any) -> None:
    memory.pipe_file(f"/bucket/reports/{RUN}/evil.js", b"alert(1)")
    kept.send(RUN, REPORTS)
    place = kept.pages_of(f"{REPORTS}/{RUN}")
    assert not [path for path in place.rglob("*") if path.suffix in (".html", ".js")]


def test_half_a_run_is_none(memory: Any) -> None:
    memory.pipe_file(f"/bucket/reports/{RUN}/summary.json", b"{}")
    with pytest.raises(FileNotFoundError, match=r"holds no whole run: there is no manifest\.json"):
        kept.pages_of(f"{REPORTS}/{RUN}")
    with pytest.raises(RemoteError, match=f"there is no such run; {REPORTS} has {RUN}"):
        kept.pages_of(f"{REPORTS}/none")


def test_another_run_of_the_same_id_is_not_replaced(run: Path, memory: Any) -> None:
    kept.send(RUN, REPORTS)
    kept.send(RUN, REPORTS)  # itself is
    path = run / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "seconds": 4.5}))
    with pytest.raises(ValueError, match="another run of that id is there"):
        kept.send(RUN, REPORTS)


def test_a_latest_of_others_stays(run: Path, memory: Any) -> None:
    memory.pipe_file("/bucket/reports/latest", b"../../etc\n")
    with pytest.raises(ValueError, match=r"latest is not ragbench's"):
        kept.send(RUN, REPORTS)
    with pytest.raises(ValueError, match=r"latest is not ragbench's"):
        kept.pages_of(f"{REPORTS}/latest")
    assert list(memory.store) == ["/bucket/reports/latest"]


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("s3://bucket/reports", "pip install s3fs"), ("https://host/reports", "https:// is only read"),
        ("filecache::s3://b", "a plain URL is expected"), ("reports", "a plain URL is expected"),
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_written_to_is_refused_before_anything_is_measured(
    project: Path, to: str, why: str
) -> None:
    done = ragbench("run", "tier1_retrieval", "--reports", to)
    assert done.returncode == 3
    assert why in one_line(done.stderr)
    assert not (project / "reports").exists()


@pytest.mark.fault("paths", tried="a mark in shared storage that lists files elsewhere", count=1)
def test_a_mark_that_others_wrote_removes_nothing_elsewhere(tmp_path: Path) -> None:
    site, far = tmp_path / "site", tmp_path / "far" / "site"
    site.mkdir()
    (site / "index.html").write_text("new")
    far.mkdir(parents=True)
    (far / ".ragbench").write_text("../kept\na/../../kept\nold.html\n")
    (far / "a").mkdir()
    (far / "old.html").write_text("old")
    (far.parent / "kept").write_text("of others")
    remotes.replace(site, Url.of(f"file://{far}"), ["index.html"])
    assert (far.parent / "kept").is_file()
    assert (far / "index.html").read_text() == "new"
    assert not (far / "old.html").exists()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given: Any) -> None:
        pass


@pytest.mark.slow
def test_a_run_reads_data_from_the_web_and_writes_reports_to_shared_storage(project: Path, tmp_path: Path) -> None:
    far = tmp_path / "shared" / "reports"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(project / "data")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/small"
        words = ("run", "tier1_retrieval", "-d", url, "-s", "good,poor", "-p", "resamples=1000", "-p", "k=3")
        done = ragbench(*words, "--reports", f"file://{far}")
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    [run] = [path for path in (project / "reports").iterdir() if not path.is_symlink()]
    assert done.stdout.strip().endswith(f"file://{far}/{run.name}/index.html")
    assert (far / "latest").read_text() == f"{run.name}\n"
    manifest = json.loads((far / run.name / "manifest.json").read_text())
    assert manifest["data"]["tier1_retrieval"]["dataset"] == f"{url}:en"
    assert url in (far / run.name / "tier1_retrieval.html").read_text()
    assert sorted(p.relative_to(far / run.name) for p in (far / run.name).rglob("*")) == sorted(
        p.relative_to(run) for p in run.rglob("*")
    )
    assert not (run / "copies").exists()
