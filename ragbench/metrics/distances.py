"""Distances among all vectors of a set, exact, one tile of the matrix at a time: memory never grows with N × N.

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

from ragbench.core.types import Array

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
