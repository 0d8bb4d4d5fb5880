"""Connections to PostgreSQL, bounded in number and time, and its errors in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa

from ragbench.core.errors import BenchError
from ragbench.core.secrets import mask, remember
from ragbench.core.settings import DatabaseSettings

SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
LEGAL = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
# Probes of a connection on which nothing comes, so that a host that is gone is noticed.
KEEP_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


def open_engine(url: str, limits: DatabaseSettings, place: str) -> sa.Engine:
    """Make an engine; it connects when it is first used.

    place: the variable or setting that holds the URL, for errors: these never show the URL.
    """
    address = read_url(url, place)
    engine = sa.create_engine(
        address,
        pool_size=limits.connections,
        max_overflow=0,
        pool_timeout=limits.lock_seconds,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={
            "connect_timeout": math.ceil(limits.connect_seconds),
            "application_name": "ragbench",
            "client_encoding": "UTF8",
            # Prepared statements are lost where a pooler stands before the server.
            "prepare_threshold": None,
            **KEEP_ALIVE,
        },
    )
    wanted = {
        "statement_timeout": round(limits.statement_seconds * 1000),
        "lock_timeout": round(limits.lock_seconds * 1000),
        "idle_in_transaction_session_timeout": round(limits.statement_seconds * 1000),
        "timezone": "'UTC'",
        "jit": "off",
    }
    commands = "; ".join(f"SET {name} = {value}" for name, value in wanted.items())

    @sa.event.listens_for(engine, "connect")
    def set_limits(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(commands)
        connection.commit()

    return engine


def read_url(url: str, place: str) -> sa.URL:
    """Read the address of a PostgreSQL. Raises BenchError without showing it."""
    try:
        address = sa.make_url(url.strip())
    except (sa.exc.ArgumentError, ValueError):
        raise BenchError(f"{place} is no address; write {LEGAL}") from None
    if address.drivername not in SCHEMES or not address.database:
        raise BenchError(f"{place} is no address of a PostgreSQL database; write {LEGAL}")
    remember(address.password)
    return address.set(drivername="postgresql+psycopg")


@contextmanager
def say_plainly(what: str) -> Iterator[None]:
    """Turn errors of the database within into a BenchError of one line, without secrets.

    what: what is being done, as "searching".
    """
    try:
        yield
    except (sa.exc.SQLAlchemyError, psycopg.Error) as error:
        cause = getattr(error, "orig", None) or error
        lines = str(cause).strip().splitlines() or [type(cause).__name__]
        raise BenchError(f"{what}: PostgreSQL says: {mask(lines[0])}") from error


def went_away(error: BaseException) -> bool:
    """Say whether an error is of the connection, so that the same may be tried again."""
    cause = error.__cause__ if isinstance(error, BenchError) else error
    return isinstance(cause, (sa.exc.OperationalError, sa.exc.InterfaceError)) and (
        cause.connection_invalidated or getattr(cause.orig, "sqlstate", None) is None
    )
