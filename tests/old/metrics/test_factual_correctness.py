"""factual_correctness: the specification's pairs, its modes, and what widely used software does otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.language import translator
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.factual_correctness import f_measure, factual_correctness
from tests.old.judge.scripted_judge import ScriptedJudge, Texts, claims, entailment, score

PARIS = {
    "en": Sample(
        "paris",
        response="Paris is the capital of France.",
        reference="Paris is the capital of France. Its population is more than 2 million people.",
        language="en",
    ),
    "ru": Sample(
        "paris",
        response="Париж - столица Франции.",
        reference="Париж - столица Франции. Население составляет более 2 миллионов человек.",
        language="ru",
    ),
}
PARIS_CLAIMS = {
    "en": ("Paris is the capital of France.", "The population of Paris is more than 2 million people."),
    "ru": ("Париж — столица Франции.", "Население Парижа составляет более 2 миллионов человек."),
}
EINSTEIN = {
    "en": Sample(
        "einstein",
        response="Einstein was born in France. He invented the telephone. He won the Nobel Prize in Chemistry.",
        reference="Albert Einstein was born in Germany. He developed the theory of relativity. He won the Nobel Prize "
        "in Physics.",
        language="en",
    ),
    "ru": Sample(
        "einstein",
        response="Эйнштейн родился во Франции. Он изобрёл телефон. Он получил Нобелевскую премию по химии.",
        reference="Альберт Эйнштейн родился в Германии. Он разработал теорию относительности. Он получил Нобелевскую "
        "премию по физике.",
        language="ru",
    ),
}
HIGH = {
    "en": Sample(
        "high",
        response="Albert Einstein was a German physicist. He developed the theory of relativity. He won the Nobel "
        "Prize in Physics in 1921.",
        reference="Albert Einstein was born in Germany in 1879. He is known for developing the theory of relativity. "
        "Einstein won the Nobel Prize in Physics in 1921.",
        language="en",
    ),
    "ru": Sample(
        "high",
        response="Альберт Эйнштейн был немецким физиком. Он разработал теорию относительности. Он получил Нобелевскую "
        "премию по физике в 1921 году.",
        reference="Альберт Эйнштейн родился в Германии в 1879 году. Он известен разработкой теории относительности. "
        "Эйнштейн получил Нобелевскую премию по физике в 1921 году.",
        language="ru",
    ),
}
Words = Sequence[str | int]


def judge_of(sample: Sample, response: Words, reference: Words, /, **named: Sequence[str]) -> ScriptedJudge:
    """A judge with verdicts on as many claims of each side; claims by name where they matter."""
    texts: Mapping[str, Sequence[str]] = {
        sample.response or "": named.get("response", [f"Response claim {n}." for n in range(len(response))]),
        sample.reference or "": named.get("reference", [f"Reference claim {n}." for n in range(len(reference))]),
    }

    def verdicts(texts: Texts) -> Any:
        return entailment(*(response if texts["passages"] == [sample.reference] else reference), passages=[1])

    return ScriptedJudge(claims=lambda asked: claims(*texts[str(asked["text"])]), entailment=verdicts)


def of(sample: Sample, response: Words, reference: Words, **options: Any) -> Score:
    return score(factual_correctness(sample, judge=judge_of(sample, response, reference), **options))


class TestTheSpecification:
    @pytest.mark.parametrize("language", ["en", "ru"])
    @pytest.mark.parametrize(("mode", "value"), [("precision", 1.0), ("recall", 0.5), ("f1", 2 / 3)])
    def test_the_paris_pair(self, language: str, mode: str, value: float) -> None:
        sample, (capital, people) = PARIS[language], PARIS_CLAIMS[language]
        judge = judge_of(sample, [1], [1, 0], response=[capital], reference=[capital, people])
        found = score(factual_correctness(sample, judge=judge, mode=mode))  # type: ignore[arg-type]
        assert found.value == pytest.approx(value, abs=1e-15)
        said = explain(found, translator(language))
        if mode != "precision":
            assert people in said
            assert ("1 / 2 = 0.500" if language == "en" else "1 / 2 = 0,500") in said
        assert len(judge.calls) == (4 if mode == "f1" else 2)

    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_errors_are_found(self, language: str) -> None:
        wrong = ["contradicted", "neutral", "contradicted"]
        found = of(EINSTEIN[language], wrong, wrong)
        assert found.value == 0.0 <= 0.3
        assert found.detail["counts"]["response"] == {"contradicted": 2, "neutral": 1}
        said = explain(found, translator(language))
        assert {"en": "Contradicted by the reference: “Response claim 0.”; “Response claim 2.”",
                "ru": "Противоречит эталону: «Response claim 0.»; «Response claim 2.»"}[language] in said  # fmt: skip

    @pytest.mark.parametrize("language", ["en", "ru"])
    def test_high_accuracy(self, language: str) -> None:
        found = of(HIGH[language], [1, 1, 1, 1], [1, 0, 1, 1, 1])
        assert found.value == pytest.approx(2 * 1.0 * 0.8 / 1.8, abs=1e-15)
        assert found.value >= 0.8

    def test_two_rounds(self) -> None:
        judge = judge_of(PARIS["en"], [1], [1, 0])
        score(factual_correctness(PARIS["en"], judge=judge))
        assert (len(judge.calls), judge.rounds) == (4, 2)


class TestKnownDifferences:
    def test_each_side_is_divided_by_its_own_claims(self) -> None:
        """Common software takes TP from the response and FN from the reference: one long claim against many short."""
        sample = PARIS["en"]
        found = of(sample, [1, 1, 1, 1], [1, 0], mode="recall")
        assert found.value == 0.5
        assert of(sample, [1, 1, 1, 1], [1, 0], mode="recall", variant="ragas").value == 0.8

    def test_nothing_is_rounded_and_all_is_one(self) -> None:
        assert of(PARIS["en"], [1, 0, 0], [1]).value == 0.5
        assert of(PARIS["en"], [1, 1, 0], [1], mode="precision").value == 2 / 3
        assert of(PARIS["en"], [1, 1, 0], [1], mode="precision", variant="ragas").value == 0.67
        assert of(PARIS["en"], [1, 1], [1, 1]).value == 1.0

    def test_an_empty_side_is_unmeasured(self) -> None:
        """Common software gives 0 for an answer that claims nothing, or for a reference without a fact."""
        for response, reference in ([], [1]), ([1], []):
            assert of(PARIS["en"], response, reference).status is Status.EMPTY_DECOMPOSITION
        assert of(PARIS["en"], [1], [], mode="precision").value == 1.0
        assert of(PARIS["en"], [], [1], mode="recall").value == 1.0

    def test_a_missing_verdict_is_asked_for_again(self) -> None:
        sample = PARIS["en"]
        judge = judge_of(sample, [1], [1, 1], response=["A.", "B."], reference=["C.", "D."])
        assert score(factual_correctness(sample, judge=judge)).value == 1.0
        assert {"statements": ["B."], "passages": [sample.reference]} in judge.asked("entailment")


@settings(deadline=None)
@given(
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_the_variant_is_the_published_formula(response: list[bool], reference: list[bool], beta: float) -> None:
    """Written from the description of the counts, with NumPy as the reference for rounding."""
    tp, fp, fn = sum(response), len(response) - sum(response), len(reference) - sum(reference)
    precision, recall = tp / (tp + fp), tp / (tp + fn) if tp + fn else 0.0
    both = beta**2 * precision + recall
    expected = {
        "precision": tp / (tp + fp + 1e-8),
        "recall": tp / (tp + fn + 1e-8),
        "f1": (1 + beta**2) * precision * recall / both if both else 0.0,
    }
    for mode, value in expected.items():
        found = of(PARIS["en"], [*map(int, response)], [*map(int, reference)], mode=mode, beta=beta, variant="ragas")
        assert found.value == pytest.approx(np.round(value, 2), abs=1e-9)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 10))
def test_f_lies_between_its_parts(precision: float, recall: float, beta: float) -> None:
    assert min(precision, recall) - 1e-9 <= f_measure(precision, recall, beta) <= max(precision, recall) + 1e-9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"mode": "f2"}, "f1, precision or recall"), ({"beta": 0}, "above 0"), ({"beta": float("nan")}, "above 0")],
)  # fmt: skip
def test_wrong_options(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        of(PARIS["en"], [1], [1], **wrong)


def test_a_failure_on_one_side_leaves_it_unmeasured() -> None:
    judge = judge_of(PARIS["en"], [1], [1])
    judge.scripts = {**judge.scripts, "entailment": [entailment(1), Status.REFUSED]}
    assert score(factual_correctness(PARIS["en"], judge=judge)).status is Status.REFUSED


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_offline_judge_ranks_the_pairs(language: str) -> None:
    same = replace(PARIS[language], response=PARIS[language].reference)
    values = [score(factual_correctness(s, judge=LexicalJudge())).value for s in (same, PARIS[language])]
    assert values == [1.0, pytest.approx(2 / 3)]
