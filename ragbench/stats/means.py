"""A mean of units with its resamples: the intervals that estimates and comparisons choose from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragbench.core.types import Array
from ragbench.stats import intervals as kinds
from ragbench.stats.draws import MOST_UNITS, mean_draws
from ragbench.stats.histograms import weighted_sum
from ragbench.stats.intervals import Interval
from ragbench.stats.samples import Units

SKEWED = 0.02
"""From this |acceleration| on (skewness / 6√n) BCa and t cover too little, and the studentized bootstrap is needed."""

FEWEST_FOR_BCA = 100
"""Below, the studentized bootstrap covers better than BCa where no end of a scale bounds the mean."""

FEWEST_CLUSTERS_FOR_BOOTSTRAP = 50
"""With fewer in effect, drawing whole clusters covers too little (.91 to .94 of .95 with 20 to 50)."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One metric's mean over the values of all units.

    units: of this metric alone. variance: squared standard error (with clusters, the C / (C − 1) sandwich); 0 without
    spread. acceleration: of BCa; NaN without spread. draws, ratios: resampled means and studentized deviations, if
    drawn.
    """

    value: float
    variance: float
    acceleration: float
    units: Units
    draws: Array | None = None
    ratios: Array | None = None

    @property
    def few_clusters(self) -> bool:
        """Whether there are clusters, too few in effect to be drawn: as many as equal ones would leave the freedom."""
        return self.units.clustered and self.units.freedom + 1 < FEWEST_CLUSTERS_FOR_BOOTSTRAP

    @property
    def no_spread(self) -> str:
        """Why there is no variance: "no_spread" where all values are equal, "equal_groups" where only the means of
        groups are, which hide how values within them differ."""
        differ = float(self.units.deviations[0]) > 1e-20 * max(self.value**2 * self.units.n, 1e-300)
        return "equal_groups" if self.units.clustered and self.units.number > 1 and differ else "no_spread"

    @property
    def tie(self) -> tuple[float, int]:
        """The value (of clusters the mean) that more than half of the units share, NaN if none, and how many do not."""
        values, place = np.unique(np.round(self.units.sums[:, 0] / self.units.sizes, 12), return_inverse=True)
        counts = np.bincount(place, weights=self.units.counts)
        most = int(counts.argmax())
        apart = self.units.number - round(float(counts[most]))
        return (float(values[most]) if 2 * apart < self.units.number else math.nan), apart

    def few_moved(self, centre: float, level: float, step: float = math.nan) -> Interval:
        """Bonett and Price's interval of independent values most of which lie at `centre`.

        step: root mean square of the way from there of those that do not; by default, theirs.
        """
        apart = self.units.sums[:, 0] - centre
        squares, n = float(weighted_sum(self.units.counts, apart**2)), self.units.n
        moved = float(weighted_sum(self.units.counts, apart != 0))
        second = squares + 2 * (squares / moved if moved else step**2)
        low, high = kinds.bonett_price(self.value - centre, second, n, self.units.freedom, level)
        return centre + low, centre + high

    def intervals(self, level: float) -> dict[str, Interval]:
        """percentile and bca, or abc where nothing was drawn; studentized, t with units − 1 degrees of freedom,
        t_effective with those that clusters of unequal size leave (`Units.freedom`), and studentized_and_t, from the
        lower of the low ends of studentized and Student's to the higher of the high ones; as far as each exists."""
        made: dict[str, Interval] = {}
        if self.variance <= 0:
            return made
        if self.draws is not None:
            made |= kinds.resampled(self.draws, self.value, self.acceleration, level)
        elif analytic := self._abc(level):
            made["abc"] = analytic
        if self.ratios is not None:
            studentized = kinds.studentized(self.ratios, self.value, self.variance, level)
            if studentized is not None:
                made["studentized"] = studentized
        number, freedom = self.units.number, self.units.freedom
        made["t"] = kinds.student(self.value, self.variance, number - 1, level)
        if freedom < number - 1:
            made["t_effective"] = kinds.student(self.value, self.variance, freedom, level)
        if "studentized" in made:
            ends = made["studentized"], made.get("t_effective", made["t"])
            made["studentized_and_t"] = min(low for low, _high in ends), max(high for _low, high in ends)
        return made

    def _abc(self, level: float) -> Interval | None:
        units, off = self.units, self.units.residuals()
        sums = np.column_stack([off, units.sizes]) if units.clustered else off
        ends = kinds.abc(
            lambda totals: totals[..., 0] / (totals[..., 1] if units.clustered else units.n),
            sums, units.counts, off[:, 0] / units.n, level, units.freedom,
        )  # fmt: skip
        return None if ends is None else (self.value + ends[0], self.value + ends[1])


def mean_of(units: Units, spread: bool, resamples: int, seed: int, studentize: bool, *, always: bool = False) -> Mean:
    """The mean of one metric with its resamples, of no more than MOST_UNITS units unless it is to be drawn `always`.

    units: of this metric alone. spread: whether single values differ at all. studentize: whether a skewed mean may need
    the studentized bootstrap; it is drawn where units are few (below 100) or skewed.
    """
    residuals = units.residuals()[:, 0]
    variance = float(units.variances()[0]) if spread and units.number > 1 else 0.0
    if variance <= 1e-20 * float(units.deviations[0]) / max(units.n, 1) ** 2:  # groups that are equal but for rounding
        variance = 0.0
    if variance <= 0:
        return Mean(float(units.means[0]), 0.0, math.nan, units)
    shape = kinds.acceleration(residuals, units.counts)
    if units.number > MOST_UNITS and not always:
        return Mean(float(units.means[0]), variance, shape, units)
    wanted = studentize and (always or abs(shape) > SKEWED or units.number < FEWEST_FOR_BCA)
    draws, ratios = mean_draws(units, resamples, seed, studentize=wanted)
    return Mean(float(units.means[0]), variance, shape, units, draws, ratios if wanted else None)
