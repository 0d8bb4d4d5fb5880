"""From the score table to what a page states: estimates of every system, comparisons with the baseline, one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ragbench import stats
from ragbench.measurement import NamedComparison, NamedEstimate
from ragbench.metric import Metric
from ragbench.types import Array, Better

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sureness:
    """How sure the statements of a page are: confidence level, draws of bootstrap and randomization, and their seed."""

    level: float
    resamples: int
    seed: int


def find(
    scores: pd.DataFrame,
    metrics: Sequence[Metric],
    systems: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
    """Estimates of every system and metric, and comparisons of every other system with the first.

    scores: the long score table (one row per system, metric and sample, NaN where unmeasured).
    clusters: sample → cluster, where samples are not independent.

    With two systems every comparison is a paired randomization test; with more, max-T over the systems of a metric.
    All comparisons of the page form one family, corrected by Holm.
    """
    columns = {name: _columns(scores, name, metrics) for name in systems}
    samples = list(dict.fromkeys(scores["sample"]))
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    bounds = {each.label: _bounds(each) for each in metrics}
    estimates = [
        NamedEstimate(name, label, estimate)
        for name in systems
        for label, estimate in stats.estimate_many(
            columns[name], clusters=labels, bounds=bounds, **asdict(sureness)
        ).items()
    ]
    better: dict[str, Better] = {each.label: each.better for each in metrics if each.better is not None}
    found = []
    baseline = systems[0]
    for challenger in systems[1:]:
        compared = stats.compare_metrics(
            {label: columns[baseline][label] for label in better},
            {label: columns[challenger][label] for label in better},
            clusters=labels,
            better=better,
            names=(baseline, challenger),
            **asdict(sureness),
        )
        found += list(compared.items())
    adjusted = stats.adjust([comparison for _, comparison in found])
    comparisons = [NamedComparison(label, one) for (label, _), one in zip(found, adjusted, strict=True)]
    return tuple(estimates), tuple(comparisons)


def _columns(scores: pd.DataFrame, system: str, metrics: Sequence[Metric]) -> dict[str, Array]:
    """One column a metric, its rows in the order in which samples first stand in the table."""
    own = scores[scores["system"] == system]
    wide = own.pivot_table(index="sample", columns="metric", values="value", dropna=False, sort=False, aggfunc="first")
    wide = wide.reindex(list(dict.fromkeys(scores["sample"])))
    return {each.label: wide[each.label].to_numpy(dtype=float) for each in metrics}


def _bounds(metric: Metric) -> tuple[float, float] | None:
    low, high = metric.bounds
    return None if low is None or high is None else (low, high)
