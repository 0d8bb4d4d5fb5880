"""A judge that grades passages for a question in UMBRELA's four grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ragbench.core.types import Judge
from ragbench.core.waves import gather
from ragbench.extras.testsets.pool import Judgement, Pair
from ragbench.judge.relevance import RELEVANCE


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
        reply = await judge.ask(RELEVANCE, texts, language=language)
        if reply.value is None:
            lost[pair] = reply.reason
        else:
            judgements.append(Judgement(question=question, passage=passage, grade=reply.value.grade, by=judge.name))
        advance()

    await gather([grade(pair) for pair in pairs])
    return sorted(judgements, key=lambda judgement: (judgement.question, judgement.passage)), lost
