"""The store: opened, filled and searched in a real server."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from threadpoolctl import threadpool_limits

from ragbench.old.core.settings import DatabaseSettings, EmbedderSettings, Settings
from ragbench.old.core.types import Chunk, Vectors
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.store import EmbeddingError, Neighbours, Store, StoreError, recall_against_exact
from ragbench.old.store.copying import HEADER, TRAILER, read_vectors, vector_rows
from ragbench.old.store.database_tables import VERSION, metadata
from ragbench.old.store.search import nearest_in_blocks, nearest_of_all
from tests.old.embed.servers import embeddings_server, vector_of


class TableEmbedder:
    """Vectors from a table, else pseudo-random ones that depend on the text alone; counts what it was asked for."""

    def __init__(self, name: str, width: int = 8, table: dict[str, Sequence[float]] | None = None) -> None:
        self.name = self.identity = name
        self.width, self.table = width, table or {}
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        self.asked += texts
        return np.array([self._vector(one) for one in texts], np.float32)

    def _vector(self, one: str) -> np.ndarray:
        if one in self.table:
            return np.array(self.table[one])
        seed = int.from_bytes(hashlib.sha256(one.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.width)


def chunks_of(name: str, count: int) -> list[Chunk]:
    return [Chunk(f"{name}-{n:04}", f"{name} text {n}", url=f"https://x/{n}") for n in range(count)]


def filled(store: Store, name: str, embedder: TableEmbedder, chunks: Sequence[Chunk]) -> str:
    store.load_chunks(f"hash of {name}", name, chunks)
    store.embed(embedder, [chunk.text for chunk in chunks])
    return f"hash of {name}"


def count(store: Store, query: str) -> int:
    with store.engine.connect() as connection:
        return int(connection.scalar(text(query)) or 0)


@pytest.mark.fault("two-versions", tried="a database that is opened twice", count=1)
def test_opening_twice_makes_the_tables_once(store: Store, database_settings: Settings) -> None:
    with Store.open(database_settings) as again, again.engine.connect() as connection:
        assert connection.scalars(text("SELECT number FROM ragbench.version")).all() == [VERSION]


def test_whoever_changes_a_table_gives_the_tables_another_version() -> None:
    """A database of other tables under the same version would be taken for one of these."""
    kinds = postgresql.dialect()
    made = {
        table.name: [(c.name, c.type.compile(kinds), c.nullable, c.primary_key) for c in table.columns]
        for table in metadata.sorted_tables
    }
    told = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:16]
    assert (VERSION, told) == (3, "92c87e25032acb73")


@pytest.mark.parametrize("other", [VERSION + 1, None])
@pytest.mark.fault("two-versions", tried="a database of another version, and one that does not say which", count=2)
def test_a_database_of_another_ragbench_is_refused_and_left_alone(
    store: Store, database_settings: Settings, other: int | None
) -> None:
    with store.engine.begin() as connection:
        connection.execute(text("DELETE FROM ragbench.version"))
        if other is not None:
            connection.execute(text("INSERT INTO ragbench.version VALUES (:n)"), {"n": other})
    try:
        with pytest.raises(StoreError, match=r"another version of ragbench .*nothing was changed") as caught:
            Store.open(database_settings)
        assert "\n" not in str(caught.value)
    finally:
        with store.engine.begin() as connection:
            connection.execute(text("DELETE FROM ragbench.version"))
            connection.execute(text("INSERT INTO ragbench.version VALUES (:n)"), {"n": VERSION})


def test_chunks_are_loaded_once(store: Store) -> None:
    chunks = [
        Chunk("b", "two"),
        Chunk("a", "one\twith\\backslash\nand a line", url="https://x", title="т", section="§"),
    ]
    assert store.load_chunks("once", "once", chunks)
    assert not store.load_chunks("once", "another name", list(reversed(chunks)))
    with store.engine.connect() as connection:
        rows = connection.execute(
            text(
                "SELECT position, c.id, text, url, title, section FROM ragbench.chunk c "
                "JOIN ragbench.dataset d ON d.id = dataset_id WHERE content_hash = 'once' ORDER BY position"
            )
        ).all()
    assert [tuple(row) for row in rows] == [
        (0, "a", "one\twith\\backslash\nand a line", "https://x", "т", "§"),
        (1, "b", "two", None, None, None),
    ]


@pytest.mark.fault("disk", tried="loads that break off", count=5)
@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([], "without chunks"),
        ([Chunk("a", "x"), Chunk("b", "x"), Chunk("a", "y")], "1 are not, the first is 'a'"),
        ([Chunk("a", "x"), Chunk("b", "nul \0 inside")], "text of chunk 'b' holds a NUL"),
        ([Chunk("a", "x"), Chunk("b", "half \ud800 pair")], "text of chunk 'b' holds"),
        ([Chunk("a", "x", title="\0")], "title of chunk 'a'"),
    ],
)
def test_chunks_that_cannot_be_stored_leave_nothing(store: Store, chunks: list[Chunk], said: str) -> None:
    with pytest.raises(StoreError, match=said):
        store.load_chunks("bad", "bad", chunks)
    assert count(store, "SELECT count(*) FROM ragbench.dataset WHERE content_hash = 'bad'") == 0


@pytest.mark.fault("changed", tried="chunks that their hash does not cover", count=1)
def test_a_hash_that_does_not_cover_the_chunks_is_found(store: Store) -> None:
    store.load_chunks("short", "short", chunks_of("short", 3))
    with pytest.raises(StoreError, match="has 3 chunks in the database and 4 here"):
        store.load_chunks("short", "short", chunks_of("short", 4))


def test_vectors_are_computed_once_and_come_in_order(store: Store) -> None:
    embedder = TableEmbedder("once")
    texts = ["b", "a", "b", "c"]
    done: list[int] = []
    first = store.vectors(embedder, texts, batch=2, progress=done.append)
    assert sorted(embedder.asked) == ["a", "b", "c"], "a repeated text is computed once"
    assert sum(done) == len(texts)
    np.testing.assert_array_equal(first, np.array([embedder._vector(one) for one in texts], np.float32))
    embedder.asked.clear()
    again = store.vectors(embedder, ["c", "a", "d"])
    assert embedder.asked == ["d"]
    np.testing.assert_array_equal(again[:2], first[[3, 1]])
    assert store.embed(embedder, ["a"], kind="query") == 1, "a question's vector is not a passage's"
    assert store.embed(TableEmbedder("another"), ["a"]) == 1


@pytest.mark.fault("parallel-runs", tried="stores that embed the same texts", count=2)
def test_two_processes_pay_for_a_text_once(store: Store, database_settings: Settings) -> None:
    asked: list[str] = []
    slow = threading.Event()

    class Slow(TableEmbedder):
        def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
            slow.wait(0.05)
            asked.extend(texts)
            return super().embed(texts, kind=kind)

    texts = [f"shared {n}" for n in range(60)]

    def work() -> None:
        with Store.open(database_settings) as mine:
            mine.embed(Slow("shared"), texts, batch=10)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(asked) == sorted(texts)


def test_two_processes_compute_at_the_same_time_what_both_need(store: Store, database_settings: Settings) -> None:
    both = threading.Barrier(2)
    asked: list[str] = []

    class Meeting(TableEmbedder):
        def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
            if not self.asked:
                both.wait(20)  # the first batches of both are under way together, or the test fails
            asked.extend(texts)
            return super().embed(texts, kind=kind)

    texts = [f"met {n}" for n in range(200)]
    failed: list[Exception] = []

    def work() -> None:
        try:
            with Store.open(database_settings) as mine:
                mine.embed(Meeting("met"), texts, batch=10)
        except threading.BrokenBarrierError as error:
            failed.append(error)

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not failed
    assert sorted(asked) == sorted(texts)


def test_an_endpoint_is_asked_for_many_batches_at_once_and_what_it_gave_beside_a_refusal_is_kept(store: Store) -> None:
    with embeddings_server() as server:
        server.seconds = 0.08
        texts = [f"many {n}" for n in range(40)]
        known = EmbedderSettings(kind="openai", model="m", base_url=server.url, concurrency=4, attempts=1)
        embedder = EndpointEmbedder("many", known)
        vectors = store.vectors(embedder, texts, batch=2)
        np.testing.assert_array_equal(vectors, np.array([vector_of(one) for one in texts], np.float32))
        assert 2 <= server.most_at_once <= 4
        server.refuses = lambda one: one == "new 7"
        new = [f"new {n}" for n in range(20)]
        with pytest.raises(EmbeddingError, match="welcome"):
            store.vectors(embedder, new, batch=2)
        server.refuses = lambda _: False
        server.requests.clear()
        kept = len(new) - len(store.missing(embedder, new))
        assert store.embed(embedder, new, batch=2) == len(server.texts) == len(new) - kept


@pytest.mark.parametrize("width", [1, 3, 2_001, 16_000])
def test_vectors_of_any_width_come_back_bit_for_bit(store: Store, width: int) -> None:
    embedder = TableEmbedder(f"wide {width}", width)
    texts = ["x", "y"]
    np.testing.assert_array_equal(
        store.vectors(embedder, texts), np.array([embedder._vector(one) for one in texts], np.float32)
    )


def test_exact_search_against_hand_computed_cosines(store: Store) -> None:
    """cos((3,4), (1,0)) = 0.6, cos((3,4), (0,1)) = 0.8, cos((3,4), (-3,-4)) = -1, whatever the lengths."""
    table = {"east": [2.0, 0.0], "north": [0.0, 5.0], "back": [-3.0, -4.0], "q": [3.0, 4.0], "also north": [0.0, 0.5]}
    embedder = TableEmbedder("compass", 2, table)
    chunks = [Chunk("4", "also north"), Chunk("2", "north"), Chunk("1", "east"), Chunk("3", "back")]
    name = filled(store, "compass", embedder, chunks)
    found = store.search(name, embedder, store.vectors(embedder, ["q", "east"], kind="query"), 9)
    assert found.ids == [["2", "4", "1", "3"], ["1", "2", "4", "3"]]
    np.testing.assert_allclose(found.similarities[0], [0.8, 0.8, 0.6, -1], atol=1e-6)
    np.testing.assert_allclose(found.similarities[1], [1, 0, 0, -0.6], atol=1e-6)
    assert store.search(name, embedder, np.array([[3.0, 4.0]]), 2).ids == [["2", "4"]]


@pytest.mark.fault("determinism", tried="passages that are equally near", count=1)
def test_ties_are_broken_by_id_at_any_cut(store: Store) -> None:
    """Equally near chunks among nearer and farther ones: the cut falls into the ties, and takes the first ids."""
    table = {"near": [1.0, 0.5], "tied": [1.0, 1.0], "far": [-1.0, 0.0], "q": [1.0, 0.5]}
    embedder = TableEmbedder("ties", 2, table)
    odd = ["Я", "z", "a", "Z", "10", "9", "é"]
    tied = sorted([*odd, *(f"{n * 7919 % 1000:03} tied" for n in range(400))])
    chunks = [Chunk(one, "tied") for one in tied]
    chunks += [Chunk(f"{n:03} far", "far") for n in range(0, 1000, 3)] + [Chunk("yyy near", "near")]
    name = filled(store, "ties", embedder, chunks)
    asked = np.array([[1.0, 0.5]], np.float32)
    store.search(name, embedder, asked, 1, batch=1)
    with store.engine.begin() as connection:  # rows that were written again lie behind the others
        table_name = f"ragbench.collection_{connection.scalar(text('SELECT max(id) FROM ragbench.collection'))}"
        connection.execute(text(f"UPDATE {table_name} SET position = position WHERE position % 3 = 0"))
    for k in (1, 2, 3, 17, 100, 300, 408):
        for batch in (1, 2):  # by PostgreSQL, and in this process
            assert store.search(name, embedder, asked, k, batch=batch).ids == [["yyy near", *tied][:k]]


@pytest.fixture(scope="module")
def random_set(store: Store) -> tuple[str, TableEmbedder, Vectors, Vectors]:
    embedder = TableEmbedder("random", 16)
    chunks = chunks_of("random", 700)
    name = filled(store, "random", embedder, chunks)
    questions = store.vectors(embedder, [f"question {n}" for n in range(300)], kind="query")
    return name, embedder, questions, store.vectors(embedder, [chunk.text for chunk in chunks])


@pytest.mark.parametrize("batch", [1, 2])
def test_exact_search_is_numpys_ranking(
    store: Store, random_set: tuple[str, TableEmbedder, Vectors, Vectors], batch: int
) -> None:
    name, embedder, questions, vectors = random_set
    found = store.search(name, embedder, questions, 10, batch=batch)
    wide = vectors.astype(np.float64)
    cosines = (questions @ wide.T) / np.linalg.norm(questions, axis=1)[:, None] / np.linalg.norm(wide, axis=1)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
    assert found.ids == [[f"random-{n:04}" for n in row] for row in order]
    np.testing.assert_allclose(np.stack(found.similarities), np.take_along_axis(cosines, order, 1), atol=2e-6)
    assert found.milliseconds.shape == (300,)
    assert (found.milliseconds > 0).all()


def test_exact_in_blocks_is_exact_search(store: Store, random_set: tuple[str, TableEmbedder, Vectors, Vectors]) -> None:
    name, embedder, questions, _ = random_set
    done: list[int] = []
    one = store.search(name, embedder, questions, 10, batch=1)
    other = store.search(name, embedder, questions, 10, progress=done.append)
    assert one.ids == other.ids
    assert sum(done) == 300
    np.testing.assert_allclose(np.stack(one.similarities), np.stack(other.similarities), atol=1e-6)


def test_hnsw_fills_every_list_and_its_recall_is_measured(
    store: Store, random_set: tuple[str, TableEmbedder, Vectors, Vectors]
) -> None:
    name, embedder, questions, _ = random_set
    exact = store.exact_in_blocks(name, embedder, questions, 60)
    poor = store.search(name, embedder, questions, 60, index="hnsw", m=2, ef_construction=4, ef_search=1)
    good = store.search(name, embedder, questions, 60, index="hnsw", m=16, ef_construction=64, ef_search=200)
    assert {len(row) for row in good.ids} == {60}
    assert all(len(row) == 60 for row in poor.ids), "a search wider than ef_search goes on until it has k"
    assert recall_against_exact(poor, exact) < recall_against_exact(good, exact)
    assert recall_against_exact(good, exact) > 0.98
    assert recall_against_exact(exact, exact) == 1.0
    assert all((np.diff(row) <= 0).all() for row in good.similarities)


def test_hnsw_uses_its_index_and_exact_search_none(
    store: Store, random_set: tuple[str, TableEmbedder, Vectors, Vectors]
) -> None:
    name, embedder, questions, _ = random_set

    def scans() -> dict[str, int]:
        with store.engine.connect() as connection:
            connection.execute(text("SELECT pg_stat_clear_snapshot()"))
            rows = connection.execute(
                text(
                    "SELECT index, coalesce(sum(idx_scan), 0) FROM ragbench.collection c JOIN pg_stat_user_indexes s "
                    "ON s.relname = 'collection_' || c.id GROUP BY index"
                )
            )
            return {row[0]: int(row[1]) for row in rows}

    store.search(name, embedder, questions, 3, index="hnsw")
    store.search(name, embedder, questions, 3, batch=1)
    with store.engine.connect() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    store.engine.dispose()  # ended sessions have reported what they did
    found = scans()
    assert found["hnsw m=16 ef_construction=64"] >= len(questions)
    assert found["exact"] == 0


def test_recall_by_hand() -> None:
    """Of the exact two one was found, and one that is as near as the second: 1/2 and 2/2."""

    def of(*rows: list[float]) -> Neighbours:
        return Neighbours([[]] * len(rows), [np.array(row, np.float32) for row in rows], np.zeros(len(rows)))

    assert recall_against_exact(of([0.9, 0.1], [0.9, 0.5]), of([0.9, 0.5], [0.9, 0.5])) == pytest.approx(0.75)
    assert recall_against_exact(of([0.9]), of([0.9, 0.5])) == 0.5


def test_wide_vectors_are_indexed_in_half_precision_or_refused(store: Store) -> None:
    embedder = TableEmbedder("half", 2_500)
    name = filled(store, "half", embedder, chunks_of("half", 50))
    questions = store.vectors(embedder, ["q1", "q2"], kind="query")
    found = store.search(name, embedder, questions, 5, index="hnsw")
    exact = store.search(name, embedder, questions, 5)
    assert recall_against_exact(found, exact) == 1.0
    np.testing.assert_allclose(found.similarities[0], exact.similarities[0], atol=1e-6)
    wide = TableEmbedder("wider than half", 4_001)
    name = filled(store, "half", wide, chunks_of("half", 50))
    with pytest.raises(StoreError, match="up to width 4000, these have 4001"):
        store.search(name, wide, store.vectors(wide, ["q"], kind="query"), 5, index="hnsw")
    assert len(store.search(name, wide, store.vectors(wide, ["q"], kind="query"), 5).ids[0]) == 5


def test_what_is_missing_is_named(store: Store) -> None:
    embedder = TableEmbedder("missing", 4)
    with pytest.raises(StoreError, match="no data set with content hash nowhere"):
        store.search("nowhere", embedder, np.ones((1, 4)), 3)
    chunks = chunks_of("missing", 5)
    store.load_chunks("hash of missing", "missing", chunks)
    with pytest.raises(EmbeddingError, match="no vectors of the embedder missing"):
        store.search("hash of missing", embedder, np.ones((1, 4)), 3)
    store.embed(embedder, [chunk.text for chunk in chunks[:3]])
    with pytest.raises(StoreError, match="2 of 5 chunks have no vectors"):
        store.search("hash of missing", embedder, np.ones((1, 4)), 3)
    assert count(store, "SELECT count(*) FROM ragbench.collection c JOIN ragbench.dataset d ON d.id = dataset_id "
                        "WHERE content_hash = 'hash of missing'") == 0  # fmt: skip
    with pytest.raises(StoreError, match="queries have width 5, the vectors of missing have 4"):
        store.search("hash of missing", embedder, np.ones((1, 5)), 3)
    with pytest.raises(ValueError, match="k = 0"):
        store.search("hash of missing", embedder, np.ones((1, 4)), 0)


@pytest.mark.fault("parallel-runs", tried="stores that make one search table", count=5)
def test_several_processes_make_one_collection(store: Store, database_settings: Settings) -> None:
    embedder = TableEmbedder("crowd", 8)
    name = filled(store, "crowd", embedder, chunks_of("crowd", 300))
    found: list[list[list[str]]] = []

    def work() -> None:
        with Store.open(database_settings) as mine:
            found.append(mine.search(name, embedder, np.ones((1, 8)), 3, index="hnsw").ids)

    workers = [threading.Thread(target=work) for _ in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert len(found) == 5
    assert all(one == found[0] for one in found)
    query = (
        "SELECT count(*) FROM ragbench.collection c JOIN ragbench.embedder e ON e.id = embedder_id WHERE name = 'crowd'"
    )
    assert count(store, query) == 1


@pytest.mark.fault("locks", tried="all connections taken", count=1)
def test_the_pool_is_bounded(database_settings: Settings) -> None:
    limits = DatabaseSettings(folder=database_settings.database.folder, connections=1, lock_seconds=0.3)
    with Store.open(Settings(database=limits)) as store:
        held = [store.engine.connect(), store.engine.connect()]
        with pytest.raises(StoreError, match=r"all connections of this process are taken; raise database\.connections"):
            store.search("any", TableEmbedder("any"), np.ones((1, 8)), 1)
        for connection in held:
            connection.close()


vectors_strategy = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=width, max_size=width), min_size=0, max_size=6
    ).map(lambda rows: np.array(rows, np.float32).reshape(len(rows), width))
)


@given(vectors_strategy)
def test_the_copy_format_is_read_as_it_was_written(vectors: Vectors) -> None:
    keys = np.arange(len(vectors), dtype=np.int32)
    payload = vector_rows(keys, vectors)
    assert payload.startswith(HEADER)
    assert payload.endswith(TRAILER)
    read_keys, read = read_vectors(payload, vectors.shape[1])
    np.testing.assert_array_equal(read_keys, keys)
    np.testing.assert_array_equal(read, vectors)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 90), st.integers(1, 7), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_blocks_give_what_one_sort_gives(count: int, k: int, block: int, seed: int) -> None:
    """Whatever the blocks, the k most similar are the k most similar (integers: sums without rounding, many ties)."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-1, 2, (count, 3)).astype(np.float32)
    vectors[~vectors.any(axis=1)] = 1
    queries = np.eye(3, dtype=np.float32)
    names = np.arange(count, dtype=np.int32)
    parts = [(names[n : n + block], vectors[n : n + block]) for n in range(0, count, block)]
    positions, similarities = nearest_in_blocks(queries, parts, k)
    cosines = queries.astype(float) @ vectors.T.astype(float) / np.linalg.norm(vectors.astype(float), axis=1)
    expected = np.argsort(-cosines.round(12), axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(positions[:, : min(k, count)], expected)
    assert (positions[:, count:] == -1).all()
    np.testing.assert_allclose(similarities[:, : min(k, count)], np.take_along_axis(cosines, expected, 1))


def test_exact_search_does_not_depend_on_the_number_of_threads() -> None:
    """Though the last digits of a product in single precision do."""
    rng = np.random.default_rng(0)
    queries, vectors = (rng.standard_normal((n, 384)).astype(np.float32) for n in (1100, 5000))
    vectors[1000:2000] = vectors[:1000]
    found = []
    for threads in (1, 2, 3, 4):
        with threadpool_limits(threads, "blas"):
            found.append(nearest_in_blocks(queries, [(np.arange(5000, dtype=np.int32), vectors)], 10))
    for positions, similarities in found[1:]:
        assert positions.tobytes() == found[0][0].tobytes()
        assert similarities.tobytes() == found[0][1].tobytes()


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 400), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_what_blocks_find_depends_on_no_block(block: int, k: int, seed: int) -> None:
    """Vectors that are equal, or differ where single precision sees nothing, keep their order in any blocks."""
    rng = np.random.default_rng(seed)
    few = rng.standard_normal((12, 200)).astype(np.float32)
    vectors = few[rng.integers(0, 12, 300)]
    vectors[::3] *= np.float32(1 + 2**-20)
    vectors[::5, 0] = np.nextafter(vectors[::5, 0], np.float32(np.inf))
    queries = few[:5] + rng.standard_normal((5, 200)).astype(np.float32) / 10
    names = np.arange(300, dtype=np.int32)
    whole = nearest_in_blocks(queries, [(names, vectors)], k)
    order = rng.permutation(300).astype(np.int32)
    parts = [(order[n : n + block], vectors[order[n : n + block]]) for n in range(0, 300, block)]
    for one, other in zip(whole, nearest_in_blocks(queries, parts, k), strict=True):
        np.testing.assert_array_equal(one, other)
    apart = [nearest_in_blocks(queries, [part], k) for part in parts]
    for one, other in zip(whole, nearest_of_all(apart), strict=True):
        np.testing.assert_array_equal(one, other)
    wide, asked = vectors.astype(float), queries.astype(float)
    cosines = asked @ wide.T / np.linalg.norm(asked, axis=1)[:, None] / np.linalg.norm(wide, axis=1)
    best = -np.sort(-cosines, axis=1)[:, :k]
    np.testing.assert_allclose(whole[1], best, rtol=1e-14)
