"""Tier 0: what shape do the embeddings have?

Embedders put the same texts into spaces of vectors, which are measured without any labels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.frames import COMPARISONS, ESTIMATES, stack
from ragbench.core.progress import bar
from ragbench.core.types import Dataset
from ragbench.metrics.space import EPSILON, VARIANCE_SHARE, Space, measure_space
from ragbench.stats import (
    Confidence,
    Statement,
    pairwise_intervals,
    statistic_intervals,
)
from ragbench.tiers.clock import find_readings, keep_readings
from ragbench.tiers.common import Basics, Workbench, sample_rows

FEWEST = 3  # texts: of two there is one distance
FEWEST_PICTURED = 12  # texts: fewer have no neighbourhood that a picture could keep
UMAP_NEIGHBOURS = 15  # the balance of near and far that its authors begin with
MOST_COMPONENTS = 400  # points of the spectrum's curve
MOST_BINS = 60  # of the distances to nearest neighbours
POSITIVE = (0.0, np.inf)
BOOTSTRAPPED = (
    "avg_nn_distance", "avg_spread", "std_nn_distance", "spread_std", "density_score",
)  # fmt: skip
OVER_PAIRS = ("avg_pairwise_distance", "std_pairwise_distance")
# What a picture's coordinates are called, by their number.
AXES = {2: ["x2", "y2"], 3: ["x3", "y3", "z3"]}
Array = NDArray[np.float64]


class Request(Basics):
    """What is embedded, and how its space is looked at."""

    embedders: tuple[str, ...] = Field((), description="of ragbench.toml; empty: all of them")
    embedded: Literal["passages", "questions"] = Field("passages", description="which texts")
    distance: Literal["euclidean", "cosine"] = Field("euclidean", description="cosine: 1 - cosine")
    neighbors: int = Field(1, ge=1, le=100, description="nearest texts that density looks at")
    listed: int = Field(10, ge=1, le=1_000, description="closest pairs and outliers to list")
    projected: int = Field(2_000, ge=0, le=50_000, description="texts in the picture; 0: none")


@dataclass(frozen=True)
class Frames:
    """What was measured: everything else is computed from it.

    texts: text_id, text and group, by which the picture is coloured. distances: of every text the
    mean distance to its nearest others, to the centroid and to all others, and the mean squares of
    the first and the last. spaces: the twelve measures (system, metric, value) and the width of the
    vectors. dimensions: the estimate of the effective dimensionality, as ESTIMATES. histograms:
    counts of distances between low and high; kind is nearest or pairs. spectrum: share of the
    variance in so many components. closest: pairs of texts. outliers: texts with their nearest.
    projection: coordinates by UMAP in two and three dimensions.
    """

    texts: pd.DataFrame
    distances: pd.DataFrame
    spaces: pd.DataFrame
    dimensions: pd.DataFrame
    histograms: pd.DataFrame
    spectrum: pd.DataFrame
    closest: pd.DataFrame
    outliers: pd.DataFrame
    projection: pd.DataFrame


@dataclass(frozen=True)
class GivenVectors:
    """Stands for an embedder where its vectors were handed over. vectors: (texts, width)."""

    name: str
    vectors: Array
    is_stand_in: bool = False

    def embed(self, texts: Any, kind: str = "passage") -> Array:
        """Return the vectors of all texts. Raises BenchError for another number of texts."""
        if len(texts) != len(self.vectors):
            raise BenchError(f"{self.name}: {len(self.vectors)} vectors for {len(texts)} texts")
        return self.vectors

    def describe(self) -> str:
        """Say what they are."""
        return "vectors that were handed over"


def name_vectors(vectors: Any) -> dict[str, GivenVectors]:
    """Return vectors by name. vectors: an array (texts, width), or {name: array}."""
    named = vectors if isinstance(vectors, Mapping) else {"vectors": vectors}
    return {
        str(name): GivenVectors(str(name), np.asarray(rows, dtype=float))
        for name, rows in named.items()
    }


def measure(request: Request, bench: Workbench, embedders: Mapping[str, Any]) -> Frames:
    """Embed the texts by every embedder, and measure the spaces: the expensive part.

    embedders: by name. Raises NotEnoughError for too few texts to speak of distances.
    """
    texts = embedded_texts(request, bench.dataset)
    least = max(FEWEST, request.neighbors + 1)
    if len(texts) < least:
        message = f"{len(texts)} {request.embedded}: at least {least} are needed"
        raise NotEnoughError(f"{bench.dataset.name} has {message} to speak of distances")
    kind = "passage" if request.embedded == "passages" else "query"
    parts: dict[str, list[pd.DataFrame]] = {}
    for name, embedder in embedders.items():
        vectors = embedder.embed(texts["text"].tolist(), kind)
        space = Space(vectors, request.distance, request.neighbors)
        frames = measure_one(request, space, texts["text_id"].to_numpy())
        frames["projection"] = project(request, bench, vectors, texts["text_id"])
        for part, frame in frames.items():
            parts.setdefault(part, []).append(frame.assign(system=name))
    joined = {part: pd.concat(frames, ignore_index=True) for part, frames in parts.items()}
    return Frames(texts, **joined)


def embedded_texts(request: Request, dataset: Dataset) -> pd.DataFrame:
    """Return the texts to embed, text_id, text and group: a part of the site, or a kind."""
    if request.embedded == "questions":
        questions = dataset.questions.rename(columns={"question_id": "text_id", "kind": "group"})
        return sample_rows(questions[["text_id", "text", "group"]], "text_id", request.limit)
    passages = dataset.passages.rename(columns={"passage_id": "text_id"})
    folders = passages["url"].str.extract(r"^\w+://[^/]+/([^/]+)/", expand=False).fillna("")
    groups = folders if folders.nunique() > 1 else passages["title"]
    texts = passages[["text_id", "text"]].assign(group=groups)
    return sample_rows(texts, "text_id", request.limit)


def measure_one(request: Request, space: Space, ids: NDArray[Any]) -> dict[str, pd.DataFrame]:
    """Return the frames of one space by name, without the column system."""
    measures = {**measure_space(space), "width": float(space.points.shape[1])}
    pairs, pair_distances = space.closest(request.listed)
    far, far_distances = space.outliers(request.listed)
    distances = {
        "text_id": ids,
        "nearest": space.neighbor_distances.mean(axis=1),
        "nearest_squares": (space.neighbor_distances**2).mean(axis=1),
        "centroid": space.spread,
        "others": space.pair_means,
        "others_squares": space.pair_squares,
    }
    closest = {"first": ids[pairs[:, 0]], "second": ids[pairs[:, 1]], "distance": pair_distances}
    nearest_to_far = ids[space.neighbor_rows[far, 0]]
    outliers = {"text_id": ids[far], "nearest": nearest_to_far, "distance": far_distances}
    return {
        "distances": pd.DataFrame(distances),
        "spaces": pd.DataFrame({"metric": list(measures), "value": list(measures.values())}),
        "dimensions": estimate_dimensions(space, request.confidence),
        "histograms": count_distances(space),
        "spectrum": accumulate(space.spectrum),
        "closest": pd.DataFrame(closest),
        "outliers": pd.DataFrame(outliers),
    }


def estimate_dimensions(space: Space, confidence: Confidence) -> pd.DataFrame:
    """Estimate the effective dimensionality: vectors are drawn again, the axes stay as they are."""
    centred = space.points - space.points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    squares = (centred @ axes) ** 2
    # Beyond twice the number of dimensions no draw will look: one sum is enough.
    kept = 2 * int(count_dimensions(squares.sum(axis=0, keepdims=True))[0]) + 1
    parts = np.column_stack([squares[:, :kept], squares[:, kept:].sum(axis=1)])
    frame = statistic_intervals(parts, count_dimensions, None, POSITIVE, confidence)
    return frame.assign(high=frame["high"].clip(upper=len(axes)))


def count_dimensions(sums: Array) -> Array:
    """Count the axes that hold 95 % of the variance. sums: (draws, axes) squares on each axis."""
    total = sums.sum(axis=1, keepdims=True)
    is_within = np.cumsum(sums, axis=1) < VARIANCE_SHARE * total * (1 - EPSILON)
    return is_within.sum(axis=1) + (total[:, 0] > 0).astype(float)


def count_distances(space: Space) -> pd.DataFrame:
    """Count the distances to nearest neighbours, and those of all pairs, in classes."""
    nearest = space.neighbor_distances.ravel()
    counts, edges = np.histogram(nearest, bins=min(MOST_BINS, 1 + int(len(nearest) ** 0.5)))
    parts = []
    for kind, number, ends in (
        ("nearest", counts, edges),
        ("pairs", space.pairs.counts, space.pairs.edges),
    ):
        columns = {"kind": kind, "low": ends[:-1], "high": ends[1:], "count": number}
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def accumulate(spectrum: Array) -> pd.DataFrame:
    """Return which share of the variance the first components hold together."""
    total = spectrum.sum()
    shares = np.cumsum(spectrum) / total if total > 0 else np.ones(len(spectrum))
    numbers = np.geomspace(1, len(spectrum), MOST_COMPONENTS).round().astype(int)
    shown = np.unique(numbers)
    return pd.DataFrame({"components": shown, "share": np.minimum(shares[shown - 1], 1.0)})


def project(
    request: Request, bench: Workbench, vectors: Array, text_ids: pd.Series
) -> pd.DataFrame:
    """Return text_id and coordinates by UMAP (McInnes, Healy and Melville 2018); few texts: none.

    The same vectors and seed give the same picture, which is kept in the database beside them.
    """
    columns = [name for axes in AXES.values() for name in axes]
    rows = np.arange(len(vectors))
    if len(rows) > request.projected:
        random = np.random.default_rng(request.seed)
        rows = np.sort(random.choice(rows, request.projected, replace=False))
    if len(rows) < FEWEST_PICTURED:
        return pd.DataFrame(columns=["text_id", *columns])
    drawn = np.ascontiguousarray(vectors[rows], dtype=np.float32)
    inputs = {
        "what": "picture of vectors",
        "vectors": hashlib.sha256(drawn.tobytes()).hexdigest(),
        "shape": drawn.shape,
        "distance": request.distance,
        "seed": request.seed,
    }
    picture = find_readings(bench.store, inputs)
    if picture is None:
        with bar("drawing by UMAP", len(AXES)) as shown:
            places = []
            for n_axes in AXES:
                places.append(compute_umap(drawn, n_axes, request.distance, request.seed))
                shown.update()
        picture = pd.DataFrame(np.hstack(places), columns=columns)
        picture = keep_readings(bench.store, inputs, picture)
    return picture.assign(text_id=text_ids.to_numpy()[rows])[["text_id", *columns]]


def compute_umap(vectors: NDArray[np.float32], n_axes: int, distance: str, seed: int) -> Array:
    """Return (vectors, axes) coordinates around 0."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed leaves one thread
        from umap import UMAP

        made = UMAP(
            n_components=n_axes,
            n_neighbors=min(UMAP_NEIGHBOURS, len(vectors) - 1),
            metric=distance,
            random_state=seed,
            n_jobs=1,
        )
        places = np.asarray(made.fit_transform(vectors), dtype=float)
    return (places - places.mean(axis=0)).round(4)


