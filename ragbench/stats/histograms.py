"""Histograms of joint rows: questions with equal values in every metric are one cell with a count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array

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
    telling = [column for column in rows.T if len(column) and (column != column[0]).any()]
    if len(telling) <= 1:  # stable as well, and quick where rows are in order already
        return np.argsort(telling[0], kind="stable") if telling else np.arange(len(rows))
    return np.lexsort(telling[::-1])


def gathered(rows: Array, counts: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """`cells` of rows that already stand for several each."""
    order = by_content(rows)
    ordered = rows[order] + 0.0
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered.T])
    starts = np.flatnonzero(new)
    return ordered[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts[order]


def weighted_sum(counts: NDArray[Any], rows: NDArray[Any]) -> Array:
    """counts @ rows: the sum of rows, of each as often as its count says; a number where a row is one.

    Not as a product of matrices, whose last digits depend on how many threads a process has.
    """
    added: Array = np.multiply(counts, rows.T, order="C").sum(axis=-1)
    return added


def _hashes(matrix: Array) -> NDArray[np.uint64]:
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column in range(matrix.shape[1]):
        keys ^= (matrix[:, column].astype(np.float64) + 0.0).view(np.uint64)
        keys *= _MIX
        keys ^= keys >> np.uint64(29)
    return keys
