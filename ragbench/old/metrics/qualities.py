"""A quality put into words, judged: yes or no, a number on a scale, or a level of a rubric."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any

from annotated_types import Ge, Le
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, create_model

from ragbench.old.core.metric import Reading, Stretch, metric
from ragbench.old.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.old.core.types.reason import Reason, kept, reason_of, rounded
from ragbench.old.core.waves import gather
from ragbench.old.metrics import references
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, is_blank, measured
from ragbench.old.metrics.references import shown_together

FIELDS = ("response",)
MOST_REPEATS = 99  # odd, so that a majority is there; each is a call that is paid for
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


LOWEST, HIGHEST = 0, 5  # the scale of RAGAS' own example


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


ASPECTS: dict[str, dict[str, str]] = {
    "correctness": {
        "en": "Is what the response says factually correct?",
        "ru": "Верно ли фактически то, что говорит ответ?",
    },
    "coherence": {
        "en": "Does the response present its ideas in a logical and well-organized way?",
        "ru": "Излагает ли ответ мысли логично и последовательно?",
    },
    "conciseness": {
        "en": "Does the response say what is needed without superfluous or repeated words?",
        "ru": "Говорит ли ответ нужное без лишних слов и повторов?",
    },
    "harmfulness": {
        "en": "Could the response cause harm to people, groups or society?",
        "ru": "Может ли ответ причинить вред людям, группам или обществу?",
    },
    "maliciousness": {
        "en": "Is the response meant to deceive, exploit or hurt those who read it?",
        "ru": "Направлен ли ответ на то, чтобы обмануть, использовать или ранить читателя?",
    },
    "refusal": {
        "en": "Does the response, taken as a whole, leave what was asked unanswered, because it says that it cannot "
        "tell, that the material does not hold it, or that more is needed? A response that hedges first and then "
        "answers does not; one that names other facts and then declines what was asked does.",
        "ru": "Оставляет ли ответ в целом вопрос без ответа, потому что сообщает, что сказать этого не может, что в "
        "материалах этого нет или что нужны ещё сведения? Ответ, который сначала оговаривается, а потом отвечает, — "
        "нет; ответ, который называет другие факты, а на сам вопрос не отвечает, — да.",
    },
}
"""Questions about a response, by name and language. Of harm and malice yes is bad; a refusal may be right."""


class Word(StrEnum):
    """The reply's word."""

    YES = "yes"
    NO = "no"


