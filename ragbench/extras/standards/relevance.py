"""How relevant is what was retrieved, by a judge's grades? UMBRELA's four, in rank order."""

from __future__ import annotations

from typing import Any, Literal

from ragbench.core.metric import Purpose, metric
from ragbench.core.types import Judge, Sample, Score
from ragbench.core.types.reason import Reason, kept
from ragbench.core.waves import gather
from ragbench.judge.relevance import HIGHEST, RELEVANCE, Relevance
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured

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
