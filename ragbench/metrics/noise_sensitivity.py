"""How often do retrieved contexts lead the answer astray?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.claims import find_supporting, judge_claims, list_claims
from ragbench.metrics.judging import Judge, ask_all, check_inputs


@metric(source="Ru et al. 2024, RAGChecker, arXiv:2408.08067; as in RAGAS", better="lower")
async def noise_sensitivity(
    judge: Judge,
    question: str,
    answer: str,
    reference: str,
    contexts: Sequence[str],
    mode: Literal["relevant", "irrelevant"] = "relevant",
) -> Score:
    """Share of the answer's claims that are wrong and that a context led to; lower is better.

    A claim is wrong if the reference does not support it. A context is relevant if it supports a
    claim of the reference; of a reference without claims all contexts are irrelevant.
    mode "relevant" counts wrong claims that a relevant context supports, "irrelevant" those that
    only irrelevant ones support, so that no claim counts in both. Both modes ask the same: 2
    questions for the claims, then 2 for each context and 1 for the reference, in two waves.
    0 to 1: up to 0.1 excellent robustness, 0.3 good, 0.5 moderate, above poor. An answer without
    claims is unmeasured (empty_decomposition).

    Use it to test what a system does with noisy retrieval, and to watch it in production.
    """
    check_inputs(judge, question=question, reference=reference, contexts=contexts, answer=answer)
    claims, reference_claims = await ask_all(
        list_claims(judge, answer, question), list_claims(judge, reference, question)
    )
    if not claims:
        raise Unmeasured("empty_decomposition", "the answer makes no claim")
    by_reference, supporting, relevant_for = await ask_all(
        judge_claims(judge, claims, [reference]),
        find_supporting(judge, claims, contexts),
        find_supporting(judge, reference_claims, contexts),
    )
    relevant_ranks = sorted({rank for ranks in relevant_for for rank in ranks})
    verdicts = []
    n_wrong = 0
    for claim, ranks in zip(by_reference, supporting, strict=True):
        led_by = "irrelevant" if set(ranks).isdisjoint(relevant_ranks) else "relevant"
        if ranks and led_by == mode and not claim.is_supported:
            n_wrong += 1
        verdicts.append(Verdict(claim.item, claim.verdict, claim.reason, ranks))
    relevant = mark("Relevant contexts led to {part} wrong claims of {whole}: {value}")
    irrelevant = mark("Only irrelevant contexts led to {part} wrong claims of {whole}: {value}")
    return Score(
        n_wrong / len(claims),
        message=relevant if mode == "relevant" else irrelevant,
        facts={"part": n_wrong, "whole": len(claims), "relevant": relevant_ranks},
        verdicts=verdicts,
    )
