"""How close is the answer's meaning to the reference's? By embeddings, without a judge."""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any

from annotated_types import Ge, Le

from ragbench.core.metric import Peer, Purpose, Reading, Stretch, metric
from ragbench.core.types import Embedder, Sample, Score
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, Variant, measured
from ragbench.metrics.references import best_of_references
from ragbench.metrics.vectors import by_each, by_embedder, cosine, reaches, single_cosine

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
