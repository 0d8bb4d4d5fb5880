"""One question, one rating: a judge's whole number from 1 to 5 for the answer as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score
from ragbench.metrics.judging import (
    Judge,
    Prompt,
    RatedTo5,
    check_inputs,
    empty_answer,
)

SOURCE = "after Zheng et al. 2023, Judging LLM-as-a-judge, NeurIPS, section 3.1"
LOWEST, HIGHEST = 1, 5
BOUNDS = (1.0, 5.0)
Scale = Literal["1-5", "0-1"]

FAITHFULNESS = Prompt(
    "faithfulness_rating",
    RatedTo5,
    en="""\
Rate how faithful the answer is to the contexts, that is, whether all that it states can be found \
in them or follows from them.

Contexts:
{contexts}

Question:
{question}

Answer:
{answer}

- 5: all of it is supported by the contexts; nothing is made up. Saying that the contexts do not \
answer is faithful.
- 4: supported but for a detail that changes nothing.
- 3: about half of it is supported.
- 2: little of it is supported.
- 1: it is made up, or contradicts the contexts.

Go by the contexts alone, not by what you know. Give the reason first, then the rating.""",
    ru="""\
Оцените, насколько ответ верен контекстам, то есть содержится ли всё, что в нём утверждается, в \
контекстах или следует из них.

Контексты:
{contexts}

Вопрос:
{question}

Ответ:
{answer}

- 5: всё подтверждается контекстами, ничего не выдумано. Слова о том, что в контекстах нет ответа, \
им верны.
- 4: подтверждается всё, кроме мелочи, которая ничего не меняет.
- 3: подтверждается примерно половина.
- 2: подтверждается мало что.
- 1: ответ выдуман или противоречит контекстам.

Исходите только из контекстов, а не из того, что знаете сами. Сначала причина (по-русски), затем \
оценка.""",
)
RELEVANCE = Prompt(
    "answer_relevance",
    RatedTo5,
    en="""\
Rate how far the answer answers the question that was asked. Whether it is true does not matter \
here.

Question:
{question}

Answer:
{answer}

- 5: it answers exactly this question, and all of it.
- 4: it answers the question with little missing or little beside the point.
- 3: it answers a part, or answers among much else.
- 2: it is near the topic and hardly answers.
- 1: it answers another question or none.

Give the reason first, then the rating.""",
    ru="""\
Оцените, насколько ответ отвечает на заданный вопрос. Верен ли он, здесь не важно.

Вопрос:
{question}

Ответ:
{answer}

- 5: отвечает именно на этот вопрос и полностью.
- 4: отвечает на вопрос; немного упущено или немного лишнего.
- 3: отвечает отчасти или среди многого другого.
- 2: близок к теме, но почти не отвечает.
- 1: отвечает на другой вопрос или ни на какой.

Сначала причина (по-русски), затем оценка.""",
)
CORRECTNESS = Prompt(
    "answer_correctness_rating",
    RatedTo5,
    en="""\
Rate how correct the answer is, measured by the reference answer, which is right.

Question:
{question}

Reference answer:
{reference}

Answer:
{answer}

- 5: it says the same as the reference; words, units and forms of names may differ.
- 4: correct, with a detail missing or added.
- 3: about half is correct.
- 2: mostly wrong or mostly missing.
- 1: wrong, contrary to the reference, or no answer where the reference has one.

Give the reason first, then the rating.""",
    ru="""\
Оцените, насколько ответ верен; мерой служит эталонный ответ, который правилен.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{answer}

- 5: говорит то же, что эталон; слова, единицы и формы имён могут отличаться.
- 4: верен, но упущена или добавлена мелочь.
- 3: верно примерно наполовину.
- 2: большей частью неверен или большей части нет.
- 1: неверен, противоречит эталону или не даёт ответа там, где в эталоне он есть.

Сначала причина (по-русски), затем оценка.""",
)
END_TO_END = Prompt(
    "e2e_score",
    RatedTo5,
    en="""\
A person asked a question and got the answer. Rate how useful it is to that person compared with \
the reference answer, which would have served them well.

Question:
{question}

Reference answer:
{reference}

Answer:
{answer}

