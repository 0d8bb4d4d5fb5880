"""Is the answer right, in fact and in meaning? Two measures with weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge

from ragbench.old.core.metric import Purpose, metric
from ragbench.old.core.types import Embedder, Judge, Sample, Score, Status
from ragbench.old.core.waves import gather
from ragbench.old.metrics.claims import CLAIMS, ENTAILMENT
from ragbench.old.metrics.explanation import sentence
from ragbench.old.metrics.factual_correctness import factual_correctness, mixed_f
from ragbench.old.metrics.inquiry import RAGAS, Inquiry, Variant, measured
from ragbench.old.metrics.references import best_of_references
from ragbench.old.metrics.semantic_similarity import semantic_similarity

FIELDS = ("response", "reference")
Preset = Literal["default", "equal", "factual", "semantic"]
PRESETS: dict[str, tuple[float, float]] = {
    "default": (0.75, 0.25),
    "equal": (0.5, 0.5),
    "factual": (0.9, 0.1),
    "semantic": (0.1, 0.9),
}
"""Weights of (factual correctness, semantic similarity)."""
Weight = Annotated[float, Ge(0)]


def _weights(
    preset: str = "default",
    factual_weight: float | None = None,
    semantic_weight: float | None = None,
    **_others: object,
) -> tuple[float, float]:
    if (factual_weight is None) != (semantic_weight is None):
        raise ValueError("answer_correctness: factual_weight and semantic_weight are given together, or neither is")
    if factual_weight is None or semantic_weight is None:
        return PRESETS[preset]
    if preset != "default":
        raise ValueError(f"answer_correctness: weights are given, and the preset {preset!r} as well: give one of them")
    if not factual_weight + semantic_weight > 0:
        raise ValueError("answer_correctness: both weights are 0: one is above 0")
    return factual_weight, semantic_weight


@metric(
    source="the specification, metrics of answers, AnswerCorrectness; after RAGAS",
    bounds=(-1.0, 1.0),
    fields=FIELDS,
    prompts=(CLAIMS, ENTAILMENT),
    refuse=_weights,
    formula="(w₁ factual_correctness + w₂ semantic_similarity) / (w₁ + w₂)",
    edges=(
        "If a part is unmeasured, the whole is; a part of weight 0 is not measured. An empty answer gets 0 without a "
        "question."
    ),
    differs="Weights 0.75 and 0.25 by default. An unmeasured part is not taken for 0.",
    when=(
        "The quality of answers from several sides.",
        "Facts and meaning in balance.",
        "Answers of every kind.",
        "The choice where it is not clear which metric to take.",
    ),
    purposes=(
        Purpose("balance", "brings both ways together"),
        Purpose("general", "the best choice to begin with"),
    ),
    peers=(replace(RAGAS, within=3e-7),),
)
@best_of_references
@measured
async def answer_correctness(
    sample: Sample,
    judge: Judge,
    embedder: Embedder | Sequence[Embedder],
    *,
    preset: Preset = "default",
    factual_weight: Weight | None = None,
    semantic_weight: Weight | None = None,
    variant: Variant = "specification",
) -> Score:
    """Weighted mean of factual correctness (F1) and semantic similarity.

    (w₁ factual + w₂ semantic) / (w₁ + w₂), −1 to 1 as the cosine may be negative, in practice 0 to 1.
    preset: weights 0.75 and 0.25 by default; equal 0.5 and 0.5, factual 0.9 and 0.1, semantic 0.1 and 0.9.
    factual_weight, semantic_weight: both, instead of a preset. Neither is negative, and one at least is above 0; a part
        of weight 0 is not measured.
    variant: "ragas" takes the supported claims of the response and the unsupported ones of the reference for one
        recall of the factual part, which is 1 where neither makes a claim; see also the variants of both parts.
    A part that could not be measured leaves the whole unmeasured, with the part's status. Both parts ask what they ask
    on their own, so beside them this costs no further question. `detail["parts"]` keeps both.
    """
    weights = _weights(preset, factual_weight, semantic_weight)
    inquiry = Inquiry(sample, judge, *FIELDS, empty=0.0, blank=variant == "ragas")
    parts = {
        "factual_correctness": lambda: factual_correctness(sample, judge=judge, variant=variant),
        "semantic_similarity": lambda: semantic_similarity(sample, embedder=embedder, variant=variant),
    }
    wanted = {name: weight for name, weight in zip(parts, weights, strict=True) if weight}
    scores = dict(zip(wanted, await gather([parts[name]() for name in wanted]), strict=True))
    inquiry.seconds = next((score.seconds for score in scores.values() if score.seconds is not None), None)
    for score in scores.values():
        inquiry.suspected_injection.update(dict.fromkeys(score.detail.get("suspected_injection", ())))
    for name, score in scores.items():
        if score.status is not Status.OK:
            why = score.detail.get("explanation", [score.reason])[0]
            raise inquiry.unmeasured(score.status, sentence("{part} is unmeasured: {reason}", part=name, reason=why))
    if variant == "ragas" and "factual_correctness" in scores:
        scores["factual_correctness"] = _mixed(scores["factual_correctness"])
    total = math.fsum(wanted.values())
    value = math.fsum(weight * scores[name].value for name, weight in wanted.items()) / total
    kept = {name: {"value": score.value, "weight": wanted[name], **score.detail} for name, score in scores.items()}
    explanation = [_formula(wanted, scores, total, value)]
    explanation += [said for score in scores.values() for said in score.detail["explanation"]]
    return inquiry.score(value, explanation, parts=kept)


def _mixed(score: Score) -> Score:
    """The same verdicts counted over both populations at once."""
    counts = score.detail["counts"]
    supported = counts["response"].get("supported", 0)
    invented = sum(counts["response"].values()) - supported
    left_out = sum(counts["reference"].values()) - counts["reference"].get("supported", 0)
    neither = not any(sum(count.values()) for count in counts.values())
    value = 1.0 if neither else mixed_f(supported, invented, left_out)
    formula = sentence("By the formula of ragas: {value}.", value=value)
    before = [said for said in score.detail["explanation"] if said["text"] != formula["text"]]
    said = [*before, formula]
    return replace(score, value=value, detail={**score.detail, "explanation": said})


def _formula(weights: Mapping[str, float], scores: Mapping[str, Score], total: float, value: float) -> dict[str, Any]:
    if len(weights) == 1:
        return sentence("Only {part} has a weight: {value}.", part=next(iter(weights)), value=value)
    (factual, semantic), (first, second) = (score.value for score in scores.values()), weights.values()
    return sentence(
        "({first} × {factual} factual correctness + {second} × {semantic} semantic similarity) / {total} = {value}.",
        first=float(first),
        factual=factual,
        second=float(second),
        semantic=semantic,
        total=total,
        value=value,
    )
