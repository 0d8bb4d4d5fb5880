"""Prediction-powered estimates: unbiased, covering, narrower with a good judge, people alone with a bad one."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from ragbench.old import stats
from ragbench.old.core.types import Verdict
from ragbench.old.stats import predictions
from ragbench.old.stats.intervals import wilson
from ragbench.old.stats.predictions import cross_fitted


def world(seed: int, labels: int, correlation: float, rest: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of mean 0.7, a judge that is 0.1 too kind, and its predictions on the rest."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.7, 0.2, labels + rest)
    judge = 0.8 + correlation * (truth - 0.7) + math.sqrt(1 - correlation**2) * rng.normal(0, 0.2, labels + rest)
    return truth[:labels], judge[:labels], judge[labels:]


@pytest.mark.slow
@pytest.mark.parametrize("labels", [20, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("correlation", [0.3, pytest.param(0.8, marks=pytest.mark.slow)])
def test_coverage_and_bias_where_the_judge_alone_fails(labels: int, correlation: float) -> None:
    right = judge = 0
    error = 0.0
    for seed in range(800):
        one = stats.prediction_powered(*world(seed, labels, correlation), seed=seed)
        assert one.low is not None
        assert one.high is not None
        right += one.low <= 0.7 <= one.high
        low, high = one.intervals["judge"]
        judge += low <= 0.7 <= high
        error += one.value - 0.7
    assert 0.925 <= right / 800 <= 0.975
    assert judge / 800 < 0.05
    assert error / 800 == pytest.approx(0, abs=4 * 0.2 / math.sqrt(labels * 800))


def test_a_good_judge_is_worth_many_labels() -> None:
    one = stats.prediction_powered(*world(1, 100, 0.9))
    assert (one.method, one.n) == ("prediction_powered", 100)
    assert one.n_effective is not None
    assert one.n_effective > 200
    people, powered = one.intervals["people"], one.intervals["prediction_powered"]
    assert powered[1] - powered[0] < 0.75 * (people[1] - people[0])
    assert (one.low, one.high) == powered


def test_a_judge_without_correlation_is_left_aside() -> None:
    rng = np.random.default_rng(0)
    labels, noise = rng.normal(size=60), rng.normal(size=60)
    noise -= labels * (labels @ noise) / (labels @ labels)
    one = stats.prediction_powered(labels, noise, rng.normal(size=300))
    assert (one.method, one.note) == ("people", "weak_judge")
    assert one.value == pytest.approx(labels.mean())
    assert (one.low, one.high) == one.intervals["people"]


def test_a_perfect_judge_with_endless_predictions_is_its_own_mean() -> None:
    """λ tends to 1 and the estimate to the judge's mean over the rest; the error to the judge's own."""
    rng = np.random.default_rng(0)
    labels, rest = rng.normal(size=200), rng.normal(size=200_000)
    value, error = cross_fitted(labels, labels, rest, np.random.default_rng(0))
    assert value == pytest.approx(rest.mean(), abs=0.002)
    assert error == pytest.approx(1 / math.sqrt(200_000), rel=0.1)


def test_a_factor_never_sees_the_label_it_weighs() -> None:
    """Ten folds of one label each: replaying the fit without the label gives the same estimate."""
    rng = np.random.default_rng(3)
    y, rest = rng.normal(size=10), rng.normal(size=50)
    f = y + rng.normal(size=10)
    value, _ = cross_fitted(y, f, rest, np.random.default_rng(0))
    total = 0.0
    for place in range(10):
        keep = np.arange(10) != place
        factor = np.cov(y[keep], f[keep])[0, 1] / (np.var(f[keep], ddof=1) * (1 + 9 / 50))
        total += y[place] - factor * (f[place] - rest.mean())
    assert value == pytest.approx(total / 10, abs=1e-12)


def test_unmeasured_labels_and_predictions_are_left_out() -> None:
    y, f, rest = world(0, 40, 0.8)
    y[:3], f[5], rest[7] = np.nan, np.nan, np.nan
    one = stats.prediction_powered(y, f, rest)
    kept = ~(np.isnan(y) | np.isnan(f))
    assert one.value == pytest.approx(stats.prediction_powered(y[kept], f[kept], rest[~np.isnan(rest)]).value)
    assert (one.n, one.n_unmeasured) == (36, 4)


def test_too_little_to_lean_on() -> None:
    assert stats.prediction_powered([], [], [1.0, 2.0]).note == "empty"
    assert stats.prediction_powered([0.5], [0.4], [1.0, 2.0]).low is None
    few = stats.prediction_powered([0.1, 0.5, 0.9], [0.2, 0.5, 0.8], [0.3, 0.4])
    assert (few.method, few.note) == ("people", "few")
    flat = stats.prediction_powered(np.arange(20.0), np.ones(20), np.ones(30))
    assert (flat.method, flat.note) == ("people", "no_spread")
    constant = stats.prediction_powered(np.ones(20), np.arange(20.0), np.arange(30.0))
    assert (constant.value, constant.low, constant.note) == (1.0, None, "no_spread")
    with pytest.raises(ValueError, match="3 labels and 2 predictions"):
        stats.prediction_powered([1, 2, 3], [1, 2], [1.0])
    with pytest.raises(ValueError, match="is inf"):
        stats.prediction_powered([1, math.inf], [1, 2], [1.0])


def test_two_systems_are_compared_as_people_would() -> None:
    """The judge likes the challenger 0.2 too much; people see no difference, and so does the powered comparison."""
    rng = np.random.default_rng(2)
    base, other = rng.normal(0.6, 0.2, (2, 900))
    judged = base + rng.normal(0, 0.05, 900), other + 0.2 + rng.normal(0, 0.05, 900)
    arguments = (
        (base[:80], other[:80]),
        (judged[0][:80], judged[1][:80]),
        (judged[0][80:], judged[1][80:]),
    )
    one = stats.prediction_powered_comparison(*arguments, names=("old", "new"))
    assert (one.baseline, one.challenger, one.n) == ("old", "new", 80)
    assert one.verdict is Verdict.NOT_SHOWN
    assert one.low < 0 < one.high
    people = stats.compare(base[:80], other[:80])
    assert one.minimum_detectable is not None
    assert people.minimum_detectable is not None
    assert one.minimum_detectable < 0.7 * people.minimum_detectable
    shifted = (
        (base[:80], other[:80] + 0.1),
        (judged[0][:80], judged[1][:80] + 0.1),
        (judged[0][80:], judged[1][80:] + 0.1),
    )
    assert stats.prediction_powered_comparison(*shifted).verdict is Verdict.BETTER
    assert stats.prediction_powered_comparison(*shifted, better="lower").verdict is Verdict.WORSE
    with pytest.raises(ValueError, match="labels: old has 2 values and new 1"):
        stats.prediction_powered_comparison(([1, 2], [1]), ([1], [1]), ([1], [1]), names=("old", "new"))


def test_a_powered_difference_keeps_to_its_scale_and_its_interval_agrees_with_p() -> None:
    """Near the largest difference that there can be, t reaches beyond it; where both are inside they nearly agree."""
    rng = np.random.default_rng(5)
    beyond = 0
    for high in (0.55, 0.65, 0.8, 0.94, 0.96):
        for _ in range(40):
            base, other = (rng.random((2, 400)) < [[0.01 if high > 0.9 else 0.5], [high]]).astype(float)
            seen = [np.where(rng.random(400) < 0.3, rng.integers(0, 2, 400), one) for one in (base, other)]
            arguments = (
                (base[:60], other[:60]),
                (seen[0][:60], seen[1][:60]),
                (seen[0][60:], seen[1][60:]),
            )
            one = stats.prediction_powered_comparison(*arguments, bounds=(0, 1))
            if one.method != "prediction_powered":
                continue
            beyond += stats.prediction_powered_comparison(*arguments).high > 1
            assert -1 <= one.low <= one.difference <= one.high <= 1
            assert (one.low > 0 or one.high < 0) == (one.p <= 0.05)
            assert (one.verdict is Verdict.NOT_SHOWN) == (one.low <= 0 <= one.high)
    assert beyond > 5
    with pytest.raises(ValueError, match="outside its scale"):
        stats.prediction_powered_comparison(([0, 2], [1, 1]), ([0, 1], [1, 1]), ([0], [1]), bounds=(0, 1))


def clustered(
    seed: int, size: int = 3, labels: int = 60, items: int = 600
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(people, judge, clusters): whole clusters are labelled first; members share most of their values."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(items // size), size)
    shared = rng.normal(size=items // size)[groups]
    people = 0.6 + 0.2 * (math.sqrt(0.6) * shared + math.sqrt(0.4) * rng.normal(size=items))
    common = rng.normal(size=items // size)[groups]
    noise = math.sqrt(0.5) * common + math.sqrt(0.5) * rng.normal(size=items)
    return people, 0.75 + 0.15 * (0.8 * (people - 0.6) / 0.2 + 0.6 * noise), groups


@pytest.mark.slow
def test_clusters_are_respected() -> None:
    respected = ignored = 0
    for seed in range(800):
        people, judge, groups = clustered(seed)
        parts = (people[:60], judge[:60], judge[60:])
        known = stats.prediction_powered(*parts, clusters=(groups[:60], groups[60:]), seed=seed)
        plain = stats.prediction_powered(*parts, seed=seed)
        assert (known.clusters, known.n) == (20, 60)
        respected += known.low <= 0.6 <= known.high  # type: ignore[operator]
        ignored += plain.low <= 0.6 <= plain.high  # type: ignore[operator]
    assert 0.93 <= respected / 800 <= 0.97
    assert ignored / 800 < 0.86, "what the clusters are needed for"


def test_clusters_of_one_change_nothing_but_the_divisor() -> None:
    people, judge, _ = clustered(1)
    alone = [f"q{number}" for number in range(600)]
    plain = stats.prediction_powered(people[:60], judge[:60], judge[60:], seed=3)
    single = stats.prediction_powered(people[:60], judge[:60], judge[60:], clusters=(alone[:60], alone[60:]), seed=3)
    assert single.value == plain.value
    assert single.low == pytest.approx(plain.low, abs=1e-3)
    assert single.intervals["people"] == pytest.approx(plain.intervals["people"])
    assert single.clusters == 60


def test_a_cluster_may_have_labelled_items_and_others() -> None:
    people, judge, groups = clustered(2)
    order = np.random.default_rng(0).permutation(600)
    first, rest = order[:60], order[60:]
    one = stats.prediction_powered(people[first], judge[first], judge[rest], clusters=(groups[first], groups[rest]))
    assert one.clusters == len(set(groups[first]))
    assert one.method == "prediction_powered"
    missing = people[first].copy()
    missing[:5] = np.nan
    fewer = stats.prediction_powered(missing, judge[first], judge[rest], clusters=(groups[first], groups[rest]))
    assert (fewer.n, fewer.n_unmeasured) == (55, 5)
    assert fewer.clusters == len(set(groups[first][5:]))
    with pytest.raises(ValueError, match="clusters name 1 labelled items and 0 of the rest; there are 60 and 540"):
        stats.prediction_powered(people[first], judge[first], judge[rest], clusters=(["a"], []))
    lonely = stats.prediction_powered(people[:3], judge[:3], judge[3:], clusters=(["a"] * 3, ["a"] * 597))
    assert (lonely.low, lonely.note) == (None, "few")


def test_people_alone_have_student_s_interval_of_their_labels() -> None:
    y, f, rest = world(4, 40, 0.8)
    one = stats.prediction_powered(y, f, rest)
    assert one.intervals["people"] == pytest.approx(tuple(scipy.stats.ttest_1samp(y, 0).confidence_interval(0.95)))
    everyone = np.concatenate([f, rest])
    expected = scipy.stats.ttest_1samp(everyone, 0).confidence_interval(0.95)
    assert one.intervals["judge"] == pytest.approx(tuple(expected))
    assert (one.design_effect, one.clusters) == (1.0, None)
    single = stats.prediction_powered([0.5], [0.4], rest)
    assert (single.value, single.low, single.n, single.note) == (0.5, None, 1, "few")


def test_items_that_are_copied_into_clusters_say_no_more_than_once() -> None:
    """Every item twice: as clusters of two it is as sure as the items once, as items of their own √2 times surer."""
    y, f, rest = world(5, 60, 0.8)
    doubled = [np.repeat(part, 2) for part in (y, f, rest)]
    groups = np.repeat(np.arange(60), 2), np.repeat(np.arange(60, 560), 2)
    once, known, unknown = (
        stats.prediction_powered(y, f, rest),
        stats.prediction_powered(*doubled, clusters=groups),
        stats.prediction_powered(*doubled),
    )
    widths = []
    for one in (once, known, unknown):
        low, high = one.intervals["prediction_powered"]
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0], rel=0.03)
    assert widths[2] == pytest.approx(widths[0] / math.sqrt(2), rel=0.05)
    assert (known.clusters, known.design_effect) == (60, None)
    for kind in ("people", "judge"):
        assert known.intervals[kind] == pytest.approx(once.intervals[kind], rel=1e-9)


def test_the_effect_of_a_powered_comparison_is_over_the_deviation_of_people_s_differences() -> None:
    first, second = world(6, 50, 0.8), world(7, 50, 0.8)
    one = stats.prediction_powered_comparison(*zip(first, second, strict=True))
    assert one.effect_size == pytest.approx(one.difference / np.std(second[0] - first[0], ddof=1), rel=1e-12)


def test_predictions_that_do_not_vary_outside_of_a_fold_weigh_nothing_in_it() -> None:
    """One prediction differs: without it there is no λ for its own label; the nine others have the usual one."""
    y = np.random.default_rng(8).normal(size=10)
    f, rest = np.append(1.0, np.zeros(9)), np.random.default_rng(9).normal(size=40)
    value, _ = cross_fitted(y, f, rest, np.random.default_rng(0))
    total = y[0]
    for place in range(1, 10):
        keep = np.arange(10) != place
        factor = np.cov(y[keep], f[keep])[0, 1] / (np.var(f[keep], ddof=1) * (1 + 9 / 40))
        total += y[place] - factor * (f[place] - rest.mean())
    assert value == pytest.approx(total / 10, abs=1e-12)


def near_the_end(seed: int, labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Verdicts of people, 95 of 100 right, and of a judge that finds six of ten faults and three that are none."""
    rng = np.random.default_rng(seed)
    truth = rng.random(labels + 400) < 0.95
    judge = np.where(truth, rng.random(labels + 400) < 0.97, rng.random(labels + 400) < 0.4)
    return truth[:labels] * 1.0, judge[:labels] * 1.0, judge[labels:] * 1.0


