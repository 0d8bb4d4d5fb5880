"""Populations whose means are known exactly: what questions, judges and clocks give, and how questions go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats as distributions
from scipy.special import ndtr

from ragbench.old.core.types import Array

Codes = NDArray[np.int64]
GRID = 100_000
_middles = (np.arange(GRID) + 0.5) / GRID


@dataclass(frozen=True, eq=False)
class Population:
    """As many equally likely values in ascending order, and the ends of their scale."""

    values: Array
    bounds: tuple[float, float] | None = None

    @property
    def mean(self) -> float:
        """Of the population itself, not of a sample."""
        return float(self.values.mean())

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """n independent values."""
        return self.values[rng.integers(0, len(self.values), n)]

    def at(self, latent: Array) -> Array:
        """The values at the places of standard normal numbers, so that what goes together there does here."""
        return self.values[(ndtr(latent) * len(self.values)).astype(np.int64).clip(0, len(self.values) - 1)]


def discrete(values: Sequence[float], chances: Sequence[float]) -> Population:
    """A few values on [0, 1], each with its chance: heavy ties."""
    edges = np.cumsum(chances)
    places = np.searchsorted(edges, _middles, side="right").clip(0, len(values) - 1)
    return Population(np.asarray(values)[places], (0.0, 1.0))


def flag(share: float) -> Population:
    """A hit or a miss."""
    return discrete([0.0, 1.0], [1 - share, share])


def reciprocal_rank(first: float) -> Population:
    """1 / rank of the first relevant document in the top 10, with a geometric rank."""
    chances = [first * (1 - first) ** k for k in range(10)]
    return discrete([0.0, *(1 / k for k in range(10, 0, -1))], [1 - sum(chances), *chances[::-1]])


def graded(*chances: float) -> Population:
    """Grades from worst to best, as shares of their scale."""
    return discrete([k / (len(chances) - 1) for k in range(len(chances))], chances)


def beta(a: float, b: float) -> Population:
    """A continuous score on [0, 1], such as NDCG or a similarity."""
    return Population(distributions.beta.ppf(_middles, a, b), (0.0, 1.0))


def latency(sigma: float, mean: float = 1.0) -> Population:
    """Seconds: lognormal with this mean, without an upper end."""
    values = np.exp(sigma * distributions.norm.ppf(_middles))
    return Population(values * mean / values.mean())


JUDGE = discrete([0.0, 0.5, 0.75, 1.0], [0.005, 0.01, 0.02, 0.965])
"""A judge who is nearly always content: a mean of .985."""
THIRDS = graded(0.1, 0.15, 0.25, 0.5)
LIKERT, STRICT = graded(0.05, 0.1, 0.2, 0.3, 0.35), graded(0.112, 0.172, 0.25, 0.277, 0.189)


def labels_of(sizes: Sequence[int] | NDArray[np.int64]) -> Codes:
    """(questions,) the cluster of each, for clusters of these sizes."""
    return np.repeat(np.arange(len(sizes)), sizes)


UNEQUAL = labels_of(np.round(np.geomspace(1, 30, 20)).astype(np.int64))
"""Twenty clusters of 1 to 30 questions."""


def together(rng: np.random.Generator, codes: Codes, within: float) -> Array:
    """(questions,) standard normal numbers, correlated by `within` inside clusters."""
    shared = rng.standard_normal(int(codes[-1]) + 1)[codes]
    return np.asarray(within**0.5 * shared + (1 - within) ** 0.5 * rng.standard_normal(len(codes)))


def side_by_side(
    rng: np.random.Generator, systems: Sequence[Population], codes: Codes, alike: float = 0.5, within: float = 0.0
) -> list[Array]:
    """Values of systems on the same questions.

    alike: how far the systems' latent values go together, as easy and hard questions make them. within: how far
    those of one system do inside a cluster, beyond that.
    """
    shared = rng.standard_normal(len(codes))
    return [one.at(alike**0.5 * shared + (1 - alike) ** 0.5 * together(rng, codes, within)) for one in systems]


def panel(rng: np.random.Generator, one: Population, n: int, judges: int, alike: float) -> Array:
    """(n, judges) scores of the same answers, each judge's as the population says."""
    return np.column_stack(side_by_side(rng, [one] * judges, np.arange(n), alike))
