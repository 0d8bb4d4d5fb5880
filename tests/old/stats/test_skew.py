"""Differences whose signs are not as likely up as down: skewed ones, clusters tied to their size, all pairs decided."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
import scipy.stats

from ragbench.old import stats
from ragbench.old.core.language import translator
from ragbench.old.core.types import Array, Comparison, Verdict
from ragbench.old.core.types.reason import Reason
from ragbench.old.stats import signs
from ragbench.old.stats.intervals import mean_draws, unit_draws
from ragbench.old.stats.signs import (
    STUDENTIZED,
    doubt,
    flipped,
    is_skewed,
    leans,
    may_be_skewed,
    p_beyond,
    ratios_together,
    studentized_p,
    tie,
)
from ragbench.old.stats.values import units_of
from ragbench.old.tiers.basics import verdict_tables


def skewed(n: int = 30, seed: int = 0) -> Array:
    """Exponential differences of mean 0, of which few are large."""
    return np.random.default_rng(seed).exponential(size=n) - 1


def tied(number: int = 20, seed: int = 0) -> tuple[Array, Array]:
    """Clusters whose questions differ the more the larger they are."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 20, number)
    codes = np.repeat(np.arange(number), sizes)
    return sizes[codes] / 10 + 0.3 * rng.normal(size=len(codes)), codes


def share_of_skewed(draw: str, n: int, samples: int = 400) -> float:
    rng = np.random.default_rng(n)
    made = {"t": lambda: rng.standard_t(3, n), "normal": lambda: rng.normal(size=n),
            "exponential": lambda: rng.exponential(size=n), "lognormal": lambda: rng.lognormal(size=n),
            "hits": lambda: rng.choice([-1.0, 1.0], n, p=[0.2, 0.8])}[draw]  # fmt: skip
    return float(np.mean([is_skewed(made()) for _ in range(samples)]))


@pytest.mark.parametrize(("draw", "n", "least", "most"), [
    ("exponential", 30, 0.6, 1), ("lognormal", 60, 0.85, 1), ("normal", 30, 0, 0.01), ("t", 30, 0, 0.1),
    ("hits", 40, 0, 0),
])  # fmt: skip
def test_what_looks_skewed(draw: str, n: int, least: float, most: float) -> None:
    assert least <= share_of_skewed(draw, n) <= most


def test_one_far_value_is_no_skew() -> None:
    values = np.linspace(-1, 1, 29)
    assert not is_skewed(np.append(values, 12.0))
    assert is_skewed(np.exp(np.linspace(-2, 2, 30)))
    assert is_skewed(-np.exp(np.linspace(-2, 2, 30)))
    assert not is_skewed(np.exp(np.linspace(-2, 2, 5)))


def test_studentized_p_is_that_of_a_plain_loop() -> None:
    values = np.sort(0.3 - skewed(25, 3))
    assert values.mean() > 0
    t = values.mean() / (values.std(ddof=1) / 5)
    ratios = []
    for block in unit_draws(25, 499, 7):
        for counts in block:
            drawn = np.repeat(values, counts)
            ratios.append((drawn.mean() - values.mean()) / (drawn.std(ddof=1) / 5))
    fewer = min(sum(one >= t for one in ratios), sum(one <= t for one in ratios))
    for own in (values, -values):
        p = studentized_p(units_of(own[:, None], None), 499, 7)
        assert p == pytest.approx(min(1, 2 * (fewer + 1) / 500)), "whichever side is called the baseline"
    assert p_beyond(np.array([np.nan, 1.0, 2.0]), 1.5) == 0.0, "a third of the ratios does not exist"


def test_zeros_tell_nothing_of_the_skew_of_what_moved() -> None:
    values = skewed(20) - 0.5
    among = np.concatenate([values, np.zeros(60)])
    assert signs.tested(units_of(among[:, None], None), 500, 1) == signs.tested(units_of(values[:, None], None), 500, 1)


def test_ratios_of_several_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(20), rng.integers(1, 6, 20))
    matrix = rng.normal(size=(len(codes), 2))
    units = units_of(matrix, codes)
    together, seen = ratios_together(units, 300, 4)
    for place in range(2):
        own = units.single(place)
        alone = mean_draws(own, 300, 4, studentize=True)[1]
        np.testing.assert_allclose(together[:, place], alone, rtol=1e-9, atol=1e-9)
        assert seen[place] == pytest.approx(float(own.means[0]) / math.sqrt(float(own.variances()[0])))


