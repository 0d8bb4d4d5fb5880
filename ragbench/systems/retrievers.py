"""The built-in retrievers: bm25 by shared words, dense by vectors, hybrid by several rankings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np

from ragbench.core.errors import BenchError
from ragbench.core.progress import progress
from ragbench.core.settings import RetrieverTable
from ragbench.core.types import Hit, Retrieval
from ragbench.embed import TextEmbedder
from ragbench.metrics.texts import FUNCTION_WORDS, stem, words
from ragbench.store import Index, SearchTable, Store, nearest_in_memory
from ragbench.store.own import OwnDatabase
from ragbench.systems.calls import attempt
from ragbench.systems.hits import KnownPassages

BM25_K1 = 1.5  # how long a repeated word goes on to count
BM25_B = 0.75  # how much long passages are marked down
# From the pilot study of Cormack, Clarke and Buettcher 2009; other implementations begin with it.
RRF_CONSTANT = 60
FUSED_DEPTH = 100  # passages of each ranking that are fused
# From so many passages on, exact search is a matrix product in this process: PostgreSQL gives the
# same ranking, and takes ten times as long.
MOST_IN_POSTGRESQL = 20_000


class Retriever(Protocol):
    """Who finds passages. stand_ins: what of it only stands in for a model."""

    @property
    def stand_ins(self) -> tuple[str, ...]: ...

    def find(self, questions: Sequence[str], k: int, *, fresh: bool) -> list[Retrieval]:
        """Return a ranking of at most k passages for every question, in order.

        fresh: everything is computed, as a repeat needs it; nothing that is kept is used.
        """

    def describe(self) -> str:
        """Say in a line how it searches."""


class Bm25:
    """Okapi BM25 over Snowball stems in Lucene's variant (Kamphuis et al. 2020, ECIR).

    Words of grammar do not count. A passage that shares no word with the question is not found.
    """

    stand_ins = ()

    def __init__(self, known: KnownPassages) -> None:
        self._known = known
        self._ids = sorted(known.ids)

    def find(self, questions: Sequence[str], k: int, *, fresh: bool) -> list[Retrieval]:
        """See `Retriever`. Passages of the same score are ordered by id."""
        index = self._index
        retrievals = []
        for question in progress(questions, "searching by words"):
            began = time.perf_counter()
            stems = [stem(word) for word in content_words(question)]
            scores = index.get_scores(stems) if stems else np.zeros(0)
            rows = best_rows(scores, k)
            hits = tuple(self._known.hit(self._ids[row], float(scores[row])) for row in rows)
            retrievals.append(Retrieval(hits, (time.perf_counter() - began) * 1000))
        return retrievals

    def describe(self) -> str:
        """Say by which variant it searches."""
        return f"BM25, Lucene's variant, k1 = {BM25_K1}, b = {BM25_B}, Snowball stems"

    @cached_property
    def _index(self) -> Any:
        import bm25s

        index = bm25s.BM25(k1=BM25_K1, b=BM25_B, method="lucene", dtype="float64")
        vocabulary: dict[str, int] = {}

        @cache  # each distinct word is stemmed once
        def number(word: str) -> int:
            return vocabulary.setdefault(stem(word), len(vocabulary))

        numbers = [
            [number(word) for word in content_words(self._known.texts[passage_id])]
            for passage_id in progress(self._ids, "indexing")
        ]
        # Passages without a word would leave the library nothing to index.
        index.index((numbers, vocabulary) if vocabulary else [[""]], show_progress=False)
        return index


class Dense:
    """Cosine similarity of vectors: exact or by an index in PostgreSQL; see `MOST_IN_POSTGRESQL`.

    The latency of a question is that of its embedding, as it was when it was made, and of its
    search in PostgreSQL; NaN where the search was not there.
    """

    def __init__(
        self, known: KnownPassages, embedder: TextEmbedder, store: Store, index: Index
    ) -> None:
        self._known = known
        self._embedder = embedder
        self._store = store
        self._index = index
        self._ids = sorted(known.ids)
        self.stand_ins = stand_ins_of(embedder)
        self._is_in_memory = index.kind == "exact" and len(self._ids) > MOST_IN_POSTGRESQL

    def find(self, questions: Sequence[str], k: int, *, fresh: bool) -> list[Retrieval]:
        """See `Retriever`. Equally near passages are ordered by id."""
        if not questions or not self._ids:
            return [Retrieval() for _ in questions]
        queries, embedding_ms = self._embedder.embed_timed(questions, "query", fresh=fresh)
        if self._is_in_memory:
            positions, similarities = nearest_in_memory(queries, self.vectors, k)
            latency_ms = np.full(len(questions), np.nan)
        else:
            found = self._store.nearest(self._table, queries, k)
            positions, similarities = found.positions, found.similarities
            latency_ms = embedding_ms + found.latency_ms
        retrievals = []
        for row in range(len(questions)):
            places = zip(positions[row], similarities[row], strict=True)
            hits = [self._known.hit(self._ids[at], float(value)) for at, value in places if at >= 0]
            retrievals.append(Retrieval(tuple(hits), float(latency_ms[row])))
        return retrievals

    def describe(self) -> str:
        """Say which model embeds, and how and where its vectors are searched."""
        how = self._index.describe()
        if self._is_in_memory:
            how = "exact search by matrix products in this process"
        return f"{self._embedder.describe()}, {how}"

    def embed_questions(self, questions: Sequence[str]) -> np.ndarray:
        """Return (questions, width) vectors, as they are searched with."""
        return self._embedder.embed(questions, "query")

    @cached_property
    def vectors(self) -> np.ndarray:
        """(passages, width) vectors, in the order of the passages' ids."""
        return self._embedder.embed([self._known.texts[name] for name in self._ids])

    @cached_property
    def _table(self) -> SearchTable:
        return self._store.build_index(self.vectors, self._index)


