"""How vectors get into the store and their graph into memory: in few transactions, and nothing on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import psycopg
import pytest

from ragbench.old.core.settings import Settings
from ragbench.old.core.types import EmbeddingError, Vectors
from ragbench.old.store import Store, embeddings, search, server
from ragbench.old.store.chunks import text_hash
from ragbench.old.store.copying import vector_rows
from ragbench.old.store.database_tables import written
from ragbench.old.store.search import Index


class Counting:
    """Vectors of the texts' numbers; fails at the text `bad`."""

    def __init__(self, name: str, bad: str = "") -> None:
        self.name = self.identity = name
        self.bad = bad
        self.sizes: list[int] = []

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        self.sizes.append(len(texts))
        if self.bad in texts:
            raise EmbeddingError("no vector", [texts.index(self.bad)])
        return np.array([[1.0, float(text)] for text in texts], np.float32)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors each transaction keeps."""
    real, sizes = embeddings._keep, list[int]()

    def noting(engine: Any, model: Any, keys: Sequence[bytes], vectors: Vectors) -> None:
        sizes.append(len(keys))
        real(engine, model, keys, vectors)

    monkeypatch.setattr(embeddings, "_keep", noting)
    return sizes


def test_batches_of_a_fast_embedder_are_kept_together(
    store: Store, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "KEEPING_SECONDS", 60.0)
    embedder, texts = Counting("fast"), [str(n) for n in range(100)]
    done: list[int] = []
    assert store.embed(embedder, texts, batch=4, progress=done.append) == 100
    assert max(embedder.sizes) == 4, "no more texts together than asked for"
    quick = Counting("quick")
    quick.together = 10  # type: ignore[attr-defined]
    store.embed(quick, texts, batch=4)
    assert max(quick.sizes) == 10, "or than it says to be quicker with"
    assert kept[:5] == [4, 8, 16, 32, 40]
    assert sum(done) == 100
    np.testing.assert_array_equal(store.vectors(embedder, texts), [[1, n] for n in range(100)])


def test_each_batch_of_a_slow_embedder_is_kept_by_itself(
    store: Store, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "KEEPING_SECONDS", 0.0)
    store.embed(Counting("slow"), [str(n) for n in range(10)], batch=4)
    assert kept == [4, 4, 2]


def test_what_was_done_before_an_error_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "KEEPING_SECONDS", 60.0)
    texts = [str(n) for n in range(40)]
    in_turn = sorted(texts, key=lambda text: text_hash(text, "passage"))  # as all who share the work take them
    with pytest.raises(EmbeddingError) as raised:
        store.embed(Counting("breaks", bad=in_turn[25]), texts, batch=4)
    assert raised.value.positions == (texts.index(in_turn[25]),)
    assert set(store.missing(Counting("breaks"), texts)) == set(in_turn[24:])


class Room(NamedTuple):
    free: int


@pytest.mark.parametrize(("free", "shared"), [(2**50, "posix"), (2**26, "mmap")])
def test_shared_memory_lies_in_files_only_where_there_is_no_room(
    free: int, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Room(free))
    memory, where = server._memory()
    assert where == shared
    assert memory <= server.LEAST_MEMORY or where == "posix"


@pytest.mark.slow
def test_a_graph_fits_into_the_memory_that_is_asked_for(store: Store, database_settings: Settings) -> None:
    """pgvector says so where it does not; the server says how much there is at all."""
    rows, width, index = 3000, 256, Index("hnsw", 16, 40)
    needed = search._graph_bytes(rows, width, index) - search.SHARE
    vectors = np.random.default_rng(0).standard_normal((rows, width)).astype(np.float32)
    address = written(server.address(database_settings))
    said: list[str] = []
    with psycopg.connect(address, autocommit=True) as owner:
        owner.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        row = owner.execute("SELECT current_setting('ragbench.build_memory')").fetchone()
        assert row is not None
        assert int(row[0]) > search.SHARE >> 20
        owner.execute(f"CREATE TEMPORARY TABLE made (position integer, embedding vector({width}))".encode())
        with owner.cursor() as cursor, cursor.copy("COPY made FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(vector_rows(np.arange(rows, dtype=np.int32), vectors))
        for memory, fits in ((needed + 2**20, True), (needed // 2, False)):
            owner.execute(f"SET maintenance_work_mem = '{memory >> 10}kB'".encode())
            said.clear()
            owner.execute(
                f"CREATE INDEX ON made USING hnsw (embedding vector_cosine_ops) WITH ({index.options})".encode()
            )
            assert not said if fits else "no longer fits" in said[0]
