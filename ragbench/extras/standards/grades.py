"""Grades that a judge gives: to nuggets in an answer, to sentences by what they cite, to passages for a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field

from ragbench.core.metric import Purpose, metric
from ragbench.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.core.types.reason import Reason, kept, rounded
from ragbench.core.waves import gather
from ragbench.judge.relevance import HIGHEST, RELEVANCE, Relevance
from ragbench.metrics.claims import UNJUDGED
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import AGAIN, Inquiry, measured

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


class Shape(Protocol):
    """A reply that grades numbered items."""

    @property
    def grades(self) -> Sequence[Any]:
        """Each with its `number` from 1, a `grade` and a `reason`."""


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
    windows = [items[start : start + WINDOW] for start in range(0, len(items), WINDOW)]
    found = [one for part in await gather([_window(inquiry, prompt, slot, part, texts) for part in windows])
             for one in part]  # fmt: skip
    if None in found:
        few = sentence(
            "the judge gave verdicts on {part} of {whole} statements, asked twice",
            part=sum(one is not None for one in found),
            whole=len(items),
        )
        lines = [
            told(item, UNJUDGED, "") if one is None else told(item, str(one.grade), one.reason)
            for item, one in zip(items, found, strict=True)
        ]
        raise inquiry.unmeasured(Status.VERDICT_MISMATCH, few, statements=lines)
    return found


def told(statement: str, verdict: str, reason: str, chunks: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A graded text as it is stored, in the shape of every verdict."""
    return {"statement": statement, "verdict": verdict, "reason": reason, "chunks": list(chunks), **more}


async def _window(
    inquiry: Inquiry, prompt: Prompt[Any], slot: str, items: Sequence[str], texts: Mapping[str, Any]
) -> list[Any]:
    found: dict[int, Any] = {}
    for repeat in (0, AGAIN):
        missing = [place for place in range(len(items)) if place not in found]
        if missing:
            asked = [items[place] for place in missing]
            reply: Shape = await inquiry.ask(prompt, {**texts, slot: asked}, repeat)
            found |= {missing[place]: one for place, one in _numbered(reply.grades, len(asked)).items()}
    return [found.get(place) for place in range(len(items))]


def _numbered(grades: Sequence[Any], count: int) -> dict[int, Any]:
    """Grades by place. Two different ones of one item are none; a number that no item has says that the judge counts
    otherwise: then none of them can be trusted."""
    if any(one.number > count for one in grades):
        return {}
    said: dict[int, list[Any]] = {}
    for one in grades:
        said.setdefault(one.number - 1, []).append(one)
    return {place: each[0] for place, each in said.items() if len({one.grade for one in each}) == 1}


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
