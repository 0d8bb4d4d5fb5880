"""A judge asked once more: the same, with its scales the other way round, or a pair in both orders."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, Field

from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.types import Answer, Judge, LexicalReader, Prompt, Shape, Status
from ragbench.old.core.types.reason import Reason

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


_LEVEL = re.compile(r"^- \d+: (?:.*)(?:\n(?!- |\n).+)*$", re.MULTILINE)


@dataclass(frozen=True)
class Relay:
    """A judge that asks another one, and goes by its name and identity."""

    judge: Judge

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge.name

    @property
    def identity(self) -> str:
        """The judge's."""
        return self.judge.identity


@dataclass(frozen=True)
class Again(Relay):
    """A judge asked in another way, of which metrics need not know: every answer is repeat number `repeat`, or every
    scale is shown with its levels in the opposite order (`turned`), or every prompt has to be in that `language` and to
    have another one that it could be in."""

    repeat: int = 0
    turned: bool = False
    language: str = ""

    async def ask(
        self, prompt: Prompt[Shape], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.old.core.types.Judge`; a metric's own repeats stay apart from each other. A prompt without a list
        of levels has no order to turn, so that it is not asked; nor is one that would be the same in another
        language."""
        put = scale_turned(prompt) if self.turned else prompt
        if put is None:
            return Answer(None, Status.EMPTY_INPUT, Reason("the prompt {prompt} lists no levels", prompt=prompt.name))
        if self.language and (language != self.language or not set(LANGUAGES) <= set(prompt.texts)):
            reason = Reason("the prompt {prompt} is asked in one language only", prompt=prompt.name)
            return Answer(None, Status.EMPTY_INPUT, reason)
        return await self.judge.ask(put, texts, language=language, repeat=1000 * self.repeat + repeat)


@dataclass(frozen=True)
class Asking:
    """A question that was put to a judge, and what came of it.

    began: in seconds since 1970; seconds: until the answer was there, waiting in line and for who asked the same
    included. status, reason: of the answer; of a call that ends the run "judge_error". detail: the prompt's name, the
    language, `texts` by slot, the `answer` as plain values, `model_seconds`, `suspected_injection`.
    """

    judge: str
    began: float
    seconds: float
    status: str
    reason: str
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class Overheard(Relay):
    """A judge that somebody is told of each answer of."""

    heard: Callable[[Asking], None]

    async def ask(
        self, prompt: Prompt[Shape], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.old.core.types.Judge`."""
        began, start = time.time(), time.monotonic()
        asked = {"prompt": prompt.name, "language": language, "texts": dict(texts)}
        try:
            answer = await self.judge.ask(prompt, texts, language=language, repeat=repeat)
        except Exception as error:
            seconds = time.monotonic() - start
            self.heard(Asking(self.name, began, seconds, Status.JUDGE_ERROR.value, str(error), asked))
            raise
        more = {
            "answer": None if answer.value is None else answer.value.model_dump(mode="json"),
            "model_seconds": answer.seconds,
            "suspected_injection": list(answer.suspected_injection),
        }
        seconds = time.monotonic() - start
        self.heard(Asking(self.name, began, seconds, answer.status.value, answer.reason, {**asked, **more}))
        return answer


@dataclass(frozen=True)
class Reworded(Relay):
    """A judge whose prompts a project has put in its own words: texts by the prompt's name and by language.

    Its identity is the judge's: the words are in what it is asked.
    """

    texts: Mapping[str, Mapping[str, str]]

    async def ask(
        self, prompt: Prompt[Shape], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Shape]:
        """See `ragbench.old.core.types.Judge`."""
        own = self.texts.get(prompt.name)
        put = prompt if own is None else replace(prompt, texts={**prompt.texts, **own})
        return await self.judge.ask(put, texts, language=language, repeat=repeat)


@lru_cache(maxsize=64)
def scale_turned(prompt: Prompt[Shape]) -> Prompt[Shape] | None:
    """The prompt with the lines `- 2: …` of its scale in the opposite order; None where a language has no such list."""
    turned = {}
    for language, text in prompt.texts.items():
        levels = _LEVEL.findall(text)
        if len(levels) < 2:
            return None
        back = iter(reversed(levels))
        turned[language] = _LEVEL.sub(lambda _: next(back), text)  # noqa: B023 - used up before the next language
    return replace(prompt, name=f"{prompt.name}_scale_turned", texts=turned)
