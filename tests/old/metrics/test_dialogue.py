"""Dialogues by hand: neighbours in the order they were asked, one question unmeasured, answers apart from questions."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.metrics.dialogue import (
    answer_consistency,
    context_preservation,
    multi_turn_consistency,
    response_exact_match_rate,
    response_semantic_consistency,
)
from ragbench.old.metrics.vectors import Batch
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import score

REPEATED = ScriptedEmbedder({"a": [1, 0], "b": [0.6, 0.8], "c": [0, 1]})
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


def repeats(*texts: str | None) -> list[Sample]:
    return [Sample("q", user_input="?", response=text, reference="a") for text in texts]


@pytest.mark.parametrize(
    ("texts", "value"),
    [(("a", "a"), 1.0), (("a", "b"), 0.0), (("a", "a", "b"), 0.5), (("a", "b", "b", "a"), 1 / 3), (("a", " a\n"), 1.0)],
)
def test_share_of_repeats_that_are_the_first_answer_again(texts: tuple[str, ...], value: float) -> None:
    assert response_exact_match_rate(repeats(*texts)).value == pytest.approx(value, abs=1e-12)


def test_agreement_with_the_reference_plays_no_part() -> None:
    assert response_exact_match_rate(repeats("b", "b")).value == 1.0
    assert response_exact_match_rate(repeats("A", "a")).value == 0.0


def test_the_same_text_in_two_normal_forms_is_the_same() -> None:
    assert response_exact_match_rate(repeats("й", "\u0438\u0306")).value == 1.0


@pytest.mark.parametrize(("texts", "value"), [(("a", "a"), 1.0), (("a", "b", "c"), 0.3), (("a", "c"), 0.0)])
def test_mean_cosine_with_the_first_answer(texts: tuple[str, ...], value: float) -> None:
    found = score(response_semantic_consistency(repeats(*texts), embedder=REPEATED))
    assert found.value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("texts", "status"),
    [(("a",), Status.MISSING_FIELD), (("a", None), Status.MISSING_FIELD), (("a", " "), Status.EMPTY_INPUT)],
)
def test_a_single_run_or_a_missing_answer_is_unmeasured(texts: tuple[str | None, ...], status: Status) -> None:
    assert response_exact_match_rate(repeats(*texts)).status is status
    assert score(response_semantic_consistency(repeats(*texts), embedder=REPEATED)).status is status
