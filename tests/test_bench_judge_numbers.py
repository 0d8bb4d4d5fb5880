"""Numbers of judges at the edges: scores exactly on the threshold, two people, perfect repeats, what was not asked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges import numbers
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale
from ragbench.metrics.judging import Sitting
from ragbench.types import Sample

NAN = math.nan
SURE = Sureness(0.95, 200, 0)
UNIT = Scale(0.0, 1.0)


def heard(scores: Any, asked: Any = True, seconds: Any = None) -> Heard:
    matrix = np.array(scores, dtype=float)
    times = None if seconds is None else np.array(seconds, dtype=float)
    put = np.broadcast_to(np.array(asked), matrix.shape)
    return Heard("judge", Sitting(matrix, put, times), np.where(np.isnan(matrix), "parse_error", "ok"))


def answers(people: Any) -> Answers:
    matrix = np.array(people, dtype=float)
    names = [f"s{place}" for place in range(len(matrix))]
    return Answers(tuple(Sample(n, "?", "A.") for n in names), tuple(names), tuple("ab"[: matrix.shape[1]]), matrix)


class TestThreshold:
    PEOPLE = (1.0, 0.75, 0.75, 0.5, 0.25, 0.0)
    JUDGE = (0.75, 0.75, 0.5, 0.75, 0.25, 0.0)

    def test_a_score_that_is_exactly_good_is_good(self) -> None:
        """At 0.75 people call three good and the judge three; they agree on two of those and on two others."""
        found = numbers.agreement("j", np.array(self.JUDGE), answers([[p] for p in self.PEOPLE]), 0.75, SURE)
        rows = {row[2]: row[3] for row in found if row[1] == "mean"}
        assert rows["accuracy"] == pytest.approx(4 / 6)
        assert rows["balanced_accuracy"] == pytest.approx(2 / 3)
        assert rows["cohen_kappa"] == pytest.approx((4 / 6 - 0.5) / 0.5)

    def test_the_same_of_calibration(self) -> None:
        rows, _ = numbers.calibration("j", np.array(self.JUDGE), answers([[p] for p in self.PEOPLE]), 0.75, SURE)
        found = {row[1]: row[2] for row in rows}
        assert (found["sensitivity"], found["specificity"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))

    def test_the_same_of_repeats(self) -> None:
        assert numbers.flips(np.array([[0.75, 0.74], [0.75, 1.0], [0.2, 0.7]]), UNIT, 0.75).tolist() == [1, 0, 0]


class TestSpecified:
    def test_perfect_repeats_are_wholly_consistent(self) -> None:
        one = heard([[1.0, 1.0, 1.0]] * 4, seconds=[[0.1, 0.3, NAN]] * 4)
        found = numbers.specified(one, list("abcd"), UNIT, 0.0, SURE)
        assert (found["consistency_score"].value, found["error_rate"].value) == (1.0, 0.0)
        assert found["avg_latency_ms"].value == pytest.approx(200)

    def test_only_what_was_asked_can_fail(self) -> None:
        one = heard([[NAN, 0.5], [NAN, NAN], [0.5, 0.5]], asked=[[True, True], [False, False], [True, True]])
        found = numbers.specified(one, list("abc"), UNIT, 0.5, SURE)
        assert (found["error_rate"].value, found["error_rate"].n, found["error_rate"].n_unmeasured) == (0.25, 2, 1)
        assert "avg_latency_ms" not in found

    def test_what_was_never_asked_is_no_part_of_any_outcome(self) -> None:
        one = heard([[NAN, 0.5], [NAN, NAN], [0.5, 0.5]], asked=[[True, True], [False, False], [True, True]])
        found = {row[1]: row for row in numbers.coverage(one, list("abc"), SURE)}
        hit, asked, share = found["valid"][2:5]
        assert (hit, asked, share) == (3, 4, 0.75), "of two answers that were asked about, not of three"


class TestPeople:
    def test_two_people_are_a_ceiling(self) -> None:
        """Each is compared with the other, both ways: the accuracy of the pair, and no direction of bias."""
        people = [[1.0, 0.9], [0.8, 0.2], [0.3, 0.4], [0.1, 0.0]]
        rows = {row[2]: row for row in numbers.ceiling(answers(people), 0.7, SURE)}
        assert rows["accuracy"][3] == pytest.approx(3 / 4)
        assert "bias" not in rows
        assert {row[:2] for row in rows.values()} == {("people", "person")}

    def test_who_of_two_people_is_named_first_changes_nothing(self) -> None:
        """One gives 0.5 less than the other throughout: one way round r = 1, both ways it is below 0."""
        strict = np.array([0.0, 0.25, 0.25, 0.5])
        people = np.column_stack([strict + 0.5, strict])
        there, back = (
            {row[2]: row[3] for row in numbers.ceiling(answers(pair), 0.7, SURE)} for pair in (people, people[:, ::-1])
        )
        assert there == back
        both = np.concatenate([people[:, 0], people[:, 1]]), np.concatenate([people[:, 1], people[:, 0]])
        assert there["pearson"] == pytest.approx(np.corrcoef(*both)[0, 1])
        assert there["pearson"] < 0

    def test_fewer_than_three_pairs_say_nothing(self) -> None:
        assert numbers.agreement("j", np.array([1.0, 0.5]), answers([[1.0], [0.5]]), 0.7, SURE) == []
        three = numbers.agreement("j", np.array([1.0, 0.5, 0.1]), answers([[1.0], [0.4], [0.1]]), 0.7, SURE)
        assert {row[1] for row in three} == {"person", "mean"}


class TestWhatAJudgeLeftOut:
    """Ten rated answers, five of them good; the judge fails on two good ones and one of the others."""

    PEOPLE = answers([[1.0]] * 5 + [[0.0]] * 5)
    JUDGE = np.array([1.0, 1.0, 0.0, NAN, NAN, 0.0, 0.0, 0.0, 1.0, NAN])

    def test_it_is_counted_beside_the_agreement(self) -> None:
        found = numbers.agreement("j", self.JUDGE, self.PEOPLE, 0.7, SURE)
        table = numbers.table(found, "judge", "against", "name")
        assert set(table["n"]) == {7}
        assert set(table["n_unmeasured"]) == {3}

    def test_it_is_counted_in_the_class_where_people_put_the_answer(self) -> None:
        """Sensitivity 2 of 3, and of 5 with the other two: 2/5 to 4/5. Specificity 3 of 4: 3/5 to 4/5."""
        rows, _ = numbers.calibration("j", self.JUDGE, self.PEOPLE, 0.7, SURE)
        found = numbers.table(rows, "judge", "name").set_index("name")
        columns = ["value", "n", "n_unmeasured", "floor", "ceiling"]
        assert found.loc["sensitivity", columns].tolist() == [pytest.approx(2 / 3), 3, 2, 0.4, 0.8]
        assert found.loc["specificity", columns].tolist() == [0.75, 4, 1, pytest.approx(0.6), pytest.approx(0.8)]
        assert found.loc["brier", columns].tolist() == [pytest.approx(2 / 7), 7, 3, pytest.approx(0.2), 0.5]
        assert found["n_unmeasured"].to_dict()["expected_calibration_error"] == 3
