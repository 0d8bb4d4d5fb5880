"""Intervals of means and other statistics: the bootstrap, and what stands in where it fails.

Methods, by the names that stand in the column `method`:

- "bca": bootstrap over units, bias-corrected and accelerated (Efron 1987, JASA 82);
- "wilson": Wilson's (1927, JASA 22) with the effective number of units, on a bounded scale;
- "student": Student's t on the standard error over units, on a scale without an end;
- "jackknife": Student's t on the jackknife's error, for means over pairs and the like;
- "order": two values of the ordered sample, for quantiles;
- "none": low and high are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ragbench.core.errors import BenchError
from ragbench.stats.resampling import DEFAULT, Confidence, bundle, resample, resample_ratios
from ragbench.stats.units import (
    NO_SPREAD,
    Array,
    as_table,
    mean_and_error,
    sum_by_unit,
    unit_codes,
    unit_totals,
)

LEAST_UNITS = 30  # below, the bootstrap covers too little
LEAST_SUCCESSES = 10  # and as many failures, on a bounded scale
MOST_UNDEFINED = 0.05  # share of draws on which a statistic may have no value
Bounds = tuple[ArrayLike, ArrayLike]
UNBOUNDED: Bounds = (-np.inf, np.inf)


def mean_intervals(
    values: ArrayLike,
    units: Any = None,
    bounds: Bounds = UNBOUNDED,
    confidence: Confidence = DEFAULT,
    *,
    was_asked: NDArray[np.bool_] | None = None,
) -> pd.DataFrame:
    """Return the mean of every column with its interval, a row a column.

    values: (rows, columns), NaN where unmeasured. units: (rows,) what was drawn independently;
    None: the rows. bounds: least and greatest possible value of each column, or of all.
    was_asked: (rows, columns) whether a value was to be measured; None: all.

    Columns: value, low, high, level, method, n, n_unmeasured, n_units, seed, and at_lowest,
    at_highest: the mean if all that is unmeasured lay at an end of the scale (NaN without ends).
    """
    table = as_table(values)
    sums, counts = unit_totals(table, units)
    mean, error = mean_and_error(sums, counts)
    n_units = (counts > 0).sum(axis=0)
    sums, counts = bundle(sums, confidence), bundle(counts, confidence)
    drawn = resample_ratios(sums, counts, confidence)
    with np.errstate(invalid="ignore", divide="ignore"):
        without_one = (sums.sum(axis=0) - sums) / (counts.sum(axis=0) - counts)
    frame = interval_frame(mean, error, n_units, drawn, without_one, bounds, confidence)

    is_measured = ~np.isnan(table)
    is_asked = np.ones_like(is_measured) if was_asked is None else was_asked
    frame["n"] = is_measured.sum(axis=0)
    frame["n_unmeasured"] = (is_asked & ~is_measured).sum(axis=0)
    frame["n_units"] = n_units
    frame["seed"] = confidence.seed
    for name, end in zip(("at_lowest", "at_highest"), bounds, strict=True):
        frame[name] = mean_with_missing(frame, np.asarray(end, dtype=float))
    return frame


def mean_with_missing(frame: pd.DataFrame, end: Array) -> Array:
    """Return the means if every unmeasured value lay at an end of the scale."""
    n = frame["n"].to_numpy(dtype=float)
    n_missing = frame["n_unmeasured"].to_numpy(dtype=float)
    mean = frame["value"].to_numpy()
    at_end = np.broadcast_to(np.where(np.isfinite(end), end, np.nan), mean.shape)
    with np.errstate(invalid="ignore"):
        together = (np.where(n > 0, mean, 0.0) * n + at_end * n_missing) / (n + n_missing)
    return np.where(n_missing > 0, together, mean)


def statistic_intervals(
    parts: ArrayLike,
    statistic: Callable[[Array], Array],
    units: Any = None,
    bounds: Bounds = UNBOUNDED,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return a statistic of sums with its interval: corpus BLEU, F1, balanced accuracy.

    parts: (rows, parts) numbers that are summed over all rows, such as true and false positives;
    a row with a NaN is unmeasured. statistic: from sums (draws, parts) to values (draws,), or
    (draws, statistics); NaN where it has none. The rest as in `mean_intervals`; a row a statistic.
    """
    table = as_table(parts)
    is_measured: NDArray[np.bool_] = ~np.any(np.isnan(table), axis=1)
    codes, n_units = measured_units(units, is_measured)
    totals = bundle(sum_by_unit(table[is_measured], codes, n_units), confidence)

    def compute(sums: Array) -> Array:
        with np.errstate(invalid="ignore", divide="ignore"):
            values = as_table(statistic(sums))
        return np.where(np.isfinite(values), values, np.nan)

    whole = totals.sum(axis=0, keepdims=True)
    value = compute(whole)[0]
    without_one = compute(whole - totals)
    drawn = compute(resample(totals, confidence))
    is_undefined = np.isnan(drawn).mean(axis=0) > MOST_UNDEFINED
    drawn[:, is_undefined] = np.nan
    # The spread of the draws is known of a count, too, which leaving one unit out rarely changes.
    known_draws = np.ma.masked_invalid(drawn)
    error = known_draws.std(axis=0).filled(np.nan) * np.sqrt(len(totals) / max(len(totals) - 1, 1))
    frame = interval_frame(value, error, n_units, drawn, without_one, bounds, confidence)
    return add_counts(frame, is_measured, n_units, confidence)


