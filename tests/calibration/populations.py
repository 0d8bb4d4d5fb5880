"""Populations that scores of questions look like, with their true means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

SHARED = 0.6  # correlation of two systems on the same question
CLUSTER = 3  # questions of a unit in clustered studies
RANKS = np.array([0, 1 / 10, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1])
# From a uniform number, and whether the better system is meant, to a score.
Population = Callable[[np.ndarray, bool], np.ndarray]


def steps(values: np.ndarray, shares: list[float], better_shares: list[float]) -> Population:
    """A population of few values."""

    def draw(uniform: np.ndarray, is_better: bool) -> np.ndarray:
        ends = np.cumsum(better_shares if is_better else shares)[:-1]
        return values[np.searchsorted(ends, uniform)]

    return draw


def continuous(plain: stats.rv_continuous, better: stats.rv_continuous) -> Population:
    """A population by its distributions."""

    def draw(uniform: np.ndarray, is_better: bool) -> np.ndarray:
        return (better if is_better else plain).ppf(uniform)

    return draw


POPULATIONS: dict[str, Population] = {
    "binary": steps(np.array([0.0, 1.0]), [0.3, 0.7], [0.18, 0.82]),
    "rare": steps(np.array([0.0, 1.0]), [0.95, 0.05], [0.88, 0.12]),
    "ordinal": steps(np.arange(1.0, 6.0), [0.1, 0.1, 0.2, 0.3, 0.3], [0.05, 0.05, 0.15, 0.3, 0.45]),
    "mrr-like": steps(
        RANKS,
        [0.10, 0.05, 0.04, 0.05, 0.08, 0.13, 0.55],
        [0.05, 0.03, 0.03, 0.04, 0.07, 0.13, 0.65],
    ),
    "beta": continuous(stats.beta(8, 0.4), stats.beta(8, 0.2)),
    "lognormal": continuous(stats.lognorm(1), stats.lognorm(1, scale=1.4)),
}
BOUNDS = {
    "binary": (0, 1),
    "rare": (0, 1),
    "ordinal": (1, 5),
    "mrr-like": (0, 1),
    "beta": (0, 1),
    "lognormal": (0, np.inf),
}


def true_mean(name: str, is_better: bool = False) -> float:
    """The mean of a population, over a fine grid."""
    grid = (np.arange(400_000) + 0.5) / 400_000
    return float(POPULATIONS[name](grid, is_better).mean())


def draw_uniform(
    n: int, columns: int, is_clustered: bool, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """(n, columns) uniform numbers of correlated systems, and (n,) units."""
    units = np.arange(n) // CLUSTER if is_clustered else np.arange(n)
    # Half of what a question is belongs to its unit; n units if nothing is clustered.
    by_unit = generator.normal(size=(units[-1] + 1, 1 + columns))[units]
    by_question = generator.normal(size=(n, 1 + columns))
    latent = np.sqrt(0.5) * (by_unit + by_question)
    latent = np.sqrt(SHARED) * latent[:, :1] + np.sqrt(1 - SHARED) * latent[:, 1:]
    return stats.norm.cdf(latent), units
