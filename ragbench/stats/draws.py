"""Fast resampling: bootstrap means and sign flips for all metrics at once, in blocks, never an n × B array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragbench.stats.histograms import bins, cells
from ragbench.stats.samples import Units
from ragbench.types import Array

BLOCK = 1 << 18
"""Weights held at once: small enough for the processor's cache."""

CELL, UNIT, PRODUCT = 90.0, 2.2, 0.06
"""Nanoseconds for a multinomial count, a unit's weight, and a weight times one metric: they choose the engine."""

FEWEST_FOR_BINS = 5_000
"""From here on a bin's inner spread is so small a part of the whole that its shape cannot be seen."""

FEWEST_FOR_TOP_UP = 400
FEWEST_FOR_SINGLE = 2_000


def mean_draws(units: Units, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, metrics) means over values in bootstrap samples of whole units."""
    whole = np.column_stack([units.sums, units.sizes])
    totals = _draws(whole, units.counts, resamples, rng, may_bin=bool(np.ptp(units.sizes) == 0))
    return totals[:, :-1] / totals[:, -1:]


def total_draws(units: Units, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, columns) sums over bootstrap samples of whole units, all columns of one draw together."""
    return _draws(units.sums, units.counts, resamples, rng, may_bin=False)


def studentized_draws(units: Units, resamples: int, rng: np.random.Generator) -> Array:
    """(resamples, metrics) (mean of the resample − mean) / its own standard error: what the bootstrap-t needs.

    Resamples without spread are NaN.
    """
    sizes = units.sizes[:, None]
    off = units.residuals()
    count = off.shape[1]
    whole = np.hstack([off, off**2, off * sizes, sizes, sizes**2])
    totals = _draws(whole, units.counts, resamples, rng, may_bin=False)
    first, second, mixed = (totals[:, k * count : (k + 1) * count] for k in range(3))
    shift = first / totals[:, -2:-1]
    squares = second - 2 * shift * mixed + shift**2 * totals[:, -1:]
    number = units.number
    with np.errstate(divide="ignore", invalid="ignore"):
        found = first / np.sqrt(np.maximum(squares, 0) * (number / (number - 1)))
    found[squares <= 1e-12 * (units.counts @ off**2)] = np.nan
    return found


def _draws(rows: Array, counts: NDArray[np.int64], resamples: int, rng: np.random.Generator, *, may_bin: bool) -> Array:
    """(resamples, columns) totals of bootstrap samples of the rows, by the cheapest of three engines.

    Cells: equal units share a multinomial count, so the cost does not depend on how many units there are. Weights:
    blocks of multinomial weights times the matrix, for all columns at once. Bins (5,000 units and more, each column
    by itself): neighbouring values share a count, and their inner spread, less than a thousandth of the variance, is
    drawn as a normal value.
    """
    if (counts == 1).all():
        rows, counts = cells(rows)
    number, columns = int(counts.sum()), rows.shape[1]
    costs = {
        "cells": len(rows) * CELL,
        "weights": number * (UNIT + PRODUCT * columns),
        "bins": columns * 64 * CELL if may_bin and number >= FEWEST_FOR_BINS else np.inf,
    }
    engine = min(costs, key=lambda name: costs[name])
    if engine == "cells":
        return _cell_draws(rows, counts, resamples, rng)
    if engine == "weights":
        return _weight_draws(np.repeat(rows, counts, axis=0), resamples, rng)
    return np.column_stack([_bin_draws(column, counts, resamples, rng) for column in rows.T])


