"""A mean with its interval: bootstrap (BCa) guarded by Wilson's with effective n near the ends of a scale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.draws import mean_draws
from ragbench.stats.intervals import Interval
from ragbench.stats.samples import Codes, Labels, Units, as_codes, as_values, check_level, check_resamples, units_of
from ragbench.types import Array, Estimate

Method = Literal["auto", "bca", "percentile", "wilson", "clopper_pearson", "t"]
Bounds = tuple[float, float]

FEWEST_FOR_BOOTSTRAP = 30
FEWEST_EFFECTIVE = 10
FEWEST_CLUSTERS = 20


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
    method: "auto" is BCa, guarded: with bounds and fewer than 30 values, fewer than 10 effective values at either
    end, or no spread, it is Wilson's interval with effective n; then `note` says why ("few", "ceiling", "no_spread").
    All intervals that exist are in `intervals`. No value, or one without bounds: low and high are None.

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
        rng = np.random.default_rng(seed)
        draws = mean_draws(units, resamples, rng) if units.number > 1 else None
        for position, name in enumerate(names):
            found[name] = _one(
                units, position, draws, matrix[:, position], scales[name], level, method, unmeasured, seed
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
    units: Units,
    position: int,
    draws: Array | None,
    column: Array,
    scale: Bounds | None,
    level: float,
    method: Method,
    unmeasured: int,
    seed: int,
) -> Estimate:
    n = units.n
    if n == 0:
        floor, ceiling = scale if scale and unmeasured else (None, None)
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, floor=floor, ceiling=ceiling, note="empty")
    value = float(units.means[position])
    spread = bool(np.ptp(column) > 0)
    variance = float(units.variances()[position]) if spread and units.number > 1 else 0.0
    design = _design_effect(units, position, variance)
    intervals = _intervals(units, position, draws if spread else None, value, variance, column, scale, level)
    chosen, note = _choose(method, intervals, units, value, variance, spread, scale)
    low, high = intervals.get(chosen, (None, None))
    floor = ceiling = None
    if scale is not None:
        floor = (value * n + scale[0] * unmeasured) / (n + unmeasured)
        ceiling = (value * n + scale[1] * unmeasured) / (n + unmeasured)
    return Estimate(
        value,
        low,
        high,
        level,
        chosen,
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


def _design_effect(units: Units, position: int, variance: float) -> float:
    """Variance with clusters over variance without; n / C where there is no spread to tell."""
    if not units.clustered:
        return 1.0
    n = units.n
    independent = float(units.deviations[position]) / (n * max(n - 1, 1))
    if variance <= 0 or independent <= 0:
        return n / units.number
    return variance / independent


def _intervals(
    units: Units,
    position: int,
    draws: Array | None,
    value: float,
    variance: float,
    column: Array,
    scale: Bounds | None,
    level: float,
) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    freedom = max(units.number - 1, 1)
    if draws is not None and variance > 0:
        residuals = units.residuals()[:, position]
        found["percentile"] = kinds.percentile(draws[:, position], level)
        corrected = kinds.bca(draws[:, position], value, kinds.acceleration(residuals, units.counts), level)
        if corrected is not None:
            found["bca"] = corrected
        found["t"] = kinds.student(value, variance, freedom, level)
    if scale is not None:
        found["wilson"] = _wilson(units, position, value, variance, column, scale, level)
        if not units.clustered and np.isin(column, scale).all():
            share = (value - scale[0]) / (scale[1] - scale[0])
            low, high = kinds.clopper_pearson(round(share * units.n), units.n, level)
            found["clopper_pearson"] = _stretch((low, high), scale)
    return found


def _wilson(
    units: Units, position: int, value: float, variance: float, column: Array, scale: Bounds, level: float
) -> Interval:
    """Wilson's interval itself for independent 0/1 values; else with effective n and Student's quantile."""
    width = scale[1] - scale[0]
    share = min(max((value - scale[0]) / width, 0.0), 1.0)
    binary = not units.clustered and bool(np.isin(column, scale).all())
    if binary:
        return _stretch(kinds.wilson(share, units.n, kinds.normal_quantile((1 + level) / 2)), scale)
    quantile = kinds.t_quantile((1 + level) / 2, max(units.number - 1, 1))
    return _stretch(kinds.wilson(share, _effective(units, share, variance / width**2), quantile), scale)


def _effective(units: Units, share: float, variance: float) -> float:
    """How many independent 0/1 values would be as sure: m (1 − m) / SE²; the number of units without spread."""
    return share * (1 - share) / variance if variance > 0 else float(units.number)


def _stretch(interval: Interval, scale: Bounds) -> Interval:
    low, high = scale
    return low + (high - low) * interval[0], low + (high - low) * interval[1]


def _choose(
    method: Method,
    intervals: Mapping[str, Interval],
    units: Units,
    value: float,
    variance: float,
    spread: bool,
    scale: Bounds | None,
) -> tuple[str, str]:
    """Which interval is printed, and why it is not the bootstrap's."""
    if method != "auto":
        if method not in intervals and (method == "wilson" or (method == "clopper_pearson" and scale is None)):
            raise ValueError(f"method {method!r} needs bounds, the ends of the scale: bounds=(0, 1)")
        if method == "clopper_pearson" and method not in intervals:
            raise ValueError("method 'clopper_pearson' needs independent values that all lie on the two bounds")
        return method, "" if method in intervals else "no_spread"
    reason = ""
    if not spread:
        reason = "no_spread"
    elif units.n < FEWEST_FOR_BOOTSTRAP:
        reason = "few"
    elif scale is not None:
        share = (value - scale[0]) / (scale[1] - scale[0])
        effective = _effective(units, share, variance / (scale[1] - scale[0]) ** 2)
        if min(share, 1 - share) * effective < FEWEST_EFFECTIVE:
            reason = "ceiling"
    if not reason and units.clustered and units.number < FEWEST_CLUSTERS:
        reason = "few_clusters"
    if not reason and "bca" in intervals:
        return "bca", ""
    reason = reason or "no_bca"
    if scale is not None:
        return "wilson", reason
    return ("t" if "t" in intervals else "none"), reason
