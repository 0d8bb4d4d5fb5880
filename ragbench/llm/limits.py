"""How many calls may be in flight, and what a run may spend."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ragbench.core.settings import Budget
from ragbench.llm.errors import BudgetSpentError

FIRST_WAIT_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 30.0


class Limiter:
    """Admits calls: one until the first usable reply, then `most`, and fewer after HTTP 429.

    So a wrong key costs one call, and a useless model few. Whoever is told to wait holds all
    others back, too.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._window = 1.0
        self._is_proven = False
        self._in_flight = 0
        self._resume_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        await turn
        pause = self._resume_at - time.monotonic()
        if pause > 0:
            # Spread, since all of them wait for the same moment.
            await asyncio.sleep(pause + random.uniform(0, min(1.0, pause)))  # noqa: S311

    async def __aexit__(self, *error: object) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Let in as many as there are places for, first come first served."""
        while self._waiting and self._in_flight < int(self._window):
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def speed_up(self) -> None:
        """Note a usable reply."""
        if not self._is_proven:
            self._is_proven = True
            self._window = self.most
        # Additive increase, multiplicative decrease: as TCP finds what a network takes.
        self._window = min(self.most, self._window + 0.5)

    def slow_down(self, retry_after: float) -> None:
        """Note that the endpoint asked to be called less; for how long nobody may call it."""
        if time.monotonic() >= self._resume_at:  # once for all that were in flight together
            self._window = max(1.0, self._window * 0.67)
        self._resume_at = max(self._resume_at, time.monotonic() + retry_after)


def pause_after(attempt: int) -> float:
    """Return seconds to wait after a failed attempt: full jitter over a growing span."""
    span = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (attempt - 1))
    return random.uniform(0, span)  # noqa: S311  nothing is secret about it


@dataclass
class Spending:
    """What a run has spent, and may; the clients of all its models share one.

    What calls in flight are expected to take is counted as spent.
    """

    budget: Budget
    calls: float = 0
    tokens: float = 0
    money: float = 0

    @contextlib.contextmanager
    def reserve(self, tokens: float, money: float) -> Iterator[None]:
        """Count what a call may take as spent while it is in flight.

        money: NaN where the model has no price. Raises BudgetSpentError where it is more than is
        left, or unknown and limited.
        """
        needs = {"calls": 1.0, "tokens": tokens, "money": money}
        for name, need in needs.items():
            limit = getattr(self.budget, name)
            spent = getattr(self, name)
            # A sum of floats may pass its limit by the last bit.
            if limit is not None and not spent + need <= limit * (1 + 1e-9):
                advice = "set input_price and output_price" if math.isnan(need) else "raise it"
                raise BudgetSpentError(
                    f"{spent:.6g} of budget.{name} = {limit:g} are spent or set aside for calls in "
                    f"flight, and the next call may take {need:.4g}; {advice} and run again: what "
                    "was paid for is kept"
                )
        self.add(1, tokens, money)
        try:
            yield
        finally:
            self.add(-1, -tokens, -money)

    def add(self, calls: float, tokens: float, money: float) -> None:
        """Count what a call took. money: NaN where the model has no price."""
        self.calls += calls
        self.tokens += tokens
        self.money += 0.0 if math.isnan(money) else money
