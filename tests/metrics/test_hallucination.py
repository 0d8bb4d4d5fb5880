"""hallucination: contradicted contexts, at no further question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.core.language import translator
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.explanation import explain
from ragbench.metrics.faithfulness import faithfulness
from ragbench.metrics.hallucination import hallucination
from tests.judge.scripted_judge import ScriptedJudge, claims, entailment, score

SAMPLE = Sample("s", "Q?", "A. B. C.", contexts=tuple(Chunk(f"c{n}", f"Context {n}.") for n in (1, 2, 3, 4)))


def verdict(number: int, word: str, *passages: int, contradicting: tuple[int, ...] = ()) -> dict[str, Any]:
    told = {"statement": number, "reason": "so", "verdict": word, "passages": list(passages)}
    return {**told, "contradicting": list(contradicting)} if contradicting else told


def of(*verdicts: dict[str, Any], sample: Sample = SAMPLE) -> Score:
    parts = [f"Claim {number}." for number in range(1, len(verdicts) + 1)]
    judge = ScriptedJudge(claims=claims(*parts), entailment={"verdicts": list(verdicts)})
    return score(hallucination(sample, judge=judge))


def test_it_counts_contexts_not_claims() -> None:
    found = of(
        verdict(1, "contradicted", 2),
        verdict(2, "contradicted", 2, 3),
        verdict(3, "neutral"),
        verdict(4, "supported", 1),
    )
    assert found.value == 0.5
    assert found.detail["contradicted"] == ["c2", "c3"]
    assert "2 / 4 = 0.500" in found.reason
    assert "“Claim 1.”; “Claim 2.”" in found.reason
    assert "2 / 4 = 0,500" in explain(found, translator("ru"))


def test_a_contradicting_context_counts_although_another_one_supports_the_claim() -> None:
    found = of(verdict(1, "supported", 1, contradicting=(3,)), verdict(2, "contradicted", 4, contradicting=(3, 4)))
    assert found.value == 0.5
    assert found.detail["contradicted"] == ["c3", "c4"]
    assert found.detail["statements"][0]["contradicting"] == ["c3"]
    assert "“Claim 1.”; “Claim 2.”" in found.reason
    assert of(verdict(1, "supported", 1), verdict(2, "neutral", contradicting=(2,))).value == 0.25


@given(st.lists(st.lists(st.sampled_from("+-0"), min_size=4, max_size=4), min_size=1, max_size=5))
def test_it_is_its_formula_whatever_each_context_says_of_each_claim(table: list[list[str]]) -> None:
    """A row a claim, a column a context: it supports (+), contradicts (-), or does not tell (0)."""
    said = []
    for number, row in enumerate(table, 1):
        word = "supported" if "+" in row else "contradicted" if "-" in row else "neutral"
        sign = {"supported": "+", "contradicted": "-", "neutral": " "}[word]
        deciding = [place for place, each in enumerate(row, 1) if each == sign]
        against = tuple(place for place, each in enumerate(row, 1) if each == "-")
        said.append(verdict(number, word, *deciding, contradicting=against))
    assert of(*said).value == sum("-" in column for column in zip(*table, strict=True)) / 4


@pytest.mark.parametrize(
    ("response", "contexts", "against"),
    [
        ("The library opens at 8 on weekdays.",
         ("The library opens at 8 on weekdays.", "The library opens at 9 on weekdays."), ["c2"]),
        ("Библиотека открыта по субботам.",
         ("Библиотека не открыта по субботам.", "Библиотека открыта по субботам.", "Общежитие заселяют в августе."),
         ["c1"]),
        ("The library opens at 8 on weekdays.",
         ("The library opens at 8 on weekdays.", "The library opens early on weekdays."), []),
        ("The bridge was built in 1889.", ("The bridge was built in 1901.", "The bridge was built in 1902."),
         ["c1", "c2"]),
    ],
)  # fmt: skip
def test_the_offline_judge_reads_every_context(response: str, contexts: tuple[str, ...], against: list[str]) -> None:
    chunks = tuple(Chunk(f"c{number}", text) for number, text in enumerate(contexts, 1))
    found = score(hallucination(Sample("s", "Q?", response, contexts=chunks), judge=LexicalJudge()))
    assert found.detail["contradicted"] == against
    assert found.value == len(against) / len(contexts)


def test_what_nobody_mentions_contradicts_nothing() -> None:
    assert of(verdict(1, "neutral")).value == 0.0
    assert hallucination.better == "lower"


def test_a_contradiction_needs_its_context() -> None:
    assert of(verdict(1, "contradicted")).status is Status.VERDICT_MISMATCH
    one = Sample("s", "Q?", "A.", contexts=(Chunk("c1", "Context."),))
    assert of(verdict(1, "contradicted"), sample=one).value == 1.0


def test_beside_faithfulness_it_costs_nothing() -> None:
    judge = ScriptedJudge(claims=claims("A."), entailment=entailment("contradicted", passages=[1]))
    score(faithfulness(SAMPLE, judge=judge))
    calls = len(judge.calls)
    assert score(hallucination(SAMPLE, judge=judge)).value == 0.25
    assert len(judge.calls) == calls


def test_an_answer_without_claims() -> None:
    judge = ScriptedJudge(claims=claims())
    assert score(hallucination(SAMPLE, judge=judge)).status is Status.EMPTY_DECOMPOSITION


@pytest.mark.parametrize(
    ("response", "context"),
    [
        ("The bridge was built in 1889.", "The bridge was built in 1901."),
        ("Мост был построен в 1889 году.", "Мост был построен в 1901 году."),
        ("The library is open on Sunday.", "The library is not open on Sunday."),
    ],
)
def test_the_offline_judge_sees_another_number_and_a_negation(response: str, context: str) -> None:
    contexts = (Chunk("c1", context), Chunk("c2", "Bananas grow in summer."))
    found = score(hallucination(Sample("s", "Q?", response, contexts=contexts), judge=LexicalJudge()))
    assert found.detail["contradicted"] == ["c1"]
    same = score(hallucination(Sample("s", "Q?", context, contexts=contexts), judge=LexicalJudge()))
    assert same.value == 0.0


@pytest.mark.parametrize("words", [("supported", "neutral", "contradicted"), ("supported",), ("neutral", "neutral")])
def test_by_claims_it_is_one_minus_faithfulness(words: tuple[str, ...]) -> None:
    judge = ScriptedJudge(claims=claims(*(f"Claim {word} {n}." for n, word in enumerate(words))),
                          entailment=entailment(*words))  # fmt: skip
    carried = score(faithfulness(SAMPLE, judge=judge))
    calls = len(judge.calls)
    found = score(hallucination(SAMPLE, judge=judge, unit="claims"))
    assert found.value == pytest.approx(1 - carried.value, abs=1e-15)
    assert len(judge.calls) == calls
    assert found.detail["statements"] == carried.detail["statements"]
    russian = explain(found, translator("ru"))
    assert ("Опровергнуты контекстами" in russian) == ("contradicted" in words)
    assert ("Нет в контекстах" in russian) == ("neutral" in words)


def test_by_claims_a_contradiction_needs_no_context_and_no_claims_stay_unmeasured() -> None:
    judge = ScriptedJudge(claims=claims("A."), entailment={"verdicts": [verdict(1, "contradicted")]})
    assert score(hallucination(SAMPLE, judge=judge, unit="claims")).value == 1.0
    silent = score(hallucination(SAMPLE, judge=ScriptedJudge(claims=claims()), unit="claims"))
    assert silent.status is Status.EMPTY_DECOMPOSITION
    with pytest.raises(ValueError, match="unit = 'words': contexts or claims is expected"):
        score(hallucination(SAMPLE, judge=judge, unit="words"))
