"""The word that a p has earned, its interval, what could have been shown, and limits within which nobody would mind.

Interval and verdict are one statement. 0 lies in the printed interval exactly when the printed test does not tell the
difference from it; any other value lies in it when the method that the interval names, at the same level, does not
tell the difference from that. A set of values that are each tested at one level covers the true one with that chance,
whichever test each of them meets (Casella, Berger 2002, theorem 9.2.2).

A pair with an unmeasured side may lie anywhere on the scale. Over all pairs, the difference then lies between two ends,
where every unmeasured value is put at that end of its scale which makes the difference smallest, or largest (Manski
1989, Journal of Human Resources 24; Horowitz, Manski 2000, JASA 95). A pair with one side measured can only move as far
as the other side can; where its scale is open on that side, nothing bounds the difference there, and what is said of it
holds for what was measured. A word is said only where the completion that speaks most against it is shown too, by the
same test at the same step of its family.

The p of signs falls with every difference that is raised towards the word: a pattern of signs is as far out as what was
seen exactly if the differences whose sign it turns add up to 0 or less. So no completion has a larger p by signs than
that one. The studentized bootstrap, which skewed completions ask for, is not so: a value raised alone widens the spread
by more than it raises the mean. Student's statistic is least at a corner of the box of all completions, as the error is
a convex function of them and the mean a linear one, so that corners are tried, with few to all of what is missing at
the better end, those first that then lie farthest out, and all as skewed where one is; the largest p counts. Nothing is
supposed of why values are missing: the true completion is one of them, and where there is no difference, the one that
speaks most against the word has no larger mean, so that it is shown no more often than the level says (Imbens, Manski
2004, Econometrica 72).

What a function of a whole set would make of answers that are not there, nobody knows: it may be anything on its scale,
and no word is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison, Verdict
from ragbench.old.core.types.reason import Reason
from ragbench.old.stats.estimates import Bounds, limits_of
from ragbench.old.stats.power import (
    POWER,
    attainable_p,
    minimum_detectable_difference,
    power_with,
    sample_size,
    shrinkage,
)
from ragbench.old.stats.signs import MCNEMAR, MCNEMAR_EXACT, leans
from ragbench.old.stats.values import Labels, Units, as_codes, as_values, exact_mean, units_of

OPEN = 1e-9
"""Of an interval that is cut at 0, which it does not hold: its end there, as a share of the difference. Every printed
form has it as `>0`, and a number that a program reads is of the size of rounding, as it should take it."""


def verdict_of(difference: float, p: float, better: Better, level: float, attainable: float = 0.0) -> Verdict:
    """The word: better or worse in the metric's direction when p is at most 1 − level, else not shown.

    attainable: the smallest p that there can be; above 1 − level nothing can be shown.
    """
    limit = 1 - level + 1e-12
    if not math.isnan(p) and attainable > limit:
        return Verdict.CANNOT_BE_SHOWN
    if math.isnan(p) or difference == 0 or p >= limit:
        return Verdict.NOT_SHOWN
    return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE


def by_signs(comparison: Comparison) -> Comparison:
    """The comparison with the verdict that its own p allows, tested by the signs of its groups, its interval in
    agreement with it, and its power."""
    judged = decided(
        replace(comparison, attainable=attainable_p(comparison.groups, binary=is_of_hits(comparison))),
        comparison.p,
        1 - comparison.level,
    )
    judged = weighed(agreeing(judged), comparison.p_worst)
    if math.isnan(judged.low):
        return judged
    return replace(judged, intervals={**judged.intervals, "alone": (judged.low, judged.high)})


def is_of_hits(comparison: Comparison) -> bool:
    """Whether it is of independent 0/1 values, tested by McNemar's test."""
    return comparison.test in (MCNEMAR, MCNEMAR_EXACT)


