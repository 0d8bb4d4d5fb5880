"""Several systems against one baseline: randomized Tukey tests of every subset, closed, for many metrics at once."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from ragbench.types import Array

MOST = 6
"""Challengers up to which every subset is tested; the number of subsets doubles with each."""
BLOCK = 4096


def closed_p(sums: Array, n: int, resamples: int, seed: int, single: Array) -> Array:
    """(challengers, metrics) p-values that hold the family-wise error rate over the challengers, for each metric.

    sums: (units, 1 + challengers, metrics) values of each question, or their sums over a cluster; the baseline first.
    n: questions. single: (challengers, metrics) p of each challenger alone, by a paired test.

    By the closure principle (Marcus, Peritz and Gabriel 1976) a challenger differs when every set of systems that it
    belongs to does. A set is tested by randomized Tukey (Carterette 2012, section 4.2) against the baseline: within
    every unit the values of the baseline and of the set's systems, and of no other, change hands at random, the same
    way for all metrics; the statistic is the largest difference from the baseline. So a system that is far off does
    not hide the others, as it does where all systems are shuffled together.
    """
    systems = sums.shape[1]
    challengers = range(1, systems)
    if systems - 1 > MOST:
        raise ValueError(f"{systems - 1} challengers: the closure is for at most {MOST}")
    seen = np.abs(sums[:, 1:].sum(axis=0) - sums[:, 0].sum(axis=0)) / n
    found = single.copy()
    for size in range(2, systems):
        for chosen in combinations(challengers, size):
            members = np.array(chosen) - 1
            largest = _largest_by_chance(sums[:, (0, *chosen)], n, resamples, np.random.default_rng(seed))
            observed = seen[members].max(axis=0)
            slack = 1e-10 * np.abs(sums).sum(axis=(0, 1)) / n
            p = ((largest >= observed - slack).sum(axis=0) + 1) / (resamples + 1)
            found[members] = np.maximum(found[members], p)
    return found


def _largest_by_chance(rows: Array, n: int, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, metrics) largest |difference from the first| when every unit's systems change hands at random."""
    units, systems, metrics = rows.shape
    orders = np.array(list(permutations(range(systems))))
    largest = np.empty((resamples, metrics))
    for start in range(0, resamples, BLOCK):
        size = min(BLOCK, resamples - start)
        totals = np.zeros((size, (systems - 1) * metrics))
        for unit in range(units):
            values = rows[unit]
            if not np.ptp(values, axis=0).any():
                continue  # equal values stay equal, whoever has them
            shuffled = values[orders]  # (orders, systems, metrics)
            differences = (shuffled[:, 1:] - shuffled[:, :1]).reshape(len(orders), -1)
            totals += differences[rng.integers(0, len(orders), size)]
        largest[start : start + size] = np.abs(totals).reshape(size, systems - 1, metrics).max(axis=1)
    return largest / n
