"""From scores to findings: estimates of every system, comparisons, and the families in which they are corrected.

The primary metric is a family of its own: every challenger against the baseline on it, tested at the full level,
whatever else the page measures. All other metrics are the second family. Within a family p, verdicts and intervals hold
for all of its comparisons at once: see `ragbench.old.stats.families.jointly`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.metric import Metric
from ragbench.old.core.names import meant
from ragbench.old.core.types import Array, Better, Comparison, Status
from ragbench.old.metrics import declaration
from ragbench.old.metrics import meant as going_by
from ragbench.old.stats import Hypothesis, Paired
from ragbench.old.stats.estimates import width_of
from ragbench.old.stats.families import NORMAL_MAX_T
from ragbench.old.stats.intervals import bonett_price
from ragbench.old.stats.verdicts import on_scale
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.requests import Draws

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["Sureness", "columns", "compare", "find"]

Bounds = tuple[float, float]
Flags = NDArray[np.bool_]
NOTHING = (str(Status.MISSING_FIELD), str(Status.EMPTY_INPUT), str(Status.EMPTY_DECOMPOSITION))


@dataclass(frozen=True)
class Unknown:
    """A metric that nobody declares here: its scale is open, and neither direction is good."""

    label: str
    better: None = None
    bounds: tuple[None, None] = (None, None)


def find(
    scores: pd.DataFrame,
    metrics: Sequence[Metric | Unknown],
    systems: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
    primary: str = "",
    more: Mapping[str, Sequence[Hypothesis]] | None = None,
    samples: Sequence[str] | None = None,
    tops: Mapping[str, float] | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
    """Estimates of every system and metric, and comparisons of every other system with the first.

    scores: SCORE_COLUMNS (one row per system, metric and sample, NaN where unmeasured).
    clusters: sample → cluster, where samples are not independent. primary: the metric that is a family of its own; see
    `ragbench.old.tiers.basics.findings`. more: hypotheses by metric that were made from something else than single scores,
    one number for each of `samples`, all that there are, by id (None: those of the
    scores). What no pair of values was measured of is not compared. tops: by metric, the largest value that a question
    leaves room for, where that may be less than the end of the scale. pairs: who is compared with whom instead, each on
    the samples that both have a row of; a system has no estimate of a metric that it has no row of.
    """
    samples = sorted(set(scores["sample"])) if samples is None else samples
    values = {name: columns(scores, name, metrics, samples) for name in systems}
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    scales = {each.label: bounds(each) for each in metrics}
    estimates = [
        NamedEstimate(*key, estimate)
        for key, estimate in stats.estimate_systems(values, clusters=labels, bounds=scales, **asdict(sureness)).items()
    ]
    nothing = {name: void(scores, name, metrics, samples) for name in systems}
    asked = _asked(scores, pairs, samples) if pairs else None
    return tuple(estimates), compare(values, metrics, labels, sureness, primary, more, nothing, tops, asked)


def _asked(scores: pd.DataFrame, pairs: Sequence[tuple[str, str]], samples: Sequence[str]) -> list[Pair]:
    rows = {name: set(scores["sample"][scores["system"] == name]) for pair in pairs for name in pair}
    return [Pair(a, b, np.flatnonzero([sample in rows[a] & rows[b] for sample in samples])) for a, b in pairs]


def compare(
    values: Mapping[str, Mapping[str, Array]],
    metrics: Sequence[Metric | Unknown],
    clusters: Sequence[str] | None,
    sureness: Sureness,
    primary: str = "",
    more: Mapping[str, Sequence[Hypothesis]] | None = None,
    nothing: Mapping[str, Mapping[str, Flags]] | None = None,
    tops: Mapping[str, float] | None = None,
    pairs: Sequence[Pair] | None = None,
) -> tuple[NamedComparison, ...]:
    """The comparisons of `find`, of values by system and metric, one a sample in the same order, the first system the
    one that all others are compared with. clusters: one a sample. nothing: by system, what `void` says. tops: as there.
    pairs: who is compared with whom instead.
    """
    groups = {
        each.label: Group(
            {name: own[each.label] for name, own in values.items() if each.label in own},
            each.better,
            bounds=bounds(each, (tops or {}).get(each.label)),
            void={name: own[each.label] for name, own in (nothing or {}).items()},
            pairs=None
            if pairs is None
            else [pair for pair in pairs if all(each.label in values[name] for name in pair[:2])],
        )
        for each in metrics
        if each.better is not None
    }
    by_metric = compared(groups, clusters, sureness, primary, more)
    order = {name: place for place, name in enumerate(values)}
    comparisons = [NamedComparison(label, comparison) for label, group in by_metric.items() for comparison in group]
    return tuple(sorted(comparisons, key=lambda each: order[each.comparison.challenger]))


def columns(
    scores: pd.DataFrame, system: str, metrics: Sequence[Metric | Unknown], samples: Sequence[str] | None = None
) -> dict[str, Array]:
    """One column a metric, its rows by the samples' ids: no number depends on the order in which a file has them."""
    own = scores[scores["system"] == system]
    by_metric: dict[str, dict[str, float]] = {}
    for sample, label, value in zip(*(own[name].tolist() for name in ("sample", "metric", "value")), strict=True):
        measured = by_metric.setdefault(label, {})
        if value == value:
            measured.setdefault(sample, value)
    asked = sorted(set(scores["sample"].tolist())) if samples is None else samples
    return {
        each.label: np.array([by_metric[each.label].get(sample, math.nan) for sample in asked], dtype=float)
        for each in metrics
        if each.label in by_metric
    }


