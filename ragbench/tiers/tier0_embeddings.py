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
from ragbench.core.frames import COMPARISONS, ESTIMATES, SCORES, check
from ragbench.core.progress import bar
from ragbench.core.types import Dataset
from ragbench.metrics.space import EPSILON, VARIANCE_SHARE, Space, measure_space
from ragbench.stats import (
    Confidence,
    Statement,
    mean_intervals,
    pairwise_intervals,
    statistic_intervals,
)
from ragbench.tiers.clock import find_readings, keep_readings
from ragbench.tiers.common import Basics, Workbench, sample_rows

FEWEST = 3  # texts: of two there is one distance
FEWEST_PICTURED = 12  # texts: fewer have no neighbourhood that a picture could keep
UMAP_NEIGHBOURS = 15  # the balance of near and far that its authors begin with
MOST_COMPONENTS = 400  # points of the spectrum's curve
FEWEST_BINS, MOST_BINS = 6, 60  # of the distances to nearest neighbours
POSITIVE = (0.0, np.inf)
# The value of every text that a mean is taken of, by the column of `Frames.distances`.
MEANS = {"avg_nn_distance": "nearest", "avg_spread": "centroid", "avg_pairwise_distance": "others"}
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

    @property
    def scores(self) -> pd.DataFrame:
        """What the means are of, as `ragbench.core.frames.SCORES`: a row a text and measure."""
        renamed = {column: metric for metric, column in MEANS.items()}
        wide = self.distances.rename(columns={"text_id": "question_id", **renamed})
        scores = wide.melt(["system", "question_id"], list(MEANS), "metric", "value")
        told = {"unit": scores["question_id"], "status": "ok", "reason": "", "explanation": ""}
        return check(scores.assign(**told), SCORES)


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


def read_source(source: Any, texts: Any = None) -> tuple[Any, dict[str, GivenVectors]]:
    """Tell texts from vectors: return documents, or a data set, and the vectors by name.

    source: a Dataset, texts (a list, {id: text} or a frame), an array of vectors (texts, width), or
    {name: array}. texts: what vectors stand for; without any, they are numbered.
    """
    named = source if isinstance(source, Mapping) else {"vectors": source}
    if isinstance(source, Dataset) or not all(map(is_matrix, named.values())):
        if texts is not None:
            raise BenchError("texts= names what vectors stand for; here are texts, and no vectors")
        return source, {}
    given = {
        str(name): GivenVectors(str(name), np.asarray(vectors, dtype=float))
        for name, vectors in named.items()
    }
    n_vectors = len(next(iter(given.values())).vectors)
    return texts if texts is not None else [f"{n + 1}" for n in range(n_vectors)], given


def is_matrix(value: Any) -> bool:
    """Whether it is a table of numbers."""
    if isinstance(value, str | bytes | Dataset | pd.DataFrame):
        return False
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return False
    return array.ndim == 2 and array.dtype.kind in "fiu"


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
    n_bins = len(np.histogram_bin_edges(nearest, bins="auto")) - 1
    counts, edges = np.histogram(nearest, bins=int(np.clip(n_bins, FEWEST_BINS, MOST_BINS)))
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
    for system in frames.spaces["system"].unique():
        rows = frames.distances[frames.distances["system"] == system]
        values = frames.spaces[frames.spaces["system"] == system].set_index("metric")["value"]
        intervals = estimate_space(rows, request.confidence)
        dimensions = frames.dimensions[frames.dimensions["system"] == system]
        intervals["effective_dimensionality"] = dimensions.iloc[0]
        # What has no interval has everything else in common with a mean.
        plain = intervals["avg_spread"].to_dict() | {"low": np.nan, "high": np.nan}
        plain["method"] = "none"
        for metric, value in values.drop("width").items():
            estimate = dict(intervals.get(metric, plain))
            parts.append(estimate | {"system": system, "metric": metric, "value": value})
    estimates = pd.DataFrame(parts).drop(columns=["at_lowest", "at_highest"])
    return Statement(check(estimates, ESTIMATES), COMPARISONS.empty())


def estimate_space(distances: pd.DataFrame, confidence: Confidence) -> dict[str, pd.Series]:
    """Return the estimate of every measure that has an interval, by its name."""
    near, near_squares, centroid, others, others_squares = (
        distances[name].to_numpy()
        for name in ("nearest", "nearest_squares", "centroid", "others", "others_squares")
    )
    means = mean_intervals(np.column_stack([near, centroid]), None, POSITIVE, confidence)
    pairs = pairwise_intervals(others, others_squares, confidence)
    density = means.iloc[0].copy()
    # The inverse of a mean has the inverse of its ends, turned over; of 0 there is none.
    ends = 1 / (means.loc[0, ["high", "low"]] + EPSILON)
    density["low"], density["high"] = ends if means.loc[0, "low"] > 0 else (np.nan, np.nan)
    return {
        "avg_nn_distance": means.iloc[0],
        "std_nn_distance": estimate_deviation(near, near_squares, confidence),
        "density_score": density,
        "avg_spread": means.iloc[1],
        "spread_std": estimate_deviation(centroid, centroid**2, confidence),
        "avg_pairwise_distance": pairs.iloc[0],
        "std_pairwise_distance": pairs.iloc[1],
    }


def estimate_deviation(means: Array, squares: Array, confidence: Confidence) -> pd.Series:
    """Estimate the standard deviation of values, given mean and mean square of every text's."""
    centred = means - means.mean()  # small squares lose no digits
    within = np.maximum(squares - means**2, 0.0)
    parts = np.column_stack([centred, within + centred**2, np.ones(len(means))])

    def deviation(sums: Array) -> Array:
        shift, square = sums[:, 0] / sums[:, 2], sums[:, 1] / sums[:, 2]
        return np.sqrt(np.maximum(square - shift**2, 0.0))

    return statistic_intervals(parts, deviation, None, POSITIVE, confidence).iloc[0]
