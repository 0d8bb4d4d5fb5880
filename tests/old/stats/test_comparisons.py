"""Paired comparisons: tests against peers, verdicts in the metric's direction, equivalence, power, awkward pairs."""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.weightstats import ttost_paired

from ragbench.old import stats
from ragbench.old.core.types import Comparison, Verdict
from ragbench.old.stats.intervals import tango
from ragbench.old.stats.signs import rank_test_p
from ragbench.old.stats.verdicts import verdict_of
from tests.old.stats.random_tables import on_random_tables


@on_random_tables
def test_binary_pairs_get_mcnemars_test(seed: int) -> None:
    """From seven pairs on the mid-p: the exact p less the chance of just what was seen; a published value is below."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    first, second = rng.random(n) < rng.random(), rng.random(n) < rng.random()
    table = [[np.sum(first & second), np.sum(first & ~second)], [np.sum(~first & second), np.sum(~first & ~second)]]
    one = stats.compare(first, second, resamples=100)
    up, down = table[1][0], table[0][1]
    assert one.test == ("McNemar, mid-p" if up + down < n else "McNemar, exact")
    seen = scipy.stats.binom.pmf(min(up, down), up + down, 0.5) if 7 <= n != up + down and up != down else 0.0
    assert one.p == pytest.approx(mcnemar(table, exact=True).pvalue - seen, abs=1e-9)


def test_the_published_mid_p() -> None:
    """Bentur et al. (2009), as Fagerland, Lydersen, Laake (2013) test it: 7 against 1 of 21, exact .070, mid-p .039."""
    first = [1] + [0] * 7 + [1] + [0] * 12
    second = [0] + [1] * 7 + [1] + [0] * 12
    assert stats.compare(first, second).p == pytest.approx(0.0391, abs=5e-5)
    assert stats.compare(first, second).verdict is Verdict.BETTER


@pytest.mark.slow
@pytest.mark.parametrize(("n", "difference", "named"), [(60, 0.15, 0.57), (157, 0.127, 0.83)])
def test_mcnemars_mid_p_is_as_strong_as_the_chi_square_test_of_its_level(
    n: int, difference: float, named: float
) -> None:
    """Every table counted out, three of ten pairs moved: the level is at most .05, and at that very level χ² shows as
    much, to within what the few tables that divide the two can tell."""
    fewest, most = (int(each) for each in scipy.stats.binom.interval(1 - 1e-9, n, 0.3))
    tables = [(k, up) for k in range(fewest, most + 1) for up in range(k // 2 + 1)]
    mid = np.array([stats.randomization_p(np.repeat([1.0, -1.0, 0.0], [up, k - up, n - k]))[0] for k, up in tables])
    chi = np.array([scipy.stats.chi2.sf((k - 2 * up) ** 2 / max(k, 1), 1) for k, up in tables])

    def chance(moving: float) -> np.ndarray:
        binomial = scipy.stats.binom.pmf
        return np.array([
            binomial(k, n, 0.3) * (binomial(up, k, moving) + (binomial(k - up, k, moving) if 2 * up < k else 0))
            for k, up in tables
        ])  # fmt: skip

    equal, better = chance(0.5), chance((1 + difference / 0.3) / 2)
    level, power = equal[mid <= 0.05].sum(), better[mid <= 0.05].sum()
    assert 0.033 < level <= 0.05
    assert power >= named
    order = np.argsort(chi, kind="stable")
    assert power >= np.interp(level, np.cumsum(equal[order]), np.cumsum(better[order])) - 0.001


@on_random_tables
def test_few_pairs_get_every_sign_pattern(seed: int) -> None:
    """Up to 13 pairs the test is complete: SciPy's exact permutation test, with ties in half of the tables."""
    rng = np.random.default_rng(seed)
    moved = rng.normal(size=int(rng.integers(2, 11)))
    moved = np.round(moved, 0 if seed % 2 else 9)
    one = stats.compare(np.zeros(len(moved)), moved)
    peer = scipy.stats.permutation_test((moved,), np.sum, permutation_type="samples", n_resamples=np.inf)
    sums = np.abs(peer.null_distribution)
    tied = np.isclose(sums, abs(moved.sum()), rtol=1e-9, atol=1e-9).mean()
    alike = np.ptp(np.abs(moved)) < 1e-9  # all decided, by the same: the mid-p would be too coarse
    half = tied / 2 if len(moved) >= 7 and abs(moved.sum()) > 1e-9 and not alike else 0.0
    assert one.p == pytest.approx((sums >= abs(moved.sum()) - 1e-9).mean() - half)
    assert one.test == "sign flips, complete" or np.isin(moved, (0, 1)).all()


