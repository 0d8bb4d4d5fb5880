"""A mean with its interval: bootstrap (BCa) guarded by Wilson's with effective n near the ends of a scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.intervals import Interval
from ragbench.stats.means import FEWEST_FOR_BCA, SKEWED, Mean, means_of
from ragbench.stats.samples import Codes, Labels, Units, as_codes, as_values, check_level, check_resamples, units_of
from ragbench.types import Array, Estimate

Method = Literal["auto", "bca", "percentile", "studentized", "wilson", "clopper_pearson", "t"]
Bounds = tuple[float, float]

FEWEST_FOR_BOOTSTRAP = 50
"""Below, the guarded interval covers better (calibration table): BCa of 30 to 50 ties and scores covered .93 to .98."""

FEWEST_EFFECTIVE = 10
FEWEST_CLUSTERS = 20
FEWEST_CLUSTERS_FOR_BOOTSTRAP = 50
"""Below, drawing whole clusters covers too little (.91 to .93 of .95 with 20 to 30); below 20 a page says so."""


def estimate(
    values: ArrayLike,
    *,
    clusters: Labels | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """The mean of the measured values and its interval.

    values: one number a question; NaN or None is unmeasured: counted and left out. Booleans are a 0/1 scale.
    clusters: one label a value; values of one cluster are drawn together. bounds: the ends of the scale, if it has any.
    method: "auto" is BCa, guarded. With bounds and fewer than 50 values, fewer than 10 effective values at either
    end, fewer than 50 clusters, or no spread, it is Wilson's interval with effective n. Without bounds it is the
    studentized bootstrap below 100 values or where their mean is skewed, and Student's t below 50 clusters. `note`
    says why: "few", "ceiling", "few_clusters", "no_spread", "skewed". All intervals that exist are in `intervals`.
    No value, or no spread without bounds: low and high are None.

    Raises ValueError for infinities, values outside the bounds, or clusters of another length.
    """
    one = estimate_many(
        {"values": values},
        clusters=clusters,
        bounds=bounds,
        level=level,
        method=method,
        resamples=resamples,
        seed=seed,
    )
    return one["values"]


def estimate_many(
    values: Mapping[str, ArrayLike],
    *,
    counts: ArrayLike | None = None,
    clusters: Labels | None = None,
    bounds: Bounds | Mapping[str, Bounds | None] | None = None,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """`estimate` for all metrics of one system at once: the same questions are drawn for all, in one pass.

    values: metric name to one number a question, all of one length. counts: how many questions each row stands for,
    for histograms of equal questions (then without clusters). bounds: one pair for all, or a pair (or None) a metric.
    """
    check_level(level)
    check_resamples(resamples)
    if method not in get_args(Method):
        raise ValueError(f"method is one of {', '.join(get_args(Method))}; got {method!r}")
    columns = {name: as_values(column, name) for name, column in values.items()}
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise ValueError(f"every metric needs one value a question; lengths differ: {lengths}")
    scales = {
        name: _scale(name, values[name], columns[name], bounds.get(name) if isinstance(bounds, Mapping) else bounds)
        for name in columns
    }
    length = len(next(iter(columns.values()), ()))
    codes = as_codes(clusters, length)
    weights = _weights(counts, length, codes)
    found: dict[str, Estimate] = {}
    for present, names in _by_presence(columns).items():
        mask = np.frombuffer(present, dtype=bool)
        matrix = np.column_stack([columns[name][mask] for name in names])
        units = units_of(matrix, None if codes is None else codes[mask], None if weights is None else weights[mask])
        unmeasured = int((~mask).sum() if weights is None else weights[~mask].sum())
        if not units.n:
            found |= {name: _nothing(scales[name], unmeasured, level) for name in names}
            continue
        spread = np.ptp(matrix, axis=0) > 0
        open_ended = np.array([scales[name] is None or method == "studentized" for name in names])
        means = means_of(units, spread, resamples, np.random.default_rng(seed), open_ended)
        for position, name in enumerate(names):
            found[name] = _one(
                means[position], units, position, matrix[:, position], scales[name], level, method, unmeasured, seed
            )
    return {name: found[name] for name in columns}


def _scale(name: str, raw: ArrayLike, column: Array, bounds: Bounds | None) -> Bounds | None:
    if bounds is None:
        is_flag = isinstance(raw, np.ndarray) and raw.dtype == bool
        return (0.0, 1.0) if is_flag else None
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if not low < high:
        raise ValueError(f"bounds of {name} are (low, high) with low < high; got {bounds}")
    slack = 1e-9 * (high - low)
    outside = (column < low - slack) | (column > high + slack)
    if outside.any():
        where = int(np.flatnonzero(outside)[0])
        raise ValueError(f"{name}[{where}] is {column[where]}, outside its scale {low} … {high}")
    return float(low), float(high)


def _weights(counts: ArrayLike | None, length: int, codes: Codes | None) -> Codes | None:
    if counts is None:
        return None
    if codes is not None:
        raise ValueError("counts describe independent questions: give either counts or clusters")
    weights = np.asarray(counts)
    if weights.shape != (length,) or not np.issubdtype(weights.dtype, np.integer) or (weights < 0).any():
        raise ValueError(f"counts are {length} non-negative whole numbers, one a row; got shape {weights.shape}")
    return weights.astype(np.int64)


def _by_presence(columns: Mapping[str, Array]) -> dict[bytes, list[str]]:
    groups: dict[bytes, list[str]] = {}
    for name, column in columns.items():
        groups.setdefault((~np.isnan(column)).tobytes(), []).append(name)
    return groups


def _one(
    mean: Mean,
    units: Units,
    position: int,
    column: Array,
    scale: Bounds | None,
    level: float,
    method: Method,
    unmeasured: int,
    seed: int,
) -> Estimate:
    n = units.n
    design = _design_effect(units, position, mean.variance)
    intervals = mean.intervals(level)
    if scale is not None:
        intervals |= _bounded(mean, column, scale, level)
    chosen, note = _choose(method, intervals, mean, scale)
    low, high = intervals.get(chosen, (None, None))
    floor = ceiling = None
    if scale is not None:
        floor = (mean.value * n + scale[0] * unmeasured) / (n + unmeasured)
        ceiling = (mean.value * n + scale[1] * unmeasured) / (n + unmeasured)
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
    )


def _nothing(scale: Bounds | None, unmeasured: int, level: float) -> Estimate:
    """Nothing was measured; the value could be anywhere on its scale."""
    floor, ceiling = scale if scale and unmeasured else (None, None)
    return Estimate(math.nan, None, None, level, "none", 0, unmeasured, floor=floor, ceiling=ceiling, note="empty")


def _design_effect(units: Units, position: int, variance: float) -> float:
    """Variance with clusters over variance without; n / C where there is no spread to tell."""
    if not units.clustered:
        return 1.0
    n = units.n
    independent = float(units.deviations[position]) / (n * max(n - 1, 1))
    if variance <= 0 or independent <= 0:
        return n / units.number
    return variance / independent


def _bounded(mean: Mean, column: Array, scale: Bounds, level: float) -> dict[str, Interval]:
    """Intervals that need the ends of the scale. Wilson's is itself for independent values on the two ends; for
    others it has effective n and Student's quantile, because their spread is only estimated."""
    on_ends = not mean.units.clustered and bool(np.isin(column, scale).all())
    share = _share(mean, scale)
    if not on_ends:
        quantile = kinds.t_quantile((1 + level) / 2, mean.effective_freedom)
        return {"wilson": _stretch(kinds.wilson(share, _effective(mean, scale), quantile), scale)}
    n = mean.units.n
    quantile = kinds.normal_quantile((1 + level) / 2)
    return {
        "wilson": _stretch(kinds.wilson(share, n, quantile), scale),
        "clopper_pearson": _stretch(kinds.clopper_pearson(round(share * n), n, level), scale),
    }


