"""A system of configured parts: an embedder, and exact or approximate search in PostgreSQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragbench.datasets import Dataset
from ragbench.embed import make as make_embedder
from ragbench.embed.endpoint import EndpointEmbedder
from ragbench.embed.model import ModelEmbedder
from ragbench.settings import EmbedderSettings, SystemSettings
from ragbench.store import Neighbours, Store, recall_against_exact
from ragbench.store.embeddings import check
from ragbench.systems.retrieval import Progress, Retrieval
from ragbench.types import Embedder, Hit, Question, Vectors


class ConfiguredSystem:
    """Chunks and questions are embedded (once per text, ever), and searched by cosine similarity.

    made: the embedder, where it was made before for the same texts; fitting one again takes its time.
    """

    def __init__(
        self,
        name: str,
        settings: SystemSettings,
        embedder: EmbedderSettings,
        store: Store,
        dataset: Dataset,
        made: Embedder | None = None,
    ) -> None:
        self.name, self.settings, self.store, self.dataset = name, settings, store, dataset
        self.batch = embedder.batch
        texts = [chunk.text for chunk in dataset.chunks]
        self.embedder = make_embedder(str(settings.embedder), embedder, texts) if made is None else made
        self.asking: Embedder = getattr(self.embedder, "queries", None) or self.embedder  # what embeds the questions
        self.is_stand_in = embedder.is_stand_in or bool(getattr(self.asking, "is_stand_in", False))

    @property
    def description(self) -> Mapping[str, Any]:
        settings = self.settings
        index = {"index": settings.index}
        if settings.index == "hnsw":
            index |= settings.model_dump(include={"m", "ef_construction", "ef_search"})
        return {
            "kind": "configured",
            "embedder": self.embedder.name,
            "embedder_identity": self.embedder.identity,
        } | index

    def retrieve(
        self, questions: Sequence[Question], k: int, *, progress: Progress | None = None, fresh: bool = False
    ) -> Retrieval:
        """Raises EmbeddingError for texts that cannot be embedded, StoreError when the database cannot answer."""
        dataset, settings = self.dataset, self.settings
        texts = self.prepare(None if fresh else progress)
        begun = time.perf_counter()
        asked = [question.text for question in questions]
        queries = (
            self.embedded(asked, progress)
            if fresh
            else self.store.vectors(self.embedder, asked, kind="query", batch=self.batch, progress=progress)
        )
        embed_ms = (time.perf_counter() - begun) * 1000 / len(questions)
        found = self.store.search(dataset.content_hash, self.embedder, queries, k, progress=progress, **self.how)
        hits = self._hits(found)
        facts: dict[str, Any] = {**self.description, "width": queries.shape[1]}
        if settings.index == "hnsw":
            exact = self.store.exact_in_blocks(dataset.content_hash, self.embedder, queries, k)
            facts["recall_against_exact"] = round(recall_against_exact(found, exact), 6)
        if isinstance(self.asking, EndpointEmbedder) and (named := self._answered_by(self.asking, fresh)):
            facts["embedder_answered_by"] = {"asked": self.asking.settings.model, "replies": named}
        if isinstance(self.embedder, ModelEmbedder) and (truncated := self.embedder.truncated(texts)):
            facts["chunks_truncated"] = truncated
        return Retrieval(
            hits,
            embed_ms=np.full(len(questions), embed_ms),
            search_ms=found.milliseconds,
            facts=facts,
            is_stand_in=self.is_stand_in,
        )

    @property
    def how(self) -> dict[str, Any]:
        """The index that is searched, as `Store.search` takes it."""
        return self.settings.model_dump(include={"index", "m", "ef_construction", "ef_search"})

    def retrieve_one(self, question: Question, k: int) -> Retrieval:
        """One question, in one statement and without looking what an index costs: what somebody waits for.

        Before the clock runs, the same is done once; but an endpoint's vector is paid for once, and read from then on.
        Raises EmbeddingError for a text without a vector, and StoreError, where nobody has called `prepare` yet.
        """
        paid = isinstance(self.asking, EndpointEmbedder)

        def embedded() -> Vectors:
            texts = [question.text]
            return self.store.vectors(self.embedder, texts, kind="query") if paid else self.embedded(texts)

        def searched(queries: Vectors) -> Neighbours:
            return self.store.search(self.dataset.content_hash, self.embedder, queries, k, batch=1, **self.how)

        if not paid:
            embedded()
        begun = time.perf_counter()
        queries = embedded()
        embed_ms = (time.perf_counter() - begun) * 1000
        searched(queries)
        found = searched(queries)
        return Retrieval(
            self._hits(found),
            embed_ms=np.array([embed_ms]),
            search_ms=found.milliseconds,
            facts=self.description,
            is_stand_in=self.is_stand_in,
        )

    def prepare(self, progress: Progress | None = None) -> list[str]:
        """Store the chunks and their vectors, where they are not there yet; the texts of all chunks."""
        dataset, texts = self.dataset, [chunk.text for chunk in self.dataset.chunks]
        self.store.load_chunks(dataset.content_hash, dataset.name, dataset.chunks)
        self.store.embed(self.embedder, texts, batch=self.batch, progress=progress)
        return texts

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

    def embedded(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of questions, computed now: what is stored of them is not read, nor are these stored."""
        vectors = []
        for start in range(0, len(texts), self.batch):
            part = texts[start : start + self.batch]
            vectors.append(check(self.embedder.embed(part, kind="query"), part, self.embedder.name))
            if progress is not None:
                progress(len(part))
        return np.concatenate(vectors)
