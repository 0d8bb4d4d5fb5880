"""Minimal-effect tests: against SciPy where the limit is a point, and by how often they err."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragbench.old.stats.verdicts import outside_p


def test_one_limit_is_the_one_sided_t_test() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 40)
    expected = scipy_stats.ttest_1samp(values, 0.1, alternative="greater").pvalue
    assert outside_p(values, high=0.1) == pytest.approx(expected, abs=1e-12)
    expected = scipy_stats.ttest_1samp(values, 0.1, alternative="less").pvalue
    assert outside_p(values, low=0.1) == pytest.approx(expected, abs=1e-12)


def test_two_values_are_enough_for_a_t_test() -> None:
    expected = scipy_stats.ttest_1samp([0.4, 0.5], 0.1, alternative="greater").pvalue
    assert outside_p([0.4, 0.5], high=0.1) == pytest.approx(expected, abs=1e-12)


def test_limits_that_meet_are_the_two_sided_t_test() -> None:
    values = np.random.default_rng(2).normal(0.3, 1, 40)
    assert outside_p(values, 0.1, 0.1) == pytest.approx(scipy_stats.ttest_1samp(values, 0.1).pvalue, abs=1e-12)


def test_zeros_and_ones_are_counted_exactly() -> None:
    values = [1.0] * 5 + [0.0] * 45
    assert outside_p(values, high=0.05) == pytest.approx(
        scipy_stats.binomtest(5, 50, 0.05, alternative="greater").pvalue
    )
    assert outside_p(values, low=0.3) == pytest.approx(scipy_stats.binomtest(5, 50, 0.3, alternative="less").pvalue)


def test_clusters_are_what_varies() -> None:
    means = np.random.default_rng(3).normal(0.3, 1, 12)
    copies = np.repeat(means, 5)
    labels = np.repeat(np.arange(12), 5)
    assert outside_p(copies, high=0.0, clusters=labels) == pytest.approx(outside_p(means, high=0.0), abs=1e-12)
    assert outside_p(copies, high=0.0) < outside_p(copies, high=0.0, clusters=labels)


def test_equal_values() -> None:
    assert outside_p([0.5] * 10, -0.1, 0.1) == 0.5**10
    assert outside_p([0.05] * 10, -0.1, 0.1) == 1.0
    assert outside_p([0.0] * 10, -0.1, 0.0) == 1.0


@pytest.mark.parametrize("scale", [1e-13, 1.0, 1e9])
def test_the_unit_of_the_values_does_not_matter(scale: float) -> None:
    equal, several = np.full(7, 3_000_000.1), np.array([1.0, 2.0, 3.0, 2.0])
    assert outside_p(equal * scale, high=1e6 * scale) == 0.5**7, "the mean's rounding is no spread"
    assert outside_p(several * scale, high=0.0, low=-1e4 * scale) == pytest.approx(
        outside_p(several, high=0.0, low=-1e4)
    )


def test_unmeasured_values_are_left_out() -> None:
    assert outside_p([1.0, math.nan, 0.5, 0.8], high=0.1) == outside_p([1.0, 0.5, 0.8], high=0.1)
    assert math.isnan(outside_p([math.nan], high=0.1))
    assert outside_p([0.7], high=0.1) == 1.0


def test_it_errs_as_often_as_it_says_at_the_limit() -> None:
    rng = np.random.default_rng(4)
    p = [outside_p(rng.normal(0.05, 0.3, 200), -0.05, 0.05) for _ in range(2000)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.015)
    inside = [outside_p(rng.normal(0.0, 0.3, 200), -0.05, 0.05) for _ in range(1000)]
    assert np.mean(np.array(inside) < 0.05) < 0.01


def test_limits_must_make_sense() -> None:
    with pytest.raises(ValueError, match="low ≤ high"):
        outside_p([1.0], 0.2, 0.1)
    with pytest.raises(ValueError, match="one of them finite"):
        outside_p([1.0])
