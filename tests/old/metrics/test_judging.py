"""What a judge is worth by its scores, and by its choices between two answers, computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragbench.old.metrics.judging import (
    Choices,
    Sitting,
    avg_faithfulness,
    avg_latency_ms,
    consistency_score,
    error_rate,
    pairs_within,
    pairwise_accuracy,
    position_consistency,
)

NAN = math.nan


def sitting(scores: list[list[float]], asked: list[list[bool]] | None = None, **more: object) -> Sitting:
    matrix = np.array(scores, dtype=float)
    return Sitting(matrix, np.ones(matrix.shape, bool) if asked is None else np.array(asked), **more)  # type: ignore[arg-type]


def test_the_four_numbers() -> None:
    table = sitting(
        [[1.0, 0.5], [0.25, 1.0], [0.75, 0.75], [NAN, 0.5], [NAN, NAN]],
        [[True, True]] * 4 + [[False, False]],
        seconds=np.array([[1.0, 3.0], [0.5, NAN], [NAN, NAN], [0.1, 0.1], [NAN, NAN]]),
    )
    assert consistency_score(table) == pytest.approx(2 / 3)
    assert consistency_score(table, delta=0.75) == 1.0
    assert error_rate(table) == 1 / 8
    assert avg_latency_ms(table) == pytest.approx((2000 + 500 + 100) / 3)
    assert avg_faithfulness(table) == pytest.approx((0.75 + 0.625 + 0.75 + 0.5) / 4)


def test_one_repeat_measures_no_consistency() -> None:
    assert math.isnan(consistency_score(sitting([[1.0], [0.5]])))


def test_delta_is_on_the_scale_of_the_scores() -> None:
    """On whole numbers 0.5 means equality; a difference of exactly delta agrees, floating point or not."""
    assert consistency_score(sitting([[4, 5], [3, 3]])) == 0.5
    assert 1.1 - 0.6 > 0.5
    assert consistency_score(sitting([[1.1, 0.6]])) == 1.0


def test_three_repeats_are_three_pairs() -> None:
    assert pairs_within([[0.0, 0.0, 1.0], [1.0, NAN, 1.0], [NAN, NAN, 1.0]], 0.5).tolist()[:2] == [1 / 3, 1.0]
    assert math.isnan(pairs_within([[NAN, NAN, 1.0]], 0.5)[0])


def test_nothing_measured_is_not_zero() -> None:
    nothing = sitting([[NAN, NAN]], [[False, False]])
    found = [each(nothing) for each in (consistency_score, error_rate, avg_latency_ms, avg_faithfulness)]
    assert all(map(math.isnan, found))


def test_a_judge_that_always_fails_has_an_error_rate_of_one() -> None:
    assert error_rate(sitting([[NAN, NAN], [NAN, NAN]])) == 1.0


def test_latency_of_plain_seconds() -> None:
    assert avg_latency_ms(np.array([0.1, 0.3, NAN])) == pytest.approx(200.0)


def test_shapes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="items, repeats"):
        Sitting(np.zeros((2, 2)), np.ones((2, 1), bool))
    with pytest.raises(ValueError, match="seconds"):
        sitting([[1.0]], seconds=np.zeros(1))


def test_choices_of_pairs_by_hand() -> None:
    """Each pair in both orders: +1 the first place won. The better answer needs more votes than the other."""
    places = [[1, -1], [1, 0], [NAN, -1], [1, 1], [-1, 1], [0, 0], [NAN, NAN], [1, -1], [-1, 1]]
    labels = [1, 1, 1, 1, 1, 1, 1, NAN, -1]
    choices = Choices(np.array(places, dtype=float), np.array(labels, dtype=float))
    assert np.array_equal(choices.right(), [1, 1, 1, 0, 0, 0, NAN, NAN, 1], equal_nan=True)
    assert pairwise_accuracy(choices) == 4 / 7
    assert np.array_equal(choices.consistent(), [1, 0, NAN, 0, 1, 1, NAN, 1, 1], equal_nan=True)
    assert position_consistency(choices) == 5 / 7


def test_whoever_takes_the_first_place_is_right_on_no_pair() -> None:
    choices = Choices(np.ones((6, 2)), np.array([1.0, -1.0, 1.0, -1.0, 1.0, 1.0]))
    assert (pairwise_accuracy(choices), position_consistency(choices)) == (0.0, 0.0)
    with pytest.raises(ValueError, match="pairs"):
        Choices(np.ones((6, 2)), np.ones(5))
    assert math.isnan(pairwise_accuracy(Choices(np.ones((2, 2)), np.array([0.0, NAN]))))
