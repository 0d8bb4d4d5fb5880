"""Two runs against each other: paired by question where both kept their values, by summaries where one did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ragbench import settings, stats
from ragbench.bench.basics.families import Sureness, in_families
from ragbench.bench.basics.findings import bounds
from ragbench.bench.basics.interest import told
from ragbench.bench.basics.session import BenchError
from ragbench.bench.runs.changes import Change, Refusal, changes, refusal, said
from ragbench.bench.runs.record import with_depths
from ragbench.bench.runs.summarized import (
    Summarized,
    direction,
    marked,
    names,
    summaries_in_families,
    summarized_numbers,
)
from ragbench.language import translator
from ragbench.measurement import NamedComparison, NamedEstimate
from ragbench.metrics import declaration, meant
from ragbench.settings import DifferenceSettings
from ragbench.store.records import RunRecord, RunScores
from ragbench.types import Array


@dataclass(frozen=True)
class Pairing:
    """A system of the first run and a system of the second, on the questions of a notebook that both have.

    samples: the common questions, in the first run's order. only_first, only_second: questions that the other run does
    not have. altered: questions of one id that are not the same question. estimates name the systems `first`, `second`.
    """

    notebook: str
    systems: tuple[str, str]
    samples: tuple[str, ...]
    only_first: int
    only_second: int
    altered: int
    clusters: tuple[str, ...] | None
    values: Mapping[str, tuple[Array, Array]]
    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: tuple[NamedComparison, ...] = ()


@dataclass(frozen=True)
class RunComparison:
    """What two runs say of each other. refused: notebooks that were not compared at all. primary: of each notebook the
    metric that the runs call primary; empty where they do not agree."""

    first: RunRecord
    second: RunRecord
    pairings: tuple[Pairing, ...]
    summarized: tuple[Summarized, ...]
    changes: tuple[Change, ...]
    refused: tuple[Refusal, ...] = ()
    sureness: Sureness = field(default_factory=lambda: Sureness(0.95, 10_000, 0))
    primary: Mapping[str, str] = field(default_factory=dict)


SLACK = 1e-9


def compare_runs(
    first: RunRecord,
    second: RunRecord,
    *,
    systems: tuple[str | None, str | None] = (None, None),
    on_common_questions: bool = False,
    sureness: Sureness | None = None,
) -> RunComparison:
    """The second run against the first: estimates, and comparisons in the families of `families.compared`, by notebook.

    systems: one of each run to set against each other; else all that both have, or the only one of each.
    on_common_questions: with different data, pair the questions that are the same in both (id, text, reference and what
    is relevant); the passages behind them may differ all the same.

    A notebook that was measured on other data or in another unit is refused, with what would make it comparable.
    Raises BenchError where nothing can be compared, with every reason.
    """
    first, second = with_depths(first), with_depths(second)
    chosen = sureness or _sureness(first)
    pairs = _paired_systems(first, second, systems)
    shared = [part.notebook for part in first.parts if second.part(part.notebook) is not None]
    if not shared:
        raise BenchError(f"no notebook is in both runs: {first.id} has {_notebooks(first)}, {second.id} has "
                         f"{_notebooks(second)}")  # fmt: skip
    refused = {name: why for name in shared if (why := refusal(first, second, name, on_common_questions))}
    pairings = [
        made
        for name in shared
        if name not in refused
        for pair in pairs
        if (made := _pair(first.of(name), second.of(name), pair)) is not None and made.values
    ]
    for made in [each for each in pairings if not each.samples]:
        refused[made.notebook] = Refusal(made.notebook, "questions", first.id, second.id)
        pairings.remove(made)
    barred = _barred(first, second)
    corrected = _corrected(first) | _corrected(second)
    pairings = [left for each in pairings if (left := _uncorrected(each, corrected)).values]
    pairings = [_without(each, barred) for each in pairings]
    paired = {(each.notebook, *each.systems, metric) for each in pairings for metric in each.values}
    summarized = [
        one
        for name in shared
        if name not in refused
        for pair in pairs
        for one in summarized_numbers(first, second, name, pair, paired, chosen)
    ]
    summarized = [marked(one, barred) for one in summarized]
    if not pairings and not summarized:
        english = translator("en")
        reasons = "; ".join(f"{each.notebook}: {said(each, english)}" for each in refused.values())
        reasons = reasons or "no number is in both"
        raise BenchError(f"{first.id} and {second.id} cannot be compared: {reasons}")
    primary = {name: _primary(first, second, name) for name in shared}
    matters = settings.load().smallest_difference
    pairings = _in_families([_estimated(each, chosen) for each in pairings], primary, chosen, matters)
    summarized = summaries_in_families(summarized, primary, matters)
    return RunComparison(
        first,
        second,
        tuple(pairings),
        tuple(summarized),
        tuple(changes(first, second)),
        tuple(refused.values()),
        chosen,
        primary,
    )


def _notebooks(record: RunRecord) -> str:
    return ", ".join(part.notebook for part in record.parts) or "none"


def _sureness(record: RunRecord) -> Sureness:
    """As the first run's pages were: level, draws, seed."""
    facts = next((part.facts for part in record.parts if "level" in part.facts), {})
    return Sureness(facts.get("level", 0.95), facts.get("resamples", 10_000), facts.get("seed", 0))


