"""Quantiles with order-statistic intervals: latency at the median, the 90th and the 99th percentile."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Estimate
from ragbench.stats.samples import as_values, check_level


def quantile(values: ArrayLike, probability: float, *, level: float = 0.95) -> Estimate:
    """The sample quantile (linear interpolation) and its order-statistic interval, which holds for any distribution.

    The interval is of two observed values whose ranks cover at least `level` by the binomial distribution, each tail
    at most (1 − level) / 2 (David, Nagaraja 2003, section 7.1). An end that no observed value can hold is None: the
    99th percentile of 50 values has no upper end; `note` is then "open_above" or "open_below", or "open".
    """
    from scipy.special import bdtr, bdtrik

    check_level(level)
    if not 0 < probability < 1:
        raise ValueError(f"probability lies between 0 and 1; got {probability}")
    array = as_values(values)
    kept = np.sort(array[~np.isnan(array)])
    n, unmeasured = len(kept), int(np.isnan(array).sum())
    if not n:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    tail = (1 - level) / 2

    def first_reaching(chance: float) -> int:
        """Smallest k with P(Binomial(n, probability) ≤ k) ≥ chance."""
        k = max(0, math.floor(float(np.nan_to_num(bdtrik(chance, n, probability)))) - 1)
        while bdtr(k, n, probability) < chance:
            k += 1
        return k

    below = first_reaching(tail)
    below -= bdtr(below, n, probability) > tail + 1e-12  # now the largest k with P(≤ k) ≤ tail, or −1
    above = first_reaching(1 - tail)
    low = float(kept[below]) if below >= 0 else None
    high = float(kept[above]) if above < n else None
    note = {(True, True): "open", (True, False): "open_below", (False, True): "open_above"}.get(
        (low is None, high is None), ""
    )
    intervals = {"order_statistics": (low, high)} if low is not None and high is not None else {}
    return Estimate(
        float(np.quantile(kept, probability)), low, high, level, "order_statistics", n, unmeasured,
        n_effective=float(n), design_effect=1.0, intervals=intervals, note=note,
    )  # fmt: skip
