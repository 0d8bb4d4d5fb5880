"""The offline embedder: hashed character n-grams, weighted by TF-IDF, reduced by SVD. No model, no download.

Latent semantic analysis (Deerwester et al. 1990) over the hashing trick (Weinberger et al. 2009). It needs no words'
boundaries, so it stands Russian endings and misspellings; it knows no meaning beyond shared spelling.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import EmbeddingError, TextKind, Vectors
from ragbench.old.embed.texts import Arrays, Keep, check_texts, content_hash, prefixed
from ragbench.old.embed.threads import one_thread

VERSION = 1  # of the procedure: a change of any vector raises it
POWER_ITERATIONS = 1
"""Of the random projections: three take twice as long, and find passages again a little more seldom (MRR .77 and .80
of six words out of one of 3,000 paragraphs of documentation)."""
EXACT_UP_TO = 2000  # texts of a corpus
MOST_FITTED = 10_000
"""Texts of a corpus that weights and axes are taken from, drawn by their hash, the same in any order. More cost time
and memory, and help little."""
RANK_TOLERANCE = 1e-10  # of the largest squared singular value: below it lies rounding, as repeated texts leave it
KEPT_FROM = 2001  # texts of a corpus: fewer are fitted sooner than what they were fitted to is read
MOST_HELD = 5_000_000  # n-grams of words that are held: 20 MB
MANY = 16  # texts for whose sake all columns are gone through


class HashingEmbedder:
    """Fitted on a corpus when made, on MOST_FITTED texts of it at most. `identity` covers the options and every fitted
    number.

    width: `dimensions`, or fewer where the corpus has fewer texts; `buckets` without SVD. With SVD the last axis is
    for texts that share no n-gram with the corpus: they lie there alone, at a right angle to every other text,
    instead of being zero. keep: gives what was fitted to this corpus before.
    """

    is_stand_in = True
    is_by_text = True
    """A text has the same vector, to the bit, whatever it is embedded with."""
    together = 512
    """Texts in one product at most: of so many the vectors lie in the processor's own memory."""

    def __init__(
        self, name: str, settings: EmbedderSettings, corpus: Sequence[str] | None, keep: Keep | None = None
    ) -> None:
        self.name, self.settings = name, settings
        if settings.dimensions == 0:
            _refuse_too_wide(name, settings.buckets)
        if settings.dimensions == 1:
            raise EmbeddingError(
                f"embedders.{name}: dimensions = 1 leaves no room for meaning: 0 for none, or 2 and more"
            )
        # nothing of a corpus is embedded here: the beginning of a text tells enough
        limit = settings.max_characters
        texts = drawn({text if len(text) <= limit else text.strip()[:limit] for text in corpus or ()})
        if (settings.tfidf or settings.dimensions) and not texts:
            raise EmbeddingError(f"embedders.{name} takes its weights from a corpus, and none was given")
        self._known: dict[str, NDArray[np.int32]] = {}
        self._held = 0
        self._active: NDArray[np.int64] | None = None
        self._weights: NDArray[np.float64] | None = None
        self._onto: NDArray[np.float64] | None = None  # (columns, axes), as a product takes it: else each one copies it
        axes = None
        if texts:
            check_texts(texts, settings, name)
            axes = self._fitted(prefixed(texts, settings, "passage"), keep)
        self.identity = self._identity(axes)

    @property
    def width(self) -> int:
        return self.settings.buckets if self._onto is None else self._onto.shape[1] + 1

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32 of length 1. Raises EmbeddingError for empty and over-long texts."""
        check_texts(texts, self.settings, self.name)
        vectors = np.zeros((len(texts), self.width), np.float32)
        for start in range(0, len(texts), self.together):
            rows = slice(start, start + self.together)
            counts = self._weighted(self._counts(prefixed(texts[rows], self.settings, kind)))
            if self._onto is None:
                vectors[rows] = counts.toarray()
                continue
            with one_thread():
                inside = np.asarray(counts @ self._onto)
            lengths = np.linalg.norm(inside, axis=1)
            outside = lengths < 1e-6  # nothing in common with the corpus but rounding
            vectors[rows, :-1][~outside] = inside[~outside] / lengths[~outside, None]
            vectors[rows, -1] = outside
        return vectors

    def _fitted(self, texts: Sequence[str], keep: Keep | None) -> NDArray[np.floating[Any]] | None:
        """The axes, in (axes, columns); the columns and their weights are held from now on."""

        def fit() -> Arrays:
            return self._fit(texts)

        known = fit() if keep is None or len(texts) < KEPT_FROM else keep(self._about(texts), fit)
        self._hold(known.get("active"))
        self._weights, axes = known.get("weights"), known.get("axes")
        if axes is not None:
            self._onto = np.ascontiguousarray(axes.T, dtype=np.float64)
        return axes

    def _hold(self, active: NDArray[np.int64] | None) -> None:
        """Of the columns those of the corpus, and the place of each among them; −1: none."""
        self._active = active
        if active is not None:
            self._places = np.full(self.settings.buckets, -1, np.int32)
            self._places[active] = np.arange(len(active), dtype=np.int32)

    def _fit(self, texts: Sequence[str]) -> Arrays:
        """weights: (buckets,). active: columns that the corpus has. axes: (axes, active columns)."""
        from scipy.sparse import vstack

        parts = (texts[start : start + self.together] for start in range(0, len(texts), self.together))
        counts, fitted = vstack([self._counts(part).tocsr() for part in parts]).tocsc(), {}
        occurrences = np.bincount(counts.tocoo(copy=False).col, minlength=self.settings.buckets)
        if self.settings.tfidf:
            fitted["weights"] = self._weights = np.log((1 + len(texts)) / (1 + occurrences)) + 1
        if self.settings.dimensions:
            fitted["active"] = np.flatnonzero(occurrences)
            self._hold(fitted["active"])
            matrix = self._weighted(counts)
            fitted["axes"] = _axes(matrix, min(self.settings.dimensions - 1, *matrix.shape))
        return fitted

    def _about(self, texts: Sequence[str]) -> dict[str, Any]:
        """All that a fit depends on: the texts, the options, and what computes it."""
        options = self.settings.model_dump(mode="json", include={"ngrams", "tfidf", "buckets", "dimensions"})
        libraries = {library: version(library) for library in ("numpy", "scipy", "scikit-learn")}
        return {
            "what": "fit of hashed n-grams", "version": VERSION, "texts": content_hash(texts),
            "iterations": POWER_ITERATIONS, "unicode": unicodedata.unidata_version, **options, **libraries,
        }  # fmt: skip

    def _counts(self, texts: Sequence[str]) -> Any:
        """(texts, buckets) float64: how often the words of a text have an n-gram of a column.

        A word counts with a blank before and behind it, and as a whole, once, where it is shorter than an n-gram then.

        Of many texts by columns (CSC): a product with axes then reads what an n-gram has there once for all texts that
        have it. Each text's sum goes in the same order either way, and has the same bits.
        """
        from scipy.sparse import csr_matrix

        words = [normalised(text).split() for text in texts]
        numbers = {word: number for number, word in enumerate({word for own in words for word in own})}
        spelt = self._spelt(numbers)
        columns = [spelt[word] for word in numbers]
        lengths = np.array([len(own) for own in columns], np.int64)
        met = np.array([numbers[word] for own in words for word in own], np.int64)
        ends = np.append(0, np.cumsum(lengths[met]))
        places = np.repeat((np.cumsum(lengths) - lengths)[met] - ends[:-1], lengths[met]) + np.arange(ends[-1])
        columns = np.concatenate([np.empty(0, np.int32), *columns])[places]
        ends = ends[np.cumsum([0, *map(len, words)])]
        counts = csr_matrix((np.ones(len(columns)), columns, ends), (len(texts), self.settings.buckets))
        if len(texts) >= MANY:
            counts = counts.tocsc()
        counts.sum_duplicates()
        return counts

    def _spelt(self, words: Collection[str]) -> Mapping[str, NDArray[np.int32]]:
        """The columns of the n-grams of each word, which most words of a text have had before."""
        from sklearn.feature_extraction.text import HashingVectorizer

        if self._held > MOST_HELD:
            self._known, self._held = {}, 0
        known = self._known
        if new := sorted(word for word in words if word not in known):
            counter = HashingVectorizer(
                analyzer="char_wb", ngram_range=self.settings.ngrams, n_features=self.settings.buckets,
                lowercase=False, alternate_sign=False, norm=None,
            )  # fmt: skip
            counts = counter.transform(new)
            columns = np.repeat(counts.indices, counts.data.astype(np.int64))
            ends = np.cumsum(np.add.reduceat(counts.data, counts.indptr[:-1]).astype(np.int64))
            known.update(zip(new, np.split(columns, ends[:-1]), strict=True))
            self._held += len(columns)
        return known

    def _weighted(self, counts: Any) -> Any:
        """Sublinear term frequencies, times inverse document frequencies, rows of length 1, on the fitted columns."""
        held = counts.tocoo(copy=False)
        rows, columns, width = held.row, held.col, counts.shape[1]
        data = 1 + np.log(held.data)
        if self._weights is not None:
            data *= self._weights[columns]
        data /= np.sqrt(np.bincount(rows, data**2))[rows]
        if self._active is not None:
            columns, width = self._places[columns], len(self._active)
            known = columns >= 0
            rows, columns, data = rows[known], columns[known], data[known]
        return type(counts)((data, (rows, columns)), (counts.shape[0], width))

    def _identity(self, axes: NDArray[np.floating[Any]] | None) -> str:
        options = self.settings.model_dump(include={"ngrams", "tfidf", "buckets", "dimensions", "max_characters"})
        options |= self.settings.model_dump(include={"query_prefix", "passage_prefix"})
        fitted = hashlib.sha256(unicodedata.unidata_version.encode())
        for part in (self._active, self._weights, axes):
            fitted.update(b"none" if part is None else np.ascontiguousarray(part).data)
        shown = " ".join(f"{key}={value!r}" for key, value in sorted(options.items()))
        return f"hashing {VERSION} {shown} fitted={fitted.hexdigest()[:32]}"


def _refuse_too_wide(name: str, buckets: int) -> None:
    from ragbench.old.store.embeddings import WIDEST

    if buckets > WIDEST:
        raise EmbeddingError(
            f"embedders.{name}: dimensions = 0 keeps all {buckets} buckets, and PostgreSQL stores vectors up to width "
            f"{WIDEST}: set buckets = {WIDEST} or fewer, or dimensions above 0"
        )


def drawn(texts: Collection[str]) -> list[str]:
    """The texts in order; of more than MOST_FITTED as many of them, the same in any order."""
    if len(texts) <= MOST_FITTED:
        return sorted(texts)
    return sorted(nsmallest(MOST_FITTED, texts, key=lambda text: hashlib.sha256(text.encode()).digest()))


def normalised(text: str) -> str:
    """Compatibility forms united (NFKC), case folded, ё as е, runs of blanks as one: what people do not tell apart."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.replace("ё", "е").split())


def _axes(matrix: Any, count: int) -> NDArray[np.floating[Any]]:
    """(at most count, columns) right singular vectors, the largest entry of each positive; one result for any threads.

    A small corpus is decomposed exactly, by the eigenvectors of its Gram matrix; a large one by random projections
    (Halko, Martinsson and Tropp 2011) from a fixed seed.
    """
    if matrix.shape[0] <= EXACT_UP_TO:
        with one_thread():
            rows = matrix.tocsr()
            squares, left = np.linalg.eigh((rows @ rows.T).toarray())
            kept = np.flatnonzero(squares > RANK_TOLERANCE * squares[-1])[::-1][:count]
            axes = np.asarray(matrix.T @ (left[:, kept] / np.sqrt(squares[kept]))).T
    else:
        from sklearn.utils.extmath import randomized_svd

        with one_thread():
            # 32 bits and LU are three times as fast as 64 bits and QR, and the vectors are 32 bits in the end
            _, _, axes = randomized_svd(
                matrix.astype(np.float32),
                count,
                n_iter=POWER_ITERATIONS,
                power_iteration_normalizer="LU",
                random_state=0,
                flip_sign=False,
            )
    largest = axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)]
    return np.ascontiguousarray(axes * np.sign(largest)[:, None])
