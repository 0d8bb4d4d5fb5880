"""Paired comparisons with a baseline: difference, interval, p and word of one family.

All come from the same draws, so that they agree. T = difference / standard error is held against
the greatest |T| of its family in bootstrap samples of differences that are centred at 0 (max-T:
Westfall & Young 1993, Resampling-Based Multiple Testing; bootstrap-t: Hall 1992, The Bootstrap
and Edgeworth Expansion). The interval is the difference, plus and minus the critical |T| x
standard error: it leaves 0 exactly where p_adjusted is at most 1 - level.

Methods, by the names in the column `method`: "bootstrap-t"; "normal", above 5,000 units;
"sign test", where all differences are equal; "equal", where all are 0; "none", where too few
differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ragbench.core.errors import BenchError
from ragbench.stats.intervals import UNBOUNDED, Bounds, mean_intervals
from ragbench.stats.resampling import (
    DEFAULT,
    MOST_UNITS,
    Confidence,
    distinct_columns,
    resample,
)
from ragbench.stats.units import NO_SPREAD, Array, as_table, mean_and_error, unit_totals

WORDS = (
    "better",
    "better, by less than matters",
    "worse",
    "worse, by less than matters",
    "the same",
    "equal on every question",
    "not shown",
    "too few differ",
    "cannot be told",
)
POWER = 0.8  # of a difference that is called detectable: four of five studies show it
# Up to this share of pairs may be unmeasured before a word must hold whatever they were. Worst
# cases alone cost too much: with 6 % of 60 missing by chance, power falls from .96 to .58.
MOST_MISSING = 0.05
LEAST_ONE_SIDED_P = 0.05  # below, one side misses more values than the other
# A draw of units that are all alike has no spread, and no scale for T. With more than this share
# of such draws nothing is shown: it is passed by four units (4 / 4^4 = .016), and where fewer than
# five of many differ (e^-5 = .007), which holds back a gain that only lacks rare losses by chance.
MOST_DEGENERATE = 0.01
LEAST_DIFFERING = 5  # the same rule where nothing is drawn
LEAST_EQUAL = 10  # units with one and the same difference that a sign test is made of
TIE = 1 + 1e-9  # |T| of samples that are equal differ by rounding


def compare(
    baseline: ArrayLike,
    challengers: ArrayLike,
    units: Any = None,
    *,
    bounds: Bounds = UNBOUNDED,
    lower_is_better: Sequence[bool] | bool = False,
    margin: Sequence[float] | float | None = None,
    was_asked: NDArray[np.bool_] | None = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Compare challengers with baselines, paired by row; all columns are one family.

    baseline, challengers: (rows, columns), NaN where unmeasured. units: (rows,) what was drawn
    independently; None: the rows. bounds: least and greatest possible value of each column.
    margin: the difference that matters, of each column (NaN: none) or of all; None: "the same" is
    never said. was_asked: (rows, columns) whether a pair was to be measured; None: all.

    Returns a row a column: difference, low, high, p, p_adjusted, detectable, word, single_low,
    single_high, n, n_unmeasured, n_units as `ragbench.core.frames.COMPARISONS` says, method, and
    word_if_bad, word_if_good: the word if all that is unmeasured were bad, or good, for the
    challenger; empty where nothing is. What cannot be told has no numbers.
    """
    before, after = as_table(baseline), as_table(challengers)
    if before.shape != after.shape:
        raise BenchError(f"baseline has shape {before.shape}, challengers {after.shape}")
    differences = after - before
    is_asked = np.ones(differences.shape, dtype=bool) if was_asked is None else was_asked
    is_lower = np.broadcast_to(lower_is_better, differences.shape[1])
    margins = np.broadcast_to(np.nan if margin is None else margin, differences.shape[1])

    frame = family_frame(differences, units, confidence)
    single = mean_intervals(differences, units, confidence=confidence)
    frame = frame.assign(single_low=single["low"], single_high=single["high"])
    frame["word"] = choose_words(frame, is_lower, margins)
    is_missing = np.isnan(differences) & is_asked
    frame["n_unmeasured"] = is_missing.sum(axis=0)
    frame["word_if_bad"] = frame["word_if_good"] = ""
    if not is_missing.any():
        return frame
    for name, extreme in zip(
        ("word_if_bad", "word_if_good"), extreme_cases(before, after, bounds, is_lower), strict=True
    ):
        is_endless = np.isinf(extreme).any(axis=0)
        extreme[~is_asked | is_endless] = np.nan
        case = family_frame(extreme, units, confidence)
        frame[name] = choose_words(case, is_lower, margins)
        frame.loc[is_endless, name] = "cannot be told"
        frame.loc[~is_missing.any(axis=0), name] = ""
    words = []
    names = ["word", "word_if_bad", "word_if_good"]
    for column, cases in enumerate(frame[names].itertuples(index=False, name=None)):
        rows = is_asked[:, column]
        is_harmless = may_leave_out(before[rows, column], after[rows, column])
        words.append(cases[0] if is_harmless else word_that_holds(set(cases)))
    frame["word"] = words
    # Numbers of the complete pairs would contradict a word that minds the others.
    numbers = frame.select_dtypes(float).columns
    frame.loc[frame["word"] == "cannot be told", numbers] = np.nan
    return frame


