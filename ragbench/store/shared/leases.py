"""Who asks for which reply, where a connection pooler lends sessions and so no session can hold a lock: by leases.

Each statement commits by itself, and no two wait for each other in a circle: what has run out is passed over where
somebody else looks at it, and new claims come in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from ragbench.store.tables import SCHEMA

LEASE_SECONDS = 10
"""So long a claim outlives the process that made it, by the database's clock."""
RENEW_SECONDS = 2.5

_UNTIL = f"clock_timestamp() + interval '{LEASE_SECONDS} seconds'"
_KEYS = "string_to_array(%s, ',')"
_RUN_OUT = (
    f"DELETE FROM {SCHEMA}.journal_claim WHERE key IN (SELECT key FROM {SCHEMA}.journal_claim "  # noqa: S608
    f"WHERE key = ANY({_KEYS}) AND until < clock_timestamp() FOR UPDATE SKIP LOCKED)"
)
_TAKE = (
    f"INSERT INTO {SCHEMA}.journal_claim SELECT key, %s, {_UNTIL} FROM unnest({_KEYS}) AS key "  # noqa: S608
    "ORDER BY key ON CONFLICT DO NOTHING RETURNING key"
)
_RENEW = f"UPDATE {SCHEMA}.journal_claim SET until = {_UNTIL} WHERE holder = %s"  # noqa: S608
_RELEASE = f"DELETE FROM {SCHEMA}.journal_claim WHERE holder = %s AND key = ANY({_KEYS})"  # noqa: S608
_LEAVE = f"DELETE FROM {SCHEMA}.journal_claim WHERE holder = %s"  # noqa: S608


async def take(connection: psycopg.AsyncConnection[Any], holder: str, keys: Sequence[str]) -> set[str]:
    """Claim the keys that nobody else holds; those that are the holder's now."""
    if not keys:
        return set()
    asked = ",".join(keys)
    await connection.execute(_RUN_OUT, (asked,))
    return {key for (key,) in await (await connection.execute(_TAKE, (holder, asked))).fetchall()}


async def release(connection: psycopg.AsyncConnection[Any], holder: str, keys: Sequence[str]) -> None:
    """Let go of keys."""
    if keys:
        await connection.execute(_RELEASE, (holder, ",".join(keys)))


async def renew(connection: psycopg.AsyncConnection[Any], holder: str) -> None:
    """Hold on to all that is held."""
    await connection.execute(_RENEW, (holder,))


async def leave(connection: psycopg.AsyncConnection[Any], holder: str) -> None:
    """Let go of all."""
    await connection.execute(_LEAVE, (holder,))