def linear_values(parts: ArrayLike, statistic: Callable[[Array], Array]) -> Array:
    """Return (rows, statistics) values of single rows whose mean is a statistic of their sums.

    F1 and the like are no means, but near the truth they are: each row counts by how far it moves
    the statistic (the delta method; Efron 1982, The Jackknife, chapter 6), so that statistics are
    compared as means are. parts, statistic: as in `statistic_intervals`; a row with a NaN is NaN.
    """
    table = as_table(parts)
    is_known = ~np.any(np.isnan(table), axis=1)
    known = table[is_known]
    totals = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # While the totals grow by a millionth the statistic is a line.
        step = 1e-6 * totals.sum()
        grown = np.vstack([totals, totals + step * np.eye(len(totals))])
        value, *moved = as_table(statistic(grown))
        moves = len(known) * known @ ((np.array(moved) - value) / step)
    values = np.full((len(table), len(value)), np.nan)
    values[is_known] = value + moves - moves.sum(axis=0) / max(len(known), 1)
    return values


def part_intervals(
    whole: ArrayLike,
    part: ArrayLike,
    units: Any = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return the shares of a whole and of a part of it, such as hits and wrong hits.

    whole, part: (rows,) 0 or 1, NaN where unmeasured; where part is 1, whole is 1. A row of which
    the part is not known counts in the whole alone. No end of the part's interval lies beyond that
    of the whole. Two rows as of `mean_intervals`. Raises BenchError for a part outside the whole.
    """
    pair = np.column_stack([np.asarray(whole, dtype=float), np.asarray(part, dtype=float)])
    if (pair[:, 1] > pair[:, 0]).any():
        row = int(np.argmax(pair[:, 1] > pair[:, 0]))
        raise BenchError(f"row {row} is in the part and not in the whole")
    frame = mean_intervals(pair, units, (0.0, 1.0), confidence)
    # If the whole lies within its interval, the part, which is no larger, lies below its end.
    ends = frame[["low", "high"]].to_numpy()
    frame.loc[1, ["low", "high"]] = np.minimum(ends[1], ends[0])
    return frame


def quantile_intervals(
    values: ArrayLike,
    shares: Sequence[float],
    units: Any = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return quantiles of one column, such as of latency, between two ordered values.

    values: (rows,), NaN where unmeasured. shares: of which quantiles, 0.5 is the median. Columns as
    of `mean_intervals`, and share. Without enough values beyond the quantile it has no interval.
    With units the ranks are those of the effective number of values (Woodruff 1952, JASA 47).
    """
    column = np.asarray(values, dtype=float)
    is_measured = ~np.isnan(column)
    measured = column[is_measured]
    codes, n_units = measured_units(units, is_measured)
    ordered = np.sort(measured)
    rows = []
    for share in shares:
        value, low, high = np.nan, np.nan, np.nan
        if len(measured):
            value = float(np.quantile(ordered, share))
            n_effective = effective_values(measured <= value, share, codes, n_units)
            low, high = order_ends(ordered, share, n_effective, confidence.level)
        method = "none" if np.isnan(low) else "order"
        rows.append((share, value, low, high, confidence.level, method))
    columns = ["share", "value", "low", "high", "level", "method"]
    return add_counts(pd.DataFrame(rows, columns=columns), is_measured, n_units, confidence)


def add_counts(
    frame: pd.DataFrame, is_measured: NDArray[np.bool_], n_units: int, confidence: Confidence
) -> pd.DataFrame:
    """Add to estimates of the same rows how many there are, and the seed."""
    return frame.assign(
        n=int(is_measured.sum()),
        n_unmeasured=int((~is_measured).sum()),
        n_units=n_units,
        seed=confidence.seed,
    )


def measured_units(units: Any, is_measured: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """Number the units of the measured rows, and count them."""
    labels = None if units is None else np.asarray(units)[is_measured]
    return unit_codes(labels, int(is_measured.sum()))


def effective_values(
    is_below: NDArray[np.bool_], share: float, codes: NDArray[np.intp], n_units: int
) -> int:
    """Return how many independent values would tell as much of a quantile."""
    n = len(is_below)
    if n_units == n:
        return n
    sums, counts = unit_totals(as_table(is_below), codes)
    error = mean_and_error(sums, counts)[1][0]
    if not error > NO_SPREAD:
        return n_units
    return int(np.clip(share * (1 - share) / error**2, 1, n))


def order_ends(ordered: Array, share: float, n_effective: int, level: float) -> tuple[float, float]:
    """Return the ordered values between which a quantile lies; NaN where there are too few.

    How many of n values lie below the quantile is binomial (n, share).
    """
    n = len(ordered)
    below = special.bdtr(np.arange(n_effective + 1), n_effective, share)
    first, last = np.searchsorted(below, [(1 - level) / 2, (1 + level) / 2])
    first_rank = int(np.floor(first * n / n_effective))
    last_rank = int(np.ceil((last + 1) * n / n_effective))
    if first_rank < 1 or last_rank > n:
        return np.nan, np.nan
    return float(ordered[first_rank - 1]), float(ordered[last_rank - 1])


def interval_frame(
    value: Array,
    error: Array,
    n_units: NDArray[np.intp] | int,
    drawn: Array,
    without_one: Array,
    bounds: Bounds,
    confidence: Confidence,
) -> pd.DataFrame:
    """Choose and compute the interval of every estimate: value, low, high, level, method.

    value, error, n_units: (columns,). drawn: (draws, columns) values of bootstrap samples.
    without_one: (units, columns) values without each unit.
    """
    least, greatest, units = np.broadcast_arrays(*bounds, n_units, value)[:3]
    rows = []
    for column in range(len(value)):
        scale = float(least[column]), float(greatest[column])
        known = value[column], error[column], int(units[column])
        low, high, method = np.nan, np.nan, choose_method(*known, scale)
        if method == "bca":
            low, high = bca_ends(
                drawn[:, column], value[column], without_one[:, column], confidence.level
            )
            if np.isnan(low):
                method = "wilson" if np.isfinite(scale).all() else "student"
        if method == "wilson":
            low, high = wilson_ends(*known, scale, confidence.level)
        elif method == "student":
            half = t_quantile(confidence.level, known[2] - 1) * error[column]
            low, high = value[column] - half, value[column] + half
        low, high = np.clip([low, high], *scale)
        rows.append((value[column], low, high, confidence.level, method))
    return pd.DataFrame(rows, columns=["value", "low", "high", "level", "method"])


def choose_method(value: float, error: float, n_units: int, scale: tuple[float, float]) -> str:
    """Tell which interval an estimate gets: bca where it holds, else wilson or student, or none."""
    is_bounded = bool(np.isfinite(scale).all())
    if np.isnan(error) or n_units < 2:
        return "none"
    if not error > NO_SPREAD:
        return "wilson" if is_bounded else "none"
    if n_units < LEAST_UNITS:
        return "wilson" if is_bounded else "student"
    if not is_bounded:
        return "bca"
    share, n_effective = effective_units(value, error, n_units, scale)
    n_rarer = min(share, 1 - share) * n_effective
    return "bca" if n_rarer >= LEAST_SUCCESSES else "wilson"


def effective_units(
    value: float, error: float, n_units: int, scale: tuple[float, float]
) -> tuple[float, float]:
    """Return a mean as a share m of its scale, and how many yes-or-no answers are as sure.

    That number is m (1 - m) / SE^2; without any spread it is the number of units.
    """
    width = scale[1] - scale[0]
    share = (value - scale[0]) / width
    if not error > NO_SPREAD:
        return share, float(n_units)
    return share, share * (1 - share) / (error / width) ** 2


def wilson_ends(
    value: float, error: float, n_units: int, scale: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return Wilson's interval of the effective number of units.

    With the quantile of t, as the error is itself estimated from the units.
    """
    share, n = effective_units(value, error, n_units, scale)
    t = t_quantile(level, n_units - 1)
    # Solved for the share p of which `share` lies t errors away: (share - p)^2 = t^2 p(1 - p)/n.
    stretch = 1 + t**2 / n
    centre = (share + t**2 / (2 * n)) / stretch
    half = t * np.sqrt(share * (1 - share) / n + (t / (2 * n)) ** 2) / stretch
    low, high = np.clip([centre - half, centre + half], 0, 1)
    width = scale[1] - scale[0]
    return scale[0] + width * low, scale[0] + width * high


def bca_ends(drawn: Array, value: float, without_one: Array, level: float) -> tuple[float, float]:
    """Return the BCa interval of one estimate; NaN where its draws do not vary enough.

    scipy.stats.bootstrap gives the same, but draws anew for every estimate.
    """
    known = drawn[np.isfinite(drawn)]
    left_out = without_one[np.isfinite(without_one)]
    # Bias: how far the middle of the draws lies from the value; ties count half.
    tie = 1e-12 * max(abs(value), 1.0)
    below = (known < value - tie).mean() + (np.abs(known - value) <= tie).mean() / 2
    bias = special.ndtri(below)
    # Acceleration: the skewness of the influence of single units.
    influence = left_out.mean() - left_out
    squares = (influence**2).sum()
    if not np.isfinite(bias):
        return np.nan, np.nan
    acceleration = (influence**3).sum() / (6 * squares**1.5) if squares > 0 else 0.0
    z = bias + special.ndtri([(1 - level) / 2, (1 + level) / 2])
    shares = special.ndtr(bias + z / (1 - acceleration * z))
    low, high = np.quantile(known, shares)
    return float(low), float(high)


def jackknife_error(without_one: Array) -> Array:
    """Return the standard errors of statistics, by their values without each unit."""
    n_units = len(without_one)
    if n_units < 2:
        return np.full(without_one.shape[1], np.nan)
    return np.sqrt((n_units - 1) * without_one.var(axis=0))


def jackknife_intervals(
    value: ArrayLike,
    without_one: ArrayLike,
    bounds: Bounds = UNBOUNDED,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return statistics with Student's interval on the jackknife's error.

    value: (statistics,). without_one: (units, statistics) their values without each unit. For what
    cannot be drawn again: in a drawn set the copies of an item are its own nearest neighbours.
    """
    values, table = np.atleast_1d(np.asarray(value, dtype=float)), as_table(without_one)
    n_units = len(table)
    error = jackknife_error(table)
    is_known = (error > NO_SPREAD) & (n_units > 2)
    half = np.where(is_known, t_quantile(confidence.level, n_units - 1) * error, np.nan)
    frame = pd.DataFrame(
        {
            "value": values,
            "low": np.clip(values - half, *bounds),
            "high": np.clip(values + half, *bounds),
            "level": confidence.level,
            "method": np.where(is_known, "jackknife", "none"),
        }
    )
    return add_counts(frame, np.ones(n_units, dtype=bool), n_units, confidence)


def t_quantile(level: float, degrees: int) -> float:
    """Return how many standard errors an interval of a level reaches to each side."""
    return float(special.stdtrit(degrees, (1 + level) / 2)) if degrees > 0 else np.nan


def pairwise_intervals(
    means_to_others: ArrayLike, squares_to_others: ArrayLike, confidence: Confidence = DEFAULT
) -> pd.DataFrame:
    """Return mean and standard deviation of a distance over all pairs of n items: two rows.

    means_to_others, squares_to_others: (n,) of every item the mean distance, and the mean squared
    distance, to the n - 1 others; n is at least 3. Pairs share items, so their spread tells
    nothing; leaving items out does (U-statistics: Arvesen 1969, Ann. Math. Stat. 40).
    """
    means = np.asarray(means_to_others, dtype=float)
    squares = np.asarray(squares_to_others, dtype=float)
    n = len(means)
    # Each of the n (n - 1) ordered pairs holds two items: without one, 2 (n - 1) are gone.
    mean_without = (n * means.mean() - 2 * means) / (n - 2)
    square_without = (n * squares.mean() - 2 * squares) / (n - 2)
    value = [means.mean(), deviation(means.mean(), squares.mean())]
    without_one = np.column_stack([mean_without, deviation(mean_without, square_without)])
    return jackknife_intervals(value, without_one, (0.0, np.inf), confidence)


def deviation(mean: ArrayLike, mean_square: ArrayLike) -> Array:
    """Return the population standard deviation of a mean and a mean of squares."""
    variance = np.asarray(mean_square, dtype=float) - np.square(mean)
    return np.sqrt(np.maximum(variance, 0.0))