def family_frame(differences: Array, units: Any, confidence: Confidence) -> pd.DataFrame:
    """Estimate the differences of one family, (rows, columns), with what is shown of them."""
    greatest = np.abs(np.nan_to_num(differences)).max(axis=0, initial=0.0)
    frame = family_of_totals(*unit_totals(differences, units), confidence)
    is_equal = (greatest <= NO_SPREAD) & (frame["n"] > 0)
    return frame.assign(method=frame["method"].mask(is_equal, "equal"))


def family_of_totals(sums: Array, counts: Array, confidence: Confidence) -> pd.DataFrame:
    """Do the same of sums and counts of units, both (units, columns)."""
    mean, error = mean_and_error(sums, counts)
    n_units = (counts > 0).sum(axis=0)
    method = choose_methods(sums, counts, error)
    is_tested = np.isin(method, ["bootstrap-t", "normal"])
    drawn_t = draw_statistics(sums, counts, mean, confidence)

    low, high, p, p_adjusted = np.full((4, len(mean)), np.nan)
    # A draw without spread tells nothing of the others' scale: it counts against its own
    # comparison alone.
    is_endless = np.isinf(drawn_t)
    finite = np.where(is_endless, 0.0, drawn_t)[:, is_tested]
    greatest = finite.max(axis=1, initial=0.0)
    family_size = int((n_units > 0).sum())
    for column in range(len(mean)):
        if is_tested[column]:
            reached = np.where(is_endless[:, column], np.inf, greatest)
            observed = abs(mean[column]) / error[column] / TIE
            p[column] = share_reaching(drawn_t[:, column], observed)
            p_adjusted[column] = share_reaching(reached, observed)
            half = critical_value(reached, confidence.level) * TIE * error[column]
            low[column], high[column] = mean[column] - half, mean[column] + half
        elif method[column] == "sign test":
            p[column], p_adjusted[column], ends = sign_test(
                mean[column], int(n_units[column]), family_size, confidence.level
            )
            low[column], high[column] = ends
    method = np.where((method == "sign test") & np.isnan(low), "none", method)
    return pd.DataFrame(
        {
            "difference": mean,
            "low": low,
            "high": high,
            "p": p,
            "p_adjusted": p_adjusted,
            # A true difference of (threshold + z) errors passes the threshold with probability z's.
            "detectable": np.where(is_tested, high - mean + special.ndtri(POWER) * error, np.nan),
            "n": counts.sum(axis=0).astype(int),
            "n_units": n_units,
            "method": method,
        }
    )


