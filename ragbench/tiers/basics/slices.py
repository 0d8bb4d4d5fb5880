"""How systems fare on parts of the questions: one kind, one language, one source, each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench import stats
from ragbench.core.measurement import Finding, NamedComparison, NamedEstimate
from ragbench.core.metric import Metric
from ragbench.core.types import Question
from ragbench.tiers.basics.choices import BenchError, parted
from ragbench.tiers.basics.families import Group, Sureness, compared
from ragbench.tiers.basics.findings import bounds, columns, void

if TYPE_CHECKING:
    import pandas as pd

DIMENSIONS = ("kind", "language", "source")
FEWEST = 20
"""Questions below which a slice is shown without a verdict: they could hardly show any difference."""
MOST = 12
"""Slices of a dimension: the largest are shown, the others counted."""


def chosen(given: str | Sequence[str]) -> tuple[str, ...]:
    """The dimensions that a text or a list names. Raises BenchError for others than kind, language and source."""
    named = parted(given)
    for name in named:
        if name not in DIMENSIONS:
            raise BenchError(f"slice_by names {name!r}; questions are sliced by {', '.join(DIMENSIONS)}")
    return named


def findings(
    scores: pd.DataFrame,
    metric: Metric,
    systems: Sequence[str],
    asked: Sequence[Question],
    dimensions: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
) -> tuple[Finding, ...]:
    """An estimate for each slice and system, and its comparison with the first system, at `slice=dimension:value`.

    A dimension with one value is not sliced by; questions without a value are at the dimension alone. The comparisons
    of all slices form one family of their own; a slice of fewer than 20 questions is not compared and not in the
    family. Slices are made from what is known of the questions, never from how systems fared on them: the family does
    not hang on what was found.
    """
    asked = sorted(asked, key=lambda question: question.id)  # as the columns are
    parts = _parts(asked, dimensions)
    values = {name: columns(scores, name, [metric])[metric.label] for name in systems}
    nothing = {name: void(scores, name, [metric])[metric.label] for name in systems}
    labels = None if clusters is None else [clusters[question.id] for question in asked]
    groups: dict[str, Group] = {}
    for part, places in parts.items():
        groups[part] = Group(values, metric.better or "higher", places, bounds(metric), nothing)
    large = {part: group for part, group in groups.items() if len(parts[part]) >= FEWEST and metric.better}
    comparisons = compared(large, labels, sureness)
    made: list[Finding] = []
    for part in groups:
        where = {"slice": part}
        own_labels = None if labels is None else [labels[place] for place in parts[part]]
        how: dict[str, Any] = {"clusters": own_labels, "bounds": bounds(metric), **asdict(sureness)}
        made += [
            NamedEstimate(name, metric.label, stats.estimate(values[name][parts[part]], **how), where)
            for name in systems
        ]
        made += [NamedComparison(metric.label, comparison, where) for comparison in comparisons.get(part, ())]
    return tuple(made)


def left_out(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[str, int]:
    """How many smaller slices of a dimension are not in the table."""
    counts = {name: len({_value(question, name) for question in asked}) - MOST for name in dimensions}
    return {name: count for name, count in counts.items() if count > 0}


def _parts(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[str, np.ndarray]:
    """Slice → places of its questions, the largest of a dimension first; the dimension alone: value not given."""
    parts: dict[str, np.ndarray] = {}
    for dimension in dimensions:
        places: dict[str | None, list[int]] = {}
        for place, question in enumerate(asked):
            places.setdefault(_value(question, dimension), []).append(place)
        if len(places) < 2:
            continue
        ordered = sorted(places, key=lambda value: (-len(places[value]), value is None, value or ""))
        for value in ordered[:MOST]:
            parts[dimension if value is None else f"{dimension}:{value}"] = np.array(places[value])
    return parts


def _value(question: Question, dimension: str) -> str | None:
    """What is known of the question as a text, whatever made it; None: not given."""
    value = getattr(question, dimension)
    return None if value is None or value != value else str(value) or None  # NaN: as tables hold what is missing
