"""relevance_grade: UMBRELA's grades of each passage."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragbench.old.core.metric import parse
from ragbench.old.core.types import Chunk, Sample, Status
from ragbench.old.extras.standards.grades import relevance_grade
from ragbench.old.judge import LexicalJudge
from tests.old.judge.scripted_judge import ScriptedJudge, score

SAMPLE = Sample("s", "Where does the library stand?", contexts=tuple(Chunk(f"c{n}", f"text {n}") for n in range(4)))
GRADES = {"text 0": 3, "text 1": 0, "text 2": 2, "text 3": 1}


@pytest.mark.parametrize(("label", "value"), [("relevance_grade", 0.5), ("relevance_grade(of=share)", 0.5)])
def test_the_mean_grade_and_the_share_from_two_on(label: str, value: float) -> None:
    judge = ScriptedJudge(relevance=lambda texts: {"reason": "so", "grade": GRADES[str(texts["passage"])]})
    found = score(parse(label)(SAMPLE, judge=judge))
    assert found.value == value
    assert [line["grade"] for line in found.detail["chunks"]] == [3, 0, 2, 1]


def test_a_grade_that_there_is_not_and_texts_that_are_not_there() -> None:
    assert score(relevance_grade(SAMPLE, judge=ScriptedJudge(relevance={"reason": "", "grade": 4}))).status is (
        Status.PARSE_ERROR
    )
    assert score(relevance_grade(replace(SAMPLE, contexts=()), judge=ScriptedJudge())).status is Status.EMPTY_INPUT
    half = replace(SAMPLE, contexts=(Chunk("a", " "), Chunk("b", "text 0")))
    judge = ScriptedJudge(relevance={"reason": "so", "grade": 3})
    assert score(relevance_grade(half, judge=judge)).value == 0.5
    assert len(judge.calls) == 1


def test_by_words_alone_more_of_the_question_has_a_higher_grade() -> None:
    texts = ("Dogs bark.", "The library has nine rooms.", "The library does stand where Green Street ends.")
    known = replace(SAMPLE, contexts=tuple(Chunk(f"c{n}", text) for n, text in enumerate(texts)), language="en")
    grades = [line["grade"] for line in score(relevance_grade(known, judge=LexicalJudge())).detail["chunks"]]
    assert grades == sorted(grades)
    assert grades[0] == 0 < grades[-1]
