"""A page that several judges judged says for which judges its words hold, and what they are of judges at large."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ragbench.old as rb
from ragbench.old import stats
from ragbench.old.core import stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import NamedComparison
from ragbench.old.tiers.scoring import judge_assignment
from ragbench.old.tiers.scoring.judged_metrics import JUDGEMENT_COLUMNS
from tests.old.judge.scripted_judge import ScriptedJudge

EN, RU = translator("en"), translator("ru")


def judgements(judges: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Thirty answers of two systems by so many judges, each of whom likes the second by more or less."""
    rng = np.random.default_rng(judges)
    apart = 0.1 + rng.normal(0, 0.1, (30, 1)) + np.linspace(-0.1, 0.2, judges) + rng.normal(0, 0.05, (30, judges))
    rows = [
        (system, "faithfulness", f"q{q:02}", f"j{j}", 0.5 + (apart[q, j] if system == "new" else 0), "ok", "", 0.1, "")
        for system in ("old", "new")
        for q in range(30)
        for j in range(judges)
    ]
    return pd.DataFrame(rows, columns=list(JUDGEMENT_COLUMNS)), apart


def facts(judges: int, corrected: tuple[str, ...] = ()) -> dict[str, Any]:
    table, apart = judgements(judges)
    one = stats.compare(np.zeros(30), apart.mean(axis=1), names=("old", "new"), resamples=200)
    compared = [NamedComparison("faithfulness", one), NamedComparison("mrr", one)]
    return {
        "judges": [{"name": f"j{j}", "stand_in": False} for j in range(judges)],
        "judged": ["faithfulness"],
        "aggregate": "mean" if judges > 1 else None,
        "corrected": corrected,
        **judge_assignment.over_judges(table, compared, ["faithfulness"], None, 0.95),
    }


@pytest.mark.parametrize("judges", [3, 4, 5])
def test_the_difference_is_given_with_judges_as_a_random_factor(judges: int) -> None:
    known = json.loads(json.dumps(facts(judges)))
    expected, p = stats.over_judges(judgements(judges)[1])
    [row] = known["over_judges"]
    assert (row["metric"], row["baseline"], row["challenger"], row["judges"], row["n"]) == (
        "faithfulness", "old", "new", judges, 30,
    )  # fmt: skip
    assert (row["difference"], row["low"], row["high"], row["p"]) == pytest.approx(
        (expected.value, expected.low, expected.high, p)
    )
    for _, words in (
        (EN, "hold for these judges ({names}), not for others: judges are no sample in them. With judges as a random"),
        (RU, "верны для этих судей ({names}), а не для других: судьи в них не выборка. С судьями как случайным"),
    ):
        said = stand_ins.caveat(stand_ins.of(known), _)
        assert words.format(names=", ".join(f"j{j}" for j in range(judges))) in said
        ends = _.interval(expected.low, expected.high, 3, signed=True)
        number = f"faithfulness, new − old: {_.number(expected.value, 3, signed=True)} {ends}"
        assert f"{number}, {_.p_value(p, relation=True)}." in said
    assert (f"So few judges as {judges} tell little of others." in stand_ins.caveat(stand_ins.of(known), EN)) == (
        judges < 5
    )
    twice = stand_ins.caveat([*stand_ins.of(known), *stand_ins.of(known)], EN)
    assert twice.count("judges are no sample in them") == 1, "a page and the overview of its run tell of the same panel"
    kept = [one.fact for one in stand_ins.of(known)]
    again = {"stand_ins": json.loads(json.dumps(kept))}
    assert stand_ins.caveat(stand_ins.of(again), EN) == stand_ins.caveat(stand_ins.of(known), EN), (
        "as an index keeps it"
    )


def test_other_judges_are_told_of_all_questions_that_both_systems_were_judged_on() -> None:
    """A difference on a slice is another one, and what a judge scored of one system alone is no pair."""
    table, apart = judgements(3)
    one = stats.compare(np.zeros(30), apart.mean(axis=1), names=("old", "new"), resamples=200)
    compared = [NamedComparison("faithfulness", one), NamedComparison("faithfulness", one, {"slice": "kind:x"})]
    lacking = table[~((table["system"] == "new") & table["sample"].isin(["q00", "q01"]))]
    [row] = judge_assignment.over_judges(lacking, compared, ["faithfulness"], None, 0.95)["over_judges"]
    assert (row["n"], row["difference"]) == (28, pytest.approx(apart[2:].mean()))


def test_no_difference_for_other_judges_is_wider_than_the_scale() -> None:
    """Three judges who see nothing, something and nearly all of 0 to 1: Student's t of two degrees reaches beyond 1."""
    liking = (0.0, 0.3, 0.95)
    rows = [
        (system, "faithfulness", f"q{q:02}", f"j{j}", liking[j] if system == "new" else 0.0, "ok", "", 0.1, "")
        for system in ("old", "new") for q in range(20) for j in range(3)
    ]  # fmt: skip
    one = stats.compare(np.zeros(20), np.full(20, 0.4) + np.arange(20) / 100, names=("old", "new"), bounds=(0, 1),
                        resamples=200)  # fmt: skip
    table = pd.DataFrame(rows, columns=list(JUDGEMENT_COLUMNS))
    [row] = judge_assignment.over_judges(table, [NamedComparison("faithfulness", one)], ["faithfulness"], None, 0.95)[
        "over_judges"
    ]
    free, _ = stats.over_judges(np.tile(liking, (20, 1)))
    assert free.high is not None
    assert free.high > 1
    assert (row["low"], row["high"]) == (pytest.approx(free.low), 1.0)


def test_two_judges_are_too_few_and_one_is_no_panel() -> None:
    known = facts(2)
    assert known["over_judges"][0]["low"] is None
    said = stand_ins.caveat(stand_ins.of(known), EN)
    assert "hold for these judges (j0, j1), not for others" in said
    assert "Two judges are too few to say anything of others." in said
    assert "random factor" not in said
    assert "over_judges" not in facts(1)
    assert "these judges" not in stand_ins.caveat(stand_ins.of(facts(1)), EN)


def test_what_people_correct_is_not_the_judges_word() -> None:
    assert "these judges" not in stand_ins.caveat(stand_ins.of(facts(3, ("faithfulness",))), EN)


def test_scores_say_it_wherever_they_are_said(bare: Path) -> None:
    """In words and in JSON: three judges of a table of answers, one of whom likes the second system far more."""
    questions = [f"q{n:02}" for n in range(12)]

    def liking(name: str, more: int) -> ScriptedJudge:
        said = {True: {"reason": "because", "verdict": 1 + more}, False: {"reason": "because", "verdict": 1}}
        judge = ScriptedJudge(criterion_polite=lambda texts: said["new" in str(texts)])
        judge.name = judge.identity = name
        return judge

    rows = [{"id": one, "system": system, "question": "When?", "answer": f"{system} {one}"}
            for system in ("old", "new") for one in questions]  # fmt: skip
    judges = [liking(f"j{n}", n) for n in range(3)]
    polite = rb.criterion("How polite is it?", name="polite", scale=(1, 5))
    scores = rb.score(rows, [polite], judge=judges, resamples=200)
    said = scores.caveat("en")
    assert "With judges as a random factor, questions and judges crossed: polite, new − old: +1.000" in said
    assert "So few judges as 3 tell little of others." in said
    kept = scores.as_json()
    assert "With judges as a random factor" in kept["caveats"]["rag_metrics"]
    [panel] = [one for one in kept["stand_ins"]["rag_metrics"] if one["part"] == "panel"]
    assert panel["of_others"][0]["low"] < 0 < panel["of_others"][0]["high"]
