"""Show or don't show: what judges decide against labels, failed calls in n, thresholds held to the other half."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from ragbench import report, stats, tiers, views
from ragbench.core import settings
from ragbench.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.core.types import Status, Verdict
from ragbench.metrics.decisions import Cell, accuracy, decision_cost, decision_recall, f1_score
from ragbench.tiers import BenchError
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.decisions.deciders import read, title
from ragbench.tiers.decisions.decision_measures import METRICS, guarded
from ragbench.tiers.decisions.thresholds import Costs, candidates, cheapest, chosen_and_scored, halves, mean_costs
from ragbench.views import Page
from tests.chat_server import ChatServer
from tests.published import Published, same, site_of
from tests.small_project import NOTEBOOKS, write_lines

ROWS = 40
JUDGE = '''
def exact(question, answer, contexts):
    """Right on every case: good answers say so."""
    return "Yes" if answer.startswith("good") else "No: it was not good yesterday"

def shaky(question, answer, contexts):
    number = int(question.split()[1])
    if number % 10 == 0:
        raise TimeoutError("no reply")
    sure = 0.9 if answer.startswith("good") else 0.2 + 0.5 * (number % 3 == 0)
    return {"show": "yes", "score": sure, "reason": f"sure of it: {sure}"}

async def later(question, answer, contexts):
    return answer.startswith("good") and contexts == ["Text of a1."]

def broken(question, answer, contexts):
    raise RuntimeError("nobody is there")
'''


def cases() -> list[dict[str, object]]:
    """Question 0 to 19, each with a good and a bad answer."""
    return [
        {"id": f"d{place:02d}", "question": f"Question {place // 2} ?", "answer": f"{kind} answer {place}",
         "context": ["a1"], "show": kind == "good", "rationale": f"It is {kind}."}
        for place, kind in enumerate(["good", "bad"] * (ROWS // 2))
    ]  # fmt: skip


@pytest.fixture
def labelled(project: Path) -> Path:
    write_lines(project / "data" / "small" / "decisions.en.jsonl", cases())
    (project / "own_judge.py").write_text(JUDGE, encoding="utf-8")
    return project


def estimate(made: Measurement, system: str, metric: str) -> float:
    return next(e.estimate.value for e in made.estimates if (e.system, e.metric) == (system, metric))


def counts(made: Measurement, system: str) -> dict[str, int]:
    table = made.extra["decisions"]
    return dict(table[table["system"] == system]["cell"].value_counts())


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


def test_a_function_that_hangs_loses_that_decision_alone(labelled: Path) -> None:
    (labelled / "slow_judge.py").write_text(
        "import itertools, time\nturn = itertools.count()\n"
        "def decide(question, answer, contexts):\n    if next(turn) == 3: time.sleep(30)\n    return 'yes'\n",
        encoding="utf-8",
    )
    path = labelled / "ragbench.toml"
    path.write_text("decision_seconds = 0.2\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    settings.load.cache_clear()
    made = tiers.tier_judge_pipeline(judges="slow_judge:decide")
    shown = made.scores[(made.scores["system"] == "slow_judge:decide") & (made.scores["metric"] == "show_decision")]
    failed = shown[shown["value"].isna()]
    assert list(failed["reason"]) == ["no answer within 0.2 s; look what it waits for, or raise decision_seconds"]
    assert len(shown) == ROWS


def test_the_measures_are_scikit_learns(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky")
    table = made.extra["decisions"].query("system == 'own_judge:shaky'")
    truth, said = table["label"].to_numpy(), table["decision"].fillna(value=False).to_numpy(dtype=bool)
    assert estimate(made, "own_judge:shaky", "f1_score") == pytest.approx(sklearn_metrics.f1_score(truth, said))
    assert estimate(made, "own_judge:shaky", "decision_recall") == pytest.approx(
        sklearn_metrics.recall_score(truth, said)
    )


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
    ("file", "called"),
    [("gpt-3.5-turbo.jsonl", "gpt-3.5-turbo"), ("logs/qwen2.5-7b.v1.csv.gz", "qwen2.5-7b.v1"), ("a.PARQUET", "a"),
     ("own_judge:exact", "own_judge:exact")],
)  # fmt: skip
def test_a_file_is_called_by_its_name_without_its_ending_only(file: str, called: str) -> None:
    assert title(file) == called


def test_logged_decisions_and_what_is_missing_in_them(labelled: Path) -> None:
    rows = [{"id": f"d{place:02d}", "show": "no, yesterday", "score": 0.1, "ms": 12.5} for place in range(30)]
    write_lines(labelled / "said.jsonl", [*rows, {"id": "stranger", "show": "yes"}])
    made = tiers.tier_judge_pipeline(judges="said.jsonl")
    assert counts(made, "said") == {
        "true_negative": 15, "false_negative": 15, "failed_positive": 5, "failed_negative": 5,
    }  # fmt: skip
    assert estimate(made, "said", "avg_latency_ms") == 12.5
    assert math.isnan(estimate(made, "said", "decision_precision"))
    assert made.facts["judges"][1]["unknown_cases"] == 1
    html = views.answers.confusion(Page(made), 40).html()
    assert "not in said.jsonl" in html


def test_a_judge_that_decides_nothing_at_all_is_said_first_and_gets_no_verdict(labelled: Path) -> None:
    """Forty unreadable replies were `worse than show-all`: they are no decisions, of which nothing can be said."""
    path = labelled / "silent.jsonl"
    write_lines(path, [{"id": row["id"], "show": "perhaps, perhaps not"} for row in cases()])
    made = tiers.tier_judge_pipeline(judges="silent.jsonl, own_judge:exact")
    assert {each.comparison.challenger for each in made.comparisons} == {"own_judge:exact"}
    assert not [each for each in made.comparisons_by("constant") if each.comparison.challenger == "silent"]
    silent = [each.estimate for each in made.estimates if each.system == "silent"]
    assert all(math.isnan(one.value) and one.low is None and one.n_unmeasured == ROWS for one in silent)
    for language, first in (
        ("en", "silent gave no usable decision on any of 40 cases: a reply of the wrong shape (40)."),
        ("ru", "silent не дал ни одного пригодного решения, всего случаев 40: ответ не той формы (40)."),
    ):
        text = re.sub(r"<[^>]+>", "", views.comparison.answer(Page(made, language=language)).html())
        assert " ".join(text.split()).startswith(first)
        assert "silent is worse" not in text
        drawn = re.sub(r"<[^>]+>", "", views.answers.confusion(Page(made, language=language)).html())
        assert first in " ".join(drawn.split())
        assert "no passage" not in drawn


def test_a_model_behind_an_endpoint_with_replies_that_decide_nothing(labelled: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        text = str(body["messages"])
        number = int(re.findall(r"answer (\d+)", text)[-1])
        if number in (4, 5):
            return "perhaps"
        return {"reason": "its first word", "show": "yes" if "good answer" in text else "no", "likelihood": 90}

    with ChatServer(answer=reply).running() as server:
        configured = labelled / "ragbench.toml"
        judge = f'[judges.model]\nbase_url = "{server.url}"\nmodel = "tester"\nattempts = 2\n'
        configured.write_text(configured.read_text(encoding="utf-8") + judge, encoding="utf-8")
        settings.load.cache_clear()
        made = tiers.tier_judge_pipeline()
        asked = len(server.requests)
        again = tiers.tier_judge_pipeline()
        asked_anew = server.requests[asked:]
    assert [one["name"] for one in made.facts["judges"]] == ["show-all", "model", "hide-all"]
    assert counts(made, "model") == {
        "true_positive": 19, "true_negative": 19, "failed_positive": 1, "failed_negative": 1,
    }  # fmt: skip
    assert estimate(made, "model", "accuracy") == 38 / 40
    assert set(made.extra["decisions"].query("system == 'model' and decision.isna()")["status"]) == {"parse_error"}
    assert estimate(made, "model", "avg_latency_ms") > 0
    anew = {int(re.findall(r"answer (\d+)", str(request.body["messages"]))[-1]) for request in asked_anew}
    assert anew == {4, 5}, "what decided nothing is asked anew by the next run"
    first, second = (one.extra["decisions"].query("system == 'model' and decision.notna()") for one in (made, again))
    assert first.equals(second), "replies and their times come out of the journal"
    timed = "avg_latency_ms"
    assert repr([one for one in again.estimates if one.metric != timed]) == repr(
        [one for one in made.estimates if one.metric != timed]
    )
    assert "model" in views.answers.judges(Page(made)).html()


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ("own_judge:nobody", r"there is no nobody; there are .*exact"),
        ("no_module:f", r"no_module cannot be imported"),
        ("own_judge:broken", r"own_judge:broken failed for all 40 cases: RuntimeError: nobody is there"),
        ("nobody.jsonl", r"judges = 'nobody.jsonl'"),
        ("gpt", r"no judge 'gpt'"),
        ("strange.csv", r"none of the 40 cases is in it; it has x1"),
        ("twice.csv", r"twice.csv, line 3: id = 'd00' stands there twice"),
        ("strange.csv, strange.jsonl", r"two of them are called 'strange'"),
    ],
)
def test_judges_that_cannot_be_used_are_named(judges: str, said: str, labelled: Path) -> None:
    (labelled / "strange.csv").write_text("id,show\nx1,yes\n", encoding="utf-8")
    (labelled / "twice.csv").write_text("id,show\nd00,yes\nd00,no\n", encoding="utf-8")
    with pytest.raises(BenchError, match=said):
        tiers.tier_judge_pipeline(judges=judges)


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


@pytest.mark.parametrize(
    ("reply", "show", "score", "status"),
    [
        ({"show": "yes", "score": "0.7"}, True, 0.7, Status.OK),
        ({"verdict": "нет", "confidence": 1}, False, 1.0, Status.OK),
        ({"show": True, "score": float("nan")}, True, None, Status.OK),
        ({"score": 0.7}, None, 0.7, Status.PARSE_ERROR),
        ("Perhaps yes", None, None, Status.PARSE_ERROR),
        (None, None, None, Status.PARSE_ERROR),
    ],
)
def test_replies_of_functions(reply: object, show: bool | None, score: float | None, status: Status) -> None:
    found = read(reply)
    assert (found.show, found.score, found.status) == (show, score, status)


def test_halves_never_part_a_cluster_and_are_even() -> None:
    clusters = [f"c{place // 2}" for place in range(40)] + ["big"] * 9
    for seed in range(20):
        first = halves(clusters, seed)
        for label in set(clusters):
            places = [n for n, each in enumerate(clusters) if each == label]
            assert len({bool(first[n]) for n in places}) == 1
        assert abs(int(first.sum()) - int((~first).sum())) <= 9
    assert halves(clusters, 1).tolist() == halves(clusters, 1).tolist()
    assert halves(clusters, 1).tolist() != halves(clusters, 2).tolist()


def test_the_cheapest_threshold_by_hand() -> None:
    scores = np.array([0.1, 0.4, 0.6, 0.9, np.nan])
    truth = np.array([False, True, False, True, True])
    costs = Costs(shown=1.0, hidden=1.0)
    assert candidates(scores).tolist() == pytest.approx([-math.inf, 0.25, 0.5, 0.75, math.inf])
    assert mean_costs(scores, truth, costs, candidates(scores)) == pytest.approx([0.6, 0.4, 0.6, 0.4, 0.6])
    assert cheapest(scores, truth, costs) == (pytest.approx(0.25), pytest.approx(0.4))
    at = mean_costs(scores, truth, costs, np.array([0.4]))
    assert at == pytest.approx([0.4]), "a score that equals the threshold is shown"
    dear = Costs(shown=10.0, hidden=1.0)
    assert cheapest(scores, truth, dear) == (pytest.approx(0.75), pytest.approx(0.4))
    plateau = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 1.1])  # 0.2, 0.6 and 1.0 cost two errors of six each: the middle one
    assert cheapest(plateau, np.array([False, True] * 3), costs) == (pytest.approx(0.6), pytest.approx(2 / 6))
    assert cheapest(scores, truth, Costs(shown=1.0, hidden=100.0))[0] == pytest.approx(0.25)


def test_a_threshold_is_scored_where_it_was_not_chosen(labelled: Path) -> None:
    made = tiers.tier_judge_pipeline(judges="own_judge:shaky")
    [row] = made.extra["thresholds"].to_dict("records")
    assert row["n_chosen"] + row["n_scored"] == ROWS
    assert row["threshold"] == pytest.approx(0.8)
    table = made.extra["decisions"].query("system == 'own_judge:shaky'").reset_index(drop=True)
    first = halves([f"question {n // 2} ?" for n in range(ROWS)], 0)
    rest = table[~first]
    shown = (rest["score"] >= row["threshold"]) & rest["decision"].notna()
    cost = {one.where["threshold"]: one.estimate.value for one in made.estimates_by("threshold")}
    assert cost["chosen"] == pytest.approx(float((shown != rest["label"]).mean()))
    assert cost["own"] > cost["chosen"]
    [gain] = [one.comparison for one in made.comparisons_by("threshold")]
    assert gain.difference == pytest.approx(cost["chosen"] - cost["own"])
    assert "0.800" in views.answers.costs(Page(made)).html()


def test_a_chosen_threshold_beside_both_constants_by_hand() -> None:
    """Of 40 cases 28 should be shown: showing all of the other half costs 1 for each of its others, showing none 10."""
    truth = np.arange(40) % 10 < 7
    scores = np.where(truth, 0.8, 0.2)
    costs, clusters = Costs(shown=1.0, hidden=10.0), [str(place) for place in range(40)]
    made = chosen_and_scored("j", scores, np.zeros(40, dtype=bool), truth, clusters, costs, Sureness(0.95, 500, 0))
    assert made is not None
    share = float(truth[~halves(clusters, 0)].mean())
    assert 0 < share < 1
    name, threshold, n_chosen, n_scored, least, show_all, show_none = made.row
    assert (name, n_chosen, n_scored, least) == ("j", 20, 20, 0.0)
    assert threshold == pytest.approx(0.5)
    assert (show_all, show_none) == (pytest.approx(1 - share), pytest.approx(10 * share))
    own, chosen = (one.estimate for one in made.findings if isinstance(one, NamedEstimate))
    assert (own.value, chosen.value) == (pytest.approx(10 * share), 0.0)
    assert own.high is not None
    assert own.value < own.high <= 10
    [gain] = [one.comparison for one in made.findings if isinstance(one, NamedComparison)]
    assert (gain.difference, gain.better, gain.verdict) == (pytest.approx(-10 * share), "lower", Verdict.BETTER)


@pytest.mark.parametrize(("number", "is_enough"), [(20, True), (18, False)])
def test_ten_cases_of_a_half_are_enough_to_choose_a_threshold(number: int, is_enough: bool) -> None:
    scores = np.tile([0.1, 0.9], number // 2)
    truth, clusters = scores > 0.5, [str(place) for place in range(number)]
    made = chosen_and_scored("j", scores, truth, truth, clusters, Costs(1.0, 1.0), Sureness(0.95, 200, 0))
    assert (made is not None) == is_enough


def test_noise_chosen_on_one_half_shows_no_gain_on_the_other() -> None:
    """What looks cheaper than showing all on the half of choice is not so on the other, on the average."""
    chosen, scored = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores, truth = rng.random(60), rng.random(60) < 0.5
        first = halves(list(range(60)), seed)
        threshold, least = cheapest(scores[first], truth[first], Costs(1.0, 1.0))
        chosen.append(least)
        scored.append(mean_costs(scores[~first], truth[~first], Costs(1.0, 1.0), np.array([threshold]))[0])
    assert np.mean(chosen) < 0.42
    assert np.mean(scored) == pytest.approx(0.5, abs=0.02)


def drawn(rng: np.random.Generator, n: int, right: float) -> np.ndarray:
    truth = rng.random(n) < 0.5
    said = np.where(rng.random(n) < right, truth, ~truth)
    return np.where(truth, np.where(said, Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE),
                    np.where(said, Cell.FALSE_POSITIVE, Cell.TRUE_NEGATIVE))  # fmt: skip


def test_an_interval_never_has_no_width() -> None:
    perfect = np.array([Cell.TRUE_POSITIVE] * 15 + [Cell.TRUE_NEGATIVE] * 15)
    for metric in METRICS:
        one = guarded(metric, perfect, level=0.95, resamples=1000, seed=0)
        assert one.value == 1.0
        assert one.low is not None
        assert 0.6 < one.low < 1.0, metric.label
        assert one.note
    many = guarded(accuracy, drawn(np.random.default_rng(0), 400, 0.8), level=0.95, resamples=1000, seed=0)
    assert (many.method, many.note) == ("bca", "")


@pytest.mark.slow
@pytest.mark.parametrize(("right", "n"), [(0.97, 60), (0.9, 60), (0.8, 120), (0.6, 40)])
def test_intervals_cover(right: float, n: int) -> None:
    targets = {metric.label: right for metric in METRICS}  # balanced truth and even errors: all four are the same
    hits = dict.fromkeys(targets, 0)
    for seed in range(400):
        cells = drawn(np.random.default_rng([seed, n]), n, right)
        for metric in METRICS:
            one = guarded(metric, cells, level=0.95, resamples=1000, seed=seed)
            assert one.low is not None
            assert one.high is not None
            hits[metric.label] += one.low <= targets[metric.label] <= one.high
    for label, count in hits.items():
        assert 0.91 <= count / 400 <= 0.99, (label, count)
    assert {accuracy.label, decision_recall.label, f1_score.label} <= set(hits)


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
    "how", [{}, {"cost_shown": 3.0, "cluster_by": "none", "primary": "f1_score"}], ids=["plain", "dear"]
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
        again += [NamedEstimate(name, each.label, guarded(each, own["cells"], groups, **sure)) for each in METRICS]
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
