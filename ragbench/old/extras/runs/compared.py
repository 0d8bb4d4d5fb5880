"""Runs against one of them: paired by question where both kept their values, by summaries where one did not."""

from __future__ import annotations

import itertools
import math
import os
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ragbench.old import stats
from ragbench.old.core import gaps, settings
from ragbench.old.core.expectations import kind
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Findings, Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.settings import DifferenceSettings
from ragbench.old.core.types import BY_CONSTRUCTION, Better, Comparison, Status
from ragbench.old.extras.runs.changes import Refusal, Setting, refusal, said, settings_of
from ragbench.old.extras.runs.run_tables import RunFacts, run_facts
from ragbench.old.metrics import declaration, meant
from ragbench.old.store.run_records import RunRecord, RunScores, RunValue
from ragbench.old.tiers.basics import findings, withholding
from ragbench.old.tiers.basics.bands import of_interest
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import NOTHING, Sureness, bounds, corrected
from ragbench.old.tiers.basics.withholding import stated
from ragbench.old.tiers.run.record import VOID, filtered, with_depths

if TYPE_CHECKING:
    import pandas as pd


Barred = dict[tuple[str, str, str], str]
"""Notebook, system, metric → why such a number is not compared."""
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

    @property
    def better(self) -> Better | None:
        """Which way is good; None for a number that only describes, and for one that the catalogue does not know."""
        declared = declaration(self.metric)
        known = (*(value.better for value in self.values), None if declared is None else declared.better)
        return next(filter(None, known), None)


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


def _summarized(first: RunRecord, second: RunRecord, beside: Beside, barred: Barred) -> Iterator[Summarized]:
    """What both runs have of a pair of systems, at one depth or at another, and why it is not compared, if so."""
    own, its = beside.systems
    for value in first.values:
        if (value.notebook, value.system) == (beside.notebook, own):
            other = second.value(beside.notebook, its, value.metric) or _near(first, second, value, its)
            if other is not None:
                made = Summarized(**vars(beside), metric=value.metric, values=(value, other))
                yield replace(made, why=_why_not(made, barred))


def _near(first: RunRecord, second: RunRecord, value: RunValue, system: str) -> RunValue | None:
    """What goes by the same name at another depth, in the second run alone: mrr@5 beside mrr@10, or beside mrr."""
    metric = declaration(value.metric)
    if metric is None or metric.cutoffs:
        return None
    own = [each for each in second.values if (each.notebook, each.system) == (value.notebook, system)]
    alone = [each for each in own if first.value(value.notebook, value.system, each.metric) is None]
    declared = ((each, declaration(each.metric)) for each in alone)
    return next((each for each, there in declared if there is not None and set(there.names) & set(metric.names)), None)


def _why_not(made: Summarized, barred: Barred) -> str:
    """Why two numbers are not compared; of several reasons the one that makes a number impossible, or another one."""
    one, other = made.values
    reasons = {
        "other_depth": one.metric != other.metric,
        "unmeasured": math.isnan(one.value) or math.isnan(other.value),
        "other_unit": None not in (one.unit, other.unit) and one.unit != other.unit,
        "other_scale": None not in (*one.bounds, *other.bounds) and one.bounds != other.bounds,
        "describes": made.better is None,
        BY_CONSTRUCTION: one.method == other.method == BY_CONSTRUCTION,
    }
    told = [barred.get((made.notebook, system, made.metric), "") for system in made.systems]
    return next(filter(None, [*told, *(why for why, holds in reasons.items() if holds)]), "")


def _two_samples(made: Summarized, level: float, margin: float | None = None) -> Summarized:
    """With the comparison of two samples, where nothing is against it."""
    if made.why or made.better is None:
        return made
    known = [stats.Summary(v.value, v.low, v.high, v.level, v.n, v.bounds, v.n_unmeasured or 0) for v in made.values]
    compared = stats.compare_summaries(*known, better=made.better, level=level, margin=margin, names=made.titles)
    return replace(made, comparison=compared, why="no_interval" if compared is None else "")


def _in_families(
    summarized: Sequence[Summarized], runs: Sequence[RunRecord], primary: Mapping[str, str], matters: DifferenceSettings
) -> Iterator[Summarized]:
    """p corrected in the same families, apart from what has pairs: summaries have no questions to flip, so by Holm."""
    families: dict[str, dict[str, list[Comparison]]] = {}
    for summary in summarized:
        if summary.comparison is not None:
            families.setdefault(summary.notebook, {}).setdefault(summary.metric, []).append(summary.comparison)
    together = {
        (notebook, metric): iter(comparisons)
        for notebook, own in families.items()
        for metric, comparisons in corrected(own, primary[notebook]).items()
    }
    for summary in summarized:
        if summary.comparison is not None:
            after = _with_power(summary, next(together[summary.notebook, summary.metric]), matters)
            summary = replace(summary, comparison=withholding.withheld(after, _unknown(runs, summary)))
        yield summary


