"""Distances among all vectors of a set, exact, in tiles: their mean, spread and extremes, and who is near whom.

Large sets are multiplied in single precision, twice as fast, and made exact where that could show: distances that are
small against the spread of the set, extremes and neighbours are computed again from the coordinates in double
precision, and a neighbour is accepted only if the error bound proves that no other vector can be nearer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array
from ragbench.old.metrics.vectors import SINGLE

Distance = Literal["euclidean", "cosine"]
Indices = NDArray[np.int64]

_ALL_DOUBLE = 4096  # vectors up to which double precision costs nothing worth saving
_SIDE = 512  # rows and columns of a tile
_CHUNK = 4096  # pairs of vectors whose exact distances are computed at once
_SMALL = 1e-2  # squared distance, against the largest radius, below which single precision is not trusted
_TINY = 1e-9  # the same for double precision


@dataclass(frozen=True, slots=True)
class Tile:
    """Squared distances between the vectors from `row` and those from `column` on; on the diagonal they are one set."""

    row: int
    column: int
    squares: NDArray[Any]

    @property
    def on_diagonal(self) -> bool:
        """Whether rows and columns are the same vectors."""
        return self.row == self.column


class Vectors:
    """A set of vectors under a distance, ready to be multiplied tile by tile.

    Inside, every distance is the squared Euclidean one of the vectors (divided by their length for the cosine), in
    units of the set's largest radius; `distances` turns it into what was asked for.

    Raises ValueError for what is not a matrix, for no vectors, for values that are not finite, and under the cosine
    for vectors of length 0, which have no direction.
    """

    def __init__(self, vectors: ArrayLike, distance: Distance = "euclidean") -> None:
        if distance not in ("euclidean", "cosine"):
            raise ValueError(f"distance = {distance!r}; it is euclidean or cosine")
        given = np.asarray(vectors)
        if given.ndim != 2 or 0 in given.shape:
            raise ValueError(f"vectors have shape {given.shape}; (vectors, width) is needed, with at least one of each")
        if given.dtype not in (np.float32, np.float64):
            given = given.astype(float)
        self._given = given
        self.distance = distance
        self._lengths = self._measured()
        self.centre = sum(self.rows(part).sum(axis=0) for part in self._parts()) / len(given)
        self.radii = np.sqrt(np.concatenate([((self.rows(p) - self.centre) ** 2).sum(axis=1) for p in self._parts()]))
        self.scale = float(self.radii.max()) or 1.0
        self.precision = np.float64 if len(given) <= _ALL_DOUBLE else np.float32
        self._factors = self._factored(slice(0, len(given)), self.precision)

    def __len__(self) -> int:
        return len(self._given)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self._given.shape[1])

    def rows(self, chosen: slice | Indices) -> Array:
        """Vectors in double precision, of length 1 under the cosine."""
        rows = self._given[chosen].astype(float)
        return rows if self._lengths is None else rows / self._lengths[chosen, None]

    def squares(self, first: Indices, second: Indices) -> Array:
        """Exact squared distances of pairs, by subtraction of coordinates."""
        squared = np.empty(len(first))
        for start in range(0, len(first), _CHUNK):
            part = slice(start, start + _CHUNK)
            difference = (self.rows(first[part]) - self.rows(second[part])) / self.scale
            squared[part] = np.einsum("ij,ij->i", difference, difference)
        return squared

    def distances(self, squares: Array) -> Array:
        """What the caller asked for, from squared distances as they are inside."""
        squares = squares * self.scale**2
        return squares / 2 if self.distance == "cosine" else np.sqrt(squares)

    def tiles(self) -> Iterator[Tile]:
        """The upper triangle of the matrix of squared distances, up to `error`. The next tile overwrites one."""
        place = np.empty(_SIDE * _SIDE, dtype=self.precision)
        for row in range(0, len(self), _SIDE):
            left = _mirrored(self._factors[row : row + _SIDE])
            for column in range(row, len(self), _SIDE):
                right = self._factors[column : column + _SIDE]
                squares = place[: len(left) * len(right)].reshape(len(left), len(right))
                yield Tile(row, column, np.matmul(left, right.T, out=squares))

    def in_double(self, tile: Tile) -> Tile:
        """The same tile from factors in double precision."""
        height, width = tile.squares.shape
        left = self._factored(slice(tile.row, tile.row + height), np.float64)
        right = self._factored(slice(tile.column, tile.column + width), np.float64)
        return Tile(tile.row, tile.column, _mirrored(left) @ right.T)

    def error(self, chosen: slice | Indices) -> Array:
        """Bound on the error of any squared distance from these vectors, as `tiles` has it."""
        unit = np.finfo(self.precision).eps / 2
        return np.asarray((self.width + 8) * unit * (self.radii[chosen] / self.scale + 1) ** 2)

    def _parts(self) -> Iterator[slice]:
        for start in range(0, len(self._given), _CHUNK):
            yield slice(start, start + _CHUNK)

    def _measured(self) -> Array | None:
        lengths = np.empty(len(self._given))
        for part in self._parts():
            lengths[part] = np.linalg.norm(self._given[part].astype(float), axis=1)
        broken = np.flatnonzero(~np.isfinite(lengths))
        if len(broken):
            raise ValueError(f"{len(broken)} vectors are not finite, the first in row {broken[0]}")
        if self.distance == "euclidean":
            return None
        empty = np.flatnonzero(lengths == 0)
        if len(empty):
            raise ValueError(f"{len(empty)} vectors have length 0 and no direction, the first in row {empty[0]}")
        return lengths

    def _factored(self, chosen: slice, precision: type[np.floating[Any]]) -> NDArray[Any]:
        """Rows [x, 1, x·x]: with the mirrored [−2y, y·y, 1] their product is the squared distance of x and y."""
        start, stop, _ = chosen.indices(len(self))
        factors = np.empty((stop - start, self.width + 2), dtype=precision)
        for first in range(start, stop, _CHUNK):
            part = slice(first, min(first + _CHUNK, stop))
            rows = ((self.rows(part) - self.centre) / self.scale).astype(precision)
            here = slice(first - start, first - start + len(rows))
            factors[here, :-2] = rows
            factors[here, -2] = 1
            factors[here, -1] = np.einsum("ij,ij->i", rows, rows, dtype=float)
        return factors


def _mirrored(factors: NDArray[Any]) -> NDArray[Any]:
    mirrored = np.empty_like(factors)
    np.multiply(factors[:, :-2], -2, out=mirrored[:, :-2])
    mirrored[:, -2], mirrored[:, -1] = factors[:, -1], 1
    return mirrored


def exact_where_small(vectors: Vectors, tile: Tile, least: float) -> NDArray[Any]:
    """The tile's squared distances, those that are small against the spread of the set computed again in place.

    least: the smallest of them.
    """
    squares = tile.squares
    limit = _SMALL if squares.dtype == np.float32 else _TINY
    if least >= limit:
        return squares
    rows, columns = np.nonzero(squares < limit)
    if squares.dtype == np.float32 and len(rows) > squares.size // 16:
        return exact_where_small(vectors, vectors.in_double(tile), 0.0)
    squares[rows, columns] = vectors.squares(rows + tile.row, columns + tile.column)
    return squares


_MANY = 4096  # candidates for an extreme beyond which their tile is computed in double precision instead


@dataclass(frozen=True, slots=True)
class Pairs:
    """Distances of all N (N − 1) / 2 pairs, in one number each. NaN where there is no pair.

    std: of the population. closest, farthest: the pair of rows with the least and the greatest distance.
    per_vector: (N,) mean distance of each vector to all others. Their mean is `mean`, a U-statistic of degree 2: its
        variance is (to first order) that of a mean of 2 × per_vector, so the values to resample are
        2 × per_vector − mean, not the pairs.
    squares_per_vector: (N,) mean squared distance of each vector to all others: with per_vector it gives the
        variance of `std`.
    counts, edges: histogram of the distances; empty unless bins were asked for.
    """

    mean: float
    std: float
    minimum: float
    maximum: float
    closest: tuple[int, int] | None
    farthest: tuple[int, int] | None
    per_vector: Array
    squares_per_vector: Array
    counts: Indices
    edges: Array


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The k nearest other vectors of each: (N, k) rows and distances, nearest first."""

    rows: Indices
    distances: Array


