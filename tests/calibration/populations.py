"""Populations with a known mean: what questions, judges and clocks give, and how dialogue groups it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Matrix = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Matrix]


@dataclass(frozen=True)
class Population:
    """Values drawn by `draw(rng, (values, simulations))`, with their true mean and the ends of their scale."""

    name: str
    draw: Draw
    mean: float
    bounds: tuple[float, float] | None


def discrete(name: str, values: list[float], chances: list[float]) -> Population:
    """A population with heavy ties on [0, 1]: a few values, each with its chance."""
    edges = np.cumsum(chances)
    table = np.array(values)

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        return table[np.minimum(np.searchsorted(edges, rng.random(shape), side="right"), len(table) - 1)]

    return Population(name, draw, float(np.dot(values, chances)), (0.0, 1.0))


def flag(share: float) -> Population:
    """A hit or miss."""
    return discrete(f"hit {share:g}", [0.0, 1.0], [1 - share, share])


def reciprocal_rank(first: float) -> Population:
    """1 / rank of the first relevant document in the top 10, with a geometric rank."""
    chances = [first * (1 - first) ** k for k in range(10)]
    return discrete(f"reciprocal rank {first:g}", [0.0, *(1 / k for k in range(1, 11))], [1 - sum(chances), *chances])


def beta(a: float, b: float) -> Population:
    """A continuous score on [0, 1], such as NDCG or a similarity."""
    return Population(f"score beta({a:g}, {b:g})", lambda rng, shape: rng.beta(a, b, shape), a / (a + b), (0.0, 1.0))


def latency(sigma: float) -> Population:
    """Seconds: lognormal, without an upper end."""
    return Population(
        f"latency lognormal({sigma:g})",
        lambda rng, shape: rng.lognormal(0, sigma, shape),
        float(np.exp(sigma**2 / 2)),
        None,
    )


JUDGE = discrete("judge .985", [0.0, 0.5, 0.75, 1.0], [0.005, 0.01, 0.02, 0.965])
THIRDS = discrete("recall in thirds", [0.0, 1 / 3, 2 / 3, 1.0], [0.1, 0.15, 0.25, 0.5])
LIKERT = discrete("judge of five grades", [0.0, 0.25, 0.5, 0.75, 1.0], [0.05, 0.1, 0.2, 0.3, 0.35])
STRICT = discrete("judge of five grades, strict", [0.0, 0.25, 0.5, 0.75, 1.0], [0.1, 0.15, 0.25, 0.3, 0.2])
ALONE = [
    JUDGE,
    flag(0.5),
    flag(0.8),
    flag(0.95),
    reciprocal_rank(0.3),
    reciprocal_rank(0.7),
    THIRDS,
    beta(5, 2),
    beta(0.5, 0.2),
    beta(20, 1),
    latency(0.5),
    latency(1.0),
    Population("distance normal", lambda rng, shape: rng.normal(1, 0.3, shape), 1.0, None),
]


def clustered(marginal: Population, correlation: float, sizes: NDArray[np.int64]) -> Population:
    """The same marginal values, correlated inside clusters of the given sizes through a Gaussian copula.

    correlation: of the latent normal values; 0 makes clusters empty words, 0.5 makes them matter much.
    """
    codes = np.repeat(np.arange(len(sizes)), sizes)
    known = ordered(marginal)

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        shared = rng.standard_normal((len(sizes), shape[1]))[codes]
        latent = correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.standard_normal((len(codes), shape[1]))
        return known[(ndtr(latent) * len(known)).astype(np.int64).clip(0, len(known) - 1)]

    return Population(marginal.name, draw, marginal.mean, marginal.bounds)


@functools.cache
def ordered(marginal: Population) -> Matrix:
    """A large fixed sample of the population in order: its quantile function. Its mean is the population's."""
    known = np.sort(marginal.draw(np.random.default_rng(7), (400_000, 1))[:, 0])
    return known + (marginal.mean - known.mean() if marginal.bounds is None else 0.0)