def _with_power(summary: Summarized, after: Comparison, matters: DifferenceSettings) -> Comparison:
    """What two samples could have shown at the threshold that the correction leaves is not what pairs could have."""
    assert after.threshold is not None, "it was corrected"
    strict = _two_samples(summary, 1 - after.threshold, of_interest(summary.metric, matters)).comparison
    assert strict is not None, "it was compared"
    power = {name: getattr(strict, name) for name in ("minimum_detectable", "margin", "questions_needed")}
    return replace(stats.with_margin(after, strict.margin), **power)


def _unknown(runs: Sequence[RunRecord], summary: Summarized) -> str:
    """Why two runs' numbers tell nothing of each other where too much of what one retrieved is unknown; else empty."""
    sides = zip((runs[0], runs[summary.run]), summary.systems, strict=True)
    told = (withholding.why(_facts(run, summary.notebook), [system], summary.metric) for run, system in sides)
    return next(filter(None, told), "")


@dataclass(frozen=True, kw_only=True)
class Pairing(Beside):
    """A system of the baseline and a system of another run, on the questions of a notebook that both have.

    samples: the common questions, in the baseline's order. metrics: what is compared on them.
    only_first, only_second: questions that the other run does not have. altered: questions of one id that are not the
    same question.
    """

    samples: tuple[str, ...]
    metrics: tuple[str, ...]
    only_first: int
    only_second: int
    altered: int
    clusters: tuple[str, ...] | None
    estimates: tuple[NamedEstimate, ...] = ()
    comparisons: tuple[NamedComparison, ...] = ()


@dataclass(frozen=True)
class RunComparison:
    """What runs say of each other: every run against the first of them, the baseline.

    settings: all that the numbers depend on. refused: what was not compared at all. primary: of each notebook the
    metric that the runs call primary; empty where they do not agree. joined: of each notebook whose questions pair, the
    runs' systems as those of one page, stated as every page is.
    """

    runs: tuple[RunRecord, ...]
    pairings: tuple[Pairing, ...]
    summarized: tuple[Summarized, ...]
    settings: tuple[Setting, ...]
    refused: tuple[Refusal, ...] = ()
    sureness: Sureness = field(default_factory=lambda: Sureness(0.95, 10_000, 0))
    primary: Mapping[str, str] = field(default_factory=dict)
    joined: Mapping[str, Measurement] = field(default_factory=dict)

    @property
    def changes(self) -> list[Setting]:
        """The settings that differ."""
        return [setting for setting in self.settings if setting.differs]


SLACK = 1e-9  # what a mean of ones in binary may be above one
OF_SYSTEMS = (gaps.FACT, withholding.MATCHING)
"""Facts, by system, that verdicts hang on."""
UNMEASURED = "unmeasured"
"""What goes as the status of a value of which a kept run does not say why it is not there."""


def compare_runs(
    *runs: RunRecord,
    systems: Mapping[str, str] | None = None,
    on_common_questions: bool = False,
    sureness: Sureness | None = None,
) -> RunComparison:
    """Two runs or more, each against the first: estimates, and comparisons in the families of `families.compared`.

    p is corrected over all comparisons of a notebook, of all its systems and all runs. systems: by a run's letter the
    one to set against the baseline's; else all that both have, or the only one of each. on_common_questions: with
    different data, pair the questions that are the same in both (id, text, reference and what is relevant); the
    passages behind them may differ all the same.

    A notebook that was measured on other data or in another unit is refused, with what would make it comparable.
    Raises BenchError where nothing can be compared, with every reason.
    """
    if not 2 <= len(runs) <= len(LETTERS):
        raise BenchError(f"from 2 to {len(LETTERS)} runs can be compared; there are {len(runs)}")
    first, *others = map(with_depths, runs)
    known, called = (first, *others), labels(runs)
    chosen, wanted = sureness or _sureness(first), dict(systems or {})
    _check_systems(known, wanted)
    pairings: list[Pairing] = []
    summarized: list[Summarized] = []
    refused: list[Refusal] = []
    for place, second in enumerate(others, 1):
        made = _pairs(first, second, place, wanted, (called[0], called[place]), on_common_questions, chosen)
        for additions, all_of_them in zip(made, (pairings, summarized, refused), strict=True):
            all_of_them += additions  # type: ignore[operator]
    if not pairings and not summarized:
        raise BenchError(_nothing(known, refused))
    primary = {part.notebook: _primary(known, part.notebook) for part in first.parts}
    matters = settings.load().smallest_difference
    joined: dict[str, Measurement] = {}
    told: list[Pairing] = []
    for notebook in dict.fromkeys(each.notebook for each in pairings):
        own = [each for each in pairings if each.notebook == notebook]
        if any(each.metrics for each in own):
            evidence = join(known, own, primary[notebook], chosen, matters)
            joined[notebook] = stated(evidence, state)
            own = [_told(each, evidence, joined[notebook]) for each in own]
        told += own
    summarized = list(_in_families(summarized, known, primary, matters))
    return RunComparison(
        known, tuple(told), tuple(summarized), tuple(settings_of(known)), tuple(refused), chosen, primary,
        joined,
    )  # fmt: skip


