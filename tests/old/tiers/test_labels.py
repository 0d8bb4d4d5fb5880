"""Judged means beside people's: labels are read, held to what was measured, and kept with a run."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old import stats, views
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    Finding,
    Measurement,
    NamedComparison,
    NamedEstimate,
)
from ragbench.old.core.settings import GateSettings, Settings
from ragbench.old.core.types import Comparison, Verdict
from ragbench.old.metrics import catalogue
from ragbench.old.report import exports
from ragbench.old.report.keeping import results
from ragbench.old.tiers import BenchError, corrected
from ragbench.old.tiers.basics.findings import Sureness, find
from ragbench.old.tiers.run.gates import decide
from ragbench.old.tiers.scoring.corrections import COLUMNS, Corrections, corrections, read
from ragbench.old.views import Page

KIND, N = 0.15, 400  # how much too kind the judge is, and answers


def world(seed: int, correlation: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """(people, judge): values between 0 and 1, the judge too kind by KIND and noisy."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0.5, 0.12, N)
    noise = 0.12 * math.sqrt(1 / correlation**2 - 1)
    return np.clip(truth, 0, 1), np.clip(truth + KIND + rng.normal(0, noise, N), 0, 1)


def measurement(**judges: np.ndarray) -> Measurement:
    rows = [
        (system, "faithfulness", f"q{place}", value, "ok", "", "lexical")
        for system, values in judges.items()
        for place, value in enumerate(values)
    ]
    return Measurement(
        notebook="tier2_generation",
        facts={"seed": 0, "level": 0.95, "baseline": next(iter(judges))},
        scores=pd.DataFrame(rows, columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(columns=list(RETRIEVED_COLUMNS)),
    )


def table(people: np.ndarray, system: str | None, annotator: str = "anna", count: int = 60) -> pd.DataFrame:
    rows = [(f"q{place}", system, "faithfulness", annotator, value) for place, value in enumerate(people[:count])]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def means(found: Corrections) -> list[dict[str, Any]]:
    """What is known of each labelled mean, those of people alone and of the judge beside the corrected one."""
    rows = []
    for row in found.labels.to_dict("records"):
        own = [one for one in found.findings if isinstance(one, NamedEstimate)]
        seen = {str(one.where["mean"]): one.estimate for one in own
                if (one.system, one.metric) == (row["system"], row["metric"])}  # fmt: skip
        both, people, judge = (seen[by] for by in ("corrected", "people", "judge"))
        known = {name: getattr(both, name) for name in ("value", "low", "high", "method", "note", "n_effective")}
        known |= {"people": people.value, "people_low": people.low, "people_high": people.high, "judge": judge.value}
        assert both.n == people.n
        rows.append({**row, **known, "labels": both.n})
    return rows


def difference(found: Corrections) -> Comparison:
    """The only one."""
    [one] = [one for one in found.findings if isinstance(one, NamedComparison)]
    assert one.where == {"mean": "corrected"}
    return one.comparison


def test_the_corrected_mean_is_the_prediction_powered_one() -> None:
    people, judge = world(1)
    [row] = means(corrections(measurement(one=judge), table(people, "one")))
    expected = stats.prediction_powered(people[:60], judge[:60], judge[60:], bounds=(0, 1), level=0.95, seed=0)
    assert (row["value"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
    assert (row["labels"], row["items"], row["annotators"]) == (60, N, 1)
    assert row["correlation"] == pytest.approx(np.corrcoef(people[:60], judge[:60])[0, 1])
    assert row["n_effective"] > 120
    assert row["judge"] == pytest.approx(judge.mean())
    assert row["people"] == pytest.approx(people[:60].mean())
    assert row["low"] <= people.mean() <= row["high"] < row["judge"]


def test_several_annotators_count_as_their_mean_and_agree_by_alpha() -> None:
    people, judge = world(2)
    other = table(np.clip(people + 0.1, 0, 1), "one", "boris")
    both = pd.concat([table(people, "one"), other], ignore_index=True)
    [row] = means(corrections(measurement(one=judge), both))
    assert row["annotators"] == 2
    assert row["labels"] == 60
    assert row["people"] == pytest.approx((people[:60].mean() + other["value"].mean()) / 2)
    assert 0.3 < row["alpha"] < 0.95
    same = pd.concat([table(people, "one"), table(people, "one", "boris")], ignore_index=True)
    assert means(corrections(measurement(one=judge), same))[0]["alpha"] == pytest.approx(1.0)


def test_a_judge_that_follows_nobody_is_left_aside() -> None:
    people, judge = world(3)
    blind = np.random.default_rng(0).permutation(judge)
    labels = table(people, "one")
    [row] = means(corrections(measurement(one=blind), labels))
    assert abs(row["correlation"]) < 1 / math.sqrt(58)
    assert row["note"] == "weak_judge"
    assert (row["value"], row["low"], row["high"]) == (row["people"], row["people_low"], row["people_high"])
    assert row["value"] == pytest.approx(people[:60].mean())
    [few] = means(corrections(measurement(one=judge), labels[:8]))
    assert (few["method"], few["note"], few["labels"]) == ("people", "few", 8)
    alone = stats.estimate(people[:8], bounds=(0, 1))
    assert (alone.method, few["low"], few["high"]) == ("wilson", alone.low, alone.high)
    [everything] = means(corrections(measurement(one=judge), table(people, "one", count=N)))
    assert everything["note"] == "few", "there is no unlabelled answer to lean on"
    assert everything["value"] == pytest.approx(people.mean())


def test_labels_alone_never_have_an_interval_without_width() -> None:
    judge = world(11)[1]
    [row] = means(corrections(measurement(one=judge), table(np.ones(N), "one")))
    assert (row["value"], row["note"]) == (1.0, "no_spread")
    alone = stats.estimate(np.ones(60), bounds=(0, 1))
    assert (row["method"], row["low"], row["high"]) == ("people", alone.low, alone.high)
    assert 0.85 < row["low"] < 1.0


def test_questions_of_one_cluster_are_not_independent() -> None:
    people, judge = world(12)
    made = measurement(one=judge)
    rows = [(f"q{n}", "?", None, None, "en", f"c{n // 4}", None, []) for n in range(N)]
    grouped = replace(made, questions=pd.DataFrame(rows, columns=list(QUESTION_COLUMNS)))
    [row] = means(corrections(grouped, table(people, "one")))
    labels = [f"c{n // 4}" for n in range(N)]
    expected = stats.prediction_powered(
        people[:60], judge[:60], judge[60:], clusters=(labels[:60], labels[60:]), bounds=(0, 1), level=0.95, seed=0
    )
    assert (row["value"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
    assert expected.clusters == 15
    free = replace(grouped, facts={**made.facts, "cluster_by": "none"})
    assert means(corrections(free, table(people, "one")))[0]["low"] != expected.low


def test_differences_are_peoples_and_not_the_judges() -> None:
    people, judge = world(4)
    vain = np.clip(judge + 0.1, 0, 1)  # a judge that likes the second system for nothing
    labels = pd.concat([table(people, "one"), table(people, "two")], ignore_index=True)
    one = difference(corrections(measurement(one=judge, two=vain), labels))
    assert (one.baseline, one.challenger, one.n) == ("one", "two", 60)
    assert one.difference == pytest.approx(0.0, abs=1e-9)
    assert one.verdict is Verdict.NOT_SHOWN
    better = pd.concat([table(people, "one"), table(np.clip(people + 0.1, 0, 1), "two")], ignore_index=True)
    assert difference(corrections(measurement(one=judge, two=judge), better)).difference == pytest.approx(0.1, abs=0.02)


def test_unmeasured_scores_are_no_items() -> None:
    people, judge = world(5)
    judge = judge.copy()
    judge[[0, 1, 100]] = np.nan
    [row] = means(corrections(measurement(one=judge), table(people, "one")))
    assert (row["labels"], row["items"]) == (58, N - 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metric": "mrr"}, r"a label is of mrr of one, which was not measured; measured: faithfulness of one"),
        ({"system": "two"}, r"faithfulness of two, which was not measured"),
        ({"value": 4.0}, r"q0 on faithfulness is 4; its scale goes from 0 to 1"),
        ({"id": "stranger"}, r"no label is of a sample of this page: stranger; it has q0"),
    ],
)
def test_labels_that_fit_nothing_are_named(change: dict[str, object], said: str) -> None:
    people, judge = world(6)
    with pytest.raises(BenchError, match=said):
        corrections(measurement(one=judge), table(people, "one", count=1).assign(**change))


def test_a_label_without_a_system_is_of_the_only_one() -> None:
    people, judge = world(7)
    assert len(corrections(measurement(one=judge), table(people, None)).labels) == 1
    with pytest.raises(BenchError, match="names no system, and the page has 2: one, two"):
        corrections(measurement(one=judge, two=judge), table(people, None))


def test_files_are_read_and_empty_values_left_out(project: Path) -> None:
    (project / "a.csv").write_text("id,metric,value\nq1,mrr,0.5\nq2,mrr,\n", encoding="utf-8")
    lines = [{"id": 7, "metric": "mrr", "value": 1, "annotator": "b", "system": "s"}]
    (project / "b.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = read("a.csv, b.jsonl")
    assert found["id"].tolist() == ["q1", "7"]
    assert found["annotator"].tolist() == ["people", "b"]
    assert found["system"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,metric,value\nq1,mrr,OK\n", r"a.csv, line 2: value = 'OK'"),
        ("id,value\nq1,1\n", r"a.csv, line 2: metric is missing"),
        ("id,metric,value\nq1,mrr,1\nq1,mrr,0\n", r"a.csv, line 3: people labels q1 on mrr a second time"),
        ("id,metric,value\nq1,mrr,\n", r"no row has a value; the columns are id, system, metric"),
        ("id,metric,value\nq1,mrr,nan\n", r"no row has a value; the columns are id, system, metric"),
    ],
)
def test_files_that_cannot_be_used_name_the_place(text: str, said: str, project: Path) -> None:
    (project / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=said):
        read("a.csv")


def whole(**judges: np.ndarray) -> Measurement:
    """With the judge's means and differences, as a tier measures them."""
    made = measurement(**judges)
    metrics = [catalogue()["faithfulness"]]
    estimates, comparisons = find(made.scores, metrics, list(judges), None, Sureness(0.95, 500, 0), "faithfulness")
    known = {"judges": [{"name": "gpt", "stand_in": False}], "judged": ["faithfulness"], "primary": "faithfulness"}
    facts = {**made.facts, **known, "systems": [{"name": name} for name in judges]}
    return replace(made, facts=facts, estimates=estimates, comparisons=comparisons)


def test_no_labels_leave_everything_as_it_is_and_the_page_says_so() -> None:
    made = whole(one=world(8)[1])
    assert corrected(made, "") is made
    page = Page(made)
    assert ALONE in text(views.comparison.answer(page).html())
    assert text(views.answers.corrected(page).html()) == "", "it is said once"


ALONE = "not of what people would say: no labels by people correct them"


def text(html: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", str(html))).split())


def test_what_people_would_say_comes_first_wherever_it_is_said() -> None:
    """The judge takes the second system for better by 0.1; people see no difference between the two."""
    people, judge = world(13)
    vain = np.clip(judge + 0.1, 0, 1)
    other = np.clip(people + np.random.default_rng(0).normal(0, 0.05, N), 0, 1)
    labels = pd.concat([table(people, "one"), table(other, "two")], ignore_index=True)
    before = whole(one=judge, two=vain)
    assert before.comparisons[0].comparison.verdict is Verdict.BETTER
    made = corrected(before, labels)
    assert made.facts["corrected"] == ["faithfulness"]
    expected = stats.prediction_powered(people[:60], judge[:60], judge[60:], bounds=(0, 1), level=0.95, seed=0)
    first = made.estimates[0].estimate
    assert (first.value, first.low, first.high, first.n) == (expected.value, expected.low, expected.high, 60)
    [difference] = made.comparisons
    assert difference.comparison.verdict is Verdict.NOT_SHOWN
    found: tuple[Finding, ...] = (*made.estimates, *made.comparisons)
    alone = [judge_alone.row() for one in found if (judge_alone := made.alone(one))]
    assert alone == [one.row() for one in (*before.estimates, *before.comparisons)]
    assert made.judged_alone().estimates == before.estimates
    assert made.judged_alone().comparisons == before.comparisons
    again = made.with_people_first()
    assert (again.estimates, again.comparisons, again.placed) == (made.estimates, made.comparisons, made.placed)

    value, judged = f"{first.value:.3f} [{first.low:.3f}, {first.high:.3f}]", f"{judge.mean():.3f}"
    said = f"{difference.comparison.difference:+.3f}"
    page = Page(made)
    outputs = {
        "headline": text(views.comparison.answer(page).html()),
        "table": text(views.comparison.table(page).html()),
        "index": text(views.about.summary(page).html()),
        "repr": repr(made),
        "LaTeX": re.sub(r"\\num\{(.*?)\}", r"\1", exports.latex_table(made, translator("en"))).replace(r"\\{}", " "),
        "Markdown": exports.summary({"notebooks": [{"name": made.notebook}]}, {made.notebook: made}, None,
                                     translator("en")).replace("\\", ""),
    }  # fmt: skip
    for name, found in outputs.items():
        assert ALONE not in found, name
        plain = found.replace("−", "-").replace("$", "")
        assert said.replace("+0.000", "0.000").lstrip("+") in plain, name
        if name != "headline":
            assert value in plain, name
        assert "he judge alone:" in plain or name == "index", name
    for name in ("table", "repr", "LaTeX", "Markdown"):
        assert judged in outputs[name], f"{name} has the judge's mean beside it"
    assert "better" not in outputs["headline"].split("The judge alone")[0]
    row = results.findings({made.notebook: made})["estimates"][0]
    assert (row["value"], row["judge_alone"]["value"]) == (first.value, before.estimates[0].estimate.value)
    checked = GateSettings(metric="faithfulness", at_most=0.6)
    [one, two] = decide({made.notebook: made}, Settings(gate={"any": checked})).checks
    assert (one.value, one.low, one.outcome, two.outcome) == (first.value, first.low, "holds", "holds")
    within = GateSettings(metric="faithfulness", not_worse_by=0.05)
    [check] = decide({made.notebook: made}, Settings(gate={"any": within})).checks
    assert (check.value, check.low) == (difference.comparison.difference, difference.comparison.low)


def test_a_metric_with_labels_of_one_system_only_stays_the_judges() -> None:
    people, judge = world(14)
    before = whole(one=judge, two=judge)
    made = corrected(before, table(people, "one"))
    assert made.facts["corrected"] == []
    assert (made.estimates, made.comparisons) == (before.estimates, before.comparisons)
    page = Page(made)
    assert ALONE in text(views.comparison.answer(page).html())
    assert "Some systems have no labels on faithfulness" in text(views.answers.corrected(page).html())


def test_unmeasured_answers_are_still_counted() -> None:
    people, judge = world(15)
    judge[390:] = math.nan
    made = corrected(whole(one=judge), table(people, "one"))
    assert (made.estimates[0].estimate.n, made.estimates[0].estimate.n_unmeasured) == (60, 10)
    few = GateSettings(metric="faithfulness", at_most=0.6, most_unmeasured=0.05)
    [check] = decide({"a": made}, Settings(gate={"any": few})).checks
    assert check.outcome == "holds", "10 of 400 are missing, not 10 of 70"


def test_a_run_keeps_what_was_corrected(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people, judge = world(9)
    folder = project / "run" / "parts" / "tier2_generation"
    made = whole(one=judge)
    made.save(folder)
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", str(project / "run"))
    table(people, "one").to_csv(project / "labels.csv", index=False)
    found = corrected(made, "labels.csv")
    again = Measurement.load(folder)
    pd.testing.assert_frame_equal(again.extra["corrected"], found.extra["corrected"])
    (project / "labels.csv").unlink()
    assert corrected(again, "labels.csv") is again, "a page is drawn again without the labels"
    assert [(one.where, one.estimate.value, one.estimate.low) for one in again.estimates_by("mean")] == [
        (one.where, one.estimate.value, one.estimate.low) for one in found.estimates_by("mean")
    ]
    (folder / "extra-corrected.parquet").unlink()
    table(people, "one").to_csv(project / "labels.csv", index=False)
    assert Measurement.load(folder).estimates == found.estimates, "a kill came before the last table"
    repaired = corrected(Measurement.load(folder), "labels.csv")
    assert len(repaired.placed) == 3, "what a kill has left is replaced"
    assert (repaired.estimates, repaired.placed) == (found.estimates, found.placed)
    replace(found.judged_alone(), placed=found.placed).save_findings(folder)
    assert Measurement.load(folder).estimates == found.estimates, "a run of before that had the judge's mean first"
    html = views.answers.corrected(Page(again, language="ru")).html()
    assert "60" in html
    assert views.answers.corrected(Page(again)).html() == views.answers.corrected(Page(found)).html()


def test_the_view_says_why_a_judge_was_left_aside() -> None:
    people, judge = world(10)
    made = corrected(measurement(one=judge), table(people, "one")[:8])
    assert "too few labels" in views.answers.corrected(Page(made)).html()
    evil = replace(
        made, extra={"corrected": made.extra["corrected"].assign(system="<b>x</b>")},
        placed=tuple(replace(one, system="<b>x</b>") for one in made.placed if isinstance(one, NamedEstimate)),
    )  # fmt: skip
    assert "<b>x</b>" not in views.answers.corrected(Page(evil)).html()


def coverage(labels: int, correlation: float, runs: int, grades: int | None) -> tuple[float, float, float]:
    """(coverage, share of runs narrower than people alone, mean width over people's) of the corrected mean."""
    hits = narrower = 0
    ratios = []
    for seed in range(runs):
        rng = np.random.default_rng([seed, labels, grades or 0])
        latent = rng.normal(size=600)
        seen = correlation * latent + math.sqrt(1 - correlation**2) * rng.normal(size=600)
        if grades is None:
            people, judge, target = 0.6 + 0.2 * latent, 0.75 + 0.15 * seen, 0.6
        else:
            edges = np.linspace(-1.2, 1.2, grades + 1)[1:-1]
            people, judge = (np.digitize(each, edges) / (grades - 1) for each in (latent, seen + 0.5))
            target = float(np.mean([_above(edge) for edge in edges]))
        one = stats.prediction_powered(people[:labels], judge[:labels], judge[labels:], seed=seed)
        assert one.low is not None
        assert one.high is not None
        hits += one.low <= target <= one.high
        alone = one.intervals["people"]
        ratios.append((one.high - one.low) / (alone[1] - alone[0]))
        narrower += ratios[-1] < 1
    return hits / runs, narrower / runs, float(np.mean(ratios))


def _above(edge: float) -> float:
    return 0.5 * math.erfc(edge / math.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize("grades", [None, 5, 2])
@pytest.mark.parametrize("correlation", [0.3, 0.75, 0.9])
def test_fifty_labels_cover_and_a_good_judge_narrows_them(correlation: float, grades: int | None) -> None:
    covered, narrower, ratio = coverage(50, correlation, 2000, grades)
    assert 0.93 <= covered <= 0.97, covered
    if correlation > 0.7 and grades is None:
        assert narrower > 0.95
        assert ratio < 0.85
