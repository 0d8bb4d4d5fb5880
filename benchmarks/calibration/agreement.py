"""Agreement that is simulated: raters who see one quality with errors of their own, and what very many would say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration import populations as known
from benchmarks.calibration.cells import Study
from benchmarks.calibration.populations import Codes
from benchmarks.calibration.studies import RESAMPLES, Rng, holds, within
from ragbench.old import stats
from ragbench.old.core.types import Array, Estimate

SKEWED = (0.02, 0.03, 0.05, 0.1, 0.8)
"""Five grades of which the best is given four times in five; and two, the better nine times in ten."""
RARE = (0.1, 0.9)
FINE = tuple([1 / 60] * 60)


def rated(
    rng: Rng, codes: Codes, inside: float = 0.0, raters: int = 3, grades: Sequence[float] = (), alike: float = 0.7
) -> Array:
    """(items, raters) grades of items that are alike inside clusters, each rater with errors of their own.

    grades: how often each is given, worst first; five nearly even ones if none. alike: how far two raters see the same.
    """
    quality = known.together(rng, codes, inside)
    seen = alike**0.5 * quality[:, None] + (1 - alike) ** 0.5 * rng.standard_normal((len(codes), raters))
    cuts = ndtri(np.cumsum(grades)[:-1]) if grades else np.linspace(-1.2, 0.9, 4)
    return np.digitize(seen, cuts).astype(float)


@cache
def of_very_many(truth: Callable[[Array], float], grades: Sequence[float], alike: float) -> float:
    """The agreement of the population, near enough; clusters do not change it."""
    return truth(rated(np.random.default_rng(1), np.arange(1_000_000), grades=grades, alike=alike))


def agreed(
    measure: Callable[..., Estimate],
    truth: Callable[[Array], float],
    codes: Codes,
    *,
    grouped: bool = False,
    grades: Sequence[float] = (),
    alike: float = 0.7,
) -> Study:
    """A measure of agreement. truth: what another library says of very many items. textbook: percentiles of items, or
    what the textbook has where there is nothing to resample. A sample in which it is not measured counts for nothing.
    """
    inside = 0.3 if grouped else 0.0

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        table = rated(rng, codes, inside, grades=grades, alike=alike)
        one = measure(table, clusters=codes if grouped else None, resamples=RESAMPLES, seed=seed)
        if np.isnan(one.value):
            return {}
        plain = measure(table, resamples=RESAMPLES, seed=seed) if grouped else one
        seen = plain.intervals.get("percentile", plain.intervals.get("bonett_wright", (np.nan, np.nan)))
        value = of_very_many(truth, grades, alike)
        return {"coverage": holds(one, value), "textbook_coverage": within(seen, value)}

    return study


def of_grades(name: str, number: int) -> Callable[..., Estimate]:
    """One of the statistics of two raters on an ordinal scale of so many grades."""
    places = list(range(number))

    def measure(table: Array, **options: Any) -> Estimate:
        sides = (table[:, place].astype(int).tolist() for place in (0, 1))
        return stats.agreement(*sides, scale="ordinal", categories=places, **options)[name]

    return measure


def balanced_of_all(table: Array) -> float:
    from sklearn.metrics import balanced_accuracy_score

    return float(balanced_accuracy_score(table[:, 0], table[:, 1]))


def weighted_of_all(table: Array) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(table[:, 0], table[:, 1], weights="quadratic"))


def plain_of_all(table: Array) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(table[:, 0], table[:, 1]))


def ac2_of_all(table: Array) -> float:
    """Gwet (2014), chapter 3, with quadratic weights."""
    number = int(table[:, :2].max()) + 1
    apart = (table[:, 0] - table[:, 1]) / (number - 1)
    shares = np.bincount(table[:, :2].astype(int).ravel(), minlength=number) / (2 * len(table))
    weights = 1 - (np.subtract.outer(np.arange(number), np.arange(number)) / (number - 1)) ** 2
    chance = weights.sum() / (number * (number - 1)) * np.sum(shares * (1 - shares))
    return float((np.mean(1 - apart**2) - chance) / (1 - chance))


def tau(table: Array, **options: Any) -> Estimate:
    return stats.agreement(table[:, 0], table[:, 1], scale="interval", **options)["kendall"]


def tau_of_all(table: Array) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(table[:, 0], table[:, 1]).statistic)


def rho(table: Array, **options: Any) -> Estimate:
    return stats.spearman(table[:, 0], table[:, 1], **options)


def rho_of_all(table: Array) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(table[:, 0], table[:, 1]).statistic)


def alpha(table: Array, **options: Any) -> Estimate:
    return stats.krippendorff_alpha(table.tolist(), scale="ordinal", **options)


def alpha_of_all(table: Array) -> float:
    import krippendorff

    return float(krippendorff.alpha(reliability_data=table.T, level_of_measurement="ordinal"))


def kappa(table: Array, **options: Any) -> Estimate:
    return stats.agreement(table[:, 0] > 2, table[:, 1] > 2, **options)["cohen_kappa"]


def kappa_of_all(table: Array) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(table[:, 0] > 2, table[:, 1] > 2))


def icc(table: Array, **options: Any) -> Estimate:
    return stats.icc(table, **options)


def icc_of_all(table: Array) -> float:
    """ICC(2,1) from the mean squares of items, raters and the rest."""
    n, k = table.shape
    rows, columns, middle = table.mean(axis=1), table.mean(axis=0), table.mean()
    items, raters = k * ((rows - middle) ** 2).sum() / (n - 1), n * ((columns - middle) ** 2).sum() / (k - 1)
    rest = ((table - rows[:, None] - columns + middle) ** 2).sum() / ((n - 1) * (k - 1))
    return float((items - rest) / (items + (k - 1) * rest + k * (raters - rest) / n))
