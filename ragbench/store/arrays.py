"""Arrays that take long to make of what is known by its content: made once, read back as they were.

They can be made again, so nothing is lost with them: those that were not read for longest leave where all together
take more than MOST_BYTES, what cannot be read is made anew, and a dump leaves them out.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine, select, text
from sqlalchemy.dialects.postgresql import insert

from ragbench.store.copying import cursor_of
from ragbench.store.database_tables import SCHEMA, array_set
from ragbench.store.errors import told_plainly

Arrays = Mapping[str, NDArray[Any]]
BLOCK = 2**23
"""Bytes of a row: PostgreSQL takes a gigabyte at most, and has a row in memory more than once."""
MOST_BYTES = 2**32


def kept(engine: Engine, about: Mapping[str, Any], make: Callable[[], Arrays]) -> Arrays:
    """The arrays that are kept of `about`; made and kept where there are none, or where they are damaged.

    about: plain JSON values that name everything they depend on. make: name → array of numbers, bytes or truth values.
    Raises StoreError.
    """
    key = _key(about)
    with told_plainly("reading arrays"), engine.begin() as connection:
        arrays = _read(connection, key)
    if arrays is None:
        arrays = make()
        with told_plainly("keeping arrays"), engine.begin() as connection:
            _keep(connection, key, about, arrays)
    return arrays


def are_kept(engine: Engine, about: Mapping[str, Any]) -> bool:
    """Whether arrays are kept of `about`. Raises StoreError."""
    wanted = select(array_set.c.id).where(array_set.c.key == _key(about))
    with told_plainly("looking for arrays"), engine.begin() as connection:
        return connection.scalar(wanted) is not None


def _key(about: Mapping[str, Any]) -> bytes:
    told = json.dumps(about, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(told.encode()).digest()


def _read(connection: Connection, key: bytes) -> Arrays | None:
    """None also where a block is lost or has changed: the checksums of a ZIP tell."""
    row = array_set.c
    number = connection.scalar(select(row.id).where(row.key == key))
    if number is None:
        return None
    connection.execute(
        text(f"UPDATE {SCHEMA}.array_set SET read_at = now() WHERE id = :id AND read_at < now() - interval '1 hour'"),  # noqa: S608
        {"id": number},
    )
    whole = io.BytesIO()
    blocks = f"COPY (SELECT content FROM {SCHEMA}.array_block WHERE array_set_id = {number:d} ORDER BY position) "  # noqa: S608
    with cursor_of(connection) as cursor, cursor.copy(f"{blocks} TO STDOUT (FORMAT BINARY)") as copy:
        copy.set_types(["bytea"])
        for (content,) in copy.rows():
            whole.write(content)
    whole.seek(0)
    try:
        with np.load(whole, allow_pickle=False) as file:
            return dict(file)
    except (ValueError, EOFError, zipfile.BadZipFile):
        return None


def _keep(connection: Connection, key: bytes, about: Mapping[str, Any], arrays: Arrays) -> None:
    """In the place of what was damaged; of two that made the same, the later one's stay."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    whole = content.getbuffer()
    connection.execute(array_set.delete().where(array_set.c.key == key))
    row = {"key": key, "about": dict(about), "bytes": len(whole)}
    number = connection.scalar(insert(array_set).values(row).on_conflict_do_nothing().returning(array_set.c.id))
    if number is None:
        return
    into = f"COPY {SCHEMA}.array_block (array_set_id, position, content) FROM STDIN (FORMAT BINARY)"
    with cursor_of(connection) as cursor, cursor.copy(into) as copy:
        copy.set_types(["int4", "int4", "bytea"])
        for position, start in enumerate(range(0, len(whole), BLOCK)):
            copy.write_row((number, position, whole[start : start + BLOCK]))
    connection.execute(
        text(
            f"DELETE FROM {SCHEMA}.array_set WHERE id IN (SELECT id FROM (SELECT id, sum(bytes) OVER "  # noqa: S608
            f"(ORDER BY id = :id DESC, read_at DESC, id DESC) AS so_far FROM {SCHEMA}.array_set) AS sized "
            "WHERE so_far > :most AND id <> :id)"
        ),
        {"id": number, "most": MOST_BYTES},
    )
