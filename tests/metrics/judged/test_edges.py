"""What is unmeasured, with which status; empty answers; and known differences of other software."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import pytest

from ragbench.core.errors import BenchError
from ragbench.metrics import find_metric
from tests.metrics.judged.scripted import (
    ScriptedEmbedder,
    ScriptedJudge,
    claims,
    holding,
    judging_both,
    measure,
    verdicts,
)

SAMPLE = {
    "question": "Q?",
    "answer": "R one. R two.",
    "reference": "T one. T two.",
    "contexts": ("Context.",),
}
LABELLED = {"context_ids": ("a",), "reference_context_ids": (("a",),)}
RATINGS = ("answer_correctness_rating", "e2e_score", "answer_relevance", "faithfulness_rating")
BY_CLAIMS = ("faithfulness", "hallucination", "noise_sensitivity", "claim_hallucination")


def judge_of(answer: list[Any], reference: list[Any]) -> ScriptedJudge:
    return judging_both(SAMPLE, answer, reference)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("factual_correctness", 0.0),
        ("factual_correctness(mode=recall)", 0.0),
        ("answer_correctness", 0.0),
        ("answer_accuracy", 0.0),
        ("context_utilization", 0.0),
        ("answer_correctness_rating", 1.0),
        ("e2e_score", 1.0),
        ("e2e_score(scale=0-1)", 0.0),
        ("nugget_score", 0.0),
        ("show_decision", 0.0),
    ],
)
def test_an_empty_answer_has_the_lowest_value_without_a_call(label: str, value: float) -> None:
    judge = ScriptedJudge()
    fields = {**SAMPLE, "answer": " \n", "nuggets": {"fact": "vital"}}
    score = measure(label, judge, embedder=ScriptedEmbedder({}), **fields)
    assert (score.value, score.status, judge.calls) == (value, "ok", [])


@pytest.mark.parametrize(
    "label",
    [
        "faithfulness",
        "response_groundedness",
        "factual_correctness(mode=precision)",
        "response_relevancy",
        "noise_sensitivity",
        "faithfulness_rating",
        "answer_relevance",
        "aspect_critique",
        "citation_support",
    ],
)
def test_where_the_answer_itself_is_judged_an_empty_one_is_unmeasured(label: str) -> None:
    embedder = ScriptedEmbedder({})
    score = measure(label, ScriptedJudge(), embedder=embedder, **{**SAMPLE, "answer": ""})
    assert (math.isnan(score.value), score.status) == (True, "empty_input")


# Of each metric with a judge what it gives where one of its fields is blank, or a context is an
# image: a value without a call, empty (unmeasured without a call), asks; "." is not read.
BLANK = """
                          question  answer  reference  contexts  image
