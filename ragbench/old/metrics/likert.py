"""One question, one rating: a judge's whole number from 1 to 5 for the answer as a whole, kept as it was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import Inquiry, measured
from ragbench.old.metrics.references import best_of_references

LOWEST, HIGHEST = 1, 5  # Likert 1932
SCALE = (float(LOWEST), float(HIGHEST))
FAITHFULNESS_FIELDS = ("user_input", "response", "contexts")
RELEVANCE_FIELDS = ("user_input", "response")
Scale = Literal["1-5", "0-1"]
"""Of a rating: as it was given, or as the specification's text has it, (rating − 1) / 4."""
REFERENCE_FIELDS = ("user_input", "response", "reference")


class Likert(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one or two short sentences")
    rating: int = Field(ge=LOWEST, le=HIGHEST, description="a whole number from 1 to 5")


def _rated(share: float, why: Reason) -> Likert:
    """A share of 0 to 1 on the scale."""
    return Likert(reason=kept(why), rating=round(LOWEST + share * (HIGHEST - LOWEST)))


def _carried(reader: LexicalReader, text: str, texts: list[str]) -> float:
    parts = sentences(text)
    return sum(reader.support(part, texts) for part in parts) / len(parts) if parts else 0.0


def _by_contexts(reader: LexicalReader, texts: Mapping[str, Any]) -> Likert:
    share = _carried(reader, texts["response"], list(texts["contexts"]))
    return _rated(share, Reason("words and letters that contexts share: {share}", share=rounded(share, 2)))


def _by_question(reader: LexicalReader, texts: Mapping[str, Any]) -> Likert:
    share = reader.support(texts["question"], [texts["response"]])
    return _rated(share, Reason("words and letters of the question: {share}", share=rounded(share, 2)))


def _by_reference(reader: LexicalReader, texts: Mapping[str, Any]) -> Likert:
    """The harmonic mean of what the answer shares with the reference, and the reference with the answer."""
    there = _carried(reader, texts["response"], [texts["reference"]])
    back = _carried(reader, texts["reference"], [texts["response"]])
    share = 2 * there * back / (there + back) if there + back else 0.0
    return _rated(share, Reason("words and letters that both share: {share}", share=rounded(share, 2)))


def _prompt(name: str, english: str, russian: str, offline: Callable[..., Likert]) -> Prompt[Likert]:
    return Prompt(name, 1, Likert, {"en": english, "ru": russian}, offline=offline)


FAITHFULNESS = _prompt(
    "faithfulness_rating",
    """Rate how faithful the response is to the contexts, that is, whether all that it states can be found in them
or follows from them.

Contexts:
{contexts}

Question:
{question}

Response:
{response}

- 5: all of it is supported by the contexts; nothing is made up. Saying that the contexts do not answer is faithful.
- 4: supported but for a detail that changes nothing.
- 3: about half of it is supported.
- 2: little of it is supported.
- 1: it is made up, or contradicts the contexts.

Go by the contexts alone, not by what you know. Give the reason first, then the rating.""",
    """Оцените, насколько ответ верен контекстам, то есть содержится ли всё, что в нём утверждается, в контекстах или
следует из них.

Контексты:
{contexts}

Вопрос:
{question}

Ответ:
{response}

- 5: всё подтверждается контекстами, ничего не выдумано. Слова о том, что в контекстах нет ответа, им верны.
- 4: подтверждается всё, кроме мелочи, которая ничего не меняет.
- 3: подтверждается примерно половина.
- 2: подтверждается мало что.
- 1: ответ выдуман или противоречит контекстам.

Исходите только из контекстов, а не из того, что знаете сами. Сначала причина (по-русски), затем оценка.""",
    _by_contexts,
)
RELEVANCE = _prompt(
    "answer_relevance",
    """Rate how far the response answers the question that was asked. Whether it is true does not matter here.

Question:
{question}

Response:
{response}

- 5: it answers exactly this question, and all of it.
- 4: it answers the question with little missing or little beside the point.
- 3: it answers a part, or answers among much else.
- 2: it is near the topic and hardly answers.
- 1: it answers another question or none.

Give the reason first, then the rating.""",
    """Оцените, насколько ответ отвечает на заданный вопрос. Верен ли он, здесь не важно.

Вопрос:
{question}

Ответ:
{response}

- 5: отвечает именно на этот вопрос и полностью.
- 4: отвечает на вопрос; немного упущено или немного лишнего.
- 3: отвечает отчасти или среди многого другого.
- 2: близок к теме, но почти не отвечает.
- 1: отвечает на другой вопрос или ни на какой.

Сначала причина (по-русски), затем оценка.""",
    _by_question,
)
CORRECTNESS = _prompt(
    "answer_correctness_rating",
    """Rate how correct the response is, measured by the reference answer, which is right.

Question:
{question}

Reference answer:
{reference}

Response:
{response}

- 5: it says the same as the reference; words, units and forms of names may differ.
- 4: correct, with a detail missing or added.
- 3: about half is correct.
- 2: mostly wrong or mostly missing.
- 1: wrong, contrary to the reference, or no answer where the reference has one.

Give the reason first, then the rating.""",
    """Оцените, насколько ответ верен; мерой служит эталонный ответ, который правилен.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{response}

- 5: говорит то же, что эталон; слова, единицы и формы имён могут отличаться.
- 4: верен, но упущена или добавлена мелочь.
- 3: верно примерно наполовину.
- 2: большей частью неверен или большей части нет.
- 1: неверен, противоречит эталону или не даёт ответа там, где в эталоне он есть.

Сначала причина (по-русски), затем оценка.""",
    _by_reference,
)
END_TO_END = _prompt(
    "e2e_score",
    """A person asked a question and got the response. Rate how useful it is to that person compared with the reference
answer, which would have served them well.

Question:
{question}

Reference answer:
{reference}

Response:
{response}

- 5: as useful as the reference. Where the reference says that there is no answer, saying so is as useful.
- 4: nearly as useful; the person gets what they need.
- 3: of some use; the person gets a part and has to ask again.
- 2: of little use.
- 1: useless or misleading: wrong, empty, or about something else.

Give the reason first, then the rating.""",
    """Человек задал вопрос и получил ответ. Оцените, насколько ответ ему полезен по сравнению с эталонным, который
помог бы ему вполне.

Вопрос:
{question}

Эталонный ответ:
{reference}

Ответ:
{response}

- 5: полезен так же, как эталон. Если эталон говорит, что ответа нет, сказать это так же полезно.
- 4: почти так же полезен: человек получает то, что нужно.
- 3: отчасти полезен: человек получает часть и спросит снова.
- 2: мало полезен.
- 1: бесполезен или вводит в заблуждение: неверен, пуст или о другом.

Сначала причина (по-русски), затем оценка.""",
    _by_reference,
)
_SOURCE = "the specification, sections 5.3 and 6.3"


_RATING_EDGE = (
    "A rating outside the scale is refused and asked for once more, then unmeasured; nothing is clamped or guessed."
)
_SILENT = " An empty answer gets 1, the lowest rating, without a question."
_RATING_DIFF = (
    "Kept on its own scale; (rating − 1) / 4 puts it on a scale from 0 to 1. Software that reads a number out of "
    "any reply invents ratings; here only the field of the reply counts."
)


def _ends(scale: Scale = "1-5") -> tuple[float, float]:
    return SCALE if scale == "1-5" else (0.0, 1.0)


_rating = partial(
    metric, source=_SOURCE, bounds=SCALE, formula="rating from 1 to 5; with scale=0-1 (rating − 1) / 4",
    edges=_RATING_EDGE, differs=_RATING_DIFF, scaled=_ends,
)  # fmt: skip


@_rating(
    prompts=(FAITHFULNESS,),
    fields=FAITHFULNESS_FIELDS,
    published="avg_faithfulness",
    reading=Reading(
        ("5: every answer is fully supported.",),
        "the specification, section 5.5.1, whose scale from 0 to 1 is (rating − 1) / 4",
        bands=(
            Stretch(1.0, 3.0, "serious doubts", "about what is stated"),
            Stretch(4.2, 5.0, "high quality", "hardly any hallucination", ends="(]"),
        ),
        trust=(
            "Medium to high: ratings by language models agree well with people's (Zheng et al. 2023), but "
            "a model may have a bias of its own."
        ),
    ),
    when=("A first look at whether answers keep to their contexts: one question to the judge, one number.",),
    purposes=(Purpose("generation", "whether answers keep to their contexts"),),
)
@measured
async def faithfulness_rating(sample: Sample, judge: Judge, *, scale: Scale = "1-5") -> Score:
    """A judge's rating from 1 to 5 of how far the contexts support the answer as a whole.

    The rating as given; scale="0-1": (rating − 1) / 4. Unlike `faithfulness`, which checks claims one
    by one, it is one question and one number.
    """
    inquiry = Inquiry(sample, judge, *FAITHFULNESS_FIELDS)
    return await _rate(inquiry, FAITHFULNESS, scale, response=sample.response, contexts=inquiry.contexts)


@_rating(
    prompts=(RELEVANCE,),
    fields=RELEVANCE_FIELDS,
    published="avg_answer_relevance",
    reading=Reading(
        ("5: every answer fits its question exactly.",),
        "the specification, section 5.5.2, whose scale from 0 to 1 is (rating − 1) / 4",
        bands=(Stretch(4.2, 5.0, "high quality", "questions are understood well", ends="(]"),),
        trust=(
            "Medium to high: ratings by language models agree well with people's (Zheng et al. 2023), but "
            "a model may have a bias of its own."
        ),
    ),
    when=("Whether answers keep to their questions, with one question to the judge.",),
    purposes=(Purpose("generation", "whether answers keep to their questions"),),
)
@measured
async def answer_relevance(sample: Sample, judge: Judge, *, scale: Scale = "1-5") -> Score:
    """A judge's rating from 1 to 5 of how far the answer answers the question that was asked.

    The rating as given; scale="0-1": (rating − 1) / 4. Unlike `response_relevancy`, no question is made from the
    answer.
    """
    return await _rate(Inquiry(sample, judge, *RELEVANCE_FIELDS), RELEVANCE, scale, response=sample.response)


@_rating(
    prompts=(CORRECTNESS,),
    fields=REFERENCE_FIELDS,
    published="avg_answer_correctness",
    edges=_RATING_EDGE + _SILENT,
    when=("Whether answers are right, where there is a reference, with one question to the judge.",),
)
@best_of_references
@measured
async def answer_correctness_rating(sample: Sample, judge: Judge, *, scale: Scale = "1-5") -> Score:
    """A judge's rating from 1 to 5 of how far the answer is right, measured by the reference.

    The rating as given; scale="0-1": (rating − 1) / 4. Unlike `answer_correctness`, which is made from claims and
    embeddings, it is one question.
    """
    inquiry = Inquiry(sample, judge, *REFERENCE_FIELDS, empty=_ends(scale)[0])
    return await _rate(inquiry, CORRECTNESS, scale, response=sample.response, reference=sample.reference)


@_rating(
    prompts=(END_TO_END,),
    fields=REFERENCE_FIELDS,
    published="avg_e2e_score",
    edges=_RATING_EDGE + _SILENT,
    reading=Reading(
        ("Read like faithfulness_rating and answer_relevance, of a whole system.",),
        "the specification, section 6.4.1, whose scale from 0 to 1 is (rating − 1) / 4",
        bands=(
            Stretch(1.0, 3.0, "serious problem"),
            Stretch(4.2, 5.0, "high quality", ends="(]"),
        ),
    ),
    when=("Comparing whole systems by what their users get.",),
    purposes=(Purpose("end-to-end", "how useful the answer is, held against the reference"),),
)
@best_of_references
@measured
async def e2e_score(sample: Sample, judge: Judge, *, scale: Scale = "1-5") -> Score:
    """A judge's rating from 1 to 5 of how useful the answer is to who asked, compared with the reference answer.

    The rating as given; scale="0-1": (rating − 1) / 4. The contexts are not shown to the judge: only what the user
    sees counts.
    """
    inquiry = Inquiry(sample, judge, *REFERENCE_FIELDS, empty=_ends(scale)[0])
    return await _rate(inquiry, END_TO_END, scale, response=sample.response, reference=sample.reference)


async def _rate(inquiry: Inquiry, prompt: Prompt[Likert], scale: Scale, **texts: Any) -> Score:
    reply = await inquiry.ask(prompt, {"question": inquiry.sample.user_input or "", **texts})
    share = (reply.rating - LOWEST) / (HIGHEST - LOWEST)
    explanation = [
        sentence("Rating {rating} of {highest}; ({rating} − {lowest}) / {width} = {share} on a scale from 0 to 1.",
                 rating=reply.rating, highest=HIGHEST, lowest=LOWEST, width=HIGHEST - LOWEST, share=share),
        sentence("The judge says: {reason}", reason=reply.reason),
    ]  # fmt: skip
    value = float(reply.rating) if scale == "1-5" else share
    return inquiry.score(value, explanation, rating=reply.rating, said=reply.reason)
