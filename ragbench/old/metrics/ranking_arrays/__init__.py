"""From what was retrieved and what is relevant to the arrays that ranking metrics read.

Every way in keeps the same rules: a document counts once, at its first place; negative gains count 0; the given order
is the ranking (scores, where given, sort it, and equal scores keep the given order and are counted).

Of documents that have numbers all questions are taken at once, with no object a document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.types import Array, Chunk, Coverage, Hit, Piece, Question, Ranking
from ragbench.old.metrics.ranking_arrays.coverage import Added, LabelledText

if TYPE_CHECKING:
    import pyarrow as pa


Unit = Literal["chunk", "url"]
Rows = Sequence[Sequence[float]] | Sequence[Array]


def from_questions(
    questions: Sequence[Question],
    retrieved: Mapping[str, Sequence[Hit]],
    *,
    unit: Unit = "chunk",
    pages: Mapping[str, str | None] | None = None,
    depth: int | None = None,
    labelled: LabelledText | None = None,
) -> Ranking:
    """The ranking of one system: one row a question, in the order of `questions`.

    retrieved: hits in rank order by question id; a question that is missing was not answered.
    unit: "url" ranks pages: hits collapse to the first of each page, and a page's gain is its own label, or else the
        highest of its chunks. A chunk without a URL stands for itself.
    pages: url by chunk id, for relevant chunks that were not retrieved; needed for the unit "url".
    depth: ranks to keep, after collapsing; None keeps all.
    labelled: by which pieces of passages are held to the labels of these; a page is found by any of its pieces.

    Raises ValueError for pieces without it.
    """
    hits = [retrieved.get(question.id, ()) for question in questions]
    if unit == "chunk" and any(isinstance(hit.chunk, Piece) for row in hits for hit in row):
        return _of_pieces(questions, hits, labelled, depth)
    lists = [[hit.chunk.passage for hit in row] for row in hits]
    relevant: list[Mapping[str, float]] = [question.judged for question in questions]
    if unit == "url":
        page_of = {hit.chunk.passage: hit.chunk.url for row in hits for hit in row} | dict(pages or {})
        own = [question.relevant_urls for question in questions]
        lists, relevant = by_page(lists, relevant, page_of, own)
    elif unit != "chunk":
        raise ValueError(f"unit = {unit!r}; it is chunk or url")
    return _tied(from_lists(lists, relevant, depth=depth), hits)


def gains(question: Question, hits: Sequence[Hit], labelled: LabelledText) -> Mapping[str, float]:
    """Chunk → what it is worth in this ranking: its own gain, or a piece's share of that of its passage."""
    if not any(isinstance(hit.chunk, Piece) for hit in hits):
        return question.relevant
    gain_by_chunk: dict[str, float] = {}
    for hit, addition in zip(hits, labelled.added(question, (hit.chunk for hit in hits)), strict=True):
        gain_by_chunk.setdefault(hit.chunk.id, addition.grade * addition.share)
    return gain_by_chunk


def _of_pieces(
    questions: Sequence[Question],
    hits: Sequence[Sequence[Hit]],
    labelled: LabelledText | None,
    depth: int | None,
) -> Ranking:
    """Ranked pieces, each worth what it newly shows of the labelled text; see
    `ragbench.old.metrics.ranking_arrays.coverage`."""
    if labelled is None:
        raise ValueError("pieces of passages are ranked: `labelled` has to say what text of the passages is labelled")
    rows = [list({hit.chunk.id: hit.chunk for hit in row}.values())[:depth] for row in hits]
    added = [labelled.added(question, row) for question, row in zip(questions, rows, strict=True)]
    whole = from_lists([[chunk.id for chunk in row] for row in rows], [question.judged for question in questions])
    grades, shares = (
        _padded([[getattr(addition, name) for addition in row] for row in added]) for name in ("grade", "share")
    )
    reached = _padded([[addition.reached for addition in row] for row in added]).astype(bool)
    judged = _padded([_first(q, row, of) for q, row, of in zip(questions, rows, added, strict=True)]).astype(bool)
    covered = Coverage(grades, shares, reached)
    return _tied(replace(whole, gains=grades * shares, judged=judged, coverage=covered), hits)