def choose_methods(sums: Array, counts: Array, error: Array) -> NDArray[Any]:
    """Tell of every column what can be said: by which draws, by the sign test, or nothing."""
    n_units = len(sums)
    methods = []
    for column in range(len(error)):
        is_measured = counts[:, column] > 0
        means = sums[is_measured, column] / counts[is_measured, column]
        if not means.size:
            method = "none"
        elif not error[column] > NO_SPREAD:
            is_enough = len(means) >= LEAST_EQUAL and abs(means[0]) > NO_SPREAD
            method = "sign test" if is_enough else "none"
        else:
            # Equal differences of other values differ by rounding.
            _, sizes = np.unique((means / error[column]).round(8), return_counts=True)
            if n_units > MOST_UNITS:
                n_differing = len(means) - sizes.max()
                method = "normal" if n_differing >= LEAST_DIFFERING else "none"
            else:
                # A draw has no spread if it takes from one group of equals, or measures nothing.
                n_unmeasured = n_units - len(means)
                nothing = (n_unmeasured / n_units) ** n_units
                one_group = ((sizes + n_unmeasured) / n_units) ** n_units - nothing
                share_degenerate = nothing + one_group.sum()
                method = "bootstrap-t" if share_degenerate <= MOST_DEGENERATE else "none"
        methods.append(method)
    return np.array(methods, dtype=object)


def draw_statistics(sums: Array, counts: Array, mean: Array, confidence: Confidence) -> Array:
    """Draw |T| of studies in which nothing differs, (draws, columns).

    A draw whose mean is not 0 and that has no spread is infinite.
    """
    residuals = sums - counts * np.nan_to_num(mean)
    if len(sums) > MOST_UNITS:
        drawn = np.abs(draw_normal(residuals, confidence))
        n_measured = (counts > 0).sum(axis=0)
        # A small slice of many units: Student's t of the same probability.
        for column in np.flatnonzero(n_measured <= MOST_UNITS).tolist():
            degrees = max(int(n_measured[column]) - 1, 1)
            drawn[:, column] = -special.stdtrit(degrees, special.ndtr(-drawn[:, column]))
        return drawn
    distinct, which = distinct_columns(counts)
    total = resample(distinct, confidence)[:, which]
    drawn_sums = resample(residuals, confidence)
    squares = resample(residuals**2, confidence)
    if counts.max(initial=0.0) <= 1:
        # One row a unit: residual x count is the residual, count^2 the count.
        products, count_squares, n_units = drawn_sums, total, total
    else:
        products = resample(residuals * counts, confidence)
        count_squares = resample(distinct**2, confidence)[:, which]
        n_units = resample((distinct > 0).astype(float), confidence)[:, which]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn_sums / total
        # The sum of (residual - count x mean)^2 over the drawn units, multiplied out.
        spread = squares - 2 * means * products + means**2 * count_squares
        # What rounding leaves of no spread at all is 0.
        spread[spread <= NO_SPREAD * squares] = 0.0
        means[np.abs(means) <= NO_SPREAD] = 0.0
        errors = np.sqrt(spread * n_units / (n_units - 1)) / total
        return np.nan_to_num(np.abs(means) / errors, nan=0.0, posinf=np.inf)


def draw_normal(residuals: Array, confidence: Confidence) -> Array:
    """Draw normal T of many units, with the correlations between the columns."""
    covariance = residuals.T @ residuals
    deviation = np.sqrt(np.diag(covariance))
    scale = np.where(deviation > 0, deviation, 1.0)
    # By eigenvalues: columns that say the same make the matrix singular.
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    root = vectors * np.sqrt(np.clip(values, 0, None))
    generator = np.random.default_rng(confidence.seed)
    return generator.standard_normal((confidence.draws, len(scale))) @ root.T


def share_reaching(drawn: Array, observed: float) -> float:
    """Return p: the share of draws that reach |T|, the study itself among them.

    So it is never 0 (Phipson & Smyth 2010, SAGMB 9).
    """
    return (1 + int((drawn >= observed).sum())) / (1 + len(drawn))


