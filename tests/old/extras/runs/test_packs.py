"""A run travels in one file: the same page elsewhere, again without a call, and nothing of a stranger's comes in."""

from __future__ import annotations

import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragbench.old import report
from ragbench.old.__main__ import application
from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from ragbench.old.extras.runs import packs
from ragbench.old.report.keeping import results
from ragbench.old.store import Store
from ragbench.old.store.runs import Runs
from tests.old import small_project
from tests.old.judge import judged_project
from tests.old.llm.chat_server import ChatServer
from tests.old.store.test_copying import databases as databases


def project(folder: Path, own: Settings, url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with a database of its own the current one; the path of its judged notebook is returned."""
    folder.mkdir()
    assert own.database_url is not None
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", own.database_url.get_secret_value())
    monkeypatch.setenv("RAGBENCH_CONFIG", str(small_project.make(folder, folder / "none")))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))  # of the notebook, which measures with tests/
    monkeypatch.chdir(folder)
    notebook = judged_project.make(folder, url)
    settings.load.cache_clear()
    return notebook


def pages(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.html")}


@pytest.fixture
def packed(tmp_path: Path, databases: Callable[[str], Settings], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packed run without replies, in a project whose database is empty."""
    project(tmp_path / "first", databases("pack_from"), "http://127.0.0.1:9/v1", monkeypatch)
    folder = report.run(["tier1_retrieval"], {"resamples": 200}).folder
    packs.export(folder, tmp_path / "run.zip")
    project(tmp_path / "second", databases("pack_to"), "http://127.0.0.1:9/v1", monkeypatch)
    return tmp_path / "run.zip"


@pytest.mark.slow
def test_a_run_is_drawn_and_run_again_elsewhere_without_a_call(
    tmp_path: Path, databases: Callable[[str], Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.zip"
    with ChatServer().running() as server:
        notebook = project(tmp_path / "first", databases("pack_from"), server.url, monkeypatch)
        first = report.run([notebook], keep=True)
        assert first.exit_code == 0, first.failures
        assert not first.unkept
        paid = server.calls
        keys = (first.folder / "replies.txt").read_text().split()
        assert len(keys) == paid > 0
        with Store.open(settings.load()) as store:
            assert Runs(store.engine).find(first.folder.name).replies == tuple(keys)
        done = CliRunner().invoke(application, ["runs", "export", "latest", str(file)])
        assert f"{paid} replies written" in done.output, done.output
        before = file.read_bytes()
        packs.export("latest", file)
        assert file.read_bytes() == before

        notebook = project(tmp_path / "second", databases("pack_to"), server.url, monkeypatch)
        old = os.umask(0o027)
        try:
            done = CliRunner().invoke(application, ["runs", "import", str(file)])
        finally:
            os.umask(old)
        assert f"{paid} replies, {paid} of them new" in done.output, done.output
        assert "data set" not in done.output, "the data are the same here"
        arrived = tmp_path / "second" / "reports" / first.folder.name
        assert pages(arrived) == pages(first.folder)
        assert stat.S_IMODE(arrived.stat().st_mode) == 0o750
        assert {stat.S_IMODE(path.stat().st_mode) for path in arrived.rglob("*") if path.is_file()} == {0o640}
        again = report.run([notebook])
        assert server.calls == paid, "every reply came with the run"
        told = re.compile(
            rb'<p class="rb-standin">Judge (?:one|two): (\d+) of \1 replies were imported from a file: [^<]+</p>'
        )
        assert [len(told.findall(page)) for page in pages(first.folder).values()] == [0] * len(pages(first.folder))
        assert sum(len(told.findall(page)) for page in pages(again.folder).values()) == 4, "a page, and the index"
        others = {name: told.sub(b"", page) for name, page in pages(again.folder).items()}
        assert others == pages(first.folder), "it says that its replies were imported, and else the same"
        assert "0 of them new" in CliRunner().invoke(application, ["runs", "import", str(file)]).output


Members = dict[str, bytes]


def said(**changed: Any) -> Callable[[Members], object]:
    def change(members: Members) -> None:
        members["pack.json"] = json.dumps({**json.loads(members["pack.json"]), **changed}).encode()

    return change


def named(name: str) -> Callable[[Members], object]:
    return lambda members: members.update({name: b"x"})


HOSTILE: dict[str, tuple[Callable[[Members], object], str]] = {
    **{f"the name {name!r}": (named(name), "is no file of a run") for name in (
        "../x", "/etc/x", "parts/../../x", "parts/a/../../findings.json", "C:\\x", "index.html", "page.js", "..", ".x",
        ".ipynb", "parts/.x/findings.json", "a/b.ipynb", "parts/a/b/c.parquet", "parts/a/x.pkl", "a\nb.ipynb",
        "x" * 300)},
    **{f"the run {run!r}": (said(run=run), "run: ")
       for run in ("../x", "latest", "x.partial", "", "a/b", ".x", "x" * 300)},
    "another format": (said(format=2), "format"),
    "more said": (said(more=1), "more"),
    "no index": (lambda members: members.pop("pack.json"), "no packed run"),
    "no manifest": (lambda members: members.pop("manifest.json"), "cannot be drawn"),
    "a manifest that leads away": (lambda members: members.update(
        {"manifest.json": b'{"notebooks": [{"name": "../../x"}]}'}), "cannot be drawn"),
    "a deep notebook": (lambda members: members.update({"tier1_retrieval.ipynb": b"[" * 200_000}), "cannot be drawn"),
    "a table of noise": (
        lambda members: members.update({"scores.parquet": b"PAR1" + os.urandom(99)}), "is too large, or none"),
    "forged replies": (lambda members: members.update({"replies.jsonl": b'{"key": "x"}\n'}), "exactly the fields"),
    "two names alike": (named("Tier1_retrieval.ipynb"), "capital letters"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.fault("paths", tried="packed runs: names that lead away, forged, cut, large", count=38)
def test_a_hostile_file_leaves_nothing_behind(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(packed) as file:
        whole = {name: file.read(name) for name in file.namelist()}
    bad, second = tmp_path / "bad.zip", tmp_path / "second"
    before = sorted(str(path) for path in second.rglob("*"))

    def refused(message: str) -> None:
        with pytest.raises(ValueError, match=message) as caught:
            packs.bring_in(bad)
        assert "\n" not in str(caught.value)
        assert [path for path in sorted(str(path) for path in second.rglob("*")) if path not in before] in (
            [], [str(second / "reports")])  # fmt: skip

    for change, message in HOSTILE.values():
        members = dict(whole)
        change(members)
        with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in members.items():
                file.writestr(zipfile.ZipInfo(name), data)
        refused(message)
    for cut in (0, 100, packed.stat().st_size // 2):
        bad.write_bytes(packed.read_bytes()[:cut])
        refused("no packed run")
    link = zipfile.ZipInfo("gate.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(bad, "w") as file:
        file.writestr(link, "/etc/passwd")
    refused("is a link")
    with monkeypatch.context() as patch:
        bad.write_bytes(packed.read_bytes())
        patch.setattr(packs, "MOST_BYTES", 1000)
        refused("at most")
        patch.setattr(packs, "MOST_BYTES", 2**31)
        patch.setattr(results, "MOST_IN_TABLES", 3)
        refused("is too large, or none")
    assert packs.bring_in(packed).index.is_file()
