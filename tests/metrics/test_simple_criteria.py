"""simple_criteria: a number on a stated scale, by the median."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.core.language import translator
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.explanation import explain
from ragbench.metrics.simple_criteria import CRITERIA, _prompt, simple_criteria
from tests.judge.scripted_judge import ScriptedJudge, score

SAMPLE = Sample("s", "Q?", "R.", "T.", (Chunk("c", "Context."),), language="ru")


def said(rating: Any) -> Any:
    return rating if isinstance(rating, Status) else {"reason": f"rated {rating}", "rating": rating}


def of(*ratings: Any, sample: Sample = SAMPLE, **options: Any) -> Score:
    judge = ScriptedJudge(simple_criteria=[said(rating) for rating in ratings])
    return score(simple_criteria(sample, judge=judge, repeats=len(ratings), **options))


@pytest.mark.parametrize(
    ("rating", "lowest", "highest", "value"),
    [(0, 0, 5, 0.0), (5, 0, 5, 1.0), (2.5, 0, 5, 0.5), (4, 1, 5, 0.75), (0, -5, 5, 0.5), (7, 0, 10, 0.7)],
)
def test_the_rating_is_laid_on_a_scale_from_0_to_1(rating: float, lowest: float, highest: float, value: float) -> None:
    found = of(rating, lowest=lowest, highest=highest)
    assert found.value == pytest.approx(value, abs=1e-15)
    assert found.detail["rating"] == rating
    share = f"{rating - lowest:.3f} / {highest - lowest:.3f} = {value:.3f}"
    assert f"{share}. Судья".replace(".", ",", 3) in explain(found, translator("ru"))
    assert f"rated {rating}" in found.reason


def test_the_median_counts_and_with_the_variant_the_most_frequent() -> None:
    assert of(1, 5, 2).detail["rating"] == 2
    assert of(1, 2).detail["rating"] == 1.5
    assert of(5, 1, 5, 2, 1).detail["rating"] == 2
    assert of(5, 1, 5, 2, 1, variant="ragas").detail["rating"] == 5, "of two as frequent the first"
    assert of(1, 5, 5, variant="ragas").detail["rating"] == 5
    found = of(1, 5, 2)
    assert found.detail["ratings"] == [1, 5, 2]
    assert "1.000; 5.000; 2.000" in found.reason
    assert "rated 2" in found.reason, "the reason is that of the rating that counts"


def test_a_failed_repeat_is_no_rating() -> None:
    assert of(3, Status.TIMEOUT, 3).status is Status.TIMEOUT


@pytest.mark.parametrize("rating", [-0.5, 5.01, 10, True, "3", None, float("nan"), float("inf"), [3]])
def test_nothing_else_is_a_rating(rating: Any) -> None:
    assert of(rating).status is Status.PARSE_ERROR


def test_the_judge_sees_the_scale_the_criterion_and_all_that_there_is() -> None:
    judge = ScriptedJudge(simple_criteria=said(3))
    score(simple_criteria(SAMPLE, judge=judge, criterion="Is it polite?", lowest=-1, highest=4.5, repeats=3))
    assert judge.asked("simple_criteria")[0] == {
        "criterion": "Is it polite?", "lowest": "-1", "highest": "4.5", "question": "Q?", "contexts": ["Context."],
        "reference": "T.", "response": "R.",
    }  # fmt: skip
    assert [repeat for _, _, repeat in judge.calls] == [0, 1, 2]
    assert judge.rounds == 1
    schema = _prompt(-1.0, 4.5).shape.model_json_schema()["properties"]["rating"]
    assert (schema["minimum"], schema["maximum"]) == (-1.0, 4.5)


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_criteria_are_put_in_the_samples_language(criterion: str, language: str) -> None:
    judge = ScriptedJudge(simple_criteria=said(3))
    score(simple_criteria(replace(SAMPLE, language=language), judge=judge, criterion=criterion))
    assert judge.asked("simple_criteria")[0]["criterion"] == CRITERIA[criterion][language]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": " "}, "criterion is empty; name one of correctness"),
        ({"lowest": 5}, "lowest = 5, highest = 5"),
        ({"lowest": 6}, "the lowest is below the highest"),
        ({"highest": float("inf")}, "highest = inf: a number is expected"),
        ({"lowest": True}, "lowest = True"),
        ({"repeats": 0}, "whole number from 1 to 99"),
        ({"repeats": 1.0}, "repeats = 1.0"),
        ({"variant": "x"}, "specification or ragas"),
    ],
)
def test_wrong_options_are_refused_before_a_call(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(simple_criteria(SAMPLE, judge=ScriptedJudge(), **options))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_it_lies_within_the_ratings(ratings: list[int]) -> None:
    assert min(ratings) / 5 <= of(*ratings).value <= max(ratings) / 5


def test_words_alone_do_not_tell_it() -> None:
    found = score(simple_criteria(SAMPLE, judge=LexicalJudge()))
    assert (found.status, found.judge) == (Status.JUDGE_ERROR, "lexical")
