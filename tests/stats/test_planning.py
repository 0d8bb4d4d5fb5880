"""Repeats, people's labels, the next study, the best of many, drafts beside questions."""

from __future__ import annotations

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.stats import Confidence
from ragbench.stats.choosing import choose_best
from ragbench.stats.drafts import compare_drafts
from ragbench.stats.labels import corrected_mean
from ragbench.stats.power import power_by_size, questions_needed
from ragbench.stats.repeats import rates_by_question, repeat_rates

NONE = np.nan
QUICK = Confidence(draws=1_000)


def test_rates_of_repeats_by_hand():
    passed = [[1, 1, 0, 0], [1, 1, 1, 1], [1, NONE, NONE, NONE]]
    rates = rates_by_question(passed, k=2)
    # Of six pairs of two successes and two failures one has no success, one nothing else.
    assert rates[0] == pytest.approx([0.5, 5 / 6, 1 / 6, 4 / 6])
    assert rates[1] == pytest.approx([1, 1, 1, 0])
    assert rates[2] == pytest.approx([1, NONE, NONE, NONE], nan_ok=True)
    frame = repeat_rates(passed, k=2).set_index("rate")
    assert frame["value"]["pass^k"] == pytest.approx(7 / 12)
    assert frame["n_unmeasured"]["flip_rate"] == 1


def test_labels_move_the_mean_of_a_judge_that_is_too_kind():
    generator = np.random.default_rng(0)
    truth = generator.integers(1, 6, 500).astype(float)
    judge = truth + 1  # one too much, always
    people = np.where(np.arange(500) < 50, truth, NONE)
    means = corrected_mean(judge, people).set_index("mean")
    assert means["value"]["judge alone"] == pytest.approx(truth.mean() + 1)
    assert means["value"]["people alone"] == pytest.approx(truth[:50].mean())
    assert means["low"]["corrected"] < truth.mean() < means["high"]["corrected"]
    width = means["high"] - means["low"]
    assert width["corrected"] < width["people alone"] / 2
    # A judge that knows nothing leaves people alone.
    guessing = corrected_mean(generator.permutation(judge), people).set_index("mean")
    assert guessing["weight"]["corrected"] < 0.25
    assert guessing["value"]["corrected"] == pytest.approx(truth[:50].mean(), abs=0.2)
    with pytest.raises(BenchError, match="5 units have both a label and a score; label at least"):
        corrected_mean(judge[:5], truth[:5])
    assert len(corrected_mean(judge[:10], truth[:10])) == 3
    # Lambda by the formula of Angelopoulos et al., of each fifth by the other four.
    few, noisy = truth[:20], judge[:50] + generator.normal(0, 2, 50)
    lambdas = []
    for fold in range(5):
        others = np.arange(20) % 5 != fold
        (spread, shared), _ = np.cov(noisy[:20][others], few[others])
        lambdas.append(np.clip(shared / (spread * (1 + 20 / 30)), 0, 1))
    fitted = corrected_mean(noisy, np.where(np.arange(50) < 20, truth[:50], NONE))
    assert fitted["weight"][0] == pytest.approx(np.mean(lambdas))
    constant = corrected_mean(np.ones(500), people).set_index("mean")
    assert constant["weight"]["corrected"] == 0


def test_without_answers_beside_the_labels_people_alone_remain():
    truth = np.random.default_rng(0).integers(1, 6, 40).astype(float)
    means = corrected_mean(truth + 1, truth).set_index("mean")
    columns = ["value", "low", "high"]
    assert means.loc["corrected", columns].tolist() == pytest.approx(
        means.loc["people alone", columns].tolist()
    )


