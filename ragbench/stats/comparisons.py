"""Two systems on the same questions: difference, interval, randomization test, verdict, and what n could show.

Interval and verdict are one statement. 0 lies in the printed interval exactly when the printed test does not tell the
difference from it; any other value lies in it when the method that the interval names, at the same level, does not
tell the difference from that. A set of values that are each tested at one level covers the true one with that chance,
whichever test each of them meets (Casella, Berger 2002, theorem 9.2.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.draws import every_flip, sign_flips
from ragbench.stats.intervals import Interval
from ragbench.stats.means import Mean, mean_of
from ragbench.stats.power import FEWEST_FOR_MID_P, attainable_p, minimum_detectable_difference, sample_size, shrinkage
from ragbench.stats.ranktests import rank_test_p, warn_of_ranks
from ragbench.stats.samples import (
    Labels,
    Units,
    as_codes,
    as_values,
    check_better,
    check_level,
    check_resamples,
    units_of,
)
from ragbench.types import Array, Better, Comparison, Verdict

Test = Literal["randomization", "wilcoxon", "sign"]
EXACT = "sign flips, complete"
MCNEMAR = "McNemar, mid-p"

FEWEST_MOVED = 10
FEWEST_FOR_BOOTSTRAP = 300
"""Fewer moved questions: Student's t covers better than BCa, most of all with heavy tails (.96 against .92 of .95)."""

FEWEST_CLUSTERS = 20
FEWEST_CLUSTERS_FOR_BOOTSTRAP = 50
SKEWED_DIFFERENCE = 0.03
"""|acceleration| from which on the interval of a dense, skewed difference is the studentized one."""


def compare(
    baseline: ArrayLike,
    challenger: ArrayLike,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
) -> Comparison:
    """Challenger against baseline, paired by question.

    baseline, challenger: one number a question, in the same order; a pair with NaN or None on either side is left
    out and counted. clusters: one label a pair; whole clusters are drawn and flipped together. better: which way is
    good. margin: the largest difference that would not matter; then equivalence is tested too (TOST).

    The test is sign-flip randomization of the mean difference, complete where there are no more than B sign patterns;
    for 0/1 values McNemar's, which is the same. From seven groups on p is the mid-p, half of the chance of what was
    seen and all that of what is farther: (b + (t + 1) / 2) / (B + 1) with b flips farther and t as far (Lancaster 1961;
    Fagerland, Lydersen, Laake 2013). test "wilcoxon" and "sign" are by option, for independent pairs, and warn: they do
    not test the mean.
    Raises ValueError for different lengths, infinities, or a margin that is not positive.
    """
    one = compare_metrics(
        {"values": baseline},
        {"values": challenger},
        clusters=clusters,
        better=better,
        level=level,
        margin=margin,
        resamples=resamples,
        seed=seed,
        names=names,
        test=test,
    )
    return one["values"]


def compare_metrics(
    baseline: Mapping[str, ArrayLike],
    challenger: Mapping[str, ArrayLike],
    *,
    clusters: Labels | None = None,
    better: Better | Mapping[str, Better] = "higher",
    level: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
) -> dict[str, Comparison]:
    """`compare` for all metrics of two systems, each as if it were alone.

    baseline, challenger: metric name to one number a question; the metrics that both have are compared.
    """
    found = hypotheses(
        baseline, challenger, clusters=clusters, better=better, level=level, margin=margin, resamples=resamples,
        seed=seed, names=names, test=test,
    )  # fmt: skip
    return {name: one.alone for name, one in found.items()}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """That there is no difference, as it is tested together with others.

    alone: the comparison, tested by itself. column: (questions,) values whose mean is tested, NaN where a side was not
    measured.
    """

    alone: Comparison
    column: Array


def hypotheses(
    baseline: Mapping[str, ArrayLike],
    challenger: Mapping[str, ArrayLike],
    *,
    clusters: Labels | None = None,
    better: Better | Mapping[str, Better] = "higher",
    level: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
    test: Test = "randomization",
) -> dict[str, Hypothesis]:
    """The hypotheses of `compare_metrics`, to be tested together by `families.jointly`."""
    check_level(level)
    check_resamples(resamples)
    _check_test(test, clusters)
    check_better(better)
    shared = [name for name in baseline if name in challenger]
    differences = {name: _difference(baseline[name], challenger[name], name, names) for name in shared}
    if len({len(column) for column in differences.values()}) > 1:
        raise ValueError("every metric needs one value a question; their lengths differ")
    codes = as_codes(clusters, len(next(iter(differences.values()), ())))
    found: dict[str, Hypothesis] = {}
    for name in shared:
        direction = better[name] if isinstance(better, Mapping) else better
        limit = margin.get(name) if isinstance(margin, Mapping) else margin
        present = ~np.isnan(differences[name])
        own, dropped = np.flatnonzero(present), int((~present).sum())
        own = own[np.argsort(differences[name][own], kind="stable")]  # no number depends on the order of the rows
        column = differences[name][own]
        if not len(column):
            found[name] = Hypothesis(_nothing(names, direction, level, dropped, seed), differences[name])
            continue
        units = units_of(column[:, None], None if codes is None else codes[own])
        spread = float(units.deviations[0]) > 1e-24 * max(float(np.sum(column**2)), 1e-300)
        mean = mean_of(units.column(0), spread, resamples, seed, spread)
        flags = _is_binary(baseline[name]) and _is_binary(challenger[name])
        p, used = tested(units, resamples, seed)
        if flags and used == EXACT and not units.clustered:
            used = MCNEMAR
        if test != "randomization":
            p, used = rank_test_p(column, test), test
        one = _one(mean, column, flags, p, used, direction, level, limit, dropped, names, seed)
        found[name] = Hypothesis(one, differences[name])
    return found


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


