"""Intervals of a mean from its resamples or its variance: fast draws, percentile, BCa, ABC, Wilson, exact.

And a mean of units with its resamples: the intervals that estimates and comparisons choose from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.types import Array, IntervalNote
from ragbench.old.stats.values import Units, cells, weighted_sum

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
    def no_spread(self) -> IntervalNote:
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


BLOCK = 1 << 18
"""Numbers held at once: small enough for the processor's cache."""

CELL, SINGLE = 60.0, 4.0
"""Nanoseconds for the count of a cell and for a single unit: they choose how the same counts are drawn."""

DRAWN = 1 << 16
"""Units drawn at once: what counts them outgrows the cache sooner, and then takes three times as long."""

MOST_UNITS = 5_000
"""With more units an interval is found without draws (`intervals.abc`), unless draws are asked for by name."""

KEPT = 2
"""Draws of units that are kept, of 50 MB each for 10,000 resamples of 5,000 units: every metric of every system on the
same questions takes the same."""
MOST_KEPT = 10_000 * MOST_UNITS
"""Counts of a draw of units that is kept."""

FEWEST_FOR_SINGLE = 2_000  # values; see where the draws are summed

MOST_FLIPPED, LARGEST = 5_000, 0.01
"""Signs of more different rows than so many are not drawn, where none has more than this share of the sum of squares:
the excess kurtosis of the flipped sums is then no farther from 0 than twice that."""


def mean_draws(units: Units, resamples: int, seed: int, *, studentize: bool) -> tuple[Array, Array]:
    """(resamples,) means of one metric over bootstrap samples of whole units, and, if asked for, (resamples,) of
    (mean of the resample − mean) / its own standard error, NaN where a resample has no spread: the bootstrap-t's.

    units: of one metric. How often a unit is drawn hangs on no value, so that metrics share it.
    """
    off, sizes, number = units.residuals()[:, 0], units.sizes, units.number
    rows = [off, *([off**2] if studentize else [])]
    if units.clustered:
        rows += [sizes, *([off * sizes, sizes**2] if studentize else [])]
    first, *totals = total_draws(np.column_stack(rows), units.counts, resamples, seed).T
    size = totals[studentize] if units.clustered else float(number)
    shift = first / size
    means = float(units.means[0]) + shift
    if not studentize:
        return means, np.full(0, np.nan)
    crossed, twice = totals[2:] if units.clustered else (first, number)
    squares = totals[0] - 2 * shift * crossed + shift**2 * twice
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = first / np.sqrt(np.maximum(squares, 0) * (number / (number - 1)))
    ratios[squares <= 1e-12 * float(weighted_sum(units.counts, off**2))] = np.nan
    return means, ratios


def total_draws(rows: Array, counts: NDArray[np.int64], resamples: int, seed: int) -> Array:
    """(resamples, columns) sums over bootstrap samples of `counts.sum()` rows, row i standing for counts[i] ≥ 1 equal
    ones, all columns of one draw together."""
    totals, done = np.empty((resamples, rows.shape[1])), 0
    for drawn in cell_draws(counts, resamples, seed):
        totals[done : done + len(drawn)] = weighted_rows(drawn, rows)
        done += len(drawn)
    return totals


def weighted_rows(drawn: NDArray[Any], rows: Array) -> Array:
    """drawn @ rows, as quick and with last digits that no number of threads changes."""
    totals: Array = np.einsum("ij,kj->ik", drawn.astype(np.float64, copy=False), np.ascontiguousarray(rows.T))
    return totals


