"""The families of a page's comparisons: what is tested together, so that words and intervals hold together.

The primary metric is a family of its own: every challenger against the baseline on it, tested at the full level,
whatever else the page measures. All other metrics are the second family. Within a family p, verdicts and intervals hold
for all of its comparisons at once: see `ragbench.stats.families.jointly`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.core.language import Translator
from ragbench.core.metric import Metric
from ragbench.core.names import meant
from ragbench.core.types import Array, Better, Comparison
from ragbench.metrics import meant as going_by
from ragbench.stats import Hypothesis
from ragbench.stats.families import NORMAL_MAX_T
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.requests import Draws

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
