"""Families of comparisons: p-values corrected together, and verdicts from the corrected ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats.comparisons import decided
from ragbench.types import Array, Comparison


def holm(p: ArrayLike) -> Array:
    """Adjusted p-values that hold the family-wise error rate (Holm 1979), in the order given; NaN stays NaN."""
    return _step(p, lambda ordered, m: np.asarray(np.maximum.accumulate((m - np.arange(m)) * ordered)))


def benjamini_hochberg(p: ArrayLike) -> Array:
    """Adjusted p-values that hold the false discovery rate (Benjamini, Hochberg 1995); NaN stays NaN."""
    return _step(
        p, lambda ordered, m: np.asarray(np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[::-1])[::-1])
    )


def adjust(
    comparisons: Sequence[Comparison], method: Literal["holm", "benjamini_hochberg"] = "holm"
) -> list[Comparison]:
    """The comparisons with p corrected over all of them, the family named, and verdicts from the corrected p.

    Comparisons without a p (nothing was paired) are not part of the family and stay as they are.
    """
    rules = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}
    if method not in rules:
        raise ValueError(f"method is one of {', '.join(rules)}; got {method!r}")
    single = np.array([one.p for one in comparisons], dtype=np.float64)
    corrected = rules[method](single)
    number = int(np.isfinite(corrected).sum())

    def instead(place: int, p: float) -> float:
        return float(rules[method](np.where(np.arange(len(single)) == place, p, single))[place])

    return [
        one
        if np.isnan(p)
        else with_adjusted(one, float(p), f"{number}, {method}", (1 - one.level) / number, partial(instead, place))
        for place, (one, p) in enumerate(zip(comparisons, corrected, strict=True))
    ]


def with_adjusted(
    one: Comparison,
    p: float,
    family: str,
    threshold: float,
    instead: Callable[[float], float] = lambda p: p,
    joint: bool = False,
) -> Comparison:
    """The comparison with its corrected p, the family's name, and the verdict and power that the correction allows.

    threshold: the largest p of the pair alone that the hardest step of the family takes as shown. instead: what the
    corrected p would be if the comparison had another p and all else were as it is. joint: whether one test of several
    comparisons together set the threshold.
    """
    return replace(decided(one, p, threshold, instead, joint), p_adjusted=p, family=family)


def _step(p: ArrayLike, rule: Callable[[Array, int], Array]) -> Array:
    given = np.asarray(p, dtype=np.float64)
    known = given[~np.isnan(given)]
    if ((known < 0) | (known > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(known, kind="stable")
    adjusted = np.empty_like(known)
    adjusted[order] = np.minimum(rule(known[order], len(known)), 1.0)
    result = np.full(given.shape, np.nan)
    result[~np.isnan(given)] = adjusted
    return result
