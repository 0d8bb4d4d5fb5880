"""Explanations: sentences with their values apart, said in the language that is asked for."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Chunk, Citation, Message, Sample, Score, Status
from ragbench.old.core.types.reason import Reason, joined, kept, of, parts, read, reason_of, rounded, short
from ragbench.old.judge import LexicalJudge, Rule
from ragbench.old.llm.errors import CallFailed
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.explanation import explain, reason_in, sentence, spoken
from ragbench.old.metrics.inquiry import EndedError, Inquiry
from tests.old.judge.scripted_judge import ScriptedJudge, score

RUSSIAN = translator("ru")
SAMPLE = Sample(
    "s",
    user_input="Где стоит башня?",
    response="Башня стоит в Париже. Её высота 500 метров.",
    reference="Башня стоит в Париже.",
    contexts=(Chunk("c1", "Башня стоит в Париже."), Chunk("c2", "Её высота 330 метров."), Chunk("c3", "")),
    rubric={1: "плохо", 2: "хорошо"},
    language="ru",
    nuggets={"Башня стоит в Париже.": "vital", "Её высота 330 метров.": "okay"},
    citations=(Citation(0, 20, "1"), Citation(21, 43, "2")),
    trajectory=(Message("user", "Где стоит башня?"), Message("assistant", "Башня стоит в Париже.")),
    reference_topics=("башня",),
)
UNASKED = ("aspect_critique", "simple_criteria")
"""Words do not tell these."""
OFFLINE = [
    each
    for each in catalogue().values()
    if each.grain == "sample" and each.needs == ("judge",) and each.name not in UNASKED
]


@pytest.mark.parametrize(
    ("reason", "english", "russian"),
    [
        (
            Reason("shared words and letters: {share}", share=rounded(0.8333, 2)),
            "shared words and letters: 0.83",
            "общих слов и букв: 0,83",
        ),
        (
            Reason("parts that share their words: {part} of {whole}", part=2, whole=3),
            "parts that share their words: 2 of 3",
            "частей с общими словами: 2 из 3",
        ),
        (Reason("there is nothing to read"), "there is nothing to read", "читать нечего"),
        (
            Reason("the model refused: {said}", said="3 times {no}"),
            "the model refused: 3 times {no}",
            "модель отказалась: 3 times {no}",
        ),
        (
            joined(Reason("{part} pairs unmeasured", part=7), "HTTP 500"),
            "7 pairs unmeasured; HTTP 500",
            "пар без измерения: 7; HTTP 500",
        ),
    ],
)
def test_a_reason_in_both_languages_also_of_what_is_kept_of_it(reason: str, english: str, russian: str) -> None:
    assert reason == english
    for one in (reason, kept(reason), read(kept(reason)), pickle.loads(pickle.dumps(reason)), copy.deepcopy(reason)):
        assert reason_in(one, translator("en")) == english
        assert reason_in(one, RUSSIAN) == russian


@pytest.mark.parametrize(
    "reason",
    [
        "", "because 1", "shared words and letters: 0.83", "the chunk has no text", "общих слов",
        '{"text": "the chunk has no text", "values": {}}', '{"text": "{x:>999999999}", "values": {"x": "a"}}',
        '{"text": "{x.__class__}", "values": {"x": "a"}}', '{"text": 3}', '{"text": ' + '{"text": ' * 10_000,
    ],
)  # fmt: skip
def test_what_a_model_says_is_left_as_it_is(reason: str) -> None:
    """Also where it looks as what is kept of ragbench's own, and where that is no sentence."""
    assert reason_in(kept(reason), RUSSIAN) == read(kept(reason)) == reason
    found = reason_in(reason, RUSSIAN)
    assert found == reason or "во фрагменте нет текста" in found


def test_reasons_that_are_joined_come_apart_again() -> None:
    one, two = Reason("there is no interval"), "HTTP 500: busy; wait"
    assert parts(joined(one, "", two)) == (one, two)
    assert parts(read(kept(joined(one, two)))) == (one, two)
    assert (joined("", one), parts(one), joined(), parts("")) == (one, (one,), "", ())


def test_a_reason_says_what_its_error_says() -> None:
    known = Reason("no reply within {seconds} s", seconds=short(30.0))
    assert str(CallFailed(Status.TIMEOUT, known)) == "no reply within 30 s"
    assert reason_in(reason_of(CallFailed(Status.TIMEOUT, known)), RUSSIAN) == "нет ответа за 30 с"
    assert reason_of(KeyError("x")) == "'x'"


def said_in(detail: Any) -> Iterator[str]:
    """Every reason in a score's data."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            if key in ("reason", "said"):
                yield from [value] if isinstance(value, str) else value if isinstance(value, list) else ()
            else:
                yield from said_in(value)
    elif isinstance(detail, list | tuple):
        for value in detail:
            yield from said_in(value)


def test_every_reason_of_the_offline_judge_is_known() -> None:
    """Whatever the offline judge says of this sample, by any metric, is one of the sentences that can be translated."""
    found = set()
    for metric in OFFLINE:
        for sample in (SAMPLE, replace(SAMPLE, response="Бананы летают.")):
            detail = score(metric(sample, judge=LexicalJudge())).detail
            found |= set(said_in(detail))
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
    ours = inquiry.unmeasured(Status.TIMEOUT, Reason("no reply within {seconds} s", seconds=30))
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
    one = sentence(
        "The judge says: {reason}", reason=Reason("shared words and letters: {share}", share=rounded(0.5, 2))
    )
    assert spoken([one], RUSSIAN) == "Судья пишет: общих слов и букв: 0,50"
    claims = sentence("Not supported: {claims}.", claims=["A {x}.", "B."])
    assert spoken([claims]) == "Not supported: “A {x}.”; “B.”."
    assert spoken([claims], RUSSIAN) == "Не подтверждено: «A {x}.»; «B.»."
    inner = sentence("{part} is unmeasured: {reason}", part="x", reason=sentence("the reference makes no claim"))
    assert spoken([inner], RUSSIAN) == "x не измерено: в эталоне нет утверждений"


@pytest.mark.parametrize("reason", [None, math.nan, ""])
def test_a_table_without_a_reason_says_none(reason: str | float | None) -> None:
    assert reason_in(reason, translator("ru")) == ""


def test_why_there_is_no_value_can_be_said_again_in_another_language() -> None:
    """A table keeps what was said in one language; its page, and a terminal, may speak another."""
    english, russian = translator("en"), translator("ru")
    lacking = sentence("the sample has no field {field}", field="reference")
    for detail in ({"explanation": [lacking]}, {}):
        ended = Score.unmeasured(Status.MISSING_FIELD, of(lacking), detail=detail)
        said = explain(ended, russian)
        assert said == "у примера нет поля reference"
        assert reason_in(kept(said), english) == "the sample has no field reference"
        assert explain(replace(ended, reason=said, detail={}), english) == "the sample has no field reference"
        again = pickle.loads(pickle.dumps(said))
        assert (again, kept(again)) == (said, kept(said)), "a worker gives it as it was said"
    words = "a model's own words"
    assert explain(Score.unmeasured(Status.REFUSED, words), russian) == words
