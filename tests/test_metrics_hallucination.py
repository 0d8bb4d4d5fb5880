"""hallucination: contradicted contexts, at no further question."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.judge import LexicalJudge
from ragbench.language import translator
from ragbench.metrics.explanation import explain
from ragbench.metrics.faithfulness import faithfulness
from ragbench.metrics.hallucination import hallucination
from ragbench.types import Chunk, Sample, Score, Status
from tests.scripted_judge import ScriptedJudge, claims, entailment, score

SAMPLE = Sample("s", "Q?", "A. B. C.", contexts=tuple(Chunk(f"c{n}", f"Context {n}.") for n in (1, 2, 3, 4)))


def verdict(number: int, word: str, *passages: int) -> dict[str, Any]:
    return {"statement": number, "reason": "so", "verdict": word, "passages": list(passages)}


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
    with pytest.raises(ValueError, match="unit = 'words'; it is contexts, claims"):
        score(hallucination(SAMPLE, judge=judge, unit="words"))