def _check_test(test: str, clusters: Labels | None) -> None:
    if test not in get_args(Test):
        raise ValueError(f"test is one of {', '.join(get_args(Test))}; got {test!r}")
    if test != "randomization":
        if clusters is not None:
            raise ValueError(f"the {test} test is for independent pairs; with clusters use test='randomization'")
        warn_of_ranks(test)


def verdict_of(difference: float, p: float, better: Better, level: float, attainable: float = 0.0) -> Verdict:
    """The word: better or worse in the metric's direction when p is at most 1 − level, else not shown.

    attainable: the smallest p that there can be; above 1 − level nothing can be shown.
    """
    limit = 1 - level + 1e-12
    if not math.isnan(p) and attainable > limit:
        return Verdict.CANNOT_BE_SHOWN
    if math.isnan(p) or difference == 0 or p >= limit:
        return Verdict.NOT_SHOWN
    return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE


def by_signs(one: Comparison) -> Comparison:
    """The comparison with the verdict that its own p allows, tested by the signs of its groups, its interval in
    agreement with it, and its power."""
    found = agreeing(decided(replace(one, attainable=attainable_p(one.groups)), one.p, 1 - one.level))
    if math.isnan(found.low):
        return found
    return replace(found, intervals={**found.intervals, "alone": (found.low, found.high)})


def agreeing(one: Comparison) -> Comparison:
    """The comparison with an interval that holds 0 exactly if no difference is shown; see the module."""
    low, high = one.low, one.high
    if math.isnan(low) or math.isnan(high):
        return one
    if one.verdict not in (Verdict.BETTER, Verdict.WORSE):
        low, high = min(low, 0.0), max(high, 0.0)
    elif one.difference > 0:
        low = max(low, math.nextafter(0.0, 1.0))
    else:
        high = min(high, math.nextafter(0.0, -1.0))
    return replace(one, low=low, high=high)


def decided(
    one: Comparison, p: float, threshold: float, instead: Callable[[float], float] = lambda p: p, joint: bool = False
) -> Comparison:
    """The comparison with the verdict that `p` allows, and with what it could have shown.

    p: its own, or after a correction. threshold: the largest p of its own that the hardest step of the correction
    takes as shown. instead: what p would be if the comparison's own were another and all else were as it is. joint:
    whether one test of several comparisons together set the threshold. A verdict from the equivalence test stays where
    no difference is shown.
    """
    limit = 1 - one.level + 1e-12
    attainable = instead(one.attainable) if one.attainable > threshold else 0.0
    word = verdict_of(one.difference, p, one.better, one.level, attainable)
    needed = _groups_for(one, lambda smallest: instead(smallest) <= limit) if word is Verdict.CANNOT_BE_SHOWN else None
    equal = one.p_equivalence is not None and one.p_equivalence < 1 - one.level
    if equal and word.unshown:
        word = Verdict.SAME
    return _with_power(replace(one, verdict=word, threshold=threshold, groups_needed=needed), joint)


def _groups_for(one: Comparison, shows: Callable[[float], bool]) -> int | None:
    """How many groups it takes until the smallest p, halved by each more, can be shown; None if no number does."""
    counts = range(one.groups + 1, one.groups + 61)
    return next((number for number in counts if shows(attainable_p(number))), None)


def _with_power(one: Comparison, joint: bool) -> Comparison:
    if one.groups_needed is not None:
        return replace(one, minimum_detectable=None, questions_needed=None)
    if one.threshold is None or math.isnan(one.error):
        return one
    level = 1 - (one.threshold if joint else max(one.threshold, one.attainable))
    deviation, binary = one.error * math.sqrt(one.n), one.test == MCNEMAR
    differing = math.sqrt(one.error**2 * (one.n - 1) + one.difference**2)
    expected = differing if binary else deviation / shrinkage(one.groups)
    return replace(
        one,
        minimum_detectable=minimum_detectable_difference(
            expected, one.n, level=level, groups=one.groups, binary=binary, joint=joint
        ),
        questions_needed=sample_size(one.difference, deviation, level=level, binary=binary),
    )


def _difference(baseline: ArrayLike, challenger: ArrayLike, name: str, names: tuple[str, str]) -> Array:
    first, second = as_values(baseline, names[0]), as_values(challenger, names[1])
    if len(first) != len(second):
        raise ValueError(
            f"{name}: {names[0]} has {len(first)} values and {names[1]} {len(second)}: "
            "pair them by question, with NaN where one was not measured"
        )
    return second - first


