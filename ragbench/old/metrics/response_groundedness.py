"""Is the answer grounded in what was retrieved? One rating of the whole answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.old.core.types.reason import Reason, kept
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.strings import plain

FIELDS = ("response", "contexts")
HIGHEST = 2  # NVIDIA's judges rate 0, 1 or 2, as ragas has them


class Groundedness(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one or two short sentences: what is grounded, what is not")
    rating: int = Field(ge=0, le=HIGHEST, description="0, 1 or 2")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Groundedness:
    parts = sentences(texts["response"])
    supported = sum(reader.supported(part, texts["contexts"]) for part in parts)
    rating = 2 if parts and supported == len(parts) else 1 if supported else 0
    why = Reason("sentences that share their words: {part} of {whole}", part=supported, whole=len(parts))
    return Groundedness(reason=kept(why), rating=rating)


GROUNDEDNESS = Prompt(
    name="response_groundedness",
    version=1,
    shape=Groundedness,
    offline=_by_words,
    temperature=0.1,
    texts={
        "en": """Rate how far the response is grounded in the contexts, that is, can be found in them or follows from
them.

Contexts:
{contexts}

Response:
{response}

- 0: not grounded. Essential information of the response is not in the contexts, or is contrary to them.
- 1: partly grounded. Some of it is supported by the contexts, some is not.
- 2: fully grounded. The contexts support all of it.

Go by the contexts alone, not by what you know, and not by whether the response is good. Give the reason first, then the
rating.""",
        "ru": """Оцените, насколько ответ обоснован контекстами, то есть содержится в них или следует из них.

Контексты:
{contexts}

Ответ:
{response}

- 0: не обоснован. Существенных сведений ответа в контекстах нет, или они им противоречат.
- 1: частично обоснован. Одно подтверждается контекстами, другое нет.
- 2: полностью обоснован. Контексты подтверждают весь ответ.

Исходите только из контекстов, а не из того, что знаете сами, и не из того, хорош ли ответ. Сначала причина (по-русски),
затем оценка.""",
    },
)
TURNED = Prompt(
    name="response_groundedness_turned",
    version=1,
    shape=Groundedness,
    offline=_by_words,
    temperature=0.1,
    texts={
        "en": """Someone claims what stands below under "response", and these passages are all the evidence there is.
Say how much of the claim the evidence carries.

Response:
{response}

Passages:
{contexts}

- 2: the passages carry all of it.
- 1: they carry a part; for the rest there is no evidence.
- 0: they carry none of it, or speak against it.

Nothing but the passages is evidence, not even what everybody knows. Give the reason first, then the rating.""",
        "ru": """Кто-то утверждает то, что приведено ниже как ответ, а все доказательства — эти отрывки. Скажите, какую
часть сказанного они доказывают.

Ответ:
{response}

Отрывки:
{contexts}

- 2: отрывки доказывают всё сказанное.
- 1: доказывают часть; для остального доказательств нет.
- 0: не доказывают ничего или говорят против.

