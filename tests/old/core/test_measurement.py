"""A measurement that was written is read back equal, NaN and None included."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    TABLES,
    DamagedError,
    Measurement,
    NamedComparison,
    NamedEstimate,
    without_nan,
)
from ragbench.old.core.types import Comparison, Estimate, Verdict

ESTIMATE = Estimate(0.5, 0.4, 0.6, 0.95, "bca", 100, 3, 20, 61.5, 1.6, 7, {"bca": (0.4, 0.6)}, 0.48, 0.52, "few")
COMPARISON = Comparison(
    "a",
    "b",
    0.1,
    0.02,
    0.18,
    0.95,
    "bca",
    0.01,
    "sign flips",
    0.3,
    Verdict.BETTER,
    97,
    3,
    "lower",
    0.04,
    20,
    0.08,
    questions_needed=210,
    margin=0.05,
)


def made() -> Measurement:
    return Measurement(
        notebook="tier1_retrieval",
        facts={"dataset": "x:ru", "seed": 0, "systems": [{"name": "a"}], "loss": math.nan},
        scores=pd.DataFrame(
            [("a", "mrr", "q1", 0.5, "ok", "", None), ("a", "mrr", "q2", math.nan, "judge_error", "503", "j")],
            columns=list(SCORE_COLUMNS),
        ),
        questions=pd.DataFrame(
            [("q1", "Где?", None, None, "ru", None, True, ["c1", "c2"])], columns=list(QUESTION_COLUMNS)
        ),
        retrieved=pd.DataFrame([("a", "q1", 1, "c1", None, 0.7, 1.0, "<b>text</b>")], columns=list(RETRIEVED_COLUMNS)),
        estimates=(
            NamedEstimate("a", "mrr", ESTIMATE),
            NamedEstimate("a", "max", Estimate(math.nan, None, None, 0.95, "none", 0)),
        ),
        comparisons=(NamedComparison("mrr", COMPARISON),),
        placed=(NamedEstimate("a", "mrr", ESTIMATE, {"slice": "kind:a b", "k": 5}),),
        extra={"curve": pd.DataFrame({"k": [1, 2], "recall": [0.1, math.nan]})},
    )


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    before = made()
    before.save(tmp_path / "part")
    after = Measurement.load(tmp_path / "part")
    assert after.notebook == before.notebook
    assert after.facts == {**before.facts, "loss": None}
    assert after.placed == before.placed
    assert after.estimates_by("k", "slice") == list(before.placed)
    assert after.estimates_by("k") == []
    assert after.comparisons == before.comparisons
    assert after.estimates[0] == before.estimates[0]
    assert math.isnan(after.estimates[1].estimate.value)
    for name in ("scores", "retrieved"):
        pd.testing.assert_frame_equal(getattr(after, name), getattr(before, name), check_dtype=False)
    assert list(after.questions["relevant"][0]) == ["c1", "c2"]
    pd.testing.assert_frame_equal(after.extra["curve"], before.extra["curve"])


@pytest.mark.fault("determinism", tried="two writings to the byte", count=1)
def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        made().save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    Measurement.load(tmp_path / "one").save(tmp_path / "three")
    assert (tmp_path / "three" / "findings.json").read_bytes() == (tmp_path / "one" / "findings.json").read_bytes()


@pytest.mark.fault("non-numbers", tried="files with a NaN inside", count=1)
def test_the_findings_are_strict_json(tmp_path: Path) -> None:
    made().save(tmp_path)

    import pyarrow.parquet as pq

    def refuse(name: str) -> None:
        pytest.fail(f"{name} in findings.json")

    found = json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert found["facts"]["loss"] is None
    estimates, comparisons = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("estimates", "comparisons"))
    assert estimates["value"].to_pylist() == [0.5, None, 0.5]
    assert estimates["where"].to_pylist() == ["{}", "{}", '{"slice": "kind:a b", "k": 5}']
    assert comparisons["verdict"].to_pylist() == ["better"]


def test_without_nan_leaves_everything_else() -> None:
    assert without_nan({"a": [1, math.nan, (math.inf, "x")], "b": None, "c": True}) == {
        "a": [1, None, [None, "x"]],
        "b": None,
        "c": True,
    }


@pytest.mark.parametrize(("name", "column"), [(name, own[0]) for name, own in TABLES.items()] + [("scores", "reason")])
def test_a_table_without_a_column_that_readers_count_on_is_damaged(tmp_path: Path, name: str, column: str) -> None:
    """Of a run that somebody sent: `compare` and `publish` end in a sentence that names the file and the column."""
    Measurement("tier1_retrieval", {}).save(tmp_path / "kept")
    path = tmp_path / "kept" / f"{name}.parquet"
    pd.read_parquet(path).rename(columns={column: "other"}).to_parquet(path)
    with pytest.raises(DamagedError, match=rf"is damaged.*{name}\.parquet has no column {column}$"):
        Measurement.load(tmp_path / "kept")
