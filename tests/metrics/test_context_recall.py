"""context_recall, and the splitter that decides what its whole is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.core.language import translator
from ragbench.core.segmentation import sentences
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.context_recall import context_recall
from ragbench.metrics.explanation import explain
from tests.judge.scripted_judge import ScriptedJudge, entailment, score

PHOTOSYNTHESIS = {
    "en": Sample(
        "p",
        user_input="Tell me about photosynthesis",
        reference="Photosynthesis converts light energy into chemical energy. It takes place in chloroplasts. The "
        "process needs CO₂, water and sunlight. Oxygen is released as a by-product.",
        contexts=(
            Chunk("c1", "Photosynthesis is the process by which plants turn sunlight into chemical energy."),
            Chunk("c2", "Chloroplasts are organelles of plant cells in which photosynthesis takes place."),
            Chunk("c3", "During photosynthesis oxygen is produced as a by-product."),
            Chunk("c4", "The process needs carbon dioxide, water and light energy."),
        ),
        language="en",
    ),
    "ru": Sample(
        "p",
        user_input="Расскажите о фотосинтезе",
        reference="Фотосинтез преобразует световую энергию в химическую. Он происходит в хлоропластах. Процесс требует "
        "CO₂, воды и солнечного света. Кислород выделяется как побочный продукт.",
        contexts=(
            Chunk("c1", "Фотосинтез — процесс, при котором растения преобразуют солнечный свет в химическую энергию."),
            Chunk("c2", "Хлоропласты — органеллы в растительных клетках, где происходит фотосинтез."),
            Chunk("c3", "Во время фотосинтеза кислород производится как побочный продукт."),
            Chunk("c4", "Процесс требует углекислого газа, воды и световой энергии."),
        ),
        language="ru",
    ),
}


def of(judge: ScriptedJudge, sample: Sample = PHOTOSYNTHESIS["en"]) -> Score:
    return score(context_recall(sample, judge=judge))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_photosynthesis_is_all_there(language: str) -> None:
    judge = ScriptedJudge(entailment=entailment(1, 1, 1, 1, passages=[1]))
    sample = PHOTOSYNTHESIS[language]
    assert of(judge, sample).value == 1.0
    assert len(judge.calls) == 1
    asked = judge.asked("entailment")[0]
    assert " ".join(asked["statements"]) == sample.reference
    assert len(asked["statements"]) == 4
    assert asked["passages"] == [chunk.text for chunk in sample.contexts or ()]


@pytest.mark.parametrize(("language", "number"), [("en", "3 / 4 = 0.750"), ("ru", "3 / 4 = 0,750")])
def test_what_is_missing_is_named(language: str, number: str) -> None:
    found = of(ScriptedJudge(entailment=entailment(1, 1, 1, 0, passages=[4, 4])), PHOTOSYNTHESIS[language])
    assert found.value == 0.75
    said = explain(found, translator(language))
    assert number in said
    assert sentences(PHOTOSYNTHESIS[language].reference or "")[3] in said
    assert found.detail["statements"][0]["chunks"] == ["c4"]


def test_the_judge_cannot_change_what_is_divided_by() -> None:
    """Common software divides by the sentences that the judge cares to return."""
    one_short = of(ScriptedJudge(entailment=[entailment(1, 1, 1), {"verdicts": []}]))
    assert one_short.status is Status.VERDICT_MISMATCH
    one_more = of(ScriptedJudge(entailment=entailment(1, 1, 1, 1, 1)))
    assert one_more.status is Status.VERDICT_MISMATCH
    made_good = of(ScriptedJudge(entailment=[entailment(1, 1, 1), entailment(0)]))
    assert made_good.value == 0.75


def test_a_reference_without_a_sentence_is_unmeasured() -> None:
    assert of(ScriptedJudge(), replace(PHOTOSYNTHESIS["en"], reference="— …")).status is Status.EMPTY_DECOMPOSITION


def test_the_judges_failure() -> None:
    assert of(ScriptedJudge(entailment=Status.TIMEOUT)).status is Status.TIMEOUT


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_misses_what_is_not_there(language: str) -> None:
    sample = PHOTOSYNTHESIS[language]
    copied = replace(sample, contexts=(Chunk("c", sample.reference or ""),))
    half = replace(sample, contexts=(Chunk("c", " ".join(sentences(sample.reference or "")[:2])),))
    assert score(context_recall(copied, judge=LexicalJudge())).value == 1.0
    assert score(context_recall(half, judge=LexicalJudge())).value == 0.5


CASES = [
    ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
    ("Dr. Smith paid 12.5 roubles. He left.", ["Dr. Smith paid 12.5 roubles.", "He left."]),
    ("А. С. Пушкин родился в 1799 г. в Москве. Он поэт.", ["А. С. Пушкин родился в 1799 г. в Москве.", "Он поэт."]),
    ("А.С. Пушкин родился в Москве. Он поэт.", ["А.С. Пушкин родился в Москве.", "Он поэт."]),
    ("They may claim to be a U.S. Marshal. Hang up.", ["They may claim to be a U.S. Marshal.", "Hang up."]),
    ("It stands on the 1099-B. Brokers send it.", ["It stands on the 1099-B.", "Brokers send it."]),
    ("Стоит 5 тыс. руб. Дорого.", ["Стоит 5 тыс. руб. Дорого."]),
    ("List:\n- first item\n- second item", ["List:", "- first item", "- second item"]),
    ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
    ("no end", ["no end"]),
    ("  \n … ", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sentences_by_hand(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="АбвGhi 12.!?…\n-«»", max_size=80))
def test_no_sign_is_lost(text: str) -> None:
    def signs(of: str) -> str:
        return "".join(sign for sign in of if sign.isalnum())

    assert signs("".join(sentences(text))) == signs(text)
