"""What the first users have: files as their code writes them, their database, and the page that tells them how."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ragbench import data, tiers, views
from ragbench.core import settings
from ragbench.core.types import Chunk, Sample
from ragbench.data import ChunkRecord, foreign_sets
from ragbench.metrics.faithfulness import faithfulness
from ragbench.metrics.response_groundedness import response_groundedness
from ragbench.store import EmbeddingError
from ragbench.store.run_records import RunRecord
from ragbench.tiers import BenchError, readiness
from ragbench.tiers.answers.tier_ux import of_history
from ragbench.tiers.basics.session import dataset_of
from ragbench.views import Page
from tests.cli.command_line import ragbench
from tests.docs import fragments
from tests.docs import voproshalych_project as made
from tests.docs.fragments import ROOT
from tests.judge.scripted_judge import ScriptedJudge, score
from tests.llm.chat_server import ChatServer

ask = pytest.importorskip("ragbench.extras.live.typed_questions").ask
past_results = pytest.importorskip("ragbench.extras.runs.past_results")
past_runs = pytest.importorskip("ragbench.extras.runs.past_runs")
compare_runs = pytest.importorskip("ragbench.extras.runs.compared").compare_runs
writer = pytest.importorskip("tests.extras.testsets.writer")

PAGES = [ROOT / "docs" / name for name in ("from-voproshalych.md", "from-voproshalych.ru.md")]
HAND = {"hit_rate@1": 0.7, "hit_rate@5": 0.9, "recall@5": 0.9, "precision@5": 0.18, "mrr": (7 + 1 / 2 + 1 / 3) / 10,
        "ndcg@10": (7 + 1 / math.log2(3) + 1 / 2) / 10}  # fmt: skip
"""Of version 2, by hand, from the ranks in `made.RANKS`."""


@pytest.fixture
def files(bare: Path) -> Path:
    """A project with nothing but the files."""
    made.write(bare)
    return bare


@pytest.fixture
def team(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project of theirs: the settings of the page, the files, and a database of which a quarter has vectors.

    In place of the model on their disk stands the one that the vectors of the tests were made by.
    """
    [toml] = [one.text for one in fragments.fragments(PAGES[0]) if one.language == "toml"]
    notebooks = f'language = "ru"\nnotebooks_folder = "{ROOT / "notebooks"}"\n'
    (tmp_path / "ragbench.toml").write_text(notebooks + toml, encoding="utf-8")
    variables = {
        "CONFIG": str(tmp_path / "ragbench.toml"), "DATABASE__FOLDER": str(database_folder),
        "DATABASES__HELPDESK__CHUNKS__IN_SCHEMA": "helpdesk", "DATABASES__HELPDESK__QUESTIONS__IN_SCHEMA": "helpdesk",
        "EMBEDDERS__E5__KIND": "hashing", "EMBEDDERS__E5__TFIDF": "false", "EMBEDDERS__E5__DIMENSIONS": "0",
        "EMBEDDERS__E5__BUCKETS": str(made.WIDTH),
    }  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(f"RAGBENCH_{name}", value)
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    made.write(tmp_path)
    with made.database("helpdesk", logged=40, embedded=10) as url:
        monkeypatch.setenv("HELPDESK_URL", url)
        settings.load.cache_clear()
        yield tmp_path


def lines(page: Path) -> list[list[str]]:
    """The command lines of a page, in their order."""
    return [words for one in fragments.fragments(page) if one.language == "sh" for words in one.lines()]


def written(page: Path) -> list[list[str]]:
    """The command lines in the prose and the tables of a page, each once."""
    found = list(fragments.written(page.read_text(encoding="utf-8")))
    return [words for place, words in enumerate(found) if words not in found[:place]]


def done(words: list[str], **variables: str) -> str:
    """What a command says; it does not fail."""
    found = ragbench(*words[1:], **variables)
    assert found.returncode == 0, f"{' '.join(words)}\n{found.stdout}\n{found.stderr}"
    return found.stdout


def numbers(run: RunRecord) -> dict[str, float]:
    return {value.metric: value.value for value in run.values}


def test_the_page_says_the_same_commands_in_both_languages_and_each_block_is_one_that_runs() -> None:
    english, russian = PAGES
    assert lines(english) == lines(russian)
    assert sorted(written(english)) == sorted(written(russian))
    kinds = [(one.language, one.reason) for page in PAGES for one in fragments.fragments(page)]
    assert {*kinds} == {("sh", ""), ("toml", "")}
    loaded = {words[2] for words in lines(english) if words[1] == "load"}
    assert loaded == {"database", "questions", "decisions", "dialogues", "history", "result", "answers"}


