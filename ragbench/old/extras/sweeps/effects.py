"""What the measured configurations of a sweep show: what exchanging a part does, and what the best is worth.

A configuration is a level a factor. Where some pairs of levels cannot be, the grid has holes: an effect is the mean
over all pairs of configurations that differ in this factor alone, where both are there (of a full grid this is the main
effect of the analysis of variance between two levels); an interaction is by how much an effect differs with the level
of another factor, over all fours that differ in these two alone.

The highest of many means is too high: it is highest by luck in part. So every question is asked what it says of the
configuration that other questions choose: whole clusters are parted into folds, again and again, and each fold measures
the one that is best on the rest (Stone 1974, JRSS B 36: 111; of choosing among many Varma, Simon 2006, BMC
Bioinformatics 7: 91; Tibshirani, Tibshirani 2009, Annals of Applied Statistics 3: 822 measure the same bias fold by
fold). Four fifths of the questions choose a little worse than all: where one configuration is just better than others
the value is up to .2 standard errors too low (`benchmarks/sweep_choices.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core.types import Array, Better, Comparison, Estimate
from ragbench.old.stats.intervals import normal_p, stretched, total_draws
from ragbench.old.stats.signs import ratios_together
from ragbench.old.stats.values import Labels, Units, as_codes, by_content, check_better, check_level, check_resamples

Levels = Mapping[str, str]
"""Factor → its level, of one configuration."""


@dataclass(frozen=True)
class Contrast:
    """A difference between means of configurations, by their places.

    changes: factor → the level before, and after; one of a main effect, two of an interaction. ups, downs: the
    configurations that count for and against it, each as often as it stands there. pairs: of how many it is the mean.
    """

    changes: Mapping[str, tuple[str, str]]
    ups: tuple[int, ...]
    downs: tuple[int, ...]
    pairs: int

    def sides(self, values: Array) -> tuple[Array, Array]:
        """(questions,) twice: the mean of those against it, and of those for it; of an interaction the sums of two."""
        return values[:, list(self.downs)].sum(axis=1) / self.pairs, values[:, list(self.ups)].sum(axis=1) / self.pairs


def contrasts(configurations: Sequence[Levels]) -> list[Contrast]:
    """All main effects, then all interactions of two factors, each against the first level that its factor has.

    One that no two configurations (or four) tell is not among them.
    """
    levels = {name: list(dict.fromkeys(each[name] for each in configurations)) for name in configurations[0]}
    places = {tuple(each[name] for name in levels): place for place, each in enumerate(configurations)}
    steps = {name: [(own[0], other) for other in own[1:]] for name, own in levels.items()}

    def at(configuration: Levels, **changed: str) -> int | None:
        return places.get(tuple({**configuration, **changed}[name] for name in levels))

    found = []
    for name, own in steps.items():
        for before, after in own:
            downs = [place for place, each in enumerate(configurations) if each[name] == before]
            pairs = [(place, at(configurations[place], **{name: after})) for place in downs]
            there = [(down, up) for down, up in pairs if up is not None]
            if there:
                downs_there, ups = _transposed(there)
                found.append(Contrast({name: (before, after)}, ups, downs_there, len(there)))
    for first, second in combinations(steps, 2):
        for one in steps[first]:
            for other in steps[second]:
                fours = [
                    four
                    for place, each in enumerate(configurations)
                    if (each[first], each[second]) == (one[0], other[0])
                    and None
                    not in (
                        four := (
                            at(each, **{first: one[1]}), at(each, **{second: other[1]}),
                            at(each, **{first: one[1], second: other[1]}), place,
                        )
                    )
                ]  # fmt: skip
                if fours:
                    moved, also, both, neither = _transposed(fours)
                    found.append(Contrast({first: one, second: other}, both + neither, moved + also, len(fours)))
    return found


def _transposed(rows: Sequence[Sequence[Any]]) -> list[tuple[int, ...]]:
    return [tuple(column) for column in zip(*rows, strict=True)]


def compared(
    values: Array,
    found: Sequence[Contrast],
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """The contrasts as one family: p, words and intervals that hold for all of them together (`stats.jointly`).

    values: (questions, configurations), NaN where one was not measured: such a question is no pair of the contrasts
    that it stands in. Its challenger is the level after, or both of an interaction; its baseline those before.
    """
    made = []
    for each in found:
        twice = len(each.changes)
        ends = None if bounds is None else (bounds[0] * twice, bounds[1] * twice)
        names = (" × ".join(before for before, _ in each.changes.values()),
                 " × ".join(after for _, after in each.changes.values()))  # fmt: skip
        downs, ups = each.sides(values)
        made.append(
            stats.hypotheses(
                {"": downs}, {"": ups}, clusters=clusters, better=better, bounds=ends, level=level,
                resamples=resamples, seed=seed, names=names,
            )[""]
        )  # fmt: skip
    return stats.jointly(made, clusters, resamples=resamples, seed=seed)


def exchanges(configurations: Sequence[Levels], of: int) -> list[tuple[int, str]]:
    """The configurations that differ from one in a single factor: each place, and the factor."""
    own = configurations[of]
    found = []
    for place, each in enumerate(configurations):
        apart = [name for name in own if each[name] != own[name]]
        if len(apart) == 1:
            found.append((place, apart[0]))
    return found


def complete(values: Array) -> Array:
    """(questions,) whether all configurations were measured on a question."""
    return np.asarray(~np.isnan(values).any(axis=1))


FOLDS = 5
"""Fewer choose from fewer questions, and choose worse (with two .6 standard errors too low); with more the value varies
as much as that of the highest mean does, and more than with five (standard deviation 1.19 instead of 1.06 with ten)."""
PARTINGS = 200
"""How often questions are parted anew: the mean over these moves by less than .02 standard errors with the seed."""
MOST_STUDENTIZED = 2_000
"""Draws of the studentized deviations of all from one, for each in turn; of 500 questions and 48 configurations they
take some seconds."""
METHOD = "chosen"
"""Of the interval of a value that was chosen for being the best."""


@dataclass(frozen=True)
class Winner:
    """The configuration with the best mean, and what its mean is worth.

    place: of the configuration. seen: its mean as it stands. value: the same corrected for having been chosen, with an
    interval of the chosen one's true mean. shares: (configurations,) in which share of the choices each was the best.
    scores: (questions,) what each question says of the choice of the others.
    """

    place: int
    seen: float
    value: Estimate
    shares: Array
    scores: Array

    @property
    def optimism(self) -> float:
        """How far the mean as it stands lies from what is left of it."""
        return self.seen - self.value.value


def winner(
    values: Array,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
    partings: int = PARTINGS,
    resamples: int = 10_000,
    seed: int = 0,
) -> Winner:
    """The best of several configurations on the same questions, and what it is worth.

    values: (questions, configurations), without NaN. clusters: one label a question; whole ones are parted and drawn.
    partings: into folds; resamples: of the interval.

    The end of the interval on the side that luck is on is simultaneous for all configurations, so that it holds for
    whichever was chosen; the other one needs no correction, as being the best errs to this side alone (Benjamini,
    Hechtlinger, Stark 2019, arXiv 1906.00505).
    Raises ValueError for NaN, for fewer than two configurations, and for fewer than two questions or clusters: one
    alone has no others that could choose.
    """
    matrix, codes = _checked(values, clusters)
    check_better(better)
    check_level(level)
    check_resamples(resamples)
    sign = 1.0 if better == "higher" else -1.0
    units, codes = _by_unit(sign * matrix, codes)
    often = _choices(units, partings, seed)
    scores = np.einsum("ij,ij->i", often[codes], matrix) / partings
    means = matrix.mean(axis=0)
    place = int(np.argmax(sign * means))
    value = stats.estimate(scores, clusters=clusters, bounds=bounds, level=level, resamples=resamples, seed=seed)
    ends = _ends(matrix[:, place], units, sign, clusters, bounds, level, resamples, seed)
    known = replace(value, low=None, high=None, method="none", intervals={}, n_effective=None, design_effect=None)
    if ends is not None:
        low, high = min(ends[0], value.value), max(ends[1], value.value)
        known = replace(known, low=low, high=high, method=METHOD, intervals={METHOD: (low, high)}, note="")
    shares = np.average(often, axis=0, weights=units.sizes) / partings
    return Winner(place, float(means[place]), known, shares, scores)


def _choices(units: Units, partings: int, seed: int) -> Array:
    """(units, configurations) how often others chose each configuration for a unit."""
    rng, number, sums, sizes = np.random.default_rng(seed), units.number, units.sums, units.sizes
    folds, often = min(FOLDS, number), np.zeros(sums.shape)
    for _parting in range(partings):
        fold = rng.permutation(number) % folds
        within = (fold[:, None] == np.arange(folds)).astype(np.float64)
        rest = sums.sum(axis=0) - np.einsum("ij,ik->jk", within, sums)
        best = np.argmax(rest / (sizes.sum() - within.T @ sizes)[:, None], axis=1)
        often[np.arange(number), best[fold]] += 1
    return often


def _ends(
    column: Array,
    units: Units,
    sign: float,
    clusters: Labels | None,
    bounds: tuple[float, float] | None,
    level: float,
    resamples: int,
    seed: int,
) -> tuple[float, float] | None:
    """The interval of the mean of a column that was chosen; None where it has none. units: of all, the better the
    higher."""
    totals = total_draws(np.column_stack([units.residuals(), units.sizes]), units.counts, resamples, seed)
    moved, errors = totals[:, :-1] / totals[:, [-1]], _standard_errors(units)
    largest = (moved / np.where(errors > 0, errors, np.inf)).max(axis=1)
    critical = float(np.quantile(largest, (1 + level) / 2))
    stricter = max(level, min(2 * normal_p(critical) - 1, 1 - 1e-12))
    alone = stats.estimate(column, clusters=clusters, bounds=bounds, level=level, resamples=resamples, seed=seed)
    if alone.low is None or alone.high is None:
        return None
    low, high = stretched((alone.low, alone.high), alone.value, units.number - 1, level, stricter)
    least, most = bounds or (-math.inf, math.inf)
    return (max(low, least), alone.high) if sign > 0 else (alone.low, min(high, most))


def _standard_errors(units: Units) -> Array:
    """(configurations,) of their means; 0 where there is but rounding."""
    errors = np.sqrt(units.variances())
    return np.where(errors > 1e-12 * np.abs(units.sums).max(initial=1.0), errors, 0.0)


@dataclass(frozen=True)
class Behind:
    """How far a configuration is behind the best of the others: its mean less theirs, in the direction that is good.

    low, high: simultaneous for all configurations, and constrained to hold 0 within or at an end (Hsu 1984): one that
    is surely not the best has high 0. may_be_best: whether it cannot be told from the best.
    """

    difference: float
    low: float
    high: float
    may_be_best: bool


def behind_best(
    values: Array,
    *,
    clusters: Labels | None = None,
    better: Better = "higher",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Behind]:
    """Multiple comparisons with the best (Hsu 1984, Annals of Statistics 12: 1136; 1996, Multiple Comparisons,
    chapter 4), paired by question: for every configuration its distance to the best of the others.

    values, clusters: as of `winner`. Each configuration in turn is the control of a one-sided Dunnett comparison, whose
    critical value is the quantile of the largest studentized deviation, each by its own standard error, in bootstrap
    samples of whole clusters. With the
    chance `level` no interval misses, and the truly best one is among those that may be.
    """
    matrix, codes = _checked(values, clusters)
    check_better(better)
    check_level(level)
    check_resamples(resamples)
    units, _codes = _by_unit((1.0 if better == "higher" else -1.0) * matrix, codes)
    means, width = units.means, matrix.shape[1]
    apart = means[:, None] - means[None, :]
    allowed = np.empty((width, width))  # how far the row may lie behind the column by chance, were it the best
    for place in range(width):
        differences = replace(units, sums=units.sums - units.sums[:, [place]])
        ratios, _seen = ratios_together(differences, min(resamples, MOST_STUDENTIZED), seed)
        errors = _standard_errors(differences)
        allowed[place] = max(float(np.quantile(ratios.max(axis=1), level)), 0.0) * errors
    np.fill_diagonal(apart, np.inf)
    alike = (allowed == 0) & (
        np.abs(apart) <= 1e-12 * max(1.0, float(np.abs(means).max()))
    )  # the same at every question
    upper = np.where(alike, np.inf, apart + allowed).min(axis=1)
    left = upper > 0
    upper[np.isinf(upper)] = 0.0  # all are the same
    found = []
    for place in range(width):
        others = left & (np.arange(width) != place)
        low = float((apart[place] - allowed[:, place])[others].min()) if others.any() else 0.0
        nearest = float(apart[place].min())
        found.append(Behind(nearest, min(low, 0.0), max(float(upper[place]), 0.0), bool(left[place])))
    return found


def front(qualities: Sequence[float], *costs: Sequence[float]) -> list[bool]:
    """Which points no other one dominates: as good, and as cheap in everything, and better in one (Pareto).

    qualities: the higher the better. costs: the lower the better, NaN where one was not measured; then it is compared
    in the others alone. A point without a quality is on no front.
    """
    table = np.column_stack([qualities, *(-np.asarray(column, float) for column in costs)])
    found = []
    for point in table:
        known = ~np.isnan(point)
        others = table[:, known]
        as_good = np.all((others >= point[known]) & ~np.isnan(others), axis=1)
        beats = as_good & np.any(others > point[known], axis=1)
        found.append(bool(known[0]) and not beats.any())
    return found


def _checked(values: Array, clusters: Labels | None) -> tuple[Array, NDArray[np.int64]]:
    """The matrix, and the unit of every question, numbered from 0."""
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"a choice is among two configurations or more; got the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("values are finite: leave out questions that a configuration was not measured on")
    labelled = as_codes(clusters, len(matrix))
    codes = np.arange(len(matrix)) if labelled is None else np.unique(labelled, return_inverse=True)[1]
    if not len(codes) or codes.max() < 1:
        raise ValueError("a choice needs two questions or clusters at least: one has no others that could choose")
    return matrix, codes.astype(np.int64)


def _by_unit(matrix: Array, codes: NDArray[np.int64]) -> tuple[Units, NDArray[np.int64]]:
    """What is parted and drawn together, and (questions,) the unit of each; units in the order of their content, so
    that no number hangs on the order of the questions."""
    sizes = np.bincount(codes).astype(np.float64)
    sums: Array = np.column_stack([np.bincount(codes, weights=column) for column in matrix.T]).astype(np.float64)
    order = by_content(np.column_stack([sums, sizes]))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    ones = np.ones(len(order), dtype=np.int64)
    return Units(sums[order], sizes[order], ones, True, np.zeros(matrix.shape[1])), places[codes]
