"""Two systems on the same questions: difference, interval, randomization test, verdict, and what n could show.

Questions and judges may both be a sample: then a difference is to hold for judges who were not asked, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from ragbench.old.core.types import Array, Better, Comparison, Estimate, IntervalNote, Verdict
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.estimates import Bounds, width_of
from ragbench.old.stats.intervals import Interval, Mean, mean_of, normal_p, tango, tango_score
from ragbench.old.stats.signs import EXACT, MCNEMAR, MCNEMAR_EXACT, doubt, leans, rank_test_p, tested, warn_of_ranks
from ragbench.old.stats.values import (
    Codes,
    Labels,
    MetricComparison,
    Source,
    Units,
    as_codes,
    as_values,
    check_better,
    check_level,
    check_resamples,
    units_of,
)
from ragbench.old.stats.verdicts import Flags, Scales, bounded, by_signs, ends, is_binary, scale_of_pair

Test = Literal["randomization", "wilcoxon", "sign"]

FEWEST_MOVED = 10  # below, Bonett and Price's interval covers better: docs/statistics.md
FEWEST_FOR_BOOTSTRAP = 300
"""Fewer moved questions: Student's t covers better than BCa, most of all with heavy tails (.96 against .92 of .95)."""

FEWEST_CLUSTERS = 20  # below, Student's t with a degree of freedom a group is named as resting on few
SKEWED_DIFFERENCE = 0.03
"""|acceleration| from which on the interval of a dense, skewed difference is the studentized one, no end of it nearer
than Student's: with a long tail on one side or on both either covers too little by itself (.90 to .93 of .95, both .91
to .95)."""


@overload
def compare(
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: Bounds | None = None,
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
) -> Comparison: ...


@overload
def compare(
    source: Source,
    metric: str,
    baseline: str,
    challenger: str,
    /,
    *,
    level: float | None = None,
    margin: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
) -> MetricComparison: ...


def compare(baseline: Any, challenger: Any, *systems: str, **options: Any) -> Comparison:
    """Challenger against baseline, paired by question: of arrays, or of two systems of a page.

    `compare(values, other_values, clusters=...)`, or `compare(page, "mrr@10", "v1", "v2")`: a page (or any other
    `Source`) pairs by question and passes clusters, the way that is good, and level, draws and seed that it was made
    with, unless they are given; the result then names the systems and the `metric`. It is this pair alone, in no
    family.

    baseline, challenger: one number a question, in the same order; a pair with NaN or None on either side is left
    out and counted. clusters: one label a pair; whole clusters are drawn and flipped together. better: which way is
    good. bounds: the ends of the metric's scale, infinite where one is open; of 0/1 values 0 and 1. No end of an
    interval is farther from 0 than its width, and no word is said that unmeasured values could contradict, wherever on
    it they lie (`ragbench.old.stats.verdicts`); a page tells its own. margin: the largest difference that would not matter;
    it is planned for (`questions_needed`), and equivalence is tested too (TOST).

    The test is sign-flip randomization of the mean difference, complete where there are no more than B sign patterns;
    for 0/1 values McNemar's, which is the same. From seven groups on p is the mid-p, half of the chance of what was
    seen and all that of what is farther: (b + (t + 1) / 2) / (B + 1) with b flips farther and t as far (Lancaster 1961;
    Fagerland, Lydersen, Laake 2013). test "wilcoxon" and "sign" are by option, for independent pairs, and warn: they do
    not test the mean.
    Defaults: better "higher", level 0.95, resamples 10 000 (B), seed 0, no margin.
    Raises ValueError for different lengths, infinities, values outside of the bounds, a margin that is not positive,
    and, of a page, for systems and metrics that it does not have.
    """
    if not isinstance(baseline, Source):
        if systems:
            raise TypeError("compare takes two arrays, or a page, a metric and two systems")
        return compare_metrics({"values": baseline}, {"values": challenger}, **options)["values"]
    paired = baseline.paired_values(challenger, *systems)
    own = {"level": paired.level, "resamples": paired.resamples, "seed": paired.seed}
    given = {name: value for name, value in options.items() if value is not None}
    comparison = compare_metrics(
        {paired.metric: paired.baseline}, {paired.metric: paired.challenger}, clusters=paired.clusters,
        better=paired.better, names=paired.names, bounds=paired.bounds,
        void=None if paired.void is None else {paired.metric: paired.void}, **own | given,
    )[paired.metric]  # fmt: skip
    return MetricComparison(
        **{each.name: getattr(comparison, each.name) for each in fields(comparison)}, metric=paired.metric
    )


