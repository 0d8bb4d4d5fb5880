"""Judges and people: how far two or more raters agree, with intervals over items."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ragbench.stats import alphas, tables
from ragbench.stats import intervals as kinds
from ragbench.stats.estimates import estimate
from ragbench.stats.samples import (
    Codes,
    Labels,
    Units,
    as_codes,
    as_values,
    check_level,
    check_word,
    exact_mean,
    units_of,
)
from ragbench.stats.sums import Statistic, resample_units
from ragbench.types import Array, Estimate

Scale = Literal["nominal", "ordinal", "interval", "ratio"]
NUMBERS = ("interval", "ratio")

FEWEST_FOR_BCA = 200
"""Fewer items: the interval on Fisher's z covers better than BCa for statistics that end at 1."""

MOST_CATEGORIES = 25
"""Up to here rank correlations are resampled from the table of categories; beyond, their standard errors serve."""


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

    categories: all categories of the scale in their order, if some were not used (they count in AC1, AC2 and weights)
    or do not sort by themselves. Intervals: BCa over items, or whole clusters of items; below 200 of them the delta
    interval on Fisher's z; accuracy and bias as in `estimate`; rank correlations of more than 25 categories have
    Bonett and Wright's (2000), Spearman's over clusters that of the correlation of ranks.

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
    values, coded = encode(kept, None if scale in NUMBERS else categories, scale)
    found: dict[str, Estimate] = {}
    if scale not in NUMBERS:
        found |= _categorical(items, coded, values, scale)
    if scale != "nominal":
        found |= _ranks(items, coded, len(values))
    if numbers is not None and scale != "nominal":
        found |= _numeric(items, numbers, scale)
    return found


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


@dataclass(frozen=True, slots=True)
class _Items:
    """What all statistics of one call share: items left out, clusters of those kept, and the options."""

    unmeasured: int
    codes: Codes | None
    options: dict[str, Any]

    def of_sums(self, statistic: Statistic, columns: Array) -> Estimate:
        return resample_units(
            statistic, units_of(columns, self.codes), self.unmeasured, **self.options, fisher_below=FEWEST_FOR_BCA
        )

    def of_table(self, statistic: Statistic, coded: list[Codes], number: int) -> Estimate:
        units = table_units(coded[0] * number + coded[1], number**2, self.codes)
        return resample_units(
            lambda totals: statistic(totals.reshape(*totals.shape[:-1], number, number)),
            units, self.unmeasured, **self.options, fisher_below=FEWEST_FOR_BCA,
        )  # fmt: skip

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


def _categorical(items: _Items, coded: list[Codes], values: list[Any], scale: str) -> dict[str, Estimate]:
    number = max(len(values), 1)
    rules: dict[str, Statistic] = {
        "balanced_accuracy": tables.balanced_accuracy,
        "cohen_kappa": tables.cohen_kappa,
        "gwet_ac1": tables.gwet,
        "krippendorff_alpha": lambda table: tables.krippendorff(table + np.swapaxes(table, -1, -2), scale),
    }
    if scale == "ordinal":
        rules["cohen_kappa_linear"] = lambda table: tables.cohen_kappa(table, "linear")
        rules["cohen_kappa_quadratic"] = lambda table: tables.cohen_kappa(table, "quadratic")
        rules["gwet_ac2"] = lambda table: tables.gwet(table, "quadratic")
    same = (coded[0] == coded[1]).astype(np.float64)
    return {"accuracy": items.of_mean(same, (0.0, 1.0))} | {
        name: items.of_table(rule, coded, number) for name, rule in rules.items()
    }


def _ranks(
    items: _Items, coded: list[Codes], number: int, wanted: tuple[str, ...] = ("spearman", "kendall")
) -> dict[str, Estimate]:
    if number > MOST_CATEGORIES:
        return _ranked(items, coded, wanted)
    number = max(number, 1)
    rules = {"spearman": tables.spearman, "kendall": tables.kendall}
    return {name: items.of_table(rules[name], coded, number) for name in wanted}


