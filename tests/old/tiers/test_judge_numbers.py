"""What a judge is worth in numbers, by hand and against the field's packages, and at the edges."""

from __future__ import annotations

import math

import krippendorff
import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, cohen_kappa_score

from ragbench.old import stats
from ragbench.old.tiers.judges import numbers
from ragbench.old.tiers.judges.numbers import ceiling, graded
from tests.old.tiers.heard_judges import NAN, SURE, UNIT, answers, heard, values


class TestRepeats:
    def test_repeatability_by_hand(self) -> None:
        one = heard([[1.0, 1.0], [0.5, 0.75], [0.25, 0.25], [0.0, 0.5]])
        found = values(numbers.repeatability(one, list("abcd"), UNIT, 0.7, SURE))
        deviation = math.sqrt((0.25**2 / 2 + 0.5**2 / 2) / 4)
        alpha = krippendorff.alpha(one.answers.scores.T, level_of_measurement="interval")
        assert (found["exact_agreement"], found["flip_rate"]) == (0.5, 0.25)  # 0.5 is not good, 0.75 is
        assert found["within_item_deviation"] == pytest.approx(deviation)
        assert found["smallest_difference"] == pytest.approx(1.96 * math.sqrt(2) * deviation, rel=1e-4)
        assert found["krippendorff_alpha"] == pytest.approx(alpha, abs=1e-12)

    def test_one_repeat_measures_nothing(self) -> None:
        assert numbers.repeatability(heard([1.0, 0.0]), ["a", "b"], UNIT, 0.7, SURE) == {}

    def test_perfect_repeats_are_wholly_consistent(self) -> None:
        one = heard([[1.0, 1.0, 1.0]] * 4, seconds=[[0.1, 0.3, NAN]] * 4)
        found = values(numbers.specified(one, list("abcd"), 0.0, SURE))
        assert found == {"consistency_score": 1.0, "error_rate": 0.0, "avg_latency_ms": pytest.approx(200)}

    def test_only_what_was_asked_can_fail_and_is_part_of_an_outcome(self) -> None:
        one = heard([[NAN, 0.5], [NAN, NAN], [0.5, 0.5]], asked=[[True, True], [False, False], [True, True]])
        found = numbers.specified(one, list("abc"), 0.5, SURE)
        assert (found["error_rate"].value, found["error_rate"].n, found["error_rate"].n_unmeasured) == (0.25, 2, 1)
        assert "avg_latency_ms" not in found
        assert (numbers.outcomes(one)["valid"].sum(), one.answers.asked.sum()) == (3, 4)
        share = numbers.coverage(one, list("abc"), SURE)["valid"].value
        assert share == 0.75, "of two answers that were asked about, not of three"


