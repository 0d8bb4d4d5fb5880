"""Let a judge list the nuggets of a question: the facts that a good answer says."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ragbench.core.errors import NotEnoughError, Unmeasured
from ragbench.core.metric import run_async
from ragbench.core.progress import bar
from ragbench.core.types import Sample
from ragbench.metrics.judging import Lower, Prompt

MOST_PASSAGES = 20  # of a question, from all systems together


class Nugget(BaseModel):
    """One fact, and whether a good answer must say it."""

    text: str = Field(min_length=3)
    importance: Annotated[Literal["vital", "okay"], Lower]


class Nuggets(BaseModel):
    """Reply: the facts."""

    nuggets: list[Nugget]


LISTING = Prompt(
    "nugget_listing",
    Nuggets,
    en="""\
List the nuggets of the question: short statements of fact, each of which can be checked, that a \
good answer says. Take them from the right answer and the passages alone, each fact once, at most \
twelve. "vital": a good answer must say it; "okay": it is worth knowing.

Question:
{question}

Right answer (may be empty):
{reference}

Passages:
{passages}""",
    ru="""\
Перечислите ключевые факты для вопроса: короткие проверяемые утверждения, которые говорит хороший \
ответ. Берите их только из правильного ответа и отрывков, каждый факт один раз, не больше \
двенадцати. "vital": хороший ответ обязан это сказать; "okay": это полезно знать.

Вопрос:
{question}

Правильный ответ (может быть пустым):
{reference}

Отрывки:
{passages}""",
)


def list_nuggets(samples: Sequence[Sample], judge: Any) -> dict[str, dict[str, str]]:
    """Return question id → nugget → vital or okay, from all systems' passages together.

    A question for which the judge gives none is left out. Raises NotEnoughError where all are.
    """
    by_question: dict[str, list[Sample]] = {}
    for sample in samples:
        by_question.setdefault(sample.id, []).append(sample)

    async def list_one(group: Sequence[Sample]) -> dict[str, str]:
        try:
            reply = await judge.ask(LISTING, **question_material(group))
            return {each.text: each.importance for each in reply.nuggets}
        except Unmeasured:
            return {}  # the command counts what is missing
        finally:
            shown.update()

    async def list_all() -> list[dict[str, str]]:
        # The judge limits its calls itself.
        async with judge, asyncio.TaskGroup() as group:
            tasks = [group.create_task(list_one(samples)) for samples in by_question.values()]
        return [task.result() for task in tasks]

    with bar("listing nuggets", len(by_question)) as shown:
        listed = dict(zip(by_question, run_async(list_all()), strict=True))
    if not any(listed.values()):
        raise NotEnoughError("the judge listed no nuggets")
    return {name: nuggets for name, nuggets in listed.items() if nuggets}


def question_material(group: Sequence[Sample]) -> dict[str, Any]:
    """Return what the judge is shown of a question: its text, right answer and all passages."""
    texts: dict[str, None] = {}
    for sample in group:
        for passage in sample.contexts or ():
            if passage.text:
                texts.setdefault(passage.text)
    first = group[0]
    return {
        "question": first.question or "",
        "reference": first.reference or "",
        "passages": list(texts)[:MOST_PASSAGES],
    }
