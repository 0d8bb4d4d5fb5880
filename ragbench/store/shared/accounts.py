"""Budgets and limits that processes share: each step is one round trip, and one transaction that nobody can hold open.

Values are the plain ones of `ragbench.llm.accounts`. A step locks its run or its endpoint until it is committed, by a
lock of the transaction's own: so it is the same behind a connection pooler.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg

from ragbench.store.lanes import Connection, Lanes
from ragbench.store.tables import SCHEMA

KEPT_DAYS = 7
"""What a run has spent is forgotten so long after its last step."""
SPENDING, SHARING, FORGETTING = 0x7261_6773, 0x7261_6774, 0x7261_6775
"""Of advisory locks, with a hash of what is locked."""

Parts = tuple[float, float, float]
_LEASE = "clock_timestamp() + %(lease)s * interval '1 second'"
# statements of one text are one round trip; each sees what was committed before it, whatever the server's default
# the disk is not waited for: what a server forgets that loses power, each process tells again within seconds
_BEGIN = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; "
    "SELECT pg_advisory_xact_lock({number}, hashtext(%({name})s));"
)
_GIVEN = "json_to_recordset(%(replies)s::json) AS given(key text, calls bigint, tokens float8, money float8)"
_SUMS = "coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(money), 0) AS money"
# a reply that this holder has paid for, and another has found before it knew, is counted once
_REPLIES = f"""
INSERT INTO {SCHEMA}.spending VALUES (%(run)s, '', 0, 0, 0, 0, 0, 0, 0, clock_timestamp()) ON CONFLICT DO NOTHING;
WITH twice AS (DELETE FROM {SCHEMA}.spending_reply AS kept USING {_GIVEN}
        WHERE kept.run = %(run)s AND kept.key = given.key AND given.calls = 0 AND kept.calls > 0
        RETURNING kept.calls, kept.tokens, kept.money),
    whole AS (SELECT {_SUMS} FROM twice)
UPDATE {SCHEMA}.spending AS s SET calls = s.calls - whole.calls, tokens = s.tokens - whole.tokens,
    money = s.money - whole.money FROM whole WHERE s.run = %(run)s AND s.holder = '' AND whole.calls > 0;
WITH new AS (INSERT INTO {SCHEMA}.spending_reply SELECT %(run)s, key, calls, tokens, money FROM {_GIVEN}
        ON CONFLICT DO NOTHING RETURNING calls, tokens, money),
    whole AS (SELECT {_SUMS} FROM new)
UPDATE {SCHEMA}.spending AS s SET calls = s.calls + whole.calls, tokens = s.tokens + whole.tokens,
    money = s.money + whole.money FROM whole WHERE s.run = %(run)s AND s.holder = '';
"""  # noqa: S608
_SPEND = f"""
WITH asked AS (
    SELECT n, sum(calls) OVER so_far AS calls, sum(tokens) OVER so_far AS tokens, sum(money) OVER so_far AS money
    FROM json_to_recordset(%(wanted)s::json) AS r(n int, calls bigint, tokens float8, money float8)
    WINDOW so_far AS (ORDER BY n)
), others AS (
    SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(money), 0) AS money,
        coalesce(sum(reserved_calls) FILTER (WHERE there), 0) AS held_calls,
        coalesce(sum(reserved_tokens) FILTER (WHERE there), 0) AS held_tokens,
        coalesce(sum(reserved_money) FILTER (WHERE there), 0) AS held_money,
        coalesce(sum(reserved_calls) FILTER (WHERE NOT there), 0) AS lost_calls,
        coalesce(sum(reserved_tokens) FILTER (WHERE NOT there), 0) AS lost_tokens,
        coalesce(sum(reserved_money) FILTER (WHERE NOT there), 0) AS lost_money
    FROM (SELECT *, until > clock_timestamp() AS there FROM {SCHEMA}.spending
          WHERE run = %(run)s AND holder <> %(holder)s) AS one
), fitting AS (
    SELECT coalesce(max(n), 0) AS n FROM asked, others
    WHERE others.calls + held_calls + lost_calls + %(calls)s + %(reserved_calls)s + asked.calls
            <= coalesce(%(most_calls)s::float8, 'infinity')
        AND others.tokens + held_tokens + lost_tokens + %(tokens)s + %(reserved_tokens)s + asked.tokens
            <= coalesce(%(most_tokens)s::float8, 'infinity')
        AND others.money + held_money + lost_money + %(money)s + %(reserved_money)s + asked.money
            <= coalesce(%(most_money)s::float8, 'infinity')
), held AS (
    SELECT fitting.n, coalesce(asked.calls, 0) + %(reserved_calls)s AS calls,
        coalesce(asked.tokens, 0) + %(reserved_tokens)s AS tokens,
        coalesce(asked.money, 0) + %(reserved_money)s AS money
    FROM fitting LEFT JOIN asked USING (n)
), told AS (
    INSERT INTO {SCHEMA}.spending AS kept
        (run, holder, step, calls, tokens, money, reserved_calls, reserved_tokens, reserved_money, until)
    SELECT %(run)s, %(holder)s, %(step)s, %(calls)s, %(tokens)s, %(money)s, calls, tokens, money, {_LEASE} FROM held
    ON CONFLICT (run, holder) DO UPDATE SET (step, calls, tokens, money, reserved_calls, reserved_tokens,
        reserved_money, until) = (excluded.step, excluded.calls, excluded.tokens, excluded.money,
        excluded.reserved_calls, excluded.reserved_tokens, excluded.reserved_money, excluded.until)
    WHERE kept.step < excluded.step
)
SELECT n, others.calls + lost_calls + %(calls)s, others.tokens + lost_tokens + %(tokens)s,
    others.money + lost_money + %(money)s, held_calls + held.calls, held_tokens + held.tokens,
    held_money + held.money FROM others, held;
