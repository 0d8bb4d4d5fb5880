"""What a judge is worth in numbers: does it answer, does it repeat itself, does it agree with people, is it calibrated.

Scores are shares of the metric's scale (0 to 1) wherever they meet people's; on their own they stay as given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers, Scale
from ragbench.measurement import ESTIMATE_COLUMNS, estimate_row
from ragbench.metrics import judging
from ragbench.types import Array, Estimate, Status

if TYPE_CHECKING:
    import pandas as pd

OUTCOMES: dict[str, tuple[Status, ...]] = {
    "valid": (Status.OK,),
    "unparseable": (Status.PARSE_ERROR, Status.VERDICT_MISMATCH),
    "refused": (Status.REFUSED,),
    "truncated": (Status.TRUNCATED,),
    "failed": (Status.JUDGE_ERROR, Status.TIMEOUT),
}
BINS = 10
FEWEST_PAIRS = 3
"""Pairs of a rating and a score below which no agreement is computed."""
FINEST = 1.959963984540054 * math.sqrt(2)
"""Two single scores of one judge differ by more than this many within-item deviations one time in twenty."""


def row(estimate: Estimate) -> tuple[Any, ...]:
    """An estimate as the columns of ESTIMATE_COLUMNS."""
    return tuple(estimate_row(estimate).values())


def table(rows: Sequence[tuple[Any, ...]], *first: str) -> pd.DataFrame:
    """A table of estimates whose rows begin with the columns `first`."""
    import pandas as pd

    kinds = dict.fromkeys(("value", "low", "high", "level", "floor", "ceiling"), float)
    whole = dict.fromkeys(("n", "n_unmeasured", "clusters"), "Int64")
    return pd.DataFrame(rows, columns=[*first, *ESTIMATE_COLUMNS]).astype({**kinds, **whole})


def among(
    values: Array, of: NDArray[np.bool_], clusters: Sequence[str] | None, sure: Sureness, **more: Any
) -> Estimate:
    """The mean over the items `of` alone: what is not among them was not asked for, and so is not unmeasured."""
    drawn = None if clusters is None else [label for label, inside in zip(clusters, of, strict=True) if inside]
    return stats.estimate(np.asarray(values)[of], clusters=drawn, bounds=(0.0, 1.0), **asdict(sure), **more)


def specified(one: Heard, clusters: Sequence[str], scale: Scale, delta: float, sure: Sureness) -> dict[str, Estimate]:
    """consistency_score, error_rate and avg_latency_ms with their intervals over answers."""
    options = asdict(sure)
    sitting = one.answers
    asked = sitting.asked.sum(axis=1)
    failed = (np.isnan(sitting.scores) & sitting.asked).sum(axis=1)
    close = judging.pairs_within(sitting.scores, delta)
    found = {
        "consistency_score": stats.estimate(close, clusters=clusters, bounds=(0.0, 1.0), **options),
        "error_rate": stats.estimate(
            np.where(asked > 0, failed / np.maximum(asked, 1), np.nan), clusters=clusters, bounds=(0.0, 1.0), **options
        ),
    }
    if sitting.seconds is not None and not np.isnan(sitting.seconds).all():
        times = judging.item_latencies(sitting.seconds)
        found["avg_latency_ms"] = stats.estimate(times, clusters=clusters, **options)
    return found


def coverage(one: Heard, clusters: Sequence[str], sure: Sureness) -> list[tuple[Any, ...]]:
    """One row an outcome: how many of the questions to the judge ended so, of how many, and the share's interval."""
    asked = one.answers.asked
    rows = []
    for outcome, statuses in OUTCOMES.items():
        hit = np.isin(one.statuses, [status.value for status in statuses]) & asked
        counts = asked.sum(axis=1)
        share = np.where(counts > 0, hit.sum(axis=1) / np.maximum(counts, 1), np.nan)
        estimate = stats.estimate(share, clusters=clusters, bounds=(0.0, 1.0), **asdict(sure))
        rows.append((one.name, outcome, int(hit.sum()), int(asked.sum()), *row(estimate)))
    return rows


def repeatability(
    one: Heard, clusters: Sequence[str], scale: Scale, good: float, sure: Sureness
) -> list[tuple[Any, ...]]:
    """Agreement of a judge with itself over its repeats; no row for a single repeat, which measures nothing.

    flip_rate: share of the pairs of repeats that call an answer good once and not good once.
    """
    scores = one.answers.scores
    if scores.shape[1] < 2:
        return []
    options: dict[str, Any] = {"clusters": clusters, **asdict(sure)}
    found = {
        "exact_agreement": stats.estimate(judging.pairs_within(scores, 0.0), bounds=(0.0, 1.0), **options),
        "flip_rate": stats.estimate(flips(scores, scale, good), bounds=(0.0, 1.0), **options),
        "krippendorff_alpha": stats.krippendorff_alpha(scores, scale="interval", **options),
        "icc": stats.icc(scores, **options),
        "within_item_deviation": within(scores, 1.0, options),
        "smallest_difference": within(scores, FINEST, options),
    }
    return [(one.name, name, *row(estimate)) for name, estimate in found.items()]