def _first(question: Question, row: Sequence[Chunk], added: Sequence[Added]) -> list[bool]:
    """At which ranks a judged passage is met: a relevant one where something of its labelled text is shown."""
    seen, judged = set[str](), []
    for chunk, addition in zip(row, added, strict=True):
        is_judged = addition.grade > 0 or question.judged.get(chunk.passage) == 0
        judged.append(is_judged and chunk.passage not in seen)
        if is_judged:
            seen.add(chunk.passage)
    return judged


def _tied(ranking: Ranking, hits: Sequence[Sequence[Hit]]) -> Ranking:
    """The same with the number of ties, where all hits have scores."""
    similarities = [[hit.similarity for hit in row] for row in hits]
    if any(value is None for row in similarities for value in row):
        return ranking
    return _with_ties(ranking, [_ties(row) for row in similarities])


def by_page(
    retrieved: Sequence[Sequence[str]],
    relevant: Sequence[Mapping[str, float]],
    page_of: Mapping[str, str | None],
    own: Sequence[Mapping[str, float]] | None = None,
) -> tuple[list[list[str]], list[Mapping[str, float]]]:
    """Chunk ids to pages, in lists and relevance: the first hit of a page counts, and the highest gain of its chunks.

    own: gains by page, question by question; where a page has one, it wins over those of its chunks.
    """
    lists = [list(dict.fromkeys(page_of.get(chunk) or chunk for chunk in row)) for row in retrieved]
    gains: list[Mapping[str, float]] = []
    for number, row in enumerate(relevant):
        highest: dict[str, float] = {}
        for chunk, gain in row.items():
            page = page_of.get(chunk) or chunk
            highest[page] = max(highest.get(page, gain), gain)
        gains.append(highest | dict(own[number]) if own is not None else highest)
    return lists, gains


def from_lists(
    retrieved: Sequence[Sequence[str] | None],
    relevant: Sequence[Mapping[str, float]],
    *,
    scores: Sequence[Sequence[float]] | None = None,
    depth: int | None = None,
    raw: bool = False,
) -> Ranking:
    """The ranking of lists of ids, one list a question; None or an empty list for one that was not answered.

    relevant: gains by document id, one mapping a question. A gain of 0 is a judgement of irrelevance; one below 0 is
        none at all, as TREC has it (−1: pooled and not judged).
    scores: one a document; they sort the list, highest first. Without them the list is the ranking.
    depth: ranks to keep, after duplicates are dropped; None keeps all.
    raw: keep duplicates and negative gains, as formulas read word for word have it; metrics can then leave their
        bounds. Only for comparing with figures that were made so.

    Raises ValueError for lists of different lengths, and for gains or scores that are not numbers.
    """
    if len(retrieved) != len(relevant):
        raise ValueError(f"{len(retrieved)} lists of documents for {len(relevant)} questions: one a question is needed")
    lists: Sequence[Sequence[str]] = [row or () for row in retrieved]
    ties = None
    if scores is not None:
        lists, ties = _sorted_by_score(lists, scores)
    numbers = defaultdict[str, int](count().__next__)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    matrix = np.full((len(lists), int(lengths.max(initial=0))), -1, np.int32)
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = _numbered(lists, numbers, lengths)
    counts = np.fromiter(map(len, relevant), np.int64, len(relevant))
    judged = np.repeat(np.arange(len(relevant)), counts), _numbered(relevant, numbers, counts)
    gains = np.fromiter(chain.from_iterable(known.values() for known in relevant), float, counts.sum())
    ranking = from_numbers(matrix, *judged, gains, depth=depth, raw=raw)
    return ranking if ties is None else _with_ties(ranking, ties)


