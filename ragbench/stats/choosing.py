"""The best of many configurations, and what is left of its lead once chance is paid for.

Who is chosen for the highest mean was lucky on average: its mean as it stands says too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError
from ragbench.stats.comparisons import compare
from ragbench.stats.intervals import UNBOUNDED, mean_intervals, measured_units
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import Array, as_table, sum_by_unit

# With fewer folds, fewer questions choose, and choose worse; with more, the value varies more.
FOLDS = 10
PARTINGS = 100  # into folds, at random: the value then moves by less than .05 errors with the seed
MOST_PAIR_DRAWS = 4_000_000  # pairs x draws at one time


@dataclass(frozen=True)
class Choice:
    """The best of several configurations.

    best: its name. seen: its mean as it stands. value: its mean corrected for having been chosen,
    low, high: an interval that holds for whichever was chosen.
    configurations: a row each: configuration, then as of `mean_intervals`, share_chosen (how often
    other questions chose it), word (of `compare` with the best, corrected for all pairs; empty for
    the best itself).
    """

    best: str
    seen: float
    value: float
    low: float
    high: float
    configurations: pd.DataFrame


def choose_best(
    values: ArrayLike,
    configurations: Sequence[str],
    units: Any = None,
    *,
    bounds: tuple[float, float] = UNBOUNDED,  # type: ignore[assignment]
    confidence: Confidence = DEFAULT,
) -> Choice:
    """Choose the configuration with the highest mean, and correct that mean for the choice.

    values: (rows, configurations); a row that lacks a value is left out for all. The corrected mean
    is what questions say of a choice that others made, over many partings into folds. The interval
    holds for all configurations at once on the side on which luck lies (Benjamini, Hechtlinger &
    Stark 2019, arXiv 1906.00505).

    Raises BenchError for fewer than two configurations, or ten units that have all values.
    """
    table = as_table(values)
    is_complete: NDArray[np.bool_] = ~np.any(np.isnan(table), axis=1)
    measured = table[is_complete]
    codes, n_units = measured_units(units, is_complete)
    if table.shape[1] < 2 or n_units < FOLDS:
        raise BenchError(
            f"{table.shape[1]} configurations on {n_units} units: "
            f"a choice needs at least 2 on {FOLDS}"
        )
    share_chosen, value = cross_choose(measured, codes, n_units, confidence.seed)
    frame = mean_intervals(measured, codes, bounds, confidence)
    best = int(np.argmax(frame["value"]))
    # Luck lies above for the highest of all: on that side the interval holds for every one of them.
    level = confidence.level ** (1 / table.shape[1])
    strict = mean_intervals(measured, codes, bounds, replace(confidence, level=level))
    low, high = np.fmin(strict["low"][best], value), frame["high"][best]
    frame.insert(0, "configuration", list(configurations))
    frame["share_chosen"] = share_chosen
    frame["word"] = words_beside_best(measured, codes, best, confidence)
    seen = float(frame["value"][best])
    return Choice(configurations[best], seen, value, float(low), float(high), frame)


def cross_choose(
    values: Array, codes: NDArray[np.intp], n_units: int, seed: int
) -> tuple[Array, float]:
    """Let all other folds choose for each fold; the higher, the better.

    Returns how often each configuration was chosen, and the mean of what was chosen.
    """
    sums = sum_by_unit(values, codes, n_units)
    sizes = np.bincount(codes, minlength=n_units).astype(float)
    generator = np.random.default_rng(seed)
    n_chosen, total = np.zeros(values.shape[1]), 0.0
    for _ in range(PARTINGS):
        fold = generator.permutation(n_units) % FOLDS
        fold_sums = sum_by_unit(sums, fold, FOLDS)
        fold_sizes = np.bincount(fold, weights=sizes, minlength=FOLDS)
        means_of_others = (sums.sum(axis=0) - fold_sums) / (sizes.sum() - fold_sizes)[:, None]
        chosen = means_of_others.argmax(axis=1)
        total += fold_sums[np.arange(FOLDS), chosen].sum()
        n_chosen += np.bincount(chosen, minlength=values.shape[1])
    return n_chosen / (FOLDS * PARTINGS), total / (PARTINGS * sizes.sum())


def words_beside_best(
    values: Array, codes: NDArray[np.intp], best: int, confidence: Confidence
) -> list[str]:
    """Compare every configuration with the best one; all pairs are the family.

    Which one is best was not known before, so what is said of it must hold for every pair.
    """
    pairs = list(combinations(range(values.shape[1]), 2))
    n_draws = min(confidence.draws, max(MOST_PAIR_DRAWS // len(pairs), 1_000))
    # The best stands first in its pairs, as the baseline.
    ordered = [(best, sum(pair) - best) if best in pair else pair for pair in pairs]
    first, second = np.array(ordered).T
    frame = compare(
        values[:, first],
        values[:, second],
        codes,
        confidence=replace(confidence, draws=n_draws),
    )
    words = [""] * values.shape[1]
    for (baseline, challenger), word in zip(ordered, frame["word"], strict=True):
        if baseline == best:
            words[challenger] = word
    return words
