"""Judges and people: how far two or more raters agree, with intervals over items."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.types import Array, Estimate, IntervalNote
from ragbench.old.stats import coefficients
from ragbench.old.stats import intervals as kinds
from ragbench.old.stats.estimates import estimate
from ragbench.old.stats.sums import Pseudo, Statistic, resample_units
from ragbench.old.stats.values import (
    Codes,
    Labels,
    Units,
    as_codes,
    as_values,
    check_level,
    check_word,
    effective_freedom,
    exact_mean,
    units_of,
)

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
NUMBERS = ("interval", "ratio")

FEWEST_FOR_BCA = 200
"""Fewer items: the interval on Fisher's z covers better than BCa for statistics that end at 1."""

MOST_CATEGORIES = 25
"""Up to here rank correlations are resampled from the table of categories, and pseudo-items stand beside it; beyond,
standard errors serve."""

PSEUDO = 1.5
"""So many pseudo-items stand beside the rated ones: half of them agree, in every category alike, and half do not, in
every pair of categories alike. Two categories have Dirichlet's prior of 3/8 a cell, between Jeffreys' ½ and Perks' ¼;
with 0 to 1 of them intervals of κ, AC₂ and α near the ends of their scales covered down to .90, with 2 down to .90 at a
ceiling of weighted κ."""


def agreement(
    a: Sequence[Any] | NDArray[Any],
    b: Sequence[Any] | NDArray[Any],
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    clusters: Labels | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[str, Estimate]:
    """How far b (a judge) agrees with a (people) on the same items, one label or number an item.

    An item that one of them left out (None, NaN) is unmeasured. Which statistics come back depends on the scale:

    nominal: accuracy, balanced_accuracy (a holds the truth), cohen_kappa, gwet_ac1, krippendorff_alpha.
    ordinal: these (κ and AC1 unweighted), and cohen_kappa_linear, cohen_kappa_quadratic, gwet_ac2 (quadratic),
    spearman, kendall (τ-b), and for numbers pearson, icc (2,1), bias (mean of b − a).
    interval: pearson, spearman, kendall, icc, krippendorff_alpha, bias.
    ratio: the same, α by quotients (numbers from zero on).

    categories: all categories of the scale in their order; of booleans both. AC1, AC2 and weighted κ are made of them:
    without them these stand on what happened to be used, which is no interval's business, so they have none (`note`
    "open_scale"). A rater who says one thing all the time has no κ, ICC or correlation with anybody: NaN (`note`
    "constant"). Numbers that are the same of every item have coefficients of 1 without an interval ("identical").

    Intervals: statistics of categories by the Bayesian bootstrap over items, or whole clusters of them, with pseudo-
    items (`ragbench.old.stats.sums.bayesian`); those of numbers BCa, below 200 items the delta interval on Fisher's z;
    accuracy and bias as in `estimate`; rank correlations of more than 25 categories Bonett and Wright's (2000), over
    clusters the jackknife's that leaves out each in turn.

    Raises ValueError for another scale, different lengths, labels outside the categories, or text where numbers are
    needed.
    """
    check_level(level)
    check_word("scale", scale, get_args(Scale))
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} ratings and b {len(b)}: give one of each for every item, None if missing")
    present = np.array([not (missing(x) or missing(y)) for x, y in zip(a, b, strict=True)], dtype=bool)
    codes = as_codes(clusters, len(a))
    kept = [[x for x, keep in zip(side, present, strict=True) if keep] for side in (a, b)]
    items = _Items(
        int((~present).sum()), None if codes is None else codes[present],
        {"level": level, "resamples": resamples, "seed": seed},
    )  # fmt: skip
    numbers = _numbers(kept, scale)
    categories = two_valued(kept) if categories is None else categories
    values, coded = encode(kept, None if scale in NUMBERS else categories, scale)
    estimates: dict[str, Estimate] = {}
    if scale not in NUMBERS:
        estimates |= _categorical(items, coded, values, scale, declared=categories is not None)
    if scale != "nominal":
        estimates |= _ranks(items, coded, len(values))
    if numbers is not None and scale != "nominal":
        estimates |= _numeric(items, numbers, scale)
    return estimates


