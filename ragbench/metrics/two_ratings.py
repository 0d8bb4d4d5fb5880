"""Ratings of 0, 1 or 2 by two differently worded prompts: one wording alone sways a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score
from ragbench.metrics.judging import (
    Judge,
    Prompt,
    RatedTo2,
    ask_all,
    check_inputs,
    empty_answer,
)

ACCURACY = Prompt(
    "answer_accuracy",
    RatedTo2,
    temperature=0.1,
    en="""\
Compare an assistant's answer with the reference answer, which is correct, and rate it.

Question:
{question}

Reference answer:
{reference}

Answer:
{answer}

- 2: the answer says the same as the reference, in whatever words; units and forms of a name may \
differ.
- 1: it is right in part: it has some of what the reference says, or adds something that the \
reference does not have.
- 0: it is wrong, contradicts the reference, or does not answer.

Give the reason first, then the rating.""",
    ru="""\
Сравните ответ ассистента с эталонным ответом, который верен, и оцените его.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{answer}

- 2: ответ говорит то же, что эталон, какими бы словами ни было; единицы и формы имени могут \
отличаться.
- 1: ответ верен отчасти: в нём есть часть того, что говорит эталон, или добавлено то, чего в \
эталоне нет.
- 0: ответ неверен, противоречит эталону или не отвечает на вопрос.

Сначала причина (по-русски), затем оценка.""",
)
ACCURACY_TURNED = Prompt(
    "answer_accuracy_turned",
    RatedTo2,
    temperature=0.1,
    en="""\
Two people answered one question. Say how far the second answer covers the first.

Question:
{question}

First answer:
{reference}

Second answer:
{answer}

- 2: everything that the first answer says about the question is in the second one, and nothing \
there speaks against it.
- 1: some of it is.
- 0: none of it is, or the two cannot both be true.

Give the reason first, then the rating.""",
    ru="""\
Два человека ответили на один вопрос. Скажите, насколько второй ответ охватывает первый.

Вопрос:
{question}

Первый ответ:
{reference}

Второй ответ:
{answer}

- 2: всё, что первый ответ говорит по вопросу, есть во втором, и ничто в нём этому не противоречит.
- 1: есть часть.
- 0: нет ничего, или оба ответа не могут быть верны вместе.

Сначала причина (по-русски), затем оценка.""",
)
RELEVANCE = Prompt(
    "context_relevance",
    RatedTo2,
    temperature=0.1,
    en="""\
Rate how far the contexts hold what is needed to answer the question.

Question:
{question}

Contexts:
{contexts}

- 2: the question can be answered in full from the contexts.
- 1: it can be answered in part.
- 0: the contexts have nothing that answers it.

Do not answer the question, and do not use what you know. Give the reason first, then the \
rating.""",
    ru="""\
Оцените, насколько в контекстах есть то, что нужно для ответа на вопрос.

Вопрос:
{question}

Контексты:
{contexts}

- 2: по контекстам можно ответить на вопрос полностью.
- 1: можно ответить частично.
- 0: в контекстах нет ничего, что отвечало бы на него.

Не отвечайте на вопрос и не опирайтесь на то, что знаете сами. Сначала причина (по-русски), затем \
оценка.""",
)
RELEVANCE_TURNED = Prompt(
    "context_relevance_turned",
    RatedTo2,
    temperature=0.1,
    en="""\
Someone looked for an answer and found the passages below. Say how useful they are to that person.

Passages:
{contexts}

What the person wants to know:
{question}

- 0: of no use: they are about something else, or only near the topic.
- 1: of some use: they tell a part of it.
- 2: of full use: whoever reads them knows the answer.

Go by the passages alone. Give the reason first, then the rating.""",
    ru="""\
Человек искал ответ и нашёл приведённые ниже отрывки. Скажите, насколько они ему полезны.

Отрывки:
{contexts}

Что человек хочет узнать:
{question}

- 0: бесполезны: они о другом или лишь близки к теме.
- 1: отчасти полезны: сообщают часть ответа.
- 2: вполне полезны: прочитавший их знает ответ.

Исходите только из отрывков. Сначала причина (по-русски), затем оценка.""",
)


@metric(source="NVIDIA's answer accuracy, as in RAGAS")
async def answer_accuracy(judge: Judge, question: str, answer: str, reference: str) -> Score:
    """How far the answer agrees with the reference: two ratings of 0, 1 or 2, their sum / 4.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the
    sample is unmeasured. An empty answer has 0.
    """
    check_inputs(judge, question=question, reference=reference)
    if not answer.strip():
        return empty_answer()
    return await rate_twice(
        judge, ACCURACY, ACCURACY_TURNED, question=question, reference=reference, answer=answer
    )


@metric(source="NVIDIA's context relevance, as in RAGAS")
async def context_relevance(judge: Judge, question: str, contexts: Sequence[str]) -> Score:
    """How far the retrieved contexts can answer the question: two ratings of 0 to 2, their sum / 4.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the
    sample is unmeasured. It needs no reference.
    """
    check_inputs(judge, question=question, contexts=contexts)
    return await rate_twice(
        judge, RELEVANCE, RELEVANCE_TURNED, question=question, contexts=list(contexts)
    )


async def rate_twice(
    judge: Judge, prompt: Prompt[RatedTo2], turned: Prompt[RatedTo2], **values: Any
) -> Score:
    """Ask both prompts at once; the mean of their ratings, divided by 2."""
    first, second = await ask_all(judge.ask(prompt, **values), judge.ask(turned, **values))
    return Score(
        (first.rating + second.rating) / 4,
        message=mark(
            "Rated {first} and {second} of 2, ({first} + {second}) / 4 = {value}: {reason}"
        ),
        facts={"first": first.rating, "second": second.rating, "reason": first.reason},
    )
