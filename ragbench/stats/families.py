"""Families of comparisons: p-values corrected together, and verdicts from the corrected ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ragbench.stats.comparisons import verdict_of
from ragbench.types import Array, Comparison, Verdict


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
    corrected = rules[method](np.array([one.p for one in comparisons], dtype=np.float64))
    number = int(np.isfinite(corrected).sum())
    return [
        one if np.isnan(p) else with_adjusted(one, float(p), f"{number}, {method}")
        for one, p in zip(comparisons, corrected, strict=True)
    ]


def with_adjusted(one: Comparison, p: float, family: str) -> Comparison:
    """The comparison with its corrected p, the family's name, and the verdict that the corrected p allows."""
    word = verdict_of(one.difference, p, one.better, one.level)
    if word is Verdict.NOT_SHOWN and one.verdict is Verdict.SAME:
        word = Verdict.SAME
    return replace(one, p_adjusted=p, family=family, verdict=word)


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