def compare_metrics(
    baseline: Mapping[str, ArrayLike],
    challenger: Mapping[str, ArrayLike],
    *,
    clusters: Labels | None = None,
    better: Better | Mapping[str, Better] = "higher",
    bounds: Scales = None,
    level: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
    void: Mapping[str, Flags] | None = None,
) -> dict[str, Comparison]:
    """`compare` for all metrics of two systems, each as if it were alone.

    baseline, challenger: metric name to one number a question; the metrics that both have are compared. void: by
    metric, (questions,) where it says nothing of a question on either side, as there is nothing in it to measure: no
    pair, and none that is unmeasured.
    """
    by_metric = hypotheses(
        baseline, challenger, clusters=clusters, better=better, bounds=bounds, level=level, margin=margin,
        resamples=resamples, seed=seed, names=names, test=test, void=void,
    )  # fmt: skip
    return {name: hypothesis.alone for name, hypothesis in by_metric.items()}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """That there is no difference, as it is tested together with others.

    alone: the comparison, tested by itself. column: (questions,) values whose mean is tested, NaN where a side was not
    measured. freedom: of its standard error, where questions come in clusters (`Units.freedom`); None: groups − 1.
    completions: (questions,) columns with what is unmeasured at the ends of its scale, the one that speaks most against
    the difference first; none where nothing is, or the scale is open on that side.
    """

    alone: Comparison
    column: Array
    freedom: float | None = None
    completions: tuple[Array, ...] = ()


def hypotheses(
    baseline: Mapping[str, ArrayLike],
    challenger: Mapping[str, ArrayLike],
    *,
    clusters: Labels | None = None,
    better: Better | Mapping[str, Better] = "higher",
    bounds: Scales = None,
    level: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
    void: Mapping[str, Flags] | None = None,
) -> dict[str, Hypothesis]:
    """The hypotheses of `compare_metrics`, to be tested together by `families.jointly`."""
    check_level(level)
    check_resamples(resamples)
    _check_test(test, clusters)
    check_better(better)
    shared = [name for name in baseline if name in challenger]
    differences: dict[str, Array] = {}
    scales: dict[str, Bounds | None] = {}
    binary: dict[str, bool] = {}
    for name in shared:
        pair = as_values(baseline[name], names[0]), as_values(challenger[name], names[1])
        differences[name] = _difference(*pair, name, names)
        scales[name] = scale_of_pair(name, *pair, bounds)
        binary[name] = all(map(is_binary, pair))
    if len({len(column) for column in differences.values()}) > 1:
        raise ValueError("every metric needs one value a question; their lengths differ")
    codes = as_codes(clusters, len(next(iter(differences.values()), ())))
    by_metric: dict[str, Hypothesis] = {}
    for name in shared:
        direction = better[name] if isinstance(better, Mapping) else better
        limit = margin.get(name) if isinstance(margin, Mapping) else margin
        present, none = ~np.isnan(differences[name]), (void or {}).get(name)
        lacking = ~present if none is None else ~present & ~none
        dropped = int(lacking.sum())
        if not present.any():
            by_metric[name] = Hypothesis(
                _nothing(names, direction, level, dropped, scales[name], seed), differences[name]
            )
            continue
        units = units_at(differences[name], codes)
        column = np.sort(differences[name][present]) if units.clustered else units.sums[:, 0]  # in whatever order given
        spread = _differ(units, column)
        mean = mean_of(units.column(0), spread, resamples, seed, spread)
        flags = binary[name]
        p, used = tested(units, resamples, seed)
        if flags and used == EXACT and not units.clustered:
            used = MCNEMAR_EXACT if np.all(column != 0) else MCNEMAR
        if test != "randomization":
            p, used = rank_test_p(column, test), test
        comparison = _one(mean, column, flags, leans(units), p, used, direction, level, limit, dropped, names, seed)
        comparison = replace(comparison, doubt="" if flags and not units.clustered else doubt(units))
        completions: tuple[Array, ...] = ()
        scale = scales[name]
        if dropped and scale is not None:
            first, second = (as_values(each[name]) for each in (baseline, challenger))
            tests = partial(_p_of, test=test, resamples=resamples, seed=seed)
            equal = None if limit is None else partial(
                _equivalence_of, codes=codes, flags=flags, level=level, margin=limit, resamples=resamples, seed=seed
            )  # fmt: skip
            columns = ends(first, second, scale, none)
            comparison, completions = bounded(comparison, columns, partial(units_at, codes=codes), tests, equal)
        comparison = by_signs(replace(comparison, width=width_of(scale)))
        by_metric[name] = Hypothesis(
            comparison, differences[name], units.freedom if units.clustered else None, completions
        )
    return by_metric


