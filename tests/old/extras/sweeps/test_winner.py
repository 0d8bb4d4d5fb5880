"""What is left of the best of many: by hand, without bias where all are equal, whole clusters, and the front."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old import stats
from ragbench.old.core.types import Array, Better
from ragbench.old.extras.sweeps.effects import METHOD, behind_best, front, winner


def test_each_of_two_questions_measures_what_the_other_chooses() -> None:
    found = winner(np.array([[1.0, 0.0], [0.0, 3.0]]), resamples=100)
    assert (found.place, found.seen) == (1, 1.5)
    assert found.scores.tolist() == [0.0, 0.0]
    assert (found.value.value, found.optimism) == (0.0, 1.5)
    assert found.shares.tolist() == [0.5, 0.5]


def test_lower_may_be_better() -> None:
    found = winner(np.array([[1.0, 0.0], [0.0, 3.0]]), better="lower", resamples=100)
    assert (found.place, found.seen) == (0, 0.5)
    assert found.scores.tolist() == [1.0, 3.0]


def test_one_that_is_better_at_every_question_keeps_its_value() -> None:
    values = np.arange(40.0)[:, None] + np.array([0.0, 1.0, 0.5])
    found = winner(values, resamples=200)
    assert (found.place, found.optimism) == (1, 0.0)
    assert found.shares.tolist() == [0.0, 1.0, 0.0]
    assert found.value.method == METHOD


def test_of_equal_configurations_the_value_as_it_stands_is_too_high_and_what_is_left_is_not() -> None:
    rng = np.random.default_rng(11)
    seen, left, held = [], [], []
    for seed in range(80):
        questions = rng.standard_normal((100, 1))
        values = math.sqrt(0.7) * questions + math.sqrt(0.3) * rng.standard_normal((100, 48))
        found = winner(values, partings=20, resamples=200, seed=seed)
        seen.append(found.seen)
        left.append(found.value.value)
        held.append(found.value.low <= 0 <= found.value.high)  # type: ignore[operator]
    error = 0.1  # of a mean of 100
    assert np.mean(seen) > error
    assert abs(np.mean(left)) < 0.5 * error
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_end_on_the_side_of_luck_holds_for_all_and_the_other_one_is_that_of_the_chosen_one_alone(
    better: Better,
) -> None:
    values: Array = np.random.default_rng(21).standard_normal((400, 20))
    found = winner(values, better=better, partings=5)
    column = values[:, found.place]
    alone, error = stats.estimate(column), column.std(ddof=1) / 20
    ends = (found.value.low, alone.low, found.value.high, alone.high)
    assert None not in ends
    low, alone_low, high, alone_high = (float(end or 0) for end in ends)
    # of 20 independent normal means none is off by more than 3.02 errors on one side with the chance .975
    if better == "higher":
        assert high == alone_high
        assert (found.seen - low) / error == pytest.approx(3.02, abs=0.1)
    else:
        assert low == alone_low
        assert (high - found.seen) / error == pytest.approx(3.02, abs=0.1)


def test_copies_of_a_question_are_one_question_where_they_are_one_cluster() -> None:
    single: Array = np.random.default_rng(8).standard_normal((12, 10))
    copied, labels = np.repeat(single, 10, axis=0), np.repeat(np.arange(12), 10)
    once = winner(single, resamples=100)
    together, alone = winner(copied, clusters=labels, resamples=100), winner(copied, resamples=100)
    assert together.value.value == pytest.approx(once.value.value)
    assert together.value.clusters == 12
    assert once.optimism > 0.1
    assert alone.optimism < 0.1 * once.optimism, "copies choose for each other"


@given(seed=st.integers(0, 50), size=st.integers(3, 12), width=st.integers(2, 5))
@settings(max_examples=15, deadline=None)
def test_no_number_hangs_on_the_order_of_questions(seed: int, size: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((size, width))
    order = rng.permutation(size)
    first, again = (winner(each, partings=10, resamples=100) for each in (values, values[order]))
    assert again.scores.tolist() == pytest.approx(first.scores[order].tolist())
    assert (again.value.low, again.value.high) == pytest.approx((first.value.low, first.value.high))
    assert first.value.low is not None
    assert first.value.high is not None
    assert first.value.low <= first.value.value <= first.value.high
    assert first.shares.sum() == pytest.approx(1)


def test_what_nobody_can_choose_from_is_refused() -> None:
    for values, clusters in (
        (np.ones((5, 1)), None), (np.array([[1.0, math.nan], [1.0, 2.0]]), None), (np.ones((5, 2)), ["a"] * 5),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"a choice|values are finite"):
            winner(values, clusters=clusters)


def test_the_best_is_told_from_all_others_where_it_is_clearly_better() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((100, 1)) + 0.3 * rng.standard_normal((100, 5)) + np.array([0, 0, 1, 0.02, -1])
    found = behind_best(values, resamples=1000)
    assert [each.may_be_best for each in found] == [False, False, True, False, False]
    assert found[2].low == 0.0
    assert found[2].difference > 0
    assert found[2].high > found[2].difference
    for each in (found[0], found[4]):
        assert each.high == 0.0
        assert each.low < each.difference < 0


def test_each_end_has_the_critical_value_of_its_own_control() -> None:
    rng = np.random.default_rng(6)
    values = np.column_stack([rng.standard_normal(400), 0.01 * rng.standard_normal((400, 3))])
    values -= values.mean(axis=0)
    apart = behind_best(values)[0]
    error = values[:, 0].std(ddof=1) / 20
    # held against the first, the three like ones are as one: 1.645; held against one of these, the first is independent
    # of the two others, whose differences correlate by .5: 2.09
    assert apart.difference == pytest.approx(0)
    assert apart.high / error == pytest.approx(1.645, abs=0.1)
    assert apart.low / error == pytest.approx(-2.09, abs=0.15)


def test_equal_ones_cannot_be_told_apart() -> None:
    column = np.random.default_rng(3).random((30, 1))
    found = behind_best(np.hstack([column, column, column - 1]), resamples=200)
    assert [each.may_be_best for each in found] == [True, True, False]
    assert [each.difference for each in found[:2]] == [0.0, 0.0]
    assert found[2].difference == pytest.approx(-1)
    near = behind_best(np.hstack([column, column, column + np.array([0.1, -0.1] * 15)[:, None]]), resamples=200)
    assert all(each.may_be_best and each.high > 0 for each in near)


def test_a_lower_mean_is_better_where_it_is_meant_to_be() -> None:
    rng = np.random.default_rng(2)
    values = rng.standard_normal((80, 1)) + 0.1 * rng.standard_normal((80, 2)) + np.array([0.0, 1.0])
    assert [each.may_be_best for each in behind_best(values, better="lower", resamples=200)] == [True, False]


@pytest.mark.slow
def test_the_best_of_equal_ones_is_kept_as_often_as_is_said() -> None:
    rng = np.random.default_rng(5)
    kept = []
    for seed in range(100):
        values = rng.standard_normal((60, 1)) + rng.standard_normal((60, 12))
        kept.append(behind_best(values, resamples=300, seed=seed)[3].may_be_best)
    assert np.mean(kept) >= 0.88  # three errors of 100 below .95


def test_the_front_is_of_those_that_nothing_dominates() -> None:
    quality, seconds, cost = [0.9, 0.8, 0.8, 0.7, 0.9], [3.0, 1.0, 2.0, 1.0, 3.0], [1.0, 1.0, 1.0, 0.5, 2.0]
    assert front(quality, seconds, cost) == [True, True, False, True, False]
    assert front(quality) == [True, False, False, False, True]


def test_what_is_not_measured_dominates_nothing_in_it() -> None:
    assert front([0.9, 0.8], [math.nan, 1.0]) == [True, True]
    assert front([math.nan, 0.8]) == [False, True]
