"""Show or don't show: what judges decide against labels and constants, and the page of it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import report, stats, tiers, views
from ragbench.old.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.types import BY_CONSTRUCTION, Verdict
from ragbench.old.metrics.decisions import Cell, decision_cost
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges.deciders import Costs, chosen_and_scored
from ragbench.old.tiers.judges.numbers import constructed
from ragbench.old.tiers.judges.tier_judge_pipeline import METRICS, guarded
from ragbench.old.views import Page
from tests.old.report.published import Published, same, site_of
from tests.old.small_project import NOTEBOOKS, write_lines
from tests.old.tiers.decided_project import ROWS, cases, counts, estimate


def test_own_functions_by_hand(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:exact, own_judge:shaky, own_judge:later", seed=1)
    assert made.facts["baseline"] == "show-all"
    for name in ("own_judge:exact", "own_judge:later"):
        assert {estimate(made, name, each.label) for each in METRICS} == {1.0}
    assert counts(made, "own_judge:exact") == {"true_positive": 20, "true_negative": 20}
    shaky = counts(made, "own_judge:shaky")
    assert shaky == {"true_positive": 18, "false_positive": 18, "failed_positive": 2, "failed_negative": 2}
    assert sum(shaky.values()) == ROWS, "failed calls stay in n"
    assert estimate(made, "own_judge:shaky", "accuracy") == 18 / 40
    assert estimate(made, "own_judge:shaky", "decision_precision") == 0.5
    assert estimate(made, "own_judge:shaky", "decision_recall") == 18 / 20
    assert estimate(made, "show-all", "accuracy") == 0.5
    assert estimate(made, "show-all", "decision_recall") == 1.0
    settled = {(e.system, e.metric) for e in made.estimates if e.estimate.note == BY_CONSTRUCTION}
    assert settled == {("show-all", "decision_recall"), ("hide-all", "decision_recall"), ("hide-all", "f1_score")}
    assert all(e.estimate.low is None for e in made.estimates if (e.system, e.metric) in settled)
    n = {e.estimate.n for e in made.estimates if e.metric != "avg_latency_ms"}
    assert n == {ROWS}
    failed = made.scores[(made.scores["system"] == "own_judge:shaky") & (made.scores["metric"] == "show_decision")]
    assert failed["value"].isna().sum() == 4
    assert "TimeoutError: no reply" in set(failed[failed["value"].isna()]["reason"])


def test_parts_of_decisions_are_stated_anew(labelled: Path, tmp_path: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:exact, own_judge:shaky", resamples=200, cost_shown=2.0)
    made.save(tmp_path / "kept")
    whole = Measurement.load(tmp_path / "kept")
    part = Page(whole).subset(list(whole.questions["sample"])).measurement
    assert part.facts["part"]["left_out"] == []
    for name in ("estimates", "comparisons", "placed"):
        anew, before = ([repr(one.row()) for one in getattr(made, name)] for made in (part, whole))
        assert sorted(anew) == sorted(before), name
    for name in ("pairs", "thresholds", "costs"):
        assert part.extra[name].equals(whole.extra[name]), name
    good = Page(whole).subset([f"d{place:02d}" for place in range(0, ROWS, 2)]).measurement  # those to be shown
    assert (good.facts["n_questions"], good.facts["n_to_be_shown"]) == (20, 20)
    assert estimate(good, "own_judge:shaky", "accuracy") == 18 / 20
    assert estimate(good, "show-all", "accuracy") == 1.0
    assert estimate(good, "hide-all", "decision_cost") == 1.0


def test_every_two_judges_by_mcnemar(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:exact, own_judge:shaky", cluster_by="none")
    pairs = made.extra["pairs"].set_index(["first", "second"])
    row = pairs.loc[("own_judge:exact", "own_judge:shaky")]
    assert (row["both"], row["only_first"], row["only_second"], row["neither"]) == (18, 22, 0, 0)
    assert row["p"] == pytest.approx(0.5**22), "mid-p"
    assert row["p"] <= row["p_adjusted"] < 0.001
    [one] = [c.comparison for c in made.comparisons
             if c.metric == "accuracy" and c.comparison.challenger == "own_judge:exact"]  # fmt: skip
    assert one.test == "McNemar, mid-p"
    assert one.p == pytest.approx(0.5**20)
    clustered = tiers.tier_judge_pipeline(judges="own_judge:exact")
    assert clustered.facts["n_clusters"] == 20
    [flipped] = [c.comparison for c in clustered.comparisons if c.metric == "accuracy"]
    assert flipped.clusters == 20
    assert flipped.test.startswith("sign flips")


def test_a_judge_worse_than_the_better_constant_is_said_to_be_so(labelled: Path) -> None:
    """Nine of ten answers are not to be shown. A judge that shows half of them is far above show-all, and far below
    hide-all, in accuracy; on balanced accuracy it is a coin, and where showing costs, it is worse than nothing."""
    rows = [{**row, "question": f"Question {place}?", "show": place % 10 == 0} for place, row in enumerate(cases() * 5)]
    for place, row in enumerate(rows):
        row["id"] = f"d{place:03d}"
    write_lines(labelled / "data" / "small" / "decisions.en.jsonl", rows)
    said = [{"id": f"d{place:03d}", "show": "yes" if place // 10 % 2 else "no"} for place in range(len(rows))]
    write_lines(labelled / "coin.jsonl", said)
    made = tiers.tier_judge_pipeline(judges="coin.jsonl", resamples=500)
    assert made.facts["primary"] == "balanced_accuracy"
    for constant, accuracy_of, recall in (("show-all", 0.1, 1.0), ("hide-all", 0.9, 0.0)):
        assert estimate(made, constant, "accuracy") == accuracy_of
        assert estimate(made, constant, "decision_recall") == recall
        assert estimate(made, constant, "balanced_accuracy") == 0.5
        [half] = [e.estimate for e in made.estimates if (e.system, e.metric) == (constant, "balanced_accuracy")]
        assert (half.low, half.high) == (None, None), "one half by definition has no uncertainty of sampling"
    assert estimate(made, "coin", "accuracy") == 0.5
    assert estimate(made, "coin", "balanced_accuracy") == 0.5
    [row] = [c.comparison for c in made.comparisons if c.metric == "accuracy"]
    assert row.verdict is Verdict.BETTER, "than show-all, which is no praise"
    assert "coin</b> is not shown" not in views.comparison.answer(Page(made)).html()
    assert "<b>coin is not shown to be better than deciding nothing.</b>" in views.comparison.answer(Page(made)).html()
    dear = tiers.tier_judge_pipeline(judges="coin.jsonl", cost_shown=2.0, resamples=500)
    assert dear.facts["primary"] == "decision_cost"
    assert estimate(dear, "coin", "decision_cost") == pytest.approx((90 * 2 + 10) / 200)
    assert estimate(dear, "show-all", "decision_cost") == pytest.approx(0.9 * 2)
    assert estimate(dear, "hide-all", "decision_cost") == pytest.approx(0.1)
    html = views.comparison.answer(Page(dear)).html()
    assert "On decision_cost, <b>coin</b> is better than show-all" in html
    assert "<b>coin is worse than deciding nothing.</b> Its decision_cost is 0.950; that of hide-all is 0.100." in html
    assert "An answer shown wrongly costs 2.00, one held back wrongly 1.00." in html
    for language in ("en", "ru"):
        assert "hide-all" in views.comparison.table(Page(dear, language=language)).html()
    assert "хуже, чем не решать ничего" in views.comparison.answer(Page(dear, language="ru")).html()


def test_better_than_deciding_nothing_takes_both_constants(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(
        judges="own_judge:exact, own_judge:shaky", baseline="own_judge:shaky", cost_hidden=3.0
    )
    assert [one["name"] for one in made.facts["systems"]] == [
        "own_judge:shaky", "own_judge:exact", "show-all", "hide-all"
    ]  # fmt: skip
    assert estimate(made, "own_judge:shaky", "decision_cost") == pytest.approx((18 + 2 * 3) / 40), "failed: held back"
    verdicts = {
        (one.comparison.challenger, one.where["constant"]): one.comparison.verdict
        for one in made.comparisons_by("constant")
    }
    better = [pair for pair, verdict in verdicts.items() if verdict is Verdict.BETTER]
    assert sorted(better) == [(f"own_judge:{name}", f"{constant}-all") for name, constant in (
        ("exact", "hide"), ("exact", "show"), ("shaky", "hide")
    )]  # fmt: skip
    html = views.comparison.answer(Page(made)).html()
    assert (
        "own_judge:exact is better than deciding nothing. Its decision_cost is 0.000; that of show-all is 0.500."
        in html
    )
    assert "<b>own_judge:shaky is not shown to be better than deciding nothing.</b>" in html
    assert {c.comparison.challenger for c in made.comparisons} == {"own_judge:exact"}, "constants challenge nobody"


def test_one_comparison_is_printed_with_one_p(labelled: Path) -> None:
    """The judge against show-all heads the page and stands in the table: the same family, the same p."""
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky, own_judge:exact", resamples=500)
    rows = {one.comparison.challenger: one.comparison for one in made.comparisons_by("constant")}
    heads = [one.comparison for one in made.comparisons if one.metric == "balanced_accuracy"]
    assert len(heads) == 2
    for one in heads:
        row = rows[one.challenger]
        assert (row.p_adjusted, row.verdict) == (one.p_adjusted, one.verdict)


@pytest.mark.parametrize("baseline", ["show-all", "hide-all"])
def test_either_constant_can_be_the_baseline(labelled: Path, baseline: str) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:exact", baseline=baseline, resamples=200)
    assert made.facts["baseline"] == baseline
    assert {c.comparison.baseline for c in made.comparisons} == {baseline}
    [row] = [c.comparison for c in made.comparisons if c.metric == "balanced_accuracy"]
    assert (row.difference, row.verdict) == (0.5, Verdict.BETTER)
    assert not {"show-all", "hide-all"} <= set(made.extra["pairs"].iloc[:, :2].to_numpy().ravel()[:2])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "nobody"}, "baseline = 'nobody': it is show-all, hide-all or one of the judges: lexical"),
        ({"cluster_by": "user"}, "cluster_by = 'user'"),
        ({"cost_shown": -1.0}, "cost_shown = -1.0"),
        ({"cost_shown": 0.0, "cost_hidden": 0.0}, "both 0"),
    ],
)
def test_wrong_options_name_the_legal_ones(options: dict[str, object], said: str, labelled: Path) -> None:
    with pytest.raises(BenchError, match=said):
        tiers.tier_judge_pipeline(**options)  # type: ignore[arg-type]


def test_a_data_set_without_decisions_says_so(project: Path) -> None:
    made = tiers.tier_judge_pipeline(dataset="small")
    assert made.estimates == ()
    page = Page(made)
    assert "no labelled decisions" in views.answers.confusion(page).html()
    for name in ("answer", "intervals", "table", "pairs", "costs", "method", "provenance", "summary"):
        assert page.view(name).html()


def test_without_a_context_the_lexical_judge_is_unmeasured(project: Path) -> None:
    own: dict[str, object] = {"context": ["own"], "passages": {"own": "Text of a1."}}
    rows: list[dict[str, object]] = [
        {"id": f"d{place}", "question": f"Question {place}?", "answer": "Text of a1.", "show": False,
         **(own if place < 4 else {})}
        for place in range(10)
    ]  # fmt: skip
    write_lines(project / "data" / "small" / "decisions.en.jsonl", rows)
    made = tiers.tier_judge_pipeline(judges="lexical", resamples=200)
    kept = {(e.system, e.metric): e.estimate for e in made.estimates}
    accuracy = kept["lexical", "accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.n_unmeasured) == (0.0, 4, 6), "it shows all four that it can read"
    assert kept["show-all", "accuracy"].n == 10
    assert counts(made, "lexical") == {"false_positive": 4, "": 6}
    [compared] = [c.comparison for c in made.comparisons if c.metric == "accuracy"]
    assert (compared.n, compared.difference) == (4, 0.0)
    assert "6 cases are unmeasured: they have no passage" in views.answers.confusion(Page(made), 9).html().striptags()
    write_lines(project / "data" / "small" / "decisions.en.jsonl", [{**row, "context": []} for row in rows])
    nothing = tiers.tier_judge_pipeline(judges="lexical", resamples=200)
    assert not nothing.comparisons
    assert "better" not in views.comparison.answer(Page(nothing)).html().striptags()
    assert nothing.facts["data_hash"] != made.facts["data_hash"]


def test_the_lexical_judge_offline_twice_gives_the_same_measurement(labelled: Path) -> None:
    one, other = tiers.tier_judge_pipeline(), tiers.tier_judge_pipeline()
    assert repr(one.estimates) == repr(other.estimates), "the clock is read once"
    assert one.facts["stand_ins"] == [{"part": "judge", "name": "lexical", "systems": ["lexical"]}]
    assert "show-all" in views.comparison.table(Page(one, language="ru")).html()


def test_a_measurement_is_kept_and_its_views_are_the_same(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky, own_judge:exact")
    made.save(labelled / "kept")
    again = Measurement.load(labelled / "kept")
    for name in ("confusion", "pairs", "costs", "table", "answer"):
        assert Page(made).view(name).html() == Page(again).view(name).html()
    evil = made.extra["decisions"].assign(answer="<script>x</script>")
    html = views.answers.confusion(
        Page(Measurement(**{**made.__dict__, "extra": {**made.extra, "decisions": evil}}))
    ).html()
    assert "<script>" not in html


@pytest.mark.slow
def test_the_notebook_runs_headless_and_two_runs_give_the_same_page(labelled: Path) -> None:
    pages = []
    for number in range(2):
        given = {"judges": "lexical, own_judge:shaky", "resamples": 200}
        folder = report.run([NOTEBOOKS / "tier_judge_pipeline.ipynb"], given, out=labelled / f"run{number}").folder
        pages.append((folder / "tier_judge_pipeline.html").read_bytes())
    assert pages[0] == pages[1]
    assert b"rb-confusion" in pages[0]
    assert b"not complete" not in pages[0]


@pytest.mark.parametrize(
    "how",
    [pytest.param({}, marks=pytest.mark.slow), {"cost_shown": 3.0, "cluster_by": "none", "primary": "f1_score"}],
    ids=["plain", "dear"],
)
def test_every_interval_and_p_follows_from_the_published_decisions(labelled: Path, how: dict[str, Any]) -> None:
    """From cells alone: measures, costs, differences in their families, those of every two judges, and thresholds."""
    made = tiers.tier_judge_pipeline(judges="own_judge:exact, own_judge:shaky", resamples=300, seed=3, **how)
    published = Published(site_of(labelled, made))
    table, told = published["decided"], published.how
    costs, dear = Costs(told["cost_shown"], told["cost_hidden"]), told["cost_shown"] != 1
    cells = {str(name): own for name, own in table.groupby("system", sort=False)}
    groups = None if told["cluster_by"] == "none" else cells["show-all"]["question"].tolist()
    sure = published.sure
    again: list[NamedEstimate | NamedComparison] = []

    def columns(name: str) -> dict[str, Any]:
        own = cells[name]["cell"].to_numpy()
        at = np.array([Cell[one.upper()].value for one in own])
        wrong = np.isin(own, ["false_negative", "failed_positive"])
        right = np.isin(own, ["true_positive", "true_negative"]).astype(float)
        cost = costs.shown * (own == "false_positive") + costs.hidden * wrong
        return {"cells": at, "table": np.eye(6)[at], "accuracy": right, "decision_cost": cost}

    known = {name: columns(name) for name in cells}
    measures = [*([decision_cost] if dear else []), *METRICS]
    most = max(costs.shown, costs.hidden)
    for name, own in known.items():
        given = {each.label: guarded(each, own["cells"], groups, **sure) for each in METRICS}
        fixed = {"show-all": ["decision_recall"], "hide-all": ["decision_recall", "f1_score"]}.get(name, [])
        again += [NamedEstimate(name, metric, value) for metric, value in constructed(given, fixed).items()]
        if dear:
            one = stats.estimate(own["decision_cost"], clusters=groups, bounds=(0.0, most), **sure)
            again.append(NamedEstimate(name, "decision_cost", one))
        times = cells[name]["ms"].to_numpy()
        if not np.isnan(times).all():
            one = stats.estimate(times, clusters=groups, bounds=(0.0, math.inf), **sure)
            again.append(NamedEstimate(name, "avg_latency_ms", one))

    def hypothesis(measure: Any, first: str, name: str) -> stats.Hypothesis:
        both: dict[str, Any] = {**sure, "clusters": groups, "names": (first, name)}
        one, other = known[first], known[name]
        if measure.label in ("accuracy", "decision_cost"):
            scale = (0.0, most if measure.label == "decision_cost" else 1.0)
            sides = ({"": one[measure.label]}, {"": other[measure.label]})
            return stats.hypotheses(*sides, better=measure.better, bounds=scale, **both)[""]
        sides = one["table"], other["table"]
        return stats.statistic_hypothesis(measure, *sides, better="higher", bounds=(0.0, 1.0), **both)

    looking = ["own_judge:exact", "own_judge:shaky"]
    primary = next(each for each in measures if each.label == told["primary"])
    ordered = [primary, *(each for each in measures if each is not primary)]
    idle = ["show-all"] if primary.label == "balanced_accuracy" else ["show-all", "hide-all"]
    asked = {each.label: [("show-all", name) for name in looking] for each in ordered}
    constant = [(one, name) for name in looking for one in idle]
    asked[primary.label] = list(dict.fromkeys([*asked[primary.label], *constant]))
    tested = {each.label: [hypothesis(each, *pair) for pair in asked[each.label]] for each in ordered}
    families = [[primary.label], [each.label for each in ordered[1:]]]
    done: dict[tuple[str, str, str], Any] = {}
    for family in families:
        flat = [one for label in family for one in tested[label]]
        keys = [(label, *pair) for label in family for pair in asked[label]]
        done |= dict(zip(keys, stats.jointly(flat, groups, resamples=300, seed=3), strict=True))
    again += [NamedComparison(label, one) for (label, first, _), one in done.items() if first == "show-all"]
    again += [NamedComparison(primary.label, done[primary.label, *pair], {"constant": pair[0]}) for pair in constant]
    for name, own in cells.items():
        truth, score = own["label"].to_numpy(), own["score"].to_numpy(dtype=float)
        shown = np.isin(own["cell"], ["true_positive", "false_positive"])
        if chosen := chosen_and_scored(name, score, shown, truth, own["question"].tolist(), costs, Sureness(**sure)):
            again += chosen.findings
            [row] = published["thresholds"].query("system == @name").to_dict("records")
            assert [same(one, kept) for one, kept in zip(chosen.row, list(row.values())[1:], strict=True)] == [True] * 7
    assert published.holds(again) > 30
    rows = published["pairs"].to_dict("records")
    sides = [[{"": known[row[side]]["accuracy"]} for side in ("first", "second")] for row in rows]
    every = [stats.hypotheses(*pair, **sure)[""] for pair in sides]
    for row, one in zip(rows, stats.jointly(every, resamples=300, seed=3), strict=True):
        assert (same(one.p, row["p"]), same(one.p_adjusted, row["p_adjusted"])) == (True, True)
