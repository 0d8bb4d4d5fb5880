"""A picture of an embedding space: vectors laid out in 2 and 3 dimensions by UMAP, drawn once and kept."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ragbench.core.folders import write
from ragbench.core.types import Array, Vectors
from ragbench.metrics.distances import Distance

FEWEST = 12  # vectors: fewer have no neighbourhood to keep
NEIGHBOURS = 15  # of UMAP: the balance of local and global structure that its authors advise to begin with
DIGITS = 4  # of coordinates: what a picture can show


def sampled(count: int, limit: int, seed: int) -> np.ndarray:
    """Rows of `count` that are drawn, ascending: all of them, or `limit` chosen at random with the seed."""
    if count <= limit:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False))


def project(vectors: Vectors, *, distance: Distance = "euclidean", seed: int = 0) -> Mapping[int, Array]:
    """Coordinates (N, 2) and (N, 3) by their number of dimensions (McInnes, Healy and Melville 2018).

    The same vectors, seed and version give the same coordinates. They are kept in the user's cache, because the first
    layout of a process takes far longer than all that follow. Empty for fewer than 12 vectors.
    """
    if len(vectors) < FEWEST:
        return {}
    return {dimensions: _kept(vectors, dimensions, distance, seed) for dimensions in (2, 3)}


def _kept(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Array:
    place = _place(vectors, dimensions, distance, seed)
    if place.is_file():
        try:
            known = np.load(place, allow_pickle=False)
        except (OSError, ValueError):
            known = np.empty(0)
        if known.shape == (len(vectors), dimensions):
            return np.asarray(known, dtype=float)
    coordinates = _umap(vectors, dimensions, distance, seed)
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        _write(place, coordinates)
    return coordinates


def _umap(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Array:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the number of threads, which a fixed seed limits to one
        from umap import UMAP

        made = UMAP(
            n_components=dimensions,
            n_neighbors=min(NEIGHBOURS, len(vectors) - 1),
            metric=distance,
            random_state=seed,
            n_jobs=1,
            init="spectral" if len(vectors) > 10 * dimensions else "random",
        )
        coordinates = np.asarray(made.fit_transform(vectors), dtype=float)
    return np.round(coordinates - coordinates.mean(axis=0), DIGITS) + 0.0


def _place(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Path:
    from platformdirs import user_cache_path

    key = hashlib.sha256(np.ascontiguousarray(vectors, dtype=np.float32).data)
    key.update(f"{vectors.shape} {dimensions} {distance} {seed} {NEIGHBOURS} {DIGITS}".encode())
    key.update(f"{version('umap-learn')} {version('numpy')} {version('numba')}".encode())
    return user_cache_path("ragbench") / "projections" / f"{key.hexdigest()[:40]}.npy"


def _write(place: Path, coordinates: Array) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.save(content, coordinates, allow_pickle=False)
    write(place, content.getvalue())