def test_the_planned_number_of_questions_shows_the_difference():
    from statsmodels.stats.power import TTestPower

    pilot = np.repeat([-1.0, 0.0, 1.0], [6, 42, 12])
    n = questions_needed(pilot, matters=0.1)
    expected = TTestPower().solve_power(0.1 / pilot.std(ddof=1), power=0.8, alpha=0.05)
    assert n == pytest.approx(expected, rel=0.01)
    power = power_by_size(pilot, 0.1, [n // 4, n], confidence=Confidence(draws=300))["power"]
    assert power[0] < 0.5
    assert 0.74 < power[1] < 0.86
    assert questions_needed(pilot, matters=0.1, n_comparisons=14) > 1.5 * n
    # Pairs of questions that say the same are half as many.
    assert questions_needed(np.repeat(pilot, 2), 0.1, np.repeat(np.arange(60), 2)) == n


@pytest.mark.parametrize(
    ("pilot", "matters", "message"),
    [
        ([1.0, 1.0, 1.0], 0.1, "there is nothing to plan by"),
        ([0.0, 1.0, -1.0], 0.0, "say which difference matters"),
        ([0.0, 1.0, -1.0], 1e-6, "needs over 1,000,000 questions"),
    ],
)
def test_studies_that_cannot_be_planned_are_refused(pilot, matters, message):
    with pytest.raises(BenchError, match=message):
        questions_needed(pilot, matters)


def test_the_best_of_many_pays_for_its_luck():
    generator = np.random.default_rng(0)
    names = [f"k={number}" for number in range(12)]
    errors = []
    for _ in range(40):
        # Nobody is better than 0; the best of twelve looks 1.5 standard errors better.
        values = generator.normal(size=(15, 12))
        choice = choose_best(values, names, confidence=Confidence(draws=200))
        errors.append((choice.seen * np.sqrt(15), choice.value * np.sqrt(15), choice.low <= 0))
    seen, corrected, covered = np.mean(errors, axis=0)
    assert seen > 1.2
    assert abs(corrected) < 0.35  # within .2 in 400 studies; forty know it to .17
    assert covered > 0.9


def test_a_clear_best_keeps_its_mean():
    generator = np.random.default_rng(0)
    values = generator.random((40, 3)) + np.array([0.0, 2.0, 0.1])
    choice = choose_best(values, ["a", "b", "c"], confidence=QUICK)
    assert (choice.best, choice.seen) == ("b", pytest.approx(values[:, 1].mean()))
    assert choice.value == pytest.approx(choice.seen)
    assert choice.low < choice.value < choice.high
    assert choice.configurations["word"].tolist() == ["worse", "", "worse"]
    assert choice.configurations["share_chosen"].tolist() == [0, 1, 0]
    with pytest.raises(BenchError, match="1 configurations on 40 units"):
        choose_best(values[:, :1], ["a"])
    with pytest.raises(BenchError, match="2 configurations on 9 units"):
        choose_best(values[:9, :2], ["a", "b"])
    assert choose_best(values[:10, :2], ["a", "b"], confidence=QUICK).best == "b"


def test_drafts_beside_questions_pair_by_pair():
    generator = np.random.default_rng(0)
    questions = generator.normal(size=(80, 3)) + np.array([0.0, 1.0, 1.1])
    drafts = generator.normal(size=(50, 3)) + np.array([0.0, 1.0, -1.0])
    frame = compare_drafts(drafts, questions, ["bm25", "dense", "hybrid"], confidence=QUICK)
    pairs = frame[["first", "second"]].to_numpy().tolist()
    assert pairs == [["bm25", "dense"], ["bm25", "hybrid"], ["dense", "hybrid"]]
    assert frame["word"].tolist() == ["same order", "opposite order", "not shown"]
    row = frame.iloc[1]
    expected = (drafts[:, 2] - drafts[:, 0]).mean() - (questions[:, 2] - questions[:, 0]).mean()
    assert row["gap"] == pytest.approx(expected)
    assert row["gap_high"] < 0
    # The error of the gap is that of two independent means.
    errors = [
        (table[:, 1] - table[:, 0]).std(ddof=1) / np.sqrt(len(table))
        for table in (drafts, questions)
    ]
    reach = frame["gap_high"][0] - frame["gap"][0]
    assert reach == pytest.approx(2.4 * np.hypot(*errors), rel=0.1)
    # A source page that both draw from is one unit, and its share of the gap cancels.
    same = compare_drafts(
        questions, questions, ["a", "b", "c"], np.arange(80), np.arange(80), confidence=QUICK
    )
    assert same["gap"].abs().max() == 0
    with pytest.raises(BenchError, match="give at least two"):
        compare_drafts(drafts[:, :1], questions[:, :1], ["a"])
