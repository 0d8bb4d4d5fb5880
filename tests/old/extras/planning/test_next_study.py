"""The next study, planned from a run's own differences."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import parse
from ragbench.old.core.settings import DifferenceSettings
from ragbench.old.core.types import Status
from ragbench.old.extras.planning import next_study
from ragbench.old.tiers.basics import verdict_tables
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import NOTHING, Sureness, find
from ragbench.old.tiers.basics.session import told
from tests.old.cli.command_line import invoke as call
from tests.old.report import kept_runs
from tests.old.tiers.test_gates import made as of_values
from tests.old.views.measurements import measurement


def planned_run(project: Path, **more: Any) -> Measurement:
    """A run with groups on its page, whose comparisons have the thresholds of their family."""
    made = measurement(("good", "poor"), questions=60, facts={"primary": "mrr", **more})
    rng = np.random.default_rng(3)
    scores = made.scores.assign(value=rng.random(len(made.scores)).round(2))
    samples = list(dict.fromkeys(scores["sample"]))
    labels = {name: f"page{place // 4}" for place, name in enumerate(samples)}
    metrics = [parse(name) for name in ("mrr", "hit_rate@1")]
    estimates, comparisons = find(
        scores[scores["metric"].isin(["mrr", "hit_rate@1"])], metrics, ["good", "poor"], labels,
        Sureness(0.95, 500, 0), "mrr",
    )  # fmt: skip
    questions = made.questions.assign(cluster=[labels[name] for name in made.questions["sample"]])
    made = replace(made, scores=scores, estimates=estimates, comparisons=comparisons, questions=questions)
    made = told(made)
    kept_runs.make(project / "reports", "r0", made)
    return made


def test_a_stricter_level_is_planned_with_a_smaller_threshold_and_gaps_are_pairs_that_could_differ(
    project: Path,
) -> None:
    """At 99 % the family's threshold is a fifth of that at 95 %. Of three pairs without a value two have nothing to
    measure on either side, and one lost its judge."""
    made = planned_run(project)
    scores = made.scores.copy()
    for sample, status in (("q0", NOTHING[0]), ("q1", NOTHING[0]), ("q2", str(Status.JUDGE_ERROR))):
        scores.loc[(scores["sample"] == sample) & (scores["metric"] == "mrr"), ["value", "status"]] = [np.nan, status]
    known = next(each.comparison for each in made.comparisons if each.metric == "mrr")
    [usual], [strict] = (
        next_study.plan({"t": replace(made, scores=scores)}, next_study.Ask(level=level), DifferenceSettings()).planned
        for level in (None, 0.99)
    )
    assert known.threshold is not None
    assert usual.plans[0].threshold == pytest.approx(known.threshold)
    assert strict.plans[0].threshold == pytest.approx(known.threshold / 5)
    assert (usual.unmeasured, strict.unmeasured) == (1, 1)


def test_the_next_study_is_planned_from_a_run(project: Path) -> None:
    made = planned_run(project)
    done = call("plan-study", "--run", "r0")
    assert done.exit_code == 0, done.output
    one = next(each.comparison for each in made.comparisons if each.metric == "mrr")
    said = " ".join(done.stdout.split())
    groups = verdict_tables.groups_planned(one)
    assert f"{one.questions_needed:,} questions in {groups:,} groups are needed; 60 questions in 15 groups" in said
    assert "a correlation of" in said
    assert "`ragbench run`" in said
    found = json.loads(call("plan-study", "--run", str(project / "reports" / "r0"), "--json").stdout)
    [planned] = found["planned"]
    assert (found["run"], planned["metric"], planned["baseline"], planned["challenger"]) == (
        "r0",
        "mrr",
        "good",
        "poor",
    )
    [asked] = [each for each in planned["plans"] if each["asked"]]
    low, high = asked["between"]
    assert low < asked["questions"] < high
    assert f"between {low:,} and {high:,} questions are needed (95% interval)" in said
    assert (asked["difference"], asked["questions"], asked["groups"]) == (0.05, one.questions_needed, groups)
    assert asked["detectable"] == pytest.approx(one.minimum_detectable)
    counts = [each["questions"] for each in planned["plans"]]
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 5
    several = json.loads(
        call("plan-study", "--run", "r0", "-m", "mrr", "-m", "hit_rate@1", "-d", "0.1", "-d", "0.2", "--comparisons",
             "6", "--power", "0.9", "--json").stdout
    )["planned"]  # fmt: skip
    assert [(each["metric"], [one["difference"] for one in each["plans"]]) for each in several] == [
        ("mrr", [0.1, 0.2]), ("hit_rate@1", [0.1, 0.2]),
    ]  # fmt: skip
    assert several[0]["plans"][0]["threshold"] == pytest.approx(0.05 / 6)
    assert several[0]["plans"][0]["power"] == 0.9


def test_what_cannot_be_planned_is_refused_with_what_would_help(project: Path) -> None:
    made = planned_run(project)
    scores = made.scores
    alike = scores.assign(value=scores["value"].where(scores["metric"] != "hit_rate@1", 0.5))
    kept_runs.make(project / "reports", "r1", replace(made, scores=alike), replace(made, notebook="sources"))
    kept_runs.make(project / "reports", "r2", replace(made, scores=scores.iloc[:0]))
    for given, message in {
        ("r0", "-m", "mr"): "--metric mr: there is no such metric; did you mean 'mrr'?; with scores there are",
        ("r0", "-s", "goood"): "--system 'goood': mrr was measured of good, poor; did you mean 'good'?",
        ("r0", "-s", "good"): "'good' is the baseline itself",
        ("r0", "-n", "tier"): "--notebook 'tier': the run has tier1_retrieval",
        ("r0", "-d", "0"): "--difference 0: a true difference above 0 is expected",
        ("r0", "--power", "1"): "--power 1: a chance between 0 and 1 is expected",
        ("r0", "--level", "95"): "--level 95: between 0 and 1 is expected",
        ("r1", "-m", "mrr"): "mrr stands in sources and tier1_retrieval: name one, --notebook sources",
        ("r1", "-m", "hit_rate@1", "-n", "tier1_retrieval"): "all 60 differences are 0, and nothing says",
        ("r2",): "keeps no scores of single questions for two systems",
    }.items():
        done = call("plan-study", "--run", *given)
        assert done.exit_code != 0, given
        assert message in str(done.exception), given
    assert call("plan-study", "--run", "r1", "-m", "mrr", "-n", "sources").exit_code == 0


def test_pages_and_pairs_that_cannot_be_planned_are_left_out_and_named(project: Path) -> None:
    """A page whose measures only describe, and a pair whose differences are all alike, beside what can be planned."""
    made = planned_run(project)
    still = made.scores.assign(value=made.scores["value"].where(made.scores["system"] == "good", 0.25))
    flat = replace(made, notebook="flat", scores=still.assign(value=0.5))
    described = made.scores[made.scores["metric"] == "mrr"].assign(metric="show_decision")
    only = replace(made, notebook="tier_judge_pipeline", scores=described, comparisons=(), estimates=())
    kept_runs.make(project / "reports", "r3", made, flat, only)
    done = call("plan-study", "--run", "r3")
    assert done.exit_code == 0, done.output
    assert "tier1_retrieval, mrr: poor − good" in done.stdout
    said = " ".join(done.stdout.split())
    assert "left out: tier_judge_pipeline: no value of show_decision is better than another" in said
    assert "left out: flat: poor − good on mrr: all 60 differences are 0, and nothing says" in said
    found = json.loads(call("plan-study", "--run", "r3", "--json").stdout)
    assert ([one["notebook"] for one in found["planned"]], len(found["left_out"])) == (["tier1_retrieval"], 2)
    kept_runs.make(project / "reports", "r4", flat)
    alone = call("plan-study", "--run", "r4")
    assert alone.exit_code != 0
    assert "all 60 differences are 0" in str(alone.exception)


def test_groups_that_all_differ_alike_plan_nothing_though_their_questions_differ() -> None:
    """Showing all against hiding all, on pairs of a right and a wrong answer: every group differs by 0."""
    report = of_values("hit_rate@1", [f"pair {n // 2}" for n in range(60)], old=[1.0, 0.0] * 30, new=[0.0, 1.0] * 30)
    said = "new − old on hit_rate@1: all 30 groups differ by 0, and nothing says how others would vary"
    with pytest.raises(BenchError, match=re.escape(said)):
        next_study.plan({"tier": report}, next_study.Ask(), DifferenceSettings())
