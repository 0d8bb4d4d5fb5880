"""How well a system ranks: one value a question, for all questions at once.

What all of these read, as arrays with a row a question (or as lists of one question):

- `gains`: grade of the passage at each rank; NaN where nobody judged it, or none was returned;
- `ideal`: grades of all passages that are judged for the question, padded with NaN;
- `k`: how many ranks count; None: all. `level`: the smallest grade that counts as relevant;
  None: every grade above 0.

A question without a relevant passage has no value: NaN. One for which nothing was retrieved has 0.
A grade of −1 stands for a passage that was pooled and not judged, as in TREC's files; a lower one
is a judgement: not relevant. The values are trec_eval's, which takes every negative grade for −1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.errors import BenchError
from ragbench.core.metric import Metric, metric, parse_label

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Cutoff = int | None
Level = float | None
POOLED = -1.0  # the grade of a passage that was pooled and not judged
# What keeps a share of judged passages from 0 / 0 where none was judged; trec_eval's value.
INFAP_EPSILON = 1e-5


@metric(
    source="Craswell & Hawking 2005, Overview of the TREC-2004 Web Track, section 3",
    cutoffs=(1, 5, 10),
)
def hit_rate(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """Whether at least one relevant passage is among the first k.

    Its mean is the share of questions that are served at all: 1 for all, 0.5 for every second.
    Neither how many relevant passages there are nor their ranks count.
    """
    has_hit = is_relevant(gains[:, :k], level).any(axis=1)
    return where_answerable(has_hit.astype(float), ideal, level)


@metric(source="Voorhees 1999, The TREC-8 Question Answering Track Report, section 3")
def mrr(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """1 / rank of the first relevant passage; 0 if none was retrieved.

    1 where the first passage is relevant, 0.5 where the second is the first such, 0.1 the tenth.
    """
    is_hit = is_relevant(gains[:, :k], level)
    if not is_hit.shape[1]:
        return where_answerable(np.zeros(len(gains)), ideal, level)
    # argmax of booleans is the place of the first True, and 0 where there is none.
    reciprocal = is_hit.any(axis=1) / (is_hit.argmax(axis=1) + 1.0)
    return where_answerable(reciprocal, ideal, level)


@metric(
    source="Cleverdon 1967, The Cranfield tests on index language devices", cutoffs=(1, 3, 5, 10)
)
def recall(
    gains: Array,
    ideal: Array,
    shares: Array | None = None,
    k: Cutoff = None,
    level: Level = None,
) -> Array:
    """Share of all relevant passages that are among the first k.

    shares: of rankings of pieces, how much of a passage each rank newly shows.
    """
    is_hit = is_relevant(gains[:, :k], level)
    if shares is None:
        return share(is_hit.sum(axis=1), count_relevant(ideal, level))
    n_relevant = count_relevant(ideal, level)
    shown = np.where(is_hit, shares[:, :k], 0.0).sum(axis=1)
    # Shares are rounded, and may add up to a bit more than the whole.
    return share(np.minimum(shown, n_relevant), n_relevant)


@metric(
    source="Cleverdon 1967, The Cranfield tests on index language devices", cutoffs=(1, 3, 5, 10)
)
def precision(
    gains: Array,
    ideal: Array,
    n_retrieved: Counts,
    k: Cutoff = None,
    level: Level = None,
) -> Array:
    """Relevant passages among the first k / k, even if fewer were returned.

    Without k: the share of relevant passages among all that were returned.
    """
    n_hits = is_relevant(gains[:, :k], level).sum(axis=1)
    # Dividing by what was returned would reward short rankings.
    depth = np.maximum(n_retrieved, 1) if k is None else k
    return where_answerable(n_hits / depth, ideal, level)


@metric(
    # The discount log2(rank + 1) and the exponential gain are those of Burges et al. 2005, ICML.
    source="Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation, TOIS 20(4)",
    cutoffs=(5, 10),
)
def ndcg(
    gains: Array,
    ideal: Array,
    shares: Array | None = None,
    k: Cutoff = None,
    gain: Literal["linear", "exponential"] = "linear",
) -> Array:
    """Gain discounted by log2(rank + 1), divided by that of the best possible order.

    The best possible order is that of all judged passages, retrieved or not. gain: exponential
    takes 2^grade − 1. shares: as of recall; the best order is that of whole passages.
    1 is the best order, 0 nothing relevant among the first k; above 0.9 excellent, 0.5 to 0.9
    acceptable, below to be improved. Pages state the bands of their threshold set.
    """
    # fmax takes the 0 where a grade is NaN, too.
    best, found = np.fmax(ideal[:, :k], 0.0), np.fmax(gains[:, :k], 0.0)
    if gain == "exponential":
        best, found = np.exp2(best) - 1, np.exp2(found) - 1
    if shares is not None:
        found = found * shares[:, :k]
    # A share of nothing is NaN: only grades above 0 make an ideal gain.
    return share(discounted(found), discounted(best))


@metric(
    source="Buckley & Voorhees 2000, Evaluating evaluation measure stability, SIGIR",
)
def average_precision(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """Mean precision at the ranks of relevant passages, 0 for those not retrieved."""
    is_hit = is_relevant(gains[:, :k], level)
    precisions = np.cumsum(is_hit, axis=1) / ranks_of(is_hit)
    return share(sum_ranks(is_hit * precisions), count_relevant(ideal, level))


@metric(source="Buckley & Voorhees 2000, Evaluating evaluation measure stability, SIGIR")
def r_precision(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """Precision among the first R, where R is the number of relevant passages.

    Beyond rank k nothing counts as retrieved.
    """
    is_hit = is_relevant(gains[:, :k], level)
    n_relevant = count_relevant(ideal, level)
    is_within = ranks_of(is_hit) <= n_relevant[:, None]
    return share((is_hit & is_within).sum(axis=1), n_relevant)


@metric(
    # With min(R, N) in the divisor, as trec_eval has it; the paper divides by R.
    source="Buckley & Voorhees 2004, Retrieval evaluation with incomplete information, SIGIR",
)
def bpref(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """How seldom passages judged not relevant stand above relevant ones; others do not count.

    With R relevant and N others judged: the mean over the relevant passages of
    1 − min(others above it, R) / min(R, N), 0 for those not retrieved.
    """
    is_hit = is_relevant(gains[:, :k], level)
    n_relevant = count_relevant(ideal, level)
    n_others = is_judged(ideal).sum(axis=1) - n_relevant
    others_above = np.cumsum(is_judged(gains[:, :k]) & ~is_hit, axis=1)
    most = np.maximum(np.minimum(n_relevant, n_others), 1)[:, None]
    credit = 1 - np.minimum(others_above, n_relevant[:, None]) / most
    return share(sum_ranks(is_hit * credit), n_relevant)


@metric(
    source="Yilmaz & Aslam 2006, Estimating average precision with incomplete and imperfect "
    "judgments, CIKM; as trec_eval has it",
)
def inferred_ap(gains: Array, ideal: Array, k: Cutoff = None, level: Level = None) -> Array:
    """Average precision as far as a random part of the pool tells it (infAP).

    At the rank j of a relevant passage the expected precision is
    1/j + (j − 1)/j · (pooled above / (j − 1)) · (relevant above / judged above).
    """
    grades = gains[:, :k]
    is_hit = is_relevant(grades, level)
    ranks = ranks_of(is_hit)
    judged_above = count_above(is_judged(grades))
    pooled_above = judged_above + count_above(grades == POOLED)
    relevant_share = (count_above(is_hit) + INFAP_EPSILON) / (judged_above + 2 * INFAP_EPSILON)
    expected = (1 + pooled_above * relevant_share) / ranks
    return share(sum_ranks(is_hit * expected), count_relevant(ideal, level))


@metric(
    source="Moffat & Zobel 2008, Rank-biased precision for measurement of retrieval "
    "effectiveness, TOIS 27(1)",
)
def rbp(
    gains: Array,
    ideal: Array,
    k: Cutoff = None,
    p: float = 0.8,
    level: Level = None,
) -> Array:
    """Relevance seen by a reader who goes on to the next passage with probability p.

    (1 − p) Σ p^(rank − 1) over relevant passages: 1 only for an endless list of them.
    """
    is_hit = is_relevant(gains[:, :k], level)
    seen = sum_ranks(is_hit * p ** (ranks_of(is_hit) - 1))
    return where_answerable((1 - p) * seen, ideal, level)


@metric(
    source="Judged@k of ir_measures; Buckley & Voorhees 2004, SIGIR, on unjudged passages",
    better="describes",
)
def judged(gains: Array, ideal: Array, n_retrieved: Counts, k: Cutoff = None) -> Array:
    """Share of the first k passages that somebody judged, relevant or not; no measure of quality.

    NaN where nothing was retrieved, and for questions of which nothing is judged.
    """
    n_shown = n_retrieved if k is None else np.minimum(n_retrieved, k)
    shares = share(is_judged(gains[:, :k]).sum(axis=1), n_shown)
    return np.where(is_judged(ideal).any(axis=1), shares, np.nan)


@metric(kind="set", source="definition: repeated searches of an approximate or remote index")
def retrieval_consistency(rankings: Sequence[Sequence[str]], k: Cutoff = None) -> float:
    """Share of the repeats of one question whose first k passages equal those of the first time.

    rankings: the ids of each time, in rank order. NaN with a single run: nothing was repeated.
    """
    first, *repeats = [list(ids[:k]) for ids in rankings] or [[]]
    return float(np.mean([ids == first for ids in repeats])) if repeats else float("nan")


@dataclass(frozen=True)
class Rankings:
    """The rankings of one system: what the metrics read, a row a question.

    shares: of rankings of pieces, how much of a passage each rank newly shows; is_found: whether
    as much of it has been shown by then as makes it count as found, once a passage.
    """

    gains: Array
    ideal: Array
    n_retrieved: Counts
    shares: Array | None = None
    is_found: NDArray[np.bool_] | None = None


def measure_rankings(metrics: Iterable[Metric | str], rankings: Rankings) -> dict[str, Array]:
    """Compute metrics of kind "ranking": label → (questions,) values."""
    # Columns first: sums over ranks are then sums of columns, several times as fast.
    gains = np.asfortranarray(rankings.gains)
    ideal = best_first(rankings.ideal)
    # What knows only yes and no takes a passage as found once, when enough of it was shown.
    found = gains if rankings.is_found is None else np.where(rankings.is_found, gains, np.nan)
    values = {}
    for declared in map(parse_label, metrics):
        inputs = {
            "gains": gains if "shares" in declared.parameters else found,
            "ideal": ideal,
            "n_retrieved": rankings.n_retrieved,
            "shares": rankings.shares,
        }
        read = {name: inputs[name] for name in inputs if name in declared.parameters}
        result = declared.compute(**read, **declared.options)
        if np.shape(result) != (len(gains),):
            raise BenchError(f"{declared.label} returned {result!r}; return a value a question")
        values[declared.label] = result
    return values


def best_first(ideal: Array) -> Array:
    """Return the grades of each question from the highest on, NaN last."""
    return np.asfortranarray(-np.sort(-ideal, axis=1))


def is_relevant(grades: Array, level: Level) -> NDArray[np.bool_]:
    """Tell which grades count as relevant; NaN does not."""
    return grades > 0 if level is None else grades >= level


def is_judged(grades: Array) -> NDArray[np.bool_]:
    """Tell which grades are judgements: all but NaN and −1."""
    return ~np.isnan(grades) & (grades != POOLED)


def count_relevant(ideal: Array, level: Level) -> Counts:
    """Count the relevant passages of each question."""
    return is_relevant(ideal, level).sum(axis=1)


def count_above(flags: NDArray[np.bool_]) -> Array:
    """Count the flags at higher places than each rank."""
    return np.cumsum(flags, axis=1, dtype=float) - flags


def ranks_of(array: NDArray) -> NDArray[np.float64]:
    """Return the ranks of its columns, from 1."""
    return np.arange(1, array.shape[1] + 1, dtype=float)


def discounted(gains: Array) -> Array:
    """Return DCG: the sum of gain / log2(rank + 1)."""
    return sum_ranks(gains / np.log2(ranks_of(gains) + 1))


def sum_ranks(terms: Array) -> Array:
    """Add up each row rank by rank, as trec_eval does: the last bit can decide a tie of means."""
    total = np.zeros(len(terms))
    for rank in range(terms.shape[1]):
        total += terms[:, rank]
    return total


def share(part: NDArray, whole: NDArray) -> Array:
    """Return part / whole; NaN where there is no whole, so no relevant passage."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def where_answerable(values: Array, ideal: Array, level: Level) -> Array:
    """Return the values of the questions that have a relevant passage, NaN for others."""
    return np.where(count_relevant(ideal, level) > 0, values, np.nan)
