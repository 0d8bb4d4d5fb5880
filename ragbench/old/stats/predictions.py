"""A few people's labels and many judge's predictions: estimates that are people's, only narrower."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison, Estimate, IntervalNote, Verdict
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.estimates import Bounds, closed, estimate, limits_of, width_of, within
from ragbench.old.stats.intervals import Interval
from ragbench.old.stats.values import Labels, as_codes, as_values, check_better, check_level
from ragbench.old.stats.verdicts import decided, on_scale, weighed

Flags = NDArray[np.bool_]

FOLDS = 10  # each prediction's model is of nine tenths of the labels, as in cross-validation
FEWEST_LABELS = 10  # below, neither λ nor a spread is told by the labels
FEWEST_AT_END = 5
"""Fewer effective labels away from an end of the scale do not tell λ: one of them moves it (covered .88 of .95)."""


@dataclass(frozen=True, slots=True)
class _Powered:
    value: float
    error: float
    freedom: int
    method: str
    note: IntervalNote
    n: int
    unmeasured: int
    intervals: dict[str, Interval]
    clusters: int | None = None
    lean: float = 0.0


def prediction_powered(
    labels: ArrayLike,
    predictions_on_labelled: ArrayLike,
    predictions_on_rest: ArrayLike,
    *,
    clusters: tuple[Labels, Labels] | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The mean that people would give to all items, from labels on a few and a judge's predictions on all.

    labels, predictions_on_labelled: people's and the judge's values of the same items; predictions_on_rest: the
    judge's values of items without a label. Unmeasured pairs and predictions are left out; `n` counts labels.
    clusters: one label for every labelled item and one for every item of the rest, where items are not independent;
    a cluster may have items of both. Then folds hold whole clusters, and errors are those of cluster totals.

    PPI++ (Angelopoulos, Duchi, Zrnic 2023): mean(y − λ f) over the labelled + λ mean(f) over the rest, with the λ of
    least variance fitted on the other folds, so that it does not follow the labels it weighs, and Student's t. Where
    what remains of the labels is skewed, the end on the side of its tail moves out by the skewness term of Student's t
    (Johnson 1978, Modified t tests and confidence intervals for asymmetrical populations, JASA 73): without it, recall
    with 50 labels was covered .930 of .95.
    Where the correlation of labels and predictions is below 1 / √(n − 2), or fewer than 10 labels are there, the
    predictions are left aside (`note` "weak_judge", "few"; with bounds also "ceiling", where fewer than 5 labels in
    effect lie away from an end of the scale). `intervals` holds "people" and "judge" beside it: labels
    alone, and the judge alone, whose interval does not know the judge's error.

    bounds: the ends of the scale, which value and intervals keep. Near them Student's t does not hold, so with both
    the interval is Wilson's with effective n = m (1 − m) / SE², at least the number of labelled units, and t quantile;
    "people" and "judge" are then those of `estimate`, which exist also where all labels are equal.
    Raises ValueError for values outside the bounds.
    """
    check_level(level)
    y, f = as_values(labels, "labels"), as_values(predictions_on_labelled, "predictions_on_labelled")
    rest = as_values(predictions_on_rest, "predictions_on_rest")
    ends = limits_of("labels", y, y, bounds)
    for name, values in (("predictions_on_labelled", f), ("predictions_on_rest", rest)):
        limits_of(name, values, values, bounds)
    powered = _powered(y, f, rest, level, seed, clusters, closed(ends))
    if (own := powered.intervals.get("prediction_powered")) is not None and powered.lean:
        reached = min(own[0], own[0] + powered.lean), max(own[1], own[1] + powered.lean)
        powered = replace(powered, intervals=powered.intervals | {"prediction_powered": reached})
    value, intervals = min(max(powered.value, ends[0]), ends[1]), within(ends, powered.intervals)
    low, high = intervals.get(powered.method, (None, None))
    return Estimate(
        value, low, high, level, powered.method if low is not None else "none", powered.n, powered.unmeasured,
        clusters=powered.clusters, n_effective=_effective(powered),
        design_effect=1.0 if powered.n and powered.clusters is None else None,
        seed=seed, intervals=intervals, note=powered.note,
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
    bounds: Bounds | None = None,
    lacking: int = 0,
) -> Comparison:
    """Two systems' difference as people would see it: each argument holds (baseline, challenger), paired by question.

    The differences challenger − baseline are one prediction-powered estimate; p is of its t test.
    bounds: the ends of the scale of one system's values; difference and intervals then keep to ± its width, near
    which they are Wilson's (see `prediction_powered`), and p is of the same score test, so that both agree.
    lacking: how many more pairs there are that nothing is known of; with bounds they bound what is said, as a pair at
    either end of the scale would move a mean (`ragbench.old.stats.verdicts`).
    Raises ValueError for values outside the bounds.
    """
    check_level(level)
    check_better(better)
    pairs = []
    for word, (first, second) in (
        ("labels", labels),
        ("predictions_on_labelled", predictions_on_labelled),
        ("predictions_on_rest", predictions_on_rest),
    ):
        x, y = as_values(first, f"{names[0]} {word}"), as_values(second, f"{names[1]} {word}")
        if len(x) != len(y):
            raise ValueError(f"{word}: {names[0]} has {len(x)} values and {names[1]} {len(y)}: pair them by question")
        for name, values in zip(names, (x, y), strict=True):
            limits_of(f"{name} {word}", values, values, bounds)
        pairs.append(y - x)
    powered = _powered(pairs[0], pairs[1], pairs[2], level, seed, clusters)
    error = powered.error
    width = width_of(bounds)
    if width is not None and powered.method == "prediction_powered":
        powered, error = _on_scale(powered, width, level)
    low, high = powered.intervals.get(powered.method, (math.nan, math.nan))
    p = kinds.t_p(powered.value / error, powered.freedom) if error > 0 else math.nan
    deviation = float(np.nanstd(np.sort(pairs[0]), ddof=1)) if powered.n > 1 else 0.0
    comparison = Comparison(
        *names,
        powered.value,
        low,
        high,
        level,
        powered.method,
        p,
        "t of the prediction-powered difference",
        powered.value / deviation if deviation > 0 else math.nan,
        Verdict.NOT_SHOWN,
        powered.n,
        powered.unmeasured,
        better,
        clusters=powered.clusters,
        error=powered.error if powered.error > 0 else math.nan,
        threshold=1 - level,
        seed=seed,
        note=powered.note,
        intervals=powered.intervals,
        width=width,
    )
    whole = len(pairs[0]) + int((~np.isnan(pairs[2])).sum())
    if comparison.width is not None and lacking and error > 0:
        least, most = (
            (whole * powered.value + lacking * end) / (whole + lacking) for end in (-comparison.width, comparison.width)
        )
        worst, against = (least, least > 0) if powered.value > 0 else (most, most < 0)
        comparison = replace(
            comparison, n_dropped=comparison.n_dropped + lacking, least=least, most=most,
            p_worst=kinds.t_p(worst / error, powered.freedom) if against else 1.0,
        )  # fmt: skip
    return weighed(on_scale(decided(comparison, p, 1 - level)), comparison.p_worst)