def from_columns(retrieved: Sequence[pa.Array], relevant: Sequence[Mapping[str, float]]) -> Ranking:
    """The same of lists that are columns of Arrow, of strings: many documents a question at a tenth of the cost.

    Raises ValueError as `from_lists` does.
    """
    import pyarrow as pa
    from pyarrow import compute

    gains, judged, pooled = [], [], []
    for column, known in zip(retrieved, relevant, strict=True):
        names = pa.array(known, column.type)
        places = compute.index_in(column.unique(), names).fill_null(-1).to_numpy()
        own = np.array([*known.values(), -1.0])
        gains.append(np.maximum(own, 0.0)[places])
        judged.append(own[places] >= 0)
        pooled.append((own[places] < 0) & (places >= 0))
    sampled = any(gain < 0 for known in relevant for gain in known.values())
    ranking = _ranking(gains, judged, relevant)
    return replace(ranking, pooled=_padded(pooled).astype(bool)) if sampled else ranking


def from_gains(retrieved: Rows, relevant: Rows, added: Sequence[Rows] = ()) -> Ranking:
    """The same of what rankings are worth, where that is all that is kept of them: gains by rank, one row a question.

    relevant: gains of all that is judged. added: of rankings of pieces, what `Coverage` holds. Which irrelevant ones
    were judged nobody knows.
    """
    made = _ranking(retrieved, retrieved, [{str(place): gain for place, gain in enumerate(row)} for row in relevant])
    if not added:
        return replace(made, judged=None)
    grades, shares, reached = map(_padded, added)
    return replace(made, judged=None, coverage=Coverage(grades, shares, reached.astype(bool)))


def _ranking(gains: Rows, judged: Rows, relevant: Sequence[Mapping[str, float]]) -> Ranking:
    """gains, judged: of what was retrieved, a row a question."""
    if any(gain != gain for known in relevant for gain in known.values()):
        raise ValueError("a gain is NaN: leave a document that nobody judged out of `relevant`")
    return Ranking(
        gains=_padded(gains),
        ideal=_padded([sorted((gain for gain in known.values() if gain > 0), reverse=True) for known in relevant]),
        lengths=np.fromiter(map(len, gains), np.int64, len(gains)),
        judged=_padded(judged).astype(bool),
        nonrelevant=np.array([sum(gain == 0 for gain in known.values()) for known in relevant], dtype=np.int64),
    )


def _numbered(rows: Iterable[Iterable[str]], numbers: Mapping[str, int], lengths: NDArray[np.int64]) -> Numbers:
    """The numbers of all ids of all rows, one after the other. numbers: gives every new id the next one."""
    return np.fromiter(map(numbers.__getitem__, chain.from_iterable(rows)), np.int32, lengths.sum())


def _padded(rows: Rows) -> Array:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    matrix = np.zeros((len(rows), int(lengths.max(initial=0))))
    columns = rows and isinstance(rows[0], np.ndarray)
    values = np.concatenate(rows) if columns else [value for row in rows for value in row]
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = values
    return matrix


def _sorted_by_score(
    lists: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
) -> tuple[list[list[str]], list[int]]:
    ordered, ties = [], []
    for row, given in zip(lists, scores, strict=True):
        keys = np.asarray(given, dtype=float)
        if len(keys) != len(row):
            raise ValueError(f"{len(keys)} scores for {len(row)} documents: one a document is needed")
        if np.isnan(keys).any():
            raise ValueError("a score is NaN: a document without a score has no place in a ranking")
        order = np.argsort(-keys, kind="stable")
        ordered.append([row[place] for place in order])
        ties.append(_ties(keys[order]))
    return ordered, ties


def _ties(scores: Sequence[float | None] | Array) -> int:
    return sum(score == other for score, other in pairwise(scores))


def _with_ties(ranking: Ranking, ties: list[int]) -> Ranking:
    return replace(ranking, ties=np.array(ties, dtype=np.int64))


Numbers = NDArray[np.integer[Any]]
FEW = 16  # judged documents a question up to which comparing with each of them is faster than searching
SHORT = 40  # ranks up to which comparing each pair of them is faster than sorting
_NOBODY = -2  # in place of a judged document where a question has fewer than others; never retrieved


