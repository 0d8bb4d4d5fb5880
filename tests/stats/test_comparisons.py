"""Comparisons: interval, p and word of one engine, and what is said where it cannot speak."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from ragbench.core.errors import BenchError
from ragbench.stats import WORDS, Confidence, compare
from ragbench.stats.comparisons import mcnemar_p

NONE = np.nan
QUICK = Confidence(draws=1_000)


def compare_differences(differences, **options):
    """The comparison of differences with a baseline of zeros."""
    table = np.asarray(differences, dtype=float)
    return compare(np.zeros_like(table), table, **options)


def test_one_comparison_is_nearly_the_t_test():
    generator = np.random.default_rng(3)
    baseline, challenger = generator.normal(size=(2, 60)) + np.array([[0.0], [0.35]])
    row = compare(baseline, challenger).iloc[0]
    test = scipy_stats.ttest_rel(challenger, baseline)
    low, high = test.confidence_interval()
    assert row["difference"] == pytest.approx((challenger - baseline).mean())
    assert row["p"] == row["p_adjusted"] == pytest.approx(test.pvalue, abs=0.01)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=0.03)
    assert (row["method"], row["n"], row["n_units"]) == ("bootstrap-t", 60, 60)
    # (1.96 + .84) errors are shown in four of five studies.
    assert row["detectable"] / (row["high"] - row["difference"]) == pytest.approx(1.42, abs=0.02)


def test_interval_p_and_word_agree():
    generator = np.random.default_rng(0)
    n_shown = 0
    for study in range(60):
        n = generator.integers(5, 60)
        values = (generator.random((2, n, 4)) < generator.choice([0.3, 0.5, 0.8])).astype(float)
        values[1] = np.maximum(values[1], generator.random((n, 4)) < 0.25)
        frame = compare(values[0], values[1], confidence=Confidence(draws=400, seed=study))
        tested = frame[frame["method"] == "bootstrap-t"]
        is_shown = (tested["low"] > 0) | (tested["high"] < 0)
        assert ((tested["p_adjusted"] <= 0.05) == is_shown).all()
        assert (tested["word"].isin(["better", "worse"]) == is_shown).all()
        assert (tested["p_adjusted"] >= tested["p"]).all()
        n_shown += is_shown.sum()
    assert n_shown > 10


def test_a_family_is_corrected_together():
    generator = np.random.default_rng(1)
    column = generator.normal(0.3, 1, 60)
    others = generator.normal(0, 1, (60, 9))
    others[:20, 0] = NONE
    alone = compare_differences(column)["p_adjusted"][0]
    # A column that stands there ten times costs nothing; nine others cost at most Bonferroni's.
    assert compare_differences(np.tile(column[:, None], 10))["p_adjusted"][0] == alone
    together = compare_differences(np.column_stack([column, others]))
    assert alone < together["p_adjusted"][0] <= 10 * alone + 0.01
    assert together["p"][0] == alone


@pytest.mark.parametrize(
    ("differences", "word"),
    [
        (np.full(15, 0.05), "better"),
        (np.full(30, -0.05), "worse"),
        (np.full(10, 0.05), "better"),
        (np.full(9, 0.05), "too few differ"),
        ([0.1, 0.12, 0.09, 0.11], "too few differ"),  # 4 draws of 4^4 are of one unit alone
        ([0.1, 0.12, 0.09, 0.11, 0.13], "better"),
        (np.zeros(5), "equal on every question"),
        (np.zeros(15), "equal on every question"),
        (np.repeat([0.05, -1], [98, 2]), "too few differ"),
        (np.repeat([0, 1], [96, 4]), "too few differ"),
        (np.repeat([0, 1], [80, 20]), "better"),
        (np.repeat([0, 1, -1], [80, 10, 10]), "not shown"),
        ([NONE, NONE], "cannot be told"),
    ],
)
def test_words(differences, word):
    row = compare_differences(differences, confidence=QUICK).iloc[0]
    assert row["word"] == word
    assert word in WORDS
    has_interval = word in ("better", "worse", "not shown")
    assert np.isnan(row["low"]) == (not has_interval)
    assert np.isnan(row["p_adjusted"]) == (not has_interval)


def test_all_equal_differences_are_shown_by_the_sign_test():
    row = compare_differences(np.full(15, 0.05)).iloc[0]
    assert row["method"] == "sign test"
    assert row["p"] == pytest.approx(scipy_stats.binomtest(15, 15).pvalue)
    # Wilson's lower end of 15 of 15 is 15 / (15 + 1.96^2) = .796.
    assert (row["low"], row["high"]) == pytest.approx((0.796 * 0.05, 0.05), abs=1e-4)
    # Ten units are enough in a small family, and not in one of a hundred.
    family = np.random.default_rng(0).normal(size=(10, 99))
    large = compare_differences(np.column_stack([np.full(10, 0.05), family]), confidence=QUICK)
    assert large["word"][0] == "too few differ"


@pytest.mark.parametrize("n", [8, 15, 100])
def test_rare_large_losses_do_not_look_like_a_gain(n):
    # +.05, but -.95 at one question in twenty: no difference on average.
    generator = np.random.default_rng(n)
    losses = generator.random((n, 100)) < 0.05
    words = [
        compare_differences(column, confidence=Confidence(draws=200))["word"][0]
        for column in np.where(losses, -0.95, 0.05).T
    ]
    # The sign test alone is misled: by studies of which no question saw a loss.
    is_blind = (~losses).all(axis=0) & (n >= 10)
    shown = np.array([word in ("better", "worse") for word in words])
    assert shown[~is_blind].mean() <= 0.05


def test_margins_and_directions():
    small = np.tile([0.01, 0.03], 50)
    frame = compare_differences(
        np.column_stack([small, small, small, np.tile([-0.02, 0.02], 50)]),
        margin=[0.1, 0.001, NONE, 0.1],
        lower_is_better=[False, True, True, False],
    )
    assert frame["word"].tolist() == [
        "better, by less than matters",
        "worse",
        "worse",
        "the same",
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_what_reaches_beyond_the_margin_at_one_end_is_not_the_same(sign):
    # Of a mean of .05 and an error of .05 the interval reaches from -.05 to .15.
    row = compare_differences(sign * np.tile([0.55, -0.45], 50), margin=0.1).iloc[0]
    assert row["word"] == "not shown"


def studies_with_gaps(n, missing_baseline, missing_challenger):
    """A clear gain, with values missing at the first rows."""
    generator = np.random.default_rng(0)
    baseline = (generator.random(n) < 0.4).astype(float)
    challenger = np.maximum(baseline, generator.random(n) < 0.5)
    baseline[:missing_baseline] = NONE
    challenger[missing_baseline : missing_baseline + missing_challenger] = NONE
    return compare(baseline, challenger, bounds=(0, 1), confidence=QUICK).iloc[0]


def test_few_missing_pairs_leave_the_word():
    row = studies_with_gaps(60, 1, 2)
    assert (row["word"], row["n"], row["n_unmeasured"]) == ("better", 57, 3)
    assert (row["word_if_bad"], row["word_if_good"]) == ("better", "better")


@pytest.mark.parametrize(("n_missing", "word"), [(2, "better"), (3, "cannot be told")])
def test_one_pair_in_twenty_may_be_missing(n_missing, word):
    # Nine better and one worse of 38; if the missing ones were worse, too, nothing would be shown.
    before, after = np.zeros((2, 38 + n_missing))
    after[:9], before[9] = 1, 1
    before[38], after[39:], before[39:] = NONE, NONE, 1
    row = compare(before, after, bounds=(0, 1), confidence=QUICK).iloc[0]
    assert (row["word"], row["word_if_bad"]) == (word, "not shown")


def test_missing_on_one_side_or_many_must_hold_at_both_ends():
    # 4 % of the pairs, all at the challenger: p of McNemar is .008.
    assert studies_with_gaps(200, 0, 8)["word"] == "better"
    row = studies_with_gaps(60, 15, 15)
    assert (row["word"], row["word_if_good"]) == ("cannot be told", "better")
    assert row["word_if_bad"] in ("not shown", "worse")
    # A connection that failed at 6 of 8 questions is no verdict.
    lost = np.array([NONE] * 6 + [0, 0])
    assert compare(np.ones(8), lost, bounds=(0, 1))["word"][0] == "cannot be told"
    # Without ends of the scale a missing value may be anything.
    shifted = np.r_[np.random.default_rng(0).normal(2, 1, 30), [NONE] * 5]
    assert compare_differences(shifted)["word"][0] == "cannot be told"
    assert (
        compare_differences(shifted, was_asked=~np.isnan(shifted)[:, None])["word"][0] == "better"
    )


def test_what_cannot_be_told_has_no_numbers_that_tell_it():
    row = studies_with_gaps(60, 15, 15)
    numbers = ["difference", "low", "high", "p", "p_adjusted", "single_low", "single_high"]
    assert np.isnan(row[numbers].astype(float)).all()
    assert (row["n"], row["n_unmeasured"]) == (30, 30)


def test_draws_must_reach_as_far_as_the_level():
    differences = np.tile([0.0, 1.0, 0.0, -0.5], 15)
    with pytest.raises(BenchError, match=r"500 draws are too few for a confidence of 0\.999"):
        compare_differences(differences, confidence=Confidence(level=0.999, draws=500))
    row = compare_differences(differences, confidence=Confidence(level=0.999, draws=999)).iloc[0]
    assert (row["low"] > 0) == (row["p_adjusted"] <= 0.001)


def test_a_word_that_holds_at_both_ends_stays_unless_too_few_differ():
    before, after = np.tile([0.0, 1.0], 50), np.tile([1.0, 0.0], 50)
    before[:3], after[3:6] = NONE, NONE
    assert compare(before, after, bounds=(0, 1))["word"][0] == "not shown"
    few = compare([0, 0, 0], [1, 1, NONE], bounds=(0, 1)).iloc[0]
    assert (few["word_if_bad"], few["word_if_good"]) == ("too few differ", "too few differ")
    assert few["word"] == "cannot be told"


def test_a_system_that_returns_nothing_is_worse():
    baseline = (np.random.default_rng(0).random(120) < 0.6).astype(float)
    row = compare(baseline, np.zeros(120), bounds=(0, 1)).iloc[0]
    assert (row["word"], row["n_unmeasured"]) == ("worse", 0)


def test_mcnemar_is_exact(shared_data):
    cases = json.loads(shared_data("stats-reference/stats_reference.json").read_text())
    for case in [case for case in cases if case["id"].startswith("mcnemar")]:
        (_, only_first), (only_second, _) = case["input"]
        assert mcnemar_p(only_first, only_second) == pytest.approx(
            case["expected"]["p"], abs=case["abs_tol"]
        )


def test_clusters_are_drawn_whole():
    generator = np.random.default_rng(2)
    differences = np.repeat(generator.normal(0.4, 1, 40), 5)
    units = np.repeat(np.arange(40), 5)
    clustered = compare_differences(differences, units=units).iloc[0]
    alone = compare_differences(differences[::5]).iloc[0]
    assert (clustered["n"], clustered["n_units"]) == (200, 40)
    assert clustered["low"] == pytest.approx(alone["low"], abs=1e-9)


def test_many_units_take_the_normal_by_its_own_name():
    generator = np.random.default_rng(0)
    differences = generator.normal(0.02, 1, (6_000, 2))
    frame = compare_differences(differences, confidence=QUICK)
    assert frame["method"].tolist() == ["normal", "normal"]
    test = scipy_stats.ttest_1samp(differences[:, 0], 0)
    assert frame["p"][0] == pytest.approx(test.pvalue, abs=0.04)
    # A slice of twelve of them takes Student's t.
    differences[12:, 1] = NONE
    differences[:12, 1] += 0.6
    asked = ~np.isnan(differences)
    more = Confidence(draws=40_000)
    few = compare(0 * asked, differences, was_asked=asked, confidence=more).iloc[1]
    test = scipy_stats.ttest_1samp(differences[:12, 1], 0)
    assert (few["method"], few["n"]) == ("normal", 12)
    assert few["p"] == pytest.approx(test.pvalue, rel=0.2)
    rare = np.zeros(6_000)
    rare[:4] = 1
    assert compare_differences(rare, confidence=QUICK)["word"][0] == "too few differ"
    rare[4] = 1
    assert compare_differences(rare, confidence=QUICK)["method"][0] == "normal"


def test_tables_of_unlike_shape_are_refused():
    with pytest.raises(BenchError, match=r"baseline has shape \(3, 1\), challengers \(2, 1\)"):
        compare(np.zeros(3), np.zeros(2))
