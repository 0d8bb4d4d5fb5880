"""The shape of an embedding space, without labels: neighbours, spread, dimensions, distances.

Every measure takes the vectors, or a `Space` that computes what several of them need only once.
All pairs are measured, in memory that grows with the number of vectors alone. Standard deviations
are those of the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.core.errors import BenchError
from ragbench.core.metric import CATALOGUE, metric
from ragbench.core.progress import progress

Array = NDArray[np.float64]
Rows = NDArray[np.int64]

EPSILON = 1e-12  # keeps the density of a set of copies finite
VARIANCE_SHARE = 0.95  # of which principal components are counted
WORKING_MEMORY = 64  # MB of distances at once
BINS = 60
SOURCE = "definition, as «Вопрошалыч» publishes it"
of_space = partial(metric, kind="set", better="describes", bounds=(0.0, np.inf), source=SOURCE)


@of_space()
def total_samples(vectors: Any) -> float:
    """How many vectors there are, copies included."""
    return float(len(as_space(vectors)))


@of_space()
def avg_nn_distance(vectors: Any) -> float:
    """Mean distance from a vector to its nearest neighbours; the lower, the denser."""
    return mean(as_space(vectors).neighbor_distances)


@of_space()
def std_nn_distance(vectors: Any) -> float:
    """Standard deviation of the distances to nearest neighbours; high where density is uneven."""
    return deviation(as_space(vectors).neighbor_distances)


@of_space()
def density_score(vectors: Any) -> float:
    """1 / (avg_nn_distance + 10⁻¹²): how dense the space is."""
    return 1 / (mean(as_space(vectors).neighbor_distances) + EPSILON)


@of_space()
def avg_spread(vectors: Any) -> float:
    """Mean distance to the centroid."""
    return mean(as_space(vectors).spread)


@of_space()
def max_spread(vectors: Any) -> float:
    """Greatest distance to the centroid; far above the mean where there are outliers."""
    return float(as_space(vectors).spread.max())


@of_space()
def spread_std(vectors: Any) -> float:
    """Standard deviation of the distances to the centroid."""
    return deviation(as_space(vectors).spread)


@of_space(source="Jolliffe 2002, Principal Component Analysis, section 6.1.1")
def effective_dimensionality(vectors: Any) -> float:
    """How many principal components hold 95 % of the variance; very few: the space collapsed.

    0 where all vectors are equal.
    """
    return float(dimensions_of(as_space(vectors).spectrum))


@of_space()
def avg_pairwise_distance(vectors: Any) -> float:
    """Mean distance over all pairs of vectors."""
    return mean(as_space(vectors).pair_means)


@of_space()
def std_pairwise_distance(vectors: Any) -> float:
    """Standard deviation of the distances over all pairs of vectors."""
    return as_space(vectors).pairs.deviation


@of_space()
def min_pairwise_distance(vectors: Any) -> float:
    """Least distance between two vectors; 0 where there are copies."""
    # That of a vector to its nearest neighbour, exact where a product of matrices is not.
    distances = as_space(vectors).neighbor_distances
    return float(distances.min()) if distances.size else float("nan")


@of_space()
def max_pairwise_distance(vectors: Any) -> float:
    """Greatest distance between two vectors."""
    return as_space(vectors).pairs.greatest


MEASURES = (
    "total_samples",
    "avg_nn_distance",
    "std_nn_distance",
    "density_score",
    "avg_spread",
    "max_spread",
    "spread_std",
    "effective_dimensionality",
    "avg_pairwise_distance",
    "std_pairwise_distance",
    "min_pairwise_distance",
    "max_pairwise_distance",
)


def measure_space(vectors: Any) -> dict[str, float]:
    """Return all twelve measures by name. vectors: (N, width), or a Space."""
    space = as_space(vectors)
    return {name: CATALOGUE[name](space) for name in MEASURES}


@dataclass(frozen=True)
class Pairs:
    """Statistics of the distances of all pairs.

    sums: (N,) of the distances of each vector to all others. counts: of pairs in equal classes
    between `edges`, which go from 0 to the greatest possible distance.
    """

    sums: Array
    deviation: float
    greatest: float
    counts: Rows
    edges: Array


class Space:
    """Distances and variances of one set of vectors (N, width), each computed when first asked for.

    distance: of euclidean, or of cosine, which is 1 − cosine. neighbors: how many nearest
    neighbours of a vector are looked at; NaN where there are not more vectors than that.
    Raises BenchError for vectors that are not finite, and for zero vectors under cosine.
    """

    def __init__(
        self,
        vectors: ArrayLike,
        distance: Literal["euclidean", "cosine"] = "euclidean",
        neighbors: int = 1,
    ) -> None:
        self.distance = distance
        self.neighbors = neighbors
        self.points = np.asarray(vectors, dtype=float)
        self.check()
        if distance == "cosine":
            # The cosine distance is half of the squared distance of unit vectors.
            self.points = self.points / np.linalg.norm(self.points, axis=1, keepdims=True)

    def check(self) -> None:
        """Refuse what is no set of vectors that this distance can measure."""
        if self.points.ndim != 2 or not self.points.size or not np.isfinite(self.points).all():
            raise BenchError(
                f"vectors of shape {self.points.shape}: (vectors, width) finite numbers are needed"
            )
        if self.distance not in ("euclidean", "cosine"):
            raise BenchError(f"distance = {self.distance!r}; it is euclidean or cosine")
        if self.neighbors < 1:
            raise BenchError(f"neighbors = {self.neighbors}; at least 1 is needed")
        if self.distance == "cosine" and not self.points.any(axis=1).all():
            raise BenchError("a zero vector has no direction; measure the euclidean distance")

    def __len__(self) -> int:
        return len(self.points)

    def of_gaps(self, gaps: Array) -> Array:
        """Return distances, exact, of differences between points."""
        return self.of_euclidean(np.linalg.norm(gaps, axis=-1))

    def of_euclidean(self, distances: Array) -> Array:
        """Return the distances of points, given their Euclidean ones."""
        return distances if self.distance == "euclidean" else distances**2 / 2

    @cached_property
    def neighbor_rows(self) -> Rows:
        """(N, neighbors) rows of the nearest others; a vector is never its own neighbour."""
        from sklearn.neighbors import NearestNeighbors

        if len(self) <= self.neighbors:
            return np.empty((len(self), 0), dtype=np.int64)
        index = NearestNeighbors(n_neighbors=self.neighbors, algorithm="brute").fit(self.points)
        # Without arguments scikit-learn leaves each vector out by its row: copies stay neighbours.
        return index.kneighbors(return_distance=False)

    @cached_property
    def neighbor_distances(self) -> Array:
        """(N, neighbors) distances to them; a bootstrap draws rows of it, never vectors."""
        columns = [self.of_gaps(self.points - self.points[rows]) for rows in self.neighbor_rows.T]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))

    @cached_property
    def spread(self) -> Array:
        """(N,) distances to the centroid; under cosine to the mean direction."""
        centre = self.points.mean(axis=0)
        if self.distance == "cosine":
            length = np.linalg.norm(centre)
            # Directions that cancel each other out have no mean.
            centre = centre / length if length > np.finfo(float).eps else centre * np.nan
        return self.of_gaps(self.points - centre)

    @cached_property
    def spectrum(self) -> Array:
        """(width,) eigenvalues of the covariance matrix, the greatest first."""
        centred = self.points - self.points.mean(axis=0)
        eigenvalues = np.linalg.eigvalsh(centred.T @ centred / len(self))
        return np.maximum(eigenvalues[::-1], 0.0)

    @cached_property
    def pairs(self) -> Pairs:
        """Statistics of all pairs, computed in blocks of rows."""
        from sklearn.metrics import pairwise_distances_chunked

        n_others = max(len(self) - 1, 1)
        edges = np.linspace(0.0, self.greatest_possible, BINS + 1)
        counts = np.zeros(BINS, dtype=np.int64)
        sums, squares, greatest = [], 0.0, 0.0
        blocks = pairwise_distances_chunked(self.points, working_memory=WORKING_MEMORY)
        shift = float("nan")
        for block in progress(blocks, "measuring pairs"):
            distances = self.of_euclidean(block)
            sums.append(distances.sum(axis=1))
            # Squares of what is left above a rough mean lose no digits.
            shift = float(distances.mean()) if np.isnan(shift) else shift
            squares += float(((distances - shift) ** 2).sum())
            greatest = max(greatest, float(distances.max()))
            # A count of classes and a range: of edges that are given each would be looked for.
            inside = np.minimum(distances, edges[-1])
            counts += np.histogram(inside, BINS, (0.0, float(edges[-1])))[0]
        total = np.concatenate(sums)
        n_pairs = len(self) * n_others
        # Every vector is there with itself, too, at a distance of 0.
        gap = total.sum() / n_pairs - shift
        variance = (squares - len(self) * shift**2) / n_pairs - gap**2
        counts[0] -= len(self)
        has_pairs = len(self) > 1
        return Pairs(
            total,
            float(np.sqrt(max(variance, 0.0))) if has_pairs else float("nan"),
            greatest if has_pairs else float("nan"),
            counts // 2,
            edges,
        )

    @property
    def greatest_possible(self) -> float:
        """No two vectors can be farther apart."""
        if self.distance == "cosine":
            return 2.0
        return max(2 * float(self.spread.max()), np.finfo(float).tiny)

    @property
    def pair_means(self) -> Array:
        """(N,) mean distance of each vector to all others; their mean is that of all pairs."""
        if len(self) < 2:
            return np.full(len(self), np.nan)
        return self.pairs.sums / (len(self) - 1)

    @property
    def pair_squares(self) -> Array:
        """(N,) mean squared distance of each vector to all others, in closed form.

        Euclidean: the sum over j of |x_i - x_j|² is N r_i² + Σ r², where r are the distances to the
        centroid. Cosine, with unit vectors u: Σ (1 - u_i·u_j)² is N - 2 u_i·Σu + u_iᵀ (Σ u uᵀ) u_i.
        """
        n = len(self)
        if n < 2:
            return np.full(n, np.nan)
        if self.distance == "euclidean":
            squares = self.spread**2
            return (n * squares + squares.sum()) / (n - 1)
        moments = self.points.T @ self.points
        to_all = n - 2 * self.points @ self.points.sum(axis=0)
        return (to_all + ((self.points @ moments) * self.points).sum(axis=1)) / (n - 1)

    def closest(self, count: int) -> tuple[Rows, Array]:
        """Return (pairs, 2) rows of the vectors that are nearest to each other, and distances."""
        rows = np.repeat(np.arange(len(self)), self.neighbor_rows.shape[1])
        both = np.column_stack([rows, self.neighbor_rows.ravel()])
        # Two that are each other's neighbours are one pair.
        pairs, first = np.unique(np.sort(both, axis=1), axis=0, return_index=True)
        distances = self.neighbor_distances.ravel()[first]
        order = np.argsort(distances, kind="stable")[:count]
        return pairs[order], distances[order]

    def outliers(self, count: int) -> tuple[Rows, Array]:
        """Return the rows whose last neighbour is farthest, and its distance (Ramaswamy 2000)."""
        if not self.neighbor_distances.shape[1]:
            return np.empty(0, dtype=np.int64), np.empty(0)
        farthest = self.neighbor_distances[:, -1]
        order = np.argsort(-farthest, kind="stable")[:count]
        return order, farthest[order]


def as_space(vectors: Any) -> Space:
    """Return the Space of vectors, or the one that was given."""
    return vectors if isinstance(vectors, Space) else Space(vectors)


def dimensions_of(spectrum: Array) -> int:
    """Count the components that hold 95 % of the variance."""
    total = spectrum.sum()
    if total <= 0:
        return 0
    # A hair less: in sums of floats all of the variance can miss its share by a bit.
    return int((np.cumsum(spectrum) < VARIANCE_SHARE * total * (1 - 1e-12)).sum()) + 1


def mean(values: Array) -> float:
    """Return the mean; NaN of nothing."""
    return float(values.mean()) if values.size else float("nan")


def deviation(values: Array) -> float:
    """Return the population's standard deviation; NaN of nothing."""
    return float(values.std()) if values.size else float("nan")
