"""Sixteen faults that a benchmark before this one had: each is shown not to be here, under its number."""

from __future__ import annotations

import asyncio
import csv
import importlib
import json
import math
import pkgutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import ascore, metrics, tiers
from ragbench.old.core import settings
from ragbench.old.core.settings import JudgeSettings
from ragbench.old.core.types import Chunk, Prompt, Sample, Score, Status
from ragbench.old.judge import ModelJudge
from ragbench.old.judge.model_judge import render
from ragbench.old.llm import Client, run
from ragbench.old.metrics import catalogue, ranking_arrays
from ragbench.old.metrics.decisions import Cell, cell, decision_of
from ragbench.old.metrics.embedding_space import avg_nn_distance
from ragbench.old.metrics.judging import consistency_score
from ragbench.old.metrics.likert import e2e_score
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.systems.parts.retrievers import DenseRetriever
from tests.old.data import foreign_files
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines

CONTEXTS = (Chunk("c1", "Библиотека открыта с 9 до 21 часа."),)
SAMPLE = Sample(
    "q1", "Когда открыта библиотека?", "С 9 до 21 часа.", reference="С 9 до 21 часа.", contexts=CONTEXTS, language="ru"
)


def prompts() -> list[Prompt[Any]]:
    """Every prompt of every metric."""
    found = []
    for module in pkgutil.iter_modules(metrics.__path__):
        loaded = importlib.import_module(f"ragbench.old.metrics.{module.name}")
        found += [value for value in vars(loaded).values() if isinstance(value, Prompt)]
    return list({id(prompt): prompt for prompt in found}.values())


def value_of(label: str, sample: Sample, **tools: Any) -> Score:
    found = catalogue()[label](sample, **tools)
    return asyncio.run(found) if asyncio.iscoroutine(found) else found


@pytest.mark.parametrize("prompt", prompts(), ids=lambda prompt: prompt.name)
@pytest.mark.parametrize("language", ["en", "ru"])
def test_fault_01_every_place_of_every_prompt_is_filled_and_braces_are_plain(prompt: Prompt, language: str) -> None:
    nasty = "{question} {context} {{answer}} {0}"
    text = "\n".join(words for _, words in render(prompt, dict.fromkeys(prompt.slots, nasty), language, "direct"))
    assert text.count(nasty) == sum(prompt.texts[language].count(f"{{{slot}}}") for slot in prompt.slots)
    left = text.replace(nasty, "")
    assert not [slot for slot in prompt.slots if f"{{{slot}}}" in left]
    for slot in prompt.slots:
        lacking = {name: nasty for name in prompt.slots if name != slot}
        with pytest.raises(ValueError, match="the slots are"):
            render(prompt, lacking, language, "direct")


def test_fault_01_a_judge_of_the_end_to_end_score_reads_question_answer_and_reference() -> None:
    judge = ScriptedJudge(e2e_score={"reason": "так", "rating": 4})
    asyncio.run(e2e_score(SAMPLE, judge=judge))  # type: ignore[arg-type]
    ((_, texts, _),) = judge.calls
    assert {SAMPLE.user_input, SAMPLE.response, SAMPLE.reference} <= set(map(str, texts.values()))


@pytest.mark.parametrize("label", ["rouge1_f", "rouge2_f", "rougeL_f"])
def test_fault_02_rouge_of_identical_russian_texts_is_one(label: str) -> None:
    assert value_of(label, SAMPLE).value == 1.0
    other = replace(SAMPLE, response="В 1992 году построили мост.", reference="Кошка родилась весной 1992.")
    assert value_of(label, other).value < 0.3


def test_fault_03_a_page_found_ten_times_counts_once() -> None:
    ranking = ranking_arrays.from_lists([["/page"] * 10], [{"/page": 1.0}])
    found = evaluate(ranking, [catalogue()["ndcg"] @ 10, catalogue()["precision"] @ 10, catalogue()["recall"] @ 10])
    assert found["ndcg@10"][0] == 1.0
    assert found["precision@10"][0] == 0.1
    assert found["recall@10"][0] == 1.0


