"""What calls cost, how far a run is, and what it may spend: one purse for all its models, notebooks and processes."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ragbench.old.core.settings import BudgetSettings
from ragbench.old.core.types.reason import Reason, joined, short
from ragbench.old.llm.errors import BudgetSpent
from ragbench.old.llm.journal import Accounts, Journal, Parts, Told, run_of_this_process


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens, read and written."""

    input: float = 0.0
    output: float = 0.0

    def of(self, input_tokens: float, output_tokens: float) -> float:
        """The cost of one call."""
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls, tokens and money."""

    calls: int = 0
    tokens: float = 0
    money: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.money + other.money)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.money - other.money)


class Used(NamedTuple):
    """What stays of a reply that was used."""

    input_tokens: int
    output_tokens: int
    cost: float
    estimated: bool
    served_model: str | None
    imported: bool = False
    unsent: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the replies that a result was made from took: the same whether they were paid for now or came out of the
    journal. Equal questions count once.

    estimated: replies whose endpoint reported no tokens, so that they were estimated. model: the one that was asked.
    answered_by: how many replies gave each model's name as their own; those that gave none are not counted.
    unpriced: replies whose cost, 0 here, is unknown: no price was set when they were asked for. imported: those that
    came in a file. unsent: how many were asked without what their endpoint refuses, by its name.
    """

    replies: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    estimated: int = 0
    model: str = ""
    answered_by: Mapping[str, int] = field(default_factory=dict)
    unpriced: int = 0
    imported: int = 0
    unsent: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Replies:
    """The replies of one model that were used, by their keys in the journal: each is there once.

    free: whether its calls are said to cost nothing.
    """

    model: str
    free: bool = False
    by_key: dict[str, Used] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """What they took."""
        used = self.by_key.values()
        named = Counter(reply.served_model for reply in used if reply.served_model)
        unsent = Counter(name for reply in used for name in reply.unsent.split())
        return Usage(
            replies=len(used),
            input_tokens=sum(reply.input_tokens for reply in used),
            output_tokens=sum(reply.output_tokens for reply in used),
            cost=math.fsum(reply.cost for reply in used),
            estimated=sum(reply.estimated for reply in used),
            model=self.model,
            answered_by=dict(sorted(named.items())),
            imported=sum(reply.imported for reply in used),
            unsent=dict(sorted(unsent.items())),
            unpriced=0 if self.free else sum(not e.cost and e.input_tokens + e.output_tokens > 0 for e in used),
        )


@dataclass
class Tally:
    """How far the calls are, all clients together that share it; `on_change` is called after every step.

    asked: questions put so far; done: answered (`journaled` of them without a call); failed: ended without a value.
    unpriced: calls whose cost, 0 here, is unknown, because no price is set.
    """

    asked: int = 0
    done: int = 0
    journaled: int = 0
    failed: int = 0
    in_flight: int = 0
    calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    on_change: Callable[[Tally], None] | None = None

    def add(self, **steps: float) -> None:
        """Add to counters by name."""
        for name, step in steps.items():
            setattr(self, name, getattr(self, name) + step)
        if self.on_change is not None:
            self.on_change(self)

    def seconds_left(self, seconds_so_far: float, total: int | None = None) -> float | None:
        """About how long the rest takes, from the pace of the paid answers; None while there is no pace yet.

        total: how many questions there will be, if known; else those put so far.
        """
        paid = self.done - self.journaled
        left = (total or self.asked) - self.done - self.failed
        return left * seconds_so_far / paid if paid > 0 else None

    def describe(self, seconds_so_far: float | None = None, total: int | None = None) -> str:
        """One line beside a progress bar: answered, in flight, failed, cost; with the seconds so far also the time left
        (a dash while unknown), where no bar tells it."""
        said = (
            f"{self.done} of {total or self.asked} answered ({self.journaled} from the journal), "
            f"{self.in_flight} in flight, {self.failed} failed, cost {self.money}"
        )
        if seconds_so_far is None:
            return said
        left = self.seconds_left(seconds_so_far, total)
        return f"{said}, left {'—' if left is None else f'{left // 60:.0f} min {left % 60:02.0f} s'}"

    @property
    def money(self) -> str:
        """What the calls cost, in words where it is unknown."""
        if not self.unpriced:
            return f"{self.cost:.4f}"
        return f"{self.cost:.4f} + unknown" if self.cost else "unknown"


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
        self._reporting: asyncio.Task[None] | None = None

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
        if self._reporting is not None:
            self._reporting.cancel()
            await asyncio.wait([self._reporting])
        if self._told:
            await self._step(None)
        if not self._in_flight:
            await self.accounts.close()

    def _tell(self, told: Told) -> None:
        self._told.append(told)
        if self._reporting is None:
            self._reporting = asyncio.create_task(self._tell_soon())

    async def _tell_soon(self) -> None:
        try:
            while self._told:
                await asyncio.sleep(SOON_SECONDS)
                await self._step(None)
        except Exception:  # the next step tells it, and says what is wrong
            return
        finally:
            self._reporting = None

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
