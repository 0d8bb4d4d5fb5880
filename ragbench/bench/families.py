"""One family of comparisons on a page: several systems on each of several metrics, or on each of several slices.

Within a group (a metric, a slice) systems are compared by randomized Tukey, because they share their questions; over
groups by Holm's steps. A group takes its step only when every comparison in it is settled: stepping on at the first
one would test the others of that group as if they were no longer there, and the level would not hold. With two
systems a group is one comparison, and the steps are plain Holm.

The level holds by the sequential rejection principle (Goeman and Solari 2010): with G groups not yet settled each is
tested at (1 − level) / G, within a group max-T holds that level for all of its comparisons together, and no threshold
falls when more is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from ragbench import stats
from ragbench.stats.families import with_adjusted
from ragbench.types import Array, Better, Comparison

What = Literal["metrics", "slices"]


@dataclass(frozen=True)
class Sureness:
    """How sure the statements of a page are: confidence level, draws of bootstrap and randomization, and their seed."""

    level: float
    resamples: int
    seed: int


@dataclass(frozen=True)
class Group:
    """What is compared within one step: one number a question for every system, the baseline first."""

    values: Mapping[str, Array]
    better: Better
    clusters: Sequence[str] | None = None


def compared(groups: Mapping[str, Group], what: What, sureness: Sureness) -> dict[str, list[Comparison]]:
    """Every system against the first, group by group, with p corrected over all groups together.

    A system that a group has no values of is not compared there.
    """
    return corrected({name: _within(group, sureness) for name, group in groups.items()}, what)


def _within(group: Group, sureness: Sureness) -> list[Comparison]:
    """Comparisons of one group; of several challengers p is corrected by randomized Tukey."""
    measured = {name: column for name, column in group.values.items() if not np.isnan(column).all()}
    baseline = next(iter(group.values))
    if baseline not in measured or len(measured) < 2:
        return []
    more = {"clusters": group.clusters, "better": group.better, **asdict(sureness)}
    if len(measured) > 2:
        found = stats.compare_many(measured, baseline, **more)
    else:
        [challenger] = [name for name in measured if name != baseline]
        found = [stats.compare(measured[baseline], measured[challenger], names=(baseline, challenger), **more)]
    return [one for one in found if one.n]


def corrected(groups: Mapping[str, Sequence[Comparison]], what: What) -> dict[str, list[Comparison]]:
    """The comparisons with p corrected over all groups, the family named, and verdicts from the corrected p.

    p of a group of several is taken as already corrected within the group (`p_adjusted`), of a single one as it is.
    """
    known = {name: list(group) for name, group in groups.items() if group}
    adjusted = stepped([[_p(one) for one in group] for group in known.values()])
    number = sum(len(group) for group in known.values())
    family = f"{number}, holm"
    if any(len(group) > 1 for group in known.values()):
        family = f"{number}, randomized Tukey within each of the {what}, Holm over {len(known)} {what}"
    found = {
        name: [with_adjusted(one, p, family) for one, p in zip(group, row, strict=True)]
        for (name, group), row in zip(known.items(), adjusted, strict=True)
    }
    return {name: found.get(name, []) for name in groups}


def stepped(groups: Sequence[Sequence[float]]) -> list[list[float]]:
    """p-values, each already corrected within its group, corrected over the groups: the smallest level that rejects.

    At level a, a group is settled when its largest p is at most a / (groups not yet settled); in the groups that stay,
    whatever is at most a / (their number) is rejected.
    """
    largest = [max(group) for group in groups]
    order = sorted(range(len(groups)), key=largest.__getitem__)
    settled_at = [0.0]  # the level at which the first j groups are settled
    for place, group in enumerate(order):
        settled_at.append(max(settled_at[-1], (len(groups) - place) * largest[group]))
    found: list[list[float]] = [[] for _ in groups]
    for place, group in enumerate(order):
        found[group] = [
            min(1.0, *(max(settled_at[j], (len(groups) - j) * p) for j in range(place + 1))) for p in groups[group]
        ]
    return found


def _p(one: Comparison) -> float:
    p = one.p if one.p_adjusted is None else one.p_adjusted
    assert not math.isnan(p), "a comparison of measured pairs has a p"
    return p
