"""The families of a page's comparisons: what is tested together, so that words and intervals hold together.

The primary metric is a family of its own: every challenger against the baseline on it, tested at the full level,
whatever else the page measures. All other metrics are the second family. Within a family p, verdicts and intervals hold
for all of its comparisons at once: see `ragbench.stats.families.jointly`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.bench.basics.requests import Draws
from ragbench.language import Translator
from ragbench.stats import Hypothesis
from ragbench.types import Array, Better, Comparison

PRIMARY, SECONDARY = "primary", "secondary"


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
    """One metric, or one metric on a part of the questions.

    values: one number a question of the family for every system, the baseline first. places: of the questions that it
    is about; None: it is about all.
    """

    values: Mapping[str, Array]
    better: Better
    places: NDArray[np.int64] | None = None


def compared(
    groups: Mapping[str, Group],
    clusters: Sequence[str] | None,
    sureness: Sureness,
    primary: str = "",
    more: Mapping[str, Sequence[Hypothesis]] | None = None,
) -> dict[str, list[Comparison]]:
    """Every system against the first, group by group, each group in its family.

    clusters: of all the family's questions. primary: the group that is a family of its own; empty: all are one. more:
    hypotheses of groups that were made elsewhere, about the same questions in the same order. A system that a group has
    no values of, or no defined one, is not compared there.
    """
    made = {name: _hypotheses(group, clusters, sureness) for name, group in groups.items()} | dict(more or {})
    found: dict[str, list[Comparison]] = {name: [] for name in made}
    first = [name for name in made if name == primary and made[name]]
    rest = [name for name in made if name not in first]
    for title, names in ((PRIMARY, first), (SECONDARY, rest)):
        tested = [(name, one) for name in names for one in made[name]]
        done = stats.jointly([one for _name, one in tested], clusters, resamples=sureness.resamples, seed=sureness.seed)
        for (name, _one), one in zip(tested, done, strict=True):
            if not math.isnan(one.p):
                found[name].append(replace(one, family=f"{title}: {one.family}") if first else one)
    return found


def _hypotheses(group: Group, clusters: Sequence[str] | None, sureness: Sureness) -> list[Hypothesis]:
    """A hypothesis for each system that was measured, its column as long as the family has questions."""
    baseline, *others = group.values
    places = np.arange(len(group.values[baseline])) if group.places is None else group.places
    own = None if clusters is None else [clusters[place] for place in places]
    values = {name: column[places] for name, column in group.values.items()}
    made = []
    for name in others:
        if np.isnan(values[baseline]).all() or np.isnan(values[name]).all():
            continue
        one = stats.hypotheses(
            {"": values[baseline]}, {"": values[name]}, clusters=own, better=group.better, names=(baseline, name),
            **asdict(sureness),
        )[""]  # fmt: skip
        column = np.full(len(group.values[name]), np.nan)
        column[places] = one.column
        made.append(replace(one, column=column))
    return made


def said(family: str, _: Translator) -> str:
    """What a family's name says to people: how many comparisons p, verdict and interval are adjusted for, and how.

    Empty for a comparison that stands alone; a name that no family has today is said as it is.
    """
    title, _colon, rest = family.rpartition(": ")
    number, comma, method = rest.partition(", ")
    if not comma or not number.isdigit():
        return family
    if number == "1":
        return _("primary metric, tested by itself") if title == PRIMARY else ""
    names = {"max-T": "max-T", "holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg"}
    how = f"{adjusted(family, _)} ({names.get(method, method)})"
    if title == PRIMARY:
        return _("primary metric, {adjusted}", adjusted=how)
    return _("secondary metrics, {adjusted}", adjusted=how) if title == SECONDARY else how


def adjusted(family: str, _: Translator) -> str:
    """`adjusted for 3 comparisons`; empty where nothing was adjusted."""
    number = family.rpartition(": ")[2].partition(", ")[0]
    if not number.isdigit() or number == "1":
        return ""
    return _.plural("adjusted for {n} comparison", "adjusted for {n} comparisons", int(number))
