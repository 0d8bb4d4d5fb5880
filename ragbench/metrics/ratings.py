"""Ratings of 0, 1 or 2 by two differently worded prompts whose mean counts: one wording alone sways a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from ragbench.metric import metric
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.sentences import sentences
from ragbench.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.waves import gather

HIGHEST = 2
ACCURACY_FIELDS = ("user_input", "response", "reference")
RELEVANCE_FIELDS = ("user_input", "contexts")


class Rating(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    rating: int = Field(ge=0, le=HIGHEST, description="0, 1 or 2")


def _rated(shares: Sequence[float]) -> Rating:
    """2 if all parts hold, 1 if some do, 0 if none does."""
    rating = HIGHEST if shares and all(shares) else int(any(shares))
    return Rating(reason=f"parts that share their words: {sum(map(bool, shares))} of {len(shares)}", rating=rating)


def _covers(one: str, other: str, reader: LexicalReader) -> Rating:
    return _rated([reader.supported(part, [other]) for part in sentences(one)])


def _touches(reader: LexicalReader, texts: Mapping[str, Any]) -> Rating:
    """How many of the question's words the contexts have: half of them is partly relevant."""
    strength = reader.support(texts["question"], texts["contexts"])
    rating = HIGHEST if strength >= 0.8 else int(strength >= 0.4)
    return Rating(reason=f"shared words and letters: {strength:.2f}", rating=rating)


ACCURACY = (
    Prompt(
        name="answer_accuracy",
        version=1,
        shape=Rating,
        offline=lambda reader, texts: _covers(texts["response"], texts["reference"], reader),
        temperature=0.1,
        texts={
            "en": """Compare an assistant's response with the reference answer, which is correct, and rate it.

Question:
{question}

Reference answer:
{reference}

Response:
{response}

- 2: the response says the same as the reference, in whatever words; units and forms of a name may differ.
- 1: it is right in part: it has some of what the reference says, or adds something that the reference does not have.
- 0: it is wrong, contradicts the reference, or does not answer.

Give the reason first, then the rating.""",
            "ru": """Сравните ответ ассистента с эталонным ответом, который верен, и оцените его.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{response}

- 2: ответ говорит то же, что эталон, какими бы словами ни было; единицы и формы имени могут отличаться.
- 1: ответ верен отчасти: в нём есть часть того, что говорит эталон, или добавлено то, чего в эталоне нет.
- 0: ответ неверен, противоречит эталону или не отвечает на вопрос.

Сначала причина (по-русски), затем оценка.""",
        },
    ),
    Prompt(
        name="answer_accuracy_turned",
        version=1,
        shape=Rating,
        offline=lambda reader, texts: _covers(texts["reference"], texts["response"], reader),
        temperature=0.1,
        texts={
            "en": """Two people answered one question. Say how far the second answer covers the first.

Question:
{question}

First answer:
{reference}

Second answer:
{response}

- 2: everything that the first answer says about the question is in the second one, and nothing there speaks against it.
- 1: some of it is.
- 0: none of it is, or the two cannot both be true.

Give the reason first, then the rating.""",
            "ru": """Два человека ответили на один вопрос. Скажите, насколько второй ответ охватывает первый.

Вопрос:
{question}

Первый ответ:
{reference}

Второй ответ:
{response}

- 2: всё, что первый ответ говорит по вопросу, есть во втором, и ничто в нём этому не противоречит.
- 1: есть часть.
- 0: нет ничего, или оба ответа не могут быть верны вместе.

Сначала причина (по-русски), затем оценка.""",
        },
    ),
)

