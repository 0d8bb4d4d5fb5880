"""A cache of answers by the likeness of questions: how often it would serve, and how often it would serve wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from ragbench.old.core.metric import Purpose, Reading, Stretch, metric
from ragbench.old.core.types import Array, Vectors
from ragbench.old.metrics.vectors import SINGLE

THRESHOLD = 0.85  # the specification's
LIKED, DISLIKED = 4, 2
"""Of users' scores from 1 to 5: from the one on an answer is taken for right, up to the other for wrong."""
SOURCE = "the specification, section 10.3.1"
_BLOCK = 2048  # questions: their cosines to a cache of 100,000 take 1.6 GB at once


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
        best_cosines = block[np.arange(len(block)), best]
        there = np.isfinite(best_cosines)
        similarities[start : start + len(block)] = np.where(there, np.clip(best_cosines, -1.0, 1.0), np.nan)
        rows[start : start + len(block)] = np.where(there, best, -1)
    return Nearest(similarities, rows)


def hits(table: Nearest, threshold: float) -> NDArray[np.bool_]:
    """(questions,) whether the cache answers: strictly above the threshold; never out of an empty cache."""
    return np.nan_to_num(table.similarities, nan=-np.inf) > threshold + SINGLE


@metric(
    source=SOURCE,
    over="set",
    better=None,
    formula="questions with a cosine above the threshold to a cached one / questions",
    edges="An empty cache answers nothing: 0. Without questions there is no value.",
    differs="Strictly above the threshold, and a question is never its own hit.",
    reading=Reading(
        (),
        "the specification, section 10.3.1",
        bands=(
            Stretch(0.0, 0.1, "hardly any use for a cache"),
            Stretch(0.5, 1.0, "high potential for a cache", ends="(]"),
        ),
    ),
    when=(
        "Whether a cache of answers would save time and tokens.",
        "How often users ask the same.",
        "Whether a list of frequent questions is worth writing.",
    ),
    purposes=(
        Purpose("cache", "how many questions a cache could answer"),
        Purpose("user-experience", "how many questions a cache could answer"),
    ),
)
def cache_hit_rate(table: Nearest, *, threshold: Annotated[float, Ge(-1), Le(1)] = THRESHOLD) -> float:
    """Share of the questions whose nearest cached question has a cosine above the threshold, strictly.

    An empty cache answers nothing: 0. NaN where nothing was asked. A hit need not be right: see wrong_hit_rate.
    """
    return float(hits(table, threshold).mean()) if len(table.similarities) else float("nan")


UNDECIDED = (Serving.DOUBTFUL, Serving.UNKNOWN)
"""Of a hit like these nobody can say whether it is wrong."""


def served_wrongly(table: Nearest, threshold: float) -> Array:
    """(questions,) 1 where the cache would answer wrongly, 0 where it would not, NaN where nobody can say.

    What the cache does not answer, it does not answer wrongly, known or not.
    """
    served = hits(table, threshold)
    servings = np.array(table.servings or (), dtype=object)
    wrong = (served & (servings == Serving.WRONG)).astype(np.float64)
    return np.where(served & np.isin(servings, UNDECIDED), np.nan, wrong)


@metric(
    source="cache hits whose answer is known to be wrong",
    over="set",
    better="lower",
    formula="wrong hits / (questions − undecided hits)",
    edges=(
        "Without a known answer there is no value. Hits that are doubtful or unknown are undecided and unmeasured; the "
        "bounds count all of them as right, or as wrong."
    ),
    differs="A hit rate alone says nothing of whether the hits were right.",
    when=("Beside cache_hit_rate, before a cache is switched on: how many hits would be wrong?",),
)
def wrong_hit_rate(table: Nearest, *, threshold: Annotated[float, Ge(-1), Le(1)] = THRESHOLD) -> float:
    """Share of the questions that the cache would answer with an answer known to be wrong.

    NaN where no answer is known. Undecided hits are left out.
    """
    if all(serving is Serving.UNKNOWN for serving in table.servings or ()):
        return float("nan")
    values = served_wrongly(table, threshold)
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def _unit(vectors: Vectors) -> Array:
    wide = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths > 0, lengths, 1.0)
