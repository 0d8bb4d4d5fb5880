"""More than two systems on the same questions: randomized Tukey over the paired table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.stats.comparisons import compare_metrics
from ragbench.stats.draws import sign_flips
from ragbench.stats.families import with_adjusted
from ragbench.stats.samples import Labels, Units, as_codes, as_values, units_of
from ragbench.types import Array, Better, Comparison

BLOCK = 1 << 18


def compare_many(
    systems: Mapping[str, ArrayLike],
    baseline: str | None = None,
    *,
    method: Literal["tukey", "max_t"] = "tukey",
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of systems, or every system against the baseline, with p adjusted over all of them together.

    systems: name to one number a question, in the same order. A question that one system was not measured on is left
    out for all, because the test shuffles whole questions; `n_dropped` counts it.

    p is of the pair alone (as in `compare`). p_adjusted holds the family-wise error rate, by one of two methods.

    "tukey": randomized Tukey (Carterette 2012, section 4.2). Within every question, or for whole clusters, the
    systems' values change hands at random; the largest difference of any compared pair of means over all resamples
    tells how large a difference chance alone gives. Pairs share questions, so far less power is lost than by
    Bonferroni or unpaired Tukey. But every pair is measured by one yardstick: a small, steady difference of two
    near-equal systems (a re-ranked run and its original) is hardly seen.

    "max_t": every pair's difference over its own standard error, the questions' signs flipped for all pairs together,
    stepping down from the largest (Westfall, Young 1993, algorithm 2.8). It sees such differences.
    """
    if method not in ("tukey", "max_t"):
        raise ValueError(f"method is tukey or max_t; got {method!r}")
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
    units = units_of(table[whole], None if codes is None else codes[whole])
    rng = np.random.default_rng(seed)
    if method == "max_t":
        adjusted = stepped_down(units, pairs, resamples, rng)
        return [with_adjusted(one, float(p), f"{len(pairs)}, max-T") for one, p in zip(raw, adjusted, strict=True)]
    largest = largest_by_chance(units, pairs, resamples, rng)
    return [with_adjusted(one, _chance(largest, one.difference), f"{len(pairs)}, randomized Tukey") for one in raw]


def stepped_down(units: Units, pairs: list[tuple[int, int]], resamples: int, rng: np.random.Generator) -> Array:
    """(pairs,) adjusted p of the step-down max-T procedure over sign flips that all pairs share."""
    differences = np.column_stack([units.sums[:, b] - units.sums[:, a] for a, b in pairs])
    scale = np.sqrt(np.sum(differences**2, axis=0))  # no flip changes it: the standard error under the hypothesis
    scale[scale == 0] = np.inf
    observed = np.abs(differences.sum(axis=0)) / scale
    order = np.argsort(-observed, kind="stable")
    drawn = np.abs(sign_flips(differences, resamples, rng)) / scale
    successive = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    beyond = (successive >= observed[order] - 1e-7 * np.maximum(observed[order], 1e-12)).sum(axis=0)
    adjusted = np.empty(len(pairs))
    adjusted[order] = np.maximum.accumulate((beyond + 1) / (resamples + 1))
    return adjusted


def largest_by_chance(units: Units, pairs: list[tuple[int, int]], resamples: int, rng: np.random.Generator) -> Array:
    """(resamples,) largest |difference of means| over the pairs when every unit's systems change hands at random."""
    rows, systems = units.sums, units.sums.shape[1]
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    largest = np.empty(resamples)
    step = max(1, BLOCK // rows.size)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        shuffled = rng.permuted(np.broadcast_to(rows, (size, *rows.shape)).reshape(-1, systems), axis=1)
        totals = shuffled.reshape(size, len(rows), systems).sum(axis=1)
        largest[start : start + size] = np.abs(totals[:, first] - totals[:, second]).max(axis=1)
    return largest / units.n


def _chance(largest: Array, difference: float) -> float:
    slack = 1e-10 * max(abs(difference), 1e-300)
    return (int((largest >= abs(difference) - slack).sum()) + 1) / (len(largest) + 1)


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
