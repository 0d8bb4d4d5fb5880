"""Replies that were paid for: nothing is paid twice, and nothing is scored before it is on disk.

A file of SQLite, or a table of PostgreSQL where workers on several machines share it.
"""

from __future__ import annotations

import dataclasses
import sqlite3
import time
from pathlib import Path
from typing import Any, Self

from ragbench.core.secrets import shorten
from ragbench.llm.errors import StopError
from ragbench.llm.types import Stored

COLUMNS = [field.name for field in dataclasses.fields(Stored)]
CREATE = """
create table if not exists ragbench_replies (
    key text primary key, name text, model text, text text, finish text, tokens_in bigint,
    tokens_out bigint, seconds double precision, left_out text, at double precision
)"""
# Of two workers that begin at once, one creates the table. The number means nothing.
LOCK = "select pg_advisory_xact_lock(5230951)"
SELECT = f"select {', '.join(COLUMNS)} from ragbench_replies where key = ?"  # noqa: S608  fixed
PLACES = ", ".join("?" * (len(COLUMNS) + 1))
# Two processes may have asked the same; the first reply stays.
INSERT = f"insert into ragbench_replies values ({PLACES}) on conflict (key) do nothing"  # noqa: S608
MEAN_LENGTH = "select avg(tokens_out) from ragbench_replies where model = ? and tokens_out > 0"
# A commit survives the death of this process, and waits for no disk: the death of the machine may
# cost the last replies.
SQLITE = "pragma journal_mode=wal; pragma synchronous=normal"
POSTGRES = "-c synchronous_commit=off -c statement_timeout=30000 -c lock_timeout=20000"


class Journal:
    """Replies by the hash of their requests. Several processes may share one.

    place: the path of a file, a URL of PostgreSQL, or None for the memory of this process. Open
    it with `async with`, on the event loop that uses it, as often as it is needed. Its methods
    raise StopError where it cannot be opened, read or written.
    """

    def __init__(self, place: str | Path | None) -> None:
        self.place = place
        self.is_postgres = str(place).startswith(("postgresql:", "postgres:", "postgresql+"))
        self._connection: Any = None
        self._errors: tuple[type[Exception], ...] = (sqlite3.Error, OSError)

    async def __aenter__(self) -> Self:
        if self._connection is None:
            try:
                self._connection = self._connect()
            except self._errors as error:
                raise self._refuse(error) from None
        return self

    async def __aexit__(self, *error: object) -> None:
        # Without a file the replies are in the connection.
        if self.place is not None:
            self._connection.close()
            self._connection = None

    def get(self, key: str) -> Stored | None:
        """Return the reply to a request, or None."""
        row = self._execute(SELECT, key).fetchone()
        return None if row is None else Stored(*row)

    def put(self, reply: Stored) -> None:
        """Keep a reply; it is on disk when this returns."""
        self._execute(INSERT, *(getattr(reply, name) for name in COLUMNS), time.time())

    def mean_tokens_out(self, model: str) -> float | None:
        """Return the mean length of a model's replies in tokens; None without any."""
        (mean,) = self._execute(MEAN_LENGTH, model).fetchone()
        return None if mean is None else float(mean)

    def _connect(self) -> Any:
        if self.is_postgres:
            import psycopg

            self._errors = (psycopg.Error,)
            url = str(self.place).replace("postgresql+psycopg:", "postgresql:")
            connection = psycopg.connect(url, connect_timeout=10, options=POSTGRES, autocommit=True)
            with connection.transaction():
                connection.execute(LOCK)
                connection.execute(CREATE)
            return connection
        if self.place is not None:
            Path(self.place).parent.mkdir(parents=True, exist_ok=True)
        # Without a place it is a temporary file, which threads may use one after another. Every
        # statement is a transaction (isolation_level=None).
        file = sqlite3.connect(
            self.place or "", timeout=60, isolation_level=None, check_same_thread=False
        )
        file.executescript(SQLITE)
        file.execute(CREATE)
        return file

    def _execute(self, statement: str, *values: Any) -> Any:
        if self.is_postgres:
            statement = statement.replace("?", "%s")
        try:
            return self._connection.execute(statement, values)
        except self._errors as error:
            raise self._refuse(error) from None

    def _refuse(self, error: Exception) -> StopError:
        place = "in PostgreSQL" if self.is_postgres else self.place
        return StopError(
            f"the journal {place} fails ({shorten(error)}); what it has is kept: free the disk or "
            "start the database, and run again"
        )
