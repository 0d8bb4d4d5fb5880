"""From what was retrieved and what is relevant to the arrays that ranking metrics read.

Every way in keeps the same rules: a document counts once, at its first place; negative gains count 0; the given order
is the ranking (scores, where given, sort it, and equal scores keep the given order and are counted).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.types import Array, Hit, Question, Ranking

Unit = Literal["chunk", "url"]
Ids = NDArray[np.integer[Any]]

_FEW = 16  # relevant documents a question up to which comparing with each of them is faster than searching
_NOBODY = -2  # in place of a judged document where a question has fewer than others; never retrieved
_SHORT = 40  # ranks up to which comparing each pair of them is faster than sorting


def from_questions(
    questions: Sequence[Question],
    retrieved: Mapping[str, Sequence[Hit]],
    *,
    unit: Unit = "chunk",
    pages: Mapping[str, str | None] | None = None,
    depth: int | None = None,
) -> Ranking:
    """The ranking of one system: one row a question, in the order of `questions`.

    retrieved: hits in rank order by question id; a question that is missing was not answered.
    unit: "url" ranks pages: hits collapse to the first of each page, and a page's gain is its own label, or else the
        highest of its chunks. A chunk without a URL stands for itself.
    pages: url by chunk id, for relevant chunks that were not retrieved; needed for the unit "url".
    depth: ranks to keep, after collapsing; None keeps all.
    """
    hits = [retrieved.get(question.id, ()) for question in questions]
    lists = [[hit.chunk.id for hit in row] for row in hits]
    relevant: list[Mapping[str, float]] = [question.relevant for question in questions]
    if unit == "url":
        page_of = {hit.chunk.id: hit.chunk.url for row in hits for hit in row} | dict(pages or {})
        own = [question.relevant_urls for question in questions]
        lists, relevant = by_page(lists, relevant, page_of, own)
    elif unit != "chunk":
        raise ValueError(f"unit = {unit!r}; it is chunk or url")
    ranking = from_lists(lists, relevant, depth=depth)
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

    relevant: gains by document id, one mapping a question. A gain of 0 or less is a judgement of irrelevance.
    scores: one a document; they sort the list, highest first. Without them the list is the ranking.
    depth: ranks to keep, after duplicates are dropped; None keeps all.
    raw: keep duplicates and negative gains, as formulas read word for word have it; metrics can then leave their
        bounds. Only for comparing with figures that were made so.

    Raises ValueError for lists of different lengths, and for gains or scores that are not numbers.
    """
    if len(retrieved) != len(relevant):
        raise ValueError(f"{len(retrieved)} lists of documents for {len(relevant)} questions: one a question is needed")
    lists = [list(row or ()) for row in retrieved]
    ties = None
    if scores is not None:
        lists, ties = _sorted_by_score(lists, scores)
    if not raw:
        lists = [list(dict.fromkeys(row)) for row in lists]
    if depth is not None:
        lists = [row[:depth] for row in lists]
    least = -np.inf if raw else 0.0
    gains = _padded([[max(known.get(each, 0.0), least) for each in row] for row, known in _paired(lists, relevant)])
    judged = _padded([[each in known for each in row] for row, known in _paired(lists, relevant)]).astype(bool)
    ideal = _padded([sorted((gain for gain in known.values() if gain > 0), reverse=True) for known in relevant])
    if np.isnan(gains).any() or any(gain != gain for known in relevant for gain in known.values()):
        raise ValueError("a gain is NaN: leave a document that nobody judged out of `relevant`")
    ranking = Ranking(
        gains=gains,
        ideal=ideal,
        lengths=np.fromiter(map(len, lists), np.int64, len(lists)),
        judged=judged,
        nonrelevant=np.array([sum(gain <= 0 for gain in known.values()) for known in relevant], dtype=np.int64),
    )
    return ranking if ties is None else _with_ties(ranking, ties)


def from_arrays(retrieved: Ids, questions: Ids, documents: Ids, gains: Array | None = None) -> Ranking:
    """The ranking of a matrix of document numbers: the way for very many questions.

    retrieved: (questions, depth) document numbers in rank order; a negative one is an empty place.
    questions, documents, gains: the judgements as columns: row of the question, number of the document, its gain
        (1 where not given). A pair judged twice takes the higher gain.

    Raises ValueError for shapes that do not fit and for judgements of questions that there are not.
    """
    if retrieved.ndim != 2:
        raise ValueError(f"retrieved has {retrieved.ndim} dimensions; it is (questions, depth)")
    gains = np.ones(len(questions)) if gains is None else np.asarray(gains, dtype=float)
    if not len(questions) == len(documents) == len(gains):
        raise ValueError(f"columns differ: {len(questions)} questions, {len(documents)} documents, {len(gains)} gains")
    if len(questions) and not 0 <= questions.min() <= questions.max() < len(retrieved):
        raise ValueError(f"judgements name questions outside 0 … {len(retrieved) - 1}")
    if len(documents) and documents.min() < 0:
        raise ValueError("a judged document has a negative number; those stand for empty places")
    if np.isnan(gains).any():
        raise ValueError("a gain is NaN: leave a document that nobody judged out")
    narrow = _narrowest(retrieved, documents)
    ranks, lengths = _collapsed(np.ascontiguousarray(retrieved.T, dtype=narrow))
    slots, values = _slots(len(retrieved), questions, documents.astype(narrow), gains)
    has_zeros = bool((gains <= 0).any())
    positive = np.maximum(values, 0.0) if has_zeros else values
    found, judged = _looked_up(ranks, slots, positive, with_judged=has_zeros)
    nonrelevant = ((slots >= 0) & (values <= 0)).sum(axis=0) if has_zeros else None
    unsorted = np.flatnonzero((positive[:-1] < positive[1:]).any(axis=0))
    positive[:, unsorted] = -np.sort(-positive[:, unsorted], axis=0)
    most = int((positive > 0).any(axis=1).sum())
    return Ranking(
        gains=found.T,
        ideal=positive[:most].T,
        lengths=lengths,
        judged=None if judged is None else judged.T,
        nonrelevant=nonrelevant,
    )


