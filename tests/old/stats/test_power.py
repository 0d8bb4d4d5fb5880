"""Power against statsmodels, and its two inverses against each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial
from statsmodels.stats.power import TTestPower

from ragbench.old import stats
from ragbench.old.core.types import Array, Verdict
from ragbench.old.stats.intervals import bonett
from ragbench.old.stats.power import _normal_samples, _power_of_flips, attainable_p, shrinkage
from tests.old.stats.random_tables import on_random_tables


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


@given(st.floats(0.01, 2), st.floats(0.1, 5), st.sampled_from([0.5, 0.8, 0.95]))
@example(1.5546875, 2.09375, 0.5)
@example(1.73628, 1.0, 0.95)  # the power of seven that is counted stands still there
def test_the_sample_size_is_the_smallest_that_suffices(difference: float, deviation: float, power: float) -> None:
    n = stats.sample_size(difference, deviation, power=power)
    assert n is not None
    counted = 1e-3 if n < 14 else 0.0  # the power of so few is counted among drawn samples
    assert stats.power_of_mean(difference / deviation, n) >= power - counted
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
    assert stats.minimum_detectable_difference(1.0, 7, binary=True, level=0.99) is None, "2 / 2⁷ = .0156, never a mid-p"
    assert stats.minimum_detectable_difference(1.0, 8, binary=True, level=0.99) is not None, "2 / 2⁸ = .0078"
    assert stats.minimum_detectable_difference(1.0, 5, level=0.9) is not None


@pytest.mark.parametrize(("n", "difference", "discordance"), [
    (20, 0.3, 0.4), pytest.param(60, 0.15, 0.2, marks=pytest.mark.slow),
    (7, 0.9, 0.9), (8, 0.5, 1.0), (16, 0.5, 1.0), (12, 0.4, 0.9), (6, 0.9, 0.95),
])  # fmt: skip
def test_power_of_mcnemar_is_that_of_all_tables(n: int, difference: float, discordance: float) -> None:
    """The chance of every (up, down) whose p is at most .05, added up: mid-p, and exact where all differ, or of six."""
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    total = sum(
        multinomial.pmf([b, c, n - b - c], n, [up, max(down, 0), 1 - up - down])
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if b + c
        and b != c
        and binomtest(b, b + c).pvalue - (binom.pmf(b, b + c, 0.5) if b + c < n and n > 6 else 0.0) <= 0.05 + 1e-12
    )
    assert stats.power_of_mcnemar(difference, discordance, n) == pytest.approx(total, abs=1e-9)
    assert stats.power_of_mcnemar(-difference, discordance, n) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize(("won", "pairs"), [(7, 8), (12, 16)])
def test_a_study_of_pairs_that_all_differ_is_planned_for_the_exact_test(won: int, pairs: int) -> None:
    """As many pairs as are named show a share of .7 in four of five studies; the 46 of a mid-p would in .713."""
    moved = np.repeat([1.0, -1.0], [won, pairs - won])
    made = stats.plan_study((moved < 0).astype(float), (moved > 0).astype(float), 0.4)
    assert (made.test, made.questions) == ("McNemar, exact", 51)
    for number, power in ((46, 0.713), (51, 0.836)):
        rarer = max(k for k in range(25) if binomtest(k, number).pvalue <= 0.05)
        assert stats.power_of_mcnemar(0.4, 1.0, number) == pytest.approx(power, abs=5e-4)
        assert binom.cdf(rarer, number, 0.3) == pytest.approx(power, abs=5e-4)
    assert made.detectable is not None
    assert stats.power_of_mcnemar(made.detectable, 1.0, pairs) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("n", "discordance"), [(60, 0.0), (60, 0.2), (300, 0.1), (12, 0.5), (5000, 0.05)])
def test_the_detectable_share_is_that_of_the_exact_test(n: int, discordance: float) -> None:
    found = stats.minimum_detectable_difference(math.sqrt(discordance), n, binary=True)
    assert found is not None
    assert stats.power_of_mcnemar(found, discordance, n) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("difference", "discordance"), [(0.1, 0.2), (0.1, 0.1), (0.05, 0.3), (0.3, 0.5)])
def test_as_many_pairs_as_are_asked_for_show_the_difference_of_shares(difference: float, discordance: float) -> None:
    n = stats.sample_size(difference, math.sqrt(discordance), binary=True)
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


def plan(values: object, difference: float, **how: Any) -> stats.StudyPlan:
    return stats.plan_study(np.zeros(len(np.asarray(values))), np.asarray(values), difference, **how)


@on_random_tables
def test_a_planned_study_is_that_of_statsmodels(seed: int) -> None:
    """With the standard deviation without the bias of small samples (c4), which a t test's power knows nothing of."""
    rng = np.random.default_rng(seed)
    n, power, comparisons = int(rng.integers(20, 200)), float(rng.choice([0.7, 0.8, 0.9])), int(rng.integers(1, 9))
    values = rng.normal(rng.normal(), 1, n)
    difference = float(rng.uniform(0.1, 0.4))
    made = plan(values, difference, power=power, comparisons=comparisons)
    deviation = float(np.std(values, ddof=1)) / shrinkage(n)
    alpha = 0.05 / comparisons
    assert made.threshold == pytest.approx(alpha)
    assert made.deviation == pytest.approx(np.std(values, ddof=1))
    expected = TTestPower().solve_power(difference / deviation, None, alpha, power)
    assert made.questions == pytest.approx(expected, abs=1.001)
    assert made.reached == pytest.approx(TTestPower().power(difference / deviation, n, alpha), abs=1e-4)
    assert made.detectable is not None
    assert TTestPower().power(made.detectable / deviation, n, alpha) == pytest.approx(power, abs=1e-4)
    assert (made.groups, made.correlation, made.per_group, made.clusters) == (None, None, None, None)
    back = stats.plan_study(values, np.zeros(n), -difference, power=power, comparisons=comparisons)
    assert (back.questions, back.difference) == (made.questions, made.difference), "in either direction"


