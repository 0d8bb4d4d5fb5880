"""Differences of widely used software under the same names: each as it commonly is, and as it is here.

`common` is what such software computes from the same data; the test says what is right by its definition, shows that
the common way misses it, and that ragbench does not.
"""

from __future__ import annotations

import asyncio
import math
from fractions import Fraction
from typing import Any

import pytest

import ragbench.old
from ragbench.old.core.settings import JudgeSettings, Settings
from ragbench.old.core.types import Chunk, Sample, Status
from ragbench.old.judge import open_judges
from ragbench.old.llm import MemoryJournal
from ragbench.old.metrics.answer_correctness import answer_correctness
from ragbench.old.metrics.contexts import context_entity_recall, context_precision, context_recall
from ragbench.old.metrics.factual_correctness import factual_correctness
from ragbench.old.metrics.faithfulness import faithfulness
from ragbench.old.metrics.response_groundedness import GROUNDEDNESS
from ragbench.old.metrics.semantic_similarity import semantic_similarity
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment, score
from tests.old.llm.chat_server import ChatServer

SAMPLE = Sample("s", "Q?", "R one. R two.", "T one. T two.", contexts=(Chunk("c1", "Context."),))


def judge_of(response: list[int], reference: list[int]) -> ScriptedJudge:
    """Verdicts on the response's claims by the reference, and on the reference's by the response."""

    def parts(texts: Any) -> Any:
        side = response if texts["text"] == SAMPLE.response else reference
        return claims(*(f"{texts['text']} {number}" for number in range(len(side))))

    def verdicts(texts: Any) -> Any:
        return entailment(*(response if list(texts["passages"]) == [SAMPLE.reference] else reference))

    return ScriptedJudge(claims=parts, entailment=verdicts)


@pytest.mark.parametrize(("response", "reference"), [([1, 1, 1], [1, 0]), ([1], [1, 1, 0]), ([1, 1, 0, 0], [0, 0, 1])])
def test_recall_divides_by_the_claims_of_the_reference(response: list[int], reference: list[int]) -> None:
    """The recall of a reference is a share of its claims; mixing in the response's makes it no share of anything."""
    right = Fraction(sum(reference), len(reference))
    common = Fraction(sum(response), sum(response) + reference.count(0))
    assert common != right
    found = score(factual_correctness(SAMPLE, judge=judge_of(response, reference), mode="recall"))
    assert found.value == float(right)


def test_the_weighted_mean_keeps_the_populations_apart() -> None:
    response, reference = [1, 1, 1], [1, 0]
    vectors = {str(SAMPLE.response): [1, 0], str(SAMPLE.reference): [1, 0]}
    precision, recall = Fraction(1), Fraction(1, 2)
    right = Fraction(3, 4) * (2 * precision * recall / (precision + recall)) + Fraction(1, 4)
    common = Fraction(3, 4) * Fraction(2 * 3, 2 * 3 + 0 + 1) + Fraction(1, 4)
    assert common != right
    tools = {"judge": judge_of(response, reference), "embedder": ScriptedEmbedder(vectors)}
    assert score(answer_correctness(SAMPLE, **tools)).value == pytest.approx(float(right), abs=1e-15)


@pytest.mark.parametrize(
    ("metric", "sample"),
    [
        (faithfulness, SAMPLE),
        (context_recall, Sample("s", "Q?", reference="One. Two. Three.", contexts=SAMPLE.contexts)),
    ],
    ids=["faithfulness", "context_recall"],
)
def test_a_missing_verdict_is_not_full_marks(metric: Any, sample: Sample) -> None:
    """Two verdicts on three statements, both good: whoever divides by the verdicts says 1.0 of a third never judged."""
    said = entailment(1, 1)
    common = sum(each["verdict"] == "supported" for each in said["verdicts"]) / len(said["verdicts"])
    assert common == 1.0
    judge = ScriptedJudge(claims=claims("A.", "B.", "C."), entailment=[said, entailment(0)])
    assert score(metric(sample, judge=judge)).value == 2 / 3, "asked once more for the one that is missing"
    silent = ScriptedJudge(claims=claims("A.", "B.", "C."), entailment=[said, {"verdicts": []}])
    assert score(metric(sample, judge=silent)).status is Status.VERDICT_MISMATCH


