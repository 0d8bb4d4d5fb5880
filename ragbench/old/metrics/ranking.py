"""How well systems rank: one value a question, all questions and many metrics at once.

Binary relevance among the first ten documents has few distinct patterns ("cells"): about 150 over 100,000 questions.
A metric of the grain `ranking` reads one row at a time, so it is computed once a cell and handed out to its questions.

Rules that hold for every measure here. A question without relevant passages has no value (NaN). A question that was
not answered counts 0. `k=None` reads the whole list. Measures that know only relevant or not take `level`, the
smallest gain that counts as relevant; None takes every positive gain.

Where pieces of passages are ranked, relevance stays that of passages, and pieces count by the labelled text that they
show for the first time (`ragbench.old.core.types.Coverage`). Recall adds up its shares. nDCG weights gains by them; its
ideal is that of whole passages, which no cutting can beat: a piece is of one passage, and no text counts twice. What
knows only yes and no says yes where enough of a passage's labelled text has been shown, once a passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from ragbench.old.core.metric import Metric, Peer, Purpose, Reading, Stretch, metric, parse
from ragbench.old.core.types import Array, Coverage, Ranking, Sample, Score, Status
from ragbench.old.core.types.reason import Reason

_WORTH_COLLAPSING = 1_000  # questions; below, the metrics themselves cost less than finding the cells


@dataclass(frozen=True, slots=True)
class Cells:
    """The distinct rows of a ranking.

    ranking: one row a cell; its `ties` are dropped (no metric reads them).
    counts: (cells,) how many questions share the row.
    inverse: (questions,) the cell of each question.
    """

    ranking: Ranking
    counts: NDArray[np.int64]
    inverse: NDArray[np.int64]


def evaluate(
    ranking: Ranking,
    metrics: Iterable[Metric | str],
    *,
    without_relevant: Literal["unmeasured", "zero"] = "unmeasured",
) -> dict[str, Array]:
    """The values of all metrics by label, each (questions,), sharing what they have in common.

    without_relevant: what a question without relevant documents gets: NaN, or 0 as some software has it.

    Raises ValueError for a metric of another grain or an unknown label.
    """
    bound = [parse(each) if isinstance(each, str) else each for each in metrics]
    for each in bound:
        if each.grain != "ranking":
            raise ValueError(f"{each.label} works on the grain {each.grain!r}, not on a ranking")
    collapsed = cells(ranking) if len(ranking) >= _WORTH_COLLAPSING and len(bound) > 1 else None
    rows = ranking if collapsed is None else collapsed.ranking
    values = {each.label: each(rows) for each in bound}
    if without_relevant == "zero":
        values = {label: np.nan_to_num(column, nan=0.0) for label, column in values.items()}
    return values if collapsed is None else {label: column[collapsed.inverse] for label, column in values.items()}


def reachable(ranking: Ranking, metrics: Iterable[Metric]) -> dict[str, Array]:
    """By label, (questions,) the most that a metric can give: what a list of all relevant documents gets, the best
    first. precision@10 with one of them reaches 0.1, recall@1 with four 0.25; NaN without relevant documents."""
    bound = list(metrics)
    width = max([ranking.ideal.shape[1], *(each.cutoff or 0 for each in bound)])
    best = np.pad(ranking.ideal, ((0, 0), (0, width - ranking.ideal.shape[1])))
    perfect = Ranking(gains=best, ideal=ranking.ideal, lengths=(ranking.ideal > 0).sum(axis=1))
    return evaluate(replace(perfect, nonrelevant=ranking.nonrelevant), bound)


def cells(ranking: Ranking) -> Cells | None:
    """The distinct rows of a ranking with their counts; None where a row has too many possible forms to number them, as
    rankings of pieces have.

    Two questions fall into one cell when they agree in gains, ideal gains, length and judgements.
    """
    codes = _codes(ranking) if ranking.coverage is None else None
    if codes is None:
        return None
    code, size = codes
    if size <= max(4 * len(ranking), 1 << 20):
        counts = np.bincount(code, minlength=size)
        present = np.flatnonzero(counts)
        place = np.empty(size, dtype=np.int64)
        place[present] = np.arange(len(present))
        inverse, counts = place[code], counts[present]
    else:
        _, inverse, counts = np.unique(code, return_inverse=True, return_counts=True)
    example = np.empty(len(counts), dtype=np.int64)
    example[inverse] = np.arange(len(ranking))
    return Cells(rows(ranking, example), counts, inverse)


def rows(ranking: Ranking, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Ranking:
    """The ranking of some of the questions, by position or by mask; without `ties`."""
    cover = ranking.coverage
    return replace(
        ranking,
        gains=ranking.gains[chosen],
        ideal=ranking.ideal[chosen],
        lengths=ranking.lengths[chosen],
        judged=None if ranking.judged is None else ranking.judged[chosen],
        pooled=None if ranking.pooled is None else ranking.pooled[chosen],
        nonrelevant=None if ranking.nonrelevant is None else ranking.nonrelevant[chosen],
        ties=None,
        coverage=None if cover is None else Coverage(cover.grades[chosen], cover.shares[chosen], cover.reached[chosen]),
    )


def _codes(ranking: Ranking) -> tuple[NDArray[np.int64], int] | None:
    """A number for each row that is equal exactly for equal rows, and how many numbers there can be."""
    levels = _levels(ranking)
    digits = _digits(ranking, levels)
    size = 1
    for _, radix in digits:
        size *= radix
        if size >= 1 << 62:
            return None
    code = np.zeros(len(ranking), dtype=np.int64)
    for digit, radix in digits:
        code *= radix
        code += digit
    return code, size


def _levels(ranking: Ranking) -> Array:
    """The distinct gains, 0 left out, rising: sorting is spared where there is only one."""
    highest = ranking.ideal.max(initial=0.0)
    for gains in (ranking.gains, ranking.ideal):
        if not ((gains == 0) | (gains == highest)).all():
            both = np.concatenate([np.unique(ranking.gains), np.unique(ranking.ideal)])
            return np.setdiff1d(both, [0.0])
    return np.array([highest]) if highest else np.array([])


def _digits(ranking: Ranking, levels: Array) -> list[tuple[NDArray[Any], int]]:
    digits: list[tuple[NDArray[Any], int]] = []
    for rank in range(ranking.gains.shape[1]):
        gains = ranking.gains[:, rank]
        digit = gains != 0 if len(levels) <= 1 else np.searchsorted(levels, gains) + (gains > 0)
        digits.append((digit, len(levels) + 2 if len(levels) > 1 else 2))
    digits += [((ranking.ideal == level).sum(axis=1), ranking.ideal.shape[1] + 1) for level in levels]
    digits.append((ranking.lengths, int(ranking.lengths.max(initial=0)) + 1))
    for flags in (ranking.judged, ranking.pooled):
        digits += [] if flags is None else [(flags[:, rank], 2) for rank in range(flags.shape[1])]
    if ranking.nonrelevant is not None:
        digits.append((ranking.nonrelevant, int(ranking.nonrelevant.max(initial=0)) + 1))
    return digits


Level = Annotated[float, Gt(0)] | None
"""The smallest gain that counts as relevant; None: any above 0."""
Flags = NDArray[np.bool_]


_RANK_EDGE = (
    "A question without relevant passages has no value and is counted apart; one that the system did not answer "
    "counts 0."
)
_RANK_DIFF = (
    "A passage counts once: later copies are dropped, so no value exceeds its bound; tied scores keep the order of"
    " the list."
)


@metric(
    source="Success at k: Craswell & Hawking 2005, Overview of the TREC-2004 Web Track, section 3",
    cutoffs=(1, 5, 10),
    formula="1 if a relevant passage is among the first k, else 0",
    edges=_RANK_EDGE,
    differs=_RANK_DIFF,
    reading=Reading(
        (
            "hit_rate@1 = 1: the first result is always relevant; for RAG this one counts most.",
            "hit_rate@10 = 0.5: for half of the questions a relevant passage is among the first ten.",
        ),
        "the specification, section 4.4.1",
        trust=(
            "High: easy to understand and widely used. It does not see how many passages are relevant, "
            "nor where they stand."
        ),
    ),
    when=("Whether there is anything to answer from: the first thing to look at.",),
    purposes=(Purpose("retrieval", "how often the very first passage is relevant", 1),),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def hit_rate(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Whether at least one relevant passage is among the first k."""
    return _of_answerable(ranking, level, _hits(ranking, k, level).any(axis=1).astype(float))