def test_value_and_intervals_stay_on_the_scale() -> None:
    """A judge that is one too kind in places: without bounds the estimate itself may lie beyond the end."""
    beyond = 0
    for seed in range(60):
        parts = near_the_end(seed, 40)
        plain = stats.prediction_powered(*parts, seed=seed)
        beyond += plain.high is not None and plain.high > 1
        for scale in ((0.0, 1.0), (1.0, 5.0)):
            low, high = scale
            stretched = [low + (high - low) * part for part in parts]
            one = stats.prediction_powered(*stretched, bounds=scale, seed=seed)
            assert one.low is not None
            assert one.high is not None
            assert low <= one.low <= one.value <= one.high <= high
            assert one.low < one.high
            for first, last in one.intervals.values():
                assert low <= first < last <= high
    assert beyond > 20, "what the bounds are needed for"


def test_with_bounds_the_interval_is_wilson_s_with_effective_n() -> None:
    """m (1 − m) / SE² independent 0/1 values, with Student's quantile, of the same estimate as without bounds."""
    rng = np.random.default_rng(1)
    truth = rng.beta(8, 2, 560)
    judge = np.clip(truth + rng.normal(0, 0.05, 560), 0, 1)
    parts = truth[:60], judge[:60], judge[60:]
    plain, one = stats.prediction_powered(*parts), stats.prediction_powered(*parts, bounds=(0, 1))
    assert (one.method, one.value) == ("prediction_powered", plain.value)
    t = scipy.stats.t.ppf(0.975, 59)
    error = (plain.high - plain.low) / 2 / t  # type: ignore[operator]
    assert (one.low, one.high) == pytest.approx(wilson(one.value, one.value * (1 - one.value) / error**2, t), abs=1e-12)
    for name, values in (("people", truth[:60]), ("judge", np.concatenate([judge[:60], judge[60:]]))):
        alone = stats.estimate(values, bounds=(0, 1))
        assert one.intervals[name] == (alone.low, alone.high)


