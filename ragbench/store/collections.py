"""Searchable tables: one per data set, embedder and index, made of stored vectors when first searched."""

from __future__ import annotations

import time
from typing import Any

from psycopg import Cursor, sql
from sqlalchemy import Connection, select, text

from ragbench.store.copying import cursor_of
from ragbench.store.errors import StoreError
from ragbench.store.search import WIDEST_TYPED, Index, indexed_expression, refuse_width
from ragbench.store.tables import SCHEMA, collection

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
