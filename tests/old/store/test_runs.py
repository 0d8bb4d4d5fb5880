"""Runs in the database: what was recorded is read back, names are found, nothing half-recorded."""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragbench.old.store import Store, StoreError
from ragbench.old.store.run_records import RunPart, RunRecord, RunScores, RunValue
from ragbench.old.store.runs import Runs

START = datetime.datetime(2126, 11, 22, 7, 0, tzinfo=datetime.UTC)


def record(name: str, *, minutes: int = 0, folder: str | None = "/reports/x") -> RunRecord:
    """A run of one notebook with two systems on three questions, one value of which is unmeasured."""
    values = {
        ("old", "mrr"): np.array([1.0, 0.5, math.nan]),
        ("new", "mrr"): np.array([1.0, 1 / 3, 0.0]),
    }
    return RunRecord(
        id=name,
        started=START + datetime.timedelta(minutes=minutes),
        seconds=12.5,
        folder=None if folder is None else Path(folder) / name,
        identities={"code": {"commit": "abc"}, "data": {"tier1": "9f2c"}},
        manifest={"status": "complete", "note": "a\0b", "nothing": math.nan},
        parts=(RunPart("tier1", "complete", "", "campus", "9f2c", "chunk", ("old", "new"), "old", {"seed": 7}),),
        values=(
            RunValue("tier1", "old", "mrr", 0.75, 0.5, 1.0, 0.95, "bca", 2, 1, "higher", (0.0, 1.0), "chunk"),
            RunValue("tier1", "new", "mrr", 4 / 9),
            RunValue("tier1", "new", "ndcg@10", math.nan, n=0, n_unmeasured=3),
        ),
        comparisons=({"notebook": "tier1", "metric": "mrr", "difference": -0.25},),
        scores=(RunScores("tier1", ("q1", "q2", "q3"), ("f1", "f2", "f3"), ("a", "a", "b"), values),),
    )


@pytest.fixture
def runs(store: Store) -> Runs:
    return Runs(store.engine)


def test_a_run_is_read_back_as_it_was(runs: Runs) -> None:
    given = record("there-and-back")
    assert runs.record(given) == "there-and-back"
    found = runs.find("there-and-back")
    assert found.manifest == {"status": "complete", "note": "ab", "nothing": None}
    same = ("id", "started", "status", "origin", "seconds", "folder", "identities", "parts", "comparisons")
    assert {key: getattr(found, key) for key in same} == {key: getattr(given, key) for key in same}
    assert found.values[:2] == given.values[:2]
    assert math.isnan(found.values[2].value)
    assert (found.values[2].n, found.values[2].n_unmeasured, found.measured) == (0, 3, 2)
    (scores,) = found.scores
    assert (scores.samples, scores.fingerprints, scores.clusters) == (
        ("q1", "q2", "q3"), ("f1", "f2", "f3"), ("a", "a", "b"),
    )  # fmt: skip
    for key, column in given.scores[0].values.items():
        np.testing.assert_array_equal(scores.values[key], column)


def test_the_same_run_is_replaced_and_another_of_its_name_gets_a_number(runs: Runs) -> None:
    runs.record(record("twice"))
    assert runs.record(replace(record("twice"), status="failed")) == "twice"
    assert runs.find("twice").status == "failed"
    assert runs.record(record("twice", folder="/elsewhere")) == "twice~2"
    assert runs.record(record("twice", folder="/third")) == "twice~3"
    assert runs.record(record("twice", folder="/elsewhere")) == "twice~2"


def test_names_are_found_by_their_beginning(runs: Runs) -> None:
    for name in ("find-a1", "find-a2", "find-b%1"):
        runs.record(record(name))
    assert runs.resolve("find-a1") == "find-a1"
    assert runs.resolve("find-b") == "find-b%1"
    with pytest.raises(StoreError, match="begins the names of 2 runs: find-a1, find-a2"):
        runs.resolve("find-a")
    for unknown in ("find-%", "find_a1", "'; DROP TABLE ragbench.run; --"):
        with pytest.raises(StoreError, match="there is no run"):
            runs.resolve(unknown)


def test_runs_are_listed_newest_first(runs: Runs) -> None:
    runs.record(record("late-1", minutes=10_000))
    runs.record(replace(record("late-2", minutes=10_001), status="interrupted"))
    runs.record(replace(record("late-3", minutes=10_002), origin="history.json"))
    listed = [each.id for each in runs.records()]
    assert [name for name in listed if name.startswith("late-")] == ["late-3", "late-2", "late-1"]
    assert runs.records(limit=2)[1].id == listed[1]
    assert runs.names() == listed
    assert runs.records(limit=1)[0].values
    assert runs.records(limit=1)[0].scores == ()


def test_a_deleted_run_leaves_nothing(runs: Runs, store: Store) -> None:
    from sqlalchemy import func, select

    from ragbench.old.store import database_tables

    runs.record(record("gone"))
    assert runs.delete("gon") == "gone"
    with pytest.raises(StoreError, match="no run 'gone'"):
        runs.find("gone")
    children = (
        database_tables.run_part,
        database_tables.run_value,
        database_tables.run_comparison,
        database_tables.run_question,
        database_tables.run_score,
    )
    with store.engine.connect() as connection:
        for table in children:
            count = connection.scalar(select(func.count()).select_from(table).where(table.c.run_id == "gone"))
            assert count == 0, table.name


def test_a_run_of_summaries_only_and_without_a_date(runs: Runs) -> None:
    value = RunValue("tier1", "v1", "ndcg@10", 1.0923, bounds=(0.0, 1.0)).checked()
    assert (value.comparable, value.reason) == (False, "outside_scale")
    runs.record(RunRecord("foreign", origin="history.json", values=(value,)))
    found = runs.find("foreign")
    assert (found.started, found.folder, found.scores, found.values) == (None, None, (), (value,))
    assert runs.names()[-1] == "foreign"  # what has no date comes last


@pytest.mark.fault("database", tried="a record that breaks off", count=1)
def test_a_run_is_recorded_whole_or_not_at_all(runs: Runs) -> None:
    broken = replace(record("half"), comparisons=({"text": "x"},), parts=(RunPart("same"), RunPart("same")))
    with pytest.raises(StoreError, match="recording the run half"):
        runs.record(broken)
    with pytest.raises(StoreError, match="no run 'half'"):
        runs.resolve("half")


def test_a_reason_goes_with_what_is_not_comparable() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        RunValue("t", "s", "m", 1.0, comparable=False)
    with pytest.raises(ValueError, match="is given for"):
        RunValue("t", "s", "m", 1.0, reason="outside_scale")
    assert RunValue("t", "s", "m", 1.0, bounds=(0.0, 1.0)).checked().comparable
    assert not RunValue("t", "s", "m", -0.1, bounds=(0.0, None)).checked().comparable
    with pytest.raises(ValueError, match="one entry a question"):
        RunScores("t", ("q",), ("f", "g"), None, {})
