"""Do the useful passages stand first? One question to the judge for each passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.judging import Judge, Lower, Prompt, ask_all, check_inputs


class Usefulness(BaseModel):
    """Reply: whether a passage was useful for an answer."""

    reason: str = Field(description="one short sentence")
    verdict: Annotated[Literal["useful", "useless"], Lower]


# What a passage is useful for, as pages show it.
BASES = {"reference": mark("reference"), "answer": mark("answer")}

USEFULNESS = Prompt(
    "context_precision",
    Usefulness,
    en="""\
A search returned the passage below for the question. Decide whether it was useful in arriving at \
the given answer.

Question:
{question}

Answer:
{answer}

Passage:
{passage}

- "useful": at least one fact that the answer needs stands in the passage, or follows from it.
- "useless": the passage has nothing that the answer needs, even if its topic is the same.

Judge the passage by the answer as it is given, not by what you know. Give the reason first, then \
the verdict.""",
    ru="""\
По вопросу поиск нашёл приведённый ниже отрывок. Решите, был ли он полезен для того, чтобы \
получить данный ответ.

Вопрос:
{question}

Ответ:
{answer}

Отрывок:
{passage}

- "useful" (полезен): в отрывке есть или из него следует хотя бы один факт, который нужен ответу.
- "useless" (бесполезен): в отрывке нет ничего нужного ответу, даже если тема та же.

Оценивайте отрывок по ответу в том виде, в каком он дан, а не по тому, что знаете сами. Сначала \
причина (по-русски), затем вердикт (латиницей, как указано выше).""",
)


@metric(source="average precision: Buckley & Voorhees 2000, SIGIR; judged as in RAGAS")
async def context_precision(
    judge: Judge,
    question: str,
    contexts: Sequence[str],
    reference: str | None = None,
    answer: str | None = None,
    strategy: Literal["auto", "reference", "answer"] = "auto",
) -> Score:
    """Average precision of the ranking, where the judge says of each passage whether it is useful.

    The mean, over the ranks k of useful passages, of (useful passages up to k) / k: 0 to 1, and
    0.0 if none is useful. It is divided by the useful passages that were retrieved; those that
    were missed are the recall's matter.
    strategy: useful for the "reference" or for the "answer"; "auto" takes the reference where
    there is one. The explanation says which it was.
    One question for each passage, all at once; a passage without text is useless, and nobody is
    asked. One that stays without a verdict leaves the sample unmeasured.

    Use it to optimise the order of retrieval and to compare strategies of retrieval.
    """
    basis = "reference" if strategy == "reference" else "answer"
    if strategy == "auto" and reference and reference.strip():
        basis = "reference"
    text = reference if basis == "reference" else answer
    check_inputs(judge, question=question, contexts=contexts, **{basis: text})
    requests = [judge_passage(judge, question, str(text), passage) for passage in contexts]
    replies = await ask_all(*requests)
    is_useful = [reply.verdict == "useful" for reply in replies]
    verdicts = [
        Verdict(passage, reply.verdict, reply.reason, (rank,))
        for rank, (passage, reply) in enumerate(zip(contexts, replies, strict=True), 1)
    ]
    ranks = [rank for rank, useful in enumerate(is_useful, 1) if useful]
    facts = {"basis": BASES[basis], "whole": len(contexts)}
    if not ranks:
        message = mark("None of the {whole} contexts is useful for the {basis}: {value}")
        return Score(0.0, message=message, facts=facts, verdicts=verdicts)
    precisions = [sum(is_useful[:rank]) / rank for rank in ranks]
    facts["ranks"] = ranks
    facts["terms"] = " + ".join(f"{sum(is_useful[:rank])}/{rank}" for rank in ranks)
    facts["useful"] = len(ranks)
    return Score(
        sum(precisions) / len(precisions),
        message=mark(
            "Useful for the {basis} are the contexts at ranks {ranks} of {whole}: "
            "({terms}) / {useful} = {value}"
        ),
        facts=facts,
        verdicts=verdicts,
    )


async def judge_passage(judge: Judge, question: str, answer: str, passage: str) -> Usefulness:
    """Say whether a passage is useful for an answer; one without text is useless."""
    if not passage.strip():
        return Usefulness(reason="the passage has no text", verdict="useless")
    return await judge.ask(USEFULNESS, question=question, answer=answer, passage=passage)
