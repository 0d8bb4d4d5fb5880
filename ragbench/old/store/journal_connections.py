"""The journal on an event loop's own connections, and budgets and limits that processes share: one row each.

One connection holds this process's claims: a session's advisory lock for each key that is being asked for. The server
lets go of them however the process ends, and they cost no write.

A place at an endpoint is an advisory lock: a process that ends gives it back, however it ends.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

import psycopg
from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from ragbench.old.llm.journal import Parts, Told
from ragbench.old.store.database_tables import SCHEMA, journal
from ragbench.old.store.errors import StoreError, is_silent, told_plainly, went_away
from ragbench.old.store.watchdog import WatchedAsyncConnection

Connection = psycopg.AsyncConnection[Any]
Row = Mapping[str, Any]
Result = TypeVar("Result")

CONNECTIONS = 3
"""So many connections one event loop has at most, all its judges together; one of them holds the claims. With shared
accounts (`JournalConnections.through`) one more."""
RETRY_SECONDS = 0.5  # a server that restarts takes seconds, and a refused try costs it nothing
LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
MOST_CLAIMS = 1000
"""Of one event loop: a server has room for some 6400 locks of all its sessions. What is beyond is asked unclaimed."""
RELEASE_SECONDS = 0.05
"""Within so much a key that is let go is free for others; the next claim takes the word along if it comes first."""
PATIENCE_SECONDS = 35.0
"""How long a server that went away is waited for; with the last attempt to connect it is less than a minute."""
COUNT_SECONDS = 1.0
"""So often what was looked up is added to the counters that all processes share."""

COLUMNS = tuple(column.name for column in journal.columns if column.name != "recorded_at")
_TYPES = {"INTEGER": "int", "BIGINT": "bigint", "BOOLEAN": "boolean", "DOUBLE": "float8", "JSONB": "jsonb"}
_FIELDS = ", ".join(f"{name} {_TYPES.get(str(journal.c[name].type), 'text')}" for name in COLUMNS)
RECORD = (
    f"INSERT INTO {SCHEMA}.journal ({', '.join(COLUMNS)}) "  # noqa: S608
    f"SELECT {', '.join(COLUMNS)} FROM json_to_recordset(%s::json) AS r({_FIELDS}) "
    "ON CONFLICT (key) DO NOTHING RETURNING key"
)
_FIND = f"SELECT {', '.join(COLUMNS)} FROM {SCHEMA}.journal WHERE key = ANY(string_to_array(%s, ','))"  # noqa: S608
_KEYS = "unnest(string_to_array(%s, ',')) AS key"
_RELEASE = f"SELECT pg_advisory_unlock(hashtextextended(key, 0)) FROM {_KEYS}"  # noqa: S608
_AGAIN = f"SELECT pg_try_advisory_lock(hashtextextended(key, 0)) FROM {_KEYS}"  # noqa: S608
# looked up after they are claimed, by a statement of its own that sees what was committed until then: a reply that its
# owner kept between the two would be paid for twice
_CLAIM = f"{_RELEASE}; SELECT key FROM {_KEYS} WHERE pg_try_advisory_lock(hashtextextended(key, 0)); {_FIND}"  # noqa: S608
# in the order of names: two processes that count the same models wait for each other, and not in a circle
_COUNT = (
    f"INSERT INTO {SCHEMA}.journal_use AS kept (judge, model, lookups, hits) "  # noqa: S608
    "SELECT * FROM json_to_recordset(%s::json) AS r(judge text, model text, lookups bigint, hits bigint) "
    "ORDER BY judge, model ON CONFLICT (judge, model) "
    "DO UPDATE SET lookups = kept.lookups + excluded.lookups, hits = kept.hits + excluded.hits"
)


UNFIT = (psycopg.DataError, psycopg.errors.ProgramLimitExceeded, PydanticSerializationError)
"""What is raised for a value that no row can hold, whoever writes it."""


class JournalConnections:
    """The journal for one event loop; every statement commits by itself.

    A server that goes away is waited for, PATIENCE_SECONDS at most; then StoreError. Shared by all that the journal
    lends it to (`DatabaseJournal.on_loop`), each of whom closes it once.
    revive: called while waiting. let_go: called when the last one has closed it.
    """

    def __init__(self, engine: Engine, revive: Callable[[], object], let_go: Callable[[], object]) -> None:
        self._engine = engine
        self._revive = revive
        self._let_go = let_go
        self._patience = PATIENCE_SECONDS
        self._silent: psycopg.Error | None = None
        self._turns = asyncio.Semaphore(CONNECTIONS - 1)
        self._aside = asyncio.Semaphore(1)  # a connection more, for what must not wait until replies are on the disk
        self._free: list[Connection] = []
        self._claiming = asyncio.Lock()
        self._claims: Connection | None = None
        self._held: set[str] = set()
        self._released: list[str] = []
        self._releasing: asyncio.Task[None] | None = None
        self._known: _Session | None = None
        self._hits: Counter[tuple[str, str]] = Counter()
        self._misses: Counter[tuple[str, str]] = Counter()
        self._counted_at = time.monotonic()
        self.users = 0

    async def find(self, keys: Sequence[str]) -> Mapping[str, Row]:
        """The rows that exist, by key; nothing is claimed, and nothing counted as use."""
        return await self._patiently("reading the journal", lambda c: _read(c, keys), self._lane)

    async def claim(self, keys: Sequence[str]) -> tuple[Mapping[str, Row], set[str]]:
        """See `ragbench.old.llm.journal.LoopJournal.claim`."""

        async def work(connection: Connection) -> tuple[Mapping[str, Row], set[str]]:
            room = max(0, MOST_CLAIMS - len(self._held))
            free = [key for key in keys if key not in self._held]
            asked = free[:room]
            # letting go goes along with the next claim: no round trip of its own while work is under way
            given, self._released = self._released, []
            # it puts the values into the text itself: only so several statements make one round trip
            cursor = psycopg.AsyncClientCursor(connection)
            await cursor.execute(_CLAIM, (",".join(given), ",".join(asked), ",".join(keys)))
            cursor.nextset()
            locked = {key for (key,) in await cursor.fetchall()}
            cursor.nextset()
            rows = await _rows(cursor)
            self._released += locked & rows.keys()
            ours = locked - rows.keys()
            self._held |= ours
            return rows, ours | (set(free) - set(asked) - rows.keys())

        known, ours = await self._patiently("reading the journal", work, self._claims_lane)
        await self._note(self._hits, known.values())
        return known, ours

    def release(self, key: str) -> None:
        """Let go of a claimed key: its row is kept, or nobody asks for it any more."""
        if key in self._held:
            self._held.discard(key)
            self._released.append(key)
            if self._releasing is None:
                self._releasing = asyncio.create_task(self._release_soon())

    async def _release_soon(self) -> None:
        await asyncio.sleep(RELEASE_SECONDS)
        self._releasing = None
        if self._released and self.users > 0:
            with suppress(StoreError):  # a server that is gone has let go
                await self.claim(())

    async def record(self, rows: Sequence[Row]) -> Mapping[str, Row]:
        """Keep the rows; committed when this returns. By key, what the journal holds: the first row won.

        Where the database refuses what stands in them, they are written one by one, and those that it refuses are left
        out: a bad one costs no neighbour.
        """

        new: set[str] = set()

        async def add(connection: Connection, some: Sequence[Row]) -> None:
            cursor = await connection.execute(RECORD, (rows_as_json(some),))
            new.update([key for (key,) in await cursor.fetchall()])

        async def write(connection: Connection) -> Mapping[str, Row]:
            try:
                await add(connection, rows)
            except UNFIT:
                for row in rows:
                    with suppress(*UNFIT):
                        await add(connection, [row])
            older = [row["key"] for row in rows if row["key"] not in new]
            kept = {row["key"]: row for row in rows if row["key"] in new}
            return {**kept, **await _read(connection, older)} if older else kept

        kept = await self._patiently("writing the journal", write, self._lane)
        await self._note(self._misses, [row for row in rows if row["key"] in new])
        return kept

    async def close(self) -> None:
        """End one user's use; the last one's closes the connections, and so lets go of what is claimed."""
        self.users -= 1
        if self.users == 0:
            self._let_go()
            self._patience = 0.0
            with suppress(StoreError):  # a server that is gone is not waited for to count
                await self._count()
            if self._releasing is not None:
                self._releasing.cancel()
            async with self._claiming:
                await self._forget_claims()
            await self._forget()

    async def _note(self, uses: Counter[tuple[str, str]], rows: Iterable[Row]) -> None:
        uses.update((row["judge"], row["model"]) for row in rows)
        if time.monotonic() - self._counted_at > COUNT_SECONDS:
            await self._count()

    async def _count(self) -> None:
        hits, misses, self._hits, self._misses = self._hits, self._misses, Counter(), Counter()
        self._counted_at = time.monotonic()
        uses = [
            {"judge": who[0], "model": who[1], "lookups": hits[who] + misses[who], "hits": hits[who]}
            for who in sorted({*hits, *misses})
        ]
        if uses:
            given = (json.dumps(uses),)
            await self._patiently("counting the journal's use", lambda c: c.execute(_COUNT, given), self._lane)

    async def through(self, doing: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """What work of others that keep something here makes of a connection; tried again where the server was away."""
        return await self._patiently(doing, work, partial(self._lane, self._aside))

    async def held(self, doing: str, work: Callable[[Connection], Awaitable[Result]]) -> Result:
        """The same on the connection that holds the claims: locks of others lie in it until all have closed."""
        return await self._patiently(doing, work, self._claims_lane)

    async def _patiently(
        self,
        doing: str,
        work: Callable[[Connection], Awaitable[Result]],
        connecting: Callable[[], AbstractAsyncContextManager[Connection]],
    ) -> Result:
        until = time.monotonic() + self._patience
        while True:
            try:
                async with connecting() as connection:
                    return await work(connection)
            except psycopg.Error as error:
                if went_away(error):
                    await self._forget()
                if is_silent(error):
                    self._silent = error
                if not went_away(error) or self._silent is not None or time.monotonic() > until:
                    with told_plainly(doing):
                        raise
            await asyncio.sleep(RETRY_SECONDS)
            with suppress(StoreError, TimeoutError):  # a server that is being started goes on being started
                await asyncio.wait_for(asyncio.to_thread(self._revive), max(0.0, until - time.monotonic()))

    @asynccontextmanager
    async def _lane(self, turns: asyncio.Semaphore | None = None) -> AsyncIterator[Connection]:
        async with turns or self._turns:
            connection = self._free.pop() if self._free else await self._connect()
            try:
                yield connection
            except BaseException:
                await connection.close()
                raise
            self._free.append(connection)

    @asynccontextmanager
    async def _claims_lane(self) -> AsyncIterator[Connection]:
        """The one connection that holds the claims, for one at a time."""
        async with self._claiming:
            if self._claims is None:
                self._claims = await self._connect()
                if self._held:  # the server was away, and the calls still go on
                    await self._claims.execute(_AGAIN, (",".join(self._held),))
            try:
                yield self._claims
            except BaseException:
                await self._forget_claims()
                raise

    async def _forget_claims(self) -> None:
        """Close the connection: its session's claims end with it, whether the server still knows it or not."""
        connection, self._claims, self._released = self._claims, None, []
        if connection is not None:
            await connection.close()

    async def _forget(self) -> None:
        """Close what is free: it leads to the same server that went away."""
        while self._free:
            await self._free.pop().close()

    async def _connect(self) -> Connection:
        if self._silent is not None:  # everybody waits in vain once, and not one after the other
            raise self._silent
        if self._known is None:
            self._known = await asyncio.to_thread(_session, self._engine)
        known = self._known
        connection = await WatchedAsyncConnection.connect(**known.parameters, autocommit=True, prepare_threshold=None)
        # a server may be set to take one snapshot for several statements; see `_CLAIM`
        for name, value in (*known.limits, ("default_transaction_isolation", "read committed")):
            await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        return connection