def from_numbers(
    retrieved: Numbers,
    questions: Numbers,
    documents: Numbers,
    gains: Array | None = None,
    *,
    depth: int | None = None,
    raw: bool = False,
) -> Ranking:
    """The ranking of a matrix of document numbers.

    retrieved: (questions, ranks) document numbers in rank order; behind the last one of a question stands −1.
    questions, documents, gains: the judgements as columns: row of the question, number of the document, its gain (1
        where not given); a document is judged once a question.
    depth, raw: as of `ragbench.old.metrics.ranking_arrays.from_lists`.

    Raises ValueError for shapes that do not fit, for judgements of questions that there are not, and for a gain of NaN.
    """
    gains = np.ones(len(questions)) if gains is None else np.asarray(gains, float)
    _check(retrieved, questions, documents, gains)
    if len(questions) and (questions[1:] < questions[:-1]).any():
        order = np.argsort(questions, kind="stable")
        questions, documents, gains = questions[order], documents[order], gains[order]
    ranks = np.ascontiguousarray(retrieved.T)
    if not raw:
        ranks = _once(ranks)
    lengths = (ranks >= 0).sum(axis=0)
    if depth is not None:
        lengths = np.minimum(lengths, depth)
    ranks = ranks[: int(lengths.max(initial=0))]
    gained, judged = _looked_up(ranks, questions, documents, gains)
    poor, pooled = gains <= 0, None
    if (gains < 0).any():
        pooled = (gained < 0).T
        judged &= gained >= 0
        gained = gained if raw else np.maximum(gained, 0.0)
    return Ranking(
        gains=gained.T,
        ideal=_ideal(len(retrieved), questions[~poor], gains[~poor]).T,
        lengths=lengths,
        judged=judged.T if poor.any() else None,
        pooled=pooled,
        nonrelevant=np.bincount(questions[gains == 0], minlength=len(retrieved)) if poor.any() else None,
    )


def _check(retrieved: Numbers, questions: Numbers, documents: Numbers, gains: Array) -> None:
    if retrieved.ndim != 2:
        raise ValueError(f"retrieved has {retrieved.ndim} dimensions; it is (questions, ranks)")
    if not len(questions) == len(documents) == len(gains):
        raise ValueError(f"columns differ: {len(questions)} questions, {len(documents)} documents, {len(gains)} gains")
    if len(questions) and not 0 <= questions.min() <= questions.max() < len(retrieved):
        raise ValueError(f"judgements name questions outside 0 … {len(retrieved) - 1}")
    if documents.min(initial=0) < 0:
        raise ValueError("a judged document has a negative number; those stand for empty places")
    if np.isnan(gains).any():
        raise ValueError("a gain is NaN: leave a document that nobody judged out of `relevant`")


def _once(ranks: Numbers) -> Numbers:
    """(ranks, questions) with later copies of a document taken out, and the rest moved up."""
    if len(ranks) <= SHORT:
        repeated = np.zeros(ranks.shape[1], bool)
        for late in range(1, len(ranks)):
            for early in range(late):
                repeated |= ranks[early] == ranks[late]
        suspects = np.flatnonzero(repeated)  # among them those that end early: −1 is as good as −1
    else:
        suspects = np.arange(ranks.shape[1])
    if not len(suspects):
        return ranks
    own = ranks[:, suspects]
    order = np.argsort(own, axis=0, kind="stable")
    ordered = np.take_along_axis(own, order, axis=0)
    keep = np.ones_like(own, bool)
    np.put_along_axis(keep, order[1:], ordered[1:] != ordered[:-1], axis=0)
    places = np.argsort(~keep, axis=0, kind="stable")
    moved = ranks.copy()
    moved[:, suspects] = np.take_along_axis(np.where(keep, own, -1), places, axis=0)
    return moved


def _placed(questions: Numbers, number: int) -> NDArray[np.int64]:
    """The place of each judgement among those of its question. questions: rising."""
    counts = np.bincount(questions, minlength=number)
    return np.arange(len(questions)) - (np.cumsum(counts) - counts)[questions]


