"""Histograms of joint rows: questions with equal values in every metric are one cell with a count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragbench.types import Array

_MIX = np.uint64(0x9E3779B97F4A7C15)


def cells(matrix: Array) -> tuple[Array, NDArray[np.int64]]:
    """Distinct rows of a matrix and how often each occurs.

    Returns (rows, metrics) values and (rows,) counts, in the order in which the rows first appear.
    """
    matrix = np.asarray(matrix)  # columns become floats one by one: a million questions' gains fit in a byte each
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    keys = _hashes(matrix)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rows = matrix[first].astype(np.float64) + 0.0  # −0.0 and 0.0 are one value
    if any((rows[:, k][inverse] != matrix[:, k]).any() for k in range(matrix.shape[1])):
        # two rows met in one hash: count them the slow way
        rows, first, counts = np.unique(matrix.astype(np.float64) + 0.0, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return rows[order], counts[order].astype(np.int64)


def bins(values: Array, counts: NDArray[np.int64], number: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Neighbouring values gathered in at most `number` bins: their means, variances and counts.

    A bin holds at most 2 / number of the values and spans at most 2 / number of their range, or is a single value.
    """
    order = np.argsort(values, kind="stable")
    ordered, weights = values[order], counts[order]
    ranks = (np.cumsum(weights) - weights / 2) / weights.sum()
    place = ranks + (ordered - ordered[0]) / max(ordered[-1] - ordered[0], 1e-300)
    _, starts = np.unique(np.floor(place * number / 2), return_index=True)
    sizes = np.add.reduceat(weights, starts)
    means = np.add.reduceat(weights * ordered, starts) / sizes
    inner = ordered - np.repeat(means, np.diff(np.append(starts, len(ordered))))
    return means, np.add.reduceat(weights * inner**2, starts) / sizes, sizes


def _hashes(matrix: Array) -> NDArray[np.uint64]:
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column in range(matrix.shape[1]):
        keys ^= (matrix[:, column].astype(np.float64) + 0.0).view(np.uint64)
        keys *= _MIX
        keys ^= keys >> np.uint64(29)
    return keys
