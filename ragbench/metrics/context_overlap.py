"""Retrieved contexts against labelled ones, without a judge: by identifier, or by likeness of their letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from annotated_types import Gt, Le
from rapidfuzz.distance import Levenshtein

from ragbench.core.metric import metric
from ragbench.core.types import Chunk, Sample, Score, Status
from ragbench.metrics.explanation import sentence, share
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.strings import plain

FIELDS = ("contexts", "reference_contexts")
By = Literal["id", "text"]
Likeness = Annotated[float, Gt(0), Le(1)]
_APART = sentence(
    "retrieved and labelled contexts cannot be compared: the ones have no identifiers, the others no texts"
)


_LABEL_EDGE = "Without labelled contexts it is unmeasured; copies of a context count once."
_LABEL_DIFF = "No judge is asked, so it can be compared with the judged metric of the same name."


@metric(
    source="RAGAS' id-based and non-LLM context precision; set precision over distinct contexts",
    fields=FIELDS,
    formula="distinct retrieved contexts that are labelled / distinct retrieved contexts",
    edges=_LABEL_EDGE,
    differs=_LABEL_DIFF,
    when=("Where passages are labelled: the order left aside, and no judge asked.",),
)
@measured
async def context_precision_by_label(sample: Sample, *, by: By = "id", threshold: Likeness = 0.5) -> Score:
    """Share of the distinct retrieved contexts that are among the labelled ones; no judge is asked.

    by: "id" compares identifiers, and texts where a context has none: two that differ in white space alone are one;
    "text" takes two texts for one where 1 − edit distance / longer length reaches the threshold, after NFKC and
    casefold. 0 to 1; copies of a chunk count once. Unmeasured where one side has no identifiers and the other no texts.
    """
    inquiry, wanted, retrieved = _compared(sample, by, threshold)
    matched = [chunk for chunk in retrieved if _is_among(inquiry, chunk, wanted, by, threshold)]
    counted = share(len(matched), len(retrieved))
    said = sentence("Retrieved contexts that are labelled: {part} of {whole}; {part} / {whole} = {value}.", **counted)
    return inquiry.score(counted["value"], [said], matched=[chunk.id for chunk in matched])


@metric(
    source="RAGAS' id-based and non-LLM context recall; set recall over distinct contexts",
    fields=FIELDS,
    formula="distinct labelled contexts that were retrieved / distinct labelled contexts",
    edges=_LABEL_EDGE,
    differs=_LABEL_DIFF,
    when=("Where passages are labelled: completeness without a judge.",),
)
@measured
async def context_recall_by_label(sample: Sample, *, by: By = "id", threshold: Likeness = 0.5) -> Score:
    """Share of the distinct labelled contexts that were retrieved; no judge is asked.

    by, threshold: as in `context_precision_by_label`. 0 to 1.
    """
    inquiry, wanted, retrieved = _compared(sample, by, threshold)
    missing = [chunk for chunk in wanted if not _is_among(inquiry, chunk, retrieved, by, threshold)]
    counted = share(len(wanted) - len(missing), len(wanted))
    said = sentence("Labelled contexts that were retrieved: {part} of {whole}; {part} / {whole} = {value}.", **counted)
    return inquiry.score(counted["value"], [said], missing=[chunk.id for chunk in missing])


def _compared(sample: Sample, by: By, threshold: float) -> tuple[Inquiry, list[Chunk], list[Chunk]]:
    """Who asks, and the distinct labelled and retrieved contexts; by identifier they need no text."""
    inquiry = Inquiry(sample, None, *FIELDS, blank=by == "id")
    for field in FIELDS:
        if not getattr(sample, field):
            raise inquiry.empty(field)
    return inquiry, _distinct(sample.reference_contexts or (), by), _distinct(inquiry.chunks, by)


def _distinct(chunks: Sequence[Chunk], by: By) -> list[Chunk]:
    return list({chunk.id if by == "id" else plain(chunk.text): chunk for chunk in reversed(chunks)}.values())[::-1]


def _is_among(inquiry: Inquiry, chunk: Chunk, others: Sequence[Chunk], by: By, threshold: float) -> bool:
    if by == "text":
        return any(_alike(plain(chunk.text), plain(other.text), threshold) for other in others)
    said = chunk.is_among(others)
    if said is None:
        raise inquiry.unmeasured(Status.MISSING_FIELD, _APART)
    return said


def _alike(text: str, other: str, threshold: float) -> bool:
    """Whether the likeness reaches the threshold; the distance is computed only where lengths leave it open."""
    longest = max(len(text), len(other))
    least = threshold * longest - 1e-9  # whole signs, and a threshold that is no binary fraction
    if not longest or min(len(text), len(other)) < least:
        return False
    return text == other or longest - Levenshtein.distance(text, other) >= least
