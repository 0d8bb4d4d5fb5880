"""Ratings of 0, 1 or 2 by two differently worded prompts whose mean counts: one wording alone sways a judge.

The same ratings by one prompt alone, or by one that the judge is shown again to confirm, are options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.old.core.metric import metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.core.waves import gather
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.references import best_of_references

HIGHEST = 2  # NVIDIA's judges rate 0, 1 or 2, as ragas has them
ACCURACY_FIELDS = ("user_input", "response", "reference")
RELEVANCE_FIELDS = ("user_input", "contexts")


class Rating(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    rating: int = Field(ge=0, le=HIGHEST, description="0, 1 or 2")


def _rated(shares: Sequence[float]) -> Rating:
    """2 if all parts hold, 1 if some do, 0 if none does."""
    rating = HIGHEST if shares and all(shares) else int(any(shares))
    part, whole = sum(map(bool, shares)), len(shares)
    why = Reason("parts that share their words: {part} of {whole}", part=part, whole=whole)
    return Rating(reason=kept(why), rating=rating)


def _covers(text: str, other: str, reader: LexicalReader) -> Rating:
    return _rated([reader.supported(part, [other]) for part in sentences(text)])


def _touches(reader: LexicalReader, texts: Mapping[str, Any]) -> Rating:
    """How many of the question's words the contexts have: half of them is partly relevant."""
    strength = reader.support(texts["question"], texts["contexts"])
    rating = HIGHEST if strength >= 0.8 else int(strength >= 0.4)
    return Rating(reason=kept(Reason("shared words and letters: {share}", share=rounded(strength, 2))), rating=rating)


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


CONFIRMATION = Prompt(
    name="answer_accuracy_confirmed",
    version=1,
    shape=Rating,
    temperature=0.1,
    texts={
        "en": """Someone rated how far a response agrees with the reference answer, which is correct. Check the rating.

Question (may be empty):
{question}

Reference answer:
{reference}

Response:
{response}

The rating:
{rating}

The reason that was given for it:
{reason}

- 2: the response says the same as the reference, in whatever words; units and forms of a name may differ.
- 1: it is right in part: it has some of what the reference says, or adds something that the reference does not have.
- 0: it is wrong, contradicts the reference, or does not answer.

Look for what the reason overlooks or gets wrong. Keep the rating if it is right, give another if it is not. Give your
reason first, then your rating.""",
        "ru": """Кто-то оценил, насколько ответ совпадает с эталонным ответом, который верен. Проверьте эту оценку.

Вопрос (может быть пустым):
{question}

Эталонный ответ:
{reference}

Ответ:
{response}

Оценка:
{rating}

Причина, которая была для неё названа:
{reason}

- 2: ответ говорит то же, что эталон, какими бы словами ни было; единицы и формы имени могут отличаться.
- 1: ответ верен отчасти: в нём есть часть того, что говорит эталон, или добавлено то, чего в эталоне нет.
- 0: ответ неверен, противоречит эталону или не отвечает на вопрос.

Ищите, что в причине упущено или неверно. Сохраните оценку, если она верна, дайте другую, если нет. Сначала ваша причина
(по-русски), затем ваша оценка.""",
    },
)


Ratings = Literal["two", "one", "confirmed"]


def _refuse(metric: str, *, ratings: str = "two", variant: str = "specification", each: bool = False) -> None:
    if variant == "ragas" and ratings != "two":
        raise ValueError(f"{metric}: variant=ragas takes two ratings; leave ratings={ratings} out")
    if variant == "ragas" and each:
        raise ValueError(f"{metric}: variant=ragas rates all contexts together; leave each=True out")


_TWO_EDGE = "If one of the two ratings is missing, the value is unmeasured."
_TWO_DIFF = (
    "Both templates must answer; elsewhere, and with variant=ragas, the first counts alone where the second fails."
)


