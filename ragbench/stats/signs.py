"""Tests of coins: of signs that are as likely up as down without a difference, and of any other chance.

Tests of ranks with signs are by option only, because they answer another question than a mean's.
"""

from __future__ import annotations

import math
import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Array
from ragbench.stats.draws import are_smooth, every_flip, sign_flips
from ragbench.stats.power import FEWEST_FOR_MID_P
from ragbench.stats.samples import Units, as_values
from ragbench.stats.skew import leans, studentized_p

EXACT = "sign flips, complete"
MCNEMAR, MCNEMAR_EXACT = "McNemar, mid-p", "McNemar, exact"
SADDLEPOINT = "sign flips, saddlepoint"
STUDENTIZED = " and the studentized bootstrap"
"""What is added to the name of a test of signs where the studentized bootstrap had to agree."""
RankTest = Literal["wilcoxon", "sign"]


def tested(units: Units, resamples: int, seed: int) -> tuple[float, str]:
    """(p, test) of the hypothesis that the units' differences are 0 on average; units of one column, not gathered.

    Their signs are flipped; where they are skewed, or clusters' sizes go with them, the studentized bootstrap has to
    agree, and p is the larger one (`ragbench.stats.skew`).
    """
    p, used = flipped(units, resamples, seed)
    if math.isnan(p) or not leans(units):
        return p, used
    return max(p, studentized_p(units, resamples, seed)), used + STUDENTIZED


def flipped(units: Units, resamples: int, seed: int) -> tuple[float, str]:
    """(p, test) of the hypothesis that signs of the units' differences are arbitrary; units of one column.

    Where all units moved, and by the same, p is exact: their number is then no chance that evens out how coarse the
    mid-p of each number is, and it errs in .070 of .05 of the samples of 8 such units, and in .077 of 16.
    """
    column, middle = units.sums[:, 0], units.number >= FEWEST_FOR_MID_P
    moved = column[np.abs(column) > 1e-12 * np.abs(column).max(initial=0.0)]
    sizes = np.abs(moved)
    if not len(moved):
        return 1.0 if units.number else math.nan, EXACT
    if np.ptp(sizes) <= 1e-9 * sizes.max():
        return _binomial_p(int((moved > 0).sum()), len(moved), middle and len(moved) < units.number), EXACT
    observed, total = abs(float(moved.sum())), float(sizes.sum())
    ordered = np.sort(sizes, kind="stable")  # two runs in order
    if are_smooth(ordered[np.append(True, ordered[1:] > ordered[:-1]), None]):
        return saddlepoint_p(sizes, observed), SADDLEPOINT
    if 2 ** min(len(moved), 60) <= resamples:  # all patterns cost less than drawing some of them, and are exact
        return share_beyond(np.abs(every_flip(moved[:, None])), observed, 1e-10 * total, middle, True), EXACT
    drawn = np.abs(sign_flips(moved[:, None], resamples, np.random.default_rng(seed))[0])
    # many units are summed in single precision: what ties with the observed sum must still count
    slack = (1e-6 if len(moved) > 512 else 1e-10) * total
    return share_beyond(drawn, observed, slack, middle, False), "sign flips"


def saddlepoint_p(sizes: Array, observed: float) -> float:
    """Two-sided p of |Σ ± size| ≥ observed under all patterns of signs, by the saddlepoint of log E exp(t Σ ± size) =
    Σ log cosh(t size) (Robinson 1982, JRSS B 44: 91; in the form of Barndorff-Nielsen 1991, Biometrika 78: 557).

    sizes: (units,) above 0, many of them and none much larger than the rest; then its error is far below that of
    10,000 draws, for any p. No p is 0: the least is that of floats.
    """
    from scipy.special import ndtr

    squares = sizes**2
    variance, least = float(squares.sum()), np.finfo(np.float64).tiny
    if observed**2 / (2 * variance) > -math.log(least):  # Hoeffding's bound of either side
        return float(least)
    place = observed / variance  # Newton's steps come from below, as tanh is concave
    while True:
        slopes = np.tanh(place * sizes)
        curvature = float(np.sum(squares * (1 - slopes**2)))
        step = (observed - float(np.sum(sizes * slopes))) / curvature
        place += step
        if step <= 1e-9 * place:
            break
    exponents = place * sizes
    log_moment = float(np.sum(exponents + np.log1p(np.exp(-2 * exponents)) - math.log(2)))
    root = math.sqrt(2 * max(place * observed - log_moment, 0.0))
    if root > 1e-3:  # nearer to 0 both are the same, and their ratio is rounding
        root += math.log(place * math.sqrt(curvature) / root) / root
    return max(float(2 * ndtr(-root)), float(least))


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


def rank_test_p(differences: ArrayLike, test: RankTest) -> float:
    """Two-sided p of Wilcoxon's signed-rank test (zeros by Pratt, normal approximation) or of the exact sign test.

    Neither tests the mean: where differences are skewed and their mean is zero, both reject the more surely the more
    questions there are (type I error at n = 2,000 about .9 and 1). NaN without a value, 1 where nothing moved.
    """
    values = as_values(differences, "differences")
    kept = values[~np.isnan(values)]
    if not len(kept):
        return math.nan
    if not (kept != 0).any():
        return 1.0
    if test == "sign":
        from scipy.special import bdtr

        up, down = int((kept > 0).sum()), int((kept < 0).sum())
        return float(min(1.0, 2 * bdtr(min(up, down), up + down, 0.5)))
    if test == "wilcoxon":
        from scipy.stats import wilcoxon

        return float(wilcoxon(kept, zero_method="pratt", correction=False, method="asymptotic").pvalue)
    raise ValueError(f"test is wilcoxon or sign; got {test!r}")


def warn_of_ranks(test: str) -> None:
    """Say that a rank test was asked for where a mean is printed."""
    warnings.warn(
        f"the {test} test does not test the mean difference that is printed beside it: with skewed differences of mean "
        "zero it rejects far too often; the default randomization test holds its level",
        stacklevel=4,
    )