def within(scores: Array, times: float, options: dict[str, Any]) -> Estimate:
    """`times` the standard deviation of a judge's scores of one and the same answer."""
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    means = np.nansum(scores, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((scores - means[:, None]) ** 2, axis=1)
    sums = np.column_stack([squares, counts - 1.0])
    sums[counts < 2] = np.nan
    return stats.resample(lambda totals: times * np.sqrt(totals[..., 0] / totals[..., 1]), sums, **options)


def flips(scores: Array, scale: Scale, good: float) -> Array:
    """(items,) share of the pairs of repeats on both sides of `good`; NaN with fewer than two scores."""
    decided = np.where(np.isnan(scores), np.nan, scale.share(scores) >= good - 1e-9)
    return 1 - judging.pairs_within(decided, 0.0)


def single(one: Heard, scale: Scale) -> Array:
    """(items,) the judge's first scores as shares of the scale."""
    return scale.share(one.answers.scores[:, 0]) if one.answers.scores.size else np.zeros(0)


def agreement(judge: str, given: Array, answers: Answers, good: float, sure: Sureness) -> list[tuple[Any, ...]]:
    """A judge with single people, and with people's mean. "people" as the judge: one person with another.

    All pairs of raters are laid below each other and drawn by clusters, so that the judge meets the same measure
    with which people meet each other: their agreement is the ceiling. What people rated and the judge gave no score
    for is unmeasured.
    """
    people = answers.people
    labels = np.asarray(answers.clusters, dtype=object)
    pairs = [(people[:, place], given) for place in range(people.shape[1])]
    rows = [(judge, "person", *each) for each in _compared(pairs, labels, good, sure, np.isnan(given))]
    mean = _compared([(answers.mean_people, given)], labels, good, sure, np.isnan(given))
    return rows + [(judge, "mean", *each) for each in mean]


def ceiling(answers: Answers, good: float, sure: Sureness) -> list[tuple[Any, ...]]:
    """People among themselves; no row for a single rater. Krippendorff's α is that of all raters at once."""
    people = answers.people
    if people.shape[1] < 2:
        return []
    labels = np.asarray(answers.clusters, dtype=object)
    pairs = [(people[:, a], people[:, b]) for a, b in permutations(range(people.shape[1]), 2)]
    found = {each[0]: each for each in _compared(pairs, labels, good, sure) if each[0] != "bias"}
    if found:
        alpha = stats.krippendorff_alpha(people, scale="interval", clusters=labels.tolist(), **asdict(sure))
        found["krippendorff_alpha"] = ("krippendorff_alpha", *row(alpha))
    return [("people", "person", *each) for each in found.values()]


def _compared(
    pairs: Sequence[tuple[Array, Array]],
    labels: np.ndarray[Any, Any],
    good: float,
    sure: Sureness,
    failed: NDArray[np.bool_] | None = None,
) -> list[tuple[Any, ...]]:
    """failed: (items,) where the second of each pair was asked for and gave nothing."""
    if not pairs:
        return []
    a = np.concatenate([first for first, _ in pairs])
    b = np.concatenate([second for _, second in pairs])
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < FEWEST_PAIRS:
        return []
    unmeasured = 0 if failed is None else sum(int((~np.isnan(first) & failed).sum()) for first, _ in pairs)
    clusters = np.concatenate([labels] * len(pairs))[both]
    a, b = np.round(a[both], 9), np.round(b[both], 9)
    options: dict[str, Any] = {"clusters": clusters.tolist(), **asdict(sure)}
    numbers = stats.agreement(a, b, scale="interval", **options)
    words = stats.agreement((a >= good - 1e-9).tolist(), (b >= good - 1e-9).tolist(), **options)
    chosen = {name: numbers[name] for name in ("spearman", "pearson", "kendall", "icc", "krippendorff_alpha", "bias")}
    chosen |= {name: words[name] for name in ("accuracy", "balanced_accuracy", "cohen_kappa", "gwet_ac1")}
    return [(name, *row(replace(estimate, n_unmeasured=unmeasured))) for name, estimate in chosen.items()]


def calibration(
    judge: str, given: Array, answers: Answers, good: float, sure: Sureness
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Sensitivity, specificity, expected calibration error and Brier score, and the bins of the reliability figure.

    The truth is whether people's mean is good; the score, as a share of its scale, is read as the probability of it.
    """
    mean = answers.mean_people
    known = ~(np.isnan(mean) | np.isnan(given))
    if not known.any():
        return [], []
    whole = np.asarray(answers.clusters, dtype=object)
    rated, is_good = ~np.isnan(mean), mean >= good - 1e-9
    said = np.where(np.isnan(given), np.nan, given >= good - 1e-9)
    truth, score, labels = is_good[known].astype(np.float64), given[known], whole[known].tolist()
    place = np.minimum((score * BINS + 1e-9).astype(int), BINS - 1)
    error = expected_calibration_error(score, truth, place, {"clusters": labels, **asdict(sure)})
    found = {
        "sensitivity": among(said, rated & is_good, whole.tolist(), sure),
        "specificity": among(1 - said, rated & ~is_good, whole.tolist(), sure),
        "expected_calibration_error": replace(error, n_unmeasured=int((rated & ~known).sum())),
        "brier": among((given - is_good) ** 2, rated, whole.tolist(), sure),
    }
    bins = []
    for number in sorted(set(place.tolist())):
        inside = place == number
        share = stats.estimate(
            truth[inside],
            clusters=[label for label, keep in zip(labels, inside, strict=True) if keep],
            bounds=(0.0, 1.0),
            **asdict(sure),
        )
        bins.append((judge, number, float(score[inside].mean()), *row(share)))
    return [(judge, name, *row(estimate)) for name, estimate in found.items()], bins


def expected_calibration_error(score: Array, truth: Array, place: Any, options: dict[str, Any]) -> Estimate:
    """Σ over bins of |Σ score − Σ truth| / n (Naeini, Cooper, Hauskrecht 2015, with ten bins of equal width)."""
    columns = np.zeros((len(score), BINS + 1))
    columns[:, BINS] = 1.0
    columns[np.arange(len(score)), place] = score - truth

    def error(totals: Array) -> Array:
        return np.asarray(np.abs(totals[..., :BINS]).sum(axis=-1) / totals[..., BINS])

    return stats.resample(error, columns, method="percentile", **options)
