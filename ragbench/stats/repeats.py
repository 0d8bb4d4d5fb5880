"""The same question asked several times: how often it succeeds, and how often it changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from ragbench.stats.intervals import mean_intervals
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import Array, as_table

RATES = ("mean", "pass@k", "pass^k", "flip_rate")


def repeat_rates(
    passed: ArrayLike, k: int, units: Any = None, confidence: Confidence = DEFAULT
) -> pd.DataFrame:
    """Return four rates over questions with their intervals, a row each.

    passed: (questions, repeats) 1 or 0, NaN where unmeasured. k: of so many tries.

    mean: share of successes. pass@k: the chance that at least one of k tries succeeds (Chen et al.
    2021, arXiv 2107.03374). pass^k: that all do (Yao et al. 2024, arXiv 2406.12045). flip_rate:
    that two tries differ. All are unbiased; a question with fewer than k tries, or for flip_rate
    than two, is unmeasured. Columns: rate, k, then as of `mean_intervals`.
    """
    by_question = rates_by_question(passed, k)
    frame = mean_intervals(by_question, units, (0.0, 1.0), confidence)
    return pd.concat([pd.DataFrame({"rate": RATES, "k": k}), frame], axis=1)


def rates_by_question(passed: ArrayLike, k: int) -> Array:
    """Return the four rates of every question: (questions, rates), in the order of `RATES`.

    With too few tries both sides of the last three are 0: NaN.
    """
    table = as_table(passed)
    n = (~np.isnan(table)).sum(axis=1)
    n_passed = np.nansum(table, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = n_passed / n
        # How many of all choices of k tries hold no success, and how many nothing else.
        choices = special.comb(n, k)
        at_least_one = 1 - special.comb(n - n_passed, k) / choices
        all_of_them = special.comb(n_passed, k) / choices
        flips = 2 * n_passed * (n - n_passed) / (n * (n - 1))
    return np.column_stack([mean, at_least_one, all_of_them, flips])
