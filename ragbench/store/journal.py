"""The journal: every reply of a model that was paid for, durable before it is used, shared by all processes."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, bindparam, func, select, text, update
from sqlalchemy.exc import DBAPIError

from ragbench.store.errors import StoreError, told_plainly, went_away
from ragbench.store.lanes import COLUMNS, Lanes
from ragbench.store.tables import SCHEMA, journal, journal_use

Row = Mapping[str, Any]
Result = TypeVar("Result")

PATIENCE_SECONDS = 45.0
"""How long a server that went away is waited for."""
READY = 2
"""So many connections are kept out of the pool, ready for the next statement."""
_COUNT_SECONDS = 1.0

_ARRAYS = {"INTEGER": "int[]", "BIGINT": "bigint[]", "BOOLEAN": "boolean[]", "DOUBLE": "float8[]"}


def _insert() -> str:
    arrays = [f"CAST(:{name} AS {_ARRAYS.get(str(journal.c[name].type), 'text[]')})" for name in COLUMNS]
    chosen = [f"CAST(r.{name} AS jsonb)" if name == "request" else f"r.{name}" for name in COLUMNS]
    return (
        f"INSERT INTO {SCHEMA}.journal ({', '.join(COLUMNS)}) SELECT {', '.join(chosen)} "  # noqa: S608
        f"FROM unnest({', '.join(arrays)}) AS r({', '.join(COLUMNS)}) ON CONFLICT (key) DO NOTHING RETURNING key"
    )


@dataclass(frozen=True)
class JournalSize:
    """What one judge's share of the journal holds: replies, tokens, money, and the seconds that the models took."""

    judge: str
    model: str
    replies: int
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: float


