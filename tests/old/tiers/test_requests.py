"""What a tier can be asked: defaults that are legal, wrong types refused with what is legal, a signature that tells."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from ragbench.old import tiers
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import RUN_FOLDER
from ragbench.old.core.types import Question
from ragbench.old.core.types.reason import Reason
from ragbench.old.data.records import Decision, PastQuestion
from ragbench.old.llm.errors import BudgetSpent
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.report.execution.orchestration import Work
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics import requests
from ragbench.old.tiers.basics.requests import Request, legal
from tests.old.systems.test_systems import DATASET

TIERS = [each for name in tiers.__all__ if hasattr(each := getattr(tiers, name), "request")]


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.__name__)
def test_the_defaults_are_legal_and_every_parameter_is_told(tier: Any) -> None:
    made = tier.request(**{name: field.default for name, field in tier.request.parameters().items()})
    assert made == tier.request()
    assert made.notebook == tier.__name__
    assert list(inspect.signature(tier).parameters) == [*tier.request.parameters(), "notebook"]
    for name, field in tier.request.parameters().items():
        assert f"\n{name}: {field.description}. Legal: {legal(field)}." in tier.__doc__


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": "5"}, "k = '5': a whole number from 1 to 1000 is expected (documents of each ranking"),
        ({"k": 5.0}, "k = 5.0: a whole number"), ({"k": True}, "k = True: a whole number"),
        ({"level": "high"}, "level = 'high': a number above 0 and below 1 is expected"),
        ({"level": float("nan")}, "level = nan: a number"), ({"fresh_timings": 1}, "1: True or False is expected"),
        ({"dataset": None}, "dataset = None: a text is expected"), ({"systems": 5}, "5: a text or a list of texts is"),
        ({"systems": ["a", 5]}, "systems = ['a', 5]: a text or a list of texts is expected"),
        ({"ef_searches": 5}, "ef_searches = 5: a list, each item a whole number from 1 to 1000 is expected"),
        ({"ef_searches": [10, "x"]}, "each of ef_searches = 'x': a whole number from 1 to 1000 is expected"),
        ({"language": "fr"}, "language = 'fr': en or ru is expected"),
        ({"sytems": "a"}, "there is no parameter 'sytems'; did you mean 'systems'?; there are dataset, systems, "),
        ({"questions": []}, "there is no parameter 'questions'; did you mean 'dataset'?; there are dataset, systems, "),
        ({"passages": []}, "there is no parameter 'passages'; did you mean 'documents'?; there are dataset"),
        ({"slice_by": "age"}, "slice_by names 'age'"),
        ({"primary": "ngcd@10"}, "primary = 'ngcd@10': it is not measured; did you mean 'ndcg@10'?; legal: hit_rate@1"),
        ({"primary": "ndcg"}, "primary = 'ndcg': it is not measured"),
        ({"primary": "mrr", "metrics": "recall@5"}, "primary = 'mrr': it is not measured; legal: recall@5"),
    ],
)  # fmt: skip
def test_what_is_not_legal_is_refused_with_what_is(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BenchError) as refusal:
        tiers.tier1_retrieval(**wrong)
    assert said in str(refusal.value)


def test_every_tier_that_compares_names_its_primary_metric_before_anything_is_measured() -> None:
    usual = {"tier1_retrieval": "mrr@10", "real_users": None, "rag_metrics": None, "tier3_end_to_end": "e2e_score",
             "tier2_generation": "answer_correctness_rating", "tier_judge_pipeline": "balanced_accuracy"}  # fmt: skip
    assert {tier.__name__ for tier in TIERS if "primary" in tier.request.parameters()} == set(usual)
    for name, label in usual.items():
        request = getattr(tiers, name).request
        assert label is None or request().leading.label == label
    assert tiers.real_users.request(primary="ndcg@10").retrieval.leading.label == "ndcg@10"
    assert tiers.tier2_generation.request(primary="rougeL_f").leading.label == "rougeL_f"
    assert tiers.tier_judge_pipeline.request(cost_shown=2.0).leading.label == "decision_cost"
    assert tiers.tier_judge_pipeline.request(cost_shown=2.0, primary="f1_score").leading.label == "f1_score"
    for name, wrong in (("real_users", "retrieval_consistency"), ("tier3_end_to_end", "mrr"), ("tier_judge_pipeline",
                        "decision_cost")):  # fmt: skip
        with pytest.raises(BenchError, match=f"primary = '{wrong}': it is not measured"):
            getattr(tiers, name).request(primary=wrong)


def told(request: Request) -> dict[str, tuple[Any, Any]]:
    """Parameter → its value and its default, as a page is told them."""
    return {one["name"]: (one["value"], one["default"]) for one in request.told()}


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.__name__)
def test_what_was_asked_for_is_told_in_plain_values_and_in_the_order_of_the_parameters(tier: Any) -> None:
    asked = tier.request().told()
    assert json.loads(json.dumps(asked)) == asked
    assert [one["name"] for one in asked] == [name for name in tier.request.parameters() if name != "language"]
    assert all(one["value"] == one["default"] and one["help"] for one in asked)


def test_a_list_is_the_default_when_it_holds_the_same() -> None:
    asked = told(tiers.tier1_retrieval.request(ef_searches=[10, 40, 160], k=20, slice_by=["kind"]))  # type: ignore[attr-defined]
    assert asked["ef_searches"] == ([10, 40, 160], [10, 40, 160])
    assert asked["k"] == (20, 10)
    assert asked["slice_by"] == (["kind"], "kind, language, source")


def test_neither_secrets_nor_folders_of_this_machine_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_API_KEY", "hidden-words")
    asked = told(
        tiers.rag_metrics.request(  # type: ignore[attr-defined]
            labels="/home/John Smith/a.csv, C:\\Users\\x\\b.csv, ~/c.csv, people/d.csv", answers="of hidden-words.csv"
        )
    )
    assert asked["labels"][0] == "a.csv, b.csv, c.csv, people/d.csv"
    assert asked["answers"][0] == "of ••••.csv"


def test_what_was_asked_for_is_a_fact_of_what_was_measured() -> None:
    class Asking(Request):
        k: int = Field(5, description="how many")
        notebook: str = "asking"

    @requests.tier(Asking)
    def asking(request: Asking) -> Measurement:
        return Measurement(request.notebook, {"seed": 0})

    made = asking(k=6)
    assert made.facts["request"] == [{"name": "k", "value": 6, "default": 5, "help": "how many"}]
    assert made.facts["seed"] == 0


@pytest.mark.parametrize("disk_full", [False, True])
def test_why_a_notebook_failed_is_handed_on_in_every_language(
    disk_full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = Reason("calls: {part} of {whole}", part=3, whole=4)

    class Failing(Request):
        notebook: str = "failing"

    @requests.tier(Failing)
    def failing(request: Failing) -> Measurement:
        raise BudgetSpent(why)

    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    if disk_full:
        (tmp_path / "parts").write_text("no folder can be made here", encoding="utf-8")
    with pytest.raises(BudgetSpent, match="calls: 3 of 4"):
        failing()
    work = Work(tmp_path, None)
    told = work._told("failing", "calls: 3 of 4")
    assert reason_in(told, translator("ru")) == ("calls: 3 of 4" if disk_full else "вызовы: 3 из 4")
    assert work._told("failing", "ValueError: another line") == "ValueError: another line"


@pytest.mark.parametrize(
    ("page", "given", "table"),
    [
        ("tier1_retrieval", {}, "questions"),
        ("tier2_generation", {}, "questions"),
        ("tier3_end_to_end", {}, "questions"),
        ("tier_judge", {}, "questions"),
        ("tier_judge_pipeline", {}, "decisions"),
        ("real_users", {}, "history"),
        ("sources", {}, "questions"),
        ("sources", {"users_log": True}, "history"),
    ],
)
def test_a_limit_is_of_what_a_page_measures(page: str, given: dict[str, Any], table: str) -> None:
    many = range(9)
    data = replace(
        DATASET,
        questions=tuple(Question(f"q{n}", f"What of {n}?") for n in many),
        decisions=tuple(Decision(id=f"d{n}", question="What?", answer="So.", show=True) for n in many),
        history=tuple(PastQuestion(id=f"h{n}", question="What?") for n in many),
    )
    asked = getattr(tiers, page).request(limit=4, **given)
    assert asked.drawn(data).taken() == {"n": 4, "of": 9, "table": table}
    assert asked.model_copy(update={"limit": None}).drawn(data) is data
    assert next(one for one in asked.told() if one["name"] == "limit")["value"] == 4
    with pytest.raises(BenchError, match="limit = 0: a whole number from 1 or None is expected"):
        getattr(tiers, page).request(limit=0)
