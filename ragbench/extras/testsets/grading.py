"""A judge that grades passages for a question in UMBRELA's four grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from ragbench.core.types import Judge, LexicalReader, Prompt
from ragbench.core.waves import gather
from ragbench.extras.testsets.pool import HIGHEST, Judgement, Pair


class Graded(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    grade: int = Field(ge=0, le=HIGHEST, description="0, 1, 2 or 3")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Graded:
    share = reader.similarity(texts["question"], texts["passage"])
    return Graded(reason="shared words", grade=sum(share > limit for limit in (0.1, 0.25, 0.5)))


GRADE = Prompt(
    name="relevance_grade",
    version=1,
    shape=Graded,
    offline=_by_words,
    max_tokens=300,
    texts={
        "en": """A search returned the passage for the question. Grade how well the passage answers it.

Question:
{question}

Passage:
{passage}

- 3: the passage is about the question, and holds the exact answer.
- 2: the passage holds an answer, but not clearly, or hidden among other things.
- 1: the passage is on the topic, and does not answer the question.
- 0: the passage has nothing to do with the question.

First think of what the asker wants to know, then of how much of that the passage tells, and how much it may be trusted
to be about that. Give the reason first, then the grade.""",
        "ru": """Поиск вернул отрывок по вопросу. Оцените, насколько отрывок на него отвечает.

Вопрос:
{question}

Отрывок:
{passage}

- 3: отрывок посвящён вопросу и содержит точный ответ.
- 2: отрывок содержит ответ, но неясно или среди прочего.
- 1: отрывок по теме, но на вопрос не отвечает.
- 0: отрывок не имеет к вопросу никакого отношения.

Сначала подумайте, что хочет знать спросивший, затем — сколько из этого говорит отрывок и можно ли верить, что он
именно об этом. Сначала причина (по-русски), затем оценка.""",
    },
)
"""After the definition of the grades by Upadhyay et al. 2024 (UMBRELA), who have them from Thomas et al. 2024."""


async def graded(
    judge: Judge,
    pairs: Sequence[Pair],
    questions: Mapping[str, str],
    passages: Mapping[str, str],
    language: str,
    advance: Callable[[], object] = lambda: None,
) -> tuple[list[Judgement], dict[Pair, str]]:
    """The judge's grade of every pair, and of those without one why. questions, passages: texts by their names."""
    judgements: list[Judgement] = []
    lost: dict[Pair, str] = {}

    async def grade(pair: Pair) -> None:
        question, passage = pair
        texts = {"question": questions[question], "passage": passages[passage]}
        reply = await judge.ask(GRADE, texts, language=language)
        if reply.value is None:
            lost[pair] = reply.reason
        else:
            judgements.append(Judgement(question=question, passage=passage, grade=reply.value.grade, by=judge.name))
        advance()

    await gather([grade(pair) for pair in pairs])
    return sorted(judgements, key=lambda judgement: (judgement.question, judgement.passage)), lost