@pytest.mark.slow
def test_skewed_differences_of_mean_zero_are_called_none_as_often_as_is_said() -> None:
    """Signs alone err in some .08 of such samples of 30, where .05 is said; with the studentized bootstrap in .05."""
    rng, alone, both = np.random.default_rng(11), [], []
    for seed in range(1200):
        units = units_of(rng.exponential(size=30)[:, None] - 1, None)
        alone.append(flipped(units, 500, seed)[0] <= 0.05)
        both.append(signs.tested(units, 500, seed)[0] <= 0.05)
    assert np.mean(alone) > 0.07
    assert np.mean(both) < 0.06


def test_symmetric_differences_are_tested_by_signs_alone() -> None:
    rng, lost = np.random.default_rng(12), 0
    for seed in range(600):
        units = units_of(rng.standard_t(3, 30)[:, None] + 0.8, None)
        lost += (flipped(units, 300, seed)[0] <= 0.05) != (signs.tested(units, 300, seed)[0] <= 0.05)
    assert lost / 600 < 0.02


@pytest.mark.parametrize("seed", range(12))
def test_interval_word_and_p_agree_where_the_bootstrap_has_to(seed: int) -> None:
    moved = skewed(30, seed) - 0.25
    one = stats.compare(np.zeros(30), moved, resamples=999, seed=seed)
    assert (one.low <= 0 <= one.high) == one.verdict.unshown
    if leans(units_of(moved[:, None], None)):
        assert one.test.endswith(STUDENTIZED)
        assert one.method == "studentized_and_t"
        assert one.p >= flipped(units_of(np.sort(moved)[:, None], None), 999, seed)[0]
    for each in stats.compare_many({"0": np.zeros(30), "1": moved, "2": skewed(30, seed + 50)}, "0", resamples=999):
        assert each.p_adjusted is not None
        assert each.p_adjusted >= each.p
        assert (each.low <= 0 <= each.high) == each.verdict.unshown


@pytest.mark.slow
def test_a_family_of_skewed_differences_holds_its_level() -> None:
    """Six challengers of mean 0: max-T over signs alone finds one in some .15 of the families."""
    rng, any_found = np.random.default_rng(13), 0
    for seed in range(200):
        systems = {"0": np.zeros(30)} | {str(k): rng.exponential(size=30) - 1 for k in range(1, 7)}
        found = stats.compare_many(systems, "0", resamples=500, seed=seed)
        any_found += any(not one.verdict.unshown for one in found)
    assert any_found / 200 < 0.1


def test_a_tie_of_size_and_difference_is_seen() -> None:
    moved, codes = tied()
    sizes, sums = np.bincount(codes), np.bincount(codes, moved)
    units = units_of(moved[:, None], codes)
    weights = sizes / (1 + (sizes - 1) * units.alike)
    both = np.cov(sums / sizes, sizes, aweights=weights)
    assert tie(units) == pytest.approx(both[0, 1] / math.sqrt(both[0, 0] * both[1, 1]))
    assert tie(units_of(moved[:, None], None)) == 0
    alike = np.repeat(np.arange(20), 5)
    assert tie(units_of(np.random.default_rng(0).normal(size=(100, 1)), alike)) == 0
    rng = np.random.default_rng(2)
    by_chance = [tie(units_of(rng.normal(size=(len(codes), 1)), codes)) != 0 for _ in range(300)]
    assert np.mean(by_chance) < 0.15


@pytest.mark.parametrize(("won", "pairs", "p"), [(7, 8, 18 / 256), (12, 16, 2 * 2517 / 65536)])
def test_p_is_exact_where_every_pair_is_decided(won: int, pairs: int, p: float) -> None:
    """7 of 8: the chance of none or one on either side; mid-p would show both, in .070 and .077 of all."""
    moved = np.repeat([1.0, -1.0], [won, pairs - won])
    one = stats.compare(np.zeros(pairs), moved)
    assert one.p == pytest.approx(p)
    assert one.verdict is Verdict.NOT_SHOWN
    assert stats.compare(np.zeros(pairs + 1), [*moved, 0.0]).p < 0.05, "one is not decided: mid-p"


def test_hits_that_are_only_lost_are_seldom_called_not_worse() -> None:
    """A tenth of 157 lost: counted out, the interval lies above −.1 in no more than .025 (.042 with Student's t)."""
    chances = scipy.stats.binom.pmf(np.arange(40), 157, 0.1)
    first = np.ones(157)
    above = [stats.compare(first, first - (np.arange(157) < k), resamples=100).low > -0.1 for k in range(40)]
    assert 0.015 < float(chances @ np.array(above, dtype=float)) <= 0.025


