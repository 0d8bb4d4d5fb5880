"""Which of the facts that a good answer says does the answer say?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Rating, Score, Verdict
from ragbench.metrics.claims import judge_items
from ragbench.metrics.judging import (
    Judge,
    Lower,
    Prompt,
    ask_all,
    empty_answer,
)

# Weights of what is vital and what is worth knowing.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "all": {"vital": 1.0, "okay": 1.0},
    "vital": {"vital": 1.0, "okay": 0.0},
    "weighted": {"vital": 1.0, "okay": 0.5},
}
# Credit of what is said in full, in part, and not at all, as in TREC's RAG track.
CREDITS: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}
# So many are graded in one question, as AutoNuggetizer does.
WINDOW = 10


class ItemGrade(BaseModel):
    """How much of one item is there. The reason comes first, so that the grade follows from it."""

    index: Rating = Field(ge=1, description="the number of the item")
    reason: str = Field(description="one short sentence that names what decides")
    verdict: Annotated[Literal["full", "partial", "none"], Lower]


class Grades(BaseModel):
    """Reply: one grade for each item."""

    verdicts: list[ItemGrade]


ASSIGNMENT = Prompt(
    "nugget_assignment",
    Grades,
    max_tokens=2000,
    en="""\
Decide of each numbered nugget, a short statement of fact, how much of it the answer says.

Question (may be empty):
{question}

Answer:
{answer}

Nuggets:
{nuggets}

- "full": the answer says all of it, in whatever words.
- "partial": the answer says a part of it, or says it less exactly.
- "none": the answer does not say it, or says the contrary.

Go by the answer alone, not by what you know, and not by whether the nugget is true. Give exactly \
one verdict for every nugget, with its number and a short reason.""",
    ru="""\
Решите о каждом пронумерованном ключевом факте, сколько из него сказано в ответе.

Вопрос (может быть пустым):
{question}

Ответ:
{answer}

Ключевые факты:
{nuggets}

- "full" (полностью): ответ говорит это целиком, какими бы словами ни было.
- "partial" (частично): ответ говорит часть этого или говорит менее точно.
- "none" (нет): ответ этого не говорит или говорит обратное.

Исходите только из ответа, а не из того, что знаете сами, и не из того, верен ли сам факт. Дайте \
ровно один вердикт каждому факту: его номер, короткую причину по-русски и вердикт латиницей, как \
указано выше.""",
)


@metric(source="Pradeep et al. 2024, AutoNuggetizer, arXiv:2411.09607")
async def nugget_score(
    judge: Judge,
    answer: str,
    nuggets: Mapping[str, str],
    question: str = "",
    over: Literal["all", "vital", "weighted"] = "all",
    strict: bool = False,
) -> Score:
    """Share of the nuggets, the facts that a good answer says, that the answer says.

    Σ weight · credit / Σ weight, 0 to 1; said in part counts one half, or nothing with `strict`.
    over: "all" nuggets alike, only "vital" ones, or "weighted", okay ones by one half.
    nuggets: fact → "vital" or "okay". An empty answer has 0. Without nuggets, or without a vital
    one where only those count, it is unmeasured. One question for ten nuggets.

    Use it for long answers to open questions, of which no single reference holds all.
    """
    for text, importance in nuggets.items():
        if importance not in ("vital", "okay"):
            raise BenchError(f"nugget {text!r}: importance = {importance!r}; it is vital or okay")
    weights = [WEIGHTS[over][importance] for importance in nuggets.values()]
    if not sum(weights):
        raise Unmeasured("empty_input", f"no nugget counts with over={over}")
    if not answer.strip():
        return empty_answer()
    texts = list(nuggets)
    windows = [texts[start : start + WINDOW] for start in range(0, len(texts), WINDOW)]
    graded = await ask_all(
        *[
            judge_items(judge, ASSIGNMENT, "nuggets", window, question=question, answer=answer)
            for window in windows
        ]
    )
    grades = [grade for window in graded for grade in window]
    earned = [CREDITS[grade.verdict] for grade in grades]
    if strict:
        earned = [float(credit == 1) for credit in earned]
    credit = sum(weight * part for weight, part in zip(weights, earned, strict=True))
    counted = [grade for weight, grade in zip(weights, grades, strict=True) if weight]
    counts = Counter(grade.verdict for grade in counted)
    return Score(
        credit / sum(weights),
        message=mark(
            "The answer says {full} of {whole} nuggets in full, {partial} in part: {value}"
        ),
        facts={"full": counts["full"], "partial": counts["partial"], "whole": len(counted)},
        verdicts=[
            Verdict(text, grade.verdict, grade.reason)
            for text, grade in zip(texts, grades, strict=True)
        ],
    )