def test_every_quick_command_of_the_page_runs_and_the_article_has_its_table(team: Path) -> None:
    for words in lines(PAGES[0]):
        if not {"run", "latest", "measured"} & set(words):
            said = done(words)
            if words[1:3] == ["load", "database"]:
                assert "30 × question without a vector" not in said, "the model of `queries` embeds them all"
            if words[1] == "compare":
                assert "hit_rate@1   0.400 0.168 … 0.687  0.700" in said
                assert "6 compared as two samples, 0 not" in said
    text = (team / "article" / "tables" / "numbers-without-pairs.tex").read_text(encoding="utf-8")
    assert "& v1 & v2 &" in text
    assert r"\num{0.400}\\{}[\num{0.168}; \num{0.687}]" in text
    assert r"\num{0.550}\\{}[\num{0.274}; \num{0.799}]" in text
    assert r"\num{0.612}\\{}[\num{0.323}; \num{0.840}]" in text
    assert "| v1 | v2 |" in (team / "article" / "summary.md").read_text(encoding="utf-8")
    for name in ("v2", "old-20260223_190000"):
        done(["ragbench", "publish", name, "--to", name])
    rows = (team / "v2" / "tables" / "tier1_retrieval.tex").read_text(encoding="utf-8").splitlines()
    assert any(row.lstrip().startswith(r"hit\_rate@1 &") and r"\num{0.700}" in row for row in rows)
    old = (team / "old-20260223_190000" / "summary.md").read_text(encoding="utf-8")
    assert r"ndcg@10 † | 1,092" in old.replace("\\_", "_")
    assert (team / "v2" / "single" / "index.html").is_file()


@pytest.mark.usefixtures("one_pool")
@pytest.mark.slow
def test_every_command_of_the_page_runs(team: Path) -> None:
    with ChatServer(answer=writer.good).running() as server:
        mini = {"RAGBENCH_JUDGES__MINI__BASE_URL": server.url, "RAGBENCH_JUDGES__MINI__MODEL": "m"}
        for words in [*lines(PAGES[0]), *written(PAGES[0])]:
            if words[1] == "form":  # a sheet that people have filled in is there, as their program writes it
                (team / words[-1]).unlink()
            if words[1:] not in (["publish"], ["compare"]):  # they are named there, not typed
                done(words, **(mini if "mini" in words else {}))
    text = (team / "article-measured" / "tables" / "01-tier1_retrieval.tex").read_text(encoding="utf-8")
    assert r"hit\_rate@1" in text, "the run on production's vectors is paired with version 2"


def test_the_data_set_and_the_hard_one(files: Path) -> None:
    base = {
        str(made.FIRST + n): ChunkRecord(id=str(made.FIRST + n), text=text) for n, (text, _, _) in enumerate(made.TEXTS)
    }
    plain = foreign_sets.questions(files / "dataset.json", base=base)
    assert [set(one.relevant) for one in plain.questions] == [{str(made.FIRST + n)} for n in range(10)]
    assert plain.questions[9].cluster == made.LONG
    assert len(made.LONG) > 300
    hard = foreign_sets.questions(files / "hard.json")
    assert [one.kind for one in hard.questions[:3]] == ["cross_document", "conditional", "direct"]
    assert set(hard.questions[0].relevant) == {"chunk-92459", "chunk-92461"}
    assert set(hard.questions[0].relevant_urls) == {"doc-0", "doc-1"}
    assert hard.left_out == {}
    assert "not read, as no field is called so: clean_question" in hard.notes


@pytest.mark.parametrize("name", ["annotated.csv", "annotated.json"])
def test_annotations_as_they_are_exported(files: Path, name: str) -> None:
    """In CSV lists are written as Python shows them, and None is an empty cell."""
    found = foreign_sets.questions(files / name)
    ids = [item["id"] for item in made.annotations()]
    assert [one.id for one in found.questions] == [ids[0], *ids[2:]]
    assert found.questions[1].reference is None
    assert set(found.questions[1].relevant) == {"92461", "92462"}


def test_one_question_about_two_chunks_has_one_id_there_and_is_one_question(files: Path) -> None:
    items = made.dataset()
    twice = {**items[0], "chunk_id": 1, "chunk_text": "Другой фрагмент."}
    (files / "twice.json").write_text(json.dumps([*items, twice]), encoding="utf-8")
    found = foreign_sets.questions(files / "twice.json")
    assert len(found.questions) == 10
    assert found.left_out == {"item that repeats a question under its id": 1}
    content = made.result()
    content["per_query_details"].append(content["per_query_details"][0])
    assert result(files, content).left_out == {"question that stands there twice": 1}
    (files / "other.json").write_text(json.dumps([*items, {**twice, "question": "иной"}]), encoding="utf-8")
    found = foreign_sets.questions(files / "other.json")
    assert [one.text for one in found.questions] == [item["question"] for item in items], "the first of an id stays"
    [told] = found.left_out
    assert f"id = {items[0]['id']!r} stands in item 1 already; ids are unique (first: other.json, item 11)" in told


