"""Intervals of a mean from its resamples or its variance: percentile, BCa, ABC, Wilson with effective n, exact, t.

And a mean of units with its resamples: the intervals that estimates and comparisons choose from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array
from ragbench.stats.draws import MOST_UNITS, mean_draws
from ragbench.stats.values import Units, weighted_sum

Interval = tuple[float, float]


def normal_quantile(probability: float) -> float:
    """z with P(Z ≤ z) = probability."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def t_quantile(probability: float, freedom: float) -> float:
    """t with P(T ≤ t) = probability under Student's t with `freedom` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def resampled(draws: Array, value: float, acceleration: float, level: float) -> dict[str, Interval]:
    """What resamples tell: "percentile", their middle `level`; and "bca", bias-corrected and accelerated (Efron 1987),
    where it exists: not with all resamples on one side of the value, nor without spread.

    Quantiles by linear interpolation; ties of a resample with the value count one half.
    """
    from scipy.special import ndtr, ndtri

    tails, slack = np.array([(1 - level) / 2, (1 + level) / 2]), 1e-9 * float(np.ptp(draws))
    below = float(np.mean(draws < value - slack) + np.mean(draws <= value + slack)) / 2
    shifted = ndtri(below) + ndtri(tails)
    exists = 0 < below < 1 and (acceleration * shifted < 1).all()  # not where the acceleration is NaN
    corrected = ndtr(ndtri(below) + shifted / (1 - acceleration * shifted)) if exists else []
    ends = [float(end) for end in np.quantile(draws, [*tails, *corrected])]
    return {"percentile": (ends[0], ends[1])} | ({"bca": (ends[2], ends[3])} if exists else {})


def abc(
    statistic: Callable[[Array], Array],
    sums: Array,
    counts: NDArray[np.int64],
    influences: Array,
    level: float,
    freedom: float = math.inf,
) -> Interval | None:
    """What BCa comes to without drawing, to the second order: approximate bootstrap confidence (DiCiccio, Efron 1992,
    Biometrika 79: 231, section 4), of a smooth function of the totals of many units.

    statistic: (rows, columns) totals to (rows,) values. sums: (units, columns) what each adds, whole clusters where
    values belong together. counts: how many such units. influences: (units,) how the statistic moves with the weight of
    one; the squares add up to its variance. freedom: of that variance, where clusters leave fewer than their number.
    None where it does not exist.
    """
    from scipy.special import ndtr, ndtri

    whole, number, shape = weighted_sum(counts, sums), float(counts.sum()), acceleration(influences, counts)
    error = math.sqrt(float(weighted_sum(counts, influences**2)))
    along = weighted_sum(counts, influences[:, None] * sums) / error  # to where the statistic is one error higher
    centred = sums - whole / number
    products = [weighted_sum(counts, centred * column[:, None]) for column in centred.T]
    values, vectors = np.linalg.eigh(np.array(products))
    ways = np.vstack([along, vectors.T * np.sqrt(np.maximum(values, 0.0))[:, None]]) / 16
    bends = (statistic(whole + ways) - 2 * statistic(whole[None]) + statistic(whole - ways)) * 16**2 / (2 * error)
    lean = float(ndtri(2 * ndtr(shape) * ndtr(bends[0] - bends[1:].sum())))
    shifted = lean + t_quantile((1 + level) / 2, freedom) * np.array([-1.0, 1.0])
    ends = statistic(whole + (shifted / (1 - shape * shifted) ** 2)[:, None] * along)
    exists = (shape * shifted < 1).all() and np.isfinite(ends).all() and ends[0] < ends[1]
    return (float(ends[0]), float(ends[1])) if exists else None


def acceleration(residuals: Array, counts: NDArray[np.int64]) -> float:
    """a = Σ d³ / (6 (Σ d²)^1.5) over the units' deviations from the mean: the jackknife's value without its loop."""
    largest = float(np.abs(residuals).max(initial=0.0))
    if not largest > 0:
        return math.nan
    scaled = residuals / largest  # cubes of tiny deviations would vanish
    squares = scaled * scaled
    return float(weighted_sum(counts, squares * scaled)) / (6 * float(weighted_sum(counts, squares)) ** 1.5)


def studentized(ratios: Array, value: float, variance: float, level: float) -> Interval | None:
    """Bootstrap-t interval (Efron 1981) from resampled (mean − value) / own standard error; NaN ratios are left out.

    None where more than a hundredth of the resamples had no spread.
    """
    kept = ratios[np.isfinite(ratios)]
    if len(kept) < 0.99 * len(ratios):
        return None
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    error = math.sqrt(variance)
    return value - float(high) * error, value - float(low) * error


def bonett_price(value: float, square: float, n: float, freedom: float, level: float) -> Interval:
    """Adjusted Wald interval of a paired difference (Bonett, Price 2012), for any scores.

    Two pairs are added, one that moved up and one that moved down, each by the root mean `square` of those that
    moved (1 for 0/1 values). value: mean difference. square: mean squared difference over the `n` pairs.
    """
    total = n + 2
    moved, second = value * n / total, square / total
    half = t_quantile((1 + level) / 2, freedom) * math.sqrt(max(second - moved**2, 0.0) / total)
    return moved - half, moved + half


def tango(up: int, down: int, n: int, level: float) -> Interval:
    """Score interval (Tango 1998) of a difference of shares of `n` pairs, of which so many moved up and down by 1."""
    quantile, value = normal_quantile((1 + level) / 2), (up - down) / n

    def end(far: float) -> float:
        near = value
        for _halving in range(60):
            middle = (near + far) / 2
            inside = abs(tango_score(up, down, n, middle)) <= quantile
            near, far = (middle, far) if inside else (near, middle)
        return near

    return end(-1.0), end(1.0)


def tango_score(up: int, down: int, n: int, difference: float) -> float:
    """Standard normal score of what was seen if the true difference were this, in [−1, 1] (Tango 1998, equation 8):
    with the standard error that the likeliest share of pairs that moved gives it then."""
    apart = up - down - n * difference
    linear = (2 * n - up + down) * difference - up - down
    free = down * difference * (1 - difference)
    share = (math.sqrt(max(linear**2 + 8 * n * free, 0.0)) - linear) / (4 * n)
    variance = n * (2 * share + difference * (1 - difference))
    return apart / math.sqrt(variance) if variance > 1e-12 else math.copysign(math.inf, apart) if apart else 0.0


def wilson(share: float, effective: float, quantile: float) -> Interval:
    """Wilson's score interval (1927) for a mean on [0, 1] that is as sure as `effective` independent 0/1 values."""
    square = quantile**2
    centre = (share + square / (2 * effective)) / (1 + square / effective)
    inside = share * (1 - share) / effective + square / (4 * effective**2)
    half = quantile * math.sqrt(max(inside, 0.0)) / (1 + square / effective)
    low = 0.0 if share <= 0 else max(0.0, centre - half)
    high = 1.0 if share >= 1 else min(1.0, centre + half)
    return low, high


