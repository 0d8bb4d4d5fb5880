"""All that a database keeps leaves in one file and comes back, whole or not at all, whoever wrote the file."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, text
from typer.testing import CliRunner

from ragbench import settings as settings_room
from ragbench.commands.database import application
from ragbench.settings import DatabaseSettings, Settings
from ragbench.store import Store, StoreError, dumps, server
from ragbench.store.engine import connect, head
from ragbench.store.journal import DatabaseJournal
from ragbench.store.runs import RunRecord, Runs
from ragbench.store.tables import metadata
from ragbench.types import Chunk
from tests.scripted_embedder import ScriptedEmbedder
from tests.test_journal import row

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
        own = url.set(database=name, drivername="postgresql").render_as_string()
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
        rows = dumps.dump(first.engine, file)
        assert rows["journal"] == 100
        dumps.restore(second.engine, file)
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
        dumps.dump(first.engine, file)
        second.load_chunks("other", "other", CHUNKS[:2])
        kept = content(second.engine)
        with pytest.raises(StoreError, match="keeps 1 data sets already; --replace"):
            dumps.restore(second.engine, file)
        assert content(second.engine) == kept
        dumps.restore(second.engine, file, replace=True)
        assert content(second.engine) == content(first.engine)


Members = dict[str, bytes]


def about(change: Callable[[dict[str, Any]], object]) -> Callable[[Members], object]:
    """A change of what the dump says of itself."""

    def changed(members: Members) -> None:
        said = json.loads(members["dump.json"])
        change(said)
        members["dump.json"] = json.dumps(said).encode()

    return changed


def a_table_of_the_server(members: Members) -> None:
    about(lambda said: said["tables"].update(pg_authid=said["tables"]["run"]))(members)
    members["pg_authid.copy"] = members["run.copy"]


def twice(members: Members) -> None:
    chunks = members["chunk.copy"]
    members["chunk.copy"] = chunks[:-2] + chunks[19:]


SQL = 'x"; DROP SCHEMA ragbench; --'
PROGRAM = "id) FROM PROGRAM 'id' --"
HOSTILE: dict[str, tuple[Callable[[Members], object], str]] = {
    "newer": (about(lambda said: said.update(version="9999")), "made by a newer ragbench"),
    "a version that is SQL": (about(lambda said: said.update(version="0004'; DROP")), "made by a newer ragbench"),
    "a table that is SQL": (about(lambda said: said["tables"].update({SQL: said["tables"]["run"]})), "is not in it"),
    "a table of the server": (a_table_of_the_server, "have no pg_authid"),
    "other columns": (about(lambda said: said["tables"]["journal"].update(columns=["key"])), "have no journal of"),
    "a column that is SQL": (about(lambda said: said["tables"]["run"]["columns"].append(PROGRAM)), "have no run of"),
    "fewer rows": (about(lambda said: said["tables"]["journal"].update(rows=7)), "100 rows, and 7 are announced"),
    "another format": (about(lambda said: said.update(format=2)), "format"),
    "not JSON": (lambda members: members.update({"dump.json": b"{"}), "no dump"),
    "deep": (lambda members: members.update({"dump.json": b"[" * 100_000}), "no dump"),
    "no index": (lambda members: members.pop("dump.json"), "no dump"),
    "a member is gone": (lambda members: members.pop("journal.copy"), "journal.copy is not in it"),
    "a member is cut": (lambda members: members.update({"journal.copy": members["journal.copy"][:500]}), "restoring"),
    "a member is noise": (lambda members: members.update({"journal.copy": os.urandom(1000)}), "restoring"),
    "rows that come twice": (twice, "restoring"),
}


@pytest.mark.slow
@pytest.mark.fault("bombs", tried="dumps of the database that were changed, cut or forged", count=19)
def test_a_forged_or_cut_file_changes_nothing(databases: Callable[[str], Settings], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.dump", tmp_path / "bad.dump"
    with Store.open(databases("dump_from")) as store:
        fill(store)
        dumps.dump(store.engine, good)
        kept = content(store.engine)
        with zipfile.ZipFile(good) as file:
            members = {name: file.read(name) for name in file.namelist()}
        for name, (change, message) in HOSTILE.items():
            forged = dict(members)
            change(forged)
            with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as file:
                for member, data in forged.items():
                    file.writestr(member, data)
            with pytest.raises(StoreError, match=message) as caught:
                dumps.restore(store.engine, bad, replace=True)
            assert "\n" not in str(caught.value), name
            assert content(store.engine) == kept, name
        raw = good.read_bytes()
        for cut in (0, 10, len(raw) // 2, len(raw) - 30):
            bad.write_bytes(raw[:cut])
            with pytest.raises(StoreError, match="no dump"):
                dumps.restore(store.engine, bad, replace=True)
        assert content(store.engine) == kept


@pytest.mark.slow
@pytest.mark.fault("two-versions", tried="a dump of every older version of the tables restored", count=5)
def test_a_dump_of_every_older_version_is_brought_up_to_date(
    databases: Callable[[str], Settings], tmp_path: Path
) -> None:
    from ragbench.store.engine import prepare_schema, upgrade_to, versions

    for version in versions()[:-1]:
        old = databases("dump_old")
        engine = connect(server.address(old), old.database)
        with engine.begin() as connection:
            prepare_schema(connection)
            upgrade_to(connection, version)
            connection.execute(
                text("INSERT INTO ragbench.dataset (content_hash, name, chunks) VALUES ('h', 'of before', 0)")
            )
            if version >= "0002":
                connection.execute(text("UPDATE ragbench.journal_use SET lookups = 7, hits = 3"))
        dumps.dump(engine, tmp_path / "old.dump")
        engine.dispose()
        with Store.open(databases("dump_to")) as new:
            dumps.restore(new.engine, tmp_path / "old.dump")
            with new.engine.connect() as connection:
                assert connection.scalars(text("SELECT name FROM ragbench.dataset")).all() == ["of before"]
                assert connection.scalar(text("SELECT version_num FROM ragbench.alembic_version")) == head()
            assert new.journal.use() == {("", ""): (7, 3) if version >= "0002" else (0, 0)}


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
    assert "tables written to" in said.output
    assert stat.S_IMODE((tmp_path / "all.dump").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["all.dump"]
    size = cli.invoke(application, ["size"]).output
    assert "replies of models that were paid for" in size
    assert "in all" in size
    monkeypatch.setattr(settings_room, "load", lru_cache(lambda: second))
    assert "restored from" in cli.invoke(application, ["restore", str(tmp_path / "all.dump")]).output
    assert "nothing to do" in cli.invoke(application, ["upgrade"]).output
    assert "no such file" in str(cli.invoke(application, ["restore", str(tmp_path / "none")]).exception)


def test_rows_that_nobody_has_counted_yet_are_not_said_to_be_none(databases: Callable[[str], Settings]) -> None:
    """PostgreSQL estimates −1 rows of a table that it never looked at."""
    with Store.open(databases("ragbench_sizes")) as store:
        fill(store)
        found = {one.name: one.rows for one in dumps.sizes(store.engine)}
        kept = {name: len(rows) for name, rows in content(store.engine).items()}
    assert {name: found[name] for name in kept} == kept
    assert found["chunk"] == len(CHUNKS)


def test_every_table_says_what_it_is_for() -> None:
    assert set(dumps.MEANT_FOR) == {table.name for table in metadata.sorted_tables} | {"alembic_version"}
