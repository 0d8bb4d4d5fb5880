"""How well a judge agrees with people, and people with each other.

Every coefficient is a function of one table: how often people gave level i where the judge gave
level j. The table of all is the sum of the tables of its units, so leaving units out is a
difference of tables, and one formula serves both.

Intervals are Student's on the jackknife's error of Fisher's z. In simulations they cover .93 to .98
from 30 units on, where BCa covers .90 to .97 at 60; where one level has nearly all answers neither
holds, and there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragbench.core.errors import BenchError
from ragbench.stats.intervals import add_counts, jackknife_error, mean_intervals, t_quantile
from ragbench.stats.resampling import DEFAULT, Confidence
from ragbench.stats.units import NO_SPREAD, Array, unit_codes

LEAST_UNITS = 30  # for an interval
LEAST_RARER = 5  # answers of each rater beside its most frequent level, for an interval
GROUPS = 200  # of units that are left out together where there are more
MOST_CLASSES = 50  # with more levels, only what takes them as numbers or ranks is measured
MOST_LEVELS = 500  # of a table
CELLS = 1_000_000  # of tables at one time
COLUMNS = ["measure", "value", "low", "high", "level", "method"]
# From tables (tables, people's level, judge's level) and the levels as numbers to (tables,).
Measure = Callable[[Array, Array], Array]


def agreement(
    judge: Any,
    people: Any,
    units: Any = None,
    *,
    scale: Sequence[Any] | None = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return every measure of a judge's agreement with people, a row each.

    judge, people: (answers,) ratings: numbers, or texts; NaN or None where there is none. units:
    (answers,) what was drawn independently; None: the answers. scale: all levels that could be
    given, in order; None: those that were given, and of texts no order. AC1 and AC2 need the scale.

    Columns: measure, value, low, high, level, method, n, n_unmeasured, n_units, seed. accuracy and
    bias (judge minus people) are means, with a mean's interval; the other measures have one from 30
    units on. A rater that gives one level only agrees with nobody beyond chance: NaN. Raises
    BenchError for ratings off the scale, and without a single pair.
    """
    pairs, levels, numbers = code_ratings([people, judge], scale)
    is_pair = np.all(pairs >= 0, axis=0)
    check_pairs(is_pair)
    codes, _ = unit_codes(units, len(is_pair))
    row, column = pairs[:, is_pair]
    cells = row * len(levels) + column
    tables = group_tables(cells, np.ones(len(cells)), codes[is_pair], len(levels), confidence)
    measures = choose_measures(levels, numbers, scale is not None)
    frames = [
        means_frame(row, column, numbers, codes[is_pair], confidence),
        coefficients(tables, numbers, measures, confidence),
    ]
    n_units = len(np.unique(codes[is_pair]))
    return add_counts(pd.concat(frames, ignore_index=True), is_pair, n_units, confidence)


def agreement_of_people(
    ratings: Any,
    units: Any = None,
    *,
    scale: Sequence[Any] | None = None,
    confidence: Confidence = DEFAULT,
) -> pd.DataFrame:
    """Return Krippendorff's alpha of any number of raters by level of measurement, a row each.

    ratings: (answers, raters), NaN or None where a rater gave none; the rest as in `agreement`.
    An answer with fewer than two ratings is unmeasured.
    """
    coded, levels, numbers = code_ratings(list(np.asarray(ratings, dtype=object).T), scale)
    n_ratings = (coded >= 0).sum(axis=0)
    check_pairs(n_ratings > 1)
    codes, _ = unit_codes(units, len(n_ratings))
    cells, weights, rows = [], [], []
    # Every pair of two raters; each rating of an answer has the same weight in the sum.
    for first, second in combinations(coded, 2):
        both = np.flatnonzero((first >= 0) & (second >= 0))
        cells.append(first[both] * len(levels) + second[both])
        weights.append(1 / (n_ratings[both] - 1))
        rows.append(codes[both])
    tables = group_tables(
        np.concatenate(cells),
        np.concatenate(weights),
        np.concatenate(rows),
        len(levels),
        confidence,
    )
    measures = choose_measures(levels, numbers, scale is not None)
    alphas = {name: measures[name] for name in measures if name.startswith("alpha")}
    frame = coefficients(tables, numbers, alphas, confidence)
    n_units = len(np.unique(codes[n_ratings > 1]))
    return add_counts(frame, n_ratings > 1, n_units, confidence)


