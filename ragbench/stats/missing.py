"""What was not measured bounds what is said of a difference.

A pair with an unmeasured side may lie anywhere on the scale. Over all pairs, the difference then lies between two ends,
where every unmeasured value is put at that end of its scale which makes the difference smallest, or largest (Manski
1989, Journal of Human Resources 24; Horowitz, Manski 2000, JASA 95). A pair with one side measured can only move as far
as the other side can. A word is said only where the completion that speaks most against it is shown too, by the same
test at the same step of its family.

The p of signs falls with every difference that is raised towards the word: a pattern of signs is as far out as what was
seen exactly if the differences whose sign it turns add up to 0 or less. So no completion has a larger p than that one,
and where it is shown, all are. Nothing is supposed of why values are missing: the true completion is one of them, and
where there is no difference, the one that speaks most against the word has no larger mean, so that it is shown no more
often than the level says (Imbens, Manski 2004, Econometrica 72).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.stats.estimates import Bounds, scale_of
from ragbench.stats.samples import as_values, exact_mean
from ragbench.types import Array, Comparison

Flags = NDArray[np.bool_]
Scales = Bounds | Mapping[str, Bounds | None] | None
"""The ends of a metric's scale, or by metric; None where one is open or not known."""


def scale_of_pair(name: str, first: ArrayLike, second: ArrayLike, bounds: Scales) -> Bounds | None:
    """The ends of a metric's scale: those given, else of 0/1 values 0 and 1. Raises ValueError for values outside."""
    own = bounds.get(name) if isinstance(bounds, Mapping) else bounds
    columns = [as_values(each, name) for each in (first, second)]
    if own is None:
        return (0.0, 1.0) if all(map(is_binary, columns)) else None
    for each in columns:
        scale_of(name, each, each, own)
    return own if all(map(math.isfinite, own)) else None


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


def at_ends(pseudo: Array, lacking: Flags, width: float) -> tuple[Array, Array]:
    """(questions,) pseudo-values of a difference, with what an unmeasured pair would add to a mean at either end of a
    scale of this width."""
    return np.where(lacking, -width, pseudo), np.where(lacking, width, pseudo)


def bounded(
    one: Comparison,
    columns: tuple[Array, Array],
    p_of: Callable[[Array], float],
    equivalence_of: Callable[[Array], float] | None = None,
    values: tuple[float, float] | None = None,
) -> tuple[Comparison, Array]:
    """The comparison with the ends of its difference over all pairs, and with what its tests say there; and the column
    of the completion that speaks most against the difference.

    columns: (questions,) both completions, NaN for what is no pair. p_of, equivalence_of: the tests, of such a column;
    equivalence is tested with the missing values at both ends by turns too, where they vary most.
    values: the differences of the completions, where they are no means.
    """
    least, most = (exact_mean(each[~np.isnan(each)]) for each in columns) if values is None else values
    up = one.difference > 0
    worst, against = (columns[0], least > 0) if up else (columns[1], most < 0)
    equal = None
    if equivalence_of is not None and one.p_equivalence is not None:
        turns = np.where(np.cumsum(columns[0] != columns[1]) % 2, *columns)
        tried = [one.p_equivalence, *map(equivalence_of, (*columns, turns))]
        equal = 1.0 if any(map(math.isnan, tried)) else max(tried)
    p = p_of(worst) if against else 1.0
    return replace(one, least=least, most=most, p_worst=p, p_equivalence_worst=equal), worst