def randomization_p(
    differences: ArrayLike, *, clusters: Labels | None = None, resamples: int = 10_000, seed: int = 0
) -> Array:
    """The p-values of `compare` alone, for a (questions, metrics) matrix of differences without gaps.

    (metrics,) two-sided p of sign flips, whole clusters together. Raises ValueError for NaN or infinities.
    """
    matrix = np.asarray(differences, dtype=np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if not np.isfinite(matrix).all():
        raise ValueError("differences are finite numbers: leave out questions that one side was not measured on")
    codes, resamples = as_codes(clusters, len(matrix)), check_resamples(resamples)
    return np.array([tested(units_of(column[:, None], codes), resamples, seed)[0] for column in matrix.T])


def units_at(column: Array, codes: Codes | None) -> Units:
    """What is flipped of a column that holds NaN where there is no pair."""
    kept = ~np.isnan(column)
    return units_of(column[kept, None], None if codes is None else codes[kept])


def _p_of(units: Units, skewed: bool, test: Test, resamples: int, seed: int) -> float:
    if test != "randomization":
        return rank_test_p(units.sums[:, 0], test)
    return tested(units, resamples, seed, skewed)[0]


def _equivalence_of(
    column: Array, codes: Codes | None, flags: bool, level: float, margin: float, resamples: int, seed: int
) -> float:
    """p of the equivalence test of a column that holds NaN where there is no pair."""
    units, kept = units_at(column, codes), column[~np.isnan(column)]
    spread = _differ(units, kept)
    mean = mean_of(units.column(0), spread, resamples, seed, spread)
    method, _note = _choose(_intervals(mean, kept, flags, level), mean, kept, leans(units))
    return _equivalence(mean, kept, flags, method, margin)


def _check_test(test: str, clusters: Labels | None) -> None:
    if test not in get_args(Test):
        raise ValueError(f"test is one of {', '.join(get_args(Test))}; got {test!r}")
    if test != "randomization":
        if clusters is not None:
            raise ValueError(f"the {test} test is for independent pairs; with clusters use test='randomization'")
        warn_of_ranks(test)


def _difference(first: Array, second: Array, name: str, names: tuple[str, str]) -> Array:
    if len(first) != len(second):
        raise ValueError(
            f"{name}: {names[0]} has {len(first)} values and {names[1]} {len(second)}: "
            "pair them by question, with NaN where one was not measured"
        )
    return second - first


def _one(
    mean: Mean,
    column: Array,
    flags: bool,
    leaning: bool,
    p: float,
    test: str,
    better: Better,
    level: float,
    margin: float | None,
    dropped: int,
    names: tuple[str, str],
    seed: int,
) -> Comparison:
    units, value, n = mean.units, mean.value, mean.units.n
    intervals = _intervals(mean, column, flags, level)
    method, note = _choose(intervals, mean, column, leaning)
    low, high = intervals.get(method, (math.nan, math.nan))
    deviation = float(np.std(column, ddof=1)) if mean.variance > 0 else 0.0
    p_equivalence = None if margin is None else _equivalence(mean, column, flags, method, margin)
    return Comparison(
        *names,
        value,
        low,
        high,
        level,
        method,
        p,
        test,
        value / deviation if deviation > 0 else math.nan,
        Verdict.NOT_SHOWN,
        n,
        dropped,
        better,
        clusters=units.number if units.clustered else None,
        error=math.sqrt(mean.variance),
        margin=margin,
        p_equivalence=p_equivalence,
        seed=seed,
        note=note,
        intervals=intervals,
    )


def _nothing(
    names: tuple[str, str], better: Better, level: float, dropped: int, scale: Bounds | None, seed: int
) -> Comparison:
    """No pair was measured on both sides."""
    nan, width = math.nan, width_of(scale)
    return Comparison(
        *names, nan, nan, nan, level, "none", nan, "none", nan, Verdict.NOT_SHOWN, 0, dropped, better, seed=seed,
        note="empty", width=width,
    )  # fmt: skip


def _differ(units: Units, column: Array) -> bool:
    """Whether single differences differ by more than rounding."""
    return float(units.deviations[0]) > 1e-24 * max(float(np.sum(column**2)), 1e-300)


def _intervals(mean: Mean, column: Array, flags: bool, level: float) -> dict[str, Interval]:
    return mean.intervals(level) | _few_moved(mean, column, flags, level)


def _equivalence(mean: Mean, column: Array, flags: bool, method: str, margin: float) -> float:
    """p of the equivalence test that agrees with the interval of this method."""
    p = _within(mean, column, flags, margin)
    if method != "studentized_and_t" or mean.ratios is None:
        return p
    return max(p, studentized_equivalence_p(mean.value, mean.variance, mean.ratios, margin))


def _within(mean: Mean, column: Array, flags: bool, margin: float) -> float:
    """TOST; of independent 0/1 values by Tango's scores, and where few others moved with Bonett and Price's two added
    pairs: else too many would be called the same."""
    moved, n = column[column != 0], len(column)
    if flags and not mean.units.clustered and 0 < margin < 1:
        counts = int(np.sum(column > 0)), int(np.sum(column < 0)), n
        return normal_p(max(tango_score(*counts, margin), -tango_score(*counts, -margin)))
    if not _is_sparse(mean, column) or not len(moved):
        return equivalence_p(mean.value, mean.variance, mean.units.freedom, margin)
    step = float(np.mean(moved**2))
    value = mean.value * n / (n + 2)
    variance = ((float(np.sum(column**2)) + 2 * step) / (n + 2) - value**2) / (n + 2)
    return equivalence_p(value, variance, mean.units.freedom, margin)


def _is_sparse(mean: Mean, column: Array) -> bool:
    """Few independent pairs moved, and most did not."""
    moved = int(np.sum(column != 0))
    few = moved < FEWEST_MOVED and (2 * moved <= len(column) or mean.variance <= 0)
    return few and not mean.units.clustered and len(column) > 1


def _few_moved(mean: Mean, column: Array, flags: bool, level: float) -> dict[str, Interval]:
    """Of independent pairs Tango's interval where values are 0/1, and Bonett and Price's where few of others moved."""
    moved = column[column != 0]
    if flags and not mean.units.clustered:
        return {"tango": tango(int(np.sum(column > 0)), int(np.sum(column < 0)), len(column), level)}
    if mean.units.clustered or not len(moved):
        return {}
    return {"bonett_price": mean.few_moved(0.0, level, step=1.0)}


def _choose(intervals: Mapping[str, Interval], mean: Mean, column: Array, leaning: bool) -> tuple[str, IntervalNote]:
    """Which interval of the difference is printed, and why it is neither BCa's nor ABC's. leaning: whether the
    studentized bootstrap had to agree with the test."""
    units = mean.units
    moved = int(np.sum(column != 0))
    if "tango" in intervals and moved < FEWEST_FOR_BOOTSTRAP:
        return "tango", "few_moved" if moved else "no_spread"
    if _is_sparse(mean, column) and "bonett_price" in intervals:
        return "bonett_price", "few_moved"
    if mean.variance <= 0:
        return "none", mean.no_spread if units.n > 1 else "few"
    student = "t_effective" if "t_effective" in intervals else "t"
    if leaning and "studentized" in intervals and 2 * moved > len(column):
        return "studentized_and_t", "skewed"
    if mean.few_clusters:
        return student, "few_clusters" if units.number < FEWEST_CLUSTERS else "few"
    if "studentized" in intervals and abs(mean.acceleration) > SKEWED_DIFFERENCE and 2 * moved > len(column):
        return "studentized_and_t", "skewed"
    smooth = [name for name in ("bca", "abc") if name in intervals]
    return (smooth[0], "") if smooth and moved >= FEWEST_FOR_BOOTSTRAP else (student, "few")


def studentized_equivalence_p(difference: float, variance: float, ratios: Array, margin: float) -> float:
    """The same with the resampled ratios of the studentized bootstrap in the place of Student's t; 0 where more than a
    hundredth of them do not exist, as then they contradict nothing."""
    kept, error = ratios[np.isfinite(ratios)], math.sqrt(variance)
    if len(kept) < 0.99 * len(ratios):
        return 0.0
    far = np.count_nonzero(kept <= (difference - margin) / error)
    near = np.count_nonzero(kept >= (difference + margin) / error)
    return (max(far, near) + 1) / (len(kept) + 1)


def equivalence_p(difference: float, variance: float, freedom: float, margin: float) -> float:
    """p of two one-sided t tests (TOST, Schuirmann 1987) that the difference lies within ± margin.

    variance: squared standard error of the difference. NaN without spread.
    """
    from scipy.special import stdtr

    if not margin > 0:
        raise ValueError(f"margin is the largest difference that would not matter, above 0; got {margin}")
    if variance <= 0:
        return math.nan
    error = math.sqrt(variance)
    return float(max(stdtr(freedom, (difference - margin) / error), stdtr(freedom, (-difference - margin) / error)))


FEWEST_JUDGES = 3
"""Two judges leave one degree of freedom: a nominal 5 % test errs in 11 % of samples."""


def over_judges(
    differences: ArrayLike, *, clusters: Labels | None = None, level: float = 0.95
) -> tuple[Estimate, float]:
    """The mean of (questions, judges) differences of two systems with its interval, and p that it is 0, where both
    questions and judges are random and every judge judged every question.

    The variance is that of the questions' means and of the judges' means, less that of what remains, which is in both
    (Clark 1973, Journal of Verbal Learning and Verbal Behavior 12: quasi F; Westfall, Kenny, Judd 2014, Journal of
    Experimental Psychology: General 143), never below either of the two; Student's t with Satterthwaite's freedom, no
    less than that of the judges. Of clusters (one label a question) the sums are taken instead.

    Questions that a judge left out (NaN) are unmeasured. No interval and NaN for p with fewer than three judges
    (`note` "few_judges"), or fewer than two questions or clusters ("few").
    Raises ValueError for another shape.
    """
    check_level(level)
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"differences are (questions, judges); got shape {table.shape}")
    known = ~np.isnan(table).any(axis=1)
    codes = as_codes(clusters, len(table))
    kept, own = table[known], None if codes is None else codes[known]
    n, judges = kept.shape
    estimate = Estimate(math.nan, None, None, level, "none", n, int((~known).sum()), note="empty")
    if not n or not judges:
        return estimate, math.nan
    units = units_of(kept.mean(axis=1)[:, None], own)
    mean = float(units.means[0])
    estimate = replace(estimate, value=mean, clusters=units.number if units.clustered else None, note="few")
    if units.number < 2 or judges < FEWEST_JUDGES:
        return replace(estimate, note="few" if units.number < 2 else "few_judges"), math.nan
    freedom = units.freedom if units.clustered else n - 1.0
    of_questions, columns = float(units.variances()[0]), kept.mean(axis=0)
    of_judges = float(np.var(columns, ddof=1)) / judges
    rest = kept - kept.mean(axis=1, keepdims=True) - columns + kept.mean()
    if own is not None:
        rest = np.array([rest[own == cluster].sum(axis=0) for cluster in np.unique(own)])
    remaining = float(np.sum(rest**2)) * units.number / ((units.number - 1) * (judges - 1) * judges * n**2)
    variance = max(of_questions + of_judges - remaining, of_questions, of_judges)
    if variance <= (1e-12 * float(np.abs(kept).max(initial=0.0))) ** 2:
        return replace(estimate, note="no_spread"), math.nan
    parts = ((of_questions, freedom), (of_judges, judges - 1.0), (remaining, freedom * (judges - 1)))
    left = max(variance**2 / sum(part**2 / own_freedom for part, own_freedom in parts), judges - 1.0)
    ends = kinds.student(mean, variance, left, level)
    estimate = replace(
        estimate, low=ends[0], high=ends[1], method="crossed", intervals={"crossed": ends}, note="", design_effect=None
    )
    return estimate, kinds.t_p(mean / math.sqrt(variance), left)
