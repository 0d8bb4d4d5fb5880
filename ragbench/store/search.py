"""Exact search of vectors by matrix products in this process, and recall against it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
QUESTIONS = 1_024  # rows of one product
PASSAGES = 8_192  # its columns: the products of both take 32 MB
PAIRS = 2_048  # scored at once in double precision: what the processor's own memory holds
# A product of two unit vectors in single precision is that much off at most, for widths up to
# 4,096 (Higham 2002, section 3.1: width × 2⁻²⁴).
ROUNDING = 2.5e-4


def nearest_in_memory(
    queries: Vectors, vectors: Vectors, k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the positions and cosine similarities of the k nearest vectors of every query.

    queries: (questions, width), vectors: (passages, width), both of length 1. Returns two arrays
    (questions, k), nearest first, equal ones by position: the ranking that PostgreSQL's exact
    search gives. k is cut to the number of vectors.
    """
    k = min(k, len(vectors))
    positions = np.zeros((len(queries), k), np.int64)
    similarities = np.full((len(queries), k), -np.inf)
    # Taken once: fresh memory for every product would cost as much as a tenth of all of them.
    memory = np.empty((min(QUESTIONS, len(queries)), min(PASSAGES, len(vectors))), np.float32)
    for first in range(0, len(vectors), PASSAGES):
        block = vectors[first : first + PASSAGES]
        for start in range(0, len(queries), QUESTIONS):
            rows = slice(start, start + QUESTIONS)
            asked = queries[rows]
            products = memory[: len(asked), : len(block)]
            np.matmul(asked, block.T, out=products)
            row, column = find_candidates(products, similarities[rows], k)
            exact = pair_similarities(asked, block, row, column)
            merge(positions[rows], similarities[rows], row, column + first, exact)
    return positions, similarities


def find_candidates(
    products: Vectors, similarities: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of a block of products that may be among a row's k nearest."""
    width = products.shape[1]
    floor = similarities[:, -1] - ROUNDING
    if width > k and np.isneginf(floor).any():
        kth_best = np.partition(products, width - k, axis=1)[:, width - k]
        floor = np.maximum(floor, kth_best - 2 * ROUNDING)
    # Of a flat array the places are found many times faster than of a matrix.
    places = np.flatnonzero(products >= floor.astype(np.float32)[:, None])
    return np.divmod(places, width)


def pair_similarities(
    queries: Vectors, vectors: Vectors, row: NDArray[np.int64], column: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the cosine similarity of each pair, in double precision."""
    similarities = np.empty(len(row))
    for start in range(0, len(row), PAIRS):
        part = slice(start, start + PAIRS)
        left = queries[row[part]].astype(np.float64)
        right = vectors[column[part]].astype(np.float64)
        lengths = np.einsum("ij,ij->i", left, left) * np.einsum("ij,ij->i", right, right)
        similarities[part] = np.einsum("ij,ij->i", left, right) / np.sqrt(lengths)
    return similarities


def merge(
    positions: NDArray[np.int64],
    similarities: NDArray[np.float64],
    row: NDArray[np.int64],
    found: NDArray[np.int64],
    found_similarities: NDArray[np.float64],
) -> None:
    """Take what was found among the nearest so far, in place."""
    n, k = positions.shape
    rows = np.concatenate([np.repeat(np.arange(n), k), row])
    all_positions = np.concatenate([positions.ravel(), found])
    all_similarities = np.concatenate([similarities.ravel(), found_similarities])
    order = np.lexsort((all_positions, -all_similarities, rows))
    starts = np.searchsorted(rows[order], np.arange(n))
    best = order[starts[:, None] + np.arange(k)]
    positions[:] = all_positions[best]
    similarities[:] = all_similarities[best]


def recall_against_exact(
    approximate: NDArray[np.float64], exact: NDArray[np.float64], tolerance: float = 1e-5
) -> NDArray[np.float64]:
    """Return for each question the share of its k exact nearest that approximate search found.

    Both: (questions, k) similarities, best first; NaN where nothing was found. A passage counts
    when it is as near as the last exact one, so equally near ones may stand for each other
    (Aumüller, Bernhardsson and Faithfull 2020, section 2.1).
    """
    is_near = approximate >= exact[:, -1:] - tolerance
    return np.minimum(1, is_near.sum(axis=1) / exact.shape[1])