def code_ratings(
    raters: Sequence[Any], scale: Sequence[Any] | None
) -> tuple[NDArray[np.intp], Any, Array | None]:
    """Number the levels that raters gave: (raters, answers), -1 where there is no rating.

    Returns also the levels, and their numbers where they are numbers, else None. Raises BenchError
    for ratings off the scale, and where there is none.
    """
    table = np.array([np.asarray(rater, dtype=object) for rater in raters])
    is_given = ~pd.isna(table)
    given = pd.unique(table[is_given])
    levels = np.array(sorted(given, key=sort_key) if scale is None else list(scale), dtype=object)
    codes = pd.Index(levels).get_indexer(table.ravel()).reshape(table.shape)
    is_unknown = is_given & (codes < 0)
    if is_unknown.any():
        names = ", ".join(str(level) for level in levels)
        raise BenchError(f"rating {table[is_unknown][0]} is not on the scale {names}")
    if len(levels) > MOST_LEVELS:
        raise BenchError(f"{len(levels)} different ratings, at most {MOST_LEVELS}: round them")
    try:
        return codes, levels, levels.astype(float)
    except (TypeError, ValueError):
        return codes, levels, None


def sort_key(level: Any) -> tuple[bool, Any]:
    """Order numbers by size, and texts behind them by letters."""
    return isinstance(level, str), level


def check_pairs(is_pair: NDArray[np.bool_]) -> None:
    """Refuse ratings of which no two are of the same answer."""
    if not is_pair.any():
        raise BenchError("no answer has two ratings")


def choose_measures(levels: Any, numbers: Array | None, has_scale: bool) -> dict[str, Measure]:
    """Return the measures that ratings allow: of texts without an order those that need none."""
    if numbers is None:
        return {**NOMINAL, **ORDINAL, **RANKS} if has_scale else NOMINAL
    if len(levels) > MOST_CLASSES:
        return {**RANKS, **NUMERIC}
    return {**NOMINAL, **ORDINAL, **RANKS, **NUMERIC}


def means_frame(
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    numbers: Array | None,
    codes: NDArray[np.intp],
    confidence: Confidence,
) -> pd.DataFrame:
    """Return accuracy and, of numbers, bias: they are means, with a mean's interval."""
    values, names = [(row == column).astype(float)], ["accuracy"]
    least, greatest = [0.0], [1.0]
    if numbers is not None:
        values.append(numbers[column] - numbers[row])
        names.append("bias")
        least, greatest = [0.0, -np.inf], [1.0, np.inf]
    frame = mean_intervals(np.column_stack(values), codes, (least, greatest), confidence)
    if np.count_nonzero(values[-1]) < LEAST_RARER and numbers is not None:
        # A few differences among many zeros: a mean's interval would be too narrow.
        frame.loc[1, ["low", "high", "method"]] = np.nan, np.nan, "none"
    return frame.assign(measure=names)[COLUMNS]


