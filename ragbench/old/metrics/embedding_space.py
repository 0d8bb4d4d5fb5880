"""The shape of an embedding space without any labels: how near neighbours are, how wide it is, how many dimensions.

Every measure reads a `Geometry`, which computes each of its parts once, when first asked. Distances are Euclidean
unless the geometry says cosine. Standard deviations are those of the population. Minimum and maximum have no interval.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragbench.old.core.metric import Peer, Purpose, Reading, metric
from ragbench.old.core.types import Array
from ragbench.old.metrics import distances
from ragbench.old.metrics.distances import Distance, Indices, Neighbours, Pairs, Vectors

EPSILON = 1e-12  # of the density score: it keeps a set of copies finite
VARIANCE_SHARE = 0.95  # the usual share of which principal components are counted
_SPECIFICATION = "the specification, section 3.4"


class Geometry:
    """Distances and variances of one set of vectors (N, width), each computed once, in memory that grows with N alone.

    neighbors: how many nearest neighbours of a vector count in the mean of its neighbours' distances.

    Raises ValueError for vectors that are not finite, and under the cosine for those of length 0.
    """

    def __init__(self, vectors: ArrayLike, *, distance: Distance = "euclidean", neighbors: int = 1) -> None:
        if neighbors < 1:
            raise ValueError(f"neighbors = {neighbors}: at least one is needed")
        self.vectors = Vectors(vectors, distance)
        self.distance: Distance = distance
        self.neighbors = neighbors

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def nearest(self) -> Neighbours:
        """The nearest others of every vector: no column where there are not more vectors than neighbours asked for."""
        if len(self) <= self.neighbors:
            return Neighbours(np.empty((len(self), 0), np.int64), np.empty((len(self), 0)))
        return distances.neighbours(self.vectors, self.neighbors)

    @property
    def nn_distances(self) -> Array:
        """(N, neighbors) distance to each nearest neighbour; resample rows of it, not vectors."""
        return self.nearest.distances

    @cached_property
    def spread(self) -> Array:
        """(N,) distance of each vector to the centroid (under the cosine: of its direction to the mean direction)."""
        if self.distance == "euclidean":
            return self.vectors.radii
        centre = self.vectors.centre
        length = float(np.linalg.norm(centre))
        if length < np.finfo(float).eps:
            return np.full(len(self), np.nan)
        gaps = [self.vectors.rows(slice(start, start + 4096)) - centre / length for start in range(0, len(self), 4096)]
        return np.concatenate([(gap**2).sum(axis=1) / 2 for gap in gaps])

    @cached_property
    def pairs(self) -> Pairs:
        """Statistics of all pairs of vectors."""
        return distances.pairs(self.vectors)

    @cached_property
    def spectrum(self) -> Array:
        """(width,) eigenvalues of the vectors' covariance matrix, descending; under the cosine of unit vectors."""
        covariance = np.zeros((self.vectors.width, self.vectors.width))
        for start in range(0, len(self), 4096):
            rows = self.vectors.rows(slice(start, start + 4096)) - self.vectors.centre
            covariance += rows.T @ rows
        return np.maximum(np.linalg.eigvalsh(covariance / len(self))[::-1], 0.0)

    def histogram(self, bins: int = 60) -> tuple[Indices, Array]:
        """Counts and edges of the distances of all pairs, in equal classes from 0 to the greatest possible distance."""
        binned = distances.pairs(self.vectors, bins=bins)
        return binned.counts, binned.edges

    def near_duplicates(self, threshold: float, *, most: int = 1000) -> tuple[Indices, Array]:
        """Pairs of rows (P, 2) at most `threshold` apart with their distances, nearest first, no more than `most`."""
        if threshold < 0:
            raise ValueError(f"threshold = {threshold}: a distance is not negative")
        return distances.near_duplicates(self.vectors, threshold, most=most)

    def outliers(self, most: int = 20) -> tuple[Indices, Array]:
        """Rows whose last counted neighbour is farthest, with that distance, farthest first (Ramaswamy et al. 2000)."""
        if not self.nn_distances.shape[1]:
            return np.empty(0, np.int64), np.empty(0)
        last = self.nn_distances[:, -1]
        order = np.argsort(-last, kind="stable")[:most]
        return order, last[order]


