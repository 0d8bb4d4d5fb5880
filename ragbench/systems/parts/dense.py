"""Passages by the vectors of an embedder, kept in PostgreSQL: exact or approximate search by cosine similarity."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ragbench.core import settings as configuration
from ragbench.core.settings import EmbedderSettings, RetrieverSettings
from ragbench.core.types import Embedder, EmbeddingError, Hit, Vectors
from ragbench.data import Dataset
from ragbench.embed import wheels
from ragbench.embed.model import ModelEmbedder
from ragbench.embed.openai_embeddings import EndpointEmbedder
from ragbench.embed.texts import content_hash
from ragbench.store import Neighbours, Source, Store, recall_against_exact
from ragbench.store.embeddings import check
from ragbench.store.foreign import OwnIndex, found_apart
from ragbench.store.search import Index
from ragbench.systems.retrieval import Found, Progress

BUILT = {
    "exact": (),
    "hnsw": ("m", "ef_construction", "ef_search"),
    "ivfflat": ("lists", "probes"),
}
"""What an index is built and searched by."""
EFFORT = {"hnsw": "ef_search", "ivfflat": "probes"}
"""How much an index looks at, by its kind."""
_ANEW: WeakKeyDictionary[Embedder, dict[tuple[int, str], Vectors]] = WeakKeyDictionary()
"""Vectors by which time it is that a retriever embeds these texts anew: retrievers of one embedder share them."""


class DenseRetriever:
    """Passages and questions are embedded, once per text, ever. Raises StoreError for an index that so few passages
    are too few for."""

    def __init__(
        self, settings: RetrieverSettings, embedder: EmbedderSettings, made: Embedder, store: Store, dataset: Dataset
    ) -> None:
        self.settings, self.embedder, self.store, self.dataset = settings, made, store, dataset
        self.batch = embedder.batch
        self.asking: Embedder = getattr(made, "queries", None) or made  # what embeds the questions
        self.is_stand_in = embedder.is_stand_in or bool(getattr(self.asking, "is_stand_in", False))
        self._before: tuple[Vectors, int, Neighbours] | None = None
        self._database = str(embedder.database)
        self._times = 0
        self._model = embedder.model or wheels.MODELS.get(embedder.kind)
        self.own = self._own_index() if settings.index == "own" else None
        _ = self.searched

    def _own_index(self) -> OwnIndex:
        with self._source() as source:
            return source.own_index()

    def _source(self) -> Source:
        return Source.open(self._database, configuration.load())

    @property
    def description(self) -> Mapping[str, Any]:
        return {
            "embedder": self.embedder.name,
            **({"model": self._model} if self._model else {}),
            "embedder_identity": self.embedder.identity,
            **({"own_index": self.own.name} if self.own else {}),
            **{key: value for key, value in self.how.items() if value is not None},
        }

    @property
    def how(self) -> dict[str, Any]:
        """The index that is searched, and how, as `nearest` takes it."""
        if self.own is None:
            return {"index": self.settings.index, **self.settings.model_dump(include=set(BUILT[self.settings.index]))}
        return self.own_at(getattr(self.settings, EFFORT[self.own.built.kind]))

    def own_at(self, effort: int) -> dict[str, Any]:
        """The same of the user's own index with so much effort."""
        assert self.own is not None, "only where its own index is searched"
        built = self.own.built
        known = {key: getattr(built, key) for key in BUILT[built.kind] if hasattr(built, key)}
        return {"index": "own", **known, EFFORT[built.kind]: effort}

    @property
    def searched(self) -> Index | None:
        """The index of so many passages; None where the user's own is searched, and nothing is built."""
        settings = self.settings
        if settings.index == "own":
            return None
        return Index.of(settings.index, len(self.dataset.chunks), settings.m, settings.ef_construction, settings.lists)

    def prepare(self, progress: Progress | None = None) -> None:
        """Store the passages and their vectors."""
        self.store.load_chunks(self.dataset.content_hash, self.dataset.name, self.dataset.chunks)
        self.store.embed(self.embedder, self.passages, batch=self.batch, progress=progress)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """As `Retriever.search`. alone: without looking what an index costs.

        A text whose vector cannot be used is an error of its own, but where that is so of all. Raises EmbeddingError
        for these, and for an embedder that does not answer, StoreError when the database cannot answer.
        """
        begun = time.perf_counter()
        places, queries, errors = self._usable(texts, fresh, progress, alone)
        embed_ms = (time.perf_counter() - begun) * 1000 / len(texts)
        neighbours = self._found(queries, k, progress, alone)
        hits: list[list[Hit]] = [[] for _ in texts]
        search_ms = np.zeros(len(texts))
        search_ms[places] = neighbours.milliseconds
        for place, row in zip(places, self._hits(neighbours), strict=True):
            hits[place] = row
        milliseconds = {"embed": np.full(len(texts), embed_ms), "search": search_ms}
        facts = self.description if alone else {**self.description, **self._facts(queries, neighbours, k, fresh)}
        return Found(hits, milliseconds, facts, errors)

    def _found(self, queries: Vectors, k: int, progress: Progress | None, alone: bool) -> Neighbours:
        """Exact search is a function of its vectors: the same ones again are not compared again, unless to be timed."""
        if alone:
            return self.nearest(queries, k, self.how, alone=True, progress=progress)
        if self._before is not None and k == self._before[1] and np.array_equal(queries, self._before[0]):
            if progress is not None:
                progress(len(queries))
            return self._before[2]
        neighbours = self.nearest(queries, k, self.how, progress=progress)
        if self.settings.index == "exact":
            self._before = queries, k, neighbours
        return neighbours

    def nearest(
        self, queries: Vectors, k: int, how: Mapping[str, Any], *, alone: bool = False, progress: Progress | None = None
    ) -> Neighbours:
        """As `Store.search`, of which `how` has the options; or in the user's own table, where its index is searched:
        by that index, or comparing every vector. A row that is no passage of the data set is left out.

        alone: each question by itself. Raises StoreError.
        """
        if self.own is None:
            batch: dict[str, Any] = {"batch": 1} if alone else {}
            data = self.dataset.content_hash
            return self.store.search(data, self.embedder, queries, k, progress=progress, **batch, **how)
        index = self.own if how["index"] == "own" else None
        effort = how[EFFORT[index.built.kind]] if index else 0
        parts = None
        if index and not alone:
            find = partial(found_apart, self._database, k, index, effort)
            parts = self.store.in_parts(find, queries, progress)
        if parts is not None:
            ids, similarities = ([*chain(*of_all)] for of_all in zip(*parts, strict=True))
            milliseconds = np.full(len(queries), np.nan)
        else:
            with self._source() as source:
                connections = 1 if alone else self.store.at_once
                ids, similarities, milliseconds = source.nearest(
                    queries, k, index, effort, connections=connections, progress=progress
                )
        kept = [
            sorted((-similarity, name) for name, similarity in zip(*row, strict=True) if name in self._places)
            for row in zip(ids, similarities, strict=True)
        ]
        return Neighbours(
            [[name for _, name in row] for row in kept],
            [np.array([-distance for distance, _ in row], np.float32) for row in kept],
            milliseconds,
        )

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(chunk.id for chunk in self.dataset.chunks)

    def _usable(
        self, texts: Sequence[str], fresh: bool, progress: Progress | None, alone: bool
    ) -> tuple[list[int], Vectors, dict[int, str]]:
        """Places of the texts that have a vector, those vectors, and why the others have none."""
        places, errors = list(range(len(texts))), dict[int, str]()
        done = 0

        def advance(more: int) -> None:
            """What was told before a batch was refused is not told again."""
            nonlocal done
            done += more
            if progress is not None and done > told[0]:
                progress(done - told[0])
                told[0] = done

        told = [0]
        again = self.embedded if alone or self.asks_elsewhere else self._again
        self._times += fresh and not alone
        while True:
            wanted = [texts[place] for place in places]
            try:
                made = (
                    again(wanted, advance)
                    if fresh
                    else self.store.vectors(self.embedder, wanted, kind="query", batch=self.batch, progress=advance)
                )
            except EmbeddingError as error:
                if error.dead or not error.positions or len(error.positions) == len(places):
                    raise
                errors |= {places[position]: str(error) for position in error.positions}
                places = [place for place in places if place not in errors]
                done = 0
                continue
            if progress is not None and errors:
                progress(len(errors) * 2)
            return places, made, errors

    @property
    def asks_elsewhere(self) -> bool:
        """Whether a vector is paid for."""
        return isinstance(self.asking, EndpointEmbedder)

    @property
    def together(self) -> int:
        """How many texts are embedded anew by one call: of an endpoint so many batches as it takes at a time."""
        return self.batch * (self.asking.concurrency if isinstance(self.asking, EndpointEmbedder) else 1)

    def _again(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """As `embedded`, unless another retriever of this embedder has done so as often as this one."""
        known = _ANEW.setdefault(self.embedder, {})
        place = self._times, content_hash(texts)
        if place not in known:
            known[place] = self.embedded(texts, progress)
        else:
            progress(len(texts))
        return known[place]

    def embedded(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of questions, computed now: what is stored of them is not read, nor are these stored."""
        vectors = []
        for start in range(0, len(texts), self.together):
            part = texts[start : start + self.together]
            try:
                vectors.append(check(self.embedder.embed(part, kind="query"), part, self.embedder.name))
            except EmbeddingError as error:
                where = tuple(start + place for place in error.positions)
                raise EmbeddingError(str(error), where, reason=error.reason, dead=error.dead) from error
            if progress is not None:
                progress(len(part))
        return np.concatenate(vectors)

    @property
    def passages(self) -> list[str]:
        """What is searched, as texts."""
        return [chunk.text for chunk in self.dataset.chunks]

    def _facts(self, queries: Vectors, neighbours: Neighbours, k: int, fresh: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {"width": queries.shape[1]}
        if self.settings.index != "exact":
            exact = self.store.exact_in_blocks(self.dataset.content_hash, self.embedder, queries, k)
            facts["recall_against_exact"] = round(recall_against_exact(neighbours, exact), 6)
        if isinstance(self.asking, EndpointEmbedder) and (named := self._answered_by(self.asking, fresh)):
            facts["embedder_answered_by"] = {"asked": self.asking.settings.model, "replies": named}
        if isinstance(self.embedder, ModelEmbedder) and (
            truncated := self.embedder.truncated(self.passages, self.store.arrays)
        ):
            facts["chunks_truncated"] = truncated
        return facts

    def _hits(self, neighbours: Neighbours) -> list[list[Hit]]:
        chunks = {chunk.id: chunk for chunk in self.dataset.chunks}
        return [
            [Hit(chunks[name], float(similarity)) for name, similarity in zip(ids, similarities, strict=True)]
            for ids, similarities in zip(neighbours.ids, neighbours.similarities, strict=True)
        ]

    def _answered_by(self, embedder: EndpointEmbedder, fresh: bool) -> dict[str, int]:
        """How many texts came back with which model's name, also in earlier runs: stored vectors are not asked again.

        Of texts that were embedded `fresh`, for the clock's sake, only a name counts that was not met before.
        """
        about = {"what": "models that embedded", "embedder": embedder.identity}
        known = {name: int(count[0]) for name, count in self.store.readings(about, dict).items()}
        new = {name: count for name, count in embedder.answered_by.items() if not fresh or name not in known}
        embedder.answered_by.clear()
        if new:
            known = dict(Counter(known) + Counter(new))
            counts = {name: np.array([count], float) for name, count in known.items()}
            self.store.readings(about, lambda: counts, fresh=True)
        return dict(sorted(known.items()))
