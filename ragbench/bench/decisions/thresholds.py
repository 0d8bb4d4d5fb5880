"""From which score on an answer is shown: the threshold of least cost, chosen on one half and held to on the other."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.bench.basics import frames
from ragbench.bench.basics.families import Sureness
from ragbench.types import Array, Comparison, Estimate

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "system", "threshold", "n_chosen", "n_scored", "cost_chosen", "cost", "low", "high", "method", "own", "own_low",
    "own_high", "own_method", "show_all", "show_none", "difference", "difference_low", "difference_high", "p",
    "verdict", "pairs", "groups",
)  # fmt: skip
CURVE = ("system", "half", "threshold", "cost")
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


def chosen_and_scored(
    name: str,
    scores: Array,
    own: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    clusters: Sequence[Hashable],
    costs: Costs,
    sureness: Sureness,
) -> tuple[dict[str, Any], pd.DataFrame] | None:
    """A row of COLUMNS and the curves of both halves; None where the scores do not vary, or a half is too small.

    scores: NaN for a failed call. own: what the judge itself decided, False where it failed. Costs of the second half
    have intervals, and the threshold is compared with the judge's own decisions on it.
    """
    import pandas as pd

    first = halves(clusters, sureness.seed)
    if min(first.sum(), (~first).sum()) < FEWEST or len(candidates(scores[first])) < 3:
        return None
    threshold, least = cheapest(scores[first], truth[first], costs)
    rest = ~first
    labels = [label for label, keep in zip(clusters, rest, strict=True) if keep]
    how: dict[str, Any] = {"level": sureness.level, "resamples": sureness.resamples, "seed": sureness.seed}
    groups = frames.independent(labels)
    shown = np.isfinite(scores[rest]) & (np.where(np.isfinite(scores[rest]), scores[rest], -math.inf) >= threshold)
    by_threshold, by_judge = costs.of(truth[rest], shown), costs.of(truth[rest], own[rest])
    bounds = (0.0, max(costs.shown, costs.hidden))
    new: Estimate = stats.estimate(by_threshold, clusters=groups, bounds=bounds, **how)
    old: Estimate = stats.estimate(by_judge, clusters=groups, bounds=bounds, **how)
    gain: Comparison = stats.compare(by_judge, by_threshold, clusters=groups, better="lower", **how)
    row = dict(zip(COLUMNS, (
        name, threshold, int(first.sum()), int(rest.sum()), least, new.value, new.low, new.high, new.method, old.value,
        old.low, old.high, old.method, float(costs.of(truth[rest], np.ones(rest.sum(), bool)).mean()),
        float(costs.of(truth[rest], np.zeros(rest.sum(), bool)).mean()), gain.difference, gain.low, gain.high, gain.p,
        gain.verdict.value, gain.n, math.nan if gain.clusters is None else gain.clusters,
    ), strict=True))  # fmt: skip
    grid = candidates(scores)
    curves = [
        pd.DataFrame({"system": name, "half": half, "threshold": grid,
                      "cost": mean_costs(scores[part], truth[part], costs, grid)})
        for half, part in (("chosen", first), ("scored", rest))
    ]  # fmt: skip
    return row, pd.concat(curves, ignore_index=True)