def test_a_planned_study_of_shares_is_mcnemars() -> None:
    """30 of 100 pairs differ; p of .1 more up than down. Power of the exact test counted over all tables, as above."""
    first = np.repeat([0.0, 1.0, 1.0], [20, 10, 70])
    second = np.repeat([1.0, 0.0, 1.0], [20, 10, 70])
    made = stats.plan_study(first, second, 0.1)
    assert (made.test, made.n) == ("McNemar, mid-p", 100)
    assert made.questions is not None
    assert 0.8 <= stats.power_of_mcnemar(0.1, 0.3, made.questions) <= 0.82
    assert made.reached == pytest.approx(stats.power_of_mcnemar(0.1, 0.3, 100))
    miettinen = ((1.95996 * math.sqrt(0.3) + 0.84162 * math.sqrt(0.3 - 0.01)) / 0.1) ** 2  # without the exact test
    assert made.questions == pytest.approx(miettinen, rel=0.04)


def test_a_planned_study_counts_groups_and_what_more_questions_of_each_would_give() -> None:
    """Group means that vary by 1 between groups, and by 2 within: of 4 questions each a group's mean varies by 1.5."""
    rng = np.random.default_rng(0)
    between, within = rng.normal(size=60), rng.normal(size=(60, 4))
    between = (between - between.mean()) / between.std(ddof=1)
    within -= within.mean(axis=1, keepdims=True)
    within *= math.sqrt(2 * 60 * 3 / np.sum(within**2))
    means = between * math.sqrt(1.5)
    made = plan((means[:, None] + within).ravel(), 0.5, clusters=np.repeat(np.arange(60), 4))
    deviation = math.sqrt(1.5) / shrinkage(60)
    expected = TTestPower().solve_power(0.5 / deviation, None, 0.05, 0.8)
    assert made.groups == math.ceil(expected)
    assert made.questions == 4 * math.ceil(expected)
    assert made.correlation == pytest.approx((deviation**2 - 2 / 4) / (deviation**2 - 2 / 4 + 2))
    fewer = plan((means[:, None] + within).ravel(), 0.42, clusters=np.repeat(np.arange(60), 4))
    effect = TTestPower().solve_power(None, 60, 0.05, 0.8)
    assert fewer.per_group == math.ceil(2 / ((0.42 / effect) ** 2 - (deviation**2 - 0.5)))
    assert fewer.groups is not None
    assert fewer.groups > 60, "more groups, or more questions of each"
    assert (fewer.per_group or 0) > 4
    assert plan((means[:, None] + within).ravel(), 0.2, clusters=np.repeat(np.arange(60), 4)).per_group is None
    alone = plan(means, 0.5, clusters=np.arange(60))
    assert (alone.groups, alone.correlation, alone.per_group) == (math.ceil(expected), None, None)


