"""Which answers are refusals: the rule on what people labelled, on what was written for it, and its edges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.systems.refusals import RECOGNISED, is_refusal
from tests import written_refusals as written
from tests.benchmarks import real_refusals

REFUSALS = (*written.ENGLISH_REFUSALS, *written.RUSSIAN_REFUSALS)
ANSWERS = (*written.ENGLISH_ANSWERS, *written.RUSSIAN_ANSWERS)


@pytest.mark.parametrize("answer", REFUSALS)
def test_refusals_in_both_languages(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_that_only_sound_like_refusals(answer: str) -> None:
    assert not is_refusal(answer)


def test_the_rates_that_are_printed_are_those_of_the_labelled_answers(shared_data: Callable[[str], Path]) -> None:
    found = real_refusals.labelled(shared_data(real_refusals.LABELLED).parent)
    assert real_refusals.recognised(found) == RECOGNISED
    assert (RECOGNISED.recall, RECOGNISED.precision) == (pytest.approx(327 / 338), pytest.approx(327 / 340))
    by_system = {
        system: real_refusals.recognised([one for one in found if one.system == system])
        for system in dict.fromkeys(one.system for one in found)
    }
    counted = {name: one for name, one in by_system.items() if one.refusals >= 10}
    assert len(counted) == 4
    assert all(one.recall >= 0.95 for one in counted.values())
    assert all(one.taken - one.found <= max(1, 0.05 * one.taken) for one in counted.values())


def test_no_sign_is_of_one_models_making(shared_data: Callable[[str], Path]) -> None:
    """What is lost where a model's answers are read with the signs alone that other models show."""
    found = real_refusals.labelled(shared_data(real_refusals.LABELLED).parent)
    left = {}
    for system in dict.fromkeys(one.system for one in found):
        rule = real_refusals.Rule(real_refusals.shown_by_others(found, system))
        left[system] = real_refusals.recognised([one for one in found if one.system == system], rule)
    refusals, taken, right = (
        sum(getattr(one, name) for one in left.values()) for name in ("refusals", "taken", "found")
    )
    assert refusals == RECOGNISED.refusals
    assert min(right / refusals, right / taken) > 0.94


def test_cases_from_the_field(shared_data: Callable[[str], Path]) -> None:
    with shared_data("field-cases/refusals/refusals.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert len(rows) == 17
    assert [row["answer"] for row in rows if is_refusal(row["answer"]) != row["refusal"]] == []


@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        ("The text does not name the fee. However, it mentions that guests pay 300 a night.", False),
        ("The text does not name the fee. However, the fee cannot be determined from the year alone.", True),
        ("Although the text does not name the fee, guests pay 300 a night.", False),
        ("To find the fee we would need the number of nights. I do not have it.", True),
        ("To find the fee, multiply 300 by the number of nights.", False),
        ("В тексте не названа плата. Однако из таблицы следует: 300 рублей за ночь.", False),
        ("В тексте названа плата за ночь. Поэтому плату за месяц определить невозможно.", True),
        ("", False),
        ("   ", False),
        ("n/a.", True),
        ("«Нет данных»", True),
    ],
)
def test_the_whole_answer_counts(answer: str, refusal: bool) -> None:
    assert is_refusal(answer) == refusal


@given(st.sampled_from(REFUSALS + ANSWERS), st.sampled_from(["", " ", "\n", "\n\n"]))
def test_space_around_changes_nothing(answer: str, space: str) -> None:
    assert is_refusal(space + answer + space) == is_refusal(answer)


@given(st.text(max_size=400))
def test_any_text_is_one_or_the_other(answer: str) -> None:
    assert is_refusal(answer) in (True, False)


@pytest.mark.parametrize("word", ["i ", "the context ", "не ", "information ", "there is no ", "a, "])
def test_long_texts_of_one_word_come_to_an_end(word: str) -> None:
    assert is_refusal(word * 20_000) in (True, False)
