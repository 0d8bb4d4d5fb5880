"""Versions of ragbench and of PostgreSQL that meet in one database."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text

from ragbench.settings import Settings
from ragbench.store import Store, StoreError, dumps, server, upgrading
from ragbench.store.cluster import MAJOR, UPGRADE, server_user
from ragbench.store.engine import connect, head, prepare_schema, upgrade_to, versions
from ragbench.store.journal import DatabaseJournal
from tests.own_database import own_database
from tests.test_journal import row
from tests.test_store_dumps import databases as databases
from tests.test_store_server import elsewhere, finished

OLDER = 16
"""A major version of PostgreSQL that the wheel brings beside the newest."""


@pytest.fixture
def own() -> Iterator[Settings]:
    with own_database() as settings:
        yield settings


def opened(settings: Settings) -> subprocess.Popen[str]:
    """A process that opens the store and says which version it found there."""
    program = """
        import sys
        from sqlalchemy import text
        with Store.open(settings) as store, store.engine.connect() as connection:
            print(connection.scalar(text("SELECT version_num FROM ragbench.alembic_version")))
    """
    return elsewhere(program, settings)


def at_version(settings: Settings, version: str) -> None:
    engine = connect(server.address(settings), settings.database)
    with engine.begin() as connection:
        prepare_schema(connection)
        upgrade_to(connection, version)
        connection.execute(text("INSERT INTO ragbench.dataset (content_hash, name, chunks) VALUES ('h', 'old', 0)"))
    engine.dispose()


@pytest.mark.fault("two-versions", tried="a database that a newer ragbench has migrated, opened and dumped", count=2)
def test_a_newer_database_is_refused_in_one_line_and_left_alone(
    databases: Callable[[str], Settings], tmp_path: Path
) -> None:
    newer = databases("newer")
    at_version(newer, "head")
    engine = connect(server.address(newer), newer.database)
    with engine.begin() as connection:
        connection.execute(text("UPDATE ragbench.alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match=r"newer ragbench .*9999.*upgrade ragbench.*nothing was changed") as caught:
        Store.open(newer)
    assert "\n" not in str(caught.value)
    assert dumps.dump(engine, tmp_path / "newer.dump")["dataset"] == 1, "what is kept can still be saved"
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM ragbench.alembic_version")) == "9999"
    engine.dispose()


@pytest.mark.slow
@pytest.mark.fault("two-versions", tried="four processes that open a database of the first version at once", count=4)
def test_processes_that_upgrade_at_once_do_it_once(own: Settings) -> None:
    server.start(own)
    at_version(own, versions()[0])
    processes = [opened(own) for _ in range(4)]
    assert [finished(process).strip() for process in processes] == [head()] * 4
    with Store.open(own) as store, store.engine.connect() as connection:
        assert connection.scalars(text("SELECT name FROM ragbench.dataset")).all() == ["old"]
        assert connection.scalar(text("SELECT count(*) FROM ragbench.journal_use")) == 1


@pytest.mark.slow
@pytest.mark.fault("two-versions", tried="kills in the middle of bringing the tables up to date", count=3)
def test_a_killed_upgrade_leaves_the_old_version_and_goes_on(own: Settings) -> None:
    server.start(own)
    at_version(own, "0004")
    engine = connect(server.address(own), own.database)
    for _ in range(3):
        with engine.begin() as connection:
            connection.execute(text("LOCK TABLE ragbench.run IN ACCESS EXCLUSIVE MODE"))  # run_reply refers to it
            process = opened(own)
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            until = time.monotonic() + 30
            while not connection.scalar(waiting) and time.monotonic() < until:
                time.sleep(0.05)
            assert connection.scalar(waiting), "it is in the middle"
            process.kill()
            process.wait(10)
        with engine.connect() as connection:
            assert connection.scalar(text("SELECT version_num FROM ragbench.alembic_version")) == "0004"
    engine.dispose()
    assert finished(opened(own)).strip() == head()


def older_folder(settings: Settings) -> None:
    """A folder such as a ragbench of before has made, with a PostgreSQL of before."""
    cluster = replace(server.cluster_of(settings), major=OLDER)
    cluster.folder.mkdir()
    fresh = cluster.folder / "new-1"
    fresh.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(fresh, *server_user(cluster.folder))
    how = ("-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", "--locale=C")
    cluster.run("initdb", "-D", fresh.name, *how)
    with (fresh / "postgresql.conf").open("a") as file:
        file.write("\ninclude_if_exists = 'ragbench.conf'\n")
    fresh.rename(cluster.data)
    cluster.launch(20)
    server._prepare(cluster, 20)
    at_version(settings, "0004")
    engine = connect(server.address(settings), settings.database)
    DatabaseJournal(engine).bring_in([row("old", n) for n in range(50)])
    with engine.connect() as connection:
        assert str(connection.scalar(text("SHOW server_version"))).startswith(f"{OLDER}.")
    engine.dispose()


def replies(settings: Settings) -> tuple[str, int]:
    with Store.open(settings) as store, store.engine.connect() as connection:
        version = str(connection.scalar(text("SHOW server_version")))
        return version.partition(".")[0], sum(1 for _ in DatabaseJournal(store.engine).rows("old"))


@pytest.mark.slow
@pytest.mark.fault(
    "two-versions", tried="a data folder of an older PostgreSQL; its upgrade killed at two points", count=3
)
def test_a_folder_of_an_older_postgresql_is_moved_over(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    older_folder(own)
    server.stop(own)
    cluster = server.cluster_of(own)
    with pytest.raises(StoreError, match=f"made by PostgreSQL {OLDER}, and this ragbench brings {MAJOR}: `ragbench db"):
        Store.open(own)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)  # everything is in the file, and the folder not yet put aside
        with pytest.raises(KeyboardInterrupt):
            upgrading.upgrade(own)
    assert cluster.made_by == OLDER
    with monkeypatch.context() as patch:
        patch.setattr(dumps, "restore", killed)
        with pytest.raises(KeyboardInterrupt):
            upgrading.upgrade(own)
    assert (cluster.folder / UPGRADE).is_file()
    with pytest.raises(StoreError, match=r"was interrupted, and all data wait in upgrade.dump there: `ragbench db up"):
        Store.open(own)
    done = upgrading.upgrade(own)
    assert (done.postgresql, done.tables) == (MAJOR, head())
    assert not (cluster.folder / UPGRADE).exists()
    assert (cluster.folder / f"data-{OLDER}" / "PG_VERSION").read_text().strip() == str(OLDER)
    assert replies(own) == (str(MAJOR), 50)
    assert upgrading.upgrade(own).aside is None


def test_a_folder_of_a_postgresql_that_is_not_there_says_the_way(own: Settings) -> None:
    cluster = server.cluster_of(own)
    cluster.data.mkdir(parents=True)
    (cluster.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(StoreError, match=re.escape("`ragbench db dump FILE`; move ")) as caught:
        upgrading.upgrade(own)
    assert "\n" not in str(caught.value)
    assert "PostgreSQL 9 does not come with this installation" in str(caught.value)
