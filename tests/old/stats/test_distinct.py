"""The number of distinct items that draws have seen: by hand, against leaving out by force, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from ragbench.old import stats

SEEN = [{"a", "b"}, {"b", "c"}, {"d"}, {"b"}]


def by_force(seen: list[set[str]]) -> tuple[float, float]:
    """The number, and the jackknife's standard error by leaving each draw out."""
    n = len(seen)
    left = np.array([len(set().union(*(s for j, s in enumerate(seen) if j != i))) for i in range(n)])
    return len(set().union(*seen)), math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum())


def test_the_interval_is_the_jackknifes() -> None:
    found = stats.distinct(SEEN)
    value, error = by_force(SEEN)
    half = t.ppf(0.975, 3) * error
    assert found.value == value == 4
    assert (found.low, found.high) == (max(0.0, value - half), pytest.approx(value + half, abs=1e-12))
    assert found.method == "jackknife"
    assert (found.n, found.clusters) == (4, None)


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=4), min_size=3, max_size=12))
def test_it_equals_leaving_out_by_force(seen: list[set[str]]) -> None:
    found = stats.distinct(seen)
    value, error = by_force(seen)
    assert found.value == value
    if error == 0:
        assert found.low is None
        assert found.note == "saturated"
    else:
        assert found.high == pytest.approx(value + t.ppf(0.975, len(seen) - 1) * error, abs=1e-9)


def test_it_does_not_go_beyond_what_there_is() -> None:
    assert stats.distinct(SEEN, most=5).high == 5
    assert stats.distinct([{"a"}, {"b"}, set(), {"c", "d", "e", "f"}]).low == 0


def test_clusters_are_left_out_whole() -> None:
    pairs = [*SEEN, {"e"}, {"f"}]
    labels = ["x", "x", "y", "y", "z", "z"]
    merged = [{"a", "b", "c"}, {"d", "b"}, {"e", "f"}]
    clustered, whole = stats.distinct(pairs, clusters=labels), stats.distinct(merged)
    assert (clustered.value, clustered.low, clustered.high) == (whole.value, whole.low, whole.high)
    assert (clustered.n, clustered.clusters) == (6, 3)


def test_few_draws_and_none_have_no_interval() -> None:
    for seen in ([], [{"a"}], [{"a"}, {"b"}]):
        found = stats.distinct(seen)
        assert (found.value, found.low, found.note) == (len(seen), None, "few")


@pytest.mark.slow
def test_it_covers_what_another_set_of_draws_would_see() -> None:
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, 201)
    weights /= weights.sum()

    def draw() -> list[set[int]]:
        return [set(rng.choice(200, 5, replace=False, p=weights).tolist()) for _ in range(40)]

    mean = np.mean([len(set().union(*draw())) for _ in range(300)])
    covered = sum(
        1 for _ in range(200) if (e := stats.distinct(draw())).low is not None and e.low <= mean <= (e.high or 0)
    )
    assert covered >= 0.95 * 200 - 9, "the jackknife errs on the wide side, never far on the narrow one"


def test_a_resample_would_see_too_few() -> None:
    rng = np.random.default_rng(6)
    seen = [{f"own{i}", f"shared{i % 3}"} for i in range(30)]
    resampled = [len(set().union(*(seen[i] for i in rng.integers(0, 30, 30)))) for _ in range(500)]
    assert max(resampled) < len(set().union(*seen)), "why this is not a bootstrap interval"


def test_the_spread_over_pairs_equals_numpys_and_covers() -> None:
    from scipy.spatial.distance import pdist, squareform

    rng = np.random.default_rng(7)

    def draw(n: int) -> np.ndarray:
        rows = rng.normal(size=(n, 12)) * np.linspace(2, 0.3, 12)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    true = pdist(draw(2000)).std()
    covered = 0
    for _ in range(200):
        distances = squareform(pdist(draw(60)))
        means, squares = distances.sum(axis=1) / 59, (distances**2).sum(axis=1) / 59
        found = stats.pairwise_std(means, squares)
        assert found.value == pytest.approx(distances[np.triu_indices(60, 1)].std(), abs=1e-12)
        assert found.low is not None
        covered += found.low <= true <= (found.high or 0)
    assert covered >= 176, "nominal 190 of 200"


def test_the_spread_over_pairs_is_the_jackknife_by_force() -> None:
    from scipy.spatial.distance import pdist, squareform

    rng = np.random.default_rng(8)
    distances = squareform(pdist(rng.normal(size=(9, 3))))
    found = stats.pairwise_std(distances.sum(axis=1) / 8, (distances**2).sum(axis=1) / 8)
    left = []
    for out in range(9):
        kept = np.delete(np.delete(distances, out, 0), out, 1)
        left.append(kept[np.triu_indices(8, 1)].std())
    error = math.sqrt(8 / 9 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert found.high == pytest.approx(found.value + t.ppf(0.975, 8) * error, rel=1e-12)


@pytest.mark.parametrize(("means", "squares"), [([1.0, 2.0], [1.0]), ([1.0, math.nan, 2.0], [1.0, 1.0, 1.0])])
def test_the_spread_over_pairs_refuses_what_does_not_fit(means: list[float], squares: list[float]) -> None:
    with pytest.raises(ValueError, match="one mean and one mean square an item"):
        stats.pairwise_std(means, squares)
