"""The geometry of vectors, against SciPy, scikit-learn and hand-computed sets, in both precisions."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragbench.old.metrics import distances, embedding_space
from ragbench.old.metrics.distances import Vectors
from ragbench.old.metrics.embedding_space import MEASURES, Geometry, measure

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.fixture(params=["double", "single"])
def precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small sets through the code for large ones too: several tiles, and single precision made exact."""
    monkeypatch.setattr(distances, "_SIDE", 16)
    if request.param == "single":
        monkeypatch.setattr(distances, "_ALL_DOUBLE", 0)
    return str(request.param)


def clustered(n: int, width: int = 12, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, width))[rng.integers(0, 5, n)] + 0.3 * rng.normal(size=(n, width)) + 2


def test_a_square_by_hand() -> None:
    around, root = math.sqrt(0.5), math.sqrt(2)
    mean = (4 + 2 * root) / 6
    assert measure(SQUARE) == pytest.approx(
        {
            "total_samples": 4,
            "avg_nn_distance": 1,
            "std_nn_distance": 0,
            "density_score": 1 / (1 + 1e-12),
            "avg_spread": around,
            "max_spread": around,
            "spread_std": 0,
            "effective_dimensionality": 2,
            "avg_pairwise_distance": mean,
            "std_pairwise_distance": math.sqrt((4 * (1 - mean) ** 2 + 2 * (root - mean) ** 2) / 6),
            "min_pairwise_distance": 1,
            "max_pairwise_distance": root,
        },
        abs=1e-12,
    )


def test_cosine_by_hand() -> None:
    found = measure(np.array([[2.0, 0.0], [0.0, 0.5], [-3.0, 0.0]]), distance="cosine", neighbors=2)
    assert found["avg_pairwise_distance"] == pytest.approx((1 + 2 + 1) / 3)
    assert found["std_pairwise_distance"] == pytest.approx(math.sqrt(2) / 3)
    assert (found["min_pairwise_distance"], found["max_pairwise_distance"]) == (pytest.approx(1), pytest.approx(2))
    assert found["avg_nn_distance"] == pytest.approx((1 + 2 + 1 + 1 + 1 + 2) / 6)
    # the mean direction is (0, 1)
    assert found["avg_spread"] == pytest.approx((1 + 0 + 1) / 3)


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_against_scipy(precision: str, distance: distances.Distance, dtype: type) -> None:
    from scipy.spatial.distance import pdist, squareform

    vectors = clustered(150).astype(dtype)
    expected = pdist(vectors.astype(float), distance)
    found = Geometry(vectors, distance=distance).pairs
    # the error of single precision averages out over many pairs only: these are few
    tolerance = 1e-7 if precision == "single" else 1e-12
    assert found.mean == pytest.approx(expected.mean(), rel=tolerance)
    assert found.std == pytest.approx(expected.std(), rel=10 * tolerance)
    assert found.minimum == pytest.approx(expected.min(), rel=1e-9)
    assert found.maximum == pytest.approx(expected.max(), rel=1e-9)
    square = squareform(expected)
    np.testing.assert_allclose(found.per_vector, square.sum(axis=1) / (len(vectors) - 1), rtol=max(tolerance, 1e-12))
    np.testing.assert_allclose(found.squares_per_vector, (square**2).sum(axis=1) / (len(vectors) - 1), rtol=1e-6)
    assert found.squares_per_vector.mean() == pytest.approx((expected**2).mean(), rel=1e-12)
    assert found.closest is not None
    assert found.farthest is not None
    assert square[found.closest] == expected.min()
    assert square[found.farthest] == expected.max()


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_neighbours_against_scikit_learn(precision: str, distance: distances.Distance, k: int) -> None:
    from sklearn.neighbors import NearestNeighbors

    vectors = clustered(120)
    found = Geometry(vectors, distance=distance, neighbors=k).nearest
    peer = NearestNeighbors(n_neighbors=k, metric=distance, algorithm="brute").fit(vectors)
    expected, rows = peer.kneighbors()  # without its argument a vector is not its own neighbour
    np.testing.assert_allclose(found.distances, expected, atol=1e-12 if distance == "euclidean" else 1e-14)
    np.testing.assert_array_equal(found.rows, rows)


