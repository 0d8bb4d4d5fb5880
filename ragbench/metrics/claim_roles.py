"""What of an answer's claims is the retriever's part, what the generator's? After RAGChecker.

Claims and verdicts are those of factual_correctness and noise_sensitivity: asked for once.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.claims import decompose, find_supporting, judge_claims
from ragbench.metrics.judging import Judge, ask_all, check_inputs, empty_answer, share_score

SOURCE = "Ru et al. 2024, RAGChecker, arXiv:2408.08067"


@metric(source=SOURCE + ", claim recall")
async def claim_recall(
    judge: Judge, question: str, reference: str, contexts: Sequence[str]
) -> Score:
    """Share of the reference's claims that a retrieved context supports: the retriever's part.

    0 to 1. By claims and context by context, where context_recall goes by sentences and by all
    contexts together. A reference without claims is unmeasured.
    """
    check_inputs(judge, question=question, reference=reference, contexts=contexts)
    claims = await decompose(judge, reference, question, "reference")
    supporting = await find_supporting(judge, claims, contexts)
    verdicts = [
        Verdict(claim, "retrieved" if ranks else "missing", "", ranks)
        for claim, ranks in zip(claims, supporting, strict=True)
    ]
    return share_score(
        mark("A context supports {part} of {whole} claims of the reference: {value}"),
        sum(map(bool, supporting)),
        len(claims),
        verdicts,
    )


@metric(source=SOURCE + ", context utilization")
async def context_utilization(
    judge: Judge, question: str, answer: str, reference: str, contexts: Sequence[str]
) -> Score:
    """Share of the right claims that were retrieved that the answer says: the generator's part.

    claims of the reference that a context and the answer support / claims of the reference that a
    context supports, 0 to 1. An empty answer has 0. Where no context supports a claim of the
    reference there was nothing to use: unmeasured (empty_input).
    """
    check_inputs(judge, question=question, reference=reference, contexts=contexts)
    if not answer.strip():
        return empty_answer()
    claims = await decompose(judge, reference, question, "reference")
    by_answer, supporting = await ask_all(
        judge_claims(judge, claims, [answer]), find_supporting(judge, claims, contexts)
    )
    retrieved = [claim for claim, ranks in zip(by_answer, supporting, strict=True) if ranks]
    if not retrieved:
        raise Unmeasured("empty_input", "no context supports a claim of the reference")
    used = sum(claim.is_supported for claim in retrieved)
    return share_score(
        mark("The answer says {part} of {whole} retrieved claims of the reference: {value}"),
        used,
        len(retrieved),
        retrieved,
    )


@metric(source=SOURCE + ", hallucination", better="lower")
async def claim_hallucination(
    judge: Judge, question: str, answer: str, reference: str, contexts: Sequence[str]
) -> Score:
    """Share of the answer's claims that are wrong and that no context supports; lower is better.

    0 to 1. With noise_sensitivity in both modes, self_knowledge and the claims that are right and
    retrieved it is 1. An answer without claims is unmeasured.
    """
    return await share_unfounded(judge, question, answer, reference, contexts, is_right=False)


@metric(source=SOURCE + ", self-knowledge", better="lower")
async def self_knowledge(
    judge: Judge, question: str, answer: str, reference: str, contexts: Sequence[str]
) -> Score:
    """Share of the answer's claims that are right and that no context supports; lower is better.

    0 to 1. The model knew them; right as they are, nobody can check them at a source.
    """
    return await share_unfounded(judge, question, answer, reference, contexts, is_right=True)


async def share_unfounded(
    judge: Judge,
    question: str,
    answer: str,
    reference: str,
    contexts: Sequence[str],
    *,
    is_right: bool,
) -> Score:
    """Score the claims that no context supports: those that are right, or those that are wrong."""
    check_inputs(judge, question=question, reference=reference, contexts=contexts, answer=answer)
    claims = await decompose(judge, answer, question, "answer")
    by_reference, supporting = await ask_all(
        judge_claims(judge, claims, [reference]), find_supporting(judge, claims, contexts)
    )
    verdicts = [
        Verdict(claim.item, claim.verdict, claim.reason, ranks)
        for claim, ranks in zip(by_reference, supporting, strict=True)
    ]
    unfounded = [
        claim
        for claim in verdicts
        if not claim.passages and (claim.verdict == "supported") == is_right
    ]
    right = mark("{part} of {whole} claims are right and in no context: {value}")
    wrong = mark("{part} of {whole} claims are wrong and in no context: {value}")
    return share_score(right if is_right else wrong, len(unfounded), len(claims), verdicts)