def spearman(
    a: Sequence[Any] | NDArray[Any],
    b: Sequence[Any] | NDArray[Any],
    *,
    clusters: Labels | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Spearman's ρ of two numbers an item, as `agreement` gives it on an interval scale, without the other statistics.

    NaN and None are unmeasured. Constant numbers have no correlation: NaN, without an interval.
    """
    check_level(level)
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} numbers and b {len(b)}: give one of each for every item, NaN if missing")
    present = np.array([not (missing(x) or missing(y)) for x, y in zip(a, b, strict=True)], dtype=bool)
    codes = as_codes(clusters, len(a))
    kept = [[float(x) for x, keep in zip(side, present, strict=True) if keep] for side in (a, b)]
    options = {"level": level, "resamples": resamples, "seed": seed}
    items = _Items(int((~present).sum()), None if codes is None else codes[present], options)
    values, coded = encode(kept, None, "interval")
    return _ranks(items, coded, len(values), ("spearman",))["spearman"]


ENDS = (-1.0, 1.0)
"""Of every coefficient of agreement and correlation."""


@dataclass(frozen=True, slots=True)
class _Items:
    """What all statistics of one call share: items left out, clusters of those kept, and the options."""

    unmeasured: int
    codes: Codes | None
    options: dict[str, Any]

    def of_sums(self, statistic: Statistic, columns: Array) -> Estimate:
        return resample_units(
            statistic, units_of(columns, self.codes), self.unmeasured, **self.options, fisher_below=FEWEST_FOR_BCA,
            bounds=ENDS,
        )  # fmt: skip

    def of_table(
        self,
        statistic: Statistic,
        coded: list[Codes],
        number: int,
        pseudo: float = PSEUDO,
        bounds: tuple[float, float] = ENDS,
    ) -> Estimate:
        units = table_units(coded[0] * number + coded[1], number**2, self.codes)
        shapes = pseudo * shared(coded[0] == coded[1], self.codes) * shapes_of(number).ravel()
        return resample_units(
            lambda totals: statistic(totals.reshape(*totals.shape[:-1], number, number)),
            units, self.unmeasured, **self.options, fisher_below=FEWEST_FOR_BCA,
            pseudo=Pseudo(shapes) if 1 < number <= MOST_CATEGORIES else None, bounds=bounds,
        )  # fmt: skip

    def without(self, note: IntervalNote, n: int) -> Estimate:
        """What cannot be measured on n items, and why."""
        clusters = None if self.codes is None else len(np.unique(self.codes))
        level, seed = self.options["level"], self.options["seed"]
        return Estimate(
            math.nan, None, None, level, "none", n, self.unmeasured, clusters=clusters, seed=seed, note=note
        )

    def of_mean(self, values: Array, bounds: tuple[float, float] | None = None) -> Estimate:
        whole = np.append(values, np.full(self.unmeasured, np.nan))
        groups = None
        if self.codes is not None:
            groups = np.append(self.codes, self.codes.max(initial=-1) + 1 + np.arange(self.unmeasured))
        return estimate(whole, clusters=groups, bounds=bounds, **self.options)


def table_units(pairs: Codes, number: int, codes: Codes | None) -> Units:
    """Units whose sums are flat tables of `number` cells, from each item's cell."""
    if codes is not None:
        present, inverse = np.unique(codes, return_inverse=True)
        sums = np.bincount(inverse * number + pairs, minlength=len(present) * number).reshape(-1, number)
        sizes = sums.sum(axis=1).astype(np.float64)
        return Units(sums.astype(np.float64), sizes, np.ones(len(sums), dtype=np.int64), True, np.zeros(number))
    used, counts = np.unique(pairs, return_counts=True)
    rows = np.zeros((len(used), number))
    rows[np.arange(len(used)), used] = 1.0
    return Units(rows, np.ones(len(used)), counts.astype(np.int64), False, np.zeros(number))


def confusion(
    a: Sequence[Any], b: Sequence[Any], categories: Sequence[Any] | None = None
) -> tuple[list[Any], NDArray[np.int64]]:
    """The categories and the (K, K) counts of items with a's category in the row and b's in the column."""
    kept = [(x, y) for x, y in zip(a, b, strict=True) if not (missing(x) or missing(y))]
    values, coded = encode([[x for x, _ in kept], [y for _, y in kept]], categories, "ordinal")
    number = len(values)
    return values, np.bincount(coded[0] * number + coded[1], minlength=number**2).reshape(number, number)


def encode(
    sides: Sequence[Iterable[Hashable]], categories: Sequence[Any] | None, scale: str
) -> tuple[list[Any], list[Codes]]:
    """Categories in their order, and each side as positions in them."""
    sides = [[item.item() if isinstance(item, np.generic) else item for item in side] for side in sides]
    if categories is None:
        used = {item for side in sides for item in side}
        try:
            values = sorted(used)  # type: ignore[type-var]
        except TypeError as error:
            if scale != "nominal":
                raise ValueError(f"these labels have no order of their own: give categories=[…] ({error})") from error
            values = sorted(used, key=repr)
    else:
        values = list(categories)
    place = {value: position for position, value in enumerate(values)}
    strange = sorted({repr(item) for side in sides for item in side if item not in place})
    if strange:
        raise ValueError(f"labels {', '.join(strange)} are not among the categories {values}")
    return values, [np.array([place[item] for item in side], dtype=np.int64) for side in sides]


def missing(label: Any) -> bool:
    """Whether a rating was not made: None, NaN or an empty text."""
    return label is None or label != label or label == ""


def _numbers(sides: list[list[Any]], scale: str) -> tuple[Array, Array] | None:
    """Both sides as numbers, or None for labels that are not."""
    if scale not in NUMBERS and any(isinstance(item, str) for side in sides for item in side):
        return None
    numeric(sides, scale)
    return as_values(sides[0], "a"), as_values(sides[1], "b")


def numeric(rows: list[list[Any]], scale: str) -> list[list[Any]]:
    """The rows themselves; a ValueError for texts on a scale of numbers."""
    if scale in NUMBERS and any(isinstance(item, str) for row in rows for item in row):
        raise ValueError(f"scale={scale!r} needs numbers; these are texts: use scale='nominal' or 'ordinal'")
    return rows


def two_valued(sides: Sequence[Iterable[Any]]) -> list[bool] | None:
    """The categories of ratings that are all booleans; None of others."""
    every = [item for side in sides for item in side]
    return [False, True] if every and all(isinstance(item, bool | np.bool_) for item in every) else None


def shapes_of(number: int) -> Array:
    """(K, K) how a pseudo-item is divided among the categories that two raters put it in: see PSEUDO."""
    apart = np.full((number, number), 0.5 / max(number * (number - 1), 1))
    np.fill_diagonal(apart, 0.5 / number)
    return apart


def shared(agreed: NDArray[Any], codes: Codes | None) -> float:
    """How many items of a cluster tell no more than one independent item does of whether raters agree, 1 or more: the
    design effect of the share of agreement; without spread, the mean size of a cluster. agreed: (items,) 0 to 1."""
    if codes is None or not len(codes):
        return 1.0
    apart = agreed - exact_mean([agreed])
    alone = math.fsum((apart**2).tolist())
    if alone <= 1e-12:
        return len(codes) / len(np.unique(codes))
    sums = [math.fsum(apart[codes == code].tolist()) for code in np.unique(codes)]
    return max(1.0, math.fsum(total**2 for total in sums) / alone)


def constant(sides: Iterable[NDArray[Any]]) -> bool:
    """Whether a side says one and the same of several items, so that nothing can go with it."""
    return any(len(side) > 1 and bool(np.all(side == side[0])) for side in sides)


def _categorical(
    items: _Items, coded: list[Codes], values: list[Any], scale: str, *, declared: bool
) -> dict[str, Estimate]:
    number = max(len(values), 1)
    own = np.unique(coded[0])

    def balanced_accuracy(table: Array) -> Array:
        """Of a's categories, or where the scale says them of all: how b finds one that a never used is not known."""
        told = table if declared else np.where(np.isin(np.arange(number), own)[:, None], table, 0.0)
        return coefficients.balanced_accuracy(told)

    rules: dict[str, Statistic] = {
        "cohen_kappa": coefficients.cohen_kappa,
        "gwet_ac1": coefficients.gwet,
        "krippendorff_alpha": lambda table: coefficients.krippendorff(table + np.swapaxes(table, -1, -2), scale),
    }
    if scale == "ordinal":
        rules["cohen_kappa_linear"] = lambda table: coefficients.cohen_kappa(table, "linear")
        rules["cohen_kappa_quadratic"] = lambda table: coefficients.cohen_kappa(table, "quadratic")
        rules["gwet_ac2"] = lambda table: coefficients.gwet(table, "quadratic")
    same = (coded[0] == coded[1]).astype(np.float64)
    estimates = {
        "accuracy": items.of_mean(same, (0.0, 1.0)),
        "balanced_accuracy": items.of_table(
            balanced_accuracy, coded, number, float(number), (0.0, 1.0)
        ),  # Jeffreys' of each recall
    }
    unknown = constant(coded)
    for name, rule in rules.items():
        if unknown and name.startswith("cohen_kappa"):
            estimates[name] = items.without("constant", len(same))
            continue
        estimate = items.of_table(rule, coded, number)
        if not declared and name in MADE_OF_THE_SCALE and estimate.low is not None:
            estimate = replace(estimate, low=None, high=None, method="none", note="open_scale", intervals={})
        estimates[name] = estimate
    return estimates


MADE_OF_THE_SCALE = ("gwet_ac1", "gwet_ac2", "cohen_kappa_linear", "cohen_kappa_quadratic")
"""Statistics that are others where the scale has a category that nobody used."""


def _ranks(
    items: _Items, coded: list[Codes], number: int, wanted: tuple[str, ...] = ("spearman", "kendall")
) -> dict[str, Estimate]:
    if constant(coded):
        return {name: items.without("constant", len(coded[0])) for name in wanted}
    if number > MOST_CATEGORIES:
        return _ranked(items, coded, wanted)
    number = max(number, 1)
    rules = {"spearman": coefficients.spearman, "kendall": coefficients.kendall}
    return {name: items.of_table(rules[name], coded, number) for name in wanted}


def _numeric(items: _Items, numbers: tuple[Array, Array], scale: str) -> dict[str, Estimate]:
    a, b = numbers
    middle = exact_mean([a, b]) if len(a) else 0.0
    x, y = a - middle, b - middle  # centred once, so that sums of squares lose no digits
    columns = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def icc_of_pairs(totals: Array) -> Array:
        squares = totals[..., 3] + totals[..., 4]
        return icc_of_sums(totals[..., :3], squares, squares + 2 * totals[..., 5])

    rules: dict[str, Statistic] = {"pearson": coefficients.pearson, "icc": icc_of_pairs}
    unknown = constant(numbers)
    estimates = {
        name: items.without("constant", len(a)) if unknown else items.of_sums(rule, columns)
        for name, rule in rules.items()
    }
    estimates["bias"] = items.of_mean(b - a)
    if scale in NUMBERS:
        parts, alpha = coefficients.of_numbers(np.column_stack([a, b]), scale)
        estimates["krippendorff_alpha"] = items.of_sums(alpha, parts)
    if np.array_equal(a, b):
        estimates = {
            name: replace(estimate, note="identical") if estimate.note == "no_spread" and name != "bias" else estimate
            for name, estimate in estimates.items()
        }
    return estimates


def icc_of_sums(columns: Array, squares: Array, row_squares: Array) -> Array:
    """ICC(2,1) from totals: (…, 1 + k) of 1 and each rater's ratings, Σ x², and Σ (item sum)²."""
    n, k = columns[..., 0], columns.shape[-1] - 1
    correction = columns[..., 1:].sum(axis=-1) ** 2 / (n * k)
    items = row_squares / k - correction
    raters = np.sum(columns[..., 1:] ** 2, axis=-1) / n - correction
    rest = (squares - correction - items - raters) / ((n - 1) * (k - 1))
    items, raters = items / (n - 1), raters / (k - 1)
    below = items + (k - 1) * rest + k * (raters - rest) / n
    known = np.abs(below) > 1e-12 * squares / n
    return np.where(known, (items - rest) / np.where(known, below, 1.0), np.nan)


def _rank_sums(coded: list[Codes]) -> Array:
    """Columns whose sums give the correlation of the two sides' ranks; ties share the mean of theirs."""
    from scipy.stats import rankdata

    x, y = (rankdata(side) - (len(side) + 1) / 2 for side in coded)
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def _ranked(items: _Items, coded: list[Codes], wanted: tuple[str, ...]) -> dict[str, Estimate]:
    """Spearman's ρ and Kendall's τ-b of many different values, on Fisher's z: with the errors of Bonett and Wright
    (2000), over clusters with the jackknife's that leaves out each in turn (of ρ as the correlation of the ranks).

    Bonett and Wright's know nothing of clusters but their number, which for both covers .99 to 1.0, with intervals two
    to seven times too wide where items of a cluster are not much alike.
    """
    from scipy.stats import kendalltau, spearmanr

    n, level = len(coded[0]), items.options["level"]
    estimates = {}
    for name, rule in (("spearman", spearmanr), ("kendall", kendalltau)):
        if name not in wanted:
            continue
        if name == "spearman" and items.codes is not None:
            estimates[name] = items.of_sums(coefficients.pearson, _rank_sums(coded))
            continue
        estimate = replace(items.without("few", n), value=float(rule(*coded).statistic))
        ends: tuple[float, float] | None = None
        if (
            abs(estimate.value) < 1
            and items.codes is not None
            and estimate.clusters is not None
            and estimate.clusters > 1
        ):
            ends = kinds.fisher(estimate.value, *_kendall_error(coded, items.codes, estimate.value), level)
        elif abs(estimate.value) < 1 and items.codes is None and n >= 5:
            error = math.sqrt((1 + estimate.value**2 / 2) / (n - 3) if name == "spearman" else 0.437 / (n - 4))
            half = kinds.normal_quantile((1 + level) / 2) * error
            ends = math.tanh(math.atanh(estimate.value) - half), math.tanh(math.atanh(estimate.value) + half)
        if ends is not None:
            method = "bonett_wright" if items.codes is None else "fisher"
            note: IntervalNote = "" if items.codes is None or (estimate.clusters or 0) >= FEWEST_FOR_BCA else "few"
            estimate = replace(estimate, low=ends[0], high=ends[1], method=method, intervals={method: ends}, note=note)
        estimates[name] = estimate
    return estimates


BINS = 1_000
"""Ranks among more values are put together in so many for the standard error of τ, and for it alone."""


def _kendall_error(coded: list[Codes], codes: Codes, value: float) -> tuple[float, float]:
    """The standard error of τ-b over clusters, by leaving out each in turn, and the freedom of its square."""
    whole = _concordances(coded)
    totals = whole.sum(axis=0)
    present, sizes = np.unique(codes, return_counts=True)
    left = np.empty(len(present))
    for place, cluster in enumerate(present):
        own = codes == cluster
        inside = _concordances([side[own] for side in coded]).sum(axis=0)
        rest = totals - 2 * whole[own].sum(axis=0) + inside
        spread = math.sqrt(max(rest[1] * rest[2], 0.0))
        left[place] = rest[0] / spread - totals[0] / math.sqrt(totals[1] * totals[2]) if spread > 0 else 0.0
    order, number = np.lexsort((sizes, left)), len(present)  # so that no order of clusters changes a digit
    left, sizes = left[order], sizes[order]
    error = math.sqrt((number - 1) / number * float(np.sum(left**2)))
    return error, effective_freedom(left, sizes.astype(np.float64), np.ones(number, dtype=np.int64))


def _concordances(coded: list[Codes]) -> Array:
    """(items, 3) of each item with all others: concordant less discordant pairs, pairs not tied in a, and in b."""
    n = len(coded[0])
    places, widths = [], []
    for side in coded:
        used, place = np.unique(side, return_inverse=True)
        width = min(len(used), BINS)
        places.append(place * width // len(used))
        widths.append(width)
    table = np.bincount(places[0] * widths[1] + places[1], minlength=widths[0] * widths[1]).reshape(widths)
    untied = [n - table.sum(axis=1 - axis)[place] for axis, place in enumerate(places)]
    return np.column_stack([coefficients.balances(table.astype(np.float64))[places[0], places[1]], *untied])
