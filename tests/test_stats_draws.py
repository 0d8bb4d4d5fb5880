"""The fast engines draw from the distributions they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ragbench.stats import draws, histograms
from ragbench.stats.samples import units_of


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(np.float64, (25, 3), elements=st.sampled_from([-0.0, 0.0, 0.5, 1.0, 1 / 3])))
def test_cells_are_the_distinct_rows_with_their_counts(matrix: np.ndarray) -> None:
    rows, counts = histograms.cells(matrix)
    expected, expected_counts = np.unique(matrix + 0.0, axis=0, return_counts=True)
    order = np.lexsort(rows.T[::-1])
    assert np.array_equal(rows[order], expected)
    assert np.array_equal(counts[order], expected_counts)


def test_rows_that_meet_in_one_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "_hashes", lambda matrix: np.zeros(len(matrix), dtype=np.uint64))
    rows, counts = histograms.cells(np.array([[1.0], [2.0], [1.0]]))
    assert rows[:, 0].tolist() == [1.0, 2.0]
    assert counts.tolist() == [2, 1]


def test_weights_are_multinomial() -> None:
    """Every weight is Binomial(n, 1/n), rows sum to n, and two weights are correlated −1 / (n − 1)."""
    n = 900
    weights = draws._topped_up_weights(n, 3_000, np.random.default_rng(0))
    assert (weights.sum(axis=1, dtype=int) == n).all()
    seen = np.bincount(weights.ravel(), minlength=9)[:9]
    expected = scipy.stats.binom.pmf(np.arange(9), n, 1 / n) * weights.size
    assert scipy.stats.chisquare(seen[:7], expected[:7] * seen[:7].sum() / expected[:7].sum()).pvalue > 1e-4
    pairs = np.mean((weights[:, ::2].astype(float) - 1) * (weights[:, 1::2].astype(float) - 1))
    assert pairs == pytest.approx(-1 / n, abs=4 / np.sqrt(weights.size / 2))


@pytest.mark.parametrize("engine", ["cells", "weights", "counted", "bins"])
def test_every_engine_draws_the_bootstrap_distribution(engine: str) -> None:
    """Mean, variance and skewness of the resampled mean are those of the sample, divided by 1, n and √n."""
    rng = np.random.default_rng(1)
    n, resamples = (200, 40_000) if engine == "counted" else (2_000, 40_000)
    values = np.round(rng.gamma(0.4, 1, n), 1 if engine == "cells" else 9)
    rows = np.column_stack([values, np.ones(n)])
    if engine == "cells":
        found = draws._cell_draws(*histograms.cells(rows), resamples, rng)[:, 0]
    elif engine == "bins":
        found = draws._bin_draws(values, np.ones(n, dtype=np.int64), resamples, rng)
    else:
        found = draws._weight_draws(rows, resamples, rng)[:, 0]
    means = found / n
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(n * resamples))
    assert means.std() == pytest.approx(values.std() / np.sqrt(n), rel=0.02)
    skewness = scipy.stats.skew(values) / np.sqrt(n)
    assert scipy.stats.skew(means) == pytest.approx(skewness, abs=5 * np.sqrt(6 / resamples))


def test_weights_keep_metrics_of_one_question_together() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((1_000, 1))
    matrix = np.hstack([values, 1 - values, rng.random((1_000, 1))])
    found = draws.mean_draws(units_of(matrix, None), 500, rng)
    assert found[:, 0] + found[:, 1] == pytest.approx(np.ones(500), abs=1e-6)
    assert abs(np.corrcoef(found[:, 0], found[:, 2])[0, 1]) < 0.25


def test_clusters_are_drawn_whole() -> None:
    """Two clusters of 1 and 3 values: a resample is (A, A), (A, B) twice, or (B, B)."""
    units = units_of(np.array([[8.0], [0.0], [1.0], [2.0]]), np.array([0, 1, 1, 1]))
    found = np.round(draws.mean_draws(units, 4_000, np.random.default_rng(0))[:, 0], 9)
    seen, counts = np.unique(found, return_counts=True)
    assert seen.tolist() == [1.0, 2.75, 8.0]
    assert counts / 4_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


@pytest.mark.parametrize("shape", ["ties", "few", "words", "single precision"])
def test_sign_flips_have_the_variance_of_independent_signs(shape: str) -> None:
    rng = np.random.default_rng(0)
    n = {"ties": 500, "few": 7, "words": 640, "single precision": 5_000}[shape]
    moved = rng.normal(size=(n, 2))
    moved = np.sign(moved) if shape == "words" else np.round(moved, 0 if shape == "ties" else 9)
    found = draws.sign_flips(moved, 20_000, rng)
    assert found.mean(axis=0) == pytest.approx([0, 0], abs=4 * np.sqrt((moved**2).sum(axis=0).max() / 20_000))
    assert found.var(axis=0) == pytest.approx((moved**2).sum(axis=0), rel=0.05)
    assert np.cov(found.T)[0, 1] == pytest.approx(moved[:, 0] @ moved[:, 1], abs=0.06 * (moved**2).sum(axis=0).max())


def test_sign_flips_reach_every_pattern_of_three() -> None:
    found = np.round(draws.sign_flips(np.array([[1.0], [2.0], [4.0], [0.0]]), 8_000, np.random.default_rng(0))[:, 0])
    seen, counts = np.unique(found, return_counts=True)
    assert seen.tolist() == [-7, -5, -3, -1, 1, 3, 5, 7]
    assert counts / 8_000 == pytest.approx(np.full(8, 1 / 8), abs=0.02)


def test_bins_keep_mean_and_variance() -> None:
    rng = np.random.default_rng(0)
    values = np.append(rng.lognormal(size=30_000), 5_000.0)
    counts = rng.integers(1, 4, len(values))
    means, variances, sizes = histograms.bins(values, counts, 64)
    total = counts.sum()
    assert len(means) <= 66
    assert sizes.sum() == total
    assert sizes @ means / total == pytest.approx(counts @ values / total, rel=1e-12)
    overall = counts @ (values - counts @ values / total) ** 2
    assert sizes @ variances + sizes @ (means - sizes @ means / total) ** 2 == pytest.approx(overall, rel=1e-9)
    assert sizes @ variances < 0.001 * overall


def test_one_block_stays_small() -> None:
    """Peak memory of 10,000 resamples of 50,000 questions is far below an n × B array."""
    import tracemalloc

    units = units_of(np.random.default_rng(0).random((50_000, 2)), None)
    tracemalloc.start()
    draws._weight_draws(np.column_stack([units.sums, units.sizes]), 60, np.random.default_rng(0))
    draws.sign_flips(units.sums - 0.5, 60, np.random.default_rng(0))
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()
