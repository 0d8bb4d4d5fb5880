"""Runs against each other: pairs by question, refusals, what fell out, summaries, one family."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragbench.old as rb
from ragbench.old import stats
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.settings import load as settings_of_project
from ragbench.old.core.types import BY_CONSTRUCTION, Estimate, Verdict
from ragbench.old.extras.runs import changes
from ragbench.old.extras.runs.changes import said
from ragbench.old.extras.runs.compared import compare_runs, labels
from ragbench.old.extras.runs.views.unpaired import reason_said
from ragbench.old.metrics import declaration
from ragbench.old.report.keeping import kept, results
from ragbench.old.store.run_records import RunPart, RunRecord, RunScores, RunValue
from ragbench.old.tiers.basics import bands, findings
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.run import record
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement

SURE, FAST = Sureness(0.95, 1000, 3), Sureness(0.95, 100, 3)
RNG = np.random.default_rng(11)
BASE = np.clip(RNG.normal(0.5, 0.3, 60), 0, 1).round(3)


def run(
    name: str,
    values: dict[tuple[str, str], Any],
    *,
    samples: list[str] | None = None,
    fingerprints: list[str] | None = None,
    clusters: tuple[str, ...] | None = None,
    data: str = "d1",
    unit: str = "chunk",
    identities: dict[str, dict[str, str]] | None = None,
) -> RunRecord:
    """A run of one notebook, `tier1`, with values question by question."""
    length = len(next(iter(values.values())))
    asked = tuple(samples or [f"q{i}" for i in range(length)])
    known = tuple(fingerprints or [f"f-{sample}" for sample in asked])
    systems = tuple(dict.fromkeys(system for system, _ in values))
    return RunRecord(
        id=name,
        identities=identities or {},
        parts=(RunPart("tier1", dataset="campus", data_hash=data, unit=unit, systems=systems),),
        values=tuple(
            RunValue("tier1", system, metric, float(np.nanmean(column)), n=length, bounds=(0.0, 1.0), better="higher")
            for (system, metric), column in values.items()
        ),
        scores=(
            RunScores("tier1", asked, known, clusters, {key: np.array(col, float) for key, col in values.items()}),
        ),
    )


def summaries(name: str, *values: RunValue, data: str | None = None) -> RunRecord:
    """A run of which only summaries are known."""
    return RunRecord(name, origin="history.json", parts=(RunPart("tier1", data_hash=data),), values=values)


def only(first: RunRecord, second: RunRecord, **more: Any) -> Any:
    """The one pairing of two runs."""
    (pairing,) = compare_runs(first, second, sureness=SURE, **more).pairings
    return pairing


def test_it_is_the_paired_comparison_of_the_values() -> None:
    after = np.clip(BASE + RNG.normal(0.08, 0.1, 60), 0, 1)
    found = compare_runs(run("a", {("s", "mrr"): BASE}), run("b", {("s", "mrr"): after}), sureness=SURE)
    (pairing,) = found.pairings
    peer = stats.compare(BASE, after, resamples=1000, seed=3)
    one = pairing.comparisons[0].comparison
    for name in ("difference", "low", "high", "p", "effect_size"):
        assert getattr(one, name) == getattr(peer, name), name
    assert one.difference == pytest.approx(float(np.mean(after - BASE)))
    assert (one.baseline, one.challenger, one.verdict, one.n) == ("s (A)", "s (B)", Verdict.BETTER, 60)
    assert [e.estimate.value for e in pairing.estimates] == pytest.approx([BASE.mean(), after.mean()])
    assert found.summarized == ()


def test_runs_are_stated_as_the_systems_of_one_page_are() -> None:
    """The same columns as two systems of a page and as two runs: the same numbers, words and families."""
    labels = ("mrr", "ndcg@10", "recall@5")
    before = {label: np.clip(BASE + RNG.normal(0, 0.1, 60), 0, 0.8) for label in labels}
    after = {label: np.clip(own + RNG.normal(0.05, 0.15, 60), 0, 0.8) for label, own in before.items()}
    after["mrr"][:5] = math.nan
    groups = tuple(f"g{i // 3}" for i in range(60))
    rows = [
        (system, label, f"q{place}", value, "judge_error" if math.isnan(value) else "ok")
        for system, columns in (("old", before), ("new", after))
        for label, own in columns.items()
        for place, value in enumerate(own)
    ]
    table = pd.DataFrame(rows, columns=["system", "metric", "sample", "value", "status"])
    metrics = [metric for label in labels if (metric := declaration(label)) is not None]
    clusters = {f"q{place}": group for place, group in enumerate(groups)}
    tops = {"recall@5": 0.8}
    estimates, comparisons = findings.find(table, metrics, ("old", "new"), clusters, SURE, "mrr", tops=tops)
    first, second = (
        primary(run(name, {("s", label): own for label, own in columns.items()}, clusters=groups), "mrr")
        for name, columns in (("a", before), ("b", after))
    )
    first, second = (
        replace(
            each, parts=tuple(replace(part, facts={**part.facts, "tops": {"recall@5": top}}) for part in each.parts)
        )
        for each, top in ((first, 0.8), (second, 0.7))
    )
    pairing = only(first, second)
    assert [e.estimate for e in pairing.estimates] == [e.estimate for e in estimates]
    known = [
        bands.of_interest_each([one], settings_of_project().smallest_difference)[0].comparison for one in comparisons
    ]
    renamed = [replace(one, baseline="s (A)", challenger="s (B)") for one in known]
    assert [one.comparison for one in pairing.comparisons] == renamed


def test_questions_that_one_run_lacks_fall_out_and_are_counted() -> None:
    first = run("a", {("s", "mrr"): BASE}, samples=[f"q{i}" for i in range(60)])
    second = run("b", {("s", "mrr"): BASE[::-1]}, samples=[f"q{i}" for i in range(59, -1, -1)])
    pairing = only(first, second)
    assert pairing.comparisons[0].comparison.difference == 0  # the same questions in another order
    shifted = run("b", {("s", "mrr"): BASE}, samples=[f"q{i}" for i in range(20, 80)])
    pairing = only(first, shifted)
    assert (len(pairing.samples), pairing.only_first, pairing.only_second, pairing.altered) == (40, 20, 20, 0)
    assert pairing.comparisons[0].comparison.difference == pytest.approx(float(np.mean(BASE[:40] - BASE[20:])))


def with_depth(record: RunRecord, k: int) -> RunRecord:
    """The same of a notebook that says how many documents it looked at."""
    return replace(record, parts=tuple(replace(part, facts={**part.facts, "k": k}) for part in record.parts))


def test_a_run_that_did_not_say_its_depth_is_compared_with_one_that_does() -> None:
    old = with_depth(run("a", {("s", "mrr"): BASE}), 10)
    new = with_depth(run("b", {("s", "mrr@10"): np.clip(BASE + 0.1, 0, 1)}), 10)
    for first, second, sign in ((old, new, 1), (new, old, -1)):
        pairing = only(first, second)
        assert list(pairing.metrics) == ["mrr@10"]
        assert sign * pairing.comparisons[0].comparison.difference > 0.05
    for unlike in (with_depth(run("a", {("s", "mrr"): BASE}), 5), run("a", {("s", "mrr"): BASE})):
        found = compare_runs(unlike, new, sureness=SURE)
        assert found.pairings == ()
        assert [(one.comparison, one.why) for one in found.summarized] == [(None, "other_depth")]


def test_another_scale_is_not_comparable() -> None:
    one, other = (
        RunValue("tier1", "s", "avg_faithfulness", value, value, value, n=50, bounds=bounds)
        for value, bounds in ((0.8, (0.0, 1.0)), (4.2, (1.0, 5.0)))
    )
    (found,) = compare_runs(summaries("a", one), summaries("b", other), sureness=SURE).summarized
    assert (found.comparison, found.why) == (None, "other_scale")


def test_other_data_is_refused_and_what_would_help_is_said() -> None:
    first, second = run("a", {("s", "mrr"): BASE}), run("b", {("s", "mrr"): BASE}, data="d2")
    with pytest.raises(BenchError) as refusal:
        compare_runs(first, second)
    text = str(refusal.value)
    assert "campus (d1) and campus (d2)" in text
    assert "`ragbench run tier1 -d campus`" in text
    assert "--on-common-questions" in text


def test_common_questions_need_the_values_of_both_runs() -> None:
    """One run keeps its values question by question, the other its means: nothing says which questions are the same."""
    first = run("a", {("s", "mrr"): BASE})
    bare = summaries("b", RunValue("tier1", "s", "mrr", 0.5, n=60, bounds=(0.0, 1.0), better="higher"), data="d2")
    for pair in ((first, bare), (bare, first)):
        one = changes.refusal(*pair, "tier1", on_common_questions=True)
        assert one is not None
        assert (one.kind, one.run) == ("summaries", pair[1].id)
    other = run("b", {("s", "mrr"): BASE}, data="d2")
    assert changes.refusal(first, other, "tier1", on_common_questions=True) is None


def test_common_questions_are_those_that_are_the_same() -> None:
    first = run("a", {("s", "mrr"): BASE})
    changed = [f"f-q{i}" if i % 3 else f"other-{i}" for i in range(60)]
    second = run("b", {("s", "mrr"): np.clip(BASE + 0.1, 0, 1)}, data="d2", fingerprints=changed)
    pairing = only(first, second, on_common_questions=True)
    assert (len(pairing.samples), pairing.altered) == (40, 20)
    nothing = run("b", {("s", "mrr"): BASE}, data="d2", fingerprints=["x"] * 60)
    with pytest.raises(BenchError, match="no question is the same in both runs"):
        compare_runs(first, nothing, on_common_questions=True)


def test_other_units_are_refused_whatever_is_asked() -> None:
    first, second = run("a", {("s", "mrr"): BASE}), run("b", {("s", "mrr"): BASE}, unit="url")
    for anyway in (False, True):
        with pytest.raises(BenchError, match=r"ranks by chunk, the other by url.*-p unit=chunk"):
            compare_runs(first, second, on_common_questions=anyway)


def test_a_refused_notebook_does_not_stop_the_others() -> None:
    first, second = run("a", {("s", "mrr"): BASE}), run("b", {("s", "mrr"): np.clip(BASE + 0.1, 0, 1)})
    more = [replace(each.parts[0], notebook="tier2", data_hash=each.id) for each in (first, second)]
    first, second = (replace(each, parts=(*each.parts, part)) for each, part in zip((first, second), more, strict=True))
    found = compare_runs(first, second, sureness=SURE)
    assert [(one.notebook, one.kind) for one in found.refused] == [("tier2", "summaries")]
    assert "only summaries are known" in said(found.refused[0], translator("en"))
    assert len(found.pairings) == 1


def test_systems_are_paired_by_name_or_as_told() -> None:
    first = run("a", {("old", "mrr"): BASE, ("both", "mrr"): BASE})
    second = run("b", {("both", "mrr"): BASE, ("new", "mrr"): BASE})
    assert [each.systems for each in compare_runs(first, second).pairings] == [("both", "both")]
    told = compare_runs(first, second, systems={"A": "old", "B": "new"})
    assert [each.systems for each in told.pairings] == [("old", "new")]
    assert compare_runs(first, second, systems={"A": "both"}).pairings[0].systems == ("both", "both")
    with pytest.raises(BenchError, match=r"one has old, both, the other both, new.*--system A=NAME"):
        compare_runs(first, second, systems={"A": "old"})
    with pytest.raises(BenchError, match="run a has no system 'x'; it has old, both"):
        compare_runs(first, second, systems={"A": "x", "B": "new"})
    alone = compare_runs(run("a", {("old", "mrr"): BASE}), run("b", {("new", "mrr"): BASE}))
    assert alone.pairings[0].systems == ("old", "new")


def primary(record: RunRecord, named: str) -> RunRecord:
    """The run as it is when its page named a primary metric."""
    return replace(record, parts=tuple(replace(part, facts={"primary": named}) for part in record.parts))


def test_runs_have_the_families_of_a_page() -> None:
    """By notebook the primary metric of all systems, then all others, tested together: near-copies cost nothing."""
    shift = RNG.normal(0.03, 0.1, 60)
    named = [(system, metric) for system in ("s", "t") for metric in ("mrr", "ndcg@10", "recall@5")]
    after = {key: np.clip(BASE + shift + RNG.normal(0, 0.001, 60), 0, 1) for key in named}
    a, b = run("a", dict.fromkeys(named, BASE)), run("b", after)
    titles = {"mrr": "primary: 2, max-T", "ndcg@10": "secondary: 4, max-T", "recall@5": "secondary: 4, max-T"}
    for first, second, expected in (
        (primary(a, "mrr"), primary(b, "mrr"), titles),
        (a, primary(b, "mrr"), titles),
        (primary(a, "ndcg@10"), primary(b, "mrr"), dict.fromkeys(titles, "6, max-T")),
    ):
        found = compare_runs(first, second, sureness=SURE)
        compared = [c for pairing in found.pairings for c in pairing.comparisons]
        assert [c.comparison.family for c in compared] == [expected[c.metric] for c in compared]
        assert all(c.comparison.p <= (c.comparison.p_adjusted or 0) < 1.5 * c.comparison.p + 0.002 for c in compared)


def test_summaries_are_corrected_in_the_same_families_by_holm() -> None:
    share: Any = {"n": 200, "bounds": (0.0, 1.0), "better": "higher"}
    kinds = ("mrr", "hit_rate@1", "recall@5")
    before, after = ([RunValue("tier1", "s", kind, value, **share) for kind in kinds] for value in (0.5, 0.62))
    first, second = (primary(summaries(name, *own), "mrr") for name, own in (("v1", before), ("v2", after)))
    found = [one.comparison for one in compare_runs(first, second).summarized]
    assert [one.family for one in found] == ["primary: 1, holm", "secondary: 2, holm", "secondary: 2, holm"]
    assert [one.p_adjusted / one.p for one in found] == pytest.approx([1, 2, 2])
    for one in found:
        assert (one.low <= 0 <= one.high) != (one.verdict is Verdict.BETTER)


def test_values_that_were_not_measured_leave_their_pair() -> None:
    holes = BASE.copy()
    holes[:7] = math.nan
    pairing = only(run("a", {("s", "mrr"): holes}), run("b", {("s", "mrr"): BASE}))
    one = pairing.comparisons[0].comparison
    assert (one.n, one.n_dropped) == (53, 7)


def test_questions_that_a_page_lists_and_never_scores_are_no_pairs() -> None:
    """Forty questions are scored, and twenty are there that nobody can answer: none of them is unmeasured."""

    def recorded(name: str, shift: float) -> RunRecord:
        made = measurement(("s",), ("mrr",), 40)
        scores = made.scores.assign(value=np.clip(BASE[:40] * 0.5 + shift, 0, 1), status="ok")
        beside = made.questions.iloc[:20].assign(sample=[f"x{n}" for n in range(20)], answerable=False)
        made = replace(made, scores=scores, questions=pd.concat([made.questions, beside], ignore_index=True))
        first = run(name, {("s", "mrr"): scores["value"].to_numpy()})
        part = replace(first.parts[0], facts={record.VOID: record.void(made)})
        return replace(first, parts=(part,), scores=(replace(record.scores(made), notebook="tier1"),))

    pairing = only(recorded("a", 0.1), recorded("b", 0.3))
    one = pairing.comparisons[0].comparison
    assert (one.n, one.n_dropped, one.verdict) == (40, 0, Verdict.BETTER)
    assert (one.least, one.most) == (None, None)


def test_clusters_are_kept_together() -> None:
    groups = tuple(f"g{i // 5}" for i in range(60))
    first = run("a", {("s", "mrr"): BASE}, clusters=groups)
    second = run("b", {("s", "mrr"): np.clip(BASE + 0.1, 0, 1)}, clusters=groups)
    assert compare_runs(first, second, sureness=SURE).pairings[0].comparisons[0].comparison.clusters == 12


def test_summaries_are_compared_as_two_samples() -> None:
    share = {"n": 200, "bounds": (0.0, 1.0), "better": "higher"}
    first = summaries("v1", RunValue("tier1", "s", "hit_rate@1", 0.5, **share), RunValue("tier1", "s", "mrr", 0.6))
    second = summaries("v2", RunValue("tier1", "s", "hit_rate@1", 0.7, **share), RunValue("tier1", "s", "mrr", 0.7))
    found = compare_runs(first, second)
    hit, mrr = found.summarized
    assert hit.comparison is not None
    assert (hit.comparison.test, hit.comparison.verdict, hit.why) == ("Welch's t test", Verdict.BETTER, "")
    assert (mrr.comparison, mrr.why) == (None, "no_interval")
    paired = run("b", {("s", "hit_rate@1"): BASE.round()}, data="")
    mixed = compare_runs(first, paired)
    assert mixed.pairings == ()
    assert mixed.summarized[0].comparison is not None


def test_what_could_not_have_been_otherwise_is_not_compared() -> None:
    """A judge that asks no model agrees with itself in every run: no difference of it has an interval, or a verdict."""
    fixed = Estimate(1.0, None, None, 0.95, "none", 60, note=BY_CONSTRUCTION)
    sampled = Estimate(0.9, 0.8, 0.95, 0.95, "wilson", 60)
    judged = measurement(("lexical",), ("consistency_score",))
    by_note = {
        note: record.values(replace(judged, estimates=(NamedEstimate("lexical", "consistency_score", e),)))
        for note, e in (("fixed", fixed), ("half", replace(fixed, value=0.5, note="always_the_same")), ("", sampled))
    }
    for note, why in (("fixed", BY_CONSTRUCTION), ("half", BY_CONSTRUCTION), ("", "")):
        runs = [summaries(name, *(replace(v, notebook="tier1") for v in by_note[note])) for name in ("v1", "v2")]
        (one,) = compare_runs(*runs).summarized
        assert (one.comparison is None, one.why) == (bool(why), why)
    assert reason_said(BY_CONSTRUCTION, translator("en")) == "by construction: it could not have been otherwise"
    assert reason_said(BY_CONSTRUCTION, translator("ru")).startswith("по построению")


def test_what_is_not_comparable_is_shown_and_not_compared() -> None:
    bad = RunValue("tier1", "s", "ndcg@10", 1.0923, n=100, bounds=(0.0, 1.0), better="higher").checked()
    good = replace(bad, value=0.7, comparable=True, reason="")
    (one,) = compare_runs(summaries("v1", bad), summaries("v2", good)).summarized
    assert (one.comparison, one.why) == (None, "outside_scale")
    other = replace(good, comparable=False, reason="other_definition")
    (one,) = compare_runs(summaries("v1", bad), summaries("v2", other)).summarized
    assert one.why == "outside_scale"  # of two reasons the one that makes a number impossible
    page, chunk = replace(good, unit="url"), replace(good, unit="chunk")
    assert compare_runs(summaries("v1", page), summaries("v2", chunk)).summarized[0].why == "other_unit"
    barred = run("a", {("s", "mrr"): BASE, ("s", "ndcg@10"): BASE})
    marked = [replace(v, comparable=False, reason="mixed_units") if v.metric == "mrr" else v for v in barred.values]
    found = compare_runs(replace(barred, values=tuple(marked)), run("b", {("s", "mrr"): BASE, ("s", "ndcg@10"): BASE}))
    assert list(found.pairings[0].metrics) == ["ndcg@10"]
    assert [(each.metric, each.why) for each in found.summarized] == [("mrr", "mixed_units")]


def test_one_question_outside_the_scale_bars_its_metric() -> None:
    inflated = BASE.copy()
    inflated[5] = 4.54  # one relevant page listed ten times
    first = run("a", {("s", "ndcg@10"): BASE, ("s", "mrr"): BASE})
    found = compare_runs(first, run("b", {("s", "ndcg@10"): inflated, ("s", "mrr"): BASE}), sureness=SURE)
    assert list(found.pairings[0].metrics) == ["mrr"]
    assert [(each.metric, each.why) for each in found.summarized] == [("ndcg@10", "outside_scale")]


def test_a_number_that_only_describes_gets_no_verdict() -> None:
    sizes = {("s", "avg_spread"): BASE, ("s", "mrr"): BASE}
    pairing = only(run("a", sizes), run("b", sizes))
    assert [c.metric for c in pairing.comparisons] == ["mrr"]
    assert {e.metric for e in pairing.estimates} == {"avg_spread", "mrr"}


@pytest.mark.parametrize(("metric", "values"), [("avg_spread", BASE), ("mrr", BASE + 2)])
def test_a_notebook_without_anything_to_compare_does_not_stop_the_others(metric: str, values: Any) -> None:
    groups = tuple(f"g{i // 5}" for i in range(60))
    alone = run("a", {("s", metric): values}, clusters=groups)
    pairing = only(alone, run("b", {("s", metric): values}, clusters=groups))
    assert pairing.comparisons == ()
    assert {e.metric for e in pairing.estimates} == ({"avg_spread"} if metric == "avg_spread" else set())


def test_what_changed_is_named() -> None:
    one = {"code": {"commit": "a1"}, "parameters": {"tier1.k": "10", "tier9.k": "1"}, "prompts": {}}
    two = {"code": {"commit": "b2"}, "parameters": {"tier1.k": "20"}, "prompts": {"claims": "version 1"}}
    same = {("s", "mrr"): BASE}
    found = compare_runs(run("a", same, identities=one), run("b", same, identities=two)).changes
    assert [(c.kind, c.name, c.of, c.values) for c in found] == [
        ("parameters", "k", ("tier1",), ("10", "20")), ("code", "commit", (), ("a1", "b2")),
    ]  # fmt: skip


FOUR = [f"q{i}" for i in range(60)]


@given(
    asked=st.lists(st.lists(st.sampled_from(FOUR), min_size=12, unique=True), min_size=2, max_size=4),
    seed=st.integers(0, 99),
)
@settings(max_examples=settings.default.max_examples // 3)
def test_many_runs_say_of_each_what_two_say_but_for_the_correction(asked: list[list[str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = run("a", {("s", "mrr"): BASE, ("t", "mrr"): BASE[::-1]}, samples=FOUR)
    others = [
        run(f"r{n}", {(name, "mrr"): rng.random(len(own)).round(2) for name in "st"}, samples=own)
        for n, own in enumerate(asked)
    ]
    together = compare_runs(base, *others, sureness=FAST)
    for place, other in enumerate(others, 1):
        alone = compare_runs(base, other, sureness=FAST)
        own = [each for each in together.pairings if each.run == place]
        assert len(own) == len(alone.pairings) == 2
        for many, two in zip(own, alone.pairings, strict=True):
            assert many.samples == two.samples
            assert [e.estimate for e in many.estimates] == [e.estimate for e in two.estimates]
            (c,), (d,) = ([each.comparison for each in one.comparisons] for one in (many, two))
            assert (c.difference, c.p, c.alone, c.n, c.effect_size) == (d.difference, d.p, d.alone, d.n, d.effect_size)
            assert (c.p_adjusted or c.p) >= c.p


def test_p_is_corrected_over_all_runs_that_are_printed_together() -> None:
    shifted = [np.clip(BASE + RNG.normal(0.04, 0.2, 60), 0, 1) for _ in range(3)]
    a, *others = (run(name, {("s", "mrr"): column}) for name, column in zip("abcd", [BASE, *shifted], strict=True))
    together = [each.comparisons[0].comparison for each in compare_runs(a, *others, sureness=SURE).pairings]
    assert [one.family for one in together] == ["3, max-T"] * 3
    assert any((one.p_adjusted or 0) > one.p for one in together)
    assert [one.challenger for one in together] == ["s (B)", "s (C)", "s (D)"]


def test_a_run_that_cannot_be_compared_does_not_stop_the_others() -> None:
    same = {("s", "mrr"): BASE}
    moved = run("d", same)
    moved = replace(moved, parts=(replace(moved.parts[0], notebook="tier9"),))
    elsewhere, twin = run("c", same, data="d2"), run("e", {("x", "mrr"): BASE, ("y", "mrr"): BASE})
    found = compare_runs(run("a", same), run("b", same), elsewhere, moved, twin, sureness=SURE)
    assert [each.run for each in found.pairings] == [1]
    assert [(one.run, one.kind) for one in found.refused] == [("c", "data"), ("d", "notebooks"), ("e", "systems")]
    words = [said(one, translator("en")) for one in found.refused]
    assert "`ragbench run tier1 -d campus`" in words[0]
    assert "one has tier1, the other tier9" in words[1]
    assert "one has s, the other x, y" in words[2]
    with pytest.raises(
        BenchError, match=r"a, d and e cannot be compared: d: no notebook is in both runs.*\ne: no system"
    ):
        compare_runs(run("a", same), moved, twin)


def test_what_matters_stands_first_and_what_is_alike_stands_together() -> None:
    same = {("s", "mrr"): BASE}
    told = [
        {
            "code": {"commit": commit, "numpy": numpy},
            "parameters": {"tier1.k": k, "tier1.resamples": draws, "tier9.k": "1"},
            "models": {"s.embedder": "e5", "t.embedder": "e5", "s.build_seconds": numpy, f"{judge}.model": "m"},
            "thresholds": {"set": numpy},
        }
        for commit, numpy, k, draws, judge in (("x", "1", "5", "9", "j"), ("x", "2", "10", "8", "j"),
                                               ("y", "2", "10", "8", "k"))
    ]  # fmt: skip
    found = compare_runs(*(run(name, same, identities=one) for name, one in zip("abc", told, strict=True)))
    assert [(one.name, one.of) for one in found.changes] == [
        ("k", ("tier1",)), ("j", ()), ("k", ()), ("commit", ()), ("resamples", ("tier1",)), ("build_seconds", ("s",)),
        ("set", ()), ("numpy", ()),
    ]  # fmt: skip
    assert found.changes[0].values == ("5", "10", "10")
    assert found.changes[1].values == ("model: m", "model: m", "")
    assert [one.title for one in found.settings if not one.differs] == ["embedder (s, t)"]


def test_runs_are_called_by_their_names() -> None:
    same = {("s", "mrr"): BASE}
    named = [replace(run(name, same), manifest={"name": own}) for name, own in zip("abc", ("", "x", "x"), strict=True)]
    assert labels(named) == ["A", "x, B", "x, C"]
    assert labels(named[:2]) == ["A", "x"]
    assert compare_runs(*named[:2]).pairings[0].titles == ("s (A)", "s (x)")


@pytest.mark.parametrize(
    "name", ["x" * 61, "a\nb", "a\x1b[2Jb", "a\u202eb", "\ud800", "latest", "20261101", "../up", "-p"]
)
def test_a_name_that_would_not_do_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a run's name"):
        results.named(name)
    if name.isascii():
        made = kept_runs.make(tmp_path, "one", measurement(questions=4))
        path = made / "manifest.json"
        path.write_text(json.dumps({**kept_runs.read_json(path), "name": name}), encoding="utf-8")
        with pytest.raises(ValueError, match=r"manifest\.json: name is"):
            kept.of_folder(made)


def test_a_name_is_kept_without_what_stands_around_it() -> None:
    assert results.named("  bigger <b>chunks</b> ") == "bigger <b>chunks</b>"
    assert results.named(" ") == results.noted("") == ""
    with pytest.raises(ValueError, match="a run's note has 501 characters"):
        results.noted("x" * 501)


def test_runs_without_a_notebook_in_common_are_refused() -> None:
    other = run("b", {("s", "mrr"): BASE})
    moved = replace(other, parts=(replace(other.parts[0], notebook="tier9"),))
    with pytest.raises(BenchError, match="one has tier1, the other tier9"):
        compare_runs(run("a", {("s", "mrr"): BASE}), moved)


def test_a_folder_is_a_run(tmp_path: Path) -> None:
    made = measurement(questions=30, facts={"primary": "mrr"})
    record = kept.of_folder(kept_runs.make(tmp_path, "one", made, parameters={"dataset": "x", "language": "ru"}))
    assert (record.id, record.status, record.seconds) == ("one", "complete", 3.5)
    assert record.identities["parameters"] == {"tier1_retrieval.dataset": "x", "tier1_retrieval.k": "10"}
    assert record.identities["data"] == {"tier1_retrieval": "synthetic 9f2c9f2c9f2c"}
    assert record.identities["models"]["hnsw.embedder"] == "hashing"
    assert record.identities["thresholds"]["set"] == "specification"
    (scores,) = record.scores
    wide = made.scores[(made.scores.system == "hnsw") & (made.scores.metric == "mrr")]
    np.testing.assert_array_equal(scores.values["hnsw", "mrr"], wide["value"].to_numpy())
    assert len(set(scores.fingerprints)) == 30
    value = record.value("tier1_retrieval", "hnsw", "mrr")
    assert value is not None
    assert (value.better, value.bounds, value.unit) == ("higher", (0.0, 1.0), "chunk")
    asked_otherwise = measurement(questions=30, question="What else of {i}?")
    other = kept.of_folder(kept_runs.make(tmp_path, "two", asked_otherwise))
    assert not set(other.scores[0].fingerprints) & set(scores.fingerprints)


def test_a_kept_setting_is_read_without_the_signs_of_its_form() -> None:
    assert changes.readable('{"good": 0.5, "scale": [0.0, 1.0], "note": null, "on": true}') == (
        "good 0.5; scale 0.0, 1.0; note —; on true"
    )
    assert changes.readable("[]") == changes.readable("null") == "—"
    for text in ("campus:en", "{not a table", "[1, 2", "0.5"):
        assert changes.readable(text) == text
    alike = changes.Setting("models", "part", ("a",), ('["1"]', "[1]"))
    assert changes._read(alike) == alike, "two that differ are never made one"


@pytest.mark.parametrize("values", [[1, 0], None, {"a": 1}])
def test_what_is_no_run_is_told_what_compares_it(values: Any) -> None:
    with pytest.raises(BenchError, match=r"is no run; names, ids or folders .*rb\.score.*rb\.stats\.compare"):
        rb.compare(values, values)
