"""The store: one object over everything that ragbench keeps in PostgreSQL."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, text

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.core.types import Array, Chunk, Embedder, TextKind, Vectors
from ragbench.old.store import arrays, embeddings, search, server
from ragbench.old.store import chunks as chunk_rows
from ragbench.old.store.arrays import Arrays, Readings
from ragbench.old.store.database_tables import connect, make_tables, masked
from ragbench.old.store.embeddings import Progress
from ragbench.old.store.errors import StoreError, told_plainly
from ragbench.old.store.reply_journal import DatabaseJournal
from ragbench.old.store.runs import Runs
from ragbench.old.store.search import (
    BATCH,
    Block,
    Index,
    IndexKind,
    Neighbours,
    Search,
    named,
    nearest,
    nearest_in_blocks,
    nearest_of_all,
)

BLOCK = 8192  # vectors that are in this process at once
APART = 8 * BATCH  # questions from which on meeting other processes costs less than they save
PART = 8 * BLOCK  # positions that another process is given at once

Find = Callable[[Settings, Vectors, Progress | None], Any]
"""A search for questions with connections of its own, as any process can make it; what it gives is in their order."""


@dataclass(frozen=True)
class Place:
    """Where a search takes place: numbers of data set and embedder, checked queries, k up to the `rows` there are."""

    dataset: int
    embedder: int
    width: int
    queries: Vectors
    k: int
    rows: int


class Elsewhere(Protocol):
    """Who works for a store in other processes, on the same database."""

    def embed(
        self, embedder: Embedder, texts: Sequence[str], kind: TextKind, batch: int, progress: Progress | None
    ) -> int:
        """Compute and keep vectors that are missing; how many are there now, which need not be all."""

    def nearest(
        self, place: Place, parts: Sequence[range], progress: Progress | None
    ) -> list[tuple[NDArray[np.int32], Array, int]]:
        """What `Store.nearest_among` finds in each part of the positions."""

    def search(self, find: Find, queries: Vectors, connections: int, progress: Progress | None) -> list[Any] | None:
        """What `find`, a function that can be imported, gives of each part of the questions, in their order.

        None where there are no more processes than so many connections of whoever asks, who has it sooner.
        """


class Store:
    """Chunks, vectors and search in one PostgreSQL database. A context manager; `open` starts the server if need be.

    `progress` is called with how many more texts or questions are done. `engine` is for this package's other rooms.
    """

    def __init__(self, engine: Engine, limits: DatabaseSettings, elsewhere: Elsewhere | None = None) -> None:
        self.engine, self.limits, self.elsewhere = engine, limits, elsewhere

    @classmethod
    def open(cls, settings: Settings, elsewhere: Elsewhere | None = None) -> Store:
        """Find or start the server, and make the tables where there are none.

        Raises StoreError, never with a password in it.

        elsewhere: who computes vectors, if not this process.
        """
        server.required(settings)
        engine = connect(server.address(settings), settings.database)
        make_tables(engine)
        return cls(engine, settings.database, elsewhere)

    @property
    def runs(self) -> Runs:
        """The runs that it keeps."""
        return Runs(self.engine)

    @property
    def journal(self) -> DatabaseJournal:
        """The replies of models that it keeps."""
        return DatabaseJournal(self.engine)

    def load_chunks(self, content_hash: str, name: str, chunks: Sequence[Chunk]) -> bool:
        """Store a data set's chunks, all or none; False if that content is there already."""
        with told_plainly(f"loading the chunks of {name}"), self.engine.begin() as connection:
            return chunk_rows.load(connection, content_hash, name, chunks)

    def embed(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        kind: TextKind = "passage",
        batch: int = 256,
        progress: Progress | None = None,
    ) -> int:
        """Compute and store the vectors that are missing; how many that were. Each batch is kept once it is done.

        Raises EmbeddingError, before anything of the batch is stored, for vectors that are not one finite, non-zero
        row of one width a text.
        """
        computed = 0
        if self.elsewhere is not None and len(missing := self.missing(embedder, texts, kind)) > batch:
            if progress is not None:
                progress(len(texts) - len(missing))
            computed = self.elsewhere.embed(embedder, missing, kind, batch, progress)
            embeddings.note(embedder, kind, computed)
            progress = None
        return computed + embeddings.ensure(
            self.engine, embedder, texts, kind, batch, self.limits.lock_seconds, progress
        )

    def vectors(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        kind: TextKind = "passage",
        batch: int = 256,
        progress: Progress | None = None,
    ) -> Vectors:
        """(texts, width) float32 in the order of `texts`, computed where missing as by `embed`, else read."""
        if not texts:
            raise ValueError("no texts: there are no vectors of nothing")
        self.embed(embedder, texts, kind=kind, batch=batch, progress=progress)
        return embeddings.read(self.engine, embedder, texts, kind)

    def search(
        self,
        dataset_hash: str,
        embedder: Embedder,
        query_vectors: Vectors,
        k: int,
        *,
        index: IndexKind = "exact",
        m: int = 16,
        ef_construction: int = 64,
        ef_search: int = 40,
        lists: int | None = None,
        probes: int = 1,
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> Neighbours:
        """The k nearest chunks of each query vector by cosine similarity, among chunks whose vectors are stored.

        exact: every vector is compared, by `exact_in_blocks` but for a batch of 1. hnsw, ivfflat: an approximate index,
        built when first searched; see `recall_against_exact`. lists, probes: of IVFFlat, see `Index.of`. batch:
        questions a round trip; 1 to have PostgreSQL find each by itself, and be timed. Raises StoreError.
        """
        if index == "exact" and batch > 1:
            return self.exact_in_blocks(dataset_hash, embedder, query_vectors, k, progress=progress)
        with told_plainly("searching"), self.engine.begin() as connection:
            place = self._place(connection, dataset_hash, embedder, query_vectors, k)
            how = Index.of(index, place.rows, m, ef_construction, lists)
            table = search.ensure(connection, place.dataset, place.embedder, place.width, how, self.limits.lock_seconds)
        wanted = Search(table, place.k, how, ef_search if index == "hnsw" else probes)
        parts = None if batch == 1 else self.in_parts(partial(_searched, wanted), place.queries, progress)
        if parts is not None:
            positions, similarities = map(np.concatenate, zip(*parts, strict=True))
            neighbours = positions, similarities, np.full(len(positions), np.nan)
        else:
            connections = 1 if batch == 1 else self.at_once  # one at a time when each is timed by itself
            neighbours = nearest(self.engine, wanted, place.queries, progress, batch, connections)
        with told_plainly("searching"), self.engine.begin() as connection:
            return named(connection, place.dataset, *neighbours)

    def in_parts(self, find: Find, queries: Vectors, progress: Progress | None = None) -> list[Any] | None:
        """What other processes find of the questions, part by part in their order; None where this process has it
        sooner. A search that is timed is none for them: they disturb each other."""
        if self.elsewhere is None or len(queries) < APART:
            return None
        return self.elsewhere.search(find, queries, self.at_once, progress)

    @property
    def at_once(self) -> int:
        """How many questions this process searches for at once, each by a connection, where none is timed."""
        return min(self.limits.connections, os.cpu_count() or 1)

    def exact_in_blocks(
        self,
        dataset_hash: str,
        embedder: Embedder,
        query_vectors: Vectors,
        k: int,
        *,
        progress: Progress | None = None,
    ) -> Neighbours:
        """What PostgreSQL's exact search finds, but for rounding in its last bits, by matrix products in this process.

        For many questions far faster than comparing in the database: the vectors are read once. Raises StoreError.
        """
        begun = time.perf_counter()
        with told_plainly("searching"), self.engine.begin() as connection:
            place = self._place(connection, dataset_hash, embedder, query_vectors, k)
        if self.elsewhere is None or place.rows <= PART:
            neighbours = [self.nearest_among(place, range(place.rows), progress)]
        else:
            parts = [range(start, min(start + PART, place.rows)) for start in range(0, place.rows, PART)]
            neighbours = self.elsewhere.nearest(place, parts, progress)
        search.refuse_missing(place.rows - sum(seen for _, _, seen in neighbours), place.rows)
        positions, similarities = nearest_of_all([(own, alike) for own, alike, _ in neighbours])
        each = np.full(len(positions), (time.perf_counter() - begun) * 1000 / max(1, len(positions)))
        with told_plainly("searching"), self.engine.begin() as connection:
            return named(connection, place.dataset, positions, similarities.astype(np.float32), each)

    def nearest_among(
        self, place: Place, among: range, progress: Progress | None = None
    ) -> tuple[NDArray[np.int32], Array, int]:
        """(questions, k) positions and similarities of the nearest among these positions, and how many have vectors.

        progress: told of as many questions as is the share of all vectors compared. Raises StoreError.
        """
        seen = 0

        def watched() -> Iterator[Block]:
            nonlocal seen
            blocks = embeddings.of_dataset(connection, place.embedder, place.width, place.dataset, BLOCK, among)
            asked = len(place.queries)
            for positions, vectors in blocks:
                yield positions, vectors
                before, seen = seen, seen + len(positions)
                if progress is not None:
                    progress(asked * seen // place.rows - asked * before // place.rows)

        with told_plainly("searching"), self.engine.begin() as connection:
            positions, similarities = nearest_in_blocks(place.queries, watched(), place.k)
        return positions, similarities, seen

    def _place(
        self, connection: Connection, dataset_hash: str, embedder: Embedder, query_vectors: Vectors, k: int
    ) -> Place:
        if k < 1:
            raise ValueError(f"k = {k}: at least 1 chunk a question")
        dataset_id, count = chunk_rows.find(connection, dataset_hash)
        number, width = embeddings.find(connection, embedder)
        queries = embeddings.check(query_vectors, ["a query"] * len(query_vectors), embedder.name)
        if queries.shape[1] != width:
            raise StoreError(f"queries have width {queries.shape[1]}, the vectors of {embedder.name} have {width}")
        return Place(dataset_id, number, width, queries, min(k, count), count)

    def readings(self, about: Mapping[str, Any], measure: Callable[[], Readings], *, fresh: bool = False) -> Readings:
        """Clock readings by name, as kept of an earlier call with the same `about`, else measured and kept.

        Raises StoreError.
        """
        return arrays.kept_readings(self.engine, about, measure, fresh=fresh)

    def arrays(self, about: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
        """Arrays by name, as kept of an earlier call with the same `about`, else made and kept. Raises StoreError."""
        return arrays.kept(self.engine, about, make)

    def has_arrays(self, about: Mapping[str, Any]) -> bool:
        """Whether `arrays` of this are kept. Raises StoreError."""
        return arrays.are_kept(self.engine, about)

    def found(self, about: Sequence[Mapping[str, Any]]) -> list[Readings]:
        """Those of `readings` that are kept already, and nothing for the others. Raises StoreError."""
        return arrays.found(self.engine, about)

    def has_readings(self, about: Mapping[str, Any]) -> bool:
        """Whether any `readings` are kept whose `about` holds these values. Raises StoreError."""
        return arrays.has_any(self.engine, about)

    def identity(self) -> str:
        """Tells this database from every other one, whatever way leads to it. Raises StoreError."""
        with told_plainly("asking which database this is"), self.engine.connect() as connection:
            return str(connection.scalar(text(
                "SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) "
                "FROM pg_control_system()"
            )))  # fmt: skip

    def width(self, embedder: Embedder) -> int | None:
        """How wide its stored vectors are; None where none is stored. Raises StoreError."""
        with told_plainly("looking for stored vectors"), self.engine.connect() as connection:
            return embeddings.known_width(connection, embedder)

    def missing(self, embedder: Embedder, texts: Sequence[str], kind: TextKind = "passage") -> list[str]:
        """The texts whose vectors are not stored, each once. Raises StoreError."""
        return embeddings.missing(self.engine, embedder, texts, kind)

    def holds(self, content_hash: str) -> bool:
        """Whether a data set's chunks are stored. Raises StoreError."""
        with told_plainly("looking for a data set"), self.engine.connect() as connection:
            return chunk_rows.is_loaded(connection, content_hash)

    def close(self) -> None:
        """Give all connections back. The server goes on running."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({masked(self.engine.url)})"


def _searched(
    search: Search, known: Settings, queries: Vectors, progress: Progress | None
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Positions and similarities as `nearest` has them, by one connection of this process."""
    with Store.open(known) as store:
        positions, similarities, _ = nearest(store.engine, search, queries, progress, BATCH, 1)
    return positions, similarities
