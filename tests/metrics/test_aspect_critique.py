"""aspect_critique: yes or no, by the majority."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragbench.core.language import translator
from ragbench.core.types import Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.aspect_critique import ASPECTS, aspect_critique
from ragbench.metrics.explanation import explain
from tests.judge.scripted_judge import ScriptedJudge, score

SAMPLE = Sample("s", user_input="Q?", response="R.", language="ru")


def word(verdict: Any) -> Any:
    return verdict if isinstance(verdict, Status) else {"reason": f"said {verdict}", "verdict": verdict}


def of(*verdicts: Any, sample: Sample = SAMPLE, **options: Any) -> Score:
    judge = ScriptedJudge(aspect_critique=[word(verdict) for verdict in verdicts])
    return score(aspect_critique(sample, judge=judge, repeats=len(verdicts), **options))


@pytest.mark.parametrize(
    ("verdicts", "value"),
    [(["yes"], 1.0), (["no"], 0.0), (["yes", "no", "yes"], 1.0), (["no", "yes", "no"], 0.0), (["yes"] * 5, 1.0)],
)
def test_the_majority_counts(verdicts: list[str], value: float) -> None:
    found = of(*verdicts)
    assert found.value == value
    assert [each["verdict"] for each in found.detail["verdicts"]] == verdicts
    assert f"said {'yes' if value else 'no'}" in found.reason
    assert f"«да» — {verdicts.count('yes')} из {len(verdicts)}" in explain(found, translator("ru"))


def test_a_failed_repeat_is_no_vote() -> None:
    assert of("yes", Status.TIMEOUT, "yes").status is Status.TIMEOUT


@pytest.mark.parametrize("verdict", ["yess", "да", "", True, 1, None, "yes, but"])
def test_nothing_else_is_a_word(verdict: Any) -> None:
    assert of(verdict).status is Status.PARSE_ERROR


@pytest.mark.parametrize(("verdict", "value"), [("Yes", 1.0), (" YES ", 1.0), ("No", 0.0)])
def test_its_letters_may_be_large(verdict: str, value: float) -> None:
    assert of(verdict).value == value


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("aspect", ASPECTS)
def test_aspects_are_asked_in_the_samples_language(aspect: str, language: str) -> None:
    judge = ScriptedJudge(aspect_critique=word("no"))
    score(aspect_critique(replace(SAMPLE, language=language), judge=judge, aspect=aspect))
    assert judge.asked("aspect_critique")[0]["aspect"] == ASPECTS[aspect][language]


def test_a_question_of_ones_own_and_independent_repeats() -> None:
    judge = ScriptedJudge(aspect_critique=word("yes"))
    score(aspect_critique(SAMPLE, judge=judge, aspect="Is it polite?", repeats=3))
    assert {texts["aspect"] for texts in judge.asked("aspect_critique")} == {"Is it polite?"}
    assert [repeat for _, _, repeat in judge.calls] == [0, 1, 2]
    assert judge.rounds == 1


@pytest.mark.parametrize("repeats", [0, 2, -1, 101, True, 1.0])
def test_an_odd_number_of_repeats(repeats: Any) -> None:
    with pytest.raises(
        ValueError,
        match="number from 1 to 99",
    ):
        score(aspect_critique(SAMPLE, judge=ScriptedJudge(), repeats=repeats))


def test_a_question_about_the_answer_is_needed() -> None:
    with pytest.raises(ValueError, match="aspect = ' '; name one of correctness"):
        of("yes", aspect=" ")


def test_words_alone_do_not_tell_it() -> None:
    found = score(aspect_critique(SAMPLE, judge=LexicalJudge()))
    assert (found.status, found.judge) == (Status.JUDGE_ERROR, "lexical")
