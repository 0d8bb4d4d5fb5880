"""Measured values as arrays: what was measured, what not, which belong together, and how often each row stands."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison

FEWEST_FREEDOM = 4.0
"""Where fewer are left, the approximation is not to be trusted (Tipton 2015, Psychological Methods 20): one cluster of
a third of all values then covered .99, with twice the width of .95. Where one cluster holds more than that they are
fewer: with this many, one of half of all values covered .90 to .93."""

MUCH = 1 / 3
"""A share of all values from which on one cluster decides."""

Codes = NDArray[np.int64]
Labels = Sequence[Hashable] | NDArray[Any]


def as_values(values: ArrayLike | Iterable[float | None], name: str = "values") -> Array:
    """A vector of floats; None becomes NaN (unmeasured). Infinities, text and matrices are a ValueError."""
    raw = values if isinstance(values, np.ndarray) else list(values)  # type: ignore[arg-type]
    try:
        array = np.asarray(raw, dtype=np.float64, order="C")  # of a matrix's column each pass would read the matrix
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers (None or NaN where nothing was measured): {error}") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector with one number a question; got shape {array.shape}")
    if np.isinf(array).any():
        where = int(np.flatnonzero(np.isinf(array))[0])
        raise ValueError(
            f"{name}[{where}] is {array[where]}: a mean with an infinite value is meaningless; "
            "give NaN if it was not measured, or a finite value"
        )
    return array


def as_codes(clusters: Labels | None, length: int) -> Codes | None:
    """Cluster labels as integers 0 … C − 1; a missing label (None, NaN) is a cluster of its own."""
    if clusters is None:
        return None
    if len(clusters) != length:
        raise ValueError(f"clusters has {len(clusters)} labels for {length} values: give one label a value, or None")
    if isinstance(clusters, np.ndarray) and clusters.dtype.kind in "iubUS":
        return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    known: dict[Hashable, int] = {}
    codes = np.empty(length, dtype=np.int64)
    for position, label in enumerate(clusters):
        missing = label is None or label != label  # NaN is the one value unlike itself
        codes[position] = known.setdefault(("alone", position) if missing else ("label", label), len(known))
    return codes


def check_level(level: float) -> float:
    """The level itself when it lies strictly between 0 and 1; a ValueError otherwise."""
    if not 0 < level < 1:
        raise ValueError(f"level is the nominal coverage, between 0 and 1 (0.95 is usual); got {level}")
    return float(level)


def check_resamples(resamples: int) -> int:
    """The number of resamples when it can carry an interval (at least 100); a ValueError otherwise."""
    if resamples < 100:
        raise ValueError(f"resamples must be at least 100 (10,000 is usual); got {resamples}")
    return int(resamples)


def check_word(name: str, value: str, legal: Iterable[str]) -> str:
    """The word itself when it is one of the legal ones, to the letter; a ValueError that names them otherwise."""
    words = tuple(legal)
    if value not in words:
        raise ValueError(f"{name} is one of {', '.join(words)}; got {value!r}")
    return value


def check_better(better: Better | Mapping[str, Better]) -> None:
    """A ValueError for a direction, or one of several by metric, that is neither higher nor lower."""
    for word in better.values() if isinstance(better, Mapping) else (better,):
        check_word("better", word, get_args(Better))


def exact_mean(values: ArrayLike) -> float:
    """The mean to the last bit, in whatever order the values come; NaN of none."""
    array = np.asarray(values, dtype=np.float64).ravel()
    return math.fsum(array) / len(array) if len(array) else math.nan


@dataclass(frozen=True, slots=True)
class Units:
    """What is drawn together: one row a cluster, or a value where values are independent.

    sums: (units, metrics) sum of the values in each unit, rows in the order of their content. sizes: (units,) how many
    values it holds.
    counts: (units,) how many identical units a row stands for.
    clustered: whether units are clusters. deviations: (metrics,) Σ (value − mean)² over single values.
    """

    sums: Array
    sizes: Array
    counts: Codes
    clustered: bool
    deviations: Array

    @property
    def n(self) -> int:
        """How many values."""
        return round(float(weighted_sum(self.counts, self.sizes)))

    @property
    def number(self) -> int:
        """How many units."""
        return int(self.counts.sum())

    @property
    def means(self) -> Array:
        """(metrics,) mean over single values."""
        return weighted_sum(self.counts, self.sums) / float(weighted_sum(self.counts, self.sizes))

    def residuals(self, means: Array | None = None) -> Array:
        """(units, metrics) sum of deviations from the mean: the influence of a unit, times n."""
        return self.sums - (self.means if means is None else means) * self.sizes[:, None]

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the standard error of the mean, of one metric: units − 1, fewer with clusters
        of unequal size (`effective_freedom`)."""
        if not self.clustered or self.number < 2:
            return max(self.number - 1, 1)
        return effective_freedom(self.residuals()[:, 0], self.sizes, self.counts, self.alike)

    @property
    def alike(self) -> float:
        """Correlation of two values of one cluster, of one metric, by the analysis of variance (Donner 1986).

        0 where it is below.
        """
        between = float(weighted_sum(self.counts, self.residuals()[:, 0] ** 2 / self.sizes))
        n, number = float(self.n), self.number
        within = max(float(self.deviations[0]) - between, 0.0) / max(n - number, 1.0)
        alone = (n - float(weighted_sum(self.counts, self.sizes**2)) / n) / (number - 1)
        shared = max(between / (number - 1) - within, 0.0) / alone
        return shared / (shared + within) if shared > 0 else 0.0

    def column(self, place: int) -> Units:
        """One metric by itself, equal units counted together: nothing of it depends on the metrics beside it."""
        return self.single(place).gathered()

    def single(self, place: int) -> Units:
        """One metric by itself, each unit a row of its own."""
        return Units(self.sums[:, [place]], self.sizes, self.counts, self.clustered, self.deviations[[place]])

    def gathered(self) -> Units:
        """Equal units as one row with a count, in the order of their content: draws cost by rows, not by units."""
        rows = np.column_stack([self.sums, self.sizes]) if self.clustered else self.sums
        rows, counts = gathered(rows, self.counts)
        sums, sizes = (rows[:, :-1], rows[:, -1]) if self.clustered else (rows, np.ones(len(rows)))
        return Units(sums, sizes, counts, self.clustered, self.deviations)

    def variances(self, *, unbiased: bool = True) -> Array:
        """(metrics,) squared standard error of the mean; with clusters the C / (C − 1) sandwich.

        unbiased=False divides by C instead of C − 1 in the correction: the variance of the bootstrap.
        """
        number = self.number
        raw = weighted_sum(self.counts, self.residuals() ** 2) / float(self.n) ** 2
        return raw * (number / (number - 1)) if unbiased and number > 1 else raw


