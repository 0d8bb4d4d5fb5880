"""Does the answer say what the reference says? Claims of each held against the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ragbench.core.errors import Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Score, Verdict
from ragbench.metrics.claims import JudgedClaim, count_supported, judge_claims, list_claims
from ragbench.metrics.judging import (
    Judge,
    ask_all,
    check_inputs,
    check_number,
    empty_answer,
)

# Verdicts on claims of the reference by the answer, in words that tell them from the answer's.
REFERENCE_VERDICTS = {"supported": "said", "contradicted": "denied", "neutral": "missing"}
RAGAS_EPSILON = 1e-8


@metric(source="claims after FActScore, Min et al. 2023, arXiv:2305.14251; as in RAGAS")
async def factual_correctness(
    judge: Judge,
    answer: str,
    reference: str,
    question: str = "",
    mode: Literal["f1", "precision", "recall"] = "f1",
    beta: float = 1.0,
    variant: Literal["standard", "ragas"] = "standard",
) -> Score:
    """How far the answer's claims and the reference's claims support each other: F1.

    precision P: claims of the answer that the reference supports / claims of the answer.
    recall R: claims of the reference that the answer supports / claims of the reference.
    mode: "f1", (1 + β²) P R / (β² P + R), 0.0 where both are 0; "precision"; "recall".
    A claim is supported, contradicted or neutral; the counts of all three are kept. A side
    without claims is unmeasured (empty_decomposition). An empty answer has 0, and no precision.
    variant: "ragas" reproduces that program's numbers: one recall from the supported claims of the
    answer and the unsupported ones of the reference, 1e-8 in divisors, two digits.
    Four questions in two waves; two for precision or recall.

    Use it for a detailed check of facts, and to weigh what is wrong against what is missing.
    """
    check_number("factual_correctness", "beta", beta, 0.01)
    check_inputs(judge, reference=reference)
    if not answer.strip() and mode != "precision":
        return empty_answer()
    check_inputs(judge, answer=answer)
    is_ragas = variant == "ragas"
    answer_claims: list[JudgedClaim] = []
    reference_claims: list[JudgedClaim] = []
    if mode == "f1" or (mode == "recall" and is_ragas):
        answer_claims, reference_claims = await ask_all(
            judge_side(judge, question, answer, reference, "answer", is_ragas),
            judge_side(judge, question, reference, answer, "reference", is_ragas),
        )
    elif mode == "precision":
        answer_claims = await judge_side(judge, question, answer, reference, "answer", is_ragas)
    else:
        reference_claims = await judge_side(
            judge, question, reference, answer, "reference", is_ragas
        )
    counts = count_verdicts(answer_claims, reference_claims)
    if is_ragas:
        value, message = ragas_value(counts, mode, beta)
    else:
        value, message = value_of_mode(counts, mode, beta)
    of_reference = [
        Verdict(claim.item, REFERENCE_VERDICTS[claim.verdict], claim.reason)
        for claim in reference_claims
    ]
    verdicts = [*answer_claims, *of_reference]
    return Score(value, message=message, facts={**counts, "beta": f"{beta:g}"}, verdicts=verdicts)


async def judge_side(
    judge: Judge, question: str, text: str, other: str, whose: str, may_be_none: bool
) -> list[JudgedClaim]:
    """Return the claims of one text, each judged by the other."""
    claims = await list_claims(judge, text, question)
    if not claims and not may_be_none:
        raise Unmeasured("empty_decomposition", f"the {whose} makes no claim")
    return await judge_claims(judge, claims, [other])


def count_verdicts(
    answer_claims: Sequence[JudgedClaim], reference_claims: Sequence[JudgedClaim]
) -> dict[str, Any]:
    """Count the claims of both sides by verdict."""
    return {
        "supported": count_supported(answer_claims),
        "contradicted": sum(claim.verdict == "contradicted" for claim in answer_claims),
        "neutral": sum(claim.verdict == "neutral" for claim in answer_claims),
        "claims": len(answer_claims),
        "said": count_supported(reference_claims),
        "reference_claims": len(reference_claims),
    }


def value_of_mode(counts: dict[str, Any], mode: str, beta: float) -> tuple[float, str]:
    """Return the value by the formula of the docstring, and the message."""
    if mode == "precision":
        message = mark(
            "The reference supports {supported} of {claims} claims of the answer, "
            "{contradicted} contradicted and {neutral} not in it: {value}"
        )
        return counts["supported"] / counts["claims"], message
    recall = counts["said"] / counts["reference_claims"]
    if mode == "recall":
        message = mark(
            "The answer says {said} of {reference_claims} claims of the reference: {value}"
        )
        return recall, message
    message = mark(
        "Precision {supported} / {claims} ({contradicted} contradicted, {neutral} not in the "
        "reference), recall {said} / {reference_claims}, F with β = {beta}: {value}"
    )
    return f_measure(counts["supported"] / counts["claims"], recall, beta), message


def ragas_value(counts: dict[str, Any], mode: str, beta: float) -> tuple[float, str]:
    """Return the value by the formula of ragas, and the message.

    True positives are claims of the answer and false negatives claims of the reference.
    """
    supported = counts["supported"]
    invented = counts["claims"] - supported
    left_out = counts["reference_claims"] - counts["said"]
    message = mark(
        "By the formula of ragas, {supported} of {claims} claims of the answer and {said} of "
        "{reference_claims} of the reference supported: {value}"
    )
    precision = supported / (supported + invented + RAGAS_EPSILON)
    recall = supported / (supported + left_out + RAGAS_EPSILON)
    if mode == "f1":
        # That program's F has no epsilon.
        precision = supported / (supported + invented) if supported + invented else 0.0
        recall = supported / (supported + left_out) if supported + left_out else 0.0
    values = {
        "precision": precision,
        "recall": recall,
        "f1": f_measure(precision, recall, beta),
    }
    # NumPy rounds halves of the hundredfold to the even side, as that program does.
    return float(np.round(values[mode], 2)), message


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return van Rijsbergen's F, the weighted harmonic mean; 0.0 where both are 0."""
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0
