"""Which answers are refusals: those written for the rule, those that people labelled, edges."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.metrics.refusals import is_refusal
from tests.metrics import written_refusals as written

FIGURES = "The passages give the following:\n- rent: $300 million\n- deposit: 500"
RUSSIAN_FIGURES = "В справке указано следующее:\n- выплата: 300 руб.\n- коэффициент: 1,15"


def test_refusals_and_answers_in_both_languages() -> None:
    refusals = [*written.ENGLISH_REFUSALS, *written.RUSSIAN_REFUSALS]
    answers = [*written.ENGLISH_ANSWERS, *written.RUSSIAN_ANSWERS]
    assert (len(refusals) > 250, len(answers) > 250) == (True, True)
    assert [text for text in refusals if not is_refusal(text)] == []
    assert [text for text in answers if is_refusal(text)] == []


def read_lines(path: Path) -> list[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_labelled_answers_of_eight_systems(shared_data: Callable[[str], Path]) -> None:
    rows = []
    for path in sorted(shared_data("financebench-refusals").glob("*.jsonl.gz")):
        rows += read_lines(path)
    labels = [row["label"] == "Refusal" for row in rows]
    told = [is_refusal(row["answer"]) for row in rows]
    both = sum(label and verdict for label, verdict in zip(labels, told, strict=True))
    assert (len(rows), sum(labels)) == (1200, 338)
    assert both / sum(labels) >= 0.97
    assert both / sum(told) >= 0.96
    assert not any(is_refusal(row["reference"]) for row in rows)


def test_reference_answers_of_dialogues(shared_data: Callable[[str], Path]) -> None:
    rows = read_lines(shared_data("mtrag-un") / "mtragun_reference_clapnq_fiqa.jsonl.gz")
    told = {"ANSWERABLE": [], "UNANSWERABLE": []}
    for row in rows:
        for kind in set(row["answerability"]) & told.keys():
            told[kind].append(is_refusal(row["targets"][0]["text"]))
    assert not any(told["ANSWERABLE"])
    assert sum(told["UNANSWERABLE"]) >= 31  # of 34: three answer all the same


def test_cases_from_the_field(shared_data: Callable[[str], Path]) -> None:
    rows = read_lines(shared_data("field-cases") / "refusals" / "refusals.jsonl")
    wrong = [row["answer"] for row in rows if is_refusal(row["answer"]) != row["refusal"]]
    assert (len(rows), wrong) == (17, [])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("None", True),
        ("n/a.", True),
        ("«Нет данных»", True),
        ("N/A. Therefore, the fee is 300.", False),
        ("N/A. See page 3.", True),
        ("Нет данных. Обратитесь в деканат.", True),
        ("Нет данных. Значит, плата составляет 300 рублей.", False),
        ("Ответ: нет.", False),
        ("Ответ — нет.", False),
        ("Ответ: не указано", True),
        ("The quick ratio is not given.", True),
        ("В документах не указано, однако обычно 10 дней.", False),
        ("В документах это не указано, но я могу рассказать об общих правилах.", True),
        ("The text does not name the fee. However, it mentions that guests pay 300.", False),
        ("The text does not name the fee. However, the fee cannot be determined.", True),
        ("Although the text does not name the fee, guests pay 300 a night.", False),
        ("To find the fee we would need the number of nights. I do not have it.", True),
        ("To find the fee, multiply 300 by the number of nights.", False),
        ("В тексте не названа плата. Однако из таблицы следует: 300 рублей за ночь.", False),
        ("В тексте названа плата за ночь. Поэтому плату за месяц определить невозможно.", True),
        (f"{FIGURES}\nTherefore, the total cannot be determined.", True),
        (f"I cannot calculate the total. {FIGURES}\nTherefore, it cannot be determined.", False),
        (f"The text does not name the total. {FIGURES}", False),
        (f"Не могу рассчитать сумму. {RUSSIAN_FIGURES}\nПоэтому сумму рассчитать нельзя.", False),
        (f"{RUSSIAN_FIGURES}\nПоэтому сумму рассчитать нельзя.", True),
        ("К сожалению, в материалах нет ответа. Обратитесь в деканат:\n- кабинет: 12", True),
        ("", False),
        ("   ", False),
        ("за\u0301трудняюсь отве\u00adтить", True),
    ],
)
def test_the_whole_answer_counts(answer: str, expected: bool) -> None:
    assert is_refusal(answer) is expected
    assert is_refusal(f"\n {answer} ") is expected


@pytest.mark.parametrize("word", ["i ", "the context ", "- a: : ", "не ", "no data ", "a, ", "1"])
def test_long_texts_of_one_word_come_to_an_end(word: str) -> None:
    start = time.process_time()
    assert is_refusal((word * 50_000)[:50_000]) in (True, False)
    assert time.process_time() - start < 2