def _powered(
    labels: Array,
    labelled: Array,
    rest: Array,
    level: float,
    seed: int,
    clusters: tuple[Labels, Labels] | None = None,
    bounds: Bounds | None = None,
) -> _Powered:
    if len(labels) != len(labelled):
        raise ValueError(
            f"{len(labels)} labels and {len(labelled)} predictions on them: give one prediction for every label"
        )
    present, there = ~(np.isnan(labels) | np.isnan(labelled)), ~np.isnan(rest)
    y, f, unlabelled, groups = _ordered(
        labels[present], labelled[present], rest[there], _groups(clusters, present, there), clusters is not None
    )
    n, unmeasured = len(y), int((~present).sum())
    if not n:
        return _Powered(math.nan, 0.0, 1, "none", "empty", n, unmeasured, {})
    freedom = len(np.unique(groups[:n])) - 1
    known = None if clusters is None else freedom + 1
    intervals: dict[str, Interval] = {}
    judged = np.concatenate([f, unlabelled])
    for name, values, own in (("people", y, groups[:n]), ("judge", judged, groups)):
        interval = _alone(values, own, clusters is not None, bounds, level, seed)
        if interval is not None:
            intervals[name] = interval
    if freedom < 1:
        return _Powered(float(y.mean()), 0.0, 1, "people", "few", n, unmeasured, intervals, known)
    people_error = _error((y - y.mean()) / n, groups[:n], freedom)
    note = _why_alone(y, f, unlabelled, freedom + 1) or _at_an_end(float(y.mean()), people_error, bounds)
    if note:
        return _Powered(float(y.mean()), people_error, freedom, "people", note, n, unmeasured, intervals, known)
    own_groups = groups if clusters is not None else None
    rectified, factor = _rectified(y, f, unlabelled, np.random.default_rng(seed), own_groups)
    value, error = _combined(rectified, factor, unlabelled, own_groups)
    lean = _lean(rectified, groups[:n], freedom, level)
    if bounds is None:
        intervals["prediction_powered"] = kinds.student(value, error**2, freedom, level)
    else:
        value = min(max(value, bounds[0]), bounds[1])
        intervals["prediction_powered"] = between(value, error, freedom, bounds, level)
    return _Powered(value, error, freedom, "prediction_powered", "", n, unmeasured, intervals, known, lean)