def _nothing(runs: Sequence[RunRecord], refused: Sequence[Refusal]) -> str:
    """Why nothing at all is compared."""
    english, several = translator("en"), len(runs) > 2
    whose = [
        f"{refusal.run}, " if several and refusal.notebook else refusal.run if several else "" for refusal in refused
    ]
    reasons = [
        f"{whom}{refusal.notebook}: {said(refusal, english)}" if whom or refusal.notebook else said(refusal, english)
        for whom, refusal in zip(whose, refused, strict=True)
    ]
    named = " and ".join(filter(None, [", ".join(run.id for run in runs[:-1]), runs[-1].id]))
    return f"{named} cannot be compared: {chr(10).join(reasons) or 'no number is in both'}"


def _pairs(
    first: RunRecord, second: RunRecord, place: int, wanted: Mapping[str, str], called: tuple[str, str],
    on_common_questions: bool, sureness: Sureness,
) -> tuple[list[Pairing], list[Summarized], list[Refusal]]:  # fmt: skip
    """What pairs a run with the baseline, of what only summaries are compared, and what is not compared."""
    shared = [part.notebook for part in first.parts if second.part(part.notebook) is not None]
    if not shared:
        return [], [], [Refusal("", "notebooks", _notebooks(first), _notebooks(second), run=second.id)]
    pairs = _paired_systems(first, second, (wanted.get(LETTERS[0]), wanted.get(LETTERS[place])))
    if not pairs:
        own, its = (", ".join(_systems(run)) or "none" for run in (first, second))
        return [], [], [Refusal("", "systems", own, its, run=second.id)]
    refused = {name: why for name in shared if (why := refusal(first, second, name, on_common_questions))}
    allowed = [notebook for notebook in shared if notebook not in refused]
    beside = [
        Beside(notebook=name, run=place, systems=pair, titles=names(pair, called)) for name in allowed for pair in pairs
    ]
    barred, corrected = _barred(first, second), _corrected(first) | _corrected(second)
    pairings = []
    for each in beside:
        pairing = _pair(first.of(each.notebook), second.of(each.notebook), each)
        if pairing is None or not pairing.metrics:
            continue
        if not pairing.samples:
            refused[each.notebook] = Refusal(each.notebook, "questions", first.id, second.id, run=second.id)
        elif left := [metric for metric in pairing.metrics if (each.notebook, metric) not in corrected]:
            may = [m for m in left if not any((each.notebook, system, m) in barred for system in each.systems)]
            pairings.append(replace(pairing, metrics=tuple(may)))
    paired = {(each.notebook, each.systems, metric) for each in pairings for metric in each.metrics}
    summarized = [
        _two_samples(summary, sureness.level)
        for each in beside
        if each.notebook not in refused
        for summary in _summarized(first, second, each, barred)
        if (each.notebook, each.systems, summary.metric) not in paired
    ]
    return pairings, summarized, list(refused.values())


def _notebooks(record: RunRecord) -> str:
    return ", ".join(part.notebook for part in record.parts) or "none"


def _systems(record: RunRecord) -> list[str]:
    return list(dict.fromkeys(value.system for value in record.values))


def _sureness(record: RunRecord) -> Sureness:
    """As the first run's pages were: level, draws, seed."""
    facts = next((part.facts for part in record.parts if "level" in part.facts), Facts())
    return Sureness(facts.get("level", 0.95), facts.get("resamples", 10_000), facts.get("seed", 0))


