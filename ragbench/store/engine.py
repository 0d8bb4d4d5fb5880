"""A bounded pool of connections with time limits, and the tables, made where there are none.

And addresses of servers, as they are shown: never with a password.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote, quote_plus

import psycopg
from psycopg import sql
from sqlalchemy import URL, Connection, Engine, ExceptionContext, create_engine, event, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from ragbench.core.settings import DatabaseSettings
from ragbench.core.settings.urls import MASK
from ragbench.store.database_tables import SCHEMA, VERSION, metadata, version
from ragbench.store.errors import StoreError, is_silent, told_plainly, went_away
from ragbench.store.watchdog import WatchedConnection

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