def test_sign_flips_agree_with_scipy_within_monte_carlo_error() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        moved = np.round(rng.normal(0.12, 1, 120), seed % 3)
        one = stats.compare(np.zeros(120), moved, resamples=20_000, seed=seed)
        peer = scipy.stats.permutation_test((moved,), np.sum, permutation_type="samples", n_resamples=20_000, rng=seed)
        tied = np.isclose(np.abs(peer.null_distribution), abs(moved.sum()), rtol=1e-9).mean()
        assert one.p == pytest.approx(peer.pvalue - tied / 2, abs=5 * math.sqrt(one.p * (1 - one.p) / 20_000) + 1e-4)
        halves = 2 * one.p * 20_001
        assert round(halves) == pytest.approx(halves, abs=1e-6), "p = (b + (t + 1) / 2) / (B + 1)"


def test_whole_clusters_flip_together() -> None:
    """Six clusters have 64 sign patterns: p is their share, whatever the number of questions."""
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    moved = rng.normal(0.3, 1, len(codes))
    sums = np.bincount(codes, weights=moved)
    patterns = np.array(list(itertools.product([-1, 1], repeat=6))) @ sums
    expected = np.mean(np.abs(patterns) >= abs(sums.sum()) - 1e-12)
    one = stats.compare(np.zeros(len(codes)), moved, clusters=codes)
    assert one.p == pytest.approx(expected, abs=1e-12)
    assert (one.clusters, one.method, one.note) == (6, "t_effective", "few_clusters")
    spread = moved - moved.mean()
    error = math.sqrt(np.sum(np.bincount(codes, weights=spread) ** 2) * 6 / 5) / len(codes)
    low, high = one.intervals["t"]
    assert (high - low) / 2 == pytest.approx(scipy.stats.t.ppf(0.975, 5) * error, rel=1e-12)
    assert one.low < low < high < one.high


def test_copies_of_one_question_prove_nothing_more() -> None:
    first = np.array([0, 0, 1, 0, 1, 1, 0, 1, 0, 0], dtype=float)
    second = np.array([1, 1, 1, 0, 1, 1, 1, 1, 0, 1], dtype=float)
    alone = stats.compare(first, second)
    copied = stats.compare(np.repeat(first, 30), np.repeat(second, 30), clusters=np.repeat(np.arange(10), 30))
    assert copied.p == pytest.approx(alone.p, abs=1e-12)
    assert stats.compare(np.repeat(first, 30), np.repeat(second, 30)).p < 1e-9


@on_random_tables
def test_equivalence_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=int(rng.integers(20, 80)))
    second = first + rng.normal(0.02, 0.3, len(first))
    margin = float(rng.uniform(0.02, 0.3))
    one = stats.compare(first, second, margin=margin, resamples=100)
    assert one.p_equivalence == pytest.approx(ttost_paired(second, first, -margin, margin)[0], abs=1e-9)


def test_the_four_words() -> None:
    rng = np.random.default_rng(0)
    first = rng.normal(size=200)
    up, level = first + rng.normal(0.3, 0.5, 200), first + rng.normal(0, 0.1, 200)
    assert stats.compare(first, up).verdict is Verdict.BETTER
    assert stats.compare(first, up, better="lower").verdict is Verdict.WORSE
    assert stats.compare(up, first).verdict is Verdict.WORSE
    assert stats.compare(first, level).verdict is Verdict.NOT_SHOWN
    assert stats.compare(first, level, margin=0.1).verdict is Verdict.SAME
    assert stats.compare(first, level, margin=0.001).verdict is Verdict.NOT_SHOWN
    slightly = stats.compare(first, up, margin=2.0).verdict
    assert slightly is Verdict.SLIGHTLY_BETTER, "a shown difference is never called the same"
    assert stats.compare(first, up, margin=2.0, better="lower").verdict is Verdict.SLIGHTLY_WORSE
    assert stats.compare(first, up, margin=0.3).verdict is Verdict.BETTER, "its interval reaches beyond the margin"