def withheld(comparison: Comparison, reason: str) -> Comparison:
    """The comparison without a verdict, for a reason that is said beside the word; its numbers stay.

    What it could have shown is not said either: more questions alike would tell no more. One without a p has no verdict
    anyway.
    """
    if math.isnan(comparison.p):
        return comparison
    return replace(
        comparison, verdict=Verdict.CANNOT_BE_TOLD, withheld=reason,
        minimum_detectable=None, questions_needed=None, groups_needed=None,
    )  # fmt: skip


def agreeing(comparison: Comparison) -> Comparison:
    """The comparison with an interval that holds 0 exactly if no difference is shown; see the module."""
    comparison = on_scale(comparison)
    low, high = comparison.low, comparison.high
    if math.isnan(low) or math.isnan(high):
        return comparison
    if not (comparison.verdict.is_better or comparison.verdict.is_worse):
        low, high = min(low, 0.0), max(high, 0.0)
    elif comparison.difference > 0:
        low = max(low, comparison.difference * OPEN or comparison.difference)
    else:
        high = min(high, comparison.difference * OPEN or comparison.difference)
    return replace(comparison, low=low, high=high)


def on_scale(comparison: Comparison) -> Comparison:
    """The comparison without an end of an interval beyond the width of the scale: no true difference lies there."""
    if comparison.width is None:
        return comparison
    width = comparison.width

    def within(ends: tuple[float, float]) -> tuple[float, float]:
        low, high = (max(-width, min(width, end)) if not math.isnan(end) else end for end in ends)
        return low, high

    low, high = within((comparison.low, comparison.high))
    return replace(
        comparison, low=low, high=high, intervals={name: within(ends) for name, ends in comparison.intervals.items()}
    )


def weighed(comparison: Comparison, p_worst: float | None) -> Comparison:
    """The comparison with the word that what is unmeasured leaves it, and that its size deserves.

    p_worst: of the completion that speaks most against it, as it was decided: after the correction where there is one.
    Better, worse and same are withheld where the worse completion does not allow them (`ragbench.old.stats.missing`).
    """
    limit = 1 - comparison.level + 1e-12
    comparison = replace(comparison, p_worst=p_worst)
    if comparison.verdict is Verdict.SAME:
        known, shown = comparison.p_equivalence_worst, 1 - comparison.level
        allowed = known is None or known < shown
    else:
        allowed = comparison.verdict.unshown or p_worst is None or p_worst < limit
    return sized(comparison) if allowed else withheld(comparison, gaps(comparison))


def withheld_by_gaps(comparison: Comparison) -> bool:
    """Whether it is what is unmeasured that withholds the word, and nothing else."""
    return comparison.withheld == gaps(comparison)


def gaps(comparison: Comparison) -> str:
    """How many pairs are unmeasured; n counts others where labels are few, or nothing is paired."""
    if comparison.note == "two_samples":
        return Reason("{part} values unmeasured", part=comparison.n_dropped)
    if comparison.method in ("prediction_powered", "people"):
        return Reason("{part} pairs unmeasured", part=comparison.n_dropped)
    return Reason(
        "{part} of {whole} pairs unmeasured", part=comparison.n_dropped, whole=comparison.n + comparison.n_dropped
    )


def sized(comparison: Comparison) -> Comparison:
    """Better or worse by less than matters where the whole interval lies within the smallest difference of interest,
    also with what is unmeasured at either end of the scale."""
    words = {Verdict.BETTER: Verdict.SLIGHTLY_BETTER, Verdict.WORSE: Verdict.SLIGHTLY_WORSE}
    back = {slight: plain for plain, slight in words.items()}
    word = back.get(comparison.verdict, comparison.verdict)
    if word in words and comparison.margin is not None:
        low, high = reach(comparison)
        word = words[word] if -comparison.margin < low and high < comparison.margin else word
    return comparison if word is comparison.verdict else replace(comparison, verdict=word)


def reach(comparison: Comparison) -> tuple[float, float]:
    """The interval of the difference over all pairs: each end moved by as much as what is unmeasured could move it."""
    least, most = (comparison.difference if end is None else end for end in (comparison.least, comparison.most))
    return comparison.low + min(least - comparison.difference, 0.0), comparison.high + max(
        most - comparison.difference, 0.0
    )


