"""From the score table to what a page states: estimates of every system, comparisons with the baseline, one family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.core.measurement import NamedComparison, NamedEstimate
from ragbench.core.metric import Metric
from ragbench.core.types import Array, Status
from ragbench.stats import Hypothesis
from ragbench.tiers.basics.families import Group, Pair, Sureness, compared

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sureness", "columns", "compare", "find"]

Bounds = tuple[float, float]
Flags = NDArray[np.bool_]
NOTHING = (str(Status.MISSING_FIELD), str(Status.EMPTY_INPUT), str(Status.EMPTY_DECOMPOSITION))


@dataclass(frozen=True)
class Unknown:
    """A metric that nobody declares here: its scale is open, and neither direction is good."""

    label: str
    better: None = None
    bounds: tuple[None, None] = (None, None)


def find(
    scores: pd.DataFrame,
    metrics: Sequence[Metric | Unknown],
    systems: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
    primary: str = "",
    more: Mapping[str, Sequence[Hypothesis]] | None = None,
    samples: Sequence[str] | None = None,
    tops: Mapping[str, float] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
    """Estimates of every system and metric, and comparisons of every other system with the first.

    scores: the long score table (one row per system, metric and sample, NaN where unmeasured).
    clusters: sample → cluster, where samples are not independent. primary: the metric that is a family of its own; see
    `ragbench.tiers.basics.families`. more: hypotheses by metric that were made from something else than single scores,
    one number for each of `samples`, all that there are, by id (None: those of the
    scores). What no pair of values was measured of is not compared. tops: by metric, the largest value that a question
    leaves room for, where that may be less than the end of the scale. pairs: who is compared with whom instead, each on
    the samples that both have a row of; a system has no estimate of a metric that it has no row of.
    """
    samples = sorted(set(scores["sample"])) if samples is None else samples
    values = {name: columns(scores, name, metrics, samples) for name in systems}
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    scales = {each.label: bounds(each) for each in metrics}
    estimates = [
        NamedEstimate(*key, estimate)
        for key, estimate in stats.estimate_systems(values, clusters=labels, bounds=scales, **asdict(sureness)).items()
    ]
    nothing = {name: void(scores, name, metrics, samples) for name in systems}
    asked = _asked(scores, pairs, samples) if pairs else None
    return tuple(estimates), compare(values, metrics, labels, sureness, primary, more, nothing, tops, asked)


def _asked(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]], samples: Sequence[str]) -> list[Pair]:
    rows = {name: set(scores["sample"][scores["system"] == name]) for pair in pairs for name in pair}
    return [Pair(a, b, np.flatnonzero([sample in rows[a] & rows[b] for sample in samples])) for a, b in pairs]


def compare(
    values: Mapping[str, Mapping[str, Array]],
    metrics: Sequence[Metric | Unknown],
    clusters: Sequence[str] | None,
    sureness: Sureness,
    primary: str = "",
    more: Mapping[str, Sequence[Hypothesis]] | None = None,
    nothing: Mapping[str, Mapping[str, Flags]] | None = None,
    tops: Mapping[str, float] | None = None,
    pairs: Sequence[Pair] | None = None,
) -> tuple[NamedComparison, ...]:
    """The comparisons of `find`, of values by system and metric, one a sample in the same order, the first system the
    one that all others are compared with. clusters: one a sample. nothing: by system, what `void` says. tops: as there.
    pairs: who is compared with whom instead.
    """
    groups = {
        each.label: Group(
            {name: own[each.label] for name, own in values.items() if each.label in own},
            each.better,
            bounds=bounds(each, (tops or {}).get(each.label)),
            void={name: own[each.label] for name, own in (nothing or {}).items()},
            pairs=None
            if pairs is None
            else [pair for pair in pairs if all(each.label in values[name] for name in pair[:2])],
        )
        for each in metrics
        if each.better is not None
    }
    by_metric = compared(groups, clusters, sureness, primary, more)
    order = {name: place for place, name in enumerate(values)}
    comparisons = [NamedComparison(label, comparison) for label, group in by_metric.items() for comparison in group]
    return tuple(sorted(comparisons, key=lambda each: order[each.comparison.challenger]))


def columns(
    scores: pd.DataFrame, system: str, metrics: Sequence[Metric | Unknown], samples: Sequence[str] | None = None
) -> dict[str, Array]:
    """One column a metric, its rows by the samples' ids: no number depends on the order in which a file has them."""
    own = scores[scores["system"] == system]
    wide = own.pivot_table(index="sample", columns="metric", values="value", dropna=False, sort=False, aggfunc="first")
    wide = wide.reindex(sorted(set(scores["sample"])) if samples is None else list(samples))
    return {each.label: wide[each.label].to_numpy(dtype=float) for each in metrics if each.label in wide}


def void(
    scores: pd.DataFrame, system: str, metrics: Sequence[Metric | Unknown], samples: Sequence[str] | None = None
) -> dict[str, Flags]:
    """By metric, (samples,) whether there was nothing to measure: a field that the sample does not have, or nothing in
    it to judge. Where that is so of both systems the question is no pair, and none that is unmeasured."""
    asked = sorted(set(scores["sample"])) if samples is None else list(samples)
    if "status" not in scores:
        return {each.label: np.zeros(len(asked), dtype=bool) for each in metrics}
    own = scores[(scores["system"] == system) & scores["value"].isna() & scores["status"].isin(NOTHING)]
    by_metric = {label: set(part["sample"]) for label, part in own.groupby("metric", sort=False)}
    empty: set[str] = set()
    return {each.label: np.array([sample in by_metric.get(each.label, empty) for sample in asked]) for each in metrics}


def bounds(metric: Metric | Unknown, top: float | None = None) -> Bounds | None:
    """The ends of the metric's scale, infinite where one is open; None where both are. top: the most that can be
    reached, if it is less."""
    low, high = (-math.inf if metric.bounds[0] is None else metric.bounds[0]), metric.bounds[1]
    if high is None and math.isinf(low):
        return None
    high = math.inf if high is None else high
    return (low, min(high, top)) if top is not None and top > low else (low, high)