@metric(
    former=("nv_accuracy",),
    source="NVIDIA's answer accuracy, as in RAGAS: two templates, each 0 to 2",
    fields=ACCURACY_FIELDS,
    refuse=partial(_refuse, "answer_accuracy"),
    prompts=(*ACCURACY, CONFIRMATION),
    formula="(rating₁ + rating₂) / 4, ratings of 0, 1 or 2; with ratings=one or confirmed rating / 2",
    edges=_TWO_EDGE + " An empty answer gets 0 without a question.",
    differs=_TWO_DIFF,
    when=("Agreement with the reference by two independent questions, where one rating is not trusted.",),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def answer_accuracy(
    sample: Sample, judge: Judge, *, ratings: Ratings = "two", variant: Variant = "specification"
) -> Score:
    """How far the answer agrees with the reference: two ratings of 0, 1 or 2, their mean divided by 2.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the sample is unmeasured.
    ratings: two; one, by the first template alone; confirmed, where the judge is shown the first one's rating and
        reason and gives the one that counts. The last two are in steps of 0.5.
    variant: "ragas" takes the first rating for both where the second did not come, and asks about an empty answer too.
    """
    inquiry = Inquiry(sample, judge, *ACCURACY_FIELDS, empty=0.0, blank=variant == "ragas")
    texts = {name: getattr(sample, name) for name in ("response", "reference")}
    texts["question"] = sample.user_input
    if ratings == "two":
        return await _both(inquiry, ACCURACY, texts, variant)
    reply = await inquiry.ask(ACCURACY[0], texts)
    if ratings == "one":
        return _single(inquiry, [reply], [_rating_of(reply)])
    again = await inquiry.ask(CONFIRMATION, {**texts, "rating": str(reply.rating), "reason": reply.reason})
    said = [sentence("First rating {first}, confirmed as {last}.", first=reply.rating, last=again.rating)]
    if again.rating != reply.rating:
        said = [sentence("First rating {first}, changed to {last}.", first=reply.rating, last=again.rating)]
    return _single(inquiry, [reply, again], [*said, _rating_of(again)])


@metric(
    former=("nv_context_relevance",),
    source="NVIDIA's context relevance, as in RAGAS: two templates, each 0 to 2",
    fields=RELEVANCE_FIELDS,
    refuse=partial(_refuse, "context_relevance"),
    prompts=RELEVANCE,
    formula="(rating₁ + rating₂) / 4, ratings of 0, 1 or 2; with ratings=one rating / 2; with each=True the mean of "
    "that over the contexts",
    edges=_TWO_EDGE,
    differs=_TWO_DIFF + " Elsewhere each context may be rated alone, and the mean counts: each=True.",
    when=("Whether what was retrieved bears on the question, where there is no reference.",),
    peers=(RAGAS,),
)
@measured
async def context_relevance(
    sample: Sample,
    judge: Judge,
    *,
    ratings: Literal["two", "one"] = "two",
    each: bool = False,
    variant: Variant = "specification",
) -> Score:
    """How far the retrieved contexts can answer the question: two ratings of 0, 1 or 2, their mean divided by 2.

    0 to 1 in steps of 0.25. The two questions are put at once; if one stays without a rating, the sample is unmeasured.
    ratings: two, or one by the first template alone.
    each: rate each context alone, all at once, and take the mean; a context without text is worth 0, and nobody is
        asked.
    variant: "ragas" takes the first rating for both where the second did not come, and gives 0 without a question where
        the question or the contexts are empty, or all contexts together stand in the question.
    """
    inquiry = Inquiry(sample, judge, *RELEVANCE_FIELDS, blank=variant == "ragas")
    question, together = (sample.user_input or "").strip(), "\n".join(inquiry.contexts).strip()
    if variant == "ragas" and (not question or together in question):
        return inquiry.score(0.0, [sentence("By the formula of ragas: {value}.", value=0.0)], unasked=True)
    if each:
        return await _by_context(inquiry, RELEVANCE if ratings == "two" else RELEVANCE[:1])
    texts = {"question": sample.user_input or "", "contexts": inquiry.contexts}
    if ratings == "two":
        return await _both(inquiry, RELEVANCE, texts, variant)
    reply = await inquiry.ask(RELEVANCE[0], texts)
    return _single(inquiry, [reply], [_rating_of(reply)])


async def _both(inquiry: Inquiry, prompts: Sequence[Prompt[Rating]], texts: Mapping[str, Any], variant: str) -> Score:
    first, second = await inquiry.ask_two(prompts, texts, spare=variant == "ragas")
    value = (first.rating + second.rating) / (2 * HIGHEST)
    explanation = [
        sentence("Ratings {first} and {second} of {highest}; ({first} + {second}) / {whole} = {value}.", value=value,
                 first=first.rating, second=second.rating, highest=HIGHEST, whole=2 * HIGHEST),
        sentence("The judge says: {reason}", reason=first.reason),
    ]  # fmt: skip
    return inquiry.score(value, explanation, ratings=[first.rating, second.rating], said=[first.reason, second.reason])


def _single(inquiry: Inquiry, replies: Sequence[Rating], explanation: Sequence[Mapping[str, Any]]) -> Score:
    said = [*explanation, sentence("The judge says: {reason}", reason=replies[-1].reason)]
    kept = {"ratings": [reply.rating for reply in replies], "said": [reply.reason for reply in replies]}
    return inquiry.score(replies[-1].rating / HIGHEST, said, **kept)


def _rating_of(reply: Rating) -> dict[str, Any]:
    return sentence("Rating {rating} of {highest}; {rating} / {highest} = {value}.", rating=reply.rating,
                    highest=HIGHEST, value=reply.rating / HIGHEST)  # fmt: skip


async def _by_context(inquiry: Inquiry, prompts: Sequence[Prompt[Rating]]) -> Score:
    """The mean over the contexts of the mean of their ratings."""
    question = inquiry.sample.user_input or ""
    asked = [{"question": question, "contexts": [text]} for text in inquiry.contexts if text.strip()]
    replies = await gather([inquiry.ask(prompt, texts) for texts in asked for prompt in prompts])
    ratings = [reply.rating for reply in replies]
    whole = len(inquiry.contexts) * len(prompts) * HIGHEST
    value = sum(ratings) / whole
    counts = {"whole": len(inquiry.contexts), "highest": HIGHEST, "part": sum(ratings), "most": whole, "value": value}
    by_one = sentence(
        "Ratings of {whole} contexts, each by itself, 0 to {highest}: {ratings}; {part} / {most} = {value}.",
        ratings=", ".join(map(str, ratings)), **counts,
    )  # fmt: skip
    return inquiry.score(value, [by_one], ratings=ratings, said=[reply.reason for reply in replies])