def decided(
    comparison: Comparison, p: float, threshold: float, instead: Callable[[float], float] = lambda p: p
) -> Comparison:
    """The comparison with the verdict that `p` allows, and with what it could have shown.

    p: its own, or after a correction. threshold: the largest p of its own that the hardest step of the correction
    takes as shown. instead: what p would be if the comparison's own were another and all else were as it is. A verdict
    from the equivalence test stays where no difference is shown.
    """
    limit = 1 - comparison.level + 1e-12
    attainable = instead(comparison.attainable) if comparison.attainable > threshold else 0.0
    word = verdict_of(comparison.difference, p, comparison.better, comparison.level, attainable)
    needed = (
        _groups_for(comparison, lambda smallest: instead(smallest) <= limit)
        if word is Verdict.CANNOT_BE_SHOWN
        else None
    )
    equal = comparison.p_equivalence is not None and comparison.p_equivalence < 1 - comparison.level
    if equal and word.unshown:
        word = Verdict.SAME
    return _with_power(replace(comparison, verdict=word, withheld="", threshold=threshold, groups_needed=needed))


def _groups_for(comparison: Comparison, shows: Callable[[float], bool]) -> int | None:
    """How many groups it takes until the smallest p, halved by each more, can be shown; None if no number does."""
    counts = range(comparison.groups + 1, comparison.groups + 61)
    return next((number for number in counts if shows(attainable_p(number, binary=is_of_hits(comparison)))), None)


def with_margin(comparison: Comparison, margin: float | None) -> Comparison:
    """The comparison with a smallest difference of interest, and how many questions would show it; None: with neither.

    One that was tested for equivalence keeps the margin of that test. Raises ValueError for a margin not above 0.
    """
    if comparison.p_equivalence is not None:
        return comparison
    if margin is not None and not (margin > 0 and math.isfinite(margin)):
        raise ValueError(f"the smallest difference of interest is above 0; got {margin}")
    return sized(replace(comparison, margin=margin, questions_needed=_questions_for(comparison, margin)))


def _with_power(comparison: Comparison) -> Comparison:
    if comparison.groups_needed is not None:
        return replace(comparison, minimum_detectable=None, questions_needed=None)
    if comparison.threshold is None or math.isnan(comparison.error):
        return comparison
    smallest = Spread.of(comparison).detectable()
    if smallest is not None and comparison.width is not None and smallest > comparison.width:
        smallest = None
    return replace(
        comparison, minimum_detectable=smallest, questions_needed=_questions_for(comparison, comparison.margin)
    )


def _questions_for(comparison: Comparison, margin: float | None) -> int | None:
    """How many questions show a difference of `margin`; None where no number does, or it cannot be told."""
    if margin is None or comparison.withheld or comparison.groups_needed is not None:
        return None
    return (
        None
        if comparison.threshold is None or math.isnan(comparison.error)
        else Spread.of(comparison).questions(margin)
    )


@dataclass(frozen=True)
class Spread:
    """What a comparison's power rests on: how its differences vary, over how many groups, and how it is tested.

    deviation: of the groups' means; for `binary` the root of the share of pairs that differ. n, groups: questions, and
    independent groups of them. level: 1 − the largest p of the comparison alone that its family takes as shown. joint:
    whether one test of several comparisons together set that.
    """

    deviation: float
    n: int
    groups: int
    level: float
    binary: bool = False
    joint: bool = False

    @classmethod
    def of(cls, comparison: Comparison) -> Spread:
        """That of a comparison whose threshold and error are known."""
        assert comparison.threshold is not None, "it was decided"
        threshold = comparison.threshold if comparison.joint else max(comparison.threshold, comparison.attainable)
        binary = is_of_hits(comparison)
        differing = math.sqrt(comparison.error**2 * (comparison.n - 1) + comparison.difference**2)
        deviation = (
            differing if binary else comparison.error * math.sqrt(comparison.groups) / shrinkage(comparison.groups)
        )
        return cls(deviation, comparison.n, comparison.groups, 1 - threshold, binary, comparison.joint)

    def detectable(self, power: float = POWER) -> float | None:
        """The smallest true difference that is shown with this power; None as in `minimum_detectable_difference`."""
        return minimum_detectable_difference(
            self.deviation, self.groups, power=power, level=self.level, binary=self.binary, joint=self.joint
        )

    def needed(self, difference: float, power: float = POWER) -> int | None:
        """How many groups show a true difference with this power; None where no number does."""
        return sample_size(
            difference, self.deviation, power=power, level=self.level, binary=self.binary, joint=self.joint
        )

    def questions(self, difference: float, power: float = POWER) -> int | None:
        """The same in questions, of which there are as many a group as now."""
        groups = self.needed(difference, power)
        return None if groups is None else math.ceil(groups * self.n / self.groups - 1e-9)

    def power(self, difference: float) -> float:
        """The chance that a true difference is shown with as many as there are now."""
        return power_with(
            difference, self.deviation, self.groups, level=self.level, binary=self.binary, joint=self.joint
        )