def measure(vectors: ArrayLike, *, distance: Distance = "euclidean", neighbors: int = 1) -> dict[str, float]:
    """All measures of this page by name."""
    geometry = Geometry(vectors, distance=distance, neighbors=neighbors)
    return {each.name: each(geometry) for each in MEASURES}


_of_space = partial(metric, source=_SPECIFICATION, over="set", bounds=(0.0, None), better=None)
"""What most measures of this page declare alike: a whole set is measured, and no direction of the number is good."""
_READING = "the specification, section 3.5"
_DIST_EDGE = (
    "A vector is never its own neighbour, even where copies lie at distance 0. With fewer than two vectors there is"
    " no value."
)
_EXACT_DIFF = "Computed over all pairs exactly, not over a sample of them."
_SPREAD_EDGE = "0 where all vectors are equal."
_EXTREME_EDGE = "Has no interval: a resample cannot go beyond the extreme that was seen."
_STD_DIFF = "Divided by n (the population's standard deviation); many programs divide by n − 1."


@_of_space(
    bounds=(1.0, None),
    formula="n",
    edges="A count of what was found; it has no scale from bad to good.",
    differs="Vectors, copies included.",
    when=("Beside the other measures of a space: of how many vectors they are.",),
)
def total_samples(table: Geometry | ArrayLike) -> float:
    """How many vectors there are."""
    return float(len(_geometry(table)))


@_of_space(
    formula="(1 / n) Σ distance to the k nearest neighbours",
    edges=_DIST_EDGE,
    differs="Software that drops the first neighbour as “self” drops a copy instead where there are copies.",
    reading=Reading(("The lower, the denser the neighbourhoods.",), _READING),
    when=("Comparing spaces of one embedder: how close neighbours are.",),
    purposes=(Purpose("embeddings", "whether texts have close neighbours"),),
    peers=(Peer("scikit-learn", 1e-12, "distances to nearest neighbours of random vectors"),),
)
def avg_nn_distance(table: Geometry | ArrayLike) -> float:
    """Mean distance from a vector to its nearest neighbours: low where the space is locally compact."""
    return _mean(_geometry(table).nn_distances)


@_of_space(
    formula="√((1 / n) Σ (dᵢ − mean)²)",
    edges=_DIST_EDGE,
    differs=_STD_DIFF,
    reading=Reading(("The higher, the more uneven the density: there may be holes.",), _READING),
    when=("Finding gaps and crowded places in the base.",),
)
def std_nn_distance(table: Geometry | ArrayLike) -> float:
    """Standard deviation of the distances to nearest neighbours: high where density is uneven."""
    return _std(_geometry(table).nn_distances)


@_of_space(
    bounds=(0.0, 1 / EPSILON),
    formula="1 / (avg_nn_distance + 10⁻¹²)",
    edges=_DIST_EDGE,
    differs="Where all vectors are copies it is 10¹², not infinite.",
    reading=Reading(("The higher, the denser the space.",), _READING),
    when=("The same as avg_nn_distance, where more is to mean denser.",),
)
def density_score(table: Geometry | ArrayLike) -> float:
    """1 / (avg_nn_distance + 1e-12): how dense the space is."""
    return 1 / (_mean(_geometry(table).nn_distances) + EPSILON)


@_of_space(
    formula="(1 / n) Σ ‖xᵢ − centroid‖",
    edges=_SPREAD_EDGE,
    differs=_EXACT_DIFF,
    when=("How far texts are from the middle of them all.",),
    purposes=(Purpose("embeddings", "how wide the space is"),),
)
def avg_spread(table: Geometry | ArrayLike) -> float:
    """Mean distance to the centroid."""
    return _mean(_geometry(table).spread)


@_of_space(
    formula="max ‖xᵢ − centroid‖",
    edges=_EXTREME_EDGE,
    differs=_EXACT_DIFF,
    reading=Reading(("High: there may be outliers.",), _READING),
    when=("Finding outliers: texts that have nothing to do with the rest.",),
)
def max_spread(table: Geometry | ArrayLike) -> float:
    """Greatest distance to the centroid: far above the mean where there are outliers."""
    return float(_geometry(table).spread.max())


