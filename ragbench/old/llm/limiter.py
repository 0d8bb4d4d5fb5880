"""How many calls may be in flight at one provider, over all processes too, and when the next one may start."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from ragbench.old.llm.errors import Fault
from ragbench.old.llm.journal import Accounts, Journal, run_of_this_process


class Turns:
    """Admits questions in blocks: `most` at first, and again up to `most` when only `least` are left inside.

    So a run of thousands of questions prepares few of them ahead of their turn, and their look-ups in the journal
    still come many at a time.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most
        self._inside = 0
        self._outside: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._inside < self._most and not self._outside:
            self._inside += 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._outside.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._inside -= 1
        if self._inside > self._least:
            return
        while self._outside and self._inside < self._most:
            future = self._outside.popleft()
            if not future.done():
                self._inside += 1
                future.set_result(None)


@dataclass
class Allowance:
    """A bucket of permits that refills at `per_minute`; it holds ten seconds' worth, and may be overdrawn once."""

    per_minute: float | None
    level: float = field(init=False)
    at: float = field(init=False, default=-math.inf)

    def __post_init__(self) -> None:
        self.level = self.capacity

    def allow(self, per_minute: float | None, now: float, rested: float | None = None) -> None:
        """Refill at another rate from now on. What is saved up stays, as far as it holds.

        rested: what so many seconds bring is saved up instead.
        """
        self._refill(now)
        self.per_minute = per_minute
        if rested is not None:
            self.level = per_minute * rested / 60 if per_minute else 0.0
        self.level = min(self.level, self.capacity)

    @property
    def capacity(self) -> float:
        """The most that can be saved up."""
        return max(1.0, (self.per_minute or 0) / 6)

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` may be taken; 0.0 if now. An amount above the capacity waits for a full bucket."""
        if self.per_minute is None:
            return 0.0
        self._refill(now)
        missing = min(amount, self.capacity) - self.level
        if self.per_minute == 0.0:
            return 0.0 if missing <= 0 else math.inf
        return max(0.0, missing * 60 / self.per_minute)

    def _refill(self, now: float) -> None:
        if self.at > -math.inf:
            self.level = min(self.capacity, self.level + (now - self.at) * (self.per_minute or 0) / 60)
        self.at = now

    def take(self, amount: float) -> None:
        """Take permits; negative amounts give back."""
        if self.per_minute is not None:
            self.level = min(self.capacity, self.level - amount)


@dataclass
class Ticket:
    """One call's permission: when it began, and what it reserved."""

    began: float
    tokens: float


class Limiter:
    """Additive increase, multiplicative decrease, for one provider and everybody who calls it on one event loop.

    It begins with a single call in flight and opens to `ceiling` at the first success, so that a wrong key costs one
    call. A 429 shrinks the window by a third, once for all calls that were in flight together, and holds every call
    back for as long as the provider asks; each success opens the window again a little.

    ceiling: how many may be in flight now, at most as many as at the beginning; see `allow`.
    """

    def __init__(
        self,
        ceiling: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.most = self.ceiling = ceiling
        self.window = 1.0
        self.in_flight = 0
        self._proven = False
        self._requests = Allowance(requests_per_minute)
        self._tokens = Allowance(tokens_per_minute)
        self._resume_at = -math.inf
        self._shrunk_at = -math.inf
        self._waiting: deque[tuple[float, asyncio.Future[Ticket]]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._clock = clock or (lambda: asyncio.get_running_loop().time())

    async def acquire(self, tokens: float) -> Ticket:
        """Wait for a place, first come first served."""
        future: asyncio.Future[Ticket] = asyncio.get_running_loop().create_future()
        self._waiting.append((tokens, future))
        self._pump()
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._leave()
            raise

    def succeeded(self, ticket: Ticket, tokens: float) -> None:
        """The call was answered and used so many tokens."""
        self._tokens.take(tokens - ticket.tokens)
        if not self._proven:
            self._proven, self.window = True, float(self.most)
        self.window = min(self.most, self.window + 0.5)
        self._leave()

    def failed(self, ticket: Ticket, *, busy: bool = False, retry_after: float | None = None) -> None:
        """The call was not answered; `busy` if the provider asked for fewer calls."""
        if busy and ticket.began > self._shrunk_at:
            self.window = max(1.0, min(self.window, self.ceiling) * 2 / 3)
            self._shrunk_at = self._clock()
        if retry_after:
            self.hold_back(retry_after)
        self._leave()

    @contextmanager
    def leaving(self, ticket: Ticket, patience: float) -> Iterator[None]:
        """Give the place back if the call that is made inside does not succeed; its fault is told how long it took.

        patience: seconds that the provider can hold all calls back at most.
        """
        began = time.monotonic()
        try:
            yield
        except Fault as fault:
            fault.seconds = time.monotonic() - began
            self.failed(ticket, busy=fault.kind == "busy", retry_after=min(fault.retry_after or 0.0, patience))
            raise
        except BaseException:
            self.cancelled(ticket)
            raise

    def cancelled(self, _ticket: Ticket) -> None:
        """The caller went away."""
        self._leave()

    def allow(
        self,
        ceiling: int,
        requests_per_minute: float | None,
        tokens_per_minute: float | None,
        rested: float | None = None,
    ) -> None:
        """Let other limits hold from now on; what is in flight stays so. rested: see `Allowance.allow`."""
        now = self._clock()
        self.ceiling = ceiling
        self._requests.allow(requests_per_minute, now, rested)
        self._tokens.allow(tokens_per_minute, now, rested)
        self._pump()

    def restrict(self, ceiling: int, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        """Let the limits of one more who waits here hold too, where they are the stricter ones."""
        given = (ceiling, requests_per_minute, tokens_per_minute)
        held = (self.most, self._requests.per_minute, self._tokens.per_minute)
        least = [min(filter(None, pair), default=None) for pair in zip(given, held, strict=True)]
        if tuple(least) == held:
            return
        self.most = int(least[0] or 1)
        self.window = min(self.window, self.most)
        self.allow(min(self.ceiling, self.most), least[1], least[2])

    def hold_back(self, seconds: float) -> None:
        """Let no call begin for so many seconds."""
        self._resume_at = max(self._resume_at, self._clock() + seconds)

    async def close(self) -> None:
        """Let go of what is shared with others."""

    def _leave(self) -> None:
        self.in_flight -= 1
        self._pump()

    def _pump(self) -> None:
        while self._waiting and self.in_flight < min(int(self.window), self.ceiling):
            tokens, future = self._waiting[0]
            if future.done():
                self._waiting.popleft()
                continue
            now = self._clock()
            wait = max(self._resume_at - now, self._requests.wait(1, now), self._tokens.wait(tokens, now))
            if wait > 0:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_later(min(wait, 60.0), self._pump)
                return
            self._waiting.popleft()
            self._requests.take(1)
            self._tokens.take(tokens)
            self.in_flight += 1
            future.set_result(Ticket(now, tokens))


POLL_SECONDS = 0.05
"""So often, at most, it is looked whether a place is free."""


class Limits(Protocol):
    """Settings of an endpoint: who it is, and how fast it may be asked."""

    @property
    def address(self) -> str: ...
    @property
    def key_variable(self) -> str | None: ...
    @property
    def concurrency(self) -> int: ...
    @property
    def requests_per_minute(self) -> int | None: ...
    @property
    def tokens_per_minute(self) -> int | None: ...


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str | None], Limiter]] = (
    WeakKeyDictionary()
)


def line_of(settings: Limits, journal: Journal | None) -> Limiter:
    """The one line in which all wait that ask an endpoint with one key on the loop that runs here, judges, generators
    and embedders: the strictest of their limits hold, as long as anybody has it."""
    lines = _lines.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    name = settings.address, settings.key_variable
    line = lines.get(name)
    if line is None or (type(line) is Limiter and _accounts(journal) is not None):
        line = lines[name] = limiter_of(settings, journal)
    else:
        line.restrict(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
    return line


def _accounts(journal: Journal | None) -> Accounts | None:
    return journal.accounts() if journal is not None and run_of_this_process() is not None else None


def limiter_of(settings: Limits, journal: Journal | None) -> Limiter:
    """The limiter of an endpoint: of this process alone, or of all of a run that share the journal."""
    limits = settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute
    accounts = _accounts(journal)
    if accounts is None:
        return Limiter(*limits)
    name = f"{settings.address} {settings.key_variable or ''}".strip()
    return SharedLimiter(limits, accounts, name)


class SharedLimiter(Limiter):
    """A limiter whose calls also need one of the places, and the rates, that all processes have together.

    A process that is killed gives its places back at once: they are locks of its session.
    """

    def __init__(self, limits: tuple[int, float | None, float | None], accounts: Accounts, endpoint: str) -> None:
        super().__init__(*limits)
        self._accounts, self._endpoint = accounts, endpoint
        self._rates = limits[1:]
        self._places: list[int] = []
        self._pause = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def restrict(self, ceiling: int, requests_per_minute: float | None, tokens_per_minute: float | None) -> None:
        super().restrict(ceiling, requests_per_minute, tokens_per_minute)
        self._rates = self._requests.per_minute, self._tokens.per_minute

    async def acquire(self, tokens: float) -> Ticket:
        ticket = await super().acquire(tokens)
        try:
            wait = await self._seated(tokens)
        except BaseException:
            self._leave()
            raise
        try:
            await asyncio.sleep(wait)
        except BaseException:
            self.cancelled(ticket)
            raise
        ticket.began = self._clock()
        return ticket

    def succeeded(self, ticket: Ticket, tokens: float) -> None:
        super().succeeded(ticket, tokens)
        self._rise(60 * (ticket.tokens - tokens) / (self._rates[1] or float("inf")))

    def failed(self, ticket: Ticket, *, busy: bool = False, retry_after: float | None = None) -> None:
        super().failed(ticket, busy=busy, retry_after=retry_after)
        self._rise()

    def cancelled(self, ticket: Ticket) -> None:
        super().cancelled(ticket)
        self._rise()

    def hold_back(self, seconds: float) -> None:
        super().hold_back(seconds)
        self._pause = max(self._pause, seconds)

    async def close(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)
        if not self.in_flight:
            await self._accounts.close()

    async def _seated(self, tokens: float) -> float:
        """Take a place; seconds to wait before the call."""
        async with self._turn:
            while True:
                asked = self._accounts.sit(self._endpoint, self.most, self._places, self._rates, tokens)
                sitting = asyncio.ensure_future(asked)
                try:
                    place, wait = await asyncio.shield(sitting)
                except asyncio.CancelledError:
                    sitting.add_done_callback(self._unwanted)
                    raise
                if place is not None:
                    self._places.append(place)
                    return wait
                await asyncio.sleep(random.uniform(0, POLL_SECONDS))  # noqa: S311 - so that nobody is always first

    def _unwanted(self, sitting: asyncio.Future[tuple[int | None, float]]) -> None:
        if not sitting.cancelled() and sitting.exception() is None and (place := sitting.result()[0]) is not None:
            self._places.append(place)
            self._rise()

    def _rise(self, spare: float = 0.0) -> None:
        pause, self._pause = self._pause, 0.0
        task = asyncio.get_running_loop().create_task(self._given_back(self._places.pop(), spare, pause))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _given_back(self, place: int, spare: float, pause: float) -> None:
        with suppress(Exception):  # a session that ended has let go
            await self._accounts.rise(self._endpoint, place, spare, pause)
