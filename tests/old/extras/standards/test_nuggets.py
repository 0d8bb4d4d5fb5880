"""nugget_score: the published tool's four scores and Open RAG Eval's two, of fixed assignments; wrong lists; leaks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core.language import translator
from ragbench.old.core.metric import parse
from ragbench.old.core.types import Chunk, Sample, Score, Status
from ragbench.old.extras.standards.grades import WINDOW, Grade
from ragbench.old.extras.standards.nuggets import nugget_score, score_of
from ragbench.old.judge import LexicalJudge
from ragbench.old.metrics.explanation import explain
from tests.old.judge.scripted_judge import ScriptedJudge, Texts, score

LIST = {"n1": "vital", "n2": "vital", "n3": "vital", "n4": "okay", "n5": "okay"}
ASSIGNED = ("full", "partial", "none", "full", "partial")
SAMPLE = Sample("s", "What is it?", "It is a library.", nuggets=LIST, language="en")
PUBLISHED = {
    # calculate_nugget_scores of castorini/nuggetizer: (1 + .5) / 3, (2 + 2 · .5) / 5, 1 / 3, 2 / 5
    "nugget_score(over=vital)": 0.5,
    "nugget_score": 0.6,
    "nugget_score(over=vital,strict=true)": 1 / 3,
    "nugget_score(strict=true)": 0.4,
    # AutoNuggetMetric of Open RAG Eval: (1.5 + .5 · 1.5) / (3 + .5 · 2), (1 + .5 · 1) / 4
    "nugget_score(over=weighted)": 2.25 / 4,
    "nugget_score(over=weighted,strict=true)": 1.5 / 4,
}


def grades(*words: str) -> dict[str, Any]:
    return {"grades": [{"number": n, "reason": f"because {n}", "grade": word} for n, word in enumerate(words, 1)]}


def of(sample: Sample, reply: Any, label: str = "nugget_score") -> Score:
    return score(parse(label)(sample, judge=ScriptedJudge(nugget_assignment=reply)))


@pytest.mark.parametrize(("label", "value"), PUBLISHED.items())
def test_published_scores_of_fixed_assignments(label: str, value: float) -> None:
    found = of(SAMPLE, grades(*ASSIGNED), label)
    assert found.value == pytest.approx(value, abs=1e-15)
    assert found.detail["counts"] == {"vital": {"full": 1, "partial": 1, "none": 1}, "okay": {"full": 1, "partial": 1}}


def test_every_assignment_of_three_nuggets_as_the_published_formulas_have_it() -> None:
    credit = {"full": 1.0, "partial": 0.5, "none": 0.0}
    for words in product(credit, repeat=3):
        assigned = [(kind, Grade(word)) for kind, word in zip(("vital", "vital", "okay"), words, strict=True)]
        a, b, c = (credit[word] for word in words)
        assert score_of(assigned) == pytest.approx((a + b + c) / 3)
        assert score_of(assigned, "vital") == pytest.approx((a + b) / 2)
        assert score_of(assigned, "weighted") == pytest.approx((a + b + c / 2) / 2.5)
        assert score_of(assigned, strict=True) == pytest.approx(sum(word == "full" for word in words) / 3)
        assert score_of(assigned, "vital", strict=True) <= score_of(assigned, "vital")


def test_all_ways_to_count_share_one_question_for_ten_nuggets() -> None:
    many = {f"fact number {n}": "vital" for n in range(WINDOW + 1)}

    def reply(texts: Texts) -> Any:
        return grades(*["full"] * len(texts["nuggets"]))

    judge = ScriptedJudge(nugget_assignment=reply)
    for label in PUBLISHED:
        assert score(parse(label)(replace(SAMPLE, nuggets=many), judge=judge)).value == 1.0
    assert [len(texts["nuggets"]) for texts in judge.asked("nugget_assignment")] == [WINDOW, 1]


def test_a_missing_grade_is_asked_for_once_more_and_then_there_is_none() -> None:
    short = replace(SAMPLE, nuggets={"a": "vital", "b": "vital"})
    twice = of(short, [grades("full"), grades("none")])
    assert twice.value == 0.5
    never = of(short, grades("full"))
    assert never.value == 1.0  # the second question was about the other alone
    torn = of(short, [grades("full"), {"grades": []}])
    assert torn.status is Status.VERDICT_MISMATCH
    assert [line["verdict"] for line in torn.detail["statements"]] == ["full", "unjudged"]
    other = {"grades": [{"number": 3, "reason": "", "grade": "full"}]}
    assert of(short, other).status is Status.VERDICT_MISMATCH


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"nuggets": None}, Status.MISSING_FIELD, "the sample has no field nuggets"),
        ({"nuggets": {}}, Status.EMPTY_INPUT, "the field nuggets is empty"),
        ({"nuggets": {"a": "crucial"}}, Status.INVALID_INPUT, "importance = crucial: vital or okay is expected"),
        ({"response": None}, Status.MISSING_FIELD, "the sample has no field response"),
    ],
)
def test_a_wrong_list_is_unmeasured_with_its_reason(given: Any, status: Status, said: str) -> None:
    found = of(replace(SAMPLE, **given), grades("full"))
    assert found.status is status
    assert said in found.reason


def test_no_vital_nugget_has_no_vital_score_and_silence_has_none_of_them() -> None:
    okay = replace(SAMPLE, nuggets={"a": "okay"})
    assert of(okay, grades("full"), "nugget_score(over=vital)").status is Status.EMPTY_INPUT
    assert of(okay, grades("full")).value == 1.0
    silent = of(replace(SAMPLE, response=" "), Status.JUDGE_ERROR)
    assert (silent.value, silent.status) == (0.0, Status.OK)


def test_a_nugget_word_for_word_in_the_answer_and_in_no_passage_is_said() -> None:
    nugget = "The library opens at nine on Monday."
    leaked = replace(SAMPLE, response=f"Well: {nugget}", nuggets={nugget: "vital", "It is": "vital"})
    found = of(leaked, grades("full", "full"))
    assert found.detail["copied"] == [nugget]
    assert "the list may have been seen" in found.reason
    read = replace(leaked, contexts=(Chunk("c", f"We know: {nugget} Yes."),))
    assert of(read, grades("full", "full")).detail["copied"] == []


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_explanation_names_what_is_missing(language: str) -> None:
    said = explain(of(SAMPLE, grades(*ASSIGNED)), translator(language))
    assert ("0.600" if language == "en" else "0,600") in said
    assert "n3" in said


def test_by_words_alone() -> None:
    texts = {"The library stands in Green Street.": "vital", "The library has nine rooms and a garden.": "okay",
             "Dogs bark.": "okay"}  # fmt: skip
    known = replace(SAMPLE, response="The library stands in Green Street. The library has rooms.", nuggets=texts)
    found = score(nugget_score(known, judge=LexicalJudge()))
    assert [line["verdict"] for line in found.detail["nuggets"]] == ["full", "partial", "none"]


@pytest.mark.parametrize(
    "given",
    [
        [{"text": "a b", "importance": "vital"}, {"nugget": "c", "label": "Okay"}],
        {"a b": "vital", "c": "okay"},
        '[{"text": "a b", "importance": "vital"}, {"text": "c", "importance": "okay"}]',
    ],
)
def test_lists_are_read_as_people_write_them(given: Any) -> None:
    rows = [{"question": "q", "answer": "a b", "nuggets": given}]
    found = rb.score(rows, "nugget_score(over=vital)", "lexical")
    assert found["nugget_score(over=vital)"] == [1.0]


def test_a_list_that_is_none_spares_the_other_rows_and_metrics() -> None:
    rows = [
        {"answer": "a b", "reference": "a b", "nuggets": ["a b"]},
        {"answer": "a b", "reference": "a b", "nuggets": 7},
        {"answer": "a b", "reference": "a b", "nuggets": [{"text": "a", "importance": "vital"}, "a", 5]},
    ]
    found = rb.score(rows, ["nugget_score", "exact_match"], "lexical")
    assert found["exact_match"] == [1.0, 1.0, 1.0]
    assert found["nugget_score"] == pytest.approx([1.0, float("nan"), float("nan")], nan_ok=True)


def test_metrics_of_annexes_are_measured_where_they_are_named() -> None:
    rows = [{"question": "q", "answer": "a b", "reference": "a b", "nuggets": ["a b"], "contexts": ["a b"]}]
    assert not {"nugget_score", "citation_support", "citation_quality"} & {
        one.name for one in rb.score(rows, judge="lexical").metrics
    }
