"""Power against statsmodels, and its two inverses against each other."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial
from statsmodels.stats.power import TTestPower

from ragbench import stats
from ragbench.stats.power import _normal_samples, _power_of_flips
from tests.random_tables import on_random_tables


@on_random_tables
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
    n, deviation = int(rng.integers(14, 400)), float(rng.uniform(0.1, 3))
    found = stats.minimum_detectable_difference(deviation, n)
    assert found is not None
    level = np.floor(0.05 * 2.0 ** min(n - 1, 40) + 0.5) / 2.0 ** min(n - 1, 40)  # of the mid-p that signs can have
    assert TTestPower().power(found / deviation, n, level) == pytest.approx(0.8, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 2), st.floats(0.1, 5), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_sample_size_is_the_smallest_that_suffices(difference: float, deviation: float, power: float) -> None:
    n = stats.sample_size(difference, deviation, power=power)
    assert n is not None
    assert stats.power_of_mean(difference / deviation, n) >= power
    assert n < 14 or stats.power_of_mean(difference / deviation, n - 1) < power + 1e-4
    assert n >= 6, "fewer signs have no p of .05"
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


@pytest.mark.parametrize(("groups", "level"), [(6, 0.95), (8, 0.95), (8, 0.99), (12, 0.95), (12, 0.998)])
def test_few_groups_show_the_detectable_effect_in_four_of_five_samples(groups: int, level: float) -> None:
    """Against every pattern of signs of 3,000 samples of normal values."""
    effect = stats.minimum_detectable_difference(1.0, groups, level=level)
    assert effect is not None
    signs = np.array(list(product([-1, 1], repeat=groups - 1)))
    signs = np.column_stack([np.ones(len(signs)), signs])
    values = np.random.default_rng(groups).normal(effect, 1, (groups, 3_000))
    p = (np.abs(signs @ values) >= np.abs(values.sum(axis=0)) - 1e-9).mean(axis=0)
    p -= 0.5 / len(signs) if groups >= 7 else 0.0
    assert np.mean(p <= 1 - level + 1e-12) == pytest.approx(0.8, abs=0.025)


def test_too_few_groups_detect_nothing() -> None:
    assert stats.minimum_detectable_difference(1.0, 5) is None, "no p below 2 / 2⁵ = .0625"
    assert stats.minimum_detectable_difference(1.0, 500, groups=7, level=0.995) is None, "nor below 1 / 2⁷ = .0078"
    assert stats.minimum_detectable_difference(1.0, 5, binary=True) is None
    assert stats.minimum_detectable_difference(1.0, 5, level=0.9) is not None


@pytest.mark.parametrize(("n", "difference", "discordance"), [(20, 0.3, 0.4), (60, 0.15, 0.2), (7, 0.9, 0.9)])
def test_power_of_mcnemar_is_that_of_all_tables(n: int, difference: float, discordance: float) -> None:
    """The chance of every (up, down) whose mid-p is at most .05, added up."""
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    total = sum(
        multinomial.pmf([b, c, n - b - c], n, [up, max(down, 0), 1 - up - down])
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if b + c and b != c and binomtest(b, b + c).pvalue - binom.pmf(b, b + c, 0.5) <= 0.05 + 1e-12
    )
    assert stats.power_of_mcnemar(difference, discordance, n) == pytest.approx(total, abs=1e-9)
    assert stats.power_of_mcnemar(-difference, discordance, n) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(("n", "discordance"), [(60, 0.0), (60, 0.2), (300, 0.1), (12, 0.5), (5000, 0.05)])
def test_the_detectable_share_is_that_of_the_exact_test(n: int, discordance: float) -> None:
    found = stats.minimum_detectable_difference(math.sqrt(discordance), n, binary=True)
    assert found is not None
    assert stats.power_of_mcnemar(found, discordance, n) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("difference", "discordance"), [(0.1, 0.2), (0.1, 0.1), (0.05, 0.3), (0.3, 0.5)])
def test_as_many_pairs_as_are_asked_for_show_the_difference_of_shares(difference: float, discordance: float) -> None:
    deviation = math.sqrt(discordance - difference**2)
    n = stats.sample_size(difference, deviation, binary=True)
    assert n is not None
    assert 0.8 <= stats.power_of_mcnemar(difference, discordance, n) <= 0.83


def test_many_discordant_pairs_join_the_t_test_without_a_step() -> None:
    below, above = (stats.power_of_mcnemar(0.02, 0.1, n) for n in (10_000, 10_001))
    assert below == pytest.approx(above, abs=0.01)


@pytest.mark.parametrize(("groups", "level"), [(6, 0.95), (8, 0.9), (12, 0.99)])
def test_power_by_signs_is_the_share_of_samples_that_few_patterns_reach(groups: int, level: float) -> None:
    samples, signs = _normal_samples(groups)
    assert len({tuple(sign * row) for row in signs for sign in (1, -1)}) == 2**groups, "one of each opposite two"
    for effect in (0.0, 0.4, 1.1):
        shifted = samples + effect
        as_far = np.abs(signs @ shifted) >= np.abs(shifted.sum(axis=0)) - 1e-9
        shown = as_far.sum(axis=0) <= math.floor((1 - level) * 2 ** (groups - 1) + (0.5 if groups >= 7 else 0) + 1e-9)
        assert _power_of_flips(effect, groups, level) == np.mean(shown)