def test_fault_03_a_published_ndcg_above_one_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(foreign_files.as_json(foreign_files.HISTORY), encoding="utf-8")
    past_runs = pytest.importorskip("ragbench.old.extras.runs.past_runs")
    value = past_runs.history(path, "v1").runs[0].value("tier1_retrieval", "v1", "ndcg@10")
    assert value is not None
    assert (value.value, value.reason) == (1.0923, "outside_scale")


def test_fault_04_one_table_has_one_unit(project: Path) -> None:
    by_chunk = tiers.tier1_retrieval(unit="chunk", repeats=1, timed_questions=0)
    by_page = tiers.tier1_retrieval(unit="url", repeats=1, timed_questions=0)
    assert [made.facts["unit"] for made in (by_chunk, by_page)] == ["chunk", "url"]
    for made in (by_chunk, by_page):
        labels = [one.metric for one in made.estimates if one.system == "poor"]
        assert len(labels) == len(set(labels)), "one MRR, and nothing overwrites it"
    values = {
        made.facts["unit"]: next(e.estimate.value for e in made.estimates if (e.system, e.metric) == ("poor", "mrr@10"))
        for made in (by_chunk, by_page)
    }
    assert values["chunk"] == pytest.approx((1 / 3 + 1 / 2 + 0) / 3)
    assert values["url"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3), "a2 is of the same page as a1"


INVENTED = ["", "Извините, я не могу это оценить.", "по шкале от 1 до 5: 4", "score: 4.5", '{"rating": "NaN"}',
            '{"reason": "так", "rating": NaN}', '{"reason": "так", "rating": 0.8}', '{"reason": "так", "rating": 7}',
            '{"reason": "так", "rating": true}', "5", "0.9"]  # fmt: skip


@pytest.mark.parametrize("reply", INVENTED)
def test_fault_05_no_score_is_made_of_a_reply_that_gives_none(reply: str) -> None:
    async def work(url: str) -> Score:
        client = Client("judge", JudgeSettings(base_url=url, model="m", attempts=1))
        score: Score = await e2e_score(SAMPLE, judge=ModelJudge(client, language="ru"))  # type: ignore[arg-type]
        await client.close()
        return score

    with ChatServer(answer=lambda body: reply).running() as server:
        score = run(work(server.url))
    assert math.isnan(score.value)
    assert score.status in (Status.PARSE_ERROR, Status.REFUSED)


def test_fault_06_a_delta_is_read_on_the_scale_of_the_scores() -> None:
    metric = catalogue()["e2e_score"]
    assert metric.bounds == (1.0, 5.0)
    assert "delta" in (consistency_score.function.__kwdefaults__ or {})


def test_fault_07_the_judge_is_tried_on_a_data_set_without_answers_of_its_own_and_every_judge_is_asked(
    project: Path,
) -> None:
    questions = [
        {"id": f"q{n}", "text": f"What of {n}?", "reference": f"Number {n} is in room {n}.", "relevant": {"a1": 1}}
        for n in range(1, 9)
    ]
    write_lines(project / "data" / "small" / "questions.en.jsonl", questions)

    def rated(body: dict[str, Any]) -> dict[str, Any]:
        shape = json.dumps(body.get("response_format", {}))
        return {"choice": "A"} if "choice" in shape else {"reason": "so", "rating": 2 if "rating" in shape else 1}

    with ChatServer(answer=rated).running() as first, ChatServer(answer=rated).running() as second:
        tables = "".join(
            f'[judges.{name}]\nbase_url = "{server.url}"\nmodel = "m"\n'
            for name, server in (("one", first), ("two", second))
        )
        add(project, tables)
        made = tiers.tier_judge("small", "one, two", resamples=200)
        assert first.calls > 0
        assert second.calls > 0
    rates = {e.system: e.estimate.value for e in made.estimates if e.metric == "error_rate"}
    assert rates == {"one": 0.0, "two": 0.0}
    counted = made.extra["coverage"].groupby("judge")[["count", "asked"]].agg({"count": "sum", "asked": "first"})
    assert (counted["count"] == counted["asked"]).all()


