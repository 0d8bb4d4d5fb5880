"""Is the answer grounded in what was retrieved? One rating of the whole answer."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score
from ragbench.metrics.judging import Judge, Prompt, RatedTo2, check_inputs
from ragbench.metrics.texts import plain, squeeze

GROUNDEDNESS = Prompt(
    "response_groundedness",
    RatedTo2,
    temperature=0.1,
    en="""\
Rate how far the answer is grounded in the contexts, that is, can be found in them or follows from \
them.

Contexts:
{contexts}

Answer:
{answer}

- 0: not grounded. Essential information of the answer is not in the contexts, or is contrary to \
them.
- 1: partly grounded. Some of it is supported by the contexts, some is not.
- 2: fully grounded. The contexts support all of it.

Go by the contexts alone, not by what you know, and not by whether the answer is good. Give the \
reason first, then the rating.""",
    ru="""\
Оцените, насколько ответ обоснован контекстами, то есть содержится в них или следует из них.

Контексты:
{contexts}

Ответ:
{answer}

- 0: не обоснован. Существенных сведений ответа в контекстах нет, или они им противоречат.
- 1: частично обоснован. Одно подтверждается контекстами, другое нет.
- 2: полностью обоснован. Контексты подтверждают весь ответ.

Исходите только из контекстов, а не из того, что знаете сами, и не из того, хорош ли ответ. \
Сначала причина (по-русски), затем оценка.""",
)


@metric(source="NVIDIA's RAG evaluation, as in RAGAS; the rating divided by 2")
async def response_groundedness(
    judge: Judge, answer: str, contexts: Sequence[str], shortcuts: bool = True
) -> Score:
    """How far the contexts support the answer as a whole: a rating of 0, 1 or 2, divided by 2.

    0.0, 0.5 or 1.0: from 0.9 on excellent, 0.7 good, 0.5 middling, below poor.
    shortcuts: 1.0 without a call if the answer equals a context or stands in one, compared after
    NFKC and casefold with white space folded; the explanation then says so.
    One question, at temperature 0.1. An empty answer is unmeasured.

    Use it in place of faithfulness where one rating of the whole answer is enough.
    """
    check_inputs(judge, contexts=contexts, answer=answer)
    folded_answer = squeeze(plain(answer))
    for number, context in enumerate(contexts, 1):
        folded = squeeze(plain(context))
        if shortcuts and folded_answer in folded:
            way = "equal" if folded == folded_answer else "contained"
            return Score(
                1.0,
                message=mark(
                    "The answer stands in context {number}: {value}, and no judge was asked"
                ),
                facts={"number": number, "shortcut": way},
            )
    reply = await judge.ask(GROUNDEDNESS, contexts=list(contexts), answer=answer)
    return Score(
        reply.rating / 2,
        message=mark("Rated {rating} of 2, {rating} / 2 = {value}: {reason}"),
        facts={"rating": reply.rating, "reason": reply.reason},
    )
