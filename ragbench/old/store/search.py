"""Nearest chunks by cosine similarity, computed by pgvector, many questions a round trip; or by matrix products here.

What is searched is a table of its own a data set, embedder and index, made of stored vectors when first searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor, sql
from sqlalchemy import Connection, Engine, select, text

from ragbench.old.core.types import Array, Vectors
from ragbench.old.store.chunks import ids
from ragbench.old.store.copying import cursor_of, joined, read_numbers, vector_rows
from ragbench.old.store.database_tables import SCHEMA, collection
from ragbench.old.store.errors import StoreError, told_plainly

IndexKind = Literal["exact", "hnsw", "ivfflat"]
BATCH = 256  # questions per round trip
ROWS_A_LIST, FEWEST_A_LIST = 1_000, 10  # pgvector's advice: rows / 1,000 lists
WIDEST_TYPED = 2_000  # an index takes `vector` up to here
WIDEST_HALF = 4_000  # and `halfvec` up to here
FOUND = (("n", "i4"), ("position", "i4"), ("similarity", "f8"))


@dataclass(frozen=True)
class Index:
    """How a collection is searched: every vector compared (exact), an HNSW graph (Malkov and Yashunin 2018), or the
    nearest of so many `lists` (IVFFlat: Jégou, Douze and Schmid 2011, without their quantizer)."""

    kind: IndexKind = "exact"
    m: int = 16
    ef_construction: int = 64
    lists: int = 0

    @property
    def name(self) -> str:
        """What distinguishes stored collections; exact ones have no parameters."""
        made = {"exact": "", "hnsw": f" m={self.m} ef_construction={self.ef_construction}",
                "ivfflat": f" lists={self.lists}"}  # fmt: skip
        return f"{self.kind}{made[self.kind]}"

    @property
    def options(self) -> str:
        """How an approximate one is built, in SQL."""
        if self.kind == "hnsw":
            return f"m = {self.m:d}, ef_construction = {self.ef_construction:d}"
        return f"lists = {self.lists:d}"

    @classmethod
    def of(cls, kind: IndexKind, rows: int, m: int, ef_construction: int, lists: int | None) -> Index:
        """lists: of IVFFlat; None: one for 1,000 rows, as pgvector advises. Raises StoreError where there are so few
        rows that a list is not worth the name."""
        if kind != "ivfflat":
            return cls(kind, m, ef_construction)
        made = rows // ROWS_A_LIST if lists is None else lists
        if not made or rows < FEWEST_A_LIST * made:
            wanted = f"lists = {lists}" if lists else "no lists set"
            raise StoreError(
                f'index = "ivfflat", {wanted}, and {rows} passages: {ROWS_A_LIST:,} passages a list are usual, and '
                f'{FEWEST_A_LIST} are the fewest; set index = "exact", which takes no time for so few, or fewer lists'
            )
        return cls(kind, lists=made)


@dataclass(frozen=True)
class Neighbours:
    """What was found for each question, in question order.

    ids: chunk ids, nearest first, ties in code point order of the id; min(k, chunks) of them.
    similarities: their cosine similarities, float32, in [-1, 1].
    milliseconds: (questions,) the time of the question's round trip divided by the questions in it; NaN where other
        processes searched, several at once.
    """

    ids: list[list[str]]
    similarities: list[NDArray[np.float32]]
    milliseconds: Array


@dataclass(frozen=True)
class Search:
    """All of a search in PostgreSQL but its questions. effort: ef_search of HNSW, probes of IVFFlat."""

    table: str
    k: int
    index: Index
    effort: int


def nearest(
    engine: Engine,
    search: Search,
    queries: Vectors,
    progress: Callable[[int], object] | None,
    batch: int,
    connections: int,
) -> tuple[NDArray[np.int32], NDArray[np.float32], Array]:
    """(questions, k) chunk positions and similarities, -1 and NaN beyond what there is; milliseconds per question.

    Batches are shared out among as many connections; what is found does not depend on their number.
    """
    positions = np.full((len(queries), search.k), -1, np.int32)
    similarities = np.full((len(queries), search.k), np.nan, np.float32)
    milliseconds = np.zeros(len(queries))
    ask, asked = (_alone, "%(asked)s::vector") if batch == 1 else (_together, "asked.embedding")
    statement = _nearest(search, queries.shape[1], asked)
    stop, told = Event(), Lock()

    def work(starts: Sequence[int]) -> None:
        with told_plainly("searching"), engine.begin() as connection, cursor_of(connection) as cursor:
            for name, value in settings_of(search.index, search.effort).items():
                cursor.execute("SELECT set_config(%s, %s, true)", (name, value))
            cursor.execute("CREATE TEMPORARY TABLE asked (n integer, embedding vector) ON COMMIT DROP")
            for start in starts:
                if stop.is_set():
                    return
                part = queries[start : start + batch]
                hits, seconds = ask(cursor, statement, part)
                milliseconds[start : start + len(part)] = seconds * 1000 / len(part)
                rank = np.arange(len(hits["n"])) - np.searchsorted(hits["n"], hits["n"])
                positions[start + hits["n"], rank] = hits["position"]
                similarities[start + hits["n"], rank] = hits["similarity"]
                if progress is not None:
                    with told:
                        progress(len(part))

    starts = range(0, len(queries), batch)
    shares = [starts[first::connections] for first in range(min(connections, len(starts)))]
    with ThreadPoolExecutor(max(1, len(shares))) as pool:
        try:
            for done in as_completed([pool.submit(work, share) for share in shares]):
                done.result()
        finally:
            stop.set()  # after an error, or Ctrl-C, nobody begins another batch
    return positions, similarities, milliseconds


def named(
    connection: Connection,
    dataset_id: int,
    positions: NDArray[np.int32],
    similarities: NDArray[np.float32],
    milliseconds: Array,
) -> Neighbours:
    """Positions as chunk ids; places without a chunk (position −1) are left out."""
    lengths = (positions >= 0).sum(axis=1)
    met, places = np.unique(positions, return_inverse=True)
    names = np.full(len(met), "", dtype=object)
    names[met >= 0] = ids(connection, dataset_id, met[met >= 0])
    rows = names[places.reshape(positions.shape)].tolist()
    return Neighbours(
        [row[:n] for row, n in zip(rows, lengths.tolist(), strict=True)],
        [np.clip(row[:n], -1, 1) for row, n in zip(similarities, lengths, strict=True)],
        milliseconds,
    )


def recall_against_exact(approximate: Neighbours, exact: Neighbours, tolerance: float = 1e-5) -> float:
    """Share of the exact nearest chunks that approximate search found, mean over questions, in [0, 1].

    A chunk counts as found when it is as near as the last exact one, so equally near chunks may stand for each other
    (Aumüller, Bernhardsson and Faithfull 2020, ANN-Benchmarks, section 2.1).
    """
    return float(np.mean(recalls_against_exact(approximate, exact, tolerance)))


def recalls_against_exact(approximate: Neighbours, exact: Neighbours, tolerance: float = 1e-5) -> Array:
    """(questions,) what `recall_against_exact` is the mean of."""
    shares = [
        min(1.0, float((mine >= best[-1] - tolerance).sum()) / len(best))
        for mine, best in zip(approximate.similarities, exact.similarities, strict=True)
    ]
    return np.array(shares)


def refuse_width(index: Index, width: int) -> None:
    """Raises StoreError when vectors of that width cannot be indexed so."""
    if index.kind != "exact" and width > WIDEST_HALF:
        raise StoreError(
            f'index = "{index.kind}" takes vectors up to width {WIDEST_HALF}, these have {width}: set index = "exact", '
            "or an embedder of fewer dimensions"
        )


def indexed_expression(width: int) -> tuple[str, str, str]:
    """What an approximate index is of, the query's cast, the operator class. Wide vectors go in half precision."""
    if width <= WIDEST_TYPED:
        return "embedding", "", "vector_cosine_ops"
    return f"(embedding::halfvec({width}))", f"::halfvec({width})", "halfvec_cosine_ops"