def test_fault_08_contexts_are_ideal_only_if_they_are_whole() -> None:
    long = "Начало. " + "слово " * 5_000 + "Конец."
    judge = ScriptedJudge(faithfulness_rating={"reason": "так", "rating": 5})
    sample = replace(SAMPLE, contexts=(Chunk("c1", long),))
    value_of("faithfulness_rating", sample, judge=judge)
    assert any(long in str(texts) for _, texts, _ in judge.calls), "the judge reads all of it"


def test_fault_09_what_was_not_repeated_is_unmeasured(project: Path) -> None:
    for label in ("response_exact_match_rate", "response_semantic_consistency"):
        tools = {"embedder": ScriptedEmbedder({})} if "embedder" in catalogue()[label].needs else {}
        found = catalogue()[label]([SAMPLE], **tools)
        score = asyncio.run(found) if asyncio.iscoroutine(found) else found
        assert (math.isnan(score.value), score.status) == (True, Status.MISSING_FIELD)
    made = tiers.tier1_retrieval(systems="ngrams", repeats=1, timed_questions=0, metrics="mrr, retrieval_consistency")
    rows = made.scores[made.scores["metric"] == "retrieval_consistency"]
    assert rows["value"].isna().all()


def test_fault_09_a_repeat_embeds_and_searches_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[int] = []
    whole = DenseRetriever.embedded
    monkeypatch.setattr(
        DenseRetriever,
        "embedded",
        lambda self, texts, *more: embedded.append(len(texts)) or whole(self, texts, *more),
    )
    tiers.tier1_retrieval(systems="ngrams", repeats=3, timed_questions=0, metrics="retrieval_consistency")
    assert sum(embedded) == 2 * 3, "both repeats embed all three questions again"


def test_fault_10_a_missing_reference_is_unmeasured_and_counted() -> None:
    judge = ScriptedJudge(answer_correctness_rating={"reason": "так", "rating": 5})
    samples = [SAMPLE, replace(SAMPLE, id="q2", reference=None)]
    result = asyncio.run(ascore(samples, metrics=["answer_correctness_rating"], judge=judge))
    (estimate,) = result.means.values()
    assert (estimate.value, estimate.n, estimate.n_unmeasured) == (5.0, 1, 1)
    assert (estimate.floor, estimate.ceiling) == (3.0, 5.0)


def test_fault_10_a_failed_call_of_the_production_judge_stays_in_n() -> None:
    assert cell(True, None) is Cell.FAILED_POSITIVE
    assert cell(False, None) is Cell.FAILED_NEGATIVE
    table = np.zeros((1, len(Cell)))
    table[0, [Cell.TRUE_POSITIVE, Cell.FAILED_POSITIVE]] = 1
    assert catalogue()["accuracy"](table)[0] == 0.5


def test_fault_08_a_limit_is_never_silent(project: Path) -> None:
    whole = tiers.tier2_generation(systems="ngrams", metrics="rouge1_f")
    cut = tiers.tier2_generation(systems="ngrams", metrics="rouge1_f", length_limit=5)
    assert whole.extra["answers"][["contexts_cut", "characters_cut"]].to_numpy().sum() == 0
    assert cut.extra["answers"]["characters_cut"].sum() > 0
    assert cut.facts["length_limit"] == 5


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("No: he said yes yesterday", False),
        ("Нет. Вчера ответ был «да»", False),
        ("Yes, although no source says so", True),
        ('{"show": "no", "reason": "yes-men"}', False),
        ("yesterday", None),
        ("Eyes", None),
        ("", None),
    ],
)
def test_fault_11_the_first_word_decides(reply: str, expected: bool | None) -> None:
    assert decision_of(reply) is expected