Доказательство — только отрывки, а не то, что и так всем известно. Сначала причина (по-русски), затем оценка.""",
    },
)
"""The second rater of variant=ragas."""


@metric(
    former=("nv_response_groundedness",),
    source="the specification, Response Groundedness; after NVIDIA's RAG evaluation, as in RAGAS",
    fields=FIELDS,
    prompts=(GROUNDEDNESS,),
    formula="rating of 0, 1 or 2 / 2",
    edges=("An empty answer is unmeasured. An answer that stands in a context gets 1 without a call, and is marked."),
    differs=(
        "The rating is divided by 2, so that it lies from 0 to 1; it is kept as it was given, too. Software that reads "
        "a number out of any reply invents ratings; here only the field of the reply counts. Elsewhere two templates "
        "are asked, and an empty answer or empty contexts get 0: variant=ragas."
    ),
    reading=Reading(
        (),
        "the specification, Response Groundedness",
        bands=(
            Stretch(0.0, 0.5, "poor", "there are claims without support"),
            Stretch(0.5, 0.7, "middling", "grounded in part"),
            Stretch(0.7, 0.9, "good", "grounded for the most part"),
            Stretch(0.9, 1.0, "excellent", "fully grounded", ends="[]"),
        ),
        under=(
            "shortcuts",
            "variant",
        ),
    ),
    when=(
        "The quality of the answers of RAG systems.",
        "Testing for hallucinations.",
        "Whether an answer holds to its source.",
        "Questions on documents: is the answer in them?",
        (
            "In place of faithfulness where one rating of the whole answer is enough: at most one "
            "question to the judge, not two, and no claim by claim."
        ),
    ),
    purposes=(Purpose("hallucinations", "rates the whole answer with one question at most"),),
    peers=(RAGAS,),
)
@measured
async def response_groundedness(
    sample: Sample, judge: Judge, *, shortcuts: bool = True, variant: Variant = "specification"
) -> Score:
    """How far the contexts support the answer as a whole: a judge's rating 0, 1 or 2, divided by 2.

    0.0, 0.5 or 1.0; `detail["rating"]` keeps the rating as given, None where nobody was asked.
    shortcuts: 1.0 without a question if the response equals a context or stands in one, compared after NFKC and
        casefold with white space folded; `detail["shortcut"]` then says "equal" or "contained", otherwise None.
    variant: "ragas" asks two templates and takes the mean, or the first where the second fails; gives 0 without a
        question to an empty response or empty contexts; and looks for the response, letter by letter, in all contexts
        joined.
    One question, at temperature 0.1.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, blank=variant == "ragas")
    if variant == "ragas":
        return await _by_ragas(inquiry, shortcuts)
    assert sample.response is not None
    shortcut = _shortcut(inquiry) if shortcuts else None
    if shortcut is not None:
        way, chunk = shortcut
        equal = sentence("The response equals the chunk {chunk}: {value}, no judge was asked.", chunk=chunk, value=1.0)
        inside = sentence(
            "The response stands in the chunk {chunk}: {value}, no judge was asked.", chunk=chunk, value=1.0
        )
        return inquiry.score(1.0, [equal if way == "equal" else inside], rating=None, shortcut=way, chunk=chunk)
    reply = await inquiry.ask(GROUNDEDNESS, {"response": sample.response, "contexts": inquiry.contexts})
    value = reply.rating / HIGHEST
    explanation = [
        sentence("Rating {rating} of {highest}; {rating} / {highest} = {value}.", rating=reply.rating, highest=HIGHEST,
                 value=value),
        sentence("The judge says: {reason}", reason=reply.reason),
    ]  # fmt: skip
    return inquiry.score(value, explanation, rating=reply.rating, shortcut=None, said=reply.reason)


async def _by_ragas(inquiry: Inquiry, shortcuts: bool) -> Score:
    response, together = (inquiry.sample.response or "").strip(), "\n".join(inquiry.contexts).strip()
    if not response or not together:
        return inquiry.score(0.0, [sentence("By the formula of ragas: {value}.", value=0.0)], rating=None)
    if shortcuts and response in together:
        there = sentence("The response stands in the contexts: {value}, no judge was asked.", value=1.0)
        way = "equal" if response == together else "contained"
        return inquiry.score(1.0, [there], rating=None, shortcut=way)
    texts = {"response": inquiry.sample.response or "", "contexts": inquiry.contexts}
    first, second = await inquiry.ask_two((GROUNDEDNESS, TURNED), texts, spare=True)
    whole = 2 * HIGHEST
    value = (first.rating + second.rating) / whole
    explanation = [
        sentence("Ratings {first} and {second} of {highest}; ({first} + {second}) / {whole} = {value}.", value=value,
                 first=first.rating, second=second.rating, highest=HIGHEST, whole=whole),
        sentence("The judge says: {reason}", reason=first.reason),
    ]  # fmt: skip
    kept = {"ratings": [first.rating, second.rating], "said": first.reason, "shortcut": None}
    return inquiry.score(value, explanation, rating=None, **kept)


def _shortcut(inquiry: Inquiry) -> tuple[str, str] | None:
    """("equal" or "contained", chunk id) of the first chunk that equals the response, else that holds it."""
    response = plain(inquiry.sample.response or "")
    texts = [(chunk.id, plain(chunk.text)) for chunk in inquiry.chunks]
    for way, holds in (("equal", response.__eq__), ("contained", lambda text: response in text)):
        for name, text in texts:
            if holds(text):
                return way, name
    return None
