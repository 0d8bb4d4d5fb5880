"""How relevant is a passage to a question? UMBRELA's four grades, for labels of pools and for metrics alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ragbench.old.core.types import LexicalReader, Prompt
from ragbench.old.core.types.reason import Reason, kept, rounded

HIGHEST = 3
"""The grades are 0 to 3; UMBRELA counts a passage as relevant from 2, TREC's pools grade all of them."""
RELATED, ANSWERED, DEDICATED = 0.2, 0.5, 0.8
"""Offline, the support of the question's words in the passage from which it has grade 1, 2 and 3."""


class Relevance(BaseModel):
    """The reply's shape; the reason comes first, so that it is thought before it is said."""

    reason: str = Field(description="one short sentence: what of the passage answers the question, or why none of it")
    grade: int = Field(ge=0, le=HIGHEST, description="0, 1, 2 or 3")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Relevance:
    share = reader.support(texts["question"], [texts["passage"]])
    grade = sum(share >= least for least in (RELATED, ANSWERED, DEDICATED))
    return Relevance(reason=kept(Reason("shared words and letters: {share}", share=rounded(share, 2))), grade=grade)


RELEVANCE = Prompt(
    name="relevance",
    version=1,
    shape=Relevance,
    offline=_by_words,
    texts={
        "en": """Grade how relevant the passage is to the question, as a person would who asked it.

Question:
{question}

Passage:
{passage}

- 0: it has nothing to do with the question.
- 1: it is about the subject, and does not answer the question.
- 2: it answers the question in part, unclearly, or among much else.
- 3: it is about this very question, and answers it.

Ask first what the person wants to know, then how well the passage fits that, and how far it can be trusted. Give a
short reason, then the grade.""",
        "ru": """Оцените, насколько отрывок отвечает на вопрос, — как оценил бы тот, кто его задал.

Вопрос:
{question}

Отрывок:
{passage}

- 0: не имеет отношения к вопросу.
- 1: относится к теме, но на вопрос не отвечает.
- 2: отвечает на вопрос частично, неясно или среди многого другого.
- 3: посвящён именно этому вопросу и отвечает на него.

Сначала подумайте, что человек хочет узнать, затем — насколько этому соответствует отрывок и можно ли ему доверять.
Дайте короткую причину по-русски, затем оценку.""",
    },
)
"""After Upadhyay et al. 2024, arXiv:2406.06519, an open reproduction of Bing's relevance assessor."""
