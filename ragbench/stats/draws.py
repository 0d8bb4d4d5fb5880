"""Fast resampling: bootstrap means and totals, and sign flips, in blocks, never an n × B array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array
from ragbench.stats.values import Units, cells, weighted_sum

BLOCK = 1 << 18
"""Numbers held at once: small enough for the processor's cache."""

CELL, SINGLE = 60.0, 4.0
"""Nanoseconds for the count of a cell and for a single unit: they choose how the same counts are drawn."""

DRAWN = 1 << 16
"""Units drawn at once: what counts them outgrows the cache sooner, and then takes three times as long."""

MOST_UNITS = 5_000
"""With more units an interval is found without draws (`intervals.abc`), unless draws are asked for by name."""

KEPT = 2
"""Draws of units that are kept, of 50 MB each for 10,000 resamples of 5,000 units: every metric of every system on the
same questions takes the same."""
MOST_KEPT = 10_000 * MOST_UNITS
"""Counts of a draw of units that is kept."""

FEWEST_FOR_SINGLE = 2_000

MOST_FLIPPED, LARGEST = 5_000, 0.01
"""Signs of more different rows than so many are not drawn, where none has more than this share of the sum of squares:
the excess kurtosis of the flipped sums is then no farther from 0 than twice that."""


def mean_draws(units: Units, resamples: int, seed: int, *, studentize: bool) -> tuple[Array, Array]:
    """(resamples,) means of one metric over bootstrap samples of whole units, and, if asked for, (resamples,) of
    (mean of the resample − mean) / its own standard error, NaN where a resample has no spread: the bootstrap-t's.

    units: of one metric. How often a unit is drawn hangs on no value, so that metrics share it.
    """
    off, sizes, number = units.residuals()[:, 0], units.sizes, units.number
    rows = [off, *([off**2] if studentize else [])]
    if units.clustered:
        rows += [sizes, *([off * sizes, sizes**2] if studentize else [])]
    first, *totals = total_draws(np.column_stack(rows), units.counts, resamples, seed).T
    size = totals[studentize] if units.clustered else float(number)
    shift = first / size
    means = float(units.means[0]) + shift
    if not studentize:
        return means, np.full(0, np.nan)
    crossed, twice = totals[2:] if units.clustered else (first, number)
    squares = totals[0] - 2 * shift * crossed + shift**2 * twice
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = first / np.sqrt(np.maximum(squares, 0) * (number / (number - 1)))
    ratios[squares <= 1e-12 * float(weighted_sum(units.counts, off**2))] = np.nan
    return means, ratios


def total_draws(rows: Array, counts: NDArray[np.int64], resamples: int, seed: int) -> Array:
    """(resamples, columns) sums over bootstrap samples of `counts.sum()` rows, row i standing for counts[i] ≥ 1 equal
    ones, all columns of one draw together."""
    totals, done = np.empty((resamples, rows.shape[1])), 0
    for drawn in cell_draws(counts, resamples, seed):
        totals[done : done + len(drawn)] = weighted_rows(drawn, rows)
        done += len(drawn)
    return totals


def weighted_rows(drawn: NDArray[Any], rows: Array) -> Array:
    """drawn @ rows, as quick and with last digits that no number of threads changes."""
    totals: Array = np.einsum("ij,kj->ik", drawn.astype(np.float64, copy=False), np.ascontiguousarray(rows.T))
    return totals


