"""How close is the answer's meaning to the reference's? By their vectors, without a judge."""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from ragbench.old.core.metric import Peer, Purpose, Reading, Stretch, metric
from ragbench.old.core.types import Array, Embedder, Sample, Score, Status, Vectors
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, Variant, measured
from ragbench.old.metrics.references import best_of_references, lowest_of_references
from ragbench.old.metrics.vectors import by_each, by_embedder, cosine, reaches, single_cosine

FIELDS = ("response", "reference")


@metric(
    former=("answer_similarity",),
    source="Reimers & Gurevych 2019, Sentence-BERT, arXiv:1908.10084",
    bounds=(-1.0, 1.0),
    fields=FIELDS,
    published="avg_semantic_similarity",
    formula="cosine of the embeddings of answer and reference",
    edges=(
        "An empty reference is unmeasured; an empty answer gets 0, whatever the threshold. A zero vector has no "
        "direction: unmeasured. Of several embedders each value is kept, and their mean counts."
    ),
    differs="A threshold of 0 is a threshold here; elsewhere it is taken for “none”.",
    reading=Reading(
        ("1: the same meaning; 0: orthogonal; −1: the opposite meaning.",),
        "the specification, metrics of answers, SemanticSimilarity, and section 6.4.2",
        bands=(
            Stretch(0.0, 0.5, "another meaning", "low similarity"),
            Stretch(0.5, 0.8, "related, but different", "moderate similarity"),
            Stretch(0.8, 0.9, "almost the same meaning", "very high similarity"),
            Stretch(0.9, 1.0, "the same meaning", ends="[]"),
        ),
        trust=(
            "High for closeness in meaning. It is as good as the embedding model, and does not tell an "
            "answer that is relevant in part."
        ),
        under=("variant",),
    ),
    when=(
        "A quick look at many answers.",
        "Finding paraphrases.",
        "Checking that answers say the same.",
        "Saving money: no judge is asked.",
    ),
    purposes=(
        Purpose("end-to-end", "whether the answer means what the reference means"),
        Purpose("similarity", "asks no judge: embeddings alone"),
        Purpose("volume", "the cheapest"),
    ),
    peers=(Peer("ragas 0.4.3", 3e-7, "120 random cases", "variant=ragas"),),
)
@best_of_references
@measured
async def semantic_similarity(
    sample: Sample,
    embedder: Embedder | Sequence[Embedder],
    *,
    threshold: Annotated[float, Ge(-1), Le(1)] | None = None,
    variant: Variant = "specification",
) -> Score:
    """Cosine between the embeddings of the answer and of the reference.

    −1 to 1, seldom below 0. With a `threshold` (0.0 is one) the value is 1.0 if the cosine reaches it, else 0.0, and
    the cosine is in `detail`. Of several embedders each cosine is kept in `detail["embedders"]`, and their mean counts.
    variant: "ragas" takes a threshold of 0 for none, embeds an empty text as a space, and counts in the precision that
        the vectors have.
    """
    if variant == "ragas" and not threshold:
        threshold = None
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0, blank=variant == "ragas")
    given = (sample.response or "", sample.reference or "")
    if variant == "ragas":
        texts, near = [text or " " for text in given], single_cosine
    else:
        texts, near = [unicodedata.normalize("NFC", text).strip() for text in given], cosine
    measured = await by_each(inquiry, embedder, texts, lambda pair: [near(*pair)], "passage")
    cosines = {name: value for name, [value] in measured.items()}
    mean = statistics.fmean(cosines.values()) if len(cosines) > 1 else next(iter(cosines.values()))
    reached = threshold is not None and (mean >= threshold if variant == "ragas" else reaches(mean, threshold))
    value = mean if threshold is None else float(reached)
    return inquiry.score(value, _explanation(cosines, mean, threshold, value), embedders=cosines, cosine=mean)


def _explanation(cosines: dict[str, float], mean: float, threshold: float | None, value: float) -> list[dict[str, Any]]:
    names = ", ".join(cosines)
    said = [sentence("Cosine of response and reference by {embedder}: {value}.", embedder=names, value=mean)]
    if len(cosines) > 1:
        said.append(by_embedder(cosines))
    if threshold is not None:
        below = sentence("It is below the threshold {threshold}: {value}.", threshold=threshold, value=value)
        reached = sentence("It reaches the threshold {threshold}: {value}.", threshold=threshold, value=value)
        said.append(reached if math.isclose(value, 1.0) else below)
    return said


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
