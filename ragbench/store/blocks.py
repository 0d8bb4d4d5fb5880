"""Exact nearest neighbours by matrix products over blocks: what approximate search is measured against."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ragbench.types import Vectors

QUESTIONS = 1024  # rows of one product; its other side is a block of vectors as it arrives


def nearest_in_blocks(
    queries: Vectors, blocks: Iterable[tuple[NDArray[np.int32], Vectors]], k: int
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """(questions, k) positions and cosine similarities, nearest first, ties by position.

    Beyond what there is: −1 and −inf. queries: (questions, width). blocks: positions and vectors, each vector once.
    Memory: one block of similarities.
    """
    queries = _unit(queries)
    positions = np.full((len(queries), k), -1, np.int32)
    similarities = np.full((len(queries), k), -np.inf, np.float32)
    for names, vectors in blocks:
        others = np.ascontiguousarray(_unit(vectors).T)
        for start in range(0, len(queries), QUESTIONS):
            rows = slice(start, start + QUESTIONS)
            _merge(positions[rows], similarities[rows], names, queries[rows] @ others)
    return positions, similarities


def _merge(
    positions: NDArray[np.int32],
    similarities: NDArray[np.float32],
    names: NDArray[np.int32],
    block: NDArray[np.float32],
) -> None:
    """Take what of a block belongs among the nearest into both arrays, in place."""
    k = similarities.shape[1]
    if block.shape[1] > 4 * k:  # all but the k best of a row are dropped before anything is sorted
        least = np.partition(block, block.shape[1] - k, axis=1)[:, -k] if similarities[0, -1] == -np.inf else None
        bound = similarities[:, -1] if least is None else np.maximum(similarities[:, -1], least)
        rows, columns = np.nonzero(block >= bound[:, None])
    else:
        rows, columns = (part.ravel() for part in np.indices(block.shape))
    if not len(rows):
        return
    touched = np.unique(rows)
    kept = np.repeat(touched, k)
    all_rows = np.concatenate([kept, rows])
    all_positions = np.concatenate([positions[touched].ravel(), names[columns]])
    all_similarities = np.concatenate([similarities[touched].ravel(), block[rows, columns]])
    order = np.lexsort((all_positions, -all_similarities, all_rows))
    starts = np.searchsorted(all_rows[order], touched)
    best = order[(starts[:, None] + np.arange(k)).ravel()]
    positions[touched] = all_positions[best].reshape(-1, k)
    similarities[touched] = all_similarities[best].reshape(-1, k)


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
