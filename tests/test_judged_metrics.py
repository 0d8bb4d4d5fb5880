"""What holds for all judged metrics together: what they cost, what they share, and that each stays unmeasured alike."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ragbench.judge import LexicalJudge
from ragbench.language import translator
from ragbench.metric import Metric
from ragbench.metrics import catalogue
from ragbench.metrics.explanation import explain
from ragbench.metrics.vectors import Batch
from ragbench.types import Chunk, Prompt, Sample, Score, Status
from tests.scripted_embedder import ScriptedEmbedder
from tests.scripted_judge import ScriptedJudge, claims, entailment
from tests.test_catalogue import SPECIFIED

ELEVEN = tuple(sorted(SPECIFIED["judged"]))
METRICS = [catalogue()[name] for name in ELEVEN]
JUDGED = [each for each in catalogue().values() if "judge" in each.needs]
CHUNKS = tuple(Chunk(f"c{number}", f"Context {number}.") for number in range(5))
SAMPLE = Sample(
    "s",
    user_input="Q?",
    response="R one. R two.",
    reference="T one. T two.",
    contexts=CHUNKS,
    rubric={1: "bad", 2: "good"},
)
EMBEDDER = ScriptedEmbedder(
    {
        "R one.": [1, 1],
        "R two.": [1, 2],
        "Q?": [1, 0],
        "G?": [0.8, 0.6],
        "R one. R two.": [1, 0],
        "T one. T two.": [0.6, 0.8],
    }
)


def judge() -> ScriptedJudge:
    return ScriptedJudge(
        entities={"entities": ["E"]},
        context_precision={"reason": "", "verdict": "useful"},
        claims=lambda texts: claims(f"{texts['text']} 1", f"{texts['text']} 2"),
        entailment=lambda texts: entailment(*[1] * len(texts["statements"])),
        response_relevancy={"questions": [{"question": "G?", "manner": "committal"}] * 3},
        response_groundedness={"reason": "", "rating": 2},
        rubrics_score={"reason": "", "level": 2},
    )


def run(metrics: list[Metric], sample: Sample, by: Any) -> list[Score]:
    async def work() -> list[Score]:
        batch = Batch(EMBEDDER)
        tools = {"judge": by, "embedder": batch}
        works = [lambda m=m: m(sample, **{need: tools[need] for need in m.needs}) for m in metrics]  # type: ignore[misc]
        return await batch.gather(works)

    return asyncio.run(work())


def test_five_contexts_cost_at_most_29_calls_in_two_rounds() -> None:
    asked = judge()
    modes = [catalogue()["noise_sensitivity"].with_options(mode="irrelevant")]
    scores = run(METRICS + modes, SAMPLE, asked)
    assert [score.status for score in scores] == [Status.OK] * 12
    by_prompt = {name: len(asked.asked(name)) for name in asked.scripts}
    assert by_prompt == {
        "entities": 2,
        "context_precision": 5,
        "claims": 2,
        "entailment": 1 + 1 + 2 + 2 * 5,
        "response_relevancy": 1,
        "response_groundedness": 1,
        "rubrics_score": 1,
    }
    assert len(asked.calls) == 26 <= 29
    assert asked.rounds == 2


OTHERS = tuple(Chunk(f"d{number}", f"Other {number}.") for number in range(5))


@pytest.mark.parametrize(
    ("contexts", "shared"),
    [
        (OTHERS, {"claims": 1, "entities": 1}),
        ((*OTHERS[:4], CHUNKS[0]), {"claims": 1, "entities": 1, "context_precision": 1, "entailment": 1}),
        (CHUNKS, {"claims": 1, "entities": 2, "context_precision": 5, "entailment": 1 + 5}),
    ],
    ids=["other chunks", "one chunk alike", "the same chunks"],
)
def test_a_second_system_does_not_pay_again(contexts: tuple[Chunk, ...], shared: dict[str, int]) -> None:
    """Both systems' answers have one reference: its claims and its entities are asked for once, its sentences cost
    nothing (they are split here). Of a chunk that both retrieved, its use for the reference and what it says of the
    reference's claims are asked once too.
    """
    asked = judge()
    run(METRICS, SAMPLE, asked)
    assert len(asked.calls) == 26
    by_prompt = Counter(name for name, _, _ in asked.calls)
    run(METRICS, replace(SAMPLE, response="Q?", contexts=contexts), asked)
    paid = Counter(name for name, _, _ in asked.calls) - by_prompt
    assert by_prompt - paid == shared
    assert len(asked.calls) == 2 * 26 - sum(shared.values())


def test_vectors_of_all_metrics_are_one_call_a_kind() -> None:
    EMBEDDER.calls.clear()
    run(METRICS, SAMPLE, judge())
    assert sorted(kind for kind, _ in EMBEDDER.calls) == ["passage", "query"]


@pytest.mark.parametrize("each", JUDGED, ids=str)
def test_a_sample_without_its_fields_asks_nobody(each: Metric) -> None:
    asked = ScriptedJudge()
    (score,) = run([each], Sample("empty"), asked)
    assert score.status is Status.MISSING_FIELD
    assert not asked.calls
    assert each.fields, "what it needs is declared"
    assert any(field in score.reason for field in (*each.fields, "reference", "response"))


@pytest.mark.fault("flattering", tried="a judge that fails, for every metric", count=38)
@pytest.mark.parametrize("each", JUDGED, ids=str)
@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.PARSE_ERROR])
def test_a_judge_that_fails_leaves_it_unmeasured(each: Metric, status: Status) -> None:
    class Failing(ScriptedJudge):
        def _answer(self, prompt: Prompt[Any], texts: Any) -> Any:
            self.scripts = {**self.scripts, prompt.name: status}
            return super()._answer(prompt, texts)

    (score,) = run([each], SAMPLE, Failing())
    assert score.status is status
    assert score.judge == "scripted"


@pytest.mark.parametrize("each", [each for each in JUDGED if each.name != "aspect_critique"], ids=str)
def test_the_offline_judge_can_answer_it_and_both_languages_explain_it(each: Metric) -> None:
    (score,) = run([each], SAMPLE, LexicalJudge())
    assert score.status in (Status.OK, Status.EMPTY_DECOMPOSITION), score.reason
    if score.status is Status.OK:
        english, russian = explain(score), explain(score, translator("ru"))
        assert english == score.reason != ""
        assert "{" not in english + russian
        assert any("а" <= letter <= "я" for letter in russian.casefold()), russian
