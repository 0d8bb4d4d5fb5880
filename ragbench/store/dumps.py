"""All that a database keeps: how much room it takes, and in one file and back, to move to another server or machine.

The file is a custom archive of the pg_dump that comes with ragbench. Restoring one runs the SQL in it, as the role that
owns the database: a file of somebody else's is not to be restored. `collection_N`, the copies that searches run on, and
indexes of words are left out: they are made again from the vectors and the texts when they are first searched.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql
from sqlalchemy import URL, Connection, Engine, text

from ragbench.core.folders import whole
from ragbench.store.copying import cursor_of
from ragbench.store.database_tables import SCHEMA, VERSION, array_block, array_set, collection, version
from ragbench.store.engine import make_schema, of_version, version_of, written
from ragbench.store.errors import StoreError, told_plainly
from ragbench.store.server import installation

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
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    if url.password is not None:
        environment["PGPASSWORD"] = url.password
    target = (f"--dbname={written(shown)}",) if "--file=-" not in arguments else ()
    command = [str(installation() / "bin" / program), "--no-password", *target, *arguments]
    done = subprocess.run(  # noqa: S603 - our own binaries, no shell
        command,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        said = [line.removeprefix(f"{program}: ").removeprefix("error: ") for line in done.stderr.splitlines() if line]
        raise StoreError(f"{program} failed: {said[0] if said else 'it does not say why'}")
    return done.stdout


def _kept(connection: Connection) -> str:
    """What would be lost, for people; empty where nothing would be."""
    named = {"run": "runs", "journal": "replies", "embedding": "vectors", "dataset": "data sets"}
    counts = {words: int(connection.scalar(text(f"SELECT count(*) FROM {SCHEMA}.{name}")) or 0)  # noqa: S608
              for name, words in named.items()}  # fmt: skip
    return ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