def _check_systems(runs: Sequence[RunRecord], wanted: Mapping[str, str]) -> None:
    for letter, name in wanted.items():
        place = LETTERS.find(letter)
        if not 0 <= place < len(runs):
            raise BenchError(f"there is no run {letter!r}; the runs are {LETTERS[0]} to {LETTERS[len(runs) - 1]}")
        if name not in (known := _systems(runs[place])):
            raise BenchError(f"the run {runs[place].id} has no system {name!r}; it has {', '.join(known) or 'none'}")


def _paired_systems(
    first: RunRecord, second: RunRecord, wanted: tuple[str | None, str | None]
) -> list[tuple[str, str]]:
    """Those that go together; none where nothing says which do. Beside one that is named goes the other run's of the
    same name, else the only one that it has."""
    one, other = _systems(first), _systems(second)
    if any(wanted):
        left, right = wanted
        left = left or (right if right in one else one[0] if len(one) == 1 else None)
        right = right or (left if left in other else other[0] if len(other) == 1 else None)
        return [(left, right)] if left is not None and right is not None else []
    if common := [(name, name) for name in one if name in other]:
        return common
    return [(one[0], other[0])] if len(one) == len(other) == 1 else []


def _pair(first: RunScores | None, second: RunScores | None, beside: Beside) -> Pairing | None:
    """The questions and the metrics that two systems have in common; None where only summaries of one are known."""
    if first is None or second is None:
        return None
    asked, others = (dict(zip(own.samples, own.fingerprints, strict=True)) for own in (first, second))
    same = [sample for sample in asked if asked[sample] == others.get(sample)]
    n_common = len(asked.keys() & others.keys())
    groups = None if first.clusters is None else dict(zip(first.samples, first.clusters, strict=True))
    own, other = beside.systems
    return Pairing(
        **vars(beside),
        samples=tuple(same),
        metrics=tuple(metric for system, metric in first.values if system == own and (other, metric) in second.values),
        only_first=len(asked) - n_common,
        only_second=len(others) - n_common,
        altered=n_common - len(same),
        clusters=None if groups is None else tuple(groups[sample] for sample in same),
    )


def _barred(first: RunRecord, second: RunRecord) -> Barred:
    """Numbers that a run marks, those with a value outside of the scale, and those
    that people's labels correct in one of the runs alone."""
    barred: Barred = {}
    for value in (*first.values, *second.values):
        if not value.comparable:
            key = (value.notebook, value.system, value.metric)
            barred[key] = "outside_scale" if barred.get(key) == "outside_scale" else value.reason
    for scores in (*first.scores, *second.scores):
        for (system, metric), column in scores.values.items():
            declared = declaration(metric)
            scale = None if declared is None else bounds(declared)
            if scale is not None and ((column < scale[0] - SLACK) | (column > scale[1] + SLACK)).any():
                barred.setdefault((scores.notebook, system, metric), "outside_scale")
    labelled, other = _corrected(first), _corrected(second)
    for value in (*first.values, *second.values):
        if ((value.notebook, value.metric) in labelled) != ((value.notebook, value.metric) in other):
            barred.setdefault((value.notebook, value.system, value.metric), "other_labels")
    return barred


def _corrected(record: RunRecord) -> set[tuple[str, str]]:
    """(notebook, metric) of the numbers that people's labels correct: single answers have only the judge's values."""
    return {(part.notebook, metric) for part in record.parts for metric in part.facts.get("corrected") or ()}


def _primary(runs: Sequence[RunRecord], notebook: str) -> str:
    """The metric that the runs call primary; empty where they do not agree, so that none is chosen afterwards."""
    labels = [value.metric for value in runs[0].values if value.notebook == notebook]
    parts = (run.part(notebook) for run in runs)
    named = {str(part.facts["primary"]) for part in parts if part is not None and part.facts.get("primary")}
    primaries = {label for name in named for label in meant(name, labels)[:1]}
    return primaries.pop() if len(primaries) == 1 else ""


def _told(pairing: Pairing, evidence: Evidence, page: Measurement) -> Pairing:
    """The pairing with its estimates, on its own questions, and its comparisons, tested together with all that is
    printed with them."""
    asked = frozenset(pairing.samples)
    own = page if asked == frozenset(evidence.scores["sample"]) else stated(filtered(evidence, asked), state)
    return replace(
        pairing,
        estimates=tuple(
            estimate
            for title in pairing.titles
            for estimate in own.estimates
            if estimate.system == title and estimate.metric in pairing.metrics
        ),
        comparisons=tuple(
            named
            for named in page.comparisons
            if (named.comparison.baseline, named.comparison.challenger) == pairing.titles
        ),
    )


