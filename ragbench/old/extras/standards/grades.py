"""Grades that a judge gives: to nuggets in an answer, to sentences by what they cite, to passages for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.core.waves import gather
from ragbench.old.judge.relevance import HIGHEST, RELEVANCE, Relevance
from ragbench.old.metrics.claims import by_place, few, for_each, told
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured

PART = 0.5
"""Offline, support from which a text is there in part; from the reader's own threshold on it is there in full."""
WINDOW = 10
"""So many are graded in one question, as AutoNuggetizer does."""


class Grade(StrEnum):
    """How much of a text is there."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"

    @property
    def weight(self) -> float:
        """1, one half, 0: as TREC's RAG track counts them."""
        return {Grade.FULL: 1.0, Grade.PARTIAL: 0.5, Grade.NONE: 0.0}[self]


class Graded(BaseModel):
    """The grade of one item; the reason comes first, so that it is thought before it is said."""

    number: int = Field(ge=1, description="the number of the item")
    reason: str = Field(description="one short sentence that names what decides")
    grade: Grade = Field(description='"full", "partial" or "none"')


def offline(reader: LexicalReader, text: str, others: Sequence[str]) -> tuple[Grade, str]:
    """The grade of a text by the words and letters that it shares with others, and the reason."""
    share = reader.support(text, others)
    grade = Grade.FULL if reader.supported(text, others) else Grade.PARTIAL if share >= PART else Grade.NONE
    return grade, kept(Reason("shared words and letters: {share}", share=rounded(share, 2)))


async def graded(
    inquiry: Inquiry, prompt: Prompt[Any], slot: str, items: Sequence[str], texts: Mapping[str, Any]
) -> list[Any]:
    """One grade for each item, in order, WINDOW of them a question; those that the judge left out are asked for once
    more. slot: where the items go. texts: of the other slots.

    Raises EndedError (verdict_mismatch) where some are still missing, with those that are there.
    """

    async def ask(asked: Sequence[str], repeat: int) -> dict[int, Any]:
        reply = await inquiry.ask(prompt, {**texts, slot: asked}, repeat)
        return by_place(((one.number, one.grade, one) for one in reply.grades), len(asked))

    windows = [for_each(items[start : start + WINDOW], ask) for start in range(0, len(items), WINDOW)]
    found: list[Any] = [one for part in await gather(windows) for one in part]
    if None in found:
        lines = [told(item) if one is None else told(item, str(one.grade), one.reason)
                 for item, one in zip(items, found, strict=True)]  # fmt: skip
        raise few(inquiry, lines)
    return found


FIELDS = ("user_input", "contexts")
FROM = 2
"""The grade from which UMBRELA counts a passage as relevant."""


@metric(
    source="Upadhyay et al. 2024, arXiv:2406.06519 (UMBRELA)",
    fields=FIELDS,
    prompts=(RELEVANCE,),
    formula="mean over contexts of grade / 3; of=share: contexts of grade 2 or 3 / contexts",
    edges="Without contexts it is unmeasured. A context without text has grade 0, without a question.",
    differs=(
        "A judge grades what one system found, and nothing else: it is a number of these passages, not of all that a "
        "base holds. Labels by a judge in the place of people's are marked as such wherever they are used."
    ),
    when=(
        "Where nobody has labelled passages, and retrieval is to be compared all the same.",
        "Before pooling: how much of what is found would a person grade as relevant?",
    ),
    purposes=(Purpose("retrieval", "grades each passage without labels"),),
)
@measured
async def relevance_grade(sample: Sample, judge: Judge, *, of: Literal["mean", "share"] = "mean") -> Score:
    """Mean grade of the retrieved passages, 0 to 3 by a judge, divided by 3; or the share of those from 2 on.

    0 to 1; `detail["chunks"]` keeps the grade of each passage with its reason. One question a passage.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)

    async def grade(text: str) -> Relevance:
        if not text.strip():
            return Relevance(reason=kept(Reason("there is nothing to read")), grade=0)
        return await inquiry.ask(RELEVANCE, {"question": sample.user_input or "", "passage": text})

    grades = await gather([grade(text) for text in inquiry.contexts])
    relevant = sum(one.grade >= FROM for one in grades)
    value = relevant / len(grades) if of == "share" else sum(one.grade for one in grades) / (HIGHEST * len(grades))
    explanation = [
        sentence(
            "Grades of {whole} contexts: {grades}; {relevant} are 2 or more: {value}.",
            whole=len(grades), grades=", ".join(str(one.grade) for one in grades), relevant=relevant, value=value,
        )
    ]  # fmt: skip
    lines: list[dict[str, Any]] = [
        {
            "chunk": chunk.id, "rank": rank, "verdict": "useful" if one.grade >= FROM else "useless",
            "reason": one.reason, "grade": one.grade,
        }
        for rank, (chunk, one) in enumerate(zip(inquiry.chunks, grades, strict=True), 1)
    ]  # fmt: skip
    return inquiry.score(value, explanation, chunks=lines)
