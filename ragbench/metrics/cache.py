"""A cache of answers by the likeness of questions: how often it would serve, and how often it would serve wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ragbench.metric import metric
from ragbench.types import Array, Vectors

THRESHOLD = 0.85
SOURCE = "the specification, section 10.3.1"
_BLOCK = 2048


class Serving(StrEnum):
    """What the cached answer nearest to a question would be to the one who asked."""

    RIGHT = "right"
    DOUBTFUL = "doubtful"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Nearest:
    """The cached question nearest to each question that was asked.

    similarities: (questions,) cosine to it; NaN where the cache is empty. rows: (questions,) its place in the cache, −1
    where there is none. servings: (questions,) what its answer would be; None where nobody looked.
    """

    similarities: Array
    rows: NDArray[np.int64]
    servings: Sequence[Serving] | None = None


def nearest(asked: Vectors, cached: Vectors, *, left_out: Sequence[int | None] | None = None) -> Nearest:
    """The nearest of the cached vectors to each of those asked, by cosine; of equally near ones the first.

    left_out: for each asked vector the place of its own entry in the cache, which it must not find; None for none.
    In blocks: no questions × cache matrix is held.
    """
    number = len(asked)
    similarities, rows = np.full(number, np.nan), np.full(number, -1, dtype=np.int64)
    if not len(cached) or not number:
        return Nearest(similarities, rows)
    entries = _unit(cached)
    for start in range(0, number, _BLOCK):
        block = _unit(asked[start : start + _BLOCK]) @ entries.T
        for offset, own in enumerate((left_out or [None] * number)[start : start + _BLOCK]):
            if own is not None:
                block[offset, own] = -np.inf
        best = block.argmax(axis=1)
        found = block[np.arange(len(block)), best]
        there = np.isfinite(found)
        similarities[start : start + len(block)] = np.where(there, np.clip(found, -1.0, 1.0), np.nan)
        rows[start : start + len(block)] = np.where(there, best, -1)
    return Nearest(similarities, rows)


def hits(table: Nearest, threshold: float) -> NDArray[np.bool_]:
    """(questions,) whether the cache answers: strictly above the threshold; never out of an empty cache."""
    return np.nan_to_num(table.similarities, nan=-np.inf) > threshold


@metric(
    source=SOURCE,
    over="set",
    better=None,
    formula="questions with a cosine above the threshold to a cached one / questions",
    edges="An empty cache answers nothing: 0. Without questions there is no value.",
    differs="Strictly above the threshold, and a question is never its own hit.",
)
def cache_hit_rate(table: Nearest, *, threshold: float = THRESHOLD) -> float:
    """Share of the questions whose nearest cached question has a cosine above the threshold, strictly.

    An empty cache answers nothing: 0. NaN where nothing was asked. A hit need not be right: see wrong_hit_rate.
    """
    return float(hits(table, threshold).mean()) if len(table.similarities) else float("nan")


@metric(
    source="cache hits whose answer was written for another page",
    over="set",
    better="lower",
    formula="hits that serve another question's answer / questions with a known answer",
    edges="Without a known answer there is no value. Doubtful hits do not count: it is a lower bound.",
    differs="A hit rate alone says nothing of whether the hits were right.",
)
def wrong_hit_rate(table: Nearest, *, threshold: float = THRESHOLD) -> float:
    """Share of the questions with a known answer that the cache would answer with another question's answer.

    NaN where no answer is known. Hits that are doubtful do not count: the number is a lower bound.
    """
    known = [serving is not Serving.UNKNOWN for serving in table.servings or ()]
    if not any(known):
        return float("nan")
    wrong = [serving is Serving.WRONG for serving in table.servings or ()]
    return float((hits(table, threshold) & np.array(wrong))[np.array(known)].mean())


def _unit(vectors: Vectors) -> Array:
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)
