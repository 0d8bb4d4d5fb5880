"""From which score on an answer is shown: the threshold of least cost, chosen on one half and held to on the other."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.core.measurement import Finding, NamedComparison, NamedEstimate
from ragbench.core.types import Array
from ragbench.metrics.decisions import decision_cost
from ragbench.tiers.basics import frames
from ragbench.tiers.basics.families import Sureness

COLUMNS = ("system", "threshold", "n_chosen", "n_scored", "cost_chosen", "show_all", "show_none")
CURVE = ("system", "half", "threshold", "cost")
COST = decision_cost.label
FEWEST = 10  # cases in a half


@dataclass(frozen=True)
class Costs:
    """What an error costs, in any unit. shown: an answer that should not have been shown. hidden: one that should."""

    shown: float
    hidden: float

    def of(self, truth: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Array:
        """The cost of each decision."""
        return np.where(shown & ~truth, self.shown, np.where(~shown & truth, self.hidden, 0.0))


def halves(clusters: Sequence[Hashable], seed: int) -> NDArray[np.bool_]:
    """(cases,) whether a case is in the half on which a threshold is chosen; members of a cluster are never parted.

    Clusters are drawn in random order, each into the half that has fewer cases so far.
    """
    members: dict[Hashable, list[int]] = {}
    for place, label in enumerate(clusters):
        members.setdefault(label, []).append(place)
    chosen = np.zeros(len(clusters), dtype=bool)
    sizes = [0, 0]
    labels = list(members)
    for number in np.random.default_rng(seed).permutation(len(labels)):
        places = members[labels[int(number)]]
        half = int(sizes[1] < sizes[0])
        sizes[half] += len(places)
        chosen[places] = half == 0
    return chosen


def candidates(scores: Array) -> Array:
    """Every threshold that decides differently: −∞ (show all), between neighbouring scores, ∞ (show none)."""
    known = np.unique(scores[np.isfinite(scores)])
    return np.concatenate([[-math.inf], (known[1:] + known[:-1]) / 2, [math.inf]])


def mean_costs(scores: Array, truth: NDArray[np.bool_], costs: Costs, thresholds: Array) -> Array:
    """(thresholds,) mean cost of showing what scores at or above each; a call without a score shows nothing."""
    known = np.where(np.isfinite(scores), scores, -math.inf)
    asked = np.isfinite(scores)
    return np.array([costs.of(truth, asked & (known >= each)).mean() for each in thresholds])


def cheapest(scores: Array, truth: NDArray[np.bool_], costs: Costs) -> tuple[float, float]:
    """The threshold of least mean cost and that cost; of several that cost the same, the middle one."""
    thresholds = candidates(scores)
    means = mean_costs(scores, truth, costs, thresholds)
    least = np.flatnonzero(means <= means.min() + 1e-12)
    return float(thresholds[least[(len(least) - 1) // 2]]), float(means.min())


@dataclass(frozen=True)
class Chosen:
    """A threshold chosen on one half. row: of COLUMNS. curves: rows of CURVE, of both halves. findings: on the other
    half the cost with the threshold ("chosen") and of the judge's own decisions ("own"), and the first against the
    second."""

    row: tuple[Any, ...]
    curves: list[tuple[Any, ...]]
    findings: tuple[Finding, ...]


def chosen_and_scored(
    name: str,
    scores: Array,
    own: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    clusters: Sequence[Hashable],
    costs: Costs,
    sureness: Sureness,
) -> Chosen | None:
    """The threshold of least cost; None where the scores do not vary, or a half is too small.

    scores: NaN for a failed call. own: what the judge itself decided, False where it failed.
    """
    first = halves(clusters, sureness.seed)
    rest = ~first
    if min(first.sum(), rest.sum()) < FEWEST or len(candidates(scores[first])) < 3:
        return None
    threshold, least = cheapest(scores[first], truth[first], costs)
    labels = [label for label, keep in zip(clusters, rest, strict=True) if keep]
    how: dict[str, Any] = {**asdict(sureness), "clusters": frames.independent(labels)}
    decisions = {"own": own[rest], "chosen": np.nan_to_num(scores[rest], nan=-math.inf) >= threshold}
    decisions["chosen"] &= np.isfinite(scores[rest])
    by = {key: costs.of(truth[rest], shown) for key, shown in decisions.items()}
    bounds = (0.0, max(costs.shown, costs.hidden))
    gain = stats.compare(by["own"], by["chosen"], better="lower", names=(name, name), bounds=bounds, **how)
    constant = [float(costs.of(truth[rest], np.full(rest.sum(), shown)).mean()) for shown in (True, False)]
    grid = candidates(scores)
    parts = {"chosen": first, "scored": rest}
    return Chosen(
        (name, threshold, int(first.sum()), int(rest.sum()), least, *constant),
        [
            (name, half, *point)
            for half, part in parts.items()
            for point in zip(grid.tolist(), mean_costs(scores[part], truth[part], costs, grid).tolist(), strict=True)
        ],
        (
            *(NamedEstimate(name, COST, stats.estimate(cost, bounds=bounds, **how), {"threshold": key})
              for key, cost in by.items()),
            NamedComparison(COST, gain, {"threshold": "chosen"}),
        ),
    )  # fmt: skip
