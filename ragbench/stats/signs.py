"""Tests of coins: of signs that are as likely up as down without a difference, and of any other chance."""

from __future__ import annotations

import math

import numpy as np

from ragbench.stats.draws import every_flip, sign_flips
from ragbench.stats.power import FEWEST_FOR_MID_P
from ragbench.stats.samples import Units
from ragbench.types import Array

EXACT = "sign flips, complete"
MCNEMAR = "McNemar, mid-p"


def tested(units: Units, resamples: int, seed: int) -> tuple[float, str]:
    """(p, test) of the hypothesis that signs of the units' differences are arbitrary; units of one column."""
    column, middle = units.sums[:, 0], units.number >= FEWEST_FOR_MID_P
    moved = column[np.abs(column) > 1e-12 * np.abs(column).max(initial=0.0)]
    sizes = np.abs(moved)
    if not len(moved):
        return 1.0 if units.number else math.nan, EXACT
    if np.ptp(sizes) <= 1e-9 * sizes.max():
        return _binomial_p(int((moved > 0).sum()), len(moved), middle), EXACT
    observed, total = abs(float(moved.sum())), float(sizes.sum())
    if 2 ** min(len(moved), 60) <= resamples:  # all patterns cost less than drawing some of them, and are exact
        return share_beyond(np.abs(every_flip(moved[:, None])), observed, 1e-10 * total, middle, True), EXACT
    drawn = np.abs(sign_flips(moved[:, None], resamples, np.random.default_rng(seed)))
    # many units are summed in single precision: what ties with the observed sum must still count
    slack = (1e-6 if len(moved) > 512 else 1e-10) * total
    return share_beyond(drawn, observed, slack, middle, False), "sign flips"


def share_beyond(drawn: Array, observed: float, slack: float, middle: bool, complete: bool) -> float:
    """p of an observed statistic among those drawn without a difference.

    slack: by how much two equal statistics may differ. middle: what ties counts half (mid-p). complete: `drawn` are all
    that there are; else what was observed is counted as one more of them. 1 where nothing was observed.
    """
    if observed <= slack:
        return 1.0
    farther = int(np.count_nonzero(drawn > observed + slack))
    tied = int(np.count_nonzero(drawn >= observed - slack)) - farther + (not complete)
    return (farther + tied * (0.5 if middle else 1.0)) / (drawn.size + (not complete))


def _binomial_p(successes: int, n: int, middle: bool) -> float:
    """Two-sided p of a fair coin: McNemar's test on the discordant pairs, exact or mid-p."""
    from scipy.special import bdtr

    rarer = min(successes, n - successes)
    if middle:  # the chance of fewer, and half of that of as few, on both sides
        return float(min(1.0, bdtr(rarer, n, 0.5) + (bdtr(rarer - 1, n, 0.5) if rarer else 0.0)))
    return float(min(1.0, 2 * bdtr(rarer, n, 0.5)))


def binomial_test(successes: int, n: int, chance: float = 0.5) -> float:
    """Two-sided exact p of `successes` in `n` trials: the probability of all outcomes no likelier than this one.

    Raises ValueError for counts or a chance that cannot be.
    """
    if not (0 <= successes <= n and n > 0 and 0 < chance < 1):
        raise ValueError(f"0 ≤ successes ≤ n, n > 0 and 0 < chance < 1; got {successes} of {n}, chance {chance}")
    from scipy.stats import binomtest

    return float(binomtest(successes, n, chance).pvalue)
