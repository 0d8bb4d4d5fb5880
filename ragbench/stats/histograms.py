"""Histograms of joint rows: questions with equal values in every metric are one cell with a count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragbench.types import Array

_MIX = np.uint64(0x9E3779B97F4A7C15)


def cells(matrix: Array) -> tuple[Array, NDArray[np.int64]]:
    """Distinct rows of a matrix and how often each occurs.

    Returns (rows, metrics) values and (rows,) counts, in the order of the values from the first column on.
    """
    matrix = np.asarray(matrix)  # columns become floats one by one: a million questions' gains fit in a byte each
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    keys = _hashes(matrix)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rows = matrix[first].astype(np.float64) + 0.0  # −0.0 and 0.0 are one value
    if any((rows[:, k][inverse] != matrix[:, k]).any() for k in range(matrix.shape[1])):
        # two rows met in one hash: count them the slow way
        rows, first, counts = np.unique(matrix.astype(np.float64) + 0.0, axis=0, return_index=True, return_counts=True)
    order = by_content(rows)
    return rows[order], counts[order].astype(np.int64)


def by_content(rows: Array) -> NDArray[np.int64]:
    """The order of rows by their values, from the first column on: what follows depends on no order of a file."""
    return np.lexsort(rows.T[::-1])


def gathered(rows: Array, counts: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """`cells` of rows that already stand for several each."""
    order = by_content(rows)
    ordered = rows[order] + 0.0
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(ordered)]
    starts = np.flatnonzero(new)
    return ordered[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts[order]


def bins(rows: Array, counts: NDArray[np.int64], number: int) -> tuple[Array, NDArray[np.int64]]:
    """Rows with neighbouring values in the first column gathered in about `number` bins: their means and counts.

    A bin holds at most 2 / number of the rows and spans at most 2 / number of the range, or is a single value.
    """
    order = by_content(rows)
    ordered, weights = rows[order], counts[order]
    first = ordered[:, 0]
    ranks = (np.cumsum(weights) - weights / 2) / weights.sum()
    place = ranks + (first - first[0]) / max(first[-1] - first[0], 1e-300)
    _, starts = np.unique(np.floor(place * number / 2), return_index=True)
    sizes = np.add.reduceat(weights, starts)
    return np.add.reduceat(weights[:, None] * ordered, starts) / sizes[:, None], sizes


def _hashes(matrix: Array) -> NDArray[np.uint64]:
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column in range(matrix.shape[1]):
        keys ^= (matrix[:, column].astype(np.float64) + 0.0).view(np.uint64)
        keys *= _MIX
        keys ^= keys >> np.uint64(29)
    return keys
