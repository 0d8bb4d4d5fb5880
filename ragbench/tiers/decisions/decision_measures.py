"""The measures of decisions to show an answer or not, each with an interval that does not mislead near its ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.core.metric import Metric
from ragbench.core.types import Array, Estimate
from ragbench.metrics.decisions import Cell, accuracy, balanced_accuracy, decision_precision, decision_recall, f1_score

METRICS: tuple[Metric, ...] = (balanced_accuracy, accuracy, decision_precision, decision_recall, f1_score)
UNMEASURED = -1
"""In the place of a `Cell`: the judge had nothing to decide by."""
_GROUPS: dict[str, frozenset[Cell]] = {
    "accuracy": frozenset(Cell),
    "decision_precision": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE}),
    "decision_recall": frozenset({Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE}),
    "f1_score": frozenset(Cell) - {Cell.TRUE_NEGATIVE, Cell.FAILED_NEGATIVE},
}
"""The decisions that a measure is a share of; F1 is 2J / (1 + J) of such a share J."""


def table(cells: NDArray[np.int64]) -> Array:
    """(cases, 6) one where the decision falls; NaN where it is unmeasured."""
    return np.where((cells == UNMEASURED)[:, None], np.nan, np.eye(len(Cell))[cells])


def guarded(metric: Metric, cells: NDArray[np.int64], clusters: Sequence[str] | None = None, **how: Any) -> Estimate:
    """A measure of a whole set of decisions, its cells drawn anew for the interval, and guarded near its ends.

    cells: (cases,) of `Cell`, or UNMEASURED. Each measure is a share of some of the decisions, or an increasing
    function of one; where the share's bootstrap interval would mislead (few cases, near 0 or 1, no spread) the share's
    guarded interval is printed in its place, carried over to the measure.
    """
    drawn = stats.resample(metric, table(cells), clusters=clusters, bounds=(0.0, 1.0), **how)
    if metric is balanced_accuracy:
        return _balanced(drawn, cells, clusters, how)
    part = np.isin(cells, list(_GROUPS[metric.name]))
    if not part.any() or np.isnan(drawn.value):
        return drawn
    hits = (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE) if metric is accuracy else (Cell.TRUE_POSITIVE,)
    labels = None if clusters is None else [label for label, keep in zip(clusters, part, strict=True) if keep]
    share = stats.estimate(np.isin(cells[part], hits).astype(float), clusters=labels, bounds=(0.0, 1.0), **how)
    if not share.note or share.low is None or share.high is None:
        return drawn
    carried: Callable[[float], float] = (lambda j: 2 * j / (1 + j)) if metric is f1_score else (lambda j: j)
    known = {name: (carried(low), carried(high)) for name, (low, high) in share.intervals.items()}
    return replace(
        drawn, low=carried(share.low), high=carried(share.high), method=share.method, note=share.note,
        clusters=drawn.clusters if drawn.clusters is None else share.clusters, n_effective=share.n_effective,
        design_effect=share.design_effect, intervals={**drawn.intervals, **known}, doubt=share.doubt,
    )  # fmt: skip


def _balanced(
    drawn: Estimate, cells: NDArray[np.int64], clusters: Sequence[str] | None, how: dict[str, Any]
) -> Estimate:
    """Balanced accuracy where the interval of one of its two shares is guarded: both shares' intervals together
    (MOVER: Zou and Donner 2008)."""
    right = np.where(cells == UNMEASURED, np.nan, np.isin(cells, (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE)))
    positive = np.isin(cells, (Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE))
    if np.isnan(drawn.value):
        return drawn
    if {*cells.tolist()} - {UNMEASURED} in (
        {Cell.TRUE_POSITIVE, Cell.FALSE_POSITIVE},
        {Cell.TRUE_NEGATIVE, Cell.FALSE_NEGATIVE},
    ):
        return replace(drawn, low=None, high=None, method="none", note="always_the_same", intervals={})
    shares = [
        stats.estimate(np.where(part, right, np.nan), clusters=clusters, bounds=(0.0, 1.0), **how)
        for part in (positive, ~positive)
    ]
    guard = next((each for each in shares if each.note), None)
    ends = [(each.value, each.low, each.high) for each in shares if each.low is not None and each.high is not None]
    if guard is None or len(ends) < 2:
        return drawn
    low = drawn.value - math.hypot(*(value - low for value, low, _ in ends)) / 2
    high = drawn.value + math.hypot(*(high - value for value, _, high in ends)) / 2
    known = {guard.method: (low, high)}
    return replace(
        drawn, low=low, high=high, method=guard.method, note=guard.note, intervals={**drawn.intervals, **known},
        doubt=next((each.doubt for each in shares if each.doubt), ""),
    )  # fmt: skip