def void(
    scores: pd.DataFrame, system: str, metrics: Sequence[Metric | Unknown], samples: Sequence[str] | None = None
) -> dict[str, Flags]:
    """By metric, (samples,) whether there was nothing to measure: a field that the sample does not have, or nothing in
    it to judge. Where that is so of both systems the question is no pair, and none that is unmeasured."""
    asked = sorted(set(scores["sample"].tolist())) if samples is None else list(samples)
    if "status" not in scores:
        return {each.label: np.zeros(len(asked), dtype=bool) for each in metrics}
    own = scores[(scores["system"] == system) & scores["value"].isna() & scores["status"].isin(NOTHING)]
    by_metric = {label: set(part["sample"]) for label, part in own.groupby("metric", sort=False)}
    empty: set[str] = set()
    return {each.label: np.array([sample in by_metric.get(each.label, empty) for sample in asked]) for each in metrics}


def bounds(metric: Metric | Unknown, top: float | None = None) -> Bounds | None:
    """The ends of the metric's scale, infinite where one is open; None where both are. top: the most that can be
    reached, if it is less."""
    low, high = (-math.inf if metric.bounds[0] is None else metric.bounds[0]), metric.bounds[1]
    if high is None and math.isinf(low):
        return None
    high = math.inf if high is None else high
    return (low, min(high, top)) if top is not None and top > low else (low, high)


PRIMARY, SECONDARY = "primary", "secondary"
T = TypeVar("T")


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

    @property
    def facts(self) -> Facts:
        """The same as facts of a page."""
        return {"level": self.level, "resamples": self.resamples, "seed": self.seed}


class Pair(NamedTuple):
    """Two systems that are compared, and the places of the questions that both were asked; None: all."""

    baseline: str
    challenger: str
    places: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Group:
    """One metric, or one metric on a part of the questions.

    values: one number a question of the family for every system, the baseline first. places: of the questions that it
    is about; None: it is about all. bounds: the ends of the scale; None where one is open. void: for every system, of
    which questions there is nothing to measure: one that is so on both sides is no pair. pairs: who is compared with
    whom; None: every other system with the first.
    """

    values: Mapping[str, Array]
    better: Better
    places: NDArray[np.int64] | None = None
    bounds: tuple[float, float] | None = None
    void: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    pairs: Sequence[Pair] | None = None

    @property
    def against(self) -> Sequence[Pair]:
        """Who is compared with whom."""
        first, *others = self.values
        return [Pair(first, name, self.places) for name in others] if self.pairs is None else self.pairs