def _share(mean: Mean, scale: Bounds) -> float:
    return min(max((mean.value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)


def _effective(mean: Mean, scale: Bounds) -> float:
    """How many independent 0/1 values would be as sure: m (1 − m) / SE²; the number of units without spread."""
    share = _share(mean, scale)
    if mean.variance <= 0:
        return float(mean.units.number)
    return share * (1 - share) * (scale[1] - scale[0]) ** 2 / mean.variance


def _stretch(interval: Interval, scale: Bounds) -> Interval:
    low, high = scale
    return low + (high - low) * interval[0], low + (high - low) * interval[1]


def _choose(method: Method, intervals: Mapping[str, Interval], mean: Mean, scale: Bounds | None) -> tuple[str, str]:
    """Which interval is printed, and why it is not BCa's."""
    if method != "auto":
        if method in {"wilson", "clopper_pearson"} and method not in intervals:
            needs = "independent values that all lie on the two bounds" if scale else "bounds, such as bounds=(0, 1)"
            raise ValueError(f"method {method!r} needs {needs}")
        return method, "" if method in intervals else "no_spread"
    reason = _reason(mean, scale)
    if not reason and "bca" in intervals:
        return "bca", ""
    if scale is not None:
        order: tuple[str, ...] = ("wilson",)
    elif mean.units.clustered and mean.units.number < FEWEST_CLUSTERS_FOR_BOOTSTRAP:
        order = ("t_effective", "t")
    else:
        order = ("studentized", "t")
    return next((name for name in order if name in intervals), "none"), reason or "no_bca"


def _reason(mean: Mean, scale: Bounds | None) -> str:
    units = mean.units
    if mean.variance <= 0:
        return "no_spread"
    if units.clustered and units.number < FEWEST_CLUSTERS:
        return "few_clusters"
    if units.clustered and units.number < FEWEST_CLUSTERS_FOR_BOOTSTRAP:
        return "few"
    if scale is None:
        return "few" if units.number < FEWEST_FOR_BCA else "skewed" if abs(mean.acceleration) > SKEWED else ""
    share = _share(mean, scale)
    if units.n < FEWEST_FOR_BOOTSTRAP:
        return "few"
    return "ceiling" if min(share, 1 - share) * _effective(mean, scale) < FEWEST_EFFECTIVE else ""
