"""Means over all pairs of items: distances, similarities, diversity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.samples import as_values, check_level
from ragbench.types import Estimate


def pairwise_mean(means_to_others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The mean of a symmetric quantity over all pairs of n items, with the interval of a U-statistic.

    means_to_others: (n,) each item's mean to the n − 1 others. Pairs share items, so the spread over pairs tells
    nothing; the jackknife over items (Arvesen 1969) does: leaving item i out moves the mean by
    2 (mean − means_to_others[i]) / (n − 2). Student's t with n − 1 degrees of freedom.
    """
    check_level(level)
    values = as_values(means_to_others, "means_to_others")
    kept = values[~np.isnan(values)]
    n, unmeasured = len(kept), int(np.isnan(values).sum())
    if n == 0:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    value = float(kept.mean())
    spread = float(np.sum((kept - value) ** 2))
    if n < 3 or spread <= 0:
        return Estimate(value, None, None, level, "none", n, unmeasured, note="few" if n < 3 else "no_spread")
    variance = (n - 1) / n * 4 / (n - 2) ** 2 * spread
    low, high = kinds.student(value, variance, n - 1, level)
    return Estimate(
        value, low, high, level, "u_statistic", n, unmeasured, n_effective=float(n), design_effect=1.0,
        intervals={"u_statistic": (low, high)},
    )  # fmt: skip
