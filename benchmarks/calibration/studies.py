"""What is simulated: a study draws a sample with a known truth, asks ragbench, and tells whether it was right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from scipy.special import ndtr

from benchmarks.calibration import populations as known
from benchmarks.calibration.cells import Study
from benchmarks.calibration.populations import LIKERT, Codes, Population, labels_of, side_by_side
from benchmarks.calibration.textbook import of_clusters, t_interval, t_p
from ragbench.old import stats
from ragbench.old.core.types import Array, Comparison, Estimate, Verdict
from ragbench.old.stats.power import POWER
from ragbench.old.tiers.basics.findings import Group, Sureness, compared

RESAMPLES = 1_999
SHOWN = (Verdict.BETTER, Verdict.WORSE)
Rng = np.random.Generator


def holds(one: Estimate | Comparison, truth: float) -> bool:
    """Whether the printed interval holds the truth; one that does not exist holds nothing."""
    return one.low is not None and one.high is not None and one.low - 1e-12 <= truth <= one.high + 1e-12


def unwarned(one: Estimate | Comparison, wrong: bool) -> bool:
    """Whether it is wrong and no sentence beside it says that it may be so more often than its level says."""
    return wrong and not one.doubt


def within(interval: tuple[float, float], truth: float) -> bool:
    return interval[0] <= truth <= interval[1]


def mean(population: Population, codes: Codes, *, grouped: bool = False, inside: float = 0.3) -> Study:
    """The mean of one system's values, alike inside clusters where they are grouped."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        values = population.at(known.together(rng, codes, inside)) if grouped else population.draw(rng, len(codes))
        clusters = codes if grouped else None
        one = stats.estimate(values, clusters=clusters, bounds=population.bounds, resamples=RESAMPLES, seed=seed)
        plain, held = t_interval(of_clusters(values, clusters)), holds(one, population.mean)
        return {
            "coverage": held,
            "unwarned": unwarned(one, not held),
            "textbook_coverage": within(plain, population.mean),
        }

    return study


def difference(
    baseline: Population,
    better: Population,
    codes: Codes,
    *,
    grouped: bool = False,
    equal: Population | None = None,
    alike: float = 0.5,
    resamples: int = RESAMPLES,
    plain: Callable[[Array], float] = t_p,
) -> Study:
    """Two systems on the same questions: equal ones, and ones that differ. equal: another population of one mean."""
    truth, clusters = better.mean - baseline.mean, codes if grouped else None
    inside = 0.3 if grouped else 0.0

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        same, other = (
            side_by_side(rng, (baseline, second), codes, alike, inside) for second in (equal or baseline, better)
        )
        none, one = (stats.compare(*pair, clusters=clusters, resamples=resamples, seed=seed) for pair in (same, other))
        beside = [of_clusters(second - first, clusters) for first, second in (same, other)]
        return {
            "coverage": within(one.alone, truth),
            "level": none.verdict in SHOWN,
            "power": one.verdict is (Verdict.BETTER if truth > 0 else Verdict.WORSE),
            "textbook_coverage": within(t_interval(beside[1]), truth),
            "textbook_level": plain(beside[0]) <= 0.05,
            "textbook_power": plain(beside[1]) <= 0.05 and beside[1].mean() * truth > 0,
        }

    return study