def test_decisions_and_dialogues(files: Path) -> None:
    shown = [one.show for one in foreign_sets.decisions(files / "judge_pipeline.json").decisions]
    assert shown == [number % 3 != 1 for number in range(10)]
    talks = foreign_sets.dialogues(files / "multi_turn.json").dialogues
    assert [len(one.turns) for one in talks] == [2, 2, 2]
    assert talks[0].turns[0].answer == "С 9 до 21."


def test_a_corrected_entry_of_the_history_is_not_marked_and_the_others_are(files: Path) -> None:
    first, corrected = past_runs.history(files / "benchmark_runs.json", "old").runs
    marked = {value.metric: value.reason for value in first.values if value.notebook == "tier1_retrieval"}
    assert marked == {
        "hit_rate@1": "", "hit_rate@5": "", "hit_rate@10": "", "mrr": "unknown_unit", "recall@1": "", "recall@5": "",
        "precision@1": "", "ndcg@5": "other_definition", "ndcg@10": "outside_scale",
        "retrieval_consistency": "other_definition",
    }  # fmt: skip
    assert "tier_code" not in {value.metric for value in first.values}
    assert numbers(corrected) == made.BASELINE
    assert {(value.unit, value.reason, value.n) for value in corrected.values} == {("url", "", 10)}
    entries = made.history()
    entries[1]["tier_1_metrics"]["hit_rate@5"] = 0.7
    (files / "mixed.json").write_text(json.dumps(entries), encoding="utf-8")
    mixed = past_runs.history(files / "mixed.json", "old").runs[1]
    assert {value.reason for value in mixed.values} == {"mixed_units"}, "a hit rate below the recall"


def result(folder: Path, content: dict[str, Any], **more: Any) -> past_runs.Loaded:
    path = folder / "result.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return past_results.result(path, "v2", **more)


def test_a_result_by_page_is_measured_anew(files: Path) -> None:
    found = past_results.result(files / "benchmark_v2.json", "v2")
    [run] = found.runs
    assert numbers(run) == pytest.approx(HAND)
    assert {value.unit for value in run.values} == {"url"}
    assert found.notes[0] == "computed anew from what was retrieved: the same numbers as in the file"
    assert "6 numbers of version 1: --baseline NAME makes them a run, too" in found.notes[1]
    scores = run.of("tier1_retrieval")
    assert scores is not None
    assert scores.clusters is not None
    assert len(set(scores.clusters)) == 5, "two questions a page"
    assert scores.values["v2", "mrr"].tolist() == [1 / rank if rank else 0.0 for rank in made.RANKS]


def test_pages_go_by_their_number_so_that_files_meet_data_sets(files: Path) -> None:
    assert past_runs.page_key(made.PAGES[0]) == "page:101"
    assert past_runs.page_key(made.LONG) == "page:105"
    assert past_runs.page_key(" https://x.example/a ") == "https://x.example/a"
    question_set = foreign_sets.questions(files / "dataset.json")
    data.write("helpdesk", files / "data", chunks=question_set.chunks, questions=question_set.questions,
                   title="h", licence="none", language="ru", source="t")  # fmt: skip
    dataset = data.load("helpdesk", files / "data")
    [run] = past_results.result(files / "benchmark_v2.json", "v2", dataset=dataset).runs
    assert numbers(run) == pytest.approx(HAND)
    changed = made.result()
    changed["per_query_details"][0]["ground_truth_urls"] = ["page:999"]
    left = result(files, changed, dataset=dataset).left_out
    assert left == {"question whose relevant pages differ from the data set's": 1}


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"unit": "chunk"}, "keeps the pages that were found, not their chunks"),
    ({"comparison_v1_v2": []}, {"baseline": "v1"}, "has no comparison_v1_v2"),
    ({}, {"baseline": "v2"}, "this is the name of the run itself"),
]


