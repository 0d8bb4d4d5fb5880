"""Where values of two systems come from that know each other: which question is which, and which belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from ragbench.stats.samples import Labels
from ragbench.types import Array, Better, Comparison


class Paired(NamedTuple):
    """Values of two systems on one metric, one a question in the same order, NaN where unmeasured.

    metric, names: the metric's label, and the two systems, the baseline first. clusters: one label a question; None:
    all are independent. level, resamples, seed: how they were compared where they come from.
    """

    metric: str
    names: tuple[str, str]
    baseline: Array
    challenger: Array
    clusters: Labels | None
    better: Better
    level: float
    resamples: int
    seed: int


@runtime_checkable
class Source(Protocol):
    """What `stats.compare` takes in place of arrays: a page (`ragbench.show.Page`), or anything with this method."""

    def paired_values(self, metric: str, baseline: str, challenger: str) -> Paired:
        """The values of two systems, paired by question. Raises ValueError for names that there are not."""


@dataclass(frozen=True, slots=True)
class MetricComparison(Comparison):
    """A comparison that knows its metric. metric: its label."""

    metric: str = ""
