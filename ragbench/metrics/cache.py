"""A cache of answers by the likeness of questions: how often it serves, and how often wrongly."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragbench.core.metric import metric
from ragbench.metrics.texts import words
from ragbench.metrics.vectors import SINGLE_PRECISION, unit_rows

Array = NDArray[np.float64]
THRESHOLD = 0.85  # of «Вопрошалыч»
ROWS_AT_ONCE = 2048  # their cosines to a cache of 100,000 take 1.6 GB


@metric(kind="set", better="describes", source="definition: «Вопрошалыч», cache of liked answers")
def cache_hit_rate(similarities: ArrayLike, threshold: float = THRESHOLD) -> float:
    """Share of the questions whose nearest cached question has a cosine above the threshold.

    similarities: as of `nearest_cached`. Strictly above; NaN, of an empty cache, is no hit. NaN
    without questions. A hit need not be right: see wrong_hit_rate. Above 0.5 a cache would save
    much time and money, below 0.1 hardly any.
    """
    hits = is_hit(similarities, threshold)
    return float(hits.mean()) if len(hits) else float("nan")


@metric(kind="set", better="lower", source="definition: hits whose answer is known to be wrong")
def wrong_hit_rate(
    similarities: ArrayLike, is_wrong: ArrayLike, threshold: float = THRESHOLD
) -> float:
    """Share of the questions that the cache would answer with an answer known to be wrong.

    is_wrong: of the cached answer to each question 1 wrong, 0 right, NaN where nobody can say.
    Hits of which nobody can say are left out. NaN where nothing is known of any answer.
    """
    known = served_wrongly(similarities, is_wrong, threshold)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else float("nan")


def served_wrongly(
    similarities: ArrayLike, is_wrong: ArrayLike, threshold: float = THRESHOLD
) -> Array:
    """Return (questions,) 1 where the cache would answer wrongly, 0 where not, NaN: nobody knows.

    What the cache does not answer, it does not answer wrongly; where nothing is known of any
    answer, nobody knows that either.
    """
    known = np.asarray(is_wrong, dtype=float)
    return np.where(is_hit(similarities, threshold) | np.isnan(known).all(), known, 0.0)


def is_wrong_answer(
    question: str,
    answer: str,
    disliked: str,
    pages: Collection[str] | None,
    cached_question: str,
    cached_answer: str,
    cached_page: str,
) -> float:
    """Tell whether a cached answer would be wrong: 1, 0, or NaN where nobody can say.

    answer: to the question, known to be right; disliked: known to be wrong; "" where nobody knows.
    pages: where the answer stands; empty: nowhere; None: nobody knows.

    Right: the known answer word for word, or from a page that answers. Wrong: word for word an
    answer that was disliked, or from another page. A page may answer several questions, so nobody
    can say where the two answers, or the two questions, name different numbers.
    """
    if cached_answer and cached_answer in (answer, disliked):
        return float(cached_answer != answer)
    if pages is None:
        return float("nan")
    if not pages:
        # What stands nowhere is answered rightly only by what is from nowhere.
        return float(bool(cached_page))
    if cached_page not in pages:
        return 1.0
    is_open = numbers_differ(answer, cached_answer) or numbers_differ(question, cached_question)
    return float("nan") if is_open else 0.0


def numbers_differ(text: str, other: str) -> bool:
    """Tell whether each of two texts names a number that the other does not."""
    first = {word for word in words(text) if word[0].isdigit()}
    second = {word for word in words(other) if word[0].isdigit()}
    return bool(first - second and second - first)


def is_hit(similarities: ArrayLike, threshold: float = THRESHOLD) -> NDArray[np.bool_]:
    """Tell for which questions the cache answers."""
    # A cosine that is the threshold but for the precision of vectors is not above it.
    return np.asarray(similarities, dtype=float) > threshold + SINGLE_PRECISION


def nearest_cached(
    asked: ArrayLike, cached: ArrayLike, left_out: Sequence[int | None] | None = None
) -> tuple[Array, NDArray[np.int64]]:
    """Return (questions,) the cosine to the nearest cached vector, and its row.

    left_out: for each question the row of its own entry, which it must not find; None: it has
    none. NaN and −1 where the cache is empty. In blocks: memory does not grow with both.
    """
    questions, entries = (unit_rows(np.asarray(side, dtype=float)) for side in (asked, cached))
    similarities = np.full(len(questions), np.nan)
    rows = np.full(len(questions), -1, dtype=np.int64)
    own = np.array([-1 if row is None else row for row in left_out or [None] * len(questions)])
    for start in range(0, len(questions) if len(entries) else 0, ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        cosines = questions[block] @ entries.T
        has_own = np.flatnonzero(own[block] >= 0)
        cosines[has_own, own[block][has_own]] = -np.inf
        nearest = cosines.argmax(axis=1)
        best = cosines[np.arange(len(cosines)), nearest]
        is_there = np.isfinite(best)
        similarities[block] = np.where(is_there, np.clip(best, -1.0, 1.0), np.nan)
        rows[block] = np.where(is_there, nearest, -1)
    return similarities, rows
