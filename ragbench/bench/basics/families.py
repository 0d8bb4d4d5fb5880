"""One family of comparisons on a page: several systems on each of several metrics, or on each of several slices.

Within a group (a metric, a slice) systems are compared by studentized step-down max-T, because they share their
questions (see `ragbench.stats.compare_many`); over groups by Holm's steps. A group gives way to the next only when
every comparison in it is settled: stepping on at its first would test the others of that group as if they were no
longer there, and the level would not hold. With two systems a group is one comparison, and the steps are plain Holm.

The level holds by the sequential rejection principle (Goeman and Solari 2010): with G groups not yet settled each is
tested at (1 − level) / G, within a group any such level holds for all of its comparisons together, and no threshold
falls when more is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

import numpy as np

from ragbench import stats
from ragbench.bench.basics.requests import Draws
from ragbench.stats.families import with_adjusted
from ragbench.types import Array, Better, Comparison

What = Literal["metrics", "slices"]


@dataclass(frozen=True)
class Sureness:
    """How sure the statements of a page are: confidence level, draws of bootstrap and randomization, and their seed.

    Raises BenchError for numbers that no interval can be made with.
    """

    level: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        Draws(level=self.level, resamples=self.resamples, seed=self.seed)


@dataclass(frozen=True)
class Group:
    """What is compared within one step: one number a question for every system, the baseline first."""

    values: Mapping[str, Array]
    better: Better
    clusters: Sequence[str] | None = None


def compared(
    groups: Mapping[str, Group], what: What, sureness: Sureness, more: Mapping[str, Sequence[Comparison]] | None = None
) -> dict[str, list[Comparison]]:
    """Every system against the first, group by group, with p corrected over all groups together.

    A system that a group has no values of is not compared there. more: groups that were compared elsewhere and are
    corrected together with these.
    """
    return corrected({name: _within(group, sureness) for name, group in groups.items()} | dict(more or {}), what)


def _within(group: Group, sureness: Sureness) -> list[Comparison]:
    """Comparisons of one group, p corrected within it, on the questions that all were measured on."""
    measured = {name: column for name, column in group.values.items() if not np.isnan(column).all()}
    baseline = next(iter(group.values))
    if baseline not in measured or len(measured) < 2:
        return []
    found = stats.compare_many(measured, baseline, clusters=group.clusters, better=group.better, **asdict(sureness))
    return [one for one in found if one.n]


def corrected(groups: Mapping[str, Sequence[Comparison]], what: What) -> dict[str, list[Comparison]]:
    """The comparisons with p corrected over all groups, the family named, and verdicts from the corrected p.

    p of a group of several is taken as already corrected within the group (`p_adjusted`), of a single one as it is.
    What a comparison could have shown is said for the threshold of the family's hardest step.
    """
    known = {name: list(group) for name, group in groups.items() if group}
    p = [[_p(one) for one in group] for group in known.values()]
    number = sum(len(group) for group in known.values())
    family = f"{number}, holm"
    if any(len(group) > 1 for group in known.values()):
        family = f"{number}, max-T within each of the {what}, Holm over {len(known)} {what}"

    def instead(group: int, place: int, other: float) -> float:
        row = [*p[group][:place], other, *p[group][place + 1 :]]
        return stepped([*p[:group], row, *p[group + 1 :]])[group][place]

    adjusted = stepped(p)
    found = {
        name: [
            with_adjusted(
                one, adjusted[at][place], family, (one.threshold or 1 - one.level) / len(known),
                partial(instead, at, place), len(group) > 1,
            )
            for place, one in enumerate(group)
        ]
        for at, (name, group) in enumerate(known.items())
    }  # fmt: skip
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
