"""A key that an endpoint sends back, and passwords in addresses: in no file, no table and no line that is printed."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from ragbench.old.core import settings, terminal
from ragbench.old.core.settings import secrets
from ragbench.old.core.types import EmbeddingError
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.llm import MemoryJournal, ModelError, journal, run
from ragbench.old.llm.request import key_of
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from tests.old.judge import judged_project
from tests.old.llm.chat_server import asked_schema, generate, source_of
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request
from tests.old.report import kept_runs
from tests.old.small_project import add, write_lines
from tests.old.views.measurements import measurement

ROOT = Path(__file__).parents[3]
KEY = """sk-canary-<&"'\\%+/0123456789"""
"""With every sign that JSON, HTML, URLs or Python would write in another way."""
WORD = "canary"


def said(key: str, value: Any) -> Any:
    """A JSON value with the key in every text of it, and no statement supported: so that its reason is told."""
    if isinstance(value, dict):
        return {name: "contradicted" if name == "verdict" else said(key, item) for name, item in value.items()}
    if isinstance(value, list):
        return [said(key, item) for item in value]
    return f"{value} as {key} says" if isinstance(value, str) else value


@contextmanager
def echo(way: str = "content") -> Iterator[str]:
    """An endpoint that gives back the key it was sent; its address.

    way: where it puts the key: content, escaped (as JSON may write it), model, finish, refusal, inside (an error in a
    good response), or a number, which is the status of an error with the key across the place where messages are cut.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers["Authorization"].removeprefix("Bearer ")
            if way.isdecimal():
                return self._send(int(way), {"error": {"message": "x" * 485 + f" {key} {key}"}})
            if way == "plain":
                return self._send(500, "x" * 290 + key)
            if way == "inside":
                return self._send(200, {"error": {"message": "x" * 290 + f" {key}"}})
            content = judged_project.reply(body)
            if content is None and (shape := asked_schema(body)) is not None:
                content = generate(shape, source_of(body))
            message: dict[str, Any] = {"content": json.dumps(said(key, content or "yes"))}
            if way == "refusal":
                message["refusal"] = f"not with {key}"
            choice = {"index": 0, "message": message, "finish_reason": key if way == "finish" else "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            return self._send(200, {"model": f"m {key}", "choices": [choice], "usage": usage})

        def _send(self, status: int, value: Any) -> None:
            text = value if isinstance(value, str) else json.dumps(value)
            if way == "escaped":
                text = text.replace("sk-canary", "\\u0073k-can\\u0061ry")
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


WAYS = ("content", "escaped", "model", "finish", "refusal", "inside", "plain", "400", "401", "403", "422", "500")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.fault("secrets", tried="ways in which an endpoint gives the key back", count=12)
def test_a_key_that_comes_back_is_in_no_answer_no_journal_and_no_error(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_WORD", KEY)  # no name that says what it is: only the settings tell
    journal = MemoryJournal()
    found: list[object] = []

    async def ask(url: str) -> None:
        limits = {"attempts": 2, "patience_seconds": 5.0}
        async with open_client(url, "j", model="m", key_variable="OWN_WORD", journal=journal, **limits) as client:
            try:
                found.append(await client.complete(request("one")))
            except ModelError as error:
                found.append(str(error))

    with echo(way) as url:
        run(ask(url))
    everything = repr(found) + repr(journal.rows)
    assert found
    assert WORD not in everything
    for start in range(3, len(KEY)):
        assert f"x {KEY[:start]}" not in everything, "the beginning of a key that a message was cut in"


@pytest.mark.fault("secrets", tried="an error of an embedding endpoint", count=2)
@pytest.mark.parametrize("way", ["401", "400"])
def test_a_key_in_an_error_of_an_embedder_is_masked(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_WORD", KEY)
    with echo(way) as url:
        known = settings.EmbedderSettings(kind="openai", model="m", base_url=url, key_variable="OWN_WORD", attempts=1)
        embedder = EndpointEmbedder("e", known)
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed(["x"])
    assert WORD not in str(caught.value)


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below a folder as text, what is packed in it unpacked."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        if path.suffix == ".parquet":
            data = pd.read_parquet(path).to_csv().encode()
        text = data.decode("utf-8", "replace")
        for packed in re.findall(r"[A-Za-z0-9+/]{200,}={0,2}", text):
            try:
                text += zlib.decompress(base64.b64decode(packed), wbits=47).decode("utf-8", "replace")
            except (ValueError, zlib.error):
                continue
        yield path, text


def command(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line as people start it, in a project's folder."""
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-m", "ragbench", *words], cwd=project, env=known, capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
@pytest.mark.fault("secrets", tried="commands after which every file and line is searched for the key", count=13)
def test_a_key_that_comes_back_is_in_no_file_and_on_no_screen(project: Path) -> None:
    with echo() as url:
        notebook = judged_project.make(project, url, questions=2, key_variable="OWN_WORD")
        rows = [
            {"id": row.id, "user_input": row.user_input, "response": row.response, "retrieved_contexts": ["High."]}
            for row in judged_project.samples(2)
        ]
        write_lines(project / "answers.jsonl", rows)
        score = ("score", "answers.jsonl", "-m", "faithfulness", "--judge", "one", "--resamples", "100")
        done = [
            command(project, *words, OWN_WORD=KEY)
            for words in (
                (*score, "--json", "scores.json"), (*score, "--json", "-"), (*score, "--out", "page"),
                ("journal",), ("journal", "export", "journal.jsonl"), ("journal", "export", "journal.jsonl.gz"),
                ("run", str(notebook), "--out", "reports"), ("runs", "show", "latest"),
                ("runs", "show", "latest", "--json"), ("render", "latest"), ("publish", "latest", "--to", "site"),
                ("history", "--json", "history.json"), ("compare", "latest", "latest", "--json", "compared.json"),
            )
        ]  # fmt: skip
    assert [one.stderr for one in done if one.returncode] == []
    assert [one.args for one in done if WORD in one.stdout + one.stderr] == []
    found = dict(texts(project))
    assert len(found) > 40
    assert [path.name for path, text in found.items() if WORD in text] == []
    assert secrets.MASK in found[project / "scores.json"], "the reasons are there, and the key was in them"
    assert secrets.MASK in found[project / "journal.jsonl"]


