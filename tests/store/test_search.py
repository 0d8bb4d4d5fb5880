"""Vectors are kept, indexed and searched in the real PostgreSQL that comes with ragbench."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import psycopg
import pytest

from ragbench.core.errors import BenchError
from ragbench.core.settings import DatabaseSettings
from ragbench.store import Index, Store, compare_indexes, nearest_in_memory, recall_against_exact

# Eight directions in the plane, 45 degrees apart.
ANGLES = np.deg2rad(np.arange(8) * 45)
COMPASS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]).astype(np.float32)


def random_vectors(rows: int, width: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, width))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("kind", ["exact", "hnsw", "ivfflat"])
def test_the_nearest_come_first_with_their_cosines(
    store: Store, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.perf_counter", count(0, 0.5).__next__)
    table = store.build_index(COMPASS, Index(kind, lists=1))  # type: ignore[arg-type]
    found = store.nearest(table, np.float32([[0.9, 0.1]]), 3)
    assert found.positions.tolist() == [[0, 1, 7]]
    length = np.hypot(0.9, 0.1)
    expected = [0.9 / length, np.sqrt(0.5) / length, 0.8 * np.sqrt(0.5) / length]
    assert found.similarities[0] == pytest.approx(expected, abs=1e-6)
    assert found.latency_ms.tolist() == [500]


@pytest.mark.parametrize("kind", ["exact", "hnsw", "ivfflat"])
def test_equal_vectors_are_ordered_by_their_place(store: Store, kind: str) -> None:
    same = np.repeat(COMPASS[:1], 5, axis=0)
    table = store.build_index(same, Index(kind, lists=1))  # type: ignore[arg-type]
    assert store.nearest(table, COMPASS[:1], 5).positions.tolist() == [[0, 1, 2, 3, 4]]
    if kind == "exact":
        # A nearer one that comes late puts out the last of the equal ones.
        table = store.build_index(COMPASS[[1, 1, 0, 2, 2]])
        assert store.nearest(table, COMPASS[:1], 2).positions.tolist() == [[2, 0]]
    assert nearest_in_memory(COMPASS[:1], same, 3)[0].tolist() == [[0, 1, 2]]


def test_k_is_cut_to_what_there_is(store: Store) -> None:
    table = store.build_index(COMPASS[:2])
    assert store.nearest(table, COMPASS[:1], 10).positions.shape == (1, 2)
    assert nearest_in_memory(COMPASS[:1], COMPASS[:2], 10)[0].shape == (1, 2)


@pytest.mark.parametrize("rows", [5, 8_193, 9_000])
def test_products_in_memory_give_the_ranking_of_postgresql(store: Store, rows: int) -> None:
    vectors = random_vectors(rows, 16, seed=1)
    vectors[3] = vectors[1]  # a duplicate
    queries = random_vectors(30, 16, seed=2)
    queries[0] = vectors[-1]
    found = store.nearest(store.build_index(vectors), queries, 4)
    positions, similarities = nearest_in_memory(queries, vectors, 4)
    assert positions.tolist() == found.positions.tolist()
    assert similarities == pytest.approx(found.similarities, abs=1e-6)
    many = nearest_in_memory(np.tile(queries, (35, 1)), vectors, 4)[0]
    assert np.array_equal(many, np.tile(positions, (35, 1)))


def test_recall_counts_what_is_as_near_as_the_last_exact_one() -> None:
    exact = np.array([[0.9, 0.8], [0.9, 0.8]])
    approximate = np.array([[0.9, 0.8], [0.9, 0.5]])
    assert recall_against_exact(approximate, exact).tolist() == [1.0, 0.5]


def test_indexes_are_compared_by_time_and_recall(store: Store) -> None:
    frame = compare_indexes(store, random_vectors(300, 8, 3), random_vectors(20, 8, 4), 5)
    assert frame["index"].tolist() == ["exact", "hnsw", "ivfflat"]
    recall = frame.set_index("index")["recall"]
    assert recall["exact"] == 1.0
    assert recall["hnsw"] > 0.9
    assert recall["ivfflat"] < 1.0  # one list of ten is looked at
    assert (frame["latency_ms"] > 0).all()
    assert frame["options"].tolist() == [
        "",
        "m = 16, ef_construction = 64, ef_search = 40",
        "lists = 10, probes = 1",
    ]
    assert frame["n"].tolist() == [20, 20, 20]


def test_an_index_says_what_is_searched_and_how_it_is_made() -> None:
    hnsw = Index("hnsw", m=8, ef_construction=32, ef_search=80)
    assert hnsw.describe() == "HNSW in PostgreSQL (m = 8, ef_search = 80)"
    assert Index("ivfflat", probes=3).describe() == "IVFFlat in PostgreSQL (probes = 3)"
    assert Index("exact").describe() == "exact search in PostgreSQL"
    # pgvector's advice: a list for a thousand rows, and ten at least.
    for rows, lists in ((9_999, 10), (10_999, 10), (11_000, 11)):
        assert Index("ivfflat").build_options(rows) == f"lists = {lists}"


@pytest.mark.parametrize("width", [2_000, 2_001, 4_000])
def test_wide_vectors_are_indexed_in_half_precision(store: Store, width: int) -> None:
    vectors = random_vectors(20, width, seed=5)
    found = store.nearest(store.build_index(vectors, Index("hnsw")), vectors[:3], 1)
    assert found.positions.ravel().tolist() == [0, 1, 2]


def test_vectors_too_wide_for_an_index_are_refused_with_the_way_out(store: Store) -> None:
    with pytest.raises(BenchError, match='these have 4001; write index = "exact"'):
        store.build_index(random_vectors(2, 4_001, seed=6), Index("hnsw"))


def test_vectors_are_kept_by_model_and_text(store: Store) -> None:
    store.write_vectors("a model", ["Paris", "\udc00 odd"], COMPASS[:2], 1.5)
    store.write_vectors("a model", ["Paris"], COMPASS[5:6], 9.0)  # another process was first
    kept = store.read_vectors("a model", ["Paris", "\udc00 odd", "Rome"])
    assert set(kept) == {"Paris", "\udc00 odd"}
    assert kept["Paris"][0].tolist() == COMPASS[0].tolist()
    assert kept["Paris"][1] == 1.5
    assert store.read_vectors("another model", ["Paris"]) == {}


def test_time_is_limited_and_connections_are_given_back(database_url: str) -> None:
    limits = DatabaseSettings(statement_seconds=2, connections=1)
    with Store(limits, url=database_url) as store, store.engine.connect() as connection:
        timeouts = [
            connection.exec_driver_sql(f"SHOW {name}").scalar()
            for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        ]
    assert timeouts == ["2s", "20s", "2s"]


def test_all_connections_taken_is_a_sentence_in_time(database_url: str) -> None:
    limits = DatabaseSettings(connections=1, lock_seconds=0.3)
    with (
        Store(limits, url=database_url) as store,
        store.engine.connect(),
        pytest.raises(BenchError, match="PostgreSQL says: QueuePool limit"),
    ):
        store.read_vectors("a model", ["x"])


def test_a_server_that_does_not_answer_is_asked_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    connects = []

    def refuse(*given: Any, **options: Any) -> None:
        connects.append(given)
        raise psycopg.OperationalError("connection refused")

    monkeypatch.setattr(psycopg, "connect", refuse)
    with (
        Store(url="postgresql://u@127.0.0.1:1/d") as store,
        pytest.raises(BenchError, match="PostgreSQL says: connection refused"),
    ):
        store.read_vectors("a model", ["x"])
    assert len(connects) == 2


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://u:secret-password@h/d", "no address of a PostgreSQL database"),
        ("postgresql://u:secret-password@h", "no address of a PostgreSQL database"),
        ("http//u:secret-password", "is no address"),
        ("postgresql://u:secret-password@h:port/d", "is no address"),
        ("postgresql://u:secret-password@127.0.0.1:1/d?connect_timeout=2", "PostgreSQL says"),
    ],
)
def test_an_address_that_cannot_be_used_is_never_shown(url: str, message: str) -> None:
    with pytest.raises(BenchError, match=message) as raised, Store(url=url) as store:
        store.read_vectors("a model", ["x"])
    assert "secret-password" not in str(raised.value)