def repeated(sizes: NDArray[np.int64]) -> Population:
    """A judge asked several times about each question: every question has its own chance of a yes."""
    codes = np.repeat(np.arange(len(sizes)), sizes)

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        chance = rng.beta(2, 0.6, (len(sizes), shape[1]))[codes]
        return (rng.random((len(codes), shape[1])) < chance).astype(np.float64)

    return Population("judge asked again", draw, 2 / 2.6, (0.0, 1.0))


def panel(marginal: Population, correlation: float, judges: int = 3) -> Population:
    """The mean over judges who score the same answers: each as the marginal says, their errors alike."""
    known = ordered(marginal)

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        shared = rng.standard_normal(shape)
        total = np.zeros(shape)
        for _ in range(judges):
            latent = correlation**0.5 * shared + (1 - correlation) ** 0.5 * rng.standard_normal(shape)
            total += known[(ndtr(latent) * len(known)).astype(np.int64).clip(0, len(known) - 1)]
        return total / judges

    return Population(f"panel of {judges}, errors {correlation:g}: {marginal.name}", draw, marginal.mean, (0.0, 1.0))


def moved(up: float, down: float) -> Population:
    """Differences of two systems' hits: +1 where only the challenger hit, −1 where only the baseline did."""
    found = discrete(f"hits moved {up:g} / {down:g}", [-1.0, 0.0, 1.0], [down, 1 - up - down, up])
    return Population(found.name, found.draw, found.mean, (-1.0, 1.0))


def gap(name: str, baseline: Population, challenger: Population, same: float) -> Population:
    """Differences of two systems that agree on a share of the questions and are independent on the rest."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> Matrix:
        apart = challenger.draw(rng, shape) - baseline.draw(rng, shape)
        return np.where(rng.random(shape) < same, 0.0, apart)

    return Population(name, draw, (challenger.mean - baseline.mean) * (1 - same), None)


def skewed(name: str, draw: Draw) -> Population:
    """Differences of mean zero that are not symmetric: most questions lose a little, a few win much."""
    return Population(name, draw, 0.0, None)


DIFFERENCES = [
    moved(0.1, 0.1),
    moved(0.25, 0.25),
    moved(0.02, 0.02),
    moved(0.15, 0.05),
    moved(0.03, 0.0),
    gap("reciprocal rank, half equal", reciprocal_rank(0.3), reciprocal_rank(0.3), 0.5),
    gap("reciprocal rank better, half equal", reciprocal_rank(0.3), reciprocal_rank(0.5), 0.5),
    gap("reciprocal rank, 80 % equal", reciprocal_rank(0.7), reciprocal_rank(0.7), 0.8),
    gap("judge .985 both", JUDGE, JUDGE, 0.0),
    gap("score beta(5, 2) both", beta(5, 2), beta(5, 2), 0.0),
    skewed("skewed exponential", lambda rng, shape: rng.exponential(1, shape) - 1),
    skewed("skewed lognormal(0.5)", lambda rng, shape: rng.lognormal(0, 0.5, shape) - np.exp(0.125)),
    skewed("skewed lognormal(1)", lambda rng, shape: rng.lognormal(0, 1, shape) - np.exp(0.5)),
    Population("normal", lambda rng, shape: rng.standard_normal(shape), 0.0, None),
    Population("heavy tails t(3)", lambda rng, shape: rng.standard_t(3, shape), 0.0, None),
]

PANELS = [panel(JUDGE, 0.6), panel(LIKERT, 0.2), panel(LIKERT, 0.6)]
PANEL_DIFFERENCES = [
    gap(f"panels of 3, errors {correlation:g}, {name}", panel(LIKERT, correlation), panel(other, correlation), 0.2)
    for correlation in (0.2, 0.6)
    for name, other in (("equal", LIKERT), ("one worse", STRICT))
]
