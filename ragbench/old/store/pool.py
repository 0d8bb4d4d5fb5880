"""Work in parts on other processes, with the numbers of a single one: the seam that a cluster fills.

A part is a pure function's argument: what it gives depends on nothing that another part does. What parts share lies in
PostgreSQL: replies that were paid for, vectors, budgets and limits.
"""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, cast

from ragbench.old.core import annexes, trust
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Embedder
from ragbench.old.llm import Tally

if TYPE_CHECKING:
    from ragbench.old.store.database import Elsewhere

Tell = Callable[[Any], None]
"""Called by a part with how far it is: any plain value, the last one counts."""
Work = Callable[[Any, Any, Tell], Any]
"""A function of what all parts have in common, of one part, and of `Tell`."""
Heard = Callable[[int, Any], None]
"""Called with a part's number and how far it is, as its work says."""
COUNTERS = tuple(each.name for each in fields(Tally) if each.name != "on_change")


class ClusterError(RuntimeError):
    """The cluster cannot be had, is lost, or its workers would give other numbers; the text says what to do."""


class UnfitError(ClusterError):
    """A worker differs from the process that asks it. differences: a line each, the worker's name first."""

    def __init__(self, differences: Sequence[str]) -> None:
        super().__init__(
            "workers of the cluster would not give this process's numbers:\n- " + "\n- ".join(differences) + "\n"
            "Bring them to one state, start them again, and run the same command; nothing was sent to them"
        )
        self.differences = tuple(differences)

    def __reduce__(self) -> tuple[type[UnfitError], tuple[tuple[str, ...]]]:
        return UnfitError, (self.differences,)


class Pool(Protocol):
    """Workers that are there."""

    @property
    def count(self) -> int:
        """How many workers there are just now."""

    @property
    def where(self) -> str:
        """The scheduler's address."""

    def seconds_of_a_part(self) -> float:
        """What a part costs besides its work, the median of some that have none."""

    def map(self, work: Work, common: Any, parts: Sequence[Any], heard: Heard | None = None) -> list[Any]:
        """What `work` gives of each part, in the parts' order, whoever did them. Raises ClusterError."""


class Cluster(Protocol):
    """What an annex offers under the name `cluster`: a module with these functions."""

    def check(self, text: str) -> None:
        """Raises ClusterError, naming what is legal, for what names no cluster."""

    def opened(self, known: Settings) -> contextlib.AbstractContextManager[Pool]:
        """The workers that the settings name, checked. Raises ClusterError, UnfitError."""

    def shared(self, known: Settings) -> contextlib.AbstractContextManager[Mapping[str, str]]:
        """The variables by which other processes of this machine share one cluster."""

    def elsewhere(self, known: Settings) -> Elsewhere:
        """What a store is lent (`Store.open`)."""


def cluster() -> Cluster:
    """Raises ClusterError where no annex offers one."""
    offer = annexes.taken("pool", "cluster")
    if offer is None:
        raise ClusterError("this installation of ragbench has no annex for clusters; unset `cluster`")
    return cast(Cluster, offer)


@contextlib.contextmanager
def opened(known: Settings) -> Iterator[Pool | None]:
    """The workers that the settings name (`cluster`), checked; None where they name none.

    Raises ClusterError where they cannot be had, and UnfitError where their numbers would be others.
    """
    if known.cluster is None or trust.only_planned():
        yield None
        return
    with cluster().opened(known) as pool:
        yield pool


@contextlib.contextmanager
def shared(known: Settings) -> Iterator[Mapping[str, str]]:
    """The variables by which other processes of this machine share one cluster; none where the settings name none.

    Raises as `opened`.
    """
    if known.cluster is None or trust.only_planned():
        yield {}
        return
    with cluster().shared(known) as variables:
        yield variables


def elsewhere(known: Settings) -> Elsewhere | None:
    """What a store is lent (`Store.open`); None where the settings name no cluster."""
    return None if known.cluster is None else cluster().elsewhere(known)


def require_same(embedders: Sequence[Embedder], identities: Sequence[str]) -> None:
    """Raises UnfitError where an embedder is another one in this process than where it was asked for."""
    for embedder, identity in zip(embedders, identities, strict=True):
        if embedder.identity != identity:
            raise UnfitError([
                f"the worker on {platform.node()} has other files of the embedder {embedder.name}: there it is "
                f"{embedder.identity}, and {identity} is asked for; copy the model"
            ])  # fmt: skip


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
        done = sum(part_state["done"] for part_state in self._states.values())
        if self._advance is not None and done > self.told:
            self._advance(done - self.told)
            self.told = done
        if self._on_change is not None and any(
            part_state["calls"].get("asked") for part_state in self._states.values()
        ):
            calls = [part_state["calls"] for part_state in self._states.values()]
            self._on_change(Tally(**{name: sum(counts.get(name, 0) for counts in calls) for name in COUNTERS}))
