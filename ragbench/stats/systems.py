"""More than two systems on the same questions: every pair tested, p corrected over all of them together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.stats.comparisons import compare_metrics
from ragbench.stats.draws import every_flip, sign_flips
from ragbench.stats.families import with_adjusted
from ragbench.stats.samples import Labels, as_codes, as_values, check_better, units_of
from ragbench.types import Array, Better, Comparison


def compare_many(
    systems: Mapping[str, ArrayLike],
    baseline: str | None = None,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of systems, or every system against the baseline, with p adjusted over all of them together.

    systems: name to one number a question, in the same order. A question that one system was not measured on is left
    out for all; `n_dropped` counts it.

    p is of the pair alone (as in `compare`). p_adjusted holds the family-wise error rate by studentized step-down
    max-T (Westfall, Young 1993, algorithm 2.8; Romano, Wolf 2005): every pair's difference over its own standard
    error, the signs of a question, or of a whole cluster, flipped for all pairs together. So a noisy system does not
    hide or feign a difference of others, near-copies cost nothing, and no p_adjusted is below p.
    """
    check_better(better)
    if len(systems) < 2:
        raise ValueError(f"a comparison needs at least two systems; got {', '.join(systems) or 'none'}")
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline is one of {', '.join(systems)}; got {baseline!r}")
    columns = {name: as_values(values, name) for name, values in systems.items()}
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise ValueError(f"every system needs one value a question, NaN where it has none; lengths differ: {lengths}")
    names = list(columns)
    table = np.column_stack([columns[name] for name in names])
    whole: NDArray[np.bool_] = np.asarray(~np.isnan(table).any(axis=1))
    pairs = (
        list(combinations(range(len(names)), 2))
        if baseline is None
        else [(names.index(baseline), place) for place in range(len(names)) if names[place] != baseline]
    )
    raw = _raw(table[whole], pairs, names, _kept(clusters, whole), better, level, margin, resamples, seed)
    dropped = int((~whole).sum())
    raw = [replace(one, n_dropped=dropped) for one in raw]
    if not whole.any():
        return raw
    codes = as_codes(clusters, len(table))
    differences = np.column_stack([table[whole, b] - table[whole, a] for a, b in pairs])
    units = units_of(differences, None if codes is None else codes[whole])
    found, threshold = stepped_down(units.sums, [one.p for one in raw], 1 - level, resamples, seed)
    family, joint = f"{len(pairs)}, max-T", len(pairs) > 1
    return [with_adjusted(one, p, family, threshold, joint=joint) for one, p in zip(raw, found, strict=True)]


def stepped_down(
    sums: Array, alone: Sequence[float], error: float, resamples: int, seed: int
) -> tuple[list[float], float]:
    """Adjusted p of several hypotheses by step-down max-T over sign flips that all share, and the first threshold.

    sums: (units, hypotheses) differences of independent units. alone: p of each by itself, which no adjusted p is
    below. The threshold: the largest p of a single hypothesis at which the first step, at family-wise `error`, rejects
    it. Every pattern of signs is counted where there are no more than `resamples`.
    """
    if sums.shape[1] == 1:
        return list(alone), error
    moved = sums[np.any(sums != 0, axis=1)]
    scale = np.sqrt(np.sum(moved**2, axis=0))  # no flip changes it: the standard error under the hypothesis
    scale[scale == 0] = np.inf
    observed = np.abs(moved.sum(axis=0)) / scale
    complete = 2 ** min(len(moved), 60) <= resamples
    flips = every_flip(moved) if complete else sign_flips(moved, resamples, np.random.default_rng(seed))
    drawn = np.abs(flips) / scale
    order = np.argsort(-observed, kind="stable")
    successive = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    beyond = (successive >= observed[order] - 1e-7 * np.maximum(observed[order], 1e-12)).sum(axis=0)
    share = beyond / len(drawn) if complete else (beyond + 1) / (len(drawn) + 1)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(share)
    largest = np.sort(successive[:, 0])
    edge = largest[max(len(largest) - math.floor(error * len(largest)) - 1, 0)]  # exceeded by no more than `error`
    different = max(int(np.isfinite(scale).sum()), 1)
    exceeding = np.count_nonzero(drawn > edge * (1 + 1e-9)) / (len(drawn) * different)
    return np.maximum(adjusted, alone).tolist(), min(error, exceeding or error / different)


def _kept(clusters: Labels | None, whole: NDArray[np.bool_]) -> list[object] | None:
    return None if clusters is None else [label for label, keep in zip(clusters, whole, strict=True) if keep]


def _raw(
    table: Array,
    pairs: list[tuple[int, int]],
    names: list[str],
    clusters: list[object] | None,
    better: Better,
    level: float,
    margin: float | None,
    resamples: int,
    seed: int,
) -> list[Comparison]:
    first = {f"{a} {b}": table[:, a] for a, b in pairs}
    second = {f"{a} {b}": table[:, b] for a, b in pairs}
    found = compare_metrics(
        first, second, clusters=clusters, better=better, level=level, margin=margin, resamples=resamples, seed=seed
    )
    return [replace(found[f"{a} {b}"], baseline=names[a], challenger=names[b]) for a, b in pairs]
