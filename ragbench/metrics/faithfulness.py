"""Does the answer say only what was retrieved? Claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score
from ragbench.metrics.claims import JudgedClaim, count_supported, decompose, judge_claims
from ragbench.metrics.judging import Judge, check_inputs, share_score


@metric(source="Es et al. 2023, RAGAS, arXiv:2309.15217, section 3")
async def faithfulness(judge: Judge, question: str, answer: str, contexts: Sequence[str]) -> Score:
    """Share of the answer's claims that the retrieved contexts support.

    supported claims / claims, 0 to 1. An answer that claims nothing, such as a refusal, is
    unmeasured (empty_decomposition): it is no hallucination. Two questions to the judge: the
    claims of the answer, and the verdicts on all of them by all contexts.

    Use it to find hallucinations, to check that answers rest on their contexts, and wherever
    every statement must be right, as in medicine and law.
    """
    claims = await judge_answer(judge, question, answer, contexts)
    return share_score(
        mark("The contexts support {part} of {whole} claims: {part} / {whole} = {value}"),
        count_supported(claims),
        len(claims),
        claims,
    )


@metric(
    source="DeepEval's hallucination metric; unit=claims: that of Spring AI RAGAS",
    better="lower",
)
async def hallucination(
    judge: Judge,
    question: str,
    answer: str,
    contexts: Sequence[str],
    unit: Literal["contexts", "claims"] = "contexts",
) -> Score:
    """Share of the retrieved contexts that a claim of the answer contradicts; lower is better.

    contradicted contexts / contexts, 0 to 1. A context counts also where another one supports the
    claim. A claim that no context mentions contradicts none: `faithfulness` counts those, and so
    does unit="claims", claims that the contexts do not support / claims, 1 − faithfulness. Made
    from the verdicts of `faithfulness`. An answer without claims is unmeasured, and so is a
    contradiction without the number of its context (verdict_mismatch).
    """
    claims = await judge_answer(judge, question, answer, contexts)
    if unit == "claims":
        return share_score(
            mark("The contexts do not support {part} of {whole} claims: {value}"),
            len(claims) - count_supported(claims),
            len(claims),
            claims,
        )
    contradicted: set[int] = set()
    for claim in claims:
        contradicted |= find_contradicted(claim, len(contexts))
    return share_score(
        mark("The answer contradicts {part} of {whole} contexts: {part} / {whole} = {value}"),
        len(contradicted),
        len(contexts),
        claims,
    )


async def judge_answer(
    judge: Judge, question: str, answer: str, contexts: Sequence[str]
) -> list[JudgedClaim]:
    """Return the answer's claims, each with its verdict by all contexts."""
    check_inputs(judge, question=question, contexts=contexts, answer=answer)
    claims = await decompose(judge, answer, question, "answer")
    return await judge_claims(judge, claims, contexts)


def find_contradicted(claim: JudgedClaim, n_contexts: int) -> set[int]:
    """Return the numbers of the contexts that contradict a claim."""
    if claim.verdict != "contradicted" or claim.contradicting:
        return set(claim.contradicting)
    if n_contexts > 1:
        raise Unmeasured("verdict_mismatch", "the judge names no context for a contradiction")
    # Without a number it can only mean the one context that there is.
    return {1}
