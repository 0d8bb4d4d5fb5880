"""What a judge is worth in numbers: does it answer, does it repeat itself, does it agree with people, is it calibrated.

Scores are shares of the metric's scale (0 to 1) wherever they meet people's; on their own they stay as given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale
from ragbench.measurement import NamedEstimate
from ragbench.metrics import judging
from ragbench.types import Array, Estimate, Status

OUTCOMES: dict[str, tuple[Status, ...]] = {
    "valid": (Status.OK,),
    "unparseable": (Status.PARSE_ERROR, Status.VERDICT_MISMATCH),
    "refused": (Status.REFUSED,),
    "truncated": (Status.TRUNCATED,),
    "failed": (Status.JUDGE_ERROR, Status.TIMEOUT),
}
OF_SCORES = ("spearman", "pearson", "kendall", "icc", "krippendorff_alpha", "bias")
OF_DECISIONS = ("accuracy", "balanced_accuracy", "cohen_kappa", "gwet_ac1")
BINS = 10
FEWEST_PAIRS = 3
"""Pairs of a rating and a score below which no agreement is computed."""
FINEST = 1.959963984540054 * math.sqrt(2)
"""Two single scores of one judge differ by more than this many within-item deviations one time in twenty."""

Numbers = dict[str, Estimate]


def placed(judge: str, found: Mapping[str, Estimate], **where: str | float) -> list[NamedEstimate]:
    """Numbers of a judge at their place."""
    return [NamedEstimate(judge, name, estimate, where) for name, estimate in found.items()]


def share(
    values: ArrayLike, clusters: Sequence[str] | None, sure: Sureness, of: NDArray[np.bool_] | None = None
) -> Estimate:
    """The mean of shares, over the items `of` alone where they are told: what is not among them was not asked for, and
    so is not unmeasured."""
    given = np.asarray(values)
    if of is not None:
        given, clusters = given[of], kept(clusters, of)
    return stats.estimate(given, clusters=clusters, bounds=(0.0, 1.0), **asdict(sure))


def kept(labels: Sequence[str] | None, inside: NDArray[np.bool_]) -> list[str] | None:
    """The labels of the items inside."""
    return None if labels is None else [label for label, keep in zip(labels, inside, strict=True) if keep]


def specified(one: Heard, clusters: Sequence[str], delta: float, sure: Sureness) -> Numbers:
    """consistency_score, error_rate and avg_latency_ms with their intervals over answers."""
    sitting = one.answers
    failed = np.isnan(sitting.scores) & sitting.asked
    found = {
        "consistency_score": share(judging.pairs_within(sitting.scores, delta), clusters, sure),
        "error_rate": share(_of_asked(failed, sitting.asked), clusters, sure),
    }
    if sitting.seconds is not None and not np.isnan(sitting.seconds).all():
        times = judging.item_latencies(sitting.seconds)
        found["avg_latency_ms"] = stats.estimate(times, clusters=clusters, **asdict(sure))
    return found


def _of_asked(hit: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Array:
    """(answers,) share of the questions to the judge that ended so; NaN where it was not asked."""
    counts = asked.sum(axis=1)
    return np.where(counts > 0, hit.sum(axis=1) / np.maximum(counts, 1), np.nan)


def outcomes(one: Heard) -> dict[str, NDArray[np.bool_]]:
    """(answers, repeats) which of the questions to the judge ended so, by outcome."""
    return {
        outcome: np.isin(one.statuses, [status.value for status in statuses]) & one.answers.asked
        for outcome, statuses in OUTCOMES.items()
    }


def coverage(one: Heard, clusters: Sequence[str], sure: Sureness) -> Numbers:
    """The share of the questions to the judge that ended so, by outcome."""
    return {name: share(_of_asked(hit, one.answers.asked), clusters, sure) for name, hit in outcomes(one).items()}


def repeatability(one: Heard, clusters: Sequence[str], scale: Scale, good: float, sure: Sureness) -> Numbers:
    """Agreement of a judge with itself over its repeats; nothing of a single repeat, which measures nothing.

    flip_rate: share of the pairs of repeats that call an answer good once and not good once.
    """
    scores = one.answers.scores
    if scores.shape[1] < 2:
        return {}
    options: dict[str, Any] = {"clusters": clusters, **asdict(sure)}
    return {
        "exact_agreement": share(judging.pairs_within(scores, 0.0), clusters, sure),
        "flip_rate": share(flips(scores, scale, good), clusters, sure),
        "krippendorff_alpha": stats.krippendorff_alpha(scores, scale="interval", **options),
        "icc": stats.icc(scores, **options),
        "within_item_deviation": within(scores, 1.0, options),
        "smallest_difference": within(scores, FINEST, options),
    }


def within(scores: Array, times: float, options: dict[str, Any]) -> Estimate:
    """`times` the standard deviation of a judge's scores of one and the same answer."""
    counts = (~np.isnan(scores)).sum(axis=1)
    means = np.nansum(scores, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((scores - means[:, None]) ** 2, axis=1)
    sums = np.column_stack([squares, counts - 1.0])
    sums[counts < 2] = np.nan
    return stats.resample(lambda totals: times * np.sqrt(totals[..., 0] / totals[..., 1]), sums, **options)


def flips(scores: Array, scale: Scale, good: float) -> Array:
    """(items,) share of the pairs of repeats on both sides of `good`; NaN with fewer than two scores."""
    return 1 - judging.pairs_within(called_good(scale.share(scores), good), 0.0)


def called_good(shares: Array, good: float) -> Array:
    """1 where a score is good, 0 where it is not, NaN where there is none."""
    return np.where(np.isnan(shares), np.nan, shares >= good - 1e-9)


def single(one: Heard, scale: Scale) -> Array:
    """(items,) the judge's first scores as shares of the scale."""
    return scale.share(one.answers.scores[:, 0]) if one.answers.scores.size else np.zeros(0)


def agreement(given: Array, answers: Answers, good: float, sure: Sureness) -> dict[str, Numbers]:
    """A judge with each "person", and with people's "mean".

    All pairs of raters are laid below each other and drawn by clusters, so that the judge meets the same measure
    with which people meet each other: their agreement is the ceiling. What people rated and the judge gave no score
    for is unmeasured.
    """
    found = {}
    for against, ratings in (("person", list(answers.people.T)), ("mean", [answers.mean_people])):
        numbers = _compared([(each, given) for each in ratings], answers.clusters, good, sure)
        missing = sum(int((~np.isnan(each) & np.isnan(given)).sum()) for each in ratings)
        found[against] = {name: replace(one, n_unmeasured=missing) for name, one in numbers.items()}
    return found


def ceiling(answers: Answers, good: float, sure: Sureness) -> Numbers:
    """People among themselves; nothing of a single rater. Krippendorff's α is that of all raters at once."""
    found = _compared(list(permutations(answers.people.T, 2)), answers.clusters, good, sure)
    if found:
        del found["bias"]
        options: dict[str, Any] = {"clusters": list(answers.clusters), **asdict(sure)}
        found["krippendorff_alpha"] = stats.krippendorff_alpha(answers.people, scale="interval", **options)
    return found


def _compared(pairs: Sequence[tuple[Array, ...]], labels: Sequence[str], good: float, sure: Sureness) -> Numbers:
    if not pairs:
        return {}
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < FEWEST_PAIRS:
        return {}
    a, b = np.round(a[both], 9), np.round(b[both], 9)
    options: dict[str, Any] = {"clusters": kept([*labels] * len(pairs), both), **asdict(sure)}
    numbers = stats.agreement(a, b, scale="interval", **options)
    words = stats.agreement((a >= good - 1e-9).tolist(), (b >= good - 1e-9).tolist(), **options)
    return {name: numbers[name] for name in OF_SCORES} | {name: words[name] for name in OF_DECISIONS}


def calibration(
    given: Array, answers: Answers, good: float, sure: Sureness
) -> tuple[Numbers, dict[int, tuple[float, Estimate]]]:
    """Sensitivity, specificity, expected calibration error and Brier score; and by bin of the reliability figure the
    mean score and the share of good answers.

    The truth is whether people's mean is good; the score, as a share of its scale, is read as the probability of it.
    """
    mean, whole = answers.mean_people, list(answers.clusters)
    known = ~(np.isnan(mean) | np.isnan(given))
    if not known.any():
        return {}, {}
    rated, is_good, said = ~np.isnan(mean), mean >= good - 1e-9, called_good(given, good)
    truth, score, labels = is_good[known].astype(np.float64), given[known], kept(whole, known)
    place = np.minimum((score * BINS + 1e-9).astype(int), BINS - 1)
    error = expected_calibration_error(score, truth, place, {"clusters": labels, **asdict(sure)})
    found = {
        "sensitivity": share(said, whole, sure, rated & is_good),
        "specificity": share(1 - said, whole, sure, rated & ~is_good),
        "expected_calibration_error": replace(error, n_unmeasured=int((rated & ~known).sum())),
        "brier": share((given - is_good) ** 2, whole, sure, rated),
    }
    bins = {
        number: (float(score[place == number].mean()), share(truth, labels, sure, place == number))
        for number in sorted(set(place.tolist()))
    }
    return found, bins


def expected_calibration_error(score: Array, truth: Array, place: Any, options: dict[str, Any]) -> Estimate:
    """Σ over bins of |Σ score − Σ truth| / n (Naeini, Cooper, Hauskrecht 2015, with ten bins of equal width)."""
    columns = np.zeros((len(score), BINS + 1))
    columns[:, BINS] = 1.0
    columns[np.arange(len(score)), place] = score - truth

    def error(totals: Array) -> Array:
        return np.asarray(np.abs(totals[..., :BINS]).sum(axis=-1) / totals[..., BINS])

    return stats.resample(error, columns, method="percentile", **options)
