"""Runs whose means people's labels corrected, against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ragbench.old.core.measurement import (
    Measurement,
)
from ragbench.old.core.types import Verdict
from ragbench.old.extras.runs.compared import compare_runs
from ragbench.old.store.run_records import RunPart, RunRecord
from ragbench.old.tiers import corrected
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.run import record
from tests.old.extras.runs.test_compared import BASE, run
from tests.old.tiers.test_labels import table, whole, world


def test_runs_are_compared_by_what_people_would_say(project: Path) -> None:
    """Single answers have only the judge's values: two corrected runs are compared by their corrected means."""
    people, judge = world(16)
    plain = whole(one=judge)
    runs = {
        "labelled": corrected(plain, table(people, "one")),
        "again": corrected(whole(one=np.clip(judge + 0.1, 0, 1)), table(people, "one")),
        "alone": plain,
    }
    records = {name: made_record(name, made) for name, made in runs.items()}
    both = compare_runs(records["labelled"], records["again"])
    assert not both.pairings
    [one] = both.summarized
    assert one.comparison is not None
    assert one.values[0].value == runs["labelled"].estimates[0].estimate.value
    assert one.comparison.difference == pytest.approx(0, abs=0.02)
    [unlike] = compare_runs(records["labelled"], records["alone"]).summarized
    assert (unlike.why, unlike.comparison) == ("other_labels", None)


def made_record(name: str, made: Measurement) -> RunRecord:
    part = RunPart(made.notebook, systems=("one",), facts=made.facts)
    return RunRecord(name, parts=(part,), values=record.values(made), scores=(record.scores(made),))


def test_runs_of_which_one_is_of_another_world_tell_nothing_of_each_other() -> None:
    """Of what the second run's system retrieved 14 % are none of the data set's; 1 % of the third run's."""
    base = run("a", {("mine", "mrr"): BASE, ("mine", "rouge1_f"): BASE})
    better = {("mine", metric): np.clip(BASE + 0.2, 0, 1) for metric in ("mrr", "rouge1_f")}
    strange, few = (
        replace(one, parts=tuple(replace(part, facts={"unidentified": {"mine": counts}}) for part in one.parts))
        for one, counts in ((run("b", better), [225, 1570]), (run("c", better), [10, 1000]))
    )
    reason = "225 of 1570 passages that mine ({}) retrieved (14%) are none of the data set's"
    for first, second, withheld in (
        (base, strange, reason.format("B")),
        (strange, base, reason.format("A")),
        (base, few, ""),
    ):
        [pairing] = compare_runs(first, second, sureness=Sureness(0.95, 1000, 0)).pairings
        told = {one.metric: one.comparison for one in pairing.comparisons}
        assert told["mrr"].withheld == withheld
        assert (told["mrr"].verdict is Verdict.CANNOT_BE_TOLD) is bool(withheld)
        assert told["rouge1_f"].withheld == ""
        assert told["rouge1_f"].verdict in (Verdict.BETTER, Verdict.WORSE)
    alone = [
        replace(one, scores=(), values=tuple(replace(v, low=v.value - 0.02, high=v.value + 0.02) for v in one.values))
        for one in (base, strange)
    ]
    found = {one.metric: one.comparison for one in compare_runs(*alone).summarized if one.comparison is not None}
    assert found["mrr"].withheld == reason.replace("mine ({})", "mine")
    assert (found["rouge1_f"].withheld, found["rouge1_f"].verdict) == ("", Verdict.BETTER)