def _on_scale(powered: _Powered, width: float, level: float) -> tuple[_Powered, float]:
    """A difference kept to ± width, and the standard error that its score interval has where there is none."""
    value = min(max(powered.value, -width), width)
    within_width = between(value, powered.error, powered.freedom, (-width, width), level)
    effective = _sure((value + width) / (2 * width), powered.error / (2 * width), powered.freedom)
    kept = replace(powered, value=value, intervals=powered.intervals | {powered.method: within_width})
    return kept, width / math.sqrt(effective)


def between(value: float, error: float, freedom: int, bounds: Bounds, level: float) -> Interval:
    """Wilson's interval on the scale, as sure as the standard error says, but never less than the labelled units are:
    no values on a scale spread more than 0/1 ones with the same mean."""
    low, width = bounds[0], bounds[1] - bounds[0]
    share = (value - low) / width
    effective = _sure(share, error / width, freedom)
    first, last = kinds.wilson(share, effective, kinds.t_quantile((1 + level) / 2, freedom))
    return low + width * first, low + width * last


def _sure(share: float, error: float, freedom: int) -> float:
    """How many 0/1 values would tell a share as surely; at least the labelled units."""
    return max(share * (1 - share) / error**2, freedom + 1.0) if error > 0 else freedom + 1.0


def _alone(
    values: Array, groups: NDArray[np.int64], clustered: bool, bounds: Bounds | None, level: float, seed: int
) -> Interval | None:
    """The interval of a plain mean; None where it has none."""
    if bounds is not None:
        plain = estimate(values, clusters=groups if clustered else None, bounds=bounds, level=level, seed=seed)
        return None if plain.low is None or plain.high is None else (plain.low, plain.high)
    mean, freedom = float(values.mean()), len(np.unique(groups)) - 1
    if np.ptp(values) == 0 or freedom < 1:
        return None
    return kinds.student(mean, _error((values - mean) / len(values), groups, freedom) ** 2, freedom, level)


