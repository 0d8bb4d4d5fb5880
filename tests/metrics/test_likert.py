"""faithfulness_rating, answer_relevance, answer_correctness_rating, e2e_score: one question, one whole number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ragbench.core.language import translator
from ragbench.core.metric import Metric
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.judge import LexicalJudge
from ragbench.metrics.explanation import explain
from ragbench.metrics.likert import answer_correctness_rating, answer_relevance, e2e_score, faithfulness_rating
from tests.scripted_judge import ScriptedJudge, score

SAMPLE = Sample(
    "s",
    "Сколько стоит обед?",
    "Обед стоит 250 рублей.",
    "Обед стоит 250 рублей.",
    (Chunk("c", "Обед стоит 250 рублей."),),
)
ALL = [faithfulness_rating, answer_relevance, answer_correctness_rating, e2e_score]


def of(each: Metric, rating: Any, sample: Sample = SAMPLE) -> Score:
    reply = rating if isinstance(rating, Status) else {"reason": "so", "rating": rating}
    return score(each(sample, judge=ScriptedJudge(**{each.name: reply})))


@pytest.mark.parametrize("each", ALL, ids=str)
class TestAll:
    @pytest.mark.parametrize("rating", [1, 2, 3, 4, 5])
    def test_the_rating_is_kept_as_given_and_its_share_is_said(self, each: Metric, rating: int) -> None:
        found = of(each, rating)
        assert (found.value, found.detail["rating"], each.bounds) == (float(rating), rating, (1.0, 5.0))
        share = f"({rating} − 1) / 4 = {(rating - 1) / 4:.3f}"
        assert share in found.reason
        assert share.replace(".", ",") in explain(found, translator("ru"))

    @pytest.mark.parametrize("rating", [0, 6, 4.5, True, "4", "4 из 5", None, float("nan")])
    def test_nothing_else_is_a_rating(self, each: Metric, rating: Any) -> None:
        assert of(each, rating).status is Status.PARSE_ERROR

    def test_one_question(self, each: Metric) -> None:
        judge = ScriptedJudge(**{each.name: {"reason": "", "rating": 3}})
        score(each(SAMPLE, judge=judge))
        assert len(judge.calls) == 1

    def test_the_offline_judge_goes_from_end_to_end_of_the_scale(self, each: Metric) -> None:
        far = replace(SAMPLE, user_input="Где библиотека?", response="Zebras graze quietly.")
        near = replace(SAMPLE, user_input="Обед стоит 250 рублей?")
        assert score(each(near, judge=LexicalJudge())).value == 5.0
        assert score(each(far, judge=LexicalJudge())).value == 1.0


@pytest.mark.parametrize("each", [answer_correctness_rating, e2e_score], ids=str)
def test_offline_what_is_added_to_the_reference_counts_against_the_answer(each: Metric) -> None:
    """All of the reference is in the answer, and a fifth of the answer in it: ⅓, where the plain mean is 0.6."""
    added = "Zebras graze quietly. Bananas grow in summer. Owls hunt every night. Kites fly high."
    more = replace(SAMPLE, reference="Lunch costs 250 roubles.", response=f"Lunch costs 250 roubles. {added}")
    assert score(each(more, judge=LexicalJudge())).value == 2.0


def test_relevance_needs_no_reference() -> None:
    assert of(answer_relevance, 4, replace(SAMPLE, reference=None)).value == 4.0


def test_what_each_judge_is_shown() -> None:
    for each, slots in (
        (faithfulness_rating, {"question", "contexts", "response"}),
        (answer_relevance, {"question", "response"}),
        (answer_correctness_rating, {"question", "reference", "response"}),
        (e2e_score, {"question", "reference", "response"}),
    ):
        judge = ScriptedJudge(**{each.name: {"reason": "", "rating": 3}})
        score(each(SAMPLE, judge=judge))
        ((_, texts, _),) = judge.calls
        assert set(texts) == slots


def test_the_names_that_summaries_use() -> None:
    assert [each.published for each in ALL] == [
        "avg_faithfulness", "avg_answer_relevance", "avg_answer_correctness", "avg_e2e_score",
    ]  # fmt: skip
