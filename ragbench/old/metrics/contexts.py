"""Was what the right answer needs retrieved, and does it stand first? Judged, or by the labelled contexts alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from annotated_types import Gt, Le
from pydantic import BaseModel, Field
from rapidfuzz.distance import Levenshtein

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.segmentation import sentences
from ragbench.old.core.types import Chunk, Judge, LexicalReader, Prompt, Sample, Score, Status
from ragbench.old.core.types.reason import Reason, kept, rounded
from ragbench.old.core.waves import gather
from ragbench.old.metrics.claims import ENTAILMENT, share_supported
from ragbench.old.metrics.explanation import sentence, share
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.references import best_of_references
from ragbench.old.metrics.strings import plain

FIELDS = ("user_input", "contexts")
Strategy = Literal["auto", "reference", "response"]
RAGAS_EPSILON = 1e-10  # as ragas divides: the variant has its value to the last digit


class Use(StrEnum):
    """Whether a passage helped."""

    USEFUL = "useful"
    USELESS = "useless"


class Usefulness(BaseModel):
    """The reply's shape."""

    reason: str = Field(description="one short sentence")
    verdict: Use = Field(description='"useful" or "useless"')


def _by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Usefulness:
    context, answer = texts["context"], texts["answer"]
    carried = any(reader.supported(part, [context]) for part in sentences(answer))
    useful = carried or any(reader.supported(part, [answer]) for part in sentences(context))
    reason = kept(Reason("shared words and letters: {share}", share=rounded(reader.support(answer, [context]), 2)))
    return Usefulness(reason=reason, verdict=Use.USEFUL if useful else Use.USELESS)


USEFULNESS = Prompt(
    name="context_precision",
    version=1,
    shape=Usefulness,
    offline=_by_words,
    texts={
        "en": """A search returned the passage below for the question. Decide whether it was useful in arriving at the
given answer.

Question:
{question}

Answer:
{answer}

Passage:
{context}

- "useful": at least one fact that the answer needs stands in the passage, or follows from it.
- "useless": the passage has nothing that the answer needs, even if its topic is the same.

Judge the passage by the answer as it is given, not by what you know. Give the reason first, then the verdict.""",
        "ru": """По вопросу поиск нашёл приведённый ниже отрывок. Решите, был ли он полезен для того, чтобы получить
данный ответ.

Вопрос:
{question}

Ответ:
{answer}

Отрывок:
{context}

- "useful" (полезен): в отрывке есть или из него следует хотя бы один факт, который нужен ответу.
- "useless" (бесполезен): в отрывке нет ничего нужного ответу, даже если тема та же.

Оценивайте отрывок по ответу в том виде, в каком он дан, а не по тому, что знаете сами. Сначала причина (по-русски),
затем вердикт (латиницей, как указано выше).""",
    },
)


