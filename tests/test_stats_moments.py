"""Quantiles, repeats and pairs: order statistics, variance split, U-statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from scipy.spatial.distance import pdist, squareform

from ragbench import stats
from tests.random_tables import on_random_tables


@on_random_tables
def test_quantile_intervals_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=int(rng.integers(8, 300)))
    probability, level = float(rng.uniform(0.05, 0.95)), float(rng.choice([0.9, 0.95, 0.99]))
    one = stats.quantile(values, probability, level=level)
    peer = scipy.stats.quantile_test(values, p=probability).confidence_interval(level)
    assert (math.nan if one.low is None else one.low) == pytest.approx(peer.low, nan_ok=True)
    assert (math.nan if one.high is None else one.high) == pytest.approx(peer.high, nan_ok=True)
    assert one.value == pytest.approx(np.quantile(values, probability))


def test_an_end_that_no_value_can_hold_is_open() -> None:
    one = stats.quantile(np.arange(50.0), 0.99)
    assert (one.high, one.note) == (None, "open_above")
    assert one.low is not None
    assert stats.quantile([1.0, 2.0], 0.5).note == "open"
    assert stats.quantile(np.arange(50.0), 0.01).note == "open_below"
    assert stats.quantile([math.nan], 0.5).note == "empty"
    assert stats.quantile([1.0, None, 3.0], 0.5).n_unmeasured == 1
    with pytest.raises(ValueError, match="probability lies between"):
        stats.quantile([1.0], 1.0)


def test_variance_is_split_as_an_analysis_of_variance_splits_it() -> None:
    """Three questions, two repeats: means 1, 4, 7; mean squares 18 between and 2 within, so (18 − 2) / 2 = 8."""
    split = stats.variance_split([[0.0, 2.0], [3.0, 5.0], [6.0, 8.0]])
    assert (split.questions, split.repeats) == pytest.approx((8.0, 2.0))
    assert split.share == pytest.approx(0.8)
    assert split.mean == 4
    assert split.error == pytest.approx(math.sqrt(18 / 6))
    assert (split.error_of_questions, split.error_of_repeats) == pytest.approx((math.sqrt(8 / 3), math.sqrt(2 / 6)))


@pytest.mark.parametrize("seed", range(20))
def test_variance_split_agrees_with_scipys_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(12, 1)) + rng.normal(0, 0.5, (12, 4))
    matrix[rng.random(matrix.shape) < 0.15] = np.nan
    rows = [row[~np.isnan(row)] for row in matrix if (~np.isnan(row)).any()]
    split = stats.variance_split(matrix)
    sizes = np.array([len(row) for row in rows])
    between = split.repeats * scipy.stats.f_oneway(*rows).statistic
    each = (sizes.sum() - np.sum(sizes**2) / sizes.sum()) / (len(rows) - 1)
    assert split.questions == pytest.approx(max(0, (between - split.repeats) / each), abs=1e-9)
    assert split.n_unmeasured == int(np.isnan(matrix).sum())


def test_repeats_recover_the_true_parts() -> None:
    rng = np.random.default_rng(0)
    split = stats.variance_split(rng.normal(0, 2, (4_000, 1)) + rng.normal(0, 1, (4_000, 3)))
    assert (split.questions, split.repeats) == pytest.approx((4, 1), rel=0.08)
    noise = stats.variance_split(rng.normal(size=(500, 4)))
    assert noise.questions < 0.1


def test_repeats_that_tell_nothing() -> None:
    single = stats.variance_split([[1.0], [2.0]])
    assert math.isnan(single.repeats)
    assert single.mean == 1.5
    assert stats.variance_split(np.full((3, 2), np.nan)).n == 0
    assert stats.variance_split([[1.0, 1.0], [1.0, 1.0]]).repeats == 0
    with pytest.raises(ValueError, match="questions, repeats"):
        stats.variance_split([1.0, 2.0])
    with pytest.raises(ValueError, match="infinities"):
        stats.variance_split([[1.0, math.inf]])


def test_pairwise_interval_is_the_jackknife_over_items() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 4))
    apart = squareform(pdist(points))
    one = stats.pairwise_mean(apart.sum(axis=1) / 29)
    assert one.value == pytest.approx(pdist(points).mean(), abs=1e-12)
    without = np.array([pdist(np.delete(points, k, axis=0)).mean() for k in range(30)])
    error = math.sqrt(29 / 30 * np.sum((without - without.mean()) ** 2))
    half = scipy.stats.t.ppf(0.975, 29) * error
    assert (one.low, one.high) == pytest.approx((one.value - half, one.value + half), abs=1e-9)


def test_too_few_items_for_pairs() -> None:
    assert stats.pairwise_mean([]).note == "empty"
    assert stats.pairwise_mean([0.3, 0.3]).note == "few"
    assert stats.pairwise_mean([0.3, 0.3, 0.3]).note == "no_spread"
    assert stats.pairwise_mean([0.3, math.nan, 0.5, 0.4]).n_unmeasured == 1
    assert stats.pairwise_mean([0.2, 0.5, 0.4]).low is not None
    three = stats.pairwise_std([0.2, 0.5, 0.4], [0.1, 0.3, 0.2])
    assert (three.note, three.low) == ("few", None)
    assert stats.pairwise_std([0.2, 0.5, 0.4, 0.3], [0.1, 0.3, 0.2, 0.2]).low is not None
    assert stats.pairwise_std([0.5] * 4, [0.25] * 4).note == "no_spread"


def test_the_smallest_value_can_be_the_end_of_an_interval() -> None:
    """Six values: the median is outside of all of them two times in 64, outside of the inner four 14 in 64."""
    one = stats.quantile([6.0, 1.0, 5.0, 2.0, 4.0, 3.0], 0.5)
    assert (one.low, one.high, one.note) == (1.0, 6.0, "")
    five = stats.quantile([1.0, 2.0, 3.0, 4.0, 5.0], 0.5)
    assert (five.low, five.high, five.note) == (None, None, "open")
