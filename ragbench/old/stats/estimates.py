"""A mean with its interval: bootstrap (BCa) guarded by Wilson's with effective n near the ends of a scale.

Quantiles have order-statistic intervals: latency at the median, the 90th and the 99th percentile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragbench.old.core.types import Array, Estimate, IntervalNote
from ragbench.old.core.types.reason import Reason
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.intervals import FEWEST_FOR_BCA, SKEWED, Interval, Mean, mean_of
from ragbench.old.stats.signs import doubt_of_mean
from ragbench.old.stats.values import (
    Codes,
    Labels,
    as_codes,
    as_values,
    check_level,
    check_resamples,
    check_word,
    units_of,
)

Method = Literal["auto", "bca", "percentile", "studentized", "wilson", "clopper_pearson", "t"]
Bounds = tuple[float, float]
"""The ends of a scale; infinite where it is open."""

FEWEST_FOR_BOOTSTRAP = 50
"""Below, the guarded interval covers better (calibration table): BCa of 30 to 50 ties and scores covered .93 to .98."""

OPEN: Bounds = (-math.inf, math.inf)

BORROWED: dict[IntervalNote, IntervalNote] = {"no_spread": "borrowed_spread", "equal_groups": "borrowed_between"}
"""Notes of what has no variance, and what they become where another measurement's design effect is taken."""

FEWEST_EFFECTIVE = 10  # n · min(p, 1 − p): the textbook's bound for a normal interval
FEWEST_CLUSTERS = 20
"""Below, a page says so."""

FEWEST_MOVED = 10
"""Fewer independent values away from the one that most share: two more are added, as to a difference few of which
moved."""


