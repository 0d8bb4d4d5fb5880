"""Which of two answers is better? A judge chooses A, B or a tie, asked in both orders."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from ragbench.core.errors import Unmeasured
from ragbench.metrics.judging import Judge, Prompt

# Models write "a" and "TIE" as well.
Capital = BeforeValidator(lambda word: word.strip().title() if isinstance(word, str) else word)


class Preference(BaseModel):
    """Reply: the better answer."""

    choice: Annotated[Literal["A", "B", "Tie"], Capital] = Field(description='"A", "B" or "Tie"')


PAIRWISE = Prompt(
    "pairwise",
    Preference,
    en="""\
Two assistants answered the same question. Decide which answer serves the person who asked better.

Question:
{question}

Reference answer (may be empty; where it is given, it is correct):
{reference}

Answer A:
{answer_a}

Answer B:
{answer_b}

Weigh, in this order: whether what is said is correct, whether it answers the question, whether \
something important is missing. Length, style and the order in which the answers stand count for \
nothing. Choose "A" or "B" if one is better, "Tie" if neither is.""",
    ru="""\
Два ассистента ответили на один и тот же вопрос. Решите, какой ответ лучше поможет спросившему.

Вопрос:
{question}

Эталонный ответ (может быть пустым; если он дан, он верен):
{reference}

Ответ A:
{answer_a}

Ответ B:
{answer_b}

Учитывайте по порядку: верно ли сказанное, отвечает ли оно на вопрос, не упущено ли важное. Длина, \
стиль и то, какой ответ стоит первым, не имеют значения. Выберите «A» или «B», если один из \
ответов лучше, и «Tie», если ни один не лучше другого. Буквы A и B пишите латиницей.""",
)
TURNED = {"A": "B", "B": "A", "Tie": "Tie"}


@dataclass(frozen=True)
class Duel:
    """Which of two answers a judge prefers: "A" the first, "B" the second, or "Tie".

    choice: Tie also where the two orders disagree; None where one of them has no reply.
    forward, backward: the choice with the first answer in place A, and in place B, turned back.
    reason: why an order has no reply.
    """

    choice: str | None
    forward: str | None
    backward: str | None
    reason: str = ""


async def compare_answers(
    judge: Judge, question: str, first: str, second: str, reference: str = ""
) -> Duel:
    """Ask in both orders at once which of two answers is better."""
    replies = await asyncio.gather(
        choose(judge, question, first, second, reference),
        choose(judge, question, second, first, reference),
        return_exceptions=True,
    )
    choices: list[str | None] = []
    reason = ""
    for reply in replies:
        if isinstance(reply, Unmeasured):
            reason = reply.reason
            choices.append(None)
        elif isinstance(reply, BaseException):
            raise reply
        else:
            choices.append(reply)
    forward = choices[0]
    backward = None if choices[1] is None else TURNED[choices[1]]
    if forward is None or backward is None:
        return Duel(None, forward, backward, reason)
    return Duel(forward if forward == backward else "Tie", forward, backward)


async def choose(judge: Judge, question: str, first: str, second: str, reference: str) -> str:
    """Ask which of two answers is better, in this order."""
    reply = await judge.ask(
        PAIRWISE, question=question, reference=reference, answer_a=first, answer_b=second
    )
    return reply.choice
