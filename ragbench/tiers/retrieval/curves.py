"""How recall and NDCG grow with the depth of the ranking, with an interval at every depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from ragbench import stats
from ragbench.core.measurement import NamedEstimate
from ragbench.core.metric import parse
from ragbench.core.types import Ranking
from ragbench.metrics.evaluation import evaluate
from ragbench.tiers.basics.families import Sureness

METRICS = ("recall", "ndcg")
MOST_DEPTHS = 25


def findings(
    rankings: Mapping[str, Ranking], k: int, clusters: Sequence[str] | None, sureness: Sureness
) -> tuple[NamedEstimate, ...]:
    """An estimate for each system, metric and depth `k`. Every interval is of its own depth: no statement about a
    whole curve. None for k = 1, where there is no curve."""
    labels = {f"{name}@{depth}": (name, depth) for name in METRICS for depth in depths(k)} if k > 1 else {}
    rows = []
    for system, ranking in rankings.items():
        values = evaluate(ranking, [parse(label) for label in labels])
        made = stats.estimate_many(values, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness)) if labels else {}
        for label, e in made.items():
            metric, depth = labels[label]
            rows.append(NamedEstimate(system, metric, e, {"k": depth}))
    return tuple(rows)


def depths(k: int) -> list[int]:
    """Every depth up to k, or 25 of them whose steps grow evenly, the first and the last among them."""
    if k <= MOST_DEPTHS:
        return list(range(1, k + 1))
    return sorted({round(depth) for depth in np.geomspace(1, k, MOST_DEPTHS)})