def test_a_page_plans_what_a_study_plans_also_in_a_family() -> None:
    """The number beside a verdict is that of `plan_study` at the same threshold; more comparisons need more."""
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(2, 90))
    third = first + rng.normal(0.05, 1, 90)
    codes = np.arange(90) // 3
    alone, several = (
        [stats.with_margin(one, 0.2) for one in stats.compare_many(dict(zip("abc", values, strict=False)), "a",
                                                                    clusters=codes)]
        for values in ((first, second), (first, second, third))
    )  # fmt: skip
    assert (alone[0].joint, several[0].joint) == (False, True)
    for one, challenger in zip((*alone, *several), (second, second, third), strict=True):
        assert one.threshold is not None
        made = stats.plan_study(first, challenger, 0.2, clusters=codes, threshold=one.threshold, joint=one.joint)
        assert (made.questions, made.detectable) == (one.questions_needed, pytest.approx(one.minimum_detectable))
        assert one.minimum_detectable is not None
        assert (one.questions_needed or 0) > 90
        met = stats.with_margin(one, one.minimum_detectable * 1.0001)
        assert met.questions_needed is not None
        assert met.questions_needed <= 90, "the two say the same"
    assert (several[0].questions_needed or 0) > (alone[0].questions_needed or 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pilot", ["normal", "groups", *(pytest.param(name, marks=pytest.mark.slow) for name in ("graded", "shares"))]
)
def test_the_true_number_lies_between_the_two_that_the_pilot_leaves_open(pilot: str) -> None:
    """Of 400 pilots; the truth from the deviation of two million questions. Chi-square would cover .70 of `graded`."""
    rng, n, covered = np.random.default_rng(4), 80, []
    codes = np.arange(n) // 4 if pilot == "groups" else None

    def drawn(number: int) -> tuple[Array, Array]:
        if pilot == "normal":
            return np.zeros(number), rng.normal(size=number)
        if pilot == "graded":
            return graded(rng, number, 0.0)
        if pilot == "shares":
            first = rng.integers(0, 2, number).astype(float)
            return first, np.where(rng.random(number) < 0.2, 1 - first, first)
        shared = np.repeat(rng.normal(size=number // 4), 4)
        return np.zeros(number), shared + rng.exponential(size=number)

    first, second = drawn(2_000_000)
    moved = second - first
    if codes is not None:
        moved = (moved - moved.mean()).reshape(-1, 4).mean(axis=1)
    deviation = float(np.sqrt(np.mean(moved**2))) if pilot == "shares" else float(moved.std())
    groups = stats.sample_size(0.15, deviation, binary=pilot == "shares")
    assert groups is not None
    true = groups * (1 if codes is None else 4)
    for _pilot in range(400):
        made = stats.plan_study(*drawn(n), 0.15, clusters=codes)
        assert made.between is not None
        assert made.questions is not None
        low, high = made.between
        assert low <= made.questions <= high
        covered.append(low <= true <= high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_pilot_of_four_groups_does_not_say_how_sure_its_number_is() -> None:
    assert plan([1, 2, 4, 3], 0.5).between is None
    assert plan([1, 2, 4, 3, 6], 0.5).between is not None


@pytest.mark.parametrize(
    ("values", "difference", "how", "message"),
    [
        ([1, 2, 3], 0.0, {}, "difference is the one that is to be shown"),
        ([1, 2, 3], math.nan, {}, "difference is the one"),
        ([1, 2, 3], 0.1, {"comparisons": 0}, "1 or more; got 0"),
        ([1, 2, 3], 0.1, {"power": 1.0}, "power lies between"),
        ([1, math.nan, math.nan], 0.1, {}, "1 questions were measured"),
        ([1, 2, 3], 0.1, {"clusters": ["a"] * 3}, "1 groups were measured"),
    ],
)
def test_what_cannot_be_planned_is_said(values: Any, difference: float, how: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(values, difference, **how)


def graded(rng: np.random.Generator, n: int, difference: float) -> tuple[Array, Array]:
    """Reciprocal ranks: half of the questions do not move, the others by steps of many sizes."""
    first, second = (1 / rng.integers(1, 11, n) for _side in range(2))
    return first, np.where(rng.random(n) < 0.5, first, second) + difference


def binary(rng: np.random.Generator, n: int, difference: float) -> tuple[Array, Array]:
    """Hits, of which three of ten differ."""
    first, moved, up = rng.random(n) < 0.5, rng.random(n) < 0.3, rng.random(n) < (1 + difference / 0.3) / 2
    return np.where(moved, ~up, first).astype(float), np.where(moved, up, first).astype(float)


def clustered(rng: np.random.Generator, n: int, difference: float) -> tuple[Array, Array]:
    """Five questions a page, alike."""
    return np.zeros(n), difference + rng.normal(size=n) + rng.normal(0, 0.7, n // 5).repeat(5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "n", "difference", "comparisons"),
    [(graded, 400, 0.08, 1), (graded, 400, 0.08, 5), (binary, 400, 0.08, 1), (binary, 400, 0.08, 5),
     (clustered, 400, 0.3, 1), (clustered, 400, 0.3, 5)],
)  # fmt: skip
def test_four_of_five_studies_of_the_planned_size_show_the_difference(
    draw: Callable[..., tuple[Array, Array]], n: int, difference: float, comparisons: int
) -> None:
    """Pilots without a difference are planned from; studies of the planned size draw from the same population."""
    rng = np.random.default_rng(n + comparisons)

    def codes(number: int) -> Any:
        return np.arange(number) // 5 if draw is clustered else None

    plans = [
        stats.plan_study(*draw(rng, n, 0.0), difference, clusters=codes(n), comparisons=comparisons) for _k in range(60)
    ]
    asked = float(np.mean([one.questions or math.nan for one in plans]))
    size = round(asked / 5) * 5
    p = [
        stats.compare(*draw(rng, size, difference), clusters=codes(size), resamples=1_000, seed=k).p
        for k in range(1_000)
    ]
    assert np.mean(np.array(p) <= 0.05 / comparisons) == pytest.approx(0.8, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [graded, binary, clustered])
def test_resampled_differences_of_the_planned_mean_are_shown_in_four_of_five(
    draw: Callable[..., tuple[Array, Array]],
) -> None:
    """Questions, or whole pages, of the run itself drawn with replacement, moved to the difference of the plan."""
    rng = np.random.default_rng(7)
    n, difference = 400, 0.3 if draw is clustered else 0.08
    first, second = draw(rng, n, 0.0)
    width = 5 if draw is clustered else 1
    made = stats.plan_study(first, second, difference, clusters=np.arange(n) // 5 if draw is clustered else None)
    assert made.questions is not None
    moved = second - first
    if draw is binary:  # as many pairs differ as did, more of them up
        share = float(np.mean(moved != 0))
        pool, chances = np.array([-1.0, 0.0, 1.0]), [(share - difference) / 2, 1 - share, (share + difference) / 2]
    else:
        pool, chances = (moved - moved.mean() + difference).reshape(-1, width), None
    shown = 0
    for k in range(1_000):
        drawn = rng.choice(pool, made.questions // width, p=chances).ravel()
        sides = (
            ((drawn < 0).astype(float), (drawn > 0).astype(float)) if draw is binary else (np.zeros(len(drawn)), drawn)
        )
        labels = np.arange(len(drawn)) // width if width > 1 else None
        shown += stats.compare(*sides, clusters=labels, resamples=1_000, seed=k).verdict is Verdict.BETTER
    assert shown / 1_000 == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("values", [[3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3], [0.0] * 12 + [0.5, -0.25, 1, 0.75]])
def test_an_interval_of_a_spread_is_bonetts(values: list[float]) -> None:
    """Bonett (2006), section 2: exp(ln(c s²) ± z c √((γ − (n − 3) / n) / (n − 1))), c = n / (n − z), γ the kurtosis
    about the mean without 1 / (2 √(n − 4)) of the values at either end."""
    n, z = len(values), 1.959963984540054
    trimmed = sorted(values)[int(n / (2 * math.sqrt(n - 4))) : n - int(n / (2 * math.sqrt(n - 4)))]
    mean, middle = sum(values) / n, sum(trimmed) / len(trimmed)
    squares = sum((value - mean) ** 2 for value in values)
    kurtosis = n * sum((value - middle) ** 4 for value in values) / squares**2
    c = n / (n - z)
    half = z * c * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    ends = [math.sqrt(math.exp(math.log(c * squares / (n - 1)) + sign * half)) for sign in (-1, 1)]
    assert bonett(np.array(values), 0.95) == pytest.approx(tuple(ends), rel=1e-9)


def test_the_smallest_p_of_signs_is_a_mid_p_from_seven_groups_on() -> None:
    """2 of 2⁶ patterns are as far out as all signs alike; from seven groups on the pattern itself counts half."""
    assert (attainable_p(6), attainable_p(7)) == (2 / 2**6, 2 / 2**7 / 2)
    assert attainable_p(7, binary=True) == 2 / 2**7
    assert attainable_p(1) == 1.0
