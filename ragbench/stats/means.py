"""A mean of units with its resamples: the intervals that estimates and comparisons choose from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragbench.stats import intervals as kinds
from ragbench.stats.draws import mean_draws
from ragbench.stats.intervals import Interval
from ragbench.stats.samples import Units
from ragbench.types import Array

SKEWED = 0.02
"""From this |acceleration| on (skewness / 6√n) BCa and t cover too little, and the studentized bootstrap is needed."""

FEWEST_FOR_BCA = 100
"""Below, the studentized bootstrap covers better than BCa where no end of a scale bounds the mean."""

MOST_FOR_STUDENTIZED = 5_000
"""With more units than this BCa covers as well, for skewness up to that of a lognormal(1)."""


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
    def freedom(self) -> int:
        """Degrees of freedom of the standard error: units − 1."""
        return max(self.units.number - 1, 1)

    @property
    def effective_freedom(self) -> float:
        """The same for clusters of unequal size, which are worth C / (1 + v²) equal ones, with v the sizes' standard
        deviation over their mean (Carter, Schnepel, Steigerwald 2017, for values that are alike within a cluster)."""
        if not self.units.clustered:
            return self.freedom
        units = self.units
        middle = units.n / units.number
        variation = float(units.counts @ (units.sizes - middle) ** 2) / units.number / middle**2
        return max(units.number / (1 + variation) - 1, 1.0)

    def intervals(self, level: float) -> dict[str, Interval]:
        """percentile, bca, studentized, t, and t_effective for unequal clusters, as far as each exists."""
        found: dict[str, Interval] = {}
        if self.draws is None or self.variance <= 0:
            return found
        found["percentile"] = kinds.percentile(self.draws, level)
        corrected = kinds.bca(self.draws, self.value, self.acceleration, level)
        if corrected is not None:
            found["bca"] = corrected
        if self.ratios is not None:
            studentized = kinds.studentized(self.ratios, self.value, self.variance, level)
            if studentized is not None:
                found["studentized"] = studentized
        found["t"] = kinds.student(self.value, self.variance, self.freedom, level)
        if self.effective_freedom < 0.9 * self.freedom:
            found["t_effective"] = kinds.student(self.value, self.variance, self.effective_freedom, level)
        return found


def mean_of(units: Units, spread: bool, resamples: int, seed: int, studentize: bool) -> Mean:
    """The mean of one metric with its resamples.

    units: of this metric alone. spread: whether single values differ at all. studentize: whether a skewed mean may need
    the studentized bootstrap; it is drawn where units are few (below 100) or skewed.
    """
    residuals = units.residuals()[:, 0]
    variance = float(units.variances()[0]) if spread and units.number > 1 else 0.0
    if variance <= 0:
        return Mean(float(units.means[0]), 0.0, math.nan, units)
    shape = kinds.acceleration(residuals, units.counts)
    wanted = studentize and units.number <= MOST_FOR_STUDENTIZED
    wanted = wanted and (abs(shape) > SKEWED or units.number < FEWEST_FOR_BCA)
    draws, ratios = mean_draws(units, resamples, np.random.default_rng(seed), studentize=wanted)
    return Mean(float(units.means[0]), variance, shape, units, draws, ratios if wanted else None)