def _is_binary(values: ArrayLike) -> bool:
    array = as_values(values)
    return bool(np.isin(array[~np.isnan(array)], (0.0, 1.0)).all())


def tested(units: Units, resamples: int, seed: int) -> tuple[float, str]:
    """(p, test) of the hypothesis that signs of the units' differences are arbitrary; units of one column."""
    column, middle = units.sums[:, 0], units.number >= FEWEST_FOR_MID_P
    moved = column[np.abs(column) > 1e-12 * np.abs(column).max(initial=0.0)]
    sizes = np.abs(moved)
    if not len(moved):
        return 1.0 if units.number else math.nan, EXACT
    if np.ptp(sizes) <= 1e-9 * sizes.max():
        return _binomial_p(int((moved > 0).sum()), len(moved), middle), EXACT
    observed, total = abs(float(moved.sum())), float(sizes.sum())
    if 2 ** min(len(moved), 60) <= resamples:  # all patterns cost less than drawing some of them, and are exact
        return share_beyond(np.abs(every_flip(moved[:, None])), observed, 1e-10 * total, middle, True), EXACT
    drawn = np.abs(sign_flips(moved[:, None], resamples, np.random.default_rng(seed)))
    # many units are summed in single precision: what ties with the observed sum must still count
    slack = (1e-6 if len(moved) > 512 else 1e-10) * total
    return share_beyond(drawn, observed, slack, middle, False), "sign flips"


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


def _one(
    mean: Mean,
    column: Array,
    flags: bool,
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
    intervals = mean.intervals(level) | _few_moved(mean, column, flags, level)
    method, note = _choose(intervals, mean, column)
    low, high = intervals.get(method, (math.nan, math.nan))
    deviation = float(np.std(column, ddof=1)) if mean.variance > 0 else 0.0
    p_equivalence = None if margin is None else _equivalence(mean, column, flags, margin)
    return by_signs(
        Comparison(
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
    )


def _nothing(names: tuple[str, str], better: Better, level: float, dropped: int, seed: int) -> Comparison:
    """No pair was measured on both sides."""
    nan = math.nan
    return Comparison(
        *names, nan, nan, nan, level, "none", nan, "none", nan, Verdict.NOT_SHOWN, 0, dropped, better, seed=seed,
        note="empty",
    )  # fmt: skip


def _equivalence(mean: Mean, column: Array, flags: bool, margin: float) -> float:
    """TOST; where few pairs moved, with Bonett and Price's two added pairs, or too many would be called the same."""
    moved, n = column[column != 0], len(column)
    if not _is_sparse(mean, column) or not (len(moved) or flags):
        return equivalence_p(mean.value, mean.variance, mean.freedom, margin)
    step = float(np.mean(moved**2)) if len(moved) else 1.0
    value = mean.value * n / (n + 2)
    variance = ((float(np.sum(column**2)) + 2 * step) / (n + 2) - value**2) / (n + 2)
    return equivalence_p(value, variance, mean.freedom, margin)


def _is_sparse(mean: Mean, column: Array) -> bool:
    """Few independent pairs moved, and most did not."""
    moved = int(np.sum(column != 0))
    few = moved < FEWEST_MOVED and (2 * moved <= len(column) or mean.variance <= 0)
    return few and not mean.units.clustered and len(column) > 1


def _few_moved(mean: Mean, column: Array, flags: bool, level: float) -> dict[str, Interval]:
    """Bonett and Price's interval, for independent pairs few of which moved; 0/1 values move by 1."""
    moved = column[column != 0]
    if mean.units.clustered or not (len(moved) or flags):
        return {}
    step = float(np.mean(moved**2)) if len(moved) else 1.0
    square = float(np.sum(column**2)) + 2 * step
    low, high = kinds.bonett_price(mean.value, square, len(column), mean.freedom, level)
    return {"bonett_price": (max(low, -1.0), min(high, 1.0)) if flags else (low, high)}


def _choose(intervals: Mapping[str, Interval], mean: Mean, column: Array) -> tuple[str, str]:
    """Which interval of the difference is printed, and why it is not BCa's."""
    units = mean.units
    moved = int(np.sum(column != 0))
    if _is_sparse(mean, column) and "bonett_price" in intervals:
        return "bonett_price", "few_moved" if moved else "no_spread"
    if mean.variance <= 0:
        return "none", "no_spread" if units.n > 1 else "few"
    student = "t_effective" if "t_effective" in intervals else "t"
    if units.clustered and units.number < FEWEST_CLUSTERS_FOR_BOOTSTRAP:
        return student, "few_clusters" if units.number < FEWEST_CLUSTERS else "few"
    if "studentized" in intervals and abs(mean.acceleration) > SKEWED_DIFFERENCE and 2 * moved > len(column):
        return "studentized", "skewed"
    if moved < FEWEST_FOR_BOOTSTRAP or "bca" not in intervals:
        return student, "few"
    return "bca", ""


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