def _ideal(number: int, questions: Numbers, gains: Array) -> Array:
    """(most, questions) gains, falling, padded with 0."""
    if len(gains) and (gains != gains[0]).any():
        order = np.lexsort((-gains, questions))
        questions, gains = questions[order], gains[order]
    places = _placed(questions, number)
    ideal = np.zeros((int(places.max(initial=-1)) + 1, number))
    ideal[places, questions] = gains
    return ideal


def _looked_up(ranks: Numbers, questions: Numbers, documents: Numbers, gains: Array) -> tuple[Array, NDArray[np.bool_]]:
    """(ranks, questions) each: the gain of what was retrieved, 0 for what nobody judged, and whether it is judged."""
    places = _placed(questions, ranks.shape[1])
    most = int(places.max(initial=-1)) + 1
    if most > FEW:
        return _searched(ranks, questions, documents, gains)
    slots = np.full((most, ranks.shape[1]), _NOBODY, np.promote_types(ranks.dtype, documents.dtype))
    slots[places, questions] = documents
    judged = np.zeros(ranks.shape, bool)
    gain = gains[0] if len(gains) else 0.0
    if (gains == gain).all():
        same = np.empty(ranks.shape[1], bool)
        for rank, seen in zip(ranks, judged, strict=True):
            for slot in slots:
                seen |= np.equal(rank, slot, out=same)
        return judged * gain, judged
    values = np.zeros(slots.shape)
    values[places, questions] = gains
    gained = np.zeros(ranks.shape)
    for rank, seen, worth in zip(ranks, judged, gained, strict=True):
        for slot, value in zip(slots, values, strict=True):
            same = rank == slot
            seen |= same
            np.copyto(worth, value, where=same)
    return gained, judged


def _searched(ranks: Numbers, questions: Numbers, documents: Numbers, gains: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The same by a number for each pair of question and document."""
    spread = int(max(documents.max(initial=0), ranks.max(initial=0))) + 2
    keys = questions.astype(np.int64) * spread + documents + 1
    order = np.argsort(keys)
    wanted = np.arange(ranks.shape[1], dtype=np.int64) * spread + ranks + 1
    places = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    judged = (keys[places] == wanted) & (ranks >= 0)
    return np.where(judged, gains[places], 0.0), judged


def unjudged(ranking: Ranking, k: int | None = None) -> NDArray[np.bool_]:
    """(questions, depth) whether a document was retrieved among the first k, and nobody judged it."""
    judged = ranking.gains > 0 if ranking.judged is None else ranking.judged
    depth = ranking.gains.shape[1]
    shown = np.arange(depth) < np.minimum(ranking.lengths, depth if k is None else k)[:, None]
    return np.asarray(shown & ~judged)


def all_relevant(ranking: Ranking, k: int | None = None) -> Ranking:
    """The same where everything that was retrieved among the first k and not judged is as relevant as the best that is
    known for its question, 1 where nothing is.

    The ideal has these too, so that a metric that is divided by it stays within its bounds; it can be lower then.
    """
    flags = unjudged(ranking, k)
    best = ranking.ideal[:, :1] if ranking.ideal.shape[1] else np.zeros((len(ranking), 1))
    more = np.where(flags, np.where(best > 0, best, 1.0), 0.0)
    ideal = -np.sort(-np.concatenate([ranking.ideal, more], axis=1), axis=1)
    judged = None if ranking.judged is None else ranking.judged | flags
    return replace(ranking, gains=np.where(flags, more, ranking.gains), ideal=ideal, judged=judged, pooled=None)


def condensed(ranking: Ranking) -> Ranking:
    """The same without what was not judged: the judged documents move up (Sakai 2007, Alternatives to bpref, SIGIR)."""
    judged = ranking.gains > 0 if ranking.judged is None else ranking.judged
    order = np.argsort(~judged, axis=1, kind="stable")
    lengths = judged.sum(axis=1)
    kept = np.arange(judged.shape[1]) < lengths[:, None]
    gains = np.where(kept, np.take_along_axis(ranking.gains, order, axis=1), 0.0)
    return replace(ranking, gains=gains, lengths=lengths, judged=kept, pooled=None, ties=None)