answer_accuracy           empty     0.0     empty      .         .
answer_correctness        asks      0.0     empty      .         .
answer_correctness_rating empty     1.0     empty      .         .
answer_relevance          empty     empty   .          .         .
aspect_critique           asks      empty   asks       asks      empty
citation_quality          .         empty   .          empty     empty
citation_support          .         empty   .          empty     empty
claim_hallucination       empty     empty   empty      empty     empty
claim_recall              empty     .       empty      empty     empty
context_entity_recall     .         .       empty      empty     empty
context_precision         empty     asks    asks       empty     empty
context_recall            empty     .       empty      empty     empty
context_relevance         empty     .       .          empty     empty
context_utilization       empty     0.0     empty      empty     empty
e2e_score                 empty     1.0     empty      .         .
factual_correctness       asks      0.0     empty      .         .
faithfulness              empty     empty   .          empty     empty
faithfulness_rating       empty     empty   .          empty     empty
hallucination             empty     empty   .          empty     empty
noise_sensitivity         empty     empty   empty      empty     empty
nugget_score              asks      0.0     .          .         .
relevance_grade           empty     .       .          empty     empty
response_groundedness     .         empty   .          empty     empty
response_relevancy        empty     empty   .          .         .
rubrics_score             asks      empty   asks       asks      empty
self_knowledge            empty     empty   empty      empty     empty
show_decision             empty     0.0     .          asks      empty
simple_criteria           asks      empty   asks       asks      empty
"""


@pytest.mark.parametrize("line", BLANK.strip().splitlines()[1:], ids=lambda line: line.split()[0])
def test_of_what_is_blank_nobody_is_asked(line: str) -> None:
    label, *expected = line.split()
    everything = {**SAMPLE, "nuggets": {"fact": "vital"}, "rubric": {1: "bad", 2: "good"}}
    blank = {"question": " ", "answer": " ", "reference": " ", "contexts": (" ",)}
    given = [*blank.items(), ("contexts", ("data:image/png;base64,AA",))]
    for (name, value), outcome in zip(given, expected, strict=True):
        if outcome == ".":
            assert name not in find_metric(label).parameters or name == "contexts"
            continue
        judge = ScriptedJudge()
        judge.scripts = defaultdict(lambda: "timeout")
        fields = {**everything, name: value}
        score = measure(label, judge, embedder=ScriptedEmbedder({}), **fields)
        found = "empty" if score.status == "empty_input" else str(score.value)
        assert ("asks" if judge.calls else found) == outcome, name


@pytest.mark.parametrize(
    ("label", "service"), [("faithfulness", "judge"), ("response_relevancy", "embedder")]
)
def test_a_metric_says_what_it_is_measured_with(label: str, service: str) -> None:
    judge = None if service == "judge" else ScriptedJudge()
    with pytest.raises(BenchError, match=f"{label} is measured with {service}"):
        measure(label, judge, **SAMPLE)


@pytest.mark.parametrize(
    ("label", "changed", "status"),
    [
        ("faithfulness", {"contexts": None}, "missing_field"),
        ("faithfulness", {"contexts": ()}, "empty_input"),
        ("faithfulness", {"contexts": (" ",)}, "empty_input"),
        ("context_recall", {"reference": None}, "missing_field"),
        ("context_recall", {"reference": "…"}, "empty_decomposition"),
        ("context_precision", {"contexts": ()}, "empty_input"),
        ("context_precision", {"reference": None, "answer": None}, "missing_field"),
        ("context_precision(strategy=reference)", {"reference": None}, "missing_field"),
        ("context_precision(strategy=answer)", {"answer": ""}, "empty_input"),
        ("factual_correctness", {"reference": " "}, "empty_input"),
        ("rubrics_score", {}, "missing_field"),
        ("nugget_score", {"nuggets": {}}, "empty_input"),
        ("nugget_score(over=vital)", {"nuggets": {"a": "okay"}}, "empty_input"),
        ("goal_reached", {"messages": ()}, "empty_input"),
        ("context_recall_by_label", {"context_ids": ("a",)}, "missing_field"),
        ("context_recall_by_label(by=text)", {"reference_contexts": None}, "missing_field"),
        ("context_recall_by_label", {**LABELLED, "context_ids": ("",)}, "missing_field"),
        ("context_recall_by_label", {**LABELLED, "context_ids": ()}, "empty_input"),
        ("context_precision_by_label", {**LABELLED, "reference_context_ids": ()}, "empty_input"),
        ("citation_support", {"answer": "…"}, "empty_decomposition"),
        ("context_precision(strategy=reference)", {"answer": None, "reference": ""}, "empty_input"),
    ],
)
def test_fields_that_are_missing_or_empty(label: str, changed: Any, status: str) -> None:
    judge = ScriptedJudge()
    score = measure(label, judge, **{**SAMPLE, **changed})
    assert (score.status, judge.calls) == (status, [])


@pytest.mark.parametrize("label", BY_CLAIMS)
def test_an_answer_without_claims_is_no_hallucination(label: str) -> None:
    score = measure(label, ScriptedJudge(claims=claims(" ", "")), **SAMPLE)
    assert score.status == "empty_decomposition"


def test_of_a_reference_without_claims_all_contexts_are_irrelevant() -> None:
    judge = holding({SAMPLE["answer"]: "p", SAMPLE["reference"]: ""}, {"Context.": "p"})
    assert measure("noise_sensitivity", judge, **SAMPLE).value == 0.0
    assert measure("noise_sensitivity(mode=irrelevant)", judge, **SAMPLE).value == 1.0


def test_what_no_context_supports_cannot_be_used() -> None:
    judge = holding({SAMPLE["reference"]: "pq"}, {SAMPLE["answer"]: "p"})
    score = measure("context_utilization", judge, **SAMPLE)
    assert (score.status, "no context supports" in score.reason) == ("empty_input", True)


@pytest.mark.parametrize(
    ("answer", "reference", "label", "status"),
    [
        ([1], [], "factual_correctness", "empty_decomposition"),
        ([], [1], "factual_correctness", "empty_decomposition"),
        ([1], [], "factual_correctness(mode=precision)", "ok"),
        ([], [1], "factual_correctness(mode=recall)", "ok"),
    ],
)
def test_a_side_without_claims(answer: Any, reference: Any, label: str, status: str) -> None:
    assert measure(label, judge_of(answer, reference), **SAMPLE).status == status


def test_a_passage_without_text_is_useless_and_not_asked_about() -> None:
    two = {**SAMPLE, "contexts": (" ", "Two.")}
    judge = ScriptedJudge(
        context_precision={"reason": "", "verdict": "useful"},
        relevance={"reason": "", "rating": 3},
        citation_support={"reason": "", "verdict": "full"},
    )
    for label in ("context_precision", "relevance_grade"):
        score = measure(label, judge, **two)
        assert score.value == 0.5
        assert [verdict.passages for verdict in score.verdicts] == [(1,), (2,)]
    score = measure("citation_support", judge, **{**two, "answer": "So [1]. And so [2]."})
    assert (score.value, len(judge.calls)) == (0.5, 3)


def test_no_questions_made_from_the_answer() -> None:
    judge = ScriptedJudge(response_relevancy={"questions": []})
    score = measure("response_relevancy", judge, embedder=ScriptedEmbedder({}), **SAMPLE)
    assert score.status == "empty_decomposition"


def test_vectors_of_zeros_have_no_cosine() -> None:
    judge = ScriptedJudge(
        response_relevancy={"questions": [{"question": "Q?", "manner": "committal"}]}
    )
    fields = {**SAMPLE, "embedder": lambda texts: [[0.0, 0.0]] * len(texts)}
    assert measure("response_relevancy", judge, **fields).status == "empty_input"
    fields["embedder"] = lambda texts: [[3.0, 4.0]] * len(texts)
    assert measure("response_relevancy", judge, **fields).value == 1.0


@pytest.mark.parametrize("label", ["answer_correctness", "faithfulness", "context_recall"])
@pytest.mark.parametrize("status", ["judge_error", "timeout", "refused", "truncated"])
def test_a_failed_call_is_passed_on(label: str, status: str) -> None:
    judge = ScriptedJudge(claims=status, entailment=status)
    score = measure(label, judge, embedder=ScriptedEmbedder({}), **SAMPLE)
    assert (math.isnan(score.value), score.status) == (True, status)


@pytest.mark.parametrize("rating", [0, 6, 3.5, True, None, "NaN", "four", [4], math.inf])
@pytest.mark.parametrize("label", RATINGS)
def test_a_rating_is_never_mended(label: str, rating: Any) -> None:
    judge = ScriptedJudge(**{label: {"reason": "", "rating": rating}})
    assert measure(label, judge, **SAMPLE).status == "parse_error"


@pytest.mark.parametrize("word", ["yes", "SUPPORT", "", 1, True, None, ["supported"]])
def test_a_verdict_is_one_of_its_words(word: Any) -> None:
    reply = {"verdicts": [{"index": 1, "reason": "", "verdict": word}]}
    judge = ScriptedJudge(claims=claims("A."), entailment=reply)
    assert measure("faithfulness", judge, **SAMPLE).status == "parse_error"


def test_a_level_is_one_of_the_rubric() -> None:
    judge = ScriptedJudge(rubrics_score={"reason": "", "level": 2})
    score = measure("rubrics_score", judge, rubric={1: "a", 3: "b"}, **SAMPLE)
    assert score.status == "parse_error"


@pytest.mark.parametrize(
    ("label", "fields", "words"),
    [
        ("rubrics_score", {"rubric": {5: "only"}}, "differ"),
        ("rubrics_score", {"rubric": {"best": "x", "1": "y"}}, "'best' is no whole number"),
        ("rubrics_score", {"rubric": "good or bad"}, "the rubric is 'good or bad'"),
        ("rubrics_score", {"rubric": {1: "x", 2: " "}}, "level 2 has no criteria"),
        ("noise_sensitivity(mode=both)", {}, "relevant, irrelevant"),
        ("factual_correctness(beta=0)", {}, "number from 0.01 on"),
        ("factual_correctness(beta=x)", {}, "number from 0.01 on"),
        ("answer_correctness(factual_weight=1)", {}, "both"),
        ("answer_correctness(semantic_weight=1)", {}, "both"),
        ("answer_correctness(preset=equal,factual_weight=1,semantic_weight=1)", {}, "or both"),
        ("answer_correctness(factual_weight=0,semantic_weight=0)", {}, "above 0"),
        ("answer_correctness(factual_weight=-1,semantic_weight=2)", {}, "from 0 on"),
        ("aspect_critique(repeats=2)", {}, "odd"),
        ("simple_criteria(lowest=5)", {}, "below"),
        ("response_relevancy(questions=0)", {}, "1 to 20"),
        ("nugget_score", {"nuggets": {"a": "must"}}, "vital or okay"),
        ("rubrics_score", {"rubric": {True: "x", 2: "y"}}, "True is no whole number"),
        ("rubrics_score", {"rubric": {1: "x", 2: 5}}, "level 2 has no criteria"),
        ("aspect_critique(aspect=5)", {}, "name one of correctness, .* or write a sentence"),
    ],
)
def test_options_that_mean_nothing_are_refused(label: str, fields: Any, words: str) -> None:
    with pytest.raises(BenchError, match=words):
        measure(label, ScriptedJudge(), embedder=ScriptedEmbedder({}), **SAMPLE, **fields)


# Metric, option, its least and greatest legal value, and what lies beyond.
OPTIONS = """
factual_correctness        beta            0.01        1e9         0.0 -1
response_relevancy         questions       1           20          0 21 1.5 True
aspect_critique            repeats         1           99          0 101 2 98 True
simple_criteria            repeats         1           99          0 100 1.5
simple_criteria            lowest          -1e9        4.9         5 6
simple_criteria            highest         0.1         1e9         0 -1
answer_correctness         factual_weight  0           1e9         -0.1 x
answer_correctness         semantic_weight 0           1e9         -0.1
citation_quality           most            1           1000000000  0 1.5
context_recall_by_label    threshold       0.01        1           0 1.01
context_precision_by_label threshold       0.01        1           0 1.01
"""


@pytest.mark.parametrize("line", OPTIONS.strip().splitlines(), ids=lambda line: line[:43])
def test_the_limits_of_options(line: str) -> None:
    label, option, least, most, *beyond = line.split()
    other = {"factual_weight": ",semantic_weight=0.3", "semantic_weight": ",factual_weight=0.7"}

    def score(value: str) -> Any:
        judge = ScriptedJudge()
        judge.scripts = defaultdict(lambda: "timeout")
        labelled = f"{label}({option}={value}{other.get(option, '')})"
        embedder = ScriptedEmbedder({SAMPLE["answer"]: (1, 0), SAMPLE["reference"]: (1, 0)})
        return measure(labelled, judge, embedder=embedder, **{**SAMPLE, **LABELLED})

    for value in (least, most):
        assert score(value).status in ("ok", "timeout")
    for value in beyond:
        with pytest.raises(BenchError, match=label):
            score(value)


@pytest.mark.parametrize(("levels", "is_legal"), [(1, False), (2, True), (100, True), (101, False)])
def test_a_rubric_has_two_levels_to_a_hundred(levels: int, is_legal: bool) -> None:
    rubric = dict.fromkeys(range(levels), "criteria")
    judge = ScriptedJudge(rubrics_score={"reason": "", "level": levels - 1})
    if is_legal:
        assert measure("rubrics_score", judge, rubric=rubric, **SAMPLE).value == 1.0
    else:
        with pytest.raises(BenchError, match="it needs 2 to 100"):
            measure("rubrics_score", judge, rubric=rubric, **SAMPLE)


# What widely used software computes under the same names, and what is right.


@pytest.mark.parametrize(
    ("answer", "reference", "right", "mixed"),
    [
        ([1, 1, 1], [1, 0], 0.5, 0.75),
        ([1], [1, 1, 0], 2 / 3, 0.5),
        ([1, 1, 0, 0], [0, 1], 0.5, 0.67),
    ],
)
def test_recall_divides_by_the_claims_of_the_reference(
    answer: Any, reference: Any, right: float, mixed: float
) -> None:
    """Others take hits from the answer's claims and misses from the reference's."""
    judge = judge_of(answer, reference)
    assert measure("factual_correctness(mode=recall)", judge, **SAMPLE).value == right
    label = "factual_correctness(mode=recall,variant=ragas)"
    assert measure(label, judge, **SAMPLE).value == mixed


def test_ragas_numbers_are_reproduced() -> None:
    """2 of 3 claims of the answer, 1 of 2 of the reference: P 2/3, R 2/3, two digits."""
    judge = judge_of([1, 1, 0], [1, 0])
    assert measure("factual_correctness", judge, **SAMPLE).value == pytest.approx(4 / 7)
    for mode, value in (("f1", 0.67), ("precision", 0.67), ("recall", 0.67)):
        label = f"factual_correctness(mode={mode},variant=ragas)"
        assert measure(label, judge, **SAMPLE).value == value
    silent = judge_of([], [])
    assert measure("factual_correctness(variant=ragas)", silent, **SAMPLE).value == 0.0
    assert silent.asked("entailment") == [], "of no claims nobody is asked"


def test_three_verdicts_are_counted_apart() -> None:
    judge = judge_of([1, "contradicted", 0], ["contradicted", 0])
    score = measure("factual_correctness", judge, **SAMPLE)
    assert [score.facts[name] for name in ("supported", "contradicted", "neutral")] == [1, 1, 1]
    words = [verdict.verdict for verdict in score.verdicts]
    assert words == ["supported", "contradicted", "neutral", "denied", "missing"]


@pytest.mark.parametrize("label", ["faithfulness", "context_recall"])
def test_missing_verdicts_are_not_full_marks(label: str) -> None:
    """Two verdicts on three statements, both good: others say 1.0."""
    fields = {**SAMPLE, "reference": "One. Two. Three."}
    good = ScriptedJudge(claims=claims("A", "B", "C"), entailment=[verdicts(1, 1), verdicts(0)])
    assert measure(label, good, **fields).value == 2 / 3
    assert len(good.asked("entailment")[1]["statements"]) == 1
    none: dict[str, Any] = {"verdicts": []}
    silent = ScriptedJudge(claims=claims("A", "B", "C"), entailment=[verdicts(1, 1), none])
    score = measure(label, silent, **fields)
    assert score.status == "verdict_mismatch"
    assert "2 of 3" in score.reason


def test_verdicts_are_matched_by_number() -> None:
    turned = {"verdicts": verdicts(1, 0, 0)["verdicts"][::-1]}
    judge = ScriptedJudge(claims=claims("A", "B", "C"), entailment=turned)
    score = measure("faithfulness", judge, **SAMPLE)
    assert [verdict.verdict for verdict in score.verdicts] == ["supported", "neutral", "neutral"]


@pytest.mark.parametrize(
    "indexes",
    [(2, 3), (1, 1)],  # counted from elsewhere; two different verdicts on one statement
)
def test_verdicts_that_fit_no_statement_are_asked_for_again(indexes: tuple[int, int]) -> None:
    shifted = verdicts(1, 0)
    for verdict, index in zip(shifted["verdicts"], indexes, strict=True):
        verdict["index"] = index
    judge = ScriptedJudge(claims=claims("A", "B"), entailment=[shifted, verdicts(0, 1)])
    assert measure("faithfulness", judge, **SAMPLE).value == 0.5
    assert [repeat for name, _, repeat in judge.calls if name == "entailment"] == [0, 1]


def test_all_of_all_is_exactly_one() -> None:
    """Epsilons make 0.9999999999 of it."""
    judge = ScriptedJudge(
        context_precision={"reason": "", "verdict": "Useful"},
        entities={"entities": ["Paris", "1889"]},
    )
    assert measure("context_precision", judge, **SAMPLE).value == 1.0
    assert measure("context_entity_recall", judge, **SAMPLE).value == 1.0
    assert measure("factual_correctness", judge_of([1, 1], [1, 1]), **SAMPLE).value == 1.0


def test_one_failed_passage_is_not_averaged_away() -> None:
    good = {"reason": "", "verdict": "useful"}
    judge = ScriptedJudge(context_precision=[good, "timeout", good])
    score = measure("context_precision", judge, **{**SAMPLE, "contexts": ("A", "B", "C")})
    assert (math.isnan(score.value), score.status) == (True, "timeout")


def test_no_useful_context_is_zero() -> None:
    judge = ScriptedJudge(context_precision={"reason": "", "verdict": "useless"})
    assert measure("context_precision", judge, **SAMPLE).value == 0.0


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Eiffel Tower", "eiffel  tower"),
        ("Орёл", "ОРЕЛ"),
        ("Paris", " paris "),
        ("１８８９", "1889"),
    ],
)
def test_a_name_in_two_spellings_is_one_entity(name: str, other: str) -> None:
    def find(values: Any) -> Any:
        return {"entities": [name if values["texts"] == [SAMPLE["reference"]] else other]}

    assert measure("context_entity_recall", ScriptedJudge(entities=find), **SAMPLE).value == 1.0


def test_a_contradiction_without_its_context_is_unmeasured() -> None:
    judge = ScriptedJudge(claims=claims("A"), entailment=verdicts("contradicted"))
    two = {**SAMPLE, "contexts": ("One.", "Two.")}
    assert measure("hallucination", judge, **two).status == "verdict_mismatch"
    assert measure("hallucination", judge, **SAMPLE).value == 1.0


@pytest.mark.parametrize(
    ("label", "calls", "waves"),
    [
        ("context_entity_recall", 2, 1),
        ("context_precision", 3, 1),
        ("context_recall", 1, 1),
        ("faithfulness", 2, 2),
        ("noise_sensitivity", 9, 2),
        ("factual_correctness", 4, 2),
        ("response_groundedness", 1, 1),
    ],
)
def test_calls_are_as_few_as_promised(label: str, calls: int, waves: int) -> None:
    judge = judge_of([1, 1], [1, 1])
    judge.scripts |= {
        "entities": {"entities": ["x"]},
        "context_precision": {"reason": "", "verdict": "useful"},
        "response_groundedness": {"reason": "", "rating": 1},
    }
    judge.scripts["entailment"] = lambda values: verdicts(*[1 for _ in values["statements"]])
    assert measure(label, judge, **{**SAMPLE, "contexts": ("A.", "B.", "C.")}).status == "ok"
    assert (len(judge.calls), judge.waves) == (calls, waves)


def test_of_several_references_the_best_counts() -> None:
    judge = ScriptedJudge(
        e2e_score=lambda values: {"reason": "", "rating": 5 if values["reference"] == "y" else 2}
    )
    score = measure("e2e_score", judge, **{**SAMPLE, "references": ("x", "y"), "reference": "x"})
    assert score.value == 5.0
    assert find_metric("faithfulness").bounds == (0.0, 1.0)
    assert find_metric("e2e_score(scale=0-1)").bounds == (0.0, 1.0)


@pytest.mark.parametrize(
    ("label", "value"), [("noise_sensitivity(mode=irrelevant)", 0.0), ("aspect_critique", 1.0)]
)
def test_of_several_references_the_least_counts_where_lower_is_better(
    label: str, value: float
) -> None:
    """What only describes is asked once."""
    judge = holding({SAMPLE["answer"]: "p", "x": "p", "y": "q"}, {"Context.": "p", "x": "p"})
    judge.scripts["aspect_critique"] = {"reason": "", "verdict": "yes"}
    fields = {**SAMPLE, "references": ("y", "x"), "reference": "y"}
    assert measure(label, judge, **fields).value == value
    assert len(judge.asked("aspect_critique")) == (label == "aspect_critique")


@pytest.mark.parametrize(("count", "calls"), [(10, 1), (11, 2)])
def test_ten_nuggets_are_one_question(count: int, calls: int) -> None:
    def grade(values: Any) -> Any:
        verdict = {"reason": "", "verdict": "full"}
        return {"verdicts": [{"index": n, **verdict} for n, _ in enumerate(values["nuggets"], 1)]}

    judge = ScriptedJudge(nugget_assignment=grade)
    nuggets = {f"fact {number}": "vital" for number in range(count)}
    assert measure("nugget_score", judge, nuggets=nuggets, **SAMPLE).value == 1.0
    assert len(judge.calls) == calls


@pytest.mark.parametrize(
    ("show", "words"),
    [
        ("yes", "To be shown, with a likelihood of 90 %: so"),
        ("no", "Not to be shown: with a likelihood of 90 % showing it would be right: so"),
    ],
)
def test_a_decision_is_explained_as_it_was_made(show: str, words: str) -> None:
    judge = ScriptedJudge(show_decision={"reason": "so", "show": show, "likelihood": 90})
    score = measure("show_decision", judge, question="q?", answer="a", contexts=("p",))
    assert score.value == float(show == "yes")
    assert score.message.format(**score.facts) == words