def bonett(values: Array, level: float) -> Interval | None:
    """Interval of a standard deviation, of values that need not be normal (Bonett 2006, CSDA 50: 775).

    From the kurtosis about a trimmed mean, on the scale of the logarithm. The interval from chi-square is right for
    normal values alone: of differences half or more of which are 0 it covers .64 to .70 of .95 from 50 values on, and
    this one .93 to .96; of 10 to 20 such values this one covers .79 to .92.
    None for fewer than five values, and without spread.
    """
    n, quantile = len(values), normal_quantile((1 + level) / 2)
    squares = float(np.sum((values - values.mean()) ** 2)) if n else 0.0
    if n < 5 or n <= quantile or not squares > 0:
        return None
    trimmed = int(n / (2 * math.sqrt(n - 4)))
    trimmed = min(trimmed, (n - 1) // 2)
    middle = float(np.sort(values)[trimmed : n - trimmed].mean())
    kurtosis = n * float(np.sum((values - middle) ** 4)) / squares**2
    correction = n / (n - quantile)
    half = quantile * correction * math.sqrt(max(kurtosis - (n - 3) / n, 0.0) / (n - 1))
    deviation = math.sqrt(squares / (n - 1) * correction)
    return deviation * math.exp(-half / 2), deviation * math.exp(min(half / 2, 300.0))


def clopper_pearson(successes: float, n: int, level: float) -> Interval:
    """The exact interval of a proportion (Clopper, Pearson 1934): never covers less than `level`."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes >= n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def student(value: float, variance: float, freedom: float, level: float) -> Interval:
    """value ± t · standard error."""
    half = t_quantile((1 + level) / 2, freedom) * math.sqrt(variance)
    return value - half, value + half


def stretched(interval: Interval, value: float, freedom: float, level: float, stricter: float) -> Interval:
    """The interval of `value` at a stricter level: both of its arms longer by the ratio of Student's quantiles.

    So far out resamples are too few to tell an end from, and the end that a t interval has is exact.
    """
    factor = t_quantile((1 + stricter) / 2, freedom) / t_quantile((1 + level) / 2, freedom)
    return value - (value - interval[0]) * factor, value + (interval[1] - value) * factor


def fisher(value: float, error: float, freedom: float, level: float) -> Interval:
    """tanh(artanh(value) ± t · error / (1 − value²)): for a value in (−1, 1) that is skewed near its ends."""
    middle = math.atanh(value)
    half = t_quantile((1 + level) / 2, freedom) * error / (1 - value**2)
    return math.tanh(middle - half), math.tanh(middle + half)


def normal_p(score: float) -> float:
    """P(Z ≤ score), as far below as a hypothesis is that speaks of what lies above."""
    from scipy.special import ndtr

    return float(ndtr(score))


def t_p(statistic: float, freedom: float) -> float:
    """Two-sided p of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(statistic)))


SKEWED = 0.02
"""From this |acceleration| on (skewness / 6√n) BCa and t cover too little, and the studentized bootstrap is needed."""

FEWEST_FOR_BCA = 100
"""Below, the studentized bootstrap covers better than BCa where no end of a scale bounds the mean."""