class _Session(NamedTuple):
    """What a connection is made with: the driver's parameters, and the values of LIMITS."""

    parameters: dict[str, Any]
    limits: list[tuple[str, str]]


def rows_as_json(rows: Sequence[Row]) -> str:
    """What `RECORD` takes; in one order for all writers, so that no two wait for each other."""
    return to_json(sorted(rows, key=lambda row: row["key"])).decode()


def _session(engine: Engine) -> _Session:
    """What a connection of the engine's kind is made with."""
    try:
        with engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            values = [(name, str(raw.execute("SELECT current_setting(%s)", (name,)).fetchone()[0])) for name in LIMITS]
            parameters = {**raw.info.get_parameters(), "password": raw.info.password}
            return _Session(parameters, values)
    except DBAPIError as error:
        raise error.orig or error from None


async def _read(connection: Connection, keys: Sequence[str]) -> Mapping[str, Row]:
    return await _rows(await connection.execute(_FIND, (",".join(keys),)))


async def _rows(cursor: psycopg.AsyncCursor[Any]) -> Mapping[str, Row]:
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in await cursor.fetchall()}


assert COLUMNS[0] == "key", "rows are found by their first column"


KEPT_DAYS = 7
"""What a run has spent is forgotten so long after its last step."""
BURST_SECONDS = 10
"""Of a rate so much is saved up at most, as in `ragbench.old.llm.limiter.Allowance`."""

