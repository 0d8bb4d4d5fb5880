"""Several raters at once: Krippendorff's α, Fleiss' and Randolph's κ, ICC(2,1), Cochran's Q."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old.core.types import Array, Estimate
from ragbench.old.stats import coefficients
from ragbench.old.stats.raters import (
    ENDS,
    FEWEST_FOR_BCA,
    MOST_CATEGORIES,
    PSEUDO,
    Scale,
    encode,
    icc_of_sums,
    missing,
    numeric,
    shapes_of,
    shared,
    two_valued,
)
from ragbench.old.stats.sums import Pseudo, resample_units
from ragbench.old.stats.values import Codes, Labels, as_codes, check_word, exact_mean, units_of


def krippendorff_alpha(
    ratings: Sequence[Sequence[Any]] | NDArray[Any],
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    clusters: Labels | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Krippendorff's α (2011) of (items, raters) ratings with its interval over items.

    None or NaN is a rating that was not made; items with fewer than two ratings carry no agreement and are counted
    as unmeasured. In (−1, 1]; NaN where all ratings are one category.
    scale: nominal (names), ordinal (ranks; `categories` where they do not sort by themselves), interval (numbers whose
    differences mean something) or ratio (also their quotients: lengths, counts, prices; from zero on).
    Raises ValueError for another scale, text where numbers are needed, or negative numbers on a ratio scale.
    """
    check_word("scale", scale, get_args(Scale))
    rows = [[item for item in row if not missing(item)] for row in ratings]
    pairable = np.array([len(row) > 1 for row in rows], dtype=bool)
    codes = as_codes(clusters, len(rows))
    kept = [row for row in rows if len(row) > 1]
    options: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    options |= {"fisher_below": FEWEST_FOR_BCA, "bounds": ENDS}
    kept_codes = None if codes is None else codes[pairable]
    unmeasured = int((~pairable).sum())
    if scale in ("interval", "ratio"):
        columns, alpha = coefficients.of_numbers(numeric(kept, scale), scale)
    else:
        values, coded = encode(kept, two_valued(kept) if categories is None else categories, scale)
        number = max(len(values), 1)
        columns, alpha = coefficients.of_categories(coded, number, scale)
        if made := pseudo_items(
            number, max(Counter(map(len, coded)).items(), key=lambda counted: counted[::-1], default=(2,))[0]
        ):
            agreed = np.trace(columns.reshape(-1, number, number), axis1=1, axis2=2) / np.array(
                [len(row) for row in coded]
            )
            shapes = PSEUDO * shared(agreed, kept_codes) * made[1]
            options["pseudo"] = Pseudo(shapes, coefficients.of_categories(made[0], number, scale)[0])
    return resample_units(alpha, units_of(columns, kept_codes), unmeasured, **options)


def pseudo_items(number: int, raters: int) -> tuple[list[Codes], Array] | None:
    """Pseudo-items as `raters` rate them, and the share of each: all in one category, or one of them in another; None
    where there are no two categories, or too many (`raters.MOST_CATEGORIES`)."""
    if not 1 < number <= MOST_CATEGORIES:
        return None
    rows = [np.array([first] * (raters - 1) + [second]) for first in range(number) for second in range(number)]
    return rows, shapes_of(number).ravel()


