"""Passages by the vectors of an embedder: exact or approximate search in PostgreSQL, by cosine similarity."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.datasets import Dataset
from ragbench.embed import wheels
from ragbench.embed.endpoint import EndpointEmbedder
from ragbench.embed.model import ModelEmbedder
from ragbench.settings import EmbedderSettings, RetrieverSettings
from ragbench.store import Neighbours, Store, recall_against_exact
from ragbench.store.embeddings import check
from ragbench.store.search import Index
from ragbench.systems.retrieval import Found, Progress
from ragbench.types import Embedder, Hit, Vectors

BUILT = {
    "exact": (),
    "hnsw": ("m", "ef_construction", "ef_search"),
    "ivfflat": ("lists", "probes"),
}
"""What an index is built and searched by."""


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
        self._model = embedder.model or wheels.MODELS.get(embedder.kind)
        Index.of(settings.index, len(dataset.chunks), settings.m, settings.ef_construction, settings.lists)

    @property
    def description(self) -> Mapping[str, Any]:
        settings = self.settings
        return {
            "embedder": self.embedder.name,
            **({"model": self._model} if self._model else {}),
            "embedder_identity": self.embedder.identity,
            "index": settings.index,
            **settings.model_dump(include=set(BUILT[settings.index]), exclude_none=True),
        }

    @property
    def how(self) -> dict[str, Any]:
        """The index that is searched, as `Store.search` takes it."""
        return {"index": self.settings.index, **self.settings.model_dump(include=set(BUILT[self.settings.index]))}

    def prepare(self, progress: Progress | None = None) -> None:
        """Store the passages and their vectors."""
        dataset = self.dataset
        self.store.load_chunks(dataset.content_hash, dataset.name, dataset.chunks)
        self.store.embed(self.embedder, self._passages, batch=self.batch, progress=progress)

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

        Raises EmbeddingError for texts that cannot be embedded, StoreError when the database cannot answer.
        """
        begun = time.perf_counter()
        queries = (
            self.embedded(texts, progress)
            if fresh
            else self.store.vectors(self.embedder, texts, kind="query", batch=self.batch, progress=progress)
        )
        embed_ms = (time.perf_counter() - begun) * 1000 / len(texts)
        one: dict[str, Any] = {"batch": 1} if alone else {}
        found = self.store.search(
            self.dataset.content_hash, self.embedder, queries, k, progress=progress, **one, **self.how
        )
        milliseconds = {"embed": np.full(len(texts), embed_ms), "search": found.milliseconds}
        facts = self.description if alone else {**self.description, **self._facts(queries, found, k, fresh)}
        return Found(self._hits(found), milliseconds, facts)

    @property
    def asks_elsewhere(self) -> bool:
        """Whether a vector is paid for."""
        return isinstance(self.asking, EndpointEmbedder)

    def embedded(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of questions, computed now: what is stored of them is not read, nor are these stored."""
        vectors = []
        for start in range(0, len(texts), self.batch):
            part = texts[start : start + self.batch]
            vectors.append(check(self.embedder.embed(part, kind="query"), part, self.embedder.name))
            if progress is not None:
                progress(len(part))
        return np.concatenate(vectors)

    @property
    def _passages(self) -> list[str]:
        return [chunk.text for chunk in self.dataset.chunks]

    def _facts(self, queries: Vectors, found: Neighbours, k: int, fresh: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {"width": queries.shape[1]}
        if self.settings.index != "exact":
            exact = self.store.exact_in_blocks(self.dataset.content_hash, self.embedder, queries, k)
            facts["recall_against_exact"] = round(recall_against_exact(found, exact), 6)
        if isinstance(self.asking, EndpointEmbedder) and (named := self._answered_by(self.asking, fresh)):
            facts["embedder_answered_by"] = {"asked": self.asking.settings.model, "replies": named}
        if isinstance(self.embedder, ModelEmbedder) and (truncated := self._truncated(self.embedder)):
            facts["chunks_truncated"] = truncated
        return facts

    def _truncated(self, embedder: ModelEmbedder) -> int:
        """Counted once and kept, as the vectors are: a run that has them all does without the model."""
        about = {"what": "passages truncated", "embedder": embedder.identity, "data": self.dataset.content_hash}
        kept = self.store.readings(about, lambda: {"n": np.array([embedder.truncated(self._passages)], float)})
        return int(kept["n"][0])

    def _hits(self, found: Neighbours) -> list[list[Hit]]:
        chunks = {chunk.id: chunk for chunk in self.dataset.chunks}
        return [
            [Hit(chunks[name], float(similarity)) for name, similarity in zip(ids, similarities, strict=True)]
            for ids, similarities in zip(found.ids, found.similarities, strict=True)
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
