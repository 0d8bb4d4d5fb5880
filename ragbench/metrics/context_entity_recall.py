"""Do the retrieved contexts name what the right answer names?"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from ragbench.core.metric import Purpose, metric
from ragbench.core.types import Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.core.waves import gather
from ragbench.metrics.explanation import sentence, share
from ragbench.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.metrics.references import best_of_references

FIELDS = ("reference", "contexts")
RAGAS_EPSILON = 1e-8


class Entities(BaseModel):
    """The entities of a text, once each; empty where it names none."""

    entities: list[str] = Field(description="each once, in its dictionary form; empty if there are none")


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Entities:
    return Entities(entities=[entity for text in texts["texts"] for entity in reader.entities(text)])


ENTITIES = Prompt(
    name="entities",
    version=1,
    shape=Entities,
    offline=_by_words,
    max_tokens=2000,
    texts={
        "en": """List the entities that these texts name.

{texts}

Entities are: people, places, organizations, dates and times, events, numbers and measurements, and names of works,
products, laws and documents.

- Take only what stands in the texts, once each; different forms of one name are one entity.
- Write each as a dictionary or a calendar would: the full name as the texts have it, without articles; numbers with
  their unit; a year alone as a year, a full date as day, month and year.
- Not entities: common nouns, adjectives, verbs. If there are none, return an empty list.

Example. "The Eiffel Tower in Paris was completed in 1889 for the World's Fair."
Entities: "Eiffel Tower" · "Paris" · "1889" · "World's Fair" """,
        "ru": """Перечислите сущности, названные в этих текстах.

{texts}

Сущности — это люди, места, организации, даты и время, события, числа и измерения, названия произведений, продуктов,
законов и документов.

- Берите только то, что есть в текстах, каждую сущность один раз; разные формы одного имени — одна сущность.
- Пишите их в начальной форме (именительный падеж): «в Париже» — «Париж», «Эйфелеву башню» — «Эйфелева башня»; полное
  имя так, как в текстах; числа с единицей измерения; год отдельно — как число без слова «год», полную дату — как день,
  месяц и год.
- Не сущности: обычные существительные, прилагательные, глаголы. Если сущностей нет, верните пустой список.

Пример. «Эйфелева башня в Париже была завершена в 1889 году для Всемирной выставки».
Сущности: «Эйфелева башня» · «Париж» · «1889» · «Всемирная выставка»""",
    },
)


@metric(
    source="the specification, metrics of retrieval, ContextEntityRecall",
    fields=FIELDS,
    prompts=(ENTITIES,),
    formula="|entities of the reference ∩ entities of the contexts| / |entities of the reference|",
    edges="A reference without entities is unmeasured.",
    differs=(
        "Names are compared without regard to letter case and ё or е, as sets; elsewhere letter by letter, with "
        "copies in the divisor."
    ),
    when=(
        "Guides and reference systems: are places and dates covered?",
        "Questions on history: are people, dates and events covered?",
        "A knowledge base: are the facts complete?",
        "News and extraction of information: are all names covered?",
    ),
    purposes=(Purpose("entities", "measures how many of the entities of the facts are covered"),),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def context_entity_recall(sample: Sample, judge: Judge, *, variant: Variant = "specification") -> Score:
    """Share of the entities of the reference that the retrieved contexts name as well.

    |reference ∩ contexts| / |reference|, sets of names, 0 to 1. Names are compared after NFKC, casefold, trimming, with
    ё as е. A reference without entities is unmeasured (empty_decomposition). `detail` keeps the names matched, missing
    and those of the contexts. Two questions to the judge, at once.
    variant: "ragas" compares names letter by letter, divides by the names as the judge listed them (copies included),
        and adds 1e-8 to the divisor: 0 where the reference names none. It asks about empty texts too.
    """
    inquiry = Inquiry(sample, judge, *FIELDS, blank=variant == "ragas")
    assert sample.reference is not None
    listed, in_contexts = await gather([_entities(inquiry, [sample.reference]), _entities(inquiry, inquiry.contexts)])
    wanted, there = _by_name(listed), _by_name(in_contexts)
    if not wanted and variant != "ragas":
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the reference names no entity"))
    matched = [name for folded, name in wanted.items() if folded in there]
    missing = [name for folded, name in wanted.items() if folded not in there]
    if variant == "ragas":
        value = len(set(listed) & set(in_contexts)) / (len(listed) + RAGAS_EPSILON)
        explanation = [sentence("By the formula of ragas: {value}.", value=value)]
    else:
        counted = share(len(matched), len(wanted))
        value = counted["value"]
        explanation = [
            sentence(
                "Entities of the reference that the contexts name: {part} of {whole}; {part} / {whole} = {value}.",
                **counted,
            )
        ]
    if missing:
        explanation.append(sentence("Missing: {entities}.", entities=missing))
    return inquiry.score(value, explanation, matched=matched, missing=missing, contexts=list(there.values()))


def folded(name: str) -> str:
    """A name as it is compared: NFKC, casefold, trimmed, white space folded, ё as е."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().replace("ё", "е").split())


async def _entities(inquiry: Inquiry, texts: Sequence[str]) -> list[str]:
    return (await inquiry.ask(ENTITIES, {"texts": texts})).entities


def _by_name(names: Iterable[str]) -> dict[str, str]:
    spellings: dict[str, str] = {}
    for name in names:
        if folded(name):
            spellings.setdefault(folded(name), name.strip())
    return spellings