@metric(
    source="Voorhees 1999, The TREC-8 Question Answering Track Report, section 3",
    formula="1 / rank of the first relevant passage",
    edges=_RANK_EDGE,
    differs=(
        "Not cut off unless a cut-off is bound: mrr@10 looks at ten passages only, and a page that retrieves ten "
        "says mrr@10. Other programs cut at 10 without saying so."
    ),
    reading=Reading(
        (
            "1: the first result is always relevant.",
            "0.5: on average the first relevant passage stands at rank 2.",
            "0.1: on average it stands at rank 10.",
        ),
        "the specification, section 4.4.2",
        trust="High: a standard measure of search, above all where few results are shown.",
    ),
    when=("Where only the first results are read or handed on.",),
    purposes=(Purpose("retrieval", "how far up the first relevant passage stands"),),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def mrr(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """1 / rank of the first relevant passage; 0 if none was retrieved."""
    hits = _hits(ranking, k, level)
    if not hits.shape[1]:
        return _of_answerable(ranking, level, np.zeros(len(ranking)))
    return _of_answerable(ranking, level, hits.any(axis=1) / (hits.argmax(axis=1) + 1.0))


@metric(
    source="Cleverdon 1967, The Cranfield tests on index language devices",
    cutoffs=(1, 3, 5, 10),
    formula="relevant passages among the first k / all relevant passages",
    edges=_RANK_EDGE,
    differs=_RANK_DIFF,
    reading=Reading(
        (
            "1: every relevant passage was found, which takes a k of at least their number.",
            "At a fixed k, more recall goes with less precision.",
        ),
        "the specification, section 4.4.3",
        trust="High: fundamental measures of search, which look at completeness and at correctness apart.",
    ),
    when=("Whether all that a full answer needs was found.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def recall(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Share of all relevant passages that are among the first k."""
    relevant = _relevant(ranking, level)
    if ranking.coverage is None:
        return _share(ranking, level, _hits(ranking, k, level).sum(axis=1), relevant)
    shown = np.where(_at_least(_grades(ranking, k), level), ranking.coverage.shares[:, :k], 0.0).sum(axis=1)
    return _share(ranking, level, np.minimum(shown, relevant), relevant)  # rounded shares may add up to a bit more


@metric(
    source="Cleverdon 1967, The Cranfield tests on index language devices",
    cutoffs=(1, 3, 5, 10),
    formula="relevant passages among the first k / k",
    edges=_RANK_EDGE,
    differs=(
        "Divided by k even when fewer passages were returned; some programs divide by what was returned and reward"
        " short lists."
    ),
    reading=Reading(
        (
            "1: all k results are relevant.",
            "At a fixed k, more recall goes with less precision.",
        ),
        "the specification, section 4.4.3",
        trust="High: fundamental measures of search, which look at completeness and at correctness apart.",
    ),
    when=("How much of what is handed on is of no use, where a prompt is short or dear.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def precision(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Relevant passages among the first k, divided by k even when fewer were returned.

    Without a cut-off: the share of relevant passages among all that were returned.
    """
    retrieved = ranking.lengths if k is None else np.full(len(ranking), k)
    return _share(ranking, level, _hits(ranking, k, level).sum(axis=1), retrieved)


@metric(
    source="Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4); "
    "discount log2(rank + 1) and exponential gain from Burges et al. 2005, ICML",
    cutoffs=(5, 10),
    formula="DCG / ideal DCG; DCG = Σ gainᵢ / log₂(i + 1), i ≤ k",
    edges=_RANK_EDGE,
    differs=(
        "Linear gains by default, 2^gain − 1 by option. The ideal is made from the judged gains, and a passage "
        "counts once, so values above 1 are impossible."
    ),
    reading=Reading(
        (
            "1: a perfect order, the relevant passages first.",
            "0: no relevant passage among the first k.",
        ),
        "the specification, section 4.4.4",
        bands=(
            Stretch(0.0, 0.5, "needs improvement"),
            Stretch(0.5, 0.9, "acceptable", ends="[]"),
            Stretch(0.9, 1.0, "excellent", ends="(]"),
        ),
        trust=("Very high: the standard of today's benchmarks, with a theory behind it and borne out by experience."),
    ),
    when=(("One number for what was found and for its order; the only one here that knows degrees of relevance."),),
    purposes=(Purpose("retrieval", "what is found and how it is ordered, in one number", 10),),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def ndcg(
    ranking: Ranking,
    k: int | None = None,
    *,
    gain: Literal["linear", "exponential"] = "linear",
    ideal: Literal["graded", "binary"] = "graded",
) -> Array:
    """Gain discounted by log2(rank + 1), divided by that of the best possible order of all judged passages.

    gain: "exponential" takes 2^gain − 1 for the gain.
    ideal: "binary" divides by an ideal list of gains of 1, as the specification's formula is written; graded gains can
        then exceed 1.
    """
    gains, best = ranking.gains[:, :k], ranking.ideal[:, :k]
    if ideal == "binary":
        best = (best > 0).astype(float)
    if gain == "exponential":
        best, gains = np.exp2(best) - 1, np.exp2(_grades(ranking, k)) - 1
        gains = gains if ranking.coverage is None else gains * ranking.coverage.shares[:, :k]
    return _share(ranking, None, _discounted(gains), _discounted(best))


@metric(
    source="Buckley & Voorhees 2000, Evaluating evaluation measure stability, SIGIR",
    published="map",
    formula="Σ precision at the rank of each relevant passage / number of relevant passages",
    edges=_RANK_EDGE,
    differs="Divided by all relevant passages, not by those that were retrieved: missing one costs.",
    when=("Where many passages are relevant, and all of them count.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def average_precision(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Mean of the precision at the rank of each relevant passage, 0 for those that were not retrieved."""
    hits = _hits(ranking, k, level)
    precisions = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    return _share(ranking, level, _summed(np.where(hits, precisions, 0.0)), _relevant(ranking, level))


@metric(
    source="Buckley & Voorhees 2004, Retrieval evaluation with incomplete information, SIGIR; as trec_eval has it",
    formula="(1 / R) Σ (1 − min(irrelevant above, R) / min(R, N))",
    edges=_RANK_EDGE,
    differs="With min(R, N) in the divisor, as trec_eval computes it; the first publication divides by R.",
    when=("Where many retrieved passages were never judged: it looks at judged ones alone.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def bpref(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """How seldom passages judged irrelevant stand above relevant ones; unjudged passages play no part.

    With R relevant and N irrelevant judged passages: the sum over the relevant passages retrieved of
    1 − min(irrelevant above it, R) / min(R, N), divided by R. Where nobody judged a passage irrelevant, it is recall.
    A grade below 0 is no judgement, as TREC has it (−1: pooled and not judged).
    Beyond rank k nothing counts as retrieved.
    """
    hits, relevant = _hits(ranking, k, level), _relevant(ranking, level)
    judged = (ranking.gains > 0 if ranking.judged is None else ranking.judged)[:, :k]
    above = np.cumsum(judged & ~_at_least(_grades(ranking, k), level), axis=1)
    irrelevant = (ranking.ideal > 0).sum(axis=1) - relevant
    if ranking.nonrelevant is not None:
        irrelevant = irrelevant + ranking.nonrelevant
    most = np.maximum(np.minimum(relevant, irrelevant), 1)[:, None]
    credit = 1 - np.minimum(above, relevant[:, None]) / most
    return _share(ranking, level, _summed(np.where(hits, credit, 0.0)), relevant)


_SMALL = 1e-5
"""What keeps a share of judged passages from 0 and 1 where none was judged, as trec_eval has it."""


@metric(
    source="Yilmaz & Aslam 2006, Estimating average precision with incomplete and imperfect judgments, CIKM; as "
    "trec_eval has it",
    formula="(1 / R) Σ expected precision at the rank of each relevant passage",
    edges=_RANK_EDGE,
    differs="What is in no pool counts as irrelevant; where everything in the pool was judged it is average precision.",
    when=("Where people judged a random part of the pool.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def inferred_ap(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Average precision as a random part of the pool tells it (infAP).

    At the rank j of a relevant passage the expected precision is 1 / j + (j − 1) / j · (pooled above / (j − 1)) ·
    (relevant above / judged above). A grade below 0 says that a passage was pooled and not judged.
    """
    hits = _hits(ranking, k, level)
    judged = (ranking.gains > 0 if ranking.judged is None else ranking.judged)[:, :k] | hits
    unjudged = np.zeros(hits.shape, bool) if ranking.pooled is None else ranking.pooled[:, :k] & ~judged

    def above(flags: Flags) -> Array:
        return np.cumsum(flags, axis=1, dtype=float) - flags

    rank = np.arange(1, hits.shape[1] + 1, dtype=float)
    relevant = (above(hits) + _SMALL) / (above(judged) + 2 * _SMALL)
    expected = 1 / rank + (above(judged) + above(unjudged)) / rank * relevant
    return _share(ranking, level, _summed(np.where(hits, expected, 0.0)), _relevant(ranking, level))


@metric(
    source="Moffat & Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1)",
    formula="(1 − p) Σ pⁱ over the ranks i = 0, 1, … of relevant passages",
    edges=_RANK_EDGE,
    differs=(
        "Reaches 1 only for an endless list of relevant passages; p is 0.8 by default and is part of the name "
        "where it differs."
    ),
    when=("Where readers stop early, with a chance that you know.",),
)
def rbp(
    ranking: Ranking, k: int | None = None, *, p: Annotated[float, Gt(0), Lt(1)] = 0.8, level: Level = None
) -> Array:
    """Relevance seen by a reader who goes on to the next passage with probability p.

    (1 − p) Σ pⁱ over the ranks i = 0, 1, … of relevant passages: 1 only for an endless list of them.
    """
    hits = _hits(ranking, k, level)
    return _of_answerable(ranking, level, (1 - p) * _summed(hits * np.power(p, np.arange(hits.shape[1], dtype=float))))


@metric(
    source="Buckley & Voorhees 2000, Evaluating evaluation measure stability, SIGIR",
    formula="relevant passages among the first R / R",
    edges=_RANK_EDGE,
    differs=_RANK_DIFF,
    when=("Where questions have very different numbers of relevant passages.",),
    peers=(Peer("pytrec_eval", 1e-12, "2,000 random rankings"),),
)
def r_precision(ranking: Ranking, k: int | None = None, *, level: Level = None) -> Array:
    """Precision at R, where R is the number of relevant passages of the question.

    Beyond rank k nothing counts as retrieved: a question with more than k relevant passages cannot reach 1.
    """
    hits, relevant = _hits(ranking, k, level), _relevant(ranking, level)
    within = np.arange(hits.shape[1]) < relevant[:, None]
    return _share(ranking, level, (hits & within).sum(axis=1), relevant)


@metric(
    source="Buckley & Voorhees 2004, Retrieval evaluation with incomplete information, SIGIR: unjudged passages; the "
    "share as `Judged@k` of ir_measures",
    formula="judged passages among the first k / passages among the first k",
    edges="A question of which nothing was judged has no value, nor has one that the system did not answer.",
    differs="Divided by what was returned where that is fewer than k. Where only relevant passages are known, as in "
    "most sets of questions, it is the share of these.",
    better=None,
    when=("Whether a low value means bad results, or results that nobody judged.",),
)
def judged(ranking: Ranking, k: int | None = None) -> Array:
    """Share of the first k passages that somebody judged, relevant or not; not a measure of quality.

    A grade below 0 is no judgement, as TREC has it (−1: pooled and not judged).
    """
    known = (ranking.ideal > 0).sum(axis=1) + (0 if ranking.nonrelevant is None else ranking.nonrelevant)
    seen = (ranking.gains > 0 if ranking.judged is None else ranking.judged)[:, :k].sum(axis=1)
    shown = ranking.lengths if k is None else np.minimum(ranking.lengths, k)
    return np.divide(seen, shown, out=np.full(len(ranking), np.nan), where=(shown > 0) & (known > 0))


@metric(
    source="the specification, section 4.4.5",
    fields=("contexts",),
    formula="repeats whose first k passages equal those of the first time / repeats",
    edges="With a single run it is unmeasured: nothing was repeated.",
    differs="Software that reports 1 for a single run, or repeats the same cached vector, tests nothing.",
    when=("Approximate indexes and remote services: does the same question find the same passages?",),
)
def retrieval_consistency(turns: Sequence[Sample], k: int | None = None) -> Score:
    """Share of the repeats of one question whose first k passages equal those of the first time, in the same order.

    turns: the same question, retrieved anew each time. Unmeasured with a single run: nothing was repeated.
    """
    lists = [None if turn.contexts is None else [chunk.id for chunk in turn.contexts[:k]] for turn in turns]
    if len(lists) < 2 or None in lists:
        why = Reason("a second run is needed: nothing can be compared")
        if None in lists:
            why = Reason("run {count} has no passages: nothing can be compared", count=lists.index(None) + 1)
        return Score.unmeasured(Status.MISSING_FIELD, why)
    equal = [each == lists[0] for each in lists[1:]]
    value = sum(equal) / len(equal)
    differing = [number for number, same in enumerate(equal, start=2) if not same]
    return Score(value, reason=f"{sum(equal)} / {len(equal)} = {value:.3f}", detail={"differing_runs": differing})


def answerable(ranking: Ranking, level: float | None = None) -> Flags:
    """(questions,) whether a question has a relevant passage at all: those without have no value."""
    return _relevant(ranking, level) > 0


def _hits(ranking: Ranking, k: int | None, level: float | None) -> Flags:
    enough = _at_least(_grades(ranking, k), level)
    return enough if ranking.coverage is None else enough & ranking.coverage.reached[:, :k]


def _grades(ranking: Ranking, k: int | None) -> Array:
    """The gain of what stands at each rank, or of the passage that it newly shows something of."""
    return (ranking.gains if ranking.coverage is None else ranking.coverage.grades)[:, :k]


def _at_least(gains: Array, level: float | None) -> Flags:
    return gains > 0 if level is None else gains >= level


def _relevant(ranking: Ranking, level: float | None) -> NDArray[np.int64]:
    ideal = ranking.ideal
    return (ideal > 0 if level is None else ideal >= level).sum(axis=1)


def _discounted(gains: Array) -> Array:
    return _summed(gains / np.log2(np.arange(2, gains.shape[1] + 2)))


def _summed(terms: Array) -> Array:
    """Row sums added up rank by rank, as trec_eval does: where a fourth decimal is a tie, the last bit decides it."""
    return np.cumsum(terms, axis=1)[:, -1] if terms.shape[1] else np.zeros(len(terms))


def _share(ranking: Ranking, level: float | None, part: NDArray[Any], whole: NDArray[Any]) -> Array:
    shares = np.divide(part, whole, out=np.zeros(len(ranking)), where=whole > 0)
    return _of_answerable(ranking, level, shares)


def _of_answerable(ranking: Ranking, level: float | None, values: Array) -> Array:
    return np.where(answerable(ranking, level), values, np.nan)
