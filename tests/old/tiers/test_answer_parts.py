"""Parts of the tiers that answer, on tables small enough to compute by hand: lengths, refusals, cuts, waiting."""

from __future__ import annotations

import math
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core.measurement import Finding
from ragbench.old.core.types import Chunk, Question, Status
from ragbench.old.systems.generation import Shown
from ragbench.old.tiers.answers import answer_scores, tier3_end_to_end
from ragbench.old.tiers.answers.written_answers import ANSWER_COLUMNS, Answered
from ragbench.old.tiers.basics.findings import Sureness
from tests.old.views.measurements import placed

SURE = Sureness(0.95, 200, 0)
ASKED = [
    Question("q1", "?", reference="one two three", answerable=True),
    Question("q2", "?", reference="one", answerable=None),
    Question("q3", "?", answerable=False),
]
CHUNKS = (Chunk("a", "four words of text"), Chunk("b", "two words"))


def answered(*rows: dict[str, Any], own: bool = False) -> Answered:
    """Rows of the table by what differs from a plain answer of one word, of the generators they name."""
    plain = {
        "repeat": 0, "response": "word", "status": Status.OK.value, "reason": "", "refused": False, "seconds": 1.0,
        "input_tokens": math.nan, "output_tokens": math.nan, "contexts": "[]", "contexts_cut": 0, "characters_cut": 0,
    }  # fmt: skip
    known = [{**plain, "context_words": 6 if row["sample"] == "q1" else 2, **row} for row in rows]
    table = pd.DataFrame(known)[list(ANSWER_COLUMNS)]
    systems = dict.fromkeys(table["system"])
    shown = {(row["system"], row["sample"]): Shown(CHUNKS if row["sample"] == "q1" else CHUNKS[1:]) for row in rows}
    return Answered(table, shown, {name: {"name": name, "stand_in": False, "own": own} for name in systems})


def quantile(found: Iterable[Finding], probability: float = 0.5, **where: str) -> tuple[float, int]:
    rows = placed(found)
    rows = rows[rows["probability"] == probability]
    for column, wanted in where.items():
        rows = rows[rows[column] == wanted]
    [row] = rows.to_dict("records")
    return float(row["value"]), int(row["n"])


class TestLengths:
    def test_words_and_tokens_of_first_answers_by_hand(self) -> None:
        made = answered(
            {"system": "a", "sample": "q1", "response": "one two three four five", "output_tokens": 7.0},
            {"system": "a", "sample": "q1", "repeat": 1, "response": "no " * 50, "output_tokens": 60.0},
            {"system": "a", "sample": "q2", "response": "I do not know it at all", "refused": True},
            {"system": "a", "sample": "q3", "response": None, "status": Status.TRUNCATED.value, "output_tokens": 90.0},
            {"system": "b", "sample": "q1", "response": "one two"},
        )
        found = answer_scores.lengths(made, ASKED, 0.95)
        assert quantile(found, system="a", of="answer") == (5.0, 1)
        assert quantile(found, system="a", of="contexts") == (4.0, 2)  # 6 words for q1, 2 for q2
        assert quantile(found, system="a", of="reference") == (2.0, 2)
        assert quantile(found, system="a", of="output_tokens") == (7.0, 1)
        assert quantile(found, system="b", of="answer") == (2.0, 1)
        assert {one.where["of"] for one in found} == {"answer", "contexts", "reference", "output_tokens"}, (
            "nobody knows input tokens"
        )
        assert {one.where["of"] for one in found if one.system == "b"} == {"answer", "contexts", "reference"}, (
            "nor its tokens at all"
        )
        assert sorted({one.where["probability"] for one in found}) == [0.1, 0.5, 0.9]

    def test_a_question_that_was_not_asked_has_no_length(self) -> None:
        made = answered({"system": "a", "sample": "q1", "response": "one two"}, {"system": "a", "sample": "q2"})
        assert quantile(answer_scores.lengths(made, ASKED[:1], 0.95), of="answer") == (2.0, 1)


class TestRefusals:
    def test_shares_of_what_can_and_cannot_be_answered(self) -> None:
        made = answered(
            {"system": "a", "sample": "q1", "refused": True},
            {"system": "a", "sample": "q1", "repeat": 1},
            {"system": "a", "sample": "q2", "status": Status.TRUNCATED.value, "response": None},
            {"system": "a", "sample": "q3"},
        )
        found = {one.where["group"]: one.estimate for one in answer_scores.refusals(made, ASKED, SURE)}
        can, cannot = found["answerable"], found["unanswerable"]
        assert (can.n, can.n_unmeasured, can.value) == (1, 1, 1.0)
        assert (cannot.n, cannot.n_unmeasured, cannot.value) == (1, 0, 0.0)

    def test_an_empty_answer_is_neither_refused_nor_given(self) -> None:
        """Of four answers one is empty and one refuses: one of three, not of four."""
        rows = [{"system": "a", "sample": f"q{n}", "refused": n == 1, "response": "" if n == 0 else "word"}
                for n in range(4)]  # fmt: skip
        [found] = answer_scores.refusals(answered(*rows), [Question(f"q{n}", "?") for n in range(4)], SURE)
        assert (found.estimate.n, found.estimate.n_unmeasured) == (3, 1)
        assert found.estimate.value == pytest.approx(1 / 3)

    def test_a_part_without_questions_has_no_row_and_clusters_are_named(self) -> None:
        asked = [Question(f"q{n}", "?", cluster=f"c{n // 2}") for n in range(1, 7)]
        rows = [{"system": "a", "sample": one.id, "refused": one.id in {"q1", "q4"}} for one in asked]
        [found] = answer_scores.refusals(answered(*rows), asked, SURE)
        assert (found.where, found.estimate.n, found.estimate.clusters) == ({"group": "answerable"}, 6, 4)
        assert found.estimate.value == pytest.approx(1 / 3)


