"""Chance-corrected agreement as functions of a contingency table, for many tables at once.

Every function takes tables of shape (…, K, K), first rater in rows, second in columns, of counts or shares, and
returns (…,) values; NaN where the statistic is undefined (one category only, an empty table).

Krippendorff's α (2011) as a function of totals over items, on each of his four scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from ragbench.old.core.types import Array
from ragbench.old.stats.sums import Statistic
from ragbench.old.stats.values import Codes, check_word, exact_mean

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


def order_tau(first: Array, second: Array) -> float:
    """Kendall's τ-b of two lists of values, such as systems' means: pairs without one of them are left out, and values
    that are equal to 12 decimals are tied. NaN where a side has fewer than two different values."""
    from scipy.stats import kendalltau

    known = ~(np.isnan(first) | np.isnan(second))
    sides = first[known].round(12), second[known].round(12)
    return float(kendalltau(*sides).statistic) if all(len(set(side)) > 1 for side in sides) else float("nan")


def tau_ends(draws: Iterable[tuple[Array, Array]], level: float) -> tuple[float | None, float | None]:
    """The percentile interval of `order_tau` over draws of both lists; None where none has an order on both sides."""
    known = [tau for draw in draws if not math.isnan(tau := order_tau(*draw))]
    if not known:
        return None, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


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


Transform = Callable[[Array], Array]


def of_categories(coded: Sequence[Codes], number: int, scale: str) -> tuple[Array, Statistic]:
    """(items, columns) what each item adds to α of names or ranks, and α of the totals.

    coded: each item's ratings, two at least, as positions among `number` categories in their order.
    """
    items = np.zeros((len(coded), number, number))
    for place, row in enumerate(coded):
        counts = np.bincount(row, minlength=number).astype(np.float64)
        items[place] = (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)

    def alpha(totals: Array) -> Array:
        return krippendorff(totals.reshape(*totals.shape[:-1], number, number), scale)

    return items.reshape(len(coded), number**2), alpha


def of_numbers(rows: Sequence[Sequence[Any]] | Array, scale: str) -> tuple[Array, Statistic]:
    """(items, columns) what each item adds to α of numbers on an interval or a ratio scale, and α of the totals.

    rows: each item's ratings, two at least. The squared distances of all pairs of values are a quadratic form of the
    totals of a few transforms of a value, so a resample needs no table of all values.
    Raises ValueError for negative numbers on a ratio scale, which begins at zero.
    """
    width = max((len(row) for row in rows), default=2)
    table = np.array([[*row, *[np.nan] * (width - len(row))] for row in rows], dtype=np.float64).reshape(-1, width)
    table = np.sort(table, axis=1)
    if np.isinf(table).any():
        raise ValueError("ratings hold infinite numbers: give None where no rating was made")
    present = ~np.isnan(table)
    known = np.unique(table[present])
    if scale == "interval":
        table, (transform, form) = table - exact_mean(table[present]), _moments()
    elif (known < 0).any():
        raise ValueError(f"a ratio scale begins at zero; got {known[0]:g}: use scale='interval'")
    else:
        transform, form = _spectrum(known)
    apart = np.zeros(len(table))
    for first, second in combinations(range(width), 2):
        apart += 2 * np.nan_to_num(_squared(table[:, first], table[:, second], scale))
    number = present.sum(axis=1)
    sums = np.where(present[..., None], transform(np.where(present, table, known[0] if len(known) else 0.0)), 0.0)

    def alpha(totals: Array) -> Array:
        count, observed, parts = totals[..., 0], totals[..., 1], totals[..., 2:]
        expected = np.einsum("...i,ij,...j->...", parts, form, parts) / (count - 1)
        size = np.einsum("...i,ij,...j->...", np.abs(parts), np.abs(form), np.abs(parts)) / (count - 1)
        return 1 - observed / np.where(expected > 1e-12 * size, expected, np.nan)

    return np.column_stack([number, apart / (number - 1), sums.sum(axis=1)]), alpha


def _squared(first: Array, second: Array, scale: str) -> Array:
    """The squared distance of two values; of two zeros on a ratio scale none."""
    if scale == "interval":
        return (first - second) ** 2
    total = first + second
    return np.where(total == 0, 0.0, (first - second) / np.where(total == 0, 1.0, total)) ** 2


def _moments() -> tuple[Transform, Array]:
    """Σ (x − y)² over all pairs is 2 (Σ 1 · Σ x² − (Σ x)²)."""
    form = np.array([[0.0, 0.0, 1.0], [0.0, -2.0, 0.0], [1.0, 0.0, 0.0]])
    return lambda values: np.stack([np.ones_like(values), values, values**2], axis=-1), form


def _spectrum(known: Array) -> tuple[Transform, Array]:
    """Σ ((x − y) / (x + y))² over all pairs, by the few eigenvectors of that smooth table that are not nothing."""
    factors, vectors = np.linalg.eigh(_squared(known[:, None], known[None, :], "ratio"))
    kept = np.abs(factors) > 1e-14 * np.abs(factors).max(initial=0.0)
    return lambda values: vectors[:, kept][np.searchsorted(known, values)], np.diag(factors[kept])
