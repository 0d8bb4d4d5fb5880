"""Judges beside each other: who orders answers as people do, more often than shared words do, and who sways whom?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.biases import independent
from ragbench.bench.judges.items import Answers
from ragbench.bench.judges.numbers import kept
from ragbench.judge import Influence, Rule, leave_one_out
from ragbench.stats.samples import as_codes, units_of
from ragbench.types import Array, Comparison, Estimate, Score, Status, Verdict


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
    """Every judge but the baseline against it, on the answers that both scored and people rated; p by Holm."""
    truth = answers.mean_people
    found = []
    for name, scores in given.items():
        if name == baseline or lexical is None:
            continue
        both = ~(np.isnan(scores) | np.isnan(lexical) | np.isnan(truth))
        labels = kept(answers.clusters, both) or []
        one, other = (concordances(each[both], truth[both]) for each in (scores, lexical))
        own, theirs = (_projected(each, labels, sure, chance=0.5)[0] for each in (one, other))
        found.append(Rivalry(name, own, theirs, _difference(baseline, name, one - other, labels, sure)))
    adjusted = stats.adjust([each.difference for each in found])
    return [replace(each, difference=difference) for each, difference in zip(found, adjusted, strict=True)]


def concordances(scores: Array, truth: Array) -> Array:
    """(answers,) share of the answers with another true value that a score orders rightly against this one, ties half;
    NaN where all true values are the same."""
    found = np.full(len(scores), np.nan)
    for place in range(len(scores)):
        order = np.sign(truth - truth[place])
        other = order != 0
        if other.any():
            found[place] = (np.mean(np.sign(scores - scores[place])[other] * order[other]) + 1) / 2
    return found


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
    freedom = units.number - 1
    half = float(stdtrit(freedom, (1 + sure.level) / 2)) * error
    low, high = mean - half, mean + half
    if chance:
        low, high = max(0.0, low), min(1.0, high)
    clustered = units.number if labels is not None else None
    found = replace(empty, value=mean, low=low, high=high, method="u_statistic", note="", clusters=clustered)
    return found, float(2 * stdtr(freedom, -abs(mean - chance) / error))


def influences(heard: Sequence[Heard], rule: Rule) -> list[Influence]:
    """What the panel's mean becomes without each judge, from first scores; none for a single judge."""
    if len(heard) < 2:
        return []

    def first(one: Heard, place: int) -> Score:
        value, status = float(one.answers.scores[place, 0]), Status(one.statuses[place, 0])
        return Score(value) if status is Status.OK else Score.unmeasured(status, "")

    number = len(heard[0].answers.scores)
    return leave_one_out([rule({one.name: first(one, place) for one in heard}) for place in range(number)], rule)


def panel_scores(heard: Sequence[Heard], without: str | None = None) -> Array:
    """(answers,) mean of the judges' first scores, those that are there."""
    columns = np.column_stack([one.answers.scores[:, 0] for one in heard if one.name != without])
    known = ~np.isnan(columns)
    return np.where(known.any(axis=1), np.nansum(columns, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
