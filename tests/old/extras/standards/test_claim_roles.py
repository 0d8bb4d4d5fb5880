"""claim_recall, context_utilization, claim_hallucination, self_knowledge: RAGChecker's formulas on fixed verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old.core.language import translator
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from tests.old.judge.scripted_judge import ScriptedJudge, Texts, claims, entailment, score

NAMES = ("claim_recall", "context_utilization", "claim_hallucination", "self_knowledge")
MODES = ("noise_sensitivity", "noise_sensitivity(mode=irrelevant)")


class Verdicts:
    """Which claims of the answer the reference and each context support, and of the reference the answer and each
    context: RAGChecker's answer2response, retrieved2response, response2answer, retrieved2answer."""

    def __init__(
        self, right: list[bool], faithful: list[list[bool]], said: list[bool], found: list[list[bool]]
    ) -> None:
        self.right, self.faithful, self.said, self.found = right, faithful, said, found
        depth = len(faithful[0]) if faithful else len(found[0])
        self.contexts = tuple(Chunk(f"c{n}", f"context {n}") for n in range(depth))

    @property
    def sample(self) -> Sample:
        return Sample("s", "q", "the answer", "the truth", self.contexts, language="en")

    def judge(self) -> ScriptedJudge:
        def split(texts: Texts) -> Any:
            side, rows = ("answer", self.right) if texts["text"] == "the answer" else ("truth", self.said)
            return claims(*(f"{side} claim {n}" for n in range(len(rows))))

        def verdicts(texts: Texts) -> Any:
            (passage,) = texts["passages"]
            of_answer = texts["statements"][0].startswith("answer")
            if passage in ("the truth", "the answer"):
                column = self.right if of_answer else self.said
            else:
                place = int(passage.removeprefix("context "))
                column = [row[place] for row in (self.faithful if of_answer else self.found)]
            return entailment(*map(int, column), passages=[1])

        return ScriptedJudge(claims=split, entailment=verdicts)


def of(label: str, known: Verdicts, judge: ScriptedJudge | None = None) -> Score:
    return score(parse(label)(known.sample, judge=judge or known.judge()))


CASE = Verdicts(
    right=[True, False, False, True, False],
    faithful=[[True, False], [True, False], [False, True], [False, False], [False, False]],
    said=[True, True, False, False],
    found=[[True, False], [False, False], [True, False], [False, False]],
)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("claim_recall", 2 / 4),
        ("context_utilization", 1 / 2),
        ("noise_sensitivity", 1 / 5),
        ("noise_sensitivity(mode=irrelevant)", 1 / 5),
        ("claim_hallucination", 1 / 5),
        ("self_knowledge", 1 / 5),
        ("factual_correctness(mode=precision)", 2 / 5),
        ("factual_correctness(mode=recall)", 2 / 4),
    ],
)
def test_a_case_by_hand(label: str, value: float) -> None:
    assert of(label, CASE).value == pytest.approx(value, abs=1e-15)


def test_one_decomposition_and_one_set_of_verdicts_serve_all() -> None:
    judge = CASE.judge()
    for label in (*NAMES, *MODES, "factual_correctness"):
        of(label, CASE, judge)
    assert len(judge.asked("claims")) == 2
    assert len(judge.asked("entailment")) == 2 * (1 + len(CASE.contexts))


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_as_the_program_computes_them(data: st.DataObject) -> None:
    """By NumPy, as RAGChecker's `computation` does; where that has 0 for want of anything, there is no value here."""
    import numpy as np

    answers, truths, depth = (data.draw(st.integers(1, 4)) for _ in range(3))

    def flags(*shape: int) -> Any:
        return np.array(data.draw(st.lists(st.booleans(), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))),
                        dtype=bool).reshape(shape)  # fmt: skip

    right, faithful, said, found = flags(answers), flags(answers, depth), flags(truths), flags(truths, depth)
    known = Verdicts(right.tolist(), faithful.tolist(), said.tolist(), found.tolist())
    recalled, unfaithful = found.max(axis=1), ~faithful.max(axis=1)
    wanted = {
        "claim_recall": recalled.mean(),
        "context_utilization": (recalled & said).sum() / recalled.sum() if recalled.any() else float("nan"),
        "claim_hallucination": (unfaithful & ~right).mean(),
        "self_knowledge": (unfaithful & right).mean(),
    }
    relevant = (found.max(axis=0) & faithful).max(axis=1)
    irrelevant = (~found.max(axis=0) & faithful).max(axis=1) & ~relevant
    wanted |= {"noise_sensitivity": (relevant & ~right).mean(), MODES[1]: (irrelevant & ~right).mean()}
    judge = known.judge()
    for label, value in wanted.items():
        assert of(label, known, judge).value == pytest.approx(value, nan_ok=True), label


def test_what_has_nothing_to_count_is_unmeasured() -> None:
    lost = Verdicts([True], [[False]], [True], [[False]])
    found = of("context_utilization", lost)
    assert found.status is Status.EMPTY_INPUT
    assert "no context supports a claim of the reference" in found.reason
    silent = ScriptedJudge(claims=claims(), entailment=entailment())
    assert {of(name, lost, silent).status for name in NAMES} == {Status.EMPTY_DECOMPOSITION}


def test_silence_uses_nothing_and_does_not_hide_what_was_retrieved() -> None:
    """What there was to read is known without an answer, which says none of it; it has no claims of its own."""
    for silent in (replace(CASE.sample, response=" "), replace(CASE.sample, response=None)):
        judge = CASE.judge()
        found = {name: score(parse(name)(silent, judge=judge)) for name in NAMES[1:]}
        assert not judge.calls
        if silent.response is not None:
            utilization = found.pop("context_utilization")
            assert (utilization.value, utilization.reason) == (0.0, "empty answer")
        missing = Status.MISSING_FIELD if silent.response is None else Status.EMPTY_INPUT
        assert {one.status for one in found.values()} == {missing}
        assert score(parse("claim_recall")(silent, judge=judge)).value == 2 / 4
        assert len(judge.asked("entailment")) == len(CASE.contexts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_explanations_and_words_alone(name: str, language: str) -> None:
    said = explain(of(name, CASE), translator(language))
    assert "claim" in said
    sample = Sample(
        "s", "Where?", "The library stands in Green Street. Dogs bark.", "The library stands in Green Street.",
        (Chunk("c", "The library stands in Green Street."),), language="en",
    )  # fmt: skip
    by_words = {"claim_recall": 1.0, "context_utilization": 1.0, "claim_hallucination": 0.5, "self_knowledge": 0.0}
    assert score(parse(name)(sample, judge=LexicalJudge())).value == by_words[name]
