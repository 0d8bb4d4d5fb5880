"""The next study, planned from the spread of one that was made; how much of a spread is questions, how much chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ragbench.old.core.types import Array, Better
from ragbench.old.stats.comparisons import compare
from ragbench.old.stats.intervals import bonett, normal_quantile, wilson
from ragbench.old.stats.power import POWER
from ragbench.old.stats.values import Codes, Labels, as_codes, as_values, units_of
from ragbench.old.stats.verdicts import Spread

FEWEST_DRAWS = 100
"""No drawn number is read: the error of a mean and the name of its test are exact."""


@dataclass(frozen=True)
class StudyPlan:
    """How large a study has to be, and what the one that was made could show.

    difference: the true one, in the metric's unit, that is to be shown with the chance `power`.
    questions, groups: how many are needed; None where no number does, groups also where each question stands alone.
    between: how many questions at both ends of the interval of how the differences vary (`plan_study`); None where
    fewer than five groups tell it, or no number does.
    n, clusters: how many there were, on both sides. reached: the chance that as many show the difference; NaN without
    spread. detectable: the smallest difference that as many show with `power`; None if none.
    deviation: standard deviation of the paired differences of single questions. correlation: how alike those of one
    group are (intra-cluster, 0 to 1); None without groups of several questions.
    per_group: how many questions each of the present groups would have to hold if none came to them; None where no
    number does, because the groups themselves differ too much, and without groups.
    threshold: the largest p of the comparison by itself that is taken as shown. test: as it is made.
    """

    difference: float
    power: float
    questions: int | None
    groups: int | None
    between: tuple[int, int] | None
    n: int
    clusters: int | None
    reached: float
    detectable: float | None
    deviation: float
    correlation: float | None
    per_group: int | None
    threshold: float
    test: str


def plan_study(
    baseline: ArrayLike,
    challenger: ArrayLike,
    difference: float,
    *,
    clusters: Labels | None = None,
    power: float = POWER,
    level: float = 0.95,
    comparisons: int = 1,
    threshold: float | None = None,
    joint: bool = False,
    better: Better = "higher",
) -> StudyPlan:
    """How many questions show a true mean difference with `power`, if they vary as the ones given did.

    baseline, challenger, clusters: as in `compare`. The plan is for its test: sign flips, of 0/1 values McNemar's,
    where as many pairs differ as did, or as the difference needs. comparisons: how many are corrected together; the
    hardest step of Holm's takes a p of (1 − level) / comparisons as shown. threshold: that p itself, where it is known
    from a family; joint: of a family that was tested together (max-T).

    Groups are planned as large as they are on average; a group's mean varies by what differs between groups, and by
    what differs within them divided by its size (components of a one-way layout: Donner and Klar 2000, chapter 5).
    How they vary is an estimate itself, and the number of questions no surer than it (Browne 1995, Statistics in
    Medicine 14): `between` is at the ends of its interval at `level`, of graded values Bonett's of the standard
    deviation of groups, of 0/1 values Wilson's of the share of pairs that differ.
    Raises ValueError for a difference, power, or number of comparisons that cannot be, and where fewer than two groups
    were measured on both sides.
    """
    if not (math.isfinite(difference) and difference != 0):
        raise ValueError(f"difference is the one that is to be shown, finite and not 0; got {difference}")
    if comparisons < 1:
        raise ValueError(f"comparisons is how many are corrected together, 1 or more; got {comparisons}")
    comparison = compare(baseline, challenger, clusters=clusters, better=better, level=level, resamples=FEWEST_DRAWS)
    if comparison.groups < 2:
        what = "question" if clusters is None else "group"
        raise ValueError(f"{comparison.groups} {what}s were measured on both sides: how they vary is known from two on")
    limit = (1 - level) / comparisons if threshold is None else threshold
    spread = replace(Spread.of(comparison), level=1 - limit, joint=joint)
    differences = as_values(challenger, "challenger") - as_values(baseline, "baseline")
    codes = as_codes(clusters, len(differences))
    kept = ~np.isnan(differences)
    between, within = (math.nan, math.nan) if codes is None else _components(differences[kept], codes[kept], spread)
    detectable = spread.detectable(power)
    groups = spread.needed(difference, power)
    per_group = None
    if codes is not None and detectable is not None:
        allowed = (abs(difference) / detectable) ** 2 * spread.deviation**2 - between
        per_group = max(1, math.ceil(within / allowed - 1e-9)) if allowed > 0 else None
    return StudyPlan(
        abs(difference),
        power,
        spread.questions(difference, power),
        None if codes is None else groups,
        _between(differences[kept], None if codes is None else codes[kept], spread, difference, power, level),
        comparison.n,
        comparison.clusters,
        spread.power(difference),
        detectable,
        float(np.std(differences[kept], ddof=1)),
        between / (between + within) if between + within > 0 else None,
        per_group,
        limit,
        comparison.test,
    )


def _between(
    differences: Array, codes: Codes | None, spread: Spread, difference: float, power: float, level: float
) -> tuple[int, int] | None:
    """The numbers of questions at both ends of the interval of `spread`'s deviation; the planned one lies between."""
    if spread.binary:
        shares = wilson(spread.deviation**2, spread.n, normal_quantile((1 + level) / 2))
        ends = (math.sqrt(max(shares[0], 0.0)), math.sqrt(shares[1]))
    else:
        apart = differences - differences.mean()
        if codes is not None:
            _, places = np.unique(codes, return_inverse=True)
            apart = np.bincount(places, weights=apart) * spread.groups / spread.n
        known = bonett(apart, level)
        if known is None:
            return None
        ends = known
    deviations = (min(ends[0], spread.deviation), max(ends[1], spread.deviation))
    low, high = (replace(spread, deviation=deviation).questions(difference, power) for deviation in deviations)
    return None if low is None or high is None else (low, high)


