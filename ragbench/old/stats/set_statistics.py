"""Statistics of whole sets: any function of all that was answered, and those whose error is told by leaving items out.

It has no totals and no derivative, so it is called on sets into which whole units (questions, or clusters of them) were
drawn. What a unit adds is told by the draws: the covariance of the value with how often the unit is among them is its
influence (the infinitesimal jackknife of Efron 2014, JASA 109: 991), of a median too, for which leaving units out one
by one tells nothing. Where repeated units themselves move the value (a share of different words), draws are of another
statistic than the set; then, and where there was no time for them, units are left out one by one.

Simulated: intervals of medians cover .94 of .95 with 60 values and .95 with 25, those of the share of different words
(60 texts, words by Zipf's law) .95; two systems without a difference are told apart in .04, .01 and .05 of the studies.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Better, Comparison, Estimate, IntervalNote, Verdict
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.comparisons import Hypothesis
from ragbench.old.stats.estimates import Bounds, width_of, within
from ragbench.old.stats.intervals import unit_draws
from ragbench.old.stats.signs import doubt, tested
from ragbench.old.stats.values import Codes, Labels, as_codes, as_values, check_level, units_of
from ragbench.old.stats.verdicts import anything, by_signs

BIASED = 0.5
"""From so many standard errors on that resamples lie from the value, they are not of what was measured."""

MOST_LOST = 0.1
"""Above this share of resamples without a value, no interval is made of them."""


def _none() -> Array:
    return np.full(0, np.nan)


@dataclass(frozen=True, slots=True)
class SetValues:
    """What a function of a whole set gave: on the set, on sets drawn from it, and on the set without each unit.

    value: NaN where it gave none. sizes: (units,) how many questions are in each. clustered: whether units are
    clusters. draws: (resamples,) its values on the sets that `set_draws` tells of, NaN where it gave none; empty: none
    were drawn. left: (units,) its values on the set without each unit; empty: it was not asked.
    moved: whether repeats of a unit are known to move it; where its own draws tell so, it is.
    """

    value: float
    sizes: Codes
    draws: Array = field(default_factory=_none)
    left: Array = field(default_factory=_none)
    clustered: bool = False
    seed: int = 0
    moved: bool = False

    @property
    def n(self) -> int:
        """How many questions."""
        return int(self.sizes.sum())

    @property
    def spread(self) -> float:
        """Standard deviation of the values of resamples; NaN where too many have none."""
        kept = self.draws[np.isfinite(self.draws)]
        return float(kept.std()) if len(kept) and len(kept) >= (1 - MOST_LOST) * len(self.draws) else math.nan

    @property
    def is_moved(self) -> bool:
        """Whether repeats of a unit move it, so that draws do not tell how sure the value is."""
        kept = self.draws[np.isfinite(self.draws)]
        apart = abs(float(kept.mean()) - self.value) if len(kept) else 0.0
        return self.moved or apart > max(BIASED * self.spread, 1e-9 * abs(self.value))

    @property
    def by_draws(self) -> bool:
        """Whether the draws tell how sure the value is; else only leaving units out can."""
        return not math.isnan(self.spread) and not self.is_moved

    def minus(self, other: SetValues) -> SetValues:
        """The difference of two systems, on the same draws of the same units."""
        moved = self.is_moved or other.is_moved
        either = len(self.draws) and len(other.draws), len(self.left) and len(other.left)
        draws, left = (
            self.draws - other.draws if either[0] else _none(),
            self.left - other.left if either[1] else _none(),
        )
        return SetValues(self.value - other.value, self.sizes, draws, left, self.clustered, self.seed, moved)


def set_draws(units: int, resamples: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """How often each unit is in each bootstrap sample: `resamples` vectors of (units,), the same for the same seed."""
    for block in unit_draws(units, resamples, seed):
        yield from block.astype(np.int64)


def set_estimate(
    set_values: SetValues, unmeasured: int = 0, *, level: float = 0.95, bounds: Bounds | None = None
) -> Estimate:
    """The value of a whole set with its interval: BCa of the draws, or Student's on the standard error of leaving units
    out (`note` "repeats", or "few_draws" where nothing was drawn); no end of it is outside of `bounds`.

    No interval (`note`): "empty" without a value, "few" for fewer than two units, "no_spread" where no unit moves the
    value, "undefined" where the function gives no value on more than a tenth of the resamples, "slow" where it could
    not be called often enough.
    """
    number = len(set_values.sizes)
    intervals: dict[str, tuple[float, float]] = {}
    note: IntervalNote = "empty" if math.isnan(set_values.value) else "few" if number < 2 else ""
    chosen = "none"
    if not note:
        intervals = _intervals(set_values, level, bounds)
        chosen, note = _choose(set_values, intervals)
    low, high = intervals.get(chosen, (None, None))
    n = 0 if note == "empty" else set_values.n
    return Estimate(
        set_values.value, low, high, level, chosen, n, unmeasured + set_values.n - n,
        clusters=number if set_values.clustered else None, n_effective=None if set_values.clustered else float(n),
        design_effect=None if set_values.clustered else 1.0, seed=set_values.seed, intervals=intervals, note=note,
    )  # fmt: skip


def _choose(set_values: SetValues, intervals: dict[str, tuple[float, float]]) -> tuple[str, IntervalNote]:
    """The interval that is printed, and why it is not BCa's."""
    if set_values.by_draws:
        if not _varies(set_values.draws, set_values.value):
            return "none", "no_spread"
        return ("bca", "") if "bca" in intervals else ("delta", "no_bca")
    if len(set_values.left):
        if "jackknife" in intervals:
            return "jackknife", "repeats" if set_values.is_moved else "few_draws" if not len(
                set_values.draws
            ) else "undefined"
        return "none", "undefined" if np.isnan(set_values.left).any() else "no_spread"
    return "none", "undefined" if math.isnan(set_values.spread) and len(set_values.draws) else "slow"


