"""Which names, places, dates and numbers of the right answer were retrieved?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, Field

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.judging import Judge, Prompt, ask_all, check_inputs
from ragbench.metrics.texts import fold, squeeze


class Entities(BaseModel):
    """Reply: the entities that texts name; empty where they name none."""

    entities: list[str] = Field(
        description="each once, in its dictionary form; empty if there are none"
    )


ENTITIES = Prompt(
    "entities",
    Entities,
    max_tokens=2000,
    en="""\
List the entities that these texts name.

{texts}

Entities are: people, places, organizations, dates and times, events, numbers and measurements, \
and names of works, products, laws and documents.

- Take only what stands in the texts, once each; different forms of one name are one entity.
- Write each as a dictionary or a calendar would: the full name as the texts have it, without \
articles; numbers with their unit; a year alone as a year, a full date as day, month and year.
- Not entities: common nouns, adjectives, verbs. If there are none, return an empty list.

Example. "The Eiffel Tower in Paris was completed in 1889 for the World's Fair."
Entities: "Eiffel Tower" · "Paris" · "1889" · "World's Fair" """,
    ru="""\
Перечислите сущности, названные в этих текстах.

{texts}

Сущности — это люди, места, организации, даты и время, события, числа и измерения, названия \
произведений, продуктов, законов и документов.

- Берите только то, что есть в текстах, каждую сущность один раз; разные формы одного имени — одна \
сущность.
- Пишите их в начальной форме (именительный падеж): «в Париже» — «Париж», «Эйфелеву башню» — \
«Эйфелева башня»; полное имя так, как в текстах; числа с единицей измерения; год отдельно — как \
число без слова «год», полную дату — как день, месяц и год.
- Не сущности: обычные существительные, прилагательные, глаголы. Если сущностей нет, верните \
пустой список.

Пример. «Эйфелева башня в Париже была завершена в 1889 году для Всемирной выставки».
Сущности: «Эйфелева башня» · «Париж» · «1889» · «Всемирная выставка»""",
)


@metric(source="RAGAS, context entity recall")
async def context_entity_recall(judge: Judge, reference: str, contexts: Sequence[str]) -> Score:
    """Share of the reference's entities that the retrieved contexts name as well.

    |reference ∩ contexts| / |reference|, sets of names, 0 to 1. Names are compared after NFKC,
    casefold, trimming, and with ё as е. A reference without entities is unmeasured
    (empty_decomposition). Two questions to the judge, at once.

    Use it for guides and reference systems (places, dates), questions on history (people,
    events), knowledge bases and news.
    """
    check_inputs(judge, contexts=contexts, reference=reference)
    in_reference, in_contexts = await ask_all(
        judge.ask(ENTITIES, texts=[reference]), judge.ask(ENTITIES, texts=list(contexts))
    )
    expected = fold_names(in_reference.entities)
    retrieved = fold_names(in_contexts.entities)
    if not expected:
        raise Unmeasured("empty_decomposition", "the reference names no entity")
    matched = [name for folded, name in expected.items() if folded in retrieved]
    missing = [name for folded, name in expected.items() if folded not in retrieved]
    verdicts = [Verdict(name, "retrieved") for name in matched]
    verdicts += [Verdict(name, "missing") for name in missing]
    return Score(
        len(matched) / len(expected),
        message=mark(
            "The contexts name {part} of {whole} entities of the reference: "
            "{part} / {whole} = {value}"
        ),
        facts={
            "part": len(matched),
            "whole": len(expected),
            "matched": matched,
            "missing": missing,
        },
        verdicts=verdicts,
    )


def fold_names(names: Iterable[str]) -> dict[str, str]:
    """Return the names by the form in which they are compared, each once."""
    folded: dict[str, str] = {}
    for name in names:
        key = squeeze(fold(name))
        if key:
            folded.setdefault(key, name.strip())
    return folded
