"""Do the useful passages stand first? Each passage judged on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, Field

from ragbench.core.metric import Purpose, metric
from ragbench.core.segmentation import sentences
from ragbench.core.types import Judge, LexicalReader, Prompt, Sample, Score
from ragbench.core.types.reason import Reason, kept, rounded
from ragbench.core.waves import gather
from ragbench.metrics.explanation import sentence
from ragbench.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.metrics.references import best_of_references

FIELDS = ("user_input", "contexts")
Strategy = Literal["auto", "reference", "response"]
RAGAS_EPSILON = 1e-10


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
