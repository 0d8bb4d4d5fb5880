"""The journal on an event loop's own connections: no thread is waited for, and a batch is one statement."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic_core import to_json

from ragbench.store.errors import StoreError, told_plainly, went_away
from ragbench.store.tables import SCHEMA, journal

if TYPE_CHECKING:
    import psycopg

    from ragbench.store.journal import DatabaseJournal

    Connection = psycopg.AsyncConnection[Any]

Row = Mapping[str, Any]
Result = TypeVar("Result")

LANES = 3
"""So many statements of one event loop are under way at the same time, all its judges together."""
RETRY_SECONDS = 0.5
LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")

COLUMNS = tuple(column.name for column in journal.columns if column.name != "recorded_at")
_TYPES = {"INTEGER": "int", "BIGINT": "bigint", "BOOLEAN": "boolean", "DOUBLE": "float8", "JSONB": "jsonb"}
_FIELDS = ", ".join(f"{name} {_TYPES.get(str(journal.c[name].type), 'text')}" for name in COLUMNS)
_RECORD = (
    f"INSERT INTO {SCHEMA}.journal ({', '.join(COLUMNS)}) "  # noqa: S608
    f"SELECT {', '.join(COLUMNS)} FROM json_to_recordset(%s::json) AS r({_FIELDS}) "
    "ON CONFLICT (key) DO NOTHING RETURNING key"
)
_FIND = f"SELECT {', '.join(COLUMNS)} FROM {SCHEMA}.journal WHERE key = ANY(string_to_array(%s, ','))"  # noqa: S608


class Lanes:
    """The journal for one event loop; every statement commits by itself.

    A server that goes away is waited for, as `DatabaseJournal` does. Shared by all that the journal lends it to
    (`DatabaseJournal.lanes`), each of whom closes it once.
    """

    def __init__(self, journal: DatabaseJournal, patience: float, let_go: Callable[[], object]) -> None:
        self._journal = journal
        self._patience = patience
        self._let_go = let_go
        self._turns = asyncio.Semaphore(LANES)
        self._free: list[Connection] = []
        self._known: tuple[dict[str, Any], list[tuple[str, str]]] | None = None
        self.users = 0

    async def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """The rows that exist, by key."""
        found = await self._patiently("reading the journal", lambda connection: _read(connection, keys))
        if self._journal.noted(len(keys), len(found)):
            await asyncio.to_thread(self._journal.count)
        return found

    async def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """Keep the rows; committed when this returns. By key, what the journal holds: the first row won."""
        rows = sorted(rows, key=lambda row: row["key"])  # one order for all writers: no two wait for each other
        text = to_json(rows).decode()

        async def write(connection: Connection) -> Mapping[str, Row]:
            cursor = await connection.execute(_RECORD, (text,))
            new = {key for (key,) in await cursor.fetchall()}
            older = [row["key"] for row in rows if row["key"] not in new]
            kept = {row["key"]: row for row in rows if row["key"] in new}
            return {**kept, **await _read(connection, older)} if older else kept

        return await self._patiently("writing the journal", write)

    async def close(self) -> None:
        """End one user's use; the last one's closes the connections."""
        self.users -= 1
        if self.users == 0:
            self._let_go()
            while self._free:
                await self._free.pop().close()

    async def _patiently(self, doing: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        import psycopg

        until = time.monotonic() + self._patience
        while True:
            try:
                async with self._turns:
                    connection = self._free.pop() if self._free else await self._connect()
                    try:
                        result = await work(connection)
                    except BaseException:
                        await connection.close()
                        raise
                    self._free.append(connection)
                    return result
            except psycopg.Error as error:
                if not went_away(error) or time.monotonic() > until:
                    with told_plainly(doing):
                        raise
                await self._forget()
            await asyncio.sleep(RETRY_SECONDS)
            with suppress(StoreError):
                await asyncio.to_thread(self._journal.revive)

    async def _forget(self) -> None:
        """Close what is free: it leads to the same server that went away."""
        while self._free:
            await self._free.pop().close()

    async def _connect(self) -> Connection:
        import psycopg

        if self._known is None:
            self._known = await asyncio.to_thread(self._journal.session, LIMITS)
        parameters, limits = self._known
        connection = await psycopg.AsyncConnection.connect(**parameters, autocommit=True, prepare_threshold=None)
        for name, value in limits:
            await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        return connection


async def _read(connection: Connection, keys: Sequence[str]) -> Mapping[str, Row]:
    cursor = await connection.execute(_FIND, (",".join(keys),))
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in await cursor.fetchall()}


assert COLUMNS[0] == "key", "rows are found by their first column"
