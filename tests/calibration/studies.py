"""Whole studies: how often a family of comparisons errs, and how often what could be shown is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.bench.basics.families import Group, Sureness, compared
from ragbench.stats.power import POWER
from ragbench.types import Comparison, Verdict
from tests.calibration import populations as known
from tests.calibration.populations import Population
from tests.calibration.simulations import Cell, Outcome, differences, intervals

RESAMPLES = 500
ALL_OF_TWELVE = 4_096
"""Draws with which twelve clusters are counted out, as they are with the 10,000 of a page."""
Matrix = NDArray[np.float64]
Study = Callable[[np.random.Generator, float, int], Comparison]
"""(generator, true difference, seed) → the comparison that the study prints."""


def families(n: int, simulations: int, *, systems: int = 5) -> list[Outcome]:
    """How often any pair of equal systems is called different: max-T, and Holm over the same pairs."""
    rng = np.random.default_rng(n + systems)

    def draw() -> Matrix:
        shared = rng.normal(0, 1, (n, 1))
        return np.round(np.clip(0.5 + 0.2 * (shared + rng.normal(0, 1, (n, systems))), 0, 1), 1)

    return _family_wise(f"{systems} equal systems, all pairs", draw, simulations)


def near_clones(n: int, simulations: int, *, every: bool, groups: int | None = None) -> list[Outcome]:
    """The same for three runs that differ by little beside a noisy one of the same mean, in clusters or not."""
    rng = np.random.default_rng(n + (groups or 0))
    codes = None if groups is None else np.repeat(np.arange(groups), n // groups)

    def draw() -> Matrix:
        shared = rng.normal(size=(n, 1))
        alike, apart = (np.zeros((n, 1)) if codes is None else rng.normal(size=(groups, 1))[codes] for _ in range(2))
        own = 0 if codes is None else rng.normal(size=(groups, 3))[codes]
        clones = shared + alike + 0.1 * (rng.normal(size=(n, 3)) + own)
        return np.hstack([clones, apart + 2 * rng.normal(size=(n, 1))])

    which = "all pairs" if every else "against the first"
    return _family_wise(f"near-clones beside a noisy run, {which}", draw, simulations, every=every, codes=codes)


def _family_wise(
    population: str,
    draw: Callable[[], Matrix],
    simulations: int,
    *,
    every: bool = True,
    codes: NDArray[np.int64] | None = None,
) -> list[Outcome]:
    wrong: Counter[str] = Counter()
    n = 0
    for k in range(simulations):
        table = draw()
        n = len(table)
        columns = {str(j): column for j, column in enumerate(table.T)}
        found = stats.compare_many(columns, None if every else "0", clusters=codes, resamples=500, seed=k)
        wrong["max-T"] += min(float(one.p_adjusted or 1) for one in found) <= 0.05
        wrong["Holm"] += float(stats.holm([one.p for one in found]).min()) <= 0.05
        wrong["none"] += min(one.p for one in found) <= 0.05
    clusters = None if codes is None else int(codes.max()) + 1
    return [
        Outcome("test", population, f"family-wise, {name}", n, clusters, None, simulations, 0.05,
                wrong[name] / simulations, 0.0, np.nan, name)
        for name in ("max-T", "Holm", "none")
    ]  # fmt: skip


def redundant(n: int, simulations: int, *, copies: int = 14) -> list[Outcome]:
    """A page of near-copies of one metric, two equal systems: how often any of them is called different."""
    rng, wrong = np.random.default_rng(n), 0
    for k in range(simulations):
        found = _page_of_copies(rng, n, copies, 0.0, k)
        wrong += any(one.verdict in (Verdict.BETTER, Verdict.WORSE) for one in found)
    return [
        Outcome("test", f"{copies} near-copies of a metric", "family-wise, page", n, None, None, simulations, 0.05,
                wrong / simulations, 0.0, np.nan, "max-T")
    ]  # fmt: skip


def _page_of_copies(
    rng: np.random.Generator, n: int, copies: int, difference: float, seed: int, resamples: int = RESAMPLES
) -> list[Comparison]:
    first, second = rng.normal(size=(2, n))
    groups = {
        str(k): Group(
            {"a": first + 0.1 * rng.normal(size=n), "b": second + difference + 0.1 * rng.normal(size=n)}, "higher"
        )
        for k in range(copies)
    }
    return [one for [one] in compared(groups, None, Sureness(0.95, resamples, seed)).values()]


def power(name: str, study: Study, n: int, simulations: int, *, groups: int | None = None) -> list[Outcome]:
    """How often a study shows the smallest difference that studies of its kind name, on average, as they print it."""
    rng = np.random.default_rng(n)
    printed = [study(rng, 0.0, k).minimum_detectable for k in range(min(simulations, 1_000))]
    smallest = float(np.mean([each for each in printed if each is not None]))
    shown = sum(study(rng, smallest, k).verdict is Verdict.BETTER for k in range(simulations))
    return [
        Outcome("power", name, "smallest difference", n, groups, None, simulations, POWER, shown / simulations,
                0.0, smallest, f"{smallest:.3f}")
    ]  # fmt: skip


def asked(population: Population, *, binary: bool, simulations: int) -> list[Outcome]:
    """How often a study of as many questions as `sample_size` asks for shows the population's difference."""
    drawn = population.draw(np.random.default_rng(0), (400_000, 1))
    deviation = float(np.sqrt(np.mean(drawn**2)) if binary else drawn.std())
    n = stats.sample_size(population.mean, deviation, binary=binary)
    assert n is not None, "the population has a mean"
    rng, shown = np.random.default_rng(n), 0
    for k in range(simulations):
        moved = population.draw(rng, (n, 1))[:, 0]
        first, second = ((moved < 0).astype(float), (moved > 0).astype(float)) if binary else (np.zeros(n), moved)
        shown += stats.compare(first, second, resamples=ALL_OF_TWELVE, seed=k).verdict is Verdict.BETTER
    return [
        Outcome("power", population.name, "sample size", n, None, None, simulations, POWER, shown / simulations,
                0.0, np.nan, f"n = {n}")
    ]  # fmt: skip


