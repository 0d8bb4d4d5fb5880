"""aspect_critique, simple_criteria, rubrics_score: majorities, scales and levels, and what is refused unasked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.language import translator
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.llm.request import schema_of
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.qualities import (
    ASPECTS,
    CRITERIA,
    _prompt,
    _rubric_prompt,
    aspect_critique,
    rubrics_score,
    simple_criteria,
)
from tests.old.judge.scripted_judge import ScriptedJudge, score

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


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_it_lies_within_the_ratings(ratings: list[int]) -> None:
    assert min(ratings) / 5 <= of(*ratings).value <= max(ratings) / 5


def test_words_alone_do_not_tell_it() -> None:
    found = score(simple_criteria(SAMPLE, judge=LexicalJudge()))
    assert (found.status, found.judge) == (Status.JUDGE_ERROR, "lexical")


CRITICIZED = Sample("s", user_input="Q?", response="R.", language="ru")


def word(verdict: Any) -> Any:
    return verdict if isinstance(verdict, Status) else {"reason": f"said {verdict}", "verdict": verdict}


def aspect_of(*verdicts: Any, sample: Sample = CRITICIZED, **options: Any) -> Score:
    judge = ScriptedJudge(aspect_critique=[word(verdict) for verdict in verdicts])
    return score(aspect_critique(sample, judge=judge, repeats=len(verdicts), **options))


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [(["yes"], 1.0), (["no"], 0.0), (["yes", "no", "yes"], 1.0), (["no", "yes", "no"], 0.0), (["yes"] * 5, 1.0)],
)
def test_the_majority_counts(verdicts: list[str], value: float) -> None:
    found = aspect_of(*verdicts)
    assert found.value == value
    assert [each["verdict"] for each in found.detail["verdicts"]] == verdicts
    assert f"said {'yes' if value else 'no'}" in found.reason
    assert f"«да» — {verdicts.count('yes')} из {len(verdicts)}" in explain(found, translator("ru"))


def test_a_failed_repeat_is_no_vote() -> None:
    assert aspect_of("yes", Status.TIMEOUT, "yes").status is Status.TIMEOUT


@pytest.mark.parametrize("verdict", ["yess", "да", "", True, 1, None, "yes, but"])
def test_nothing_else_is_a_word(verdict: Any) -> None:
    assert aspect_of(verdict).status is Status.PARSE_ERROR


@pytest.mark.parametrize(("verdict", "value"), [("Yes", 1.0), (" YES ", 1.0), ("No", 0.0)])
def test_its_letters_may_be_large(verdict: str, value: float) -> None:
    assert aspect_of(verdict).value == value


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_aspects_are_asked_in_the_samples_language(aspect: str, language: str) -> None:
    judge = ScriptedJudge(aspect_critique=word("no"))
    score(aspect_critique(replace(CRITICIZED, language=language), judge=judge, aspect=aspect))
    assert judge.asked("aspect_critique")[0]["aspect"] == ASPECTS[aspect][language]


def test_a_question_of_ones_own_and_independent_repeats() -> None:
    judge = ScriptedJudge(aspect_critique=word("yes"))
    score(aspect_critique(CRITICIZED, judge=judge, aspect="Is it polite?", repeats=3))
    assert {texts["aspect"] for texts in judge.asked("aspect_critique")} == {"Is it polite?"}
    assert [repeat for _, _, repeat in judge.calls] == [0, 1, 2]
    assert judge.rounds == 1


@pytest.mark.parametrize("repeats", [0, 2, -1, 101, True, 1.0])
def test_an_odd_number_of_repeats(repeats: Any) -> None:
    with pytest.raises(
        ValueError,
        match="number from 1 to 99",
    ):
        score(aspect_critique(CRITICIZED, judge=ScriptedJudge(), repeats=repeats))


def test_a_question_about_the_answer_is_needed() -> None:
    with pytest.raises(ValueError, match="aspect = ' '; name one of correctness"):
        aspect_of("yes", aspect=" ")


def test_words_alone_do_not_tell_an_aspect() -> None:
    found = score(aspect_critique(CRITICIZED, judge=LexicalJudge()))
    assert (found.status, found.judge) == (Status.JUDGE_ERROR, "lexical")


EIFFEL = {
    "en": Sample(
        "eiffel",
        response="The Eiffel Tower was built in 1889 for the World's Fair. It is 330 metres high, and Gustave Eiffel "
        "designed it.",
        rubric={
            5: "Excellent: complete, accurate, well structured, with examples",
            4: "Good: accurate with minor omissions, good structure",
            3: "Satisfactory: covers the main points, but without depth",
            2: "Poor: considerable gaps or inaccuracies",
            1: "Very poor: mostly wrong or irrelevant",
        },
        language="en",
    ),
    "ru": Sample(
        "eiffel",
        response="Эйфелева башня была построена в 1889 году для Всемирной выставки. Её высота 330 метров, и "
        "спроектировал "
        "её Гюстав Эйфель.",
        rubric={
            5: "Отлично: полный, точный, хорошо структурированный, с примерами",
            4: "Хорошо: точный с незначительными упущениями, хорошая структура",
            3: "Удовлетворительно: охватывает основное, но без глубины",
            2: "Плохо: значительные пробелы или неточности",
            1: "Очень плохо: в основном неверный или нерелевантный",
        },
        language="ru",
    ),
}


def level(number: Any, reason: str = "No examples.") -> dict[str, Any]:
    return {"reason": reason, "level": number}


def level_of(reply: Any, sample: Sample = EIFFEL["en"]) -> Score:
    return score(rubrics_score(sample, judge=ScriptedJudge(rubrics_score=reply)))


@pytest.mark.parametrize(
    ("language", "number"), [("en", "(4 − 1) / (5 − 1) = 0.750"), ("ru", "(4 − 1) / (5 − 1) = 0,750")]
)
def test_the_eiffel_tower(language: str, number: str) -> None:
    sample = EIFFEL[language]
    assert sample.rubric is not None
    found = level_of(level(4, "Не хватает глубины."), sample)
    assert found.value == 0.75
    assert found.detail["level"] == 4
    said = explain(found, translator(language))
    assert number in said
    assert sample.rubric[4] in said
    assert sample.rubric[5] not in said
    assert "Не хватает глубины." in said


@pytest.mark.parametrize(("number", "value"), [(5, 1.0), (4, 0.75), (3, 0.5), (2, 0.25), (1, 0.0)])
def test_the_table_of_the_specification(number: int, value: float) -> None:
    assert level_of(level(number)).value == value


@pytest.mark.parametrize("number", [0, 6, -1, 4.0, 3.5, True, "4", None])
def test_other_levels_are_no_answer(number: Any) -> None:
    """Common software clamps, rounds, or divides whatever comes."""
    assert level_of(level(number)).status is Status.PARSE_ERROR


def test_a_rubric_with_gaps_has_only_its_levels() -> None:
    sample = Sample("s", response="r", rubric={0: "bad", 3: "fair", 10: "good"})
    assert level_of(level(3), sample).value == 0.3
    assert level_of(level(5), sample).status is Status.PARSE_ERROR
    assert level_of(level(0), sample).value == 0.0
    assert level_of(level(0), replace(sample, rubric={-2: "a", 0: "b", 2: "c"})).value == 0.5


def test_the_judge_sees_the_rubric_in_order_and_all_that_there_is() -> None:
    sample = replace(EIFFEL["en"], user_input="Q?", reference="R.", contexts=(Chunk("c", "C."),))
    judge = ScriptedJudge(rubrics_score=level(1))
    score(rubrics_score(sample, judge=judge))
    (asked,) = judge.asked("rubrics_score")
    assert [line.split(":")[0] for line in asked["rubric"]] == ["1", "2", "3", "4", "5"]
    assert (asked["question"], asked["reference"], asked["contexts"]) == ("Q?", "R.", ["C."])


def test_the_schema_names_the_levels() -> None:
    assert '"enum": [1, 2, 5]' in json.dumps(schema_of(_rubric_prompt((1, 2, 5)).shape))


@pytest.mark.parametrize(
    ("rubric", "message"),
    [
        ({3: "only"}, r"levels \[3\]; it needs 2"),
        ({1: "a", 2: " "}, "level 2 has no criteria"),
        ({1: "a", 1.5: "b"}, "1.5 is no whole number"),
        ({1: "a", 2: "b", "c": "c"}, "'c' is no whole number"),
    ],
)
def test_a_rubric_that_leaves_nothing_to_choose(rubric: Any, message: str) -> None:
    found = level_of(level(3), replace(EIFFEL["en"], rubric=rubric))
    assert found.status is Status.INVALID_INPUT
    assert re.search(message, found.reason)
    with pytest.raises(ValueError, match=message):
        rubrics_score.with_options(rubric=rubric)


@settings(deadline=None)
@given(st.sets(st.integers(-50, 50), min_size=2, max_size=8), st.data())
def test_it_is_a_share_of_the_scale(levels: set[int], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(sorted(levels)))
    found = level_of(level(chosen), Sample("s", response="r", rubric={each: f"criteria {each}" for each in levels}))
    assert found.value == (chosen - min(levels)) / (max(levels) - min(levels))
    assert 0.0 <= found.value <= 1.0


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_goes_by_the_reference(language: str) -> None:
    sample = EIFFEL[language]
    good = replace(sample, reference=sample.response)
    bad = replace(sample, reference={"en": "Bananas grow in summer.", "ru": "Бананы растут летом."}[language])
    assert score(rubrics_score(good, judge=LexicalJudge())).value == 1.0
    assert score(rubrics_score(bad, judge=LexicalJudge())).value == 0.0