def _paired(lists: list[list[str]], relevant: Sequence[Mapping[str, float]]) -> Iterable[tuple[list[str], Any]]:
    return zip(lists, relevant, strict=True)


def _padded(rows: Sequence[Sequence[float]]) -> Array:
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    matrix = np.zeros((len(rows), int(lengths.max(initial=0))))
    matrix[np.arange(matrix.shape[1]) < lengths[:, None]] = [value for row in rows for value in row]
    return matrix


def _sorted_by_score(lists: list[list[str]], scores: Sequence[Sequence[float]]) -> tuple[list[list[str]], list[int]]:
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
    return sum(one == other for one, other in pairwise(scores))


def _with_ties(ranking: Ranking, ties: list[int]) -> Ranking:
    return replace(ranking, ties=np.array(ties, dtype=np.int64))


def _narrowest(*ids: Ids) -> type[np.signedinteger[Any]]:
    """32 bits where all numbers fit in them: half the memory to go through."""
    limits = np.iinfo(np.int32)
    fits = all(limits.min < each.min(initial=0) and each.max(initial=0) < limits.max for each in ids)
    return np.int32 if fits else np.int64


def _collapsed(ranks: Ids) -> tuple[Ids, NDArray[np.int64]]:
    """(depth, questions) with later copies and empty places taken out and the rest moved up, and how many are left."""
    keep = ranks >= 0
    if len(ranks) <= _SHORT:
        for late in range(1, len(ranks)):
            for early in range(late):
                keep[late] &= ranks[early] != ranks[late]
    else:
        order = np.argsort(ranks, axis=0, kind="stable")
        ordered = np.take_along_axis(ranks, order, axis=0)
        first = np.ones_like(keep)
        first[1:] = ordered[1:] != ordered[:-1]
        np.put_along_axis(keep, order, first & (ordered >= 0), axis=0)
    if keep.all():
        return ranks, np.full(ranks.shape[1], len(ranks))
    broken = np.flatnonzero((keep[1:] > keep[:-1]).any(axis=0))
    ranks = np.where(keep, ranks, -1)
    order = np.argsort(~keep[:, broken], axis=0, kind="stable")
    ranks[:, broken] = np.take_along_axis(ranks[:, broken], order, axis=0)
    return ranks, keep.sum(axis=0)


def _slots(n: int, questions: Ids, documents: Ids, gains: Array) -> tuple[Ids, Array]:
    """Judgements as (most a question, n) matrices of documents (_NOBODY for none) and gains, each pair once."""
    if len(questions) and (questions[1:] < questions[:-1]).any():
        order = np.argsort(questions, kind="stable")
        questions, documents, gains = questions[order], documents[order], gains[order]
    counts = np.bincount(questions, minlength=n)
    most = int(counts.max(initial=0))
    place = (np.arange(len(questions)) - np.repeat(np.cumsum(counts) - counts, counts)) * n + questions
    slots = np.full((most, n), _NOBODY, dtype=documents.dtype)
    values = np.zeros((most, n))
    slots.ravel()[place] = documents
    values.ravel()[place] = gains
    if most <= _FEW:
        for late in range(1, most):
            for early in range(late):
                again = np.flatnonzero((slots[late] == slots[early]) & (slots[late] >= 0))
                values[early, again] = np.maximum(values[early, again], values[late, again])
                slots[late, again], values[late, again] = _NOBODY, 0.0
        return slots, values
    order = np.lexsort((-gains, documents, questions))
    again = order[1:][(np.diff(questions[order]) == 0) & (np.diff(documents[order]) == 0)]
    slots.ravel()[place[again]], values.ravel()[place[again]] = _NOBODY, 0.0
    return slots, values


def _looked_up(ranks: Ids, slots: Ids, values: Array, *, with_judged: bool) -> tuple[Array, NDArray[np.bool_] | None]:
    """The gain of each retrieved document, 0 for unjudged ones, and where asked whether it was judged."""
    gains = np.zeros(ranks.shape)
    if len(slots) <= _FEW:
        judged = np.zeros(ranks.shape, dtype=bool)
        single = float(values.max(initial=0.0))
        graded = bool(((values != single) & (slots >= 0)).any())
        for rank, retrieved in enumerate(ranks):
            for documents, known in zip(slots, values, strict=True):
                same = retrieved == documents
                judged[rank] |= same
                if graded:
                    np.copyto(gains[rank], known, where=same)
            if not graded:
                np.multiply(judged[rank], single, out=gains[rank])
        return gains, judged if with_judged else None
    order = np.argsort(slots, axis=0, kind="stable")
    spread = int(max(slots.max(initial=0), ranks.max(initial=0))) + 3
    offset = np.arange(ranks.shape[1], dtype=np.int64) * spread + 2
    keys = (np.take_along_axis(slots, order, axis=0) + offset).T.ravel()
    wanted = ranks + offset
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    same = (keys[place] == wanted) & (ranks >= 0)
    np.copyto(gains, np.take_along_axis(values, order, axis=0).T.ravel()[place], where=same)
    return gains, same if with_judged else None
