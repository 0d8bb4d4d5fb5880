"""What is simulated: a cell draws samples with a known truth, asks ragbench.stats, and counts how often it is right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from tests.calibration import populations as known
from tests.calibration.populations import Population

RESAMPLES = 2_000
CHUNK = 250
"""Simulations whose values are drawn at once."""


@dataclass(frozen=True)
class Outcome:
    """One row of the table: how often `method` was right (coverage) or rejected a true hypothesis (error)."""

    part: str
    population: str
    method: str
    n: int
    clusters: int | None
    correlation: float | None
    simulations: int
    nominal: float
    observed: float
    bias: float
    width: float
    printed: str


@dataclass(frozen=True)
class Cell:
    """A unit of work for one process."""

    name: str
    run: Callable[..., list[Outcome]]
    options: dict[str, Any]

    def __call__(self, simulations: int) -> list[Outcome]:
        return self.run(simulations=simulations, **self.options)


def sizes_of(clusters: int, shape: str) -> NDArray[np.int64]:
    """Sizes of clusters: all five, or from one to twelve."""
    if shape == "equal":
        return np.full(clusters, 5)
    return np.array([1, 2, 3, 4, 6, 8, 12])[np.arange(clusters) % 7]


def intervals(
    population: Population,
    n: int,
    simulations: int,
    *,
    part: str = "interval",
    codes: NDArray[np.int64] | None = None,
    correlation: float | None = None,
    ignore: bool = False,
) -> list[Outcome]:
    """Coverage of the default interval of a mean, and of every kind beside it."""
    rng = np.random.default_rng(n * 7919 + 11)
    right: Counter[str] = Counter()
    width: Counter[str] = Counter()
    printed: Counter[str] = Counter()
    error, done = 0.0, 0
    while done < simulations:
        values = population.draw(rng, (n, CHUNK))
        for k, column in enumerate(values.T):
            one = stats.estimate(
                column,
                clusters=None if ignore else codes,
                bounds=population.bounds,
                resamples=RESAMPLES,
                seed=done + k,  # its own: resamples of one seed err to the same side in all simulations
            )
            printed[one.method] += 1
            error += one.value - population.mean
            every = dict(one.intervals)
            if one.low is not None and one.high is not None:
                every["default"] = (one.low, one.high)
            for name, (low, high) in every.items():
                right[name] += low - 1e-12 <= population.mean <= high + 1e-12
                width[name] += high - low
        done += CHUNK
    clusters = None if codes is None else int(codes.max()) + 1
    flags = holds_flags(population)
    kinds = ["default"] if ignore else sorted(kind for kind in right if flags or kind != "clopper_pearson")
    label = "default, clusters ignored" if ignore else ""
    return [
        Outcome(
            part, population.name, label or kind, n, clusters, correlation, done, 0.95, right[kind] / done,
            error / done, width[kind] / done, _shares(printed, done) if kind == "default" else "",
        )
        for kind in kinds
    ]  # fmt: skip


def holds_flags(population: Population) -> bool:
    """Whether all values of the population are ends of its scale, so that Clopper and Pearson's interval exists."""
    values = population.draw(np.random.default_rng(0), (2_000, 1))
    return population.bounds is not None and bool(np.isin(values, population.bounds).all())


def differences(
    population: Population,
    n: int,
    simulations: int,
    *,
    codes: NDArray[np.int64] | None = None,
    correlation: float | None = None,
    ignore: bool = False,
) -> list[Outcome]:
    """Coverage of the interval of a paired difference, and how often its test rejects where nothing differs."""
    rng = np.random.default_rng(n * 104729 + 13)
    right: Counter[str] = Counter()
    printed: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    error, rejected, equal, done = 0.0, 0, 0, 0
    while done < simulations:
        values = population.draw(rng, (n, CHUNK))
        first, second = _halves(values)
        for k in range(CHUNK):
            one = stats.compare(
                first[:, k],
                second[:, k],
                clusters=None if ignore else codes,
                margin=abs(population.mean) or None,
                resamples=RESAMPLES,
                seed=done + k,  # its own, as with intervals
            )
            printed[one.method] += 1
            tests[one.test] += 1
            error += one.difference - population.mean
            rejected += one.p <= 0.05
            equal += one.p_equivalence is not None and one.p_equivalence <= 0.05
            for name, (low, high) in {**one.intervals, "alone": (one.low, one.high)}.items():
                name = "default" if name == "alone" else name
                right[name] += low - 1e-12 <= population.mean <= high + 1e-12
        done += CHUNK
    clusters = None if codes is None else int(codes.max()) + 1
    suffix = ", clusters ignored" if ignore else ""
    common = (n, clusters, correlation, done)
    rows = [
        Outcome("difference", population.name, kind + suffix, *common, 0.95, right[kind] / done, error / done, np.nan,
                _shares(printed, done) if kind == "default" else "")
        for kind in (["default"] if ignore else sorted(right))
    ]  # fmt: skip
    share = _shares(tests, done)
    if population.mean == 0:
        rows.append(
            Outcome("test", population.name, "compare" + suffix, *common, 0.05, rejected / done, 0.0, np.nan, share)
        )
    else:
        rows.append(
            Outcome("test", population.name + ", margin at the truth", "equivalence", *common, 0.05, equal / done, 0.0,
                    np.nan, "TOST")
        )  # fmt: skip
    return rows


