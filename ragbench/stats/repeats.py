"""Repeated measurements of the same questions: how much of the spread is questions, how much is chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragbench.types import Array


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Variance of single values, split.

    questions: between questions, repeats: within a question (both in squared units of the values; `questions` is
    never below 0). share: of the questions in the sum, the reliability of one repeat. mean, error: the mean over
    questions and its standard error. n, repeats_each: questions, and repeats per question (n₀ where they differ).
    error_of_questions, error_of_repeats: the two parts of the standard error, whose squares add up to it; more
    repeats only shrink the second.
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


def variance_split(values: ArrayLike) -> VarianceSplit:
    """One-way random-effects analysis of variance of (questions, repeats) values; NaN is an unmeasured repeat.

    Parts are NaN with fewer than two questions, or no question with two repeats.
    Raises ValueError for another shape or infinite values.
    """
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"values are (questions, repeats); got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise ValueError("values hold infinities: give NaN where nothing was measured")
    matrix = np.sort(matrix, axis=1)  # NaN last; then the questions, so that no order of rows changes a digit
    matrix = matrix[np.lexsort(matrix.T[::-1])]
    present = ~np.isnan(matrix)
    matrix, present = matrix[present.any(axis=1)], present[present.any(axis=1)]
    missing = int(np.size(values) - present.sum())
    sizes = present.sum(axis=1).astype(np.float64)
    n, total = len(sizes), float(sizes.sum())
    if n == 0:
        nan = math.nan
        return VarianceSplit(nan, nan, nan, nan, nan, nan, nan, 0, nan, missing)
    means = np.nansum(matrix, axis=1) / sizes
    mean = float(means @ sizes / total)
    if n < 2 or total <= n:
        nan = math.nan
        return VarianceSplit(nan, nan, nan, mean, nan, nan, nan, n, total / n, missing)
    within = float(np.nansum((matrix - means[:, None]) ** 2)) / (total - n)
    between = float(sizes @ (means - mean) ** 2) / (n - 1)
    each = float((total - sizes @ sizes / total) / (n - 1))
    questions = max(0.0, (between - within) / each)
    of_questions, of_repeats = _errors(questions, within, sizes)
    both = questions + within
    return VarianceSplit(
        questions, within, questions / both if both > 0 else math.nan, mean, math.hypot(of_questions, of_repeats),
        of_questions, of_repeats, n, each, missing,
    )  # fmt: skip


def _errors(questions: float, within: float, sizes: Array) -> tuple[float, float]:
    total = float(sizes.sum())
    return math.sqrt(questions * float(sizes @ sizes)) / total, math.sqrt(within / total)
