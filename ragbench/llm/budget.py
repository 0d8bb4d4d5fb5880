"""What a run may spend: one purse for all its models, notebooks and processes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ragbench.folders import is_alive
from ragbench.llm.errors import BudgetSpent
from ragbench.llm.pricing import Amount
from ragbench.settings import RUN_FOLDER, BudgetSettings

FILE = ".budget.sqlite"
"""In the folder of a run while it lasts: what its processes have spent together."""


def open_budget(limits: BudgetSettings) -> Budget:
    """The budget of the run that this process belongs to, shared with its other processes; else one of its own."""
    folder = os.environ.get(RUN_FOLDER)
    if folder is None or limits.calls is limits.tokens is limits.money is None:
        return Budget(limits.calls, limits.tokens, limits.money)
    return SharedBudget(limits.calls, limits.tokens, limits.money, file=Path(folder) / FILE)


@dataclass
class Budget:
    """What the replies of one run may cost, all its models together; None is without limit.

    Replies out of the journal count too, whoever paid for them, and are never refused: so a run that is resumed goes on
    within the same budget, and a run that has all its replies needs none.

    A call is admitted only if the budget would hold even at its worst case (longest reply); calls in flight are
    reserved at their worst case too. So the limits are never overrun, except by failed attempts, which are free but
    for their count, and by replies out of the journal that are looked up after a new call was admitted. Nobody can
    know of them before: a call is refused for replies that may never be asked for, or admitted in spite of replies that
    are asked for later. What is paid for in one run is within the limits whatever the order.
    """

    calls: int | None = None
    tokens: float | None = None
    money: float | None = None
    spent: Amount = field(default_factory=Amount)
    reserved: Amount = field(default_factory=Amount)
    known: set[str] = field(default_factory=set)

    async def reserve(self, worst: Amount) -> None:
        """Set aside the worst case of one call; waits for calls in flight where their end may make room for it.

        Raises BudgetSpent, once nothing is in flight any more.
        """
        while not self._set_aside(worst):
            if self.reserved.calls == 0:
                raise BudgetSpent(self._explain())
            await asyncio.sleep(0.02)

    def settle(self, worst: Amount, actual: Amount) -> None:
        """Replace a reservation by what the call really used."""
        self.reserved -= worst
        self.spent += actual

    def claim(self, key: str) -> None:
        """A reply of this key is paid for here: found in the journal later, it is not counted again."""
        self.known.add(key)

    def found(self, key: str, amount: Amount) -> None:
        """A reply came out of the journal: it counts once, if it was not paid for here."""
        if key not in self.known:
            self.known.add(key)
            self.spent += amount

    def _set_aside(self, worst: Amount) -> bool:
        fits = self._fits(self.spent + self.reserved + worst)
        if fits:
            self.reserved += worst
        return fits

    def _fits(self, amount: Amount) -> bool:
        return (
            (self.calls is None or amount.calls <= self.calls)
            and (self.tokens is None or amount.tokens <= self.tokens)
            and (self.money is None or amount.money <= self.money * (1 + 1e-9))
        )

    def _explain(self) -> str:
        pairs = (
            ("calls", self.spent.calls, self.calls),
            ("tokens", round(self.spent.tokens), self.tokens),
            ("money", round(self.spent.money, 6), self.money),
        )
        limits = ", ".join(f"{name}: {spent} of {limit}" for name, spent, limit in pairs if limit is not None)
        return (
            f"the budget admits no further call ({limits}, replies out of the journal included); all replies are in "
            "the journal: raise [budget] in ragbench.toml and run again to go on"
        )


_TABLES = """
CREATE TABLE IF NOT EXISTS purse (process INTEGER PRIMARY KEY, calls INTEGER, tokens REAL, money REAL,
    waiting_calls INTEGER, waiting_tokens REAL, waiting_money REAL);
CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_TOTALS = """SELECT total(calls), total(tokens), total(money), total(waiting_calls), total(waiting_tokens),
    total(waiting_money) FROM purse"""


@dataclass
class SharedBudget(Budget):
    """A budget that several processes spend from, in a file that they lock for each step.

    A process that was killed leaves what it had reserved: that counts as spent, because it may have been sent.
    `spent` and `reserved` are those of all processes, as this one last saw them.
    """

    file: Path = Path(FILE)

    def __post_init__(self) -> None:
        with closing(self._connected()) as connection:
            connection.executescript(_TABLES)

    def settle(self, worst: Amount, actual: Amount) -> None:
        with self._locked() as connection:
            self._add(connection, actual, Amount() - worst)

    def claim(self, key: str) -> None:
        with self._locked() as connection:
            connection.execute("INSERT OR IGNORE INTO reply VALUES (?)", (key,))

    def found(self, key: str, amount: Amount) -> None:
        with self._locked() as connection:
            if connection.execute("INSERT OR IGNORE INTO reply VALUES (?)", (key,)).rowcount:
                self._add(connection, amount, Amount())

    def _set_aside(self, worst: Amount) -> bool:
        with self._locked() as connection:
            fits = self._fits(self.spent + self.reserved + worst)
            if fits:
                self._add(connection, Amount(), worst)
        return fits

    def _add(self, connection: sqlite3.Connection, spent: Amount, reserved: Amount) -> None:
        parts = (spent.calls, spent.tokens, spent.money, reserved.calls, reserved.tokens, reserved.money)
        connection.execute("INSERT OR IGNORE INTO purse VALUES (?, 0, 0, 0, 0, 0, 0)", (os.getpid(),))
        connection.execute(
            "UPDATE purse SET calls = calls + ?, tokens = tokens + ?, money = money + ?, waiting_calls = waiting_calls "
            "+ ?, waiting_tokens = waiting_tokens + ?, waiting_money = waiting_money + ? WHERE process = ?",
            (*parts, os.getpid()),
        )
        self.spent, self.reserved = self.spent + spent, self.reserved + reserved

    @contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            self._bury(connection)
            row = connection.execute(_TOTALS).fetchone()
            self.spent, self.reserved = (Amount(round(n), tokens, money) for n, tokens, money in (row[:3], row[3:]))
            yield connection
            connection.execute("COMMIT")

    def _bury(self, connection: sqlite3.Connection) -> None:
        """What processes that are gone had reserved is spent."""
        for (process,) in connection.execute("SELECT process FROM purse WHERE waiting_calls > 0").fetchall():
            if process != os.getpid() and not is_alive(process):
                connection.execute(
                    "UPDATE purse SET calls = calls + waiting_calls, tokens = tokens + waiting_tokens, money = money + "
                    "waiting_money, waiting_calls = 0, waiting_tokens = 0, waiting_money = 0 WHERE process = ?",
                    (process,),
                )

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, timeout=30, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")  # a run that loses power begins anew: replies are in the journal
        return connection
