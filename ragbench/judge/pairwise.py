"""Which of two answers is better: A, B or a tie, asked in both orders so that the place decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, Field

from ragbench.core.types import Judge, LexicalReader, Prompt, Status

CLOSE = 0.02
"""The offline judge calls two answers a tie whose similarity to the question's reference differs by less."""


class Choice(StrEnum):
    """The better answer."""

    A = "A"
    B = "B"
    TIE = "Tie"


class Preference(BaseModel):
    """The reply's shape."""

    choice: Choice = Field(description='"A", "B" or "Tie"')


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Preference:
    goal = texts["reference"] or texts["question"]
    gap = reader.similarity(texts["answer_a"], goal) - reader.similarity(texts["answer_b"], goal)
    return Preference(choice=Choice.TIE if abs(gap) < CLOSE else Choice.A if gap > 0 else Choice.B)


PAIRWISE = Prompt(
    name="pairwise",
    version=1,
    shape=Preference,
    offline=_by_words,
    texts={
        "en": """Two assistants answered the same question. Decide which answer serves the person who asked better.

Question:
{question}

Reference answer (may be empty; where it is given, it is correct):
{reference}

Answer A:
{answer_a}

Answer B:
{answer_b}

Weigh, in this order: whether what is said is correct, whether it answers the question, whether something important is
missing. Length, style and the order in which the answers stand count for nothing. Choose "A" or "B" if one is better,
"Tie" if neither is.""",
        "ru": """Два ассистента ответили на один и тот же вопрос. Решите, какой ответ лучше поможет спросившему.

Вопрос:
{question}

Эталонный ответ (может быть пустым; если он дан, он верен):
{reference}

Ответ A:
{answer_a}

Ответ B:
{answer_b}

Учитывайте по порядку: верно ли сказанное, отвечает ли оно на вопрос, не упущено ли важное. Длина, стиль и то, какой
ответ стоит первым, не имеют значения. Выберите «A» или «B», если один из ответов лучше, и «Tie», если ни один не лучше
другого. Буквы A и B пишите латиницей.""",
    },
)


@dataclass(frozen=True)
class Duel:
    """The outcome of one pair.

    choice: A is the first answer given to `compare`. Tie also where the two orders disagree. None if unmeasured.
    forward, backward: what was chosen with the first answer in place A, and in place B (already turned back).
    consistent: whether both orders agree; None if one of them has no answer.
    status, reason: of the order that has no answer; `ok` otherwise.
    """

    choice: Choice | None
    forward: Choice | None
    backward: Choice | None
    status: Status = Status.OK
    reason: str = ""

    @property
    def consistent(self) -> bool | None:
        """Whether both orders agree."""
        return None if self.choice is None else self.forward is self.backward


async def compare(
    judge: Judge,
    question: str,
    first: str,
    second: str,
    *,
    reference: str = "",
    language: str | None = None,
    repeat: int = 0,
) -> Duel:
    """Ask in both orders at once. An order without an answer leaves the pair unmeasured."""
    shared = {"question": question, "reference": reference}
    shown = ({"answer_a": first, "answer_b": second}, {"answer_a": second, "answer_b": first})
    there, back = await asyncio.gather(
        *(judge.ask(PAIRWISE, {**shared, **pair}, language=language, repeat=repeat) for pair in shown)
    )
    turned = {Choice.A: Choice.B, Choice.B: Choice.A, Choice.TIE: Choice.TIE}
    forward = None if there.value is None else there.value.choice
    backward = None if back.value is None else turned[back.value.choice]
    if forward is None or backward is None:
        missing = there if forward is None else back
        return Duel(None, forward, backward, missing.status, missing.reason)
    return Duel(forward if forward is backward else Choice.TIE, forward, backward)
