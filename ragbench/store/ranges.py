"""Who computes which vectors: ranges of their keys, so that processes that want the same share the work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

COMPUTING = 0x7261_6763  # with the number of an embedder and a range: the advisory lock of whoever computes its vectors
BITS = 10  # of a key's beginning tell its range: few enough for the server's table of locks, whatever is in flight
_TRY = "SELECT n FROM unnest(CAST(:numbers AS int[])) AS n WHERE pg_try_advisory_lock(:a, n)"


class Ranges:
    """The ranges that this process holds, of one embedder; what it holds already it may take once more."""

    def __init__(self, connection: Connection, identity_hash: bytes) -> None:
        self._connection = connection
        self._embedder = int.from_bytes(identity_hash[:4], "big") >> BITS

    def take(self, keys: Iterable[bytes]) -> bool:
        """Take the ranges of all keys, or none of them where somebody else computes in one."""
        numbers = self._numbers(keys)
        taken = list(self._connection.scalars(text(_TRY), {"numbers": numbers, "a": COMPUTING}))
        if len(taken) == len(numbers):
            return True
        self._leave(taken)
        return False

    def leave(self, keys: Iterable[bytes]) -> None:
        """Let go of what `take` took for these keys."""
        self._leave(self._numbers(keys))

    def _leave(self, numbers: Sequence[int]) -> None:
        query = text("SELECT pg_advisory_unlock(:a, n) FROM unnest(CAST(:numbers AS int[])) AS n")
        self._connection.execute(query, {"numbers": list(numbers), "a": COMPUTING})

    def _numbers(self, keys: Iterable[bytes]) -> list[int]:
        prefixes = {int.from_bytes(key[:4], "big") >> (32 - BITS) for key in keys}
        return sorted((self._embedder << BITS | prefix) - 2**31 for prefix in prefixes)


@contextmanager
def ranges(engine: Engine, identity_hash: bytes) -> Iterator[Ranges]:
    """The ranges of an embedder on a connection of their own, let go of at the end, whatever happened."""
    connection = engine.connect()
    try:
        yield Ranges(connection.execution_options(isolation_level="AUTOCOMMIT"), identity_hash)
    finally:
        # ending the session ends the locks, even where the server has gone away
        connection.invalidate()
        connection.close()
