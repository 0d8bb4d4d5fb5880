"""Explanations: sentences with their values apart, said in the language that is asked for."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ragbench.judge import LexicalJudge, Rule
from ragbench.language import translator
from ragbench.metric import Metric
from ragbench.metrics import catalogue
from ragbench.metrics.explanation import explain, reason_in, sentence, spoken
from ragbench.metrics.inquiry import EndedError, Inquiry
from ragbench.types import Chunk, Sample, Score, Status
from tests.scripted_judge import ScriptedJudge, score

RUSSIAN = translator("ru")
SAMPLE = Sample(
    "s",
    user_input="Где стоит башня?",
    response="Башня стоит в Париже. Её высота 500 метров.",
    reference="Башня стоит в Париже.",
    contexts=(Chunk("c1", "Башня стоит в Париже."), Chunk("c2", "Её высота 330 метров."), Chunk("c3", "")),
    rubric={1: "плохо", 2: "хорошо"},
    language="ru",
)
UNASKED = ("aspect_critique", "simple_criteria")
"""Words do not tell these."""
OFFLINE = [
    each
    for each in catalogue().values()
    if each.grain == "sample" and each.needs == ("judge",) and each.name not in UNASKED
]


@pytest.mark.parametrize(
    ("reason", "russian"),
    [
        ("shared words and letters: 0.83", "общих слов и букв: 0,83"),
        ("sentences that share their words: 1 of 2", "предложений с общими словами: 1 из 2"),
        ("parts that share their words: 2 of 3", "частей с общими словами: 2 из 3"),
        ("words and letters of the question: 0.40", "слов и букв вопроса: 0,40"),
        ("there is nothing to read", "читать нечего"),
        ("the chunk has no text", "во фрагменте нет текста"),
        ("the model refused: 3 times {no}", "модель отказалась: 3 times {no}"),
        (
            "every question was answered once: repeats = 2 or more are needed",
            "на каждый вопрос дан один ответ: нужно repeats = 2 или больше",
        ),
    ],
)
def test_the_offline_judges_reasons_in_both_languages(reason: str, russian: str) -> None:
    assert reason_in(reason, translator("en")) == reason
    assert reason_in(reason, RUSSIAN) == russian


@pytest.mark.parametrize(
    "reason", ["", "because 1", "shared words and letters: many", "He said: the chunk has no text", "общих слов"]
)
def test_what_a_model_says_is_left_as_it_is(reason: str) -> None:
    assert reason_in(reason, RUSSIAN) == reason


def test_every_reason_of_the_offline_judge_is_known() -> None:
    """Whatever the offline judge says of this sample, by any metric, is one of the sentences that can be translated."""
    found = set()
    for metric in OFFLINE:
        for sample in (SAMPLE, replace(SAMPLE, response="Бананы летают.")):
            detail = score(metric(sample, judge=LexicalJudge())).detail
            found |= set(re.findall(r"'(?:reason|said)': '([^']+)'", str(detail)))
            found |= {one for one in detail.get("said", ()) if isinstance(detail["said"], list)}
    assert len(found) > 5
    for reason in found:
        assert reason_in(reason, RUSSIAN) != reason, reason


@pytest.mark.parametrize("metric", OFFLINE, ids=str)
def test_a_russian_explanation_has_no_english_word(metric: Metric) -> None:
    text = explain(score(metric(SAMPLE, judge=LexicalJudge())), RUSSIAN)
    assert not re.findall(r"[A-Za-z]{3,}", text), text
    assert re.search(r"\d,\d{3}", text), "numbers have the decimal comma"


@pytest.mark.parametrize("field", ["response", "contexts"])
def test_why_nothing_was_measured_in_both_languages(field: str) -> None:
    missing = score(catalogue()["faithfulness"](replace(SAMPLE, **{field: None}), judge=ScriptedJudge()))
    assert missing.reason == explain(missing) == f"the sample has no field {field}"
    assert explain(missing, RUSSIAN) == f"у примера нет поля {field}"
    empty = score(catalogue()["faithfulness"](replace(SAMPLE, **{field: ""}), judge=ScriptedJudge()))
    assert (empty.status, explain(empty, RUSSIAN)) == (Status.EMPTY_INPUT, f"поле {field} пусто")


def test_a_judges_own_failure_keeps_its_words() -> None:
    inquiry = Inquiry(SAMPLE, ScriptedJudge())
    error = inquiry.unmeasured(Status.TIMEOUT, "the line is dead")
    assert isinstance(error, EndedError)
    assert explain(error.score, RUSSIAN) == "the line is dead"
    ours = inquiry.unmeasured(Status.TIMEOUT, "no reply within 30 s")
    assert isinstance(ours, EndedError)
    assert explain(ours.score, RUSSIAN) == "нет ответа за 30 с"


class TestAPanel:
    KIND, STRICT = Score(1.0, judge="kind"), Score(0.25, judge="strict")
    FAILED = Score.unmeasured(Status.TIMEOUT, "no reply", judge="slow")

    def test_each_judges_score_and_what_they_come_to(self) -> None:
        found = Rule(quorum=2)({"kind": self.KIND, "strict": self.STRICT, "slow": self.FAILED})
        assert explain(found) == (
            "Only 2 of 3 judges measured. By the judges: kind 1.000; strict 0.250; together (mean): 0.625. "
            "Not measured by slow (timeout)."
        )
        assert explain(found, RUSSIAN) == (
            "Измерили не все судьи: 2 из 3. По судьям: kind 1,000; strict 0,250; вместе (mean): 0,625. "
            "Не измерено: slow (timeout)."
        )

    def test_no_value_together(self) -> None:
        found = Rule("consensus", tolerance=0.1)({"kind": self.KIND, "strict": self.STRICT})
        assert explain(found) == "The judges come to no value together (consensus(0.1)): kind 1.000; strict 0.250."
        none = Rule()({"slow": self.FAILED})
        assert explain(none, RUSSIAN) == "Измерили не все судьи: 0 из 1, а нужно 1. Не измерено: slow (timeout)."


def test_values_are_said_by_their_kind() -> None:
    one = sentence("The judge says: {reason}", reason="shared words and letters: 0.50")
    assert spoken([one], RUSSIAN) == "Судья пишет: общих слов и букв: 0,50"
    claims = sentence("Not supported: {claims}.", claims=["A {x}.", "B."])
    assert spoken([claims]) == "Not supported: “A {x}.”; “B.”."
    assert spoken([claims], RUSSIAN) == "Не подтверждено: «A {x}.»; «B.»."
    inner = sentence("{part} is unmeasured: {reason}", part="x", reason=sentence("the reference makes no claim"))
    assert spoken([inner], RUSSIAN) == "x не измерено: в эталоне нет утверждений"
