"""What a run may spend: one purse for all its models, notebooks and processes."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field

from ragbench.core.settings import BudgetSettings
from ragbench.core.types.reason import Reason, joined, short
from ragbench.llm.errors import BudgetSpent
from ragbench.llm.journal import Accounts, Journal, Parts, Told, run_of_this_process
from ragbench.llm.pricing import Amount

POLL_SECONDS = 0.05
"""So often it is looked whether others have left room."""
SOON_SECONDS = 0.05
"""Within so much the others know what was spent; the next reservation takes the word along if it comes first."""
GONE_SECONDS = 60.0
"""After so long without any call that began or ended, what is still reserved is that of processes that are gone."""


def open_budget(limits: BudgetSettings, journal: Journal | None = None, run: str | None = None) -> Budget:
    """The budget of a run, shared with its other processes where the journal is; else one of this process's own.

    run: whatever names the run to all its processes; None: see `run_of_this_process`.
    """
    run = run or run_of_this_process()
    limited = not limits.calls is limits.tokens is limits.money is None
    accounts = journal.accounts() if run and journal is not None and limited else None
    if run is None or accounts is None:
        return Budget(limits.calls, limits.tokens, limits.money)
    return SharedBudget(limits.calls, limits.tokens, limits.money, accounts=accounts, run=run)


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

    async def close(self) -> None:
        """Tell what is not told yet; it may be spent from again."""

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

    def _explain(self) -> Reason:
        tokens, money = short(self.tokens or 0.0, 15), short(self.money or 0.0, 15)
        pairs = (
            (self.calls, Reason("calls: {part} of {whole}", part=self.spent.calls, whole=self.calls)),
            (self.tokens, Reason("tokens: {part} of {whole}", part=round(self.spent.tokens), whole=tokens)),
            (
                self.money,
                Reason("money: {part} of {whole}", part=short(self.spent.money), whole=money),
            ),
        )
        return Reason(
            "the budget admits no further call ({limits}, replies out of the journal included); all replies are in the "
            "journal: raise [budget] in ragbench.toml and run again to go on",
            limits=joined(*(said for limit, said in pairs if limit is not None)),
        )


@dataclass
class SharedBudget(Budget):
    """A budget that several processes spend from, on whatever machines: one row of the database. Of one event loop.

    What a process that was killed had in flight stays reserved: it may have been sent. It counts as spent where others
    find no more room and nobody has spent or reserved for `gone` seconds. `spent` and `reserved` are those of all
    processes, as this one last saw them. A reply that another process finds in the journal before it is told that
    it was paid for counts twice: never too little.
    """

    accounts: Accounts = field(kw_only=True)
    run: str = field(kw_only=True)
    gone: float = field(default=GONE_SECONDS, kw_only=True)

    def __post_init__(self) -> None:
        self._in_flight = 0
        self._told: list[Told] = []
        self._quiet = 0.0
        self._turn = asyncio.Lock()
        self._telling: asyncio.Task[None] | None = None

    async def reserve(self, worst: Amount) -> None:
        async with self._turn:
            while not await self._admitted(worst):
                if not self._in_flight and (self.reserved.calls == 0 or self._quiet > self.gone):
                    self.spent, self.reserved = self.spent + self.reserved, Amount()
                    raise BudgetSpent(self._explain())
                await asyncio.sleep(POLL_SECONDS)

    def settle(self, worst: Amount, actual: Amount) -> None:
        self._in_flight -= worst.calls
        self._tell(Told(uuid.uuid4().hex, _parts(actual), _parts(worst)))

    def claim(self, key: str) -> None:
        if key not in self.known:
            self.known.add(key)
            self._tell(Told(key))

    def found(self, key: str, amount: Amount) -> None:
        if key not in self.known:
            self.known.add(key)
            self._tell(Told(key, _parts(amount)))

    async def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.wait([self._telling])
        if self._told:
            await self._step(None)
        if not self._in_flight:
            await self.accounts.close()

    def _tell(self, told: Told) -> None:
        self._told.append(told)
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_soon())

    async def _tell_soon(self) -> None:
        try:
            while self._told:
                await asyncio.sleep(SOON_SECONDS)
                await self._step(None)
        except Exception:  # the next step tells it, and says what is wrong
            return
        finally:
            self._telling = None

    async def _admitted(self, worst: Amount) -> bool:
        step = asyncio.ensure_future(self._step(worst))
        try:
            return await asyncio.shield(step)
        except asyncio.CancelledError:
            step.add_done_callback(lambda done: self._unwanted(done, worst))
            raise

    def _unwanted(self, step: asyncio.Future[bool], worst: Amount) -> None:
        if not step.cancelled() and step.exception() is None and step.result():
            self.settle(worst, Amount())

    async def _step(self, worst: Amount | None) -> bool:
        told, self._told = self._told, []
        limits = self.calls, self.tokens, None if self.money is None else self.money * (1 + 1e-9)
        try:
            admitted, spent, reserved, self._quiet = await self.accounts.spend(
                self.run, limits, told, None if worst is None else _parts(worst)
            )
        except BaseException:
            self._told = told + self._told
            raise
        self.spent, self.reserved = _amount(spent), _amount(reserved)
        if admitted and worst is not None:
            self._in_flight += worst.calls
        return admitted


def _parts(amount: Amount) -> Parts:
    return amount.calls, amount.tokens, amount.money


def _amount(parts: Parts) -> Amount:
    return Amount(round(parts[0]), *parts[1:])
