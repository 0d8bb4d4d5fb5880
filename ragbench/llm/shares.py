"""One endpoint's limits over all processes that ask it: each holds a share, and tells by heartbeats what it needs.

Nothing is asked per call. What a process has is what it was given last; what it gives back it has stopped using before
it says so, and a newcomer gets only what others have given back. So the shares never exceed the limits together.
"""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Mapping
from contextlib import suppress

from ragbench.llm.accounts import LEASE_SECONDS, Accounts, Share, run_of_this_process
from ragbench.llm.journal import Journal
from ragbench.llm.limiter import Limiter, Ticket
from ragbench.settings import JudgeSettings

RENEW_SECONDS = 1.0
IDLE_SECONDS = 0.2
"""Without a call for so long a process gives back what it holds."""


def limiter_of(settings: JudgeSettings, journal: Journal | None) -> Limiter:
    """The limiter of an endpoint: of this process alone, or of its share where it is one of a run's that journal."""
    limits = settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute
    shared = journal is not None and run_of_this_process() is not None
    accounts = journal.accounts(LEASE_SECONDS) if shared and journal is not None else None
    if accounts is None:
        return Limiter(*limits)
    name = f"{settings.base_url} {settings.key_variable or ''}".strip()
    return SharedLimiter(*limits, accounts=accounts, endpoint=name)


def fair(limit: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Places of each holder, `limit` together: nobody less than an equal share or what it wants, whichever is less.

    What nobody wants is divided too, so that who begins to want more need not ask first. With more holders than places
    those that want least come first: they are done soonest.
    """
    shares, left = {}, limit
    order = sorted(wanted, key=lambda holder: (wanted[holder], holder))
    for place, holder in enumerate(order):
        shares[holder] = min(wanted[holder], -(-left // (len(order) - place)))
        left -= shares[holder]
    for place, holder in enumerate(order):
        more = -(-left // (len(order) - place))
        shares[holder] += more
        left -= more
    return shares


class SharedLimiter(Limiter):
    """A limiter whose ceiling and rates are this process's share of the endpoint's, while it has calls."""

    def __init__(
        self,
        ceiling: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        *,
        accounts: Accounts,
        endpoint: str,
        lease: float = LEASE_SECONDS,
    ) -> None:
        super().__init__(ceiling, requests_per_minute, tokens_per_minute)
        self.ceiling = 0
        self._accounts, self._endpoint, self._lease = accounts, endpoint, lease
        self._rates = requests_per_minute, tokens_per_minute
        self._name = uuid.uuid4().hex
        self._part = self._pause = 0.0
        self._recorded = 0
        self._idle_since = math.inf
        self._others: dict[str, int] = {}
        self._until = -math.inf
        self._hurried = False
        self._due = asyncio.Event()
        self._holding: asyncio.Task[None] | None = None

    @property
    def wanted(self) -> int:
        """Calls that wait or are in flight."""
        return self.in_flight + sum(not future.done() for _, future in self._waiting)

    async def acquire(self, tokens: float) -> Ticket:
        if self._holding is None:
            self._hurried, self._idle_since = False, self._clock()
            self._holding = asyncio.create_task(self._hold())
        return await super().acquire(tokens)

    def hold_back(self, seconds: float) -> None:
        super().hold_back(seconds)
        self._pause = max(self._pause, seconds)
        self._due.set()

    async def close(self) -> None:
        self._hurried = True
        while self._holding is not None and not self.wanted:
            self._due.set()
            await asyncio.wait([self._holding], timeout=IDLE_SECONDS)

    def _leave(self) -> None:
        super()._leave()
        if not self.wanted:
            self._idle_since = self._clock()
            asyncio.get_running_loop().call_later(IDLE_SECONDS, self._look)
        elif self.in_flight <= self.ceiling < self._recorded:  # what is given back is free
            self._due.set()

    def _look(self) -> None:
        if self._is_idle():
            self._due.set()

    def _is_idle(self) -> bool:
        return not self.wanted and (self._hurried or self._clock() >= self._idle_since + IDLE_SECONDS)

    def _pump(self) -> None:
        if self._waiting and self._clock() > self._until:
            self.ceiling = 0  # the lease has run out while this process was held up: others may have its places
        super()._pump()

    async def _hold(self) -> None:
        rested = True
        try:
            while True:
                await self._renew(fresh=rested)
                rested = False
                if self._fair()[0] < self.ceiling:
                    continue
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._due.wait(), RENEW_SECONDS)
                self._due.clear()
                if self._is_idle():
                    self._use(0, 0.0)
                    self._others = {}
                    await self._accounts.leave(self._endpoint, self._name)
                    rested = True
                    if not self.wanted:
                        await self._accounts.close()
                        if not self.wanted:
                            return
        except Exception as error:  # those who wait have it
            while self._waiting:
                _, future = self._waiting.popleft()
                if not future.done():
                    future.set_exception(error)
        finally:
            self._holding = None
            self.ceiling = 0

    def _fair(self) -> tuple[int, float]:
        """Places and part that are this holder's, by what is known of the others."""
        shares = fair(self.most, {**self._others, self._name: max(1, self.wanted)})
        return shares[self._name], shares[self._name] / self.most

    async def _renew(self, fresh: bool) -> None:
        sent = self._clock()
        if sent > self._until:
            self._others, self._part, self.ceiling = {}, 0.0, 0
        places, part = self._fair()
        if places < self.ceiling or part < self._part:
            self._use(min(places, self.ceiling), min(part, self._part))  # before it is said to be free
        pause, self._pause = self._pause, 0.0
        told = Share(
            *await self._accounts.share(
                self._endpoint,
                self._name,
                self.most,
                (max(self.in_flight, self.ceiling), places),
                (self._part, part),
                max(1, self.wanted),
                pause,
            )
        )
        self._until = sent + self._lease
        self._others = {name: wanted for name, wanted in told.wanted.items() if name != self._name}
        if told.pause > 0:
            super().hold_back(told.pause)
        self._recorded = told.places
        self._use(min(told.places, places), told.part, told.rested if fresh else None)

    def _use(self, places: int, part: float, rested: float | None = None) -> None:
        requests, tokens = (None if rate is None else rate * part for rate in self._rates)
        self._part = part
        self.allow(places, requests, tokens, rested)
