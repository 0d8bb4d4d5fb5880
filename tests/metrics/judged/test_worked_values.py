"""One value of every judged metric, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from ragbench.core.language import load_language
from tests.metrics.judged.scripted import (
    ScriptedEmbedder,
    ScriptedJudge,
    claims,
    holding,
    measure,
    rated,
    verdicts,
)

PAIR = {"question": "When?", "answer": "a", "reference": "b", "contexts": ("Text a.", "Text b.")}
ONE = {**PAIR, "contexts": ("Text.",)}


def says(name: str, *values: Any, field: str = "rating") -> ScriptedJudge:
    return ScriptedJudge(**rated(name, *values, field=field))


def roles(answer: str, reference: str, **supported_by: str) -> ScriptedJudge:
    """A letter a claim. supported_by: claims by text: a, b, and x, y for the two contexts."""
    names = {"a": "a", "b": "b", "x": "Text a.", "y": "Text b."}
    by_passage = {names[name]: letters for name, letters in supported_by.items()}
    return holding({"a": answer, "b": reference}, by_passage)


def facts() -> ScriptedJudge:
    """The reference supports one of two claims of the answer; the answer the only one of it."""
    return roles("pq", "r", b="p", a="r")


def graded(*words: str) -> dict[str, Any]:
    grades = [{"index": n, "reason": "so", "verdict": word} for n, word in enumerate(words, 1)]
    return {"verdicts": grades}


def useful(values: Any) -> Any:
    return {"reason": "so", "verdict": "useless" if values["passage"] == "Text b." else "useful"}


TOPICS = [("p", True, True), ("q", True, False), ("r", False, True)]
VECTORS = {"When?": (1, 0), "p": (1, 0), "q": (0.6, 0.8), "a": (3, 4), "b": (4, 3)}
MESSAGES = (
    {"role": "user", "content": "Do it."},
    {"role": "assistant", "tool_calls": [{"name": "a", "arguments": {}}] * 3},
    {"role": "assistant", "content": "Done."},
)
THREE_CONTEXTS = {**PAIR, "contexts": ("Text a.", "Text b.", "Text c.")}
# Of these a blank one is left out, and one that nobody asked for.
ANSWERED = [{"question": text, "manner": "committal"} for text in (" ", "p", "q", "When?")]
CASES: list[tuple[str, ScriptedJudge | None, dict[str, Any], float]] = [
    ("faithfulness", ScriptedJudge(claims=claims("p", "q"), entailment=verdicts(1, 0)), PAIR, 0.5),
    (
        "hallucination",
        ScriptedJudge(
            claims=claims("p", "q"), entailment=verdicts("contradicted", "neutral", passages=[2])
        ),
        PAIR,
        0.5,
    ),
    (
        "hallucination(unit=claims)",
        ScriptedJudge(claims=claims("p", "q", "r"), entailment=verdicts(1, 0, "contradicted")),
        PAIR,
        2 / 3,
    ),
    ("context_precision", ScriptedJudge(context_precision=useful), THREE_CONTEXTS, 5 / 6),
    (
        "context_recall",
        ScriptedJudge(entailment=verdicts(1, 0)),
        {**ONE, "reference": "It opens at nine. It closes at ten."},
        0.5,
    ),
    (
        "context_entity_recall",
        ScriptedJudge(
            entities=lambda values: {
                "entities": ["Paris", "1889", " "]
                if values["texts"] == ["b"]
                else ["Paris", "Lyon"]
            }
        ),
        ONE,
        0.5,
    ),
    ("noise_sensitivity", roles("pqtu", "r", b="pqt", x="ur"), PAIR, 0.25),
    ("noise_sensitivity(mode=irrelevant)", roles("pqtu", "r", b="pqt", x="r", y="u"), PAIR, 0.25),
    ("claim_recall", roles("pq", "rs", x="pqr"), PAIR, 0.5),
    ("context_utilization", roles("pq", "rs", a="r", x="rs"), PAIR, 0.5),
    ("claim_hallucination", roles("pqtu", "r", b="p", x="q"), PAIR, 0.5),
    ("self_knowledge", roles("pqtu", "r", b="pq", x="q"), PAIR, 0.25),
    ("factual_correctness", facts(), ONE, 2 / 3),
    ("factual_correctness(mode=precision)", facts(), ONE, 0.5),
    ("factual_correctness(mode=recall)", facts(), ONE, 1.0),
    ("factual_correctness(beta=2)", facts(), ONE, 5 * 0.5 / (4 * 0.5 + 1)),
    ("answer_correctness", facts(), ONE, 0.75 * 2 / 3 + 0.25 * 0.96),
    ("answer_correctness(factual_weight=0,semantic_weight=2)", ScriptedJudge(), ONE, 0.96),
    ("answer_correctness(factual_weight=2,semantic_weight=0)", facts(), ONE, 2 / 3),
    (
        "response_relevancy(questions=2)",
        ScriptedJudge(response_relevancy={"questions": ANSWERED}),
        ONE,
        0.8,
    ),
    ("response_groundedness", says("response_groundedness", 1), ONE, 0.5),
    ("faithfulness_rating", says("faithfulness_rating", 4), ONE, 4.0),
    ("answer_relevance", says("answer_relevance", "4.0"), ONE, 4.0),
    ("answer_relevance(scale=0-1)", says("answer_relevance", 3), ONE, 0.5),
    ("answer_correctness_rating", says("answer_correctness_rating", 5.0), ONE, 5.0),
    ("e2e_score", says("e2e_score", 2), ONE, 2.0),
    (
        "relevance_grade",
        says("relevance", 3, 1),
        PAIR,
        2 / 3,
    ),
    (
        "relevance_grade(of=share)",
        says("relevance", 2, 1),
        PAIR,
        0.5,
    ),
    ("simple_criteria", says("simple_criteria", 4, field="verdict"), ONE, 0.8),
    (
        "response_groundedness(shortcuts=false)",
        says("response_groundedness", 1),
        {**ONE, "answer": "Text."},
        0.5,
    ),
    (
        "context_relevance",
        ScriptedJudge(**rated("context_relevance", 1), **rated("context_relevance_turned", 2)),
        ONE,
        0.75,
    ),
    (
        "answer_accuracy",
        ScriptedJudge(**rated("answer_accuracy", 2), **rated("answer_accuracy_turned", 1)),
        ONE,
        0.75,
    ),
    (
        "aspect_critique(repeats=3)",
        says("aspect_critique", "yes", "No", "yes", field="verdict"),
        ONE,
        1.0,
    ),
    (
        "simple_criteria(lowest=1,highest=5,repeats=3)",
        says("simple_criteria", 4, 4, 1.5, field="verdict"),
        ONE,
        0.75,
    ),
    (
        "rubrics_score",
        says("rubrics_score", "2", field="level"),
        {**ONE, "rubric": {1: "poor", 2: "fair", 4: "good"}},
        1 / 3,
    ),
    (
        "show_decision",
        ScriptedJudge(show_decision={"reason": "so", "show": "yes", "likelihood": 90}),
        ONE,
        1.0,
    ),
    (
        "nugget_score",
        ScriptedJudge(nugget_assignment=graded("full", "partial", "none")),
        {**ONE, "nuggets": {"p": "vital", "q": "okay", "r": "vital"}},
        0.5,
    ),
    (
        "nugget_score(over=weighted,strict=true)",
        ScriptedJudge(nugget_assignment=graded("full", "partial", "none")),
        {**ONE, "nuggets": {"p": "vital", "q": "okay", "r": "vital"}},
        1 / 2.5,
    ),
    (
        "nugget_score(over=vital,strict=false)",
        ScriptedJudge(nugget_assignment=graded("none", "full", "full")),
        {**ONE, "nuggets": {"p": "vital", "q": "okay", "r": "vital"}},
        0.5,
    ),
    (
        "goal_reached",
        says("agent_goal", "yes", field="verdict"),
        {"messages": MESSAGES},
        1.0,
    ),
    (
        "topic_adherence",
        ScriptedJudge(
            agent_topics={
                "topics": [{"topic": t, "answered": a, "allowed": b} for t, a, b in TOPICS]
            }
        ),
        {"messages": MESSAGES, "topics": ("p",)},
        0.5,
    ),
    ("agent_calls", None, {"messages": MESSAGES}, 3.0),
    ("agent_turns", None, {"messages": MESSAGES}, 2.0),
    ("agent_cost", None, {"cost": 0.25}, 0.25),
]


# What tells the explanations of two metrics or modes apart.
SAID = {
    "claim_hallucination": "2 of 4 claims are wrong and in no context",
    "self_knowledge": "1 of 4 claims are right and in no context",
    "noise_sensitivity": "Relevant contexts led to 1 wrong claims of 4",
    "noise_sensitivity(mode=irrelevant)": "Only irrelevant contexts led to 1 wrong claims of 4",
    "factual_correctness(mode=precision)": "supports 1 of 2 claims of the answer",
    "factual_correctness(mode=recall)": "says 1 of 1 claims of the reference",
    "goal_reached": "The goal was reached: so",
    "faithfulness_rating": "Rated 4 of 5: so",
    "answer_relevance(scale=0-1)": "Rated 3 of 5, (3 − 1) / 4 = 0.500: so",
    "context_precision": "at ranks 1, 3 of 3: (1/1 + 2/3) / 2 = 0.833",
}


@pytest.mark.parametrize(("label", "judge", "fields", "expected"), CASES)
def test_value_by_hand(
    label: str, judge: ScriptedJudge | None, fields: dict[str, Any], expected: float
) -> None:
    score = measure(label, judge, embedder=ScriptedEmbedder(VECTORS), **fields)
    assert score.status == "ok", score.reason
    assert score.value == pytest.approx(expected, abs=1e-6)
    english, russian = (score.explain(load_language(code)) for code in ("en", "ru"))
    assert "{" not in english + russian
    assert SAID.get(label, "") in english
    # What a run took is no judgement and says all by its value.
    assert (english != russian) is not label.startswith("agent_")


@pytest.mark.parametrize(
    ("by", "ids", "labelled", "precision", "recall"),
    [
        ("id", "abc", (("b",), ("d",)), 1 / 3, 0.5),
        ("id", ("page 1", "page 2"), (("page 1",), ("page 3",)), 0.5, 0.5),
        ("id", "Aa", (("a",),), 0.5, 1.0),
        ("id", "aab", (("x", "b"), ("d", "y"), ("a",)), 1.0, 2 / 3),
        ("text", ("Text A", "other"), (("text  a",), ("nothing like it",)), 0.5, 0.5),
    ],
)
def test_contexts_by_label(
    by: str, ids: Any, labelled: Any, precision: float, recall: float
) -> None:
    fields: dict[str, Any] = {"context_ids": tuple(ids), "reference_context_ids": labelled}
    if by == "text":
        texts = tuple(group[0] for group in labelled)
        fields = {"contexts": tuple(ids), "reference_contexts": texts}
    assert measure(f"context_precision_by_label(by={by})", **fields).value == precision
    assert measure(f"context_recall_by_label(by={by})", **fields).value == recall


@pytest.mark.parametrize(
    ("text", "threshold", "expected"),
    [
        ("aaaaabbbbb", 0.5, 1.0),  # 5 of 10 letters agree
        ("aaaaabbbbb", 0.51, 0.0),
        (" AAAAAAAAAA", 1, 1.0),
        ("aaaaaaaaa", 1, 0.0),
    ],
)
def test_texts_are_alike_from_the_threshold_on(
    text: str, threshold: float, expected: float
) -> None:
    fields = {"contexts": (text,), "reference_contexts": ("aaaaaaaaaa",)}
    label = f"context_recall_by_label(by=text,threshold={threshold})"
    assert measure(label, **fields).value == expected


def test_contexts_without_ids_are_not_compared_by_id() -> None:
    score = measure("context_recall_by_label", contexts=("a",), reference_contexts=("a",))
    assert score.status == "missing_field"
    assert "by=text" in score.reason
