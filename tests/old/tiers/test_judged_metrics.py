"""How judges did their work, counted by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.judge import Rule
from ragbench.old.llm import Usage
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.scoring.judged_metrics import judge_work
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.scored_answers import Scores

FAITHFULNESS = catalogue()["faithfulness"]
EXACT = next(each for each in catalogue().values() if each.grain == "sample" and not each.needs)


def one(value: float | Status, judge: str, **detail: Any) -> Score:
    if isinstance(value, Status):
        return Score.unmeasured(value, "because", judge=judge, detail=detail)
    return Score(value, judge=judge, detail=detail)


def panel(rule: Rule, *pairs: tuple[float | Status, float | Status]) -> Scores:
    rows = [
        Row(Sample(f"q{n}", "?", "!", system="s"), FAITHFULNESS, rule({"a": one(a, "a"), "b": one(b, "b")}))
        for n, (a, b) in enumerate(pairs)
    ]
    return Scores(tuple(rows), usage={"a": Usage(3, 30, 9, 0.5, 0)})


def test_failures_are_the_judges_own_and_not_those_of_empty_answers() -> None:
    pairs = [(1.0, Status.TIMEOUT), (0.5, Status.PARSE_ERROR), (0.0, Status.TIMEOUT), (1.0, 0.0)]
    blank = [(Status.EMPTY_INPUT, Status.EMPTY_INPUT), (Status.EMPTY_DECOMPOSITION, 1.0)]
    known = judge_work(panel(Rule(), *pairs, *blank), ["a", "b"], Rule())
    assert (known["a"]["asked"], known["a"]["failed"], known["a"]["statuses"]) == (5, 0, {})
    assert (known["b"]["asked"], known["b"]["failed"]) == (5, 3)
    assert known["b"]["statuses"] == {"parse_error": 1, "timeout": 2}
    assert known["a"]["usage"] == {
        "replies": 3, "input_tokens": 30, "output_tokens": 9, "cost": 0.5, "estimated": 0,
            "model": "", "answered_by": {}, "unpriced": 0, "imported": 0, "unsent": {},
    }  # fmt: skip
    assert "usage" not in known["b"]


def test_influence_is_what_the_mean_becomes_without_the_judge() -> None:
    rule = Rule(quorum=1)
    known = judge_work(panel(rule, (1.0, 0.0), (0.5, 0.5), (0.0, Status.TIMEOUT)), ["a", "b"], rule)
    [line] = known["a"]["influence"]
    # the aggregate is 0.5, 0.5, 0.0; without a only the first two are measured, as 0.0 and 0.5
    assert line == {
        "metric": "faithfulness", "whole": 0.5, "without": 0.25, "shift": -0.25, "largest": 0.5, "n": 2
    }  # fmt: skip
    [line] = known["b"]["influence"]
    assert line["whole"] == pytest.approx(1 / 3)
    assert line["without"] == pytest.approx(0.5)


def test_influence_of_a_rule_that_never_agrees_is_unmeasured() -> None:
    rule = Rule("consensus", 0.1)
    known = judge_work(panel(rule, (1.0, 0.0), (0.0, 1.0)), ["a", "b"], rule)
    assert known["a"]["influence"][0]["n"] == 0
    assert math.isnan(known["a"]["influence"][0]["shift"])


@pytest.mark.fault("injections", tried="answers that address the judge, counted", count=1)
def test_an_answer_that_addresses_the_judge_counts_once() -> None:
    sample = Sample("q", "?", "!", system="s")
    rows = [
        Row(sample, FAITHFULNESS, one(1.0, "a", suspected_injection=["contexts: marks of a chat"])),
        Row(sample, catalogue()["answer_correctness"], one(1.0, "a", parts={"f": {"suspected_injection": ["x: y"]}})),
        Row(Sample("clean", "?", "!", system="s"), FAITHFULNESS, one(1.0, "a")),
        Row(sample, EXACT, Score(1.0)),
    ]
    known = judge_work(Scores(tuple(rows)), ["a"], Rule())
    assert known == {"a": {"asked": 3, "failed": 0, "statuses": {}, "suspected": 1}}
