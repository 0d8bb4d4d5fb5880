"""All that a database keeps leaves in one file and comes back, whole or not at all, whoever wrote the file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError
from typer.testing import CliRunner

from ragbench.old.cli.db import application
from ragbench.old.core import settings as settings_room
from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.core.types import Chunk
from ragbench.old.store import Store, StoreError, copying, server, watchdog
from ragbench.old.store.database_tables import VERSION, connect, metadata, written
from ragbench.old.store.reply_journal import DatabaseJournal
from ragbench.old.store.run_records import RunRecord
from ragbench.old.store.runs import Runs
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.store.test_journal import row

CHUNKS = [Chunk(f"c{n}", f"Текст номер {n}.", url=f"https://h/{n}") for n in range(40)]
EMBEDDER = ScriptedEmbedder({f"Текст номер {n}.": np.eye(40)[n].tolist() for n in range(40)})


@pytest.fixture
def databases(store: Store, database_settings: Settings) -> Iterator[Callable[[str], Settings]]:
    """Empty databases of the session's server by name; only this test uses them."""
    made: list[str] = []
    url = server.address(database_settings).set(username="postgres", database="postgres")

    def run(statement: str) -> None:
        engine = connect(url, DatabaseSettings())
        with engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(text(statement))
        engine.dispose()

    def make(name: str) -> Settings:
        run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        run(f'CREATE DATABASE "{name}" OWNER ragbench')
        made.append(name)
        own = written(url.set(database=name))
        engine = connect(url.set(database=name), DatabaseSettings())
        with engine.begin() as connection:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        engine.dispose()
        return Settings(database_url=own.replace("postgres@", "ragbench@"))

    yield make
    for name in made:
        run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def fill(store: Store) -> None:
    store.load_chunks("hash", "set", CHUNKS)
    store.embed(EMBEDDER, [chunk.text for chunk in CHUNKS])
    store.search("hash", EMBEDDER, np.eye(40)[:3], 2, batch=1)
    DatabaseJournal(store.engine).bring_in([row("dumped", n, text="Ответ \\ \t\n" * 30) for n in range(100)])
    Runs(store.engine).record(RunRecord("r1", replies=("0" * 64,)))


