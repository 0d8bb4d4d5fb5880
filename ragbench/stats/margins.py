"""Is a mean outside the limits within which nobody would mind? A difference that is only not zero is not enough."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats.samples import Labels, Units, as_codes, as_values, units_of


def outside_p(
    values: ArrayLike, low: float = -math.inf, high: float = math.inf, *, clusters: Labels | None = None
) -> float:
    """p of the hypothesis low ≤ mean ≤ high: a minimal-effect test (Murphy and Myors 1999), the mirror of TOST.

    values: one number an item; NaN is unmeasured. Student's t with the clusters' sandwich variance and the freedom that
    they leave (`Units.freedom`); exact binomial for independent 0/1 values against one limit. Where all units are equal
    and outside, each would lie on its side by chance at best one time in two, so p is 2^−units. 1.0 for a single unit,
    NaN for nothing measured.
    Raises ValueError for limits in the wrong order or none at all.
    """
    if not low <= high or (math.isinf(low) and math.isinf(high)):
        raise ValueError(f"the limits are low ≤ high, one of them finite; got {low} and {high}")
    array = as_values(values)
    present = ~np.isnan(array)
    known, codes = array[present], as_codes(clusters, len(array))
    if not len(known):
        return math.nan
    one_sided = math.isinf(low) or math.isinf(high)
    if codes is None and one_sided and np.isin(known, (0.0, 1.0)).all():
        return _binomial(int(known.sum()), len(known), low, high)
    units = units_of(known[:, None], None if codes is None else codes[present])
    if units.number < 2:
        return 1.0
    variance, size = float(units.variances()[0]), float(np.abs(known).max())
    return _student(float(units.means[0]), variance if variance > 1e-24 * size**2 else 0.0, units, low, high, size)


def _student(mean: float, variance: float, units: Units, low: float, high: float, size: float) -> float:
    """variance: 0 where all units are equal but for rounding. size: the largest value's."""
    from scipy.special import stdtr

    if not variance:
        return 1.0 if low - 1e-12 * size <= mean <= high + 1e-12 * size else 0.5**units.number
    error, freedom = math.sqrt(variance), units.freedom
    beyond = max(mean - high, low - mean) / error
    far = stdtr(freedom, -beyond - (high - low) / error) if math.isfinite(high - low) else 0.0
    return float(stdtr(freedom, -beyond) + far)


def _binomial(successes: int, n: int, low: float, high: float) -> float:
    from scipy.stats import binom

    if math.isfinite(high):
        return float(binom.sf(successes - 1, n, min(max(high, 0.0), 1.0)))
    return float(binom.cdf(successes, n, min(max(low, 0.0), 1.0)))