def test_what_was_cut_and_what_failed_by_system() -> None:
    made = answered(
        {"system": "a", "sample": "q1", "contexts_cut": 2, "characters_cut": 30},
        {"system": "a", "sample": "q1", "repeat": 1, "contexts_cut": 9, "characters_cut": 900},
        {"system": "a", "sample": "q2", "contexts_cut": 1, "characters_cut": 5},
        {"system": "a", "sample": "q3"},
        {"system": "b", "sample": "q1", "status": Status.TRUNCATED.value},
        {"system": "b", "sample": "q2", "status": Status.TRUNCATED.value},
    )
    assert answer_scores.cut(made) == {
        "a": {"answers": 2, "contexts": 3, "characters": 35},
        "b": {"answers": 0, "contexts": 0, "characters": 0},
    }
    assert answer_scores.failed(made) == {"b": {"truncated": 2}}


class TestWaiting:
    BEFORE = pd.DataFrame(
        [(s, q, part, ms) for s, start in (("a", 1.0), ("b", 100.0)) for n, q in enumerate(("q1", "q2"))
         for part, ms in (("embed", start + n), ("search", 10 * start))],
        columns=["system", "sample", "part", "ms"],
    )  # fmt: skip

    @staticmethod
    def read(before: pd.DataFrame, made: Answered, judgements: pd.DataFrame) -> pd.DataFrame:
        worth: Any = SimpleNamespace(judgements=judgements)
        session: Any = None  # only the offline judge's seconds are kept in a session's database
        return tier3_end_to_end.readings(session, before, made, worth)

    def test_a_user_waits_for_the_sum_of_the_stages_and_a_judge_s_time_is_apart(self) -> None:
        made = answered(
            {"system": "a", "sample": "q1", "seconds": 0.5},
            {"system": "a", "sample": "q1", "repeat": 1, "seconds": 50.0},
            {"system": "a", "sample": "q2", "seconds": math.nan},
            {"system": "b", "sample": "q1", "seconds": 2.0},
        )
        judgements = pd.DataFrame(
            [("a", "q1", "m1", "model", 0.25), ("a", "q1", "m2", "model", 0.5), ("a", "q2", "m1", "model", math.nan),
             ("b", "q1", "m1", None, 9.0), ("b", "q1", "m1", "lexical", 7.0)],
            columns=["system", "sample", "metric", "judge", "seconds"],
        )  # fmt: skip
        found = self.read(self.BEFORE, made, judgements)
        by = {(row.system, row.sample, row.part): row.ms for row in found.itertuples()}
        assert by["a", "q1", "generate"] == 500.0
        assert by["a", "q1", "answer"] == pytest.approx(1 + 10 + 500)
        assert by["b", "q1", "answer"] == pytest.approx(100 + 1000 + 2000)
        assert ("a", "q2", "answer") not in by, "one of its stages was not read"
        assert by["a", "q1", "judge"] == 750.0, "both metrics of the model"
        assert [key for key in by if key[2] == "judge"] == [("a", "q1", "judge")], "the offline judge beside a model"

    def test_a_system_that_answers_by_itself_has_one_call(self) -> None:
        none = pd.DataFrame(columns=["system", "sample", "metric", "judge", "seconds"])
        made = answered({"system": "own", "sample": "q1", "seconds": 0.3}, own=True)
        logged = self.read(self.BEFORE.iloc[:0], made, none)
        assert set(zip(logged["part"], logged["ms"], strict=True)) == {("call", 300.0), ("answer", 300.0)}
        timed = pd.DataFrame([("own", "q1", "call", 40.0)], columns=["system", "sample", "part", "ms"])
        whole = self.read(timed, made, none)
        assert set(zip(whole["part"], whole["ms"], strict=True)) == {("call", 40.0), ("answer", 40.0)}
        assert {one.where["stage"] for one in tier3_end_to_end.quantiles(whole, 0.95)} == {"call"}, (
            "the answer is the call: said once"
        )

    def test_the_median_the_ninetieth_and_the_ninety_ninth_percentile_of_each_system(self) -> None:
        rows = [(s, f"q{n}", part, float(n + shift)) for s, shift in (("a", 0), ("b", 5000))
                for part, n_of in (("search", 1001), ("generate", 101)) for n in range(n_of)]  # fmt: skip
        found = tier3_end_to_end.quantiles(pd.DataFrame(rows, columns=["system", "sample", "part", "ms"]), 0.95)
        for system, shift in (("a", 0), ("b", 5000)):
            for probability in (0.5, 0.9, 0.99):
                value, n = quantile(found, probability, system=system, stage="search")
                assert (value, n) == (pytest.approx(np.quantile(np.arange(1001), probability) + shift), 1001)
            assert quantile(found, system=system, stage="generate") == (50 + shift, 101)
        assert len(found) == 2 * 2 * 3
