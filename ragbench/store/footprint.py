"""How much room rows will take in PostgreSQL, and how long they take to get there: about, and before they are there."""

from __future__ import annotations

import math
import time

import numpy as np
from sqlalchemy import Connection, Engine, text

from ragbench.store.copying import cursor_of, vector_rows
from ragbench.store.errors import told_plainly
from ragbench.store.search import WIDEST_TYPED, Index, indexed_expression
from ragbench.store.tables import SCHEMA
from ragbench.types import Vectors

PAGE, USABLE = 8192, 8160
"""Bytes of a page, and those that rows may take of it."""
LONGEST_ROW = 2000
"""Bytes above which PostgreSQL moves a row's widest value out of it."""
MOVED_OUT = 1.35
"""Bytes that a vector takes then, by bytes of its numbers: its pieces do not fill their pages."""
KEY, HEAD = 75.0, 76
"""Bytes of a vector's key in the primary key's index; of what stands before its numbers in a row."""
NEIGHBOURS = 14
"""Bytes of a vector's neighbours in a graph, by `m`: two at the lowest level, of six bytes each, and some above."""
OF_A_PASSAGE, OF_ITS_TEXT = 140.0, 1.1
"""Bytes of a row of passages besides its text, with its keys in indexes; bytes by byte of its text."""
ELEMENT, NEIGHBOUR, SHARE = 256, 56, 96 << 20
"""Bytes of a vector in a graph's memory besides its numbers, by `m`, and of what processes share that build it."""
TRIED = 1000  # rows that the clock is read for


def passages(number: int, text_bytes: int) -> float:
    """Bytes of so many passages whose texts have so many bytes together."""
    return number * OF_A_PASSAGE + OF_ITS_TEXT * text_bytes


def stored_vector(width: int) -> float:
    """Bytes of one vector that is kept for later runs."""
    row = 4 * width + HEAD
    return KEY + (_on_its_page(row) if row <= LONGEST_ROW else HEAD + MOVED_OUT * 4 * width)


def searched_vector(width: int, index: Index) -> float:
    """Bytes of one vector in a table that is searched, and in its index."""
    row = 4 * width + 40
    whole = _on_its_page(row) if width <= WIDEST_TYPED else HEAD + MOVED_OUT * 4 * width
    indexed = (4 if width <= WIDEST_TYPED else 2) * width + 16
    if index.kind == "hnsw":
        indexed += 60 + NEIGHBOURS * index.m
    return whole + 25 + (0.0 if index.kind == "exact" else _on_its_page(indexed))


def graph(rows: int, width: int, index: Index) -> int:
    """Bytes of memory that an HNSW graph takes while it is built, at most."""
    return SHARE + round(1.1 * rows * (ELEMENT + 4 * width + NEIGHBOUR * index.m))


def seconds_of_keeping(engine: Engine, vectors: Vectors) -> float:
    """Seconds that it takes to keep these vectors together, tried in a temporary table."""
    with told_plainly("trying how fast vectors are kept"), engine.begin() as connection:
        begun = time.perf_counter()
        with cursor_of(connection) as cursor:
            cursor.execute(
                f"CREATE TEMPORARY TABLE tried (LIKE {SCHEMA}.embedding INCLUDING INDEXES) ON COMMIT DROP; "
                "CREATE TEMPORARY TABLE fresh (text_hash bytea, vector vector) ON COMMIT DROP"
            )
            keys = np.frombuffer(np.random.default_rng(0).bytes(32 * len(vectors)), dtype="V32")
            with cursor.copy("COPY fresh FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(vector_rows(keys, vectors))
            cursor.execute("INSERT INTO tried SELECT 0, text_hash, vector FROM fresh ORDER BY text_hash")
        return time.perf_counter() - begun


def seconds_of_building(engine: Engine, width: int, index: Index, rows: int) -> float:
    """Seconds that so many rows of a table that is searched take, with its index: tried with a thousand random vectors.

    A graph's rows take longer the more there are, by the logarithm (Malkov and Yashunin 2018, section 4.2).
    """
    tried = min(rows, TRIED)
    vectors = np.random.default_rng(0).normal(size=(tried, width)).astype(np.float32)
    with told_plainly("trying how fast an index is built"), engine.begin() as connection:
        begun = time.perf_counter()
        _build(connection, vectors, index)
        taken = time.perf_counter() - begun
    steps = math.log(max(rows, 2)) / math.log(max(tried, 2)) if index.kind == "hnsw" else 1.0
    return taken * rows / tried * steps


def _build(connection: Connection, vectors: Vectors, index: Index) -> None:
    width = vectors.shape[1]
    columns = f"position integer PRIMARY KEY, embedding vector({width}) NOT NULL"
    connection.execute(text(f"CREATE TEMPORARY TABLE tried ({columns}) ON COMMIT DROP"))
    with cursor_of(connection) as cursor:
        with cursor.copy("COPY tried FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(vector_rows(np.arange(len(vectors), dtype=np.int32), vectors))
        if index.kind != "exact":
            column, _, operators = indexed_expression(width)
            cursor.execute(f"CREATE INDEX ON tried USING {index.kind} ({column} {operators}) WITH ({index.options})")


def _on_its_page(row: float) -> float:
    """Bytes that a row takes where as many as fit lie on a page."""
    return PAGE / max(1, USABLE // (row + 4))
