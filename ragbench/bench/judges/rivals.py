"""Judges beside each other: who orders answers as people do, more often than shared words do, and who sways whom?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragbench import stats
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.frames import independent
from ragbench.bench.judges.asking import Heard
from ragbench.bench.judges.items import Answers
from ragbench.judge import Influence, Rule, leave_one_out
from ragbench.stats.comparisons import verdict_of
from ragbench.stats.samples import as_codes, units_of
from ragbench.types import Array, Estimate, Score, Status, Verdict


@dataclass(frozen=True)
class Rivalry:
    """A judge against the baseline: concordance with people of both, and the difference.

    Concordance: of two answers that people rate differently, the share that the judge orders as they do; a tie counts
    half, chance is 0.5. verdict: of the judge's against the baseline's, better where it is higher; None
    where there is nothing to compare.
    """

    judge: str
    concordance: Estimate
    baseline: Estimate
    difference: Estimate
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: Verdict | None = None


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
        labels = [label for label, keep in zip(answers.clusters, both, strict=True) if keep]
        one, other = (concordances(each[both], truth[both]) for each in (scores, lexical))
        parts = [_projected(each, labels, sure, scale) for each, scale in ((one, 1), (other, 1), (one - other, 2))]
        found.append(Rivalry(name, parts[0][0], parts[1][0], parts[2][0], parts[2][1]))
    adjusted = stats.holm([each.p for each in found])
    return [
        replace(
            each,
            p_adjusted=float(p),
            verdict=None if math.isnan(p) else verdict_of(each.difference.value, float(p), "higher", sure.level),
        )
        for each, p in zip(found, adjusted, strict=True)
    ]


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


def _projected(values: Array, clusters: Sequence[str], sure: Sureness, sides: int) -> tuple[Estimate, float]:
    """The mean over pairs of answers and its interval from Hoeffding's projection: a pair has two answers, so the
    standard error is twice that of the answers' means. p: two-sided, of 0 (of one half for `sides` = 1)."""
    from scipy.special import stdtr, stdtrit

    known = ~np.isnan(values)
    unmeasured = int((~known).sum())
    empty = Estimate(math.nan, None, None, sure.level, "none", int(known.sum()), unmeasured, note="empty")
    if known.sum() < 3:
        return empty, math.nan
    labels = independent([label for label, keep in zip(clusters, known, strict=True) if keep])
    units = units_of(values[known][:, None], as_codes(labels, int(known.sum())))
    mean, error = float(units.means[0]), 2 * math.sqrt(float(units.variances()[0]))
    if units.number < 3 or error <= 1e-12:
        return replace(empty, value=mean, note="no_spread"), 1.0
    freedom = units.number - 1
    half = float(stdtrit(freedom, (1 + sure.level) / 2)) * error
    ends = (mean - half, mean + half) if sides == 2 else (max(0.0, mean - half), min(1.0, mean + half))
    found = replace(
        empty, value=mean, low=ends[0], high=ends[1], method="u_statistic", note="",
        clusters=units.number if labels is not None else None,
    )  # fmt: skip
    centre = 0.0 if sides == 2 else 0.5
    return found, float(2 * stdtr(freedom, -abs(mean - centre) / error))


def influences(heard: Sequence[Heard], rule: Rule) -> list[Influence]:
    """What the panel's mean becomes without each judge, from first scores; none for a single judge."""
    if len(heard) < 2:
        return []
    scores = []
    for place in range(len(heard[0].answers.scores)):
        by_judge = {}
        for one in heard:
            value, status = float(one.answers.scores[place, 0]), Status(one.statuses[place, 0])
            by_judge[one.name] = Score(value) if status is Status.OK else Score.unmeasured(status, "")
        scores.append(rule(by_judge))
    return leave_one_out(scores, rule)


def panel_scores(heard: Sequence[Heard], without: str | None = None) -> Array:
    """(answers,) mean of the judges' first scores, those that are there."""
    columns = np.column_stack([one.answers.scores[:, 0] for one in heard if one.name != without])
    known = ~np.isnan(columns)
    return np.where(known.any(axis=1), np.nansum(columns, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)