class TestThreshold:
    """At 0.75 people call three good and the judge three; they agree on two of those and on two others."""

    PEOPLE = answers([1.0, 0.75, 0.75, 0.5, 0.25, 0.0])
    JUDGE = np.array([0.75, 0.75, 0.5, 0.75, 0.25, 0.0])

    def test_a_score_that_is_exactly_good_is_good(self) -> None:
        found = values(numbers.agreement(self.JUDGE, self.PEOPLE, 0.75, SURE)["mean"])
        assert found["accuracy"] == pytest.approx(4 / 6)
        assert found["balanced_accuracy"] == pytest.approx(2 / 3)
        assert found["cohen_kappa"] == pytest.approx((4 / 6 - 0.5) / 0.5)
        rates = values(numbers.calibration(self.JUDGE, self.PEOPLE, 0.75, SURE)[0])
        assert (rates["sensitivity"], rates["specificity"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
        assert numbers.flips(np.array([[0.75, 0.74], [0.75, 1.0], [0.2, 0.7]]), UNIT, 0.75).tolist() == [1, 0, 0]


class TestPeople:
    def test_agreement_equals_the_field_s_packages(self) -> None:
        rng = np.random.default_rng(5)
        truth = rng.integers(0, 5, 80) / 4
        judge = np.clip(truth + rng.choice([-0.5, -0.25, 0, 0, 0.25], 80), 0, 1)
        good = truth >= 0.7, judge >= 0.7
        found = values(numbers.agreement(judge, answers(truth), 0.7, SURE)["mean"])
        expected = {
            "spearman": scipy_stats.spearmanr(truth, judge).statistic,
            "kendall": scipy_stats.kendalltau(truth, judge).statistic,
            "pearson": scipy_stats.pearsonr(truth, judge).statistic,
            "cohen_kappa": cohen_kappa_score(*good),
            "balanced_accuracy": balanced_accuracy_score(*good),
            "accuracy": np.mean(good[0] == good[1]),
            "bias": np.mean(judge - truth),
            "krippendorff_alpha": krippendorff.alpha(np.array([truth, judge]), level_of_measurement="interval"),
        }
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)

    def test_a_judge_that_is_one_of_the_people_reaches_the_ceiling(self) -> None:
        rng = np.random.default_rng(6)
        truth = rng.uniform(0, 1, 60)
        people = np.clip(truth[:, None] + rng.normal(0, 0.1, (60, 3)), 0, 1)
        people[rng.random((60, 3)) < 0.2] = NAN
        third = np.clip(truth + rng.normal(0, 0.1, 60), 0, 1)
        own = numbers.agreement(third, answers(people), 0.7, SURE)["person"]
        ceiling = values(numbers.ceiling(answers(people), 0.7, SURE))
        assert "bias" not in ceiling
        for name in ("spearman", "icc", "krippendorff_alpha"):
            low, high = own[name].low, own[name].high
            assert low is not None
            assert high is not None
            assert low <= ceiling[name] <= high
            assert own[name].value == pytest.approx(ceiling[name], abs=0.05)

    def test_two_people_are_a_ceiling_and_one_is_none(self) -> None:
        """Each is compared with the other, both ways: the accuracy of the pair, and no direction of bias."""
        found = values(numbers.ceiling(answers([[1.0, 0.9], [0.8, 0.2], [0.3, 0.4], [0.1, 0.0]]), 0.7, SURE))
        assert found["accuracy"] == pytest.approx(3 / 4)
        assert "bias" not in found
        assert numbers.ceiling(answers([1.0, 0.0, 0.5]), 0.7, SURE) == {}

    def test_a_pair_of_people_is_counted_once(self) -> None:
        """Three people of 24 answers are three pairs of each, 72; nothing of what they agree in is doubled."""
        rng = np.random.default_rng(4)
        people = rng.integers(0, 5, (24, 3)) / 4
        known = answers(people)
        found = ceiling(known, 0.7, SURE)
        assert {one.n for name, one in found.items() if name != "krippendorff_alpha"} == {72}
        assert found["krippendorff_alpha"].n == 24

    def test_grades_have_the_ordinal_alpha_and_other_numbers_the_interval_one(self) -> None:
        rng = np.random.default_rng(5)
        people = rng.integers(0, 5, (30, 2)) / 4
        levels = (0.0, 0.25, 0.5, 0.75, 1.0)
        for known, scale in ((levels, "ordinal"), ((), "interval")):
            expected = stats.krippendorff_alpha(people, scale=scale)  # type: ignore[arg-type]
            assert ceiling(answers(people), 0.7, SURE, known)["krippendorff_alpha"].value == pytest.approx(
                expected.value
            )
        assert graded(people, levels)
        assert not graded(people + 0.1, levels)
        assert not graded(people, ())

    def test_who_of_two_people_is_named_first_changes_nothing(self) -> None:
        """One gives 0.5 less than the other throughout: one way round r = 1, both ways it is below 0."""
        strict = np.array([0.0, 0.25, 0.25, 0.5])
        people = np.column_stack([strict + 0.5, strict])
        there, back = (values(numbers.ceiling(answers(pair), 0.7, SURE)) for pair in (people, people[:, ::-1]))
        assert there == back
        both = np.concatenate(people.T), np.concatenate(people.T[::-1])
        assert there["pearson"] == pytest.approx(np.corrcoef(*both)[0, 1])
        assert there["pearson"] < 0

    def test_fewer_than_three_pairs_say_nothing(self) -> None:
        two = numbers.agreement(np.array([1.0, 0.5]), answers([1.0, 0.5]), 0.7, SURE)
        three = numbers.agreement(np.array([1.0, 0.5, 0.1]), answers([1.0, 0.4, 0.1]), 0.7, SURE)
        assert two == {"person": {}, "mean": {}}
        assert all(three[against] for against in ("person", "mean"))


class TestCalibration:
    def test_by_hand(self) -> None:
        judge = np.array([1.0, 1.0, 0.75, 0.5, 0.0, 0.0])
        found, bins = numbers.calibration(judge, answers([1.0, 0.0, 0.75, 1.0, 0.0, 0.25]), 0.7, SURE)
        assert values(found) == pytest.approx(
            {
                "sensitivity": 2 / 3,
                "specificity": 2 / 3,
                "brier": brier_score_loss([1, 0, 1, 1, 0, 0], judge),
                "expected_calibration_error": (1.0 + 0.25 + 0.5 + 0.0) / 6,
            }
        )
        assert {number: (score, good.value) for number, (score, good) in bins.items()} == {
            0: (0.0, 0.0), 5: (0.5, 1.0), 7: (0.75, 1.0), 9: (1.0, 0.5)
        }  # fmt: skip

    def test_nobody_s_ratings_calibrate_nothing(self) -> None:
        assert numbers.calibration(np.zeros(3), answers([NAN] * 3), 0.7, SURE) == ({}, {})


class TestWhatAJudgeLeftOut:
    """Ten rated answers, five of them good; the judge fails on two good ones and one of the others."""

    PEOPLE = answers([1.0] * 5 + [0.0] * 5)
    JUDGE = np.array([1.0, 1.0, 0.0, NAN, NAN, 0.0, 0.0, 0.0, 1.0, NAN])

    def test_it_is_counted_beside_the_agreement(self) -> None:
        found = numbers.agreement(self.JUDGE, self.PEOPLE, 0.7, SURE)
        counts = {(one.n, one.n_unmeasured) for against in found.values() for one in against.values()}
        assert counts == {(7, 3)}

    def test_it_is_counted_in_the_class_where_people_put_the_answer(self) -> None:
        """Sensitivity 2 of 3, and of 5 with the other two: 2/5 to 4/5. Specificity 3 of 4: 3/5 to 4/5."""
        found, _ = numbers.calibration(self.JUDGE, self.PEOPLE, 0.7, SURE)
        for name, *expected in (
            ("sensitivity", 2 / 3, 3, 2, 0.4, 0.8),
            ("specificity", 0.75, 4, 1, 0.6, 0.8),
            ("brier", 2 / 7, 7, 3, 0.2, 0.5),
        ):
            one = found[name]
            assert [one.value, one.n, one.n_unmeasured, one.floor, one.ceiling] == pytest.approx(expected), name
        assert found["expected_calibration_error"].n_unmeasured == 3