def _paired_systems(
    first: RunRecord, second: RunRecord, wanted: tuple[str | None, str | None]
) -> list[tuple[str, str]]:
    there = [list(dict.fromkeys(value.system for value in record.values)) for record in (first, second)]
    for record, known, name in zip((first, second), there, wanted, strict=True):
        if name is not None and name not in known:
            raise BenchError(f"the run {record.id} has no system {name!r}; it has {', '.join(known) or 'none'}")
    left, right = wanted
    if left is not None or right is not None:
        only = [known[0] if len(known) == 1 else None for known in there]
        pair = (left or _other(right, there[0], only[0]), right or _other(left, there[1], only[1]))
        if pair[0] is not None and pair[1] is not None:
            return [(pair[0], pair[1])]
    common = [(name, name) for name in there[0] if name in there[1]]
    if common and left is None and right is None:
        return common
    if len(there[0]) == len(there[1]) == 1:
        return [(there[0][0], there[1][0])]
    raise BenchError(
        f"say which systems to compare, `--system A=NAME --system B=NAME`: {first.id} has "
        f"{', '.join(there[0]) or 'none'}; {second.id} has {', '.join(there[1]) or 'none'}"
    )


def _other(name: str | None, known: Sequence[str], only: str | None) -> str | None:
    """The system that goes with a named one of the other run: of the same name, else the only one there is."""
    return name if name in known else only


def _pair(first: RunScores | None, second: RunScores | None, systems: tuple[str, str]) -> Pairing | None:
    if first is None or second is None:
        return None
    there = {sample: place for place, sample in enumerate(second.samples)}
    common = [(place, there[sample]) for place, sample in enumerate(first.samples) if sample in there]
    same = [(a, b) for a, b in common if first.fingerprints[a] == second.fingerprints[b]]
    left, right = (np.array([pair[side] for pair in same], dtype=int) for side in (0, 1))
    values = {
        metric: (column[left], second.values[systems[1], metric][right])
        for (system, metric), column in first.values.items()
        if system == systems[0] and (systems[1], metric) in second.values
    }
    return Pairing(
        notebook=first.notebook,
        systems=systems,
        samples=tuple(first.samples[a] for a, _ in same),
        only_first=len(first.samples) - len(common),
        only_second=len(second.samples) - len(common),
        altered=len(common) - len(same),
        clusters=None if first.clusters is None else tuple(first.clusters[a] for a, _ in same),
        values=values,
    )


def _barred(first: RunRecord, second: RunRecord) -> dict[tuple[str, str, str], str]:
    """(notebook, system, metric) → why: numbers that a run marks, those with a value outside of the scale, and those
    that people's labels correct in one of the runs alone."""
    found: dict[tuple[str, str, str], str] = {}
    for value in (*first.values, *second.values):
        if not value.comparable:
            key = (value.notebook, value.system, value.metric)
            found[key] = "outside_scale" if found.get(key) == "outside_scale" else value.reason
    for scores in (*first.scores, *second.scores):
        for (system, metric), column in scores.values.items():
            scale = _scale(metric)
            if scale is not None and ((column < scale[0] - SLACK) | (column > scale[1] + SLACK)).any():
                found.setdefault((scores.notebook, system, metric), "outside_scale")
    one, other = _corrected(first), _corrected(second)
    for value in (*first.values, *second.values):
        if ((value.notebook, value.metric) in one) != ((value.notebook, value.metric) in other):
            found.setdefault((value.notebook, value.system, value.metric), "other_labels")
    return found