@pytest.mark.fault("secrets", tried="what was kept before, or by others, at every door to a file", count=10)
def test_every_door_to_a_file_masks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old import data as datasets

    made = measurement(questions=4, reason=f"because {KEY}", facts={"note": KEY, "primary": "mrr"})
    table = made.scores.assign(nested=[[KEY, {"a": KEY}]] * len(made.scores))
    # kept while nobody knew that this is a key
    folder = kept_runs.make(project / "reports", "one", made, stdout=KEY, parameters={"p": KEY})
    assert [path for path, text in texts(folder) if WORD in text]
    monkeypatch.setenv("OWN_API_KEY", KEY)
    out = project / "out"
    out.mkdir()
    pytest.importorskip("ragbench.old.extras.publishing.publish").publish(folder, out / "site")
    made.save(out / "saved")
    results.write_json(out / "a.json", {KEY: [KEY, 1.5]})
    results.write(out / "a.html", f"<p>{KEY}</p>")
    exports.write_csv(out / "a.csv", table)
    exports.write_tables(out / "tables", {"one": made})
    row = {"prompt": "p", "version": 1, "repeat": 0, "messages": [KEY]}
    entry: dict[str, Any] = {
        "judge": "j", "endpoint": "e", "model": "m", "prompt": "p", "version": 1, "repeat": 0, "request": row,
        "text": KEY, "finish": "stop", "refusal": None, "input_tokens": 1, "output_tokens": 1, "estimated": False,
        "cost": 0.0, "seconds": 0.1, "served_model": KEY, "imported": False,
    }  # fmt: skip
    entry["key"] = key_of({name: entry[name] for name in ("judge", "endpoint", "model")}, row)
    assert journal.write(out / "journal.jsonl", [entry]) == 1
    assert len(list(journal.read(out / "journal.jsonl"))) == 1, "what was exported can be imported"
    labelling = pytest.importorskip("ragbench.old.extras.labelling")
    item = labelling.Item("q1", "good", "mrr", f"Where is {KEY}?", KEY, (KEY,))
    sheet = labelling.Sheet([item], (0.0, 1.0), "anna", out / "labels.csv")
    sheet.give(1.0)
    labelling.export_csv(sheet, out / "sheet.csv")
    chunk = datasets.ChunkRecord(id="c1", text=f"Text {KEY}", url="/a")
    question = datasets.QuestionRecord(id="q1", text=KEY, relevant={"c1": 1})
    datasets.write(
        "own", out, title=KEY, licence="CC0", source=KEY, language="en", chunks=[chunk], questions=[question],
        logged={"s": [{"id": "q1", "retrieved": ["c1"], "answer": KEY}]},
    )  # fmt: skip
    found = dict(texts(out))
    assert len(found) > 25
    assert [path.name for path, text in found.items() if WORD in text] == []


