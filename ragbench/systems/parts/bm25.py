"""Passages by the words that they share with a question: BM25 (Robertson and Zaragoza 2009), by the library bm25s."""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragbench.core import folders
from ragbench.core.settings import RetrieverSettings
from ragbench.core.types import Array, Hit
from ragbench.data import Dataset
from ragbench.judge import words
from ragbench.store import Store
from ragbench.store.arrays import Arrays
from ragbench.systems.retrieval import Found, Progress

if TYPE_CHECKING:
    from bm25s import BM25

DELTAS = {"bm25l": 0.5, "bm25+": 1.0}
"""Of Lv and Zhai 2011 (both papers), who made these variants."""

MOST_KEPT = 4


class Bm25Retriever:
    """Words are compared by their Snowball stems, Russian and English each by its own; words of grammar do not count.

    A passage that shares no word with the question is not found, so that there may be fewer than k. A hit's
    `similarity` is its score: from 0, without an upper end, and to be compared within one question alone.

    Scores are bm25s' own, in double precision. rank-bm25 gives a word of more than half of the passages epsilon (0.25)
    times the mean weight of a word, where "robertson" gives it none and "lucene" a small one of its own: with the same
    weights the rankings are the same. Its BM25L counts a word's frequency once more than Lv and Zhai, and "bm25l" do.

    store: keeps the index, by what the passages hold and how it is made; None: it is made by every process. Of 20,000
    and 200,000 passages of 110 words it takes 4 and 50 seconds of a processor to make and 0.15 and 1.8 to read.
    """

    is_stand_in = False

    def __init__(self, settings: RetrieverSettings, dataset: Dataset, store: Store | None = None) -> None:
        self.settings, self.dataset, self.store = settings, dataset, store
        self.chunks = sorted(dataset.chunks, key=lambda chunk: chunk.id)

    @property
    def description(self) -> Mapping[str, Any]:
        how = self.settings.model_dump(include={"variant", "k1", "b"})
        return {"retriever": "bm25", **how, "stems": f"snowball {version('snowballstemmer')}"}

    @property
    def is_kept(self) -> bool:
        """Whether the index of the passages has been made, and is kept."""
        texts = [chunk.text for chunk in self.chunks]
        return self.store is not None and self.store.has_arrays(_about(self.settings, texts))

    def prepare(self, progress: Progress | None = None) -> None:
        """Read the index of the passages, or make it."""
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
            rows = best(scores, k)
            scored = zip(rows.tolist(), scores[rows].tolist(), strict=True)
            hits.append([Hit(self.chunks[row], score) for row, score in scored])
            milliseconds[place] = (time.perf_counter() - begun) * 1000
            if progress is not None:
                progress(2)
        return Found(hits, {"search": milliseconds}, self.description)

    def _index(self) -> _Index:
        key = (self.settings, self.dataset.content_hash)
        if key not in _KEPT:
            while len(_KEPT) >= MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
            _KEPT[key] = _Index.of(self.settings, [chunk.text for chunk in self.chunks], self.store)
        return _KEPT[key]


def tokens(text: str) -> list[str]:
    """The stems of the words that count."""
    return [words.stem(word) for word in words.words(text) if word not in words.FUNCTION_WORDS]


def best(scores: Array, k: int) -> NDArray[np.intp]:
    """Places of the k highest scores above 0, highest first, ties by place."""
    above = np.flatnonzero(scores > 0)
    if len(above) > k:
        least = np.partition(scores[above], len(above) - k)[len(above) - k]
        above = above[scores[above] >= least]
    return above[np.lexsort((above, -scores[above]))[:k]]


class _Index:
    """bm25s in double precision; of the variants that give every passage something, what it gives to all is left
    out."""

    def __init__(self, settings: RetrieverSettings, arrays: Arrays) -> None:
        spelt = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
        self._numbers = {word: number for number, word in enumerate(spelt.split("\0"))} if spelt else {}
        self._columns = {name: arrays[name] for name in ("data", "indices", "indptr")}
        self._rows = int(arrays["rows"][0])
        self._bm25 = _library(settings)
        self._bm25.scores = {**self._columns, "num_docs": self._rows}
        self._bm25.nonoccurrence_array = arrays.get("to_all")

    @classmethod
    def of(cls, settings: RetrieverSettings, texts: Sequence[str], store: Store | None) -> _Index:
        """Read, or made and kept."""

        def make() -> Arrays:
            return _made(settings, texts)

        return cls(settings, make() if store is None else store.arrays(_about(settings, texts), make))

    def scores(self, asked: Sequence[str]) -> Array:
        """(passages,) the score of each, 0 where no word is shared."""
        known = [self._numbers[word] for word in asked if word in self._numbers]
        if not known:
            return np.zeros(self._rows)
        scores = np.asarray(self._bm25.get_scores_from_ids(known), float)
        if self._bm25.nonoccurrence_array is not None:
            shares = np.zeros(self._rows, bool)
            starts = self._columns["indptr"]
            for number in known:
                shares[self._columns["indices"][starts[number] : starts[number + 1]]] = True
            scores[~shares] = 0.0
        return scores


def _library(settings: RetrieverSettings) -> BM25:
    from bm25s import BM25

    return BM25(
        k1=settings.k1, b=settings.b, delta=DELTAS.get(settings.variant, 0.0), method=settings.variant, dtype="float64",
        auto_compile=False,
    )  # fmt: skip


def _made(settings: RetrieverSettings, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """A sparse matrix of scores, (rows of passages, columns of words), and its words, parted by NUL."""
    made, corpus = _library(settings), [tokens(text) for text in texts]
    rows = np.array([len(texts)])
    if not any(corpus):
        nothing = np.zeros(0)
        return {"data": nothing, "indices": nothing, "indptr": nothing, "rows": rows, "words": np.zeros(0, np.uint8)}
    made.index(corpus, create_empty_token=False, show_progress=False)
    spelt = "\0".join(sorted(made.vocab_dict, key=made.vocab_dict.__getitem__))
    to_all = {} if made.nonoccurrence_array is None else {"to_all": made.nonoccurrence_array}
    return {
        **{name: made.scores[name] for name in ("data", "indices", "indptr")}, "rows": rows, **to_all,
        "words": np.frombuffer(spelt.encode("utf-8", "surrogatepass"), np.uint8),
    }  # fmt: skip


def _about(settings: RetrieverSettings, texts: Sequence[str]) -> dict[str, Any]:
    """All that an index is made of: the texts in order, the settings, and the code and tables that words come from."""
    content, code = hashlib.sha256(), hashlib.sha256()
    for text in texts:
        held = text.encode("utf-8", "surrogatepass")
        content.update(len(held).to_bytes(8, "big") + held)
    for module in (words.__file__, __file__):
        code.update(folders.content(Path(module)))
    return {
        "what": "index of words", "texts": content.hexdigest(), "code": code.hexdigest(),
        "unicode": unicodedata.unidata_version, **settings.model_dump(include={"variant", "k1", "b"}),
        **{library: version(library) for library in ("bm25s", "snowballstemmer")},
    }  # fmt: skip


_KEPT: dict[tuple[RetrieverSettings, str], _Index] = {}
"""The latest indexes of this process, so that a question that is typed now does not wait for one."""
