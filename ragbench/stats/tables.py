"""Chance-corrected agreement as functions of a contingency table, for many tables at once.

Every function takes tables of shape (…, K, K), first rater in rows, second in columns, of counts or shares, and
returns (…,) values; NaN where the statistic is undefined (one category only, an empty table).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ragbench.core.types import Array
from ragbench.stats.samples import check_word

Weighting = Literal["identity", "linear", "quadratic"]


def weights(number: int, kind: Weighting) -> Array:
    """(K, K) how much a pair of categories agrees: 1 on the diagonal, less with distance in rank, 0 at the ends."""
    check_word("weighting", kind, get_args(Weighting))
    if kind == "identity" or number < 2:
        return np.eye(number)
    apart = np.abs(np.subtract.outer(np.arange(number), np.arange(number))) / (number - 1)
    return 1 - apart if kind == "linear" else 1 - apart**2


def accuracy(tables: Array) -> Array:
    """Share of items that both put in the same category."""
    return _over(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def balanced_accuracy(tables: Array) -> Array:
    """Mean over the first rater's categories of the share the second found (Brodersen et al. 2010)."""
    rows = tables.sum(axis=-1)
    recall = np.where(rows > 0, np.diagonal(tables, axis1=-2, axis2=-1) / np.where(rows > 0, rows, 1), 0.0)
    return _over(recall.sum(axis=-1), (rows > 0).sum(axis=-1))


def cohen_kappa(tables: Array, kind: Weighting = "identity") -> Array:
    """Cohen's κ (1960), or weighted κ (1968): agreement beyond what the raters' own shares would give."""
    shares = _shares(tables)
    agree = weights(tables.shape[-1], kind)
    expected = np.einsum("...i,ij,...j->...", shares.sum(axis=-1), agree, shares.sum(axis=-2))
    return _beyond(np.sum(shares * agree, axis=(-2, -1)), expected)


def gwet(tables: Array, kind: Weighting = "identity") -> Array:
    """Gwet's AC1 (2008), or AC2 with weights: chance agreement from how often raters could be unsure."""
    shares = _shares(tables)
    agree = weights(tables.shape[-1], kind)
    number = tables.shape[-1]
    middle = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    if number < 2:
        return np.full(tables.shape[:-2], np.nan)
    expected = agree.sum() / (number * (number - 1)) * np.sum(middle * (1 - middle), axis=-1)
    return _beyond(np.sum(shares * agree, axis=(-2, -1)), expected)


def distances(margins: Array, scale: str) -> Array:
    """(…, K, K) squared difference of two categories (Krippendorff 2011), of names or of ranks.

    margins: (…, K) how often each category was used, which is what an ordinal scale's distances are made of.
    """
    number = margins.shape[-1]
    if scale == "nominal":
        return np.broadcast_to(1 - np.eye(number), (*margins.shape, number))
    middle = np.cumsum(margins, axis=-1) - margins / 2
    return np.asarray((middle[..., :, None] - middle[..., None, :]) ** 2)


def krippendorff(coincidences: Array, scale: str) -> Array:
    """Krippendorff's α of coincidence tables (symmetric; each item's pairs divided by its raters − 1)."""
    margins = coincidences.sum(axis=-1)
    apart = distances(margins, scale)
    total = margins.sum(axis=-1)
    observed = np.sum(coincidences * apart, axis=(-2, -1))
    expected = np.einsum("...i,...ij,...j->...", margins, apart, margins)
    return 1 - _over((total - 1) * observed, expected)


def kendall(tables: Array) -> Array:
    """Kendall's τ-b (1945) between ordered categories."""
    after = _sum_after(tables) - _sum_after(tables[..., :, ::-1])[..., :, ::-1]
    balance = np.sum(tables * after, axis=(-2, -1))
    pairs = tables.sum(axis=(-2, -1)) ** 2
    rows = pairs - np.sum(tables.sum(axis=-1) ** 2, axis=-1)
    columns = pairs - np.sum(tables.sum(axis=-2) ** 2, axis=-1)
    return _over(2 * balance, np.sqrt(rows * columns))


def balances(tables: Array) -> Array:
    """(…, K, K) of an item in each cell with all others: how many pairs are concordant, less those that are not."""
    flipped = tables[..., ::-1, ::-1]
    balance: Array = np.zeros_like(tables, dtype=np.float64)
    for table, turned in ((tables, False), (flipped, True)):
        after = _sum_after(table) - _sum_after(table[..., :, ::-1])[..., :, ::-1]
        balance += after[..., ::-1, ::-1] if turned else after
    return balance


def spearman(tables: Array) -> Array:
    """Spearman's ρ between ordered categories: Pearson's correlation of mid-ranks."""
    first, second = (_centred_ranks(tables.sum(axis=axis)) for axis in (-1, -2))
    both = np.einsum("...i,...ij,...j->...", first, tables, second)
    rows = np.sum(tables.sum(axis=-1) * first**2, axis=-1)
    columns = np.sum(tables.sum(axis=-2) * second**2, axis=-1)
    return _over(both, np.sqrt(rows * columns))


def pearson(sums: Array) -> Array:
    """Pearson's r from totals (…, 6) of 1, a, b, a², b², ab."""
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    first, second = (
        np.where(own - total**2 / n > 1e-12 * own, own - total**2 / n, np.nan) for total, own in ((a, aa), (b, bb))
    )
    return np.clip((ab - a * b / n) / np.sqrt(first * second), -1, 1)


def _sum_after(tables: Array) -> Array:
    """Counts with a strictly larger row and a strictly larger column."""
    after = np.cumsum(np.cumsum(tables[..., ::-1, ::-1], axis=-1), axis=-2)[..., ::-1, ::-1]
    sums = np.zeros_like(tables, dtype=np.float64)
    sums[..., :-1, :-1] = after[..., 1:, 1:]
    return sums


def _centred_ranks(margins: Array) -> Array:
    ranks = np.cumsum(margins, axis=-1) - margins / 2
    return ranks - np.sum(ranks * margins, axis=-1, keepdims=True) / np.sum(margins, axis=-1, keepdims=True)


def _shares(tables: Array) -> Array:
    return _over(tables, tables.sum(axis=(-2, -1), keepdims=True))


def _beyond(observed: Array, expected: Array) -> Array:
    return _over(observed - expected, 1 - expected)


def _over(above: Array, below: Array) -> Array:
    """above / below, NaN where below is nothing."""
    below = np.asarray(below, dtype=np.float64)
    empty = np.abs(below) <= 1e-12
    return np.where(empty, np.nan, above / np.where(empty, 1.0, below))