@metric(
    former=("llm_context_precision_with_reference",),
    source="the specification, metrics of retrieval, ContextPrecision; average precision after Buckley & Voorhees 2000",
    fields=FIELDS,
    prompts=(USEFULNESS,),
    formula="(1 / useful passages) Σ (useful passages up to rank k) / k, over the ranks k of useful passages",
    edges="None useful: 0. No contexts, or a passage without a verdict: unmeasured.",
    differs=(
        "Elsewhere an epsilon in the divisor gives 0.9999999999 for a perfect ranking, and failures are averaged "
        "away; here 2 of 2 is 1, and a failure is unmeasured."
    ),
    when=(
        "Optimising retrieval: how good is the order?",
        "Relevance of search: do the right passages come first?",
        "Tuning a RAG system: which parameters of retrieval are best?",
        "Comparing strategies of retrieval.",
    ),
    purposes=(Purpose("ranking", "judges the order in which contexts stand"),),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def context_precision(
    sample: Sample,
    judge: Judge,
    *,
    strategy: Strategy = "auto",
    variant: Variant = "specification",
) -> Score:
    """Average precision of the ranking, where the judge says of each passage whether it is useful to the answer.

    The mean, over the ranks k of useful passages, of (useful passages up to k) / k: 0 to 1, 0.0 if none is useful. It
    is divided by the useful passages that were retrieved; those that were missed are the recall's matter.
    strategy: useful for the reference answer or for the response; "auto" takes the reference where there is one.
        `detail["strategy"]` says which it was.
    variant: "ragas" adds its 1e-10 to the divisor, so that no contexts at all are worth 0, and asks about empty texts
        too.
    One question for each chunk, all at once; one that stays without a verdict leaves the sample unmeasured. A chunk
    without text is useless, and nobody is asked.
    """
    chosen = _strategy(sample, strategy)
    inquiry = Inquiry(sample, judge, *FIELDS, chosen, blank=variant == "ragas")
    answer = getattr(sample, chosen)
    verdicts = await gather([_judged(inquiry, answer, text, variant) for text in inquiry.contexts])
    flags = [verdict.verdict is Use.USEFUL for verdict in verdicts]
    value = average_precision(flags)
    if variant == "ragas":
        value *= sum(flags) / (sum(flags) + RAGAS_EPSILON)
    kept = [
        {"chunk": chunk.id, "rank": rank, "verdict": verdict.verdict.value, "reason": verdict.reason}
        for rank, (chunk, verdict) in enumerate(zip(inquiry.chunks, verdicts, strict=True), 1)
    ]
    return inquiry.score(value, _explanation(flags, value), chunks=kept, strategy=chosen)


def average_precision(useful: Sequence[bool]) -> float:
    """The mean of the precisions at the ranks of useful items; 0.0 if there are none."""
    precisions = [sum(useful[:rank]) / rank for rank, flag in enumerate(useful, 1) if flag]
    return sum(precisions) / len(precisions) if precisions else 0.0


async def _judged(inquiry: Inquiry, answer: str, context: str, variant: str) -> Usefulness:
    if not context.strip() and variant != "ragas":
        return Usefulness(reason=kept(Reason("the chunk has no text")), verdict=Use.USELESS)
    question = inquiry.sample.user_input or ""
    return await inquiry.ask(USEFULNESS, {"question": question, "answer": answer, "context": context})


def _strategy(sample: Sample, asked: Strategy) -> str:
    if asked != "auto":
        return asked
    return "reference" if (sample.reference or "").strip() or sample.response is None else "response"


def _explanation(useful: Sequence[bool], value: float) -> list[dict[str, Any]]:
    ranks = [rank for rank, flag in enumerate(useful, 1) if flag]
    if not ranks:
        return [sentence("None of the {whole} passages is useful: {value}.", whole=len(useful), value=value)]
    terms = " + ".join(f"{sum(useful[:rank])}/{rank}" for rank in ranks)
    return [
        sentence(
            "Ranks of useful passages: {ranks}, of {whole}; ({terms}) / {count} = {value}.",
            ranks=", ".join(map(str, ranks)),
            whole=len(useful),
            terms=terms,
            count=len(ranks),
            value=value,
        )
    ]


RECALL_FIELDS = ("user_input", "contexts", "reference")


@metric(
    source="the specification, metrics of retrieval, ContextRecall; after RAGAS, arXiv:2309.15217",
    fields=RECALL_FIELDS,
    prompts=(ENTAILMENT,),
    formula="supported sentences of the reference / sentences of the reference",
    edges=(
        "A reference without a sentence is unmeasured. Sentences are split here, so the judge can neither drop nor "
        "add one."
    ),
    differs="Elsewhere the judge splits the reference itself, and what it forgets falls out of the divisor.",
    when=(
        "Answers that need much information: is all of it there?",
        "A knowledge base: is it complete?",
        "A RAG system: how well is the information covered?",
        "Gaps of retrieval: what is missing?",
    ),
    purposes=(Purpose("completeness", "measures what supports the statements of the reference"),),
    peers=(RAGAS,),
)
@best_of_references
@measured
async def context_recall(sample: Sample, judge: Judge, *, variant: Variant = "specification") -> Score:
    """Share of the reference answer's sentences that the retrieved contexts support.

    supported sentences / sentences, 0 to 1. The sentences are split here and numbered, so that the judge can neither
    drop nor add one; it is asked once, for its verdict on each. `detail["statements"]` keeps every sentence with
    verdict, reason and cited chunks. A reference without a sentence is unmeasured (empty_decomposition).
    variant: "ragas" divides by the verdicts that came, so that sentences which the judge passed over count for nothing,
        and asks about empty contexts too.
    """
    inquiry = Inquiry(sample, judge, *RECALL_FIELDS, blank=variant == "ragas")
    assert sample.reference is not None
    parts = sentences(sample.reference)
    if not parts:
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the reference has no sentence"))
    told = sentence(
        "Sentences of the reference that the contexts support: {part} of {whole}; {part} / {whole} = {value}."
    )
    return await share_supported(
        inquiry, parts, variant, told,
        lambda missing: sentence("Not found in the contexts: {sentences}.", sentences=missing),
    )  # fmt: skip


ENTITY_FIELDS = ("reference", "contexts")
ENTITY_EPSILON = 1e-8  # as ragas divides, so that its values are met to the last digit


class Entities(BaseModel):
    """The entities of a text, once each; empty where it names none."""

    entities: list[str] = Field(description="each once, in its dictionary form; empty if there are none")


def _entities_by_words(reader: LexicalReader, texts: Mapping[str, Any]) -> Entities:
    return Entities(entities=[entity for text in texts["texts"] for entity in reader.entities(text)])


ENTITIES = Prompt(
    name="entities",
    version=1,
    shape=Entities,
    offline=_entities_by_words,
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
    source="the specification, metrics of retrieval, ContextEntityRecall; after RAGAS",
    fields=ENTITY_FIELDS,
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
    inquiry = Inquiry(sample, judge, *ENTITY_FIELDS, blank=variant == "ragas")
    assert sample.reference is not None
    listed, in_contexts = await gather([_entities(inquiry, [sample.reference]), _entities(inquiry, inquiry.contexts)])
    wanted, there = _by_name(listed), _by_name(in_contexts)
    if not wanted and variant != "ragas":
        raise inquiry.unmeasured(Status.EMPTY_DECOMPOSITION, sentence("the reference names no entity"))
    matched = [name for folded, name in wanted.items() if folded in there]
    missing = [name for folded, name in wanted.items() if folded not in there]
    if variant == "ragas":
        value = len(set(listed) & set(in_contexts)) / (len(listed) + ENTITY_EPSILON)
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


LABELLED_FIELDS = ("contexts", "reference_contexts")
By = Literal["id", "text"]
Likeness = Annotated[float, Gt(0), Le(1)]
_APART = sentence(
    "retrieved and labelled contexts cannot be compared: the ones have no identifiers, the others no texts"
)


_LABEL_EDGE = "Without labelled contexts it is unmeasured; copies of a context count once."
_LABEL_DIFF = "No judge is asked, so it can be compared with the judged metric of the same name."


@metric(
    source="RAGAS' id-based and non-LLM context precision; set precision over distinct contexts",
    fields=LABELLED_FIELDS,
    formula="distinct retrieved contexts that are labelled / distinct retrieved contexts",
    edges=_LABEL_EDGE,
    differs=_LABEL_DIFF,
    when=("Where passages are labelled: the order left aside, and no judge asked.",),
)
@measured
async def context_precision_by_label(sample: Sample, *, by: By = "id", threshold: Likeness = 0.5) -> Score:
    """Share of the distinct retrieved contexts that are among the labelled ones; no judge is asked.

    by: "id" compares identifiers, and texts where a context has none: two that differ in white space alone are one;
    "text" takes two texts for one where 1 − edit distance / longer length reaches the threshold, after NFKC and
    casefold. 0 to 1; copies of a chunk count once. Unmeasured where one side has no identifiers and the other no texts.
    """
    inquiry, wanted, retrieved = _compared(sample, by, threshold)
    matched = [chunk for chunk in retrieved if _is_among(inquiry, chunk, wanted, by, threshold)]
    counted = share(len(matched), len(retrieved))
    said = sentence("Retrieved contexts that are labelled: {part} of {whole}; {part} / {whole} = {value}.", **counted)
    return inquiry.score(counted["value"], [said], matched=[chunk.id for chunk in matched])


@metric(
    source="RAGAS' id-based and non-LLM context recall; set recall over distinct contexts",
    fields=LABELLED_FIELDS,
    formula="distinct labelled contexts that were retrieved / distinct labelled contexts",
    edges=_LABEL_EDGE,
    differs=_LABEL_DIFF,
    when=("Where passages are labelled: completeness without a judge.",),
)
@measured
async def context_recall_by_label(sample: Sample, *, by: By = "id", threshold: Likeness = 0.5) -> Score:
    """Share of the distinct labelled contexts that were retrieved; no judge is asked.

    by, threshold: as in `context_precision_by_label`. 0 to 1.
    """
    inquiry, wanted, retrieved = _compared(sample, by, threshold)
    missing = [chunk for chunk in wanted if not _is_among(inquiry, chunk, retrieved, by, threshold)]
    counted = share(len(wanted) - len(missing), len(wanted))
    said = sentence("Labelled contexts that were retrieved: {part} of {whole}; {part} / {whole} = {value}.", **counted)
    return inquiry.score(counted["value"], [said], missing=[chunk.id for chunk in missing])


def _compared(sample: Sample, by: By, threshold: float) -> tuple[Inquiry, list[Chunk], list[Chunk]]:
    """Who asks, and the distinct labelled and retrieved contexts; by identifier they need no text."""
    inquiry = Inquiry(sample, None, *LABELLED_FIELDS, blank=by == "id")
    for field in LABELLED_FIELDS:
        if not getattr(sample, field):
            raise inquiry.empty(field)
    return inquiry, _distinct(sample.reference_contexts or (), by), _distinct(inquiry.chunks, by)


def _distinct(chunks: Sequence[Chunk], by: By) -> list[Chunk]:
    return list({chunk.id if by == "id" else plain(chunk.text): chunk for chunk in reversed(chunks)}.values())[::-1]


def _is_among(inquiry: Inquiry, chunk: Chunk, others: Sequence[Chunk], by: By, threshold: float) -> bool:
    if by == "text":
        return any(_alike(plain(chunk.text), plain(other.text), threshold) for other in others)
    said = chunk.is_among(others)
    if said is None:
        raise inquiry.unmeasured(Status.MISSING_FIELD, _APART)
    return said


def _alike(text: str, other: str, threshold: float) -> bool:
    """Whether the likeness reaches the threshold; the distance is computed only where lengths leave it open."""
    longest = max(len(text), len(other))
    least = threshold * longest - 1e-9  # whole signs, and a threshold that is no binary fraction
    if not longest or min(len(text), len(other)) < least:
        return False
    return text == other or longest - Levenshtein.distance(text, other) >= least
