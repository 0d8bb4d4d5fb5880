"""Faults of the database: killed servers, locks, limits, full pools, hostile names, vectors that cannot be used.

Real parts: a real server, real signals. Each must end in the same numbers or in a clear error, never in a score of 0.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Literal

import numpy as np
import psycopg
import pytest
from sqlalchemy import text

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.core.types import Chunk, Vectors
from ragbench.old.store import EmbeddingError, Store, StoreError, server
from ragbench.old.store.database_tables import written
from ragbench.old.store.errors import told_plainly
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.store.own_database import frozen, own_database
from tests.old.store.test_journal import row

CHUNKS = [Chunk(f"c{n:05}", f"text {n}") for n in range(4_000)]
QUESTIONS = [f"question {n}" for n in range(800)]


class RandomEmbedder:
    name = identity = "random in the fault tests"

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        rng = np.random.default_rng([ord(letter) for letter in texts[0] + kind])
        return rng.standard_normal((len(texts), 64)).astype(np.float32)


def measure(settings: Settings) -> tuple[list[list[str]], bytes]:
    """A whole small run, from chunks to neighbours."""
    with Store.open(settings) as store:
        store.load_chunks("faults", "faults", CHUNKS)
        embedder = RandomEmbedder()
        store.embed(embedder, [chunk.text for chunk in CHUNKS], batch=100)
        found = store.search(
            "faults", embedder, store.vectors(embedder, QUESTIONS, kind="query", batch=100), 5, batch=1
        )
        return found.ids, np.stack(found.similarities).tobytes()


@pytest.fixture
def own() -> Iterator[Settings]:
    with own_database() as settings:
        yield settings


@pytest.mark.fault("database", tried="kills of the server during a run", count=10)
@pytest.mark.slow
def test_ten_kills_of_the_server_end_in_the_same_numbers(own: Settings) -> None:
    expected = measure(own)
    errors: list[str] = []
    rng = np.random.default_rng(0)
    for turn in range(10):
        if turn % 3 == 0:
            fresh_start(own)
        outcome: list[object] = []
        worker = threading.Thread(target=lambda out=outcome: out.append(attempt(own)))
        worker.start()
        time.sleep(float(rng.uniform(0.05, 0.8)))
        pid = server.cluster_of(own).pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            if turn % 2:
                for process in server.cluster_of(own).processes():
                    process.kill()
        begun = time.monotonic()
        worker.join(60)
        assert not worker.is_alive(), "a clear error within 60 s"
        assert time.monotonic() - begun < 60
        (result,) = outcome
        if isinstance(result, StoreError):
            errors.append(str(result))
        else:
            assert result == expected
        assert measure(own) == expected, f"kill {turn}: the same command again gives the same numbers"
    assert errors, "no kill fell into a run: the test shows nothing"
    for message in errors:
        assert "\n" not in message
        assert "run the same command again" in message


def attempt(settings: Settings) -> object:
    try:
        return measure(settings)
    except StoreError as error:
        return error


def fresh_start(settings: Settings) -> None:
    """Forget everything, so that the next run loads, embeds and builds anew."""
    with Store.open(settings) as store, store.engine.begin() as connection:
        for number in connection.scalars(text("SELECT id FROM ragbench.collection")).all():
            connection.execute(text(f"DROP TABLE ragbench.collection_{number}"))
        connection.execute(text("TRUNCATE ragbench.dataset, ragbench.embedder CASCADE"))


@pytest.mark.fault("database", tried="a server that stays away", count=1)
def test_a_server_that_never_comes_back_is_a_clear_error(own: Settings) -> None:
    with Store.open(own) as store:
        server.stop(own)
        begun = time.monotonic()
        with pytest.raises(StoreError, match=r"went away during the run.*run the same command again"):
            store.load_chunks("gone", "gone", CHUNKS[:3])
        assert time.monotonic() - begun < 60


@pytest.fixture
def hasty() -> Iterator[Settings]:
    with own_database(connect_seconds=2) as settings:
        yield settings


@pytest.mark.slow
@pytest.mark.fault("database", tried="a frozen server: at a statement, at a new connection, in the journal", count=4)
def test_a_frozen_server_is_a_clear_error_and_a_busy_one_is_none(hasty: Settings) -> None:
    async def written(frozen_server: Callable[[], AbstractContextManager[None]]) -> list[BaseException]:
        connections = DatabaseJournal(store.engine).on_loop()
        await connections.record([row("before", 0)])
        with frozen_server():
            asked = [connections.record([row("frozen", n)]) for n in range(4)] + [connections.claim(["another"])]
            failed = await asyncio.gather(*asked, return_exceptions=True)
            await connections.close()
        return failed

    with Store.open(hasty) as store:
        with store.engine.begin() as connection:
            connection.execute(text("SELECT pg_sleep(3)"))  # longer than a silent server is waited for
        with frozen(hasty):
            begun = time.monotonic()
            for doing in (lambda: store.load_chunks("frozen", "frozen", CHUNKS[:3]), lambda: server.start(hasty)):
                with pytest.raises(StoreError, match=r"does not answer.*(again|ragbench db stop)"):
                    doing()
        failed = asyncio.run(written(partial(frozen, hasty)))
        assert all(isinstance(error, StoreError) and "does not answer" in str(error) for error in failed), failed
        assert time.monotonic() - begun < 30
        assert store.load_chunks("thawed", "thawed", CHUNKS[:3])


@pytest.mark.fault("database", tried="a database that is not there", count=1)
def test_a_database_that_is_not_there_is_no_server_that_went_away(own: Settings) -> None:
    with Store.open(own) as store:
        nowhere = written(store.engine.url.set(database="nowhere"))
    with (
        pytest.raises(StoreError, match=r'^while opening it: the server refuses the connection \(database "nowhere"'),
        told_plainly("opening it"),
    ):
        psycopg.connect(nowhere.replace("postgresql+psycopg", "postgresql"))


@pytest.mark.fault("database", tried="kills of the server during a run", count=1)
@pytest.mark.slow
def test_what_was_computed_before_a_kill_is_kept(own: Settings) -> None:
    class Dying(RandomEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
            self.calls += 1
            if self.calls == 4:
                os.kill(server.cluster_of(own).pid() or 0, signal.SIGKILL)
                while server.cluster_of(own).processes():
                    time.sleep(0.02)
            return super().embed(texts, kind=kind)

    texts = [chunk.text for chunk in CHUNKS[:1000]]
    with Store.open(own) as store, pytest.raises(StoreError, match="went away"):
        store.embed(Dying(), texts, batch=100)
    with Store.open(own) as store:
        assert store.embed(RandomEmbedder(), texts, batch=100) == 700


@pytest.fixture
def impatient(database_settings: Settings, store: Store) -> Iterator[Store]:
    """The session's server with short limits."""
    limits = {"lock_seconds": 0.2, "statement_seconds": 2.0, "connect_seconds": 2.0}
    database = DatabaseSettings(folder=database_settings.database.folder, **limits)
    with Store.open(Settings(database=database)) as opened:
        yield opened