def _varies(values: Array, value: float) -> bool:
    return float(np.nanstd(values)) > 1e-9 * max(abs(value), 1e-9)


def _intervals(set_values: SetValues, level: float, bounds: Bounds | None) -> dict[str, tuple[float, float]]:
    made: dict[str, tuple[float, float]] = {}
    number = len(set_values.sizes)
    if set_values.by_draws and _varies(set_values.draws, set_values.value):
        kept = set_values.draws[np.isfinite(set_values.draws)]
        half = kinds.normal_quantile((1 + level) / 2) * set_values.spread * math.sqrt(number / (number - 1))
        made = {"delta": (set_values.value - half, set_values.value + half)}
        moves = _covariances(set_values)
        skewed = float(np.sum(moves**3)) / (6 * set_values.spread**3)  # its noise adds to squares, not to cubes
        made |= kinds.resampled(kept, set_values.value, skewed, level)
    if len(set_values.left) and not np.isnan(set_values.left).any() and _varies(set_values.left, set_values.value):
        variance = (number - 1) * float(np.var(set_values.left))
        made["jackknife"] = kinds.student(set_values.value, variance, number - 1, level)
    return within(bounds, made)


def _covariances(set_values: SetValues) -> Array:
    """(units,) covariance of the value with how often each unit was drawn."""
    kept = np.isfinite(set_values.draws)
    apart = np.where(kept, set_values.draws - set_values.draws[kept].mean(), 0.0)
    total, start = np.zeros(len(set_values.sizes)), 0
    for block in unit_draws(len(set_values.sizes), len(set_values.draws), set_values.seed):
        total += np.einsum("i,ij->j", apart[start : start + len(block)], block.astype(np.float64))
        start += len(block)
    moves: Array = total / int(kept.sum())
    return moves - moves.mean()


def set_influences(set_values: SetValues) -> Array | None:
    """(units,) what each unit adds to the value; their squares add up to its variance. None where nothing tells it.

    Of draws, scaled to their variance: the covariances of few draws with many units are mostly noise, which may not add
    to it.
    """
    number = len(set_values.sizes)
    if set_values.by_draws:
        if not _varies(set_values.draws, set_values.value):
            return np.zeros(number)
        moves = _covariances(set_values)
        return np.asarray(moves * (set_values.spread / math.sqrt(float(np.sum(moves**2)))))
    if len(set_values.left) and not np.isnan(set_values.left).any():
        return np.asarray((set_values.left.mean() - set_values.left) * ((number - 1) / number))
    return None


