"""What is simulated: a study draws a sample with a known truth, asks ragbench, and tells whether it was right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from ragbench import stats
from ragbench.bench.basics.families import Group, Sureness, compared
from ragbench.stats.power import POWER
from ragbench.types import Array, Comparison, Estimate, Verdict
from tests.calibration import populations as known
from tests.calibration.cells import Study
from tests.calibration.populations import LIKERT, Codes, Population, labels_of, side_by_side
from tests.calibration.textbook import of_clusters, t_interval, t_p

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


Draw = Callable[[Rng], Array]
"""Differences whose mean is known to be 0."""


def shifted(draw: Draw, better: float, plain: Callable[[Array], float] = t_p) -> Study:
    """Differences of a known shape: of mean 0, and moved by so much, up and down by turns."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        none, moved = draw(rng), draw(rng) + (better if seed % 2 else -better)
        asked = (none, moved) if better else (none,)
        shown = [stats.compare(np.zeros(len(one)), one, resamples=RESAMPLES, seed=seed) for one in asked]
        right = Verdict.BETTER if seed % 2 else Verdict.WORSE
        seen: dict[str, float] = {
            "coverage": within(shown[0].alone, 0.0),
            "level": shown[0].verdict in SHOWN,
            "unwarned": unwarned(shown[0], shown[0].verdict in SHOWN),
            "textbook_coverage": within(t_interval(none), 0.0),
            "textbook_level": plain(none) <= 0.05,
        }
        if better:
            seen |= {
                "power": shown[1].verdict is right,
                "textbook_power": plain(moved) <= 0.05 and moved.mean() * (seed % 2 - 0.5) > 0,
            }
        return seen

    return study


def exponential(n: int, moved: float = 1.0) -> Draw:
    """Exponential differences of a share of the questions, less their mean; the others are 0."""
    return lambda rng: np.where(rng.random(n) < moved, rng.exponential(size=n) - 1, 0.0)


def lognormal(n: int, moved: float = 1.0) -> Draw:
    """Lognormal ones likewise."""
    return lambda rng: np.where(rng.random(n) < moved, rng.lognormal(size=n) - np.exp(0.5), 0.0)


def heavy(n: int) -> Draw:
    """Student's t with three degrees of freedom: heavy tails on both sides."""
    return lambda rng: rng.standard_t(3, n)


def decided_pairs(n: int) -> Draw:
    """Pairs that are all won or lost, each as likely."""
    return lambda rng: rng.choice([-1.0, 1.0], n)


def skewed_family(n: int, challengers: int) -> Study:
    """Challengers whose differences from the baseline are exponential, less their mean."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        systems = {"0": np.zeros(n)} | {str(k + 1): rng.exponential(size=n) - 1 for k in range(challengers)}
        found = stats.compare_many(systems, "0", resamples=RESAMPLES, seed=seed)
        plain = stats.holm([t_p(systems[one.challenger]) for one in found]) <= 0.05
        return {
            "family": any(one.verdict in SHOWN for one in found),
            "unwarned": any(unwarned(one, one.verdict in SHOWN) for one in found),
            "textbook_family": bool(plain.any()),
        }

    return study


def same_of(draw: Draw, margin: float) -> Study:
    """Differences with a tail to that side where they are on average exactly as large as would matter: none may be
    called the same."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        far = draw(rng) + margin
        one = stats.compare(np.zeros(len(far)), far, margin=margin, resamples=RESAMPLES, seed=seed)
        same = one.p_equivalence is not None and one.p_equivalence <= 0.05
        return {"level": same, "unwarned": unwarned(one, same)}

    return study


def sized(number: int, tied: float) -> Callable[[Rng, float], tuple[Array, Codes]]:
    """Clusters of geometric sizes whose difference goes with the size by `tied` standard deviations; the mean over all
    questions is 0, and moved by what is given."""
    share = 0.15
    middle, spread = (2 - share) / share, (1 - share) ** 0.5 / share

    def draw(rng: Rng, better: float) -> tuple[Array, Codes]:
        sizes = rng.geometric(share, number)
        own = tied * (sizes - middle) / spread + 0.3 * rng.standard_normal(number)
        codes = labels_of(sizes)
        return own[codes] + 0.7 * rng.standard_normal(len(codes)) + better, codes

    return draw


def clustered(draw: Callable[[Rng, float], tuple[Array, Codes]], better: float) -> Study:
    """Two systems on clusters that are drawn anew: of mean 0, and apart by so much."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        seen: dict[str, float] = {}
        for shift in (0.0, better) if better else (0.0,):
            moved, codes = draw(rng, shift)
            one = stats.compare(np.zeros(len(moved)), moved, clusters=codes, resamples=RESAMPLES, seed=seed)
            plain = of_clusters(moved, codes)
            if shift:
                shown = t_p(plain) <= 0.05 and plain.mean() > 0
                seen |= {"power": one.verdict is Verdict.BETTER, "textbook_power": shown}
            else:
                shown = one.verdict in SHOWN
                seen |= {"coverage": within(one.alone, 0.0), "level": shown, "unwarned": unwarned(one, shown)}
                seen |= {"textbook_level": t_p(plain) <= 0.05, "textbook_coverage": within(t_interval(plain), 0.0)}
        return seen

    return study


def open_mean(draw: Draw) -> Study:
    """The mean of values on an open scale, whose true one is 0."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        values = draw(rng)
        one = stats.estimate(values, resamples=RESAMPLES, seed=seed)
        held = holds(one, 0.0)
        return {
            "coverage": held, "unwarned": unwarned(one, not held), "textbook_coverage": within(t_interval(values), 0.0),
        }  # fmt: skip

    return study


def larger_and_worse(number: int) -> Study:
    """The hit rate over clusters of geometric sizes, of which the larger ones are hit less often."""
    share, off = 0.15, np.array([-0.4, 0.0, 0.4])

    def chances(sizes: Array) -> Array:
        middle, spread = (1 / share), (1 - share) ** 0.5 / share
        return np.asarray(ndtr(0.84 - 0.3 * (sizes[:, None] - middle) / spread + off))

    sizes = np.arange(1, 400)
    weights = sizes * (1 - share) ** (sizes - 1)
    truth = float((weights * chances(sizes.astype(float)).mean(axis=1)).sum() / weights.sum())

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        drawn = rng.geometric(share, number)
        own = chances(drawn.astype(float))[np.arange(number), rng.integers(0, len(off), number)]
        codes = labels_of(drawn)
        values = (rng.random(len(codes)) < own[codes]).astype(float)
        one = stats.estimate(values, clusters=codes, bounds=(0.0, 1.0), resamples=RESAMPLES, seed=seed)
        held, plain = holds(one, truth), t_interval(of_clusters(values, codes))
        return {"coverage": held, "unwarned": unwarned(one, not held), "textbook_coverage": within(plain, truth)}

    return study


def not_worse(n: int, lost: float) -> Study:
    """Hits of a system that loses this share of them and wins none: how often it is not worse by more than that, which
    may be in half of what the level of the interval leaves."""

    def study(rng: Rng, seed: int) -> Mapping[str, float]:
        first = (rng.random(n) < 0.9).astype(float)
        second = np.where(rng.random(n) < lost / 0.9, 0.0, first)
        one = stats.compare(first, second, resamples=RESAMPLES, seed=seed)
        return {"level": one.low > -lost, "textbook_level": t_interval(second - first)[0] > -lost}

    return study
