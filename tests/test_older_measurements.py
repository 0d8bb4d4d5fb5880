"""Measurements stored before findings were two long frames: what their tables held is found again at its place."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pandas as pd
import pytest

from ragbench.measurement import COMPARISONS, ESTIMATES, FINDINGS, Measurement, without_nan
from ragbench.show import Page
from ragbench.types import Estimate, Verdict
from tests.measurements import measurement

TABLES = [json.loads(line) for line in Path(__file__).with_name("older_tables.jsonl").read_text("utf-8").splitlines()]
"""Rows of tables as a run of that time has stored them."""
PLACES = {
    "slices": {"slice": "kind:misspelt"},
    "curves": {"k": 2},
    "quantiles": {"step": "embed", "probability": 0.5},
    "lengths": {"of": "answer", "probability": 0.1},
    "stages": {"stage": "embed", "probability": 0.5},
    "blame_shares": {"part": "not_retrieved"},
    "correlations": {"one": "people", "other": "faithfulness"},
    "pooled": {"over": "pairs"},
    "side_by_side": {"judge": "kind"},
    "agreement": {"against": "person"},
    "classes": {"class": ""},
    "reliability": {"bin": 0, "score": 0.0},
    "probes": {"probe": "repeats"},
    **{name: {"trial": name} for name in ("coverage", "repeatability", "calibration", "pairwise", "ladder")},
}
LEFT = {
    "misses": ["system", "ef_search", "sample", "recall"],
    "coverage": ["judge", "outcome", "count", "asked"],
    "probes": ["judge", "probe", "limit_low", "limit_high", "p", "p_adjusted", "verdict", "why"],
    "thresholds": ["system", "threshold", "n_chosen", "n_scored", "cost_chosen", "show_all", "show_none"],
}
"""Tables that hold more than findings, and what stays of them."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as it was written then: findings in one file, and in tables beside it."""
    folder = tmp_path_factory.mktemp("older")
    made = measurement(("ngrams", "ngrams-svd"), ("mrr@10",))
    made.save(folder)
    for name in (ESTIMATES, COMPARISONS):
        (folder / name).unlink()
    about = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    about["estimates"] = [{"system": e.system, "metric": e.metric, **asdict(e.estimate)} for e in made.estimates]
    about["comparisons"] = [{"metric": c.metric, **asdict(c.comparison)} for c in made.comparisons]
    (folder / FINDINGS).write_text(json.dumps(without_nan(about)), encoding="utf-8")
    for one in TABLES:
        pd.DataFrame(one["rows"], columns=one["columns"]).to_parquet(folder / f"extra-{one['table']}.parquet")
    return folder


