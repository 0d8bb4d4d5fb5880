"""Metrics of several answers together: dialogues' turns by their nearness, and repeats of the same question."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.types import Embedder, Sample, Score, Status
from ragbench.old.core.types.reason import Reason
from ragbench.old.metrics.explanation import sentence, spoken
from ragbench.old.metrics.inquiry import is_blank, measured
from ragbench.old.metrics.vectors import cosine, vectors

SOURCE = "the specification, section 10.3"
Field = Literal["user_input", "response"]


_TURN_EDGE = "A dialogue of one turn is unmeasured, and so is one with a missing or blank text."


@metric(
    source=SOURCE,
    bounds=(-1.0, 1.0),
    better=None,
    formula="mean cosine between neighbouring questions of a dialogue",
    edges=_TURN_EDGE,
    differs=("Measured dialogue by dialogue; taking a whole data set for one dialogue measures the order of its rows."),
    reading=Reading(
        (),
        "the specification, section 10.3.2",
        bands=(
            Stretch(-1.0, 0.3, "unrelated questions"),
            Stretch(0.7, 1.0, "related questions", "the context is kept", ends="(]"),
        ),
    ),
    when=(
        "Whether the turns of a dialogue keep to a topic.",
        "Whether a system needs more memory of its dialogues.",
    ),
    purposes=(Purpose("user-experience", "whether dialogues keep to their topic"),),
)
@measured
async def context_preservation(turns: Sequence[Sample], embedder: Embedder) -> Score:
    """Mean cosine between each question of a dialogue and the next one; undefined for a single question.

    turns: one dialogue in its order. −1 to 1; `detail["similarities"]` holds the cosine of each pair of neighbours.
    Unmeasured where a question is missing or blank: its neighbours would be torn apart.
    """
    return await _neighbours(turns, embedder, "user_input")


@metric(
    source=SOURCE + ": computed like context_preservation",
    bounds=(-1.0, 1.0),
    better=None,
    formula="mean cosine between neighbouring questions of a dialogue",
    edges=_TURN_EDGE,
    differs=(
        "Computed like context_preservation, as the specification has it; answer_consistency measures what the name"
        " promises."
    ),
    when=("Watching whether dialogues stay as they are; for what the answers do see answer_consistency.",),
)
@measured
async def multi_turn_consistency(turns: Sequence[Sample], embedder: Embedder) -> Score:
    """The specification's second name for context_preservation, computed in the same way over the questions.

    What the name promises is measured by answer_consistency.
    """
    return await _neighbours(turns, embedder, "user_input")


@metric(
    source="context_preservation over answers",
    bounds=(-1.0, 1.0),
    better=None,
    formula="mean cosine between neighbouring answers of a dialogue",
    edges=_TURN_EDGE,
    differs="Over answers, where multi_turn_consistency takes the questions.",
    when=("Whether the answers of a dialogue keep to a topic.",),
)
@measured
async def answer_consistency(turns: Sequence[Sample], embedder: Embedder) -> Score:
    """Mean cosine between each answer of a dialogue and the next one; undefined for a single answer.

    −1 to 1; unmeasured where an answer is missing or blank.
    """
    return await _neighbours(turns, embedder, "response")


async def _neighbours(turns: Sequence[Sample], embedder: Embedder, field: Field) -> Score:
    texts = [getattr(turn, field) for turn in turns]
    if len(texts) < 2:
        return Score.unmeasured(Status.MISSING_FIELD, Reason("a second turn is needed: one alone has no neighbour"))
    for number, text in enumerate(texts, start=1):
        if text is None:
            why = Reason("turn {count} has no field {field}", count=number, field=field)
            return Score.unmeasured(Status.MISSING_FIELD, why)
        if is_blank(text):
            why = Reason("the field {field} of turn {count} is empty", count=number, field=field)
            return Score.unmeasured(Status.EMPTY_INPUT, why)
    embeddings = await vectors(embedder, texts, "query" if field == "user_input" else "passage")
    similarities = [cosine(vector, other) for vector, other in pairwise(embeddings)]
    value = sum(similarities) / len(similarities)
    explanation = [sentence("Mean of {pairs} cosines of neighbours: {value}.", pairs=len(similarities), value=value)]
    detail = {"explanation": explanation, "similarities": similarities}
    return Score(value, reason=spoken(explanation), detail=detail)


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