def test_equivalence_of_hits_by_tangos_scores() -> None:
    """Both one-sided p at .025 are below it exactly where Tango's interval lies within the margin."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(20, 200))
        moved = rng.choice([0.0, 1.0, -1.0], n, p=[0.9, 0.06, 0.04])
        first = (moved < 0).astype(float)
        one = stats.compare(first, first + moved, margin=0.1, level=0.95, resamples=100)
        low, high = one.intervals["tango"]
        assert one.p_equivalence is not None
        assert (one.p_equivalence < 0.025) == (low > -0.1 and high < 0.1)


def test_skewed_differences_are_called_the_same_less_easily() -> None:
    values = np.exp(np.random.default_rng(4).normal(size=60)) - math.exp(0.5)
    one = stats.compare(np.zeros(60), values, margin=0.9, resamples=999)
    error, freedom = one.error, 59
    plain = max(scipy.stats.t.cdf((one.difference - 0.9) / error, freedom),
                scipy.stats.t.cdf((-one.difference - 0.9) / error, freedom))  # fmt: skip
    assert one.p_equivalence is not None
    assert one.p_equivalence > plain


def test_a_cluster_of_half_of_the_questions_leaves_less_freedom() -> None:
    """4 at least up to a third of all, 2.5 at a half, 1 from two thirds on."""
    rng, least = np.random.default_rng(3), {}
    for big in (10, 30, 60, 150):
        codes = np.repeat(np.arange(31), [big] + [1] * 30)
        found = [units_of((rng.normal(size=31)[codes] + 0.01 * rng.normal(size=len(codes)))[:, None], codes).freedom
                 for _ in range(20)]  # fmt: skip
        least[big] = min(found)
    share = {big: big / (big + 30) for big in least}
    for big, found in least.items():
        floor = 4 - 9 * max(share[big] - 1 / 3, 0)
        assert found >= max(floor, 1.0) - 1e-9
    assert least[30] == pytest.approx(2.5)
    assert least[150] < 1.5


def test_a_tie_is_beyond_chance_by_students_t_of_the_weighted_correlation() -> None:
    sizes = np.arange(1, 11)
    codes = np.repeat(np.arange(10), sizes)
    values = np.random.default_rng(5).normal(size=len(codes)) + 0.1 * sizes[codes]
    units = units_of(values[:, None], codes)
    means = np.bincount(codes, values) / sizes
    weight = sizes / (1 + (sizes - 1) * units.alike)
    first, second = means - np.average(means, weights=weight), sizes - np.average(sizes, weights=weight)
    expected = np.sum(weight * first * second) / math.sqrt(np.sum(weight * first**2) * np.sum(weight * second**2))
    p = 2 * scipy.stats.t.sf(abs(expected) * math.sqrt(8 / (1 - expected**2)), 8)
    assert tie(units, 1.001 * p) == pytest.approx(expected)
    assert tie(units, 0.999 * p) == 0


def doubtful() -> Comparison:
    moved, codes = tied()
    return stats.compare(np.zeros(len(moved)), moved, clusters=codes)


def test_what_is_in_doubt_is_said_beside_the_word_in_both_languages() -> None:
    one = doubtful()
    assert one.verdict is Verdict.BETTER
    share = f"{tie(units_of(tied()[0][:, None], tied()[1])):.1f}"
    reason = Reason("the difference grows with the size of the group (correlation {share})", share=Decimal(share))
    assert one.doubt.endswith(reason)
    one = replace(one, doubt=reason)
    english = f"{one.doubt}: the test may err twice as often as it says"
    russian = translator("ru")
    assert verdict_tables.doubted(one, translator("en")) == english
    said = verdict_tables.doubted(one, russian)
    assert said == (
        f"разность растёт с размером группы (корреляция {share.replace('.', ',')}): "
        "критерий может ошибаться вдвое чаще, чем заявлено"
    )
    assert english in verdict_tables.beside(one, translator("en"), 3)
    assert f"mrr: {english}" in verdict_tables.comparisons([("mrr", one)], translator("en")).notes
    assert f"mrr: {said}" in verdict_tables.comparisons([("mrr", one)], russian).notes


def test_no_doubt_is_said_of_what_is_not_shown() -> None:
    moved, codes = tied()
    one = stats.compare(np.zeros(len(moved)), moved - moved.mean(), clusters=codes)
    assert one.verdict is Verdict.NOT_SHOWN
    assert one.doubt
    assert verdict_tables.doubted(one, translator("en")) == ""


def test_few_differences_that_lean_a_little_are_in_doubt() -> None:
    """By hand: acceleration .029, mean and median .20 deviations apart; the same twice over is 30, and tells enough."""
    few = np.r_[np.linspace(-1, 0.2, 11), 0.6, 0.9, 1.2, 1.6]
    said = "few differences decide, and they are skewed"
    off = few - few.mean()
    skewness = float(np.mean(off**3) / np.mean(off**2) ** 1.5)
    assert 0.02 < skewness / 6 / math.sqrt(15) < 0.03
    assert not is_skewed(few)
    assert may_be_skewed(few)
    assert may_be_skewed(-few)
    assert stats.compare(np.zeros(15), few, resamples=200).doubt == said
    twice = np.concatenate([few, few + 1e-3])
    assert stats.compare(np.zeros(30), twice, resamples=200).doubt == ""
    assert not may_be_skewed(np.linspace(-1, 1, 15))
    assert not may_be_skewed(np.round(few)), "the tail of a few grades is no tail"


@pytest.mark.parametrize(("n", "least"), [(15, 0.8), (150, 0.8)])
def test_most_samples_of_a_long_tail_have_the_sentence(n: int, least: float) -> None:
    """Of lognormal differences; of normal ones at most a fifth, which costs no power."""
    rng = np.random.default_rng(n)
    shares = {}
    for name, draw in (("long", lambda: rng.lognormal(size=n)), ("even", lambda: rng.standard_normal(n))):
        drawn = [draw() for _ in range(200)]
        shares[name] = np.mean([bool(doubt(units_of((one - one.mean())[:, None], None))) for one in drawn])
    assert shares["long"] >= least
    assert shares["even"] <= 0.2


def test_few_skewed_differences_and_a_large_group_are_in_doubt() -> None:
    one = stats.compare(np.zeros(30), np.exp(np.linspace(-2, 2, 30)))
    assert one.doubt == "few differences decide, and they are skewed"
    assert stats.compare(np.zeros(30), np.linspace(-1, 3, 30)).doubt == ""
    codes = np.repeat(np.arange(13), [12] + [1] * 12)
    half = stats.compare(np.zeros(24), 1 + 0.1 * np.random.default_rng(0).normal(size=24), clusters=codes)
    assert "one group holds 50 of 100 questions" in half.doubt


def test_a_mean_that_few_values_decide_says_so_on_every_output() -> None:
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 1.5, 30)
    one, even = stats.estimate(values, resamples=500), stats.estimate(rng.normal(size=30), resamples=500)
    assert (one.doubt, even.doubt) == ("few values decide the mean, and they are skewed", "")
    english = f"{one.doubt}: the interval may miss the true value twice as often as it says"
    assert verdict_tables.doubted(one, translator("en")) == english
    russian = verdict_tables.doubted(one, translator("ru"))
    assert russian.startswith("среднее решают немногие значения")
    assert f"latency: {english}" in verdict_tables.estimates(("metric",), [(("latency",), one)], translator("en")).notes
    assert stats.estimate((values > 1).astype(float), bounds=(0, 1), resamples=500).doubt == "", "a scale with ends"


def test_a_mean_of_values_at_an_end_of_the_scale_says_that_few_tell_how_far_the_others_lie() -> None:
    """0/1 values, those of few questions spread over the scale, and ten away from its end tell enough."""
    said = "hardly any value lies away from an end of the scale"
    ends = np.ones(100)

    def doubt_of(*away: float, of: np.ndarray = ends) -> str:
        values = of.copy()
        values[: len(away)] = away
        return stats.estimate(values, bounds=(0, 1), resamples=300).doubt

    assert doubt_of(0.5, 0.75) == doubt_of(*[0.5] * 9) == doubt_of(0.5, of=1 - ends) == said
    assert [doubt_of(*[0.5] * 10), doubt_of(0.0, 0.0), doubt_of(), doubt_of(*[0.5, 0.75] * 3, of=ends[:9])] == [""] * 4
    pairs = np.repeat(np.arange(50), 2)
    assert stats.estimate([0.5, *ends[1:]], bounds=(0, 1), clusters=pairs, resamples=300).doubt == "", "Student's"
    one = stats.estimate([0.5, *ends], bounds=(0, 1), resamples=300)
    assert verdict_tables.doubted(one, translator("ru")) == (
        "почти все значения лежат на одном конце шкалы: интервал может не содержать истинного значения вдвое чаще, чем "
        "заявлено"
    )


def test_a_mean_says_that_one_group_decides_it_and_that_it_goes_with_the_size() -> None:
    codes = np.repeat(np.arange(13), [12] + [1] * 12)
    hits = np.random.default_rng(0).integers(0, 2, 24).astype(float)
    half = stats.estimate(hits, clusters=codes, bounds=(0, 1), resamples=500)
    assert "one group holds 50 of 100 questions" in half.doubt
    moved, sized = tied()
    assert "the value grows with the size of the group" in stats.estimate(moved, clusters=sized, resamples=500).doubt
    alike = stats.estimate(hits, clusters=np.repeat(np.arange(2), 12), bounds=(0, 1), resamples=500)
    assert alike.doubt == "", "two groups of one size"
