"""The page of judges by its front: objects with `ask` and labelled rows in, frames and page out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError, Unmeasured
from ragbench.judge import own_judge
from ragbench.llm import BudgetSpentError, StopError
from tests.llm.chat_server import serving

ROOT = Path(__file__).parents[2]
FEW = {"draws": 200}
# What people and a judge gave to eight answers.
PEOPLE = [1, 2, 3, 4, 5, 5, 2, 1]
ROWS = [
    {
        "id": f"a{n}",
        "question": f"q{n}?",
        "answer": f"answer {n}",
        "reference": f"reference {n}",
        "contexts": ["passage"],
        "ann": rating,
        "ben": min(rating + n % 2, 5),
    }
    for n, rating in enumerate(PEOPLE)
]
BY_ANSWER = {row["answer"]: row["ann"] for row in ROWS}
LABELS = {"labels": "ann,ben"}


class Judge:
    """Gives what ann gave, `shift` higher when asked again; prefers the second place."""

    def __init__(self, name: str = "mine", shift: int = 0) -> None:
        self.name = name
        self.shift = shift

    async def ask(self, prompt: Any, *, repeat: int = 0, **values: Any) -> dict[str, Any]:
        if prompt.name == "pairwise":
            return {"choice": "B"}
        if prompt.name == "faithfulness_rating":
            return {"reason": "read", "rating": 4 - repeat}
        is_padded = values["answer"] not in BY_ANSWER
        rating = 5 if is_padded else BY_ANSWER[values["answer"]] + self.shift * repeat
        return {"reason": f"rated {rating}", "rating": min(rating, 5)}


class Failing(Judge):
    """Fails at whatever it is asked."""

    def __init__(self, error: Exception) -> None:
        super().__init__("dead")
        self.error = error

    async def ask(self, prompt: Any, *, repeat: int = 0, **values: Any) -> Any:
        raise self.error


class Always(Judge):
    """Gives every answer the same."""

    async def ask(self, prompt: Any, *, repeat: int = 0, **values: Any) -> dict[str, Any]:
        return {"choice": "A"} if prompt.name == "pairwise" else {"reason": "", "rating": 5}


def numbers(result: Any, frame: Any = None, key: str = "metric") -> dict[tuple[str, str], float]:
    """The values by system and metric."""
    table = result.estimates if frame is None else frame
    return table.set_index(["system", key])["value"].to_dict()


def test_a_metric_that_asks_several_times_does_so_here_too(tmp_path: Path) -> None:
    asked = []

    def judge(prompt: str) -> dict[str, Any]:
        if '"rating"' in prompt:
            return {"reason": "so", "rating": 4}
        asked.append(prompt)
        return {"reason": "so", "verdict": "yes" if len(asked) == 1 else "no"}

    judges = rb.judge(judge, model="m", journal=tmp_path / "replies.sqlite")
    options = {"metric": "aspect_critique(repeats=3)", "probed": 0, "repeats": 1}
    result = rb.tier_judge(judges, ROWS[:1], columns=LABELS, **options, **FEW)
    first = result.scores[result.scores["metric"].str.startswith("aspect")]
    assert (first["value"].tolist(), len(asked)) == ([0.0], 3)


def test_a_number_that_is_missing_has_its_own_reason() -> None:
    class Mute(Judge):
        async def ask(self, prompt: Any, **values: Any) -> dict[str, Any]:
            if prompt.name == "faithfulness_rating":
                raise Unmeasured("parse_error", "no rating in it")
            return await super().ask(prompt, **values)

    result = rb.tier_judge(Mute(), ROWS, columns=LABELS, **FEW)
    rows = result.scores[result.scores["metric"] == "avg_faithfulness"]
    assert set(rows["status"]) == {"parse_error"}
    assert set(rows["reason"]) == {"no rating in it"}
    others = result.scores[result.scores["metric"] == "consistency_score"]
    assert set(others["status"]) == {"ok"}
    assert "status_faithful" not in result.scores


@pytest.mark.parametrize("tier", ["judge", "pipeline"])
def test_all_judges_spend_together(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_BUDGET__CALLS", "5")
    reply = '{"reason": "r", "rating": 4, "show": "yes", "likelihood": 90}'
    with serving(lambda body, number: reply) as server:
        judges = {
            name: rb.judge(name, base_url=server.url, concurrency=1) for name in ("a", "b", "c")
        }
        rows = [{**row, "show": True} for row in ROWS[:4]]
        options = {"columns": LABELS, "metric": "answer_relevance", "probed": 0}
        measure = {
            "judge": lambda: rb.tier_judge(judges, rows[:1], **options),
            "pipeline": lambda: rb.tier_judge_pipeline(judges, rows),
        }
        with pytest.raises(BudgetSpentError):
            measure[tier]()
        assert len(server.requests) == 5


def test_the_four_numbers_are_those_computed_by_hand() -> None:
    judges = {"same": Judge(), "drifts": Judge(shift=1)}
    result = rb.tier_judge(judges, ROWS, columns=LABELS, **FEW)
    value = numbers(result)
    assert value["same", "consistency_score"] == 1.0
    assert value["drifts", "consistency_score"] == 0.25  # the two answers rated 5 stay there
    assert value["drifts", "error_rate"] == 0.0
    assert value["drifts", "avg_faithfulness"] == 4.0
    assert value["same", "avg_latency_ms"] > 0
    said = result.scores.set_index(["system", "metric", "question_id"])["explanation"]
    assert "rated 4" in said["same", result.request.metric, "a3"]
    assert set(said[said.index.get_level_values("metric") != result.request.metric]) == {""}
    wide = rb.tier_judge(judges, ROWS, columns=LABELS, delta=1, **FEW)
    assert numbers(wide)["drifts", "consistency_score"] == 1.0
    assert len(rb.tier_judge(Judge(), ROWS, columns=LABELS, limit=3, **FEW).frames.questions) == 3


def test_times_are_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.perf_counter", itertools.count().__next__)  # a second each time
    result = rb.tier_judge(Judge(), ROWS[:1], columns=LABELS, repeats=1, **FEW)
    assert numbers(result)["mine", "avg_latency_ms"] % 1000 == 0


def test_judges_and_answers_may_be_names() -> None:
    pd.DataFrame(ROWS).drop(columns="contexts").to_csv("rated.csv", index=False)
    result = rb.tier_judge("lexical", "rated.csv", columns=LABELS, metric="answer_relevance", **FEW)
    assert result.systems == ["lexical"]
    assert result.request.answers == "rated.csv"
    assert result.estimates.set_index("metric").at["consistency_score", "method"] == "construction"


def test_agreement_with_people_and_of_people_with_each_other() -> None:
    result = rb.tier_judge(Judge(), ROWS, columns=LABELS, **FEW)
    agreed = numbers(result, result.statement.agreement, "measure")
    # Of 16 ratings ann's 8 are the judge's own; ben's are one higher at three of four odd answers.
    assert agreed["mine", "accuracy"] == 13 / 16
    assert agreed["mine", "bias"] == -3 / 16
    assert agreed["people", "accuracy"] == 5 / 8
    assert agreed["people", "spearman"] == pytest.approx(0.9372737671530265)  # by SciPy
    assert ("people", "bias") not in agreed
    assert {name for system, name in agreed if system == "mine"} >= {"kappa", "ac1", "icc"}
    assert result.statement.agreement["low"].notna().sum() <= 3  # 8 groups are too few


def test_probes_show_what_sways_a_judge() -> None:
    result = rb.tier_judge(Judge(shift=1), ROWS, columns=LABELS, **FEW)
    value = numbers(result, result.statement.probes)
    assert value["mine", "difference between repeats"] == 6 / 8
    assert value["mine", "same choice in both orders"] == 0.0
    assert value["mine", "preference for the first place"] == -1.0
    assert value["mine", "gain by padding"] == (8 * 5 - sum(PEOPLE)) / 8
    assert value["mine", "scores changed by padding"] == 6 / 8
    without = rb.tier_judge(Judge(), ROWS, columns=LABELS, probed=0, **FEW)
    probed = without.statement.probes.set_index("metric")
    assert probed.at["gain by padding", "n"] == 0
    # An empty answer is not padded; one that is the reference, and one without, has no other.
    rows = [dict(row) for row in ROWS[:4]]
    rows[1]["answer"], rows[2]["reference"], rows[3]["reference"] = "", "answer 2", ""
    few = rb.tier_judge(Judge(), rows, columns=LABELS, **FEW).statement.probes.set_index("metric")
    assert few["n"][["gain by padding", "same choice in both orders"]].tolist() == [2, 1]


def test_a_constant_judge_repeats_itself_by_construction_and_agrees_with_nobody() -> None:
    result = rb.tier_judge(Always("five"), ROWS, columns=LABELS, **FEW)
    rows = result.estimates.set_index("metric")
    assert rows.at["consistency_score", "method"] == "construction"
    assert rows.at["error_rate", "method"] != "construction"
    agreed = numbers(result, result.statement.agreement, "measure")
    assert agreed["five", "kappa"] != agreed["five", "kappa"] or agreed["five", "kappa"] == 0.0
    assert "gives every answer 5:" in str(result.summary[0])
    for given, options in ((ROWS[:1], {}), (ROWS, {"repeats": 1})):
        few = rb.tier_judge(Always("five"), given, columns=LABELS, **options, **FEW)
        method = few.estimates.set_index("metric").at["consistency_score", "method"]
        assert method != "construction"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Unmeasured("judge_error", "connection refused"), "gave no usable reply"),
        (StopError("the key is not accepted"), "could not be asked"),
    ],
)
def test_a_dead_judge_is_named_and_nothing_is_said_of_it(error: Exception, said: str) -> None:
    result = rb.tier_judge([Judge(), Failing(error)], ROWS, columns=LABELS, **FEW)
    assert said in str(result.summary[0])
    assert str(error) in str(result.summary[0])
    dead = result.estimates[result.estimates["system"] == "dead"].set_index("metric")
    assert dead.drop(index="error_rate", errors="ignore")["value"].isna().all()
    assert "dead" not in result.statement.agreement["system"].tolist()
    assert numbers(result)["mine", "consistency_score"] == 1.0
    assert "<html" in result.page.save(Path("page.html")).read_text(encoding="utf-8")


class Sometimes(Judge):
    """Fails at the last two of eight answers."""

    async def ask(self, prompt: Any, *, repeat: int = 0, **values: Any) -> Any:
        if values.get("question", "") in ("q6?", "q7?"):
            raise Unmeasured("judge_error", "connection refused")
        return await super().ask(prompt, repeat=repeat, **values)


def test_what_failed_lies_between_the_ends_of_every_scale() -> None:
    result = rb.tier_judge(Sometimes(), ROWS, columns=LABELS, **FEW)
    frame = pd.concat([result.estimates, result.statement.probes]).set_index("metric")
    missing = frame[frame["n_unmeasured"] == 2]
    ends = {
        "consistency_score": (0, 1),
        "avg_latency_ms": (0, None),
        "avg_faithfulness": (1, 5),
        "difference between repeats": (0, None),
        "same choice in both orders": (0, 1),
        "preference for the first place": (-1, 1),
        "gain by padding": (None, None),
        "scores changed by padding": (0, 1),
    }
    assert set(missing.index) == set(ends)
    for metric, pair in ends.items():
        row = missing.loc[metric]
        for end, column in zip(pair, ("at_lowest", "at_highest"), strict=True):
            expected = float("nan") if end is None else (6 * row["value"] + 2 * end) / 8
            assert row[column] == pytest.approx(expected, nan_ok=True), (metric, column)


def test_where_no_judge_can_be_asked_its_reason_is_the_error() -> None:
    with pytest.raises(BenchError, match="the key is not accepted"):
        rb.tier_judge(Failing(StopError("the key is not accepted")), ROWS, columns=LABELS)
    # Who has spent all is asked nothing more, whoever else could be.
    with pytest.raises(BudgetSpentError, match="nothing is left"):
        rb.tier_judge([Judge(), Failing(BudgetSpentError("nothing is left"))], ROWS, columns=LABELS)


def test_a_model_is_tried_in_both_modes() -> None:
    def say(prompt: str) -> str:
        rating = {"reason": "r", "rating": 3}
        reply = {"choice": "Tie"} if "Answer A" in prompt else rating
        is_reasoned = "step by step" in prompt
        return json.dumps({"reasoning": "so", "answer": reply} if is_reasoned else reply)

    judge = own_judge(say, model="v1", journal="replies.sqlite")
    result, again = (
        rb.tier_judge({"f": judge}, ROWS, columns=LABELS, modes="direct,reasoned", **FEW)
        for _ in range(2)
    )
    # A reply that is kept took as long as it did when it was paid for.
    assert numbers(again) == numbers(result)
    assert result.systems == ["f (direct)", "f (reasoned)"]
    assert set(result.estimates.loc[result.estimates["metric"] == "error_rate", "value"]) == {0.0}


@pytest.mark.parametrize(("judge", "name"), [("lexical", "lexical"), (Judge(), "mine")])
def test_only_of_the_offline_judge_times_are_kept(
    judge: Any, name: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    monkeypatch.setenv("RAGBENCH_RUN_FOLDER", "reports/1")
    results = [rb.tier_judge(judge, ROWS[:2], columns=LABELS, **FEW) for _ in range(2)]
    first, second = (numbers(result)[name, "avg_latency_ms"] for result in results)
    assert (first == second) is (name == "lexical")


def test_answers_without_a_question_are_paired_all_the_same() -> None:
    rated = {"reason": "r", "rating": 2}
    judge = own_judge(
        lambda prompt: {"choice": "A"} if "Answer A" in prompt and "None" not in prompt else rated
    )
    rows = [{name: row[name] for name in ("answer", "reference", "contexts")} for row in ROWS]
    result = rb.tier_judge(judge, rows, metric="response_groundedness", **FEW)
    probes = result.statement.probes.set_index("metric")
    assert probes.loc["preference for the first place", ["value", "n"]].tolist() == [1.0, 8]


def test_ratings_between_the_levels_agree_all_the_same() -> None:
    rows = [{**row, "ann": row["ann"] - 0.5 if row["ann"] > 1 else 1} for row in ROWS]
    result = rb.tier_judge(Judge(), rows, columns={"labels": "ann"}, modes="direct", **FEW)
    assert result.systems == ["mine"]  # which has no modes
    agreed = numbers(result, result.statement.agreement, "measure")
    assert (agreed["mine", "accuracy"], agreed["mine", "bias"]) == (2 / 8, 6 * 0.5 / 8)


def test_ranks_alone_are_compared_where_the_scales_differ() -> None:
    rows = [{**row, "ann": row["ann"] * 2} for row in ROWS]
    options = {"columns": {"labels": "ann"}, "people_scale": "1, 10", **FEW}
    agreed = rb.tier_judge(Judge(), rows, **options).statement.agreement
    assert set(agreed["measure"]) == {"spearman", "kendall"}
    assert agreed["value"].tolist() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            ROWS,
            {"columns": {"labels": "ann"}, "people_scale": "1, 3"},
            "people gave 4, .*set people",
        ),
        (ROWS, {"metric": "rouge1_f"}, "not scored by a judge alone"),
        (ROWS, {"modes": "thoughtful"}, "modes"),
        (ROWS, {"delta": -1}, "delta"),
        ([{"question": "q", "answer": "a", "human": "good"}], {}, "no number"),
    ],
)
def test_what_could_be_misread_is_refused(rows: Any, options: Any, message: str) -> None:
    with pytest.raises(BenchError, match=message):
        rb.tier_judge(Judge(), rows, **options)


def test_several_systems_may_have_answered_one_question() -> None:
    rows = [{**row, "system": name} for row in ROWS[:4] for name in ("old", "new")]
    result = rb.tier_judge(Judge(), rows, columns={"labels": "ann"}, **FEW)
    assert len(result.frames.questions) == 8
    assert result.estimates["n_units"].unique().tolist() == [4]
    rows = [{**row, "cluster": row["ann"] > 2} for row in ROWS]
    clustered = rb.tier_judge(Judge(), rows, columns=LABELS, **FEW)
    assert clustered.estimates["n_units"].unique().tolist() == [2]


def test_answers_without_ratings_have_numbers_and_no_agreement() -> None:
    rows = [{"question": "q", "answer": "answer 1"}, {"question": "r", "answer": "answer 2"}]
    result = rb.tier_judge(Judge(), rows, metric="answer_relevance", **FEW)
    assert result.statement.agreement.empty
    assert "No answer was rated by people." in str(result.page)
