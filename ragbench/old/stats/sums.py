"""Statistics of sums: corpus BLEU, F1, kappas. Sentences are drawn, their sufficient statistics summed, the rest is one
function of the totals, computed for all resamples at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison, Estimate, IntervalNote, Verdict
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.comparisons import Hypothesis, units_at
from ragbench.old.stats.estimates import Bounds, width_of, within
from ragbench.old.stats.intervals import BLOCK, MOST_UNITS, total_draws, weighted_rows
from ragbench.old.stats.signs import doubt, tested
from ragbench.old.stats.values import (
    Labels,
    Units,
    as_codes,
    check_better,
    check_level,
    check_resamples,
    check_word,
    effective_freedom,
    units_of,
    weighted_sum,
)
from ragbench.old.stats.verdicts import anything, bounded, by_signs

Statistic = Callable[[Array], Array]
"""(…, columns) totals to (…,) values; NaN where the statistic does not exist."""

Completed = tuple[tuple[ArrayLike, ArrayLike], tuple[ArrayLike, ArrayLike]]
"""The tables of baseline and challenger where the difference is smallest, and where it is largest."""

Method = Literal["auto", "bca", "percentile", "delta"]

STEP = (
    1e-4  # the error of a difference by four points falls with its fourth power, that of rounding grows with 1 / step
)
MOST_LOST = 0.1
"""Above this share of resamples without a value, the resampling interval is not printed."""


@dataclass(frozen=True)
class Pseudo:
    """Pseudo-items that stand beside what was seen in the draws of `bayesian`.

    shapes: (pseudo-items,) how many items each is worth, 0 or more. rows: (pseudo-items, columns) what each adds to the
    totals; None: each of them is a column.
    """

    shapes: Array
    rows: Array | None = None


def resample(
    statistic: Statistic,
    sufficient: ArrayLike,
    *,
    clusters: Labels | None = None,
    level: float = 0.95,
    method: Method = "auto",
    resamples: int = 10_000,
    seed: int = 0,
    bounds: Bounds | None = None,
) -> Estimate:
    """A statistic of the column totals of `sufficient`, with its interval.

    sufficient: (sentences, columns) what each sentence adds to the totals; a row with NaN is unmeasured.
    statistic: takes totals of shape (resamples, columns) and returns (resamples,) values, NaN where undefined (index
    columns as totals[..., j]). One that takes a vector of totals and returns a number serves too, but is called once
    a resample.
    method "auto" is BCa, and of more than 5,000 units, where nothing is drawn, "abc" (`intervals.abc`); "delta", also
    their stand-in where resamples degenerate (`note` "no_bca"), is the normal interval with the infinitesimal
    jackknife's standard error. No interval exists for fewer than two units or where
    no unit moves the statistic (`note` "few", "no_spread"). bounds: the ends of the statistic's scale, infinite where
    one is open, which no interval goes beyond.
    """
    check_level(level)
    check_resamples(resamples)
    check_word("method", method, get_args(Method))
    table, present = _table(sufficient, "sufficient")
    statistic = vectorised(statistic, table.shape[1])
    codes = as_codes(clusters, len(present))
    units = units_of(table[present], None if codes is None else codes[present])
    return resample_units(
        statistic, units, int((~present).sum()), level=level, method=method, resamples=resamples, seed=seed,
        bounds=bounds,
    )  # fmt: skip


def resample_units(
    statistic: Statistic,
    units: Units,
    unmeasured: int = 0,
    *,
    level: float = 0.95,
    method: str = "auto",
    resamples: int = 10_000,
    seed: int = 0,
    fisher_below: int = 0,
    pseudo: Pseudo | None = None,
    bounds: Bounds | None = None,
) -> Estimate:
    """`resample` of units whose sums are the sufficient statistics; equal units may already be counted together.

    fisher_below: for statistics that end at 1 (agreement, correlation). With fewer units the printed interval is
    "fisher", on Fisher's z with Student's quantile, which covers better than BCa there: that of the delta interval's
    standard error, with clusters of the jackknife's that leaves out each in turn (Efron 1982, chapter 3) and with
    the freedom of `effective_freedom`.
    pseudo: what stands in every draw beside the units; the printed interval is then "bayesian", see `bayesian`, with a
    width also where no unit moves the statistic.
    """
    if not units.n:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    units = units.gathered()
    value = float(_values(statistic, weighted_sum(units.counts, units.sums)[None])[0])
    intervals: dict[str, tuple[float, float]] = {}
    note: IntervalNote = "few" if units.number < 2 else "undefined" if math.isnan(value) else ""
    if not note:
        moves = influences(statistic, units)
        error = math.sqrt(float(weighted_sum(units.counts, np.nan_to_num(moves) ** 2)))
        spread, freedom = _clustered(statistic, units, value, moves, error)
        if error <= max(1e-9 * abs(value), rounding(statistic, units, value)):
            note = "no_spread"
        else:
            half = kinds.normal_quantile((1 + level) / 2) * error
            intervals["delta"] = (value - half, value + half)
            if fisher_below and abs(value) < 1:
                intervals["fisher"] = kinds.fisher(value, spread, freedom, level)
            if units.number <= MOST_UNITS or method in {"bca", "percentile"}:
                intervals |= _resampled(statistic, units, value, moves, level, resamples, seed)
            elif analytic := kinds.abc(partial(_values, statistic), units.sums, units.counts, moves, level):
                intervals["abc"] = analytic
        if pseudo is not None:
            intervals["bayesian"] = bayesian(statistic, units, pseudo, value, freedom, level, resamples, seed)
        intervals = within(bounds, intervals)
    chosen = method if method != "auto" else next((name for name in ("bca", "abc") if name in intervals), "delta")
    if method == "auto" and "bayesian" in intervals:
        chosen, note = "bayesian", "few" if units.number < fisher_below else ""
    elif method == "auto" and "fisher" in intervals and units.number < fisher_below:
        chosen, note = "fisher", "few"
    if not note and (chosen not in intervals or (method == "auto" and chosen == "delta")):
        note = "no_bca"
    low, high = intervals.get(chosen, (None, None))
    return Estimate(
        value, low, high, level, chosen if chosen in intervals else "none", units.n, unmeasured,
        clusters=units.number if units.clustered else None,
        n_effective=None if units.clustered else float(units.n), design_effect=None if units.clustered else 1.0,
        seed=seed, intervals=intervals, note=note,
    )  # fmt: skip


def rounding(statistic: Statistic, units: Units, value: float) -> float:
    """The standard error that rounding alone can feign: how far a few last bits of the totals move the statistic,
    carried through the differences of `influences`. It is in the unit of what the statistic is made of, so that one
    that is 0 for whatever units is told from one that happens to be."""
    whole = weighted_sum(units.counts, units.sums)
    signs = np.where(np.random.default_rng(0).random((16, len(whole))) < 0.5, -1.0, 1.0)
    apart = _values(statistic, whole * (1 + 4 * np.finfo(np.float64).eps * signs)) - value
    largest = float(np.abs(apart[np.isfinite(apart)]).max(initial=0.0))
    return 100 / STEP * largest * math.sqrt(units.number)


def bayesian(
    statistic: Statistic,
    units: Units,
    pseudo: Pseudo,
    value: float,
    freedom: float,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    """The interval of a statistic in [−1, 1] by the Bayesian bootstrap (Rubin 1981, Annals of Statistics 9: 130).

    Every unit counts by an exponential weight, which for independent items in categories are draws of Dirichlet's
    distribution of their shares; pseudo-items count by gamma weights of their shapes, so that what was not seen is not
    taken for impossible. Ends are quantiles, on Fisher's z as far from the median as Student's quantile is farther out
    than the normal one, and as the spread of C clusters is larger than that of their weights, √((C + 1) / (C − 1)); the
    value itself always lies within.
    """
    rng, drawn, done = np.random.default_rng(seed), np.empty(resamples), 0
    step = max(1, BLOCK // max(units.sums.shape[1], len(units.counts), len(pseudo.shapes)))
    while done < resamples:
        size = min(step, resamples - done)
        weights = rng.standard_gamma(units.counts.astype(np.float64), size=(size, len(units.counts)))
        more = rng.standard_gamma(pseudo.shapes, size=(size, len(pseudo.shapes)))
        totals = weighted_rows(weights, units.sums) + (
            more if pseudo.rows is None else weighted_rows(more, pseudo.rows)
        )
        drawn[done : done + size] = _values(statistic, totals)
        done += size
    kept = drawn[np.isfinite(drawn)]
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    low, middle, high = np.arctanh(np.quantile(kept, tails).clip(-1 + 1e-12, 1 - 1e-12))
    farther = kinds.t_quantile((1 + level) / 2, freedom) / kinds.normal_quantile((1 + level) / 2)
    if units.clustered:
        farther *= math.sqrt((units.number + 1) / (units.number - 1))
    ends = (math.tanh(middle - (middle - low) * farther), math.tanh(middle + (high - middle) * farther))
    return min(ends[0], value), max(ends[1], value)


def _clustered(statistic: Statistic, units: Units, value: float, moves: Array, error: float) -> tuple[float, float]:
    """The standard error and its degrees of freedom; those of the delta interval where units are independent."""
    if not units.clustered:
        return error, max(units.number - 1, 1)
    left = _values(statistic, weighted_sum(units.counts, units.sums) - units.sums) - value
    left = np.where(np.isfinite(left), left, -np.nan_to_num(moves))
    spread = (units.number - 1) / units.number * float(weighted_sum(units.counts, left**2))
    return math.sqrt(spread), effective_freedom(left, units.sizes, units.counts)


def _resampled(
    statistic: Statistic, units: Units, value: float, moves: Array, level: float, resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    draws = _values(statistic, total_draws(units.sums, units.counts, resamples, seed))
    kept = draws[np.isfinite(draws)]
    if len(kept) < (1 - MOST_LOST) * resamples:
        return {}
    return kinds.resampled(kept, value, kinds.acceleration(np.nan_to_num(moves), units.counts), level)


def influences(statistic: Statistic, units: Units) -> Array:
    """(rows,) how the statistic moves with the weight of one such unit (infinitesimal jackknife), by differences.

    Their squares add up to the variance; the sum of cubes gives BCa its acceleration.
    """
    whole = weighted_sum(units.counts, units.sums)
    centred = units.sums - whole / units.number

    def moved(step: float) -> Array:
        return _values(statistic, whole + step * centred)

    return (8 * (moved(STEP) - moved(-STEP)) - (moved(2 * STEP) - moved(-2 * STEP))) / (12 * STEP)


def compare_statistic(
    statistic: Statistic,
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    bounds: Bounds | None = None,
    completed: Completed | None = None,
    void: ArrayLike | None = None,
) -> Comparison:
    """Two systems by a corpus statistic: a test of its equality, and a paired bootstrap.

    baseline, challenger: (sentences, columns) sufficient statistics of the same sentences. Tested by sign flips of the
    sentences' pseudo-values, what each adds to the difference by its influence (infinitesimal jackknife). Swapping the
    two systems' sentences (Riezler, Maxwell 2005) would test that the systems are the same in all: two with one F1 but
    other errors are not, and it finds them to differ too often. The interval is of the difference on the same drawn
    sentences, and so is the standard error from which it is told what could have been shown.
    bounds: the ends of the statistic's scale: no end of an interval is farther from 0 than its width. completed: tables
    of both without gaps, where every unmeasured row is such that the difference is smallest, and where it is largest;
    then no word is said that they contradict (`ragbench.old.stats.verdicts`). Without them none is said where a row is
    unmeasured: nobody knows how far it would move the statistic. void: (sentences,) which are no pairs, because there
    is nothing in them to measure.
    """
    return statistic_hypothesis(
        statistic, baseline, challenger, clusters=clusters, better=better, level=level, resamples=resamples, seed=seed,
        names=names, bounds=bounds, completed=completed, void=void,
    ).alone  # fmt: skip


def statistic_hypothesis(
    statistic: Statistic,
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    bounds: Bounds | None = None,
    completed: Completed | None = None,
    void: ArrayLike | None = None,
) -> Hypothesis:
    """The hypothesis of `compare_statistic`, to be tested together with others by `families.jointly`."""
    check_level(level)
    check_resamples(resamples)
    check_better(better)
    first, present_first = _table(baseline, names[0])
    second, present_second = _table(challenger, names[1])
    if first.shape != second.shape:
        raise ValueError(f"{names[0]} has shape {first.shape} and {names[1]} {second.shape}: pair them by sentence")
    present = present_first & present_second
    codes = as_codes(clusters, len(present))
    both = np.hstack([first, second])[present]
    columns = first.shape[1]
    statistic = vectorised(statistic, columns)

    def gap(totals: Array) -> Array:
        return _values(statistic, totals[..., columns:]) - _values(statistic, totals[..., :columns])

    none = np.zeros(len(present), dtype=bool) if void is None else np.asarray(void, dtype=bool) & ~present
    kept = None if codes is None else codes[present]
    interval = resample_units(gap, units_of(both, kept), level=level, resamples=resamples, seed=seed)

    def added(rows: Array, value: float) -> Array:
        """(rows,) pseudo-values of the difference."""
        each = Units(rows, np.ones(len(rows)), np.ones(len(rows), dtype=np.int64), False, np.zeros(2 * columns))
        return np.asarray(value + len(rows) * np.nan_to_num(influences(gap, each)))

    pseudo, p, used, freedom, unsure = np.full(len(present), np.nan), math.nan, "none", None, ""
    if len(both) and not math.isnan(interval.value):
        pseudo[present] = added(both, interval.value)
        units = units_at(pseudo, codes)
        p, used = tested(units, resamples, seed)
        unsure = doubt(units)
        freedom = units.freedom if units.clustered else None
    comparison = Comparison(
        *names,
        interval.value,
        interval.low if interval.low is not None else math.nan,
        interval.high if interval.high is not None else math.nan,
        level,
        interval.method,
        p,
        f"{used} of pseudo-values" if used != "none" else used,
        math.nan,
        Verdict.NOT_SHOWN,
        len(both),
        int((~present & ~none).sum()),
        better,
        clusters=interval.clusters,
        error=_error(interval),
        doubt=unsure,
        seed=seed,
        note=interval.note,
        width=width_of(bounds),
    )
    completions: tuple[Array, ...] = ()
    if comparison.n_dropped and not math.isnan(p):
        if completed is None:
            return Hypothesis(by_signs(anything(comparison)), pseudo, freedom)
        asked, ends = ~none, (np.full(len(present), np.nan), np.full(len(present), np.nan))
        tables = [np.hstack([_table(each, "completed")[0][asked] for each in pair]) for pair in completed]
        low, high = (float(gap(rows.sum(axis=0)[None])[0]) for rows in tables)
        for column, rows, value in zip(ends, tables, (low, high), strict=True):
            column[asked] = added(rows, value)
        tests = partial(units_at, codes=codes), lambda units, skewed: tested(units, resamples, seed, skewed)[0]
        comparison, completions = bounded(comparison, ends, *tests, values=(low, high))
    return Hypothesis(by_signs(comparison) if len(both) else comparison, pseudo, freedom, completions)


def _error(interval: Estimate) -> float:
    """The standard error of resampled values, from the interval that they fill; NaN where there is none."""
    low, high = interval.intervals.get("percentile", interval.intervals.get("delta", (math.nan, math.nan)))
    width = 2 * kinds.normal_quantile((1 + interval.level) / 2)
    groups = interval.n if interval.clusters is None else interval.clusters
    return (high - low) / width * math.sqrt(groups / max(groups - 1, 1))


def vectorised(statistic: Callable[..., object], columns: int) -> Statistic:
    """The statistic for many rows of totals at once; a ValueError if it takes neither rows nor one vector."""
    probe = np.ones((columns + 1, columns))

    def shape_of(totals: Array) -> tuple[int, ...] | None:
        try:
            with np.errstate(all="ignore"):
                return np.shape(np.asarray(statistic(totals), dtype=np.float64))
        except (IndexError, TypeError, ValueError, ZeroDivisionError):
            return None

    if shape_of(probe) == (columns + 1,):
        return lambda totals: np.asarray(statistic(totals), dtype=np.float64)
    if shape_of(probe[0]) == ():
        return lambda totals: np.apply_along_axis(statistic, -1, totals).astype(np.float64)
    raise ValueError(
        f"the statistic took totals of shape {probe.shape} and returned {shape_of(probe)}; it must return "
        f"({columns + 1},), one value for each row of totals (index columns as totals[..., j])"
    )


def _values(statistic: Statistic, totals: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return statistic(totals)


def _table(sufficient: ArrayLike, name: str) -> tuple[Array, NDArray[np.bool_]]:
    table = np.asarray(sufficient, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2:
        raise ValueError(f"{name} is (sentences, columns) of numbers; got shape {table.shape}")
    if np.isinf(table).any():
        raise ValueError(f"{name} holds infinite numbers: give NaN rows for sentences that were not measured")
    return table, np.asarray(~np.isnan(table).any(axis=1))
