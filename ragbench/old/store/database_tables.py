"""The tables of the schema `ragbench`, made where there are none, and a bounded pool of connections to them.

And addresses of servers, as they are shown: never with a password.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote, quote_plus

import psycopg
from pgvector.sqlalchemy import Vector
from psycopg import sql
from sqlalchemy import (
    DDL,
    URL,
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Double,
    Engine,
    ExceptionContext,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    func,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import ArgumentError, DBAPIError

from ragbench.old.core.settings import DatabaseSettings
from ragbench.old.core.settings.urls import MASK
from ragbench.old.store.errors import StoreError, is_silent, told_plainly, went_away
from ragbench.old.store.watchdog import WatchedConnection

SCHEMA = "ragbench"
VERSION = 3
"""Of these tables; a database of another version is refused, so whatever changes them raises it."""
metadata = MetaData(schema=SCHEMA)


def _columns(kind: Any, *names: str, nullable: bool = False) -> list[Column[Any]]:
    return [Column(name, kind, nullable=nullable) for name in names]


def _now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def _of(table: str, *, key: bool = True) -> Column[Any]:
    """The row of another table that a row belongs to, and goes with."""
    row = ForeignKey(f"{SCHEMA}.{table}.id", ondelete="CASCADE")
    return Column(f"{table}_id", row, primary_key=key, nullable=False)


version = Table("version", metadata, Column("number", Integer, primary_key=True))

dataset = Table(
    "dataset",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("content_hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("chunks", Integer, nullable=False),
    _now("loaded_at"),
)

# `position` is the rank of the chunk's id in code point order: ties between chunks are broken by it
chunk = Table(
    "chunk",
    metadata,
    _of("dataset"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "id", "text"),
    Column("text_hash", LargeBinary, nullable=False),
    *_columns(Text, "url", "title", "section", nullable=True),
    UniqueConstraint("dataset_id", "id"),
)

embedder = Table(
    "embedder",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("identity_hash", LargeBinary, nullable=False, unique=True),
    *_columns(Text, "identity", "name"),
    Column("width", Integer, nullable=False),
)

# one row per text that was ever embedded; `text_hash` is over the kind (passage or query) and the text
embedding = Table(
    "embedding",
    metadata,
    _of("embedder"),
    Column("text_hash", LargeBinary, primary_key=True),
    Column("vector", Vector(), nullable=False),
)

# a searchable table `collection_<id>` exists for each row
collection = Table(
    "collection",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _of("dataset", key=False),
    _of("embedder", key=False),
    Column("index", Text, nullable=False),
    UniqueConstraint("dataset_id", "embedder_id", "index"),
)

# one row per reply of a model that was paid for; `key` is over who was asked and what
journal = Table(
    "journal",
    metadata,
    Column("key", Text, primary_key=True),
    *_columns(Text, "judge", "endpoint", "model", "prompt"),
    *_columns(Integer, "version", "repeat"),
    Column("request", JSONB, nullable=False),
    *_columns(Text, "text", "finish"),
    Column("refusal", Text),
    *_columns(BigInteger, "input_tokens", "output_tokens"),
    Column("estimated", Boolean, nullable=False),
    *_columns(Double, "cost", "seconds"),
    Column("served_model", Text),
    Column("imported", Boolean, nullable=False),
    _now("recorded_at"),
)

# how often the journal was asked for a reply of a model, and how often it had it
journal_use = Table(
    "journal_use",
    metadata,
    Column("judge", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    *_columns(BigInteger, "lookups", "hits"),
)

# what a run has spent, all its processes together, and what is reserved for calls in flight
spending = Table(
    "spending",
    metadata,
    Column("run", Text, primary_key=True),
    Column("calls", BigInteger, nullable=False),
    *_columns(Double, "tokens", "money"),
    Column("reserved_calls", BigInteger, nullable=False),
    *_columns(Double, "reserved_tokens", "reserved_money"),
    Column("changed_at", DateTime(timezone=True), nullable=False),
)

# keys of what a run has counted: replies out of the journal, and what its processes have told, so that each counts once
spending_told = Table(
    "spending_told",
    metadata,
    Column("run", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    _now("told_at"),
)

# endpoints that several processes ask: when their rates are used up until, and since when calls may begin
endpoint = Table(
    "endpoint",
    metadata,
    Column("name", Text, primary_key=True),
    *_columns(DateTime(timezone=True), "requests_at", "tokens_at", "resume_at"),
    prefixes=["UNLOGGED"],
)

# readings of a clock, taken once for what `about` says (and `key` is the hash of), so that later pages show the same
timing = Table(
    "timing",
    metadata,
    Column("key", Text, primary_key=True),
    *_columns(JSONB, "about", "readings"),
    _now("measured_at"),
)

# arrays that were made once of what `about` says (and `key` is the hash of), the bytes of a NumPy archive in blocks
array_set = Table(
    "array_set",
    metadata,
    Column("id", Integer, Identity(), primary_key=True),
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("about", JSONB, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    _now("read_at"),
)

array_block = Table(
    "array_block",
    metadata,
    _of("array_set"),
    Column("position", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
# numbers hardly shrink, and packing them takes longer than all else
_UNPACKED = DDL("ALTER TABLE %(fullname)s ALTER COLUMN content SET STORAGE EXTERNAL")
event.listen(array_block, "after_create", _UNPACKED)

# a run and what was found in it; `position` keeps the order in which a page shows things
run = Table(
    "run",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", DateTime(timezone=True)),
    *_columns(Text, "status", "origin"),
    Column("seconds", Double),
    Column("folder", Text),
    *_columns(JSONB, "identities", "manifest"),
    _now("recorded_at"),
    Index("run_by_start", "started_at", "id"),
)


run_part = Table(
    "run_part",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "notebook", "status", "failure"),
    *_columns(Text, "dataset", "data_hash", "unit", nullable=True),
    Column("systems", ARRAY(Text), nullable=False),
    Column("baseline", Text),
    Column("facts", JSONB, nullable=False),
    UniqueConstraint("run_id", "notebook"),
)

run_value = Table(
    "run_value",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "notebook", "system", "metric"),
    Column("value", Double, nullable=False),
    *_columns(Double, "low", "high", nullable=True),
    Column("level", Double, nullable=False),
    Column("method", Text, nullable=False),
    *_columns(BigInteger, "n", "n_unmeasured", nullable=True),
    Column("better", Text),
    *_columns(Double, "scale_low", "scale_high", nullable=True),
    Column("unit", Text),
    Column("comparable", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Index("run_value_by_metric", "metric", "system", "notebook"),
)

run_comparison = Table(
    "run_comparison",
    metadata,
    _of("run"),
    Column("position", Integer, primary_key=True),
    Column("finding", JSONB, nullable=False),
)

# the questions of a notebook, and one row of values a system and metric, in the order of the questions
run_question = Table(
    "run_question",
    metadata,
    _of("run"),
    Column("notebook", Text, primary_key=True),
    *_columns(ARRAY(Text), "samples", "fingerprints"),
    Column("clusters", ARRAY(Text)),
)

run_score = Table(
    "run_score",
    metadata,
    _of("run"),
    Column("notebook", Text, primary_key=True),
    Column("system", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("values", ARRAY(Double), nullable=False),
)

# the keys of the replies that a run was made of; a run that does not know them has no row
run_reply = Table("run_reply", metadata, _of("run"), Column("keys", ARRAY(Text), nullable=False))


OLDEST_PGVECTOR = (0, 8)  # the first with iterative index scans
ATTEMPTS, PAUSE = 5, 0.3  # of a first reading, in seconds: a server recovers from one killed process in less
MAKING = 0x7261_6762  # the number of the advisory lock under which one process at a time makes the tables


def connect(url: URL, limits: DatabaseSettings) -> Engine:
    """An engine whose connections are bounded in number and in time; its errors show no values."""
    seconds = max(2, round(limits.connect_seconds))  # libpq takes less than 2 for 2
    alive = {
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,  # milliseconds: nothing is probed while sent data are not yet acknowledged
    }
    engine = create_engine(
        url,
        pool_size=limits.connections,
        max_overflow=1,  # for the connection that only holds a lock while others work
        pool_timeout=limits.lock_seconds,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={
            "connect_timeout": seconds,
            "application_name": "ragbench",
            "client_encoding": "UTF8",
            "prepare_threshold": None,
            **alive,
        },
    )

    wanted = {
        "statement_timeout": f"{round(limits.statement_seconds * 1000)}",
        "lock_timeout": f"{round(limits.lock_seconds * 1000)}",
        "idle_in_transaction_session_timeout": f"{round(limits.statement_seconds * 1000)}",
        "timezone": "UTC",
    }

    @event.listens_for(engine, "do_connect")
    def _watched(_dialect: Any, _record: Any, _arguments: Any, parameters: dict[str, Any]) -> WatchedConnection:
        return WatchedConnection.connect(**parameters)

    @event.listens_for(engine, "handle_error")
    def _ask_once(context: ExceptionContext) -> None:
        if context.is_pre_ping and is_silent(context.original_exception):
            context.is_disconnect = False  # else the pool would wait for another connection to the same server

    @event.listens_for(engine, "connect", insert=True)  # before SQLAlchemy asks for the default schema
    def _limit(connection: Any, _record: Any) -> None:
        autocommit, connection.autocommit = connection.autocommit, True
        (place,) = connection.execute(
            "SELECT (SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace "
            "WHERE extname = 'vector')"
        ).fetchone()
        values: dict[str, sql.Composable] = {name: sql.Literal(value) for name, value in wanted.items()}
        if place is not None:  # the types are found wherever the extension was installed
            values["search_path"] = sql.Identifier(place)

        connection.execute("; ".join(f"SET {name} = {value.as_string(connection)}" for name, value in values.items()))
        connection.autocommit = autocommit

    return engine


def _version(engine: Engine) -> int | None:
    """The version of the tables. A server that recovers takes connections, and ends them at once: it is waited for."""
    for _ in range(ATTEMPTS - 1):
        try:
            with engine.connect() as connection:
                return version_of(connection)
        except (DBAPIError, psycopg.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            if not went_away(cause) or is_silent(cause):
                raise
            time.sleep(PAUSE)
    with engine.connect() as connection:
        return version_of(connection)


def make_tables(engine: Engine) -> None:
    """Make the tables where there are none; one process at a time, all or nothing.

    Raises StoreError for tables of another version of ragbench, which are left alone, and for a server without
    pgvector.
    """
    with told_plainly("reading the database's version"):
        if _version(engine) == VERSION:
            return
    with told_plainly("making the tables of the database"), engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": MAKING})
        stored = version_of(connection)
        if stored == VERSION:
            return
        if stored is not None:
            raise StoreError(
                f"another version of ragbench has made the tables of this database ({of_version(stored)}; this one "
                f"makes {of_version(VERSION)}): name another database, by database.folder in ragbench.toml or "
                "RAGBENCH_DATABASE_URL; nothing was changed. Replies that were paid for come along: `ragbench journal "
                "export FILE` with the ragbench that made it, `ragbench journal import FILE` here"
            )
        make_schema(connection)
        metadata.create_all(connection)
        connection.execute(version.insert().values(number=VERSION))
    engine.dispose()  # connections that were made before the extension existed do not know its types


def of_version(number: int) -> str:
    """A version of the tables, for people."""
    return f"version {number}" if number else "of no known version"


def version_of(connection: Connection) -> int | None:
    """The version of the tables in the database: None where there are none, 0 where they do not say."""
    if connection.scalar(text("SELECT to_regclass(:name)"), {"name": f"{SCHEMA}.{version.name}"}) is not None:
        return connection.scalar(select(func.max(version.c.number))) or 0
    tables = text("SELECT count(*) FROM information_schema.tables WHERE table_schema = :schema")
    return 0 if connection.scalar(tables, {"schema": SCHEMA}) else None


def make_schema(connection: Connection) -> None:
    """Make what the tables stand on: the extension and the schema. Raises StoreError for a server without pgvector."""
    _make_extension(connection)
    connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))


def _make_extension(connection: Connection) -> None:
    offered = connection.scalar(text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"))
    if not offered:
        raise StoreError("this PostgreSQL has no pgvector: install it (https://github.com/pgvector/pgvector), or unset "
                         "RAGBENCH_DATABASE_URL to use the server that comes with ragbench")  # fmt: skip
    connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    version = str(connection.scalar(text("SELECT extversion FROM pg_extension WHERE extname = 'vector'")))
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PGVECTOR:
        raise StoreError(f"pgvector {version} is too old, 0.8 is needed: ALTER EXTENSION vector UPDATE")


SPOKEN = ("postgresql", "postgres", "postgresql+psycopg")
SECRET_PARAMETERS = ("password", "sslpassword")


def own_server(text: str, variable: str = "RAGBENCH_DATABASE_URL") -> URL:
    """The URL of a server of your own, read from the environment. The errors name the variable, never its text."""
    legal = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise StoreError(f"{variable} is not a URL; write it as {legal}") from None
    if url.drivername not in SPOKEN:
        raise StoreError(f"{variable} begins with {url.drivername.split(':')[0]!r}; write it as {legal}")
    if not url.database:
        raise StoreError(f"{variable} names no database; write it as {legal}")
    query = dict(url.query)
    password = query.pop("password", None)
    if isinstance(password, str):
        url = url.set(password=url.password or password)
    return url.set(drivername="postgresql+psycopg", query=query)


def written(url: URL, *, hide_password: bool = False) -> str:
    """A URL as libpq reads it, where a blank is %20, and a plus a plus."""
    plain = url.set(drivername="postgresql").render_as_string(hide_password=hide_password)
    place, mark, query = plain.partition("?")
    return place.replace(" ", "%20") + mark + query.replace("+", "%20")


def masked(text: object, url: URL | None = None) -> str:
    """`text` with `••••` for every password of `url`; a URL as `text` is rendered with its own passwords masked."""
    if isinstance(text, URL):
        return masked(written(text, hide_password=True).replace("***", MASK), text)
    shown = str(text)
    if url is None:
        return shown
    secrets = [str(url.password)] if url.password else []
    secrets += [str(url.query[name]) for name in SECRET_PARAMETERS if name in url.query]
    for secret in secrets:
        for form in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}:
            shown = shown.replace(form, MASK)
    return shown
