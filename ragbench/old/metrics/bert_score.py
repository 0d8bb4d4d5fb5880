"""BERTScore: words of the answer and of the reference matched by their vectors in context; off unless it is named."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from ragbench.old.core.metric import metric
from ragbench.old.core.types import Embedder, EmbeddingError, Sample, Score, Status, Vectors
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured
from ragbench.old.metrics.references import best_of_references
from ragbench.old.metrics.vectors import by_embedder, named

FIELDS = ("response", "reference")
PARTS = ("f1", "precision", "recall")
Part = Literal["f1", "precision", "recall"]


def matched(candidate: Vectors, reference: Vectors) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean of greedy matching, of vectors of tokens (tokens, width).

    Each token of the candidate is matched with the most similar one of the reference (precision), and the other way
    round (recall), by cosine. F1 is 0 unless both are above 0. Raises ValueError for a side without tokens.
    """
    if not len(candidate) or not len(reference):
        raise ValueError("both sides need a token")
    tokens, other = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in map(_wide, (candidate, reference)))
    near = np.clip(tokens @ other.T, -1.0, 1.0)
    precision, recall = float(near.max(axis=1).mean()), float(near.max(axis=0).mean())
    positive = precision > 0 and recall > 0
    return precision, recall, 2 * precision * recall / (precision + recall) if positive else 0.0


def _wide(vectors: Vectors) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(vectors, dtype=np.float64)


@metric(
    source="Zhang et al. 2020, BERTScore, arXiv:1904.09675",
    bounds=(-1.0, 1.0),
    fields=FIELDS,
    formula=(
        "P: mean over the answer's tokens of the highest cosine to a token of the reference; R: the other way round; "
        "F1 = 2PR / (P + R)"
    ),
    edges=(
        "An empty reference is unmeasured; an empty answer gets 0. Without an embedder that has vectors of tokens it "
        "is unmeasured. F1 is 0 unless precision and recall are above 0."
    ),
    differs=(
        "No weights by inverse document frequency, no rescaling with a baseline; the model's last layer unless `layer` "
        "names another, and tokens that only mark the ends of a text match nothing: bert-score takes a layer that was "
        "chosen for each model, and lets them be matched. Measured only where it is named, by a model that you name."
    ),
    when=("Comparing answers with a reference when the wording may differ and no judge is to be asked.",),
)
@best_of_references
@measured
async def bert_score(
    sample: Sample,
    embedder: Embedder | Sequence[Embedder],
    *,
    part: Part = "f1",
    layer: Annotated[int, Ge(0)] | None = None,
) -> Score:
    """BERTScore: each token of answer and reference matched with the nearest one of the other, by vectors in context.

    −1 to 1, in practice well above 0 even for texts that have nothing in common, so compare it only between answers
    that the same model and layer rated. part: "f1", "precision" or "recall"; all three are in `detail`. layer: of the
    model, 0 for the vectors before the first; None: the last. Of several embedders each value is kept in
    `detail["embedders"]`, and their mean counts.
    """
    inquiry = Inquiry(sample, None, *FIELDS, empty=0.0)
    texts = [unicodedata.normalize("NFC", text or "").strip() for text in (sample.response, sample.reference)]
    scores = {each.name: _by(inquiry, each, texts, layer) for each in named(embedder)}
    values = {name: three[PARTS.index(part)] for name, three in scores.items()}
    parts = {
        name: statistics.fmean(column) for name, column in zip(PARTS, zip(*scores.values(), strict=True), strict=True)
    }
    said = [
        sentence(
            "Tokens matched by {embedder}: precision {precision}, recall {recall}, F1 {f1}.",
            embedder=", ".join(scores), **parts,
        )
    ]  # fmt: skip
    if len(values) > 1:
        said.append(by_embedder(values))
    return inquiry.score(statistics.fmean(values.values()), said, embedders=values, **parts)


def _by(inquiry: Inquiry, embedder: Embedder, texts: Sequence[str], layer: int | None) -> tuple[float, float, float]:
    """In the order of PARTS. Raises EndedError where the embedder gives no vectors of tokens."""
    try:
        tokens = getattr(embedder, "tokens", None)
        if tokens is None:
            raise EmbeddingError("it embeds whole texts")
        candidate, reference = tokens(texts, layer=layer)
        precision, recall, f1 = matched(candidate, reference)
    except (EmbeddingError, ValueError) as error:
        raise inquiry.unmeasured(
            Status.EMBEDDING_ERROR,
            sentence(
                "{embedder} has no vectors of tokens ({reason}): name a model, --embedder NAME or -p embedder=NAME; "
                'its table [embedders.NAME] has kind = "sentence_transformers" and model = a folder or a name on a hub',
                embedder=embedder.name, reason=str(error),
            ),
        ) from None  # fmt: skip
    return f1, precision, recall