FEWEST_CLUSTERS_FOR_BOOTSTRAP = 50
"""With fewer in effect, drawing whole clusters covers too little (.91 to .94 of .95 with 20 to 50)."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One metric's mean over the values of all units.

    units: of this metric alone. variance: squared standard error (with clusters, the C / (C − 1) sandwich); 0 without
    spread. acceleration: of BCa; NaN without spread. draws, ratios: resampled means and studentized deviations, if
    drawn.
    """

    value: float
    variance: float
    acceleration: float
    units: Units
    draws: Array | None = None
    ratios: Array | None = None

    @property
    def few_clusters(self) -> bool:
        """Whether there are clusters, too few in effect to be drawn: as many as equal ones would leave the freedom."""
        return self.units.clustered and self.units.freedom + 1 < FEWEST_CLUSTERS_FOR_BOOTSTRAP

    @property
    def no_spread(self) -> str:
        """Why there is no variance: "no_spread" where all values are equal, "equal_groups" where only the means of
        groups are, which hide how values within them differ."""
        differ = float(self.units.deviations[0]) > 1e-20 * max(self.value**2 * self.units.n, 1e-300)
        return "equal_groups" if self.units.clustered and self.units.number > 1 and differ else "no_spread"

    @property
    def tie(self) -> tuple[float, int]:
        """The value (of clusters the mean) that more than half of the units share, NaN if none, and how many do not."""
        values, place = np.unique(np.round(self.units.sums[:, 0] / self.units.sizes, 12), return_inverse=True)
        counts = np.bincount(place, weights=self.units.counts)
        most = int(counts.argmax())
        apart = self.units.number - round(float(counts[most]))
        return (float(values[most]) if 2 * apart < self.units.number else math.nan), apart

    def few_moved(self, centre: float, level: float, step: float = math.nan) -> Interval:
        """Bonett and Price's interval of independent values most of which lie at `centre`.

        step: root mean square of the way from there of those that do not; by default, theirs.
        """
        apart = self.units.sums[:, 0] - centre
        squares, n = float(weighted_sum(self.units.counts, apart**2)), self.units.n
        moved = float(weighted_sum(self.units.counts, apart != 0))
        second = squares + 2 * (squares / moved if moved else step**2)
        low, high = bonett_price(self.value - centre, second, n, self.units.freedom, level)
        return centre + low, centre + high

    def intervals(self, level: float) -> dict[str, Interval]:
        """percentile and bca, or abc where nothing was drawn; studentized, t with units − 1 degrees of freedom,
        t_effective with those that clusters of unequal size leave (`Units.freedom`), and studentized_and_t, from the
        lower of the low ends of studentized and Student's to the higher of the high ones; as far as each exists."""
        made: dict[str, Interval] = {}
        if self.variance <= 0:
            return made
        if self.draws is not None:
            made |= resampled(self.draws, self.value, self.acceleration, level)
        elif analytic := self._abc(level):
            made["abc"] = analytic
        if self.ratios is not None:
            guarded = studentized(self.ratios, self.value, self.variance, level)
            if guarded is not None:
                made["studentized"] = guarded
        number, freedom = self.units.number, self.units.freedom
        made["t"] = student(self.value, self.variance, number - 1, level)
        if freedom < number - 1:
            made["t_effective"] = student(self.value, self.variance, freedom, level)
        if "studentized" in made:
            ends = made["studentized"], made.get("t_effective", made["t"])
            made["studentized_and_t"] = min(low for low, _high in ends), max(high for _low, high in ends)
        return made

    def _abc(self, level: float) -> Interval | None:
        units, off = self.units, self.units.residuals()
        sums = np.column_stack([off, units.sizes]) if units.clustered else off
        ends = abc(
            lambda totals: totals[..., 0] / (totals[..., 1] if units.clustered else units.n),
            sums, units.counts, off[:, 0] / units.n, level, units.freedom,
        )  # fmt: skip
        return None if ends is None else (self.value + ends[0], self.value + ends[1])


def mean_of(units: Units, spread: bool, resamples: int, seed: int, studentize: bool, *, always: bool = False) -> Mean:
    """The mean of one metric with its resamples, of no more than MOST_UNITS units unless it is to be drawn `always`.

    units: of this metric alone. spread: whether single values differ at all. studentize: whether a skewed mean may need
    the studentized bootstrap; it is drawn where units are few (below 100) or skewed.
    """
    residuals = units.residuals()[:, 0]
    variance = float(units.variances()[0]) if spread and units.number > 1 else 0.0
    if variance <= 1e-20 * float(units.deviations[0]) / max(units.n, 1) ** 2:  # groups that are equal but for rounding
        variance = 0.0
    if variance <= 0:
        return Mean(float(units.means[0]), 0.0, math.nan, units)
    shape = acceleration(residuals, units.counts)
    if units.number > MOST_UNITS and not always:
        return Mean(float(units.means[0]), variance, shape, units)
    wanted = studentize and (always or abs(shape) > SKEWED or units.number < FEWEST_FOR_BCA)
    draws, ratios = mean_draws(units, resamples, seed, studentize=wanted)
    return Mean(float(units.means[0]), variance, shape, units, draws, ratios if wanted else None)