def _together(cursor: Any, nearest: str, part: Vectors) -> tuple[dict[str, NDArray[Any]], float]:
    """What was found for many questions in one round trip, and its seconds."""
    begun = time.perf_counter()
    cursor.execute("TRUNCATE asked")
    with cursor.copy("COPY asked FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(vector_rows(np.arange(len(part), dtype=np.int32), part))
    with cursor.copy(
        "COPY (SELECT n, position, 1 - distance FROM asked CROSS JOIN LATERAL "  # noqa: S608
        f"({nearest}) AS found ORDER BY n, distance, position) TO STDOUT (FORMAT BINARY)"
    ) as copy:
        return read_numbers(joined(copy), FOUND), time.perf_counter() - begun


def _alone(cursor: Any, nearest: str, part: Vectors) -> tuple[dict[str, NDArray[Any]], float]:
    """The same for one question by itself, as an application asks it: one statement with the vector in it."""
    statement = f"SELECT position, 1 - distance FROM ({nearest}) AS found ORDER BY distance, position"  # noqa: S608
    written = "[" + ",".join(map(str, part[0].tolist())) + "]"
    begun = time.perf_counter()
    rows = cursor.execute(statement, {"asked": written}).fetchall()
    columns = {
        "n": np.zeros(len(rows), np.int32),
        "position": np.array([position for position, _ in rows], np.int32),
        "similarity": np.array([similarity for _, similarity in rows]),
    }
    return columns, time.perf_counter() - begun


def _nearest(search: Search, width: int, asked: str) -> str:
    column, cast, _ = indexed_expression(width)
    order = f"embedding <=> {asked}, position" if search.index.kind == "exact" else f"{column} <=> {asked}{cast}"
    return (
        f"SELECT position, embedding <=> {asked} AS distance FROM {SCHEMA}.{search.table} "  # noqa: S608 - our own names
        f"ORDER BY {order} LIMIT {search.k}"
    )


def settings_of(index: Index, effort: int) -> dict[str, str]:
    """PostgreSQL's, of one search: an exact one reads every vector, an approximate one uses its index and finds k.

    effort: ef_search of HNSW, probes of IVFFlat.
    """
    wanted = {"jit": "off", "max_parallel_workers_per_gather": "0"}
    if index.kind == "exact":
        return wanted | {"enable_indexscan": "off", "enable_bitmapscan": "off", "enable_indexonlyscan": "off"}
    if index.kind == "hnsw":
        given = {"enable_seqscan": "off", "hnsw.ef_search": str(effort), "hnsw.iterative_scan": "strict_order"}
    else:
        given = {"enable_seqscan": "off", "ivfflat.probes": str(effort), "ivfflat.iterative_scan": "relaxed_order"}
    return wanted | given


Block = tuple[NDArray[np.int32], Vectors]
"""Positions and vectors."""
QUESTIONS = 1024  # rows of one product; its other side is a block of vectors as it arrives
PAIRS = 1 << 8  # scored at once in double precision: as many as the processor's own memory holds


def nearest_in_blocks(queries: Vectors, blocks: Iterable[Block], k: int) -> tuple[NDArray[np.int32], Array]:
    """(questions, k) positions and cosine similarities, nearest first, ties by position.

    Beyond what there is: −1 and −inf. queries: (questions, width). blocks: positions and vectors, each vector once.
    Memory: one block of similarities.
    """
    questions = _unit(queries)
    positions = np.full((len(queries), k), -1, np.int32)
    similarities = np.full((len(queries), k), -np.inf)
    for names, vectors in blocks:
        others = np.ascontiguousarray(_unit(vectors).T)
        for start in range(0, len(queries), QUESTIONS):
            rows = slice(start, start + QUESTIONS)
            own, places = _possible(questions[rows] @ others, similarities[rows, -1], k, queries.shape[1])
            exact = _cosines(queries[rows], vectors, own, places)
            _merge(positions[rows], similarities[rows], own, names[places], exact)
    return positions, similarities


def nearest_of_all(parts: Sequence[tuple[NDArray[np.int32], Array]]) -> tuple[NDArray[np.int32], Array]:
    """What `nearest_in_blocks` gives of all vectors, out of what it gave of each part of them with the same k."""
    positions = np.concatenate([own for own, _ in parts], axis=1)
    similarities = np.concatenate([own for _, own in parts], axis=1)
    k = parts[0][0].shape[1]
    order = np.lexsort((np.where(positions < 0, np.iinfo(np.int32).max, positions), -similarities), axis=1)[:, :k]
    return np.take_along_axis(positions, order, axis=1), np.take_along_axis(similarities, order, axis=1)


def _possible(
    rounded: NDArray[np.float32], least: Array, k: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of a block of products that can be among a row's k nearest.

    rounded: with the error of a product of unit vectors, at most about width · 2⁻²⁴ (Higham 2002, section 3.1). least:
    (rows,) the k-th similarity that is known.
    """
    error = (width + 8) * 2.0**-24
    bound = least - error
    if rounded.shape[1] > k and bool(np.isneginf(least).any()):
        bound = np.maximum(bound, np.partition(rounded, rounded.shape[1] - k, axis=1)[:, -k] - 2 * error)
    possible = np.flatnonzero(rounded >= bound.astype(np.float32)[:, None])  # of a matrix, `nonzero` takes far longer
    return np.divmod(possible, rounded.shape[1])


def _cosines(queries: Vectors, vectors: Vectors, own: NDArray[np.int64], places: NDArray[np.int64]) -> Array:
    """(pairs,) in double precision, each pair by itself."""
    cosines, asked = np.empty(len(own)), queries.astype(float)
    squares = np.einsum("ij,ij->i", asked, asked)
    for start in range(0, len(own), PAIRS):
        part = slice(start, start + PAIRS)
        query_rows, other = asked[own[part]], vectors[places[part]].astype(float)
        lengths = squares[own[part]] * np.einsum("ij,ij->i", other, other)
        cosines[part] = np.einsum("ij,ij->i", query_rows, other) / np.sqrt(lengths)
    return cosines


def _merge(
    positions: NDArray[np.int32],
    similarities: Array,
    rows: NDArray[np.int64],
    names: NDArray[np.int32],
    exact: Array,
) -> None:
    """Take what belongs among the nearest into both arrays, in place."""
    if not len(rows):
        return
    k = similarities.shape[1]
    touched = np.unique(rows)
    all_rows = np.concatenate([np.repeat(touched, k), rows])
    all_positions = np.concatenate([positions[touched].ravel(), names])
    all_similarities = np.concatenate([similarities[touched].ravel(), exact])
    order = np.lexsort((all_positions, -all_similarities, all_rows))
    starts = np.searchsorted(all_rows[order], touched)
    best = order[(starts[:, None] + np.arange(k)).ravel()]
    positions[touched] = all_positions[best].reshape(-1, k)
    similarities[touched] = all_similarities[best].reshape(-1, k)


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)


ELEMENT, NEIGHBOUR, SHARE = 256, 56, 96 << 20
"""Bytes of a vector in a graph's memory besides its numbers, by `m`, and of what processes share that build it."""
BUILDING = 0x7261_6764  # with a data set's number: the advisory lock of whoever makes a collection of it


def refuse_missing(missing: int, chunks: int) -> None:
    """Raises StoreError where chunks of a data set have no vectors."""
    if missing:
        raise StoreError(f"{missing} of {chunks} chunks have no vectors yet: embed the data set's chunks first")


def ensure(connection: Connection, dataset_id: int, embedder_id: int, width: int, index: Index, patience: float) -> str:
    """The name of the table to search; made, filled and indexed first where it is missing, in the caller's transaction.

    Raises StoreError when chunks have no stored vectors, when the vectors are too wide for the index, and when another
    session has blocked the making for longer than `patience` seconds.
    """
    refuse_width(index, width)
    number = _known(connection, dataset_id, embedder_id, index)
    if number is None:
        _await_turn(connection, dataset_id, patience)
        number = _known(connection, dataset_id, embedder_id, index)
    if number is None:
        row = {"dataset_id": dataset_id, "embedder_id": embedder_id, "index": index.name}
        number = connection.scalar(collection.insert().values(row).returning(collection.c.id))
        _make(connection, f"collection_{number}", dataset_id, embedder_id, width, index)
    return f"collection_{number}"


def _known(connection: Connection, dataset_id: int, embedder_id: int, index: Index) -> int | None:
    row = collection.c
    same = (row.dataset_id == dataset_id, row.embedder_id == embedder_id, row.index == index.name)
    return connection.scalar(select(row.id).where(*same))


def _make(connection: Connection, name: str, dataset_id: int, embedder_id: int, width: int, index: Index) -> None:
    table = sql.Identifier(SCHEMA, name)
    with cursor_of(connection) as cursor:
        columns = sql.SQL("CREATE TABLE {} (position integer PRIMARY KEY, embedding vector({}) NOT NULL)")
        cursor.execute(columns.format(table, sql.Literal(width)))
        if width <= WIDEST_TYPED:
            # such a row fits a page: kept in it, not behind a pointer that each comparison follows
            cursor.execute(sql.SQL("ALTER TABLE {} ALTER COLUMN embedding SET STORAGE PLAIN").format(table))
        cursor.execute("SET LOCAL enable_nestloop = off")  # all rows of one data set: never one by one
        cursor.execute(
            sql.SQL(
                "INSERT INTO {} SELECT c.position, e.vector FROM {}.chunk c JOIN {}.embedding e USING (text_hash) "
                "WHERE c.dataset_id = %s AND e.embedder_id = %s ORDER BY c.position"
            ).format(table, sql.Identifier(SCHEMA), sql.Identifier(SCHEMA)),
            (dataset_id, embedder_id),
        )
        stored = cursor.rowcount
        chunks = connection.scalar(text(f"SELECT chunks FROM {SCHEMA}.dataset WHERE id = :i"), {"i": dataset_id})  # noqa: S608
        refuse_missing(chunks - stored, chunks)
        if index.kind != "exact":
            _provide(cursor, chunks, width, index)
            column, _, operators = indexed_expression(width)
            cursor.execute(
                f"CREATE INDEX ON {SCHEMA}.{name} USING {index.kind} ({column} {operators}) WITH ({index.options})"
            )
        cursor.execute(sql.SQL("ANALYZE {}").format(table))


def _provide(cursor: Cursor[Any], rows: int, width: int, index: Index) -> None:
    """Let the making of a graph have the memory it takes, where the server says how much that may be: ours does.

    Of a graph that does not fit the rest is built on the disk, many times slower.
    """
    most = cursor.execute("SELECT current_setting('ragbench.build_memory', true)").fetchone()
    if index.kind == "hnsw" and most and most[0]:
        needed = _graph_bytes(rows, width, index) >> 20
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, true)", (f"{min(needed, int(most[0]))}MB",))


def _graph_bytes(rows: int, width: int, index: Index) -> int:
    """Bytes of memory that an HNSW graph takes while it is built, at most."""
    return SHARE + round(1.1 * rows * (ELEMENT + 4 * width + NEIGHBOUR * index.m))


def _await_turn(connection: Connection, dataset_id: int, patience: float) -> None:
    """Take the advisory lock; wait without end for a holder that works, and `patience` seconds for one that idles."""
    key = {"a": BUILDING, "b": dataset_id}
    idle_since = time.monotonic()
    while not connection.scalar(text("SELECT pg_try_advisory_xact_lock(:a, :b)"), key):
        works = connection.scalar(
            text(
                "SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted "
                "AND classid = :a AND objid = :b AND state = 'active'"
            ),
            key,
        )
        if works:
            idle_since = time.monotonic()
        elif time.monotonic() - idle_since > patience:
            raise StoreError(
                "another session began to make this search table and does nothing: end it, then run the same command "
                "again"
            )
        time.sleep(0.1)