def cell_draws(counts: NDArray[np.int64], resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """(size, cells) blocks of multinomial counts, `resamples` rows in all: how often each cell is among as many draws
    as there are units, counts[i] ≥ 1 of them in cell i.

    Cell by cell, whose cost does not depend on how many units there are; by its units where these are few.
    """
    number, width = int(counts.sum()), len(counts)
    if width * CELL > number * SINGLE:
        first = np.cumsum(counts) - counts
        for block in unit_draws(number, resamples, seed):
            yield block if width == number else np.add.reduceat(block, first, axis=1, dtype=np.uint32)
        return
    rng = np.random.default_rng(seed)
    for size in _blocks(width, resamples):
        yield rng.multinomial(number, counts / number, size=size)


def unit_draws(units: int, resamples: int, seed: int) -> Iterable[NDArray[np.uint8]]:
    """(size, units) blocks of how often each unit is in a bootstrap sample, `resamples` rows in all; the same again for
    the same numbers. In bytes, as no unit is drawn 256 times: their sum in a byte does not hold."""
    return (_kept_units if units * resamples <= MOST_KEPT else _units)(units, resamples, seed)


@lru_cache(maxsize=KEPT)
def _kept_units(units: int, resamples: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    blocks = tuple(_units(units, resamples, seed))
    for block in blocks:
        block.flags.writeable = False
    return blocks


def _units(units: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    rng = np.random.default_rng(seed)
    for size in _blocks(units, resamples, DRAWN):
        places = rng.integers(0, units, size=(size, units), dtype=np.uint32) + (np.arange(size) * units)[:, None]
        often = np.bincount(places.ravel(), minlength=size * units).reshape(size, units)
        yield often.astype(np.uint8)


def _blocks(width: int, resamples: int, most: int = BLOCK) -> Iterator[int]:
    """How many rows are held at once, again and again."""
    step = max(1, most // max(width, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def are_smooth(rows: Array) -> bool:
    """Whether sums of different rows with random signs are so near to normal that drawing signs tells no more of them:
    more than MOST_FLIPPED rows, none of which has more than LARGEST of the squares of a column."""
    if len(rows) <= MOST_FLIPPED:
        return False
    squares = rows**2
    return bool((squares.max(axis=0) <= LARGEST * squares.sum(axis=0)).all())


def sign_flips(differences: Array, resamples: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """(resamples, metrics) sums of the differences with random signs, whole rows flipped together; and whether
    they were drawn as normal ones.

    differences: (units, metrics), in any order. Equal rows up to sign are one cell, whose sum needs only a
    Binomial(count, ½) draw, taken as the number of ones among that many random bits. Where there are very many cells
    (`are_smooth`) the sums are drawn from the normal distribution with the flips' covariance.
    """
    kept = differences[np.any(differences != 0, axis=1)]
    if not len(kept):
        return np.zeros((resamples, differences.shape[1])), False
    leading = kept[np.arange(len(kept)), np.argmax(kept != 0, axis=1)]
    upright = kept * np.sign(leading)[:, None]
    rows, counts = cells(upright[np.lexsort(upright.T)])
    if are_smooth(rows):
        return _normal_sums(kept, resamples, rng), True
    if counts.max() == 1:
        return _flip_singles(rows, resamples, rng), False
    width = 8 if 8 * int(np.sum((counts + 63) // 64)) > int(np.sum((counts + 7) // 8)) else 64
    return _flip_cells(rows, counts, width, resamples, rng), False


def every_flip(differences: Array) -> Array:
    """(2^units, metrics) sums of the differences under every pattern of signs; as few units as have moved."""
    sums = np.zeros((1, differences.shape[1]))
    for row in differences:
        sums = np.concatenate([sums + row, sums - row])
    return sums


def _normal_sums(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """What sums with random signs are nearly distributed as: normal with mean 0 and covariance rowsᵀ rows."""
    scale = np.sqrt(np.sum(rows**2, axis=0))
    shares = rows / scale
    products = [[float(np.sum(column * other)) for other in shares.T] for column in shares.T]  # sums of one order
    values, vectors = np.linalg.eigh(np.array(products))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T * scale
    return weighted_rows(rng.standard_normal((resamples, rows.shape[1])), root)


def _flip_singles(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Where no two rows are equal: a random byte for eight rows, whose 256 patterns of signs are summed once."""
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    padded = np.zeros((-(-len(rows) // 8) * 8, rows.shape[1]))
    padded[: len(rows)] = rows
    sums = np.zeros((resamples, rows.shape[1]))
    for eight in padded.reshape(-1, 8, rows.shape[1]):
        sums += (signs @ eight)[np.frombuffer(rng.bytes(resamples), dtype=np.uint8)]
    return sums


def _flip_cells(rows: Array, counts: NDArray[np.int64], width: int, resamples: int, rng: np.random.Generator) -> Array:
    words = (counts + width - 1) // width
    values = np.repeat(rows, words, axis=0)
    bits = np.full(len(values), width)
    bits[np.cumsum(words) - 1] = counts - (words - 1) * width
    masks = ((1 << bits.astype(object)) - 1).astype(np.uint8 if width == 8 else np.uint64)
    # twice as fast, and above so many cells rounding is far below the noise of the draws
    kind = np.float32 if len(values) > FEWEST_FOR_SINGLE else np.float64
    factor = values.astype(kind)
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK // len(values))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        noise = np.frombuffer(rng.bytes(size * len(values) * width // 8), dtype=masks.dtype)
        ones = np.bitwise_count(noise.reshape(size, len(values)) & masks).astype(kind)
        sums[start : start + size] = ones @ factor
    return 2 * sums - weighted_sum(counts, rows)
