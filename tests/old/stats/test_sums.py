"""Statistics of totals: F1 and corpus BLEU, resampled and randomized, against sacrebleu and the bootstrap of a loop."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from ragbench.old import stats
from ragbench.old.core.types import Array, Verdict
from ragbench.old.stats import coefficients
from ragbench.old.stats.sums import Pseudo, bayesian
from ragbench.old.stats.values import Units
from tests.old.stats.random_tables import on_random_tables

WORDS = np.array(
    ["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "rug", "red", "old", "and", "then", "it", "was"]
)


def f1(totals: np.ndarray) -> np.ndarray:
    """From totals of true positives, false positives and false negatives."""
    return np.asarray(2 * totals[..., 0] / (2 * totals[..., 0] + totals[..., 1] + totals[..., 2]))


def bleu(totals: np.ndarray) -> np.ndarray:
    """Corpus BLEU (Papineni et al. 2002) from totals of lengths (2), matches (4) and possible matches (4)."""
    system, reference, matches, possible = totals[..., 0], totals[..., 1], totals[..., 2:6], totals[..., 6:10]
    brevity = np.where(system < reference, np.exp(1 - reference / system), 1.0)
    return np.asarray(100 * brevity * np.exp(np.mean(np.log(matches / possible), axis=-1)))


def corpus(seed: int, noise: float, number: int = 40) -> tuple[list[str], list[str]]:
    """References, and a system's answers that differ from them in a share of the words."""
    rng = np.random.default_rng(seed)
    truth = [rng.choice(WORDS, int(rng.integers(6, 20))) for _ in range(number)]
    said = [
        np.where(rng.random(len(one)) < noise, rng.choice(WORDS, len(one)), one)[: len(one) - seed % 3] for one in truth
    ]
    return [" ".join(one) for one in truth], [" ".join(one) for one in said]


def sufficient(truth: list[str], said: list[str]) -> np.ndarray:
    return np.array(BLEU()._extract_corpus_statistics(said, [truth]), dtype=float)


@on_random_tables
def test_corpus_bleu_agrees_with_sacrebleu(seed: int) -> None:
    truth, said = corpus(seed, 0.1 + 0.002 * seed)
    peer = BLEU().corpus_score(said, [truth]).score
    one = stats.resample(bleu, sufficient(truth, said), resamples=100)
    assert one.value == pytest.approx(peer, abs=1e-9)
    assert one.low is not None
    assert one.high is not None
    assert one.low < one.value < one.high


def test_bleu_intervals_and_tests_agree_with_sacrebleu_within_monte_carlo_error() -> None:
    truth, first = corpus(1, 0.30, 120)
    _, second = corpus(1, 0.34, 120)
    tables = [sufficient(truth, said) for said in (first, second)]
    one = stats.compare_statistic(bleu, *tables, resamples=10_000)
    systems = [("first", first), ("second", second)]
    randomized = PairedTest(systems, {"BLEU": BLEU(references=[truth])}, None, test_type="ar", n_samples=10_000)()[1]
    assert one.p == pytest.approx(randomized["BLEU"][1].p_value, abs=0.03)
    assert one.difference == pytest.approx(
        BLEU().corpus_score(second, [truth]).score - BLEU().corpus_score(first, [truth]).score
    )
    resampled = PairedTest(systems, {"BLEU": BLEU(references=[truth])}, None, test_type="bs", n_samples=4_000)()[1]
    single = stats.resample(bleu, tables[0])
    low, high = single.intervals["percentile"]
    assert (high - low) / 2 == pytest.approx(resampled["BLEU"][0].ci, rel=0.1)


@on_random_tables
def test_f1_agrees_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, said = rng.random((2, int(rng.integers(10, 120)))) < rng.uniform(0.2, 0.8)
    rows = np.column_stack([truth & said, ~truth & said, truth & ~said])
    one = stats.resample(f1, rows, resamples=100)
    assert one.value == pytest.approx(sklearn.metrics.f1_score(truth, said), abs=1e-12)


def test_resampling_a_mean_is_the_estimate_of_a_mean() -> None:
    values = np.random.default_rng(0).gamma(1, 1, 80)
    rows = np.column_stack([values, np.ones(80)])
    one = stats.resample(lambda totals: totals[..., 0] / totals[..., 1], rows, resamples=20_000)
    mean = stats.estimate(values, resamples=20_000)
    assert one.value == pytest.approx(mean.value)
    for kind in ("bca", "percentile"):
        assert one.intervals[kind] == pytest.approx(mean.intervals[kind], abs=0.02)
    half = 1.959963984540054 * values.std() / math.sqrt(80)
    assert one.intervals["delta"] == pytest.approx((mean.value - half, mean.value + half), abs=1e-6)


def test_clusters_are_summed_before_they_are_drawn() -> None:
    rng = np.random.default_rng(0)
    cells = rng.choice(4, 30, p=[0.4, 0.1, 0.2, 0.3])
    rows = np.eye(4)[cells][:, :3]
    copied, codes = np.repeat(rows, 5, axis=0), np.repeat(np.arange(30), 5)
    alone, honest = stats.resample(f1, rows), stats.resample(f1, copied, clusters=codes)
    assert honest.intervals["delta"] == pytest.approx(alone.intervals["delta"], abs=1e-6)
    assert (honest.clusters, honest.n) == (30, 150)