_NAMES = ("calls", "tokens", "money")
_BEGIN = f"""
DELETE FROM {SCHEMA}.spending WHERE changed_at < now() - interval '{KEPT_DAYS} days';
DELETE FROM {SCHEMA}.spending_told WHERE told_at < now() - interval '{KEPT_DAYS} days';
INSERT INTO {SCHEMA}.spending VALUES (%(run)s, 0, 0, 0, 0, 0, 0, clock_timestamp()) ON CONFLICT DO NOTHING;
"""  # noqa: S608
# in the order of keys: two that tell the same wait for each other, and not in a circle. Without calls nothing is
# reserved: no rest of rounding stays for ever
_TELL = f"""
WITH given AS (SELECT * FROM json_to_recordset(%(told)s::json) AS r(key text, calls bigint, tokens float8,
        money float8, held_calls bigint, held_tokens float8, held_money float8)),
    new AS (INSERT INTO {SCHEMA}.spending_told (run, key) SELECT %(run)s, key FROM given ORDER BY key
        ON CONFLICT DO NOTHING RETURNING key),
    whole AS (SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens), 0) AS tokens,
        coalesce(sum(money), 0) AS money, coalesce(sum(held_calls), 0) AS held_calls,
        coalesce(sum(held_tokens), 0) AS held_tokens, coalesce(sum(held_money), 0) AS held_money
        FROM given JOIN new USING (key))
UPDATE {SCHEMA}.spending AS s SET calls = s.calls + whole.calls, tokens = s.tokens + whole.tokens,
    money = s.money + whole.money, reserved_calls = s.reserved_calls - whole.held_calls,
    reserved_tokens = CASE s.reserved_calls WHEN whole.held_calls THEN 0 ELSE s.reserved_tokens - whole.held_tokens END,
    reserved_money = CASE s.reserved_calls WHEN whole.held_calls THEN 0 ELSE s.reserved_money - whole.held_money END,
    changed_at = clock_timestamp() FROM whole WHERE s.run = %(run)s;
"""  # noqa: S608
_RESERVE = f"""
UPDATE {SCHEMA}.spending SET reserved_calls = reserved_calls + %(calls)s,
    reserved_tokens = reserved_tokens + %(tokens)s, reserved_money = reserved_money + %(money)s,
    changed_at = clock_timestamp()
WHERE run = %(run)s AND (calls + reserved_calls + %(calls)s <= %(most_calls)s) IS NOT FALSE
    AND (tokens + reserved_tokens + %(tokens)s <= %(most_tokens)s) IS NOT FALSE
    AND (money + reserved_money + %(money)s <= %(most_money)s) IS NOT FALSE RETURNING run;
"""  # noqa: S608
_SPENT = f"""
SELECT calls, tokens, money, reserved_calls, reserved_tokens, reserved_money,
    extract(epoch FROM clock_timestamp() - changed_at) FROM {SCHEMA}.spending WHERE run = %(run)s
"""  # noqa: S608
# CASE: its parts are evaluated in their order, and a session gets a lock that it has already
_SIT = """
SELECT n FROM generate_series(1, %(places)s) AS n WHERE CASE WHEN n = ANY(%(held)s::int[]) THEN false
    ELSE pg_try_advisory_lock(hashtext(%(endpoint)s), n) END LIMIT 1
"""
# the moment at which the calls so far have used up the rate, from which on nothing is saved up (the generic cell rate
# algorithm, ITU-T I.371): one value says all of a bucket
_PACE = f"""
INSERT INTO {SCHEMA}.endpoint AS kept (name, requests_at, tokens_at, resume_at)
VALUES (%(endpoint)s, clock_timestamp() + %(request)s * interval '1 second',
    clock_timestamp() + %(tokens)s * interval '1 second', clock_timestamp())
ON CONFLICT (name) DO UPDATE SET
    requests_at = greatest(kept.requests_at, clock_timestamp()) + %(request)s * interval '1 second',
    tokens_at = greatest(kept.tokens_at, clock_timestamp()) + %(tokens)s * interval '1 second'
RETURNING extract(epoch FROM greatest(requests_at - greatest(%(burst)s, %(request)s) * interval '1 second',
    tokens_at - greatest(%(burst)s, %(tokens)s) * interval '1 second', resume_at) - clock_timestamp())
"""  # noqa: S608
_RISE = f"""
SELECT pg_advisory_unlock(hashtext(%(endpoint)s), %(place)s);
UPDATE {SCHEMA}.endpoint SET tokens_at = tokens_at - %(spare)s * interval '1 second',
    resume_at = greatest(resume_at, clock_timestamp() + %(pause)s * interval '1 second') WHERE name = %(endpoint)s
"""  # noqa: S608


