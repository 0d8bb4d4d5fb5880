"""Which part fails first, by the front: systems that fail in known ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.core.trust import trust
from tests.tiers.answered import (
    BY_WORDS,
    PASSAGES,
    QUESTIONS,
    Dead,
    Scripted,
    counts,
    from_contexts,
    good,
    means,
    number_of,
    outcomes,
    page_text,
    passage,
    right_answer,
    shaky,
    silent,
)

UNKNOWN = {
    "id": "nobody",
    "text": "Who built subject99?",
    "relevant": [],
    "reference": "",
    "answerable": False,
}
REFUSAL = "The documents do not say."


def tier3(systems: Any, questions: Any = QUESTIONS, **options: Any) -> Any:
    """Tier 3 by words."""
    return rb.tier3(systems, questions, PASSAGES, **BY_WORDS | options)


def test_a_system_that_fails_is_unmeasured_and_has_its_own_outcome(tmp_path: Path) -> None:
    result = tier3(
        {"good": good, "shaky": shaky, "silent": silent},
        metrics=("token_f1", "rouge1_f", "corpus_bleu", "response_exact_match_rate"),
        repeats=2,
    )
    assert means(result)["shaky", "token_f1"] == 1.0
    for metric in ("token_f1", "rouge1_f", "corpus_bleu", "response_exact_match_rate"):
        assert counts(result, "good", metric) == (8, 0), metric
        assert counts(result, "shaky", metric) == (2, 6), metric
    gaps = result.scores[result.scores["value"].isna()]
    assert set(gaps["status"]) == {"system_error"}
    assert set(gaps["reason"]) == {"ConnectionError: connection refused"}
    words = result.comparisons.query("challenger == 'shaky'")["word"]
    assert set(words) == {"cannot be told"}
    assert outcomes(result, "shaky") == {"good answer": 2, "the system gave an error": 6}
    assert "shaky failed at 6 of 8 questions: ConnectionError: connection refused" in str(result)
    assert outcomes(result, "good") == {"good answer": 8}
    assert outcomes(result, "silent") == {"not retrieved": 8}
    assert means(result)["silent", "token_f1"] == 0.0
    assert counts(result, "silent", "token_f1") == (8, 0)
    assert "silent returned nothing at 8 of 8 questions." in str(result)
    sums = result.statement.shares.groupby("system")["value"].sum()
    assert sums.tolist() == pytest.approx([1.0, 1.0, 1.0])
    text = result.save(tmp_path).read_text(encoding="utf-8")
    assert "shaky" in text


def test_a_system_that_fails_everywhere_is_shown_beside_another_and_alone() -> None:
    def down(question: str) -> str:
        raise RuntimeError("out of order")

    labels = ("token_f1", "corpus_bleu")
    for systems in ({"good": good, "down": down}, {"down": down}):
        result = tier3(systems, metrics=labels)
        assert counts(result, "down", "token_f1") == (0, 8)
        assert outcomes(result, "down") == {"the system gave an error": 8}
        assert "down failed at 8 of 8 questions: RuntimeError: out of order" in str(result)
        assert "out of order" in page_text(result)
        timed = result.statement.latencies
        assert set(timed.get("system", ())) == systems.keys() - {"down"}
        assert result.about.stand_ins == ()  # nobody wrote in its place


def test_first_failures_come_in_the_order_of_the_parts() -> None:
    answers = {
        0: (right_answer(0), ["p0"]),  # good
        1: ("At noon.", ["p10", "p11", "p12", "p13", "p1"]),  # read as the fifth of five, and wrong
        2: ("At noon.", ["p10", "p11", "p12", "p13", "p14", "p2"]),  # at rank 6 of 5 read
        3: ("At noon.", ["p10"]),  # not retrieved
        4: (right_answer(4), ["p10"]),  # good, from an unlabelled passage
        5: (REFUSAL, ["p5"]),  # refused though it was read
    }

    class Mixed:
        def retrieve(self, question: str, k: int) -> list[str]:
            return answers[number_of(question)][1]

        def answer(self, question: str, contexts: list[str]) -> str:
            return answers[number_of(question)][0]

    graded = {**QUESTIONS[3], "relevant": {"p3": 1, "p10": 0}}  # p10 is known to be of no use
    missing = {**QUESTIONS[6], "relevant": ["not in the base"]}
    answers[6] = ("At noon.", ["p10"])
    unlabelled = {**QUESTIONS[7], "relevant": {"p0": 0}}
    answers[7] = ("At noon.", ["p10"])  # nobody knows where it got lost
    questions = [*QUESTIONS[:3], graded, *QUESTIONS[4:6], missing, unlabelled]
    result = tier3({"mixed": Mixed()}, questions, contexts=5)
    failures = result.frames.failures.set_index("question_id")["failure"].to_dict()
    assert failures == {
        "q0": "good answer",
        "q1": "read, answer wrong",
        "q2": "ranked too low to be read",
        "q3": "not retrieved",
        "q4": "good answer",
        "q5": "read, answer wrong",
        "q6": "not in the base",
        "q7": "read, answer wrong",
    }
    shares = result.statement.shares.set_index("metric")["value"]
    assert shares["good answer"] == 0.25
    assert shares.sum() == pytest.approx(1.0)
    assert "mixed: 2 of 8 questions are answered well" in page_text(result)
    # Nothing is said of unanswerable questions, as there are none.
    assert result.statement.refusals["metric"].tolist() == ["refused an answerable question"]


def test_what_a_system_reads_by_itself_is_ranked_by_its_order() -> None:
    def wrong(question: str) -> dict[str, Any]:
        ids = ["p10", "p11", "p12", "p13", f"p{number_of(question)}"]
        return {"answer": "At noon.", "contexts": ids}

    assert outcomes(tier3({"wrong": wrong}, contexts=5), "wrong") == {"read, answer wrong": 8}


def test_what_nobody_can_know_is_rightly_refused_or_invented() -> None:
    def refuses(question: str) -> Any:
        return {"answer": REFUSAL, "contexts": []} if "built" in question else good(question)

    def invents(question: str) -> Any:
        return {"answer": "Anna.", "contexts": []} if "built" in question else good(question)

    result = tier3({"refuses": refuses, "invents": invents}, [*QUESTIONS, UNKNOWN])
    assert outcomes(result, "refuses") == {"good answer": 8, "rightly refused": 1}
    assert outcomes(result, "invents") == {"good answer": 8, "answered what nobody can know": 1}
    assert "nobody" not in set(result.scores["question_id"])
    refused = result.statement.refusals.set_index(["system", "metric"])["value"]
    assert refused["refuses", "refused an unanswerable question"] == 1.0
    assert refused["refuses", "refused an answerable question"] == 0.0
    assert refused["invents", "refused an unanswerable question"] == 0.0
    # Wilson of 0 of 8 by t = 2.365: t² / (8 + t²); of 8 of 9 by t = 2.306, with 8 effective units.
    ends = result.statement.refusals.set_index(["system", "metric"])[["low", "high"]]
    assert ends.loc[("invents", "refused an answerable question")].tolist() == pytest.approx(
        [0, 0.4114], abs=1e-4
    )
    shares = result.statement.shares.set_index(["system", "metric"])[["low", "high"]]
    assert shares.loc[("invents", "good answer")].tolist() == pytest.approx(
        [0.4815, 0.9857], abs=1e-4
    )


def test_right_but_unfaithful_answers_claim_what_was_not_read() -> None:
    judge = Scripted(lambda values: 2 if "contexts" in values else 5)
    options = {"metrics": ("token_f1",), "correctness": "e2e_score"}
    options["faithfulness"] = "faithfulness_rating"
    result = tier3({"good": good}, judge=judge, faithful_from=None, **options)
    assert outcomes(result, "good") == {"right, but claims what was not read": 8}
    assert means(result)["good", "e2e_score"] == 5.0
    assert means(result)["good", "faithfulness_rating"] == 2.0


def test_a_dead_judge_invents_nothing_and_the_page_is_made(tmp_path: Path) -> None:
    judged: dict[str, Any] = {
        "metrics": ("e2e_score",),
        "primary": "e2e_score",
        "correctness": "e2e_score",
    }
    judged |= {"faithfulness": "faithfulness_rating", "faithful_from": None}
    result = rb.tier3(
        {"a": Finder(), "b": good},
        QUESTIONS,
        PASSAGES,
        judge=Dead(),
        **BY_WORDS | judged,
    )
    statement: Any = result.statement
    assert counts(result, "b", "e2e_score") == (0, 8)
    assert set(result.scores["status"]) == {"judge_error"}
    assert outcomes(result, "b") == {"not judged": 8}
    assert statement.perfect_parts["value"].isna().all()
    assert set(result.comparisons["word"]) == {"cannot be told"}
    assert "no route to host" in result.save(tmp_path).read_text(encoding="utf-8")


class Finder:
    """Retrieves the right passage first at even questions, sixth at others; answers from it."""

    def __init__(self) -> None:
        self.n_answered = self.n_retrieved = 0

    def retrieve(self, question: str, k: int) -> list[str]:
        self.n_retrieved += 1
        number = number_of(question)
        others = [f"p{place}" for place in range(10, 15)]
        return [f"p{number}", *others] if number % 2 == 0 else [*others, f"p{number}"]

    def answer(self, question: str, contexts: list[str]) -> str:
        self.n_answered += 1
        return from_contexts(question, contexts) if number_of(question) else "At noon."


JUDGED = {"correctness": "e2e_score", "faithfulness": "faithfulness_rating", "faithful_from": None}


def rate(values: dict[str, Any]) -> int:
    """Rates all answers as faithful, and right those that tell a time."""
    return 4 if "contexts" in values or "morning" in values["answer"] else 1


@pytest.mark.parametrize(
    "options",
    # Four of five is three quarters of the scale, from which on an answer is good.
    [{}, {**JUDGED, "judge": Scripted(rate)}],
)
def test_perfect_parts_are_asked_for_once_and_never_below_what_is(options: dict[str, Any]) -> None:
    finder = Finder()
    result = tier3({"finder": finder}, contexts=5, **options)
    # Good: 2, 4, 6. Wrong in spite of the passage: 0. Ranked too low: 1, 3, 5, 7.
    assert outcomes(result, "finder") == {
        "good answer": 3,
        "ranked too low to be read": 4,
        "read, answer wrong": 1,
    }
    perfect = result.statement.perfect_parts.set_index("metric")["value"].to_dict()
    assert perfect == {
        "as it is": 0.375,
        "with perfect ranking": 0.875,
        "with perfect retrieval": 0.875,
        "with perfect generation": 0.5,
    }
    assert finder.n_answered == 16  # once as asked, once from the labelled passages
    assert finder.n_retrieved == 8
    assert result.statement.perfect_parts[["low", "high"]].iloc[0].tolist() == pytest.approx(
        [0.1032, 0.7579], abs=1e-4
    )
    assert "finder would gain most with perfect ranking" in page_text(result)


def test_perfect_parts_are_of_the_questions_at_which_all_of_them_can_be_told() -> None:
    class Shaky(Finder):
        def answer(self, question: str, contexts: list[str]) -> str:
            if number_of(question) < 2:
                raise RuntimeError("out of order")
            return super().answer(question, contexts)

    result = tier3({"shaky": Shaky()}, contexts=5)
    perfect = result.statement.perfect_parts
    assert set(perfect["n"]) == {6}
    assert set(perfect["n_unmeasured"]) == {2}
    assert perfect["value"].tolist() == [0.5, 1.0, 1.0, 0.5]

    def rate(values: dict[str, Any]) -> int:
        # What it writes from the labelled passage of question 3 cannot be judged.
        if "at 3" in values["answer"]:
            raise OSError("no route to host")
        return 5 if "morning" in values["answer"] else 1

    result = tier3({"finder": Finder()}, contexts=5, judge=Scripted(rate), **JUDGED)
    perfect = result.statement.perfect_parts
    assert (set(perfect["n"]), set(perfect["n_unmeasured"])) == ({7}, {1})
    assert perfect["value"].tolist() == pytest.approx([3 / 7, 6 / 7, 6 / 7, 4 / 7])


def test_silence_from_the_right_passage_is_no_good_answer() -> None:
    class Silent(Finder):
        def answer(self, question: str, contexts: list[str]) -> str:
            return "" if number_of(question) % 2 else super().answer(question, contexts)

    judged = {**JUDGED, "judge": Scripted(rate)}
    perfect = tier3({"silent": Silent()}, contexts=5, **judged).statement.perfect_parts
    assert (set(perfect["n"]), set(perfect["n_unmeasured"])) == ({8}, {0})
    assert perfect["value"].tolist() == [0.375, 0.375, 0.375, 0.5]


def test_without_passages_every_id_is_one_of_the_base() -> None:
    result = rb.tier3({"good": good}, QUESTIONS, **BY_WORDS, perfect_parts=False)
    assert "not in the base" not in outcomes(result, "good")
    wrong = {**QUESTIONS[0], "reference": "It never opens."}
    result = rb.tier3({"good": good}, [wrong], **BY_WORDS, perfect_parts=False)
    assert outcomes(result, "good") == {"read, answer wrong": 1}


def test_where_retrieving_fails_nobody_writes_an_answer() -> None:
    class Unreachable(Finder):
        def retrieve(self, question: str, k: int) -> list[str]:
            if number_of(question) < 6:
                raise ConnectionError("connection refused")
            return super().retrieve(question, k)

    finder = Unreachable()
    result = tier3({"finder": finder}, contexts=10, perfect_parts=False)
    assert outcomes(result, "finder") == {"good answer": 2, "the system gave an error": 6}
    assert counts(result, "finder", "token_f1") == (2, 6)
    assert finder.n_answered == 2
    assert "finder failed at 6 of 8 questions: ConnectionError" in str(result)
    perfect = tier3({"finder": Unreachable()}, contexts=10).statement.perfect_parts
    assert (set(perfect["n"]), set(perfect["n_unmeasured"])) == ({2}, {6})


def test_a_log_of_answers_alone_is_not_asked_for_passages(empty_folder: Path) -> None:
    rows = [{"id": row["id"], "answer": row["reference"]} for row in QUESTIONS]
    (empty_folder / "log.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    table = '[systems.logged]\nresults = "log.jsonl"\ngenerator = "extractive"\n'
    (empty_folder / "ragbench.toml").write_text(table, encoding="utf-8")
    trust(empty_folder)
    assert outcomes(tier3("logged"), "logged") == {"good answer": 8}


def test_questions_without_any_label_are_answered_and_judged_all_the_same() -> None:
    questions = [{**question, "relevant": []} for question in QUESTIONS]
    result = tier3({"good": good, "finder": Finder()}, questions)
    assert outcomes(result, "good") == {"good answer": 8}
    assert result.statement.perfect_parts.empty
    assert "answered well" in page_text(result)


@pytest.mark.parametrize(
    ("questions", "options", "message"),
    [
        (
            QUESTIONS,
            {"faithfulness": "hallucination"},
            "hallucination is not good where it is high",
        ),
        (QUESTIONS, {"correctness": "dot_similarity"}, "name the value, right_from = "),
        ([{**QUESTIONS[0], "reference": ""}], {}, "no question has a right answer"),
    ],
)
def test_what_says_nothing_of_good_answers_is_refused_before_anybody_is_asked(
    questions: Any, options: dict[str, Any], message: str
) -> None:
    asked: list[str] = []
    with pytest.raises(BenchError, match=message):
        tier3({"noting": asked.append}, questions, **options)
    assert asked == []


def test_a_system_that_gives_no_answer_to_some_questions_has_an_error_there() -> None:
    def ask(question: str) -> dict[str, Any]:
        return good(question) if number_of(question) > 1 else {"answer": None, "contexts": []}

    result = tier3({"some": ask})
    assert outcomes(result, "some") == {"good answer": 6, "the system gave an error": 2}
    assert "some failed at 2 of 8 questions: the system gave no answer" in str(result)


def test_of_claims_every_one_has_to_be_supported() -> None:
    def adds(question: str) -> dict[str, Any]:
        number = number_of(question)
        more = " It is made of green cheese." if number < 2 else ""
        parts = passage(number), f"Subject{number} opens.", "It opens in the morning."
        return {"answer": " ".join(parts) + more, "contexts": [f"p{number}"]}

    options = {"faithfulness": "faithfulness", "faithful_from": None, "right_from": 0.1}
    result = tier3({"adds": adds}, judge="lexical", **options)
    assert outcomes(result, "adds") == {"good answer": 6, "right, but claims what was not read": 2}


def test_bars_table_and_title_show_the_same_numbers() -> None:
    result = tier3({"good": good, "shaky": shaky, "silent": silent})
    texts = [str(part) for part in result.parts]
    table = next(text for text in texts if text.startswith("First failures in numbers"))
    row = next(line for line in table.splitlines() if line.startswith("the system gave an error"))
    assert "6 · 75\N{NO-BREAK SPACE}%" in row
    bars = next(text for text in texts if text.startswith("good: 8 of 8"))
    assert "shaky: 6 · 75\N{NO-BREAK SPACE}%" in bars
