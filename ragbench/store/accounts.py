"""Budgets and limits that processes share: a run's spending and an endpoint's pace, each a row changed by one UPDATE.

A place at an endpoint is an advisory lock: a process that ends gives it back, however it ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import psycopg

from ragbench.llm.journal import Parts, Told
from ragbench.store.database_tables import SCHEMA
from ragbench.store.journal_connections import Connection, Lanes

KEPT_DAYS = 7
"""What a run has spent is forgotten so long after its last step."""
BURST_SECONDS = 10
"""Of a rate so much is saved up at most, as in `ragbench.llm.limiter.Allowance`."""

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
    """See `ragbench.llm.journal.Accounts`: for one user on one event loop, over the journal's own connections.

    A step that is tried again because its answer was lost reserves at most once too often, and counts nothing twice.
    Raises StoreError.
    """

    def __init__(self, on_loop: Callable[[], Lanes]) -> None:
        self._on_loop = on_loop
        self._open: Lanes | None = None
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

        answers = await self._lanes().through("counting what is spent", work)
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

        return await self._lanes().held("waiting for a place at an endpoint", work)

    async def rise(self, endpoint: str, place: int, spare: float, pause: float) -> None:
        values = {"endpoint": endpoint, "place": place, "spare": spare, "pause": pause}

        async def work(connection: Connection) -> None:
            await _results(connection, _RISE, values)

        await self._lanes().held("giving back a place at an endpoint", work)

    async def close(self) -> None:
        lanes, self._open = self._open, None
        if lanes is not None:
            await lanes.close()

    def _lanes(self) -> Lanes:
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
