"""Exact nearest neighbours by matrix products over blocks of vectors, in this process.

Products in single precision say which pairs can be among the nearest; these are scored anew in double precision, each
by itself, so that what is found does not depend on how vectors come in blocks, and equal vectors are equally near.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array, Vectors

Block = tuple[NDArray[np.int32], Vectors]
"""Positions and vectors."""
QUESTIONS = 1024  # rows of one product; its other side is a block of vectors as it arrives
PAIRS = 1 << 8  # scored at once in double precision: as many as the processor's own memory holds


def nearest_in_blocks(queries: Vectors, blocks: Iterable[Block], k: int) -> tuple[NDArray[np.int32], Array]:
    """(questions, k) positions and cosine similarities, nearest first, ties by position.

    Beyond what there is: −1 and −inf. queries: (questions, width). blocks: positions and vectors, each vector once.
    Memory: one block of similarities.
    """
    questions = _unit(queries)
    positions = np.full((len(queries), k), -1, np.int32)
    similarities = np.full((len(queries), k), -np.inf)
    for names, vectors in blocks:
        others = np.ascontiguousarray(_unit(vectors).T)
        for start in range(0, len(queries), QUESTIONS):
            rows = slice(start, start + QUESTIONS)
            own, places = _possible(questions[rows] @ others, similarities[rows, -1], k, queries.shape[1])
            exact = _cosines(queries[rows], vectors, own, places)
            _merge(positions[rows], similarities[rows], own, names[places], exact)
    return positions, similarities


def nearest_of_all(parts: Sequence[tuple[NDArray[np.int32], Array]]) -> tuple[NDArray[np.int32], Array]:
    """What `nearest_in_blocks` gives of all vectors, out of what it gave of each part of them with the same k."""
    positions = np.concatenate([own for own, _ in parts], axis=1)
    similarities = np.concatenate([own for _, own in parts], axis=1)
    k = parts[0][0].shape[1]
    order = np.lexsort((np.where(positions < 0, np.iinfo(np.int32).max, positions), -similarities), axis=1)[:, :k]
    return np.take_along_axis(positions, order, axis=1), np.take_along_axis(similarities, order, axis=1)


def _possible(
    rounded: NDArray[np.float32], least: Array, k: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of a block of products that can be among a row's k nearest.

    rounded: with the error of a product of unit vectors, at most about width · 2⁻²⁴ (Higham 2002, section 3.1). least:
    (rows,) the k-th similarity that is known.
    """
    error = (width + 8) * 2.0**-24
    bound = least - error
    if rounded.shape[1] > k and bool(np.isneginf(least).any()):
        bound = np.maximum(bound, np.partition(rounded, rounded.shape[1] - k, axis=1)[:, -k] - 2 * error)
    possible = np.flatnonzero(rounded >= bound.astype(np.float32)[:, None])  # of a matrix, `nonzero` takes far longer
    return np.divmod(possible, rounded.shape[1])


def _cosines(queries: Vectors, vectors: Vectors, own: NDArray[np.int64], places: NDArray[np.int64]) -> Array:
    """(pairs,) in double precision, each pair by itself."""
    cosines, asked = np.empty(len(own)), queries.astype(float)
    squares = np.einsum("ij,ij->i", asked, asked)
    for start in range(0, len(own), PAIRS):
        part = slice(start, start + PAIRS)
        query_rows, other = asked[own[part]], vectors[places[part]].astype(float)
        lengths = squares[own[part]] * np.einsum("ij,ij->i", other, other)
        cosines[part] = np.einsum("ij,ij->i", query_rows, other) / np.sqrt(lengths)
    return cosines


def _merge(
    positions: NDArray[np.int32],
    similarities: Array,
    rows: NDArray[np.int64],
    names: NDArray[np.int32],
    exact: Array,
) -> None:
    """Take what belongs among the nearest into both arrays, in place."""
    if not len(rows):
        return
    k = similarities.shape[1]
    touched = np.unique(rows)
    all_rows = np.concatenate([np.repeat(touched, k), rows])
    all_positions = np.concatenate([positions[touched].ravel(), names])
    all_similarities = np.concatenate([similarities[touched].ravel(), exact])
    order = np.lexsort((all_positions, -all_similarities, all_rows))
    starts = np.searchsorted(all_rows[order], touched)
    best = order[(starts[:, None] + np.arange(k)).ravel()]
    positions[touched] = all_positions[best].reshape(-1, k)
    similarities[touched] = all_similarities[best].reshape(-1, k)


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
