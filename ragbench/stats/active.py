"""People's labels of items that were drawn with unequal chances, and a judge's predictions of all: active inference."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Array, Estimate
from ragbench.stats import intervals as kinds
from ragbench.stats.estimates import Bounds, closed, limits_of
from ragbench.stats.intervals import Interval
from ragbench.stats.predictions import FEWEST_LABELS, FOLDS, between
from ragbench.stats.samples import as_values, check_level

UNIFORM = 0.5
"""Share of the labels that is drawn evenly, so that no chance is near 0 where the judge is wrong and sure of itself."""


def chances(uncertainty: ArrayLike, labels: float) -> Array:
    """The chance of each item to be labelled by people: half of the labels evenly, half by how unsure the judge is.

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

    Σ c + λ f + (y − c − λ f) ξ / π over the N items, divided by N, where c and λ are fitted to the labels of the other
    folds so as to vary least; whatever the judge says, its mean is that of people (Zrnic & Candès 2024). The interval
    is Student's, with bounds Wilson's, as for `prediction_powered`; where few of the labels differ much from what is
    expected, it has as few degrees of freedom as their kurtosis leaves. `n` counts labels, `n_unmeasured` items without
    a prediction, which are left out.
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
    terms = expected + (known - expected) * weight
    value = float(terms.mean())
    error = float(terms.std(ddof=1)) / math.sqrt(number)
    freedom, scale = _freedom(((known - expected) * weight)[given]), closed(ends)
    intervals: dict[str, Interval] = {}
    if scale is not None:
        value = min(max(value, scale[0]), scale[1])
        intervals["active"] = between(value, error, freedom, scale, level)
    elif error > 0:
        intervals["active"] = kinds.student(value, error**2, freedom, level)
    low, high = intervals.get("active", (None, None))
    return Estimate(
        value, low, high, level, "active" if intervals else "none", count, unmeasured, seed=seed, intervals=intervals,
        note="few" if count < FEWEST_LABELS else "",
    )  # fmt: skip


def _freedom(residuals: Array) -> int:
    """Degrees of freedom of the spread of residuals: one less than they are where they are normal, fewer where a few
    of them make most of it, by the variance that a variance has: σ⁴ (κ − 1) / n (Satterthwaite 1946)."""
    number, centred = len(residuals), residuals - residuals.mean()
    spread = float((centred**2).mean())
    if spread <= 0:
        return number - 1
    kurtosis = float((centred**4).mean()) / spread**2
    return max(2, min(number - 1, round(2 * number / max(kurtosis - 1, 1e-9)) - 1))


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