def pairs(vectors: Vectors, *, bins: int = 0) -> Pairs:
    """Statistics of all pairs in one pass over half the matrix.

    bins: how many equal classes from 0 to twice the largest radius the histogram of distances has.
    """
    n = len(vectors)
    if n < 2:
        nan, none = float("nan"), np.full(n, np.nan)
        return Pairs(nan, nan, nan, nan, None, None, none, none, np.zeros(bins, np.int64), _edges(vectors, bins))
    cosine = vectors.distance == "cosine"
    near, far, sums = _Extreme(vectors, least=True), _Extreme(vectors, least=False), _Sums(n)
    counts = np.zeros(bins, dtype=np.int64)
    for tile in vectors.tiles():
        far.see(tile)
        least = near.see(tile)
        if cosine and not bins:
            continue
        values = exact_where_small(vectors, tile, least)
        if not cosine:
            np.sqrt(values, out=values)
        if bins:
            counts += _histogram(values, bins, cosine, tile.on_diagonal)
        if not cosine:
            sums.take(Tile(tile.row, tile.column, values))
    if cosine:
        per_vector, squares = _of_cosines(vectors)
        std = float(np.sqrt(max(squares.mean() - per_vector.mean() ** 2, 0.0)))
    else:
        per_vector, std = vectors.scale * sums.per_vector, vectors.scale * sums.std
        squares = (n * vectors.radii**2 + (vectors.radii**2).sum()) / (n - 1)
    return Pairs(
        mean=float(per_vector.mean()),
        std=std,
        minimum=near.distance,
        maximum=far.distance,
        closest=near.pair,
        farthest=far.pair,
        per_vector=per_vector,
        squares_per_vector=squares,
        counts=counts,
        edges=_edges(vectors, bins),
    )


