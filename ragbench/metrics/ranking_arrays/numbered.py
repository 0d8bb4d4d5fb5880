"""Rankings of documents that have numbers: all questions at once, with no object a document."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Array, Ranking

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
    depth, raw: as of `ragbench.metrics.ranking_arrays.from_lists`.

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
    poor = gains <= 0
    if (gains < 0).any():
        judged &= gained >= 0
        gained = gained if raw else np.maximum(gained, 0.0)
    return Ranking(
        gains=gained.T,
        ideal=_ideal(len(retrieved), questions[~poor], gains[~poor]).T,
        lengths=lengths,
        judged=judged.T if poor.any() else None,
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