def test_all_of_all_is_exactly_one() -> None:
    """An epsilon in a divisor makes 0.9999999999 of a whole, and a gate at 1.0 fail."""
    common = {"precision": 2 / (2 + 1e-10), "entities": 2 / (2 + 1e-8)}
    assert all(value < 1.0 for value in common.values())
    useful = ScriptedJudge(context_precision={"reason": "", "verdict": "useful"})
    assert score(context_precision(SAMPLE, judge=useful)).value == 1.0
    names = ScriptedJudge(entities={"entities": ["Paris", "1889"]})
    assert score(context_entity_recall(SAMPLE, judge=names)).value == 1.0
    assert score(factual_correctness(SAMPLE, judge=judge_of([1, 1], [1, 1]))).value == 1.0


@pytest.mark.parametrize(("one", "other"), [("Eiffel Tower", "eiffel tower"), ("Орёл", "ОРЕЛ"), ("Paris", " paris ")])
def test_one_name_in_two_spellings_is_one_entity(one: str, other: str) -> None:
    common = len({one} & {other}) / len({one})
    assert common == 0.0

    def entities(texts: Any) -> Any:
        return {"entities": [one if list(texts["texts"]) == [SAMPLE.reference] else other]}

    assert score(context_entity_recall(SAMPLE, judge=ScriptedJudge(entities=entities))).value == 1.0


@pytest.mark.parametrize(("cosine", "right"), [(0.6, 1.0), (-0.6, 0.0)])
def test_a_threshold_of_zero_is_a_threshold(cosine: float, right: float) -> None:
    threshold = 0.0
    common = (float(cosine >= threshold)) if threshold else cosine
    assert common != right
    embedder = ScriptedEmbedder({str(SAMPLE.response): [1, 0], str(SAMPLE.reference): [cosine, 0.8]})
    assert score(semantic_similarity(SAMPLE, embedder=embedder, threshold=threshold)).value == right


@pytest.mark.fault("flattering", tried="failed judgements in a mean", count=1)
def test_failures_are_counted_and_bounded_not_averaged_away() -> None:
    """One of four calls fails. Left out in silence the mean says 1.0, taken for 0 it says 0.75; both are inventions."""
    rows = [{"id": str(n), "response": f"r{n}", "contexts": ["c"]} for n in range(4)]

    def rate(texts: Any) -> Any:
        return {"reason": "", "rating": "broken" if texts["response"] == "r3" else 2}

    found = ragbench.old.score(rows, ["response_groundedness"], ScriptedJudge(response_groundedness=rate), resamples=200)
    values = [row.score.value for row in found.rows]
    common = {"left out": sum(v for v in values if not math.isnan(v)) / 3, "as zero": 3 / 4}
    assert common == {"left out": 1.0, "as zero": 0.75}
    estimate = found.means["answers", "response_groundedness"]
    assert (estimate.n, estimate.n_unmeasured) == (3, 1)
    assert (estimate.floor, estimate.value, estimate.ceiling) == (0.75, 1.0, 1.0)
    assert found.rows[3].score.status is Status.PARSE_ERROR


@pytest.mark.fault("changed", tried="another judge of the same name", count=1)
def test_a_judges_replies_are_not_taken_for_anothers() -> None:
    """Two judges of one model: a cache under prompt and model alone would hear one of them and count it twice."""
    texts = {"response": "R.", "contexts": ["C."]}

    async def both(settings: Settings) -> list[Any]:
        async with open_judges(settings, ["first", "second"], journal=MemoryJournal()) as opened:
            return [await judge.ask(GROUNDEDNESS, texts) for _ in range(2) for judge in opened.judges]

    ratings = iter((0, 2))
    with ChatServer(answer=lambda body: {"reason": "", "rating": next(ratings)}).running() as server:
        one = JudgeSettings(base_url=server.url, model="tester")
        answers = asyncio.run(both(Settings(judges={"first": one, "second": one})))
        assert [answer.value.rating for answer in answers] == [0, 2, 0, 2]
        assert server.calls == 2