COMMIT
"""  # noqa: S608
_FORGET = f"""
BEGIN;
DELETE FROM {SCHEMA}.spending_reply WHERE (SELECT pg_try_advisory_xact_lock({FORGETTING}, 0)) AND run IN
    (SELECT run FROM {SCHEMA}.spending GROUP BY run HAVING max(until) < now() - interval '{KEPT_DAYS} days');
DELETE FROM {SCHEMA}.spending WHERE (SELECT pg_try_advisory_xact_lock({FORGETTING}, 0)) AND run IN
    (SELECT run FROM {SCHEMA}.spending GROUP BY run HAVING max(until) < now() - interval '{KEPT_DAYS} days');
COMMIT
"""  # noqa: S608
_SHARE = f"""
DELETE FROM {SCHEMA}.endpoint_holder WHERE endpoint = %(endpoint)s AND until < clock_timestamp();
WITH others AS (
    SELECT coalesce(sum(places), 0) AS places, coalesce(sum(part), 0) AS part FROM {SCHEMA}.endpoint_holder
    WHERE endpoint = %(endpoint)s AND holder <> %(holder)s
)
INSERT INTO {SCHEMA}.endpoint_holder (endpoint, holder, places, part, wanted, until)
SELECT %(endpoint)s, %(holder)s, greatest(%(places)s, least(%(most_places)s, %(limit)s - places)),
    greatest(%(part)s, least(%(most_part)s, 1 - part)), %(wanted)s, {_LEASE} FROM others
ON CONFLICT (endpoint, holder) DO UPDATE
SET (places, part, wanted, until) = (excluded.places, excluded.part, excluded.wanted, excluded.until);
SELECT extract(epoch FROM clock_timestamp() - held_at) FROM {SCHEMA}.endpoint WHERE name = %(endpoint)s;
INSERT INTO {SCHEMA}.endpoint AS kept (name, held_at, resume_at)
VALUES (%(endpoint)s, clock_timestamp(), clock_timestamp() + %(pause)s * interval '1 second')
ON CONFLICT (name) DO UPDATE SET (held_at, resume_at) =
    (excluded.held_at, greatest(kept.resume_at, excluded.resume_at));
