"""Tests of signs: as likely up as down without a difference, and where skew or clusters make them not so.

Tests of ranks with signs are by option only, because they answer another question than a mean's.

Signs that are flipped take every such sample for one of a symmetric kind, as Student's t does, and the test errs more
often than it says: in 9 to 14 of 100 samples of 15 exponential or lognormal differences instead of 5. Where a sample
looks so, the studentized bootstrap (Efron 1981; Hall 1988, Annals of Statistics 16), which takes the skewness from the
sample, has to show the difference too. It would cost power if it were asked everywhere: of symmetric differences with
heavy tails it shows fewer. So a sample counts as skewed only where its mean and its median say the same as the third
moment, and not by one value alone.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragbench.old.core.types import Array
from ragbench.old.core.types.reason import Reason, joined, rounded
from ragbench.old.stats.intervals import acceleration, are_smooth, every_flip, mean_draws, sign_flips, total_draws
from ragbench.old.stats.power import FEWEST_FOR_MID_P
from ragbench.old.stats.values import MUCH, Units, as_values, by_content, units_of

EXACT = "sign flips, complete"
MCNEMAR, MCNEMAR_EXACT = "McNemar, mid-p", "McNemar, exact"
SADDLEPOINT = "sign flips, saddlepoint"
STUDENTIZED = " and the studentized bootstrap"
"""What is added to the name of a test of signs where the studentized bootstrap had to agree."""
RankTest = Literal["wilcoxon", "sign"]


def tested(units: Units, resamples: int, seed: int, skewed: bool = False) -> tuple[float, str]:  # noqa: PT028 - no test
    """(p, test) of the hypothesis that the units' differences are 0 on average; units of one column, not gathered.

    Their signs are flipped; where they are skewed (or are said to be), or clusters' sizes go with them, the studentized
    bootstrap has to agree, and p is the larger one.
    """
    p, used = flipped(units, resamples, seed)
    if math.isnan(p) or not (skewed or leans(units)):
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


SKEWED = 0.03
"""|acceleration| (skewness / 6√n) from which on differences may be skewed."""

SKEWED_BUT_ONE = 0.02
"""The same without the value that lies farthest from the mean."""

APART = 0.2
"""Standard deviations between the mean and the median from which on differences are skewed, and no fewer than their
own standard error, 1 / √n: heavy tails on both sides bring them apart less."""

FEWEST = 6
"""Fewer differences do not tell a skew."""

FEWEST_TO_DRAW = 14
"""Fewer differences tell their own skewness too badly to take it from resamples; a sentence says that they look so."""

FEWEST_TO_CORRECT = 200
"""Fewer skewed differences leave the test above its level also where the studentized bootstrap has to agree."""

FEWEST_TO_TELL = 30
"""Fewer differences often show little of a skew that they have: a sentence says so from half as much of it on."""

SLIGHTLY, SLIGHTLY_APART = 0.02, 0.2
"""|acceleration|, and standard deviations between mean and median, from which on so few may be skewed."""

DOUBTFUL = 0.05
"""|acceleration| from which on the level is in doubt, whatever else the differences look like."""

MOST_TO_DRAW = 5_000
"""With more differences their mean is normal enough."""

MOST_TOGETHER = 1_000
"""The same of several hypotheses that are drawn together."""

LARGER = 1.5
"""Of how many average clusters the largest one holds the questions, from which on it is a large one: also of few."""

BY_CHANCE, SURELY = 0.1, 0.05
"""p of a correlation of clusters' sizes with their means, from which on it is taken for chance; and below which the
studentized bootstrap has to agree: with the former bound eight clusters lost .03 of their power without any tie."""


def is_skewed(values: Array) -> bool:
    """Whether differences look skewed: not heavy-tailed alone, not by one value, and not because few values are taken.

    values: one number a unit that moved; the sums of clusters, or what remains of them.
    """
    number = len(values)
    if number < FEWEST:
        return False
    off = values - values.mean()
    lean = _acceleration(off)
    if not abs(lean) > SKEWED:
        return False
    spread = math.sqrt(float(np.mean(off**2)))
    apart = float(values.mean() - np.median(values)) / spread
    if apart * lean <= 0 or abs(apart) <= max(APART, number**-0.5):
        return False
    if 2 * len(np.unique(np.round(off / spread, 9))) < number:  # the tail of a few grades is no tail
        return False
    rest = np.delete(off, np.argmax(np.abs(off)))
    other = _acceleration(rest - rest.mean())
    return other * lean > 0 and abs(other) > SKEWED_BUT_ONE


def may_be_skewed(values: Array) -> bool:
    """Whether few differences lean to a side, by mean and median as by the third moment: too little for a test to
    take it from them, and as much as lognormal ones often show whose tail was not drawn."""
    if not FEWEST <= len(values) < FEWEST_TO_TELL:
        return False
    off = values - values.mean()
    lean, spread = _acceleration(off), math.sqrt(float(np.mean(off**2)))
    if not abs(lean) > SLIGHTLY:
        return False
    apart = float(values.mean() - np.median(values)) / spread
    grades = 2 * len(np.unique(np.round(off / spread, 9))) < len(values)
    return apart * lean > 0 and abs(apart) > SLIGHTLY_APART and not grades


def _acceleration(off: Array) -> float:
    return float(np.nan_to_num(acceleration(off, np.ones(len(off), dtype=np.int64))))


def tie(units: Units, chance: float = BY_CHANCE) -> float:
    """Correlation of the clusters' sizes with their means, where there is one beyond chance; else 0.

    Means count by how sure they are, from the correlation of two values of one cluster. units: of one column, each row
    one unit. Questions of large clusters then have other differences than those of small
    ones, and a sign that is flipped for a whole cluster is not as likely up as down.
    """
    if not units.clustered or units.number < FEWEST or not np.ptp(units.sizes) > 0:
        return 0.0
    weight = units.sizes / (1 + (units.sizes - 1) * units.alike)
    means = units.sums[:, 0] / units.sizes
    off, size = (each - np.average(each, weights=weight) for each in (means, units.sizes))
    both = math.sqrt(float(np.sum(weight * off**2) * np.sum(weight * size**2)))
    if not both > 1e-12 * float(np.sum(weight * np.abs(means))):
        return 0.0
    from scipy.special import stdtr

    correlation = max(-1.0, min(1.0, float(np.sum(weight * off * size)) / both))
    statistic = abs(correlation) * math.sqrt((units.number - 2) / max(1 - correlation**2, 1e-12))
    return correlation if 2 * float(stdtr(units.number - 2, -statistic)) < chance else 0.0


def moved_of(units: Units) -> Units:
    """Only the units whose sum is not 0: what signs can tell from 0 hangs on no other. Clusters stay, because their
    sizes are in the mean."""
    column = units.sums[:, 0]
    kept = column[np.abs(column) > 1e-12 * np.abs(column).max(initial=0.0)]
    return units if units.clustered or len(kept) == len(column) else units_of(kept[:, None], None)


def upright(units: Units) -> Units:
    """Units of one column with a mean of 0 or more, as they would stand with the sides exchanged: what is drawn of them
    is the same whichever side is called the baseline."""
    if not units.means[0] < 0:
        return units
    rows = np.column_stack([units.sizes, -units.sums])
    order = by_content(rows)
    return replace(units, sums=rows[order, 1:], sizes=rows[order, 0], counts=units.counts[order])


def leans(units: Units) -> bool:
    """Whether the studentized bootstrap has to agree before a difference is shown.

    units: of one column, not gathered.
    """
    if np.count_nonzero(units.sums) > MOST_TO_DRAW:
        return False
    moved = moved_of(units)
    if moved.number < 2:
        return False
    return (moved.number >= FEWEST_TO_DRAW and is_skewed(moved.residuals()[:, 0])) or tie(moved, SURELY) != 0


def studentized_p(units: Units, resamples: int, seed: int) -> float:
    """Two-sided p by the studentized bootstrap, equal tails; units of one column. 0 where it does not exist, as then it
    contradicts nothing."""
    moved = upright(moved_of(units))
    variance = float(moved.variances()[0])
    if not variance > 0:
        return 0.0
    ratios = mean_draws(moved, resamples, seed, studentize=True)[1]
    return p_beyond(ratios, float(moved.means[0]) / math.sqrt(variance))


def p_beyond(ratios: Array, statistic: float) -> float:
    """Twice the share of resampled ratios beyond the statistic, on the side where there are fewer; what was seen counts
    as one more. 0 where more than a hundredth of them do not exist."""
    kept = ratios[np.isfinite(ratios)]
    if len(kept) < 0.99 * len(ratios):
        return 0.0
    fewer = min(int(np.count_nonzero(kept >= statistic)), int(np.count_nonzero(kept <= statistic)))
    return min(1.0, 2 * (fewer + 1) / (len(kept) + 1))


def ratios_together(units: Units, resamples: int, seed: int) -> tuple[Array, Array]:
    """(resamples, columns) studentized deviations of all columns in the same resamples, 0 for one without spread; and
    (columns,) the statistics that were seen."""
    off, sizes = units.residuals(), units.sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        off = off / np.sqrt(np.sum(off**2, axis=0))
        off[~np.isfinite(off)] = 0.0
        seen = np.nan_to_num(units.means / np.sqrt(units.variances()), posinf=0.0, neginf=0.0)
    rows = np.column_stack([off, off**2, off * sizes[:, None], sizes, sizes**2])
    totals, width = total_draws(rows, units.counts, resamples, seed), off.shape[1]
    first, squares, crossed = totals[:, :width], totals[:, width : 2 * width], totals[:, 2 * width : 3 * width]
    shift = first / totals[:, [-2]]
    squares = squares - 2 * shift * crossed + shift**2 * totals[:, [-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = first / np.sqrt(np.maximum(squares, 0) * (units.number / (units.number - 1)))
    ratios[squares <= 1e-12] = 0.0
    return ratios, seen


def doubt_of_mean(units: Units, lean: float) -> str:
    """Why the interval of a mean may miss it more often than it says, reasons joined; empty where nothing tells so.

    units: of one column. lean: the acceleration of a mean on an open scale; 0 where a scale's ends bound it, as its
    interval knows them.
    """
    reasons = []
    if units.number >= FEWEST and abs(lean) > DOUBTFUL:
        reasons.append(Reason("few values decide the mean, and they are skewed"))
    if units.clustered:  # a row may stand for several equal clusters
        sums, sizes = np.repeat(units.sums, units.counts, axis=0), np.repeat(units.sizes, units.counts)
        units = Units(sums, sizes, np.ones(len(sizes), dtype=np.int64), True, units.deviations)
    if known := tie(units, SURELY):
        share = rounded(abs(known), 1)  # to one place, so that numbers of one page share a sentence
        grows = Reason("the value grows with the size of the group (correlation {share})", share=share)
        falls = Reason("the value falls with the size of the group (correlation {share})", share=share)
        reasons.append(grows if known > 0 else falls)
    return joined(*reasons, *_of_a_large_group(units))


def doubt(units: Units) -> str:
    """Why the test may err more often than it says, reasons joined; empty where nothing tells so.

    units: of one column, not gathered.
    """
    if units.number < FEWEST:
        return ""
    reasons = []
    if np.count_nonzero(units.sums) <= MOST_TO_DRAW and (moved := moved_of(units)).number >= FEWEST:
        off = moved.residuals()[:, 0]
        few = may_be_skewed(off) or (moved.number < FEWEST_TO_CORRECT and is_skewed(off))
        ties = 2 * len(np.unique(np.round(off, 12))) < len(off)
        if few or (not ties and abs(_acceleration(off)) > DOUBTFUL):
            reasons.append(Reason("few differences decide, and they are skewed"))
    if known := tie(units):
        share = rounded(abs(known), 1)  # to one place, so that numbers of one page share a sentence
        grows = Reason("the difference grows with the size of the group (correlation {share})", share=share)
        falls = Reason("the difference falls with the size of the group (correlation {share})", share=share)
        reasons.append(grows if known > 0 else falls)
    return joined(*reasons, *_of_a_large_group(units))


def _of_a_large_group(units: Units) -> list[Reason]:
    """How much of all one cluster holds, where it decides."""
    if not units.clustered or units.number < 2:
        return []
    part = float(units.sizes.max() / units.sizes.sum())
    large = part >= MUCH and part * units.number > LARGER
    return [Reason("one group holds {share} of 100 questions", share=rounded(100 * part, 0))] if large else []