def join(
    runs: Sequence[RunRecord], pairings: Sequence[Pairing], primary: str, sureness: Sureness,
    matters: DifferenceSettings,
) -> Evidence:  # fmt: skip
    """The systems of several runs as those of one page, under their titles, on the questions that pairs have in common.

    Of a value that is NaN the runs' parts tell whether there was nothing to measure.
    """
    import pandas as pd

    notebook = pairings[0].notebook
    sides = [
        (each, runs[run], system, title)
        for each in pairings
        for run, system, title in zip((0, each.run), each.systems, each.titles, strict=True)
    ]
    told: dict[str, dict[str, Any]] = {
        key: {
            title: by_system[system]
            for _each, run, system, title in sides
            if system in (by_system := cast(Mapping[str, Any], _facts(run, notebook).get(key) or {}))
        }
        for key in OF_SYSTEMS
    }
    clusters: dict[str, str | None] = {}
    for each in pairings:
        clusters |= dict(zip(each.samples, each.clusters or itertools.repeat(None), strict=False))
    first = _facts(runs[0], notebook)
    tops = [_facts(run, notebook).get("tops") or {} for run in (runs[0], *(runs[each.run] for each in pairings))]
    known: RunFacts = {
        **sureness.facts,
        "systems": [
            {"name": title} for title in dict.fromkeys(each.titles[side] for side in (0, 1) for each in pairings)
        ],
        "pairs": [list(each.titles) for each in pairings],
        "primary": primary,
        **cast(Facts, told),
        "known_items": first.get("known_items"),
        "smallest_difference": matters.model_dump(mode="json"),
        "reachable": first.get("reachable"),
        "tops": {label: max(own[label] for own in tops) for label in tops[0] if all(label in own for own in tops)},
    }
    scores = pd.concat([_scores(*side) for side in sides], ignore_index=True)
    return Evidence(
        notebook,
        known,
        scores=scores.drop_duplicates(["system", "metric", "sample"], ignore_index=True),
        questions=pd.DataFrame({"sample": list(clusters), "text": "", "cluster": list(clusters.values())}),
    )


def _facts(run: RunRecord, notebook: str) -> Facts:
    part = run.part(notebook)
    return Facts() if part is None else part.facts


def _scores(pairing: Pairing, run: RunRecord, system: str, title: str) -> pd.DataFrame:
    """A system's scores on the questions and metrics of a pairing, under its title."""
    import pandas as pd

    own = run.of(pairing.notebook)
    assert own is not None, "it was paired"
    values = pd.DataFrame({metric: own.values[system, metric] for metric in pairing.metrics}, index=list(own.samples))
    scores = values.loc[list(pairing.samples)].rename_axis("sample").reset_index().melt("sample", var_name="metric")
    void = {
        (metric, sample)
        for name, metric, samples in _facts(run, pairing.notebook).get(VOID) or ()
        if name == system
        for sample in samples
    }
    nothing = [place in void for place in zip(scores["metric"], scores["sample"], strict=True)]
    status = np.where(scores["value"].notna(), Status.OK, np.where(nothing, NOTHING[0], UNMEASURED))
    return scores.assign(system=title, status=status, reason="", judge=None)[list(SCORE_COLUMNS)]


def state(evidence: Evidence) -> Findings:
    """Means and comparisons, as every page of single values has them; of unknown metrics the means."""
    labels = dict.fromkeys(evidence.scores["metric"])
    metrics = [declaration(label) or findings.Unknown(label) for label in labels]
    pairs = [(first, second) for first, second in run_facts(evidence.facts)["pairs"]]
    return Findings(*Design(evidence).means(metrics, pairs))


def compare(*runs: str, on_common_questions: bool = False) -> RunComparison:
    """Which runs are better than the first? Differences with intervals, question by question, p corrected.

    runs: two or more, by name or id, by the beginning of an id, `"latest"`, or their folders. on_common_questions: of
    runs on other data, pair the questions that are the same in both.
    Raises BenchError where nothing can be compared, with what would make it comparable.
    """
    from ragbench.old.report.keeping import kept

    for run in runs:
        if not isinstance(run, str | os.PathLike):
            raise BenchError(
                f"compare: {kind(run)} is no run; names, ids or folders of kept runs are expected (ragbench runs lists "
                "them). Answers of two systems are compared by rb.score({'v1': …, 'v2': …}), values by rb.stats.compare"
            )
    return compare_runs(*map(kept.find, runs), on_common_questions=on_common_questions)