def test_labels_at_an_end_of_the_scale_leave_the_judge_aside() -> None:
    judge = np.random.default_rng(0).random(260)
    equal = stats.prediction_powered(np.ones(60), judge[:60], judge[60:], bounds=(0, 1))
    alone = stats.estimate(np.ones(60), bounds=(0, 1))
    assert (equal.method, equal.note, equal.low, equal.high) == ("people", "no_spread", alone.low, alone.high)
    nearly = np.append(np.zeros(3), np.ones(57))
    leaning = np.where(nearly == 1, 0.9, 0.2) + 0.05 * judge[:60]
    few = stats.prediction_powered(nearly, leaning, judge[60:], bounds=(0, 1))
    assert (few.method, few.note, few.value) == ("people", "ceiling", 0.95)
    assert (few.low, few.high) == few.intervals["people"]
    single = stats.prediction_powered([0.5], [0.4], [0.3, 0.2], bounds=(0, 1))
    assert (single.method, single.note) == ("people", "few")
    with pytest.raises(ValueError, match=r"labels\[1\] is 1.5, outside its scale 0"):
        stats.prediction_powered([0.5, 1.5], [0.4, 0.3], [0.3, 0.2], bounds=(0, 1))


@pytest.mark.slow
def test_coverage_near_the_ceiling() -> None:
    bounded = free = 0
    for seed in range(300):
        parts = near_the_end(seed, 50)
        one, plain = (stats.prediction_powered(*parts, bounds=ends, seed=seed) for ends in ((0, 1), None))
        bounded += one.low <= 0.95 <= one.high  # type: ignore[operator]
        free += plain.low is not None and plain.low <= 0.95 <= plain.high  # type: ignore[operator]
    assert bounded / 300 >= 0.93
    assert free / 300 < 0.93, "what Student's t covers of .95"


def test_the_end_on_the_side_of_a_tail_moves_out_by_johnsons_term() -> None:
    skewed = np.repeat([0.0, 1.0], [90, 10])
    moved = predictions._lean(skewed, np.arange(100), 99, 0.95)
    # μ₃ = .1 · .9 · .8, σ² = .09: their quotient is .8; t of 99 degrees of freedom is 1.984
    assert moved == pytest.approx(0.8 * (1 + 2 * 1.98422**2) / 600, rel=1e-4)
    assert predictions._lean(-skewed, np.arange(100), 99, 0.95) == pytest.approx(-moved)
    assert predictions._lean(np.arange(100.0), np.arange(100), 99, 0.95) == 0.0
    rng = np.random.default_rng(1)
    truth = rng.exponential(0.1, 550)
    judge = truth + rng.normal(0, 0.2, 550)
    made = stats.prediction_powered(truth[:50], judge[:50], judge[50:])
    assert made.low is not None
    assert made.high is not None
    assert made.method == "prediction_powered"
    assert made.high - made.value > 1.1 * (made.value - made.low)