def leading(asked: str, metrics: Sequence[Metric], usual: str = "") -> Metric:
    """The primary metric: the one asked for, by any name that a metric goes by; else the usual one, else the first.

    Raises BenchError for one that is not among the metrics, or that has no good direction, with those that are legal.
    """
    by_label = {each.label: each for each in metrics}
    if not metrics:
        raise BenchError("no metric is measured that could be the primary one")
    if asked.strip():
        return by_label[named(asked, {label: each.better for label, each in by_label.items()})]
    return next((each for each in metrics if usual in (each.label, each.name)), metrics[0])


def check_baseline(baseline: str, systems: Iterable[str], whose: str = "the answers", option: str = "baseline") -> None:
    """Refuse a baseline that is none of the systems. Raises BenchError with those there are, and the near name."""
    there = list(dict.fromkeys(systems))
    if baseline and baseline not in there:
        known = f"there are {', '.join(there)}" if there else "none is named: add a column `system`"
        near = meant(baseline, there)
        raise BenchError(f"{option} = {baseline!r} is not among the systems of {whose}{near}; {known}")


def named(asked: str, known: Mapping[str, Better | None] | Mapping[str, Better]) -> str:
    """The label that is asked for as primary, of labels with the way that is good. Raises BenchError; see `leading`."""
    name = asked.strip()
    matches = going_by(name, known)
    legal = [label for label, better in known.items() if better is not None]
    why = "" if len(matches) == 1 else f"may be {', '.join(matches)}" if matches else "is not measured"
    if not why and matches[0] not in legal:
        why = "only describes: no value of it is better than another"
    if why:
        near = "" if matches else meant(name, legal)
        raise BenchError(f"primary = {asked!r}: it {why}{near}; legal: {', '.join(legal) or 'none'}")
    return matches[0]


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
    comparisons = in_families(made, clusters, sureness, primary)
    return {
        name: [comparison for comparison in group if not math.isnan(comparison.p)]
        for name, group in comparisons.items()
    }


def in_families(
    made: Mapping[str, Sequence[Hypothesis]],
    clusters: Sequence[Hashable] | None,
    sureness: Sureness,
    primary: str = "",
) -> dict[str, list[Comparison]]:
    """Hypotheses about the same questions, by metric and in their order, each tested together with its family.

    What has no p (nothing was paired) is of no family.
    """
    how = {"resamples": sureness.resamples, "seed": sureness.seed}
    return _by_family(made, primary, lambda all_of_it: stats.jointly(all_of_it, clusters, **how))


def corrected(made: Mapping[str, Sequence[Comparison]], primary: str = "") -> dict[str, list[Comparison]]:
    """The same of comparisons that are not about the same questions, so that Holm's steps have to do."""
    return _by_family(made, primary, stats.adjust)


def _by_family(
    made: Mapping[str, Sequence[T]], primary: str, together: Callable[[Sequence[T]], Sequence[Comparison]]
) -> dict[str, list[Comparison]]:
    comparisons: dict[str, list[Comparison]] = {name: [] for name in made}
    first = [name for name in made if name == primary and made[name]]
    rest = [name for name in made if name not in first]
    for title, names in ((PRIMARY, first), (SECONDARY, rest)):
        every = [(name, hypothesis) for name in names for hypothesis in made[name]]
        for (name, _one), comparison in zip(every, together([hypothesis for _name, hypothesis in every]), strict=True):
            comparisons[name].append(
                replace(comparison, family=f"{title}: {comparison.family}")
                if primary and comparison.family
                else comparison
            )
    return comparisons


