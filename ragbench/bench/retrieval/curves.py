"""How recall and NDCG grow with the depth of the ranking, with an interval at every depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.metric import parse
from ragbench.metrics.evaluation import evaluate
from ragbench.types import Ranking

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("recall", "ndcg")
MOST_DEPTHS = 25
COLUMNS = ("system", "metric", "k", "value", "low", "high", "level", "method", "note", "n")


def table(found: Mapping[str, Ranking], k: int, clusters: Sequence[str] | None, sureness: Sureness) -> pd.DataFrame:
    """One row a system, metric and depth. Every interval is of its own depth: no statement about a whole curve.

    Empty for k = 1, where there is no curve.
    """
    import pandas as pd

    labels = {f"{name}@{depth}": (name, depth) for name in METRICS for depth in depths(k)} if k > 1 else {}
    rows = []
    for system, ranking in found.items():
        values = evaluate(ranking, [parse(label) for label in labels])
        made = stats.estimate_many(values, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness)) if labels else {}
        rows += [
            (system, *labels[label], e.value, e.low, e.high, e.level, e.method, e.note, e.n)
            for label, e in made.items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def depths(k: int) -> list[int]:
    """Every depth up to k, or 25 of them whose steps grow evenly, the first and the last among them."""
    if k <= MOST_DEPTHS:
        return list(range(1, k + 1))
    return sorted({round(depth) for depth in np.geomspace(1, k, MOST_DEPTHS)})
