"""The situations that are simulated: those that people who measure with ragbench are in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.calibration import agreement, skew, studies
from benchmarks.calibration import populations as known
from benchmarks.calibration.cells import Cell
from benchmarks.calibration.populations import LIKERT, STRICT, UNEQUAL, labels_of
from benchmarks.calibration.textbook import mcnemar_p
from ragbench.old.stats.intervals import MOST_UNITS

MORE = 9_999
"""Resamples where power is compared closely: few cost a test some of it."""
SWAPPED = "swapped sides"
T, OF_CLUSTERS, CHI, HOLM, ITEMS = "t", "t of cluster means", "McNemar's χ²", "t tests by Holm", "percentiles of items"


def cells() -> Iterator[Cell]:
    """All situations, in the order of the table."""
    yield from _means()
    yield from _hard_means()
    yield from _differences()
    yield from _hard_differences()
    yield from _sets()
    yield from _families()
    yield from _people()


def _means() -> Iterator[Cell]:
    topic = "Mean of one system"
    for name, n, population in (
        ("hit rate .95", 60, known.flag(0.95)),
        ("hit rate .80", 30, known.flag(0.8)),
        ("judge with a mean of .985", 100, known.JUDGE),
        ("judge with a mean of .985", 400, known.JUDGE),
        ("MRR", 50, known.reciprocal_rank(0.3)),
        ("recall in thirds, many ties", 30, known.THIRDS),
        ("NDCG", 157, known.beta(0.5, 0.2)),
        ("latency, lognormal", 100, known.latency(1.0)),
    ):
        yield Cell(topic, name, n, studies.mean(population, np.arange(n)), T)
    yield Cell(topic, "latency, 90th percentile", 100, studies.slow_tenth(100))
    for number in (5, 8, 12, 20):
        codes = labels_of([5] * number)
        study = studies.mean(known.flag(0.8), codes, grouped=True)
        yield Cell(topic, "hit rate .80, clusters of 5", len(codes), study, OF_CLUSTERS, number)
    for name, population in (("hit rate .80", known.flag(0.8)), ("judge with a mean of .985", known.JUDGE)):
        study = studies.mean(population, UNEQUAL, grouped=True)
        yield Cell(topic, f"{name}, clusters of 1 to 30", len(UNEQUAL), study, OF_CLUSTERS, 20)


def _hard_means() -> Iterator[Cell]:
    """Where no interval covers as it says: few values of a long tail, one cluster with half of the questions."""
    topic = "Mean of one system"
    for number in (8, 12, 20, 40):
        codes = labels_of([3 * (number - 1)] + [3] * (number - 1))
        study = studies.mean(known.flag(0.8), codes, grouped=True)
        yield Cell(topic, "hit rate .80, one cluster of half", len(codes), study, OF_CLUSTERS, number)
    for number in (8, 20, 40):
        study = skew.larger_and_worse(number)
        yield Cell(topic, "hit rate, larger clusters are hit less", round(number / 0.15), study, OF_CLUSTERS, number)
    longer = skew.open_mean(lambda rng: rng.lognormal(0, 1.5, 30) - np.exp(1.125))
    yield Cell(topic, "latency, lognormal, σ 1.5", 30, longer, T)
    for n in (MOST_UNITS, MOST_UNITS + 1):  # on both sides of where nothing is drawn any more
        drawn = skew.open_mean(lambda rng, n=n: rng.lognormal(0, 1.5, n) - np.exp(1.125))
        yield Cell(topic, "latency, lognormal, σ 1.5", n, drawn, T, weight=0.25)
    codes = labels_of([1, 2, 3] * 1_667)
    grouped = studies.mean(known.latency(1.0), codes, grouped=True)
    yield Cell(topic, "latency, clusters of 1 to 3", len(codes), grouped, OF_CLUSTERS, 5_001, 0.25)
    yield Cell(topic, "Student's t with 3 degrees of freedom", 30, skew.open_mean(skew.heavy(30)), T)


def _hard_differences() -> Iterator[Cell]:
    """Where signs are not as likely up as down although the mean is 0, or too coarse."""
    topic = "Two systems, paired"
    for n in (15, 30, 60):
        yield Cell(topic, "skewed, exponential", n, skew.shifted(skew.exponential(n), 0.0), T)
    for n in (15, 30, 60, 150):
        yield Cell(topic, "skewed, lognormal", n, skew.shifted(skew.lognormal(n), 0.0), T)
    study = skew.shifted(skew.exponential(60, 0.3), 0.0)
    yield Cell(topic, "skewed, exponential, three in ten moved", 60, study, T)
    for n in (15, 30):
        apart = 2.8 * (3 / n) ** 0.5
        yield Cell(topic, "heavy tails on both sides", n, skew.shifted(skew.heavy(n), apart), T)
    study = skew.same_of(skew.lognormal(150), 0.7)
    yield Cell(topic, "called the same, skewed, from the margin on", 150, study)
    for number in (8, 20, 40):
        for name, tied, better in (("sizes tied to the difference", 0.15, 0.0), ("sizes by chance", 0.0, 0.34)):
            study = skew.clustered(skew.sized(number, tied), better * (20 / number) ** 0.5)
            yield Cell(topic, f"clusters, {name}", round(number / 0.15), study, OF_CLUSTERS, number)
    for n in (8, 16, 24):
        study = skew.shifted(skew.decided_pairs(n), 0.0, mcnemar_p)
        yield Cell(topic, "every pair decided", n, study, CHI)
    for n, lost in ((80, 0.1), (100, 0.2), (157, 0.1), (300, 0.1)):
        yield Cell(topic, f"not worse, {lost:.0%} of the hits lost and none won", n, skew.not_worse(n, lost), T)


def _differences() -> Iterator[Cell]:
    topic = "Two systems, paired"
    study = studies.difference(STRICT, LIKERT, np.arange(30), resamples=MORE)
    yield Cell(topic, "five grades", 30, study, T, weight=2)
    for n, share in ((60, 0.75), (157, 0.725)):
        study = studies.difference(known.flag(0.6), known.flag(share), np.arange(n), plain=mcnemar_p)
        yield Cell(topic, "hits", n, study, CHI, weight=2)
    study = studies.difference(known.flag(0.86), known.flag(0.95), np.arange(100), plain=mcnemar_p)
    yield Cell(topic, "hit rate up to .95", 100, study, CHI)
    for name, n, first, second in (
        ("judge up to .985", 100, known.discrete([0, 0.5, 0.75, 1], [0.02, 0.03, 0.05, 0.9]), known.JUDGE),
        ("MRR", 50, known.reciprocal_rank(0.3), known.reciprocal_rank(0.45)),
        ("NDCG", 157, known.beta(0.5, 0.3), known.beta(0.5, 0.2)),
        ("latency, lognormal", 60, known.latency(1.0), known.latency(1.0, 1.6)),
    ):
        yield Cell(topic, name, n, studies.difference(first, second, np.arange(n)), T)
    study = studies.difference(
        known.latency(0.7), known.latency(0.7, 1.3), np.arange(60), equal=known.latency(1.0), alike=0.8
    )
    yield Cell(topic, "latency, one mean, a longer tail", 60, study, T)
    yield Cell(topic, "panels of three judges, five grades", 50, studies.panels(50), T)
    yield Cell(topic, "called the same, from the margin on", 100, studies.same_by_margin(100))
    for number in (5, 8, 12, 20):
        codes = labels_of([5] * number)
        study = studies.difference(known.beta(4, 3), known.beta(5, 2), codes, grouped=True)
        yield Cell(topic, "scores, clusters of 5", len(codes), study, OF_CLUSTERS, number)
    study = studies.difference(known.flag(0.6), known.flag(0.8), UNEQUAL, grouped=True)
    yield Cell(topic, "hits, clusters of 1 to 30", len(UNEQUAL), study, OF_CLUSTERS, 20)
    promised = "promised"
    for name, n, groups, make in (
        ("smallest difference named: scores", 30, None, studies.scores(30)),
        ("smallest difference named: hits", 60, None, studies.hits(60, 0.3)),
        ("smallest difference named: scores, clusters of 5", 60, 12, studies.scores(60, 12)),
    ):
        yield Cell(topic, name, n, studies.named(make), promised, groups, 0.5, planned=True)


def _sets() -> Iterator[Cell]:
    topic, eager, careful = "Measures of a set", (0.95, 0.45), (0.7, 0.068)
    for name, n, statistic, equal, better in (
        ("F1, equal systems", 157, studies.f1, eager, (0.95, 0.25)),
        ("F1, precision for recall", 157, studies.f1, careful, (0.95, 0.25)),
        ("precision, recall for it", 157, studies.precision, (0.57, 0.27), (0.95, 0.25)),
        ("recall, precision for it", 157, studies.recall, (0.95, 0.1), (0.99, 0.45)),
    ):
        study = studies.decisions(statistic, eager, equal, better, np.arange(n))
        yield Cell(topic, name, n, study, SWAPPED, weight=3)
    codes = labels_of([8] * 20)
    study = studies.decisions(studies.f1, eager, careful, (0.95, 0.25), codes, grouped=True)
    yield Cell(topic, "F1, precision for recall, clusters of 8", len(codes), study, SWAPPED, 20)


def _families() -> Iterator[Cell]:
    topic, dear = "Families", 0.4
    study = studies.family(studies.copies(60), 0.5)
    yield Cell(topic, "14 near-copies of a metric", 60, study, HOLM, weight=dear)
    study = studies.family(studies.retrieval(100), 0.4)
    yield Cell(topic, "14 retrieval metrics, two challengers", 100, study, HOLM, weight=dear)
    study = studies.family(studies.clones(50), 0.05, lambda metric, system: system != "noisy")
    yield Cell(topic, "near-clones beside a noisy run", 50, study, HOLM)
    codes = labels_of([5] * 12)
    study = studies.family(studies.clones(60, codes), 0.06, lambda metric, system: system != "noisy", codes=codes)
    yield Cell(topic, "near-clones beside a noisy run, clusters of 5", 60, study, HOLM, 12)
    study = studies.family(studies.rivals(60), 0.4, lambda metric, system: system == "s", primary="primary")
    yield Cell(topic, "primary metric beside others and three bad rivals", 60, study, HOLM, weight=dear)
    for number in (3, 6, 12):
        study = skew.skewed_family(30, number)
        yield Cell(topic, f"skewed, exponential, {number} challengers", 30, study, HOLM)
    yield Cell(topic, "five systems, all pairs", 50, studies.every_pair(50), HOLM, weight=0.5)


def _people() -> Iterator[Cell]:
    topic = "Judges and people"
    for correlation in (0.3, 0.8):
        study = studies.powered(50, correlation)
        yield Cell(topic, f"50 labels, a judge with correlation {correlation:g}", 50, study, "t of labels")
    yield Cell(topic, "50 labels, a share of .93", 50, studies.powered_share(50, 0.93), "t of labels")
    yield Cell(topic, "first place wins, the place decides in 20 %", 40, studies.places(40, 0.2), T)
    yield Cell(topic, "first place wins, the place decides always", 40, studies.places(40, 1.0), T)
    each = np.arange(50)
    yield Cell(
        topic, "Cohen's κ", 50, agreement.agreed(agreement.kappa, agreement.kappa_of_all, each), ITEMS, weight=0.5
    )
    yield Cell(topic, "ICC, three raters", 50, agreement.agreed(agreement.icc, agreement.icc_of_all, each), ITEMS)
    for number in (None, 8, 12, 20):
        codes = each if number is None else labels_of([5] * number)
        study = agreement.agreed(agreement.alpha, agreement.alpha_of_all, codes, grouped=number is not None)
        said = "Krippendorff's α, three raters" + ("" if number is None else ", clusters of 5")
        yield Cell(topic, said, len(codes), study, ITEMS, number)
    yield from _near_the_ends(topic)
    for number in (3, 5):
        study = studies.other_judges(50, number, 0.15)
        yield Cell(topic, f"{number} judges of many, who differ by .15 on the systems", 50, study, T, weight=2)


def _near_the_ends(topic: str) -> Iterator[Cell]:
    """Two raters who nearly always give the best grade, and ranks in few large clusters."""
    of, rare, skewed = agreement.of_grades, agreement.RARE, agreement.SKEWED
    for n in (20, 50):
        study = agreement.agreed(of("cohen_kappa", 2), agreement.plain_of_all, np.arange(n), grades=rare, alike=0.9)
        yield Cell(topic, "Cohen's κ, nine in ten are good", n, study, ITEMS, weight=0.5)
    codes = labels_of([5] * 12)
    study = agreement.agreed(of("cohen_kappa", 2), agreement.plain_of_all, codes, grouped=True, grades=rare, alike=0.9)
    yield Cell(topic, "Cohen's κ, nine in ten are good, clusters of 5", len(codes), study, ITEMS, 12, weight=0.5)
    for said, name, truth in (
        ("weighted κ", "cohen_kappa_quadratic", agreement.weighted_of_all),
        ("Gwet's AC2", "gwet_ac2", agreement.ac2_of_all),
        ("balanced accuracy", "balanced_accuracy", agreement.balanced_of_all),
    ):
        for n in (20, 50):
            study = agreement.agreed(of(name, 5), truth, np.arange(n), grades=skewed, alike=0.95)
            yield Cell(topic, f"{said}, four in five of five grades the best", n, study, ITEMS, weight=0.5)
    codes = labels_of([26] * 10)
    for said, measure, truth in (
        ("Spearman's ρ", agreement.rho, agreement.rho_of_all),
        ("Kendall's τ-b", agreement.tau, agreement.tau_of_all),
    ):
        study = agreement.agreed(measure, truth, codes, grouped=True, grades=agreement.FINE, alike=0.5)
        yield Cell(topic, f"{said}, clusters of 26", len(codes), study, "Bonett and Wright of items", 10, weight=0.25)