def cell_draws(counts: NDArray[np.int64], resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """(size, cells) blocks of multinomial counts, `resamples` rows in all: how often each cell is among as many draws
    as there are units, counts[i] ≥ 1 of them in cell i.

    Cell by cell, whose cost does not depend on how many units there are; by its units where these are few.
    """
    number, width = int(counts.sum()), len(counts)
    if width * CELL > number * SINGLE:
        first = np.cumsum(counts) - counts
        for block in unit_draws(number, resamples, seed):
            yield block if width == number else np.add.reduceat(block, first, axis=1, dtype=np.uint32)
        return
    rng = np.random.default_rng(seed)
    for size in _blocks(width, resamples):
        yield rng.multinomial(number, counts / number, size=size)


def unit_draws(units: int, resamples: int, seed: int) -> Iterable[NDArray[np.uint8]]:
    """(size, units) blocks of how often each unit is in a bootstrap sample, `resamples` rows in all; the same again for
    the same numbers. In bytes, as no unit is drawn 256 times: their sum in a byte does not hold."""
    return (_kept_units if units * resamples <= MOST_KEPT else _units)(units, resamples, seed)


@lru_cache(maxsize=KEPT)
def _kept_units(units: int, resamples: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    blocks = tuple(_units(units, resamples, seed))
    for block in blocks:
        block.flags.writeable = False
    return blocks


def _units(units: int, resamples: int, seed: int) -> Iterator[NDArray[np.uint8]]:
    rng = np.random.default_rng(seed)
    for size in _blocks(units, resamples, DRAWN):
        places = rng.integers(0, units, size=(size, units), dtype=np.uint32) + (np.arange(size) * units)[:, None]
        often = np.bincount(places.ravel(), minlength=size * units).reshape(size, units)
        yield often.astype(np.uint8)


def _blocks(width: int, resamples: int, most: int = BLOCK) -> Iterator[int]:
    """How many rows are held at once, again and again."""
    step = max(1, most // max(width, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def are_smooth(rows: Array) -> bool:
    """Whether sums of different rows with random signs are so near to normal that drawing signs tells no more of them:
    more than MOST_FLIPPED rows, none of which has more than LARGEST of the squares of a column."""
    if len(rows) <= MOST_FLIPPED:
        return False
    squares = rows**2
    return bool((squares.max(axis=0) <= LARGEST * squares.sum(axis=0)).all())


def sign_flips(differences: Array, resamples: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """(resamples, metrics) sums of the differences with random signs, whole rows flipped together; and whether
    they were drawn as normal ones.

    differences: (units, metrics), in any order. Equal rows up to sign are one cell, whose sum needs only a
    Binomial(count, ½) draw, taken as the number of ones among that many random bits. Where there are very many cells
    (`are_smooth`) the sums are drawn from the normal distribution with the flips' covariance.
    """
    kept = differences[np.any(differences != 0, axis=1)]
    if not len(kept):
        return np.zeros((resamples, differences.shape[1])), False
    leading = kept[np.arange(len(kept)), np.argmax(kept != 0, axis=1)]
    upright = kept * np.sign(leading)[:, None]
    rows, counts = cells(upright[np.lexsort(upright.T)])
    if are_smooth(rows):
        return _normal_sums(kept, resamples, rng), True
    if counts.max() == 1:
        return _flip_singles(rows, resamples, rng), False
    width = 8 if 8 * int(np.sum((counts + 63) // 64)) > int(np.sum((counts + 7) // 8)) else 64
    return _flip_cells(rows, counts, width, resamples, rng), False


def every_flip(differences: Array) -> Array:
    """(2^units, metrics) sums of the differences under every pattern of signs; as few units as have moved."""
    sums = np.zeros((1, differences.shape[1]))
    for row in differences:
        sums = np.concatenate([sums + row, sums - row])
    return sums


def _normal_sums(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """What sums with random signs are nearly distributed as: normal with mean 0 and covariance rowsᵀ rows."""
    scale = np.sqrt(np.sum(rows**2, axis=0))
    shares = rows / scale
    products = [[float(np.sum(column * other)) for other in shares.T] for column in shares.T]  # sums of one order
    values, vectors = np.linalg.eigh(np.array(products))
    root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T * scale
    return weighted_rows(rng.standard_normal((resamples, rows.shape[1])), root)


def _flip_singles(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Where no two rows are equal: a random byte for eight rows, whose 256 patterns of signs are summed once."""
    signs = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    padded = np.zeros((-(-len(rows) // 8) * 8, rows.shape[1]))
    padded[: len(rows)] = rows
    sums = np.zeros((resamples, rows.shape[1]))
    for eight in padded.reshape(-1, 8, rows.shape[1]):
        sums += (signs @ eight)[np.frombuffer(rng.bytes(resamples), dtype=np.uint8)]
    return sums


def _flip_cells(rows: Array, counts: NDArray[np.int64], width: int, resamples: int, rng: np.random.Generator) -> Array:
    words = (counts + width - 1) // width
    values = np.repeat(rows, words, axis=0)
    bits = np.full(len(values), width)
    bits[np.cumsum(words) - 1] = counts - (words - 1) * width
    masks = ((1 << bits.astype(object)) - 1).astype(np.uint8 if width == 8 else np.uint64)
    # twice as fast, and above so many cells rounding is far below the noise of the draws
    kind = np.float32 if len(values) > FEWEST_FOR_SINGLE else np.float64
    factor = values.astype(kind)
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK // len(values))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        noise = np.frombuffer(rng.bytes(size * len(values) * width // 8), dtype=masks.dtype)
        ones = np.bitwise_count(noise.reshape(size, len(values)) & masks).astype(kind)
        sums[start : start + size] = ones @ factor
    return 2 * sums - weighted_sum(counts, rows)