- 5: as useful as the reference. Where the reference says that there is no answer, saying so is as \
useful.
- 4: nearly as useful; the person gets what they need.
- 3: of some use; the person gets a part and has to ask again.
- 2: of little use.
- 1: useless or misleading: wrong, empty, or about something else.

Give the reason first, then the rating.""",
    ru="""\
Человек задал вопрос и получил ответ. Оцените, насколько ответ ему полезен по сравнению с \
эталонным, который помог бы ему вполне.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{answer}

- 5: полезен так же, как эталон. Если эталон говорит, что ответа нет, сказать это так же полезно.
- 4: почти так же полезен: человек получает то, что нужно.
- 3: отчасти полезен: человек получает часть и спросит снова.
- 2: мало полезен.
- 1: бесполезен или вводит в заблуждение: неверен, пуст или о другом.

Сначала причина (по-русски), затем оценка.""",
)


@metric(source=SOURCE, bounds=BOUNDS)
async def faithfulness_rating(
    judge: Judge, question: str, answer: str, contexts: Sequence[str], scale: Scale = "1-5"
) -> Score:
    """A judge's rating from 1 to 5 of how far the contexts support the answer as a whole.

    The rating as given; scale="0-1": (rating − 1) / 4. Unlike `faithfulness`, which checks claims
    one by one, it is one question and one number. On 0 to 1 above 0.8 little is made up; below
    0.5 much is.
    """
    check_inputs(judge, question=question, contexts=contexts, answer=answer)
    return await rate(
        judge, FAITHFULNESS, scale, contexts=list(contexts), question=question, answer=answer
    )


@metric(source=SOURCE, bounds=BOUNDS)
async def answer_relevance(judge: Judge, question: str, answer: str, scale: Scale = "1-5") -> Score:
    """A judge's rating from 1 to 5 of how far the answer answers the question that was asked.

    The rating as given; scale="0-1": (rating − 1) / 4. Unlike `response_relevancy`, no question is
    made from the answer. On 0 to 1 above 0.8 questions are understood well.
    """
    check_inputs(judge, question=question, answer=answer)
    return await rate(judge, RELEVANCE, scale, question=question, answer=answer)


@metric(source=SOURCE, bounds=BOUNDS)
async def answer_correctness_rating(
    judge: Judge, question: str, answer: str, reference: str, scale: Scale = "1-5"
) -> Score:
    """A judge's rating from 1 to 5 of how far the answer is right, measured by the reference.

    The rating as given; scale="0-1": (rating − 1) / 4. An empty answer has the lowest rating.
    """
    return await rate_by_reference(judge, CORRECTNESS, scale, question, answer, reference)


@metric(source=SOURCE, bounds=BOUNDS)
async def e2e_score(
    judge: Judge, question: str, answer: str, reference: str, scale: Scale = "1-5"
) -> Score:
    """A judge's rating from 1 to 5 of how useful the answer is to who asked.

    The rating as given; scale="0-1": (rating − 1) / 4. Compared with the reference. The contexts
    are not shown to the judge: only what the user sees counts. An empty answer has the lowest
    rating.
    """
    return await rate_by_reference(judge, END_TO_END, scale, question, answer, reference)


async def rate_by_reference(
    judge: Judge,
    prompt: Prompt[RatedTo5],
    scale: str,
    question: str,
    answer: str,
    reference: str,
) -> Score:
    """Rate an answer beside its reference; an empty answer has the lowest rating."""
    check_inputs(judge, question=question, reference=reference)
    if not answer.strip():
        return empty_answer(float(LOWEST) if scale == "1-5" else 0.0)
    return await rate(judge, prompt, scale, question=question, reference=reference, answer=answer)


async def rate(judge: Judge, prompt: Prompt[RatedTo5], scale: str, **values: Any) -> Score:
    """Ask for a rating; it is kept as given, or converted where the scale is 0-1."""
    reply = await judge.ask(prompt, **values)
    facts = {"rating": reply.rating, "highest": HIGHEST, "reason": reply.reason}
    if scale == "1-5":
        message = mark("Rated {rating} of {highest}: {reason}")
        return Score(float(reply.rating), message=message, facts=facts)
    return Score(
        (reply.rating - LOWEST) / (HIGHEST - LOWEST),
        message=mark("Rated {rating} of {highest}, ({rating} − 1) / 4 = {value}: {reason}"),
        facts=facts,
    )
