"""Dialogues by hand: neighbours in the order they were asked, one question unmeasured, answers apart from questions."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.core.types import Sample, Score, Status
from ragbench.metrics.dialogue import answer_consistency, context_preservation, multi_turn_consistency
from ragbench.metrics.vectors import Batch
from tests.embed.scripted_embedder import ScriptedEmbedder

VECTORS = {"a": (1.0, 0.0), "b": (3.0, 4.0), "c": (0.0, 2.0), "-a": (-1.0, 0.0)}


def measured(metric, questions: str, answers: str | None = None) -> Score:
    replies = answers.split() if answers is not None else [None] * len(questions.split())
    turns = [
        Sample(f"d.{n}", user_input=q, response=a)
        for n, (q, a) in enumerate(zip(questions.split(), replies, strict=True))
    ]
    score: Score = asyncio.run(metric(turns, embedder=ScriptedEmbedder(VECTORS)))
    return score


def test_neighbours_by_hand() -> None:
    score = measured(context_preservation, "a b c")
    assert score.detail["similarities"] == pytest.approx([0.6, 0.8])
    assert score.value == pytest.approx(0.7)
    assert "0.700" in score.reason
    assert measured(context_preservation, "a -a").value == -1.0
    assert measured(context_preservation, "b b").value == 1.0


def test_the_second_name_is_computed_alike_and_answers_are_apart() -> None:
    assert measured(multi_turn_consistency, "a b c", "a a c").value == pytest.approx(0.7)
    assert measured(answer_consistency, "a b c", "a a c").value == pytest.approx(0.5)


def test_the_order_of_the_turns_counts() -> None:
    assert measured(context_preservation, "a c b").value == pytest.approx(0.4)


@pytest.mark.parametrize("metric", [context_preservation, multi_turn_consistency, answer_consistency])
def test_one_question_is_unmeasured_and_not_one(metric) -> None:
    score = measured(metric, "a", "a")
    assert math.isnan(score.value)
    assert score.status is Status.MISSING_FIELD


def test_a_missing_answer_leaves_the_questions_measured() -> None:
    assert measured(context_preservation, "a b").status is Status.OK
    assert measured(answer_consistency, "a b").status is Status.MISSING_FIELD
    blank = [Sample("1", user_input="a"), Sample("2", user_input="  ")]
    score = asyncio.run(context_preservation(blank, embedder=ScriptedEmbedder(VECTORS)))
    assert score.status is Status.EMPTY_INPUT
    assert "turn 2" in score.reason


@given(st.lists(st.sampled_from(sorted(VECTORS)), min_size=2, max_size=8))
def test_a_dialogue_told_backwards_is_as_coherent(turns: list[str]) -> None:
    forth = measured(context_preservation, " ".join(turns)).value
    assert -1 <= forth <= 1
    assert measured(context_preservation, " ".join(turns[::-1])).value == pytest.approx(forth)


def test_many_dialogues_are_embedded_in_one_batch() -> None:
    embedder = ScriptedEmbedder(VECTORS)
    batch = Batch(embedder)
    dialogues = [[Sample("1", user_input="a"), Sample("2", user_input="b")], [Sample("3", user_input="c")] * 2]
    works = [lambda turns=turns: context_preservation(turns, embedder=batch) for turns in dialogues]
    scores = asyncio.run(batch.gather(works))  # type: ignore[arg-type]
    assert [score.value for score in scores] == pytest.approx([0.6, 1.0])
    assert len(embedder.calls) == 1