def raw(settings: Settings, user: str = "ragbench") -> psycopg.Connection:
    return psycopg.connect(host=str(server.cluster_of(settings).sockets), port=5432, user=user, dbname="ragbench")


@pytest.mark.fault("locks", tried="tables locked by others", count=5)
@pytest.mark.parametrize(
    ("table", "work"),
    [
        ("dataset", lambda store: store.load_chunks(f"at {time.time_ns()}", "locked", CHUNKS[:2])),
        ("chunk", lambda store: store.load_chunks(f"at {time.time_ns()}", "locked", CHUNKS[:2])),
        ("embedder", lambda store: store.embed(RandomEmbedder(), ["locked"])),
        ("embedding", lambda store: store.embed(RandomEmbedder(), ["locked"])),
        ("collection", lambda store: measured_collection(store)),
    ],
)
def test_locks_are_waited_for_no_longer_than_the_limit(
    impatient: Store, database_settings: Settings, table: str, work: Callable[[Store], object]
) -> None:
    impatient.embed(RandomEmbedder(), ["known"])
    impatient.load_chunks("lockable", "lockable", [Chunk("a", "known")])
    with raw(database_settings) as blocker:
        blocker.execute(f"LOCK TABLE ragbench.{table} IN ACCESS EXCLUSIVE MODE")
        begun = time.monotonic()
        with pytest.raises(StoreError, match=r"holds a lock for longer than database\.lock_seconds"):
            work(impatient)
        assert time.monotonic() - begun < 5
        blocker.rollback()
    assert work(impatient) is not None


def measured_collection(store: Store) -> object:
    return store.search("lockable", RandomEmbedder(), np.ones((1, 64)), 1, batch=1)


@pytest.mark.fault("locks", tried="a session that holds a lock and idles", count=1)
def test_a_session_that_idles_while_making_a_collection_is_named(impatient: Store, database_settings: Settings) -> None:
    impatient.embed(RandomEmbedder(), ["idle"])
    impatient.load_chunks("idle", "idle", [Chunk("a", "idle")])
    with raw(database_settings) as blocker:
        number = blocker.execute("SELECT id FROM ragbench.dataset WHERE content_hash = 'idle'").fetchone()
        blocker.execute("SELECT pg_advisory_xact_lock(%s, %s)", (0x7261_6764, *(number or ())))
        begun = time.monotonic()
        with pytest.raises(StoreError, match="another session began to make this search table"):
            impatient.search("idle", RandomEmbedder(), np.ones((1, 64)), 1, batch=1)
        assert time.monotonic() - begun < 5