def test_a_copy_is_a_neighbour_at_distance_zero_and_oneself_is_not(precision: str) -> None:
    vectors = clustered(60)
    vectors[7] = vectors[33] = vectors[5]
    geometry = Geometry(vectors, neighbors=2)
    assert geometry.nn_distances[[5, 7, 33]].tolist() == [[0, 0]] * 3
    assert [sorted(row) for row in geometry.nearest.rows[[5, 7, 33]].tolist()] == [[7, 33], [5, 33], [5, 7]]
    assert not (geometry.nearest.rows == np.arange(60)[:, None]).any()
    assert geometry.pairs.minimum == 0
    assert (geometry.nn_distances[[0, 1, 2]] > 0).all()


def test_distances_far_below_the_spread_are_exact(precision: str) -> None:
    """Two clouds far apart and 1e-6 wide: from products alone, nothing within a cloud could be seen."""
    from scipy.spatial.distance import pdist, squareform

    rng = np.random.default_rng(3)
    vectors = np.repeat(rng.normal(size=(2, 8)), 40, axis=0) + 1e-6 * rng.normal(size=(80, 8)) + 5
    expected = pdist(vectors)
    geometry = Geometry(vectors, neighbors=2)
    nearest = np.sort(squareform(expected), axis=1)[:, 1:3]
    np.testing.assert_allclose(geometry.nn_distances, nearest, rtol=1e-12)
    assert geometry.pairs.minimum == pytest.approx(expected.min(), rel=1e-12)
    within = np.sort(expected)[: 2 * 40 * 39 // 2]
    near, found = geometry.near_duplicates(1e-3, most=10_000)
    np.testing.assert_allclose(found, within, rtol=1e-12)
    assert len(near) == len(within)
    assert geometry.pairs.mean == pytest.approx(expected.mean(), rel=1e-8)


def test_many_equal_distances_are_no_trap(precision: str) -> None:
    """Corners of a simplex: every pair could be the nearest and the farthest."""
    geometry = Geometry(np.eye(70), neighbors=3)
    np.testing.assert_allclose(geometry.nn_distances, math.sqrt(2), rtol=1e-15)
    assert (geometry.pairs.minimum, geometry.pairs.maximum) == (
        pytest.approx(math.sqrt(2)),
        pytest.approx(math.sqrt(2)),
    )
    assert geometry.pairs.std == pytest.approx(0, abs=1e-6 if precision == "single" else 1e-9)


@settings(deadline=None)
@given(
    arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(1, 4)), elements=st.integers(-3, 3).map(float)),
    st.booleans(),
)
def test_grids_with_copies_and_ties(vectors: np.ndarray, single: bool) -> None:
    from scipy.spatial.distance import pdist, squareform

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_SIDE", 8)
        patch.setattr(distances, "_ALL_DOUBLE", 0 if single else 4096)
        geometry = Geometry(vectors)
        square = squareform(pdist(vectors))
        assert geometry.pairs.minimum == pytest.approx(square[np.triu_indices(len(square), 1)].min(), abs=1e-12)
        assert geometry.pairs.maximum == pytest.approx(square.max(), abs=1e-12)
        assert geometry.pairs.mean == pytest.approx(square.sum() / (len(square) * (len(square) - 1)), abs=1e-6)
        np.fill_diagonal(square, np.inf)
        np.testing.assert_allclose(geometry.nn_distances[:, 0], square.min(axis=1), atol=1e-12)


@pytest.mark.parametrize("distance", ["euclidean", "cosine"])
def test_histogram_counts_every_pair_once(precision: str, distance: distances.Distance) -> None:
    from scipy.spatial.distance import pdist

    vectors = clustered(70)
    counts, edges = Geometry(vectors, distance=distance).histogram(25)
    expected, _ = np.histogram(pdist(vectors, distance), edges)
    assert counts.sum() == 70 * 69 // 2
    assert np.abs(counts - expected).sum() <= (2 if precision == "single" else 0)


def test_effective_dimensionality_is_that_of_the_covariance() -> None:
    from sklearn.decomposition import PCA

    vectors = clustered(300, width=20)
    shares = np.cumsum(PCA().fit(vectors).explained_variance_ratio_)
    assert embedding_space.effective_dimensionality(vectors) == np.argmax(shares >= 0.95) + 1
    # 20 equal variances: 19 of 20 hold exactly 95 %
    assert embedding_space.effective_dimensionality(np.vstack([np.eye(20), -np.eye(20)])) == 19
    assert embedding_space.effective_dimensionality(np.ones((5, 3))) == 0


