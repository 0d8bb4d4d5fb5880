"""Judged metrics on real answers, by the command itself, beside what people said of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import real_answers
from benchmarks.real_answers import MTRAG, PREFERENCES, Rated


@pytest.fixture(scope="module")
def answers(shared_data: Callable[[str], Path]) -> Rated:
    return real_answers.mtrag(shared_data(MTRAG).parent.parent)


@pytest.fixture(scope="module")
def preferences(shared_data: Callable[[str], Path]) -> Rated:
    return real_answers.ragchecker(shared_data(PREFERENCES).parent.parent)


def test_the_answers_are_read_whole(answers: Rated) -> None:
    assert len(answers.rows) == 219
    assert len({row["id"] for row in answers.rows}) == 73
    assert len({row["system"] for row in answers.rows}) == 3
    assert len(set(answers.clusters.values())) == 10
    assert all(row["user_input"] and row["response"] and row["reference"] for row in answers.rows)
    assert sum(not row["retrieved_contexts"] for row in answers.rows) == 21, "seven questions were asked without any"


def test_a_persons_gap_is_no_rating(answers: Rated) -> None:
    """Nine answers have two people's faithfulness, the others three; a gap is neither 0 nor a person's mean."""
    counts = [len(given) for given in answers.ratings["faithfulness"].values()]
    assert (counts.count(3), counts.count(2)) == (210, 9)
    given = {rating for one in answers.ratings["faithfulness"].values() for rating in one.values()}
    assert given <= {1.0, 2.0, 3.0, 4.0}


def test_pairs_are_two_answers_of_one_id(preferences: Rated) -> None:
    assert len(preferences.rows) == 280
    assert len(preferences.pairs) == 140
    assert {row["system"] for row in preferences.rows} == {"first", "second"}
    assert {rating for one in preferences.ratings["overall"].values() for rating in one.values()} <= {-2, -1, 0, 1, 2}


def test_people_agree_by_hand() -> None:
    """Two people on four items, ranks 1 2 3 4 against 2 1 4 3: ρ = 1 − 6·4 / (4·15) = 0.6."""
    ratings = {"a": {str(n): {"x": n, "y": [2, 1, 4, 3][n - 1]} for n in range(1, 5)}}
    ratings["a"]["5"] = {"x": 9.0}
    rated = Rated([], ratings, {str(n): str(n) for n in range(1, 6)})
    assert real_answers.among_people(rated, "a") == {"pearson": pytest.approx(0.6), "spearman": pytest.approx(0.6)}


@pytest.mark.slow
def test_the_lexical_judge_goes_with_people_on_faithfulness(answers: Rated) -> None:
    values = real_answers.scored(answers, ["faithfulness"])["faithfulness"]
    assert len(values) == 219
    found = real_answers.against_people(values, answers, "faithfulness")["spearman"]
    assert (found.n, found.n_unmeasured, found.clusters) == (198, 21, 10)
    assert found.value == pytest.approx(0.5451, abs=0.0005)
    assert found.low is not None
    assert found.high is not None
    assert 0.4 < found.low < found.value < found.high < 0.65
    people = real_answers.among_people(answers, "faithfulness")["spearman"]
    assert people == pytest.approx(0.442, abs=0.002)


@pytest.mark.slow
def test_and_with_their_preferences_less_than_they_with_each_other(preferences: Rated) -> None:
    values = real_answers.scored(preferences, ["factual_correctness"])["factual_correctness"]
    found = real_answers.against_people(values, preferences, "overall")["spearman"]
    assert found.n + found.n_unmeasured == 140
    assert found.value == pytest.approx(0.3760, abs=0.0005)
    people = real_answers.among_people(preferences, "overall")["spearman"]
    assert people == pytest.approx(0.735, abs=0.002)
    assert found.high is not None
    assert found.high < people, "words alone do not see what people see"


@pytest.mark.slow
def test_a_refusal_is_unmeasured_and_stays_in_the_file(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "system": "a", "user_input": "Q?", "response": "Paris.", "retrieved_contexts": ["Paris."]},
        {"id": "2", "system": "a", "user_input": "Q?", "response": "", "retrieved_contexts": ["Paris."]},
    ]
    rated = Rated(json.loads(json.dumps(rows)), {}, {})
    values = real_answers.scored(rated, ["faithfulness"])["faithfulness"]
    assert values["1 a"] == 1.0
    assert math.isnan(values["2 a"])