def _ordered(
    y: Array, f: Array, rest: Array, groups: NDArray[np.int64], clustered: bool
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Items in the order of their content and clusters in that of theirs, so that no fold depends on a file's order."""
    n = len(y)
    first, second = np.lexsort((f, y)), np.argsort(rest, kind="stable")
    y, f, rest = y[first], f[first], rest[second]
    if not clustered:
        return y, f, rest, groups
    groups = np.concatenate([groups[:n][first], groups[n:][second]])
    content: dict[int, tuple[list[tuple[float, float]], list[float]]] = {int(group): ([], []) for group in groups}
    for group, *pair in zip(groups[:n].tolist(), y.tolist(), f.tolist(), strict=True):
        content[group][0].append((pair[0], pair[1]))
    for group, value in zip(groups[n:].tolist(), rest.tolist(), strict=True):
        content[group][1].append(value)
    place = {group: number for number, group in enumerate(sorted(content, key=lambda cluster: content[cluster]))}
    return y, f, rest, np.array([place[group] for group in groups.tolist()], dtype=np.int64)


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
    return math.sqrt((freedom + 1) / freedom * float(np.sum(totals**2)))


def _why_alone(y: Array, f: Array, rest: Array, units: int) -> IntervalNote:
    if units < FEWEST_LABELS or len(rest) < 2:
        return "few"
    if np.ptp(y) == 0 or np.ptp(f) == 0:
        return "no_spread"
    return "weak_judge" if abs(float(np.corrcoef(y, f)[0, 1])) < 1 / math.sqrt(units - 2) else ""


def _at_an_end(mean: float, error: float, bounds: Bounds | None) -> IntervalNote:
    if bounds is None:
        return ""
    share, spread = (mean - bounds[0]) / (bounds[1] - bounds[0]), error / (bounds[1] - bounds[0])
    return "ceiling" if min(share, 1 - share) * share * (1 - share) / spread**2 < FEWEST_AT_END else ""


def cross_fitted(
    y: Array, f: Array, rest: Array, rng: np.random.Generator, groups: NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """Estimate and standard error; each label is weighed by the λ of the other folds.

    groups: clusters of the labelled items and then of the rest; None: all independent.
    """
    return _combined(*_rectified(y, f, rest, rng, groups), rest, groups)


def _rectified(
    y: Array, f: Array, rest: Array, rng: np.random.Generator, groups: NDArray[np.int64] | None
) -> tuple[Array, Array]:
    """y − λ (f − mean of the rest) of every labelled item, whose mean is the estimate; and its λ."""
    n = len(y)
    own = np.arange(n) if groups is None else np.unique(groups[:n], return_inverse=True)[1]
    number = int(own.max()) + 1
    folds = rng.permutation(np.arange(number) % min(FOLDS, number))[own]
    factor = np.empty(n)
    for fold in range(folds.max() + 1):
        out = folds != fold
        factor[~out] = _best_factor(y[out], f[out], len(rest))
    return y - factor * (f - rest.mean()), factor


def _combined(rectified: Array, factor: Array, rest: Array, groups: NDArray[np.int64] | None) -> tuple[float, float]:
    """The estimate and its standard error, of the labels and of the rest."""
    n = len(rectified)
    if groups is not None:
        of_labels = (rectified - rectified.mean()) / n
        of_rest = float(np.mean(factor)) * (rest - rest.mean()) / len(rest)
        freedom = len(np.unique(groups[:n])) - 1
        return float(rectified.mean()), _error(np.concatenate([of_labels, of_rest]), groups, freedom)
    spread = float(np.mean(factor)) ** 2 * float(np.var(rest, ddof=1)) / len(rest)
    return float(rectified.mean()), math.sqrt(float(np.var(rectified, ddof=1)) / n + spread)


def _lean(rectified: Array, groups: NDArray[np.int64], freedom: int, level: float) -> float:
    """μ₃ (1 + 2 t²) / (6 σ² n), by which the interval reaches further on the side of the tail; 0 where the skewness is
    too small to matter (`intervals.SKEWED`)."""
    off = rectified - rectified.mean()
    totals = np.bincount(np.unique(groups, return_inverse=True)[1], weights=off)
    squares, cubes = float((totals**2).sum()), float((totals**3).sum())
    if not squares > 0 or abs(cubes) / (6 * squares**1.5) <= kinds.SKEWED:
        return 0.0
    quantile = kinds.t_quantile((1 + level) / 2, freedom)
    return cubes * (1 + 2 * quantile**2) / (6 * squares * len(rectified))


def _best_factor(y: Array, f: Array, number_of_rest: int) -> float:
    """λ = cov(y, f) / (var(f) (1 + n / N)); 0 where the predictions do not vary."""
    spread = float(np.var(f, ddof=1))
    if spread <= 0:
        return 0.0
    return float(np.cov(y, f)[0, 1]) / (spread * (1 + len(y) / number_of_rest))


def _effective(powered: _Powered) -> float | None:
    """How many labels alone would give this standard error."""
    people = powered.intervals.get("people")
    if people is None or powered.error <= 0:
        return float(powered.n) if powered.n else None
    chosen = powered.intervals[powered.method]
    return powered.n * ((people[1] - people[0]) / (chosen[1] - chosen[0])) ** 2


UNIFORM = 0.7
"""Share of the labels that is drawn evenly, so that no chance is near 0 where the judge is wrong and sure of itself.
With .5 a judge that throws dice cost a fifth more width than people alone, with .7 a tenth, and a good one gave no
less."""


def chances(uncertainty: ArrayLike, labels: float) -> Array:
    """The chance of each item to be labelled by people: most of the labels evenly, the rest by how unsure the judge is.

    uncertainty: of each item, from 0 on; where all are 0 the chances are equal. labels: how many are expected in all.
    Chances add up to `labels` and none is above 1. Zrnic & Candès 2024, Active statistical inference, ICML, section 4.
    Raises ValueError for uncertainties that are no numbers from 0 on, and for more labels than items.
    """
    unsure = as_values(uncertainty, "uncertainty")
    if np.isnan(unsure).any() or (unsure < 0).any():
        raise ValueError("uncertainty: a number from 0 on for every item")
    if not 0 < labels <= len(unsure):
        raise ValueError(f"labels = {labels:g}: above 0 and at most the {len(unsure)} items")
    whole = float(unsure.sum())
    weights = UNIFORM / len(unsure) + (1 - UNIFORM) * (
        unsure / whole if whole > 0 else np.full(len(unsure), 1 / len(unsure))
    )
    sure = np.zeros(len(unsure), dtype=bool)
    while True:  # what would be above 1 is labelled anyway, and the others share the rest
        made = np.where(sure, 1.0, weights * (labels - sure.sum()) / weights[~sure].sum() if (~sure).any() else 1.0)
        above = (made > 1) & ~sure
        if not above.any():
            return np.asarray(np.clip(made, 0.0, 1.0))
        sure |= above


def active_estimate(
    labels: ArrayLike,
    predictions: ArrayLike,
    drawn_with: ArrayLike,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The mean that people would give to all items, where each was labelled with a chance of its own.

    labels: of every item, NaN where people gave none. predictions: the judge's, of every item. drawn_with: the chance
    (`chances`) with which each item was chosen; items are chosen independently of each other.

    The mean of c + λ f over all items, and of y − c − λ f over the labelled ones weighed by 1 / π (Hájek 1971), where c
    and λ are fitted to the labels of the other folds so as to vary least; whatever the judge says, it tends to the mean
    of people (Zrnic & Candès 2024). The interval is that of `prediction_powered`, with Johnson's term for skewness:
    rare labels that differ much and weigh much are why recall with 50 labels was covered .914 of .95 without both.
    `n` counts labels, `n_unmeasured` items without a prediction, which are left out.
    Raises ValueError for arrays of different lengths, for a label of an item that had no chance, and for chances that
    are not from 0 to 1.
    """
    check_level(level)
    y, f, pi = as_values(labels, "labels"), as_values(predictions, "predictions"), as_values(drawn_with, "drawn_with")
    if not len(y) == len(f) == len(pi):
        raise ValueError(f"{len(y)} labels, {len(f)} predictions and {len(pi)} chances: one of each for every item")
    if np.isnan(pi).any() or (pi < 0).any() or (pi > 1).any() or (~np.isnan(y) & (pi == 0)).any():
        raise ValueError("drawn_with: a chance from 0 to 1, above 0 where there is a label")
    ends = limits_of("labels", y, y, bounds)
    limits_of("predictions", f, f, bounds)
    there = ~np.isnan(f)
    y, f, pi = y[there], f[there], pi[there]
    order = np.lexsort((pi, f, np.nan_to_num(y, nan=np.inf)))  # so that no fold depends on a file's order
    y, f, pi = y[order], f[order], pi[order]
    given, number = ~np.isnan(y), len(y)
    count, unmeasured = int(given.sum()), int((~there).sum())
    if count < 2:
        value = float(y[given][0]) if count else math.nan
        return Estimate(
            value, None, None, level, "none", count, unmeasured, seed=seed, note="few" if count else "empty"
        )
    weight = np.where(given, 1 / np.where(given, pi, 1.0), 0.0)
    known = np.where(given, y, 0.0)
    expected = _expected(known, f, weight, seed)
    whole = float(weight.sum())
    off = float(((known - expected) * weight).sum()) / whole
    value = float(expected.mean()) + off
    influences = expected - expected.mean() + number / whole * (known - expected - off) * weight
    error, freedom = math.sqrt(float((influences**2).sum()) / (number - 1) / number), count - 1
    scale, lean = closed(ends), _lean(influences, np.arange(number), freedom, level)
    intervals: dict[str, Interval] = {}
    if scale is not None:
        value = min(max(value, scale[0]), scale[1])
        intervals["active"] = between(value, error, freedom, scale, level)
    elif error > 0:
        intervals["active"] = kinds.student(value, error**2, freedom, level)
    if intervals and lean:
        first, last = intervals["active"]
        intervals = within(ends, {"active": (min(first, first + lean), max(last, last + lean))})
    low, high = intervals.get("active", (None, None))
    return Estimate(
        value, low, high, level, "active" if intervals else "none", count, unmeasured, seed=seed, intervals=intervals,
        note="few" if count < FEWEST_LABELS else "",
    )  # fmt: skip


def _expected(known: Array, f: Array, weight: Array, seed: int) -> Array:
    """c + λ f of every item, with c and λ from the labels of the other folds: the line of least variance.

    weight: 1 / π where there is a label, else 0."""
    random = np.random.default_rng(seed)
    folds = random.permutation(np.arange(len(f)) % FOLDS)
    expected = np.empty(len(f))
    # the variance of (y − c − λ f) ξ / π is E (y − c − λ f)² (1 / π − 1), so that is what is made least
    importance = weight * (weight - 1 + 1e-6)
    for fold in range(FOLDS):
        others = (weight > 0) & (folds != fold)
        w, own_y, own_f = importance[others], known[others], f[others]
        whole = float(w.sum())
        if not whole > 0:
            expected[folds == fold] = 0.0
            continue
        mean_y, mean_f = float((w * own_y).sum()) / whole, float((w * own_f).sum()) / whole
        spread = float((w * (own_f - mean_f) ** 2).sum())
        slope = float((w * (own_f - mean_f) * (own_y - mean_y)).sum()) / spread if spread > 0 else 0.0
        expected[folds == fold] = mean_y + slope * (f[folds == fold] - mean_f)
    return expected
