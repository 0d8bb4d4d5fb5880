"""One endpoint's limits over all processes that ask it: each call has one of so many places, and waits for its turn."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from ragbench.llm.journal import Accounts, Journal, run_of_this_process
from ragbench.llm.limiter import Limiter, Ticket

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
    return SharedLimiter(*limits, accounts=accounts, endpoint=name)


class SharedLimiter(Limiter):
    """A limiter whose calls also need one of the places, and the rates, that all processes have together.

    A process that is killed gives its places back at once: they are locks of its session.
    """

    def __init__(
        self,
        ceiling: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        accounts: Accounts,
        endpoint: str,
    ) -> None:
        super().__init__(ceiling, requests_per_minute, tokens_per_minute)
        self._accounts, self._endpoint = accounts, endpoint
        self._rates = requests_per_minute, tokens_per_minute
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