def grouped(groups: int, size: int = 5) -> Study:
    """Questions of a few articles, alike within each."""
    codes = np.repeat(np.arange(groups), size)

    def study(rng: np.random.Generator, difference: float, seed: int) -> Comparison:
        moved = rng.normal(size=len(codes)) + 0.7 * rng.normal(size=groups)[codes] + difference
        return stats.compare(np.zeros(len(codes)), moved, clusters=codes, resamples=ALL_OF_TWELVE, seed=seed)

    return study


def graded(n: int) -> Study:
    """Scores on a scale, one a question."""

    def study(rng: np.random.Generator, difference: float, seed: int) -> Comparison:
        first = rng.beta(5, 2, n)
        return stats.compare(first, first + rng.normal(difference, 0.15, n), resamples=ALL_OF_TWELVE, seed=seed)

    return study


def _hits(rng: np.random.Generator, n: int, difference: float, differing: float) -> tuple[Matrix, Matrix]:
    """Two systems' hits, apart on a share of the questions, or on as many as their difference needs."""
    differing = max(differing, difference)
    moved, up = rng.random(n) < differing, rng.random(n) < (1 + difference / differing) / 2
    alike = rng.random(n) < 0.7
    return np.where(moved, ~up, alike).astype(float), np.where(moved, up, alike).astype(float)


def binary(n: int, differing: float) -> Study:
    """Hits, one a question."""

    def study(rng: np.random.Generator, difference: float, seed: int) -> Comparison:
        return stats.compare(*_hits(rng, n, difference, differing), resamples=ALL_OF_TWELVE, seed=seed)

    return study


def recall(n: int) -> Study:
    """The recall of decisions, a statistic of totals: of half of the cases, which should be shown."""

    def of(totals: Matrix) -> Matrix:
        return np.asarray(totals[..., 0] / (totals[..., 0] + totals[..., 1]))

    def study(rng: np.random.Generator, difference: float, seed: int) -> Comparison:
        due = rng.random(n) < 0.5
        tables = [np.column_stack([due & (side == 1), due & (side == 0)]) for side in _hits(rng, n, difference, 0.4)]
        return stats.compare_statistic(of, *tables, resamples=ALL_OF_TWELVE, seed=seed)

    return study


