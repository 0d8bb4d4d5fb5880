"""What calls cost, and how far a run is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


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