def effective_freedom(residuals: Array, sizes: Array, counts: Codes, alike: float = 0.0) -> float:
    """Degrees of freedom of Student's t for a mean whose error comes from the squares of its clusters' residuals.

    residuals: (rows,) sum of deviations from the mean in each cluster, or what else tells its influence. sizes: (rows,)
    values in it. counts: (rows,) how many such clusters. alike: the correlation of two values of one cluster, 0 to 1.

    Satterthwaite's approximation with that correlation for a working model (Bell, McCaffrey 2002, Survey Methodology
    28; Imbens, Kolesár 2016, Review of Economics and Statistics 98), of the C / (C − 1) sandwich, times 2 / (κ − 1), as
    heavy tails lessen the freedom of a variance (O'Neill 2014, The American Statistician 68); κ is the kurtosis, 3 at
    least, of the residuals over their standard deviations in that model. No fewer than the lesser of 4 and (C − 1) / 2,
    where no cluster holds more than a third of the values; where one holds more, the least falls to 1 at two thirds.
    Clusters of one size are as independent values: C − 1.
    """
    number, n = float(counts.sum()), float(weighted_sum(counts, sizes))
    if np.ptp(sizes) == 0:
        return max(number - 1, 1.0)
    spread = sizes * (1 + (sizes - 1) * alike)  # variance of a cluster's sum, in that of a value
    total, once, twice = (float(weighted_sum(counts, spread * sizes**power)) for power in range(3))
    share = float(weighted_sum(counts, sizes**2)) / n**2
    own = spread * (1 - 2 * sizes / n) + (sizes / n) ** 2 * total
    crossed = 2 * (total * twice + once**2) / n**2 - 4 * share * total * once / n + (share * total) ** 2
    squares = float(weighted_sum(counts, spread**2 * (1 - 2 * (2 * sizes / n - share)))) + crossed
    freedom = float(weighted_sum(counts, own)) ** 2 / squares
    standard = residuals**2 / own
    second = float(weighted_sum(counts, standard)) / number
    kurtosis = (
        float(weighted_sum(counts, standard**2)) / number / second**2 if second**2 > 0 else 3.0
    )  # 1e-170 has no square
    beyond = max(float(sizes.max()) / n - MUCH, 0.0) / MUCH
    fewest = FEWEST_FREEDOM - beyond * (FEWEST_FREEDOM - 1)
    return max(freedom * 2 / max(kurtosis - 1, 2.0), min(fewest, (number - 1) / 2), 1.0)