def set_hypothesis(
    baseline: SetValues,
    challenger: SetValues,
    places: Codes,
    *,
    better: Better = "higher",
    level: float = 0.95,
    resamples: int = 10_000,
    names: tuple[str, str] = ("baseline", "challenger"),
    bounds: Bounds | None = None,
) -> Hypothesis:
    """That two systems have one value on the same units, to be tested with others by `families.jointly`.

    places: (questions,) the unit of each question of the family, −1 for those that a system has no answer to.
    Tested as measures of sums are (see `sums.compare_statistic`): by sign flips of pseudo-values, what each question
    adds to the difference. That swaps two systems' answers to a question only as far as the difference goes; swapping
    the answers themselves would test that the systems are alike in everything.
    The test is "none", its p NaN, where neither draws nor leaving out told what a unit adds.
    bounds: the ends of the function's scale, infinite where one is open. What it would make of answers that are not
    there, nobody knows: where one is lacking, no word is said (`ragbench.old.stats.verdicts`).
    """
    gap = challenger.minus(baseline)
    interval = set_estimate(gap, level=level)
    present = places >= 0
    pseudo, p, used, freedom, error = np.full(len(places), np.nan), math.nan, "none", None, math.nan
    unsure = ""
    moves = None if math.isnan(gap.value) or not gap.n else set_influences(gap)
    if moves is not None:
        pseudo[present] = gap.value + gap.n * (moves / gap.sizes)[places[present]]
        units = units_of(pseudo[present][:, None], places[present] if gap.clustered else None)
        p, used = tested(units, resamples, gap.seed)
        used, unsure = f"{used} of pseudo-values", doubt(units)
        freedom = units.freedom if units.clustered else None
        groups = len(gap.sizes)
        error = math.sqrt(float(np.sum(moves**2)) * groups / max(groups - 1, 1))
    comparison = Comparison(
        *names,
        gap.value,
        interval.low if interval.low is not None else math.nan,
        interval.high if interval.high is not None else math.nan,
        level,
        interval.method,
        p,
        used,
        math.nan,
        Verdict.NOT_SHOWN,
        gap.n,
        int((~present).sum()),
        better,
        clusters=interval.clusters,
        error=error,
        doubt=unsure,
        seed=gap.seed,
        note=interval.note,
        width=width_of(bounds),
    )
    if comparison.n_dropped and moves is not None:
        comparison = anything(comparison)
    return Hypothesis(by_signs(comparison) if moves is not None else comparison, pseudo, freedom)