def outside_p(
    values: ArrayLike, low: float = -math.inf, high: float = math.inf, *, clusters: Labels | None = None
) -> float:
    """p of the hypothesis low ≤ mean ≤ high: a minimal-effect test (Murphy and Myors 1999), the mirror of TOST.

    values: one number an item; NaN is unmeasured. Student's t with the clusters' sandwich variance and the freedom that
    they leave (`Units.freedom`); exact binomial for independent 0/1 values against one limit. Where all units are equal
    and outside, each would lie on its side by chance at best one time in two, so p is 2^−units. 1.0 for a single unit,
    NaN for nothing measured.
    Raises ValueError for limits in the wrong order or none at all.
    """
    if not low <= high or (math.isinf(low) and math.isinf(high)):
        raise ValueError(f"the limits are low ≤ high, one of them finite; got {low} and {high}")
    array = as_values(values)
    present = ~np.isnan(array)
    known, codes = array[present], as_codes(clusters, len(array))
    if not len(known):
        return math.nan
    one_sided = math.isinf(low) or math.isinf(high)
    if codes is None and one_sided and np.isin(known, (0.0, 1.0)).all():
        return _binomial(int(known.sum()), len(known), low, high)
    units = units_of(known[:, None], None if codes is None else codes[present])
    if units.number < 2:
        return 1.0
    variance, size = float(units.variances()[0]), float(np.abs(known).max())
    return _student(float(units.means[0]), variance if variance > 1e-24 * size**2 else 0.0, units, low, high, size)


def _student(mean: float, variance: float, units: Units, low: float, high: float, size: float) -> float:
    """variance: 0 where all units are equal but for rounding. size: the largest value's."""
    from scipy.special import stdtr

    if not variance:
        return 1.0 if low - 1e-12 * size <= mean <= high + 1e-12 * size else 0.5**units.number
    error, freedom = math.sqrt(variance), units.freedom
    beyond = max(mean - high, low - mean) / error
    far = stdtr(freedom, -beyond - (high - low) / error) if math.isfinite(high - low) else 0.0
    return float(stdtr(freedom, -beyond) + far)


def _binomial(successes: int, n: int, low: float, high: float) -> float:
    from scipy.stats import binom

    if math.isfinite(high):
        return float(binom.sf(successes - 1, n, min(max(high, 0.0), 1.0)))
    return float(binom.cdf(successes, n, min(max(low, 0.0), 1.0)))


ALL_CORNERS = 3
"""Each doubles the tests of every comparison, and of its family."""
Flags = NDArray[np.bool_]
Scales = Bounds | Mapping[str, Bounds | None] | None
"""The ends of a metric's scale, or by metric; infinite where one is open, None where they are not known."""


def scale_of_pair(name: str, first: ArrayLike, second: ArrayLike, bounds: Scales) -> Bounds | None:
    """The ends of a metric's scale: those given, else of 0/1 values 0 and 1; None where both are open.

    Raises ValueError for values outside.
    """
    own = bounds.get(name) if isinstance(bounds, Mapping) else bounds
    columns = [as_values(each, name) for each in (first, second)]
    if own is None:
        return (0.0, 1.0) if all(map(is_binary, columns)) else None
    for each in columns:
        limits_of(name, each, each, own)
    return own if any(map(math.isfinite, own)) else None