def _numeric(items: _Items, numbers: tuple[Array, Array], scale: str) -> dict[str, Estimate]:
    a, b = numbers
    middle = exact_mean([a, b]) if len(a) else 0.0
    x, y = a - middle, b - middle  # centred once, so that sums of squares lose no digits
    columns = np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def icc_of_pairs(totals: Array) -> Array:
        squares = totals[..., 3] + totals[..., 4]
        return icc_of_sums(totals[..., :3], squares, squares + 2 * totals[..., 5])

    found = {
        "pearson": items.of_sums(tables.pearson, columns),
        "icc": items.of_sums(icc_of_pairs, columns),
        "bias": items.of_mean(b - a),
    }
    if scale in NUMBERS:
        parts, alpha = alphas.of_numbers(np.column_stack([a, b]), scale)
        found["krippendorff_alpha"] = items.of_sums(alpha, parts)
    return found


def icc_of_sums(columns: Array, squares: Array, row_squares: Array) -> Array:
    """ICC(2,1) from totals: (…, 1 + k) of 1 and each rater's ratings, Σ x², and Σ (item sum)²."""
    n, k = columns[..., 0], columns.shape[-1] - 1
    correction = columns[..., 1:].sum(axis=-1) ** 2 / (n * k)
    items = row_squares / k - correction
    raters = np.sum(columns[..., 1:] ** 2, axis=-1) / n - correction
    rest = (squares - correction - items - raters) / ((n - 1) * (k - 1))
    items, raters = items / (n - 1), raters / (k - 1)
    below = items + (k - 1) * rest + k * (raters - rest) / n
    return np.where(np.abs(below) > 1e-300, (items - rest) / np.where(below == 0, 1.0, below), np.nan)


def _rank_sums(coded: list[Codes]) -> Array:
    """Columns whose sums give the correlation of the two sides' ranks; ties share the mean of theirs."""
    from scipy.stats import rankdata

    x, y = (rankdata(side) - (len(side) + 1) / 2 for side in coded)
    return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])


def _ranked(items: _Items, coded: list[Codes], wanted: tuple[str, ...]) -> dict[str, Estimate]:
    """Spearman's ρ and Kendall's τ-b with the intervals of Bonett and Wright (2000) on Fisher's z.

    Those know nothing of clusters but their number, which for ρ covers .99 to 1.0 with two to four times the width
    needed. There ρ is the correlation of the ranks, whole clusters of them being drawn: .90 to .97 in simulations.
    """
    from scipy.stats import kendalltau, spearmanr

    n, level = len(coded[0]), items.options["level"]
    quantile = kinds.normal_quantile((1 + level) / 2)
    clusters = None if items.codes is None else len(np.unique(items.codes))
    effective = n if clusters is None else clusters
    found = {}
    for name, rule in (("spearman", spearmanr), ("kendall", kendalltau)):
        if name not in wanted:
            continue
        constant = any(np.ptp(side) == 0 for side in coded)
        if name == "spearman" and clusters is not None and not constant:
            found[name] = items.of_sums(tables.pearson, _rank_sums(coded))
            continue
        value = math.nan if constant else float(rule(*coded).statistic)
        found[name] = Estimate(
            value, None, None, level, "none", n, items.unmeasured, clusters=clusters, seed=items.options["seed"],
            note="undefined" if constant else "few",
        )  # fmt: skip
        if abs(value) < 1 and effective >= 5:
            error = math.sqrt((1 + value**2 / 2) / (effective - 3) if name == "spearman" else 0.437 / (effective - 4))
            low, high = (math.tanh(math.atanh(value) + sign * quantile * error) for sign in (-1, 1))
            found[name] = replace(
                found[name],
                low=low,
                high=high,
                method="bonett_wright",
                intervals={"bonett_wright": (low, high)},
                note="",
            )
    return found
