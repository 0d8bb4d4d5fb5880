"""How systems fare on parts of the questions: one kind, one language, one source, each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench import stats
from ragbench.bench.basics.families import Group, Sureness, compared
from ragbench.bench.basics.findings import bounds, columns
from ragbench.bench.basics.session import BenchError, parted
from ragbench.measurement import estimate_row
from ragbench.metric import Metric
from ragbench.types import Comparison, Estimate, Question

if TYPE_CHECKING:
    import pandas as pd

DIMENSIONS = ("kind", "language", "source")
FEWEST = 20
"""Questions below which a slice is shown without a verdict: they could hardly show any difference."""
MOST = 12
"""Slices of a dimension: the largest are shown, the others counted."""
COMPARISON = (
    "baseline", "challenger", "difference", "low", "high", "level", "method", "p", "test", "effect_size", "n",
    "n_dropped", "better", "p_adjusted", "clusters", "minimum_detectable", "questions_needed",
    "groups_needed", "family", "note",
)  # fmt: skip


def chosen(given: str | Sequence[str]) -> tuple[str, ...]:
    """The dimensions that a text or a list names. Raises BenchError for others than kind, language and source."""
    named = parted(given)
    for name in named:
        if name not in DIMENSIONS:
            raise BenchError(f"slice_by names {name!r}; questions are sliced by {', '.join(DIMENSIONS)}")
    return named


def table(
    scores: pd.DataFrame,
    metric: Metric,
    systems: Sequence[str],
    asked: Sequence[Question],
    dimensions: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
) -> pd.DataFrame:
    """One row a slice and system: estimate, and comparison with the first system.

    A dimension with one value is not sliced by. The comparisons of all slices form one family of their own; a slice
    of fewer than 20 questions is not compared and not in the family. Slices are made from what is known of the
    questions, never from how systems fared on them: the family does not hang on what was found.
    """
    import pandas as pd

    asked = sorted(asked, key=lambda question: question.id)  # as the columns are
    parts = _parts(asked, dimensions)
    values = {name: columns(scores, name, [metric])[metric.label] for name in systems}
    labels = None if clusters is None else np.array([clusters[question.id] for question in asked], dtype=object)
    groups: dict[Any, Group] = {}
    for part, places in parts.items():
        own = {name: column[places] for name, column in values.items()}
        groups[part] = Group(own, metric.better or "higher", None if labels is None else list(labels[places]))
    large = {part: group for part, group in groups.items() if len(parts[part]) >= FEWEST and metric.better}
    found = compared(large, "slices", sureness)
    rows = []
    for part, group in groups.items():
        against = {one.challenger: one for one in found.get(part, ())}
        for name in systems:
            own_estimate = stats.estimate(
                group.values[name], clusters=group.clusters, bounds=bounds(metric), **asdict(sureness)
            )
            rows.append({**_named(part, name, metric), **_flat(own_estimate, against.get(name))})
    return pd.DataFrame(rows)


def left_out(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[str, int]:
    """How many smaller slices of a dimension are not in the table."""
    counts = {name: len({_value(question, name) for question in asked}) - MOST for name in dimensions}
    return {name: count for name, count in counts.items() if count > 0}


def _parts(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[tuple[str, str | None], np.ndarray]:
    """(dimension, value) → places of its questions, the largest slice of a dimension first; None: value not given."""
    found: dict[tuple[str, str | None], np.ndarray] = {}
    for dimension in dimensions:
        places: dict[str | None, list[int]] = {}
        for place, question in enumerate(asked):
            places.setdefault(_value(question, dimension), []).append(place)
        if len(places) < 2:
            continue
        ordered = sorted(places, key=lambda value: (-len(places[value]), value is None, value or ""))
        found |= {(dimension, value): np.array(places[value]) for value in ordered[:MOST]}
    return found


def _value(question: Question, dimension: str) -> str | None:
    """What is known of the question as a text, whatever made it; None: not given."""
    value = getattr(question, dimension)
    return None if value is None or value != value else str(value) or None  # NaN: as tables hold what is missing


def _named(part: tuple[str, str | None], system: str, metric: Metric) -> dict[str, Any]:
    dimension, value = part
    return {"dimension": dimension, "slice": value, "system": system, "metric": metric.label}


def _flat(estimate: Estimate, comparison: Comparison | None) -> dict[str, Any]:
    row = {f"estimate_{name}": value for name, value in estimate_row(estimate).items()}
    row |= {f"comparison_{name}": None if comparison is None else getattr(comparison, name) for name in COMPARISON}
    return row | {"verdict": None if comparison is None else comparison.verdict.value}
