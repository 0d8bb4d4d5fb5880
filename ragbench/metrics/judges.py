"""What a judge is worth by its scores and choices: does it repeat itself, answer, how fast."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.core.metric import metric

Array = NDArray[np.float64]
DELTA = 0.5  # of «Вопрошалыч»
ROUNDING = 1e-9  # 1.1 − 0.6 is .5 on paper, and more in binary
SOURCE = "definition, as «Вопрошалыч» publishes it"


@metric(kind="set", source=SOURCE)
def consistency_score(scores: ArrayLike, delta: float = DELTA) -> float:
    """Share of pairs of repeated scores of an answer that differ by at most delta.

    scores: (answers, repeats), NaN where there is none. The mean over answers; delta is in units
    of their scale: .5 means equality on whole numbers. NaN without a repeat. Above 0.9 the judge
    can be relied on, below 0.7 it wavers.
    """
    return known_mean(share_within(scores, delta))


@metric(kind="set", better="lower", source=SOURCE)
def error_rate(scores: ArrayLike, was_asked: ArrayLike | None = None) -> float:
    """Share of the calls that brought no usable score: unparseable, refused, cut off or failed.

    scores: as of consistency_score. was_asked: False for what the judge was never asked.
    """
    is_missing = np.isnan(np.asarray(scores, dtype=float))
    calls = np.ones(is_missing.shape, bool) if was_asked is None else np.asarray(was_asked, bool)
    return known_mean(np.where(calls, is_missing, np.nan))


@metric(kind="set", better="lower", bounds=(0.0, np.inf), source=SOURCE)
def avg_latency_ms(latencies_ms: ArrayLike) -> float:
    """Mean milliseconds that the judge took for a score; of replies read back, those at the time.

    latencies_ms: (answers,) or (answers, repeats), NaN where unknown; answers weigh the same.
    """
    return known_mean(mean_by_answer(latencies_ms))


@metric(kind="set", bounds=(1.0, 5.0), source=SOURCE)
def avg_faithfulness(scores: ArrayLike) -> float:
    """Mean faithfulness that the judge gave, 1 to 5: of each answer's repeats, then over answers.

    scores: (answers,) or (answers, repeats), NaN where there is none; those are left out.
    """
    return known_mean(mean_by_answer(scores))


@metric(kind="set", source="Tan et al. 2024, JudgeBench, arXiv:2410.12784")
def pairwise_accuracy(choices: ArrayLike, labels: ArrayLike) -> float:
    """Share of labelled pairs whose better answer the judge chooses more often over both orders.

    choices: (pairs, 2) which place won, in the pair's order and the other way round: 1 the first
    place, −1 the second, 0 a tie, NaN without a choice. labels: (pairs,) 1 the pair's first answer
    is better, −1 its second; others do not count. Who takes the first place always is never right.
    """
    return known_mean(chosen_rightly(choices, labels))


@metric(kind="set", source="Zheng et al. 2023, Judging LLM-as-a-judge with MT-Bench, section 4.2")
def position_consistency(choices: ArrayLike) -> float:
    """Share of the pairs on which the judge chooses the same answer in both orders.

    choices: as of pairwise_accuracy; a pair with a single choice does not count.
    """
    return known_mean(chosen_consistently(choices))


def share_within(scores: ArrayLike, delta: float = DELTA) -> Array:
    """Return (answers,) share of the pairs of repeats within delta; NaN for fewer than two."""
    table = np.asarray(scores, dtype=float)
    first, second = np.triu_indices(table.shape[1], 1)
    gaps = np.abs(table[:, first] - table[:, second])
    n_pairs = (~np.isnan(gaps)).sum(axis=1)
    n_close = (gaps <= delta + ROUNDING).sum(axis=1)
    return np.where(n_pairs > 0, n_close / np.maximum(n_pairs, 1), np.nan)


def mean_by_answer(values: ArrayLike) -> Array:
    """Return (answers,) the mean of each answer's known values; NaN where there is none."""
    table = np.asarray(values, dtype=float)
    table = table.reshape(len(table), -1)
    n_known = (~np.isnan(table)).sum(axis=1)
    return np.where(n_known > 0, np.nansum(table, axis=1) / np.maximum(n_known, 1), np.nan)


def chosen_rightly(choices: ArrayLike, labels: ArrayLike) -> Array:
    """Return (pairs,) 1 where the better answer has more votes; NaN without a label or a choice."""
    places, better = np.asarray(choices, dtype=float), np.asarray(labels, dtype=float)
    # In the other order the pair's first answer stands in the second place.
    votes = np.nan_to_num(places[:, 0]) - np.nan_to_num(places[:, 1])
    is_measured = (np.abs(better) > 0) & ~np.isnan(places).all(axis=1)
    return np.where(is_measured, votes * np.sign(better) > 0, np.nan)


def chosen_consistently(choices: ArrayLike) -> Array:
    """Return (pairs,) 1 where the same answer wins in both orders; NaN without two choices."""
    places = np.asarray(choices, dtype=float)
    has_both = ~np.isnan(places).any(axis=1)
    return np.where(has_both, places[:, 0] == -places[:, 1], np.nan)


def known_mean(values: Array) -> float:
    """Return the mean of the values that are known; NaN where none is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
