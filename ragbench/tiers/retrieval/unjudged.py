"""How much of what systems retrieved nobody has judged, and what that could change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.metric import Metric
from ragbench.core.types import Array, Ranking

if TYPE_CHECKING:
    import pandas as pd

TABLE = "judged"
VALUES = ("judged", "irrelevant", "relevant", "condensed", "inferred")
COLUMNS = ("system", "metric", *VALUES)
BESIDE = ("ndcg", "recall")
"""Metrics that stand there besides the primary one."""
DEPTH = 10
"""Where judged@k looks for a metric that has no cut-off."""


def values(ranking: Ranking, metrics: Sequence[Metric], **how: Any) -> dict[tuple[str, str], Array]:
    """(metric's label, one of VALUES) → a value a question, as deep as the metric looks.

    judged: the share that was judged. irrelevant, relevant, condensed: the metric if what was not is irrelevant (the
    printed value), if it is relevant, and if it is left out. inferred: infAP, NaN where judgements are no sample. how:
    as for `evaluate`.
    """
    from ragbench.metrics import catalogue
    from ragbench.metrics.evaluation import evaluate
    from ragbench.metrics.ranking_arrays import all_relevant, condensed

    known, columns = catalogue(), dict[tuple[str, str], Array]()
    for metric in metrics:
        label, depth = metric.label, metric.cutoff
        share = known["judged"] @ (depth or DEPTH)
        inferred = known["inferred_ap"] if depth is None else known["inferred_ap"] @ depth
        own = evaluate(ranking, list(dict.fromkeys([metric, share, inferred])), **how)
        printed = own[label]
        completed = evaluate(all_relevant(ranking, depth), [metric], **how)[label]
        columns[label, "judged"] = own[share.label]
        columns[label, "irrelevant"] = printed
        columns[label, "relevant"] = np.where(np.isnan(printed), np.nan, completed)
        columns[label, "condensed"] = evaluate(condensed(ranking), [metric], **how)[label]
        columns[label, "inferred"] = (
            own[inferred.label] if ranking.pooled is not None else np.full(len(ranking), np.nan)
        )
    return columns


def rows_of(system: str, columns: Mapping[tuple[str, str], Array]) -> list[tuple[Any, ...]]:
    """A row of means a metric (COLUMNS)."""
    labels = dict.fromkeys(label for label, _ in columns)
    return [(system, label, *(_mean(columns[label, name]) for name in VALUES)) for label in labels]


def table(rankings: Mapping[str, Ranking], metrics: Sequence[Metric], samples: Sequence[str]) -> pd.DataFrame:
    """The values of several systems, a row a metric and question; empty for rankings of pieces, whose text may be
    judged in part. samples: the questions' ids."""
    import pandas as pd

    whole = {name: values(ranking, metrics) for name, ranking in rankings.items() if ranking.coverage is None}
    rows = [
        (name, label, sample, *row)
        for name, columns in whole.items()
        for label in dict.fromkeys(label for label, _ in columns)
        for sample, *row in zip(samples, *(columns[label, value].tolist() for value in VALUES), strict=True)
    ]
    return pd.DataFrame(rows, columns=["system", "metric", "sample", *VALUES])


def means(table: pd.DataFrame) -> list[dict[str, Any]]:
    """What `table` has of each system and metric, over its questions."""
    if table.empty:
        return []
    order = list(dict.fromkeys(table["metric"]))
    rows = [
        {"system": system, "metric": metric, **{value: _mean(own[value].to_numpy(dtype=float)) for value in VALUES}}
        for (metric, system), own in table.groupby(["metric", "system"], sort=False)
    ]
    return sorted(rows, key=lambda row: order.index(row["metric"]))


def chosen(leading: str, measured: Iterable[Metric]) -> list[Metric]:
    """The metric of that label, or the first one where it reads no ranking, and of each in BESIDE the deepest one."""
    own = [metric for metric in measured if not metric.is_users and metric.better]
    first = [metric for metric in own if metric.label == leading] or own[:1]
    others = [[metric for metric in own if metric.name == name][-1:] for name in BESIDE]
    return list({metric.label: metric for metrics in (first, *others) for metric in metrics}.values())


def _mean(column: Array) -> float:
    return float(np.nanmean(column)) if np.isfinite(column).any() else float("nan")
