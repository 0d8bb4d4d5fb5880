"""Made-up measurements for tests of pages: plausible numbers, any number of systems and metrics, texts to order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    SCORE_COLUMNS,
    Finding,
    Measurement,
    NamedComparison,
    NamedEstimate,
)
from ragbench.old.core.types import Comparison, Estimate, Verdict

METRICS = ("hit_rate@1", "hit_rate@10", "mrr", "ndcg@10")


def placed(findings: Iterable[Finding]) -> pd.DataFrame:
    """Findings with their places, and all that they say, in columns."""
    rows = []
    for one in findings:
        if isinstance(one, NamedEstimate):
            rows.append({"system": one.system, "metric": one.metric, **one.where, **asdict(one.estimate)})
        else:
            rows.append({"metric": one.metric, **one.where, **asdict(one.comparison)})
    return pd.DataFrame(rows)


def value(measurement: Measurement, system: str, metric: str) -> float:
    """The one estimate of a system on a metric."""
    [found] = [e.estimate.value for e in measurement.estimates if (e.system, e.metric) == (system, metric)]
    return found


def values(measurement: Measurement, system: str, metric: str) -> dict[str, float]:
    """The scores of a system on a metric, by sample."""
    rows = measurement.scores.query("system == @system and metric == @metric")
    return dict(zip(rows["sample"], rows["value"], strict=True))


def measurement(
    systems: Sequence[str] = ("ivfflat", "hnsw"),
    metrics: Sequence[str] = METRICS,
    questions: int = 40,
    *,
    gain: float = 0.2,
    question: str = "Where does question {i} find its answer?",
    chunk: str = "Passage {i} says where answers are found.",
    reason: str = "",
    identifier: str = "q{i}",
    notebook: str = "tier1_retrieval",
    facts: Mapping[str, Any] | None = None,
    seed: int = 7,
) -> Measurement:
    """`gain` is how much better each system after the first is on average."""
    rng = np.random.default_rng(seed)
    names = [identifier.replace("{i}", str(i)) for i in range(questions)]
    values = {
        (system, metric): np.clip(rng.normal(0.5 + gain * place, 0.3, questions), 0, 1).round(3)
        for place, system in enumerate(systems)
        for metric in metrics
    }
    scores = [
        (system, metric, name, value, "ok", reason, None)
        for (system, metric), column in values.items()
        for name, value in zip(names, column, strict=True)
    ]
    retrieved = [
        (system, name, rank, f"c{(i + rank) % questions}", None, 0.9 - rank / 20, float(rank == 3),
         chunk.replace("{i}", str((i + rank - 3) % questions)))
        for system in systems
        for i, name in enumerate(names)
        for rank in range(1, 6)
    ]  # fmt: skip
    rows = [
        (name, question.replace("{i}", str(i)), "the answer", None, "en", None, True,
         json.dumps({f"c{(i + 3) % questions}": 1.0}))
        for i, name in enumerate(names)
    ]  # fmt: skip
    known = {
        "dataset": "synthetic", "data_hash": "9f2c" * 16, "unit": "chunk", "n_questions": questions, "seed": 20261122,
        "level": 0.95, "resamples": 10_000, "baseline": systems[0], "stand_ins": [], "commit": "4f1c2e9a77aa",
        "systems": [{"name": name, "embedder": "hashing"} for name in systems],
        "versions": {"python": "3.11", "numpy": "2.4.6"},
    }  # fmt: skip
    return Measurement(
        notebook=notebook,
        facts={**known, **(facts or {})},
        scores=pd.DataFrame(scores, columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(rows, columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(retrieved, columns=list(RETRIEVED_COLUMNS)),
        estimates=tuple(NamedEstimate(s, m, estimate(values[s, m])) for s in systems for m in metrics),
        comparisons=tuple(
            NamedComparison(m, comparison(systems[0], s, values[systems[0], m], values[s, m], len(metrics)))
            for s in systems[1:]
            for m in metrics
        ),
    )


def estimate(values: np.ndarray, note: str = "", method: str = "bca") -> Estimate:
    """The mean with a normal interval, under the name of another method."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.1
    mean = float(values.mean())
    low, high = max(0.0, mean - 1.96 * error), min(1.0, mean + 1.96 * error)
    return Estimate(mean, low, high, 0.95, method, len(values), note=note)


def comparison(baseline: str, challenger: str, before: np.ndarray, after: np.ndarray, family: int) -> Comparison:
    """The paired difference with a normal interval and p."""
    d = after - before
    mean, error = float(d.mean()), float(d.std(ddof=1)) / math.sqrt(len(d)) or 1e-9
    p = min(1.0, math.erfc(abs(mean / error) / math.sqrt(2)) * family)
    shown = p < 0.05
    verdict = (Verdict.BETTER if mean > 0 else Verdict.WORSE) if shown else Verdict.NOT_SHOWN
    return Comparison(
        baseline, challenger, mean, mean - 1.96 * error, mean + 1.96 * error, 0.95, "bca", p / family, "randomization",
        mean / float(d.std(ddof=1) or 1), verdict, len(d), p_adjusted=p, minimum_detectable=2.8 * error,
        margin=0.05, questions_needed=int(len(d) * (2.8 * error / 0.05) ** 2) + 1, family=f"{family}, holm",
    )  # fmt: skip
