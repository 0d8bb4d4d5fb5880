"""How much of what systems retrieved nobody has judged, and what that could change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.metric import Metric
from ragbench.core.types import Array, Ranking

if TYPE_CHECKING:
    import pandas as pd

TABLE = "judged"
COLUMNS = ("system", "metric", "judged", "irrelevant", "relevant", "condensed", "inferred")
BESIDE = ("ndcg", "recall")
"""Metrics that stand there besides the primary one."""


def table(rankings: Mapping[str, Ranking], metrics: Sequence[Metric], k: int, **how: Any) -> pd.DataFrame:
    """By system and metric the share of the first k that was judged, and the mean if what was not is irrelevant (the
    printed value), if it is relevant, and if it is left out (COLUMNS). inferred: infAP, where judgements are a sample.

    Empty for rankings of pieces, whose text may be judged in part. how: as for `evaluate`.
    """
    import pandas as pd

    from ragbench.metrics import catalogue
    from ragbench.metrics.evaluation import evaluate
    from ragbench.metrics.ranking_arrays.completions import all_relevant, condensed

    known, rows = catalogue(), []
    for name, ranking in rankings.items() if metrics else ():
        if ranking.coverage is not None:
            continue
        share = known["judged"] @ k
        asked = [*metrics, share, known["inferred_ap"] @ k]
        means = {label: _mean(values) for label, values in evaluate(ranking, asked, **how).items()}
        relevant = evaluate(all_relevant(ranking, k), metrics, **how)
        alone = evaluate(condensed(ranking), metrics, **how)
        unknown = np.isnan(evaluate(ranking, metrics, **how)[metrics[0].label])
        for metric in metrics:
            label = metric.label
            rows.append((
                name, label, means[share.label], means[label], _mean(np.where(unknown, np.nan, relevant[label])),
                _mean(alone[label]), means[asked[-1].label] if ranking.pooled is not None else float("nan"),
            ))  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def chosen(leading: Metric, measured: Sequence[Metric]) -> list[Metric]:
    """The primary metric, or the first one where that reads no ranking, and of each in BESIDE the deepest one."""
    own = [metric for metric in measured if not metric.is_users]
    first = [metric for metric in own if metric.label == leading.label] or own[:1]
    others = [[metric for metric in own if metric.name == name][-1:] for name in BESIDE]
    return list({metric.label: metric for metrics in (first, *others) for metric in metrics}.values())


def _mean(values: Array) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
