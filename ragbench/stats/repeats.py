"""Repeated measurements of the same questions: how much of the spread is questions, how much is chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Array
from ragbench.stats.values import Labels, as_codes, units_of


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
