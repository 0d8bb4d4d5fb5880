"""Quantiles, repeats and pairs: order statistics, variance split, U-statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from scipy.spatial.distance import pdist, squareform

from ragbench.old import stats
from tests.old.stats.random_tables import on_random_tables


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


def test_medians_at_the_edge_of_the_binomial() -> None:
    """P(at most 4 of 17 below the median) is .0245, just not more than .025, by the binomial distribution."""
    one = stats.quantile(np.arange(1.0, 18.0), 0.5)
    assert (one.value, one.low, one.high) == (9.0, 5.0, 13.0)
    exact = stats.quantile(np.arange(1.0, 6.0), 0.5, level=1 - 2 / 32)  # all five above it, or all below: 2 of 32
    assert (exact.low, exact.high) == (1.0, 5.0)


@pytest.mark.parametrize("seed", range(20))
def test_variance_split_agrees_with_scipys_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(12, 1)) + rng.normal(0, 0.5, (12, 4))
    split = stats.variance_split(matrix)
    between = split.repeats * scipy.stats.f_oneway(*matrix).statistic
    assert split.questions == pytest.approx(max(0, (between - split.repeats) / 4), abs=1e-9)
    assert split.error == pytest.approx(scipy.stats.sem(matrix.mean(axis=1)))
    assert math.hypot(split.error_of_questions, split.error_of_repeats) == pytest.approx(split.error)


def test_questions_count_alike_however_often_each_was_measured() -> None:
    """Scores 1 (of 0, 2), 4 (of 4 alone) and 7 (of 6, 7, 8): variance 9 between scores; within (2 + 0 + 2) / 3 = 4/3,
    of which 4/3 · (1/2 + 1 + 1/3) / 3 = 22/27 is in the scores."""
    nan = math.nan
    split = stats.variance_split([[0.0, 2.0, nan], [4.0, nan, nan], [6.0, 8.0, 7.0]])
    assert (split.mean, split.n, split.repeats_each, split.n_unmeasured) == (4, 3, 2, 3)
    assert (split.repeats, split.questions) == pytest.approx((4 / 3, 9 - 22 / 27))
    assert split.error**2 == pytest.approx(9 / 3)
    assert split.error_of_repeats**2 == pytest.approx(22 / 27 / 3)


def test_the_difference_of_two_systems_is_split_too() -> None:
    """Differences of scores 1, 3, 8: mean 4, variance 13. Within: 2 of the challenger (twice), 1/2 of the baseline (two
    repeats 1 apart), so (2 + 1/2) / 2 = 5/4 of chance in a score's difference, and 13 − 5/4 of questions."""
    challenger = [[2.0, 4.0], [5.0, 7.0], [11.0, 13.0]]
    baseline = [[1.5, 2.5], [2.5, 3.5], [3.5, 4.5]]
    split = stats.variance_split(challenger, baseline)
    assert (split.mean, split.n, split.repeats_each) == (4, 3, 2)
    assert (split.repeats, split.questions) == pytest.approx((2.5, 13 - 1.25))
    assert (split.error**2, split.error_of_repeats**2) == pytest.approx((13 / 3, 1.25 / 3))
    means = [np.mean(one, axis=1) for one in (baseline, challenger)]
    assert split.error == pytest.approx(stats.compare(*means, resamples=100).error), "the comparison's own"
    assert split.error_with(repeats=2) ** 2 == pytest.approx((13 - 1.25 / 2) / 3)
    assert split.error_with(questions=2) ** 2 == pytest.approx(13 / 6)
    assert split.error_with(repeats=1e12) == pytest.approx(split.error_of_questions)
    same = stats.variance_split(challenger, [[row[0]] * 4 for row in baseline])
    assert same.repeats == pytest.approx(2), "a system that always says the same adds no chance"
    assert math.isnan(stats.variance_split(challenger, [[1.0], [2.0], [3.0]]).error), "one that was not repeated may"
    with pytest.raises(ValueError, match="values have 3 questions and the baseline 2"):
        stats.variance_split(challenger, baseline[:2])


def test_clusters_are_in_the_error_of_questions() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(10), 3)
    one, two = (rng.normal(size=10)[clusters][:, None] + rng.normal(size=(30, 3)) for _ in range(2))
    split = stats.variance_split(two, one, clusters=clusters)
    free = stats.variance_split(two, one)
    compared = stats.compare(one.mean(axis=1), two.mean(axis=1), clusters=clusters, resamples=100)
    assert split.error == pytest.approx(compared.error)
    assert split.error_of_repeats == free.error_of_repeats
    assert split.error > free.error


def two_way(
    seed: int, n: int, repeats: int, shift: float = 0.0, ordinal: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on the same questions: what questions share, what each system makes of a question, and chance."""
    rng = np.random.default_rng([seed, n, repeats, ordinal])
    shared = rng.normal(0, 1, (n, 1))
    sides = []
    for _ in range(2):
        latent = shared + rng.normal(0, 0.5, (n, 1)) + rng.normal(0, 0.8, (n, repeats))
        sides.append(np.clip(np.round(3 + latent), 1, 5) if ordinal else latent)
    return sides[0], sides[1] + shift


@pytest.mark.slow
@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("repeats", [1, 3, 5])
def test_comparisons_of_repeated_questions_cover_and_keep_their_level(repeats: int, ordinal: bool) -> None:
    """No true difference: the interval covers 0 as often as it says, and the test rejects as often as it may."""
    runs, covered, rejected, errors, forecasts = 2_000, 0, 0, [], []
    for seed in range(runs):
        one, two = two_way(seed, 60, repeats, ordinal=ordinal)
        found = stats.compare(one.mean(axis=1), two.mean(axis=1), resamples=1_000, seed=seed)
        covered += found.low <= 0 <= found.high
        rejected += found.p <= 0.05
        if repeats > 1:
            split = stats.variance_split(two, one)
            errors.append(split.error_of_repeats**2)
            forecasts.append(split.error_with(repeats=2) ** 2)
    print(
        f"K = {repeats}, {'1 to 5' if ordinal else 'normal'}: "
        f"coverage {covered / runs:.4f}, level {rejected / runs:.4f}"
    )
    assert 0.94 <= covered / runs <= 0.96
    assert 0.033 <= rejected / runs <= 0.055
    if repeats > 1 and not ordinal:
        assert np.mean(errors) == pytest.approx(2 * 0.64 / repeats / 60, rel=0.02)
        assert np.mean(forecasts) == pytest.approx((2 * 0.25 + 2 * 0.64 / (2 * repeats)) / 60, rel=0.02)


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
