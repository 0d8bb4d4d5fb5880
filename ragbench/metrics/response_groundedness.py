"""Is the answer grounded in what was retrieved? One rating of the whole answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from ragbench.metric import Reading, metric
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import Inquiry, measured
from ragbench.metrics.sentences import sentences
from ragbench.metrics.strings import plain
from ragbench.types import Judge, LexicalReader, Prompt, Sample, Score

FIELDS = ("response", "contexts")
HIGHEST = 2


class Groundedness(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one or two short sentences: what is grounded, what is not")
    rating: int = Field(ge=0, le=HIGHEST, description="0, 1 or 2")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Groundedness:
    parts = sentences(texts["response"])
    supported = sum(reader.supported(part, texts["contexts"]) for part in parts)
    rating = 2 if parts and supported == len(parts) else 1 if supported else 0
    return Groundedness(reason=f"sentences that share their words: {supported} of {len(parts)}", rating=rating)


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


@metric(
    source="the specification, Response Groundedness; after NVIDIA's RAG evaluation, as in RAGAS",
    fields=FIELDS,
    prompts=(GROUNDEDNESS,),
    formula="rating of 0, 1 or 2 / 2",
    edges=("An empty answer is unmeasured. An answer that stands in a context gets 1 without a call, and is marked."),
    differs=(
        "The rating is divided by 2, so that it lies from 0 to 1; it is kept as it was given, too. Software that reads "
        "a number out of any reply invents ratings; here only the field of the reply counts."
    ),
    reading=Reading(
        (
            "0.9 to 1: excellent, fully grounded.",
            "0.7 to 0.9: good, grounded for the most part.",
            "0.5 to 0.7: middling, grounded in part.",
            "Below 0.5: poor, there are claims without support.",
        ),
        "the specification, Response Groundedness",
    ),
)
@measured
async def response_groundedness(sample: Sample, judge: Judge, *, shortcuts: bool = True) -> Score:
    """How far the contexts support the answer as a whole: a judge's rating 0, 1 or 2, divided by 2.

    0.0, 0.5 or 1.0; `detail["rating"]` keeps the rating as given, None where nobody was asked.
    shortcuts: 1.0 without a question if the response equals a context or stands in one, compared after NFKC and
        casefold with white space folded; `detail["shortcut"]` then says "equal" or "contained", otherwise None.
    One question, at temperature 0.1.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    assert sample.response is not None
    found = _shortcut(inquiry) if shortcuts else None
    if found is not None:
        way, chunk = found
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


def _shortcut(inquiry: Inquiry) -> tuple[str, str] | None:
    """("equal" or "contained", chunk id) of the first chunk that equals the response, else that holds it."""
    response = plain(inquiry.sample.response or "")
    texts = [(chunk.id, plain(chunk.text)) for chunk in inquiry.chunks]
    for way, holds in (("equal", response.__eq__), ("contained", lambda text: response in text)):
        for name, text in texts:
            if holds(text):
                return way, name
    return None
