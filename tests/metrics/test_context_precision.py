"""context_precision: the specification's examples, the strategies, and what must not be averaged away."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from ragbench.core.language import translator
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge, WordReader
from ragbench.metrics.context_precision import USEFULNESS, average_precision, context_precision
from ragbench.metrics.explanation import explain
from tests.judge.scripted_judge import ScriptedJudge, score


def chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


PHOTOSYNTHESIS = {
    "en": Sample(
        "p",
        user_input="What is photosynthesis?",
        reference="Photosynthesis is the process in which plants use sunlight, carbon dioxide and water to produce "
        "glucose and oxygen.",
        contexts=chunks(
            "Photosynthesis is a biological process in which plants convert light energy.",
            "The process includes: 6CO2 + 6H2O + light → C6H12O6 + 6O2.",
            "Plants are autotrophs that make their own food.",
        ),
        language="en",
    ),
    "ru": Sample(
        "p",
        user_input="Что такое фотосинтез?",
        reference="Фотосинтез — это процесс, при котором растения используют солнечный свет, углекислый газ и воду для "
        "производства глюкозы и кислорода.",
        contexts=chunks(
            "Фотосинтез — биологический процесс, при котором растения преобразуют световую энергию.",
            "Процесс включает: 6CO2 + 6H2O + свет → C6H12O6 + 6O2.",
            "Растения — автотрофы, производящие собственную пищу.",
        ),
        language="ru",
    ),
}
QUANTUM = {
    "en": Sample(
        "q",
        user_input="What is quantum computing?",
        response="Quantum computing uses the phenomena of quantum mechanics.",
        contexts=chunks(
            "Food prices rose this year.",
            "Quantum computers use qubits instead of classical bits.",
            "Quantum computing uses superposition and entanglement.",
        ),
        language="en",
    ),
    "ru": Sample(
        "q",
        user_input="Что такое квантовые вычисления?",
        response="Квантовые вычисления используют квантовомеханические явления.",
        contexts=chunks(
            "Цены на продукты выросли в этом году.",
            "Квантовые компьютеры используют кубиты вместо классических битов.",
            "Квантовые вычисления используют суперпозицию и запутанность.",
        ),
        language="ru",
    ),
}


def useful(*flags: int, contexts: tuple[Chunk, ...]) -> Any:
    """A script that judges each context by its place."""
    by_text = {chunk.text: flag for chunk, flag in zip(contexts, flags, strict=True)}
    return lambda texts: {"reason": "so", "verdict": "useful" if by_text[texts["context"]] else "useless"}


def of(sample: Sample, *flags: int, **options: Any) -> Score:
    assert sample.contexts is not None
    judge = ScriptedJudge(context_precision=useful(*flags, contexts=sample.contexts))
    return score(context_precision(sample, judge=judge, **options))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_useful_chunks_first(language: str) -> None:
    found = of(PHOTOSYNTHESIS[language], 1, 1, 0, strategy="reference")
    assert found.value == 1.0
    assert found.detail["strategy"] == "reference"


@pytest.mark.parametrize(("language", "number"), [("en", "0.583"), ("ru", "0,583")])
def test_a_useless_chunk_first(language: str, number: str) -> None:
    found = of(QUANTUM[language], 0, 1, 1, strategy="response")
    assert found.value == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-15)
    assert found.value <= 0.7
    assert f"(1/2 + 2/3) / 2 = {number}" in explain(found, translator(language))
    assert [each["verdict"] for each in found.detail["chunks"]] == ["useless", "useful", "useful"]


class TestStrategies:
    BOTH = replace(QUANTUM["en"], reference="The reference.")

    @pytest.mark.parametrize(
        ("asked", "changed", "expected"),
        [
            ("auto", {}, "reference"),
            ("auto", {"reference": None}, "response"),
            ("auto", {"reference": " "}, "response"),
            ("reference", {}, "reference"),
            ("response", {}, "response"),
        ],
    )
    def test_what_the_chunks_are_judged_by(self, asked: Any, changed: dict[str, Any], expected: str) -> None:
        sample = replace(self.BOTH, **changed)
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        found = score(context_precision(sample, judge=judge, strategy=asked))
        assert found.detail["strategy"] == expected
        assert {call["answer"] for call in judge.asked("context_precision")} == {getattr(sample, expected)}

    def test_what_is_not_there_is_not_replaced(self) -> None:
        assert of(replace(self.BOTH, reference=None), 1, 1, 1, strategy="reference").status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response=None), 1, 1, 1, strategy="response").status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response=None, reference=None), 1, 1, 1).status is Status.MISSING_FIELD
        assert of(replace(self.BOTH, response="", reference=None), 1, 1, 1).status is Status.EMPTY_INPUT

    def test_unknown_words_are_refused(self) -> None:
        with pytest.raises(ValueError, match="auto, reference or response"):
            of(self.BOTH, 1, 1, 1, strategy="best")


class TestEdges:
    def test_none_useful_is_zero(self) -> None:
        found = of(QUANTUM["en"], 0, 0, 0)
        assert (found.value, found.status) == (0.0, Status.OK)
        assert "None of the 3 passages" in found.reason

    def test_an_empty_chunk_takes_its_rank_and_no_call(self) -> None:
        sample = replace(QUANTUM["en"], contexts=chunks(" ", "good"))
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        assert score(context_precision(sample, judge=judge)).value == 0.5
        assert len(judge.calls) == 1

    def test_all_chunks_are_asked_about_at_once(self) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
        score(context_precision(QUANTUM["en"], judge=judge))
        assert (len(judge.calls), judge.rounds) == (3, 1)

    def test_one_failure_is_not_averaged_away(self) -> None:
        """Common software scores the chunks that got a verdict: a judge that fails on the useless one reads 1.0."""
        replies = [{"reason": "", "verdict": "useful"}, Status.TIMEOUT, {"reason": "", "verdict": "useful"}]
        found = score(context_precision(QUANTUM["en"], judge=ScriptedJudge(context_precision=replies)))
        assert found.status is Status.TIMEOUT
        assert math.isnan(found.value)

    @pytest.mark.parametrize("word", [1, "1", True, "yes", "Usefully", None, "partly"])
    def test_a_verdict_is_one_of_two_words(self, word: Any) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": word})
        assert score(context_precision(QUANTUM["en"], judge=judge)).status is Status.PARSE_ERROR

    @pytest.mark.parametrize(("word", "value"), [("Useful", 1.0), ("USELESS", 0.0)])
    def test_its_letters_may_be_large(self, word: str, value: float) -> None:
        judge = ScriptedJudge(context_precision={"reason": "", "verdict": word})
        assert score(context_precision(QUANTUM["en"], judge=judge)).value == value

    def test_all_useful_is_exactly_one_and_ragas_is_not(self) -> None:
        assert of(QUANTUM["en"], 1, 1, 1).value == 1.0
        assert of(QUANTUM["en"], 1, 1, 1, variant="ragas").value == pytest.approx(3 / (3 + 1e-10), abs=1e-15)
        assert of(QUANTUM["en"], 1, 1, 1, variant="ragas").value < 1.0
        assert of(QUANTUM["en"], 0, 0, 0, variant="ragas").value == 0.0


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_average_precision_is_that_of_the_field(flags: list[bool]) -> None:
    ranks = -np.arange(len(flags))
    expected = average_precision_score(flags, ranks) if any(flags) else 0.0
    assert average_precision(flags) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_finds_the_copied_chunk(language: str) -> None:
    sample = QUANTUM[language]
    assert sample.contexts is not None
    turned = replace(sample, contexts=(*sample.contexts[:1], Chunk("copy", sample.response or "")))
    assert score(context_precision(turned, judge=LexicalJudge())).value == 0.5


@pytest.mark.parametrize(
    ("context", "verdict"),
    [
        ("Dogs bark loudly at night. The fee is 500 roubles.", "useful"),
        ("Dogs bark loudly at night. Cats sleep through the winter.", "useless"),
    ],
)
def test_offline_one_sentence_that_the_answer_took_up_is_enough(context: str, verdict: str) -> None:
    """The answer says far more than the context, and the context speaks of other things too."""
    answer = (
        "Students of every faculty pay: the fee is 500 roubles, transferred through any bank before September ends."
    )
    reader = WordReader()
    assert not reader.supported(answer, [context])
    assert USEFULNESS.offline is not None
    found = USEFULNESS.offline(reader, {"question": "What is the fee?", "context": context, "answer": answer})
    assert found.verdict == verdict
