"""What a judge is worth in numbers: does it answer, repeat itself, agree with people, and more than shared words do?

Scores are shares of the metric's scale (0 to 1) wherever they meet people's; on their own they stay as given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.old import stats
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.types import BY_CONSTRUCTION, Array, Comparison, Estimate, Score, Status, Verdict
from ragbench.old.judge import Influence, Rule, leave_one_out
from ragbench.old.metrics import judging
from ragbench.old.stats.values import as_codes, units_of
from ragbench.old.tiers.basics.design import independent
from ragbench.old.tiers.basics.findings import Sureness, bounds
from ragbench.old.tiers.judges.asking import Heard
from ragbench.old.tiers.judges.items import Answers, Scale

OUTCOMES: dict[str, tuple[Status, ...]] = {
    "valid": (Status.OK,),
    "unparseable": (Status.PARSE_ERROR, Status.VERDICT_MISMATCH),
    "refused": (Status.REFUSED,),
    "truncated": (Status.TRUNCATED,),
    "failed": (Status.JUDGE_ERROR, Status.TIMEOUT),
}
OF_SCORES = ("spearman", "pearson", "kendall", "icc", "krippendorff_alpha", "bias")
OF_DECISIONS = ("accuracy", "balanced_accuracy", "cohen_kappa", "gwet_ac1")
BINS = 10  # of a reliability diagram (Naeini et al. 2015)
FEWEST_PAIRS = 3
"""Pairs of a rating and a score below which no agreement is computed."""
FINEST = 1.959963984540054 * math.sqrt(2)
"""Two single scores of one judge differ by more than this many within-item deviations one time in twenty."""

Numbers = dict[str, Estimate]


def placed(judge: str, estimates: Mapping[str, Estimate], **where: str | float) -> list[NamedEstimate]:
    """Numbers of a judge at their place."""
    return [NamedEstimate(judge, name, estimate, where) for name, estimate in estimates.items()]


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


def specified(heard: Heard, clusters: Sequence[str], delta: float, sure: Sureness) -> Numbers:
    """consistency_score, error_rate and avg_latency_ms with their intervals over answers."""
    sitting = heard.answers
    failed = np.isnan(sitting.scores) & sitting.asked
    estimates = {
        "consistency_score": share(judging.pairs_within(sitting.scores, delta), clusters, sure),
        "error_rate": share(_of_asked(failed, sitting.asked), clusters, sure),
    }
    if sitting.seconds is not None and not np.isnan(sitting.seconds).all():
        times = judging.item_latencies(sitting.seconds)
        scale = bounds(judging.avg_latency_ms)
        estimates["avg_latency_ms"] = stats.estimate(times, clusters=clusters, bounds=scale, **asdict(sure))
    names = ["error_rate"] * _never_fails(heard) + ["consistency_score"] * _repeats_itself(heard)
    return constructed(estimates, names)


def faithful(ratings: Array, clusters: Sequence[str], sure: Sureness) -> Numbers:
    """avg_faithfulness of a judge's (answers,) ratings with its interval over answers."""
    scale = bounds(judging.avg_faithfulness)
    mean = stats.estimate(ratings, clusters=clusters, bounds=scale, **asdict(sure))
    return {"avg_faithfulness": mean}


def _repeats_itself(heard: Heard) -> bool:
    """Whether it is a judge that asks no model, which reckons the same from the same texts."""
    scores = heard.answers.scores
    return heard.stand_in and bool(np.all(np.isnan(scores) | (scores == scores[:, :1])))


def _never_fails(heard: Heard) -> bool:
    """Whether it is a judge that asks no model, so that no reply can be lost or unreadable."""
    return heard.stand_in and bool(np.all(np.isin(heard.statuses, OUTCOMES["valid"]) | ~heard.answers.asked))


def constructed(estimates: Numbers, names: Iterable[str]) -> Numbers:
    """The same, those of these names without an interval: they could not have been otherwise."""
    fixed = {
        name: replace(estimate, low=None, high=None, method="none", intervals={}, note=BY_CONSTRUCTION)
        for name, estimate in estimates.items()
        if name in set(names) and estimate.n
    }
    return {**estimates, **fixed}


