"""What holds for all judged metrics together: what they cost, what they share, and that each stays unmeasured alike."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Chunk, Citation, Message, Prompt, Sample, Score, Status, ToolCall
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.vectors import Batch
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment
from tests.old.metrics.test_catalogue import SPECIFIED
from tests.old.metrics.test_empty_answers import LOWEST

ELEVEN = tuple(sorted(SPECIFIED["judged"]))
METRICS = [catalogue()[name] for name in ELEVEN]
JUDGED = [each for each in catalogue().values() if "judge" in each.needs]
SINGLE = [each for each in catalogue().values() if each.grain == "sample"]
NEEDED = [(each, field) for each in SINGLE for field in each.fields]
LOWEST_OF_ANNEXES = ("context_utilization", "nugget_score")
NOTHING: dict[str, tuple[Any, ...]] = {
    "contexts": ((), (Chunk("c", " "),)),
    "reference_contexts": ((), (Chunk("c", " "),)),
    "rubric": ({},),
    "nuggets": ({},),
    "trajectory": ((),),
    "reference_topics": ((), (" ",)),
    "cost": (),
    "reference_tool_calls": (),  # to call nothing is a reference like another
}
CHUNKS = tuple(Chunk(f"c{number}", f"Context {number}.") for number in range(5))
SAMPLE = Sample(
    "s",
    user_input="Q?",
    response="R one. R two.",
    reference="T one. T two.",
    contexts=CHUNKS,
    reference_contexts=CHUNKS[:1],
    rubric={1: "bad", 2: "good"},
    nuggets={"R one.": "vital", "T two.": "okay"},
    citations=(Citation(0, 6, "c0"), Citation(7, 13, "c1")),
    trajectory=(Message("user", "Q?"), Message("assistant", "R one.", (ToolCall("look", {"for": "Q"}, "{}"),))),
    reference_tool_calls=(ToolCall("look", {"for": "Q"}, "{}"),),
    reference_topics=("Q?",),
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


def test_a_field_that_is_not_there_is_named_and_nobody_is_asked() -> None:
    for each, field in NEEDED:
        asked = ScriptedJudge()
        (found,) = run([each], replace(SAMPLE, **{field: None}), asked)
        assert (found.status, field in found.reason) == (Status.MISSING_FIELD, True), (each, field, found)
        assert not asked.calls, (each, field)
    assert {each for each, _ in NEEDED} >= set(JUDGED), "what a judged metric needs is declared"


def test_a_field_that_holds_nothing_is_unmeasured_and_nobody_is_asked() -> None:
    """But for an empty answer held against a reference, or to be shown: that is worth the least there is; and passages
    that have ids, where labels are compared by them."""
    for each, field in NEEDED:
        for nothing in NOTHING.get(field, ("", " \n")):
            asked = ScriptedJudge()
            (found,) = run([each], replace(SAMPLE, **{field: nothing}), asked)
            counts = field == "response" and each.name in {*LOWEST, *LOWEST_OF_ANNEXES, "show_decision"}
            counts |= bool(nothing) and not isinstance(nothing, str) and each.name.endswith("_by_label")
            assert found.status is (Status.OK if counts else Status.EMPTY_INPUT), (each, field, found)
            assert not asked.calls, (each, field)


def test_an_unknown_variant_is_refused() -> None:
    having = [each for each in SINGLE if "variant" in each.legal_options]
    assert len(having) == 12
    for each in having:
        with pytest.raises(ValueError, match=f"{each.name}: variant = 'x': specification or ragas is expected"):
            each.with_options(variant="x")


@pytest.mark.fault("flattering", tried="a judge that fails, for every metric", count=40)
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


@pytest.mark.parametrize(
    "each", [each for each in JUDGED if each.name not in ("aspect_critique", "simple_criteria")], ids=str
)
def test_the_offline_judge_can_answer_it_and_both_languages_explain_it(each: Metric) -> None:
    carried = replace(SAMPLE, contexts=(*CHUNKS, Chunk("t", "T one. T two.")))
    (score,) = run([each], carried, LexicalJudge())
    assert score.status in (Status.OK, Status.EMPTY_DECOMPOSITION), score.reason
    if score.status is Status.OK:
        english, russian = explain(score), explain(score, translator("ru"))
        assert english == score.reason != ""
        assert "{" not in english + russian
        assert any("а" <= letter <= "я" for letter in russian.casefold()), russian