def state(request: Request, frames: Frames) -> Statement:
    """Estimate the twelve measures of every space: a pure function of the frames.

    A count, a greatest and a least distance have no interval.
    """
    parts = []
    for system, spaces in frames.spaces.groupby("system", sort=False):
        rows = frames.distances[frames.distances["system"] == system]
        dimensions = frames.dimensions[frames.dimensions["system"] == system]
        intervals = pd.concat([*estimate_space(rows, request.confidence), dimensions])
        intervals.index = pd.Index([*BOOTSTRAPPED, *OVER_PAIRS, "effective_dimensionality"])
        values = spaces.set_index("metric")["value"].drop("width")
        table = intervals[["low", "high", "method"]].reindex(values.index)
        told = {"level": request.level, "n_unmeasured": 0, "seed": request.seed, "system": system}
        table = table.assign(value=values, n=len(rows), n_units=len(rows), **told)
        parts.append(table.fillna({"method": "none"}).rename_axis("metric").reset_index())
    return Statement(stack(parts, ESTIMATES), COMPARISONS.empty())


def estimate_space(distances: pd.DataFrame, confidence: Confidence) -> list[pd.DataFrame]:
    """Return the estimates of BOOTSTRAPPED, drawing texts again, and of OVER_PAIRS."""
    near, near_squares, centroid, others, others_squares = (
        distances[name].to_numpy()
        for name in ("nearest", "nearest_squares", "centroid", "others", "others_squares")
    )
    # Squares of what is left above a mean lose no digits.
    shift, middle = near.mean(), centroid.mean()
    near_parts = [near - shift, near_squares - 2 * shift * near + shift**2]
    centroid_parts = [centroid - middle, (centroid - middle) ** 2]

    def measure_sums(sums: Array) -> Array:
        means = sums[:, 1:] / sums[:, :1]
        near_mean, centroid_mean = means[:, 0] + shift, means[:, 2] + middle
        deviations = np.sqrt(np.maximum(means[:, [1, 3]] - means[:, [0, 2]] ** 2, 0.0))
        density = 1 / (near_mean + EPSILON)
        return np.column_stack([near_mean, centroid_mean, deviations, density])

    parts = np.column_stack([np.ones(len(near)), *near_parts, *centroid_parts])
    drawn = statistic_intervals(parts, measure_sums, None, POSITIVE, confidence)
    return [drawn, pairwise_intervals(others, others_squares, confidence)]