def test_numbers_stay_numbers_where_a_password_is_one(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "1234567")
    monkeypatch.setenv("RAGBENCH_BUDGET__TOKENS", "7654321")
    results.write_json(project / "a.json", {"n": 1234567, "said": "it is 1234567", "tokens": "7654321"})
    found = json.loads((project / "a.json").read_text(encoding="utf-8"))
    assert found == {"n": 1234567, "said": f"it is {secrets.MASK}", "tokens": "7654321"}


URLS = (
    "ftp://someone:canary-pw@h/v1", "http://someone:canary-pw@h/v1", "https://canary-user@h/v1",
    "someone:canary-pw@h/v1",
    "http://someone:canary/p@w#x@h/v1", "https://h/v1?key=canary-pw", "https://h/v1#canary-pw", "ftp://h/v1?key=canary",
    "postgresql://someone:canary-pw@h/v1", "http://someone:canary pw@h", "//someone:canary-pw@h",
)  # fmt: skip
TABLES = {
    "providers": '[providers.x]\nbase_url = "{url}"\n',
    "judges": '[judges.x]\nmodel = "m"\nbase_url = "{url}"\n',
    "embedders": '[embedders.x]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\n',
    "generators": '[generators.x]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\n',
}
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("run",), ("run", "--plan"), ("runs",), ("runs", "show", "x"), ("journal",), ("journal", "export", "x.jsonl"),
    ("doctor",), ("score", "answers.jsonl"), ("compare", "a", "b"), ("history",), ("publish", "x", "--to", "s"),
    ("render", "x"), ("gate", "x"), ("db", "status"), ("load", "database", "x"),
)  # fmt: skip


@pytest.fixture
def shown(project: Path) -> Callable[..., str]:
    """What a command prints, the message of its error among it; that it fails is asserted."""
    from ragbench.old.__main__ import _is_for_people, application

    (project / "answers.jsonl").write_text('{"question": "q", "answer": "a"}\n', encoding="utf-8")

    def call(*words: str) -> str:
        settings.load.cache_clear()
        done = CliRunner().invoke(application, words, catch_exceptions=True)
        assert done.exit_code != 0, words
        error = done.exception
        if error is None or isinstance(error, SystemExit):
            return done.output
        assert isinstance(error, Exception)
        assert _is_for_people(error), repr(error)
        return f"{done.output}{error}{error!r}" + "\n".join(terminal.lines(error))

    return call


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.fault("secrets", tried="addresses with a password, in each table of the settings", count=11)
def test_an_address_with_a_password_is_refused_without_it(table: str, project: Path, shown: Callable[..., str]) -> None:
    path = project / "ragbench.toml"
    before = path.read_text(encoding="utf-8")
    for url in URLS:
        path.write_text(before + TABLES[table].replace("{url}", url), encoding="utf-8")
        said = shown("runs")
        assert f"{table}.x" in said or "base_url" in said
        assert WORD not in said, url


@pytest.mark.fault("secrets", tried="commands that read the settings", count=15)
def test_no_command_prints_the_password_of_an_address(project: Path, shown: Callable[..., str]) -> None:
    add(project, TABLES["judges"].replace("{url}", URLS[0]))
    for words in COMMANDS:
        said = shown(*words)
        assert "base_url" in said, words
        assert WORD not in said, words


@pytest.mark.fault("secrets", tried="a key where the settings want something else", count=4)
@pytest.mark.parametrize(
    "more",
    [
        f'[providers.x]\napi_key = "{WORD}-1"\n', f'[judges.x]\nmodel = "m"\napi_key = "{WORD}-1"\n',
        f'[judges.x]\nmodel = "m"\nbase_url = ["http://u:{WORD}@h"]\n', f'api_key = "{WORD}-1"\n',
    ],
)  # fmt: skip
def test_a_key_in_the_settings_is_not_printed(more: str, project: Path, shown: Callable[..., str]) -> None:
    path = project / "ragbench.toml"
    before = path.read_text(encoding="utf-8")
    path.write_text(before + more if more.startswith("[") else more + before, encoding="utf-8")
    assert WORD not in shown("runs")


@pytest.mark.slow
@pytest.mark.fault("secrets", tried="commands with the password of a database that is not there", count=6)
def test_the_password_of_a_database_is_printed_by_no_command(project: Path) -> None:
    for url in ("postgresql://someone:canary-pw@127.0.0.1:1/none", "postgresql://h:1/none?user=u&password=canary-pw"):
        for words in (("runs",), ("journal",), ("doctor",)):
            done = command(project, *words, RAGBENCH_DATABASE_URL=url)
            assert done.returncode, words
            assert WORD not in done.stdout + done.stderr, words
