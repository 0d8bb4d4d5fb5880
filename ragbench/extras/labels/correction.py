"""A judge's means, corrected by people's labels of some of the answers (PPI++)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.stats import Confidence
from ragbench.stats.labels import corrected_mean

MOST = 1_000_000


def correct_means(
    scores: pd.DataFrame, labels: pd.DataFrame, metric: str, confidence: Confidence
) -> pd.DataFrame:
    """Return three means a system that has labels: corrected, people alone, judge alone.

    scores: of a judge, as SCORES. labels: of `read_form`, on the metric's own scale. Columns:
    system, then as `ragbench.stats.labels.corrected_mean`. Raises BenchError where fewer than ten
    units of a system have both.
    """
    judged = scores[scores["metric"] == metric]
    if judged.empty:
        metrics = ", ".join(dict.fromkeys(scores["metric"]))
        raise BenchError(f"no scores of {metric!r}; there are {metrics}")
    both = judged.merge(labels, on=["system", "question_id"], how="left")
    marked = both.loc[both["label"].notna(), "system"].unique()
    if not len(marked):
        raise BenchError(
            "the form has no label of an answer that was scored; fill the column label"
        )
    both = both[both["system"].isin(marked)]
    parts = []
    for system, rows in both.groupby("system", sort=False):
        means = corrected_mean(
            rows["value"].to_numpy(dtype=float),
            rows["label"].to_numpy(dtype=float),
            rows["unit"].to_numpy(),
            confidence,
        )
        parts.append(means.assign(system=system))
    return pd.concat(parts, ignore_index=True)


def labels_needed(means: pd.DataFrame, width: float) -> int:
    """Return how many labels would make the corrected interval so wide, if labels stay as they are.

    The interval narrows with the root of the number of labels. Raises BenchError where a million
    would not do.
    """
    row = means[means["mean"] == "corrected"].iloc[0]
    now = row["high"] - row["low"]
    needed = int(np.ceil(row["n"] * (now / width) ** 2))
    if needed > MOST:
        raise BenchError(f"an interval of {width:g} needs more than {MOST:,} labels")
    return needed
