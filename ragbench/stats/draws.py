"""Fast resampling: bootstrap means and sign flips for all metrics at once, in blocks, never an n × B array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragbench.stats.cells import cells
from ragbench.stats.samples import Units
from ragbench.types import Array

BLOCK_BYTES = 8 << 20
"""How much memory one block of weights may take."""

CELL_COST = 20
"""A multinomial draw of one cell's count costs about as much as drawing this many single values."""


def mean_draws(units: Units, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, metrics) means of bootstrap samples of whole units.

    Identical units are drawn as one cell with a multinomial count: the same distribution at a cost that does not
    depend on how many units there are. Where nearly all units differ, blocks of weights times the matrix.
    """
    rows, counts = _joint(units)
    number = int(counts.sum())
    totals = np.empty((resamples, rows.shape[1]))
    by_cells = len(rows) * CELL_COST < number
    step = max(1, BLOCK_BYTES // (8 * len(rows)))
    chances = counts / number
    flat = rows if by_cells else np.repeat(rows, counts, axis=0)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if by_cells:
            weights = rng.multinomial(number, chances, size=size).astype(np.float64)
        else:
            weights = _multinomial_weights(number, size, rng)
        totals[start : start + size] = weights @ flat
    return totals[:, :-1] / totals[:, -1:]


def _joint(units: Units) -> tuple[Array, NDArray[np.int64]]:
    rows = np.column_stack([units.sums, units.sizes])
    if (units.counts != 1).any():
        return rows, units.counts
    return cells(rows)


def _multinomial_weights(number: int, size: int, rng: np.random.Generator) -> Array:
    """(size, number) how often each of `number` units was drawn in each of `size` bootstrap samples."""
    drawn = rng.integers(0, number, size=(size, number), dtype=np.uint32).astype(np.int64)
    drawn += (np.arange(size) * number)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * number).reshape(size, number).astype(np.float64)


def sign_flips(differences: Array, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, metrics) sums of the differences with random signs, whole rows flipped together.

    differences: (units, metrics). Equal rows up to sign are one cell, whose sum needs only a Binomial(count, ½)
    draw, taken as the number of ones among that many random bits.
    """
    kept = differences[np.any(differences != 0, axis=1)]
    if not len(kept):
        return np.zeros((resamples, differences.shape[1]))
    leading = kept[np.arange(len(kept)), np.argmax(kept != 0, axis=1)]
    rows, counts = cells(kept * np.sign(leading)[:, None])
    width = 8 if 8 * int(np.sum((counts + 63) // 64)) > int(np.sum((counts + 7) // 8)) else 64
    return _flip_cells(rows, counts, width, resamples, rng)


def _flip_cells(rows: Array, counts: NDArray[np.int64], width: int, resamples: int, rng: np.random.Generator) -> Array:
    words = (counts + width - 1) // width
    values = np.repeat(rows, words, axis=0)
    bits = np.full(len(values), width)
    bits[np.cumsum(words) - 1] = counts - (words - 1) * width
    masks = ((1 << bits.astype(object)) - 1).astype(np.uint8 if width == 8 else np.uint64)
    kind = np.float32 if len(values) > 512 else np.float64
    factor = values.astype(kind)
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK_BYTES // (8 * len(values)))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        noise = np.frombuffer(rng.bytes(size * len(values) * width // 8), dtype=masks.dtype)
        ones = np.bitwise_count(noise.reshape(size, len(values)) & masks).astype(kind)
        sums[start : start + size] = ones @ factor
    return 2 * sums - counts @ rows