@pytest.mark.slow
@pytest.mark.fault("locks", tried="a statement without end", count=1)
def test_a_statement_that_takes_too_long_is_ended(impatient: Store) -> None:
    from ragbench.old.store.errors import told_plainly

    begun = time.monotonic()
    reached = pytest.raises(StoreError, match=r"the time limit database\.statement_seconds was reached")
    with reached, told_plainly("sleeping"), impatient.engine.begin() as connection:
        connection.execute(text("SELECT pg_sleep(20)"))
    assert time.monotonic() - begun < 5


def taken_connections(settings: Settings) -> list[psycopg.Connection]:
    held = []
    while True:
        try:
            held.append(raw(settings))
        except psycopg.OperationalError:
            return held


@pytest.mark.fault("locks", tried="all connections taken", count=1)
@pytest.mark.slow
def test_all_connections_of_the_server_taken_is_a_clear_error(own: Settings) -> None:
    server.start(own)
    limits = DatabaseSettings(folder=own.database.folder, connect_seconds=2)
    held: list[psycopg.Connection] = []
    try:
        held += taken_connections(own)
        begun = time.monotonic()
        with pytest.raises(StoreError, match="all connections of the server are taken"):
            Store.open(Settings(database=limits))
        assert time.monotonic() - begun < 30
    finally:
        for connection in held:
            connection.close()
    with Store.open(own):
        assert len(held) > 100


HOSTILE = [
    "'; DROP TABLE ragbench.chunk; --",
    '"; DROP TABLE ragbench.chunk; --',
    "\\'; DROP TABLE ragbench.chunk; --",
    "x'); TRUNCATE ragbench.dataset CASCADE; --",
    "$$; DROP SCHEMA ragbench CASCADE; $$",
    "%s %(a)s {} {0} :name :: %% %",
    "\\.\n\\N\t\\x00",
    "*/ DROP TABLE ragbench.chunk /*",
    "COPY ragbench.chunk TO PROGRAM 'touch /tmp/owned'",
    "ragbench.chunk",
    "pg_catalog.pg_authid",
    "‮evil⁦",
    "a" * 5000,
    "\u200b",
    "NULL",
    "\\N",
    "t\tt\nn\rr\vv",
    "' OR 1=1 --",
    "E'\\x27'",
    "U&'\\0027'",
]


@pytest.mark.fault("sql", tried="texts in every slot of the store", count=20)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_names_and_texts_are_only_ever_values(store: Store, hostile: str) -> None:
    """In every slot: content hash, name, id, text, url, title, section, embedder's name and identity."""
    before = state(store)
    embedder = RandomEmbedder()
    embedder.name = embedder.identity = hostile
    chunks = [Chunk(hostile, hostile, hostile, hostile, hostile), Chunk("other", f"other {hostile}")]
    store.load_chunks(hostile, hostile, chunks)
    store.embed(embedder, [chunk.text for chunk in chunks])
    queries = store.vectors(embedder, [hostile], kind="query")
    for index in ("exact", "hnsw"):
        found = store.search(hostile, embedder, queries, 2, index=index)  # type: ignore[arg-type]
        assert sorted(found.ids[0]) == sorted([hostile, "other"])
    with store.engine.connect() as connection:
        row = connection.execute(
            text("SELECT text, url, title, section FROM ragbench.chunk WHERE id = :id"), {"id": hostile}
        ).one()
    assert tuple(row) == (hostile,) * 4
    assert state(store) >= before, "no table and no row is gone"


