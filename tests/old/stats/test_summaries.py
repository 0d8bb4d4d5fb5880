"""Means of which only summaries are known, against SciPy, by hand, and by simulation of what is claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragbench.old.core.types import Verdict
from ragbench.old.stats.summaries import Summary, compare_summaries


def summary(values: np.ndarray) -> Summary:
    """Mean with Student's interval."""
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    edge = float(scipy_stats.t.ppf(0.975, len(values) - 1))
    return Summary(mean, mean - edge * error, mean + edge * error, 0.95, len(values))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_welchs_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0.5, 0.2, 40), rng.normal(0.58, 0.35, 75)
    found = compare_summaries(summary(first), summary(second))
    peer = scipy_stats.ttest_ind(second, first, equal_var=False)
    interval = peer.confidence_interval(0.95)
    assert found is not None
    assert found.p == pytest.approx(peer.pvalue, rel=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert (found.method, found.note, found.n) == ("welch", "two_samples", 40)
    deviation = math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    assert found.effect_size == pytest.approx((second.mean() - first.mean()) / deviation)


def test_a_share_needs_no_interval() -> None:
    """60 of 100 against 80 of 100: Agresti and Caffo's (61/102, 81/102), computed by hand."""
    found = compare_summaries(Summary(0.6, n=100, bounds=(0.0, 1.0)), Summary(0.8, n=100, bounds=(0.0, 1.0)))
    assert found is not None
    error = math.sqrt(61 * 41 / 102**3 + 81 * 21 / 102**3)
    assert found.difference == pytest.approx(0.2)
    assert (found.high - found.low) / 2 == pytest.approx(error * scipy_stats.t.ppf(0.975, 199), rel=1e-2)
    assert found.verdict is Verdict.BETTER
    assert found.p == pytest.approx(0.0019, abs=2e-4)


def test_nothing_of_nothing_is_not_sure() -> None:
    found = compare_summaries(Summary(0.0, n=10, bounds=(0.0, 1.0)), Summary(0.0, n=10, bounds=(0.0, 1.0)))
    assert found is not None
    assert found.low < -0.2
    assert found.high > 0.2
    assert found.verdict is Verdict.NOT_SHOWN


def test_what_is_not_known_is_not_compared() -> None:
    known = Summary(0.6, n=100, bounds=(0.0, 1.0))
    for other in (Summary(0.8), Summary(0.8, n=100), Summary(0.8, bounds=(0.0, 1.0)), Summary(math.nan, 0.1, 0.2)):
        assert compare_summaries(known, other) is None
        assert compare_summaries(other, known) is None
    assert compare_summaries(known, Summary(1.0923, n=100, bounds=(0.0, 1.0))) is None


def test_without_counts_the_normal_distribution_is_used() -> None:
    found = compare_summaries(Summary(0.5, 0.4, 0.6), Summary(0.7, 0.6, 0.8))
    assert found is not None
    error = math.sqrt(2) * 0.1 / 1.959963984540054
    assert found.high == pytest.approx(0.2 + 1.959963984540054 * error)
    assert found.p == pytest.approx(2 * scipy_stats.norm.sf(0.2 / error), rel=1e-9)
    assert math.isnan(found.effect_size)
    assert found.n == 0


def test_lower_can_be_better() -> None:
    found = compare_summaries(Summary(900, 880, 920), Summary(500, 480, 520), better="lower")
    assert found is not None
    assert found.verdict is Verdict.BETTER


def test_it_never_rejects_more_often_than_it_says_on_the_same_questions() -> None:
    """Values of a question go together: the two-sample test is too careful, never too bold."""
    rng = np.random.default_rng(1)
    rejected = 0
    for _ in range(400):
        hard = rng.normal(0, 0.2, 60)
        first, second = hard + rng.normal(0, 0.1, 60), hard + rng.normal(0, 0.1, 60)
        found = compare_summaries(summary(first), summary(second))
        rejected += found is not None and found.p < 0.05
    assert rejected <= 8  # 2 %: nominal 5 % needs independence


def test_the_questions_it_would_take_are_those_of_two_samples() -> None:
    """A difference of means with deviations of 0.5 varies by √2 · 0.5: to show 0.01, n = (z + z)² · 2 · 50²."""
    error = 0.5 / math.sqrt(400)
    edge = float(scipy_stats.t.ppf(0.975, 399)) * error
    first, second = (Summary(mean, mean - edge, mean + edge, 0.95, 400) for mean in (0.5, 0.52))
    assert getattr(compare_summaries(first, second), "questions_needed", 0) is None
    found = compare_summaries(first, second, margin=0.01)
    assert found is not None
    assert found.verdict is Verdict.NOT_SHOWN
    z = scipy_stats.norm.ppf(0.975) + scipy_stats.norm.ppf(0.8)
    assert found.questions_needed == pytest.approx(z**2 * 2 * 50**2, rel=1e-3)
    freedom = 2 * 399
    detectable = (scipy_stats.t.ppf(0.975, freedom) + scipy_stats.norm.ppf(0.8)) * error * math.sqrt(2)
    assert found.minimum_detectable == pytest.approx(detectable, rel=1e-6)


@pytest.mark.parametrize(("value", "end"), [(0.9, 0.22), (0.1, -0.22)])
def test_the_completion_that_speaks_against_the_word_has_the_larger_p(value: float, end: float) -> None:
    """By hand: 80 values of mean .9 and 20 missing ones are .72 at least, .22 above .5; likewise below."""
    known, lacking = Summary(0.5, n=100, bounds=(0.0, 1.0)), Summary(value, n=80, bounds=(0.0, 1.0), missing=20)
    found = compare_summaries(known, lacking)
    assert found is not None
    assert (found.least if value > 0.5 else found.most) == pytest.approx(end)
    assert found.p_worst is not None
    assert found.p < found.p_worst < 0.05
