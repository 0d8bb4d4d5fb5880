"""What was not measured bounds what is said of a difference.

A pair with an unmeasured side may lie anywhere on the scale. Over all pairs, the difference then lies between two ends,
where every unmeasured value is put at that end of its scale which makes the difference smallest, or largest (Manski
1989, Journal of Human Resources 24; Horowitz, Manski 2000, JASA 95). A pair with one side measured can only move as far
as the other side can; where its scale is open on that side, nothing bounds the difference there, and what is said of it
holds for what was measured. A word is said only where the completion that speaks most against it is shown too, by the
same test at the same step of its family.

The p of signs falls with every difference that is raised towards the word: a pattern of signs is as far out as what was
seen exactly if the differences whose sign it turns add up to 0 or less. So no completion has a larger p by signs than
that one. The studentized bootstrap, which skewed completions ask for, is not so: a value raised alone widens the spread
by more than it raises the mean. Student's statistic is least at a corner of the box of all completions, as the error is
a convex function of them and the mean a linear one, so that corners are tried, with few to all of what is missing at
the better end, those first that then lie farthest out; the largest p counts. Nothing is supposed of why values are
missing: the true completion is one of them, and where there is no difference, the one that speaks most against the word
has no larger mean, so that it is shown no more often than the level says (Imbens, Manski 2004, Econometrica 72).

What a function of a whole set would make of answers that are not there, nobody knows: it may be anything on its scale,
and no word is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.core.types import Array, Comparison
from ragbench.stats.estimates import Bounds, limits_of
from ragbench.stats.signs import leans
from ragbench.stats.values import Units, as_values, exact_mean

Flags = NDArray[np.bool_]
Scales = Bounds | Mapping[str, Bounds | None] | None
"""The ends of a metric's scale, or by metric; infinite where one is open, None where they are not known."""


def scale_of_pair(name: str, first: ArrayLike, second: ArrayLike, bounds: Scales) -> Bounds | None:
    """The ends of a metric's scale: those given, else of 0/1 values 0 and 1; None where both are open.

    Raises ValueError for values outside.
    """
    own = bounds.get(name) if isinstance(bounds, Mapping) else bounds
    columns = [as_values(each, name) for each in (first, second)]
    if own is None:
        return (0.0, 1.0) if all(map(is_binary, columns)) else None
    for each in columns:
        limits_of(name, each, each, own)
    return own if any(map(math.isfinite, own)) else None


def is_binary(values: Array) -> bool:
    """Whether all measured values, of one or more, are 0 or 1."""
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool((known == (known != 0)).all())


def ends(first: Array, second: Array, scale: Bounds, void: Flags | None = None) -> tuple[Array, Array]:
    """(questions,) second − first with every unmeasured value where it makes the difference smallest, and largest.

    void: questions that are no pairs; NaN there.
    """
    low, high = scale
    least = np.where(np.isnan(second), low, second) - np.where(np.isnan(first), high, first)
    most = np.where(np.isnan(second), high, second) - np.where(np.isnan(first), low, first)
    if void is not None:
        least, most = (np.where(void, np.nan, each) for each in (least, most))
    return least, most


def corners(worst: Array, best: Array) -> tuple[Array, ...]:
    """(questions,) completions from the worst to the best, with few, half, or all but few of what is missing at its
    better end, what lies farthest out there first."""
    gaps = np.flatnonzero(~np.isnan(worst) & (worst != best))
    farthest = gaps[np.argsort(-np.abs(best[gaps]), kind="stable")]
    number, made = len(gaps), []
    for moved in sorted({0, 1, 2, 3, number // 2, number - 2, number - 1, number} & set(range(number + 1))):
        column = worst.copy()
        column[farthest[:moved]] = best[farthest[:moved]]
        made.append(column)
    return tuple(made)


def bounded(
    comparison: Comparison,
    columns: tuple[Array, Array],
    units_at: Callable[[Array], Units],
    p_of: Callable[[Units], float],
    equivalence_of: Callable[[Array], float] | None = None,
    values: tuple[float, float] | None = None,
) -> tuple[Comparison, tuple[Array, ...]]:
    """The comparison with the ends of its difference over all pairs, and with what its tests say there; and the columns
    of the completions that speak against the difference, the one that does so most first. None of them, and no p, where
    the scale is open on that side.

    columns: (questions,) both completions, NaN for what is no pair. units_at, p_of: what is tested of such a column,
    and its test; equivalence_of: that test of the column itself.
    values: the differences of the completions, where they are no means: then no completion between them is known.
    """
    least, most = (exact_mean(each[~np.isnan(each)]) for each in columns) if values is None else values
    comparison = replace(
        comparison, least=least if math.isfinite(least) else None, most=most if math.isfinite(most) else None
    )  # fmt: skip
    up = comparison.difference > 0
    (worst, best), against = (columns, least > 0) if up else (columns[::-1], most < 0)
    if not math.isfinite(least if up else most):
        return comparison, ()
    if not math.isfinite(most if up else least):
        tried: tuple[Array, ...] = (worst,)
    else:
        tried = corners(worst, best) if values is None else (worst, best)
        if equivalence_of is not None and comparison.p_equivalence is not None:
            p_equal = [comparison.p_equivalence, *map(equivalence_of, tried)]
            comparison = replace(comparison, p_equivalence_worst=1.0 if any(map(math.isnan, p_equal)) else max(p_equal))
    if not against:
        return replace(comparison, p_worst=1.0), tried
    units = [units_at(column) for column in tried]
    p = [p_of(each) for place, each in enumerate(units) if not place or leans(each)]
    return replace(comparison, p_worst=max(p)), tried


def anything(comparison: Comparison) -> Comparison:
    """The comparison of what may be anything on its scale with what is unmeasured."""
    least, most = (None, None) if comparison.width is None else (-comparison.width, comparison.width)
    return replace(comparison, least=least, most=most, p_worst=1.0)