def _components(differences: Array, codes: ArrayLike, spread: Spread) -> tuple[float, float]:
    """The variance between groups, and that of single questions within them, which make up that of a group's mean.

    Both NaN where every group is one question.
    """
    _, places, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(sizes) == len(differences):
        return math.nan, math.nan
    middles = np.bincount(places, weights=differences) / sizes
    within = float(np.sum((differences - middles[places]) ** 2)) / (len(differences) - len(sizes))
    size = spread.n / spread.groups
    between = spread.deviation**2 - within / size
    return (between, within) if between > 0 else (0.0, spread.deviation**2 * size)


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Variance of single values, or of single differences of two systems, split.

    questions: between questions, repeats: within a question (both in squared units of the values; `questions` is
    never below 0). share: of the questions in the sum, the reliability of one repeat. mean, error: the mean over
    questions of their repeats' means, and its standard error (with clusters that of whole clusters).
    error_of_questions, error_of_repeats: the two parts of the standard error, whose squares add up to it.
    n, repeats_each: questions, and repeats per question of one system (the mean where they differ).
    NaN where nothing is known of a part: with fewer than two questions, or where nothing was repeated.
    """

    questions: float
    repeats: float
    share: float
    mean: float
    error: float
    error_of_questions: float
    error_of_repeats: float
    n: int
    repeats_each: float
    n_unmeasured: int = 0

    def error_with(self, *, questions: float = 1.0, repeats: float = 1.0) -> float:
        """The standard error to be expected with so many times the questions, and so many times the repeats of each.

        More questions shrink both parts, more repeats only their own (Miller 2024, arXiv:2411.00640, section 3).
        """
        return math.hypot(self.error_of_questions, self.error_of_repeats / math.sqrt(repeats)) / math.sqrt(questions)


def variance_split(
    values: ArrayLike, baseline: ArrayLike | None = None, *, clusters: Labels | None = None
) -> VarianceSplit:
    """The split of (questions, repeats) values, or of their differences to a baseline on the same questions.

    NaN is an unmeasured repeat; a question counts if both sides measured it once at least. Repeats of two systems are
    independent, and each system may have its own number of them. clusters: one label a question.

    The score of a question is the mean over its repeats, and questions count alike: the analysis of unweighted means
    (Searle, Casella, McCulloch 1992, Variance Components, chapter 3; for equal numbers of repeats the one-way
    analysis of variance). The variance within questions is pooled over them; what it leaves of the variance of the
    questions' scores is that of the questions.
    Raises ValueError for another shape, different numbers of questions, or infinite values.
    """
    sides = [_matrix(values)] if baseline is None else [_matrix(values), _matrix(baseline)]
    if len({len(side) for side in sides}) > 1:
        raise ValueError(f"values have {len(sides[0])} questions and the baseline {len(sides[1])}: give the same ones")
    present = np.all([~np.isnan(side).all(axis=1) for side in sides], axis=0)
    missing = sum(int(np.isnan(side).sum()) for side in sides)
    codes = as_codes(clusters, len(sides[0]))
    sides = [side[present] for side in sides]
    n, nan = int(present.sum()), math.nan
    if n == 0:
        return VarianceSplit(nan, nan, nan, nan, nan, nan, nan, 0, nan, missing)
    sizes = [(~np.isnan(side)).sum(axis=1).astype(np.float64) for side in sides]
    scores = [np.nansum(side, axis=1) / size for side, size in zip(sides, sizes, strict=True)]
    column = scores[0] if baseline is None else scores[0] - scores[1]
    each = math.fsum(math.fsum(size) for size in sizes) / (n * len(sides))
    units = units_of(column[:, None], None if codes is None else codes[present])
    mean = float(units.means[0])
    within = [_within(*parts) for parts in zip(sides, scores, sizes, strict=True)]
    if n < 2 or units.number < 2 or any(map(math.isnan, within)):
        return VarianceSplit(nan, nan, nan, mean, nan, nan, nan, n, each, missing)
    variance = max(float(units.variances()[0]), 0.0)
    of_chance = math.fsum(of_side * math.fsum(1 / size) for of_side, size in zip(within, sizes, strict=True)) / n
    questions = max(0.0, _spread(column, mean) - of_chance)
    repeats = math.fsum(within)
    of_repeats = min(of_chance / n, variance)
    both = questions + repeats
    return VarianceSplit(
        questions, repeats, questions / both if both > 0 else nan, mean, math.sqrt(variance),
        math.sqrt(variance - of_repeats), math.sqrt(of_repeats), n, each, missing,
    )  # fmt: skip


def _matrix(values: ArrayLike) -> Array:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"values are (questions, repeats); got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise ValueError("values hold infinities: give NaN where nothing was measured")
    return np.sort(matrix, axis=1)  # NaN last; so that no order of repeats changes a digit


def _within(side: Array, scores: Array, sizes: Array) -> float:
    """Pooled variance within questions; NaN where nothing was repeated."""
    freedom = float((sizes - 1).sum())
    squares: Sequence[float] = np.nansum((side - scores[:, None]) ** 2, axis=1).tolist()
    return math.fsum(squares) / freedom if freedom > 0 else math.nan


def _spread(column: Array, mean: float) -> float:
    return math.fsum(((column - mean) ** 2).tolist()) / (len(column) - 1)