def _hypotheses(group: Group, clusters: Sequence[str] | None, sureness: Sureness) -> list[Hypothesis]:
    """A hypothesis for each pair that was measured, its column as long as the family has questions."""
    made = []
    for baseline, challenger, asked in group.against:
        number = len(group.values[baseline])
        places = np.arange(number) if asked is None else asked
        own = None if clusters is None else [clusters[place] for place in places]
        sides = [group.values[name][places] for name in (baseline, challenger)]
        if any(np.isnan(side).all() for side in sides):
            continue
        void = [group.void[name][places] for name in (baseline, challenger) if name in group.void]
        hypothesis = stats.hypotheses(
            {"": sides[0]}, {"": sides[1]}, clusters=own,
            better=group.better, names=(baseline, challenger), bounds=group.bounds,
            void={"": void[0] & void[1]} if len(void) == 2 else None, **asdict(sureness),
        )[""]  # fmt: skip
        made.append(_placed(hypothesis, places, number))
    return made


def _placed(hypothesis: Hypothesis, places: NDArray[np.int64], number: int) -> Hypothesis:
    """The hypothesis about some questions as one of a family of so many, of which they stand at these places."""
    columns = []
    for own in (hypothesis.column, *hypothesis.completions):
        column = np.full(number, np.nan)
        column[places] = own
        columns.append(column)
    return replace(hypothesis, column=columns[0], completions=tuple(columns[1:]))


def said(family: str, _: Translator) -> str:
    """What a family's name says to people: how many comparisons p, verdict and interval are adjusted for, and how.

    Empty for a comparison that stands alone; a name that no family has today is said as it is.
    """
    title, _colon, rest = family.rpartition(": ")
    number, comma, method = rest.partition(", ")
    if not comma or not number.isdigit():
        return family
    if number == "1":
        alone = {PRIMARY: _("primary metric, tested by itself"), SECONDARY: _("secondary metrics, a single comparison")}
        return alone.get(title, "")
    names = {"holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg", NORMAL_MAX_T: _("max-T by normal sums")}
    how = f"{adjusted(family, _)} ({names.get(method, method)})"
    if title == PRIMARY:
        return _("primary metric, {adjusted}", adjusted=how)
    return _("secondary metrics, {adjusted}", adjusted=how) if title == SECONDARY else how


def merged(comparisons: Iterable[Comparison], _: Translator) -> str:
    """Why a family counts fewer comparisons than are printed; empty where none does."""
    counts = Counter(comparison.family for comparison in comparisons if comparison.family)
    different = {family: family.rpartition(": ")[2].partition(", ")[0] for family in counts}
    if not any(number.isdigit() and int(number) < counts[family] for family, number in different.items()):
        return ""
    return _("Comparisons whose differences are equal question by question count as one.")


def headed(family: str, _: Translator) -> str:
    """What a page's answer says of its family: how many comparisons it is adjusted for, and where it is not of the
    primary metric, that."""
    return said(family, _) if family.startswith(SECONDARY) else adjusted(family, _)


def adjusted(family: str, _: Translator) -> str:
    """`adjusted for 3 comparisons`; empty where nothing was adjusted."""
    number = family.rpartition(": ")[2].partition(", ")[0]
    if not number.isdigit() or number == "1":
        return ""
    return _.plural("adjusted for {n} comparison", "adjusted for {n} comparisons", int(number))


def compared_pair(made: Measurement, baseline: str, system: str, metric: str) -> Comparison | None:
    """The paired comparison of two systems, from their values; as the report has it where there are none.

    The values are a judge's: of a metric that people's labels correct there is the report's comparison, or none.
    """
    pair = paired_values(made, baseline, system, metric)
    by_name = {(c.metric, c.comparison.baseline, c.comparison.challenger): c.comparison for c in made.comparisons}
    known = by_name.get((metric, baseline, system))
    if pair is None or metric in (made.facts.get("corrected") or ()):
        return known
    how = {
        name: getattr(pair, name) for name in ("clusters", "level", "resamples", "seed", "names", "better", "bounds")
    }
    void = None if pair.void is None else {metric: pair.void}
    comparisons = stats.compare_metrics({metric: pair.baseline}, {metric: pair.challenger}, void=void, **how)
    comparison = _widened(comparisons[metric], metric)
    other = known is not None and known.withheld and not stats.withheld_by_gaps(known)
    return stats.withheld(comparison, known.withheld) if known is not None and other else comparison