def same_by_margin(n: int, margin: float = 0.05) -> Study:
    """Two systems exactly as far apart as would matter: none of them may be called the same."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        first = rng.beta(5, 2, n)
        far, near = (first + rng.normal(shift, 0.15, n) for shift in (margin, 0.0))
        both = [stats.compare(first, other, margin=margin, resamples=RESAMPLES, seed=seed) for other in (far, near)]
        level, power = (one.p_equivalence is not None and one.p_equivalence <= 0.05 for one in both)
        return {"level": level, "power": power}

    return study


def panels(n: int, judges: int = 3, alike: float = 0.5) -> Study:
    """Two systems by the mean of a panel whose judges err alike."""
    worse = known.graded(0.08, 0.14, 0.24, 0.3, 0.24)

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        shared = rng.standard_normal(n)

        def score(population: Population) -> Array:
            answer = 0.5**0.5 * shared + 0.5**0.5 * rng.standard_normal(n)
            errors = alike**0.5 * answer[:, None] + (1 - alike) ** 0.5 * rng.standard_normal((n, judges))
            return np.asarray(population.at(errors).mean(axis=1))

        first, same, better = score(worse), score(worse), score(LIKERT)
        none, one = (stats.compare(first, other, resamples=RESAMPLES, seed=seed) for other in (same, better))
        return {
            "coverage": within(one.alone, LIKERT.mean - worse.mean),
            "level": none.verdict in SHOWN,
            "power": one.verdict is Verdict.BETTER,
            "textbook_coverage": within(t_interval(better - first), LIKERT.mean - worse.mean),
            "textbook_level": t_p(same - first) <= 0.05,
            "textbook_power": t_p(better - first) <= 0.05 and better.mean() > first.mean(),
        }

    return study


def f1(totals: Array) -> Array:
    """From (found, shown in vain, missed)."""
    return np.asarray(2 * totals[..., 0] / (2 * totals[..., 0] + totals[..., 1] + totals[..., 2]))


def precision(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / (totals[..., 0] + totals[..., 1]))


def recall(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / (totals[..., 0] + totals[..., 2]))


Decider = tuple[float, float]
"""Chances to show what is right and what is wrong."""


def truth_of(statistic: Callable[[Array], Array], one: Decider, share: float = 0.5) -> float:
    """The statistic in the population, where `share` of the cases are right."""
    right, wrong = one
    return float(statistic(np.array([share * right, (1 - share) * wrong, share * (1 - right)])))


def decided(rng: Rng, codes: Codes, deciders: Sequence[Decider], inside: float) -> list[Array]:
    """(cases, 3) of each decider on the same cases: found, shown in vain, missed."""
    right = rng.random(len(codes)) < 0.5
    made = []
    for of_right, of_wrong in deciders:
        shown = ndtr(known.together(rng, codes, inside)) < np.where(right, of_right, of_wrong)
        made.append(np.column_stack([right & shown, ~right & shown, right & ~shown]).astype(float))
    return made


def swapped_p(statistic: Callable[[Array], Array], first: Array, second: Array, rng: Rng) -> float:
    """Approximate randomization: p of the difference when the two sides of a case are swapped at random."""
    signs = rng.integers(0, 2, (999, len(first))).astype(float)
    apart, whole = signs @ (second - first), first.sum(axis=0)
    with np.errstate(all="ignore"):
        drawn = np.abs(statistic(second.sum(axis=0) - apart) - statistic(whole + apart))
        observed = abs(float(statistic(second.sum(axis=0)) - statistic(whole)))
    return float(((drawn >= observed - 1e-12).sum() + 1) / 1000)


def decisions(
    statistic: Callable[[Array], Array],
    baseline: Decider,
    equal: Decider,
    better: Decider,
    codes: Codes,
    *,
    grouped: bool = False,
) -> Study:
    """A measure of a whole set. equal: a decider of the same measure, who may err otherwise."""
    truth = truth_of(statistic, better) - truth_of(statistic, baseline)
    clusters = codes if grouped else None

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        first, same, other = decided(rng, codes, (baseline, equal, better), 0.3 if grouped else 0.0)
        none, one = (
            stats.compare_statistic(statistic, first, second, clusters=clusters, resamples=RESAMPLES, seed=seed)
            for second in (same, other)
        )
        return {
            "coverage": holds(one, truth),
            "level": none.verdict in SHOWN,
            "power": one.verdict is Verdict.BETTER,
            "textbook_level": swapped_p(statistic, first, same, rng) <= 0.05,
            "textbook_power": swapped_p(statistic, first, other, rng) <= 0.05 and one.difference > 0,
        }

    return study


Page = Mapping[str, Mapping[str, Array]]
"""Metric to system to values, the baseline first."""


def family(
    page: Callable[[Rng, float], Page],
    better: float,
    alike: Callable[[str, str], bool] = lambda metric, system: True,
    *,
    codes: Codes | None = None,
    primary: str = "",
) -> Study:
    """A page of metrics and challengers, its primary metric alone where one is named.

    page: its values where challengers are better by so much. alike: whether a challenger is equal to the baseline on a
    metric where that is 0; others are of no interest. The textbook corrects t tests by Holm over all that is tested.
    """
    labels = None if codes is None else [str(code) for code in codes]

    def shown(values: Page, seed: int) -> tuple[list[bool], list[bool]]:
        groups = {name: Group(systems, "higher") for name, systems in values.items()}
        found = compared(groups, labels, Sureness(0.95, RESAMPLES, seed), primary)
        names = [primary] if primary else list(values)
        ours = [one.verdict in SHOWN for name in names for one in found[name] if alike(name, one.challenger)]
        places, p = [], []
        for name in names:
            first, *others = values[name]
            for other in others:
                places.append(alike(name, other))
                p.append(t_p(of_clusters(values[name][other] - values[name][first], codes)))
        return ours, (stats.holm(p)[places] <= 0.05).tolist()

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        ours, plain = shown(page(rng, 0.0), seed)
        seen, plainly = shown(page(rng, better), seed)
        return {
            "family": any(ours),
            "power": float(np.mean(seen)),
            "textbook_family": any(plain),
            "textbook_power": float(np.mean(plainly)),
        }

    return study


def copies(n: int, challengers: int = 1, metrics: int = 14) -> Callable[[Rng, float], Page]:
    """Near-copies of one metric."""

    def page(rng: Rng, better: float) -> Page:
        own = rng.normal(size=(n, 1 + challengers))
        own[:, 1:] += better
        return {
            str(k): {f"s{j}": own[:, j] + 0.1 * rng.normal(size=n) for j in range(1 + challengers)}
            for k in range(metrics)
        }

    return page


def retrieval(n: int) -> Callable[[Rng, float], Page]:
    """Seven cut-offs of hits and as many reciprocal ranks, of a baseline and two challengers."""
    cuts = (1, 2, 3, 5, 7, 10, 20)

    def page(rng: Rng, better: float) -> Page:
        shared = rng.normal(size=(n, 1))
        ranks = np.exp(0.9 + 0.8 * shared + rng.normal(size=(n, 3)) - np.array([0, better, better])).astype(int) + 1
        of = {f"hit@{k}": ranks <= k for k in cuts} | {f"mrr@{k}": (ranks <= k) / ranks for k in cuts}
        return {name: {f"s{j}": values[:, j].astype(float) for j in range(3)} for name, values in of.items()}

    return page


def clones(n: int, codes: Codes | None = None) -> Callable[[Rng, float], Page]:
    """Three runs that differ by little beside a noisy one of the same mean."""

    def page(rng: Rng, better: float) -> Page:
        places = np.arange(n) if codes is None else codes
        base = rng.normal(size=n)
        near = {f"s{k}": base + better * (k > 0) + 0.1 * known.together(rng, places, 0.5) for k in range(3)}
        return {"m": {**near, "noisy": base + 2 * known.together(rng, places, 0.5)}}

    return page


def rivals(n: int, bad: int = 3, metrics: int = 3) -> Callable[[Rng, float], Page]:
    """A primary metric and others, a challenger, and rivals that are far worse on all of them."""

    def page(rng: Rng, better: float) -> Page:
        base = rng.normal(size=n)
        made = {}
        for k in range(metrics):
            systems = {"base": base + 0.7 * rng.normal(size=n), "s": base + better + 0.7 * rng.normal(size=n)}
            systems |= {f"bad{j}": base - 1 + 0.7 * rng.normal(size=n) for j in range(bad)}
            made["primary" if k == 0 else str(k)] = systems
        return made

    return page


def every_pair(n: int, systems: int = 5, better: float = 0.45) -> Study:
    """All pairs of equal systems on a coarse scale, and the first against a last one that is better."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        table = rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, systems))
        last = np.arange(systems) == systems - 1
        seen: dict[str, float] = {}
        for shift, quantity in ((0.0, "family"), (better, "power")):
            columns = {str(j): column for j, column in enumerate(np.round(2 * (table + shift * last)).T)}
            found = stats.compare_many(columns, resamples=RESAMPLES, seed=seed)
            plain = stats.holm([t_p(columns[one.challenger] - columns[one.baseline]) for one in found]) <= 0.05
            ours = [one.verdict in SHOWN for one in found]
            place = [(one.baseline, one.challenger) for one in found].index(("0", str(systems - 1)))
            seen[quantity] = ours[place] if shift else any(ours)
            seen[f"textbook_{quantity}"] = bool(plain[place] if shift else plain.any())
        return seen

    return study


