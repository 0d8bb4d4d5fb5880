"""Cases of the metrics that ask a model; see tests/old/metrics/spring_ai_ragas_cases.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragbench.old.core.types import Sample, Status
from tests.old.judge.scripted_judge import claims, entailment
from tests.old.metrics.spring_ai_ragas_cases import HALF, NONE, ONE, SCALE, ZERO, Case, chunks, near, validation

JAVA = Sample(
    "s", "What is Java?", "Java is a programming language.", "Java is a programming language.",
    chunks("Java is a high-level programming language."),
)  # fmt: skip
WHOLE = Sample("s", "Question", "Response", "Reference", chunks("Context"))


def _without(field_name: str, value: Any = None, sample: Sample = WHOLE) -> Sample:
    return replace(sample, **{field_name: value})


def _two(*verdicts: Any) -> dict[str, Any]:
    return {"claims": claims(*(f"stmt{number}" for number in range(1, 3))), "entailment": entailment(*verdicts)}


NULL_VERDICT = {
    "verdicts": [
        *entailment(1)["verdicts"],
        {"statement": 2, "reason": "unknown", "verdict": None, "passages": []},
    ]
}
MISSING, BLANK, WRONG = Status.MISSING_FIELD, Status.EMPTY_INPUT, Status.PARSE_ERROR
FAILED = Status.JUDGE_ERROR


def _faithfulness() -> list[Case]:
    one = {"claims": claims("stmt1")}
    rows: list[Case] = [
        Case("faithfulness", "all supported", JAVA, ONE, said=_two(1, 1)),
        Case("faithfulness", "none supported", JAVA, ZERO, said=_two(0, 0)),
        Case("faithfulness", "half supported", JAVA, near(0.5), said=_two(1, 0)),
        Case("faithfulness", "no verdicts", JAVA, ZERO, said={**one, "entailment": {"verdicts": []}},
             differs="missing verdicts", here=Status.VERDICT_MISMATCH),
        Case("faithfulness", "null for the verdicts", JAVA, ZERO, said={**one, "entailment": {"verdicts": None}},
             differs="null", here=WRONG),
        Case("faithfulness", "null for a verdict", JAVA, near(0.5),
             said={"claims": claims("stmt1", "stmt2"), "entailment": NULL_VERDICT}, differs="null", here=WRONG),
        Case("faithfulness", "the model fails", JAVA, NONE, said={"claims": FAILED}),
        Case("faithfulness", "at once", JAVA, ONE, said={**one, "entailment": entailment(1)}),
        Case("faithfulness", "one named model", JAVA, ONE, said={**one, "entailment": entailment(1)}),
    ]  # fmt: skip
    return rows


def _context_recall() -> list[Case]:
    two = Sample("s", "What is Java?", reference="It is a language. It is old.", contexts=chunks("Java is a language."))
    name = "context_recall"
    return [
        Case(name, "all found", two, ONE, said={"entailment": entailment(1, 1)}),
        Case(name, "none found", two, ZERO, said={"entailment": entailment(0, 0)}),
        Case(name, "half found", two, near(0.5), said={"entailment": entailment(1, 0)}),
        Case(name, "no verdicts", two, ZERO, said={"entailment": {"verdicts": []}}, differs="missing verdicts",
             here=Status.VERDICT_MISMATCH),
        *(Case(name, f"no {lacking}", _without(lacking), ZERO, differs="missing field", here=MISSING)
          for lacking in ("reference", "contexts", "user_input")),
        Case(name, "the model fails", two, NONE, said={"entailment": FAILED}),
    ]  # fmt: skip


def _context_precision() -> list[Case]:
    def said(verdict: Any) -> dict[str, Any]:
        return {"context_precision": {"reason": "so", "verdict": verdict}}

    name = "context_precision"
    two = replace(JAVA, contexts=chunks("Java is a high-level language.", "Java was created by Sun Microsystems."))
    answered = replace(JAVA, reference=None)
    by_reference = {"strategy": "reference"}
    return [
        Case(name, "all useful", two, ONE, said=said("useful")),
        Case(name, "none useful", two, ZERO, said=said("useless")),
        Case(name, "no contexts", replace(JAVA, contexts=None), ZERO, differs="missing field", here=MISSING),
        Case(name, "by the response", answered, ONE, said=said("useful")),
        Case(name, "null for the verdict", JAVA, ZERO, said=said(None), differs="null", here=WRONG),
        Case(name, "by the reference", JAVA, ONE, by_reference, said("useful")),
        Case(name, "by a reference that is not there", answered, ONE, by_reference, said("useful"),
             differs="strategy", here=MISSING),
        Case(name, "the model fails", JAVA, ZERO, said={name: FAILED}, differs="failed call", here=FAILED),
        Case(name, "at once", JAVA, ONE, said=said("useful")),
    ]  # fmt: skip


def _context_entity_recall() -> list[Case]:
    name = "context_entity_recall"

    def said(*entities: str) -> dict[str, Any]:
        return {"entities": {"entities": list(entities)}}

    return [
        Case(name, "all there", WHOLE, ONE, said=said("Paris", "France", "1889")),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no contexts", _without("contexts"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no entities", WHOLE, ZERO, said=said(), differs="nothing to count",
             here=Status.EMPTY_DECOMPOSITION),
        Case(name, "null for the entities", WHOLE, ZERO, said={"entities": {"entities": None}}, differs="null",
             here=WRONG),
        Case(name, "the model fails", WHOLE, NONE, said={"entities": FAILED}),
        Case(name, "at once", WHOLE, ONE, said=said("Paris", "France")),
        Case(name, "one named model", WHOLE, ONE, said=said("Entity1", "Entity2")),
        Case(name, "capitals", WHOLE, ONE, said=said("PARIS", "france")),
    ]  # fmt: skip


def _factual_correctness() -> list[Case]:
    name = "factual_correctness"
    two = {"claims": claims("Claim 1", "Claim 2")}
    one = {"claims": claims("Claim 1"), "entailment": entailment(1)}
    return [
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "all supported", WHOLE, near(1.0), said={**two, "entailment": entailment(1, 1)}),
        Case(name, "none supported", WHOLE, ZERO, said={**two, "entailment": entailment("contradicted", 0)}),
        Case(name, "half supported", WHOLE, near(0.5), said={**two, "entailment": entailment(1, "contradicted")}),
        Case(name, "precision", WHOLE, near(1.0), {"mode": "precision"}, one),
        Case(name, "the model fails", WHOLE, NONE, said={"claims": FAILED}),
        Case(name, "at once", WHOLE, SCALE, said=one),
    ]


def _answer_correctness() -> list[Case]:
    name = "answer_correctness"
    one, equal = {"claims": claims("Claim"), "entailment": entailment(1)}, {"Response": [1, 0], "Reference": [1, 0]}
    wrong = {"claims": claims("Wrong claim"), "entailment": entailment("contradicted")}
    weights = {"factual_weight": 1.5, "semantic_weight": 1.0}
    part = "unmeasured part"
    return [
        Case(name, "empty response", _without("response", ""), ZERO, vectors=equal),
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "empty reference", _without("reference", ""), ZERO, differs="empty field", here=BLANK),
        Case(name, "no reference", _without("reference"), ZERO, differs="missing field", here=MISSING),
        Case(name, "both parts perfect", WHOLE, near(1.0), said=one, vectors=equal),
        Case(name, "facts wrong, meaning alike", WHOLE, near(0.25), said=wrong, vectors=equal),
        Case(name, "weights that add up to 2.5", WHOLE, near(1.0), weights, one, equal),
        Case(name, "at once", WHOLE, SCALE, said=one, vectors=equal),
        Case(name, "at once, equal weights", WHOLE, SCALE, {"preset": "equal"}, one, equal),
        Case(name, "facts fail", WHOLE, SCALE, said={"claims": FAILED}, vectors=equal, differs=part, here=FAILED),
        Case(name, "vectors fail", WHOLE, SCALE, said=one, vectors={}, differs=part, here=Status.EMBEDDING_ERROR),
    ]


def _semantic_similarity() -> list[Case]:
    name = "semantic_similarity"

    def vectors(*reference: float) -> dict[str, Sequence[float]]:
        return {"Response": [1.0, 0.0, 0.0][: len(reference)], "Reference": list(reference)}

    same = {"Response": [0.1, 0.2, 0.3, 0.4, 0.5], "Reference": [0.1, 0.2, 0.3, 0.4, 0.5]}
    return [
        Case(name, "no response", _without("response"), ZERO, vectors=same, differs="missing field", here=MISSING),
        Case(name, "no reference", _without("reference"), ZERO, vectors=same, differs="missing field", here=MISSING),
        Case(name, "no embedder", WHOLE, ZERO, differs="no embedder", here=ValueError),
        Case(name, "equal vectors", WHOLE, near(1.0), vectors=same),
        Case(name, "orthogonal", WHOLE, near(0.0), vectors=vectors(0.0, 1.0, 0.0)),
        Case(name, "partly alike", WHOLE, (0.8, 0.9), vectors=vectors(0.866, 0.5, 0.0)),
        Case(name, "below a threshold", WHOLE, ZERO, {"threshold": 0.8}, vectors=vectors(0.7, 0.714)),
        Case(name, "above a threshold", WHOLE, ONE, {"threshold": 0.5}, vectors=vectors(0.7, 0.714)),
        Case(name, "the embedder fails", WHOLE, NONE, vectors={}),
        Case(name, "at once", WHOLE, near(1.0), vectors=same),
        Case(name, "vectors 0.9 alike", WHOLE, SCALE, vectors=vectors(0.9, 0.436, 0.0)),
        Case(name, "a response of spaces", _without("response", "  "), ZERO, vectors=same),
    ]


def _response_relevancy() -> list[Case]:
    name = "response_relevancy"

    def said(*questions: tuple[str, str]) -> dict[str, Any]:
        return {name: {"questions": [{"question": text, "manner": manner} for text, manner in questions]}}

    evades = said(("What don't you know?", "noncommittal"), ("What are you unsure about?", "noncommittal"))
    vector = [0.1, 0.2, 0.3, 0.4, 0.5]
    known = {"Question": vector, "Generated?": vector}
    good = said(("Generated?", "committal"))
    return [
        Case(name, "no question", _without("user_input"), ZERO, vectors=known, differs="missing field", here=MISSING),
        Case(name, "no response", _without("response"), ZERO, vectors=known, differs="missing field", here=MISSING),
        Case(name, "it evades", WHOLE, ZERO, said=evades, vectors=known),
        Case(name, "no questions made", WHOLE, NONE, said=said(), vectors=known),
        Case(name, "the model fails", WHOLE, NONE, said={name: FAILED}, vectors=known),
        Case(name, "the same question", WHOLE, near(1.0), said=good, vectors=known),
        Case(name, "at once", WHOLE, near(1.0), said=good, vectors=known),
        Case(name, "two questions asked for", WHOLE, SCALE, {"questions": 2}, good, known),
    ]


def _noise_sensitivity() -> list[Case]:
    name = "noise_sensitivity"
    irrelevant = {"mode": "irrelevant"}
    one = {"claims": claims("Statement 1"), "entailment": entailment(1)}
    two = {"claims": claims("Statement 1", "Statement 2")}
    null = {"verdicts": [{"statement": 1, "reason": "unclear", "verdict": None, "passages": []}]}
    many, pair = (_without("contexts", chunks(*(f"Context {n}" for n in range(1, k + 1)))) for k in (3, 2))
    blank = {"user_input": "   ", "response": "   ", "reference": "   ", "contexts": ()}
    return [
        *(Case(name, f"no {lacking}", _without(lacking), ZERO, differs="missing field", here=MISSING)
          for lacking in blank),
        Case(name, "the model fails", WHOLE, NONE, said={"claims": FAILED}),
        Case(name, "all supported", WHOLE, SCALE, said=one),
        Case(name, "all supported, irrelevant", WHOLE, SCALE, irrelevant, one),
        Case(name, "at once", WHOLE, SCALE, said=one),
        Case(name, "three contexts", many, SCALE, said={**two, "entailment": entailment(1, 0)}),
        Case(name, "null for a verdict", WHOLE, SCALE, said={**one, "entailment": null}, differs="null", here=WRONG),
        Case(name, "no statements", WHOLE, ZERO, said={"claims": claims()}, differs="nothing to count",
             here=Status.EMPTY_DECOMPOSITION),
        Case(name, "null for the statements", WHOLE, ZERO, said={"claims": {"claims": None}}, differs="null",
             here=WRONG),
        Case(name, "null for the verdicts", WHOLE, SCALE, said={**one, "entailment": {"verdicts": None}},
             differs="null", here=WRONG),
        Case(name, "mixed verdicts, irrelevant", pair, SCALE, irrelevant, {**two, "entailment": entailment(0, 1)}),
        Case(name, "none supported", pair, SCALE, said={**two, "entailment": entailment(0, 0)}),
        Case(name, "one named model", WHOLE, SCALE, said=one),
        *(Case(name, f"empty {lacking}", _without(lacking, value), ZERO, differs="empty field", here=BLANK)
          for lacking, value in blank.items()),
    ]  # fmt: skip


def _rating(prompt: str, rating: Any) -> dict[str, Any]:
    return {prompt: {"reason": "scripted", "rating": rating}}


def _response_groundedness() -> list[Case]:
    name = "response_groundedness"
    asked = {"shortcuts": False}
    exact = Sample("s", response="Exact match text", contexts=chunks("Exact match text"))
    paris = "Paris is the capital of France"
    return [
        *(Case(name, about, WHOLE, expected, asked, _rating(name, rating)) for about, rating, expected in (
            ("fully grounded", 2, near(1.0)), ("partly grounded", 1, near(0.5)), ("not grounded", 0, near(0.0)),
            ("rating 0", 0, ZERO), ("rating 1", 1, near(0.5)), ("rating 2", 2, near(1.0)), ("at once", 2, ONE))),
        Case(name, "equals a context", Sample("s", response=paris, contexts=chunks(paris)), ONE),
        Case(name, "stands in a context", Sample("s", response="capital", contexts=chunks(paris)), ONE),
        Case(name, "empty response", _without("response", ""), ZERO, differs="empty field", here=BLANK),
        Case(name, "a shortcut asks nobody", exact, ONE, said={name: FAILED}),
        Case(name, "no shortcuts", exact, near(1.0), asked, _rating(name, 2)),
        Case(name, "a rating of 5", WHOLE, ONE, asked, _rating(name, 5), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, asked, _rating(name, -1), differs="clamping", here=WRONG),
        Case(name, "two models", WHOLE, near(1.0), asked, _rating(name, 2), judges=2),
        Case(name, "no response", _without("response"), ZERO, differs="missing field", here=MISSING),
        Case(name, "no response, no shortcuts", _without("response"), NONE, asked),
        Case(name, "empty contexts", _without("contexts", ()), NONE),
        Case(name, "no contexts", _without("contexts"), NONE),
        Case(name, "null for the rating", WHOLE, NONE, asked, _rating(name, None)),
    ]  # fmt: skip


def _rubrics_score() -> list[Case]:
    name = "rubrics_score"
    five = dict(enumerate(("Poor", "Below average", "Average", "Good", "Excellent"), 1))

    def graded(rubric: Mapping[Any, str]) -> Sample:
        return _without("rubric", rubric)

    def said(level: Any) -> dict[str, Any]:
        return {name: {"reason": "scripted", "level": level}}

    return [
        Case(name, "level 4 of 5", graded(five), (4.0, 4.0), said=said(4), differs="level", here=0.75),
        Case(name, "null for the level", graded(five), ZERO, said=said(None), differs="null", here=WRONG),
        Case(name, "two models", graded({1: "Poor", 3: "Average"}), (3.0, 3.0), said=said(3), judges=2,
             differs="level", here=1.0),
        Case(name, "the model fails", graded(five), NONE, said={name: FAILED}),
        Case(name, "a rubric of one level", graded({5: "Excellent"}), (5.0, 5.0), said=said(5),
             differs="one level", here=Status.INVALID_INPUT),
        Case(name, "an empty rubric", graded({}), NONE),
        Case(name, "a level without a number", graded({"invalid_key": "Description"}), NONE),
        Case(name, "two levels", graded({1: "Level 1", 2: "Level 2"}), (2.0, 2.0), said=said(2), differs="level",
             here=1.0),
    ]  # fmt: skip


def _aspect_critique() -> list[Case]:
    name = "aspect_critique"
    accurate = {"aspect": "Response should be accurate"}

    def said(verdict: Any) -> dict[str, Any]:
        return {name: {"reason": "scripted", "verdict": verdict}}

    yes = said("yes")
    return [
        Case(name, "yes", JAVA, ONE, accurate, yes),
        Case(name, "no", JAVA, ZERO, accurate, said("no")),
        Case(name, "null for the verdict", JAVA, ZERO, accurate, said(None), differs="null", here=WRONG),
        Case(name, "two models", JAVA, ONE, accurate, yes, judges=2),
        Case(name, "the model fails", JAVA, NONE, accurate, {name: FAILED}),
        Case(name, "at once", JAVA, ONE, accurate, yes),
        Case(name, "no aspect", JAVA, NONE, {"aspect": ""}, yes),
        *(Case(name, f"strictness {times}", JAVA, ONE, {**accurate, "repeats": times}, yes) for times in (1, 3, 5)),
        *(Case(name, f"strictness {times}", JAVA, NONE, {**accurate, "repeats": times}, yes) for times in (0, 6)),
    ]


def _simple_criteria() -> list[Case]:
    name = "simple_criteria"
    by: dict[str, Any] = {"criterion": "Test criteria", "lowest": 0.0, "highest": 5.0}
    return [
        Case(name, "the highest", WHOLE, ONE, by, _rating(name, 5.0)),
        Case(name, "the lowest", WHOLE, ZERO, by, _rating(name, 0.0)),
        Case(name, "the middle", WHOLE, near(0.5), by, _rating(name, 2.5)),
        Case(name, "null for the rating", WHOLE, ZERO, by, _rating(name, None), differs="null", here=WRONG),
        Case(name, "the model fails", WHOLE, NONE, by, {name: FAILED}),
        Case(name, "a rating of 10", WHOLE, ONE, by, _rating(name, 10.0), differs="clamping", here=WRONG),
        Case(name, "with a reference", JAVA, near(0.8), by, _rating(name, 4.0)),
        Case(name, "the scale as usual", WHOLE, near(0.8), {}, _rating(name, 4.0)),
        Case(name, "0 to 10", WHOLE, near(0.5), {**by, "highest": 10.0}, _rating(name, 5.0)),
        Case(name, "−5 to 5", WHOLE, near(0.5), {**by, "lowest": -5.0}, _rating(name, 0.0)),
        Case(name, "1 to 10", WHOLE, ONE, {**by, "lowest": 1.0, "highest": 10.0}, _rating(name, 10.0)),
        Case(name, "no criterion", WHOLE, NONE, {"criterion": ""}, _rating(name, 4.0)),
        *(Case(name, f"{low:g} to 5", WHOLE, NONE, {**by, "lowest": low}, _rating(name, 5.0)) for low in (5.0, 10.0)),
    ]


def _answer_accuracy() -> list[Case]:
    name, again = "answer_accuracy", "answer_accuracy_confirmed"
    one, dual = {"ratings": "one"}, {"ratings": "confirmed"}
    return [
        *(Case(name, about, WHOLE, expected, one, _rating(name, rating)) for about, rating, expected in (
            ("fully correct", 2, near(1.0)), ("partly correct", 1, near(0.5)), ("incorrect", 0, near(0.0)),
            ("rating 0", 0, ZERO), ("rating 1", 1, near(0.5)), ("rating 2", 2, near(1.0)), ("at once", 2, ONE))),
        Case(name, "a second look", WHOLE, near(1.0), dual, _rating(name, 1) | _rating(again, 2)),
        Case(name, "no second look", WHOLE, near(0.5), one, _rating(name, 1) | {again: FAILED}),
        Case(name, "a second look that fails", WHOLE, near(1.0), dual, _rating(name, 2) | _rating(again, None),
             differs="second look", here=WRONG),
        Case(name, "a rating of 5", WHOLE, ONE, one, _rating(name, 5), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, one, _rating(name, -1), differs="clamping", here=WRONG),
        Case(name, "two models", WHOLE, near(1.0), one, _rating(name, 2), judges=2),
        Case(name, "no question", _without("user_input"), near(1.0), one, _rating(name, 2),
             differs="question of the accuracy", here=MISSING),
        *validation(name, one),
        Case(name, "null for the rating", WHOLE, NONE, one, _rating(name, None)),
    ]  # fmt: skip


def _context_relevance() -> list[Case]:
    name = "context_relevance"
    by = {"ratings": "one", "each": True}
    three = _without("contexts", chunks("context 1: AI definition", "context 2: some info", "context 3: unrelated"))
    two = _without("contexts", chunks("context 1", "context 2"))

    def graded(texts: Mapping[str, Any]) -> dict[str, Any]:
        [text] = texts["contexts"]
        return {"reason": "scripted", "rating": {"context 1": 2, "context 2": 1}.get(text[:9], 0)}

    return [
        *(Case(name, about, WHOLE, expected, by, _rating(name, rating)) for about, rating, expected in (
            ("fully relevant", 2, ONE), ("partly relevant", 1, HALF), ("not relevant", 0, ZERO), ("at once", 2, ONE),
            ("another prompt", 2, ONE))),
        Case(name, "the mean over contexts", three, HALF, by, {name: graded}),
        Case(name, "all contexts relevant", three, ONE, by, _rating(name, 2)),
        Case(name, "no context relevant", two, ZERO, by, _rating(name, 0)),
        Case(name, "a rating of 3", WHOLE, ONE, by, _rating(name, 3), differs="clamping", here=WRONG),
        Case(name, "a rating of −1", WHOLE, ZERO, by, _rating(name, -1), differs="clamping", here=WRONG),
        *(Case(name, f"{word} {lacking}", _without(lacking, value), NONE, by)
          for lacking, empty in (("user_input", ""), ("contexts", ()))
          for word, value in (("no", None), ("empty", empty))),
        Case(name, "null for the rating", WHOLE, NONE, by, _rating(name, None)),
        Case(name, "two models", WHOLE, ONE, by, _rating(name, 2), judges=2),
    ]  # fmt: skip


JUDGED = [
    *_aspect_critique(),
    *_simple_criteria(),
    *_rubrics_score(),
    *_answer_accuracy(),
    *_context_relevance(),
    *_response_groundedness(),
    *_answer_correctness(),
    *_factual_correctness(),
    *_semantic_similarity(),
    *_context_entity_recall(),
    *_context_precision(),
    *_context_recall(),
    *_faithfulness(),
    *_noise_sensitivity(),
    *_response_relevancy(),
]