def test_not_shown_says_what_could_have_been_shown() -> None:
    rng = np.random.default_rng(1)
    first = rng.normal(size=60)
    second = first + rng.normal(0.05, 0.5, 60)
    one = stats.compare(first, second)
    assert (one.verdict, one.margin, one.questions_needed) == (Verdict.NOT_SHOWN, None, None)
    deviation = np.std(second - first, ddof=1)
    unbiased = deviation / (math.sqrt(2 / 59) * math.exp(math.lgamma(30) - math.lgamma(29.5)))
    assert one.minimum_detectable == pytest.approx(stats.minimum_detectable_difference(unbiased, 60))
    for other in (second, second - one.difference):  # what was seen says nothing of what is to be shown
        planned = stats.with_margin(stats.compare(first, other), 0.1)
        assert (planned.margin, planned.questions_needed) == (0.1, stats.sample_size(0.1, unbiased))
    assert stats.with_margin(planned, None).questions_needed is None
    tested = stats.compare(first, second, margin=0.1)
    assert stats.with_margin(tested, 0.3) == tested, "its margin was tested"
    assert tested.questions_needed == planned.questions_needed
    for size in (0.0, -0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="smallest difference of interest is above 0"):
            stats.with_margin(one, size)
    assert one.effect_size == pytest.approx(one.difference / deviation)


def test_pairs_with_a_gap_are_dropped_and_counted() -> None:
    one = stats.compare([1, None, 0, 1, 0.5], [1, 1, math.nan, 0, 1.0])
    assert (one.n, one.n_dropped) == (3, 2)
    assert one.difference == pytest.approx((0 - 1 + 0.5) / 3)