def of_all_pairs(n: int, groups: int | None = None) -> Study:
    """Four systems, all pairs: the first against the last."""
    codes = None if groups is None else np.repeat(np.arange(groups), n // groups)

    def study(rng: np.random.Generator, difference: float, seed: int) -> Comparison:
        table = rng.normal(size=(n, 4)) if codes is None else rng.normal(size=(groups or 1, 4))[codes]
        table = table + 0.5 * rng.normal(size=(n, 4)) + np.array([0, 0, 0, difference])
        columns = {str(k): table[:, k] for k in range(4)}
        found = stats.compare_many(columns, clusters=codes, resamples=RESAMPLES, seed=seed)
        return next(one for one in found if (one.baseline, one.challenger) == ("0", "3"))

    return study


def of_copies(n: int, copies: int = 14) -> Study:
    """One of a page of near-copies of one metric; with more draws, or no p is near the threshold of its family."""
    return lambda rng, difference, seed: _page_of_copies(rng, n, copies, difference, seed, ALL_OF_TWELVE)[0]


def cells() -> Iterator[Cell]:
    """All the work of this module, in the order of the table."""
    for population in known.PANELS:
        for n in (20, 50, 200):
            yield Cell(f"{population.name} {n}", intervals, {"population": population, "n": n})
    for population in known.PANEL_DIFFERENCES:
        for n in (20, 50, 200):
            yield Cell(f"{population.name} {n}", differences, {"population": population, "n": n})
    for clusters in (7, 8, 12, 20):
        yield from _few_clusters(clusters)
    for n in (20, 50, 200):
        yield Cell(f"families {n}", families, {"n": n})
    for every in (True, False):
        for n, groups in ((50, None), (40, 8)):
            options = {"n": n, "every": every, "groups": groups}
            yield Cell(f"near-clones {n} {groups} {every}", near_clones, options)
    for n in (30, 100):
        yield Cell(f"near-copies {n}", redundant, {"n": n})
    for name, study, n, groups in (
        *(("differences of few articles", grouped(groups), 5 * groups, groups) for groups in (8, 12, 20)),
        ("scores", graded(30), 30, None),
        ("hits, 30 % differ", binary(60, 0.3), 60, None),
        ("hits, 12 % differ", binary(60, 0.12), 60, None),
        ("recall of decisions", recall(200), 200, None),
        ("4 systems, all pairs", of_all_pairs(40), 40, None),
        ("4 systems, all pairs, few articles", of_all_pairs(40, 8), 40, 8),
        ("14 near-copies of a metric", of_copies(60), 60, None),
    ):  # fmt: skip
        yield Cell(f"power {name} {n}", power, {"name": name, "study": study, "n": n, "groups": groups})
    for population in (known.moved(0.15, 0.05), known.moved(0.1, 0.0), known.moved(0.4, 0.1)):
        yield Cell(f"asked {population.name}", asked, {"population": population, "binary": True})
    better = known.gap("score beta(5, 2) against beta(4, 2)", known.beta(4, 2), known.beta(5, 2), 0.0)
    yield Cell(f"asked {better.name}", asked, {"population": better, "binary": False})


def _few_clusters(clusters: int) -> Iterator[Cell]:
    sizes = np.full(clusters, 5)
    for marginal in (known.flag(0.8), known.beta(5, 2)):
        alike = known.clustered(marginal, 0.5, sizes)
        apart = Population(
            f"few clusters, two systems: {marginal.name}",
            lambda rng, shape, alike=alike: alike.draw(rng, shape) - alike.draw(rng, shape),  # type: ignore[misc]
            0.0,
            None,
        )
        options = {"population": apart, "n": 5 * clusters, "codes": np.repeat(np.arange(clusters), 5)}
        yield Cell(f"{apart.name}, {clusters}", differences, options | {"correlation": 0.5})