@pytest.mark.parametrize(("change", "options", "expected"), REFUSED, ids=range(len(REFUSED)))
def test_what_a_result_by_page_cannot_give(
    files: Path, change: dict[str, Any], options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(BenchError, match=expected):
        result(files, made.result() | change, **options)


def test_a_result_whose_level_is_not_that_of_its_lists_is_refused(files: Path) -> None:
    content = made.result()
    content["benchmark_metadata"]["evaluation_level"] = "chunk_id"
    with pytest.raises(BenchError, match="'chunk_id' with addresses of pages in its details: url is expected"):
        result(files, content)


def test_the_numbers_of_version_1_become_a_run_that_is_compared(files: Path) -> None:
    second, first = past_results.result(files / "benchmark_v2.json", "v2", baseline="v1").runs
    assert (first.id, numbers(first)) == ("v1", made.BASELINE)
    assert {(value.n, value.method, value.unit) for value in first.values} == {(10, "wilson", "url")}
    compared = {one.metric: one for one in compare_runs(first, second).summarized}
    assert {name: one.why for name, one in compared.items()} == dict.fromkeys(compared, "")
    differences = {name: one.comparison.difference for name, one in compared.items() if one.comparison}
    assert differences == pytest.approx(
        {"hit_rate@1": 0.3, "hit_rate@5": 0.1, "mrr@10": HAND["mrr"] - 0.55, "recall@5": 0.1, "precision@5": 0.02,
         "ndcg@10": HAND["ndcg@10"] - 0.6123}
    )  # fmt: skip


def test_numbers_of_version_1_that_mix_units_or_may_are_marked_and_those_of_unknown_questions_have_no_interval(
    files: Path,
) -> None:
    content = made.result()
    content["comparison_v1_v2"][0]["v1_naive_rag"] = 0.3465  # the first published one, of 202 questions
    loaded = result(files, content, baseline="v1")
    assert {(value.n, value.low) for value in loaded.runs[1].values} == {(None, None)}
    assert "of how many questions is not known" in loaded.notes[-1]
    content["comparison_v1_v2"][1]["v1_naive_rag"] = 0.6634
    assert {value.reason for value in result(files, content, baseline="v1").runs[1].values} == {"mixed_units"}


def test_any_question_is_asked_of_stored_vectors_where_an_encoder_is_named(team: Path) -> None:
    [response] = ask("Когда стипендия приходит на карту?", systems="v1", dataset="db:helpdesk", k=1).responses
    assert response.reason == ""
    assert response.hits[0].chunk.text == made.TEXTS[4][0]
    found = tiers.tier1_retrieval("db:helpdesk", "v1", unit="url", metrics="mrr", resamples=1000)
    assert found.facts["n_questions"] == 40
    assert found.facts["left_out"] == {}
    assert [one["name"] for one in found.facts["stand_ins"]] == ["v1"], "hashing embeds the questions"


def test_an_encoder_of_another_width_is_refused_before_a_run_begins(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_EMBEDDERS__E5__BUCKETS", "312")
    settings.load.cache_clear()
    expected = r"embedders.stored.queries = 'e5': its vectors have 312 dimensions, those of chunk.embedding in the "
    with pytest.raises(EmbeddingError, match=expected + "database helpdesk have 1024"):
        tiers.tier1_retrieval("db:helpdesk", "v1", unit="url")
    [said] = readiness.faults(readiness.Parts(embedders=("stored",)), settings.load())
    assert "312 dimensions" in said


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("EMBEDDERS__STORED__QUERIES", "nobody", "embedders.stored.queries = 'nobody': there is no .embedders.nobody."),
        ("EMBEDDERS__STORED__QUERIES", "stored", "takes its vectors from tables, too"),
        ("EMBEDDERS__E5__QUERIES", "hashing", "is of embedders of kind 'database'"),
    ],
)
def test_what_queries_may_name(
    team: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: str
) -> None:
    monkeypatch.setenv(f"RAGBENCH_{name}", value)
    settings.load.cache_clear()
    with pytest.raises(settings.ConfigurationError, match=expected):
        settings.load()


def test_of_their_log_is_read_when_it_was_asked_and_where_a_dialogue_ended_without_being_told(team: Path) -> None:
    dataset = dataset_of("db:helpdesk", settings.load())
    assert [past.asked_at for past in dataset.history[:2]] == ["2026-03-01T09:00:00+00:00", "2026-03-01T09:01:00+00:00"]
    assert [past.id for past in dataset.history if past.stop_point] == ["2", "4", "12", "14", "22", "24", "32", "34"]
    sessions = [[turn.id for turn in talk.turns] for talk in of_history(dataset.history)]
    assert sessions[:5] == [["1", "4"], ["7", "10"], ["11", "14"], ["17", "20"], ["21", "24"]]
    assert len(sessions) == 4 * 5