def pairwise_mean(means_to_others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The mean of a symmetric quantity over all pairs of n items, with the interval of a U-statistic.

    means_to_others: (n,) each item's mean to the n − 1 others. Pairs share items, so the spread over pairs tells
    nothing; the jackknife over items (Arvesen 1969) does: leaving item i out moves the mean by
    2 (mean − means_to_others[i]) / (n − 2). Student's t with n − 1 degrees of freedom.
    """
    check_level(level)
    values = as_values(means_to_others, "means_to_others")
    kept = np.sort(values[~np.isnan(values)])
    n, unmeasured = len(kept), int(np.isnan(values).sum())
    if n == 0:
        return Estimate(math.nan, None, None, level, "none", 0, unmeasured, note="empty")
    value = float(kept.mean())
    spread = float(np.sum((kept - value) ** 2))
    if n < 3 or spread <= n * (1e-12 * float(np.abs(kept).max(initial=0.0))) ** 2:
        return Estimate(value, None, None, level, "none", n, unmeasured, note="few" if n < 3 else "no_spread")
    variance = (n - 1) / n * 4 / (n - 2) ** 2 * spread
    low, high = kinds.student(value, variance, n - 1, level)
    return Estimate(
        value, low, high, level, "u_statistic", n, unmeasured, n_effective=float(n), design_effect=1.0,
        intervals={"u_statistic": (low, high)},
    )  # fmt: skip


def pairwise_std(means_to_others: ArrayLike, mean_squares_to_others: ArrayLike, *, level: float = 0.95) -> Estimate:
    """The standard deviation of a symmetric quantity over all pairs of n items, by the jackknife over items.

    means_to_others, mean_squares_to_others: (n,) each item's mean of the quantity, and of its square, to the others.
    Both means over pairs are U-statistics and the standard deviation is a smooth function of them, so leaving items
    out gives its variance (Arvesen 1969). Student's t with n − 1 degrees of freedom, cut at 0.

    Raises ValueError for vectors of different lengths or with unmeasured items.
    """
    check_level(level)
    means, squares = as_values(means_to_others, "means_to_others"), as_values(mean_squares_to_others, "mean squares")
    if len(means) != len(squares) or np.isnan(means).any() or np.isnan(squares).any():
        raise ValueError(f"one mean and one mean square an item are needed; got {len(means)} and {len(squares)}")
    n = len(means)
    if n == 0:
        return Estimate(math.nan, None, None, level, "none", 0, note="empty")
    order = np.lexsort((squares, means))
    means, squares = means[order], squares[order]
    value = math.sqrt(max(float(squares.mean()) - float(means.mean()) ** 2, 0.0))
    if n < 4 or value <= 1e-7 * math.sqrt(float(squares.mean())):
        return Estimate(value, None, None, level, "none", n, note="few" if n < 4 else "no_spread")
    without_mean, without_square = ((n * x.mean() - 2 * x) / (n - 2) for x in (means, squares))
    left = np.sqrt(np.maximum(without_square - without_mean**2, 0.0))
    variance = (n - 1) / n * float(np.sum((left - left.mean()) ** 2))
    if variance <= 0:
        return Estimate(value, None, None, level, "none", n, note="no_spread")
    low, high = kinds.student(value, variance, n - 1, level)
    interval = (max(low, 0.0), high)
    return Estimate(
        value, *interval, level, "u_statistic", n, n_effective=float(n), design_effect=1.0,
        intervals={"u_statistic": interval},
    )  # fmt: skip


def distinct(
    seen: Sequence[Collection[Hashable]],
    *,
    clusters: Labels | None = None,
    most: int | None = None,
    level: float = 0.95,
) -> Estimate:
    """The number of distinct items over all draws, with the interval of what another such set of draws would see.

    seen: the items of each draw (the documents of each question). most: how many items there are at all, if known.
    A resample repeats draws and so sees fewer items: the bootstrap is biased here. Leaving draws (or whole clusters)
    out is not: without draw i the number falls by the items that only i has seen (Heltshe and Forrester 1983; the
    jackknife's variance errs on the wide side, Efron and Stein 1981). Student's t, cut at 0 and at `most`.

    No interval for fewer than three draws (`note` "few"), and where every item was seen twice ("saturated").
    """
    check_level(level)
    codes = as_codes(clusters, len(seen))
    groups: dict[int, set[Hashable]] = {}
    for number, items in enumerate(seen):
        groups.setdefault(number if codes is None else int(codes[number]), set()).update(items)
    counts = Counter(item for items in groups.values() for item in items)
    alone = np.array(sorted(sum(counts[item] == 1 for item in items) for items in groups.values()), dtype=float)
    value, n = float(len(counts)), len(groups)
    clustered = None if codes is None else n
    variance = (n - 1) / n * float(((alone - alone.mean()) ** 2).sum()) if n else 0.0
    if n < 3 or variance <= 0:
        note: IntervalNote = "few" if n < 3 else "saturated"
        return Estimate(value, None, None, level, "none", len(seen), clusters=clustered, note=note)
    low, high = kinds.student(value, variance, n - 1, level)
    interval = (max(low, 0.0), high if most is None else min(high, float(most)))
    return Estimate(
        value, *interval, level, "jackknife", len(seen), clusters=clustered, intervals={"jackknife": interval}
    )  # fmt: skip