def _corrected(record: RunRecord) -> set[tuple[str, str]]:
    """(notebook, metric) of the numbers that people's labels correct: single answers have only the judge's values."""
    return {(part.notebook, metric) for part in record.parts for metric in part.facts.get("corrected") or ()}


def _uncorrected(pairing: Pairing, corrected: set[tuple[str, str]]) -> Pairing:
    """Without the metrics that people's labels correct."""
    kept = {
        metric: columns for metric, columns in pairing.values.items() if (pairing.notebook, metric) not in corrected
    }
    return replace(pairing, values=kept)


def _without(pairing: Pairing, barred: Mapping[tuple[str, str, str], str]) -> Pairing:
    kept = {
        metric: columns
        for metric, columns in pairing.values.items()
        if not any((pairing.notebook, system, metric) in barred for system in pairing.systems)
    }
    return replace(pairing, values=kept)


def _estimated(pairing: Pairing, sureness: Sureness) -> Pairing:
    """With estimates of both systems on the common questions."""
    if not pairing.values:
        return pairing
    scales = {metric: _scale(metric) for metric in pairing.values}
    titles = names(pairing.systems)
    values = {
        title: {metric: columns[side] for metric, columns in pairing.values.items()}
        for side, title in enumerate(titles)
    }
    how = {"clusters": pairing.clusters, **asdict(sureness)}
    estimates = stats.estimate_systems(values, bounds=scales, **how)
    return replace(pairing, estimates=tuple(NamedEstimate(*key, one) for key, one in estimates.items()))


def _hypotheses(pairing: Pairing, sureness: Sureness) -> dict[str, stats.Hypothesis]:
    """Of the metrics that have a direction and a pair of values."""
    directions = {metric: way for metric in pairing.values if (way := direction(metric)) is not None}
    if not directions:
        return {}
    made = stats.hypotheses(
        {metric: pairing.values[metric][0] for metric in directions},
        {metric: pairing.values[metric][1] for metric in directions},
        clusters=pairing.clusters,
        better=directions,
        names=names(pairing.systems),
        **asdict(sureness),
    )
    return {metric: one for metric, one in made.items() if one.alone.n}


def _scale(metric: str) -> tuple[float, float] | None:
    declared = declaration(metric)
    return None if declared is None else bounds(declared)


def _primary(first: RunRecord, second: RunRecord, notebook: str) -> str:
    """The metric that the runs call primary; empty where they do not agree, so that none is chosen afterwards."""
    labels = [value.metric for value in first.values if value.notebook == notebook]
    parts = (run.part(notebook) for run in (first, second))
    named = {str(part.facts["primary"]) for part in parts if part is not None and part.facts.get("primary")}
    found = {label for name in named for label in meant(name, labels)[:1]}
    return found.pop() if len(found) == 1 else ""


def _in_families(
    pairings: Sequence[Pairing], primary: Mapping[str, str], sureness: Sureness, matters: DifferenceSettings
) -> list[Pairing]:
    """With comparisons: those of a notebook, of all its systems, are about the same questions and tested together."""
    found: dict[int, tuple[NamedComparison, ...]] = {}
    for notebook in dict.fromkeys(each.notebook for each in pairings):
        own = {n: _hypotheses(each, sureness) for n, each in enumerate(pairings) if each.notebook == notebook}
        by_metric: dict[str, dict[int, stats.Hypothesis]] = {}
        for n, made in own.items():
            for metric, one in made.items():
                by_metric.setdefault(metric, {})[n] = one
        clusters = pairings[min(own)].clusters
        done = in_families(
            {name: list(each.values()) for name, each in by_metric.items()}, clusters, sureness, primary[notebook]
        )
        placed = {(n, name): one for name, each in by_metric.items() for n, one in zip(each, done[name], strict=True)}
        found |= {n: tuple(NamedComparison(name, placed[n, name]) for name in made) for n, made in own.items()}
    return [replace(each, comparisons=told(found[n], matters)) for n, each in enumerate(pairings)]
