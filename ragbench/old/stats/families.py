"""Families of comparisons: p-values corrected together, verdicts from the corrected ones, and intervals that hold
together.

The intervals of a family cover all true differences at once with the chance `level`: each is made at the level that
the first step of the correction leaves for it. What a later step shows, its interval may not yet tell from 0; then it
ends at 0 (Stefansson, Kim, Hsu 1988; Guilbaud 2008): none that holds 0 stands beside a difference that is shown. That
no difference of the family is shown where there is none, and that no interval misses a difference that there is, each
holds with the chance `level`; where later steps show something, both at once hold with less.

More than two systems are compared in one family: every pair tested, p corrected over all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison
from ragbench.old.stats.comparisons import Hypothesis, hypotheses
from ragbench.old.stats.estimates import Bounds
from ragbench.old.stats.intervals import every_flip, sign_flips, stretched
from ragbench.old.stats.power import FEWEST_FOR_MID_P
from ragbench.old.stats.signs import MOST_TOGETHER, leans, ratios_together, share_beyond
from ragbench.old.stats.values import Labels, Units, as_codes, as_values, check_better, units_of
from ragbench.old.stats.verdicts import agreeing, decided, weighed

MAX_T, NORMAL_MAX_T = "max-T", "max-T by normal sums"


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
    single = np.array([comparison.p for comparison in comparisons], dtype=np.float64)
    corrected = rules[method](single)
    worst = rules[method](
        np.array([comparison.p if comparison.p_worst is None else comparison.p_worst for comparison in comparisons])
    )
    number = int(np.isfinite(corrected).sum())

    def instead(place: int, p: float) -> float:
        return float(rules[method](np.where(np.arange(len(single)) == place, p, single))[place])

    return [
        comparison
        if np.isnan(p)
        else with_adjusted(
            comparison,
            float(p),
            f"{number}, {method}",
            (1 - comparison.level) / number,
            partial(instead, place),
            worst=None if comparison.p_worst is None else float(worst[place]),
        )
        for place, (comparison, p) in enumerate(zip(comparisons, corrected, strict=True))
    ]


def with_adjusted(
    comparison: Comparison,
    p: float,
    family: str,
    threshold: float,
    instead: Callable[[float], float] = lambda p: p,
    freedom: float | None = None,
    worst: float | None = None,
) -> Comparison:
    """The comparison with its corrected p, the family's name, and the verdict, interval and power that it allows.

    threshold: the largest p of the pair alone that the hardest step of the family takes as shown. instead: what the
    corrected p would be if the comparison had another p and all else were as it is. freedom: degrees of freedom of
    its standard error; None: groups − 1. worst: the corrected `p_worst`, where there is one.
    """
    adjusted = decided(replace(comparison, p_adjusted=p, family=family), p, threshold, instead)
    low, high = comparison.alone
    if threshold < 1 - comparison.level and not math.isnan(low + high):
        freedom = max(comparison.groups - 1, 1) if freedom is None else freedom
        low, high = stretched((low, high), comparison.difference, freedom, comparison.level, 1 - threshold)
    return weighed(agreeing(replace(adjusted, low=low, high=high)), worst)


def jointly(
    hypotheses: Sequence[Hypothesis], clusters: Labels | None = None, *, resamples: int = 10_000, seed: int = 0
) -> list[Comparison]:
    """The comparisons of a family, whose p, verdicts and intervals hold together; all are about the same questions.

    clusters: one label a question, None where each stands alone. Studentized step-down max-T (Westfall, Young
    1993, algorithm 2.8; Romano, Wolf 2005): every difference over its own standard error, the signs of a question, or
    of a whole cluster, flipped for all hypotheses together. So a noisy system does not hide or feign a difference of
    others, hypotheses that say the same cost nothing, and those that are shown no longer stand in the way of the rest.
    A comparison without a p (no pair, or a statistic that is undefined) is not part of the family and stays as it is.
    Where something is unmeasured the same is done with what speaks most against each difference in its place, and a
    word that this does not show is withheld (`ragbench.old.stats.verdicts`).
    """
    tested = [hypothesis for hypothesis in hypotheses if not math.isnan(hypothesis.alone.p)]
    if not tested:
        return [hypothesis.alone for hypothesis in hypotheses]
    error, codes = 1 - tested[0].alone.level, as_codes(clusters, len(tested[0].column))

    def together(columns: Sequence[Array], alone: Sequence[float]) -> tuple[list[float], list[float], str]:
        """Adjusted p and thresholds of hypotheses, of which equal ones are one; their number and the test."""
        matrix = np.nan_to_num(np.column_stack(columns)) + 0.0  # -0.0 becomes 0.0
        content = [column.tobytes() for column in matrix.T]
        first = {column: content.index(column) for column in content}
        places = [list(first).index(column) for column in content]
        different = list(first.values())
        units = units_of(matrix[:, different], codes)
        p, edges, normal = stepped_down(units, [alone[number] for number in different], error, resamples, seed)
        name = f"{len(different)}, {NORMAL_MAX_T if normal else MAX_T}"
        return [p[place] for place in places], [edges[place] for place in places], name

    adjusted, thresholds, family = together(
        [hypothesis.column for hypothesis in tested], [hypothesis.alone.p for hypothesis in tested]
    )
    worst: list[float | None] = [hypothesis.alone.p_worst for hypothesis in tested]
    tried = [hypothesis.completions for hypothesis in tested]
    if any(tried):
        alone = [
            hypothesis.alone.p if hypothesis.alone.p_worst is None else hypothesis.alone.p_worst
            for hypothesis in tested
        ]
        skewed = any(leans(units_of(np.nan_to_num(column)[:, None], codes)) for own in tried for column in own)
        for place in range(max(map(len, tried)) if skewed else 1):
            columns = [
                own[min(place, len(own) - 1)] if own else hypothesis.column
                for own, hypothesis in zip(tried, tested, strict=True)
            ]
            p_values = together(columns, alone)[0]
            worst = [known if known is None else max(known, p) for known, p in zip(worst, p_values, strict=True)]
    made = iter(
        # differences that are equal may be of more or fewer questions, and have another p by themselves
        with_adjusted(
            hypothesis.alone, max(adjusted[n], hypothesis.alone.p), family, thresholds[n],
            freedom=hypothesis.freedom, worst=worst[n],
        )
        for n, hypothesis in enumerate(tested)
    )  # fmt: skip
    return [hypothesis.alone if math.isnan(hypothesis.alone.p) else next(made) for hypothesis in hypotheses]


def stepped_down(
    units: Units, alone: Sequence[float], error: float, resamples: int, seed: int
) -> tuple[list[float], list[float], bool]:
    """Adjusted p of several hypotheses by step-down max-T over sign flips that all share, their first thresholds, and
    whether normal sums stand for the flips' (`draws.are_smooth`).

    units: of the differences of all hypotheses. alone: p of each by itself, which no adjusted p is below. A threshold
    is the largest p of a hypothesis by itself at which the first step, at family-wise `error`, rejects it. Every
    pattern of signs is counted where there are no more than `resamples`.
    Where differences are skewed, or clusters' sizes go with them, the studentized bootstrap of all together has to
    agree (Romano, Wolf 2005): of a hypothesis for which it is so, and of all where it is so for half of them.
    """
    sums = units.sums
    if sums.shape[1] == 1:
        return list(alone), [error], False
    middle = len(sums) >= FEWEST_FOR_MID_P
    moved = sums[np.any(sums != 0, axis=1)]
    scale = np.sqrt(np.sum(moved**2, axis=0))  # no flip changes it: the standard error under the hypothesis
    scale[scale == 0] = np.inf
    observed = np.abs(moved.sum(axis=0)) / scale
    complete = 2 ** min(len(moved), 60) <= resamples
    flips, normal = (
        (every_flip(moved), False) if complete else sign_flips(moved, resamples, np.random.default_rng(seed))
    )
    drawn = np.abs(flips) / scale
    order = np.argsort(-observed, kind="stable")
    successive = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    share = [
        share_beyond(successive[:, place], observed[at], 1e-7 * max(observed[at], 1e-12), middle, complete)
        for place, at in enumerate(order)
    ]
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(share)
    largest = np.sort(successive[:, 0])
    edge = largest[max(len(largest) - math.floor(error * len(largest)) - 1, 0)]  # exceeded by no more than `error`
    exceeding = np.count_nonzero(drawn > edge * (1 + 1e-9), axis=0) / len(drawn)
    rarest = error / max(int(np.isfinite(scale).sum()), 1)
    thresholds = np.minimum(error, np.where(exceeding > 0, exceeding, rarest))
    if (treated := _leaning(units)).any():
        p, most = _studentized(units, order, error, resamples, seed)
        adjusted[treated] = np.maximum(adjusted, p)[treated]
        thresholds[treated] = np.minimum(thresholds, np.maximum(most, rarest))[treated]
    return np.maximum(adjusted, alone).tolist(), thresholds.tolist(), normal


def _leaning(units: Units) -> NDArray[np.bool_]:
    """(hypotheses,) whether the studentized bootstrap has to agree; one that looks skewed by chance brings no other."""
    if units.number > MOST_TOGETHER:
        return np.zeros(units.sums.shape[1], dtype=bool)
    own = np.array([leans(units.single(place)) for place in range(units.sums.shape[1])])
    return own | (2 * int(own.sum()) >= len(own))


def _studentized(
    units: Units, order: NDArray[np.int64], error: float, resamples: int, seed: int
) -> tuple[Array, Array]:
    """(hypotheses,) adjusted p by the studentized bootstrap, stepped down in this order, equal tails; and first
    thresholds."""
    ratios, seen = ratios_together(units, resamples, seed)
    backward = ratios[:, order[::-1]]
    low, high = (of.accumulate(backward, axis=1)[:, ::-1] for of in (np.minimum, np.maximum))
    fewer = np.minimum((low <= seen[order]).sum(axis=0), (high >= seen[order]).sum(axis=0))
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(np.minimum(2 * (fewer + 1) / (resamples + 1), 1.0))
    ends = np.quantile(low[:, 0], error / 2), np.quantile(high[:, 0], 1 - error / 2)
    return p, 2 * np.minimum(np.mean(ratios < ends[0], axis=0), np.mean(ratios > ends[1], axis=0))


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


def compare_many(
    systems: Mapping[str, ArrayLike],
    baseline: str | None = None,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: Bounds | None = None,
    level: float = 0.95,
    margin: float | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of systems, or every system against the baseline, with p adjusted over all of them together.

    systems: name to one number a question, in the same order. A pair is compared on the questions that both were
    measured on; `n_dropped` counts the others. bounds: the ends of the scale, as in `compare`.

    p is of the pair alone (as in `compare`). p_adjusted holds the family-wise error rate, and the intervals hold
    together: see `ragbench.old.stats.families.jointly`. No p_adjusted is below p.
    """
    check_better(better)
    if len(systems) < 2:
        raise ValueError(f"a comparison needs at least two systems; got {', '.join(systems) or 'none'}")
    if baseline is not None and baseline not in systems:
        raise ValueError(f"baseline is one of {', '.join(systems)}; got {baseline!r}")
    columns = {name: as_values(values, name) for name, values in systems.items()}
    pairs = (
        list(combinations(columns, 2))
        if baseline is None
        else [(baseline, name) for name in columns if name != baseline]
    )
    tested = [
        hypotheses(
            {"values": columns[first]}, {"values": columns[second]}, clusters=clusters, better=better, bounds=bounds,
            level=level, margin=margin, resamples=resamples, seed=seed, names=(first, second),
        )["values"]
        for first, second in pairs
    ]  # fmt: skip
    return jointly(tested, clusters, resamples=resamples, seed=seed)
