"""Rows to and from PostgreSQL's binary COPY as numpy arrays, and all that a database keeps in one file and back.

Format: https://www.postgresql.org/docs/current/sql-copy.html (binary), and pgvector's `vector_send`: two 16-bit numbers
(width, unused) before the 32-bit floats, all big-endian.

The file is a custom archive of the pg_dump that comes with ragbench. Restoring one runs the SQL in it, as the role that
owns the database: a file of somebody else's is not to be restored. `collection_N`, the copies that searches run on, and
indexes of words are left out: they are made again from the vectors and the texts when they are first searched.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Cursor, sql
from sqlalchemy import URL, Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from ragbench.old.core.folders import whole
from ragbench.old.core.types import Vectors
from ragbench.old.store import watchdog
from ragbench.old.store.database_tables import (
    SCHEMA,
    VERSION,
    array_block,
    array_set,
    collection,
    make_schema,
    of_version,
    version,
    version_of,
    written,
)
from ragbench.old.store.errors import AGAIN, FROZEN, StoreError, explain, is_full, told_plainly
from ragbench.old.store.server import installation

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # PostgreSQL's binary COPY: no flags, no extension of the header
TRAILER = b"\xff\xff"  # -1 where the next row would say how many fields it has


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


OF_THE_MOMENT = ("spending", "spending_told", "endpoint")
"""What processes hold while they run is nothing on another machine."""
NOT_KEPT = (collection.name, array_set.name, array_block.name, *OF_THE_MOMENT)
MEANT_FOR = {
    "dataset": "data sets that were loaded",
    "chunk": "their texts",
    "embedder": "who made vectors",
    "embedding": "vectors, one a text that was ever embedded",
    "collection": "which copies are searched",
    "journal": "replies of models that were paid for",
    "journal_use": "how often the journal had the reply",
    "spending": "what a run has spent of its budget",
    "spending_told": "what a run's budget has counted",
    "endpoint": "endpoints that several processes ask",
    "array_set": "which indexes of words there are",
    "array_block": "indexes of words, for BM25",
    "timing": "readings of the clock that pages show",
    "run": "runs and their manifests",
    "run_part": "their notebooks",
    "run_value": "their numbers",
    "run_comparison": "their comparisons",
    "run_question": "their questions",
    "run_score": "values question by question",
    "run_reply": "which replies they are made of",
    "version": "the version of these tables",
}


COUNTED_BYTES = 256 * 2**20
"""Of a table whose rows are counted one by one where sizes are asked for."""


@dataclass(frozen=True)
class TableSize:
    """A table, what it is for, about how many rows it has, and the bytes that it takes with its indexes."""

    name: str
    meant_for: str
    rows: int
    bytes: int


def sizes(engine: Engine) -> list[TableSize]:
    """The tables of the database, largest first. Raises StoreError.

    Rows are counted; of tables above COUNTED_BYTES they are the server's own estimate, which takes no time.
    """
    wanted = text(
        "SELECT c.relname, c.reltuples, pg_total_relation_size(c.oid) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :schema AND c.relkind = 'r' ORDER BY 3 DESC, 1"
    )
    with told_plainly("measuring the database"), engine.connect() as connection:
        tables = []
        for name, rows, size in connection.execute(wanted, {"schema": SCHEMA}).all():
            if size <= COUNTED_BYTES or rows < 0:  # never looked at by the server so far
                with cursor_of(connection) as cursor:
                    cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(SCHEMA, name)))
                    [(rows,)] = cursor.fetchall()
            meant_for = MEANT_FOR.get(name, "a copy that is searched: vectors and their index")
            tables.append(TableSize(name, meant_for, int(rows), int(size)))
    return tables


def dump(engine: Engine, path: Path) -> None:
    """Write everything into `path`, as it is at one moment. The file is there whole or not at all.

    Tables of any version can be dumped. Raises StoreError, OSError.
    """
    with told_plainly("dumping the database"), engine.connect() as connection:
        if version_of(connection) is None:
            raise StoreError("the database is empty: there is nothing to dump")
    left_out = [f"--exclude-table-data={SCHEMA}.{name}" for name in NOT_KEPT]
    copies = f"--exclude-table={SCHEMA}.collection_*"
    with whole(path) as temporary:
        how = ("--format=custom", f"--schema={SCHEMA}", "--no-owner", "--no-privileges", copies, *left_out)
        _run(engine, "pg_dump", *how, f"--file={temporary}")


def restore(engine: Engine, path: Path, *, replace: bool = False) -> str:
    """Bring back what `dump` wrote, all or nothing; what that is, for people.

    replace: also where the database keeps something, which is lost then. Raises StoreError for a file that is no dump,
    is cut, or is of another version; the database then keeps what it kept.
    """
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file; `ragbench db dump FILE` makes one")
    if (stored := _version_in(engine, path)) != VERSION:
        raise StoreError(
            f"{path} was made by another version of ragbench (tables of {of_version(stored)}; this one knows "
            f"{of_version(VERSION)}): restore it with the ragbench that made it"
        )
    with told_plainly(f"restoring {path.name}"), engine.begin() as connection:
        there = version_of(connection)
        kept = "" if there is None else _kept(connection) if there == VERSION else "tables of another version"
        if kept and not replace:
            raise StoreError(f"the database keeps {kept} already; --replace puts the dump in their place")
        make_schema(connection)
        _forget_copies(connection)
    _run(engine, "pg_restore", "--clean", "--if-exists", "--single-transaction", "--exit-on-error", "--no-owner",
         "--no-privileges", str(path))  # fmt: skip
    engine.dispose()  # connections of before know types of before
    with told_plainly(f"restoring {path.name}"), engine.connect() as connection:
        return _kept(connection)


def _version_in(engine: Engine, path: Path) -> int:
    """The version of the tables in a dump, 0 where it does not say."""
    said = _run(engine, "pg_restore", "--data-only", f"--table={version.name}", "--file=-", str(path))
    version_line = re.search(r"^COPY .* FROM stdin;\n(\d{1,9})$", said, re.MULTILINE)
    return int(version_line[1]) if version_line else 0


def _forget_copies(connection: Connection) -> None:
    """The copies that are searched are made of what goes; they would stand in its way."""
    wanted = text(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = :schema "
        r"AND table_name ~ '^collection_\d+$'"
    )
    with cursor_of(connection) as cursor:
        for name in connection.scalars(wanted, {"schema": SCHEMA}).all():
            cursor.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(SCHEMA, name)))
    if version_of(connection) is not None:
        connection.execute(collection.delete())


def _run(engine: Engine, program: str, *arguments: str) -> str:
    """What a program of PostgreSQL's writes that works on the engine's database. Raises StoreError with its last word.

    The address goes as a URL, without the password, which no list of processes shall show.
    """
    url = engine.url
    shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database, url.query)
    called = f"{program} {os.getpid()} {threading.get_native_id()}"
    environment = {"PATH": os.defpath, "LC_ALL": "C", "PGAPPNAME": called}
    if url.password is not None:
        environment["PGPASSWORD"] = url.password
    offline = "--file=-" in arguments
    target = () if offline else (f"--dbname={written(shown)}",)
    command = [str(installation() / "bin" / program), "--no-password", *target, *arguments]
    try:
        done = watchdog.run(
            command,
            env=environment,
            wanting=lambda: f": {FROZEN}, then {AGAIN}" if offline else _wanting(engine, called),
        )
    except watchdog.StillError as error:
        raise StoreError(f"{program} was ended, and what was there is as it was: {error}") from None
    if done.returncode:
        said = [line.removeprefix(f"{program}: ").removeprefix("error: ") for line in done.stderr.splitlines() if line]
        raise StoreError(f"{program} failed: {said[0] if said else 'it does not say why'}")
    return done.stdout


def _wanting(engine: Engine, program: str) -> str | None:
    """Why the server does nothing for the program of that name, None where it works for it."""
    asked = text("SELECT state, wait_event_type FROM pg_stat_activity WHERE application_name = :program")
    try:
        with engine.connect() as connection:
            working = connection.execute(asked, {"program": program}).all()
    except DBAPIError as error:
        return None if is_full(str(error)) else f", and {explain(error.orig)}"
    if ("active", "Lock") in working:
        return f", waiting for a lock that another session holds: end that one, then {AGAIN}"
    if any(state == "active" and waits_for != "Client" for state, waits_for in working):
        return None
    return f", nor does the server work for it: {FROZEN}, then {AGAIN}"


def _kept(connection: Connection) -> str:
    """What would be lost, for people; empty where nothing would be."""
    named = {"run": "runs", "journal": "replies", "embedding": "vectors", "dataset": "data sets"}
    counts = {words: int(connection.scalar(text(f"SELECT count(*) FROM {SCHEMA}.{name}")) or 0)  # noqa: S608
              for name, words in named.items()}  # fmt: skip
    return ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