class Hybrid:
    """Reciprocal rank fusion of rankings (Cormack, Clarke and Buettcher 2009, SIGIR)."""

    def __init__(self, parts: Sequence[Retriever], weights: Sequence[float] = ()) -> None:
        self.parts = parts
        self._weights = weights or [1.0] * len(parts)
        self.stand_ins = tuple(dict.fromkeys(name for part in parts for name in part.stand_ins))
        if len(self._weights) != len(parts):
            raise BenchError(
                f"weights = {list(self._weights)}: one for each of the {len(parts)} retrievers"
            )

    def find(self, questions: Sequence[str], k: int, *, fresh: bool) -> list[Retrieval]:
        """See `Retriever`. The similarity is the sum of weight / (60 + rank); ties go by id."""
        depth = max(k, FUSED_DEPTH)
        by_part = [part.find(questions, depth, fresh=fresh) for part in self.parts]
        return [self._fuse(rankings, k) for rankings in zip(*by_part, strict=True)]

    def describe(self) -> str:
        """Say what is fused."""
        parts = " + ".join(f"({part.describe()})" for part in self.parts)
        return f"reciprocal rank fusion of {parts}"

    def _fuse(self, rankings: Sequence[Retrieval], k: int) -> Retrieval:
        latency_ms = sum(ranking.latency_ms for ranking in rankings)
        for ranking in rankings:
            if ranking.error:
                return Retrieval((), latency_ms, ranking.error)
        totals: dict[str, float] = {}
        hits: dict[str, Hit] = {}
        for ranking, weight in zip(rankings, self._weights, strict=True):
            for rank, hit in enumerate(ranking.hits, start=1):
                totals[hit.id] = totals.get(hit.id, 0.0) + weight / (RRF_CONSTANT + rank)
                hits[hit.id] = hit
        order = sorted(totals, key=lambda name: (-totals[name], name))[:k]
        fused = [Hit(name, hits[name].text, totals[name], hits[name].url) for name in order]
        return Retrieval(tuple(fused), latency_ms)


class OwnTables:
    """Search in the user's own PostgreSQL, in place.

    embedder: of the questions; None: the vectors that the table of questions has are used.
    """

    def __init__(
        self,
        known: KnownPassages,
        database: OwnDatabase,
        embedder: TextEmbedder | None,
        index: Index,
    ) -> None:
        self._known = known
        self._database = database
        self._embedder = embedder
        self._index = index
        self.stand_ins = stand_ins_of(embedder)
        self._width: int | None = None

    def find(self, questions: Sequence[str], k: int, *, fresh: bool) -> list[Retrieval]:
        """See `Retriever`. A question without a stored vector is an error."""
        if self._embedder is not None:
            vectors, embedding_ms = self._embedder.embed_timed(questions, "query", fresh=fresh)
            asked = list(range(len(questions)))
        else:
            stored = self._database.read_question_vectors()
            asked = [row for row, question in enumerate(questions) if question in stored]
            vectors = np.array([stored[questions[row]] for row in asked], np.float32)
            embedding_ms = np.zeros(len(asked))
        retrievals = [Retrieval(error="the question has no stored vector") for _ in questions]
        if not asked:
            return retrievals
        if self._width is None:
            self._width = self._database.check_vectors(vectors.shape[1])
        outcome = attempt(self._database.nearest, vectors, k, self._index)
        if outcome.error:
            return [Retrieval(error=outcome.error) for _ in questions]
        rankings, latency_ms = outcome.value
        for place, row in enumerate(asked):
            hits = [self._known.find([name], "", value) for name, value in rankings[place]]
            taken = float(embedding_ms[place] + latency_ms[place])
            retrievals[row] = Retrieval(tuple(hits), taken)
        return retrievals

    def describe(self) -> str:
        """Say what embeds the questions, and how the table is searched."""
        questions = self._embedder.describe() if self._embedder else "stored vectors"
        return f"{questions}; {self._database.describe(self._index)}"


def stand_ins_of(embedder: TextEmbedder | None) -> tuple[str, ...]:
    """Return the embedder as what only stands in for a model; nothing where it does not."""
    return (f"embedder {embedder.name}",) if embedder and embedder.is_stand_in else ()


def index_of(table: RetrieverTable) -> Index:
    """Return the index that a table of settings describes."""
    return Index(
        table.index, table.m, table.ef_construction, table.ef_search, table.lists, table.probes
    )


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning."""
    return [word for word in words(text) if word not in FUNCTION_WORDS]


def best_rows(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the places of the k highest scores above 0, highest first, equal ones by place."""
    floor = 0.0
    if len(scores) > k:
        floor = max(floor, np.partition(scores, len(scores) - k)[len(scores) - k])
    rows = np.flatnonzero(scores >= floor if floor > 0 else scores > 0)
    return rows[np.lexsort((rows, -scores[rows]))[:k]]
