"""Numbers of runs of which only summaries are known, or that cannot be compared at all."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragbench import stats
from ragbench.core.settings import DifferenceSettings
from ragbench.core.types import BY_CONSTRUCTION, Better, Comparison
from ragbench.metrics import declaration
from ragbench.store.records import RunRecord, RunValue
from ragbench.tiers.basics.bands import of_interest
from ragbench.tiers.basics.findings import Sureness, corrected

Key = tuple[str, str, str, str]
"""A notebook, a system of the baseline, one of the other run, and a metric."""

LETTERS = string.ascii_uppercase
"""What runs are called beside each other, in their order; the baseline is A."""


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A system of the baseline beside a system of another run, in one notebook.

    run: the other run's place among those that are compared. titles: what estimates and comparisons call the two.
    """

    notebook: str
    run: int
    systems: tuple[str, str]
    titles: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Summarized(Beside):
    """One number of the baseline and of another run, of which summaries are compared, or nothing: `why` says so.

    why: "" where `comparison` is there; else a word of `store.records.NOT_COMPARABLE`, or "no_interval", "describes",
    "unmeasured", "other_unit", "other_scale", "other_depth", "other_labels", "by_construction".
    """

    metric: str
    values: tuple[RunValue, RunValue]
    comparison: Comparison | None = None
    why: str = ""


def labels(runs: Sequence[RunRecord]) -> list[str]:
    """What tells runs apart in a line: a run's own name, else its letter; both where several are called so."""
    called = Counter(run.name for run in runs)
    return [
        letter if not run.name else run.name if called[run.name] == 1 else f"{run.name}, {letter}"
        for letter, run in zip(LETTERS, runs, strict=False)
    ]


def names(systems: tuple[str, str], called: tuple[str, str]) -> tuple[str, str]:
    """What a page calls a system of each: `ngrams (A)`, `ngrams (bigger chunks)`."""
    return f"{systems[0]} ({called[0]})", f"{systems[1]} ({called[1]})"


def direction(metric: str) -> Better | None:
    """Which way is good; None for a number that only describes, and for one that the catalogue does not know."""
    declared = declaration(metric)
    return None if declared is None else declared.better


def summarized_numbers(
    first: RunRecord, second: RunRecord, beside: Beside, paired: set[Key], sureness: Sureness
) -> list[Summarized]:
    """What both runs have of a pair of systems and no pairs of values, or have at another depth."""
    numbers = []
    notebook, systems = beside.notebook, beside.systems
    for value in first.values:
        if (value.notebook, value.system) != (notebook, systems[0]) or (notebook, *systems, value.metric) in paired:
            continue
        other = second.value(notebook, systems[1], value.metric)
        if other is not None:
            numbers.append(_one(Summarized(**vars(beside), metric=value.metric, values=(value, other)), sureness))
        elif (near := _near(first, second, value, systems[1])) is not None:
            numbers.append(Summarized(**vars(beside), metric=value.metric, values=(value, near), why="other_depth"))
    return numbers


def _near(first: RunRecord, second: RunRecord, value: RunValue, system: str) -> RunValue | None:
    """What goes by the same name at another depth, in the second run alone: mrr@5 beside mrr@10, or beside mrr."""
    metric = declaration(value.metric)
    if metric is None or metric.cutoffs:
        return None
    own = [each for each in second.values if (each.notebook, each.system) == (value.notebook, system)]
    alone = [each for each in own if first.value(value.notebook, value.system, each.metric) is None]
    declared = ((each, declaration(each.metric)) for each in alone)
    return next((each for each, there in declared if there is not None and set(there.names) & set(metric.names)), None)


def marked(summary: Summarized, barred: Mapping[tuple[str, str, str], str]) -> Summarized:
    """Not compared where either number may not be."""
    why = next(
        (barred[key] for system in summary.systems if (key := (summary.notebook, system, summary.metric)) in barred), ""
    )
    return replace(summary, comparison=None, why=why) if why else summary


def _one(made: Summarized, sureness: Sureness) -> Summarized:
    values = made.values
    way = values[0].better or values[1].better or direction(made.metric)
    if any(math.isnan(value.value) for value in values):
        return replace(made, why="unmeasured")
    if values[0].unit is not None and values[1].unit is not None and values[0].unit != values[1].unit:
        return replace(made, why="other_unit")
    if all(None not in value.bounds for value in values) and values[0].bounds != values[1].bounds:
        return replace(made, why="other_scale")
    if way is None:
        return replace(made, why="describes")
    if all(value.method == BY_CONSTRUCTION for value in values):
        return replace(made, why=BY_CONSTRUCTION)
    comparison = _two_samples(made, way, sureness.level)
    return replace(made, comparison=comparison) if comparison is not None else replace(made, why="no_interval")


def _two_samples(made: Summarized, way: Better, level: float, margin: float | None = None) -> Comparison | None:
    known = [stats.Summary(v.value, v.low, v.high, v.level, v.n, v.bounds, v.n_unmeasured or 0) for v in made.values]
    return stats.compare_summaries(*known, better=way, level=level, margin=margin, names=made.titles)


def summaries_in_families(
    summarized: Sequence[Summarized], primary: Mapping[str, str], matters: DifferenceSettings
) -> list[Summarized]:
    """p corrected in the same families, apart from what has pairs: summaries have no questions to flip, so by Holm."""
    made: dict[str, dict[str, dict[int, Comparison]]] = {}
    for n, summary in enumerate(summarized):
        if summary.comparison is not None:
            made.setdefault(summary.notebook, {}).setdefault(summary.metric, {})[n] = summary.comparison
    by_place: dict[int, Comparison] = {}
    for notebook, by_metric in made.items():
        done = corrected({name: list(each.values()) for name, each in by_metric.items()}, primary[notebook])
        for name, each in by_metric.items():
            by_place |= zip(each, done[name], strict=True)
    return [
        replace(entry, comparison=_with_power(entry, by_place[n], matters)) if n in by_place else entry
        for n, entry in enumerate(summarized)
    ]


def _with_power(summary: Summarized, after: Comparison, matters: DifferenceSettings) -> Comparison:
    """What two samples could have shown at the threshold that the correction leaves is not what pairs could have."""
    assert after.threshold is not None, "it was corrected"
    strict = _two_samples(summary, after.better, 1 - after.threshold, of_interest(summary.metric, matters))
    assert strict is not None, "it was compared"
    power = {name: getattr(strict, name) for name in ("minimum_detectable", "margin", "questions_needed")}
    told = stats.with_margin(after, strict.margin)
    return replace(told, **power)
