"""Which numbers of the offline judge order systems as people's labels do: what was measured of it, once and for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ENOUGH = 0.5
"""The τ that the lower end of an interval has to reach: three pairs of systems in four ordered alike."""


@dataclass(frozen=True)
class Order:
    """How the order of systems by the lexical judge's means agrees with that by people's labels.

    tau: Kendall's τ-b, −1 to 1, with its 95 % interval `low` to `high`. pairs: share of the pairs of systems that the
    labels order which are ordered alike, 0 to 1, with its interval `least` to `most`.
    """

    tau: float
    low: float
    high: float
    pairs: float
    least: float
    most: float


LEXICAL: Mapping[str, Order] = {
    "context_precision": Order(0.89, 0.65, 0.93, 0.96, 0.83, 0.98),
    "context_recall": Order(0.99, 0.72, 1.0, 0.98, 0.8, 1.0),
    "context_relevance": Order(0.42, 0.3, 0.54, 0.7, 0.63, 0.77),
    "context_entity_recall": Order(0.83, 0.63, 0.94, 0.89, 0.72, 0.94),
    "e2e_score": Order(0.92, 0.56, 0.94, 0.96, 0.74, 0.96),
    "answer_correctness_rating": Order(0.92, 0.56, 0.94, 0.96, 0.74, 0.96),
    "answer_accuracy": Order(0.9, 0.57, 0.94, 0.92, 0.74, 0.96),
    "factual_correctness": Order(0.36, -0.05, 0.43, 0.44, 0.19, 0.47),
    "answer_relevance": Order(0.7, 0.36, 0.79, 0.83, 0.65, 0.88),
    "faithfulness": Order(0.16, -0.15, 0.47, 0.54, 0.36, 0.67),
    "faithfulness_rating": Order(0.13, -0.21, 0.48, 0.54, 0.35, 0.69),
    "response_groundedness": Order(0.16, -0.17, 0.47, 0.54, 0.35, 0.68),
    "hallucination": Order(0.07, 0.0, 0.17, 0.1, 0.0, 0.15),
    "noise_sensitivity": Order(-0.7, -0.89, -0.53, 0.15, 0.04, 0.21),
}
"""By metric, over XQuAD and `data/campus` in English and Russian and mtrag-un: five systems each that retrieve, answers
of the extractive stand-in, up to 80 questions a set (`benchmarks/real_orders.py`)."""


def holds(metric: str) -> bool:
    """Whether it is shown that the lexical judge orders systems by this metric as people's labels do; what was not
    measured is not shown."""
    return metric in LEXICAL and LEXICAL[metric].low >= ENOUGH


def reversed_by(metric: str) -> bool:
    """Whether it is shown that it orders them the other way round."""
    return metric in LEXICAL and LEXICAL[metric].high < 0