def test_equal_vectors_and_a_single_one() -> None:
    equal = measure(np.ones((5, 3)))
    assert equal["density_score"] == pytest.approx(1e12)
    assert equal["avg_pairwise_distance"] == equal["max_spread"] == equal["std_nn_distance"] == 0
    single = measure(np.ones((1, 3)))
    for name in ("avg_nn_distance", "density_score", "avg_pairwise_distance", "min_pairwise_distance"):
        assert math.isnan(single[name]), name
    assert single["avg_spread"] == 0
    assert math.isnan(measure(np.array([[1.0, 0], [-1, 0]]), distance="cosine")["avg_spread"])


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        (np.zeros((0, 3)), {}, "shape"),
        (np.zeros(3), {}, "shape"),
        ([[1.0, math.nan], [1, 2], [math.inf, 0]], {}, "2 vectors are not finite, the first in row 0"),
        ([[1.0, 0], [0, 0]], {"distance": "cosine"}, "1 vectors have length 0 and no direction, the first in row 1"),
        (SQUARE, {"distance": "manhattan"}, "euclidean or cosine"),
        (SQUARE, {"neighbors": 0}, "at least one"),
    ],
)
def test_vectors_that_cannot_be_measured(vectors: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Geometry(vectors, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="k = 4"):
        distances.neighbours(Vectors(SQUARE), 4)
    with pytest.raises(ValueError, match="not negative"):
        Geometry(SQUARE).near_duplicates(-1)


def test_duplicates_and_outliers_are_named(precision: str) -> None:
    vectors = clustered(50)
    vectors[11] = vectors[3]
    vectors[20] = vectors[4] + 1e-4
    vectors[30] += 50
    geometry = Geometry(vectors)
    rows, found = geometry.near_duplicates(1e-2)
    assert rows.tolist() == [[3, 11], [4, 20]]
    assert found == pytest.approx([0, 1e-4 * math.sqrt(12)], rel=1e-9)
    rows, _ = geometry.near_duplicates(1e9, most=2)
    assert rows.tolist() == [[3, 11], [4, 20]]
    outliers, gaps = geometry.outliers(3)
    assert outliers[0] == 30
    assert gaps[0] > 3 * gaps[1]


def test_values_to_resample_have_the_variance_of_the_pairwise_mean() -> None:
    """2 × per_vector − mean, averaged, varies over samples as the pairwise mean does: the interval's ingredient."""
    rng = np.random.default_rng(11)
    means, estimated = [], []
    for _ in range(400):
        found = Geometry(rng.exponential(size=(60, 3))).pairs
        means.append(found.mean)
        estimated.append((2 * found.per_vector - found.mean).std(ddof=1) / math.sqrt(60))
    assert np.mean(estimated) == pytest.approx(np.std(means), rel=0.12)


def test_each_part_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("pairs", "neighbours"):
        real = getattr(distances, name)
        monkeypatch.setattr(
            distances, name, lambda *a, _real=real, _name=name, **k: (calls.append(_name), _real(*a, **k))[1]
        )
    measure(SQUARE)
    assert sorted(calls) == ["neighbours", "pairs"]
    assert len(MEASURES) == 12


@pytest.mark.slow
def test_large_sets_are_exact_in_bounded_memory() -> None:
    vectors = clustered(6000, width=64).astype(np.float32)
    tracemalloc.start()
    found = Geometry(vectors, neighbors=3)
    assert found.vectors.precision is np.float32
    mean, std, nearest = found.pairs.mean, found.pairs.std, found.nn_distances
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6000**2 * 4 / 4  # a quarter of the matrix in single precision
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_ALL_DOUBLE", 10_000)
        exact = Geometry(vectors, neighbors=3)
        assert exact.vectors.precision is np.float64
        assert mean == pytest.approx(exact.pairs.mean, rel=1e-9)
        assert std == pytest.approx(exact.pairs.std, rel=2e-9)
        np.testing.assert_allclose(nearest, exact.nn_distances, rtol=1e-13)
