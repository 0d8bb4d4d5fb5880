"""Is the answer right, in fact and in meaning? Two measures with weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ragbench.core.errors import BenchError, Unmeasured
from ragbench.core.language import mark
from ragbench.core.metric import metric
from ragbench.core.types import Embedder, Score
from ragbench.metrics.factual_correctness import factual_correctness
from ragbench.metrics.judging import (
    Judge,
    check_inputs,
    check_number,
    cosines_to,
    empty_answer,
)

# Weights of factual correctness and semantic similarity.
PRESETS: Mapping[str, tuple[float, float]] = {
    "default": (0.75, 0.25),
    "equal": (0.5, 0.5),
    "factual": (0.9, 0.1),
    "semantic": (0.1, 0.9),
}


@metric(source="RAGAS, answer correctness", bounds=(-1.0, 1.0))
async def answer_correctness(
    judge: Judge,
    embedder: Embedder,
    answer: str,
    reference: str,
    question: str = "",
    preset: Literal["default", "equal", "factual", "semantic"] = "default",
    factual_weight: float | None = None,
    semantic_weight: float | None = None,
) -> Score:
    """Weighted mean of factual correctness (F1) and semantic similarity (cosine).

    (w₁ factual + w₂ semantic) / (w₁ + w₂), −1 to 1 as a cosine may be negative, in practice 0 to 1.
    preset: "default" 0.75 and 0.25, "equal" 0.5 and 0.5, "factual" 0.9 and 0.1, "semantic" 0.1
    and 0.9. factual_weight, semantic_weight: both, in place of a preset; ≥ 0 and not both 0. A
    part of weight 0 is not measured. An unmeasured part makes the whole unmeasured. Beside its
    two parts it costs no further call. An empty answer has 0.

    Use it to look at answers from several sides, and where it is not clear which metric to take.
    """
    weights = read_weights(preset, factual_weight, semantic_weight)
    check_inputs(judge, reference=reference)
    if not answer.strip():
        return empty_answer()
    factual = Score(0.0)
    if weights[0]:
        factual = await factual_correctness.measure(
            judge=judge, answer=answer, reference=reference, question=question
        )
    if factual.status != "ok":
        reason = f"factual_correctness is unmeasured: {factual.reason}"
        raise Unmeasured(factual.status, reason)
    semantic = 0.0
    if weights[1]:
        (semantic,) = await cosines_to(embedder, reference, [answer])
    total = sum(weights)
    return Score(
        (weights[0] * factual.value + weights[1] * semantic) / total,
        message=mark(
            "({factual_weight} × {factual} factual correctness + {semantic_weight} × {semantic} "
            "semantic similarity) / {total} = {value}"
        ),
        facts={
            "factual_weight": float(weights[0]),
            "factual": factual.value,
            "semantic_weight": float(weights[1]),
            "semantic": semantic,
            "total": float(total),
        },
        verdicts=factual.verdicts,
    )


def read_weights(
    preset: str, factual_weight: float | None, semantic_weight: float | None
) -> tuple[float, float]:
    """Return both weights. Raises BenchError for one alone, a negative one, and two of 0."""
    if factual_weight is None and semantic_weight is None:
        return PRESETS[preset]
    if factual_weight is None or semantic_weight is None or preset != "default":
        raise BenchError(
            "answer_correctness: give a preset, or both factual_weight and semantic_weight"
        )
    check_number("answer_correctness", "factual_weight", factual_weight, 0)
    check_number("answer_correctness", "semantic_weight", semantic_weight, 0)
    if factual_weight + semantic_weight == 0:
        raise BenchError("answer_correctness: both weights are 0; one is above 0")
    return factual_weight, semantic_weight
