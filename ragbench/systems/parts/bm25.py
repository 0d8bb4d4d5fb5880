"""Passages by the words that they share with a question: BM25 (Robertson and Zaragoza 2009), by the library bm25s."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from ragbench.datasets import Dataset
from ragbench.judge import words
from ragbench.settings import RetrieverSettings
from ragbench.systems.retrieval import Found, Progress
from ragbench.types import Array, Hit

DELTAS = {"bm25l": 0.5, "bm25+": 1.0}
"""Of Lv and Zhai 2011 (both papers), who made these variants."""

MOST_KEPT = 4


class Bm25Retriever:
    """Words are compared by their Snowball stems, Russian and English each by its own; words of grammar do not count.

    A passage that shares no word with the question is not found, so that there may be fewer than k. A hit's
    `similarity` is its score: from 0, without an upper end, and to be compared within one question alone.
    """

    is_stand_in = False

    def __init__(self, settings: RetrieverSettings, dataset: Dataset) -> None:
        self.settings, self.dataset = settings, dataset
        self.chunks = sorted(dataset.chunks, key=lambda chunk: chunk.id)

    @property
    def description(self) -> Mapping[str, Any]:
        how = self.settings.model_dump(include={"variant", "k1", "b"})
        return {"retriever": "bm25", **how, "stems": f"snowball {version('snowballstemmer')}"}

    def prepare(self, progress: Progress | None = None) -> None:
        """Index the passages; as fast as they are read, so that nothing of it is stored."""
        self._index()
        if progress is not None:
            progress(len(self.chunks))

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """As `Retriever.search`; a text is always searched by itself, and anew."""
        index = self._index()
        hits, milliseconds = [], np.zeros(len(texts))
        for place, text in enumerate(texts):
            begun = time.perf_counter()
            scores = index.scores(tokens(text))
            hits.append([Hit(self.chunks[row], float(scores[row])) for row in best(scores, k)])
            milliseconds[place] = (time.perf_counter() - begun) * 1000
            if progress is not None:
                progress(2)
        return Found(hits, {"search": milliseconds}, self.description)

    def _index(self) -> _Index:
        key = (self.settings, self.dataset.content_hash)
        if key not in _KEPT:
            while len(_KEPT) >= MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
            _KEPT[key] = _Index(self.settings, [chunk.text for chunk in self.chunks])
        return _KEPT[key]


def tokens(text: str) -> list[str]:
    """The stems of the words that count."""
    return [words.stem(word) for word in words.words(text) if word not in words.FUNCTION_WORDS]


def best(scores: Array, k: int) -> list[int]:
    """Places of the k highest scores above 0, highest first, ties by place."""
    above = np.flatnonzero(scores > 0)
    if len(above) > k:
        least = np.partition(scores[above], len(above) - k)[len(above) - k]
        above = above[scores[above] >= least]
    order = np.lexsort((above, -scores[above]))[:k]
    return [int(row) for row in above[order]]


class _Index:
    """bm25s in double precision; of the variants that give every passage something, what it gives to all is left
    out."""

    def __init__(self, settings: RetrieverSettings, texts: Sequence[str]) -> None:
        from bm25s import BM25

        self._rows = len(texts)
        self._bm25 = BM25(
            k1=settings.k1, b=settings.b, delta=DELTAS.get(settings.variant, 0.0), method=settings.variant,
            dtype="float64", auto_compile=False,
        )  # fmt: skip
        corpus = [tokens(text) for text in texts]
        self._is_empty = not any(corpus)
        if not self._is_empty:
            self._bm25.index(corpus, show_progress=False)

    def scores(self, asked: Sequence[str]) -> Array:
        """(passages,) the score of each, 0 where no word is shared."""
        known = [] if self._is_empty else [word for word in asked if word in self._bm25.vocab_dict]
        if not known:
            return np.zeros(self._rows)
        scores = np.asarray(self._bm25.get_scores(known), float)
        if self._bm25.nonoccurrence_array is not None:
            shares = np.zeros(self._rows, bool)
            columns = self._bm25.scores
            for word in known:
                number = self._bm25.vocab_dict[word]
                shares[columns["indices"][columns["indptr"][number] : columns["indptr"][number + 1]]] = True
            scores[~shares] = 0.0
        return scores


_KEPT: dict[tuple[RetrieverSettings, str], _Index] = {}
"""The latest indexes of this process, so that a question that is typed now does not wait for one."""
