"""All that a database keeps in one file, and back: to move to another server, another machine, a newer PostgreSQL.

The file is a ZIP with one member a table, in PostgreSQL's binary COPY format, which every version reads alike, and one
that says what there is. Restoring only ever inserts rows into tables that this ragbench has made itself: unlike a
script of SQL, a received file executes nothing, whoever wrote it. `collection_N`, the copies that searches run on, and
indexes of words are left out: they are made again from the vectors and the texts when they are first searched.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from psycopg import sql
from pydantic import BaseModel, ConfigDict, ValidationError
from sqlalchemy import Connection, Engine, Identity, text

from ragbench.expectations import expectation
from ragbench.folders import whole
from ragbench.settings.secrets import excerpt
from ragbench.store.copying import cursor_of
from ragbench.store.engine import MIGRATING, head, prepare_schema, upgrade_to, version_of, versions
from ragbench.store.errors import StoreError, first_line, told_plainly
from ragbench.store.tables import SCHEMA, array_block, array_set, collection, metadata

ABOUT = "dump.json"
FORMAT: Literal[1] = 1
BLOCK = 2**20
LARGEST_ABOUT = 2**20
MOST_UNPACKED, MOST_RATIO = 2**30, 250
"""A larger member that is packed tighter than any table of ours is a bomb."""
OF_THE_MOMENT = {"spending", "spending_reply", "endpoint", "endpoint_holder", "journal_claim"}
"""What processes hold while they run is nothing on another machine."""
NOT_KEPT = {collection.name, array_set.name, array_block.name, "alembic_version", *OF_THE_MOMENT}
MEANT_FOR = {
    "dataset": "data sets that were loaded",
    "chunk": "their texts",
    "embedder": "who made vectors",
    "embedding": "vectors, one a text that was ever embedded",
    "collection": "which copies are searched",
    "journal": "replies of models that were paid for",
    "journal_use": "how often the journal had the reply",
    "journal_claim": "which replies are being asked for, behind a connection pooler",
    "spending": "what the processes of a run have spent of its budget",
    "spending_reply": "which replies a run's budget has counted",
    "endpoint": "endpoints that several processes ask",
    "endpoint_holder": "how much of an endpoint's limits each process holds",
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
    "alembic_version": "the version of these tables",
}


class _Table(BaseModel):
    """A table of a dump: its columns in the order of the member, and how many rows there are."""

    model_config = ConfigDict(extra="forbid", strict=True)

    columns: list[str]
    rows: int


class _About(BaseModel):
    """What a dump holds. version: of the tables; see `ragbench.store.engine.head`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[1]
    version: str
    postgresql: str
    tables: dict[str, _Table]


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
        found = []
        for name, rows, size in connection.execute(wanted, {"schema": SCHEMA}).all():
            if size <= COUNTED_BYTES or rows < 0:  # never looked at by the server so far
                with cursor_of(connection) as cursor:
                    cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(SCHEMA, name)))
                    [(rows,)] = cursor.fetchall()
            meant_for = MEANT_FOR.get(name, "a copy that is searched: vectors and their index")
            found.append(TableSize(name, meant_for, int(rows), int(size)))
    return found


def dump(engine: Engine, path: Path) -> dict[str, int]:
    """Write everything into `path`, as it is at one moment; rows by table. The file is there whole or not at all.

    A database of any version can be dumped; nothing in it is changed. Raises StoreError, OSError.
    """
    with whole(path) as temporary, told_plainly("dumping the database"), engine.connect() as connection:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        about = _about(connection)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name, table in about.tables.items():
                with file.open(zipfile.ZipInfo(f"{name}.copy"), "w", force_zip64=True) as member:
                    table.rows = _copy_out(connection, name, table.columns, member)
            file.writestr(zipfile.ZipInfo(ABOUT), about.model_dump_json(indent=1))
    return {name: table.rows for name, table in about.tables.items()}