SELECT extract(epoch FROM resume_at - clock_timestamp()) FROM {SCHEMA}.endpoint WHERE name = %(endpoint)s;
SELECT holder, places, part, wanted FROM {SCHEMA}.endpoint_holder WHERE endpoint = %(endpoint)s;
COMMIT
"""  # noqa: S608
_LEAVE = f"""
UPDATE {SCHEMA}.endpoint SET held_at = clock_timestamp() WHERE name = %(endpoint)s;
DELETE FROM {SCHEMA}.endpoint_holder WHERE endpoint = %(endpoint)s AND holder = %(holder)s;
COMMIT
"""  # noqa: S608
_SPENDING = _BEGIN.format(number=SPENDING, name="run")
_SHARING = _BEGIN.format(number=SHARING, name="endpoint")


class Accounts:
    """Budgets and limits for one user on one event loop, over the journal's own connections. Raises StoreError.

    lease: so many seconds a process that is not heard of keeps what it holds.
    """

    def __init__(self, on_loop: Callable[[], Lanes], lease: float) -> None:
        self._on_loop, self._lease = on_loop, lease
        self._open: Lanes | None = None
        self._steps = 0

    async def spend(
        self,
        run: str,
        holder: str,
        limits: tuple[float | None, float | None, float | None],
        spent: Parts,
        reserved: Parts,
        wanted: Sequence[Parts],
        replies: Sequence[tuple[str, Parts | None]],
    ) -> tuple[int, Parts, Parts]:
        """See `ragbench.llm.accounts.Accounts.spend`."""
        names = ("calls", "tokens", "money")
        values: dict[str, Any] = {"run": run, "holder": holder, "lease": self._lease}
        for start, amounts in (("", spent), ("reserved_", reserved), ("most_", limits)):
            values |= {f"{start}{name}": amount for name, amount in zip(names, amounts, strict=True)}
        asked = [{"n": n, **dict(zip(names, each, strict=True))} for n, each in enumerate(wanted, 1)]
        counted = [{"key": key, **dict(zip(names, cost or (0, 0.0, 0.0), strict=True))} for key, cost in replies]
        values |= {"wanted": json.dumps(asked), "replies": json.dumps(counted)}
        query = f"{_SPENDING}{_REPLIES if counted else ''}{_SPEND}"
        if self._steps == 0:
            await self._asked("forgetting what runs of before spent", _FORGET, {})

        def numbered() -> dict[str, Any]:
            # every try has its own number: one that was lost on its way and comes late changes nothing any more
            self._steps += 1
            return {**values, "step": self._steps}

        *_, [(admitted, *rest)] = await self._asked("counting what is spent", query, numbered)
        found = [float(each) for each in rest]
        return int(admitted), (found[0], found[1], found[2]), (found[3], found[4], found[5])

    async def share(
        self,
        endpoint: str,
        holder: str,
        limit: int,
        places: tuple[int, int],
        part: tuple[float, float],
        wanted: int,
        pause: float,
    ) -> tuple[int, float, float, float, Mapping[str, int]]:
        """See `ragbench.llm.accounts.Accounts.share`."""
        values: dict[str, Any] = {"endpoint": endpoint, "holder": holder, "lease": self._lease}
        values |= {"limit": limit, "wanted": wanted, "pause": pause}
        values |= {"places": places[0], "most_places": places[1], "part": part[0], "most_part": part[1]}
        told = await self._asked("sharing an endpoint's limits", _SHARING + _SHARE, values)
        *_, rested, [(resume,)], rows = told
        own = next(row for row in rows if row[0] == holder)
        quiet = float(rested[0][0]) if rested else float("inf")
        alone = len(rows) == 1
        return (
            int(own[1]),
            float(own[2]),
            max(0.0, float(resume)),
            quiet if alone else 0.0,
            {name: int(count) for name, _, _, count in rows},
        )

    async def leave(self, endpoint: str, holder: str) -> None:
        """See `ragbench.llm.accounts.Accounts.leave`."""
        values = {"endpoint": endpoint, "holder": holder}
        await self._asked("giving back an endpoint's limits", _SHARING + _LEAVE, values)

    async def close(self) -> None:
        """Let connections go; the next step takes them up again."""
        lanes, self._open = self._open, None
        if lanes is not None:
            await lanes.close()

    async def _asked(
        self, doing: str, query: str, values: Callable[[], Mapping[str, Any]] | Mapping[str, Any]
    ) -> list[list[tuple[Any, ...]]]:
        """The rows of each statement that gives any, of several in one round trip."""

        async def work(connection: Connection) -> list[list[tuple[Any, ...]]]:
            # it puts the values into the text itself: only so several statements make one round trip
            cursor = psycopg.AsyncClientCursor(connection)
            await cursor.execute(query.encode(), values() if callable(values) else values)
            found: list[list[tuple[Any, ...]]] = []
            while True:
                if cursor.description is not None:
                    found.append(await cursor.fetchall())
                if not cursor.nextset():
                    return found

        if self._open is None:
            self._open = self._on_loop()
        found: list[list[tuple[Any, ...]]] = await self._open.through(doing, work)
        return found