def _of_asked(hit: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Array:
    """(answers,) share of the questions to the judge that ended so; NaN where it was not asked."""
    counts = asked.sum(axis=1)
    return np.where(counts > 0, hit.sum(axis=1) / np.maximum(counts, 1), np.nan)


def outcomes(heard: Heard) -> dict[str, NDArray[np.bool_]]:
    """(answers, repeats) which of the questions to the judge ended so, by outcome."""
    return {
        outcome: np.isin(heard.statuses, [status.value for status in statuses]) & heard.answers.asked
        for outcome, statuses in OUTCOMES.items()
    }


def coverage(heard: Heard, clusters: Sequence[str], sure: Sureness) -> Numbers:
    """The share of the questions to the judge that ended so, by outcome."""
    shares = {name: share(_of_asked(hit, heard.answers.asked), clusters, sure) for name, hit in outcomes(heard).items()}
    return constructed(shares, shares) if _never_fails(heard) else shares


def repeatability(
    heard: Heard, clusters: Sequence[str], scale: Scale, good: float, sure: Sureness, levels: Sequence[float] = ()
) -> Numbers:
    """Agreement of a judge with itself over its repeats; nothing of a single repeat, which measures nothing.
    levels: the grades that its scores are, if they are grades.

    flip_rate: share of the pairs of repeats that call an answer good once and not good once.
    """
    scores = heard.answers.scores
    if scores.shape[1] < 2:
        return {}
    options: dict[str, Any] = {"clusters": clusters, **asdict(sure)}
    estimates = {
        "exact_agreement": share(judging.pairs_within(scores, 0.0), clusters, sure),
        "flip_rate": share(flips(scores, scale, good), clusters, sure),
        "krippendorff_alpha": alpha(scores, levels, options),
        "icc": stats.icc(scores, **options),
        "within_item_deviation": within(scores, 1.0, options),
        "smallest_difference": within(scores, FINEST, options),
    }
    return constructed(estimates, estimates) if _repeats_itself(heard) else estimates


def alpha(ratings: Array, levels: Sequence[float], options: Mapping[str, Any]) -> Estimate:
    """Krippendorff's α of (items, raters) ratings: of ranks where they are grades of these levels, else of numbers."""
    if levels:
        places = grade(ratings, levels)
        return stats.krippendorff_alpha(places, scale="ordinal", categories=list(range(len(levels))), **options)
    return stats.krippendorff_alpha(ratings, scale="interval", **options)


def grade(values: Array, levels: Sequence[float]) -> Array:
    """The place of each value among the levels; NaN where it is none of them."""
    apart = np.abs(np.asarray(values, dtype=np.float64)[..., None] - np.array(levels))
    with np.errstate(invalid="ignore"):
        return np.where((apart < 1e-6).any(axis=-1), np.argmin(apart, axis=-1), np.nan)


def graded(values: ArrayLike, levels: Sequence[float]) -> bool:
    """Whether all values that there are lie on the levels, and there are levels."""
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return bool(levels) and not np.isnan(grade(known, levels)).any()


def prompted(heard: Heard, clusters: Sequence[str], sure: Sureness, levels: Sequence[float] = ()) -> Numbers:
    """Agreement of a judge's scores of the same answers with the prompt in either language; nothing where it was asked
    in one. How far they differ is the effect of the probe `prompt_language`."""
    if heard.prompted is None:
        return {}
    options: dict[str, Any] = {"clusters": clusters, **asdict(sure)}
    estimates = {
        "exact_agreement": share(judging.pairs_within(heard.prompted, 0.0), clusters, sure),
        "krippendorff_alpha": alpha(heard.prompted, levels, options),
        "icc": stats.icc(heard.prompted, **options),
    }
    same = np.isnan(heard.prompted).any(axis=1) | (np.ptp(heard.prompted, axis=1) == 0)
    return constructed(estimates, estimates) if heard.stand_in and same.all() else estimates


def within(scores: Array, times: float, options: dict[str, Any]) -> Estimate:
    """`times` the standard deviation of a judge's scores of one and the same answer."""
    counts = (~np.isnan(scores)).sum(axis=1)
    means = np.nansum(scores, axis=1) / np.maximum(counts, 1)
    squares = np.nansum((scores - means[:, None]) ** 2, axis=1)
    sums = np.column_stack([squares, counts - 1.0])
    sums[counts < 2] = np.nan
    return stats.resample(
        lambda totals: times * np.sqrt(totals[..., 0] / totals[..., 1]), sums, bounds=(0.0, math.inf), **options
    )


def flips(scores: Array, scale: Scale, good: float) -> Array:
    """(items,) share of the pairs of repeats on both sides of `good`; NaN with fewer than two scores."""
    return 1 - judging.pairs_within(called_good(scale.share(scores), good), 0.0)


def called_good(shares: Array, good: float) -> Array:
    """1 where a score is good, 0 where it is not, NaN where there is none."""
    return np.where(np.isnan(shares), np.nan, shares >= good - 1e-9)


def single(heard: Heard, scale: Scale) -> Array:
    """(items,) the judge's first scores as shares of the scale."""
    return scale.share(heard.answers.scores[:, 0]) if heard.answers.scores.size else np.zeros(0)


def agreement(
    given: Array, answers: Answers, good: float, sure: Sureness, levels: Sequence[float] = ()
) -> dict[str, Numbers]:
    """A judge with each "person", and with people's "mean". levels: the grades that judges and people give, as shares
    of their scales, if both do; a mean is none.

    All pairs of raters are laid below each other and drawn by clusters, so that the judge meets the same measure
    with which people meet each other: their agreement is the ceiling. What people rated and the judge gave no score
    for is unmeasured.
    """
    agreements = {}
    for against, ratings in (("person", list(answers.people.T)), ("mean", [answers.mean_people])):
        own = levels if against == "person" else ()
        numbers = _compared([(each, given) for each in ratings], answers.clusters, good, sure, own)
        missing = sum(int((~np.isnan(each) & np.isnan(given)).sum()) for each in ratings)
        agreements[against] = {name: replace(estimate, n_unmeasured=missing) for name, estimate in numbers.items()}
    return agreements


def ceiling(answers: Answers, good: float, sure: Sureness, levels: Sequence[float] = ()) -> Numbers:
    """People among themselves; nothing of a single rater. Krippendorff's α is that of all raters at once.

    Neither of two people is the first: they are laid beside each other both ways round, and n counts each pair once.
    """
    estimates = _compared(list(permutations(answers.people.T, 2)), answers.clusters, good, sure, levels)
    estimates = {name: replace(estimate, n=estimate.n // 2) for name, estimate in estimates.items()}
    if estimates:
        del estimates["bias"]
        options: dict[str, Any] = {"clusters": list(answers.clusters), **asdict(sure)}
        estimates["krippendorff_alpha"] = alpha(answers.people, levels, options)
    return estimates


def _compared(
    pairs: Sequence[tuple[Array, ...]], labels: Sequence[str], good: float, sure: Sureness, levels: Sequence[float]
) -> Numbers:
    if not pairs:
        return {}
    a, b = (np.concatenate(side) for side in zip(*pairs, strict=True))
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < FEWEST_PAIRS:
        return {}
    a, b = np.round(a[both], 9), np.round(b[both], 9)
    options: dict[str, Any] = {"clusters": kept([*labels] * len(pairs), both), **asdict(sure)}
    numbers = stats.agreement(a, b, scale="interval", **options)
    if levels:
        numbers["krippendorff_alpha"] = alpha(np.column_stack([a, b]), levels, options)
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
    estimates = {
        "sensitivity": share(said, whole, sure, rated & is_good),
        "specificity": share(1 - said, whole, sure, rated & ~is_good),
        "expected_calibration_error": replace(error, n_unmeasured=int((rated & ~known).sum())),
        "brier": share((given - is_good) ** 2, whole, sure, rated),
    }
    bins = {
        number: (float(score[place == number].mean()), share(truth, labels, sure, place == number))
        for number in sorted(set(place.tolist()))
    }
    return estimates, bins


def expected_calibration_error(score: Array, truth: Array, place: Any, options: dict[str, Any]) -> Estimate:
    """Σ over bins of |Σ score − Σ truth| / n (Naeini, Cooper, Hauskrecht 2015, with ten bins of equal width)."""
    columns = np.zeros((len(score), BINS + 1))
    columns[:, BINS] = 1.0
    columns[np.arange(len(score)), place] = score - truth

    def error(totals: Array) -> Array:
        return np.asarray(np.abs(totals[..., :BINS]).sum(axis=-1) / totals[..., BINS])

    return stats.resample(error, columns, method="percentile", bounds=(0.0, 1.0), **options)


@dataclass(frozen=True)
class Rivalry:
    """A judge against the baseline: concordance with people of both, and the difference.

    Concordance: of two answers that people rate differently, the share that the judge orders as they do; a tie counts
    half, chance is 0.5. The difference has no p where there is nothing to compare.
    """

    judge: str
    concordance: Estimate
    baseline: Estimate
    difference: Comparison


def rivalries(
    given: Mapping[str, Array], baseline: str, lexical: Array | None, answers: Answers, sure: Sureness
) -> list[Rivalry]:
    """Every judge but the baseline against it, on the answers that both scored and people rated, tested together."""
    truth = answers.mean_people
    rivals, made = [], []
    groups = independent(answers.clusters)
    codes = as_codes(groups, len(truth))
    for name, scores in given.items():
        if name == baseline or lexical is None:
            continue
        both = ~(np.isnan(scores) | np.isnan(lexical) | np.isnan(truth))
        labels = kept(answers.clusters, both) or []
        concordant, other = (concordances(each[both], truth[both]) for each in (scores, lexical))
        own, theirs = (_projected(each, labels, sure, chance=0.5)[0] for each in (concordant, other))
        alone = _difference(baseline, name, concordant - other, labels, sure)
        column = np.full(len(truth), np.nan)
        column[both] = 2 * (concordant - other) - alone.difference  # a pair has two answers: see `_projected`
        rivals.append(Rivalry(name, own, theirs, alone))
        freedom = None if codes is None else units_of(column[both, None], codes[both]).freedom
        made.append(stats.Hypothesis(alone, column, freedom))
    done = stats.jointly(made, groups, resamples=sure.resamples, seed=sure.seed)
    return [replace(each, difference=difference) for each, difference in zip(rivals, done, strict=True)]


def concordances(scores: Array, truth: Array) -> Array:
    """(answers,) share of the answers with another true value that a score orders rightly against this one, ties half;
    NaN where all true values are the same."""
    shares = np.full(len(scores), np.nan)
    for place in range(len(scores)):
        order = np.sign(truth - truth[place])
        other = order != 0
        if other.any():
            shares[place] = (np.mean(np.sign(scores - scores[place])[other] * order[other]) + 1) / 2
    return shares


def _difference(baseline: str, judge: str, values: Array, labels: Sequence[str], sure: Sureness) -> Comparison:
    e, p = _projected(values, labels, sure, chance=0.0)
    low, high = (math.nan if end is None else end for end in (e.low, e.high))
    return Comparison(
        baseline, judge, e.value, low, high, e.level, e.method, p, "U statistic", math.nan, Verdict.NOT_SHOWN, e.n,
        e.n_unmeasured, clusters=e.clusters, note=e.note,
    )  # fmt: skip


def _projected(values: Array, clusters: Sequence[str], sure: Sureness, chance: float) -> tuple[Estimate, float]:
    """The mean over pairs of answers and its interval from Hoeffding's projection: a pair has two answers, so the
    standard error is twice that of the answers' means. p: two-sided, of `chance`, around which the scale ends."""
    from scipy.special import stdtr, stdtrit

    known = ~np.isnan(values)
    number = int(known.sum())
    empty = Estimate(math.nan, None, None, sure.level, "none", number, len(values) - number, note="empty")
    if number < 3:
        return empty, math.nan
    labels = independent(kept(clusters, known) or [])
    units = units_of(values[known][:, None], as_codes(labels, number))
    mean, error = float(units.means[0]), 2 * math.sqrt(float(units.variances()[0]))
    if units.number < 3 or error <= 1e-12:
        return replace(empty, value=mean, note="no_spread"), 1.0
    freedom = units.freedom
    half = float(stdtrit(freedom, (1 + sure.level) / 2)) * error
    low, high = mean - half, mean + half
    if chance:
        low, high = max(0.0, low), min(1.0, high)
    clustered = units.number if labels is not None else None
    estimate = replace(empty, value=mean, low=low, high=high, method="u_statistic", note="", clusters=clustered)
    return estimate, float(2 * stdtr(freedom, -abs(mean - chance) / error))


def influences(heard: Sequence[Heard], rule: Rule) -> list[Influence]:
    """What the panel's mean becomes without each judge, from first scores; none for a single judge."""
    if len(heard) < 2:
        return []

    def first(judge: Heard, place: int) -> Score:
        value, status = float(judge.answers.scores[place, 0]), Status(judge.statuses[place, 0])
        return Score(value) if status is Status.OK else Score.unmeasured(status, "")

    number = len(heard[0].answers.scores)
    return leave_one_out([rule({judge.name: first(judge, place) for judge in heard}) for place in range(number)], rule)


def panel_scores(heard: Sequence[Heard], without: str | None = None) -> Array:
    """(answers,) mean of the judges' first scores, those that are there."""
    columns = np.column_stack([judge.answers.scores[:, 0] for judge in heard if judge.name != without])
    known = ~np.isnan(columns)
    return np.where(known.any(axis=1), np.nansum(columns, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
