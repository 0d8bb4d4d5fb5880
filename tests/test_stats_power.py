"""Power against statsmodels, and its two inverses against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from ragbench import stats
from tests.random_tables import TABLES


@pytest.mark.parametrize("seed", TABLES)
def test_power_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 600))
    effect = float(rng.uniform(0, 6)) / math.sqrt(n)  # statsmodels' far tail is NaN, where power is 1
    level = float(rng.choice([0.9, 0.95, 0.99]))
    expected = TTestPower().power(effect, n, 1 - level)
    if math.isnan(expected):
        assert stats.power_of_mean(effect, n, level=level) > 0.99
        return
    assert stats.power_of_mean(effect, n, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_detectable_difference_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, deviation = int(rng.integers(5, 400)), float(rng.uniform(0.1, 3))
    found = stats.minimum_detectable_difference(deviation, n)
    assert found is not None
    assert TTestPower().power(found / deviation, n, 0.05) == pytest.approx(0.8, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 2), st.floats(0.1, 5), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_sample_size_is_the_smallest_that_suffices(difference: float, deviation: float, power: float) -> None:
    n = stats.sample_size(difference, deviation, power=power)
    assert n is not None
    assert stats.power_of_mean(difference / deviation, n) >= power
    assert n == 2 or stats.power_of_mean(difference / deviation, n - 1) < power
    detectable = stats.minimum_detectable_difference(deviation, n, power=power)
    assert detectable is not None
    assert detectable <= difference * (1 + 1e-9)


def test_large_samples_join_the_normal_without_a_step() -> None:
    below, above = (stats.power_of_mean(2.8 / math.sqrt(100_000), n) for n in (100_000, 100_001))
    assert below == pytest.approx(above, abs=1e-4)


def test_a_known_size() -> None:
    """Cohen (1988): a medium effect (d = 0.5) needs 34 pairs for 80 % power at 5 %."""
    assert stats.sample_size(0.5, 1.0) == 34


def test_what_cannot_be_told_is_none() -> None:
    assert stats.minimum_detectable_difference(1.0, 1) is None
    assert stats.minimum_detectable_difference(0.0, 50) is None
    assert stats.sample_size(0.0, 1.0) is None
    assert stats.sample_size(0.5, 0.0) is None
    assert stats.sample_size(1e-9, 1.0) is None, "more questions than there will ever be"
    assert math.isnan(stats.power_of_mean(0.5, 1))
    with pytest.raises(ValueError, match="power lies between"):
        stats.sample_size(0.5, 1.0, power=1.2)
    for power in (0.05, 1.0):
        with pytest.raises(ValueError, match="power lies between"):
            stats.minimum_detectable_difference(1.0, 50, power=power)
