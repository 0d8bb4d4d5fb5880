"""Units drawn again. One set of draws serves all means and differences of a page.

A bootstrap sample is told by how often it holds each unit. The sums over a sample are then one
product of these counts with the sums of the units, for all columns at once, in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.errors import BenchError
from ragbench.stats.units import Array, sum_by_unit

# More units are put together at random into so many: groups of independent units are independent
# units too, and memory and time stay flat. An error is then known to 1 %.
MOST_UNITS = 5_000
BLOCK = 500_000  # counts that are numbers with a decimal point at one time
LEAST_DRAWS = 200  # below, the ends of an interval are a matter of luck


@dataclass(frozen=True)
class Confidence:
    """Level of all intervals, number of draws, seed of every random number.

    The same values give the same bytes. Raises BenchError for a level outside 0.5 to 1, and for
    fewer than 200 draws.
    """

    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise BenchError(f"confidence {self.level:g} is no level; give one such as 0.95")
        if self.draws < LEAST_DRAWS:
            raise BenchError(f"{self.draws} draws are too few; give at least {LEAST_DRAWS}")


DEFAULT = Confidence()


@lru_cache(maxsize=2)
def count_draws(n_units: int, draws: int, seed: int) -> NDArray[np.uint8]:
    """Draw units with replacement; return how often each was drawn, (draws, units).

    What was drawn last is kept: all intervals and comparisons of a page are made of it.
    """
    generator = np.random.default_rng(seed)
    counts = np.empty((draws, n_units), dtype=np.uint8)
    block = max(BLOCK // n_units, 1)
    # Counting drawn numbers is five times faster than numpy's multinomial, which draws a
    # binomial for every unit.
    for start in range(0, draws, block):
        size = min(block, draws - start)
        drawn = generator.integers(0, n_units, (size, n_units))
        drawn += np.arange(size)[:, None] * n_units
        counted = np.bincount(drawn.ravel(), minlength=size * n_units)
        counts[start : start + size] = counted.reshape(size, n_units)
    return counts


def resample(totals: Array, confidence: Confidence) -> Array:
    """Sum the totals of the units of every draw: (units, columns) → (draws, columns)."""
    n_units = len(totals)
    if not n_units:
        return np.zeros((confidence.draws, totals.shape[1]))
    counts = count_draws(n_units, confidence.draws, confidence.seed)
    drawn = np.empty((confidence.draws, totals.shape[1]))
    block = max(BLOCK // n_units, 1)
    # With one thread sums are added in one order: the same bits on every machine.
    with find_thread_pools().limit(limits=1, user_api="blas"):
        for start in range(0, confidence.draws, block):
            rows = slice(start, start + block)
            drawn[rows] = counts[rows].astype(float) @ totals
    return drawn


@lru_cache
def find_thread_pools() -> Any:
    """Find the libraries that multiply matrices, once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def bundle(totals: Array, confidence: Confidence) -> Array:
    """Put more than `MOST_UNITS` units together at random; fewer are returned as they are.

    totals: (units, columns) of sums. Tables of the same units are bundled alike.
    """
    if len(totals) <= MOST_UNITS:
        return totals
    places = np.random.default_rng(confidence.seed).permutation(len(totals)) % MOST_UNITS
    return sum_by_unit(totals, places, MOST_UNITS)


def resample_ratios(sums: Array, counts: Array, confidence: Confidence) -> Array:
    """Return sums / counts of every draw, (draws, columns); NaN where nothing was drawn.

    sums, counts: (units, columns) of at most `MOST_UNITS` units.
    """
    drawn_sums = resample(sums, confidence)
    # Mostly all columns were measured at the same rows: their counts are summed once.
    distinct, column = distinct_columns(counts)
    drawn_counts = resample(distinct, confidence)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn_sums /= drawn_counts[:, column]
    return drawn_sums


def distinct_columns(table: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the columns that differ, and for every column which of them it is."""
    if (table == table[:, :1]).all():
        return table[:, :1], np.zeros(table.shape[1], dtype=np.intp)
    distinct, column = np.unique(table, axis=1, return_inverse=True)
    return distinct, column.ravel()
