"""Everything through a real pgbouncer in transaction mode: its sessions serve many, and keep nothing of ours."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.engine import make_url

from ragbench.settings import DatabaseSettings, Settings
from ragbench.store import Store, dumps, pruning, server
from ragbench.store.engine import POOLED, connect
from ragbench.store.journal import DatabaseJournal
from ragbench.store.lanes import Lanes
from ragbench.store.tables import VERSION
from tests import small_project
from tests.chat_server import ChatServer
from tests.pooler import pooled
from tests.test_journal import row
from tests.test_llm_shares import workers
from tests.test_llm_tls import authority as authority
from tests.test_store import TableEmbedder, chunks_of, filled

ROOT = Path(__file__).parent.parent
LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


@pytest.fixture(scope="module")
def database(database_settings: Settings) -> Iterator[str]:
    """The name of a database whose extension is in a schema of its own, which its types are not found without."""
    server.start(database_settings)
    url = server.address(database_settings).set(username="postgres")

    def run(name: str, *statements: str) -> None:
        engine = connect(url.set(database=name), DatabaseSettings())
        with engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            for statement in statements:
                alone.execute(text(statement))
        engine.dispose()

    run("postgres", "CREATE DATABASE behind OWNER ragbench")
    run(
        "behind", "CREATE SCHEMA kinds", "CREATE EXTENSION vector SCHEMA kinds", "GRANT USAGE ON SCHEMA kinds TO PUBLIC"
    )
    yield "behind"
    run("postgres", "DROP DATABASE behind WITH (FORCE)")


@pytest.fixture(scope="module")
def address(database: str, database_settings: Settings) -> Iterator[str]:
    with pooled(database_settings) as url:
        yield make_url(url).set(database=database).render_as_string()


@pytest.fixture(scope="module")
def behind(address: str) -> Iterator[Store]:
    """A store whose connections lead through the pooler."""
    with Store.open(Settings(database_url=SecretStr(address))) as store:
        yield store


def test_a_pooler_is_noticed_and_limits_hold_in_each_transaction_alone(behind: Store, store: Store) -> None:
    with store.engine.connect() as connection:
        assert POOLED not in connection.info
        usual = [connection.scalar(text(f"SHOW {name}")) for name in (*LIMITS, "timezone")]
    with behind.engine.connect() as connection:
        assert POOLED in connection.info
        assert [connection.scalar(text(f"SHOW {name}")) for name in (*LIMITS, "timezone")] == usual
        assert connection.scalar(text("SHOW search_path")) == "kinds"
        assert connection.scalar(text("SELECT max(number) FROM ragbench.version")) == VERSION
    plain = make_url(behind.engine.url.render_as_string(hide_password=False)).set(drivername="postgresql")
    with psycopg.connect(plain.render_as_string(hide_password=False), autocommit=True) as one:
        for _ in range(20):  # whichever session serves
            assert [one.execute(f"SHOW {name}").fetchone() for name in LIMITS] == [("0",)] * 3


def test_loading_embedding_and_every_search(behind: Store) -> None:
    embedder = TableEmbedder("pooled")
    chunks = chunks_of("pooled", 300)
    key = filled(behind, "pooled", embedder, chunks)
    assert behind.embed(embedder, [each.text for each in chunks], batch=64) == 0
    queries = behind.vectors(embedder, [chunks[3].text, chunks[9].text])
    kinds: list[dict[str, Any]] = [
        {}, {"batch": 1}, {"index": "hnsw"}, {"index": "hnsw", "batch": 1}, {"index": "ivfflat", "lists": 1},
    ]  # fmt: skip
    for more in kinds:
        found = behind.search(key, embedder, queries, 5, **more)
        assert [each[0] for each in found.ids] == [chunks[3].id, chunks[9].id]
    with behind.engine.connect() as connection:
        locks = connection.scalar(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
        left = connection.scalar(text("SELECT count(*) FROM pg_class WHERE relname IN ('wanted', 'fresh', 'asked')"))
    assert (locks, left) == (0, 0)


def test_dumps_and_pruning(behind: Store, tmp_path: Path) -> None:
    journal = DatabaseJournal(behind.engine)
    journal.bring_in([row("pooled", n) for n in range(40)])
    assert sum(1 for _ in journal.rows("pooled")) == 40, "streamed"
    assert pruning.Pruning(behind.engine, pruning.Choice(judge="pooled")).delete() == 40
    assert pruning.shrink(behind.engine).after >= 0
    journal.bring_in([row("pooled", n) for n in range(7)])
    dumps.dump(behind.engine, tmp_path / "dump")
    assert "7 replies" in dumps.restore(behind.engine, tmp_path / "dump", replace=True)
    assert {each.name for each in dumps.sizes(behind.engine)} >= {"journal", "spending", "endpoint", "journal_claim"}


class TestClaims:
    """By leases: of one event loop each."""

    @staticmethod
    def work(store: Store, body: Callable[[Lanes, Lanes], Any]) -> None:
        async def inside() -> None:
            one, other = (DatabaseJournal(store.engine).on_loop() for _ in range(2))
            try:
                await body(one, other)
            finally:
                for lanes in (one, other):
                    if lanes.users:
                        await lanes.close()
            with store.engine.connect() as connection:
                assert connection.scalar(text("SELECT count(*) FROM ragbench.journal_claim")) == 0

        asyncio.run(inside())

    def test_a_key_is_of_one_at_a_time(self, behind: Store) -> None:
        async def body(one: Lanes, other: Lanes) -> None:
            assert await one.claim(["c1", "c2"]) == ({}, {"c1", "c2"})
            assert await other.claim(["c1", "c3"]) == ({}, {"c3"})
            assert await one.claim(["c1"]) == ({}, set()), "nor twice of one"
            one.release("c1")
            await asyncio.sleep(0.3)
            assert await other.claim(["c1"]) == ({}, {"c1"})
            await one.close()
            assert (await other.claim(["c2"]))[1] == {"c2"}, "who goes lets go"
            kept = row("pooled", 900)
            await other.record([kept])
            assert await other.claim([kept["key"]]) == ({kept["key"]: kept}, set())

        self.work(behind, body)

    def test_a_lease_is_renewed_and_runs_out(self, behind: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ragbench.store.shared.leases.RENEW_SECONDS", 0.1)
        older = text("UPDATE ragbench.journal_claim SET until = now() - interval '1 second' WHERE key = :key")

        async def body(one: Lanes, other: Lanes) -> None:
            await one.claim(["r1"])
            with behind.engine.begin() as connection:
                connection.execute(older, {"key": "r1"})
            await asyncio.sleep(0.4)
            assert (await other.claim(["r1"]))[1] == set(), "renewed"
            assert one._renewing is not None
            one._renewing.cancel()
            await asyncio.sleep(0.05)
            with behind.engine.begin() as connection:
                connection.execute(older, {"key": "r1"})
            assert (await other.claim(["r1"]))[1] == {"r1"}, "run out"

        self.work(behind, body)

    def test_many_claim_the_same_in_any_order(self, behind: Store) -> None:
        async def body(one: Lanes, other: Lanes) -> None:
            for turn in range(15):
                keys = [f"{turn} {n}" for n in range(40)]
                (_, mine), (_, theirs) = await asyncio.gather(one.claim(keys), other.claim(keys[::-1]))
                assert mine | theirs == set(keys)
                assert not mine & theirs
                for lanes, held in ((one, mine), (other, theirs)):
                    for key in held:
                        lanes.release(key)

        self.work(behind, body)


@pytest.mark.slow
def test_judging_with_budget_and_limits(
    behind: Store, address: str, database_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", address)
    with ChatServer(latency=0.2).running() as server_:
        codes = [process.wait(120) for process in workers(server_, database_folder, tmp_path, 20, 6, calls=50)]
        assert (server_.calls, server_.most_in_flight <= 6) == (50, True)
        assert sum(code != 0 for code in codes) >= 1
    with behind.engine.connect() as connection:
        kept = connection.scalar(text("SELECT count(*) FROM ragbench.journal WHERE judge LIKE :name"),
                                 {"name": f"{tmp_path.name[:30]}%"})  # fmt: skip
    assert kept == 50


@pytest.mark.slow
@pytest.mark.fault("parallel-runs", tried="processes behind a pooler that ask the same questions", count=3)
def test_each_question_is_asked_once(
    behind: Store, address: str, database_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", address)
    with ChatServer(latency=0.1).running() as server_:
        running = []
        for number in range(3):
            (tmp_path / str(number)).mkdir()
            words = [server_.url, str(database_folder), "120", str(tmp_path / str(number)), "same", "8"]
            running.append(subprocess.Popen([sys.executable, "-m", "tests.judged_run", *words], cwd=ROOT))
        assert [process.wait(120) for process in running] == [0, 0, 0]
        assert server_.calls == 120


@pytest.mark.slow
def test_the_command_line(behind: Store, address: str, tmp_path: Path, database_folder: Path) -> None:
    small_project.make(tmp_path, database_folder)

    def command(*words: str) -> str:
        environment = {**os.environ, "RAGBENCH_DATABASE_URL": address, "PYTHONPATH": str(ROOT), "RAGBENCH_TRUST": "/"}
        done = subprocess.run(
            [sys.executable, "-m", "ragbench", *words], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "ragbench@127.0.0.1" in command("db", "status")
    command("run", "tier1_retrieval")
    assert list((tmp_path / "reports").rglob("tier1_retrieval*.html"))
    assert "journal" in command("db", "size")
    command("db", "dump", "all.dump")


@pytest.mark.slow
@pytest.mark.parametrize(("certificate", "trusted"), [("good", True), ("elsewhere", False), ("expired", True)])
def test_tls_to_its_own_authority(
    certificate: str, trusted: bool, database: str, database_settings: Settings, authority: Path
) -> None:
    with pooled(database_settings, certificate=authority / certificate) as url:
        secured = f"?sslmode=verify-full&sslrootcert={authority / 'ca.pem'}"
        settings = Settings(
            database_url=SecretStr(f"{make_url(url).set(database=database).render_as_string()}{secured}")
        )
        found = server.status(settings)
        assert found.running == (certificate == "good" and trusted), found.problem
        if not found.running:
            assert "certificate" in found.problem
            return
        with Store.open(settings) as store, store.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            assert raw.pgconn.ssl_in_use
            found_rows = asyncio.run(_found(store))
            assert found_rows == {}


async def _found(store: Store) -> Any:
    lanes = DatabaseJournal(store.engine).on_loop()
    try:
        return await lanes.find(["nothing"])
    finally:
        await lanes.close()
