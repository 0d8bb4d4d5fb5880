"""faithfulness_rating, answer_relevance, answer_correctness_rating, e2e_score: one question, one whole number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core import settings
from ragbench.old.core.language import translator
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from ragbench.old.metrics.likert import answer_correctness_rating, answer_relevance, e2e_score, faithfulness_rating
from tests.old.judge.scripted_judge import ScriptedJudge, score

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

    @pytest.mark.parametrize(("rating", "share"), [(1, 0.0), (2, 0.25), (4, 0.75), (5, 1.0)])
    def test_on_a_scale_from_0_to_1_the_rating_is_its_share(self, each: Metric, rating: int, share: float) -> None:
        scaled = parse(f"{each.name}(scale=0-1)")
        made = score(scaled(SAMPLE, judge=ScriptedJudge(**{each.name: {"reason": "so", "rating": rating}})))
        assert (made.value, made.detail["rating"], scaled.bounds) == (share, rating, (0.0, 1.0))
        assert each.with_options(scale="1-5").bounds == (1.0, 5.0)

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


def test_a_project_puts_a_rating_on_the_scale_from_0_to_1_wherever_it_is_named(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bare / "ragbench.toml").write_text('[metrics.e2e_score]\noptions = { scale = "0-1" }\n', encoding="utf-8")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(bare / "ragbench.toml"))
    settings.load.cache_clear()
    assert (parse("e2e_score").bounds, parse("e2e_score").names[0]) == ((0.0, 1.0), "e2e_score(scale=0-1)")
