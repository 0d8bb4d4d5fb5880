"""Runs of another benchmark: one unit a number, what cannot be compared is marked, and lists are measured anew."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ragbench.old import data
from ragbench.old.__main__ import application
from ragbench.old.core import settings
from ragbench.old.data import DatasetError
from ragbench.old.extras.runs import comparison_pages, past_results, past_runs
from ragbench.old.extras.runs.compared import compare_runs
from ragbench.old.extras.runs.past_runs import read_result
from ragbench.old.store import Store
from ragbench.old.store.run_records import RunRecord, RunValue
from ragbench.old.store.runs import Runs
from ragbench.old.tiers import BenchError
from tests.old.data import foreign_files as made


def history(folder: Path, entries: object) -> past_runs.Loaded:
    path = folder / "runs.json"
    path.write_text(made.as_json(entries), encoding="utf-8")
    return past_runs.history(path, "v1")


def result(folder: Path, content: object, **more: object) -> past_runs.Loaded:
    path = folder / "result.json"
    path.write_text(made.as_json(content), encoding="utf-8")
    return past_results.result(path, "v2", **more)  # type: ignore[arg-type]


def number(run: RunRecord, notebook: str, metric: str, name: str = "v1") -> RunValue:
    """A number that a run has."""
    value = run.value(notebook, name, metric)
    assert value is not None, metric
    return value


def test_every_tier_becomes_the_notebook_that_measures_it(tmp_path: Path) -> None:
    found = history(tmp_path, made.HISTORY)
    assert [run.id for run in found.runs] == ["v1-20260216_101423", "v1-20260301_090000"]
    first = found.runs[0]
    assert " ".join(part.notebook for part in first.parts) == (
        "tier0_embeddings tier1_retrieval tier2_generation tier3_end_to_end tier_judge tier_judge_pipeline tier_ux "
        "sources"
    )
    known = {(value.notebook, value.metric): value for value in first.values}
    assert known["tier2_generation", "faithfulness_rating"].value == 4.4
    assert known["tier2_generation", "faithfulness_rating"].n == 140
    assert known["tier_judge_pipeline", "decision_precision"].value == 0.88
    assert known["tier3_end_to_end", "semantic_similarity"].comparable
    assert first.identities["models"]["embedding_model"] == "models/e5"
    assert first.identities["code"] == {"git_branch": "main", "git_commit_hash": "abc1234"}
    assert found.left_out == {"used_chunk_ids, which is no number": 1}


def test_use_of_sources_and_its_topics_are_loaded_with_their_depth_and_whose_questions_they_were(
    tmp_path: Path,
) -> None:
    first, second = history(tmp_path, made.HISTORY).runs
    rate, covered = (number(first, "sources", name) for name in ("utilization_rate", "avg_chunks_per_topic"))
    assert (rate.value, rate.n, rate.better) == (0.4, 500, None)
    assert (covered.value, covered.n) == (7.0, 5)
    part = first.part("sources")
    assert part is not None
    assert part.facts["topic_coverage"] == [
        {"topic_id": 0, "question_count": 3, "unique_chunks": 9, "unique_urls": 4},
        {"topic_id": 1, "question_count": 2, "unique_chunks": 5, "unique_urls": 1},
    ]
    assert first.identities["parameters"] | {
        "sources.k": "10", "sources.k of the topics": "5", "sources.users_log": "true",
    } == first.identities["parameters"]  # fmt: skip
    assert not any(name.startswith("sources") for name in second.identities["parameters"])
    other = copy.deepcopy(made.HISTORY)
    other[0]["utilization_metrics"] |= {"top_k": 5, "questions_source": "synthetic"}
    changed = history(tmp_path, other).runs[0].identities["parameters"]
    assert {name: text for name, text in changed.items() if name.startswith("sources")} == {
        "sources.k": "5", "sources.users_log": "false",
    }  # fmt: skip
    other[0]["topic_coverage_metrics"]["topic_coverage"][1]["unique_urls"] = -1
    with pytest.raises(DatasetError, match=r"topic_coverage_metrics\.topic_coverage\.2.*unique_urls"):
        history(tmp_path, other)
    other[0]["topic_coverage_metrics"]["topic_coverage"] = 7
    with pytest.raises(DatasetError, match="a list of topics is expected"):
        history(tmp_path, other)


def test_an_ndcg_above_one_is_loaded_and_flagged(tmp_path: Path) -> None:
    found = history(tmp_path, made.HISTORY)
    value = number(found.runs[0], "tier1_retrieval", "ndcg@10")
    assert value.value == 1.0923
    assert (value.comparable, value.reason) == (False, "outside_scale")
    assert "outside their scale, so wrong as they stand: v1-20260216_101423 ndcg@10 = 1.0923" in found.notes[1]


REASONS = {
    ("tier1_retrieval", "hit_rate@1"): ("chunk", ""),
    ("tier1_retrieval", "recall@5"): ("url", ""),
    ("tier1_retrieval", "mrr"): (None, "unknown_unit"),
    ("tier2_generation", "rougeL_f"): (None, "other_definition"),
    ("tier2_generation", "bleu"): (None, ""),
    ("tier2_generation", "response_exact_match_rate"): (None, "other_definition"),
    ("tier3_end_to_end", "e2e_score"): (None, "unfilled_prompt"),
    ("tier_judge", "error_rate"): (None, "other_definition"),
    ("tier_ux", "cache_hit_rate"): (None, ""),
    ("tier_ux", "multi_turn_consistency"): (None, "other_definition"),
    ("tier0_embeddings", "avg_nn_distance"): (None, "other_definition"),
    ("tier0_embeddings", "effective_dimensionality"): (None, ""),
}


@pytest.mark.parametrize("place", REASONS, ids=" ".join)
def test_each_number_has_its_unit_and_its_reason(tmp_path: Path, place: tuple[str, str]) -> None:
    value = number(history(tmp_path, made.HISTORY).runs[0], *place)
    assert (value.unit, value.reason) == REASONS[place]


def test_repeats_make_a_consistency_comparable(tmp_path: Path) -> None:
    second = history(tmp_path, made.HISTORY).runs[1]
    assert number(second, "tier2_generation", "response_exact_match_rate").comparable
    within = number(second, "tier1_retrieval", "ndcg@10")
    assert within.reason == "other_definition", "a page counted again for each chunk is wrong below 1 too"


def test_a_share_of_a_summary_has_wilsons_interval(tmp_path: Path) -> None:
    value = number(history(tmp_path, made.HISTORY).runs[0], "tier1_retrieval", "hit_rate@1")
    z, n, m = 1.959963984540054, 150, 0.6
    centre = (m + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(m * (1 - m) / n + z * z / (4 * n * n))
    assert (value.low, value.high) == pytest.approx((centre - half, centre + half), abs=1e-12)


def test_lists_are_measured_anew_by_chunk(tmp_path: Path) -> None:
    found = result(tmp_path, made.RESULT)
    (run,) = found.runs
    known = {value.metric: value.value for value in run.values}
    assert known["hit_rate@1"] == pytest.approx(1 / 3)
    assert known["mrr"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert known["recall@5"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    ndcg = (1 + (1 / math.log2(3)) / (1 + 1 / math.log2(3)) + 0) / 3
    assert known["ndcg@10"] == pytest.approx(ndcg)
    assert found.notes == (
        "recall@5: the file says 0.6667, its own lists give 0.5000",
        f"ndcg@10: the file says 0.9, its own lists give {ndcg:.4f}",
    )
    scores = run.of("tier1_retrieval")
    assert scores is not None
    assert scores.samples == ("q1", "q2", "q3")
    assert scores.values["v2", "mrr"].tolist() == [1.0, 0.5, 0.0]


def test_a_file_of_ids_alone_pairs_with_runs_that_were_loaded_before(tmp_path: Path) -> None:
    changed = copy.deepcopy(made.RESULT)
    for detail in changed["per_query_details"]:
        detail.pop("question", None)
    [of_ids], [whole] = (result(tmp_path, content).runs for content in (changed, made.RESULT))
    assert [run.scores[0].fingerprints[0] for run in (of_ids, whole)] == ["5e70775ae5d9ac08", "b1dad5ad75f8c037"]


def test_a_number_that_is_rounded_is_the_same_and_one_a_digit_off_is_not(tmp_path: Path) -> None:
    """mrr of the lists is 0.5; the file has four digits."""
    for stated, is_named in ((0.50004, False), (0.5001, True)):
        changed = {**made.RESULT, "metrics": {**made.RESULT["metrics"], "mrr": stated}}
        assert any(note.startswith("mrr:") for note in result(tmp_path, changed).notes) is is_named


def test_lists_are_brought_to_pages_with_the_data_set_they_belong_to(project: Path) -> None:
    dataset = data.load("small", project / "data")
    found = result(project, made.RESULT, dataset=dataset, unit="url")
    (run,) = found.runs
    assert run.parts[0].unit == "url"
    assert run.parts[0].data_hash == dataset.content_hash
    scores = run.of("tier1_retrieval")
    assert scores is not None
    assert scores.values["v2", "mrr"].tolist() == [1.0, 0.5, 0.0], "a2 is page /a, b1 is page /b, two of /a are one"
    assert "computed anew by url; the file's own numbers are by chunk" in found.notes
    with pytest.raises(BenchError, match="name the data set with --dataset"):
        result(project, made.RESULT, unit="url")
    changed = copy.deepcopy(made.RESULT)
    changed["per_query_details"][0]["ground_truth_chunk_ids"] = ["a2"]
    changed["per_query_details"][1]["id"] = "q9"
    less = result(project, changed, dataset=dataset)
    assert less.left_out == {
        "question whose relevant chunks differ from the data set's": 1,
        "question that the data set does not have": 1,
    }


def test_without_details_the_files_numbers_stay_summaries(tmp_path: Path) -> None:
    content = {key: value for key, value in made.RESULT.items() if key != "per_query_details"}
    (run,) = result(tmp_path, content).runs
    value = number(run, "tier1_retrieval", "mrr", "v2")
    assert (value.value, value.low, value.high, value.method, value.n) == (0.5, 0.1, 0.9, "as stated", 3)
    assert run.scores == ()
    with pytest.raises(BenchError, match="cannot be brought to unit = 'url'"):
        result(tmp_path, content, unit="url")


BROKEN: list[tuple[Any, dict[str, Any], str]] = [
    (history, {"schema_version": "1.0"}, "runs.json, item 1: schema_version = '1.0': '2.0' is expected"),
    (history, {"schema_version": None}, "runs.json, item 1: schema_version = null"),
    (history, {"timestamp": "yesterday"}, "runs.json, item 1: timestamp = 'yesterday': a moment as"),
    (
        history,
        {"tier_1_metrics": [1]},
        "item 1: tier_1_metrics = [1]: an object from metric to number is expected",
    ),
    (history, {"tier_1_metrics": {"mrr": True}}, "runs.json, item 1: tier_1_metrics.mrr = true: a number is expected"),
    (history, {"consistency_runs": "5"}, "runs.json, item 1: consistency_runs = '5'"),
    (history, {"id": "20260301_090000"}, "runs.json, item 2: id = '20260301_090000' stands there twice"),
    (result, {"benchmark_metadata": None}, "result.json: benchmark_metadata = null"),
    (result, {"metrics": {"mrr": "high"}}, "result.json: metrics.mrr = 'high': a number is expected"),
    (result, {"per_query_details": [{"id": "q1", "ground_truth_chunk_ids": ["a"]}]}, "retrieved_chunk_ids is missing"),
    (
        result,
        {"per_query_details": [{"id": "q1", "ground_truth_chunk_ids": [], "retrieved_chunk_ids": []}]},
        "result.json: per_query_details.1.ground_truth_chunk_ids = []: at least one is expected",
    ),
    (
        result,
        {"per_query_details": [{**one, "id": "q1"} for one in made.RESULT["per_query_details"][:2]]},
        "per_query_details.2.id = 'q1' stands there twice",
    ),
]


@pytest.mark.parametrize(("load", "change", "expected"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_names_item_and_field(tmp_path: Path, load: Any, change: dict[str, Any], expected: str) -> None:
    with pytest.raises(DatasetError) as error:
        load(tmp_path, [{**made.HISTORY[0], **change}, made.HISTORY[1]] if load is history else made.RESULT | change)
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["outside of its scale", "one ranks passages, the other pages", "The runs name different data:"]),
        ("ru", ["вне своей шкалы", "Запуски называют разные данные:"]),
    ],
)
def test_the_comparison_says_what_can_and_what_cannot_be_concluded(
    project: Path, language: str, expected: list[str]
) -> None:
    first = history(project, made.HISTORY).runs[0]
    second = result(project, made.RESULT, dataset=data.load("small", project / "data")).runs[0]
    compared = compare_runs(first, second, systems={"A": "v1", "B": "v2"})
    known = {one.metric: one for one in compared.summarized}
    assert known["hit_rate@1"].comparison is not None
    assert [name for name, one in known.items() if one.comparison is None] == ["mrr", "recall@5", "ndcg@10"]
    text = comparison_pages.write(compared, project / "difference", language).read_text(encoding="utf-8")
    assert "1.092" in text.replace(",", ".")
    for words in expected:
        assert words in text


def test_the_command_previews_then_keeps(project: Path) -> None:
    (project / "runs.json").write_text(made.as_json(made.HISTORY), encoding="utf-8")
    words = ["load", "history", str(project / "runs.json"), "--name", "loaded"]
    preview = CliRunner().invoke(application, [*words, "--dry-run"], catch_exceptions=False)
    assert "2 runs, 33 numbers" in preview.output
    assert "ndcg@10 = 1.0923 (outside_scale)" in preview.output
    assert "nothing was kept (--dry-run)" in preview.output
    with Store.open(settings.load()) as store:
        assert not [name for name in Runs(store.engine).names() if name.startswith("loaded")]
        assert CliRunner().invoke(application, words, catch_exceptions=False).exit_code == 0
        kept = Runs(store.engine).find("loaded-20260216_101423")
        assert number(kept, "tier1_retrieval", "ndcg@10", "loaded").reason == "outside_scale"
        assert json.loads(json.dumps(kept.manifest))["provenance"]["git_commit_hash"] == "abc1234"
        said = CliRunner().invoke(application, ["runs", "show", "loaded-20260216"], catch_exceptions=False).output
        assert re.search(r"topic_id +question_count +unique_chunks +unique_urls\n *0 +3 +9 +4", said)
        publish = pytest.importorskip("ragbench.old.extras.publishing.publish")
        site = publish.publish("loaded-20260216_101423", project / "site")
        assert "notebook,topic_id,question_count,unique_chunks,unique_urls\r\nnumbers,0,3,9,4\r\n" in (
            (site.parent / "data" / "topic_coverage.csv").read_bytes().decode()
        )
        assert "What was found for each topic" in site.read_text(encoding="utf-8")
        for name in ("loaded-20260216_101423", "loaded-20260301_090000"):
            Runs(store.engine).delete(name)


def read_history(path: Path) -> past_runs.Loaded:
    return past_runs.history(path, "v1")


HISTORY = {"id": "r", "schema_version": "2.0", "tier_1_metrics": {"ndcg": 0.5, "total_queries": 10}}


def _history(metric: str, size: str) -> str:
    said = json.dumps([{**HISTORY, "tier_1_metrics": {"ndcg": "M", "total_queries": "S"}}])
    return said.replace('"M"', metric).replace('"S"', size)


def _result(metric: str, size: str) -> str:
    said = json.dumps({"benchmark_metadata": {"evaluation_level": "chunk", "evaluated_queries": "S"},
                       "metrics": {"ndcg": "M"}})  # fmt: skip
    return said.replace('"M"', metric).replace('"S"', size)


@pytest.mark.fault("numbers", tried="counts and values of runs that another benchmark wrote", count=8)
@pytest.mark.parametrize(("made", "read"), [(_history, read_history), (_result, read_result)])
@pytest.mark.parametrize("metric", ["1" + "0" * 400, "1e300", "-1e16", "true"])
def test_what_another_benchmark_wrote_is_bounded(
    tmp_path: Path, made: Callable[[str, str], str], read: Callable[[Path], Any], metric: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(made("0.5", "10"))
    read(path)
    path.write_text(made(metric, "10"))
    with pytest.raises(DatasetError, match="ndcg"):
        read(path)


def test_a_count_beyond_all_bounds_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(_history("0.5", str(2**63)))
    [run] = read_history(path).runs
    assert [value.n for value in run.values] == [None]
    path.write_text(_result("0.5", str(2**63)))
    with pytest.raises(DatasetError, match="evaluated_queries"):
        read_result(path)


def test_a_table_without_rows_holds_no_runs(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,schema_version\n")
    with pytest.raises(DatasetError, match=r"x\.csv: holds no runs; at least one is expected"):
        read_history(tmp_path / "x.csv")
