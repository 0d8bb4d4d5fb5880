"""A few people's labels and many judge's predictions: prediction-powered estimates that are people's, only narrower."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats import intervals as kinds
from ragbench.stats.comparisons import verdict_of
from ragbench.stats.intervals import Interval
from ragbench.stats.power import minimum_detectable_difference, sample_size
from ragbench.stats.samples import as_values, check_level
from ragbench.types import Array, Better, Comparison, Estimate

FOLDS = 10
FEWEST_LABELS = 10


@dataclass(frozen=True, slots=True)
class _Powered:
    value: float
    error: float
    freedom: int
    method: str
    note: str
    n: int
    unmeasured: int
    intervals: dict[str, Interval]


def prediction_powered(
    labels: ArrayLike,
    predictions_on_labelled: ArrayLike,
    predictions_on_rest: ArrayLike,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The mean that people would give to all items, from labels on a few and a judge's predictions on all.

    labels, predictions_on_labelled: people's and the judge's values of the same items; predictions_on_rest: the
    judge's values of items without a label. Unmeasured pairs and predictions are left out; `n` counts labels.

    PPI++ (Angelopoulos, Duchi, Zrnic 2023): mean(y − λ f) over the labelled + λ mean(f) over the rest, with the λ of
    least variance fitted on the other folds, so that it does not follow the labels it weighs, and Student's t.
    Where the correlation of labels and predictions is below 1 / √(n − 2), or fewer than 10 labels are there, the
    predictions are left aside (`note` "weak_judge", "few"). `intervals` holds "people" and "judge" beside it: labels
    alone, and the judge alone, whose interval does not know the judge's error.
    """
    check_level(level)
    found = _powered(
        as_values(labels, "labels"),
        as_values(predictions_on_labelled, "predictions_on_labelled"),
        as_values(predictions_on_rest, "predictions_on_rest"),
        level,
        seed,
    )
    low, high = found.intervals.get(found.method, (None, None))
    return Estimate(
        found.value, low, high, level, found.method if low is not None else "none", found.n, found.unmeasured,
        n_effective=_effective(found), design_effect=1.0 if found.n else None,
        seed=seed, intervals=found.intervals, note=found.note,
    )  # fmt: skip


def prediction_powered_comparison(
    labels: tuple[ArrayLike, ArrayLike],
    predictions_on_labelled: tuple[ArrayLike, ArrayLike],
    predictions_on_rest: tuple[ArrayLike, ArrayLike],
    *,
    better: Better = "higher",
    level: float = 0.95,
    seed: int = 0,
    names: tuple[str, str] = ("baseline", "challenger"),
) -> Comparison:
    """Two systems' difference as people would see it: each argument holds (baseline, challenger), paired by question.

    The differences challenger − baseline are one prediction-powered estimate; p is of its t test.
    """
    check_level(level)
    pairs = []
    for word, (first, second) in (
        ("labels", labels),
        ("predictions_on_labelled", predictions_on_labelled),
        ("predictions_on_rest", predictions_on_rest),
    ):
        x, y = as_values(first, f"{names[0]} {word}"), as_values(second, f"{names[1]} {word}")
        if len(x) != len(y):
            raise ValueError(f"{word}: {names[0]} has {len(x)} values and {names[1]} {len(y)}: pair them by question")
        pairs.append(y - x)
    found = _powered(pairs[0], pairs[1], pairs[2], level, seed)
    low, high = found.intervals.get(found.method, (math.nan, math.nan))
    p = kinds.t_p(found.value / found.error, found.freedom) if found.error > 0 else math.nan
    spread = found.error * math.sqrt(found.n)
    deviation = float(np.nanstd(pairs[0], ddof=1)) if found.n > 1 else 0.0
    return Comparison(
        *names, found.value, low, high, level, found.method, p, "t of the prediction-powered difference",
        found.value / deviation if deviation > 0 else math.nan,
        verdict_of(found.value, p, better, level), found.n, found.unmeasured, better,
        minimum_detectable=minimum_detectable_difference(spread, found.n, level=level),
        questions_needed=sample_size(found.value, spread, level=level),
        seed=seed, note=found.note, intervals=found.intervals,
    )  # fmt: skip


def _powered(labels: Array, labelled: Array, rest: Array, level: float, seed: int) -> _Powered:
    if len(labels) != len(labelled):
        raise ValueError(
            f"{len(labels)} labels and {len(labelled)} predictions on them: give one prediction for every label"
        )
    present = ~(np.isnan(labels) | np.isnan(labelled))
    y, f, unlabelled = labels[present], labelled[present], rest[~np.isnan(rest)]
    n, unmeasured = len(y), int((~present).sum())
    if n < 2:
        value = float(y[0]) if n else math.nan
        return _Powered(value, 0.0, 1, "none", "few" if n else "empty", n, unmeasured, {})
    intervals: dict[str, Interval] = {}
    people_error = float(np.std(y, ddof=1)) / math.sqrt(n)
    if people_error > 0:
        intervals["people"] = kinds.student(float(y.mean()), people_error**2, n - 1, level)
    judged = np.concatenate([f, unlabelled])
    if np.ptp(judged) > 0:
        intervals["judge"] = kinds.student(
            float(judged.mean()), float(np.var(judged, ddof=1)) / len(judged), len(judged) - 1, level
        )
    alone = _Powered(float(y.mean()), people_error, n - 1, "people", "", n, unmeasured, intervals)
    note = _why_alone(y, f, unlabelled)
    if note:
        return _Powered(alone.value, people_error, n - 1, "people", note, n, unmeasured, intervals)
    value, error = cross_fitted(y, f, unlabelled, np.random.default_rng(seed))
    intervals["prediction_powered"] = kinds.student(value, error**2, n - 1, level)
    return _Powered(value, error, n - 1, "prediction_powered", "", n, unmeasured, intervals)


def _why_alone(y: Array, f: Array, rest: Array) -> str:
    if len(y) < FEWEST_LABELS or len(rest) < 2:
        return "few"
    if np.ptp(y) == 0 or np.ptp(f) == 0:
        return "no_spread"
    return "weak_judge" if abs(float(np.corrcoef(y, f)[0, 1])) < 1 / math.sqrt(len(y) - 2) else ""


def cross_fitted(y: Array, f: Array, rest: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Estimate and standard error; each label is weighed by the λ of the other folds."""
    n = len(y)
    folds = rng.permutation(np.arange(n) % min(FOLDS, n))
    factor = np.empty(n)
    for fold in range(folds.max() + 1):
        out = folds != fold
        factor[~out] = _best_factor(y[out], f[out], len(rest))
    rectified = y - factor * (f - rest.mean())
    of_rest = float(np.mean(factor)) ** 2 * float(np.var(rest, ddof=1)) / len(rest)
    return float(rectified.mean()), math.sqrt(float(np.var(rectified, ddof=1)) / n + of_rest)


def _best_factor(y: Array, f: Array, number_of_rest: int) -> float:
    """λ = cov(y, f) / (var(f) (1 + n / N)); 0 where the predictions do not vary."""
    spread = float(np.var(f, ddof=1))
    if spread <= 0:
        return 0.0
    return float(np.cov(y, f)[0, 1]) / (spread * (1 + len(y) / number_of_rest))


def _effective(found: _Powered) -> float | None:
    """How many labels alone would give this standard error."""
    people = found.intervals.get("people")
    if people is None or found.error <= 0:
        return float(found.n) if found.n else None
    chosen = found.intervals[found.method]
    return found.n * ((people[1] - people[0]) / (chosen[1] - chosen[0])) ** 2
