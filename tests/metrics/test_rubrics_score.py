"""rubrics_score: the Eiffel Tower on five levels, other scales, and rubrics that leave nothing to choose."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.core.language import translator
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.llm.request import schema_of
from ragbench.metrics.explanation import explain
from ragbench.metrics.rubrics_score import _prompt, rubrics_score
from tests.judge.scripted_judge import ScriptedJudge, score

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


def of(reply: Any, sample: Sample = EIFFEL["en"]) -> Score:
    return score(rubrics_score(sample, judge=ScriptedJudge(rubrics_score=reply)))


@pytest.mark.parametrize(
    ("language", "number"), [("en", "(4 − 1) / (5 − 1) = 0.750"), ("ru", "(4 − 1) / (5 − 1) = 0,750")]
)
def test_the_eiffel_tower(language: str, number: str) -> None:
    sample = EIFFEL[language]
    assert sample.rubric is not None
    found = of(level(4, "Не хватает глубины."), sample)
    assert found.value == 0.75
    assert found.detail["level"] == 4
    said = explain(found, translator(language))
    assert number in said
    assert sample.rubric[4] in said
    assert sample.rubric[5] not in said
    assert "Не хватает глубины." in said


@pytest.mark.parametrize(("number", "value"), [(5, 1.0), (4, 0.75), (3, 0.5), (2, 0.25), (1, 0.0)])
def test_the_table_of_the_specification(number: int, value: float) -> None:
    assert of(level(number)).value == value


@pytest.mark.parametrize("number", [0, 6, -1, 4.0, 3.5, True, "4", None])
def test_other_levels_are_no_answer(number: Any) -> None:
    """Common software clamps, rounds, or divides whatever comes."""
    assert of(level(number)).status is Status.PARSE_ERROR


def test_a_rubric_with_gaps_has_only_its_levels() -> None:
    sample = Sample("s", response="r", rubric={0: "bad", 3: "fair", 10: "good"})
    assert of(level(3), sample).value == 0.3
    assert of(level(5), sample).status is Status.PARSE_ERROR
    assert of(level(0), sample).value == 0.0
    assert of(level(0), replace(sample, rubric={-2: "a", 0: "b", 2: "c"})).value == 0.5


def test_the_judge_sees_the_rubric_in_order_and_all_that_there_is() -> None:
    sample = replace(EIFFEL["en"], user_input="Q?", reference="R.", contexts=(Chunk("c", "C."),))
    judge = ScriptedJudge(rubrics_score=level(1))
    score(rubrics_score(sample, judge=judge))
    (asked,) = judge.asked("rubrics_score")
    assert [line.split(":")[0] for line in asked["rubric"]] == ["1", "2", "3", "4", "5"]
    assert (asked["question"], asked["reference"], asked["contexts"]) == ("Q?", "R.", ["C."])


def test_the_schema_names_the_levels() -> None:
    assert '"enum": [1, 2, 5]' in json.dumps(schema_of(_prompt((1, 2, 5)).shape))


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
    found = of(level(3), replace(EIFFEL["en"], rubric=rubric))
    assert found.status is Status.INVALID_INPUT
    assert re.search(message, found.reason)
    with pytest.raises(ValueError, match=message):
        rubrics_score.with_options(rubric=rubric)


@settings(deadline=None)
@given(st.sets(st.integers(-50, 50), min_size=2, max_size=8), st.data())
def test_it_is_a_share_of_the_scale(levels: set[int], data: st.DataObject) -> None:
    chosen = data.draw(st.sampled_from(sorted(levels)))
    found = of(level(chosen), Sample("s", response="r", rubric={each: f"criteria {each}" for each in levels}))
    assert found.value == (chosen - min(levels)) / (max(levels) - min(levels))
    assert 0.0 <= found.value <= 1.0


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_goes_by_the_reference(language: str) -> None:
    sample = EIFFEL[language]
    good = replace(sample, reference=sample.response)
    bad = replace(sample, reference={"en": "Bananas grow in summer.", "ru": "Бананы растут летом."}[language])
    assert score(rubrics_score(good, judge=LexicalJudge())).value == 1.0
    assert score(rubrics_score(bad, judge=LexicalJudge())).value == 0.0