def test_approximate_randomization_holds_its_level_and_finds_a_difference() -> None:
    rng = np.random.default_rng(0)
    first = rng.choice(4, 200, p=[0.4, 0.15, 0.15, 0.3])
    better = np.where(rng.random(200) < 0.5, np.where(first == 1, 3, np.where(first == 2, 0, first)), first)
    shown = stats.compare_statistic(f1, np.eye(4)[first][:, :3], np.eye(4)[better][:, :3])
    assert (shown.verdict, shown.test) == (Verdict.BETTER, "sign flips of pseudo-values")
    assert shown.p < 0.001
    assert stats.compare_statistic(f1, np.eye(4)[better][:, :3], np.eye(4)[first][:, :3]).verdict is Verdict.WORSE
    rejected = 0
    for seed in range(200):
        draw = np.random.default_rng(seed)
        coin = draw.random(200) < 0.5
        sides = np.where(coin, first, better), np.where(coin, better, first)
        tables = [np.eye(4)[side][:, :3] for side in sides]
        rejected += stats.compare_statistic(f1, *tables, resamples=300, seed=seed).p <= 0.05
    assert rejected <= 20


@pytest.mark.parametrize("groups", [0, 12])
def test_a_mean_taken_as_a_statistic_could_have_shown_what_a_mean_could(groups: int) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 240))
    codes = np.repeat(np.arange(groups), 240 // groups) if groups else None
    tables = [np.column_stack([values, np.ones(240)]) for values in (first, second)]
    one = stats.compare_statistic(lambda totals: totals[..., 0] / totals[..., 1], *tables, clusters=codes)
    plain = stats.compare(first, second, clusters=codes)
    assert one.error == pytest.approx(plain.error, rel=0.04)
    assert one.minimum_detectable == pytest.approx(plain.minimum_detectable, rel=0.04)
    assert one.groups == plain.groups
    in_family = stats.adjust([one] * 10)[0]
    assert in_family.minimum_detectable is not None
    assert one.minimum_detectable is not None
    assert in_family.minimum_detectable > 1.15 * one.minimum_detectable


def test_a_statistic_of_five_sentences_cannot_be_told_apart() -> None:
    tables = [np.column_stack([np.full(5, value), np.ones(5)]) for value in (0.0, 1.0)]
    one = stats.compare_statistic(lambda totals: totals[..., 0] / totals[..., 1], *tables)
    assert (one.verdict, one.groups_needed, one.minimum_detectable) == (Verdict.CANNOT_BE_SHOWN, 6, None)


def test_what_cannot_be_resampled_says_so() -> None:
    empty = stats.resample(f1, np.zeros((0, 3)))
    assert (empty.note, empty.n) == ("empty", 0)
    assert math.isnan(empty.value)
    assert stats.resample(f1, [[1.0, 0.0, 1.0]]).note == "few"
    assert stats.resample(f1, np.tile([1.0, 1.0, 0.0], (9, 1))).note == "no_spread"
    undefined = stats.resample(f1, np.zeros((9, 3)))
    assert (undefined.note, undefined.low) == ("undefined", None)
    gaps = stats.resample(f1, [[1.0, 0.0, 1.0], [math.nan, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    assert (gaps.n, gaps.n_unmeasured) == (3, 1)
    rare = stats.resample(f1, np.vstack([[1.0, 0.0, 0.0], np.zeros((40, 3))]))
    assert rare.note in {"no_spread", "no_bca"}
    nothing = stats.compare_statistic(f1, np.zeros((0, 3)), np.zeros((0, 3)))
    assert (nothing.verdict, nothing.n) == (Verdict.NOT_SHOWN, 0)


def test_a_statistic_of_one_vector_serves_too() -> None:
    """Even where there are as many units as columns, so that shapes alone would not tell rows from a vector."""
    rows = np.eye(4)[np.random.default_rng(0).choice(4, 60, p=[0.4, 0.1, 0.2, 0.3])][:, :3]
    whole = stats.resample(f1, rows, resamples=500)
    single = stats.resample(lambda t: 2 * t[0] / (2 * t[0] + t[1] + t[2]), rows, resamples=500)
    assert single == whole
    square = np.array([[3.0, 1.0, 0.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    vector = stats.resample(lambda t: 2 * t[0] / (2 * t[0] + t[1] + t[2]), square, resamples=500)
    assert vector.intervals["delta"] == pytest.approx(stats.resample(f1, square, resamples=500).intervals["delta"])


def test_bad_statistics_are_named() -> None:
    with pytest.raises(ValueError, match="it must return"):
        stats.resample(lambda totals: totals[..., :1], np.ones((5, 2)) * np.arange(2))
    with pytest.raises(ValueError, match="infinite"):
        stats.resample(f1, [[1.0, math.inf, 0.0]])
    with pytest.raises(ValueError, match="pair them by sentence"):
        stats.compare_statistic(f1, np.ones((3, 3)), np.ones((4, 3)))
    with pytest.raises(ValueError, match="shape"):
        stats.resample(f1, np.ones((2, 3, 4)))


def test_few_items_get_the_interval_on_fishers_z() -> None:
    """κ of 40 items: tanh(artanh κ ± t(39) · SE / (1 − κ²)), with the standard error of the delta interval."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 40)
    b = np.where(rng.random(40) < 0.7, a, rng.integers(0, 3, 40))
    one = stats.agreement(a, b)["cohen_kappa"]
    assert (one.method, one.note) == ("bayesian", "few")
    low, high = one.intervals["delta"]
    error = (high - low) / 2 / 1.959963984540054
    half = scipy.stats.t.ppf(0.975, 39) * error / (1 - one.value**2)
    expected = math.tanh(math.atanh(one.value) - half), math.tanh(math.atanh(one.value) + half)
    assert one.intervals["fisher"] == pytest.approx(expected, abs=1e-12)
    noisy = b + rng.normal(size=40)
    numbers = stats.agreement(a, noisy, scale="interval")["pearson"]
    assert (numbers.method, numbers.note) == ("fisher", "few")
    many = stats.agreement(np.tile(a, 5), np.tile(noisy, 5), scale="interval")["pearson"]
    assert many.method == "bca"


def test_the_bayesian_bootstrap_of_two_categories_is_dirichlet_s() -> None:
    """κ of 30 items in a table of four cells: quantiles of κ over Dirichlet's shares, three eighths beside each cell,
    Student's quantile farther from the median on Fisher's z."""
    a = np.repeat([True, True, False, False], [20, 3, 2, 5])
    b = np.repeat([True, False, True, False], [20, 3, 2, 5])
    one = stats.agreement(a, b, resamples=100_000)["cohen_kappa"]
    shares = np.random.default_rng(9).dirichlet(np.array([5, 2, 3, 20]) + 3 / 8, size=200_000)
    same = shares[:, 0] + shares[:, 3]
    first, second = shares[:, 2] + shares[:, 3], shares[:, 1] + shares[:, 3]
    chance = first * second + (1 - first) * (1 - second)
    low, middle, high = np.arctanh(np.quantile((same - chance) / (1 - chance), [0.025, 0.5, 0.975]))
    farther = scipy.stats.t.ppf(0.975, 29) / scipy.stats.norm.ppf(0.975)
    ends = np.tanh([middle - (middle - low) * farther, middle + (high - middle) * farther])
    assert (one.low, one.high) == pytest.approx(tuple(ends), abs=0.01)


def test_few_clusters_spread_more_than_their_weights() -> None:
    """The same units as clusters: on Fisher's z the interval is √((C + 1) / (C − 1)) as wide, here √(13 / 11)."""
    counts = np.array([4, 1, 2, 5])
    alone = Units(np.eye(4) * 5, np.full(4, 5.0), counts, False, np.zeros(4))
    pseudo = Pseudo(np.full(4, 3 / 8))

    def kappa(totals: Array) -> Array:
        return coefficients.cohen_kappa(totals.reshape(*totals.shape[:-1], 2, 2))

    value = float(kappa(counts.astype(float)))
    widths = [
        np.ptp(np.arctanh(bayesian(kappa, units, pseudo, value, 11.0, 0.95, 2_000, 0)))
        for units in (alone, replace(alone, clustered=True))
    ]
    assert widths[1] / widths[0] == pytest.approx(math.sqrt(13 / 11))


def test_rounding_is_no_spread_whatever_the_value() -> None:
    """A statistic that is 0 for any units, and one that is 0 for these: only the second moves with them."""
    rows = np.random.default_rng(1).random((40, 2)) * 1e6

    def nothing(totals: np.ndarray) -> np.ndarray:
        return totals[..., 0] / totals[..., 1] - (3 * totals[..., 0]) / (3 * totals[..., 1])

    def zero(totals: np.ndarray) -> np.ndarray:
        return totals[..., 0] / totals[..., 1] - rows[:, 0].sum() / rows[:, 1].sum()

    for statistic, note in ((nothing, "no_spread"), (zero, "")):
        one = stats.resample(statistic, rows, resamples=200)
        assert abs(one.value) < 1e-12
        assert (one.note, one.low is None) == (note, note != "")


@pytest.mark.parametrize("method", ["delta", "percentile", "bca"])
def test_an_interval_that_is_asked_for_is_printed_without_an_excuse(method: str) -> None:
    rows = np.random.default_rng(3).integers(0, 4, (60, 3)).astype(float)
    one = stats.resample(f1, rows, method=method, resamples=500)
    assert (one.method, one.note) == (method, "")
    assert (one.low, one.high) == one.intervals[method]
    assert set(one.intervals) == {"delta", "percentile", "bca"}, "Fisher's z is for what ends at one"
    two = stats.resample(f1, [[3.0, 1.0, 1.0], [2.0, 4.0, 0.0]], resamples=500)
    assert two.note != "few", "two units have a spread"
    with pytest.raises(ValueError, match="level"):
        stats.resample(f1, rows, level=1.5)