def state(store: Store) -> set[str]:
    with store.engine.connect() as connection:
        tables = set(connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'ragbench'")))
        return tables | set(connection.scalars(text("SELECT content_hash FROM ragbench.dataset")))


@pytest.mark.fault("sql", tried="statements beyond the rights of our role", count=3)
def test_the_role_that_ragbench_uses_cannot_reach_beyond_its_database(store: Store) -> None:
    for forbidden in ("COPY (SELECT 1) TO PROGRAM 'true'", "CREATE ROLE more SUPERUSER", "SELECT pg_read_file('x')"):
        with pytest.raises(Exception, match=r"permission denied|must be superuser"), store.engine.begin() as connection:
            connection.execute(text(forbidden))


class Faulty:
    name = "faulty"

    def __init__(self, identity: str, reply: object) -> None:
        self.identity, self.reply = identity, reply

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        return self.reply  # type: ignore[return-value]


GOOD = [1.0, 2.0, 3.0]


@pytest.mark.fault("vectors", tried="replies of embedders, before they are stored", count=14)
@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (np.array([GOOD, [1, np.nan, 2]]), "NaN or infinity for 1 of 2 texts; the first is 'second'"),
        (np.array([[np.inf, 0, 0], [1, -np.inf, 2]]), "NaN or infinity for 2 of 2 texts"),
        ([[1e39, 0, 0], GOOD], "NaN or infinity"),
        (np.array([GOOD, [0, 0, 0]]), "a zero vector, which has no direction for 1 of 2 texts"),
        ([GOOD, [1e20, 1.0, 1.0]], "numbers too large or too small to measure a distance by for 1 of 2 texts"),
        (np.array([GOOD, [0, 1e-20, -1e-20]]), "numbers too large or too small to measure a distance by for 1 of 2"),
        ([GOOD, [0, 2**63, 0]], "numbers too large or too small"),
        (np.array([GOOD]), r"an array of shape \(1, 3\) for 2 texts"),
        (np.array([GOOD, GOOD, GOOD]), r"an array of shape \(3, 3\) for 2 texts"),
        (np.array(GOOD), r"an array of shape \(3,\)"),
        ([GOOD, [1.0, 2.0]], "a vector of another dimension for 1 of 2 texts; the first is 'second'"),
        ([GOOD, None], "a vector of another dimension for 1 of 2 texts; the first is 'second'"),
        ([GOOD, [1.0, None, 2.0]], "NaN or infinity"),
        ([GOOD, ["1", "2", "x"]], "texts, which are no numbers for 1 of 2 texts"),
        ([GOOD, ["1", "2", "3"]], "texts, which are no numbers"),
        (np.array([["1", "2"], ["3", "4"]]), "texts, which are no numbers for 2 of 2 texts"),
        ([GOOD, [True, False, True]], "booleans, which are no numbers for 1 of 2 texts; the first is 'second'"),
        (np.ones((2, 3), bool), "booleans, which are no numbers for 2 of 2 texts"),
        (np.array([GOOD, [True, 1, 2]], object), "booleans, which are no numbers for 1 of 2 texts"),
        (np.ones((2, 3), complex), "something that is no number for 2 of 2 texts"),
        ([[GOOD], [GOOD]], "something that is no vector for 2 of 2 texts"),
        (np.ones((2, 3, 1)), "something that is no vector for 2 of 2 texts"),
        ([GOOD, [10**400, 0, 0]], "NaN or infinity for 1 of 2 texts"),
        ([1.0, 2.0], "something that is no vector for 2 of 2 texts"),
        ([GOOD], "1 vectors for 2 texts"),
        (np.empty((2, 0)), "vectors of width 0"),
        (np.ones((2, 16_001)), "vectors of width 16001; PostgreSQL stores 1 to 16000"),
        (None, "an array of shape"),
    ],
)
def test_vectors_that_cannot_be_used_are_named_and_not_stored(store: Store, reply: object, said: str) -> None:
    embedder = Faulty(f"faulty {said}", reply)
    with pytest.raises(EmbeddingError, match=said):
        store.vectors(embedder, ["first", "second"])
    with store.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM ragbench.embedder WHERE name = 'faulty'")) == 0


@pytest.mark.fault("vectors", tried="a width that changes", count=1)
def test_a_width_that_changes_is_an_error_and_the_first_one_stays(store: Store) -> None:
    store.vectors(Faulty("changing", [GOOD]), ["first"])
    with pytest.raises(EmbeddingError, match="gave width 2; its stored vectors have 3"):
        store.vectors(Faulty("changing", [[1.0, 2.0]]), ["second"])
    np.testing.assert_array_equal(store.vectors(Faulty("changing", None), ["first"]), [GOOD])
    with store.engine.begin() as connection:
        connection.execute(text("DELETE FROM ragbench.embedder WHERE name = 'faulty'"))


@pytest.mark.fault("vectors", tried="queries with NaN and of zeros", count=2)
def test_queries_with_nan_are_refused_not_ranked(store: Store) -> None:
    embedder = RandomEmbedder()
    store.load_chunks("nan", "nan", CHUNKS[:3])
    store.embed(embedder, [chunk.text for chunk in CHUNKS[:3]])
    with pytest.raises(EmbeddingError, match="NaN or infinity"):
        store.search("nan", embedder, np.full((1, 64), np.nan), 2)
    with pytest.raises(EmbeddingError, match="a zero vector"):
        store.search("nan", embedder, np.zeros((1, 64)), 2)
