"""What a run may spend: one purse for all its models, notebooks and processes."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

from ragbench.llm.accounts import LEASE_SECONDS, Accounts, Parts, Spent, run_of_this_process
from ragbench.llm.errors import BudgetSpent
from ragbench.llm.journal import Journal
from ragbench.llm.pricing import Amount
from ragbench.settings import BudgetSettings
from ragbench.types.reason import Reason, joined, short

POLL_SECONDS = 0.05
"""So often it is looked whether others have left room."""
SOON_SECONDS = 0.05
"""Within so much the others know what was spent; the next reservation takes the word along if it comes first."""


def open_budget(limits: BudgetSettings, journal: Journal | None = None, run: str | None = None) -> Budget:
    """The budget of a run, shared with its other processes where the journal is; else one of this process's own.

    run: whatever names the run to all its processes; None: see `run_of_this_process`.
    """
    run = run or run_of_this_process()
    limited = not limits.calls is limits.tokens is limits.money is None
    accounts = journal.accounts(LEASE_SECONDS) if run and journal is not None and limited else None
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
        money, limit = short(self.spent.money), short(self.money or 0.0)
        pairs = (
            (self.calls, Reason("calls: {part} of {whole}", part=self.spent.calls, whole=self.calls)),
            (self.tokens, Reason("tokens: {part} of {whole}", part=round(self.spent.tokens), whole=self.tokens)),
            (
                self.money,
                Reason("money: {part} of {whole}", part=money, whole=limit),
            ),
        )
        return Reason(
            "the budget admits no further call ({limits}, replies out of the journal included); all replies are in the "
            "journal: raise [budget] in ragbench.toml and run again to go on",
            limits=joined(*(said for limit, said in pairs if limit is not None)),
        )


@dataclass
class SharedBudget(Budget):
    """A budget that several processes spend from, on whatever machines; one round trip serves all calls that wait.

    A process that was killed leaves what it had reserved: that counts as spent, because it may have been sent.
    `spent` and `reserved` are those of all processes, as this one last saw them. Bound to one event loop.
    """

    accounts: Accounts = field(kw_only=True)
    run: str = field(kw_only=True)

    def __post_init__(self) -> None:
        self._holder = uuid.uuid4().hex
        self._paid, self._held = Amount(), Amount()
        self._waiting: deque[tuple[Amount, asyncio.Future[None]]] = deque()
        self._replies: dict[str, Parts | None] = {}
        self._untold = False
        self._stepping = asyncio.Lock()
        self._due = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    async def reserve(self, worst: Amount) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((worst, future))
        self._wake(0.0)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.settle(worst, Amount())
            raise

    def settle(self, worst: Amount, actual: Amount) -> None:
        self._held, self._paid = self._held - worst, self._paid + actual
        if self._held.calls == 0:
            self._held = Amount()  # no rest of rounding is reserved for ever
        self._untold = True
        self._wake(0.0 if self._waiting else SOON_SECONDS)

    def claim(self, key: str) -> None:
        # told together with what it cost or before: until then its worst case is reserved, so nobody gives up for it
        self.known.add(key)
        self._replies[key] = None
        self._wake(SOON_SECONDS)

    def found(self, key: str, amount: Amount) -> None:
        if key not in self.known:
            self.known.add(key)
            self._replies.setdefault(key, _parts(amount))
            self._wake(SOON_SECONDS)

    async def close(self) -> None:
        if self._replies or self._untold or self._keeper is not None:
            await self._step()
        if not self._waiting and self._held.calls == 0:
            if self._keeper is not None:
                self._keeper.cancel()
                await asyncio.wait([self._keeper])
            await self.accounts.close()

    def _wake(self, seconds: float) -> None:
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())
        if seconds == 0.0:
            self._due.set()
        else:
            asyncio.get_running_loop().call_later(seconds, self._due.set)

    async def _keep(self) -> None:
        """Tell what changed, and that this process is there while it holds anything."""
        try:
            while self._waiting or self._held.calls or self._replies or self._untold:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._due.wait(), POLL_SECONDS if self._waiting else LEASE_SECONDS / 4)
                self._due.clear()
                await self._step()
        except Exception as error:  # those who wait have it; what is untold goes with the next step
            while self._waiting:
                _, future = self._waiting.popleft()
                if not future.done():
                    future.set_exception(error)
        finally:
            self._keeper = None

    async def _step(self) -> None:
        async with self._stepping:
            for one in [one for one in self._waiting if one[1].done()]:
                self._waiting.remove(one)
            wanted, replies, untold = list(self._waiting), self._replies, self._untold
            self._replies, self._untold = {}, False
            money = None if self.money is None else self.money * (1 + 1e-9)
            try:
                told = await self.accounts.spend(
                    self.run,
                    self._holder,
                    (self.calls, self.tokens, money),
                    _parts(self._paid),
                    _parts(self._held),
                    [_parts(worst) for worst, _ in wanted],
                    list(replies.items()),
                )
            except BaseException:
                self._replies, self._untold = replies | self._replies, untold or self._untold
                raise
            self._take(Spent(*told), wanted)

    def _take(self, told: Spent, wanted: list[tuple[Amount, asyncio.Future[None]]]) -> None:
        self.spent, self.reserved = _amount(told.spent), _amount(told.reserved)
        for worst, future in wanted[: told.admitted]:
            self._waiting.remove((worst, future))
            if future.done():  # who asked has gone meanwhile
                self._untold = True
            else:
                self._held += worst
                future.set_result(None)
        if told.admitted < len(wanted):
            worst, future = wanted[told.admitted]
            if self.reserved.calls == 0 and self._held.calls == 0:
                self._waiting.remove((worst, future))
                if not future.done():
                    future.set_exception(BudgetSpent(self._explain()))
                self._due.set()


def _parts(amount: Amount) -> Parts:
    return amount.calls, amount.tokens, amount.money


def _amount(parts: Parts) -> Amount:
    return Amount(round(parts[0]), *parts[1:])
