"""The page of the production judge by its front: functions, files and objects decide."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench.core.errors import BenchError, Unmeasured
from ragbench.llm import BudgetSpentError, StopError

ROOT = Path(__file__).parents[2]
FEW = {"draws": 200}
# Two answers to every question; the first is to be shown. A judge by the last word of an answer.
ROWS = [
    {"id": f"{n}{side}", "question": f"q{n}?", "answer": f"{word}", "show": side == "a"}
    for n in range(12)
    for side, word in (("a", "good" if n < 9 else "odd"), ("b", "bad" if n < 8 else "good"))
]


def by_word(question: str, answer: str, contexts: list[str]) -> str:
    """Shows what is good."""
    return "Yes, it is." if answer == "good" else "No: yes would be wrong."


def values(result: Any) -> dict[tuple[str, str], float]:
    """The values by judge and measure."""
    return result.estimates.set_index(["system", "metric"])["value"].to_dict()


def test_the_measures_are_those_of_the_four_counts() -> None:
    result = rb.tier_judge_pipeline(by_word, ROWS, **FEW)
    counts = result.statement.counts.set_index("system")
    assert counts.loc["by_word", ["tp", "fp", "fn", "tn"]].tolist() == [9, 4, 3, 8]
    assert counts.loc["show-all", ["tp", "fp", "fn", "tn"]].tolist() == [12, 12, 0, 0]
    value = values(result)
    listed = next(part for part in result.parts if part.title == "Every decision").html
    for count, cell in ((9, "shown rightly"), (4, "shown wrongly"), (3, "held back wrongly")):
        assert listed.count(f"</b> {cell}") == count
    assert value["by_word", "accuracy"] == 17 / 24
    assert value["by_word", "decision_precision"] == 9 / 13
    assert value["by_word", "decision_recall"] == 9 / 12
    assert value["by_word", "f1_score"] == 18 / 25
    assert value["by_word", "balanced_accuracy"] == pytest.approx((9 / 12 + 8 / 12) / 2)
    assert value["hide-all", "decision_precision"] != value["hide-all", "decision_precision"]
    rows = result.estimates.set_index(["system", "metric"])
    assert rows.loc[("by_word", "accuracy"), ["n", "n_units"]].tolist() == [24, 12]


def test_times_of_a_function_are_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", itertools.count().__next__)  # a second each time
    result = rb.tier_judge_pipeline(by_word, ROWS, **FEW)
    assert values(result)["by_word", "avg_latency_ms"] == 1000


def test_differences_are_those_of_the_measures_and_show_all_is_the_baseline() -> None:
    result = rb.tier_judge_pipeline(by_word, ROWS, **FEW)
    value = values(result)
    compared = result.comparisons.set_index("metric")
    assert compared.index[0] == "balanced_accuracy"
    assert set(compared["challenger"]) == {"by_word"}
    for metric, row in compared.iterrows():
        expected = value["by_word", metric] - value["show-all", metric]
        assert row["difference"] == pytest.approx(expected, abs=1e-12), metric


def test_baseline_and_primary_measure_may_be_named() -> None:
    options = {"baseline": "hide-all", "primary": "accuracy"}
    result = rb.tier_judge_pipeline(by_word, ROWS, **options, **FEW)
    assert result.systems == ["hide-all", "by_word", "show-all"]
    assert result.request.metrics[0] == "accuracy"
    assert len(set(result.request.metrics)) == len(result.request.metrics)
    pairs = result.comparisons[["challenger", "baseline"]].drop_duplicates()
    assert pairs.to_numpy().tolist() == [["by_word", "hide-all"]]
    # Who hides all has no hits, whatever the answers are.
    methods = result.estimates.set_index(["system", "metric"])["method"]
    assert methods["hide-all", "f1_score"] == "construction"
    assert methods["show-all", "f1_score"] != "construction"


def test_reasons_are_kept_as_they_were_given() -> None:
    judges = {
        "says": by_word,
        "tells": lambda *texts: {"decision": "yes", "reason": "so it is"},
        "nods": lambda *texts: True,
    }
    result: Any = rb.tier_judge_pipeline(judges, ROWS[:2], **FEW)
    said = result.frames.decisions.groupby("system", sort=False)["explanation"].first()
    assert said[list(judges)].tolist() == ["Yes, it is.", "so it is", ""]


def test_what_errors_cost_heads_the_page_where_they_cost_differently() -> None:
    result = rb.tier_judge_pipeline(by_word, ROWS, cost_shown=5, **FEW)
    assert result.request.primary == "decision_cost"
    assert values(result)["by_word", "decision_cost"] == (5 * 4 + 3) / 24
    assert values(result)["show-all", "decision_cost"] == 5 * 12 / 24
    assert "On decision_cost by_word is better than show-all" in str(result.summary[0])


def test_a_call_that_failed_stays_in_n_and_makes_no_verdict() -> None:
    def shaky(question: str, answer: str, contexts: list[str]) -> str:
        if question in ("q0?", "q1?", "q2?"):
            raise ConnectionError("the line is dead")
        return by_word(question, answer, contexts)

    result = rb.tier_judge_pipeline(shaky, ROWS, **FEW)
    rows = result.estimates.set_index(["system", "metric"])
    assert rows.loc[("shaky", "accuracy"), ["value", "n"]].tolist() == [11 / 24, 24]
    compared = result.comparisons.set_index("metric")
    assert compared.at["accuracy", "n_unmeasured"] == 6
    assert not compared["word"].str.startswith(("better", "worse")).any()
    assert "shaky gave no decision in 6 of 24 calls: ConnectionError" in str(result.summary[0])


class Dead:
    """A judge that nobody reaches."""

    name = "dead"

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def ask(self, prompt: Any, **values: Any) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [Unmeasured("judge_error", "connection refused"), StopError("connection refused")],
    ids=["of each call", "of all calls"],
)
def test_a_dead_judge_is_named_and_has_no_numbers(error: Exception) -> None:
    result = rb.tier_judge_pipeline([by_word, Dead(error)], ROWS, **FEW)
    dead = result.estimates[result.estimates["system"] == "dead"]
    assert dead["value"].isna().all()
    assert "dead gave no decision in 24 of 24 calls: connection refused" in str(result.summary[0])
    words = result.comparisons.set_index(["challenger", "metric"])["word"]
    assert set(words["dead"]) == {"cannot be told"}
    page = result.page.save(Path("page.html")).read_text(encoding="utf-8")
    assert "the call failed" in page


def test_a_function_reads_question_answer_and_passages() -> None:
    rows = [{**row, "contexts": ["no"] if row["show"] else []} for row in ROWS]
    seen = {"seen": lambda question, answer, contexts: contexts == ["no"] and question[0] == "q"}
    counts = rb.tier_judge_pipeline(seen, rows, **FEW).statement.counts.set_index("system")
    assert counts.loc["seen", ["tp", "fp", "fn", "tn"]].tolist() == [12, 0, 0, 12]


@pytest.mark.parametrize(("n_failed", "is_told"), [(6, True), (7, False)])
def test_of_a_judge_of_whose_calls_most_failed_nothing_is_told(
    n_failed: int, is_told: bool
) -> None:
    def shaky(question: str, answer: str, contexts: list[str]) -> str:
        return by_word(question, answer, contexts) if int(question[1:-1]) >= n_failed else "?"

    value = values(rb.tier_judge_pipeline(shaky, ROWS, **FEW))
    assert (value["shaky", "accuracy"] == value["shaky", "accuracy"]) is is_told


def test_who_has_spent_all_is_asked_nothing_more() -> None:
    with pytest.raises(BudgetSpentError, match="nothing is left"):
        rb.tier_judge_pipeline(Dead(BudgetSpentError("nothing is left")), ROWS, **FEW)


def test_a_judge_that_always_says_yes_is_by_construction() -> None:
    result = rb.tier_judge_pipeline({"yes": lambda *texts: True}, ROWS, **FEW)
    methods = result.estimates.set_index(["system", "metric"])["method"]
    for system in ("yes", "show-all"):
        assert methods[system, "balanced_accuracy"] == "construction"
        assert methods[system, "accuracy"] != "construction"
    assert set(result.comparisons["word"]) == {"equal on every question"}
    nearly = {"yes": lambda question, *texts: "?" if question == "q0?" else True}
    methods = rb.tier_judge_pipeline(nearly, ROWS, **FEW).estimates.set_index(["system", "metric"])
    assert methods.at[("yes", "balanced_accuracy"), "method"] != "construction"


def test_what_the_first_judge_decides_wrongly_stands_first_in_the_list() -> None:
    judges = {"by_word": by_word, "always": lambda question, answer, contexts: "yes"}
    page = rb.tier_judge_pipeline(judges, ROWS, **FEW).page
    [listed] = [part for part in page.parts if part.title == "Every decision"]
    assert list(listed.content.columns) == ["text", "by_word", "always", "people"]
    wrong = ["8b", "9a", "9b", "10a", "10b", "11a", "11b"]
    assert list(listed.content.index[:9]) == [*wrong, "0a", "0b"]


def test_decisions_of_a_file_are_read_by_their_first_word() -> None:
    said = [{"id": row["id"], "decision": by_word("", row["answer"], [])} for row in ROWS[:20]]
    Path("log.json").write_text(json.dumps(said), encoding="utf-8")
    result = rb.tier_judge_pipeline("log.json", ROWS, **FEW)
    counts = result.statement.counts.set_index("system").loc["log"]
    assert counts.tolist() == [9, 2, 1, 8, 2, 2]
    assert ("log", "avg_latency_ms") not in values(result)
    Path("first.json").write_text(json.dumps(said[:1]), encoding="utf-8")
    counts = rb.tier_judge_pipeline("first.json", ROWS, **FEW).statement.counts
    assert counts.set_index("system").loc["first"].tolist() == [1, 0, 0, 0, 11, 12]


@pytest.mark.parametrize(
    ("judges", "options", "message"),
    [
        ("lexicl", {}, "did you mean 'lexical'"),
        ("nowhere:judge", {}, "cannot be imported"),
        ("none.json", {}, "there is no file"),
        ("odd.json", {}, "a row has id and decision; columns seen: id, said"),
        ("nameless.json", {}, "a row has id and decision; columns seen: decision"),
        ("others.json", {}, "no id of the file, such as 'x', is that of an answer"),
        ("lexical", {"baseline": "show_all"}, "baseline 'show_all' is none of"),
        ("lexical", {"cost_shown": 0, "cost_hidden": 0}, "one of the errors has to cost"),
        ("lexical", {"primary": "f1"}, "primary 'f1' is none of"),
        ([by_word, by_word], {}, "called alike"),
    ],
)
def test_what_cannot_decide_is_refused(judges: Any, options: Any, message: str) -> None:
    files = {"odd": {"id": "0a", "said": 1}, "nameless": {"decision": 1}}
    for name, row in {**files, "others": {"id": "x", "decision": 1}}.items():
        Path(f"{name}.json").write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(BenchError, match=message):
        rb.tier_judge_pipeline(judges, ROWS, **options)


def test_rows_without_a_label_are_refused() -> None:
    with pytest.raises(BenchError, match="show"):
        rb.tier_judge_pipeline("lexical", [{"question": "q", "answer": "a"}])
