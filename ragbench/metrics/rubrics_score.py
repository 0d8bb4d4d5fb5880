"""Which level of a rubric does the answer reach?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema, create_model

from ragbench.core.metric import Reading, Stretch, metric
from ragbench.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.core.types.reason import Reason, kept, reason_of, rounded
from ragbench.metrics import references
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import RAGAS, Inquiry, is_blank, measured
from ragbench.metrics.references import shown_together

FIELDS = ("response", "rubric")
MOST_LEVELS = 100

TEXTS = {
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
def _prompt(levels: tuple[int, ...]) -> Prompt[Any]:
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

    return Prompt(name="rubrics_score", version=1, shape=shape, texts=TEXTS, offline=by_words)


def _refuse(rubric: Mapping[Any, str] | None = None) -> None:
    if rubric is not None:
        levels_of(rubric)


@metric(
    source="the specification, Rubrics Score; after Prometheus, Kim et al. 2023, arXiv:2310.08491",
    fields=FIELDS,
    prompts=(_prompt((1, 2, 3, 4, 5)),),
    refuse=_refuse,
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
    inquiry = Inquiry(sample, judge, *(FIELDS if rubric is None else FIELDS[:1]))
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
    reply: Any = await inquiry.ask(_prompt(levels), texts)
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
