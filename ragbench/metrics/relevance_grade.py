"""How relevant are the retrieved passages, by a judge's grades in place of labels?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.judging import (
    Judge,
    Prompt,
    RatedTo3,
    ask_all,
    check_inputs,
)

HIGHEST = 3
# The grade from which UMBRELA counts a passage as relevant.
RELEVANT = 2

GRADE = Prompt(
    "relevance",
    RatedTo3,
    en="""\
Grade how relevant the passage is to the question, as a person would who asked it.

Question:
{question}

Passage:
{passage}

- 0: it has nothing to do with the question.
- 1: it is about the subject, and does not answer the question.
- 2: it answers the question in part, unclearly, or among much else.
- 3: it is about this very question, and answers it.

Ask first what the person wants to know, then how well the passage fits that, and how far it can \
be trusted. Give a short reason, then the grade as the rating.""",
    ru="""\
Оцените, насколько отрывок отвечает на вопрос, — как оценил бы тот, кто его задал.

Вопрос:
{question}

Отрывок:
{passage}

- 0: не имеет отношения к вопросу.
- 1: относится к теме, но на вопрос не отвечает.
- 2: отвечает на вопрос частично, неясно или среди многого другого.
- 3: посвящён именно этому вопросу и отвечает на него.

Сначала подумайте, что человек хочет узнать, затем — насколько этому соответствует отрывок и можно \
ли ему доверять. Дайте короткую причину по-русски, затем оценку.""",
)


@metric(source="Upadhyay et al. 2024, UMBRELA, arXiv:2406.06519")
async def relevance_grade(
    judge: Judge, question: str, contexts: Sequence[str], of: Literal["mean", "share"] = "mean"
) -> Score:
    """Mean grade of the retrieved passages, 0 to 3 by a judge, divided by 3.

    of: "mean", or "share" of the passages with grade 2 or 3. 0 to 1. One question for each
    passage; one without text has grade 0. A judge grades what one system found and nothing else:
    its grades are no labels by people.
    """
    check_inputs(judge, question=question, contexts=contexts)
    replies = await ask_all(*[grade_passage(judge, question, text) for text in contexts])
    grades = [reply.rating for reply in replies]
    n_relevant = sum(grade >= RELEVANT for grade in grades)
    whole = len(grades)
    value = n_relevant / whole if of == "share" else sum(grades) / (HIGHEST * whole)
    verdicts = [
        Verdict(text, str(reply.rating), reply.reason, (rank,))
        for rank, (text, reply) in enumerate(zip(contexts, replies, strict=True), 1)
    ]
    return Score(
        value,
        message=mark(
            "Grades of {whole} contexts: {grades}; {relevant} of them are 2 or 3: {value}"
        ),
        facts={"whole": whole, "grades": grades, "relevant": n_relevant},
        verdicts=verdicts,
    )


async def grade_passage(judge: Judge, question: str, passage: str) -> RatedTo3:
    """Grade how relevant a passage is; one without text has 0."""
    if not passage.strip():
        return RatedTo3(reason="the passage has no text", rating=0)
    return await judge.ask(GRADE, question=question, passage=passage)
