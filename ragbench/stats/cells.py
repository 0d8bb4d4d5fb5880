"""Histograms of joint rows: questions with equal values in every metric are one cell with a count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragbench.types import Array

_MIX = np.uint64(0x9E3779B97F4A7C15)


def cells(matrix: Array) -> tuple[Array, NDArray[np.int64]]:
    """Distinct rows of a matrix and how often each occurs.

    Returns (rows, metrics) values and (rows,) counts. Order is arbitrary but the same for the same input.
    """
    matrix = np.ascontiguousarray(matrix, dtype=np.float64) + 0.0  # −0.0 and 0.0 are one value
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    keys = _hashes(matrix)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rows = matrix[first]
    if not np.array_equal(rows[inverse], matrix):  # two rows met in one hash: count them the slow way
        rows, counts = np.unique(matrix, axis=0, return_counts=True)
    return rows, counts.astype(np.int64)


def _hashes(matrix: Array) -> NDArray[np.uint64]:
    bits = matrix.view(np.uint64)
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column in range(bits.shape[1]):
        keys = (keys ^ bits[:, column]) * _MIX
        keys ^= keys >> np.uint64(29)
    return keys
