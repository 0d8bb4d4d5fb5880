"""How far does the answer meet a criterion? A number on a scale, by the median of several askings."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import lru_cache
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import BaseModel, Field, create_model

from ragbench.core.metric import metric
from ragbench.core.types import Judge, Prompt, Sample, Score
from ragbench.core.waves import gather
from ragbench.metrics import references
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.metrics.references import shown_together

FIELDS = ("response",)
MOST_REPEATS = 99
CRITERIA: dict[str, dict[str, str]] = {
    "correctness": {
        "en": "How far is what the response says factually correct?",
        "ru": "Насколько верно фактически то, что говорит ответ?",
    },
    "completeness": {
        "en": "How completely does the response answer what was asked?",
        "ru": "Насколько полно ответ отвечает на вопрос?",
    },
    "clarity": {
        "en": "How easy is the response to understand for whoever asked?",
        "ru": "Насколько ответ понятен тому, кто спросил?",
    },
}
"""Criteria by name and language."""

TEXTS = {
    "en": """Rate the response of an assistant by one criterion.

Criterion:
{criterion}

Lowest rating, where the response does not meet the criterion at all:
{lowest}

Highest rating, where it meets the criterion fully:
{highest}

What the assistant was asked (may be empty):
{question}

Contexts that it was given (may be empty):
{contexts}

Reference answer (may be empty; where it is given, it is correct):
{reference}

Response:
{response}

Go by that one criterion only, whatever else may be good or bad about the response. Any number from the lowest to the
highest rating is allowed. Give the reason first, then the rating.""",
    "ru": """Оцените ответ ассистента по одному критерию.

Критерий:
{criterion}

Низшая оценка, если ответ совсем не отвечает критерию:
{lowest}

Высшая оценка, если ответ отвечает критерию полностью:
{highest}

О чём спросили ассистента (может быть пустым):
{question}

Данные ему контексты (могут быть пустыми):
{contexts}

Эталонный ответ (может быть пустым; если он дан, он верен):
{reference}

Ответ:
{response}

Исходите только из этого критерия, что бы ещё ни было хорошо или плохо в ответе. Допустимо любое число от низшей оценки
до высшей. Сначала причина (по-русски), затем оценка.""",
}


@lru_cache(maxsize=256)
def _prompt(lowest: float, highest: float) -> Prompt[Any]:
    """The prompt whose reply is a number of this scale."""
    rating = Annotated[float, Field(ge=lowest, le=highest, description=f"a number from {lowest:g} to {highest:g}")]
    shape: type[BaseModel] = create_model(
        "CriterionRating",
        reason=(str, Field(description="one to three short sentences")),
        rating=(rating, ...),
    )
    return Prompt(name="simple_criteria", version=1, shape=shape, texts=TEXTS)


LOWEST, HIGHEST = 0, 5


def _check(criterion: str = "correctness", lowest: float = LOWEST, highest: float = HIGHEST, **_others: object) -> None:
    if not criterion.strip():
        raise ValueError(f"simple_criteria: criterion is empty; name one of {', '.join(CRITERIA)}, or write a sentence")
    if not lowest < highest:
        raise ValueError(
            f"simple_criteria: lowest = {lowest:g}, highest = {highest:g}; the lowest is below the highest"
        )


@metric(
    former=("simple_criteria_score",),
    source="RAGAS' simple criteria score, and Spring AI RAGAS' one, which lays it on a scale from 0 to 1",
    better=None,
    fields=FIELDS,
    prompts=(_prompt(float(LOWEST), float(HIGHEST)),),
    refuse=_check,
    formula="(median rating − lowest) / (highest − lowest)",
    edges=(
        "A rating outside the scale is refused and asked for once more, then unmeasured; nothing is clamped or "
        "guessed. All repeats must be answered. The offline judge cannot answer it."
    ),
    differs=(
        "On a scale from 0 to 1 whatever the ratings' own, which is kept. Elsewhere a rating outside the scale is "
        "clamped, and one that is missing counts as the lowest. Whether much is good depends on the criterion, so no "
        "direction is claimed."
    ),
    when=("A rating by one criterion of your own, without levels to describe.",),
    peers=(RAGAS,),
)
@shown_together
@measured
async def simple_criteria(
    sample: Sample,
    judge: Judge,
    *,
    criterion: str = "correctness",
    lowest: float = LOWEST,
    highest: float = HIGHEST,
    repeats: Annotated[int, Ge(1), Le(MOST_REPEATS)] = 1,
    variant: Variant = "specification",
) -> Score:
    """How far the answer meets a criterion, by a judge's rating: from 0 for the lowest rating to 1 for the highest.

    (rating − lowest) / (highest − lowest); `detail["rating"]` is on the judge's scale, `detail["ratings"]` keeps each.
    criterion: correctness, completeness or clarity, or a sentence of your own. Whether a high rating is good depends on
        it.
    lowest, highest: the ends of the judge's scale; any number between them is a rating, negative ones too.
    repeats: how often it is asked, independently and at once; the median counts. All must be answered.
    variant: "ragas" takes the rating that came most often, of several such the first.
    No words tell this: the lexical judge cannot answer it.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    wordings = CRITERIA.get(criterion, {})
    texts = {
        "criterion": wordings.get(sample.language or "en", wordings.get("en", criterion)),
        "lowest": f"{lowest:g}",
        "highest": f"{highest:g}",
        "question": sample.user_input or "",
        "contexts": inquiry.contexts,
        "reference": references.told(sample),
        "response": sample.response or "",
    }
    prompt = _prompt(float(lowest), float(highest))
    replies: list[Any] = await gather([inquiry.ask(prompt, texts, repeat) for repeat in range(repeats)])
    ratings = [float(reply.rating) for reply in replies]
    rating = Counter(ratings).most_common(1)[0][0] if variant == "ragas" else statistics.median(ratings)
    value = (rating - lowest) / (highest - lowest)
    nearest = min(replies, key=lambda reply: abs(reply.rating - rating))
    explanation = [
        sentence(
            "Rating {rating} on a scale from {lowest} to {highest}; {part} / {whole} = {value}.",
            rating=rating,
            lowest=float(lowest),
            highest=float(highest),
            part=rating - lowest,
            whole=float(highest - lowest),
            value=value,
        ),
        sentence("The judge says: {reason}", reason=nearest.reason),
    ]
    if repeats > 1:
        given = [{"text": "{value}", "values": {"value": each}} for each in ratings]
        explanation.insert(1, sentence("Of the ratings {ratings}.", ratings=given))
    return inquiry.score(
        value,
        explanation,
        rating=rating,
        ratings=ratings,
        said=[reply.reason for reply in replies],
        lowest=float(lowest),
        highest=float(highest),
        criterion=criterion,
    )
