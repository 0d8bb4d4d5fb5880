"""Shared storage by URL: what is brought, kept, refused and sent, with a real web server, real folders and memory."""

from __future__ import annotations

import functools
import json
import os
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pytest

import ragbench.old as rb
from ragbench.old.core import settings, trust
from ragbench.old.core.settings import ConfigurationError
from ragbench.old.core.settings.urls import Url, is_url, target, with_language
from ragbench.old.core.trust import UntrustedError
from ragbench.old.data import load, places, remotes
from ragbench.old.data.remotes import RemoteError
from ragbench.old.tiers.basics.session import dataset_of
from ragbench.old.tiers.scoring.corrections import read as read_labels
from ragbench.old.tiers.scoring.table_sources import find_answers
from tests.old.cli.command_line import one_line, ragbench
from tests.old.small_project import write_lines

ROWS = [{"id": "c1", "text": "The library opens at 8:00."}, {"id": "c2", "text": "The pool opens at noon."}]
ANSWER = {"user_input": "When?", "response": "At nine.", "reference": "At nine.", "retrieved_contexts": ["At nine."]}


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of copies, of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return remotes.kept()


@pytest.fixture
def memory() -> Iterator[Any]:
    storage = fsspec.filesystem("memory")
    yield storage
    storage.store.clear()
    storage.pseudo_dirs[:] = [""]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set on a disk."""
    place = tmp_path / "far" / "kb"
    place.mkdir(parents=True)
    (place / "dataset.toml").write_text('title = "Far"\nlanguages = ["en", "ru"]\n', encoding="utf-8")
    write_lines(place / "chunks.en.jsonl", ROWS)
    write_lines(place / "questions.en.jsonl", [{"id": "q1", "text": "When does it open?", "relevant": {"c1": 3}}])
    write_lines(place / "chunks.ru.jsonl", [{"id": "c1", "text": "Библиотека открывается в 8:00."}])
    (place / "README.md").write_text("not of the data set", encoding="utf-8")
    (place / "pages").mkdir()
    (place / "pages" / "other.jsonl").write_text("not read", encoding="utf-8")
    return place


@pytest.fixture
def web(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """A web server over the folder above the data set, and the paths that it was asked for by GET."""
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            if self.path.startswith("/forbidden"):
                self.send_error(403)
            else:
                super().do_GET()

        def do_HEAD(self) -> None:
            if self.path.startswith("/forbidden"):
                self.send_error(403)
            else:
                super().do_HEAD()

        def log_message(self, *given: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def into_memory(storage: Any, folder: Path, to: str = "/bucket/kb") -> str:
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        storage.pipe_file(f"{to}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return f"memory:/{to}"


class TestUrls:
    @pytest.mark.parametrize(
        "text",
        [
            "s3://bucket/kb", "gs://b", "sftp://me@host:22/srv/kb", "file:///srv/kb", "HTTPS://host:8080/a/kb/",
            "abfs://box@account.dfs.core.windows.net/kb",
        ],
    )  # fmt: skip
    def test_a_plain_one_is_taken_as_it_is(self, text: str) -> None:
        assert is_url(text)
        assert str(Url.of(text)).lower() == text.rstrip("/").lower()

    @pytest.mark.parametrize(
        "text", ["campus:ru", "db:own", "run:latest", "C:\\data", "module:function", "data/kb", ""]
    )
    def test_other_names_are_none(self, text: str) -> None:
        assert not is_url(text)

    @pytest.mark.fault("paths", tried="URLs of storage that are not plain", count=25)
    @pytest.mark.parametrize(
        "text",
        [
            "simplecache::s3://bucket/kb", "filecache::file:///etc", "file::/etc/passwd", "zip://a::s3://b/c.zip",
            "reference://x", "dir://x", "data://x", "github://org:repo@/x", "git://x", "jupyter://x", "local:///etc",
            "blockcache://s3/b", "tar://x", "generic://x", "dask://x", "python://x", "s3://bucket/a/../b",
            "s3://bucket/..", "http://host/%2e%2e/etc", "http://host/a%2Fb%5Cc", "s3://bucket/a\\b", "s3://",
            "file://etc", "s3://bucket/\x00", "s3://bucket//kb", "memory://a/./b",
        ],
    )  # fmt: skip
    def test_what_is_not_plain_is_refused(self, text: str) -> None:
        assert is_url(text)
        with pytest.raises(ValueError, match=r"legal are|is expected|write the whole path"):
            Url.of(text)

    @pytest.mark.fault("secrets", tried="secrets in URLs of storage", count=3)
    @pytest.mark.parametrize(
        "text", ["sftp://me:canary-5521@host/kb", "https://host/kb?token=canary-5521", "s3://key:canary-5521@bucket/kb"]
    )
    def test_a_secret_in_one_is_refused_and_not_said(self, text: str) -> None:
        with pytest.raises(ValueError, match="own variables") as refused:
            Url.of(text)
        assert "canary" not in str(refused.value)

    def test_a_language_stands_behind_a_colon(self) -> None:
        assert with_language("s3://bucket/kb:ru") == (Url("s3", "bucket/kb"), "ru")
        assert with_language("http://host:80/kb") == (Url("http", "host:80/kb"), "")

    def test_what_is_only_read_is_no_target(self) -> None:
        with pytest.raises(ValueError, match="http:// is only read"):
            target("http://host/reports")


class TestBringing:
    def test_a_data_set_over_http_is_that_of_the_folder(self, web: tuple[str, list[str]], folder: Path) -> None:
        url, asked = web
        from_there = rb.load(f"{url}/kb")
        assert from_there.name == f"{url}/kb"
        assert from_there.content_hash == load("kb", folder.parent).content_hash
        assert [one.id for one in from_there.chunks] == ["c1", "c2"]
        assert rb.load(f"{url}/kb:ru").label == f"{url}/kb:ru"
        assert not [path for path in asked if "README" in path or "other" in path]

    def test_what_has_not_changed_is_not_brought_again(self, web: tuple[str, list[str]], folder: Path) -> None:
        url, asked = web
        first = remotes.brought(Url.of(f"{url}/kb"), remotes.DATASET)
        asked.clear()
        assert remotes.brought(Url.of(f"{url}/kb"), remotes.DATASET) == first
        assert not [path for path in asked if path.endswith(".jsonl")]
        write_lines(folder / "chunks.en.jsonl", ROWS[:1])
        other = remotes.brought(Url.of(f"{url}/kb"), remotes.DATASET)
        assert other != first
        assert len((other / "chunks.en.jsonl").read_text().splitlines()) == 1

    def test_a_file_that_is_replaced_by_one_of_its_size_is_noticed(self, memory: Any) -> None:
        memory.pipe_file("/bucket/a.csv", b"id\n1\n")
        first = places.file("memory://bucket/a.csv")
        memory.pipe_file("/bucket/a.csv", b"id\n2\n")
        assert first.read_bytes() == b"id\n1\n"
        assert places.file("memory://bucket/a.csv").read_bytes() == b"id\n2\n"

    def test_storage_that_says_nothing_of_a_files_state_is_read_each_time(
        self, memory: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remotes, "_STATE", ())
        memory.pipe_file("/bucket/a.csv", b"id\n1\n")
        assert places.file("memory://bucket/a.csv") != places.file("memory://bucket/a.csv")

    @pytest.mark.parametrize("name", ["file", "memory"])
    def test_the_same_data_set_from_any_storage(self, name: str, folder: Path, memory: Any) -> None:
        url = f"file://{folder}" if name == "file" else into_memory(memory, folder)
        made = dataset_of(f"{url}:ru", settings.load())
        assert (made.name, made.language, len(made.chunks)) == (url, "ru", 1)

    def test_what_is_not_there_is_said_with_what_is(
        self, web: tuple[str, list[str]], folder: Path, memory: Any
    ) -> None:
        into_memory(memory, folder)
        with pytest.raises(
            RemoteError, match=r"^memory://bucket/bk: there is no such data set; memory://bucket has kb$"
        ):
            rb.load("memory://bucket/bk")
        with pytest.raises(RemoteError, match=r"/bk: there is no such data set; http://.* has kb$"):
            rb.load(f"{web[0]}/bk")
        with pytest.raises(RemoteError, match=r"b\.csv: there is no such file; memory://bucket/kb has .*dataset\.toml"):
            places.file("memory://bucket/kb/b.csv")
        with pytest.raises(RemoteError, match="this is a folder; a file is expected"):
            places.file("memory://bucket/kb")

    def test_no_permission_is_said(self, web: tuple[str, list[str]]) -> None:
        with pytest.raises(RemoteError, match=r"forbidden: cannot be read: no permission; the storage's own variables"):
            rb.load(f"{web[0]}/forbidden")

    def test_a_package_that_is_missing_is_named(self) -> None:
        with pytest.raises(RemoteError, match=r"s3:// needs a package that is not here: pip install s3fs$"):
            rb.load("s3://bucket/kb")

    @pytest.mark.fault("secrets", tried="secrets in what storage says", count=1)
    def test_what_storage_says_is_masked(self, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-77123")
        monkeypatch.setattr(
            type(memory), "info", lambda *given, **more: (_ for _ in ()).throw(RuntimeError("bad canary-77123"))
        )
        with pytest.raises(RemoteError, match="cannot be read: RuntimeError: bad ••••"):
            places.file("memory://bucket/a.csv")

    def test_a_server_that_is_away(self) -> None:
        with pytest.raises(RemoteError, match=r"http://127\.0\.0\.1:9/kb"):
            rb.load("http://127.0.0.1:9/kb")

    def test_all_notebooks_of_a_run_read_one_state(
        self, memory: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = Url.of(into_memory(memory, folder))
        run = tmp_path / "run"
        run.mkdir()
        monkeypatch.setenv(settings.RUN_FOLDER, str(run))
        first = remotes.brought(url, remotes.DATASET)
        memory.pipe_file("/bucket/kb/chunks.en.jsonl", b'{"id": "c9", "text": "Other."}\n')
        assert remotes.brought(url, remotes.DATASET) == first
        remotes.settle(run)
        assert not list(run.iterdir())
        monkeypatch.delenv(settings.RUN_FOLDER)
        assert remotes.brought(url, remotes.DATASET) != first

    def test_copies_that_nobody_used_for_long_go(
        self, memory: Any, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("a", "b", "c"):
            memory.pipe_file(f"/bucket/{name}", b"12345")
        old, older = places.file("memory://bucket/a").parent, places.file("memory://bucket/b").parent
        os.utime(old, (1, 1))
        places.file("memory://bucket/c")
        assert not old.exists()
        assert older.exists()
        monkeypatch.setattr(remotes, "MOST_KEPT", 5)
        hours_ago = older.stat().st_mtime - 2 * remotes.IN_USE_SECONDS
        os.utime(older, (hours_ago, hours_ago))
        assert places.file("memory://bucket/c").is_file()
        assert not older.exists()

    def test_the_former_state_goes_when_nobody_can_be_reading_it(self, memory: Any) -> None:
        memory.pipe_file("/bucket/a", b"1")
        first = places.file("memory://bucket/a").parent
        hours_ago = first.stat().st_mtime - 2 * remotes.IN_USE_SECONDS
        memory.pipe_file("/bucket/a", b"22")
        second = places.file("memory://bucket/a").parent
        assert first.exists()
        os.utime(first, (hours_ago, hours_ago))
        assert places.file("memory://bucket/a").parent == second
        assert not first.exists()


class TestHostileStorage:
    NAMES = ("../../out.jsonl", "..", "a/../../out.jsonl", "/etc/out.jsonl", "a\\..\\out.jsonl", "C:out.jsonl",
             "nul.jsonl", "x\x1b[2J.jsonl", "x\u202e.jsonl", "x .jsonl ", "x?.jsonl", "dot..")  # fmt: skip

    @pytest.mark.fault("paths", tried="names in shared storage that lead elsewhere", count=12)
    @pytest.mark.parametrize("name", NAMES)
    def test_no_file_is_written_elsewhere(
        self, name: str, memory: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        listed = [{"name": f"/bucket/kb/{name}", "type": "file", "size": 1, "created": 1}]
        monkeypatch.setattr(type(memory), "ls", lambda self, path, detail=True, **more: listed)
        before = {path for path in tmp_path.rglob("*") if path.is_file()}
        for wanted in (remotes.FOLDER, remotes.DATASET):
            with pytest.raises(RemoteError, match=r"can be called|there is no such"):
                remotes.brought(Url.of("memory://bucket/kb"), wanted)
        with pytest.raises(RemoteError, match="no file can be called"):
            remotes.brought(Url.of("memory://bucket/kb"), remotes.Wanted(re.compile(r"(?s).*"), 8, "thing"))
        assert {path for path in tmp_path.rglob("*") if path.is_file()} == before

    @pytest.mark.fault("paths", tried="links in shared storage", count=2)
    @pytest.mark.parametrize("leads", ["/etc/passwd", "/etc"])
    def test_a_link_is_refused(self, folder: Path, leads: str) -> None:
        (folder / "history.en.jsonl").symlink_to(leads)
        with pytest.raises(RemoteError, match=r"'history\.en\.jsonl' is a link"):
            rb.load(f"file://{folder}")

    def test_a_page_that_names_other_places_is_read_for_its_own_alone(
        self, folder: Path, web: tuple[str, list[str]]
    ) -> None:
        links = ["dataset.toml", "chunks.en.jsonl", "/secret.jsonl", "../up.jsonl", "http://other.example/x.jsonl",
                 "%2e%2e%2fout.jsonl"]  # fmt: skip
        (folder / "index.html").write_text("".join(f'<a href="{one}">x</a>' for one in links), encoding="utf-8")
        assert len(rb.load(f"{web[0]}/kb").chunks) == 2
        assert not [path for path in web[1] if "secret" in path or "other" in path or "out" in path]

    @pytest.mark.fault("bombs", tried="storage with more than a copy may have", count=3)
    def test_limits_hold_whatever_storage_says(self, memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(5):
            memory.pipe_file(f"/bucket/kb/{number}.jsonl", b"x" * 100)
        url = Url.of("memory://bucket/kb")
        with monkeypatch.context() as patch:
            patch.setattr(remotes, "MOST_FILES", 3)
            patch.setattr(remotes, "MOST_LISTED", 4)
            with pytest.raises(RemoteError, match="more than 3 files"):
                remotes.brought(url, remotes.DATASET)
        with pytest.raises(RemoteError, match="more than 300 bytes; split it"):
            remotes.brought(url, remotes.Wanted(re.compile(".*"), 1, "folder", 300))
        listed = [{"name": "/bucket/kb/0.jsonl", "type": "file", "size": 3, "created": 1}]
        monkeypatch.setattr(type(memory), "ls", lambda self, path, detail=True, **more: listed)
        with pytest.raises(RemoteError, match=r"0\.jsonl changed while it was read, or was cut"):
            remotes.brought(url, remotes.DATASET)
        assert not [path for path in remotes.kept().rglob("*") if path.is_file()]

    def test_names_that_only_letters_tell_apart_are_refused(self, memory: Any) -> None:
        memory.pipe_file("/bucket/kb/a.jsonl", b"1")
        memory.pipe_file("/bucket/kb/A.jsonl", b"2")
        with pytest.raises(RemoteError, match="there twice"):
            remotes.brought(Url.of("memory://bucket/kb"), remotes.DATASET)

    @pytest.mark.fault("paths", tried="a URL out of a received run", count=1)
    def test_a_received_runs_data_set_is_never_opened(self, web: tuple[str, list[str]]) -> None:
        packs = pytest.importorskip("ragbench.old.extras.runs.packs")
        label = f"{web[0]}/kb"
        assert packs._compared({"tier1": {"dataset": label, "data_hash": "0"}}) == {label: "absent"}
        assert web[1] == []


class TestTrust:
    def test_what_ragbench_toml_names_is_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
        monkeypatch.setenv("RAGBENCH_TRUST", "")
        (tmp_path / "ragbench.toml").write_text(
            'dataset = "memory://b/kb"\nreports = "memory://b/r/"\n', encoding="utf-8"
        )
        settings.load.cache_clear()
        found = settings.load()
        said = [str(one) for one in trust.named()]
        assert said == ["dataset: reads memory://b/kb, as you", "reports: sends every run to memory://b/r, as you"]
        with pytest.raises(UntrustedError, match="reads memory://b/kb, as you"):
            dataset_of(found.dataset, found)
        with pytest.raises(RemoteError, match="there is no such data set"):  # named by its user: not asked for
            dataset_of("memory://b/other", found)

    @pytest.mark.parametrize("line", ['dataset = "simplecache::s3://b/kb"', 'reports = "https://h/r"',
                                      'reports = "reference://h/r"', 'reports = "reports"'])  # fmt: skip
    def test_a_url_that_will_not_do_is_refused(
        self, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
        (tmp_path / "ragbench.toml").write_text(line, encoding="utf-8")
        settings.load.cache_clear()
        with pytest.raises(ConfigurationError, match=line.split()[0]):
            settings.load()


class TestTables:
    def test_tables_are_read_at_a_url(self, project: Path, memory: Any) -> None:
        memory.pipe_file("/bucket/answers.jsonl", json.dumps(ANSWER).encode())
        memory.pipe_file("/bucket/labels.csv", b"id,metric,value\nq1,faithfulness,1\n")
        made = find_answers("memory://bucket/answers.jsonl", "", settings.load())
        assert made.facts["dataset"] == "memory://bucket/answers.jsonl"
        assert [one.response for one in made.samples] == ["At nine."]
        assert list(read_labels("memory://bucket/labels.csv")["value"]) == [1.0]

    def test_logged_answers_lie_beside_the_data_set(self, project: Path, memory: Any) -> None:
        place = project / "data" / "small"
        write_lines(place / "answers.mine.jsonl", [{"id": "q1", "retrieved": ["a1"], "answer": "Text of a1."}])
        made = find_answers("", into_memory(memory, place, "/bucket/small"), settings.load())
        assert [one.response for one in made.samples] == ["Text of a1."]

    def test_commands_read_urls(self, project: Path, memory: Any, folder: Path) -> None:
        memory.pipe_file("/bucket/answers.jsonl", json.dumps(ANSWER).encode())
        assert "rouge1_f" in ragbench("score", "memory://bucket/answers.jsonl", "-m", "rouge1_f").stdout
        ragbench("load", "answers", "memory://bucket/answers.jsonl", "--name", "brought")
        assert (project / "data" / "brought" / "questions.en.jsonl").is_file()
        memory.pipe_file("/docs/a/one.md", b"# One\n\nThe library opens at eight o'clock.\n")
        ragbench("load", "documents", "memory://docs", "--name", "papers")
        assert "eight" in (project / "data" / "papers" / "chunks.en.jsonl").read_text()
        done = ragbench("score", "memory://bucket/none.jsonl")
        assert done.returncode == 3
        assert "there is no such file; memory://bucket has answers.jsonl" in one_line(done.stderr)
