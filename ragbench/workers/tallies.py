"""How far parts are, each as its worker last said it, as one count and one line of calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ragbench.llm import Tally
from ragbench.workers.task import Tell

COUNTERS = tuple(each.name for each in fields(Tally) if each.name != "on_change")


@dataclass
class Counter:
    """A worker's side: says how far its part is.

    done: units of work. calls: as `Tally` counts them.
    """

    tell: Tell
    done: int = 0
    calls: Mapping[str, float] = field(default_factory=dict)

    @property
    def state(self) -> dict[str, Any]:
        """What is told, and goes with the part's result at its end."""
        return {"done": self.done, "calls": dict(self.calls)}

    def advance(self, more: int = 1) -> None:
        """So much more is done."""
        self.done += more
        self.tell(self.state)

    def changed(self, tally: Tally) -> None:
        """The calls are this far."""
        self.calls = {name: getattr(tally, name) for name in COUNTERS}
        self.tell(self.state)


class Together:
    """The side of whoever asks: one number of all parts, and one tally.

    advance: called with how much more is done. on_change: called with the tally of all parts.
    """

    def __init__(
        self, advance: Callable[[int], object] | None = None, on_change: Callable[[Tally], None] | None = None
    ) -> None:
        self._advance, self._on_change = advance, on_change
        self._states: dict[int, Mapping[str, Any]] = {}
        self.told = 0

    def heard(self, part: int, state: Mapping[str, Any]) -> None:
        """A part is this far. One that was begun anew is as far as it says now: what was told stays told."""
        self._states[part] = state
        done = sum(one["done"] for one in self._states.values())
        if self._advance is not None and done > self.told:
            self._advance(done - self.told)
            self.told = done
        if self._on_change is not None and any(one["calls"].get("asked") for one in self._states.values()):
            calls = [one["calls"] for one in self._states.values()]
            self._on_change(Tally(**{name: sum(one.get(name, 0) for one in calls) for name in COUNTERS}))
