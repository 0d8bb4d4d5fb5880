"""The journal in a real PostgreSQL: nothing paid for is lost, nothing is asked twice, and it travels."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ragbench.old.core.settings import Settings
from ragbench.old.llm import Client, Completion
from ragbench.old.llm import journal as journals
from ragbench.old.llm.journal import Entry, Row
from ragbench.old.llm.request import key_of
from ragbench.old.store import Store, StoreError
from ragbench.old.store.journal_connections import JournalConnections
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import open_client
from tests.old.llm.llm_shapes import request, settings
from tests.old.store.own_database import own_database

ROOT = Path(__file__).parents[3]
N = 500
KILLS = 50
"""Points at which one run is killed: before its first reply, with all calls in flight, in the middle of a batch.

A start gets 22 calls at most before its kill, about 8 of which the next one repeats: N calls outlast all kills.
"""


def shared() -> float:
    """How many times as long as alone work takes now that others have the processors, too; at least 1."""
    began, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < 0.2:
        pass
    return max(1.0, (time.monotonic() - began) / 0.2)


def row(judge: str, number: int, **more: Any) -> Row:
    """An entry with a true key."""
    asked = {"prompt": "p", "version": 1, "repeat": 0, "messages": [{"role": "user", "content": f"Вопрос {number} {{"}]}
    key = key_of({"judge": judge, "endpoint": "http://h/v1", "model": "m"}, asked)
    values = {
        "key": key, "judge": judge, "endpoint": "http://h/v1", "model": "m", "prompt": "p", "version": 1, "repeat": 0,
        "request": asked, "text": '{"score": 3}', "finish": "stop", "refusal": None, "input_tokens": 10,
        "output_tokens": 5, "estimated": False, "cost": 0.001, "seconds": 0.5, "served_model": None, "imported": False,
    }  # fmt: skip
    return Entry.from_row({**values, **more}).as_row()


@pytest.fixture
def journal(store: Store) -> DatabaseJournal:
    return DatabaseJournal(store.engine)


async def on_loop(journal: DatabaseJournal, work: Callable[[JournalConnections], Awaitable[Any]]) -> Any:
    """What comes of work with the journal of one event loop, which is closed afterwards."""
    connections = journal.on_loop()
    try:
        return await work(connections)
    finally:
        await connections.close()


@pytest.mark.fault("parallel-runs", tried="writers of the same replies", count=4)
def test_several_writers_agree_on_one_reply(store: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def write(number: int) -> dict[str, str]:
        rows = [row("agree", n, text=f"by {number}") for n in range(40)]
        random.Random(number).shuffle(rows)
        found = asyncio.run(on_loop(DatabaseJournal(store.engine), lambda connections: connections.record(rows)))
        return {key: kept["text"] for key, kept in found.items()}

    with ThreadPoolExecutor(4) as threads:
        kept = list(threads.map(write, range(4)))
    assert all(each == kept[0] for each in kept)


def test_size_cost_and_use(journal: DatabaseJournal) -> None:
    rows = [row("size", n) for n in range(4)]
    assert journal.bring_in(rows[:3]) == (3, 3)
    assert journal.bring_in(rows) == (4, 1)
    assert journal.bring_in([]) == (0, 0)

    async def ask(connections: JournalConnections) -> None:
        found, ours = await connections.claim([rows[0]["key"], rows[1]["key"], new["key"], "never answered"])
        assert (len(found), ours) == (2, {new["key"], "never answered"})
        await connections.record([new])
        await connections.find([rows[2]["key"]])  # a plan's look is no use

    new = row("size", 9, model="n")
    asyncio.run(on_loop(journal, ask))
    asyncio.run(on_loop(journal, lambda connections: connections.claim([new["key"]])))
    used = journal.use()
    assert used["size", "m"] == (2, 2)
    assert used["size", "n"] == (2, 1), "asked once, and there the second time"
    size, other = (size for size in journal.sizes() if size.judge == "size")
    assert other.replies == 1
    assert 4 * 200 < journal.bytes()["size", "m"] < 4 * 1000, "four rows of some hundred bytes"
    assert (size.replies, size.input_tokens, size.output_tokens) == (4, 40, 20)
    assert size.cost == pytest.approx(0.004)
    assert size.seconds == pytest.approx(2.0)


def test_what_was_kept_before_a_moment_is_counted_by_judge(store: Store) -> None:
    journal = DatabaseJournal(store.engine)
    old, new, other = row("aged", 1), row("aged", 2), row("aged too", 3)
    journal.bring_in([old, new, other])
    with store.engine.begin() as connection:
        connection.execute(
            text("UPDATE ragbench.journal SET recorded_at = now() - interval '1 hour' WHERE key = :key"),
            {"key": old["key"]},
        )
    keys = [one["key"] for one in (old, new, other)]
    assert journal.kept_before([*keys, "absent"], 60.0) == {"aged": (1, 2), "aged too": (0, 1)}
    assert journal.kept_before(keys, 7200.0) == {"aged": (0, 2), "aged too": (0, 1)}
    assert journal.kept_before((), 60.0) == {}


class TestSharing:
    @pytest.mark.fault("kill", tried="the same scoring twice, with the replies of the first", count=1)
    def test_a_second_run_makes_no_call(self, store: Store) -> None:
        async def work(url: str) -> list[Completion]:
            async with open_client(url, "again", journal=DatabaseJournal(store.engine)) as client:
                return await asyncio.gather(*(client.complete(request(f"again {n}")) for n in range(50)))

        with ChatServer(faults={"nan": 0.2}).running() as server:
            first = asyncio.run(work(server.url))
            paid = server.calls
            assert asyncio.run(work(server.url))[0].calls == 0
            assert server.calls == paid
            assert [c.value for c in asyncio.run(work(server.url))] == [c.value for c in first]


class TestTravel:
    @pytest.mark.fault("garbage", tried="forged lines in an archive of replies", count=7)
    @pytest.mark.parametrize(
        ("change", "fault"),
        [({"text": 5}, "text"), ({"cost": "NaN"}, "cost"), ({"key": "0" * 64}, "key is not that"),
         ({"more": 1}, "exactly"), ({"request": {"prompt": "q"}}, "key is not that"), ({"version": True}, "version"),
         ({"seconds": -1.0}, "are not what a call can have")],
    )  # fmt: skip
    def test_a_forged_line_is_refused_by_name(self, change: dict[str, Any], fault: str, tmp_path: Path) -> None:
        file = tmp_path / "j.jsonl"
        file.write_text(json.dumps(row("f", 1)) + "\n" + json.dumps({**row("f", 2), **change}) + "\n", encoding="utf-8")
        with pytest.raises(journals.JournalFileError, match=f"j.jsonl, line 2.*{fault}"):
            list(journals.read(file))

    @pytest.mark.fault("disk", tried="an export that breaks off", count=1)
    def test_a_failed_export_leaves_the_old_file(self, tmp_path: Path) -> None:
        file = tmp_path / "j.jsonl"
        file.write_text("old", encoding="utf-8")

        def broken() -> Iterator[Row]:
            yield row("f", 1)
            raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            journals.write(file, broken())
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("j.jsonl", "old")]


@contextmanager
def chat_process(latency: float) -> Iterator[str]:
    """The test server in a process of its own; yields its base URL."""
    command = [sys.executable, "-m", "tests.old.llm.chat_server", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def calls(url: str) -> int:
    """How many calls the server counted."""
    with urllib.request.urlopen(f"{url}/counters", timeout=10) as response:
        return int(json.load(response)["calls"])


def start(url: str, folder: Path, out: Path, name: str, concurrency: int) -> subprocess.Popen[bytes]:
    arguments = [url, str(folder), str(N), str(out), name, str(concurrency)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.old.llm.judged_run", *arguments], cwd=ROOT, stderr=subprocess.PIPE
    )


def told(out: Path) -> dict[str, int]:
    """The scores that a run told before it ended; a last line cut by the kill was never told."""
    path = out / "told"
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0].splitlines() if path.exists() else []
    return {text: int(score) for text, score in (line.split("\t") for line in whole)}


def journaled(store: Store, name: str) -> int:
    return sum(1 for _ in DatabaseJournal(store.engine).rows(name))


@pytest.mark.fault("kill", tried="kills at random points of judging", count=50)
@pytest.mark.slow
def test_kill_9_at_fifty_points_loses_no_reply(store: Store, database_folder: Path, tmp_path: Path) -> None:
    """Fifty kills in one run of 500 calls: what was told is kept, what was asked twice was in flight."""
    concurrency, source = 8, random.Random(5)
    with chat_process(latency=0.05) as url:
        for _ in range(KILLS):
            before = calls(url)
            process = start(url, database_folder, tmp_path, "killed", concurrency)
            goal = before + source.randint(1, 22)
            while calls(url) < goal and process.poll() is None:
                time.sleep(0.002)
            assert process.poll() is None, "the run ended before it was killed"
            process.send_signal(signal.SIGKILL)
            process.wait(10)
            time.sleep(0.1)
            assert journaled(store, "killed") >= len(told(tmp_path))
        process = start(url, database_folder, tmp_path, "killed", concurrency)
        assert process.wait(120) == 0, process.stderr and process.stderr.read()
        repeats = calls(url) - N
        killed = (tmp_path / "table").read_bytes()
        assert journaled(store, "killed") == N
        print(f"{KILLS} kills: {repeats} repeats, {KILLS * concurrency} allowed")
        assert repeats <= KILLS * concurrency
        told_scores = told(tmp_path)
        assert told_scores == json.loads(killed)

        clean = tmp_path / "clean"
        clean.mkdir()
        before = calls(url)
        process = start(url, database_folder, clean, "killed", concurrency)
        assert process.wait(120) == 0
        assert calls(url) == before
        assert (clean / "table").read_bytes() == killed


@pytest.mark.fault("interrupt", tried="Ctrl+C with 32 calls in flight", count=3)
@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(3))
def test_ctrl_c_stops_within_two_seconds_and_loses_nothing(
    attempt: int, store: Store, database_folder: Path, tmp_path: Path
) -> None:
    name = f"interrupted{attempt}{os.getpid()}"
    with chat_process(latency=0.2) as url:
        process = start(url, database_folder, tmp_path, name, 32)
        while calls(url) < 40 * (attempt + 1):
            time.sleep(0.01)
        before = shared()
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        assert process.wait(60) == 130
        took, others = time.monotonic() - began, max(before, shared())
        print(f"stopped in {took:.2f} s, while work took {others:.1f} times as long as alone")
        assert took < 2 * others
        assert journaled(store, name) >= len(told(tmp_path)) > 0
        asked = calls(url)
        assert asked - journaled(store, name) <= 32


@pytest.fixture
def own_server() -> Iterator[Settings]:
    with own_database() as settings:
        yield settings


@pytest.mark.fault("database", tried="kills of the server during a run", count=10)
@pytest.mark.slow
def test_ten_kills_of_postgresql_during_a_run_change_no_score(own_server: Settings) -> None:
    """Each kill strikes in the middle of judging; the server is started again by whoever misses it first."""
    from ragbench.old.store import server

    n, kills, concurrency = 600, 10, 8

    async def work(**more: Any) -> list[Completion]:
        async with open_client(chat, "database", **more) as client:
            return await asyncio.gather(*(client.complete(request(f"database {number}")) for number in range(n)))

    with ChatServer(latency=0.05).running() as chat, Store.open(own_server) as store:
        wanted = [c.value for c in asyncio.run(work(concurrency=200))]
        journal = DatabaseJournal(store.engine, revive=lambda: server.start(own_server))
        before, killed, over = chat.calls, [], threading.Event()

        def kill() -> None:
            for number in range(kills):
                goal = before + 20 + number * 50
                pid = None
                while not over.is_set() and (chat.calls < goal or pid is None or pid in killed):
                    time.sleep(0.01)
                    pid = server.status(own_server).pid
                if pid is not None and not over.is_set():
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            found = asyncio.run(work(concurrency=concurrency, journal=journal))
        finally:
            over.set()
            killer.join()
        assert len(killed) == kills
        assert [c.value for c in found] == wanted
        assert chat.calls - before == n
        assert len(list(journal.rows("database"))) == n


@pytest.mark.fault("database", tried="a server that stays away", count=1)
def test_a_database_that_stays_away_is_a_named_error_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy import create_engine

    monkeypatch.setattr("ragbench.old.store.journal_connections.PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr("ragbench.old.store.journal_connections.RETRY_SECONDS", 0.1)
    gone = create_engine("postgresql+psycopg://ragbench@127.0.0.1:9/ragbench", connect_args={"connect_timeout": 2})
    began = time.monotonic()
    with pytest.raises(StoreError, match="writing the journal"):
        asyncio.run(on_loop(DatabaseJournal(gone), lambda connections: connections.record([row("gone", 1)])))
    assert time.monotonic() - began < 10


@pytest.mark.fault("database", tried="a server that stays away", count=1)
def test_a_database_that_never_comes_back_ends_a_run_and_scores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy import create_engine

    monkeypatch.setattr("ragbench.old.store.journal_connections.PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr("ragbench.old.store.journal_connections.RETRY_SECONDS", 0.1)
    gone = create_engine("postgresql+psycopg://ragbench@127.0.0.1:9/ragbench", connect_args={"connect_timeout": 2})
    scored: list[Completion] = []

    async def work(url: str) -> None:
        client = Client("gone", settings(url), journal=DatabaseJournal(gone))

        async def one(number: int) -> None:
            scored.append(await client.complete(request(f"gone {number}")))

        try:
            await asyncio.gather(*(one(number) for number in range(20)))
        finally:
            await client.close()

    with ChatServer().running() as chat:
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"reading the journal.*127\.0\.0\.1"):
            asyncio.run(work(chat.url))
        assert time.monotonic() - began < 10
        assert (scored, chat.calls) == ([], 0)
