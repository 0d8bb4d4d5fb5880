"""Labels drawn with unequal chances: the estimate is people's whatever a judge says, and narrower where it is good."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old import stats
from ragbench.old.stats import predictions


def test_chances_add_up_to_the_labels_and_none_is_above_one() -> None:
    assert stats.chances([0, 0, 0, 0], 2).tolist() == [0.5, 0.5, 0.5, 0.5]
    made = stats.chances([1, 0, 0, 1], 2)
    assert made.tolist() == [0.65, 0.35, 0.35, 0.65], "seven tenths evenly, the rest by uncertainty"
    assert stats.chances([100, 0, 0, 0], 3).max() == 1.0
    assert stats.chances([100, 0, 0, 0], 3).sum() == pytest.approx(3)
    with pytest.raises(ValueError, match="at most the 2 items"):
        stats.chances([1, 1], 3)
    with pytest.raises(ValueError, match="from 0 on"):
        stats.chances([-1, 1], 1)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=40), st.floats(0.01, 1))
def test_chances_of_any_uncertainty(unsure: list[float], share: float) -> None:
    made = stats.chances(unsure, share * len(unsure))
    assert ((made > 0) & (made <= 1)).all()
    assert made.sum() == pytest.approx(share * len(unsure))


def test_all_labelled_is_the_plain_mean() -> None:
    y = np.random.default_rng(0).random(60)
    made = stats.active_estimate(y, np.zeros(60), np.ones(60))
    assert made.value == pytest.approx(y.mean())
    assert made.low is not None
    assert made.high is not None
    assert made.high - made.low == pytest.approx(2 * 2.0010 * y.std(ddof=1) / np.sqrt(60), rel=1e-3), "t of 59"


def covered(lies: bool, bounds: tuple[float, float] | None) -> tuple[float, float, float]:
    """Of 400 samples: the share that holds the truth, the mean width, and that of people's labels alone."""
    random, hits, widths, alone = np.random.default_rng(5), 0, [], []
    for seed in range(400):
        truth = random.beta(2, 3, 600)
        f = 1 - truth if lies else np.clip(truth + random.normal(0, 0.1, 600), 0, 1)
        pi = stats.chances(np.sqrt(f * (1 - f)), 80)
        chosen = random.random(600) < pi
        made = stats.active_estimate(np.where(chosen, truth, np.nan), f, pi, bounds=bounds, seed=seed)
        assert made.low is not None
        assert made.high is not None
        hits += made.low <= 0.4 <= made.high
        widths.append(made.high - made.low)
        alone.append(2 * 1.99 * truth[chosen].std(ddof=1) / np.sqrt(chosen.sum()))
    return hits / 400, float(np.mean(widths)), float(np.mean(alone))


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
def test_it_covers_and_is_narrower_than_labels_alone(bounds: tuple[float, float] | None) -> None:
    coverage, width, alone = covered(False, bounds)
    assert 0.92 <= coverage <= 0.985
    assert width < 0.75 * alone


def test_a_judge_that_says_the_opposite_does_not_break_it() -> None:
    coverage, _width, _alone = covered(True, (0.0, 1.0))
    assert 0.92 <= coverage <= 1.0


@pytest.mark.parametrize(
    ("labels", "predictions", "pi", "said"),
    [([1.0], [1.0, 0.0], [1.0], "one of each"), ([1.0], [1.0], [0.0], "above 0 where there is a label"),
     ([1.0], [1.0], [1.5], "from 0 to 1")],
)  # fmt: skip
def test_what_cannot_be_is_refused(labels: list[float], predictions: list[float], pi: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        stats.active_estimate(labels, predictions, pi)


def test_few_labels_say_so() -> None:
    made = stats.active_estimate([0.5, np.nan, np.nan], [0.4, 0.5, 0.6], [0.3, 0.3, 0.3])
    assert (made.value, made.low, made.n, made.note) == (0.5, None, 1, "few")
    nothing = stats.active_estimate([np.nan], [0.4], [0.3])
    assert np.isnan(nothing.value)
    assert nothing.note == "empty"


def test_labels_count_by_how_much_their_chances_make_the_estimate_vary() -> None:
    few, many = 1000, 1000  # labels 0 with chance 1/2, and labels 1 with chance 1/4: each counts 2 · 1, and 4 · 3
    known, weight = np.repeat([0.0, 1.0], [few, many]), np.repeat([2.0, 4.0], [few, many])
    expected = predictions._expected(known, np.zeros(few + many), weight, 0)
    np.testing.assert_allclose(expected, 12 / 14, atol=0.02)


def test_how_many_labels_there_came_to_be_moves_no_estimate() -> None:
    """With equal chances the weights say nothing: chances half as large make all twice as heavy, and add up to 2 N."""
    y = np.where(np.arange(90) % 3 == 0, np.arange(90) / 90, np.nan)
    whole, half = (stats.active_estimate(y, np.zeros(90), np.full(90, pi)) for pi in (0.6, 0.3))
    assert whole.value == pytest.approx(half.value, abs=1e-12)
    assert (whole.low, whole.high) == (pytest.approx(half.low), pytest.approx(half.high))


def test_the_interval_reaches_further_where_rare_labels_may_be_missing() -> None:
    y = np.full(200, np.nan)
    y[:40] = np.arange(40) % 13 == 0  # four of forty
    rare, common = (stats.active_estimate(own, np.zeros(200), np.full(200, 0.2)) for own in (y, 1 - y))
    for made, sign in ((rare, 1), (common, -1)):
        assert made.low is not None
        assert made.high is not None
        beyond = sign * ((made.high - made.value) - (made.value - made.low))
        assert beyond > 0.1 * (made.high - made.low), "Johnson's term"