RELEVANCE = (
    Prompt(
        name="context_relevance",
        version=1,
        shape=Rating,
        offline=_touches,
        temperature=0.1,
        texts={
            "en": """Rate how far the contexts hold what is needed to answer the question.

Question:
{question}

Contexts:
{contexts}

- 2: the question can be answered in full from the contexts.
- 1: it can be answered in part.
- 0: the contexts have nothing that answers it.

Do not answer the question, and do not use what you know. Give the reason first, then the rating.""",
            "ru": """Оцените, насколько в контекстах есть то, что нужно для ответа на вопрос.

Вопрос:
{question}

Контексты:
{contexts}

- 2: по контекстам можно ответить на вопрос полностью.
- 1: можно ответить частично.
- 0: в контекстах нет ничего, что отвечало бы на него.

Не отвечайте на вопрос и не опирайтесь на то, что знаете сами. Сначала причина (по-русски), затем оценка.""",
        },
    ),
    Prompt(
        name="context_relevance_turned",
        version=1,
        shape=Rating,
        offline=_touches,
        temperature=0.1,
        texts={
            "en": """Someone looked for an answer and found the passages below. Say how useful they are to that person.

Passages:
{contexts}

What the person wants to know:
{question}

- 0: of no use: they are about something else, or only near the topic.
- 1: of some use: they tell a part of it.
- 2: of full use: whoever reads them knows the answer.

Go by the passages alone. Give the reason first, then the rating.""",
            "ru": """Человек искал ответ и нашёл приведённые ниже отрывки. Скажите, насколько они ему полезны.

Отрывки:
{contexts}

Что человек хочет узнать:
{question}

- 0: бесполезны: они о другом или лишь близки к теме.
- 1: отчасти полезны: сообщают часть ответа.
- 2: вполне полезны: прочитавший их знает ответ.

Исходите только из отрывков. Сначала причина (по-русски), затем оценка.""",
        },
    ),
)


_TWO_EDGE = "If one of the two ratings is missing, the value is unmeasured."
_TWO_DIFF = "Both templates must answer; elsewhere a failed one is left out and the other counts alone."


@metric(
    source="NVIDIA's answer accuracy, as in RAGAS: two templates, each 0 to 2",
    fields=ACCURACY_FIELDS,
    prompts=ACCURACY,
    formula="(rating₁ + rating₂) / 4, ratings of 0, 1 or 2",
    edges=_TWO_EDGE + " An empty answer gets 0 without a question.",
    differs=_TWO_DIFF,
)
@measured
async def answer_accuracy(sample: Sample, judge: Judge) -> Score:
    """How far the answer agrees with the reference: two ratings of 0, 1 or 2, their mean divided by 2.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the sample is unmeasured.
    """
    inquiry = Inquiry(sample, judge, *ACCURACY_FIELDS, empty=0.0)
    texts = {name: getattr(sample, name) for name in ("response", "reference")}
    return await _both(inquiry, ACCURACY, {"question": sample.user_input, **texts})


@metric(
    source="NVIDIA's context relevance, as in RAGAS: two templates, each 0 to 2",
    fields=RELEVANCE_FIELDS,
    prompts=RELEVANCE,
    formula="(rating₁ + rating₂) / 4, ratings of 0, 1 or 2",
    edges=_TWO_EDGE,
    differs=_TWO_DIFF,
)
@measured
async def context_relevance(sample: Sample, judge: Judge) -> Score:
    """How far the retrieved contexts can answer the question: two ratings of 0, 1 or 2, their mean divided by 2.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the sample is unmeasured.
    """
    inquiry = Inquiry(sample, judge, *RELEVANCE_FIELDS)
    return await _both(inquiry, RELEVANCE, {"question": sample.user_input, "contexts": inquiry.contexts})


async def _both(inquiry: Inquiry, prompts: Sequence[Prompt[Rating]], texts: Mapping[str, Any]) -> Score:
    first, second = await gather([inquiry.ask(prompt, texts) for prompt in prompts])
    value = (first.rating + second.rating) / (2 * HIGHEST)
    explanation = [
        sentence("Ratings {first} and {second} of {highest}; ({first} + {second}) / {whole} = {value}.", value=value,
                 first=first.rating, second=second.rating, highest=HIGHEST, whole=2 * HIGHEST),
        sentence("The judge says: {reason}", reason=first.reason),
    ]  # fmt: skip
    return inquiry.score(value, explanation, ratings=[first.rating, second.rating], said=[first.reason, second.reason])