def is_binary(values: Array) -> bool:
    """Whether all measured values, of one or more, are 0 or 1."""
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool((known == (known != 0)).all())


def ends(first: Array, second: Array, scale: Bounds, void: Flags | None = None) -> tuple[Array, Array]:
    """(questions,) second − first with every unmeasured value where it makes the difference smallest, and largest.

    void: questions that are no pairs; NaN there.
    """
    low, high = scale
    least = np.where(np.isnan(second), low, second) - np.where(np.isnan(first), high, first)
    most = np.where(np.isnan(second), high, second) - np.where(np.isnan(first), low, first)
    if void is not None:
        least, most = (np.where(void, np.nan, each) for each in (least, most))
    return least, most


def corners(worst: Array, best: Array) -> tuple[Array, ...]:
    """(questions,) completions from the worst to the best: up to ALL_CORNERS of what is missing all of them; of more
    with few, half, or all but few at the better end, what lies farthest out there first."""
    gaps = np.flatnonzero(~np.isnan(worst) & (worst != best))
    farthest = gaps[np.argsort(-np.abs(best[gaps]), kind="stable")]
    number, made = len(gaps), []
    for moved in sorted({0, 1, 2, 3, number // 2, number - 2, number - 1, number} & set(range(number + 1))):
        for places in combinations(farthest, moved) if number <= ALL_CORNERS else [farthest[:moved]]:
            column = worst.copy()
            column[list(places)] = best[list(places)]
            made.append(column)
    return tuple(made)


def bounded(
    comparison: Comparison,
    columns: tuple[Array, Array],
    units_at: Callable[[Array], Units],
    p_of: Callable[[Units, bool], float],
    equivalence_of: Callable[[Array], float] | None = None,
    values: tuple[float, float] | None = None,
) -> tuple[Comparison, tuple[Array, ...]]:
    """The comparison with the ends of its difference over all pairs, and with what its tests say there; and the columns
    of the completions that speak against the difference, the one that does so most first. None of them, and no p, where
    the scale is open on that side.

    columns: (questions,) both completions, NaN for what is no pair. units_at, p_of: what is tested of such a column,
    and its test, told whether one of the completions is skewed; equivalence_of: that test of the column itself.
    values: the differences of the completions, where they are no means: then no completion between them is known.
    """
    least, most = (exact_mean(each[~np.isnan(each)]) for each in columns) if values is None else values
    comparison = replace(
        comparison, least=least if math.isfinite(least) else None, most=most if math.isfinite(most) else None
    )  # fmt: skip
    up = comparison.difference > 0
    (worst, best), against = (columns, least > 0) if up else (columns[::-1], most < 0)
    if not math.isfinite(least if up else most):
        return comparison, ()
    if not math.isfinite(most if up else least):
        tried: tuple[Array, ...] = (worst,)
    else:
        tried = corners(worst, best) if values is None else (worst, best)
        if equivalence_of is not None and comparison.p_equivalence is not None:
            p_equal = [comparison.p_equivalence, *map(equivalence_of, tried)]
            comparison = replace(comparison, p_equivalence_worst=1.0 if any(map(math.isnan, p_equal)) else max(p_equal))
    if not against:
        return replace(comparison, p_worst=1.0), tried
    units = [units_at(column) for column in tried]
    skewed = any(map(leans, units))  # between one that is and one that is not, nobody knows
    p = [p_of(each, skewed) for place, each in enumerate(units) if not place or skewed]
    return replace(comparison, p_worst=max(p)), tried


def anything(comparison: Comparison) -> Comparison:
    """The comparison of what may be anything on its scale with what is unmeasured."""
    least, most = (None, None) if comparison.width is None else (-comparison.width, comparison.width)
    return replace(comparison, least=least, most=most, p_worst=1.0)
