"""A judge's mean, corrected by people's labels of some of the answers.

Prediction-powered inference (PPI++: Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453): lambda x
the judge's mean of the answers that nobody labelled, plus the mean of people - lambda x judge on
those that somebody did. A judge that knows nothing gets a lambda of 0, which leaves people alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError
from ragbench.stats.intervals import t_quantile
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import Array, mean_and_error, unit_codes, unit_influence, unit_totals

FOLDS = 5  # an answer's lambda is fitted to the other folds, or it would fit its own error
LEAST_UNITS = 10  # with labels: below, neither lambda nor the error is known


def corrected_mean(
    judge: ArrayLike, people: ArrayLike, units: Any = None, confidence: Confidence = DEFAULT
) -> pd.DataFrame:
    """Return three means with Student's intervals: corrected, people alone, judge alone.

    judge: (answers,) scores on people's scale, NaN where the judge failed. people: (answers,) NaN
    where nobody labelled; which answers were labelled must have been drawn evenly. units:
    (answers,) what was drawn independently; None: the answers.

    Columns: mean, value, low, high, level, method, weight (lambda), n, n_units. The interval of the
    judge alone is of what the judge says, not of what is true. Raises BenchError for labels of
    fewer than ten units.
    """
    judged, labelled = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    codes, n_units = unit_codes(units, len(judged))
    is_pair = ~np.isnan(judged) & ~np.isnan(labelled)
    is_rest = ~np.isnan(judged) & np.isnan(labelled)
    n_labelled_units = len(np.unique(codes[is_pair]))
    if n_labelled_units < LEAST_UNITS:
        raise BenchError(
            f"{n_labelled_units} units have both a label and a score; label at least {LEAST_UNITS}"
        )
    weights = fit_weights(judged[is_pair], labelled[is_pair], codes[is_pair], int(is_rest.sum()))
    weight = float(weights.mean())
    parts = np.full((len(judged), 2), np.nan)
    parts[is_pair, 0] = labelled[is_pair] - weights * judged[is_pair]
    parts[is_rest, 1] = weight * judged[is_rest]
    value = sum(float(part[~np.isnan(part)].mean()) for part in parts.T if not np.isnan(part).all())
    # A unit may have both labelled and other answers: how far it moves the sum is one number.
    influence = np.nan_to_num(unit_influence(parts, codes, n_units)).sum(axis=1)
    correction = n_labelled_units / (n_labelled_units - 1)
    error = float(np.sqrt((influence**2).sum() * correction))

    sums, counts = unit_totals(np.column_stack([labelled, judged]), codes)
    means, errors = mean_and_error(sums, counts)
    units_measured = (counts > 0).sum(axis=0)
    frame = pd.DataFrame(
        {
            "mean": ["corrected", "people alone", "judge alone"],
            "value": [value, *means],
            "weight": [weight, 0.0, 1.0],
            "n": [int(is_pair.sum()), *counts.sum(axis=0).astype(int)],
            "n_units": [n_labelled_units, *units_measured],
        }
    )
    t = np.array([t_quantile(confidence.level, units - 1) for units in frame["n_units"]])
    half = t * np.array([error, *errors])
    frame["low"], frame["high"] = frame["value"] - half, frame["value"] + half
    frame = frame.assign(level=confidence.level, method="student")
    columns = ["mean", "value", "low", "high", "level", "method", "weight", "n", "n_units"]
    return frame[columns]


def fit_weights(judge: Array, people: Array, codes: NDArray[np.intp], n_rest: int) -> Array:
    """Return lambda of every labelled answer, fitted to the folds that it is not in."""
    weights = np.zeros(len(judge))
    if not n_rest:
        return weights
    # Whole units, numbered anew: no unit stands on both sides.
    fold = pd.factorize(codes)[0] % FOLDS
    for number in range(FOLDS):
        others = fold != number
        covariance = np.cov(judge[others], people[others])
        # The error is least at covariance / variance, shrunk as the rest is finite. Beyond 0 to 1
        # the judge would count against itself, or for more than people do.
        spread = covariance[0, 0] * (1 + len(judge) / n_rest)
        if spread > 0:
            weights[fold == number] = np.clip(covariance[0, 1] / spread, 0, 1)
    return weights