def fleiss_kappa(
    ratings: Sequence[Sequence[Any]] | NDArray[Any],
    *,
    categories: Sequence[Any] | None = None,
    chance: str = "fleiss",
    clusters: Labels | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """Fleiss' κ (1971) of (items, raters) labels, every item rated by the same number of raters.

    chance: "fleiss" takes the shares of the categories, "randolph" (2005) gives every category the same chance.
    Items with a missing label are unmeasured. Raises ValueError for another chance.
    """
    complete = np.array([not any(missing(item) for item in row) for row in ratings], dtype=bool)
    kept = [list(row) for row, whole in zip(ratings, complete, strict=True) if whole]
    values, coded = encode(kept, categories, "nominal")
    counts = np.array([np.bincount(row, minlength=len(values)) for row in coded]).reshape(len(kept), len(values))
    codes = as_codes(clusters, len(complete))
    return fleiss_kappa_of_counts(
        counts, chance=chance, clusters=None if codes is None else codes[complete],
        n_unmeasured=int((~complete).sum()), level=level, resamples=resamples, seed=seed,
    )  # fmt: skip


def fleiss_kappa_of_counts(
    counts: ArrayLike,
    *,
    chance: str = "fleiss",
    clusters: Labels | None = None,
    n_unmeasured: int = 0,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """`fleiss_kappa` from (items, categories) numbers of raters who chose each category."""
    check_word("chance", chance, ("fleiss", "randolph"))
    table = np.asarray(counts, dtype=np.float64)
    raters = table.sum(axis=1) if table.ndim == 2 else np.zeros(0)
    if table.ndim != 2 or (table < 0).any() or (len(raters) and (np.ptp(raters) > 0 or raters[0] < 2)):
        raise ValueError(
            "every item needs the same number of raters, two at least; "
            "for raters who skip items use krippendorff_alpha, which allows it"
        )
    number = raters[0] if len(raters) else 2.0
    items = _fleiss_sums(table, number)
    agreeing = items[:, 1]

    def kappa(totals: Array) -> Array:
        observed = totals[..., 1] / totals[..., 0]
        shares = totals[..., 2:] / totals[..., 2:].sum(axis=-1, keepdims=True)
        expected = np.sum(shares**2, axis=-1) if chance == "fleiss" else np.array(1 / table.shape[1])
        return np.where(expected < 1 - 1e-12, (observed - expected) / np.where(expected < 1, 1 - expected, 1), np.nan)

    codes = as_codes(clusters, len(table))
    pseudo = None
    if made := pseudo_items(table.shape[1], int(number)):
        chosen = np.array([np.bincount(row, minlength=table.shape[1]) for row in made[0]], dtype=np.float64)
        pseudo = Pseudo(PSEUDO * shared(agreeing, codes) * made[1], _fleiss_sums(chosen, number))
    return resample_units(
        kappa, units_of(items, codes), n_unmeasured, level=level, resamples=resamples, seed=seed,
        fisher_below=FEWEST_FOR_BCA, pseudo=pseudo, bounds=ENDS,
    )  # fmt: skip


def _fleiss_sums(counts: Array, number: float) -> Array:
    """(items, 2 + categories) of each item 1, the share of its pairs of raters who agree, and the counts."""
    agreeing = np.sum(counts * (counts - 1), axis=1) / (number * (number - 1))
    return np.column_stack([np.ones(len(counts)), agreeing, counts])


def icc(
    ratings: ArrayLike,
    *,
    clusters: Labels | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Estimate:
    """ICC(2,1) (Shrout, Fleiss 1979) of (items, raters) numbers: absolute agreement of single random raters.

    Items with a missing rating are unmeasured. NaN where fewer than two raters ever say anything else (`note`
    "constant"): the coefficient would be 0 of whatever the other says. Raises ValueError for fewer than two raters.
    """
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"ratings are (items, raters) with two raters at least; got shape {matrix.shape}")
    if np.isinf(matrix).any():
        raise ValueError("ratings hold infinite numbers: give NaN where no rating was made")
    complete = ~np.isnan(matrix).any(axis=1)
    kept = matrix[complete]
    codes = as_codes(clusters, len(matrix))
    own = None if codes is None else codes[complete]
    if len(kept) > 1 and np.count_nonzero((kept != kept[0]).any(axis=0)) < 2:
        groups = None if own is None else len(np.unique(own))
        return Estimate(
            math.nan, None, None, level, "none", len(kept), int((~complete).sum()), clusters=groups, seed=seed,
            note="constant",
        )  # fmt: skip
    kept = kept - exact_mean(kept) if len(kept) else kept
    items = np.column_stack([np.ones(len(kept)), kept, np.sum(kept**2, axis=1), np.sum(kept, axis=1) ** 2])
    return resample_units(
        lambda totals: icc_of_sums(totals[..., :-2], totals[..., -2], totals[..., -1]),
        units_of(items, own), int((~complete).sum()),
        level=level, resamples=resamples, seed=seed, fisher_below=FEWEST_FOR_BCA, bounds=ENDS,
    )  # fmt: skip


def cochran_q(hits: ArrayLike) -> tuple[float, float]:
    """Cochran's Q (1950) and its χ² p: do k systems differ at all on the same questions? hits: (questions, systems).

    Rows with NaN are left out; (NaN, NaN) where no question tells the systems apart.
    Raises ValueError for values other than 0 and 1 or fewer than two systems.
    """
    from scipy.special import chdtrc

    matrix = np.asarray(hits, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(f"hits are (questions, systems) with two systems at least; got shape {matrix.shape}")
    matrix = matrix[~np.isnan(matrix).any(axis=1)]
    if not np.isin(matrix, (0.0, 1.0)).all():
        raise ValueError("hits are 0 or 1 (NaN where a question was not measured)")
    k, rows = matrix.shape[1], matrix.sum(axis=1)
    below = k * rows.sum() - float(np.sum(rows**2))
    if below <= 0:
        return math.nan, math.nan
    columns = matrix.sum(axis=0)
    q = (k - 1) * (k * float(np.sum(columns**2)) - rows.sum() ** 2) / below
    return float(q), float(chdtrc(k - 1, q))