def powered(labels: int, correlation: float, better: float = 0.09, rest: int = 500) -> Study:
    """Two systems by a judge of this correlation, some of whose scores people have checked; labels alone beside it."""

    def scores(rng: Rng, shift: float) -> tuple[Array, Array]:
        truth = rng.normal(0.7 + shift, 0.2, labels + rest)
        noise = (1 - correlation**2) ** 0.5 * rng.normal(0, 0.2, labels + rest)
        return truth, 0.1 + correlation * truth + noise

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        truth, judge = scores(rng, 0.0)
        one = stats.prediction_powered(truth[:labels], judge[:labels], judge[labels:], seed=seed)
        seen: dict[str, float] = {
            "coverage": holds(one, 0.7),
            "textbook_coverage": within(t_interval(truth[:labels]), 0.7),
        }
        for shift, quantity in ((0.0, "level"), (better, "power")):
            own, said = scores(rng, shift)
            both = stats.prediction_powered_comparison(
                (truth[:labels], own[:labels]), (judge[:labels], said[:labels]), (judge[labels:], said[labels:]),
                seed=seed,
            )  # fmt: skip
            plain = (own - truth)[:labels]
            seen[quantity] = both.verdict in (SHOWN if not shift else (Verdict.BETTER,))
            seen[f"textbook_{quantity}"] = t_p(plain) <= 0.05 and (not shift or plain.mean() > 0)
        return seen

    return study