def _cell_draws(rows: Array, counts: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> Array:
    number = int(counts.sum())
    totals = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK // len(rows))
    for start in range(0, resamples, step):
        drawn = rng.multinomial(number, counts / number, size=min(step, resamples - start))
        totals[start : start + step] = drawn.astype(np.float64) @ rows
    return totals


def _bin_draws(column: Array, counts: NDArray[np.int64], resamples: int, rng: np.random.Generator) -> Array:
    """(resamples,) totals of one column, from at most 64 bins of neighbouring values."""
    means, variances, sizes = bins(column, counts, 64)
    number = int(sizes.sum())
    drawn = rng.multinomial(number, sizes / number, size=resamples).astype(np.float64)
    return drawn @ means + np.sqrt(drawn @ variances) * rng.standard_normal(resamples)


def _weight_draws(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    number = len(rows)
    kind = np.float32 if number >= FEWEST_FOR_SINGLE else np.float64
    centre = rows.mean(axis=0)
    factor = (rows - centre).astype(kind)  # centred, so that single precision costs no digits of the mean
    totals = np.empty((resamples, rows.shape[1]))
    weights_of = _topped_up_weights if number >= FEWEST_FOR_TOP_UP else _counted_weights
    step = max(1, BLOCK // number)
    for start in range(0, resamples, step):
        weights = weights_of(number, min(step, resamples - start), rng)
        totals[start : start + step] = weights.astype(kind) @ factor
    return totals + number * centre


def _counted_weights(number: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(size, number) how often each of `number` units was drawn in each of `size` bootstrap samples."""
    drawn = rng.integers(0, number, size=(size, number), dtype=np.uint32) + (np.arange(size) * number)[:, None]
    return np.bincount(drawn.ravel(), minlength=size * number).reshape(size, number)


def _topped_up_weights(number: int, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The same weights, faster: independent Poisson weights with a sum N < number, then number − N single draws.

    Independent Poisson weights given their sum are multinomial, whatever the sum, so the total is too; the rate is
    set below 1 so that N rarely exceeds `number`, and a row where it does is drawn anew by counting. A weight comes
    from 16 random bits, which changes its probabilities by less than 1e-5.
    """
    steps = _poisson_steps(1 - 3 / number**0.5)
    noise = np.frombuffer(rng.bytes(2 * size * number), dtype=np.uint16).reshape(size, number)
    weights = np.zeros((size, number), dtype=np.uint8)
    above = np.empty((size, number), dtype=bool)
    for edge in steps:
        np.greater_equal(noise, edge, out=above)
        weights += above.view(np.uint8)
    missing = number - weights.sum(axis=1, dtype=np.int64)
    for row in np.flatnonzero(missing < 0):
        weights[row] = np.bincount(rng.integers(0, number, size=number), minlength=number)
        missing[row] = 0
    where = np.repeat(np.arange(size) * number, missing) + rng.integers(0, number, size=int(missing.sum()))
    np.add.at(weights.ravel(), where, np.uint8(1))
    return weights


def _poisson_steps(rate: float) -> NDArray[np.uint16]:
    """16-bit numbers from which on a Poisson weight is at least 1, 2, 3, …"""
    chances = [np.exp(-rate)]
    for k in range(1, 12):
        chances.append(chances[-1] * rate / k)
    edges = np.round(np.cumsum(chances) * 65536)
    return edges[edges < 65536].astype(np.uint16)


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
    if counts.max() == 1:
        return _flip_singles(rows, resamples, rng)
    width = 8 if 8 * int(np.sum((counts + 63) // 64)) > int(np.sum((counts + 7) // 8)) else 64
    return _flip_cells(rows, counts, width, resamples, rng)


def _flip_singles(rows: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Where no two rows are equal: one random bit a row."""
    number = len(rows)
    kind = np.float32 if number > FEWEST_FOR_SINGLE else np.float64
    factor = np.asarray(rows.astype(kind))
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK // number)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        noise = np.frombuffer(rng.bytes(-(-size * number // 8)), dtype=np.uint8)
        ones = np.unpackbits(noise, count=size * number).reshape(size, number).astype(kind)
        sums[start : start + size] = ones @ factor
    return 2 * sums - rows.sum(axis=0)


def _flip_cells(rows: Array, counts: NDArray[np.int64], width: int, resamples: int, rng: np.random.Generator) -> Array:
    words = (counts + width - 1) // width
    values = np.repeat(rows, words, axis=0)
    bits = np.full(len(values), width)
    bits[np.cumsum(words) - 1] = counts - (words - 1) * width
    masks = ((1 << bits.astype(object)) - 1).astype(np.uint8 if width == 8 else np.uint64)
    kind = np.float32 if len(values) > FEWEST_FOR_SINGLE else np.float64
    factor = values.astype(kind)
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, BLOCK // len(values))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        noise = np.frombuffer(rng.bytes(size * len(values) * width // 8), dtype=masks.dtype)
        ones = np.bitwise_count(noise.reshape(size, len(values)) & masks).astype(kind)
        sums[start : start + size] = ones @ factor
    return 2 * sums - counts @ rows