@pytest.fixture
def older(stored: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(stored, tmp_path / "older")


@pytest.fixture(scope="module")
def read(stored: Path) -> Measurement:
    """What is read of it today."""
    return Measurement.load(stored)


def test_findings_of_the_whole_and_tables_without_findings_stay(older: Path) -> None:
    made, now = measurement(("ngrams", "ngrams-svd"), ("mrr@10",)), Measurement.load(older)
    assert (now.estimates, now.comparisons) == (made.estimates, made.comparisons)
    assert {name: list(table) for name, table in now.extra.items()} == LEFT


@pytest.mark.parametrize("table", PLACES)
def test_every_estimate_of_a_table_is_at_its_place(table: str, read: Measurement) -> None:
    [stored] = [one for one in TABLES if one["table"] == table]
    rows = [dict(zip(stored["columns"], row, strict=True)) for row in stored["rows"]]
    found = read.estimates_by(*PLACES[table])
    found = [one for one in found if one.where.get("trial", table) == table]
    assert len(found) == len(rows)
    assert PLACES[table] in [one.where for one in found]
    for one, row in zip(found, rows, strict=True):
        prefix = "estimate_" if table == "slices" else ""
        value = row["share"] if table == "blame_shares" else row[f"{prefix}value"]
        assert one.estimate.value == value or (value is None and math.isnan(one.estimate.value))
        for name in ("low", "high", "level", "method", "note", "n", "n_unmeasured", "clusters", "floor", "ceiling"):
            if f"{prefix}{name}" in row:
                assert getattr(one.estimate, name) == row[f"{prefix}{name}"], name


def test_readings_of_an_index_and_habits_are_at_their_places(older: Path) -> None:
    now = Measurement.load(older)
    [exact] = now.estimates_by("index")
    assert (exact.system, exact.metric, exact.where) == ("ngrams", "median_latency", {"index": "exact"})
    assert (exact.estimate.value, exact.estimate.low, exact.estimate.high, exact.estimate.n) == (0.81, 0.74, 0.93, 129)
    median, recall = now.estimates_by("index", "m", "ef_construction", "ef_search")
    assert median.where == recall.where == {"index": "hnsw", "m": 16, "ef_construction": 64, "ef_search": 10}
    assert (median.metric, recall.metric) == ("median_latency", "recall_against_exact")
    assert median.estimate == Estimate(0.42, 0.4, None, 0.95, "order_statistics", 129, note="open_above")
    assert recall.estimate == Estimate(0.97, 0.95, 0.99, 0.95, "bca", 129, clusters=88, note="few")
    [length], [score] = now.estimates_by("asked", "probability"), now.estimates_by("asked")
    assert (length.where, length.estimate.value) == ({"asked": "words", "probability": 0.5}, 7.0)
    assert (score.where, score.estimate.value, score.estimate.clusters) == ({"asked": "score"}, 3.9, 40)
    assert "HNSW, ef_search = 10" in str(Page(now).view("speed").html())


def test_a_table_beside_the_two_frames_is_read_as_well(tmp_path: Path) -> None:
    """Refusals were a table for longer: `n` counted those that failed."""
    made = measurement(("ngrams", "ngrams-svd"), ("mrr@10",))
    made.save(tmp_path)
    row = {"system": "ngrams", "part": "answerable", "n": 5, "refused": 1, "failed": 1, "share": 0.25, "low": 0.1,
           "high": 0.5, "level": 0.95, "method": "wilson", "note": "few", "clusters": None}  # fmt: skip
    pd.DataFrame([row]).to_parquet(tmp_path / "extra-refusals.parquet")
    now = Measurement.load(tmp_path)
    [found] = now.estimates_by("group")
    assert (found.system, found.metric, found.where) == ("ngrams", "refusals", {"group": "answerable"})
    assert found.estimate == Estimate(0.25, 0.1, 0.5, 0.95, "wilson", 4, 1, note="few")
    assert (now.estimates, list(now.extra)) == (made.estimates, [])


def test_gains_of_perfect_parts_were_columns_of_their_table(tmp_path: Path) -> None:
    measurement(("ngrams", "ngrams-svd"), ("mrr@10",)).save(tmp_path)
    row = {"system": "ngrams", "part": "ranking", "measure": "good", "actual": 0.25, "value": 0.75, "value_low": 0.5,
           "value_high": 0.9, "difference": 0.5, "low": 0.2, "high": 0.7, "level": 0.95, "method": "bca",
           "note": "few", "n": 8, "n_dropped": 1, "changed": 3, "reason": ""}  # fmt: skip
    unknown = dict.fromkeys(("actual", "value", "value_low", "value_high", "difference", "low", "high"))
    alone = row | unknown | {"part": "retrieval", "n": 0, "n_dropped": 0, "changed": 0, "reason": "answers by itself"}
    pd.DataFrame([row, alone]).to_parquet(tmp_path / "extra-blame_counterfactuals.parquet")
    now = Measurement.load(tmp_path)
    [mean], [gain] = now.estimates_by("perfect"), now.comparisons_by("perfect")
    assert (mean.system, mean.metric, gain.metric, mean.where) == ("ngrams", "good", "good", {"perfect": "ranking"})
    assert (mean.estimate.value, mean.estimate.low, mean.estimate.high, mean.estimate.n) == (0.75, 0.5, 0.9, 8)
    one = gain.comparison
    assert (one.challenger, one.difference, one.low, one.high, one.n, one.n_dropped, one.note, one.method) == (
        "ngrams", 0.5, 0.2, 0.7, 8, 1, "few", "bca",
    )  # fmt: skip
    kept = now.extra["blame_counterfactuals"]
    assert list(kept) == ["system", "part", "measure", "actual", "changed", "reason"]
    assert kept["reason"].tolist() == ["", "answers by itself"]


def test_rates_of_a_cache_were_columns_of_two_tables(tmp_path: Path) -> None:
    measurement(("ngrams", "ngrams-svd"), ("mrr@10",)).save(tmp_path)
    known = {"system": "hashing", "asked": "history", "rate": 0.5, "low": 0.2, "high": 0.8}
    known |= {"wrong_low": 0.1, "wrong_high": 0.6, "wrong_least": 0.3, "wrong_most": 0.7}
    nobody = dict.fromkeys(("wrong_low", "wrong_high", "wrong_least", "wrong_most"), math.nan)
    curve = [known | {"threshold": 0.5, "wrong": 0.4}, known | nobody | {"threshold": 1.0, "wrong": math.nan}]
    counts = {"n": 10, "hits": 5, "known": 9, "right": 1, "doubtful": 1, "wrong": 2, "unknown": 1}
    of_cache = known | counts | {"wrong_rate": 0.4, "method": "bca", "wrong_method": "wilson", "clusters": 4}
    pd.DataFrame(curve).to_parquet(tmp_path / "extra-curve.parquet")
    pd.DataFrame([of_cache]).to_parquet(tmp_path / "extra-caches.parquet")
    now = Measurement.load(tmp_path)
    wrong = {"value": 0.4, "low": 0.1, "high": 0.6, "floor": 0.3, "ceiling": 0.7}
    at = {"asked": "history", "threshold": 0.5}
    first, second, third = now.estimates_by("asked", "threshold")
    assert [(one.metric, one.where) for one in (first, second)] == [("cache_hit_rate", at), ("wrong_hit_rate", at)]
    assert third.where["threshold"] == 1.0, "where no answer is known there is one rate"
    rate, share = (one.estimate for one in now.estimates_by("asked"))
    assert (rate.value, rate.low, rate.high, rate.method, rate.n, rate.clusters) == (0.5, 0.2, 0.8, "bca", 10, 4)
    assert (share.method, share.n, share.n_unmeasured, share.clusters) == ("wilson", 8, 2, 4)
    for estimate in (second.estimate, share):
        assert {name: getattr(estimate, name) for name in wrong} == wrong
    assert now.extra["caches"].to_dict("records") == [{"system": "hashing", "asked": "history", **counts}]
    assert "curve" not in now.extra


def test_means_that_labels_corrected_are_at_their_places(tmp_path: Path) -> None:
    """Rows as runs stored them while each held a mean as the judge, people and both see it."""
    made = measurement(("old", "new"), ("faithfulness",))
    mean = {
        "system": "new", "metric": "faithfulness", "judge": 0.8, "judge_low": 0.75, "judge_high": 0.85, "people": 0.6,
        "people_low": 0.5, "people_high": 0.7, "value": 0.65, "low": 0.6, "high": 0.72, "level": 0.95,
        "method": "prediction_powered", "note": "", "labels": 60, "items": 400, "correlation": 0.9,
        "n_effective": 131.5, "annotators": 2, "alpha": 0.7,
    }  # fmt: skip
    few = mean | {"system": "old", "people_low": None, "people_high": None, "low": None, "high": None,
                  "method": "none", "note": "empty", "people": math.nan, "value": math.nan, "labels": 0}  # fmt: skip
    against = {
        "metric": "faithfulness", "baseline": "old", "challenger": "new", "difference": 0.1, "low": 0.02, "high": 0.18,
        "level": 0.95, "p": 0.01, "p_adjusted": 0.02, "verdict": "better", "labels": 60,
        "method": "prediction_powered", "note": "",
    }  # fmt: skip
    extra = {"corrected": pd.DataFrame([mean, few]), "corrected_differences": pd.DataFrame([against])}
    replace(made, extra=extra).save(tmp_path)
    now = Measurement.load(tmp_path)
    judge, people, both, *others = [one.estimate for one in now.estimates_by("mean")]
    assert [one.where["mean"] for one in now.estimates_by("mean")] == ["judge", "people", "corrected"] * 2
    assert (judge.value, judge.low, judge.high, judge.n) == (0.8, 0.75, 0.85, 400)
    assert people == Estimate(0.6, 0.5, 0.7, 0.95, "people", 60)
    assert both == Estimate(0.65, 0.6, 0.72, 0.95, "prediction_powered", 60, n_effective=131.5)
    assert [(one.low, one.method) for one in others] == [(0.75, "none"), (None, "none"), (None, "none")]
    assert (math.isnan(others[1].value), others[2].note) == (True, "empty")
    [found] = now.comparisons_by("mean")
    for name in ("baseline", "challenger", "difference", "low", "high", "p", "p_adjusted", "verdict", "method"):
        assert getattr(found.comparison, name) == against[name], name
    assert (found.comparison.n, found.where) == (60, {"mean": "corrected"})
    assert list(now.extra) == ["corrected"]
    assert list(now.extra["corrected"]) == ["system", "metric", "items", "correlation", "annotators", "alpha"]
    html = Page(now).view("corrected").html()
    assert all(text in html for text in ("[0.600, 0.720]", "60 of 400", "+0.100", "better", "no label is of an answer"))
    now.save(tmp_path / "now")
    assert Page(Measurement.load(tmp_path / "now")).view("corrected").html() == html


def test_comparisons_of_slices_and_of_blame_are_whole(older: Path) -> None:
    now = Measurement.load(older)
    [of_slice], [of_part] = now.comparisons_by("slice"), now.comparisons_by("part")
    assert (of_slice.metric, of_part.metric) == ("mrr@10", "blame")
    for one, p_adjusted, clusters, family in (
        (of_slice.comparison, 0.01996007984031936, 32, "3, holm"),
        (of_part.comparison, 0.00998003992015968, 88, "5, holm"),
    ):
        assert (one.baseline, one.challenger, one.verdict) == ("ngrams", "ngrams-svd", Verdict.BETTER)
        assert (one.p_adjusted, one.clusters, one.family) == (p_adjusted, clusters, family)
    assert (of_slice.comparison.better, of_part.comparison.better) == ("higher", "lower")
    assert (of_slice.comparison.questions_needed, of_slice.comparison.groups_needed) == (None, None)


def test_how_many_questions_would_show_what_was_seen_is_dropped_and_what_was_planned_stays(tmp_path: Path) -> None:
    """Until a smallest difference of interest was kept, the number was of the difference that was seen."""
    made = measurement()
    seen, planned = (
        [replace(one, comparison=replace(one.comparison, margin=margin, questions_needed=940)) for one in pairs]
        for margin, pairs in ((None, made.comparisons[:2]), (0.05, made.comparisons[2:]))
    )
    replace(made, comparisons=(*seen, *planned)).save(tmp_path)
    now = Measurement.load(tmp_path).comparisons
    assert [one.comparison.questions_needed for one in now[:2]] == [None, None]
    assert now[2:] == tuple(planned)


def test_findings_on_judges_are_whole(older: Path) -> None:
    """What a judge is worth beside the baseline, beside judges that do not look, and with a threshold."""
    now = Measurement.load(older)
    [against], [constant], [gain] = (now.comparisons_by(key) for key in ("trial", "constant", "threshold"))
    rows = {one["table"]: [dict(zip(one["columns"], row, strict=True)) for row in one["rows"]] for one in TABLES}
    own = {one.metric: one.estimate for one in now.estimates_by("trial") if one.where["trial"] == "rivals"}
    by_name = {row["name"]: row for row in rows["rivals"]}
    for name in ("concordance", "baseline"):
        assert (own[name].value, own[name].low, own[name].n) == tuple(
            by_name[name][key] for key in ("value", "low", "n")
        )
    for found, row, key in (
        (against, by_name["difference"], "value"),
        (constant, rows["constants"][0], "value"),
        (gain, rows["thresholds"][0], "difference"),
    ):
        one = found.comparison
        assert (one.difference, one.verdict) == (row[key], row["verdict"])
        assert one.challenger == row.get("judge", row.get("system"))
    assert (against.metric, constant.metric, constant.where) == (
        "concordance",
        "balanced_accuracy",
        {"constant": "show-all"},
    )
    [threshold] = rows["thresholds"]
    costs = {one.where["threshold"]: one.estimate for one in now.estimates_by("threshold")}
    assert (costs["chosen"].value, costs["own"].value) == (threshold["cost"], threshold["own"])
    assert (costs["own"].high, gain.comparison.low) == (threshold["own_high"], threshold["difference_low"])
    assert (gain.comparison.n, gain.comparison.clusters) == (threshold["pairs"], threshold["groups"])


def test_the_cells_of_an_older_overview_are_findings_at_their_pages(tmp_path: Path) -> None:
    """Rows as runs stored them until an overview placed its findings, with the thresholds in each."""
    row = {
        "page": "tier1", "metric": "mrr@10", "system": "new", "value": 0.6, "low": 0.5, "high": 0.7, "level": 0.95,
        "method": "bca", "note": "", "n": 48, "n_unmeasured": 12, "clusters": 7.0, "floor": 0.4, "ceiling": 0.8,
        "verdict": "cannot be shown", "pairs": 40.0, "groups": 7.0, "difference": 0.2, "difference_low": 0.1,
        "difference_high": 0.3, "p": 0.01, "better": "higher", "excellent": math.nan, "good": 0.5, "bands": "good",
    }  # fmt: skip
    alone = row | {"system": "base", "verdict": "", "good": math.nan, "metric": "mine", "bands": ""}
    pages = [{"name": "tier1", "systems": ["base", "new"], "baseline": "base", "primary": "mrr@10"}]
    Measurement("overview", {"pages": pages, "threshold_set": "own"}, extra={"cells": pd.DataFrame([row, alone])}).save(
        tmp_path
    )
    now = Measurement.load(tmp_path)
    assert dict(now.extra) == {}
    assert now.facts["thresholds"] == {
        "set": "own", "bands": {"mrr@10": {"good": 0.5, "excellent": None, "better": "higher"}},
    }  # fmt: skip
    first, second = now.estimates_by("page")
    assert (first.system, first.metric, second.system, second.metric) == ("new", "mrr@10", "base", "mine")
    for name in ("value", "low", "high", "level", "method", "n", "n_unmeasured", "clusters", "floor", "ceiling"):
        assert getattr(first.estimate, name) == row[name], name
    [against] = [one.comparison for one in now.comparisons_by("page")]
    assert (against.challenger, against.verdict, against.n, against.clusters, against.p) == (
        "new", Verdict.CANNOT_BE_SHOWN, 40, 7, 0.01,
    )  # fmt: skip
    assert (against.difference, against.low, against.high) == (0.2, 0.1, 0.3)
    html = Page(now).view("overview").html()
    assert all(text in html for text in ("cannot be shown with 7 groups", 'rb-band-good">good<', "[0.500, 0.700]"))


def test_a_folder_of_that_time_is_drawn_and_kept_in_the_form_of_now(older: Path, tmp_path: Path) -> None:
    now = Measurement.load(older)
    now.save(tmp_path / "now")
    again = Measurement.load(tmp_path / "now")
    for name in ("slices", "curves", "speed", "lengths", "stages", "correlations", "side_by_side", "table"):
        drawn = Page(now).view(name).html()
        assert drawn
        assert Page(again).view(name).html() == drawn
