"""Measurements stored before findings were two long frames: what their tables held is found again at its place."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from ragbench.measurement import COMPARISONS, ESTIMATES, FINDINGS, Measurement, without_nan
from ragbench.show import Page
from ragbench.types import Verdict
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
}


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A folder as it was written then: findings in one file, and in tables beside it."""
    made = measurement(("ngrams", "ngrams-svd"), ("mrr@10",))
    made.save(tmp_path)
    for name in (ESTIMATES, COMPARISONS):
        (tmp_path / name).unlink()
    about = json.loads((tmp_path / FINDINGS).read_text(encoding="utf-8"))
    about["estimates"] = [{"system": e.system, "metric": e.metric, **asdict(e.estimate)} for e in made.estimates]
    about["comparisons"] = [{"metric": c.metric, **asdict(c.comparison)} for c in made.comparisons]
    (tmp_path / FINDINGS).write_text(json.dumps(without_nan(about)), encoding="utf-8")
    for one in TABLES:
        pd.DataFrame(one["rows"], columns=one["columns"]).to_parquet(tmp_path / f"extra-{one['table']}.parquet")
    return tmp_path


def test_findings_of_the_whole_and_tables_without_findings_stay(older: Path) -> None:
    made, now = measurement(("ngrams", "ngrams-svd"), ("mrr@10",)), Measurement.load(older)
    assert (now.estimates, now.comparisons) == (made.estimates, made.comparisons)
    assert list(now.extra) == ["misses"]


@pytest.mark.parametrize("table", PLACES)
def test_every_estimate_of_a_table_is_at_its_place(table: str, older: Path) -> None:
    [stored] = [one for one in TABLES if one["table"] == table]
    rows = [dict(zip(stored["columns"], row, strict=True)) for row in stored["rows"]]
    found = Measurement.load(older).estimates_by(*PLACES[table])
    assert len(found) == len(rows)
    assert PLACES[table] in [one.where for one in found]
    for one, row in zip(found, rows, strict=True):
        prefix = "estimate_" if table == "slices" else ""
        value = row["share"] if table == "blame_shares" else row[f"{prefix}value"]
        assert one.estimate.value == value or (value is None and math.isnan(one.estimate.value))
        for name in ("low", "high", "level", "method", "note", "n", "n_unmeasured", "clusters", "floor", "ceiling"):
            if f"{prefix}{name}" in row:
                assert getattr(one.estimate, name) == row[f"{prefix}{name}"], name


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
    assert (of_slice.comparison.questions_needed, of_slice.comparison.groups_needed) == (42, None)


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
