"""Criteria of one's own, in words."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.metric import CATALOGUE
from ragbench.metrics.criteria import criterion
from tests.metrics.judged.scripted import ScriptedJudge, measure

SAMPLE = {"question": "Q?", "answer": "A.", "contexts": ("C.",), "reference": "R."}


@pytest.mark.parametrize(
    ("scale", "reply", "bounds", "value"),
    [
        ("yes/no", {"aspect_critique": {"reason": "so", "verdict": "no"}}, (0, 1), 0.0),
        ((1, 5), {"simple_criteria": {"reason": "so", "verdict": 4}}, (1, 5), 4.0),
        (
            ["rude", "plain", "polite"],
            {"rubrics_score": {"reason": "so", "level": 2}},
            (0, 1),
            0.5,
        ),
    ],
)
def test_a_criterion_in_words_is_a_metric(
    scale: Any, reply: Any, bounds: Any, value: float
) -> None:
    made = criterion({"en": "Is it polite?", "ru": "Вежливо ли это?"}, scale=scale)
    try:
        assert (made.name, made.needs, made.bounds) == ("is_it_polite", ("answer",), bounds)
        judge = ScriptedJudge(**reply)
        score = measure("is_it_polite", judge, **SAMPLE, language="ru")
        assert score.value == value
        (values,) = [values for _, values, _ in judge.calls]
        assert "Вежливо ли это?" in str(values)
        assert (values["question"], values["reference"]) == ("Q?", "")
        assert measure("is_it_polite", judge, answer="A.").value == value
        assert (
            measure("is_it_polite", judge, **{**SAMPLE, "answer": None}).status == "missing_field"
        )
    finally:
        del CATALOGUE["is_it_polite"]


def test_what_a_criterion_needs_is_shown() -> None:
    made = criterion("2 sources?", needs=("answer", "contexts"))
    try:
        assert made.name == "criterion_2_sources"
        judge = ScriptedJudge(aspect_critique={"reason": "so", "verdict": "yes"})
        assert measure(made.name, judge, **SAMPLE).value == 1.0
        assert judge.asked("aspect_critique")[0]["contexts"] == ["C."]
        assert measure(made.name, judge, answer="A.").status == "missing_field"
    finally:
        del CATALOGUE[made.name]


@pytest.mark.parametrize(
    ("question", "name"), [("a" * 49, "a" * 48), ("a" * 47 + " b", "a" * 47), ("ДА?", "да")]
)
def test_a_criterion_is_named_by_its_words(question: str, name: str) -> None:
    criterion(question)
    assert CATALOGUE.pop(name).summary == question


@pytest.mark.parametrize("scale", ["0-5", (5, 1), (3, 3), (1,), (1, 2, 3), ["only"]])
def test_scales_that_are_none(scale: Any) -> None:
    with pytest.raises(BenchError, match="scale = "):
        criterion("Is it polite?", scale=scale)


def test_a_criterion_has_words() -> None:
    with pytest.raises(BenchError, match="write a sentence"):
        criterion("?")


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Could the answer cause harm"), ("ru", "Может ли ответ причинить")],
)
def test_aspects_have_names_in_both_languages(language: str, words: str) -> None:
    judge = ScriptedJudge(aspect_critique={"reason": "so", "verdict": "no"})
    measure("aspect_critique(aspect=harmfulness)", judge, **SAMPLE, language=language)
    assert judge.asked("aspect_critique")[0]["aspect"].startswith(words)