def _halves(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two systems whose difference is `values`: hits for −1, 0 and 1, else against zero."""
    if np.isin(values, (-1.0, 0.0, 1.0)).all():
        return (values < 0).astype(np.float64), (values > 0).astype(np.float64)
    return np.zeros_like(values), values


def rank_tests(n: int, simulations: int) -> list[Outcome]:
    """Wilcoxon and sign tests of skewed differences with mean zero: why they are not used."""
    rng = np.random.default_rng(n)
    rejected: Counter[str] = Counter()
    for _ in range(simulations):
        values = rng.exponential(1, n) - 1
        for test in ("wilcoxon", "sign"):
            rejected[test] += stats.rank_test_p(values, test) <= 0.05
    return [
        Outcome("test", "skewed exponential", f"{test} (by option)", n, None, None, simulations, 0.05,
                rejected[test] / simulations, 0.0, np.nan, test)
        for test in ("wilcoxon", "sign")
    ]  # fmt: skip


def powered(labels: int, correlation: float, simulations: int) -> list[Outcome]:
    """Prediction-powered means of a judge of the given correlation: coverage, bias, and width against labels alone."""
    rng = np.random.default_rng(labels)
    right: Counter[str] = Counter()
    width: Counter[str] = Counter()
    printed: Counter[str] = Counter()
    error, rest = 0.0, 500
    for k in range(simulations):
        truth = rng.normal(0.7, 0.2, labels + rest)
        judge = 0.1 + correlation * truth + (1 - correlation**2) ** 0.5 * rng.normal(0, 0.2, labels + rest)
        one = stats.prediction_powered(truth[:labels], judge[:labels], judge[labels:], seed=k)
        printed[one.method] += 1
        error += one.value - 0.7
        for name, (low, high) in {**one.intervals, "default": (one.low or 0.0, one.high or 0.0)}.items():
            if name != "prediction_powered":
                right[name] += low <= 0.7 <= high
                width[name] += high - low
    return [
        Outcome("prediction-powered", f"judge, correlation {correlation:g}", name, labels, None, correlation,
                simulations, 0.95, right[name] / simulations, error / simulations if name == "default" else np.nan,
                width[name] / simulations, _shares(printed, simulations) if name == "default" else "")
        for name in ("default", "people", "judge")
    ]  # fmt: skip


def kappas(n: int, simulations: int) -> list[Outcome]:
    """Chance-corrected agreement of two raters on four ordered grades, against its value in a million items."""

    def rate(rng: np.random.Generator, number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = rng.choice(4, number, p=[0.1, 0.15, 0.25, 0.5])
        noisy = np.clip(first + rng.choice([-1, 0, 1], number, p=[0.15, 0.7, 0.15]), 0, 3)
        return first, np.where(rng.random(number) < 0.1, rng.integers(0, 4, number), noisy)

    rng = np.random.default_rng(n)
    options: dict[str, Any] = {"scale": "ordinal", "categories": [0, 1, 2, 3], "resamples": 500}
    truth = {name: one.value for name, one in stats.agreement(*rate(rng, 1_000_000), **options).items()}
    right: Counter[str] = Counter()
    printed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    error: Counter[str] = Counter()
    for k in range(simulations):
        for name, one in stats.agreement(*rate(rng, n), **options, seed=k).items():
            error[name] += one.value - truth[name]
            printed[name][one.method] += 1
            right[name] += one.low is not None and one.high is not None and one.low <= truth[name] <= one.high
    return [
        Outcome("agreement", "four grades", name, n, None, None, simulations, 0.95, right[name] / simulations,
                error[name] / simulations, np.nan, _shares(printed[name], simulations))
        for name in truth
    ]  # fmt: skip


def others(n: int, simulations: int) -> list[Outcome]:
    """Quantiles, pairwise means and F1 from totals."""
    rng = np.random.default_rng(n)
    right: Counter[str] = Counter()
    error: Counter[str] = Counter()
    truths = {
        "median": 1.0,
        "90th percentile": float(np.exp(1.2815515655446004)),
        "pairwise distance": 1.0,  # mean |x − y| of two exponential(1) values
        "F1": 2 * 0.4 / (2 * 0.4 + 0.1 + 0.15),
    }

    def f1(totals: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(2 * totals[..., 0] / (2 * totals[..., 0] + totals[..., 1] + totals[..., 2]))

    for k in range(simulations):
        seconds = rng.lognormal(0, 1, n)
        spots = np.sort(rng.exponential(1, n))
        order = np.arange(n)
        before = np.concatenate([[0.0], np.cumsum(spots)[:-1]])
        apart = (order * spots - before + (spots.sum() - before - spots) - (n - 1 - order) * spots) / (n - 1)
        cell = rng.choice(4, n, p=[0.4, 0.1, 0.15, 0.35])
        found = {
            "median": stats.quantile(seconds, 0.5),
            "90th percentile": stats.quantile(seconds, 0.9),
            "pairwise distance": stats.pairwise_mean(apart),
            "F1": stats.resample(f1, np.eye(4)[cell][:, :3], resamples=1000, seed=k),
        }
        for name, one in found.items():
            low, high = (-np.inf if one.low is None else one.low), (np.inf if one.high is None else one.high)
            right[name] += low <= truths[name] <= high
            error[name] += one.value - truths[name]
    return [
        Outcome("other", name, "default", n, None, None, simulations, 0.95, right[name] / simulations,
                error[name] / simulations, np.nan, "")
        for name in truths
    ]  # fmt: skip


def _shares(printed: Counter[str], total: int) -> str:
    return ", ".join(f"{name} {100 * count / total:.0f} %" for name, count in printed.most_common())


def cells() -> Iterator[Cell]:
    """All the work, in the order of the table."""
    for population in known.ALONE:
        for n in (20, 30, 50, 100, 300, 1000):
            yield Cell(f"{population.name} {n}", intervals, {"population": population, "n": n})
    marginals = [known.flag(0.8), known.JUDGE, known.reciprocal_rank(0.3), known.beta(5, 2), known.latency(0.5)]
    for marginal in marginals:
        for clusters in (5, 10, 15, 20, 30, 50):
            for correlation in (0.0, 0.1, 0.3, 0.5):
                for shape in ("equal", "unequal") if correlation == 0.3 else ("equal",):
                    yield from _clustered(marginal, clusters, correlation, shape)
    for questions in (20, 50, 100):
        sizes = np.full(questions, 5)
        codes = np.repeat(np.arange(questions), sizes)
        options = {"population": known.repeated(sizes), "n": len(codes), "codes": codes, "part": "repeats"}
        yield Cell(f"repeats {questions}", intervals, options)
        yield Cell(f"repeats {questions}, ignored", intervals, options | {"ignore": True})
    for population in known.DIFFERENCES:
        for n in (20, 30, 50, 100, 300, 1000):
            yield Cell(f"{population.name} {n}", differences, {"population": population, "n": n})
    for n in (50, 2000):
        yield Cell(f"rank tests {n}", rank_tests, {"n": n})
    for labels in (20, 50, 100, 200):
        for correlation in (0.0, 0.3, 0.6, 0.9):
            yield Cell(f"powered {labels} {correlation}", powered, {"labels": labels, "correlation": correlation})
    for n in (50, 200):
        yield Cell(f"kappas {n}", kappas, {"n": n})
    for n in (20, 50, 200):
        yield Cell(f"others {n}", others, {"n": n})


def _clustered(marginal: Population, clusters: int, correlation: float, shape: str) -> Iterator[Cell]:
    sizes = sizes_of(clusters, shape)
    codes = np.repeat(np.arange(clusters), sizes)
    population = known.clustered(marginal, correlation, sizes)
    unequal = "" if shape == "equal" else ", clusters of 1 to 12"
    named = Population(population.name + unequal, population.draw, population.mean, population.bounds)
    options: dict[str, Any] = {"population": named, "n": len(codes), "codes": codes, "correlation": correlation}
    name = f"{named.name}, {clusters} clusters, {correlation}"
    yield Cell(name, intervals, options | {"part": "clusters"})
    if correlation in (0.3, 0.5) and clusters in (15, 50):
        yield Cell(f"{name}, ignored", intervals, options | {"part": "clusters", "ignore": True})
    if marginal.bounds is not None:
        apart = Population(
            f"two systems: {named.name}",
            lambda rng, shape: population.draw(rng, shape) - population.draw(rng, shape),
            0.0,
            None,
        )
        yield Cell(f"difference {name}", differences, options | {"population": apart})
        if correlation == 0.3 and clusters in (15, 50):
            yield Cell(f"difference {name}, ignored", differences, options | {"population": apart, "ignore": True})
