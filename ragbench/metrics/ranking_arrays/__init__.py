"""From what was retrieved and what is relevant to the arrays that ranking metrics read.

Every way in keeps the same rules: a document counts once, at its first place; negative gains count 0; the given order
is the ranking (scores, where given, sort it, and equal scores keep the given order and are counted).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array, Chunk, Coverage, Hit, Piece, Question, Ranking
from ragbench.metrics.ranking_arrays.coverage import Added, LabelledText
from ragbench.metrics.ranking_arrays.numbered import Numbers, from_numbers

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
    relevant: list[Mapping[str, float]] = [question.relevant for question in questions]
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
    `ragbench.metrics.ranking_arrays.coverage`."""
    if labelled is None:
        raise ValueError("pieces of passages are ranked: `labelled` has to say what text of the passages is labelled")
    rows = [list({hit.chunk.id: hit.chunk for hit in row}.values())[:depth] for row in hits]
    added = [labelled.added(question, row) for question, row in zip(questions, rows, strict=True)]
    whole = from_lists([[chunk.id for chunk in row] for row in rows], [question.relevant for question in questions])
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
        is_judged = addition.grade > 0 or question.relevant.get(chunk.passage) == 0
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

    gains, judged = [], []
    for column, known in zip(retrieved, relevant, strict=True):
        names = pa.array(known, column.type)
        places = compute.index_in(column.unique(), names).fill_null(-1).to_numpy()
        own = np.array([*known.values(), -1.0])
        gains.append(np.maximum(own, 0.0)[places])
        judged.append(own[places] >= 0)
    return _ranking(gains, judged, relevant)


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
