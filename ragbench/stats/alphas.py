"""Krippendorff's α (2011) as a function of totals over items, on each of his four scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ragbench.core.types import Array
from ragbench.stats import tables
from ragbench.stats.samples import Codes, exact_mean
from ragbench.stats.sums import Statistic

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
        return tables.krippendorff(totals.reshape(*totals.shape[:-1], number, number), scale)

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