def group_tables(
    cells: NDArray[np.intp],
    weights: Array,
    codes: NDArray[np.intp],
    n_levels: int,
    confidence: Confidence,
) -> Array:
    """Return the tables of units, or of random groups of many: (groups, levels, levels)."""
    units, unit = np.unique(codes, return_inverse=True)
    n_groups = min(len(units), max(min(GROUPS, CELLS // n_levels**2), LEAST_UNITS))
    group = np.arange(len(units))
    if n_groups < len(units):
        group = np.random.default_rng(confidence.seed).permutation(len(units)) % n_groups
    place = group[unit] * n_levels**2 + cells
    counts = np.bincount(place, weights=weights, minlength=n_groups * n_levels**2)
    return counts.astype(float).reshape(n_groups, n_levels, n_levels)


def coefficients(
    tables: Array, numbers: Array | None, measures: dict[str, Measure], confidence: Confidence
) -> pd.DataFrame:
    """Return coefficients of agreement with their intervals, a row each.

    tables: (groups, levels, levels) of independent groups of answers. numbers: of the levels.
    """
    whole = tables.sum(axis=0, keepdims=True)
    levels = np.arange(len(whole[0]), dtype=float) if numbers is None else numbers
    n_beside = whole.sum() - max(whole.sum(axis=1).max(), whole.sum(axis=2).max())
    has_interval = len(tables) >= LEAST_UNITS and n_beside >= LEAST_RARER
    rows = []
    for name, measure in measures.items():
        low, high, method = np.nan, np.nan, "none"
        with np.errstate(invalid="ignore", divide="ignore"):
            value = float(measure(whole, levels)[0])
            # Between -1 and 1, where z lies evenly around its value.
            z_without = np.arctanh(measure(whole - tables, levels))
            error = jackknife_error(z_without[:, None])[0]
        if has_interval and error > NO_SPREAD:
            half = t_quantile(confidence.level, len(tables) - 1) * error
            low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
            method = "jackknife"
        rows.append((name, value, low, high, confidence.level, method))
    return pd.DataFrame(rows, columns=COLUMNS)


def balanced_accuracy(tables: Array, levels: Array) -> Array:
    """Return the mean, over the levels that people gave, of the share that the judge gave, too."""
    by_people = tables.sum(axis=2)
    is_given = by_people > 0
    recall = np.where(is_given, np.diagonal(tables, axis1=1, axis2=2) / by_people, 0.0)
    n_given = is_given.sum(axis=1)
    return np.where(n_given > 1, recall.sum(axis=1) / n_given, np.nan)


def kappa(power: int) -> Measure:
    """Cohen's kappa (1960, Educ. Psychol. Meas. 20; weighted 1968, Psychol. Bull. 70).

    power: of the distance between levels that a disagreement weighs; 0: all weigh the same.
    """

    def compute(tables: Array, levels: Array) -> Array:
        by_people, by_judge = tables.sum(axis=2), tables.sum(axis=1)
        weights = level_distance(len(levels), power)
        observed = (tables * weights).sum(axis=(1, 2))
        by_chance = (outer(by_people, by_judge) * weights).sum(axis=(1, 2))
        return where_both_vary(tables, 1 - count(tables) * observed / by_chance)

    return compute


def gwet(power: int) -> Measure:
    """Gwet's AC1 (power 0) and AC2 (2008, Br. J. Math. Stat. Psychol. 61)."""

    def compute(tables: Array, levels: Array) -> Array:
        distance = level_distance(len(levels), power)
        weights = 1 - distance / max(distance.max(), 1)
        n = count(tables)
        share = (tables.sum(axis=2) + tables.sum(axis=1)) / (2 * n[:, None])
        observed = (tables * weights).sum(axis=(1, 2)) / n
        # Chance is that of guessing among the levels: it stays small where nearly all is one level.
        spread = (share * (1 - share)).sum(axis=1)
        by_chance = weights.sum() * spread / (len(levels) * (len(levels) - 1))
        return (observed - by_chance) / (1 - by_chance)

    return compute


def alpha(measurement: str) -> Measure:
    """Krippendorff's alpha (2011, Computing Krippendorff's Alpha-Reliability)."""

    def compute(tables: Array, levels: Array) -> Array:
        coincidences = tables + tables.transpose(0, 2, 1)
        counts = coincidences.sum(axis=2)
        if measurement == "ordinal":
            # Between two levels lie the ratings of those between them, and half of their own.
            middle = counts.cumsum(axis=1) - counts / 2
            distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        elif measurement == "nominal":
            distance = level_distance(len(levels), 0)[None]
        else:
            distance = (levels[:, None] - levels)[None] ** 2
        if measurement == "ratio":
            distance = np.nan_to_num(distance / (levels[:, None] + levels) ** 2)
        observed = (coincidences * distance).sum(axis=(1, 2))
        by_chance = (outer(counts, counts) * distance).sum(axis=(1, 2))
        # The second rating of a pair is not the first one again: n - 1.
        return 1 - (counts.sum(axis=1) - 1) * observed / by_chance

    return compute


def icc(tables: Array, levels: Array) -> Array:
    """ICC(2,1), absolute agreement of raters drawn from many (Shrout & Fleiss 1979)."""
    n = count(tables)
    by_people, by_judge = tables.sum(axis=2), tables.sum(axis=1)
    shift = (by_judge - by_people) @ levels / n
    mean = (by_judge + by_people) @ levels / (2 * n)
    answer_means = np.add.outer(levels, levels) / 2 - mean[:, None, None]
    gaps = levels - levels[:, None] - shift[:, None, None]
    # Mean squares of the analysis of variance of n answers x 2 raters.
    between_answers = 2 * (tables * answer_means**2).sum(axis=(1, 2)) / (n - 1)
    between_raters = n * shift**2 / 2
    error = (tables * gaps**2).sum(axis=(1, 2)) / (2 * (n - 1))
    total = between_answers + error + 2 * (between_raters - error) / n
    return where_both_vary(tables, (between_answers - error) / total)


def spearman(tables: Array, levels: Array) -> Array:
    """Spearman's correlation of ranks; equal ratings share the middle of their ranks."""
    by_people, by_judge = tables.sum(axis=2), tables.sum(axis=1)
    half = count(tables)[:, None] / 2
    people_rank = by_people.cumsum(axis=1) - by_people / 2 - half
    judge_rank = by_judge.cumsum(axis=1) - by_judge / 2 - half
    covariance = (tables * outer(people_rank, judge_rank)).sum(axis=(1, 2))
    spread = (by_people * people_rank**2).sum(axis=1) * (by_judge * judge_rank**2).sum(axis=1)
    return covariance / np.sqrt(spread)


def kendall(tables: Array, levels: Array) -> Array:
    """Kendall's tau-b: pairs in the same order less pairs in opposite order (1945)."""
    same = (tables * count_beyond(tables)).sum(axis=(1, 2))
    mirrored = tables[:, :, ::-1]
    opposite = (mirrored * count_beyond(mirrored)).sum(axis=(1, 2))
    n = count(tables)
    people_pairs = n**2 - (tables.sum(axis=2) ** 2).sum(axis=1)
    judge_pairs = n**2 - (tables.sum(axis=1) ** 2).sum(axis=1)
    return (same - opposite) / np.sqrt(people_pairs * judge_pairs / 4)


def count(tables: Array) -> Array:
    """Return the number of ratings of every table."""
    return tables.sum(axis=(1, 2))


def outer(rows: Array, columns: Array) -> Array:
    """Return the products of margins, (tables, levels, levels)."""
    return rows[:, :, None] * columns[:, None, :]


def level_distance(n_levels: int, power: int) -> Array:
    """Return |i - j| to a power; with 0 all levels are equally far from each other."""
    steps = np.abs(np.subtract.outer(np.arange(n_levels), np.arange(n_levels))).astype(float)
    return np.where(steps > 0, steps**power, 0.0)


def count_beyond(tables: Array) -> Array:
    """Count for every cell the ratings that are higher on both scales."""
    beyond = np.zeros_like(tables)
    from_end = tables[:, ::-1, ::-1].cumsum(axis=1).cumsum(axis=2)[:, ::-1, ::-1]
    beyond[:, :-1, :-1] = from_end[:, 1:, 1:]
    return beyond


def where_both_vary(tables: Array, values: Array) -> Array:
    """Return NaN where a rater gave one level only: then chance explains all."""
    people_vary = (tables.sum(axis=2) > 0).sum(axis=1) > 1
    judge_varies = (tables.sum(axis=1) > 0).sum(axis=1) > 1
    return np.where(people_vary & judge_varies, values, np.nan)


NOMINAL: dict[str, Measure] = {
    "balanced_accuracy": balanced_accuracy,
    "kappa": kappa(0),
    "ac1": gwet(0),
    "alpha_nominal": alpha("nominal"),
}
ORDINAL: dict[str, Measure] = {
    "kappa_linear": kappa(1),
    "kappa_quadratic": kappa(2),
    "ac2_linear": gwet(1),
    "ac2_quadratic": gwet(2),
    "alpha_ordinal": alpha("ordinal"),
}
RANKS: dict[str, Measure] = {"spearman": spearman, "kendall": kendall}
NUMERIC: dict[str, Measure] = {
    "alpha_interval": alpha("interval"),
    "alpha_ratio": alpha("ratio"),
    "icc": icc,
}
