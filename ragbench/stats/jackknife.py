"""Statistics whose error is told by leaving items out: means over all pairs, numbers of distinct items."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ragbench.core.types import Estimate
from ragbench.stats import intervals as kinds
from ragbench.stats.samples import Labels, as_codes, as_values, check_level


def pairwise_mean(means_to_others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The mean of a symmetric quantity over all pairs of n items, with the interval of a U-statistic.

    means_to_others: (n,) each item's mean to the n − 1 others. Pairs share items, so the spread over pairs tells
    nothing; the jackknife over items (Arvesen 1969) does: leaving item i out moves the mean by
    2 (mean − means_to_others[i]) / (n − 2). Student's t with n − 1 degrees of freedom.
    """
    check_level(level)
    values = as_values(means_to_others, "means_to_others")
    kept = np.sort(values[~np.isnan(values)])
    n, unmeasured = len(kept), int(np.isnan(values).sum())
    if n == 0:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    value = float(kept.mean())
    spread = float(np.sum((kept - value) ** 2))
    if n < 3 or spread <= n * (1e-12 * float(np.abs(kept).max(initial=0.0))) ** 2:
        return Estimate(value, None, None, level, "none", n, unmeasured, note="few" if n < 3 else "no_spread")
    variance = (n - 1) / n * 4 / (n - 2) ** 2 * spread
    low, high = kinds.student(value, variance, n - 1, level)
    return Estimate(
        value, low, high, level, "u_statistic", n, unmeasured, n_effective=float(n), design_effect=1.0,
        intervals={"u_statistic": (low, high)},
    )  # fmt: skip


def pairwise_std(means_to_others: ArrayLike, mean_squares_to_others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The standard deviation of a symmetric quantity over all pairs of n items, by the jackknife over items.

    means_to_others, mean_squares_to_others: (n,) each item's mean of the quantity, and of its square, to the others.
    Both means over pairs are U-statistics and the standard deviation is a smooth function of them, so leaving items
    out gives its variance (Arvesen 1969). Student's t with n − 1 degrees of freedom, cut at 0.

    Raises ValueError for vectors of different lengths or with unmeasured items.
    """
    check_level(level)
    means, squares = as_values(means_to_others, "means_to_others"), as_values(mean_squares_to_others, "mean squares")
    if len(means) != len(squares) or np.isnan(means).any() or np.isnan(squares).any():
        raise ValueError(f"one mean and one mean square an item are needed; got {len(means)} and {len(squares)}")
    n = len(means)
    if n == 0:
        return Estimate(math.nan, None, None, level, "none", 0, note="empty")
    order = np.lexsort((squares, means))
    means, squares = means[order], squares[order]
    value = math.sqrt(max(float(squares.mean()) - float(means.mean()) ** 2, 0.0))
    if n < 4 or value <= 1e-7 * math.sqrt(float(squares.mean())):
        return Estimate(value, None, None, level, "none", n, note="few" if n < 4 else "no_spread")
    without_mean, without_square = ((n * x.mean() - 2 * x) / (n - 2) for x in (means, squares))
    left = np.sqrt(np.maximum(without_square - without_mean**2, 0.0))
    variance = (n - 1) / n * float(np.sum((left - left.mean()) ** 2))
    if variance <= 0:
        return Estimate(value, None, None, level, "none", n, note="no_spread")
    low, high = kinds.student(value, variance, n - 1, level)
    interval = (max(low, 0.0), high)
    return Estimate(
        value, *interval, level, "u_statistic", n, n_effective=float(n), design_effect=1.0,
        intervals={"u_statistic": interval},
    )  # fmt: skip


def distinct(
    seen: Sequence[Collection[Hashable]],
    *,
    clusters: Labels | None = None,
    most: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """The number of distinct items over all draws, with the interval of what another such set of draws would see.

    seen: the items of each draw (the documents of each question). most: how many items there are at all, if known.
    A resample repeats draws and so sees fewer items: the bootstrap is biased here. Leaving draws (or whole clusters)
    out is not: without draw i the number falls by the items that only i has seen (Heltshe and Forrester 1983; the
    jackknife's variance errs on the wide side, Efron and Stein 1981). Student's t, cut at 0 and at `most`.

    No interval for fewer than three draws (`note` "few"), and where every item was seen twice ("saturated").
    """
    check_level(level)
    codes = as_codes(clusters, len(seen))
    groups: dict[int, set[Hashable]] = {}
    for number, items in enumerate(seen):
        groups.setdefault(number if codes is None else int(codes[number]), set()).update(items)
    counts = Counter(item for items in groups.values() for item in items)
    alone = np.array(sorted(sum(counts[item] == 1 for item in items) for items in groups.values()), dtype=float)
    value, n = float(len(counts)), len(groups)
    clustered = None if codes is None else n
    variance = (n - 1) / n * float(((alone - alone.mean()) ** 2).sum()) if n else 0.0
    if n < 3 or variance <= 0:
        note = "few" if n < 3 else "saturated"
        return Estimate(value, None, None, level, "none", len(seen), clusters=clustered, note=note)
    low, high = kinds.student(value, variance, n - 1, level)
    interval = (max(low, 0.0), high if most is None else min(high, float(most)))
    return Estimate(
        value, *interval, level, "jackknife", len(seen), clusters=clustered, intervals={"jackknife": interval}
    )  # fmt: skip
