"""Questions that were asked several times: one score of each, and what questions and repeats add to what is printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench import stats
from ragbench.core.measurement import NamedComparison, NamedEstimate
from ragbench.core.types import Array, Score, Status
from ragbench.metrics.explanation import ENGLISH, Speaker, explain, of_a_panel, sentence

if TYPE_CHECKING:
    import pandas as pd

REPEATED = ("system", "metric", "sample", "repeat", "value", "status", "reason")
"""A single score of a question that was asked several times; repeats are counted from 0."""
VARIANCE = (
    "system", "baseline", "metric", "n", "repeats", "of_questions", "of_repeats", "error", "error_of_questions",
    "error_of_repeats", "error_twice_repeats", "error_twice_questions",
)  # fmt: skip
"""Of a mean, or of a difference to `baseline`: how often each question was asked; the variance of single values between
questions and within them; the standard error with its two parts, whose squares add up to it; and what it would be with
twice the repeats, and with twice the questions. See `ragbench.stats.variance_split`."""


def together(scores: Sequence[Score], speaker: Speaker = ENGLISH) -> Score:
    """The score of a question that was asked several times: the mean over the repeats that were measured, unmeasured
    where none was. Its data are those of the first that was; all values are in `detail["repeats"]`."""
    measured = [score for score in scores if score.status is Status.OK]
    if len(scores) < 2 or not measured:
        return scores[0]
    first, values = measured[0], [score.value for score in scores]
    shown = tuple({"text": "{value}", "values": {"value": None if math.isnan(each) else each}} for each in values)
    said = sentence("Mean of {n} repeats: {values}. The first:", n=len(scores), values=shown)
    parts = first.detail.get("explanation") or (of_a_panel(first) if "judges" in first.detail else [])
    rest = [] if parts else [{"text": "{reason}", "values": {"reason": first.reason}}]
    detail = {**first.detail, "explanation": [said, *parts, *rest], "repeats": values}
    made = replace(first, value=math.fsum(score.value for score in measured) / len(measured), detail=detail)
    return replace(made, reason=explain(made, speaker))


def table(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Rows of REPEATED as a table."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(REPEATED)).astype({"value": float, "repeat": "int64"})


def variance(
    repeated: pd.DataFrame,
    estimates: Sequence[NamedEstimate],
    comparisons: Sequence[NamedComparison],
    clusters: Mapping[str, str] | None,
) -> pd.DataFrame:
    """VARIANCE of the differences, then of the means, that are made of repeats; none of what was asked once."""
    import pandas as pd

    samples = sorted(set(repeated["sample"]))
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    wide = {
        (str(system), str(metric)): own.pivot(index="sample", columns="repeat", values="value")
        .reindex(samples)
        .to_numpy(dtype=float)
        for (system, metric), own in repeated.groupby(["system", "metric"], sort=False)
    }
    places = [
        (comparison.comparison.challenger, comparison.comparison.baseline, comparison.metric)
        for comparison in comparisons
    ]
    places += [(estimate.system, "", estimate.metric) for estimate in estimates]
    rows = [
        row
        for system, baseline, metric in places
        if (system, metric) in wide and (not baseline or (baseline, metric) in wide)
        if (row := _row(system, baseline, metric, wide, labels)) is not None
    ]
    return pd.DataFrame(rows, columns=list(VARIANCE))


def _row(
    system: str, baseline: str, metric: str, wide: Mapping[tuple[str, str], Array], labels: Sequence[str] | None
) -> tuple[Any, ...] | None:
    against = wide[baseline, metric] if baseline else None
    split = stats.variance_split(wide[system, metric], against, clusters=labels)
    if np.isnan(split.error):
        return None
    return (
        system, baseline, metric, split.n, split.repeats_each, split.questions, split.repeats, split.error,
        split.error_of_questions, split.error_of_repeats, split.error_with(repeats=2), split.error_with(questions=2),
    )  # fmt: skip
