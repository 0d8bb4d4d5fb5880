"""One family of comparisons on a page: several systems on each of several metrics, or on each of several slices.

Within a group (a metric, a slice) systems are compared by closed randomized Tukey tests, because they share their
questions (see `ragbench.stats.closed`; beyond six challengers by one such test); over groups by Holm's steps. A group
gives way to the next only when every comparison in it is settled: stepping on at its first would test the others of
that group as if they were no longer there, and the level would not hold. With two systems a group is one comparison,
and the steps are plain Holm.

The level holds by the sequential rejection principle (Goeman and Solari 2010): with G groups not yet settled each is
tested at (1 − level) / G, within a group any such level holds for all of its comparisons together, and no threshold
falls when more is rejected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.stats.closed import MOST, closed_p
from ragbench.stats.families import with_adjusted
from ragbench.stats.samples import as_codes, units_of
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


def compared_alike(
    groups: Mapping[str, Group],
    what: What,
    sureness: Sureness,
    more: Mapping[str, Sequence[Comparison]] | None = None,
) -> dict[str, list[Comparison]]:
    """The same where all groups have the same questions, in one pass: metrics that share them are drawn together.

    more: groups that were compared elsewhere and are corrected together with these.
    """
    alike: dict[tuple[tuple[str, ...], bytes], list[str]] = {}
    for name, group in groups.items():
        measured = [system for system, column in group.values.items() if not np.isnan(column).all()]
        whole = ~np.isnan([group.values[system] for system in measured]).any(axis=0) if measured else np.array([])
        if len(measured) > 1 and measured[0] == next(iter(group.values)):
            alike.setdefault((tuple(measured), whole.tobytes()), []).append(name)
    found: dict[str, list[Comparison]] = {name: [] for name in groups}
    for (systems, present), names in alike.items():
        whole = np.frombuffer(present, dtype=bool)
        part = {name: {system: groups[name].values[system] for system in systems} for name in names}
        found |= _together(
            part, whole, {name: groups[name].better for name in names}, groups[names[0]].clusters, sureness
        )
    found |= {name: list(group) for name, group in (more or {}).items()}
    return corrected(found, what)


def _within(group: Group, sureness: Sureness) -> list[Comparison]:
    """Comparisons of one group, p corrected within it."""
    measured = {name: column for name, column in group.values.items() if not np.isnan(column).all()}
    if next(iter(group.values)) not in measured or len(measured) < 2:
        return []
    whole = np.asarray(~np.isnan(list(measured.values())).any(axis=0))
    return _together({"": measured}, whole, {"": group.better}, group.clusters, sureness)[""]


def _together(
    values: Mapping[str, Mapping[str, Array]],
    whole: NDArray[np.bool_],
    better: Mapping[str, Better],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> dict[str, list[Comparison]]:
    """metric → system → values: every system against the first, on the questions that all were measured on."""
    if not whole.any():
        return {metric: [] for metric in values}
    kept = {metric: {name: column[whole] for name, column in by.items()} for metric, by in values.items()}
    labels = None if clusters is None else [label for label, keep in zip(clusters, whole, strict=True) if keep]
    baseline, *challengers = next(iter(kept.values()))
    found: dict[str, list[Comparison]] = {metric: [] for metric in kept}
    for challenger in challengers:
        against = stats.compare_metrics(
            {metric: by[baseline] for metric, by in kept.items()},
            {metric: by[challenger] for metric, by in kept.items()},
            clusters=labels,
            better=better,
            names=(baseline, challenger),
            **asdict(sureness),
        )
        for metric, one in against.items():
            found[metric].append(replace(one, n_dropped=int((~whole).sum())))
    if len(challengers) > 1:
        _correct_within(found, kept, labels, sureness)
    return found


def _correct_within(
    found: dict[str, list[Comparison]],
    values: Mapping[str, Mapping[str, Array]],
    labels: Sequence[str] | None,
    sureness: Sureness,
) -> None:
    """Put in p that is corrected over the challengers of each metric."""
    if len(next(iter(found.values()))) > MOST:
        for metric, by in values.items():
            baseline = next(iter(by))
            found[metric] = stats.compare_many(
                by, baseline, clusters=labels, better=found[metric][0].better, **asdict(sureness)
            )
        return
    table = np.stack([np.stack(list(by.values()), axis=1) for by in values.values()], axis=2)
    units = units_of(table.reshape(len(table), -1), as_codes(labels, len(table)))
    sums = np.repeat(units.sums, units.counts, axis=0).reshape(-1, *table.shape[1:])
    single = np.array([[one.p for one in group] for group in found.values()]).T
    p = closed_p(sums, units.n, sureness.resamples, sureness.seed, single)
    for place, (metric, group) in enumerate(found.items()):
        found[metric] = [replace(one, p_adjusted=float(q)) for one, q in zip(group, p[:, place], strict=True)]


def corrected(groups: Mapping[str, Sequence[Comparison]], what: What) -> dict[str, list[Comparison]]:
    """The comparisons with p corrected over all groups, the family named, and verdicts from the corrected p.

    p of a group of several is taken as already corrected within the group (`p_adjusted`), of a single one as it is.
    What a comparison could have shown is said for the level that the family leaves to one of its members.
    """
    known = {name: list(group) for name, group in groups.items() if group}
    adjusted = stepped([[_p(one) for one in group] for group in known.values()])
    number = sum(len(group) for group in known.values())
    family = f"{number}, holm"
    if any(len(group) > 1 for group in known.values()):
        family = f"{number}, randomized Tukey within each of the {what}, Holm over {len(known)} {what}"
    found = {
        name: [_with_power(with_adjusted(one, p, family), number) for one, p in zip(group, row, strict=True)]
        for (name, group), row in zip(known.items(), adjusted, strict=True)
    }
    return {name: found.get(name, []) for name in groups}


def _with_power(one: Comparison, number: int) -> Comparison:
    """What n could have shown at (1 − level) / number: the level of the hardest step of the correction."""
    if one.minimum_detectable is None or number < 2:
        return one
    level = 1 - (1 - one.level) / number
    unit, stricter = (stats.minimum_detectable_difference(1.0, one.n, level=each) for each in (one.level, level))
    assert unit is not None, "what was detectable once is detectable again"
    assert stricter is not None, "what is detectable at one level is at another"
    deviation = one.minimum_detectable / unit
    needed = stats.sample_size(one.difference, deviation, level=level)
    return replace(one, minimum_detectable=deviation * stricter, questions_needed=needed)


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