@_of_space(
    formula="√((1 / n) Σ (‖xᵢ − centroid‖ − mean)²)",
    edges=_SPREAD_EDGE,
    differs=_STD_DIFF,
    when=("Whether some texts lie much farther out than others.",),
)
def spread_std(table: Geometry | ArrayLike) -> float:
    """Standard deviation of the distances to the centroid."""
    return _std(_geometry(table).spread)


@_of_space(
    source="Jolliffe 2002, Principal Component Analysis, section 6.1.1",
    formula="least m with λ₁ + … + λₘ ≥ 0.95 Σ λ",
    edges="0 where all vectors are equal; has no interval, because copies in a resample span fewer dimensions.",
    differs="A count of components; other programs give the participation ratio (Σ λ)² / Σ λ² under this name.",
    reading=Reading(("Very low: the space may have collapsed.",), _READING),
    when=("Finding a space that has collapsed onto few directions.",),
    peers=(Peer("scikit-learn", 0, "random vectors, by PCA"),),
)
def effective_dimensionality(table: Geometry | ArrayLike) -> float:
    """How many principal components hold 95% of the variance; 0 where all vectors are equal.

    Very few, against the width of the vectors, is a sign that the space has collapsed.
    """
    spectrum = _geometry(table).spectrum
    total = spectrum.sum()
    return float((np.cumsum(spectrum) < VARIANCE_SHARE * total * (1 - 1e-12)).sum() + 1) if total > 0 else 0.0


@_of_space(
    formula="mean of ‖xᵢ − xⱼ‖ over i < j",
    edges=_DIST_EDGE,
    differs=_EXACT_DIFF,
    when=("How far apart two texts usually are, as a measuring stick for the distances of neighbours.",),
    purposes=(Purpose("embeddings", "how far apart texts are"),),
    peers=(Peer("SciPy", 1e-7, "distances of all pairs of random vectors"),),
)
def avg_pairwise_distance(table: Geometry | ArrayLike) -> float:
    """Mean distance over all pairs of vectors."""
    return _geometry(table).pairs.mean


@_of_space(
    formula="standard deviation of ‖xᵢ − xⱼ‖ over i < j",
    edges=_DIST_EDGE,
    differs=_STD_DIFF,
    when=("Whether distances differ at all: where they hardly do, nearest neighbours mean little.",),
    peers=(Peer("SciPy", 1e-6, "distances of all pairs of random vectors"),),
)
def std_pairwise_distance(table: Geometry | ArrayLike) -> float:
    """Standard deviation of the distances over all pairs of vectors."""
    return _geometry(table).pairs.std


@_of_space(
    formula="min ‖xᵢ − xⱼ‖ over i < j",
    edges=_EXTREME_EDGE,
    differs=_EXACT_DIFF,
    when=("Finding duplicates.",),
    peers=(Peer("SciPy", 1e-9, "distances of all pairs of random vectors"),),
)
def min_pairwise_distance(table: Geometry | ArrayLike) -> float:
    """Least distance between two vectors: 0 where there are copies."""
    return _geometry(table).pairs.minimum


@_of_space(
    formula="max ‖xᵢ − xⱼ‖ over i < j",
    edges=_EXTREME_EDGE,
    differs=_EXACT_DIFF,
    reading=Reading(("High: there may be outliers.",), _READING),
    when=("Finding outliers.",),
    peers=(Peer("SciPy", 1e-9, "distances of all pairs of random vectors"),),
)
def max_pairwise_distance(table: Geometry | ArrayLike) -> float:
    """Greatest distance between two vectors."""
    return _geometry(table).pairs.maximum


MEASURES = (
    total_samples,
    avg_nn_distance,
    std_nn_distance,
    density_score,
    avg_spread,
    max_spread,
    spread_std,
    effective_dimensionality,
    avg_pairwise_distance,
    std_pairwise_distance,
    min_pairwise_distance,
    max_pairwise_distance,
)


def _geometry(table: Any) -> Geometry:
    return table if isinstance(table, Geometry) else Geometry(table)


def _mean(values: Array) -> float:
    return float(values.mean()) if values.size else float("nan")


def _std(values: Array) -> float:
    return float(values.std()) if values.size else float("nan")