def powered_share(labels: int, share: float, rest: int = 500) -> Study:
    """A share that people would give, by a judge who is right nine times in ten."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        truth = (rng.random(labels + rest) < share).astype(float)
        judge = np.where(rng.random(labels + rest) < 0.9, truth, 1 - truth)
        one = stats.prediction_powered(truth[:labels], judge[:labels], judge[labels:], bounds=(0.0, 1.0), seed=seed)
        return {"coverage": holds(one, share), "textbook_coverage": within(t_interval(truth[:labels]), share)}

    return study


def places(pairs: int, decided_by_place: float) -> Study:
    """How often the first place wins, over both orders of a pair: one half, but where the place decides."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        biased = rng.random(pairs) < decided_by_place
        shares = np.where(biased, rng.integers(0, 2, pairs), 0.5)
        one = stats.estimate(shares, bounds=(0.0, 1.0), resamples=RESAMPLES, seed=seed)
        shift = stats.compare(np.zeros(pairs), 2 * shares - 1, resamples=RESAMPLES, seed=seed)
        return {
            "coverage": holds(one, 0.5),
            "level": shift.verdict in SHOWN,
            "textbook_coverage": within(t_interval(shares), 0.5),
            "textbook_level": t_p(shares - 0.5) <= 0.05,
        }

    return study


def other_judges(n: int, judges: int, apart: float, better: float = 0.3) -> Study:
    """Judges, each with a liking of its own for one of two systems (`apart` its standard deviation), of whom some are
    asked: is it the judges' mean over all that there are? The textbook takes those that were asked for all."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        noise = rng.normal(0, 0.3, (n, 1)) + rng.normal(0, apart, (1, judges)) + rng.normal(0, 0.2, (n, judges))
        one, p = stats.over_judges(noise)
        _other, found = stats.over_judges(noise + better)
        return {
            "coverage": holds(one, 0.0),
            "level": p <= 0.05,
            "power": found <= 0.05,
            "textbook_coverage": within(t_interval(noise.mean(axis=1)), 0.0),
            "textbook_level": t_p(noise.mean(axis=1)) <= 0.05,
            "textbook_power": t_p(noise.mean(axis=1) + better) <= 0.05,
        }

    return study


def slow_tenth(n: int) -> Study:
    """The 90th percentile of latency."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        one = stats.quantile(rng.lognormal(0, 1, n), 0.9)
        return {"coverage": holds(one, float(np.exp(1.2815515655446004)))}

    return study


def named(make: Callable[[Rng, float, int], Comparison]) -> Study:
    """How often a study shows the smallest difference that studies of its kind name, on average, as they print it."""

    @cache
    def smallest() -> float:
        rng = np.random.default_rng(2)
        printed = [make(rng, 0.0, seed).minimum_detectable for seed in range(200)]
        return float(np.mean([each for each in printed if each is not None]))

    return lambda rng, seed: {
        "power": make(rng, smallest(), seed).verdict is Verdict.BETTER,
        "textbook_power": POWER,
    }


def scores(n: int, groups: int | None = None) -> Callable[[Rng, float, int], Comparison]:
    """Scores whose differences are normal, one a question, or five alike in each of some articles."""
    codes = None if groups is None else labels_of([n // groups] * groups)

    def make(rng: Rng, shift: float, seed: int) -> Comparison:
        moved = rng.normal(size=n) if codes is None else known.together(rng, codes, 0.3)
        return stats.compare(np.zeros(n), moved + shift, clusters=codes, resamples=RESAMPLES, seed=seed)

    return make


def hits(n: int, differing: float) -> Callable[[Rng, float, int], Comparison]:
    """Hits of two systems that are apart on this share of the questions."""

    def make(rng: Rng, shift: float, seed: int) -> Comparison:
        apart = max(differing, shift)
        moved, up = rng.random(n) < apart, rng.random(n) < (1 + shift / apart) / 2
        alike = rng.random(n) < 0.7
        first, second = (np.where(moved, side, alike).astype(float) for side in (~up, up))
        return stats.compare(first, second, resamples=RESAMPLES, seed=seed)

    return make