def test_a_session_of_one_question_is_outside_the_measures_of_dialogues_not_unmeasured_in_them(team: Path) -> None:
    made = tiers.tier_ux("db:helpdesk", embedders="e5", sessions="history", resamples=200)
    assert [made.facts[name] for name in ("n_sessions", "n_one_question", "n_stopped")] == [20, 4, 8]
    kept = next(each.estimate for each in made.estimates if each.metric == "context_preservation")
    assert (kept.n, kept.n_unmeasured) == (16, 0)
    said = str(views.about.method(Page(made)).html())
    assert "The log says of 8 questions that a dialogue ended with them" in said


def test_pages_that_left_the_base_are_counted_and_so_is_what_the_log_answered(team: Path) -> None:
    with psycopg.connect(os.environ["HELPDESK_URL"], autocommit=True) as connection:
        connection.execute("SET search_path TO helpdesk")
        connection.execute("UPDATE question_answer SET confluence_url = 'https://confluence.example/old' WHERE id <= 3")
        connection.execute("UPDATE question_answer SET answer = '' WHERE id IN (1, 11)")
        connection.execute("UPDATE question_answer SET confluence_url = NULL WHERE id = 4")
    made = tiers.real_users("db:helpdesk", systems="v1", resamples=200)
    assert [made.facts[name] for name in ("n_history", "n_without_page", "n_page_gone")] == [40, 1, 3]
    [share] = [each.estimate for each in made.estimates_by("asked") if each.where["asked"] == "answered"]
    assert (share.value, share.n) == (0.95, 40)
    terms = made.extra["terms"].set_index("term")
    assert terms.loc["библиотека", "count"] == 4, "by its root: also of the reader's card, which nobody asks of here"
    assert terms.loc["библиотека", "answered"] == 2
    assert "когда" not in terms.index
    page = str(views.retrieval.repeats(Page(made, language="ru")).html())
    assert "Слова, которые есть в наибольшем числе вопросов" in page
    assert "95,0" in str(views.retrieval.usage(Page(made, language="ru")).html())


def test_groundedness_and_faithfulness_differ_in_the_five_aspects_of_the_page() -> None:
    """The scale, the grain, shortcuts, questions to the judge, and answers that claim nothing."""
    sample = Sample("s", "Где столица?", "Москва. В ней 12 миллионов.", None, (Chunk("c", "Москва — столица России."),))
    rated = ScriptedJudge(response_groundedness={"reason": "so", "rating": 1})
    assert score(response_groundedness(sample, judge=rated)).value == 0.5, "the rating 1 of 0, 1, 2"
    assert len(rated.calls) == 1
    inside = replace(sample, response="Москва — столица")
    assert score(response_groundedness(inside, judge=ScriptedJudge())).value == 1.0, "nobody is asked"
    asked = ScriptedJudge(response_groundedness={"reason": "so", "rating": 2})
    assert score(response_groundedness(inside, judge=asked, shortcuts=False)).value == 1.0
    assert len(asked.calls) == 1
    said = [(1, "supported", [1]), (2, "neutral", [])]
    verdicts = [{"statement": n, "reason": "so", "verdict": word, "passages": on} for n, word, on in said]
    judge = ScriptedJudge(claims={"claims": ["Москва — столица.", "В ней 12 миллионов."]},
                          entailment={"verdicts": verdicts})  # fmt: skip
    assert score(faithfulness(sample, judge=judge)).value == 0.5, "one claim of two"
    assert len(judge.calls) == 2
    silent = ScriptedJudge(claims={"claims": []})
    assert math.isnan(score(faithfulness(sample, judge=silent)).value)


@pytest.mark.slow
def test_of_5186_logged_questions_the_250_with_a_vector_are_measured_and_the_others_counted(
    team: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = team / "ragbench.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('queries = "e5"\n', ""), encoding="utf-8")
    settings.load.cache_clear()
    with made.database("helpdesk", logged=5186, embedded=250):
        found = tiers.tier1_retrieval("db:helpdesk", "v1", unit="url", metrics="mrr", resamples=1000)
        assert found.facts["n_questions"] == 250
        assert found.facts["left_out"] == {"question without a vector (it stays in the history)": 4936}
        [estimate] = [one.estimate for one in found.estimates if one.metric == "mrr@10"]
        assert (estimate.n, estimate.n_unmeasured) == (250, 0)
        users = tiers.real_users("db:helpdesk", "v1", resamples=1000)
        assert [users.facts[name] for name in ("n_history", "n_without_vector", "n_questions")] == [5186, 4936, 250]
        [response] = ask("Что нового?", systems="v1", dataset="db:helpdesk").responses
        assert 'to ask any question: embedders.stored.queries = "NAME"' in response.reason
