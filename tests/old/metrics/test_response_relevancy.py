"""response_relevancy: the specification's examples, evasive answers, one batch for all rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ragbench.old import embed
from ragbench.old.core.language import translator
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.response_relevancy import MOST, response_relevancy
from ragbench.old.metrics.vectors import Batch
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, score

FRANCE = {
    "en": Sample(
        "france",
        user_input="Where is France and what is its capital?",
        response="France is in Western Europe, and its capital is Paris.",
        language="en",
    ),
    "ru": Sample(
        "france",
        user_input="Где находится Франция и какая её столица?",
        response="Франция находится в Западной Европе, и её столица — Париж.",
        language="ru",
    ),
}
QUANTUM = {
    "en": Sample(
        "quantum",
        user_input="Explain quantum entanglement and its applications",
        response="Quantum entanglement is a phenomenon in which particles become interconnected. It is used in quantum "
        "computing and cryptography.",
        language="en",
    ),
    "ru": Sample(
        "quantum",
        user_input="Объясните квантовую запутанность и её применения",
        response="Квантовая запутанность — это явление, при котором частицы становятся взаимосвязанными. Она "
        "применяется в квантовых вычислениях и криптографии.",
        language="ru",
    ),
}
HALF = {"en": "France is in Western Europe.", "ru": "Франция находится в Западной Европе."}
EVASIVE = {
    "en": Sample("x", user_input="What is the capital of France?", response="I don't know the capital of France."),
    "ru": Sample("x", user_input="Какая столица Франции?", response="Я не знаю, какая столица Франции."),
}
ASKED = {"en": ["Where is France?", "What is its capital?"], "ru": ["Где находится Франция?", "Какая у неё столица?"]}


def questions(*texts: str, manner: str | Sequence[str] = "committal") -> dict[str, Any]:
    manners = [manner] * len(texts) if isinstance(manner, str) else manner
    return {"questions": [{"question": q, "manner": m} for q, m in zip(texts, manners, strict=True)]}


def of(sample: Sample, reply: Any, vectors: dict[str, Sequence[float]] | None = None, **options: Any) -> Score:
    known = {sample.user_input or "": [1.0, 0.0], "same": [2.0, 0.0], "near": [0.8, 0.6], "far": [0.0, 1.0]}
    embedder = ScriptedEmbedder({**known, **(vectors or {})})
    return score(
        response_relevancy(sample, judge=ScriptedJudge(response_relevancy=reply), embedder=embedder, **options)
    )


@pytest.mark.parametrize("language", ["en", "ru"])
class TestTheSpecification:
    def test_a_complete_answer(self, language: str) -> None:
        found = of(FRANCE[language], questions("same", "same", "near"))
        assert found.value == pytest.approx((1 + 1 + 0.8) / 3, abs=1e-7)
        assert found.value >= 0.85
        said = explain(found, translator(language))
        assert ("0.933" if language == "en" else "0,933") in said
        assert ("“near”" if language == "en" else "«near»") in said

    def test_an_incomplete_answer(self, language: str) -> None:
        sample = replace(FRANCE[language], response=HALF[language])
        vectors = {text: [0.6, 0.8] for text in ASKED[language]}
        found = of(sample, questions(*ASKED[language], "near"), vectors)
        assert found.value == pytest.approx((0.6 + 0.6 + 0.8) / 3, abs=1e-7)
        assert 0.5 <= found.value <= 0.8

    def test_an_evasive_answer_is_zero_without_vectors(self, language: str) -> None:
        judge = ScriptedJudge(response_relevancy=questions("same", "same", "same", manner="noncommittal"))
        embedder = ScriptedEmbedder({})
        found = score(response_relevancy(EVASIVE[language], judge=judge, embedder=embedder))
        assert (found.value, found.status) == (0.0, Status.OK)
        assert not embedder.calls
        assert ("evades" if language == "en" else "уклончив") in explain(found, translator(language))

    def test_five_questions_by_one_call(self, language: str) -> None:
        sample = QUANTUM[language]
        judge = ScriptedJudge(response_relevancy=questions("same", "near", "near", "near", "near"))
        vectors = {sample.user_input or "": [1, 0], "same": [2, 0], "near": [0.8, 0.6]}
        embedder = ScriptedEmbedder(vectors)
        found = score(response_relevancy(sample, judge=judge, embedder=embedder, questions=5))
        assert found.value == pytest.approx((1 + 4 * 0.8) / 5, abs=1e-7)
        assert found.value >= 0.7
        assert len(found.detail["questions"]) == 5
        assert judge.asked("response_relevancy") == [{"response": sample.response, "number": "5"}]
        assert embedder.calls[0][0] == "query"

    def test_the_offline_parts_tell_relevant_from_evasive(self, language: str) -> None:
        good, bad = FRANCE[language], EVASIVE[language]
        texts = [text or "" for sample in (good, bad) for text in (sample.user_input, sample.response)]
        offline = embed.make("offline", EmbedderSettings(kind="hashing", dimensions=4), texts)
        assert score(response_relevancy(good, judge=LexicalJudge(), embedder=offline)).value > 0.1
        assert score(response_relevancy(bad, judge=LexicalJudge(), embedder=offline)).value == 0.0


class TestEdges:
    SAMPLE = FRANCE["en"]

    def test_one_evasive_question_does_not_make_zero(self) -> None:
        found = of(self.SAMPLE, questions("same", "far", manner=["committal", "noncommittal"]))
        assert found.value == 0.5
        assert "Noncommittal: 1 of 2" in found.reason

    def test_the_same_question_is_exactly_one(self) -> None:
        assert of(self.SAMPLE, questions("same", "same", "same")).value == 1.0

    def test_no_question_is_unmeasured(self) -> None:
        """Common software takes the mean of nothing, or 0."""
        assert of(self.SAMPLE, questions()).status is Status.EMPTY_DECOMPOSITION
        assert of(self.SAMPLE, questions(" ", "")).status is Status.EMPTY_DECOMPOSITION

    def test_too_many_are_cut_and_too_few_are_said(self) -> None:
        assert len(of(self.SAMPLE, questions(*["near"] * 7)).detail["questions"]) == 3
        assert "the response answers (2)" in of(self.SAMPLE, questions("near", "near")).reason

    @pytest.mark.parametrize("manner", ["", "yes", 1, True, None, "Committed"])
    def test_manner_is_one_of_two_words(self, manner: Any) -> None:
        assert of(self.SAMPLE, questions("same", manner=[manner])).status is Status.PARSE_ERROR

    @pytest.mark.parametrize(("manner", "value"), [("Committal", 1.0), ("NONCOMMITTAL", 0.0)])
    def test_its_letters_may_be_large(self, manner: str, value: float) -> None:
        assert of(self.SAMPLE, questions("same", manner=[manner])).value == value

    @pytest.mark.parametrize("number", [0, -1, 21, 2.0, True])
    def test_a_number_of_questions(self, number: Any) -> None:
        with pytest.raises(ValueError, match="from 1 to 20"):
            of(self.SAMPLE, questions("same"), questions=number)


def test_all_rows_are_embedded_in_one_batch() -> None:
    samples = [Sample(str(n), user_input=f"q{n}", response=f"a{n}") for n in range(8)]
    embedder = ScriptedEmbedder({"same": [1, 0]} | {f"q{n}": [1, 0] for n in range(8)})
    judge = ScriptedJudge(response_relevancy=questions("same", "same", "same"))

    async def work() -> list[Score]:
        batch = Batch(embedder)
        return await batch.gather([lambda s=s: response_relevancy(s, judge=judge, embedder=batch) for s in samples])  # type: ignore[misc]

    assert [found.value for found in asyncio.run(work())] == [1.0] * 8
    assert len(embedder.calls) == 1
    assert len(embedder.calls[0][1]) == 9


@pytest.mark.parametrize("number", [1, MOST])
def test_one_question_and_the_most_there_may_be(number: int) -> None:
    asked = Sample("s", user_input="q", response="An answer.")
    found = of(asked, questions(*["near"] * number), {"q": [1.0, 0.0]}, questions=number)
    assert found.value == pytest.approx(0.8, abs=1e-6)