def estimate(
    values: ArrayLike,
    *,
    clusters: Labels | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    method: Method = "auto",
    design_effect: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The mean of the measured values and its interval.

    values: one number a question; NaN or None is unmeasured: counted and left out. Booleans are a 0/1 scale.
    clusters: one label a value; values of one cluster are drawn together. bounds: the ends of the scale, if it has any;
    infinite where one of them is open. No interval goes beyond an end; "with bounds" means with both.
    method: "auto" is BCa, guarded. With bounds and fewer than 50 values, fewer than 10 effective values at either
    end, fewer than 50 clusters in effect, or no spread, it is Wilson's interval with effective n; so it is where most
    values are one within the scale and fewer than 50 are not, and Bonett and Price's where fewer than 10 are not.
    Without bounds it is the studentized bootstrap below 100 values or where their mean is skewed, no end of it nearer
    than Student's, and Student's t below 50 clusters in effect. With clusters the quantiles are those of
    `Units.freedom`. `note` says why: "few", "ceiling", "few_clusters", "no_spread", "equal_groups", "ties", "skewed".
    Of more than 5,000 values or clusters nothing is drawn, and "abc" (`intervals.abc`) stands in the place of BCa and
    of the studentized bootstrap. `doubt` says why it may cover less than it says. All intervals that exist are in
    `intervals`. No value, or no spread without bounds: low and high are None.
    design_effect: the variance with these clusters over the variance without, known from elsewhere (another metric or
    system on the same questions, at least 1); taken where all values are equal and so tell nothing of it (`note`
    "borrowed_spread"). Without it, a cluster of equal values then counts as one value.

    Raises ValueError for infinities, values outside the bounds, or clusters of another length.
    """
    estimates = estimate_many(
        {"values": values},
        clusters=clusters,
        bounds=bounds,
        level=level,
        method=method,
        design_effect=design_effect,
        resamples=resamples,
        seed=seed,
    )
    return estimates["values"]


def estimate_many(
    values: Mapping[str, ArrayLike],
    *,
    counts: ArrayLike | None = None,
    clusters: Labels | None = None,
    bounds: Bounds | Mapping[str, Bounds | None] | None = None,
    level: float = 0.95,
    method: Method = "auto",
    design_effect: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """`estimate` for all metrics of one system, each with the value and the interval that it has alone.

    values: metric name to one number a question, all of one length. counts: how many questions each row stands for,
    for histograms of equal questions (then without clusters). bounds: one pair for all, or a pair (or None) a metric.

    Only a metric whose values are all equal takes something from its neighbours: the design effect of the one nearest
    on its scale whose values differ, or else `design_effect` (see `estimate`); within its scale, where equal values
    do not tell how far others of the kind lie apart, also that neighbour's spread for its mean. `lender` names it.
    """
    check_level(level)
    check_resamples(resamples)
    check_word("method", method, get_args(Method))
    if design_effect is not None and not 1 <= design_effect < math.inf:
        raise ValueError(f"design_effect is a variance with clusters over one without, at least 1; got {design_effect}")
    columns = {name: as_values(column, name) for name, column in values.items()}
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise ValueError(f"every metric needs one value a question; lengths differ: {lengths}")
    limits = {
        name: limits_of(name, values[name], columns[name], bounds.get(name) if isinstance(bounds, Mapping) else bounds)
        for name in columns
    }
    scales = {name: closed(ends) for name, ends in limits.items()}
    if not columns:
        return {}
    length = len(next(iter(columns.values())))
    codes = as_codes(clusters, length)
    weights = _weights(counts, length, codes)
    means: dict[str, tuple[Mean | None, int]] = {}
    for name, column in columns.items():
        mask = ~np.isnan(column)
        kept = column[mask]
        units = units_of(
            kept[:, None], None if codes is None else codes[mask], None if weights is None else weights[mask]
        ).column(0)
        unmeasured = int((~mask).sum() if weights is None else weights[~mask].sum())
        open_ended = scales[name] is None or method == "studentized"
        spread, drawn = bool(np.ptp(kept) > 0) if len(kept) else False, method in {"bca", "percentile", "studentized"}
        mean = mean_of(units, spread, resamples, seed, open_ended, always=drawn) if units.n else None
        means[name] = mean, unmeasured
    loans = _Loans({name: (mean, scales[name]) for name, (mean, _) in means.items() if mean}, design_effect)
    return {
        name: _nothing(limits[name], unmeasured, level)
        if mean is None
        else _one(mean, columns[name], limits[name], level, method, unmeasured, seed, loans.to(name))
        for name, (mean, unmeasured) in means.items()
    }


def estimate_systems(
    values: Mapping[str, Mapping[str, ArrayLike]],
    *,
    clusters: Labels | None = None,
    bounds: Mapping[str, Bounds | None],
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[tuple[str, str], Estimate]:
    """(system, metric) → `estimate_many` of several systems on the same questions.

    values: system to metric to one number a question. Where a metric's values are all equal and no other of its system
    has a spread to take, it takes the design effect of the same metric of another system, else of any metric, the
    nearest in value; `lender` then names metric and system.
    """
    options: dict[str, Any] = {"clusters": clusters, "level": level, "resamples": resamples, "seed": seed}
    estimates = {
        (system, metric): known
        for system, columns in values.items()
        for metric, known in estimate_many(columns, bounds=bounds, **options).items()
    }
    measured = {key: known for key, known in estimates.items() if {"t", "wilson"} <= known.intervals.keys()}
    for key, own in estimates.items():
        if own.note not in BORROWED or not own.clusters or not measured:
            continue
        lenders = [other for other in measured if other[1] == key[1]] or list(measured)
        nearest = min(lenders, key=lambda other: (abs(measured[other].value - own.value), other))
        effect = max(measured[nearest].design_effect or 1.0, 1.0)
        again = estimate(values[key[0]][key[1]], bounds=bounds.get(key[1]), design_effect=effect, **options)
        estimates[key] = replace(again, lender=", ".join(reversed(nearest)) if again.note in BORROWED.values() else "")
    return estimates


@dataclass(frozen=True, slots=True)
class _Loan:
    """What a metric without spread takes from another.

    effect: its design effect. variance: of a single value over that of 0/1 values with the same mean, times the design
    effect; None where only the design effect is known. lender: the metric's name, "" for the caller's.
    """

    effect: float
    variance: float | None
    lender: str


@dataclass(frozen=True, slots=True)
class _Loans:
    """Metrics of the same questions, of which those with spread lend it to those without."""

    means: Mapping[str, tuple[Mean, Bounds | None]]
    known: float | None

    def to(self, name: str) -> _Loan | None:
        """The loan of the metric nearest on its scale; None for a metric with spread or where there is none to take."""
        mean, scale = self.means.get(name, (None, None))
        if mean is None or scale is None or mean.variance > 0 or mean.units.number < 2:
            return None
        share = _share(mean, scale)
        if not mean.units.clustered and share in (0.0, 1.0):
            return None
        lenders = {
            other: (lender, ends)
            for other, (lender, ends) in self.means.items()
            if lender.variance > 0 and ends is not None and 0 < _share(lender, ends) < 1
        }
        if not lenders:
            return None if self.known is None else _Loan(self.known, None, "")
        nearest = min(lenders, key=lambda other: (abs(_share(*lenders[other]) - share), other))
        lender, ends = lenders[nearest]
        return _Loan(max(_design_effect(lender), 1.0), lender.units.n / _effective(lender, ends), nearest)


def limits_of(name: str, raw: ArrayLike, column: Array, bounds: Bounds | None) -> Bounds:
    """The ends of a scale, infinite where it is open, 0 and 1 for booleans; a ValueError for values outside of it."""
    if bounds is None:
        is_flag = isinstance(raw, np.ndarray) and raw.dtype == bool
        return (0.0, 1.0) if is_flag else OPEN
    low, high = bounds
    if not low < high:
        raise ValueError(f"bounds of {name} are (low, high) with low < high; got {bounds}")
    slack = 1e-9 * (high - low if math.isfinite(high - low) else 1.0)
    outside = (column < low - slack) | (column > high + slack)
    if outside.any():
        where = int(np.flatnonzero(outside)[0])
        raise ValueError(f"{name}[{where}] is {column[where]}, outside its scale {low} … {high}")
    return float(low), float(high)


def closed(ends: Bounds | None) -> Bounds | None:
    """The ends of a scale that has both; None for another."""
    return ends if ends is not None and all(map(math.isfinite, ends)) else None


def width_of(ends: Bounds | None) -> float | None:
    """How far apart the ends of a scale are, which no difference exceeds; None where one is open."""
    return None if closed(ends) is None or ends is None else ends[1] - ends[0]


def within(ends: Bounds | None, intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    """The intervals without what lies beyond an end of the scale."""
    low, high = OPEN if ends is None else ends
    return {
        name: (min(max(interval[0], low), high), max(min(interval[1], high), low))
        for name, interval in intervals.items()
    }


def kept_within(given: Estimate, ends: Bounds | None) -> Estimate:
    """The estimate with no end of an interval beyond an end of its scale."""
    if given.low is None or given.high is None:
        return given
    low, high = within(ends, {"": (given.low, given.high)})[""]
    return replace(given, low=low, high=high, intervals=within(ends, given.intervals))


def _weights(counts: ArrayLike | None, length: int, codes: Codes | None) -> Codes | None:
    if counts is None:
        return None
    if codes is not None:
        raise ValueError("counts describe independent questions: give either counts or clusters")
    weights = np.asarray(counts)
    if weights.shape != (length,) or not np.issubdtype(weights.dtype, np.integer) or (weights < 0).any():
        raise ValueError(f"counts are {length} non-negative whole numbers, one a row; got shape {weights.shape}")
    return weights.astype(np.int64)


def _one(
    mean: Mean,
    column: Array,
    ends: Bounds,
    level: float,
    method: Method,
    unmeasured: int,
    seed: int,
    loan: _Loan | None,
) -> Estimate:
    units, n, scale = mean.units, mean.units.n, closed(ends)
    design = _design_effect(mean) if loan is None else loan.effect
    intervals = mean.intervals(level)
    if scale is not None:
        intervals |= _bounded(mean, column, scale, level, loan)
    intervals = within(ends, intervals)
    chosen, note = _choose(method, intervals, mean, scale)
    if loan is not None and note in BORROWED and chosen in intervals:
        note = BORROWED[note]
    low, high = intervals.get(chosen, (None, None))
    floor, ceiling = ((mean.value * n + end * unmeasured) / (n + unmeasured) if known else None
                      for end, known in zip(ends, map(math.isfinite, ends), strict=True))  # fmt: skip
    return Estimate(
        mean.value,
        low,
        high,
        level,
        chosen if chosen in intervals else "none",
        n,
        unmeasured,
        clusters=units.number if units.clustered else None,
        n_effective=n / design,
        design_effect=design,
        seed=seed,
        intervals=intervals,
        floor=floor,
        ceiling=ceiling,
        note=note,
        lender=loan.lender if loan is not None else "",
        doubt=_doubt(column, mean, scale) if chosen in intervals else "",
    )


def _doubt(column: Array, mean: Mean, scale: Bounds | None) -> str:
    """Why the interval may miss the mean more often than it says; empty where nothing tells so.

    Few independent values away from an end of the scale do not tell how far others lie that were not drawn. 0/1 values
    lie as far as they can, and Wilson's interval knows it.
    """
    if said := doubt_of_mean(mean.units, mean.acceleration if scale is None else 0.0):
        return said
    known = column[~np.isnan(column)]
    if scale is None or mean.units.clustered or not mean.variance > 0 or np.isin(known, scale).all():
        return ""
    away = min(int(np.count_nonzero(known != end)) for end in scale)
    few = away < min(FEWEST_MOVED, len(known) / 2)
    return Reason("hardly any value lies away from an end of the scale") if few else ""


def _nothing(ends: Bounds, unmeasured: int, level: float) -> Estimate:
    """Nothing was measured; the value could be anywhere on its scale."""
    floor, ceiling = (end if unmeasured and math.isfinite(end) else None for end in ends)
    return Estimate(math.nan, None, None, level, "none", 0, unmeasured, floor=floor, ceiling=ceiling, note="empty")


def _design_effect(mean: Mean) -> float:
    """Variance with clusters over variance without; n / C where there is no spread to tell."""
    units = mean.units
    if not units.clustered:
        return 1.0
    independent = float(units.deviations[0]) / (units.n * max(units.n - 1, 1))
    if mean.variance <= 0 or independent <= 0:
        return units.n / units.number
    return mean.variance / independent


def _bounded(mean: Mean, column: Array, scale: Bounds, level: float, loan: _Loan | None) -> dict[str, Interval]:
    """Intervals that need the ends of the scale. Wilson's is itself for independent values on the two ends; for
    others it has effective n and Student's quantile, because their spread is only estimated."""
    on_ends = not mean.units.clustered and bool(np.isin(column[~np.isnan(column)], scale).all())
    share = _share(mean, scale)
    if not on_ends:
        quantile = kinds.t_quantile((1 + level) / 2, mean.units.freedom)
        intervals = {"wilson": _stretch(kinds.wilson(share, _effective(mean, scale, loan), quantile), scale)}
        centre, apart = mean.tie
        if scale[0] < centre < scale[1] and 0 < apart < FEWEST_MOVED and not mean.units.clustered:
            low, high = mean.few_moved(centre, level)
            intervals["bonett_price"] = max(low, scale[0]), min(high, scale[1])
        return intervals
    n = mean.units.n
    quantile = kinds.normal_quantile((1 + level) / 2)
    return {
        "wilson": _stretch(kinds.wilson(share, n, quantile), scale),
        "clopper_pearson": _stretch(kinds.clopper_pearson(round(share * n), n, level), scale),
    }


def _share(mean: Mean, scale: Bounds) -> float:
    return min(max((mean.value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)


def _effective(mean: Mean, scale: Bounds, loan: _Loan | None = None) -> float:
    """How many independent 0/1 values would be as sure: m (1 − m) / SE².

    Without spread, by what was borrowed: at an end of the scale another value may lie anywhere, so values count as 0/1
    ones. The number of units where nothing was. A mean at an end has no spread but that of rounding.
    """
    share, n = _share(mean, scale), mean.units.n
    if mean.variance > 0 and 0 < share < 1:
        return share * (1 - share) * (scale[1] - scale[0]) ** 2 / mean.variance
    if loan is None:
        return float(mean.units.number)
    return n / (loan.effect if loan.variance is None or share in (0.0, 1.0) else loan.variance)


def _stretch(interval: Interval, scale: Bounds) -> Interval:
    low, high = scale
    return low + (high - low) * interval[0], low + (high - low) * interval[1]


def _choose(
    method: Method, intervals: Mapping[str, Interval], mean: Mean, scale: Bounds | None
) -> tuple[str, IntervalNote]:
    """Which interval is printed, and why it is neither BCa's nor ABC's."""
    if method != "auto":
        if method in {"wilson", "clopper_pearson"} and method not in intervals:
            needs = "independent values that all lie on the two bounds" if scale else "bounds, such as bounds=(0, 1)"
            raise ValueError(f"method {method!r} needs {needs}")
        return method, "" if method in intervals else mean.no_spread
    reason = _reason(mean, scale)
    if not reason and (drawn := next((name for name in ("bca", "abc") if name in intervals), "")):
        return drawn, ""
    if scale is not None:
        order: tuple[str, ...] = ("bonett_price", "wilson") if reason == "ties" else ("wilson",)
    elif mean.few_clusters:
        order = ("t_effective", "t")
    else:
        order = ("studentized_and_t", "t")
    return next((name for name in order if name in intervals), "none"), reason or "no_bca"


def _reason(mean: Mean, scale: Bounds | None) -> IntervalNote:
    units = mean.units
    if mean.variance <= 0:
        return mean.no_spread
    if units.clustered and units.number < FEWEST_CLUSTERS:
        return "few_clusters"
    if mean.few_clusters:
        return "few"
    if scale is None:
        skewed = mean.draws is not None and abs(mean.acceleration) > SKEWED
        return "few" if units.number < FEWEST_FOR_BCA else "skewed" if skewed else ""
    share = _share(mean, scale)
    centre, apart = mean.tie
    if scale[0] < centre < scale[1] and apart < FEWEST_FOR_BOOTSTRAP:
        return "ties"
    if units.n < FEWEST_FOR_BOOTSTRAP:
        return "few"
    return "ceiling" if min(share, 1 - share) * _effective(mean, scale) < FEWEST_EFFECTIVE else ""


def quantile(values: ArrayLike, probability: float, *, level: float = 0.95) -> Estimate:
    """The sample quantile (linear interpolation) and its order-statistic interval, which holds for any distribution.

    The interval is of two observed values whose ranks cover at least `level` by the binomial distribution, each tail
    at most (1 − level) / 2 (David, Nagaraja 2003, section 7.1). An end that no observed value can hold is None: the
    99th percentile of 50 values has no upper end; `note` is then "open_above" or "open_below", or "open".
    """
    from scipy.special import bdtr, bdtrik

    check_level(level)
    if not 0 < probability < 1:
        raise ValueError(f"probability lies between 0 and 1; got {probability}")
    array = as_values(values)
    kept = np.sort(array[~np.isnan(array)])
    n, unmeasured = len(kept), int(np.isnan(array).sum())
    if not n:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    tail = (1 - level) / 2

    def first_reaching(chance: float) -> int:
        """Smallest k with P(Binomial(n, probability) ≤ k) ≥ chance."""
        k = max(0, math.floor(float(np.nan_to_num(bdtrik(chance, n, probability)))) - 1)
        while bdtr(k, n, probability) < chance:
            k += 1
        return k

    below = first_reaching(tail)
    below -= bdtr(below, n, probability) > tail + 1e-12  # now the largest k with P(≤ k) ≤ tail, or −1
    above = first_reaching(1 - tail)
    low = float(kept[below]) if below >= 0 else None
    high = float(kept[above]) if above < n else None
    note: IntervalNote = "" if high is not None else "open_above"
    if low is None:
        note = "open" if high is None else "open_below"
    intervals = {"order_statistics": (low, high)} if low is not None and high is not None else {}
    return Estimate(
        float(np.quantile(kept, probability)), low, high, level, "order_statistics", n, unmeasured,
        n_effective=float(n), design_effect=1.0, intervals=intervals, note=note,
    )  # fmt: skip
