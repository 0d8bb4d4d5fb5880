"""What the unit tests of Spring AI RAGAS 0.3.3 try of its metrics, as cases of our own: what is scored, and the result
that those tests ask for. Texts, replies and numbers are theirs, the wording is not.

Tests of Java itself (builders, records, names, prompts' placeholders, listeners) have no case: they ask for no value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragbench.old.core.types import Chunk, Sample, Status

NONE = "no value"
"""There: null, or an exception. Here: unmeasured, with a status and a reason."""
Expected = tuple[float, float] | str


@dataclass(frozen=True)
class Case:
    """One of that library's tests.

    expected: ends of the interval that its test asks for, on its scale, or NONE. differs: the key of the intended
    difference (tests/old/metrics/differences.py) for which ragbench gives `here` instead: a value, a status, or ValueError.
    said: the judge's replies by prompt; vectors: by text. judges: how many models are asked alike.
    """

    metric: str
    about: str
    sample: Sample
    expected: Expected
    options: Mapping[str, Any] = field(default_factory=dict)
    said: Mapping[str, Any] = field(default_factory=dict)
    vectors: Mapping[str, Sequence[float]] | None = None
    judges: int = 1
    differs: str = ""
    here: float | Status | type[Exception] | None = None


@dataclass(frozen=True)
class Relation:
    """A test that compares two values: the first is at most the second; `strictly` below it."""

    metric: str
    about: str
    first: tuple[Sample, Mapping[str, Any]]
    second: tuple[Sample, Mapping[str, Any]]
    strictly: bool = False


def texts(response: str | None, reference: str | None) -> Sample:
    return Sample("s", "Question", response, reference)


def chunks(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"c{number}", text) for number, text in enumerate(texts, 1))


def near(value: float) -> tuple[float, float]:
    return value - 0.01, value + 0.01


ONE, HALF, ZERO = (1.0, 1.0), (0.5, 0.5), (0.0, 0.0)
SCALE = (0.0, 1.0)
FOX = "The quick brown fox jumps over the lazy dog"
SHORT_FOX = "The quick brown fox"
LOWER: dict[str, Any] = {"lowercase": True}
SPACED = {**LOWER, "whitespace": True}
GREETING = "Привет мир как дела"


def text_cases(metric: str, rows: Sequence[tuple[Any, ...]]) -> list[Case]:
    made = []
    for about, response, reference, expected, options, *rest in rows:
        differs, here = rest or ("", None)
        made.append(Case(metric, about, texts(response, reference), expected, options, differs=differs, here=here))
    return made


def validation(metric: str, options: Mapping[str, Any]) -> list[Case]:
    return text_cases(
        metric,
        [
            ("no response", None, "Reference", NONE, options),
            ("empty response", "", "Reference", NONE, options, "empty answer", 0.0),
            ("no reference", "Response", None, NONE, options),
            ("empty reference", "Response", "", NONE, options),
        ],
    )


DEFAULTS: list[tuple[str, str, Any, Any, str]] = [
    ("bleu", "orders", 4, 4, ""),
    ("bleu", "smooth", "on", "exp", ""),
    ("chrf", "chars", 6, 6, ""),
    ("chrf", "words", 0, 0, ""),
    ("chrf", "beta", 2.0, 2.0, ""),
    ("chrf", "lowercase", True, False, "letter case"),
    ("chrf", "whitespace", True, False, "white space"),
    ("bleu", "lowercase", True, False, "letter case"),
    ("rougeL_f", "mode", "f1", "f1", ""),
    ("string_similarity", "measure", "jaro_winkler", "levenshtein", "measure as usual"),
    ("string_similarity", "case", False, False, ""),
    ("aspect_critique", "repeats", 1, 1, ""),
    ("simple_criteria", "repeats", 1, 1, ""),
    ("simple_criteria", "lowest", 0.0, 0, ""),
    ("simple_criteria", "highest", 5.0, 5, ""),
    ("response_groundedness", "shortcuts", True, True, ""),
    ("factual_correctness", "mode", "f1", "f1", ""),
    ("semantic_similarity", "threshold", None, None, ""),
    ("response_relevancy", "questions", 3, 3, ""),
    ("noise_sensitivity", "mode", "relevant", "relevant", ""),
    ("answer_accuracy", "ratings", "one", "two", "two templates"),
    ("context_relevance", "each", True, False, "two templates"),
]
"""Metric, option, its default there (in our words) and here, and the key of the difference."""
COUNTED = {
    "AspectCritic": 25, "SimpleCriteriaScore": 22, "RubricsScore": 18, "AnswerAccuracy": 20, "ContextRelevance": 19,
    "ResponseGroundedness": 22, "AnswerCorrectness": 18, "FactualCorrectness": 21, "SemanticSimilarity": 31,
    "ContextEntityRecall": 20, "ContextPrecision": 25, "ContextRecall": 21, "Faithfulness": 25, "NoiseSensitivity": 44,
    "ResponseRelevancy": 29, "BleuScore": 22, "ChrfScore": 21, "RougeScore": 23, "StringSimilarity": 22,
}  # fmt: skip
"""How many tests each of these classes has there."""