def paired_values(made: Measurement, baseline: str, system: str, metric: str) -> Paired | None:
    """The values of two systems on a metric, paired by question, with how the measurement compares; None where one of
    them has none."""
    samples = samples_of(made)
    rows = [_rows(made, name, metric) for name in (baseline, system)]
    first, second = (_column(own, samples) for own in rows)
    if first is None or second is None:
        return None
    facts, clusters = made.facts, clusters_of(made, samples)
    how = (facts.get("level", 0.95), facts.get("resamples", 10_000), facts.get("seed", 0))
    declared = declaration(metric)
    nothing = [_void(own, samples) for own in rows]
    return Paired(
        metric, (baseline, system), first, second, clusters, _better(made, metric), *how,
        bounds=None if declared is None else bounds(declared), void=nothing[0] & nothing[1],
    )  # fmt: skip


def _void(rows: pd.DataFrame, samples: Sequence[str]) -> Flags:
    """Of which questions there was nothing to measure; see `findings.void`."""
    there = set(rows.loc[rows["value"].isna() & rows["status"].isin(NOTHING), "sample"])
    return np.array([sample in there for sample in samples], dtype=bool)


def direction(made: Measurement, metric: str) -> Better | None:
    """Which values are better: as the measurement compared them, else as declared; None for a metric that describes."""
    known = next((finding.comparison.better for finding in made.comparisons if finding.metric == metric), None)
    if known is not None:
        return known
    declared = declaration(metric)
    return "higher" if declared is None else declared.better


def _better(made: Measurement, metric: str) -> Better:
    return direction(made, metric) or "higher"


def _widened(comparison: Comparison, metric: str) -> Comparison:
    """Where no pair moved there is no spread to tell from: the interval is that of two pairs that moved by the scale.

    Bonett and Price's added pairs (2012), on as many pairs as there are independent groups.
    """
    declared = declaration(metric)
    scale = None if declared is None else bounds(declared)
    number, width = comparison.clusters or comparison.n, width_of(scale)
    if not math.isnan(comparison.low) or comparison.difference != 0 or width is None or number < 2:
        return comparison
    low, high = bonett_price(0.0, 2 * width**2, number, number - 1, comparison.level)
    return on_scale(replace(comparison, low=low, high=high, method="bonett_price", note="no_spread"))


def column_of(made: Measurement, system: str, metric: str) -> Array | None:
    """A system's values in the order of the questions, NaN where unmeasured; None where there are none."""
    return _column(_rows(made, system, metric), samples_of(made))


def _rows(made: Measurement, system: str, metric: str) -> pd.DataFrame:
    chosen = (made.scores["system"] == system) & (made.scores["metric"] == metric)
    return made.scores.loc[chosen, ["sample", "value", "status"]]


def _column(rows: pd.DataFrame, samples: list[str]) -> Array | None:
    if not len(rows):
        return None
    column: Array = rows.drop_duplicates("sample").set_index("sample")["value"].reindex(samples).to_numpy(dtype=float)
    return column


def samples_of(made: Measurement) -> list[str]:
    """The questions by their ids, each once, in the order of the scores."""
    samples: list[str] = made.scores["sample"].unique().tolist()
    return samples


def clusters_of(made: Measurement, samples: Sequence[str]) -> tuple[str, ...] | None:
    """The group of each question where estimates were made over groups; a question without one is its own."""
    if not any(finding.estimate.clusters for finding in made.estimates) or "cluster" not in made.questions:
        return None
    named = dict(zip(made.questions["sample"].astype(str), made.questions["cluster"], strict=True))
    return tuple(str(named.get(name)) if isinstance(named.get(name), str) else f"\x1f{name}" for name in samples)