class Accounts:
    """See `ragbench.old.llm.journal.Accounts`: for one user on one event loop, over the journal's own connections.

    A step that is tried again because its answer was lost reserves at most once too often, and counts nothing twice.
    Raises StoreError.
    """

    def __init__(self, on_loop: Callable[[], JournalConnections]) -> None:
        self._on_loop = on_loop
        self._open: JournalConnections | None = None
        self._begun: set[str] = set()

    async def spend(
        self,
        run: str,
        limits: tuple[float | None, float | None, float | None],
        told: Sequence[Told],
        wanted: Parts | None,
    ) -> tuple[bool, Parts, Parts, float]:
        held = [f"held_{name}" for name in _NAMES]
        rows = [
            {"key": key, **dict(zip(_NAMES, spent, strict=True)), **dict(zip(held, released, strict=True))}
            for key, spent, released in told
        ]
        values: dict[str, Any] = {"run": run, "told": json.dumps(rows), **dict(zip(_NAMES, wanted or (), strict=False))}
        values |= {f"most_{name}": limit for name, limit in zip(_NAMES, limits, strict=True)}
        begin = "" if run in self._begun else _BEGIN
        query = begin + (_TELL if told else "") + (_RESERVE if wanted else "") + _SPENT

        async def work(connection: Connection) -> list[list[tuple[Any, ...]]]:
            return await _results(connection, query, values)

        answers = await self._connections().through("counting what is spent", work)
        self._begun.add(run)
        [(calls, tokens, money, held_calls, held_tokens, held_money, quiet)] = answers[-1]
        admitted = wanted is not None and bool(answers[-2])
        return admitted, (int(calls), tokens, money), (int(held_calls), held_tokens, held_money), float(quiet)

    async def sit(
        self, endpoint: str, places: int, held: Sequence[int], rates: tuple[float | None, float | None], tokens: float
    ) -> tuple[int | None, float]:
        request, token = (60 / rate if rate else 0.0 for rate in rates)
        values = {"endpoint": endpoint, "places": places, "held": list(held)}
        pace = {"endpoint": endpoint, "request": request, "tokens": tokens * token, "burst": BURST_SECONDS}

        async def work(connection: Connection) -> tuple[int | None, float]:
            [rows] = await _results(connection, _SIT, values)
            if not rows:
                return None, 0.0
            [[(wait,)]] = await _results(connection, _PACE, pace)
            return int(rows[0][0]), max(0.0, float(wait))

        return await self._connections().held("waiting for a place at an endpoint", work)

    async def rise(self, endpoint: str, place: int, spare: float, pause: float) -> None:
        values = {"endpoint": endpoint, "place": place, "spare": spare, "pause": pause}

        async def work(connection: Connection) -> None:
            await _results(connection, _RISE, values)

        await self._connections().held("giving back a place at an endpoint", work)

    async def close(self) -> None:
        connections, self._open = self._open, None
        if connections is not None:
            await connections.close()

    def _connections(self) -> JournalConnections:
        if self._open is None:
            self._open = self._on_loop()
        return self._open


async def _results(connection: Connection, query: str, values: dict[str, Any]) -> list[list[tuple[Any, ...]]]:
    """The rows of each statement that gives any, of several in one round trip."""
    # it puts the values into the text itself: only so several statements make one round trip
    cursor = psycopg.AsyncClientCursor(connection)
    await cursor.execute(query.encode(), values)
    rows: list[list[tuple[Any, ...]]] = []
    while True:
        if cursor.description is not None:
            rows.append(await cursor.fetchall())
        if not cursor.nextset():
            return rows