def content(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables but the copies that are searched."""
    with engine.connect() as connection:
        return {
            table.name: sorted(tuple(map(str, each)) for each in connection.execute(table.select()))
            for table in metadata.sorted_tables
            if table.name != "collection"
        }


def test_what_is_dumped_comes_back_in_another_database(databases: Callable[[str], Settings], tmp_path: Path) -> None:
    file = tmp_path / "all.dump"
    with Store.open(databases("dump_from")) as first, Store.open(databases("dump_to")) as second:
        fill(first)
        copying.dump(first.engine, file)
        assert copying.restore(second.engine, file) == "1 runs, 100 replies, 40 vectors, 1 data sets"
        assert content(second.engine) == content(first.engine)
        assert second.load_chunks("hash", "set", CHUNKS) is False
        assert second.embed(EMBEDDER, [chunk.text for chunk in CHUNKS]) == 0
        found = second.search("hash", EMBEDDER, np.eye(40)[:3], 2)
        assert [ids[0] for ids in found.ids] == ["c0", "c1", "c2"]
        assert second.load_chunks("another", "set", CHUNKS[:3]), "new rows get numbers of their own"


def test_a_database_that_keeps_something_is_replaced_only_when_asked(
    databases: Callable[[str], Settings], tmp_path: Path
) -> None:
    file = tmp_path / "all.dump"
    with Store.open(databases("dump_from")) as first, Store.open(databases("dump_to")) as second:
        fill(first)
        copying.dump(first.engine, file)
        second.load_chunks("other", "other", CHUNKS[:2])
        kept = content(second.engine)
        with pytest.raises(StoreError, match="keeps 1 data sets already; --replace"):
            copying.restore(second.engine, file)
        assert content(second.engine) == kept
        copying.restore(second.engine, file, replace=True)
        assert content(second.engine) == content(first.engine)


@pytest.mark.fault("bombs", tried="dumps of the database that are cut, noise or of another version", count=6)
def test_a_cut_or_foreign_file_changes_nothing(databases: Callable[[str], Settings], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.dump", tmp_path / "bad.dump"
    with Store.open(databases("dump_from")) as store:
        fill(store)
        copying.dump(store.engine, good)
        kept, raw = content(store.engine), good.read_bytes()
        for cut in (b"", raw[:10], raw[: len(raw) // 2], raw[:-30], os.urandom(1000)):
            bad.write_bytes(cut)
            with pytest.raises(StoreError, match=r"pg_restore failed|another version") as caught:
                copying.restore(store.engine, bad, replace=True)
            assert "\n" not in str(caught.value)
            assert content(store.engine) == kept
        with store.engine.begin() as connection:
            connection.execute(text("UPDATE ragbench.version SET number = number + 1"))
        copying.dump(store.engine, bad)
        with pytest.raises(StoreError, match=f"made by another version of ragbench .*version {VERSION + 1}; this one"):
            copying.restore(store.engine, bad, replace=True)


def test_no_list_of_processes_shows_a_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    def run(command: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        seen.append((command, how["env"]))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(watchdog, "run", run)
    engine = create_engine("postgresql+psycopg://me:canary-word@127.0.0.1:1/base")
    copying._run(engine, "pg_dump", "--file=x")
    [(command, environment)] = seen
    assert "canary-word" not in " ".join(command)
    assert environment["PGPASSWORD"] == "canary-word"
    assert "--dbname=postgresql://me@127.0.0.1:1/base" in command


def works(engine: Engine, program: str) -> bool:
    """Whether the server has begun what that program asked for last."""
    asked = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name AND query ~ 'pg_sleep'")
    with engine.connect() as connection:
        return bool(connection.scalar(asked, {"name": program}))


@pytest.mark.fault("locks", tried="a frozen pg_dump, one that waits for a lock, and a busy server's", count=3)
def test_a_program_that_nothing_moves_is_ended_and_one_that_is_worked_for_is_not(
    databases: Callable[[str], Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog, "STILL_SECONDS", 0.5)
    monkeypatch.setattr(watchdog, "LOOK_SECONDS", 0.25)
    with Store.open(databases("dump_from")) as store:
        fill(store)
        kept = content(store.engine)

        def freeze() -> None:
            while not (programs := [each for each in psutil.Process().children() if each.name() == "pg_dump"]):
                time.sleep(0.001)
            programs[0].suspend()

        (freezing := threading.Thread(target=freeze)).start()
        with pytest.raises(StoreError, match=r"pg_dump was ended, .* done nothing .*nor does the server work for it"):
            copying.dump(store.engine, tmp_path / "frozen.dump")
        freezing.join()
        with store.engine.begin() as other:
            other.execute(text("LOCK ragbench.journal IN ACCESS EXCLUSIVE MODE"))
            with pytest.raises(StoreError, match="waiting for a lock that another session holds: end that one"):
                copying.dump(store.engine, tmp_path / "locked.dump")
        with store.engine.connect() as busy:
            busy.execute(text("SET application_name = 'pg_dump 1'"))

            def work() -> None:
                with suppress(DBAPIError):
                    busy.execute(text("SELECT pg_sleep(60)"))

            working = threading.Thread(target=work)
            working.start()
            try:
                while not works(store.engine, "pg_dump 1"):
                    time.sleep(0.01)
                assert copying._wanting(store.engine, "pg_dump 1") is None
            finally:
                driver = busy.connection.driver_connection
                assert driver is not None
                driver.cancel()
                working.join()
        assert list(tmp_path.iterdir()) == []
        assert content(store.engine) == kept


def test_a_program_that_computes_is_not_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "STILL_SECONDS", 0.5)
    monkeypatch.setattr(watchdog, "LOOK_SECONDS", 0.25)
    spinning = "import time\nbegan = time.monotonic()\nwhile time.monotonic() < began + 1.2: pass\nprint('done')"
    assert watchdog.run([sys.executable, "-c", spinning]).stdout == "done\n"
    with pytest.raises(watchdog.StillError, match=r"it has done nothing for \d s"):
        watchdog.run(["sleep", "60"])


def test_the_commands_say_what_they_did(
    databases: Callable[[str], Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = databases("dump_from"), databases("dump_to")
    with Store.open(first) as store:
        fill(store)
    monkeypatch.setattr(settings_room, "load", lru_cache(lambda: first))
    cli = CliRunner()
    old = os.umask(0o027)
    try:
        said = cli.invoke(application, ["dump", str(tmp_path / "all.dump")])
    finally:
        os.umask(old)
    assert "All that the database keeps is in" in said.output
    assert stat.S_IMODE((tmp_path / "all.dump").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["all.dump"]
    size = cli.invoke(application, ["size"]).output
    assert "replies of models that were paid for" in size
    assert "in all" in size
    monkeypatch.setattr(settings_room, "load", lru_cache(lambda: second))
    assert "100 replies" in cli.invoke(application, ["restore", str(tmp_path / "all.dump")]).output
    assert "no such file" in str(cli.invoke(application, ["restore", str(tmp_path / "none")]).exception)


def test_rows_that_nobody_has_counted_yet_are_not_said_to_be_none(databases: Callable[[str], Settings]) -> None:
    """PostgreSQL estimates −1 rows of a table that it never looked at."""
    with Store.open(databases("ragbench_sizes")) as store:
        fill(store)
        found = {one.name: one.rows for one in copying.sizes(store.engine)}
        kept = {name: len(rows) for name, rows in content(store.engine).items()}
    assert {name: found[name] for name in kept} == kept
    assert found["chunk"] == len(CHUNKS)


def test_every_table_says_what_it_is_for() -> None:
    assert set(copying.MEANT_FOR) == {table.name for table in metadata.sorted_tables}
