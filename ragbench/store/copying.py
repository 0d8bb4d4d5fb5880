"""Rows to and from PostgreSQL's binary COPY format as numpy arrays, all rows at once.

Format: https://www.postgresql.org/docs/current/sql-copy.html (binary), and pgvector's `vector_send`: two 16-bit numbers
(width, unused) before the 32-bit floats, all big-endian.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor
from sqlalchemy import Connection

from ragbench.core.types import Vectors

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"


def vector_rows(keys: NDArray[Any], vectors: Vectors) -> bytes:
    """The payload of COPY into two columns: a key (int32, or bytes of one length as `V<n>`) and a vector."""
    width = vectors.shape[1]
    rows = np.zeros(len(vectors), _vector_row(keys.dtype, width))
    rows["fields"] = 2
    rows["key_bytes"] = keys.dtype.itemsize
    rows["key"] = keys
    rows["vector_bytes"] = 4 + 4 * width
    rows["width"] = width
    rows["vector"] = vectors
    return HEADER + rows.tobytes() + TRAILER


def numbered_keys(keys: Sequence[bytes]) -> bytes:
    """The payload of COPY into two columns: numbers from 0 as int4, and keys of one length."""
    size = len(keys[0]) if keys else 1
    parts = [("fields", ">i2"), ("number_bytes", ">i4"), ("number", ">i4"), ("key_bytes", ">i4"), ("key", f"V{size}")]
    rows = np.zeros(len(keys), np.dtype(parts))
    rows["fields"], rows["number_bytes"], rows["key_bytes"] = 2, 4, size
    rows["number"] = np.arange(len(keys))
    rows["key"] = np.frombuffer(b"".join(keys), f"V{size}")
    return HEADER + rows.tobytes() + TRAILER


def read_vectors(payload: bytes, width: int) -> tuple[NDArray[np.int32], Vectors]:
    """Keys and vectors of `COPY (SELECT int4, vector) TO STDOUT (FORMAT BINARY)`."""
    rows = _rows(payload, _vector_row(np.dtype(np.int32), width))
    return rows["key"].astype(np.int32), rows["vector"].astype(np.float32)


def read_numbers(payload: bytes, types: Sequence[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """Columns of `COPY (SELECT …) TO STDOUT (FORMAT BINARY)`, each (name, numpy type) of fixed size and never NULL."""
    parts: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in types:
        parts += [(f"{name}_bytes", ">i4"), (name, f">{kind}")]
    rows = _rows(payload, np.dtype(parts))
    return {name: rows[name].astype(kind) for name, kind in types}


@contextmanager
def cursor_of(connection: Connection) -> Iterator[Cursor[Any]]:
    """psycopg's own cursor within an SQLAlchemy connection's transaction: COPY is not in SQLAlchemy's language."""
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor:
        yield cursor


def vector_blocks(copy: Iterable[Any], width: int, rows: int) -> Iterator[tuple[NDArray[np.int32], Vectors]]:
    """Like `read_vectors`, at most `rows` at a time while they arrive."""
    size = _vector_row(np.dtype(np.int32), width).itemsize * rows
    buffer = bytearray()
    skip = len(HEADER)
    for part in copy:
        buffer += bytes(part)[skip:] if skip else part
        skip = 0
        while len(buffer) > size + len(TRAILER):
            yield read_vectors(HEADER + bytes(buffer[:size]) + TRAILER, width)
            del buffer[:size]
    if len(buffer) > len(TRAILER):
        yield read_vectors(HEADER + bytes(buffer), width)


def joined(copy: Iterable[Any]) -> bytes:
    """All of what a psycopg COPY TO yields."""
    return b"".join(bytes(part) for part in copy)


def _vector_row(key: np.dtype[Any], width: int) -> np.dtype[Any]:
    return np.dtype(
        [
            ("fields", ">i2"),
            ("key_bytes", ">i4"),
            ("key", key.newbyteorder(">")),
            ("vector_bytes", ">i4"),
            ("width", ">u2"),
            ("unused", ">u2"),
            ("vector", ">f4", (width,)),
        ]
    )


def _rows(payload: bytes, row: np.dtype[Any]) -> NDArray[Any]:
    body = len(payload) - len(HEADER) - len(TRAILER)
    if body < 0 or body % row.itemsize:
        raise ValueError(f"{len(payload)} bytes do not hold whole rows of {row.itemsize}: a NULL, or another width")
    return np.frombuffer(payload, row, body // row.itemsize, len(HEADER))
