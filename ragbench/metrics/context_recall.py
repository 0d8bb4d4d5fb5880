"""Was what the right answer says retrieved? Sentence by sentence of the reference."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score
from ragbench.metrics.claims import count_supported, judge_claims
from ragbench.metrics.judging import Judge, check_inputs, share_score
from ragbench.metrics.sentences import split_sentences


@metric(source="RAGAS, context recall, after Es et al. 2023, arXiv:2309.15217")
async def context_recall(
    judge: Judge, question: str, contexts: Sequence[str], reference: str
) -> Score:
    """Share of the reference's sentences that the retrieved contexts support.

    supported sentences / sentences, 0 to 1. The sentences are split here and numbered, so that
    the judge can neither drop nor add one. It is asked once, for its verdict on each.

    Use it where answers need much information, for the completeness of a knowledge base, and to
    find what retrieval misses.
    """
    check_inputs(judge, question=question, contexts=contexts, reference=reference)
    sentences = split_sentences(reference)
    if not sentences:
        raise Unmeasured("empty_decomposition", "the reference has no sentence")
    verdicts = await judge_claims(judge, sentences, contexts)
    return share_score(
        mark(
            "The contexts support {part} of {whole} sentences of the reference: "
            "{part} / {whole} = {value}"
        ),
        count_supported(verdicts),
        len(verdicts),
        verdicts,
    )