def units_of(matrix: Array, codes: Codes | None, counts: Codes | None = None) -> Units:
    """Units of a (values, metrics) matrix without NaN, in the order of their content.

    counts: how often each row was seen (without clusters).
    """
    if codes is None:
        weight = np.ones(len(matrix), dtype=np.int64) if counts is None else counts
        if counts is None and matrix.shape[1] == 1:
            matrix = np.sort(matrix, axis=0)
        else:
            order = by_content(np.column_stack([matrix, weight]))
            matrix, weight = matrix[order], weight[order]
        deviations = [_deviations(column, weight) for column in matrix.T]
        return Units(matrix, np.ones(len(matrix)), weight, False, np.array(deviations))
    present, inverse = np.unique(codes, return_inverse=True)
    ones = np.ones(len(matrix), dtype=np.int64)
    columns: list[Array] = [np.bincount(inverse, minlength=len(present)).astype(np.float64)]
    for column in matrix.T:
        order = np.lexsort((column, inverse))  # so that a cluster's sum has the same last digit in any order
        columns.append(np.bincount(inverse[order], weights=column[order], minlength=len(present)).astype(np.float64))
    whole = np.column_stack(columns)
    whole = whole[by_content(whole)]
    deviations = [_deviations(column, ones) for column in matrix.T]
    return Units(whole[:, 1:], whole[:, 0], np.ones(len(whole), dtype=np.int64), True, np.array(deviations))


def _deviations(column: Array, counts: Codes) -> float:
    if (column[1:] < column[:-1]).any():
        order = np.argsort(column, kind="stable")
        column, counts = column[order], counts[order]
    return float(weighted_sum(counts, (column - weighted_sum(counts, column) / max(float(counts.sum()), 1.0)) ** 2))


class Paired(NamedTuple):
    """Values of two systems on one metric, one a question in the same order, NaN where unmeasured.

    metric, names: the metric's label, and the two systems, the baseline first. clusters: one label a question; None:
    all are independent. level, resamples, seed: how they were compared where they come from. bounds: the ends of the
    metric's scale, None where one is open. void: (questions,) which are no pairs (`stats.compare_metrics`); None: none.
    """

    metric: str
    names: tuple[str, str]
    baseline: Array
    challenger: Array
    clusters: Labels | None
    better: Better
    level: float
    resamples: int
    seed: int
    bounds: tuple[float, float] | None = None
    void: NDArray[np.bool_] | None = None


@runtime_checkable
class Source(Protocol):
    """What `stats.compare` takes in place of arrays: a page (`ragbench.old.views.Page`), or anything with this method."""

    def paired_values(self, metric: str, baseline: str, challenger: str) -> Paired:
        """The values of two systems, paired by question. Raises ValueError for names that there are not."""


@dataclass(frozen=True, slots=True)
class MetricComparison(Comparison):
    """A comparison that knows its metric. metric: its label."""

    metric: str = ""


_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd: its multiples spread over all 64 bits


def cells(matrix: Array) -> tuple[Array, NDArray[np.int64]]:
    """Distinct rows of a matrix and how often each occurs.

    Returns (rows, metrics) values and (rows,) counts, in the order of the values from the first column on.
    """
    matrix = np.asarray(matrix)  # columns become floats one by one: a million questions' gains fit in a byte each
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    keys = _hashes(matrix)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rows = matrix[first].astype(np.float64) + 0.0  # −0.0 and 0.0 are one value
    if any((rows[:, k][inverse] != matrix[:, k]).any() for k in range(matrix.shape[1])):
        # two rows met in one hash: count them the slow way
        rows, first, counts = np.unique(matrix.astype(np.float64) + 0.0, axis=0, return_index=True, return_counts=True)
    order = by_content(rows)
    return rows[order], counts[order].astype(np.int64)


def by_content(rows: Array) -> NDArray[np.int64]:
    """The order of rows by their values, from the first column on: what follows depends on no order of a file."""
    informative = [column for column in rows.T if len(column) and (column != column[0]).any()]
    if len(informative) <= 1:  # stable as well, and quick where rows are in order already
        return np.argsort(informative[0], kind="stable") if informative else np.arange(len(rows))
    return np.lexsort(informative[::-1])


def gathered(rows: Array, counts: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """`cells` of rows that already stand for several each."""
    order = by_content(rows)
    ordered = rows[order] + 0.0
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in ordered.T])
    if new.all():
        return ordered, counts[order]
    starts = np.flatnonzero(new)
    return ordered[starts], np.add.reduceat(counts[order], starts)


def weighted_sum(counts: NDArray[Any], rows: NDArray[Any]) -> Array:
    """counts @ rows: the sum of rows, of each as often as its count says; a number where a row is one.

    Not as a product of matrices, whose last digits depend on how many threads a process has.
    """
    once = len(counts) and counts.min() == counts.max() == 1
    each: Array = np.ascontiguousarray(rows.T) if once else np.multiply(counts, rows.T, order="C")
    added: Array = each.sum(axis=-1)
    return added


def _hashes(matrix: Array) -> NDArray[np.uint64]:
    keys = np.zeros(len(matrix), dtype=np.uint64)
    for column in range(matrix.shape[1]):
        keys ^= (matrix[:, column].astype(np.float64) + 0.0).view(np.uint64)
        keys *= _MIX
        keys ^= keys >> np.uint64(29)
    return keys