def test_hits_get_tangos_score_interval() -> None:
    """Bentur et al. (2009), in Fagerland, Lydersen, Laake (2014): 1 of 21 moved up, 7 down, −.517 to −.026."""
    first = np.repeat([0.0, 1.0, 1.0, 0.0], [1, 7, 1, 12])
    second = np.repeat([1.0, 0.0, 1.0, 0.0], [1, 7, 1, 12])
    one = stats.compare(first, second)
    assert (one.method, one.note) == ("tango", "few_moved")
    assert (one.low, one.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


@pytest.mark.parametrize(("up", "down", "n"), [(6, 2, 100), (0, 9, 80), (12, 2, 50), (0, 0, 50), (5, 11, 16)])
def test_tangos_ends_are_where_the_likeliest_shares_put_the_score(up: int, down: int, n: int) -> None:
    """The score at each end is the normal quantile, with the standard error of that difference's likeliest table."""
    quantile = scipy.stats.norm.ppf(0.975)
    for end in tango(up, down, n, 0.95):

        def unlikely(share: float, end: float = end) -> float:  # of pairs down; those up are as many more as the end
            chances = np.clip([share + end, share, 1 - 2 * share - end], 1e-300, 1)
            return -float(np.dot([up, down, n - up - down], np.log(chances)))

        within = max(0.0, -end), (1 - end) / 2
        share = scipy.optimize.minimize_scalar(unlikely, bounds=within, method="bounded", options={"xatol": 1e-12}).x
        error = math.sqrt(n * (2 * share + end - end**2))
        assert abs(up - down - n * end) / error == pytest.approx(quantile, rel=1e-4)


@pytest.mark.parametrize("scale", [1, 100])
def test_the_pairs_that_bonett_and_price_add_move_as_far_as_those_that_did(scale: int) -> None:
    """100 pairs, of which 0.4 and −0.2 moved: the two that are added move by the root of (0.16 + 0.04) / 2 = 0.1."""
    first = np.full(100, 0.5)
    second = first + np.array([0.4, -0.2] + [0.0] * 98)
    one = stats.compare(first * scale, second * scale, margin=0.03 * scale)
    centre, freedom = 0.2 / 102, 99
    error = math.sqrt(((0.2 + 0.2) / 102 - centre**2) / 102)
    half = scipy.stats.t.ppf(0.975, freedom) * error
    assert (one.low, one.high) == pytest.approx(((centre - half) * scale, (centre + half) * scale), rel=1e-12)
    assert one.p_equivalence == pytest.approx(scipy.stats.t.cdf((centre - 0.03) / error, freedom), abs=1e-12)


def test_a_dense_skewed_difference_has_the_studentized_interval_and_a_sparse_one_student_s() -> None:
    moves = np.random.default_rng(2).lognormal(0, 1.5, 60)
    dense = stats.compare(np.zeros(100), np.append(moves, np.zeros(40)))
    assert (dense.method, dense.note) == ("studentized_and_t", "skewed")
    studentized, student = dense.intervals["studentized"], dense.intervals["t"]
    assert dense.low == student[0] < studentized[0], "a long tail upwards: the bootstrap's interval lies higher"
    assert dense.high == studentized[1] > student[1]
    sparse = stats.compare(np.zeros(200), np.append(moves, np.zeros(140)))
    assert (sparse.method, sparse.note) == ("t", "few")
    even = stats.compare(np.zeros(100), np.append(np.random.default_rng(2).normal(1, 1, 60), np.zeros(40)))
    assert (even.method, even.note) == ("t", "few")


def test_two_systems_that_never_differ() -> None:
    hits = np.array([0.0, 1.0] * 100)
    same = stats.compare(hits, hits, margin=0.05)
    assert (same.difference, same.p, same.verdict) == (0, 1, Verdict.SAME)
    assert same.low == pytest.approx(-same.high)
    assert 0 < same.high < 0.05
    scores = np.random.default_rng(0).random(50)
    exact = stats.compare(scores, scores)
    assert (exact.p, exact.verdict, exact.note) == (1, Verdict.NOT_SHOWN, "no_spread")
    assert math.isnan(exact.low)
    shifted = stats.compare(scores, scores + 0.5)
    assert shifted.difference == pytest.approx(0.5)
    assert shifted.verdict is Verdict.BETTER


@pytest.mark.parametrize(("first", "second"), [([], []), ([None], [1.0]), ([math.nan, 1.0], [0.0, None])])
def test_no_pair_is_a_comparison_without_a_verdict(first: list[float | None], second: list[float | None]) -> None:
    one = stats.compare(first, second)
    assert (one.n, one.n_dropped, one.verdict, one.note) == (0, len(first), Verdict.NOT_SHOWN, "empty")
    assert math.isnan(one.p)
    assert math.isnan(one.difference)


def test_one_pair_shows_nothing() -> None:
    one = stats.compare([0.2], [0.9])
    assert (one.n, one.p, one.verdict) == (1, 1.0, Verdict.CANNOT_BE_SHOWN)
    assert (one.minimum_detectable, one.questions_needed) == (None, None)
    clustered = stats.compare([0, 0, 0], [1, 1, 1], clusters=["x"] * 3)
    assert (clustered.clusters, clustered.p, clustered.verdict) == (1, 1.0, Verdict.CANNOT_BE_SHOWN)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"baseline": [1.0], "challenger": [1.0, 2.0]}, "has 1 values and challenger 2"),
        ({"baseline": [1.0, math.inf], "challenger": [1.0, 2.0]}, r"baseline\[1\] is inf"),
        ({"baseline": [1.0, 2.0], "challenger": [1.0, 2.5], "margin": 0.0}, "margin is the largest difference"),
        ({"baseline": [1.0], "challenger": [1.0], "clusters": ["a", "b"]}, "2 labels for 1 values"),
        ({"baseline": [1.0], "challenger": [1.0], "test": "t"}, "test is one of randomization, wilcoxon, sign"),
        ({"baseline": [1.0], "challenger": [1.0], "test": "sign", "clusters": ["a"]}, "independent pairs"),
    ],
)
def test_bad_pairs_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.compare(**arguments)  # type: ignore[arg-type]