def _of_cosines(vectors: Vectors) -> tuple[Array, Array]:
    """Mean cosine distance of each vector to the others, and mean squared one, without looking at a pair.

    With unit vectors u of centre c and M = Σ v vᵀ: Σ over v of u·v = N u·c, and of (u·v)² = uᵀ M u; in both a vector's
    product with itself, 1, is taken away.
    """
    n = len(vectors)
    parts = [slice(start, start + 4096) for start in range(0, n, 4096)]
    moments = np.zeros((vectors.width, vectors.width))
    for part in parts:
        rows = vectors.rows(part)
        moments += rows.T @ rows
    dots, squares = np.empty(n), np.empty(n)
    for part in parts:
        rows = vectors.rows(part)
        dots[part] = (rows @ vectors.centre * n - 1) / (n - 1)
        squares[part] = (np.einsum("ij,ij->i", rows @ moments, rows) - 1) / (n - 1)
    return 1 - dots, 1 - 2 * dots + squares


class _Sums:
    """Sums of distances by vector, and of their squares, about a value near the mean: what is small adds up exactly."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._about: float | None = None
        self._sums = np.zeros(n)
        self._squares = 0.0

    def take(self, tile: Tile) -> None:
        """Add a tile of distances (not squared); it is overwritten."""
        values = tile.squares
        if self._about is None:
            np.fill_diagonal(values, 0)
            self._about = float(values.dtype.type(values.sum() / (values.size - len(values))))
        values -= values.dtype.type(self._about)
        if tile.on_diagonal:
            np.fill_diagonal(values, 0)
        ones = np.ones(max(values.shape), dtype=values.dtype)
        self._sums[tile.row : tile.row + len(values)] += values @ ones[: values.shape[1]]
        squares = float(np.einsum("ij,ij->i", values, values).sum(dtype=float))
        if tile.on_diagonal:
            self._squares += squares / 2
            return
        self._sums[tile.column : tile.column + values.shape[1]] += ones[: len(values)] @ values
        self._squares += squares

    @property
    def per_vector(self) -> Array:
        return (self._about or 0.0) + self._sums / (self._n - 1)

    @property
    def std(self) -> float:
        pairs = self._n * (self._n - 1) / 2
        return float(np.sqrt(max(self._squares / pairs - (self._sums.sum() / 2 / pairs) ** 2, 0.0)))


class _Extreme:
    """The least or the greatest distance seen, made exact in double precision wherever a tile could hold it."""

    def __init__(self, vectors: Vectors, *, least: bool) -> None:
        self._vectors, self._sign = vectors, 1.0 if least else -1.0
        self._best = np.inf
        self._margin = float(vectors.error(slice(None)).max())
        self.pair: tuple[int, int] | None = None

    @property
    def distance(self) -> float:
        return float(self._vectors.distances(np.array([self._sign * self._best]))[0])

    def see(self, tile: Tile) -> float:
        """Look at a tile, and return its approximate extreme; its diagonal is infinite after that."""
        if tile.on_diagonal:
            np.fill_diagonal(tile.squares, self._sign * np.inf)
        extreme = float(tile.squares.min() if self._sign > 0 else tile.squares.max())
        if self._sign * extreme < self._best + self._margin and self._sign * self._best != 0:
            self._look(tile)
        return extreme

    def _look(self, tile: Tile) -> None:
        signed = self._sign * tile.squares
        rows, columns = np.nonzero(signed <= signed.min() + 2 * self._margin)
        if len(rows) > _MANY:
            tile = self._vectors.in_double(tile)
            if tile.on_diagonal:
                np.fill_diagonal(tile.squares, self._sign * np.inf)
            signed = self._sign * tile.squares
            rows, columns = np.nonzero(signed <= signed.min() + 1e-12)
        rows, columns = rows[:_MANY] + tile.row, columns[:_MANY] + tile.column
        exact = self._sign * self._vectors.squares(rows, columns)
        place = int(exact.argmin())
        if exact[place] < self._best and rows[place] != columns[place]:
            self._best, self.pair = float(exact[place]), (int(rows[place]), int(columns[place]))


def neighbours(vectors: Vectors, k: int = 1) -> Neighbours:
    """The k nearest others of every vector; a vector is left out of its own by identity, copies of it are not.

    Raises ValueError where there are not more than k vectors.
    """
    n = len(vectors)
    if not 1 <= k < n:
        raise ValueError(f"k = {k} neighbours among {n} vectors: k goes from 1 to one less than there are vectors")
    pool = _Pool(n, min(k + 4, n - 1))
    for tile in vectors.tiles():
        if tile.on_diagonal:
            np.fill_diagonal(tile.squares, np.inf)
        pool.offer(tile.squares, tile.row, tile.column)
        if not tile.on_diagonal:
            pool.offer(tile.squares.T, tile.column, tile.row)
    kept = pool.rows.shape[1]
    everyone = np.repeat(np.arange(n), kept)
    exact = vectors.squares(everyone, pool.rows.ravel()).reshape(n, kept)
    order = np.lexsort((pool.rows, exact), axis=1)[:, :k]
    rows, squares = np.take_along_axis(pool.rows, order, axis=1), np.take_along_axis(exact, order, axis=1)
    proven = squares[:, -1] <= pool.squares[:, -1] - vectors.error(slice(None))
    for start in range(0, n if kept < n - 1 else 0, 256):
        doubtful = start + np.flatnonzero(~proven[start : start + 256] & (squares[start : start + 256, -1] > 0))
        if len(doubtful):
            rows[doubtful], squares[doubtful] = _from_everyone(vectors, doubtful, k)
    return Neighbours(rows, vectors.distances(squares))


def _from_everyone(vectors: Vectors, chosen: Indices, k: int) -> tuple[Indices, Array]:
    """Neighbours of a few vectors, all distances in double precision, those near the k-th by subtraction."""
    n = len(vectors)
    rough = np.empty((len(chosen), n))
    mine = (vectors.rows(chosen) - vectors.centre) / vectors.scale
    for start in range(0, n, 4096):
        others = (vectors.rows(slice(start, start + 4096)) - vectors.centre) / vectors.scale
        rough[:, start : start + 4096] = -2 * mine @ others.T + (others**2).sum(axis=1) + (mine**2).sum(axis=1)[:, None]
    rough[np.arange(len(chosen)), chosen] = np.inf
    limits = np.partition(rough, k - 1, axis=1)[:, k - 1] + 1e-12
    rows, squares = np.empty((len(chosen), k), dtype=np.int64), np.empty((len(chosen), k))
    for place, limit in enumerate(limits):
        near = np.flatnonzero(rough[place] <= limit)
        exact = vectors.squares(np.full(len(near), chosen[place]), near)
        order = np.lexsort((near, exact))[:k]
        rows[place], squares[place] = near[order], exact[order]
    return rows, squares


class _Pool:
    """The nearest few seen so far of every vector: squared distances, rising, and their rows."""

    def __init__(self, n: int, size: int) -> None:
        self.squares = np.full((n, size), np.inf)
        self.rows = np.full((n, size), -1, dtype=np.int64)

    def offer(self, squares: NDArray[Any], row: int, column: int) -> None:
        """Take in a tile of squared distances from the vectors from `row` on to those from `column` on."""
        mine = slice(row, row + len(squares))
        size = self.squares.shape[1]
        if np.isinf(self.squares[mine, -1]).any():
            few = min(size, squares.shape[1])
            columns = np.argpartition(squares, few - 1, axis=1)[:, :few]
            self._merge(mine, np.take_along_axis(squares, columns, axis=1), columns + column)
            return
        limits = self.squares[mine, -1].astype(squares.dtype)
        rows, columns = np.nonzero(squares < limits[:, None])
        if not len(rows):
            return
        values = squares[rows, columns]
        order = np.lexsort((values, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        touched, first, counts = np.unique(rows, return_index=True, return_counts=True)
        place = np.arange(len(rows)) - np.repeat(first, counts)
        fits = place < size
        fresh = np.full((len(touched), size), np.inf)
        named = np.full((len(touched), size), -1, dtype=np.int64)
        line = np.repeat(np.arange(len(touched)), counts)[fits]
        fresh[line, place[fits]], named[line, place[fits]] = values[fits], columns[fits] + column
        self._merge(touched + row, fresh, named)

    def _merge(self, chosen: slice | Indices, squares: NDArray[Any], rows: Indices) -> None:
        squares = np.concatenate([self.squares[chosen], squares], axis=1)
        rows = np.concatenate([self.rows[chosen], rows], axis=1)
        order = np.argsort(squares, axis=1, kind="stable")[:, : self.squares.shape[1]]
        self.squares[chosen] = np.take_along_axis(squares, order, axis=1)
        self.rows[chosen] = np.take_along_axis(rows, order, axis=1)


def near_duplicates(vectors: Vectors, threshold: float, *, most: int = 1000) -> tuple[Indices, Array]:
    """Pairs of rows (P, 2) at most `threshold` apart, and their distances, nearest first; no more than `most`."""
    most_apart = 2 * (threshold + SINGLE) if vectors.distance == "cosine" else threshold**2 * (1 + SINGLE)
    limit = most_apart / vectors.scale**2
    row_pairs, squares = np.empty((0, 2), dtype=np.int64), np.empty(0)
    for tile in vectors.tiles():
        wide = limit + vectors.error(slice(tile.row, tile.row + len(tile.squares)))[:, None]
        rows, columns = np.nonzero(tile.squares <= wide)
        rows, columns = rows + tile.row, columns + tile.column
        rows, columns = rows[rows < columns], columns[rows < columns]
        if not len(rows):
            continue
        exact = vectors.squares(rows, columns)
        near = exact <= limit
        row_pairs = np.concatenate([row_pairs, np.column_stack([rows, columns])[near]])
        squares = np.concatenate([squares, exact[near]])
        if len(squares) > most:
            order = np.lexsort((row_pairs[:, 1], row_pairs[:, 0], squares))[:most]
            row_pairs, squares = row_pairs[order], squares[order]
            limit = min(limit, float(squares[-1]))
    order = np.lexsort((row_pairs[:, 1], row_pairs[:, 0], squares))
    return row_pairs[order], vectors.distances(squares[order])


def _edges(vectors: Vectors, bins: int) -> Array:
    if not bins:
        return np.empty(0)
    widest = 2 * vectors.scale**2 if vectors.distance == "cosine" else 2 * vectors.scale
    return np.linspace(0, widest, bins + 1)


def _histogram(values: NDArray[Any], bins: int, cosine: bool, on_diagonal: bool) -> Indices:
    """Counts of one tile; both triangles of a tile on the diagonal hold the same pairs."""
    chosen = values[np.triu_indices(len(values), 1)] if on_diagonal else values.ravel()
    classes = (chosen * (bins / (4 if cosine else 2))).astype(np.int64)
    return np.bincount(np.minimum(classes, bins - 1), minlength=bins)
