"""Gates: three outcomes, decided by whole intervals; unmeasured values never help."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import stats
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Measurement, NamedEstimate
from ragbench.old.core.metric import parse
from ragbench.old.core.settings import GateSettings, Settings, SystemSettings
from ragbench.old.core.types import BY_CONSTRUCTION, Estimate, Status
from ragbench.old.metrics import catalogue
from ragbench.old.report import exports
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Sureness, find
from ragbench.old.tiers.run.gates import Check, Decision, Outcome, check_gates, decide, line
from tests.old.views.measurements import measurement

SYSTEMS = {name: SystemSettings(embedder="hashing") for name in ("old", "new")}
catalogue()


def made(metric: str, clusters: list[str] | None = None, **values: Any) -> Measurement:
    """A report of one page with these values of each system, NaN for what a judge failed on."""
    rows = [
        (system, metric, f"q{i}", value, str(Status.JUDGE_ERROR if math.isnan(value) else Status.OK), "", None)
        for system, column in values.items()
        for i, value in enumerate(column)
    ]
    scores = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    names = [f"q{i}" for i in range(len(next(iter(values.values()))))]
    labels = None if clusters is None else dict(zip(names, clusters, strict=True))
    estimates, comparisons = find(scores, [parse(metric)], list(values), labels, Sureness(0.95, 1000, 0))
    base = measurement(questions=len(names), systems=list(values), metrics=(metric,))
    facts = {**base.facts, "baseline": next(iter(values)), "resamples": 1000, "seed": 0}
    questions = base.questions.assign(cluster=clusters)
    return replace(base, facts=facts, scores=scores, estimates=estimates, comparisons=comparisons, questions=questions)


def decided(report: Measurement, **gate: Any) -> tuple[Decision, Check]:
    """The decision on the challenger (or the only system) by one gate, and its check."""
    system = gate.pop("system", "new")
    settings = Settings(systems=SYSTEMS, gate={"g": GateSettings(system=system, **gate)})
    found = decide({"tier": report}, settings)
    return found, found.checks[0]


def shares(good: int, total: int) -> list[float]:
    return [1.0] * good + [0.0] * (total - good)


@pytest.mark.parametrize(
    ("metric", "good", "gate", "code", "condition"),
    [
        ("hit_rate@1", 90, {"at_least": 0.7}, 0, "hit_rate@1 >= 0.7"),
        ("hit_rate@1", 90, {"at_least": 0.95}, 1, "hit_rate@1 >= 0.95"),
        ("hit_rate@1", 90, {"at_least": 0.9}, 2, "hit_rate@1 >= 0.9"),
        ("hit_rate@1", 50, {"at_least": 0.7}, 1, "hit_rate@1 >= 0.7"),
        ("hit_rate@1", 75, {"at_least": 0.7}, 2, "hit_rate@1 >= 0.7"),
        ("noise_sensitivity", 10, {"at_most": 0.3}, 0, "noise_sensitivity <= 0.3"),
        ("noise_sensitivity", 10, {"at_most": 0.02}, 1, "noise_sensitivity <= 0.02"),
        ("noise_sensitivity", 10, {"at_most": 0.1}, 2, "noise_sensitivity <= 0.1"),
        ("hit_rate@1", 70, {"band": "good"}, 0, "hit_rate@1 >= 0.5 (good)"),
        ("hit_rate@1", 55, {"band": "good"}, 2, "hit_rate@1 >= 0.5 (good)"),
        ("hit_rate@1", 30, {"band": "good"}, 1, "hit_rate@1 >= 0.5 (good)"),
        ("hit_rate@1", 95, {"band": "excellent"}, 0, "hit_rate@1 > 0.8 (excellent)"),
    ],
)
def test_a_limit_is_held_by_the_whole_interval(metric: str, good: int, gate: Any, code: int, condition: str) -> None:
    found, check = decided(made(metric, new=shares(good, 100)), metric=metric, **gate)
    assert (found.exit_code, check.value, check.condition) == (code, good / 100, condition)
    assert check.low is not None
    assert check.high is not None
    if limit := gate.get("at_least"):
        assert {0: check.low >= limit, 1: check.high < limit, 2: check.low < limit <= check.high}[code]


def test_without_an_interval_nothing_holds() -> None:
    report = made("mrr", new=[1.0] * 20)
    [one] = report.estimates
    alone = replace(one, estimate=replace(one.estimate, low=None, high=None))
    _, check = decided(replace(report, estimates=(alone,)), metric="mrr", at_least=0.0)
    assert (check.outcome, check.why) == (Outcome.UNDECIDED, "there is no interval")
    for n, missing, why in ((1, 0, "there is no interval"), (0, 20, "nothing was measured")):
        few = replace(alone, estimate=replace(alone.estimate, n=n, n_unmeasured=missing))
        _, check = decided(replace(report, estimates=(few,)), metric="mrr", at_least=0.0)
        assert check.why == why


@pytest.mark.parametrize(
    ("value", "gate", "outcome"),
    [
        (1.0, {"at_least": 0.9}, Outcome.HOLDS),
        (0.9, {"at_least": 0.9}, Outcome.HOLDS),
        (0.5, {"at_least": 0.9}, Outcome.FAILS),
        (0.5, {"at_most": 0.5}, Outcome.HOLDS),
        (0.75, {"at_most": 0.5}, Outcome.FAILS),
        (1.0, {"band": "excellent"}, Outcome.HOLDS),
        (0.95, {"band": "excellent"}, Outcome.FAILS),
        (0.85, {"band": "good"}, Outcome.HOLDS),
    ],
)
def test_what_could_not_have_been_otherwise_is_held_by_its_number(value: float, gate: Any, outcome: Outcome) -> None:
    """The consistency of a judge that asks no model, as `tier_judge` keeps it, on every output of gates."""
    exact = Estimate(value, None, None, 0.95, "none", 20, note=BY_CONSTRUCTION)
    base = made("mrr", new=[1.0] * 20)
    report = replace(base, estimates=(NamedEstimate("new", "consistency_score", exact),))
    found, check = decided(report, metric="consistency_score", **gate)
    assert (check.outcome, found.exit_code) == (outcome, 0 if outcome is Outcome.HOLDS else 1)
    assert check.why == "by construction: it could not have been otherwise"
    assert line(check).endswith(f"tier new: {value:.4f} (by construction: it could not have been otherwise)")
    told = found.as_json()["checks"][0]
    assert (told["low"], told["high"], told["needed"]) == (None, None, None)
    for language, words in (("en", "by construction"), ("ru", "по построению: иначе быть не могло")):
        _ = translator(language)
        manifest = {"run": "a run", "notebooks": []}
        assert words in exports.summary(manifest, {"tier": report}, found.as_json(), _)
        if outcome is Outcome.FAILS:
            assert words in exports.junit(manifest, {"tier": report}, found.as_json(), _).decode()


def test_a_comparison_without_an_interval_is_decided_by_nothing() -> None:
    """A single group of questions: the difference has no spread that anybody could know, and nobody built it so."""
    found, check = decided(
        made("mrr", ["one"] * 3, old=[1.0, 0.5, 1.0], new=[1.0, 1.0, 0.5]), metric="mrr", not_worse_by=0.05
    )
    assert (check.outcome, found.exit_code) == (Outcome.UNDECIDED, 2)
    assert check.why == "there is no interval of the difference"


def test_it_says_how_many_questions_would_decide() -> None:
    """A value 0.05 from the limit, deviation about 0.435: (1.96 + 0.84)² · 0.435² / 0.05² ≈ 595, whatever was seen."""
    for limit in (0.7, 0.72, 0.75):
        _, check = decided(made("hit_rate@1", new=shares(75, 100)), metric="hit_rate@1", at_least=limit)
        assert (check.outcome, check.distance) == (Outcome.UNDECIDED, 0.05)
        assert check.needed == pytest.approx(595, abs=60)
    assert "for a value 0.05 from the limit, about" in line(check)
    assert "questions decide; there were 100" in line(check)
    enough = replace(check, needed=80)
    assert "so many questions would likely decide it for a value 0.05 from the limit" in line(enough)


def test_questions_in_groups_are_worth_fewer() -> None:
    """Half the interval is t(9) = 2.262 errors of ten groups; needed are (1.96 + 0.84)² · (error √200)² / 0.05²."""
    values = np.concatenate([np.repeat([1.0, 0.0], [18, 2] if place % 2 else [12, 8]) for place in range(10)])
    _, check = decided(
        made("hit_rate@1", clusters=[f"page{place // 20}" for place in range(200)], new=values),
        metric="hit_rate@1", at_least=0.7,
    )  # fmt: skip
    assert check.outcome is Outcome.UNDECIDED
    assert check.low is not None
    assert check.high is not None
    error = (check.high - check.low) / 2 / 2.2622
    in_all = (1.95996 + 0.84162) ** 2 * error**2 * 200 / 0.05**2
    assert check.needed == pytest.approx(in_all, rel=0.05)
    assert in_all > 300


@pytest.mark.parametrize(
    ("band", "low", "high", "outcome"),
    [
        ("excellent", 0.8, 0.9, Outcome.UNDECIDED),
        ("excellent", 0.7, 0.8, Outcome.FAILS),
        ("good", 0.5, 0.6, Outcome.HOLDS),
        ("good", 0.4, 0.5, Outcome.UNDECIDED),
    ],
)
def test_a_limit_that_is_not_enough_itself_and_one_that_is(
    band: str, low: float, high: float, outcome: Outcome
) -> None:
    """Excellent is above 0.8, good is 0.5 or more: an interval that ends exactly there."""
    report = made("hit_rate@1", new=shares(70, 100))
    [one] = report.estimates
    ends = replace(one, estimate=replace(one.estimate, low=low, high=high))
    assert decided(replace(report, estimates=(ends,)), metric="hit_rate@1", band=band)[1].outcome is outcome


@pytest.mark.parametrize(
    ("label", "asked"), [("mrr@10", "mrr"), ("rouge1_f", "avg_rouge1_f"), ("decision_recall", "recall")]
)
def test_a_gate_finds_a_number_by_every_name_it_goes_by(label: str, asked: str) -> None:
    found, check = decided(made(label, new=shares(90, 100)), metric=asked, at_least=0.7)
    assert (found.exit_code, check.metric, check.condition) == (0, label, f"{label} >= 0.7")


def pair(shift: float, spread: float, n: int = 100) -> Measurement:
    rng = np.random.default_rng(5)
    old = rng.uniform(0.3, 0.7, n)
    noise = rng.normal(0, spread, n)
    return made("mrr", old=old, new=np.clip(old + shift + noise - noise.mean(), 0, 1))


def test_the_interval_of_pairs_that_never_moved_is_as_wide_as_the_scale() -> None:
    """Two added pairs that moved by the whole scale: on 1 to 5 four times as far as on 0 to 1, whatever was seen."""
    reach = {}
    for metric, low, high in (("mrr", 0.0, 1.0), ("faithfulness_rating", 1.0, 5.0)):
        values = np.random.default_rng(1).uniform(low, high, 30)
        _, check = decided(made(metric, old=values, new=values), metric=metric, not_worse_by=0.05)
        assert check.low is not None
        assert check.high is not None
        assert check.low == -check.high
        reach[metric] = check.high
    expected = 2.045 * math.sqrt(2 / 32) / math.sqrt(32)  # t of 29 degrees of freedom, on 30 pairs and two more
    assert reach["mrr"] == pytest.approx(expected, rel=0.01)
    assert reach["faithfulness_rating"] == pytest.approx(4 * reach["mrr"])


@pytest.mark.parametrize(
    ("shift", "spread", "code"), [(0.0, 0.02, 0), (0.1, 0.1, 0), (-0.01, 0.02, 0), (-0.1, 0.02, 1), (-0.04, 0.2, 2)]
)
def test_not_worse_than_the_baseline(shift: float, spread: float, code: int) -> None:
    found, check = decided(pair(shift, spread), metric="mrr", not_worse_by=0.03)
    assert found.exit_code == code
    assert check.value == pytest.approx(shift, abs=0.03)
    assert (check.needed is not None) == (code == 2)
    assert check.distance == 0.03, "of one that is as good"


def test_pairs_that_the_baseline_lacks_are_missing_too() -> None:
    old, new = np.full(100, 0.5), np.full(100, 0.6)
    old[:30] = np.nan
    found, check = decided(made("mrr", old=old, new=new), metric="mrr", not_worse_by=0.1, most_unmeasured=0.2)
    assert (found.exit_code, check.n, check.n_unmeasured) == (1, 70, 30)
    assert check.why == "30 of 100 could not be measured, at most 20% may be"


@pytest.mark.parametrize(("old", "new", "code"), [(10, 40, 1), (40, 10, 0)])
def test_where_lower_is_better_more_is_worse(old: int, new: int, code: int) -> None:
    report = made("noise_sensitivity", old=shares(old, 100), new=shares(new, 100))
    assert decided(report, metric="noise_sensitivity", not_worse_by=0.05)[0].exit_code == code


@pytest.mark.parametrize("clusters", [None, [f"c{i // 4}" for i in range(200)]])
def test_equal_systems_hold_once_there_are_questions_enough(clusters: list[str] | None) -> None:
    same = shares(120, 200)
    _, check = decided(made("hit_rate@1", clusters, old=same, new=same), metric="hit_rate@1", not_worse_by=0.1)
    assert check.outcome is Outcome.HOLDS
    few = shares(3, 5)
    _, check = decided(made("hit_rate@1", old=few, new=few), metric="hit_rate@1", not_worse_by=0.05)
    assert check.outcome is Outcome.UNDECIDED  # five questions without a difference show nothing


@pytest.mark.fault("flattering", tried="a judge that fails on the bad half", count=1)
def test_a_judge_that_fails_on_the_bad_half_makes_the_gate_red() -> None:
    rng = np.random.default_rng(2)
    truth = rng.uniform(0, 1, 200)
    judged = np.where(truth < np.median(truth), np.nan, truth)
    report = made("faithfulness", new=judged)
    (estimate,) = report.estimates
    assert estimate.estimate.value > 0.7 > truth.mean()  # what was left looks good
    found, check = decided(report, metric="faithfulness", at_least=0.5)
    assert (found.exit_code, check.outcome) == (1, Outcome.FAILS)
    assert check.why == "100 of 200 could not be measured, at most 2% may be"
    lost = made("faithfulness", old=truth, new=judged)
    assert decided(lost, metric="faithfulness", not_worse_by=0.5)[0].exit_code == 1


@pytest.mark.fault("flattering", tried="shares of unmeasured values on both sides of what a gate allows", count=4)
@pytest.mark.parametrize(("missing", "code"), [(0, 0), (2, 0), (3, 1), (100, 4)])
def test_two_percent_may_be_unmeasured(missing: int, code: int) -> None:
    values = [math.nan] * missing + [1.0] * (100 - missing)
    assert decided(made("faithfulness", new=values), metric="faithfulness", at_least=0.8)[0].exit_code == code


@pytest.mark.fault("flattering", tried="a gate on a number that was not measured", count=1)
def test_a_number_that_is_not_there_is_not_green() -> None:
    found, check = decided(made("mrr", new=shares(9, 10)), metric="ndcg@10", at_least=0.1)
    assert (found.exit_code, check.why) == (4, "the report has no such number")
    assert decide({}, Settings()).exit_code == 4


def test_one_failure_fails_and_one_doubt_is_a_doubt() -> None:
    report = made("hit_rate@1", new=shares(90, 100))
    ways = {"holds": 0.5, "fails": 0.99, "doubt": 0.9}

    def code(*names: str) -> int:
        gates = {name: GateSettings(metric="hit_rate@1", at_least=ways[name]) for name in names}
        return decide({"tier": report}, Settings(gate=gates)).exit_code

    assert [code("holds"), code("holds", "doubt"), code("holds", "doubt", "fails")] == [0, 2, 1]


def test_every_system_is_held_to_a_gate_that_names_none() -> None:
    report = made("hit_rate@1", old=shares(50, 100), new=shares(90, 100))
    gates = {"g": GateSettings(metric="hit_rate@1", at_least=0.7)}
    found = decide({"tier": report}, Settings(systems=SYSTEMS, gate=gates))
    assert [(check.system, check.outcome) for check in found.checks] == [("old", Outcome.FAILS), ("new", Outcome.HOLDS)]
    other = {"g": GateSettings(metric="hit_rate@1", at_least=0.7, notebook="elsewhere")}
    assert decide({"tier": report}, Settings(gate=other)).exit_code == 4


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ({}, r"there is no gate.*\[gate.NAME\]"),
        ({"metric": "mmr", "at_least": 0.5}, "no such metric"),
        ({"metric": "rbp", "band": "good"}, "'specification' say nothing of rbp"),
        ({"metric": "mrr", "at_least": 0.5, "system": "x"}, "no system 'x'; there are .*old, new"),
        ({"metric": "mrr", "not_worse_by": 0.5, "baseline": "y"}, "no system 'y'"),
    ],
)
def test_gates_that_cannot_be_followed_are_refused_before_anything_is_measured(gate: Any, says: str) -> None:
    settings = Settings(systems=SYSTEMS, gate={"g": GateSettings(**gate)} if gate else {})
    with pytest.raises(BenchError, match=says):
        check_gates(settings)


def test_a_decision_is_plain_json() -> None:
    found, _ = decided(made("hit_rate@1", new=shares(75, 100)), metric="hit_rate@1", at_least=0.7)
    said = found.as_json()
    assert said["outcome"] == "not enough evidence"
    assert said["checks"][0]["condition"] == "hit_rate@1 >= 0.7"
    assert said["checks"][0]["outcome"] == "not enough evidence"


def test_what_is_missing_decides_no_gate_on_a_difference() -> None:
    """Seven of 60 answers are refused: measured, the new one is better; with them it may be worse than is allowed."""
    old = [0.5, 0.7] * 30
    report = made("faithfulness", old=old, new=[0.62] * 53 + [math.nan] * 7)
    found, check = decided(report, metric="faithfulness", not_worse_by=0.05, most_unmeasured=0.2)
    assert (found.exit_code, check.outcome, check.why) == (2, Outcome.UNDECIDED, "7 of 60 pairs unmeasured")
    assert check.low is not None
    assert check.low > -0.05, "of what was measured the whole interval is within the margin"
    assert "7 of 60 pairs unmeasured" in line(check)
    assert decided(report, metric="faithfulness", not_worse_by=0.2, most_unmeasured=0.2)[0].exit_code == 0
    worse = made("faithfulness", old=old, new=[0.5] * 53 + [math.nan] * 7)
    assert decided(worse, metric="faithfulness", not_worse_by=0.05, most_unmeasured=0.2)[1].outcome is Outcome.UNDECIDED
    lost = made("faithfulness", old=old, new=[0.1] * 53 + [math.nan] * 7)
    assert decided(lost, metric="faithfulness", not_worse_by=0.05, most_unmeasured=0.2)[0].exit_code == 1


def test_a_comparison_whose_word_is_withheld_for_another_reason_decides_no_gate() -> None:
    report = made("mrr", old=shares(20, 60), new=shares(50, 60))
    assert decided(report, metric="mrr", not_worse_by=0.05)[0].exit_code == 0
    why = "225 of 300 retrieved passages unmatched"
    withheld = tuple(replace(one, comparison=stats.withheld(one.comparison, why)) for one in report.comparisons)
    found, check = decided(replace(report, comparisons=withheld), metric="mrr", not_worse_by=0.05)
    assert (found.exit_code, check.why) == (2, why)


def test_labels_that_cover_all_pairs_hide_no_answer_that_the_judge_left_out() -> None:
    """Of a metric that people's labels correct, the report's comparison counts labelled pairs: none lacks a value, and
    30 of the new system's 100 answers were not judged all the same."""
    old, new = np.full(100, 0.5), np.full(100, 0.6)
    new[:30] = np.nan
    report = made("faithfulness", old=old, new=new)
    whole = tuple(replace(one, comparison=replace(one.comparison, n_dropped=0)) for one in report.comparisons)
    report = replace(report, comparisons=whole, facts={**report.facts, "corrected": ["faithfulness"]})
    found, check = decided(report, metric="faithfulness", not_worse_by=0.1, most_unmeasured=0.2)
    assert (found.exit_code, check.why) == (1, "30 of 100 could not be measured, at most 20% may be")


@pytest.mark.parametrize(("least", "outcome"), [(-0.0625, Outcome.UNDECIDED), (0.0, Outcome.HOLDS)])
def test_what_is_missing_may_not_reach_the_margin_itself(least: float, outcome: Outcome) -> None:
    """Measured, the difference is 1/4 [3/16, 1/2], within a margin of 1/8; unmeasured pairs move the lower end by
    5/16, to the margin itself, or by 1/4."""
    report = made("faithfulness", old=[0.5] * 60, new=[0.75] * 59 + [math.nan])
    [one] = report.comparisons
    held = replace(one.comparison, difference=0.25, low=0.1875, high=0.5, least=least, most=0.5, n_dropped=1)
    facts = {**report.facts, "corrected": ["faithfulness"]}
    report = replace(report, comparisons=(replace(one, comparison=held),), facts=facts)
    _, check = decided(report, metric="faithfulness", not_worse_by=0.125, most_unmeasured=0.2)
    assert (check.outcome, check.low) == (outcome, 0.1875)