def test_all_metrics_at_once_are_the_same_comparisons() -> None:
    rng = np.random.default_rng(0)
    first = {"hit": (rng.random(150) < 0.6).astype(float), "score": rng.random(150), "seconds": rng.lognormal(size=150)}
    second = {name: np.roll(values, 7) for name, values in first.items()}
    second["score"] = first["score"] + rng.normal(0.1, 0.1, 150)
    found = stats.compare_metrics(first, second, better={"hit": "higher", "score": "higher", "seconds": "lower"})
    for name, one in found.items():
        alone = stats.compare(first[name], second[name], better="lower" if name == "seconds" else "higher")
        assert repr(one) == repr(alone), "to the last bit, whatever else is compared"
    assert found["seconds"].better == "lower"


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([7, 30, 120]), st.booleans(), st.booleans())
def test_neither_rows_nor_neighbours_move_a_comparison(seed: int, n: int, binary: bool, grouped: bool) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, n)).round(int(rng.integers(0, 4)))
    first, second = ((first > 0).astype(float), (second > 0).astype(float)) if binary else (first, second)
    second[rng.random(n) < 0.1] = math.nan
    codes, order = rng.integers(0, max(n // 4, 2), n), rng.permutation(n)
    alone = stats.compare(first, second, clusters=codes if grouped else None, resamples=200)
    neighbours = {f"m{k}": rng.lognormal(size=n) for k in range(4)}
    found = stats.compare_metrics(
        {"a": neighbours["m0"], "own": first[order], **neighbours},
        {"a": neighbours["m1"], "own": second[order], **{name: -column for name, column in neighbours.items()}},
        clusters=codes[order] if grouped else None, resamples=200,
    )  # fmt: skip
    assert repr(found["own"]) == repr(alone)
    if not grouped:
        assert stats.compare(second, first, resamples=200).p == alone.p, "whichever is called the baseline"
    mixed = np.where(np.isnan(second - first), 0, second - first)
    p = [stats.randomization_p(np.column_stack([rows, rows**3]), resamples=200)[0] for rows in (mixed, mixed[order])]
    assert p[0] == p[1] == stats.randomization_p(mixed, resamples=200)[0]


def test_seven_articles_that_all_move_can_show_it_and_five_cannot() -> None:
    """Two of 2⁷ sign patterns are as extreme as all articles up; of 2⁵ they are .0625, above .05: six are needed."""
    codes = np.repeat(np.arange(7), 30)
    noise = np.random.default_rng(0).normal(0, 0.3, 210)
    one = stats.compare(np.zeros(210), 0.1 * noise, clusters=codes)
    assert (one.verdict, one.groups_needed) == (Verdict.NOT_SHOWN, None)
    error = math.sqrt(np.sum(np.bincount(codes, weights=0.1 * (noise - noise.mean())) ** 2) * 7 / 6) / 210
    assert one.error == pytest.approx(error)
    assert one.minimum_detectable is not None
    unbiased = error / (math.sqrt(2 / 6) * math.exp(math.lgamma(3.5) - math.lgamma(3)))
    t = scipy.stats.t.ppf(0.975, 6) + scipy.stats.t.ppf(0.8, 6)
    assert one.minimum_detectable == pytest.approx(t * unbiased, rel=0.08), "with six degrees of freedom, not 209"
    five = stats.compare(np.zeros(150), np.full(150, 0.9), clusters=codes[:150])
    assert (five.p, five.verdict, five.groups_needed) == (2 / 2**5, Verdict.CANNOT_BE_SHOWN, 6)
    assert (five.minimum_detectable, five.questions_needed) == (None, None)
    questions = stats.compare([0, 0, 0, 0, 0], [1, 1, 1, 1, 1])
    assert (questions.p, questions.verdict, questions.groups_needed) == (2 / 2**5, Verdict.CANNOT_BE_SHOWN, 6)
    assert stats.compare([0] * 6, [1] * 6).verdict is Verdict.BETTER
    assert stats.compare([0.5] * 5, [0.5] * 5, level=0.9).verdict is Verdict.NOT_SHOWN, ".0625 is below .1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "groups"), [("normal", 40, 8), ("normal", 60, 12), ("normal", 100, 20), ("graded", 30, 0),
                              ("binary", 60, 0)],
)  # fmt: skip
def test_four_of_five_studies_show_the_smallest_difference_that_is_named(name: str, n: int, groups: int) -> None:
    rng = np.random.default_rng(n)
    codes = np.repeat(np.arange(groups), n // groups) if groups else None

    def study(difference: float, seed: int) -> Comparison:
        if name == "binary":
            first = (rng.random(n) < 0.5).astype(float)
            moved, up = rng.random(n) < 0.3, rng.random(n) < (1 + difference / 0.3) / 2
            second = np.where(moved, up, first)
            first = np.where(moved, ~up, first)
        else:
            first = rng.beta(5, 2, n) if name == "graded" else np.zeros(n)
            noise = rng.normal(0, 0.2, n) if codes is None else rng.normal(size=n) + rng.normal(size=groups)[codes]
            second = first + noise + difference
        return stats.compare(first, second, clusters=codes, resamples=500, seed=seed)

    smallest = float(np.mean([study(0.0, seed).minimum_detectable or math.nan for seed in range(400)]))
    power = np.mean([study(smallest, seed).verdict is Verdict.BETTER for seed in range(1000)])
    assert power == pytest.approx(0.8, abs=0.03)


@pytest.mark.fault("determinism", tried="two writings to the byte", count=1)
def test_the_same_seed_gives_the_same_bytes() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(300), rng.random(300)
    assert repr(stats.compare(first, second, seed=3)) == repr(stats.compare(first, second, seed=3))


@on_random_tables
def test_rank_tests_agree_with_scipy_and_warn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moved = np.round(rng.normal(0.2, 1, int(rng.integers(5, 60))), 1)
    with pytest.warns(UserWarning, match="does not test the mean"):
        one = stats.compare(np.zeros(len(moved)), moved, test="wilcoxon", resamples=100)
    peer = scipy.stats.wilcoxon(moved, zero_method="pratt", correction=False, method="asymptotic")
    assert one.p == pytest.approx(peer.pvalue, abs=1e-9)
    signs = scipy.stats.binomtest(int((moved > 0).sum()), int((moved != 0).sum()))
    assert rank_test_p(moved, "sign") == pytest.approx(signs.pvalue, abs=1e-9)


@pytest.mark.slow
def test_skewed_differences_of_mean_zero_fool_rank_tests_but_not_ours() -> None:
    rng = np.random.default_rng(0)
    wrong = {"wilcoxon": 0, "sign": 0, "ours": 0}
    for seed in range(100):
        moved = rng.exponential(1, 1000) - 1
        wrong["ours"] += stats.compare(np.zeros(1000), moved, resamples=500, seed=seed).p <= 0.05
        for test in ("wilcoxon", "sign"):
            wrong[test] += rank_test_p(moved, test) <= 0.05  # type: ignore[arg-type]
    assert wrong["ours"] <= 12
    assert wrong["wilcoxon"] > 40
    assert wrong["sign"] > 90


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_rank_tests_of_pairs_that_never_moved(test: Literal["wilcoxon", "sign"]) -> None:
    assert rank_test_p([0.0, 0.0, math.nan], test) == 1.0
    assert math.isnan(rank_test_p([math.nan], test))


def test_no_p_is_below_half_of_one_in_the_draws_and_the_observed_one() -> None:
    """40 differences, all up and none alike: no draw of signs reaches them, and p = (0 + 1 / 2) / (B + 1)."""
    moves = 1 + np.random.default_rng(0).random(40)
    one = stats.compare(np.zeros(40), moves, resamples=999)
    assert (one.p, one.test) == (1 / 2000, "sign flips")
    assert stats.randomization_p(moves, resamples=499).tolist() == [1 / 1000]


def test_nothing_is_better_where_no_p_could_be_small_enough() -> None:
    assert verdict_of(0.1, 0.001, "higher", 0.95, 0.0625) is Verdict.CANNOT_BE_SHOWN
    assert verdict_of(0.1, 0.05, "higher", 0.95, 0.05) is Verdict.BETTER
    assert verdict_of(0.1, math.nan, "higher", 0.95, 1.0) is Verdict.NOT_SHOWN


def test_a_p_of_exactly_five_percent_is_enough_and_no_difference_never_is() -> None:
    assert verdict_of(0.1, 0.05, "higher", 0.95) is Verdict.BETTER
    assert verdict_of(0.1, 0.05, "lower", 0.95) is Verdict.WORSE
    assert verdict_of(-0.1, 0.0501, "lower", 0.95) is Verdict.NOT_SHOWN
    assert verdict_of(0.0, 0.001, "higher", 0.95) is Verdict.NOT_SHOWN
    assert verdict_of(0.1, math.nan, "higher", 0.95) is Verdict.NOT_SHOWN
