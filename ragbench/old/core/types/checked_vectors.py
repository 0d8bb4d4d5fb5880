"""What embedders give, checked: vectors that can be used, and what is wrong with those that cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.types.reason import Reason

Vectors = NDArray[np.float32]
MOST_PART = 1e15
"""Of a vector's largest number, and its inverse the least: squares of others leave 32 bits, in which PostgreSQL
measures distances, so that those of a vector would be wrong."""


class EmbeddingError(ValueError):
    """Texts that cannot be embedded, or vectors that cannot be used. Nothing of them is stored.

    positions: places of the faulty ones in what was given, where known. reason: what is wrong with each, if not the
    message. dead: nothing is wrong with the texts, the embedder itself does not answer.
    """

    def __init__(self, message: str, positions: Sequence[int] = (), *, reason: str = "", dead: bool = False) -> None:
        super().__init__(message)
        self.positions, self.reason, self.dead = tuple(positions), reason or message, dead


def usable_vectors(given: Any, count: int) -> tuple[Vectors, dict[int, str]]:
    """What an embedder gave for `count` texts as (count, width) float32, and by row why a vector cannot be used.

    Used is what is finite in 32 bits, neither zero nor so long or short that it has no distances, and as wide as most;
    numbers alone, neither booleans nor texts that look like some. A row that cannot be used is NaN. Raises
    EmbeddingError for no such matrix at all.
    """
    if not isinstance(given, list | tuple):
        given = np.asarray(given)
        if given.ndim < 2:
            raise EmbeddingError(f"gave an array of shape {given.shape} for {count} texts")
    if len(given) != count:
        what = f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else f"{len(given)} vectors"
        raise EmbeddingError(f"gave {what} for {count} texts")
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "fiu":
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused below
            vectors, faults = given.astype(np.float32), dict[int, str]()
    else:
        vectors, faults = _matrix([_row(row) for row in given])
    for row in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
        faults.setdefault(int(row), Reason("NaN or infinity"))
    for row in np.flatnonzero(~vectors.any(axis=1)):
        faults.setdefault(
            int(row), Reason("a zero vector, which has no direction") if vectors.shape[1] else Reason("an empty vector")
        )
    largest = np.maximum(vectors.max(axis=1, initial=0), -vectors.min(axis=1, initial=0))
    for row in np.flatnonzero((largest > MOST_PART) | (largest < 1 / MOST_PART)):
        faults.setdefault(int(row), Reason("numbers too large or too small to measure a distance by"))
    return vectors, faults


def _matrix(rows: Sequence[tuple[Vectors, str]]) -> tuple[Vectors, dict[int, str]]:
    """The rows under each other, NaN where there is a fault; rows of another width than most have one."""
    faults = {place: why for place, (_, why) in enumerate(rows) if why}
    widths = Counter(len(row) for row, why in rows if not why)
    width = max(widths, key=lambda each: (widths[each], each), default=1)
    matrix = np.full((len(rows), width), np.nan, np.float32)
    for place, (row, why) in enumerate(rows):
        if not why and len(row) == width:
            matrix[place] = row
        elif not why:
            faults[place] = Reason("a vector of another dimension")
    return matrix, faults


def _row(given: Any) -> tuple[Vectors, str]:
    """One vector as (width,) float32, and why it is none; what is None has no width, and is NaN inside a vector."""
    cells = given if isinstance(given, list | tuple) else () if given is None else np.asarray(given)
    empty = np.empty(0, np.float32)
    if isinstance(cells, np.ndarray) and cells.ndim != 1:
        return empty, Reason("something that is no vector")
    plain = isinstance(cells, np.ndarray) and cells.dtype != object
    for kind in {cells.dtype.type} if plain else set(map(type, cells)):  # type: ignore[union-attr]
        if issubclass(kind, bool | np.bool_):
            return empty, Reason("booleans, which are no numbers")
        if issubclass(kind, str | bytes):
            return empty, Reason("texts, which are no numbers")
        if issubclass(kind, list | tuple | np.ndarray):
            return empty, Reason("something that is no vector")
        if not issubclass(kind, Real | Decimal | NoneType):
            return empty, Reason("something that is no number")
    try:
        with np.errstate(over="ignore"):  # as above
            return np.asarray(cells, dtype=np.float32), ""
    except OverflowError:
        return empty, Reason("NaN or infinity")
