"""Data sets and their chunks: loaded once per content hash, whole or not at all."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert

from ragbench.old.core.names import is_torn
from ragbench.old.core.types import Chunk
from ragbench.old.store.copying import cursor_of
from ragbench.old.store.database_tables import SCHEMA, chunk, dataset
from ragbench.old.store.errors import StoreError

COLUMNS = ("dataset_id", "position", "id", "text", "text_hash", "url", "title", "section")


def text_hash(text: str, kind: Literal["passage", "query"] = "passage") -> bytes:
    """The key of a text's vector: SHA-256 over its kind and the text."""
    return hashlib.sha256(f"{kind}\n{text}".encode()).digest()


def load(connection: Connection, content_hash: str, name: str, chunks: Sequence[Chunk]) -> bool:
    """Put a data set's chunks in by COPY; False if they are there already. One transaction, the caller's."""
    _check(chunks)
    row = {"content_hash": content_hash, "name": name, "chunks": len(chunks)}
    made = connection.scalar(insert(dataset).values(row).on_conflict_do_nothing().returning(dataset.c.id))
    if made is None:
        _, stored = find(connection, content_hash)
        if stored != len(chunks):
            raise StoreError(
                f"the data set with content hash {content_hash} has {stored} chunks in the database and {len(chunks)} "
                "here: the hash does not cover the chunks"
            )
        return False
    with cursor_of(connection) as cursor:
        with cursor.copy(f"COPY {SCHEMA}.chunk ({', '.join(COLUMNS)}) FROM STDIN") as copy:
            for position, chunk in enumerate(sorted(chunks, key=lambda c: c.id)):
                copy.write_row(
                    (made, position, chunk.id, chunk.text, text_hash(chunk.text), chunk.url, chunk.title, chunk.section)
                )
        cursor.execute(f"ANALYZE {SCHEMA}.chunk")  # the planner must know of many new rows at once
    return True


def find(connection: Connection, content_hash: str) -> tuple[int, int]:
    """A data set's number and how many chunks it has. Raises StoreError when it was never loaded."""
    row = _found(connection, content_hash)
    if row is None:
        raise StoreError(f"no data set with content hash {content_hash} is in the database: load its chunks first")
    return row.id, row.chunks


def is_loaded(connection: Connection, content_hash: str) -> bool:
    """Whether a data set was loaded."""
    return _found(connection, content_hash) is not None


def _found(connection: Connection, content_hash: str) -> Any:
    return connection.execute(
        select(dataset.c.id, dataset.c.chunks).where(dataset.c.content_hash == content_hash)
    ).first()


def ids(connection: Connection, dataset_id: int, positions: NDArray[np.int32]) -> list[str]:
    """The chunk ids of a data set at these rising positions; a position is the rank of its id in code point order."""
    query = select(chunk.c.id).where(chunk.c.dataset_id == dataset_id, chunk.c.position == func.any(positions.tolist()))
    return list(connection.scalars(query.order_by(chunk.c.position)))


def _check(chunks: Sequence[Chunk]) -> None:
    if not chunks:
        raise StoreError("a data set without chunks cannot be searched")
    repeated = [name for name, count in Counter(entry.id for entry in chunks).items() if count > 1]
    if repeated:
        raise StoreError(f"chunk ids must be unique; {len(repeated)} are not, the first is {repeated[0]!r}")
    for stored in chunks:
        for field in ("id", "text", "url", "title", "section"):
            value = getattr(stored, field)
            if value is not None and ("\0" in value or is_torn(value)):
                raise StoreError(
                    f"{field} of chunk {stored.id!r} holds a NUL character or half of a surrogate pair, which "
                    "PostgreSQL cannot store: clean the data set"
                )