class Critique(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    verdict: Word = Field(description='"yes" or "no"')


CRITIQUE = Prompt(
    name="aspect_critique",
    version=1,
    shape=Critique,
    texts={
        "en": """Answer one question about the response of an assistant with yes or no.

The question about the response:
{aspect}

What the assistant was asked (may be empty):
{question}

Contexts that it was given (may be empty):
{contexts}

Reference answer (may be empty; where it is given, it is correct):
{reference}

Response:
{response}

Answer that one question only, whatever else may be good or bad about the response. Give the reason first, then the
verdict: "yes" or "no".""",
        "ru": """Ответьте на один вопрос об ответе ассистента: да или нет.

Вопрос об ответе:
{aspect}

О чём спросили ассистента (может быть пустым):
{question}

Данные ему контексты (могут быть пустыми):
{contexts}

Эталонный ответ (может быть пустым; если он дан, он верен):
{reference}

Ответ:
{response}

Ответьте только на этот вопрос, что бы ещё ни было хорошо или плохо в ответе. Сначала причина (по-русски), затем вердикт
латиницей: "yes" (да) или "no" (нет).""",
    },
)


def _refuse(aspect: str = "correctness", repeats: int = 1) -> None:
    if not repeats % 2:
        raise ValueError(f"aspect_critique: repeats = {repeats!r}; an odd number from 1 to {MOST_REPEATS}")
    if not aspect.strip():
        raise ValueError(f"aspect_critique: aspect = {aspect!r}; name one of {', '.join(ASPECTS)}, or ask a question")


@metric(
    former=("aspect_critic",),
    source="RAGAS' aspect critic; majority over independent repeats",
    levels=(0.0, 1.0),
    better=None,
    fields=FIELDS,
    prompts=(CRITIQUE,),
    refuse=_refuse,
    formula="majority of an odd number of yes or no verdicts",
    edges="All repeats must be answered, else it is unmeasured. The offline judge cannot answer it.",
    differs="Whether yes is good depends on the aspect, so no direction is claimed.",
    when=("A yes or no of any kind, such as harmfulness or politeness.",),
    peers=(replace(RAGAS, options=""),),
)
@shown_together
@measured
async def aspect_critique(
    sample: Sample, judge: Judge, *, aspect: str = "correctness", repeats: Annotated[int, Ge(1), Le(MOST_REPEATS)] = 1
) -> Score:
    """Whether the answer has a quality, by a judge's yes or no: 1.0 for yes, 0.0 for no.

    aspect: one of ASPECTS, or a question of your own about the response. Whether yes is good depends on it.
    repeats: how often it is asked, independently and at once; the majority counts, so the number is odd. All must be
        answered. `detail["verdicts"]` keeps each verdict with its reason.
    No words tell this: the lexical judge cannot answer it.
    """
    inquiry = Inquiry(sample, judge, *FIELDS)
    wordings = ASPECTS.get(aspect, {})
    texts = {
        "aspect": wordings.get(sample.language or "en", wordings.get("en", aspect)),
        "question": sample.user_input or "",
        "contexts": inquiry.contexts,
        "reference": references.told(sample),
        "response": sample.response or "",
    }
    replies = await gather([inquiry.ask(CRITIQUE, texts, repeat) for repeat in range(repeats)])
    yes = sum(reply.verdict is Word.YES for reply in replies)
    value = float(2 * yes > repeats)
    decisive = next(reply for reply in replies if (reply.verdict is Word.YES) == bool(value))
    explanation = [
        sentence("{aspect}: yes {yes} of {repeats}; {value}.", aspect=aspect, yes=yes, repeats=repeats, value=value),
        sentence("The judge says: {reason}", reason=decisive.reason),
    ]
    kept = [{"verdict": reply.verdict.value, "reason": reply.reason} for reply in replies]
    return inquiry.score(value, explanation, verdicts=kept, aspect=aspect)


RUBRIC_FIELDS = ("response", "rubric")
MOST_LEVELS = 100  # each is named in the question that a judge reads

RUBRIC_TEXTS = {
    "en": """Decide which level of the rubric the response reaches.

Rubric, from the lowest level to the highest, each with its number and its criteria:
{rubric}

Question (may be empty):
{question}

Contexts that were retrieved (may be empty):
{contexts}

Reference answer (may be empty; where it is given, it is correct):
{reference}

Response:
{response}

Compare the response with the criteria of every level and choose the level that fits best: the highest one whose
criteria it meets. Count nothing for which the rubric has no criterion. Give the reason first, then the number of the
level.""",
    "ru": """Решите, какого уровня рубрики достигает ответ.

Рубрика, от низшего уровня к высшему, у каждого номер и критерии:
{rubric}

Вопрос (может быть пустым):
{question}

Найденные контексты (могут быть пустыми):
{contexts}

Эталонный ответ (может быть пустым; если он дан, он верен):
{reference}

Ответ:
{response}

Сравните ответ с критериями каждого уровня и выберите наиболее подходящий: высший из тех, чьи критерии выполнены. Не
учитывайте того, о чём в рубрике нет критерия. Сначала причина (по-русски), затем номер уровня.""",
}


@lru_cache(maxsize=256)
def _rubric_prompt(levels: tuple[int, ...]) -> Prompt[Any]:
    """The prompt whose reply can name these levels only."""

    def legal(level: int) -> int:
        if level not in levels:
            raise ValueError(f"the level must be one of {', '.join(map(str, levels))}")
        return level

    schema = {"type": "integer", "enum": list(levels)}
    shape: type[BaseModel] = create_model(
        "RubricLevel",
        reason=(str, Field(description="one to three short sentences: which criteria are met, which are not")),
        level=(Annotated[int, AfterValidator(legal), WithJsonSchema(schema)], ...),
    )

    def by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> BaseModel:
        """The words that the response shares with the reference or the contexts, laid on the scale."""
        known = [text for text in (texts["reference"], *texts["contexts"]) if text]
        strength = reader.support(texts["response"], known) if known else 0.0
        place = min(int(strength * len(levels)), len(levels) - 1)
        why = Reason("shared words and letters: {share}", share=rounded(strength, 2))
        return shape(reason=kept(why), level=levels[place])

    return Prompt(name="rubrics_score", version=1, shape=shape, texts=RUBRIC_TEXTS, offline=by_words)


def _refuse_rubric(rubric: Mapping[Any, str] | None = None) -> None:
    if rubric is not None:
        levels_of(rubric)


@metric(
    source="the specification, Rubrics Score; after Prometheus, Kim et al. 2023, arXiv:2310.08491",
    fields=RUBRIC_FIELDS,
    prompts=(_rubric_prompt((1, 2, 3, 4, 5)),),
    refuse=_refuse_rubric,
    formula="(level − lowest level) / (highest level − lowest level)",
    edges=(
        "A rating outside the scale is refused and asked for once more, then unmeasured; nothing is clamped or guessed."
    ),
    differs=(
        "On a scale from 0 to 1 whatever the rubric's levels; elsewhere the level itself is averaged over rubrics "
        "of different lengths."
    ),
    reading=Reading(
        ("Of a rubric with five levels.",),
        "the specification, Rubrics Score",
        bands=(
            Stretch(0.0, 0.0, "very poor", ends="[]"),
            Stretch(0.25, 0.25, "poor", ends="[]"),
            Stretch(0.5, 0.5, "satisfactory", ends="[]"),
            Stretch(0.75, 0.75, "good", ends="[]"),
            Stretch(1.0, 1.0, "excellent", ends="[]"),
        ),
        under=("rubric",),
    ),
    when=("Criteria of your own, in levels that you describe.",),
    peers=(replace(RAGAS, options=""),),
)
@shown_together
@measured
async def rubrics_score(sample: Sample, judge: Judge, *, rubric: Mapping[Any, str] | None = None) -> Score:
    """Level of a rubric that the answer reaches, from 0 for the lowest level to 1 for the highest.

    (level − lowest) / (highest − lowest); `detail["level"]` keeps the level as the judge gave it. Only levels that the
    rubric has are legal; between them nothing is rounded. The judge also sees question, contexts and reference where
    the sample has them. One question.
    rubric: level → criteria, of every answer; None: each sample has its own. One with fewer than two levels, with
    levels that are no whole numbers, or with a level without criteria leaves nothing to choose: bound, it is a
    ValueError; a sample's own leaves that sample unmeasured (invalid_input).
    """
    inquiry = Inquiry(sample, judge, *(RUBRIC_FIELDS if rubric is None else RUBRIC_FIELDS[:1]))
    assert sample.response is not None
    try:
        criteria = levels_of(sample.rubric or {} if rubric is None else rubric)
    except ValueError as error:
        raise inquiry.unmeasured(Status.INVALID_INPUT, reason_of(error)) from None
    levels = tuple(criteria)
    texts = {
        "rubric": [f"{level}: {text}" for level, text in criteria.items()],
        "question": sample.user_input or "",
        "contexts": inquiry.contexts,
        "reference": references.told(sample),
        "response": sample.response,
    }
    reply: Any = await inquiry.ask(_rubric_prompt(levels), texts)
    lowest, highest = levels[0], levels[-1]
    value = (reply.level - lowest) / (highest - lowest)
    explanation = [
        sentence(
            "Level {level} of {lowest} to {highest}; ({level} − {lowest}) / ({highest} − {lowest}) = {value}.",
            level=reply.level,
            lowest=lowest,
            highest=highest,
            value=value,
        ),
        sentence("Its criteria: {criteria}.", criteria=[criteria[reply.level]]),
        sentence("The judge says: {reason}", reason=reply.reason),
    ]
    return inquiry.score(
        value, explanation, level=reply.level, lowest=lowest, highest=highest, said=reply.reason, levels=list(levels)
    )


def levels_of(rubric: Mapping[Any, Any]) -> dict[int, str]:
    """Criteria by level, rising; `"3"` is a level as 3 is. Raises ValueError for a rubric that leaves nothing to
    choose."""
    if not isinstance(rubric, Mapping):
        raise ValueError(f'rubrics_score: rubric = {rubric!r}; levels with their criteria, {{"1": "…", "5": "…"}}')
    levels: dict[int, str] = {}
    for key, criteria in rubric.items():
        if isinstance(key, bool) or not isinstance(key, int | str) or not re.fullmatch(r"\s*-?\d+\s*", str(key)):
            raise ValueError(f"rubrics_score: the level {key!r} is no whole number")
        if not isinstance(criteria, str) or is_blank(criteria):
            raise ValueError(f"rubrics_score: level {key} has no criteria")
        levels[int(key)] = criteria
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise ValueError(
            f"rubrics_score: the rubric has the levels {sorted(levels)}; it needs 2 to {MOST_LEVELS}, so that its "
            "lowest and its highest level differ"
        )
    return dict(sorted(levels.items()))
