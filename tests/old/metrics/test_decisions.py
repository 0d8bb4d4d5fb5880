"""Show or don't show: replies read by their first word, the four numbers by hand and against scikit-learn."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from ragbench.old.core.types import Chunk, Judge, Sample, Score, Status
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.decisions import (
    Cell,
    accuracy,
    balanced_accuracy,
    cell,
    decision_cost,
    decision_of,
    decision_precision,
    decision_recall,
    f1_score,
    show_decision,
)
from tests.old.judge.scripted_judge import ScriptedJudge

BY_HAND = np.array([6.0, 2.0, 3.0, 7.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ("Yes", True),
        ("No: … yesterday", False),
        ("no, yes would be wrong", False),
        ("**YES**, show it", True),
        ('"Да, показать"', True),
        ("Нет. Да и не стоит", False),
        ("ｙｅｓ", True),
        ("Not really", None),
        ("Yesterday it was fine", None),
        ("Нетипичный ответ", None),
        ("I think yes", None),
        ("", None),
        ("0.83", None),
        ("1,5", None),
        ("1", True),
        (" 0.0 ", False),
        ("10", None),
        (True, True),
        (np.False_, False),
        (1, True),
        (0.0, False),
        (0.83, None),
        (float("nan"), None),
        (None, None),
        ({"show": "No: yes was asked"}, False),
        ({"reason": "yes", "decision": "no"}, False),
        ({"verdict": True}, True),
        ({"reason": "yes"}, None),
        ('{"show": "yes", "reason": "no doubt"}', True),
        ('{"show": broken', None),
    ],
)
def test_a_reply_counts_by_its_first_word_or_its_field(reply: object, decision: bool | None) -> None:
    assert decision_of(reply) is decision


@given(st.text(max_size=20), st.sampled_from(["no", "нет", "false"]), st.sampled_from([": ", ". ", " - ", "\n"]))
def test_what_comes_after_the_first_word_never_changes_the_decision(more: str, word: str, sign: str) -> None:
    assert decision_of(f"{word}{sign}{more} yes да yesterday") is False


def test_the_numbers_by_hand() -> None:
    assert float(accuracy(BY_HAND)) == 13 / 20
    assert float(decision_precision(BY_HAND)) == 6 / 8
    assert float(decision_recall(BY_HAND)) == 6 / 10
    assert float(f1_score(BY_HAND)) == pytest.approx(2 * 0.75 * 0.6 / 1.35)


def test_a_failed_call_stays_in_n_and_is_right_nowhere() -> None:
    assert [cell(True, None), cell(False, None)] == [Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE]
    without = BY_HAND * [1, 1, 1, 1, 0, 0]
    assert float(accuracy(BY_HAND)) < float(accuracy(without))
    assert float(decision_recall(BY_HAND)) < float(decision_recall(without))
    assert float(decision_precision(BY_HAND)) == float(decision_precision(without))


@pytest.mark.parametrize(
    ("counts", "undefined"),
    [
        ([0, 0, 3, 4, 0, 0], {"decision_precision"}),
        ([0, 2, 0, 4, 0, 0], {"decision_recall"}),
        ([0, 0, 0, 5, 0, 0], {"decision_precision", "decision_recall", "f1_score"}),
        ([0, 0, 0, 0, 0, 0], {"accuracy", "decision_precision", "decision_recall", "f1_score"}),
    ],
)
def test_a_ratio_without_cases_is_nan_and_not_zero(counts: list[float], undefined: set[str]) -> None:
    found = {each.name: float(each(np.array(counts, float))) for each in (accuracy, decision_precision,
             decision_recall, f1_score)}  # fmt: skip
    assert {name for name, value in found.items() if math.isnan(value)} == undefined


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_they_are_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    truth, said = zip(*pairs, strict=True)
    table = np.bincount([cell(a, b) for a, b in pairs], minlength=6).astype(float)
    peers = {
        accuracy: sklearn_metrics.accuracy_score(truth, said),
        decision_precision: sklearn_metrics.precision_score(truth, said, zero_division=np.nan),
        decision_recall: sklearn_metrics.recall_score(truth, said, zero_division=np.nan),
        f1_score: sklearn_metrics.f1_score(truth, said, zero_division=np.nan),
    }
    for own, peer in peers.items():
        assert float(own(table)) == pytest.approx(float(peer), nan_ok=True), own.name
    many = np.stack([table, 2 * table])
    assert accuracy(many).shape == (2,)


CHUNK = Chunk("c1", "The retake is held in February. Sign up two days ahead.")


def judged(response: str | None, judge: Judge | None = None, **more: Any) -> Score:
    fields: dict[str, Any] = {"user_input": "When is the retake?", "contexts": (CHUNK,), **more}
    score: Score = asyncio.run(show_decision(Sample("s", response=response, **fields), judge=judge or LexicalJudge()))
    return score


def test_balanced_accuracy_and_cost_by_hand() -> None:
    """Of 6 to be shown 4 are, 1 is held back, 1 failed; of 4 others 1 is shown, 2 held back, 1 failed."""
    counts = np.array([4.0, 1, 1, 2, 1, 1])
    assert balanced_accuracy(counts) == pytest.approx((4 / 6 + 2 / 4) / 2)
    assert decision_cost(counts) == pytest.approx(3 / 10)
    assert decision_cost(counts, cost_shown=5.0, cost_hidden=0.5) == pytest.approx((5 * 1 + 0.5 * 2) / 10)
    assert np.isnan(balanced_accuracy(np.array([4.0, 0, 1, 0, 0, 0]))), "there are no others"


def test_the_lexical_judge_shows_what_the_contexts_carry() -> None:
    good = judged("The retake is held in February.")
    assert good.value == 1.0
    assert good.detail["score"] == 1.0
    bad = judged("The retake is held in February. Bring cake for the whole board.")
    assert bad.value == 0.0
    assert bad.detail["score"] < 0.8
    without = judged("Any answer.", contexts=())
    assert without.status is Status.EMPTY_INPUT
    assert without.reason == "the lexical judge decides by passages, and there are none"
    assert judged(" ", contexts=()).value == 0.0, "an empty answer needs no passage to be held back"


def test_an_empty_answer_is_not_shown_and_not_asked_about() -> None:
    judge = ScriptedJudge()
    score = judged("  ", judge)
    assert (score.value, score.status) == (0.0, Status.OK)
    assert judge.calls == []


def test_a_models_word_and_likelihood_are_kept() -> None:
    reply = {"reason": "an invented date", "show": "no", "likelihood": 7}
    score = judged("The retake is held in March.", ScriptedJudge(show_decision=reply))
    assert score.value == 0.0
    assert (score.detail["decision"], score.detail["score"], score.detail["said"]) == ("no", 0.07, "an invented date")
    assert "Show: no" in score.reason


def test_a_call_that_failed_decides_nothing() -> None:
    failed = judged("An answer.", ScriptedJudge(show_decision=Status.TIMEOUT))
    assert failed.status is Status.TIMEOUT
    assert math.isnan(failed.value)