def critical_value(drawn: Array, level: float) -> float:
    """Return the |T| that must be passed for a p of at most 1 - level."""
    # p <= 1 - level allows that many draws to reach |T|; the next one below must be passed.
    n_allowed = int(np.floor((1 - level) * (1 + len(drawn)) + 1e-9)) - 1
    if n_allowed < 0:
        raise BenchError(f"{len(drawn)} draws are too few for a confidence of {level:g}; give more")
    return float(np.partition(drawn, -n_allowed - 1)[-n_allowed - 1])


def sign_test(
    difference: float, n_units: int, family_size: int, level: float
) -> tuple[float, float, tuple[float, float]]:
    """Return p, p_adjusted and the interval where all units have the same difference.

    The exact sign test: 2 / 2^n, times the size of the family. The interval reaches from Wilson's
    lower end of "n of n units differ", times the difference, to the difference. NaN where the
    family is too large for so few units.
    """
    p = 2.0 ** (1 - n_units)
    p_adjusted = min(1.0, p * family_size)
    if p_adjusted > 1 - level:
        return np.nan, np.nan, (np.nan, np.nan)
    z = special.ndtri(1 - (1 - level) / family_size / 2)
    nearest = difference * n_units / (n_units + z**2)
    return p, p_adjusted, (min(nearest, difference), max(nearest, difference))


def choose_words(frame: pd.DataFrame, is_lower: NDArray[np.bool_], margins: Array) -> list[str]:
    """Choose the word of every comparison by its method and its interval alone."""
    words = []
    rows = zip(frame["low"], frame["high"], frame["method"], frame["n"], strict=True)
    for column, (low, high, method, n) in enumerate(rows):
        # A comparison with NaN is false: without a margin nothing lies within it.
        is_within = low > -margins[column] and high < margins[column]
        if method == "equal":
            word = "equal on every question"
        elif method == "none":
            word = "too few differ" if n else "cannot be told"
        elif low > 0 or high < 0:
            word = "worse" if (low > 0) == is_lower[column] else "better"
            if is_within:
                word += ", by less than matters"
        elif is_within:
            # Two one-sided tests (TOST: Schuirmann 1987) come to this.
            word = "the same"
        else:
            word = "not shown"
        words.append(word)
    return words


def extreme_cases(
    before: Array, after: Array, bounds: Bounds, is_lower: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Return the differences if all that is unmeasured were bad, or good, for the challengers.

    Infinite on a scale without an end.
    """
    least, greatest = (np.broadcast_to(end, is_lower.shape) for end in bounds)
    bad, good = np.where(is_lower, greatest, least), np.where(is_lower, least, greatest)
    if_bad = np.where(np.isnan(after), bad, after) - np.where(np.isnan(before), good, before)
    if_good = np.where(np.isnan(after), good, after) - np.where(np.isnan(before), bad, before)
    return if_bad, if_good


def word_that_holds(words: set[str]) -> str:
    """Return the word that stands in all cases, else "cannot be told".

    Better in all of them is better, though by less than matters in one.
    """
    if len(words) == 1 and words != {"too few differ"}:
        return words.pop()
    directions = {word.partition(",")[0] for word in words}
    return directions.pop() if directions in ({"better"}, {"worse"}) else "cannot be told"


def may_leave_out(baseline: Array, challenger: Array) -> bool:
    """Tell whether complete pairs speak for all: few are missing, and not more on one side.

    baseline, challenger: (rows,). One-sided by McNemar's exact test on being missing.
    """
    lacks_baseline, lacks_challenger = np.isnan(baseline), np.isnan(challenger)
    n_missing = int((lacks_baseline | lacks_challenger).sum())
    if n_missing > MOST_MISSING * len(baseline):
        return False
    only_baseline = int((lacks_baseline & ~lacks_challenger).sum())
    only_challenger = int((lacks_challenger & ~lacks_baseline).sum())
    return mcnemar_p(only_baseline, only_challenger) > LEAST_ONE_SIDED_P


def mcnemar_p(only_first: int, only_second: int) -> float:
    """Return p of McNemar's exact test: do pairs that differ do so to both sides alike?"""
    n = only_first + only_second
    return min(1.0, 2 * float(special.bdtr(min(only_first, only_second), n, 0.5)))
