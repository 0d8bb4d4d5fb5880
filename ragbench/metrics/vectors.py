"""How near texts are by their vectors: answers and references, repeats, turns of a dialogue.

embedder: an object with `embed`, or a function of texts that returns their vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.errors import BenchError
from ragbench.core.metric import metric
from ragbench.metrics.texts import without_invisible

Array = NDArray[np.float64]
Texts = tuple[str, ...]

INFINITE = (-np.inf, np.inf)
COSINE = (-1.0, 1.0)
# Vectors are kept in single precision: (0.8, 0.6) and (1, 0) have a cosine of 0.80000001. One
# that misses a threshold by no more than that is at it.
SINGLE_PRECISION = 2.0**-22


@metric(source="Reimers & Gurevych 2019, Sentence-BERT, arXiv:1908.10084", bounds=COSINE)
def semantic_similarity(
    answers: Texts, references: Texts, embedder: Any, threshold: float | None = None
) -> Array:
    """Cosine between the vectors of answer and reference; an empty answer gets 0.

    From 0.9 on the same in meaning, 0.8 nearly, 0.5 related, below different; where these lie
    depends on the embedder. No model is asked to judge, so it is quick and cheap for many answers.
    threshold: 1 where the cosine reaches it, else 0; 0.0 is a threshold. NaN for a zero vector,
    which has no direction.
    """
    cosines = compare(answers, references, embedder, cosine)
    if threshold is None:
        return cosines
    has_reached = (cosines >= threshold - SINGLE_PRECISION) & is_filled(answers)
    return np.where(np.isnan(cosines), np.nan, has_reached)


@metric(source="definition, as «Вопрошалыч» publishes it", bounds=INFINITE)
def dot_similarity(answers: Texts, references: Texts, embedder: Any) -> Array:
    """Dot product of the vectors of answer and reference; of unit vectors it is the cosine.

    An empty answer gets 0.
    """
    return compare(answers, references, embedder, dot)


@metric(source="definition, as «Вопрошалыч» publishes it", better="lower", bounds=(0.0, np.inf))
def euclidean_distance(answers: Texts, references: Texts, embedder: Any) -> Array:
    """Distance between the vectors of answer and reference; of unit vectors √(2 − 2 cosine).

    An empty answer counts as one at a right angle to the reference, of its length: √2 times that.
    """

    def distance(left: Array, right: Array) -> Array:
        return np.linalg.norm(left - right, axis=1)

    def unrelated(vectors: Array) -> Array:
        return np.sqrt(2) * np.linalg.norm(vectors, axis=1)

    return compare(answers, references, embedder, distance, unrelated)


@metric(source="Zhang et al. 2020, BERTScore, arXiv:1904.09675", bounds=COSINE)
def bert_score(
    answers: Texts,
    references: Texts,
    embedder: Any,
    part: Literal["f1", "precision", "recall"] = "f1",
) -> Array:
    """Each token matched with the nearest of the other text, by vectors in context; 0 if empty.

    part: precision is the mean over the answer's tokens, recall over the reference's. embedder:
    has `tokens(texts)`, or is a function, that returns (tokens, width) for every text. No
    weights by frequency and no rescaling: compare only answers that one model rated.
    """
    embed_tokens = getattr(embedder, "tokens", embedder)
    if not callable(embed_tokens):
        name = getattr(embedder, "name", embedder)
        raise BenchError(
            f"bert_score needs vectors of tokens, and the embedder {name} has none; "
            "take one of kind sentence_transformers"
        )
    distinct = list(dict.fromkeys(filter(None, map(clean, (*answers, *references)))))
    tokens = dict(zip(distinct, embed_tokens(distinct), strict=True))
    scores = []
    for answer, reference in zip(map(clean, answers), map(clean, references), strict=True):
        scores.append(match_tokens(tokens[answer], tokens[reference])[part] if answer else 0.0)
    return np.array(scores, dtype=float)


@metric(kind="set", source="definition: repeatability of one question's answer")
def response_exact_match_rate(answers: Sequence[str]) -> float:
    """Share of the repeats of one question whose answer is the first one again, letter by letter.

    Repeatability, no agreement with a reference. NaN with a single run: nothing was repeated.
    """
    first, *repeats = map(clean, answers) if len(answers) else [""]
    return float(np.mean([text == first for text in repeats])) if repeats else float("nan")


@metric(kind="set", source="definition: repeatability of one question's answer", bounds=COSINE)
def response_semantic_consistency(answers: Any, embedder: Any = None) -> float:
    """Mean cosine between the first answer to a question and its repeats.

    answers: texts, or their vectors; then without an embedder. NaN with a single run.
    """
    vectors = as_vectors(answers, embedder)
    if len(vectors) < 2:
        return float("nan")
    first = np.broadcast_to(vectors[:1], vectors[1:].shape)
    return float(cosine(first, vectors[1:]).mean())


@metric(kind="set", better="describes", source="definition: neighbouring questions", bounds=COSINE)
def context_preservation(questions: Any, embedder: Any = None) -> float:
    """Mean cosine between each question of a dialogue and the next one.

    questions: of one dialogue in its order, texts or their vectors; then without an embedder. NaN
    for a single question. Above 0.7 the questions hang together, below 0.3 they do not; where
    these lie depends on the embedder.
    """
    return mean_of_neighbours(questions, embedder)


@metric(kind="set", better="describes", source="definition: as context_preservation", bounds=COSINE)
def multi_turn_consistency(questions: Any, embedder: Any = None) -> float:
    """Mean cosine between each question of a dialogue and the next: context_preservation again.

    The name is that of «Вопрошалыч», which computes both alike; what the name promises is
    measured by answer_consistency.
    """
    return mean_of_neighbours(questions, embedder)


@metric(kind="set", better="describes", source="definition: neighbouring answers", bounds=COSINE)
def answer_consistency(answers: Any, embedder: Any = None) -> float:
    """Mean cosine between each answer of a dialogue and the next one; NaN for a single answer."""
    return mean_of_neighbours(answers, embedder)


def mean_of_neighbours(texts: Any, embedder: Any) -> float:
    """Return the mean cosine of neighbours; NaN for fewer than two."""
    vectors = as_vectors(texts, embedder)
    return float(cosine(vectors[:-1], vectors[1:]).mean()) if len(vectors) > 1 else float("nan")


def compare(
    answers: Texts,
    references: Texts,
    embedder: Any,
    measure: Callable[[Array, Array], Array],
    of_empty_answers: Callable[[Array], Array] | None = None,
) -> Array:
    """Measure the vectors of every pair; an empty answer has none, and the value 0 or another."""
    filled = is_filled(answers)
    known = embed([*map(clean, references), *filter(None, map(clean, answers))], embedder)
    reference_vectors, answer_vectors = known[: len(answers)], known[len(answers) :]
    values = np.zeros(len(answers))
    values[filled] = measure(answer_vectors, reference_vectors[filled])
    if of_empty_answers is not None:
        values[~filled] = of_empty_answers(reference_vectors[~filled])
    return values


def is_filled(answers: Texts) -> NDArray[np.bool_]:
    """Tell which answers hold a text."""
    return np.array([bool(clean(answer)) for answer in answers], dtype=bool)


def clean(text: str) -> str:
    """Return the text as it is embedded and compared letter by letter."""
    return without_invisible(text).strip()


def as_vectors(texts: Any, embedder: Any) -> Array:
    """Return the vectors of texts, or the vectors that were given instead."""
    if embedder is None:
        if any(isinstance(text, str) for text in texts):
            raise BenchError("texts need an embedder: pass embedder=, or vectors instead of texts")
        return np.asarray(texts, dtype=float)
    return embed(list(map(clean, texts)), embedder)


def embed(texts: Sequence[str], embedder: Any) -> Array:
    """Return (texts, width) the vectors, equal texts embedded once.

    Raises BenchError where the embedder does not return one finite vector a text.
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return np.empty((0, 0))
    given = np.asarray(getattr(embedder, "embed", embedder)(distinct), dtype=float)
    if given.ndim != 2 or len(given) != len(distinct) or not np.isfinite(given).all():
        name = getattr(embedder, "name", "the embedder")
        raise BenchError(
            f"{name} returned vectors of shape {given.shape} for {len(distinct)} texts; "
            "it should return a finite vector each"
        )
    place = {text: number for number, text in enumerate(distinct)}
    return given[[place[text] for text in texts]]


def cosine(left: Array, right: Array) -> Array:
    """Return the cosine of each row of both; NaN for a zero vector, exactly 1 for equal ones."""
    lengths = np.sqrt(dot(left, left) * dot(right, right))
    ratios = np.divide(dot(left, right), lengths, out=np.full(len(left), np.nan), where=lengths > 0)
    return np.clip(ratios, -1.0, 1.0)


def dot(left: Array, right: Array) -> Array:
    """Return the dot product of each row of both."""
    return np.einsum("ij,ij->i", left, right)


def match_tokens(answer: Array, reference: Array) -> dict[str, float]:
    """Return f1, precision and recall of greedy matching by cosine."""
    left, right = (unit_rows(np.asarray(side, dtype=float)) for side in (answer, reference))
    cosines = np.clip(left @ right.T, -1.0, 1.0)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    is_positive = precision > 0 and recall > 0
    f1 = 2 * precision * recall / (precision + recall) if is_positive else 0.0
    return {"f1": f1, "precision": precision, "recall": recall}


def unit_rows(vectors: Array) -> Array:
    """Return the vectors divided by their lengths; zero vectors stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)