def restore(engine: Engine, path: Path, *, replace: bool = False) -> dict[str, int]:
    """Bring back what `dump` wrote, all or nothing; rows by table. Older dumps are brought up to date.

    replace: also where the database keeps something, which is lost then. Raises StoreError for a file that is no dump,
    is cut, was made by a newer ragbench, or holds what does not fit; the database is then as it was.
    """
    with _opened(path) as (file, about):
        if about.version not in versions():
            raise StoreError(
                f"{path} was made by a newer ragbench (tables of version {excerpt(about.version, 20)!r}; this one "
                f"knows versions up to {head()}): upgrade ragbench, then restore it"
            )
        with told_plainly(f"restoring {path.name}"), engine.begin() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": MIGRATING})
            if version_of(connection) is not None and not replace and (kept := _kept(connection)):
                raise StoreError(f"the database keeps {kept} already; --replace puts the dump in their place")
            connection.execute(text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
            prepare_schema(connection)
            upgrade_to(connection, about.version)
            there = _columns(connection)
            for name, table in about.tables.items():
                if name not in there or sorted(table.columns) != sorted(there[name]):
                    raise StoreError(f"{path}: tables of version {about.version} have no {name} of such columns")
            for name in (table.name for table in metadata.sorted_tables if table.name in about.tables):
                connection.execute(text(f'DELETE FROM {SCHEMA}."{name}"'))  # noqa: S608 - rows that a migration puts in
                _copy_in(connection, name, about.tables[name], file)
            _continue_numbers(connection, about.tables)
            upgrade_to(connection, "head")
    engine.dispose()  # connections of before know types of before
    return {name: table.rows for name, table in about.tables.items()}


def _about(connection: Connection) -> _About:
    version = version_of(connection)
    if version is None:
        raise StoreError("the database is empty: there is nothing to dump")
    server = str(connection.scalar(text("SHOW server_version")))
    found = {name: columns for name, columns in _columns(connection).items() if name not in NOT_KEPT}
    tables = {name: _Table(columns=columns, rows=0) for name, columns in found.items()}
    return _About(format=FORMAT, version=version, postgresql=server, tables=tables)


def _columns(connection: Connection) -> dict[str, list[str]]:
    """Columns by table; without the copies that are searched."""
    wanted = text(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = :schema "
        r"AND table_name !~ '^collection_\d+$' ORDER BY table_name, ordinal_position"
    )
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(wanted, {"schema": SCHEMA}):
        found.setdefault(table, []).append(column)
    return found


def _copy_out(connection: Connection, name: str, columns: list[str], member: IO[bytes]) -> int:
    with cursor_of(connection) as cursor:
        with cursor.copy(_statement(name, columns, "TO STDOUT")) as copy:
            for block in copy:
                member.write(block)
        return cursor.rowcount


def _copy_in(connection: Connection, name: str, table: _Table, file: zipfile.ZipFile) -> None:
    with file.open(f"{name}.copy") as member, cursor_of(connection) as cursor:
        with cursor.copy(_statement(name, table.columns, "FROM STDIN")) as copy:
            while block := member.read(BLOCK):
                copy.write(block)
        if cursor.rowcount != table.rows:
            raise StoreError(f"{file.filename}: {name} has {cursor.rowcount} rows, and {table.rows} are announced")


def _statement(name: str, columns: list[str], direction: Literal["TO STDOUT", "FROM STDIN"]) -> sql.Composed:
    listed = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL("COPY {} ({}) {} (FORMAT BINARY)").format(sql.Identifier(SCHEMA, name), listed, sql.SQL(direction))


def _continue_numbers(connection: Connection, tables: dict[str, _Table]) -> None:
    """Let new rows get numbers above those that were brought in."""
    for table in metadata.sorted_tables:
        numbered = [column.name for column in table.columns if isinstance(column.identity, Identity)]
        for column in numbered if table.name in tables else ():
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{SCHEMA}.{table.name}', '{column}'), "  # noqa: S608
                    f'(SELECT max("{column}") FROM {SCHEMA}."{table.name}"))'
                )
            )


def _kept(connection: Connection) -> str:
    """What would be lost, for people; empty where nothing would be."""
    there = _columns(connection)
    named = {"run": "runs", "journal": "replies", "embedding": "vectors", "dataset": "data sets"}
    counts = {words: int(connection.scalar(text(f"SELECT count(*) FROM {SCHEMA}.{name}")) or 0)  # noqa: S608
              for name, words in named.items() if name in there}  # fmt: skip
    return ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, _About]]:
    """The file and what it says of itself; whatever is wrong with it, then or while it is read, is a StoreError."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file; `ragbench db dump FILE` makes one")
    try:
        with zipfile.ZipFile(path) as file:
            if file.getinfo(ABOUT).file_size > LARGEST_ABOUT:
                raise StoreError(f"{path} is no dump: its {ABOUT} is too large")
            about = _About.model_validate_json(file.read(ABOUT))
            missing = [name for name in about.tables if f"{name}.copy" not in file.namelist()]
            for info in file.infolist():
                if info.file_size > MOST_UNPACKED and info.file_size > MOST_RATIO * info.compress_size:
                    raise StoreError(
                        f"{path} is no dump: {excerpt(info.filename, 80)!r} would unpack to {info.file_size:,} bytes"
                    )
            if missing:
                raise StoreError(f"{path} is no dump: {missing[0]}.copy is not in it")
            yield file, about
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or ABOUT
        raise StoreError(
            f"{path} is no dump of this ragbench: {excerpt(place, 80)}: {excerpt(expectation(first), 200)}"
        ) from None
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error, NotImplementedError, json.JSONDecodeError) as error:
        raise StoreError(f"{path} is no dump, or is cut: {first_line(error)}") from None
