"""The answer and the reference as vectors: their dot product, and how far apart they lie."""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.core.metric import metric
from ragbench.core.types import Array, Embedder, Sample, Score, Status, Vectors
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.references import best_of_references, lowest_of_references
from ragbench.metrics.vectors import by_each, by_embedder

FIELDS = ("response", "reference")
_SOURCE = "the specification, section 6.3"


_EMB_EDGE = (
    "An empty reference is unmeasured. An empty answer counts as an unrelated one of the reference's length: {} "
    "A zero vector, by which an embedder says that it knows nothing of a text, counts as it is and is named: {} One "
    "from an endpoint is taken for a failure. Of several embedders each value is kept, and their mean counts."
)


@metric(
    source=_SOURCE,
    bounds=(None, None),
    fields=FIELDS,
    published="avg_dot_similarity",
    formula="answer · reference, of their embeddings",
    edges=_EMB_EDGE.format("0.", "the product is 0."),
    differs="Without bounds; equal to the cosine where vectors have length 1.",
    when=("Embedders whose vectors' length says something; else semantic_similarity says the same on a scale.",),
)
@best_of_references
@measured
async def dot_similarity(sample: Sample, embedder: Embedder | Sequence[Embedder]) -> Score:
    """Dot product of the embeddings of the answer and of the reference.

    Without bounds; equal to the cosine where the embedder gives vectors of length 1. Of several embedders each value is
    kept in `detail["embedders"]`, and their mean counts.
    """

    def dot(vector: Array, other: Array) -> float:
        return float(vector @ other)

    return await _between(sample, embedder, dot, lambda reference: 0.0, _DOT)


@metric(
    source=_SOURCE,
    bounds=(0.0, None),
    better="lower",
    fields=FIELDS,
    published="avg_euclidean_distance",
    formula="‖answer − reference‖, of their embeddings",
    edges=_EMB_EDGE.format(
        "√2 ‖reference‖.", "the distance is the other's length; with an empty answer it is unmeasured."
    ),
    differs="Lower is better; √(2 − 2 cosine) where vectors have length 1.",
    when=("Beside semantic_similarity, where lengths of vectors differ.",),
)
@lowest_of_references
@measured
async def euclidean_distance(sample: Sample, embedder: Embedder | Sequence[Embedder]) -> Score:
    """Euclidean distance between the embeddings of the answer and of the reference; lower is better.

    0 and above; √(2 − 2 cosine) where the embedder gives vectors of length 1. Several embedders as in `dot_similarity`.
    """

    def distance(vector: Array, other: Array) -> float:
        return float(np.linalg.norm(vector - other))

    def unrelated(reference: Array) -> float:
        return math.sqrt(2) * float(np.linalg.norm(reference)) or math.nan

    return await _between(sample, embedder, distance, unrelated, _DISTANCE)


_DOT = sentence("Dot product of response and reference by {embedder}: {value}.", embedder="", value=0.0)
_DISTANCE = sentence("Distance of response and reference by {embedder}: {value}.", embedder="", value=0.0)
_ZERO = {
    "response": sentence("The response has a zero vector: the embedder knows nothing of it."),
    "reference": sentence("The reference has a zero vector: the embedder knows nothing of it."),
}


async def _between(
    sample: Sample,
    embedder: Embedder | Sequence[Embedder],
    measure: Callable[[Array, Array], float],
    unrelated: Callable[[Array], float],
    said: Mapping[str, Any],
) -> Score:
    """What `measure` says of the two vectors, of the same texts as `semantic_similarity` embeds.

    unrelated: what it says of the reference's vector and one of its length at a right angle: an empty answer's value;
    NaN where there is none. A zero vector has no direction, and its product and distance are defined all the same.
    """
    inquiry = Inquiry(sample, None, "reference")
    if sample.response is None:
        inquiry.check("response")
    texts = [unicodedata.normalize("NFC", text).strip() for text in (sample.response or "", sample.reference or "")]

    empty: dict[str, None] = {}

    def between(rows: Vectors) -> list[float]:
        *answer, reference = rows.astype(float)
        sides = ("response", "reference") if answer else ("reference",)
        empty.update(dict.fromkeys(side for side, row in zip(sides, rows, strict=True) if not row.any()))
        return [measure(answer[0], reference) if answer else unrelated(reference)]

    by_name = await by_each(inquiry, embedder, [text for text in texts if text], between, "passage", zeros=True)
    values = {name: value for name, [value] in by_name.items()}
    value = statistics.fmean(values.values())
    if math.isnan(value):
        raise inquiry.unmeasured(Status.EMBEDDING_ERROR, _ZERO["reference"])
    explanation = [{**said, "values": {"embedder": ", ".join(values), "value": value}}]
    if not texts[0]:
        explanation.insert(0, sentence("empty answer"))
    explanation += [_ZERO[side] for side in empty]
    if len(values) > 1:
        explanation.append(by_embedder(values))
    return inquiry.score(value, explanation, embedders=values)