def test_fault_12_a_dialogue_is_a_session_and_three_numbers_are_three(project: Path) -> None:
    turns = {
        "d1": [("Where is the library?", "In house one."), ("And the canteen?", "In house two.")],
        "d2": [("May I park here?", "Yes."), ("May I park here at night?", "No, never.")],
        "d3": [("Who is the dean?", "Nobody.")],
    }
    lines = [{"id": name, "turns": [{"question": q, "answer": a} for q, a in pairs]} for name, pairs in turns.items()]
    write_lines(project / "data" / "small" / "dialogues.en.jsonl", lines)
    path = project / "ragbench.toml"
    plain = '[embedders.plain]\nkind = "hashing"\ntfidf = false\ndimensions = 0\nbuckets = 4096\n'
    path.write_text(path.read_text(encoding="utf-8") + plain, encoding="utf-8")
    settings.load.cache_clear()
    made = tiers.tier_ux("small", embedders="plain")
    rows = made.scores.set_index(["metric", "sample"])["value"]
    assert set(made.scores["sample"]) >= set(turns) - {"d3"}
    assert ("context_preservation", "d3") not in rows, "one question has no neighbour, and nothing to preserve"
    assert rows["context_preservation", "d1"] != rows["context_preservation", "d2"]
    assert rows["multi_turn_consistency", "d1"] == rows["context_preservation", "d1"], (
        "as the specification computes it"
    )
    assert rows["answer_consistency", "d1"] != rows["context_preservation", "d1"], "what the second name promises"


def test_fault_13_nothing_is_filled_in_before_a_person_does(tmp_path: Path) -> None:
    labelling = pytest.importorskip("ragbench.old.extras.labelling")
    items = [labelling.Item(f"q{n}", "s", "faithfulness", "Where?", "Here.") for n in range(3)]
    sheet = labelling.Sheet(items, (0.0, 1.0), "anna", tmp_path / "labels.csv")
    rows = list(csv.DictReader(labelling.export_csv(sheet, tmp_path / "sheet.csv").open(encoding="utf-8-sig")))
    assert [row["value"] for row in rows] == ["", "", ""]
    sheet.give(1.0)
    rows = list(csv.DictReader(labelling.export_csv(sheet, tmp_path / "sheet.csv").open(encoding="utf-8-sig")))
    assert [row["value"] for row in rows] == ["1", "", ""]


def test_fault_14_calls_do_not_wait_in_line_and_are_asked_once() -> None:
    async def work(url: str) -> int:
        client = Client("judge", JudgeSettings(base_url=url, model="m", concurrency=32))
        judge = ModelJudge(client, language="ru")
        rows = [replace(SAMPLE, id=f"q{n}", response=f"С {n} до 21 часа.") for n in range(32)]
        await asyncio.gather(*(e2e_score(row, judge=judge) for row in [*rows, *rows]))  # type: ignore[arg-type]
        await client.close()
        return client.tally.calls

    with ChatServer(latency=0.05).running() as server:
        assert run(work(server.url)) == 32
        assert server.most_in_flight >= 16


def test_fault_15_a_vector_is_left_out_by_identity_not_as_the_first_found() -> None:
    vectors = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    assert avg_nn_distance(vectors) == 0.0, "each has a copy, at distance 0"
    assert avg_nn_distance(np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])) == pytest.approx(5 / 3)


def test_fault_16_repeatability_is_not_agreement_with_the_reference() -> None:
    wrong = replace(SAMPLE, response="Круглосуточно.")
    assert catalogue()["response_exact_match_rate"]([wrong, wrong, wrong]).value == 1.0
    assert value_of("exact_match", wrong).value == 0.0
    assert "not agreement with the reference" in " ".join(
        (catalogue()["response_exact_match_rate"].function.__doc__ or "").split()
    )
    assert "reference" not in catalogue()["response_exact_match_rate"].fields
