"""Does the same question get the same answer again? Nothing is said of whether the answer is right."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Sequence

from ragbench.core.metric import metric
from ragbench.core.types import Embedder, Sample, Score, Status
from ragbench.core.types.reason import Reason
from ragbench.metrics.explanation import sentence, spoken
from ragbench.metrics.inquiry import measured
from ragbench.metrics.vectors import cosine, vectors

_SOURCE = "the specification, sections 5.3 and 6.3"


_REPEAT_EDGE = "With a single run it is unmeasured: nothing was repeated."


@metric(
    source=_SOURCE,
    fields=("response",),
    formula="repeats that equal the first answer / repeats",
    edges=_REPEAT_EDGE,
    differs="Repeatability of a system, not agreement with the reference, for which it has been mistaken.",
    when=("Whether repeating a question gives the same text, such as at temperature 0.",),
)
def response_exact_match_rate(turns: Sequence[Sample]) -> Score:
    """Share of the repeats of one question whose answer is the first one again, letter by letter.

    Repeatability, not agreement with the reference. turns: the same question, answered anew each time. Compared after
    NFC, white space at the ends left out. Unmeasured with a single run, and where a run has no answer.
    """
    texts = _texts(turns)
    if isinstance(texts, Score):
        return texts
    same = sum(text == texts[0] for text in texts[1:])
    value = same / (len(texts) - 1)
    said = sentence("{same} of {repeats} repeats gave the first answer again: {value}.", same=same,
                    repeats=len(texts) - 1, value=value)  # fmt: skip
    return Score(value, reason=spoken([said]), detail={"explanation": [said], "distinct": len(set(texts))})


@metric(
    source=_SOURCE,
    bounds=(-1.0, 1.0),
    fields=("response",),
    formula="mean cosine between the first answer and its repeats",
    edges=_REPEAT_EDGE,
    differs="Software that reports 1 for a single run, or repeats the same cached vector, tests nothing.",
    when=("Whether repeating a question gives the same answer in other words.",),
)
@measured
async def response_semantic_consistency(turns: Sequence[Sample], embedder: Embedder) -> Score:
    """Mean cosine between the embeddings of the first answer to a question and of its repeats.

    turns: as for response_exact_match_rate; equal texts have a cosine of 1.
    """
    texts = _texts(turns)
    if isinstance(texts, Score):
        return texts
    first, *others = await vectors(embedder, texts, "passage")
    value = statistics.fmean(cosine(first, other) for other in others)
    said = sentence("Mean cosine of the first answer and its repeats by {embedder}: {value}.",
                    embedder=embedder.name, value=value)  # fmt: skip
    return Score(value, reason=spoken([said]), detail={"explanation": [said], "embedder": embedder.name})


def _texts(turns: Sequence[Sample]) -> list[str] | Score:
    """The answers as they are compared; or why there is nothing to compare."""
    if len(turns) < 2:
        return Score.unmeasured(Status.MISSING_FIELD, Reason("a second run is needed: nothing can be compared"))
    for number, turn in enumerate(turns, 1):
        if turn.response is None:
            return Score.unmeasured(Status.MISSING_FIELD, Reason("run {count} has no answer", count=number))
        if not turn.response.strip():
            return Score.unmeasured(Status.EMPTY_INPUT, Reason("the answer of run {count} is empty", count=number))
    return [unicodedata.normalize("NFC", turn.response or "").strip() for turn in turns]
