"""A few people's labels and many judge's predictions: prediction-powered estimates that are people's, only narrower."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.stats import intervals as kinds
from ragbench.stats.comparisons import verdict_of
from ragbench.stats.intervals import Interval
from ragbench.stats.power import minimum_detectable_difference, sample_size
from ragbench.stats.samples import Labels, as_codes, as_values, check_level
from ragbench.types import Array, Better, Comparison, Estimate

Flags = NDArray[np.bool_]

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
    clusters: int | None = None


def prediction_powered(
    labels: ArrayLike,
    predictions_on_labelled: ArrayLike,
    predictions_on_rest: ArrayLike,
    *,
    clusters: tuple[Labels, Labels] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The mean that people would give to all items, from labels on a few and a judge's predictions on all.

    labels, predictions_on_labelled: people's and the judge's values of the same items; predictions_on_rest: the
    judge's values of items without a label. Unmeasured pairs and predictions are left out; `n` counts labels.
    clusters: one label for every labelled item and one for every item of the rest, where items are not independent;
    a cluster may have items of both. Then folds hold whole clusters, and errors are those of cluster totals.

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
        clusters,
    )
    low, high = found.intervals.get(found.method, (None, None))
    return Estimate(
        found.value, low, high, level, found.method if low is not None else "none", found.n, found.unmeasured,
        clusters=found.clusters, n_effective=_effective(found),
        design_effect=1.0 if found.n and found.clusters is None else None,
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
    clusters: tuple[Labels, Labels] | None = None,
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
    found = _powered(pairs[0], pairs[1], pairs[2], level, seed, clusters)
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
        clusters=found.clusters, seed=seed, note=found.note, intervals=found.intervals,
    )  # fmt: skip


def _powered(
    labels: Array, labelled: Array, rest: Array, level: float, seed: int, clusters: tuple[Labels, Labels] | None = None
) -> _Powered:
    if len(labels) != len(labelled):
        raise ValueError(
            f"{len(labels)} labels and {len(labelled)} predictions on them: give one prediction for every label"
        )
    present, there = ~(np.isnan(labels) | np.isnan(labelled)), ~np.isnan(rest)
    y, f, unlabelled = labels[present], labelled[present], rest[there]
    groups = _groups(clusters, present, there)
    n, unmeasured = len(y), int((~present).sum())
    if n < 2:
        value = float(y[0]) if n else math.nan
        return _Powered(value, 0.0, 1, "none", "few" if n else "empty", n, unmeasured, {})
    freedom = len(np.unique(groups[:n])) - 1
    known = None if clusters is None else freedom + 1
    if freedom < 1:
        return _Powered(float(y.mean()), 0.0, 1, "none", "few", n, unmeasured, {}, known)
    intervals: dict[str, Interval] = {}
    people_error = _error((y - y.mean()) / n, groups[:n], freedom)
    if people_error > 0:
        intervals["people"] = kinds.student(float(y.mean()), people_error**2, freedom, level)
    judged = np.concatenate([f, unlabelled])
    if np.ptp(judged) > 0:
        units = len(np.unique(groups)) - 1
        error = _error((judged - judged.mean()) / len(judged), groups, units)
        intervals["judge"] = kinds.student(float(judged.mean()), error**2, units, level)
    note = _why_alone(y, f, unlabelled, freedom + 1)
    if note:
        return _Powered(float(y.mean()), people_error, freedom, "people", note, n, unmeasured, intervals, known)
    value, error = cross_fitted(y, f, unlabelled, np.random.default_rng(seed), groups if clusters is not None else None)
    intervals["prediction_powered"] = kinds.student(value, error**2, freedom, level)
    return _Powered(value, error, freedom, "prediction_powered", "", n, unmeasured, intervals, known)


def _groups(clusters: tuple[Labels, Labels] | None, present: Flags, there: Flags) -> NDArray[np.int64]:
    """A number for the cluster of every labelled item and then of the rest; every item its own where none are given."""
    if clusters is None:
        return np.arange(int(present.sum()) + int(there.sum()))
    first, second = (list(labels) for labels in clusters)
    if (len(first), len(second)) != (len(present), len(there)):
        raise ValueError(f"clusters name {len(first)} labelled items and {len(second)} of the rest; there are "
                         f"{len(present)} and {len(there)}")  # fmt: skip
    codes = as_codes([*first, *second], len(first) + len(second))
    assert codes is not None
    return codes[np.concatenate([present, there])]


def _error(influences: Array, groups: NDArray[np.int64], freedom: int) -> float:
    """Standard error of a sum of centred influences, whole clusters at a time."""
    _, place = np.unique(groups, return_inverse=True)
    totals = np.bincount(place, weights=influences)
    return math.sqrt((freedom + 1) / freedom * float(totals @ totals))


def _why_alone(y: Array, f: Array, rest: Array, units: int) -> str:
    if units < FEWEST_LABELS or len(rest) < 2:
        return "few"
    if np.ptp(y) == 0 or np.ptp(f) == 0:
        return "no_spread"
    return "weak_judge" if abs(float(np.corrcoef(y, f)[0, 1])) < 1 / math.sqrt(units - 2) else ""


def cross_fitted(
    y: Array, f: Array, rest: Array, rng: np.random.Generator, groups: NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """Estimate and standard error; each label is weighed by the λ of the other folds.

    groups: clusters of the labelled items and then of the rest; None: all independent.
    """
    n = len(y)
    own = np.arange(n) if groups is None else np.unique(groups[:n], return_inverse=True)[1]
    number = int(own.max()) + 1
    folds = rng.permutation(np.arange(number) % min(FOLDS, number))[own]
    factor = np.empty(n)
    for fold in range(folds.max() + 1):
        out = folds != fold
        factor[~out] = _best_factor(y[out], f[out], len(rest))
    rectified = y - factor * (f - rest.mean())
    if groups is not None:
        of_labels = (rectified - rectified.mean()) / n
        of_rest = float(np.mean(factor)) * (rest - rest.mean()) / len(rest)
        return float(rectified.mean()), _error(np.concatenate([of_labels, of_rest]), groups, number - 1)
    spread = float(np.mean(factor)) ** 2 * float(np.var(rest, ddof=1)) / len(rest)
    return float(rectified.mean()), math.sqrt(float(np.var(rectified, ddof=1)) / n + spread)


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
