"""One embedder's geometry as estimates and tables: each number with the interval that is valid for what it is."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from ragbench import stats
from ragbench.core.measurement import NamedEstimate
from ragbench.core.types import Array, Estimate
from ragbench.metrics import embedding_space as space
from ragbench.metrics.embedding_space import EPSILON, Geometry
from ragbench.tiers.basics.findings import Sureness, bounds

if TYPE_CHECKING:
    import pandas as pd

MOST_COMPONENTS = 400  # points of the drawn spectrum
BINS = 240  # of all pairs, from 0 to the greatest distance possible: the set itself fills a part of them
FEWEST_BINS, MOST_BINS = 6, 60  # of neighbour distances
WITHOUT_INTERVAL = {
    "total_samples": "count",
    "max_spread": "extreme",
    "effective_dimensionality": "dimensions",
    "min_pairwise_distance": "extreme",
    "max_pairwise_distance": "extreme",
}
"""Measures that no interval is valid of, with the word that says why."""


def readings(name: str, geometry: Geometry) -> pd.DataFrame:
    """All twelve measures as they were computed: a row each (system, metric, value)."""
    import pandas as pd

    rows = [(name, each.name, each(geometry)) for each in space.MEASURES]
    return pd.DataFrame(rows, columns=["system", "metric", "value"])


def estimates(
    name: str, distances: pd.DataFrame, readings: pd.DataFrame, neighbors: int, sureness: Sureness
) -> list[NamedEstimate]:
    """All twelve measures. Means of per-text values are resampled, means over pairs are U-statistics, densities are
    the inverse of their mean; a count, an extreme and the number of dimensions have no interval, and say why.

    distances, readings: one embedder's rows of the tables. neighbors: of how many each text's mean distance is.
    """
    columns = ("nearest", "nearest_squares", "centroid", "others", "others_squares")
    near, near_squares, centroid, others, squares = (distances[column].to_numpy(dtype=float) for column in columns)
    means = stats.estimate_many({"near": near, "spread": centroid}, **asdict(sureness))
    deviations = {
        "std_nn_distance": _deviation(near, near_squares, neighbors, sureness),
        "spread_std": _deviation(centroid, centroid**2, 1, sureness),
    }
    by_metric = {
        "avg_nn_distance": means["near"],
        "density_score": inverse(means["near"]),
        "avg_spread": means["spread"],
        **deviations,
        "avg_pairwise_distance": stats.pairwise_mean(others, level=sureness.level),
        "std_pairwise_distance": stats.pairwise_std(others, squares, level=sureness.level),
    }
    scales = {each.name: bounds(each) for each in space.MEASURES}
    values = dict(zip(readings["metric"], readings["value"].tolist(), strict=True))
    for metric, note in WITHOUT_INTERVAL.items():
        by_metric[metric] = Estimate(values[metric], None, None, sureness.level, "none", len(distances), note=note)
    return [
        NamedEstimate(name, metric, stats.kept_within(replace(by_metric[metric], value=value), scales[metric]))
        for metric, value in values.items()
    ]


def mean_squares(geometry: Geometry) -> Array:
    """(N,) mean squared distance of each vector to all others, in closed form.

    Euclidean, with radii r from the centre: Σ over j of |x_i − x_j|² = N r_i² + Σ r². Cosine, with unit vectors u,
    U = Σ u and M = Σ u uᵀ: Σ over j of (1 − u_i·u_j)² = N − 2 u_i·U + u_iᵀ M u_i.
    """
    vectors, n = geometry.vectors, len(geometry)
    if geometry.distance == "euclidean":
        squares: Array = vectors.radii**2
        return (n * squares + squares.sum()) / (n - 1)
    moments = np.zeros((vectors.width, vectors.width))
    blocks = [slice(start, start + 4096) for start in range(0, n, 4096)]
    for block in blocks:
        rows = vectors.rows(block)
        moments += rows.T @ rows
    sums = []
    for block in blocks:
        rows = vectors.rows(block)
        sums.append(n - 2 * n * rows @ vectors.centre + ((rows @ moments) * rows).sum(axis=1))
    return np.concatenate(sums) / (n - 1)


def inverse(mean: Estimate) -> Estimate:
    """1 / (mean + ε) with the ends of the mean's interval turned over: a monotone function keeps its coverage."""

    def turned(value: float) -> float:
        return 1 / (value + EPSILON)

    if mean.low is None or mean.high is None or mean.low <= 0:
        return replace(mean, value=turned(mean.value), low=None, high=None, method="none", intervals={})
    intervals = {name: (turned(high), turned(low)) for name, (low, high) in mean.intervals.items() if low > 0}
    return replace(mean, value=turned(mean.value), low=turned(mean.high), high=turned(mean.low), intervals=intervals)


def _deviation(means: Array, squares: Array, number: int, sureness: Sureness) -> Estimate:
    """Standard deviation of the population of (N, number) values, from the mean of each row and of its squares; rows
    are resampled."""
    centre = float(means.mean())
    moved = means - centre  # keeps the difference of two large squares from losing its digits
    # Σ (x − c)² of a row = its Σ (x − mean)² + number · (mean − c)²
    within = np.maximum(squares - means**2, 0.0) if number > 1 else np.zeros(len(means))
    sums = number * np.column_stack([moved, within + moved**2, np.ones(len(means))])

    def deviation(totals: Array) -> Array:
        mean, square = totals[..., 0] / totals[..., 2], totals[..., 1] / totals[..., 2]
        return np.sqrt(np.maximum(square - mean**2, 0.0))

    return stats.resample(deviation, sums, level=sureness.level, resamples=sureness.resamples, seed=sureness.seed)


def distances(name: str, geometry: Geometry, ids: Array) -> pd.DataFrame:
    """What each text adds to the measures that have an interval: its mean distance to its nearest others, to the
    centroid and to all others, and the mean squares of the first and the last."""
    import pandas as pd

    return pd.DataFrame({
        "system": name, "sample": ids,
        "nearest": geometry.nn_distances.mean(axis=1), "nearest_squares": (geometry.nn_distances**2).mean(axis=1),
        "centroid": geometry.spread,
        "others": geometry.pairs.per_vector, "others_squares": mean_squares(geometry),
    })  # fmt: skip


def histograms(name: str, geometry: Geometry) -> pd.DataFrame:
    """Counts of neighbour distances and of pairwise distances by class."""
    import pandas as pd

    counts, edges = geometry.histogram(BINS)
    automatic = len(np.histogram_bin_edges(geometry.nn_distances.ravel(), bins="auto")) - 1
    near, near_edges = np.histogram(geometry.nn_distances, bins=min(max(automatic, FEWEST_BINS), MOST_BINS))
    parts = [("nearest", near, near_edges), ("pairs", counts, edges)]
    return pd.concat(
        [
            pd.DataFrame({"system": name, "kind": kind, "low": cut[:-1], "high": cut[1:], "count": number})
            for kind, number, cut in parts
        ],
        ignore_index=True,
    )


def spectrum(name: str, geometry: Geometry) -> pd.DataFrame:
    """Share of the variance that the first components hold, at no more than 400 numbers of components."""
    import pandas as pd

    total = float(geometry.spectrum.sum())
    shares = np.cumsum(geometry.spectrum) / total if total > 0 else np.ones(len(geometry.spectrum))
    width = len(shares)
    steps = np.unique(np.round(np.geomspace(1, width, MOST_COMPONENTS)).astype(int))
    kept = np.unique(np.append(steps, int(space.effective_dimensionality(geometry)) or 1))
    return pd.DataFrame({"system": name, "components": kept, "share": np.minimum(shares[kept - 1], 1.0)})