class DatabaseJournal:
    """Rows of replies by key. The first row of a key stays; a later one with the same key changes nothing.

    A server that goes away is waited for, PATIENCE_SECONDS at most; then StoreError. Safe for several threads.
    revive: called while waiting, to start a server that is ours (`server.start`); what it raises is tried again.
    """

    def __init__(self, engine: Engine, revive: Callable[[], object] | None = None) -> None:
        # a statement of its own is a transaction of its own: half the round trips of begin, statement, commit
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._streaming = engine
        self._revive = revive
        self._ready: list[Connection] = []
        self._insert = text(_insert())
        self._find = select(*(journal.c[name] for name in COLUMNS)).where(
            journal.c.key == func.any(bindparam("keys", type_=None))
        )
        self._lock = threading.Lock()
        self._lookups = self._hits = 0
        self._counted_at = time.monotonic()
        self._lanes: dict[asyncio.AbstractEventLoop, Lanes] = {}

    def lanes(self) -> Lanes | None:
        """The journal for the event loop that runs here, shared by all who ask on it, each of whom closes it once.

        None where the driver cannot wait on an event loop (Windows); `find` and `record` serve from threads then.
        """
        if sys.platform == "win32":
            return None
        loop = asyncio.get_running_loop()
        if loop not in self._lanes:
            self._lanes[loop] = Lanes(self, PATIENCE_SECONDS, lambda: self._lanes.pop(loop, None))
        self._lanes[loop].users += 1
        return self._lanes[loop]

    def session(self, settings: Sequence[str]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        """What a connection of the same kind is made with: the driver's parameters, and these settings' values.

        Raises the driver's error.
        """
        try:
            with self._engine.connect() as connection:
                raw: Any = connection.connection.driver_connection
                values = [(name, str(raw.execute("SELECT current_setting(%s)", (name,)).fetchone()[0]))
                          for name in settings]  # fmt: skip
                return {**raw.info.get_parameters(), "password": raw.info.password}, values
        except DBAPIError as error:
            raise error.orig or error from None

    def revive(self) -> None:
        """Start the server if it is ours, see `DatabaseJournal`; what goes wrong is raised."""
        if self._revive is not None:
            self._revive()

    def noted(self, lookups: int, hits: int) -> bool:
        """Add to this process's share of the use; whether it is time to `count`."""
        with self._lock:
            self._lookups += lookups
            self._hits += hits
            return time.monotonic() - self._counted_at > _COUNT_SECONDS

    def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """The rows that exist, by key."""
        if not keys:
            return {}
        found = self._patiently("reading the journal", lambda connection: self._read(connection, keys))
        if self.noted(len(keys), len(found)):
            self.count()
        return found

    def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """Keep the rows; committed when this returns. Returns, by key, what the journal holds: the first row won."""
        if not rows:
            return {}
        rows = sorted(rows, key=lambda row: row["key"])  # one order for all writers: no two wait for each other
        arrays = {name: [row[name] for row in rows] for name in COLUMNS if name != "request"}
        arrays["request"] = [json.dumps(row["request"], ensure_ascii=False, allow_nan=False) for row in rows]

        def write(connection: Connection) -> Mapping[str, Row]:
            new = set(connection.scalars(self._insert, arrays))
            older = [row["key"] for row in rows if row["key"] not in new]
            kept = {row["key"]: row for row in rows if row["key"] in new}
            return {**kept, **self._read(connection, older)} if older else kept

        return self._patiently("writing the journal", write)

    def known(self, keys: Iterable[str]) -> int:
        """How many of the keys the journal has; not counted as use."""
        asked = {"keys": list(keys)}
        return self._patiently(
            "reading the journal", lambda connection: len(connection.execute(self._find, asked).all())
        )

    def rows(self, judge: str | None = None) -> Iterator[Row]:
        """All rows in the order of their keys, streamed; of one judge if named."""
        wanted = select(*(journal.c[name] for name in COLUMNS)).order_by(journal.c.key.collate("C"))
        if judge is not None:
            wanted = wanted.where(journal.c.judge == judge)
        with told_plainly("reading the journal"), self._streaming.connect() as connection:
            for row in connection.execution_options(yield_per=500).execute(wanted):
                yield dict(row._mapping)

    def rows_of(self, keys: Sequence[str]) -> Iterator[Row]:
        """The rows of these keys in their order, those that there are; not counted as use."""
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            for start in range(0, len(keys), 500):
                some = keys[start : start + 500]
                found = self._read(connection, some)
                yield from (found[key] for key in some if key in found)

    def sample(self, judge: str, model: str, rows: int) -> list[Row]:
        """So many rows of one judge and model, or all if it has fewer; keys are hashes, so their order is no order."""
        wanted = select(*(journal.c[name] for name in COLUMNS)).order_by(journal.c.key).limit(rows)
        wanted = wanted.where(journal.c.judge == judge, journal.c.model == model)
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(wanted)]

    def sizes(self) -> list[JournalSize]:
        """What the journal holds, by judge and model."""
        columns = (journal.c.input_tokens, journal.c.output_tokens, journal.c.cost, journal.c.seconds)
        wanted = (
            select(journal.c.judge, journal.c.model, func.count(), *(func.sum(column) for column in columns))
            .group_by(journal.c.judge, journal.c.model)
            .order_by(journal.c.judge, journal.c.model)
        )
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            return [
                JournalSize(judge, model, count, int(read), int(written), float(cost), float(seconds))
                for judge, model, count, read, written, cost, seconds in connection.execute(wanted)
            ]

    def use(self) -> tuple[int, int]:
        """(lookups, hits) since the journal was made, all processes together."""
        self.count()
        with told_plainly("reading the journal"), self._engine.connect() as connection:
            row = connection.execute(select(journal_use.c.lookups, journal_use.c.hits)).one()
            return int(row[0]), int(row[1])

    def count(self) -> None:
        """Add this process's lookups and hits to the shared counters."""
        with self._lock:
            lookups, hits = self._lookups, self._hits
            self._lookups = self._hits = 0
            self._counted_at = time.monotonic()
        if lookups:
            more = {"lookups": journal_use.c.lookups + lookups, "hits": journal_use.c.hits + hits}
            self._patiently("counting the journal's use", lambda c: c.execute(update(journal_use).values(more)))

    def _read(self, connection: Connection, keys: Sequence[str]) -> Mapping[str, Row]:
        return {row.key: dict(row._mapping) for row in connection.execute(self._find, {"keys": list(keys)})}

    def close(self) -> None:
        """Count the use, and give back the connections that are kept ready."""
        self.count()
        self._let_go()

    def _patiently(self, doing: str, work: Callable[[Connection], Result]) -> Result:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with self._connected() as connection:
                    return work(connection)
            except DBAPIError as error:
                self._let_go()
                if not went_away(error.orig) or time.monotonic() > until:
                    with told_plainly(doing):
                        raise
            time.sleep(0.5)
            with suppress(StoreError):
                self.revive()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """A connection, one that is ready if there is one: the pool would ask each whether it still lives."""
        try:
            connection = self._ready.pop()
        except IndexError:
            connection = self._engine.connect()
        try:
            with connection.begin():
                yield connection
        except BaseException:
            connection.close()
            raise
        if len(self._ready) < READY:
            self._ready.append(connection)
        else:
            connection.close()

    def _let_go(self) -> None:
        while self._ready:
            with suppress(IndexError, DBAPIError):
                self._ready.pop().close()
