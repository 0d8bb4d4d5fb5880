"""What a store has done by the workers of a cluster: vectors computed, and searched among."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core import settings
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Embedder, EmbeddingError, TextKind, Vectors
from ragbench.old.extras.cluster.address import check
from ragbench.old.extras.cluster.worker_pool import opened, shared
from ragbench.old.store import Store, StoreError
from ragbench.old.store.database import Find, Place
from ragbench.old.store.pool import Counter, Tell, Together, require_same
from ragbench.old.store.search import BATCH

TEXTS = 4096
"""Of a part at most; fewer where that gives each worker several."""
QUESTIONS = 2048
"""The same of questions that are searched for."""
PARTS_A_WORKER = 4  # parts take unequally long: nobody waits for the last with nothing to do


def elsewhere(known: Settings) -> ByWorkers:
    """What a store is lent (`Store.open`), of settings that name a cluster."""
    return ByWorkers(known)


@dataclass(frozen=True)
class ByWorkers:
    """See `ragbench.old.store.database.Elsewhere`."""

    known: Settings

    def embed(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        kind: TextKind,
        batch: int,
        progress: Callable[[int], object] | None,
    ) -> int:
        """Compute and store the vectors of these texts; how many were. What a worker could not embed is left out."""
        with opened(self.known) as workers:
            size = _size(len(texts), workers.count, batch, TEXTS)  # whole batches: a model's vectors hang on theirs
            parts = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
            together = Together(progress)
            counts = workers.map(_embedded, _Common(embedder, embedder.identity, kind, batch), parts, together.heard)
            for number, part in enumerate(parts):
                together.heard(number, {"done": len(part), "calls": {}})
        return sum(counts)

    def nearest(
        self, place: Place, parts: Sequence[range], progress: Callable[[int], object] | None
    ) -> list[tuple[NDArray[np.int32], Array, int]]:
        """The nearest among each of these positions. What PostgreSQL reads for them it reads once."""
        with opened(self.known) as workers:
            together = Together(progress)
            neighbours = workers.map(_nearest, place, parts, together.heard)
            if progress is not None:
                progress(max(0, len(place.queries) - together.told))
        return neighbours

    def search(
        self, find: Find, queries: Vectors, connections: int, progress: Callable[[int], object] | None
    ) -> list[Any] | None:
        """What `find` gives of each part of the questions; None where workers are no more than the connections."""
        with opened(self.known) as workers:
            if workers.count <= connections:
                return None
            size = _size(len(queries), workers.count, BATCH, QUESTIONS)
            parts = [queries[start : start + size] for start in range(0, len(queries), size)]
            together = Together(progress)
            hits = workers.map(_found, find, parts, together.heard)
            if progress is not None:
                progress(max(0, len(queries) - together.told))
        return hits


def _size(number: int, workers: int, batch: int, most: int) -> int:
    """How many of so many a part has: whole batches, and several parts a worker where there are enough."""
    wanted = -(-number // (PARTS_A_WORKER * max(1, workers)))
    return max(batch, min(most, wanted) // batch * batch)


def _found(find: Find, queries: Vectors, tell: Tell) -> Any:
    """What a worker does. Raises StoreError, with the worker's machine in it."""
    try:
        return find(settings.load(), queries, Counter(tell).advance)
    except StoreError as error:
        raise StoreError(f"the worker on {platform.node()}: {error}") from None


def _nearest(place: Place, among: range, tell: Tell) -> tuple[NDArray[np.int32], Array, int]:
    """What a worker does."""
    with Store.open(settings.load()) as store:
        return store.nearest_among(place, among, Counter(tell).advance)


@dataclass(frozen=True)
class _Common:
    embedder: Embedder
    identity: str
    kind: TextKind
    batch: int


def _embedded(common: _Common, texts: Sequence[str], tell: Tell) -> int:
    """What a worker does. Vectors that were kept before a refusal stay; whoever asked tries the others, and is told."""
    require_same([common.embedder], [common.identity])
    counter = Counter(tell)
    with Store.open(settings.load()) as store:
        try:
            return store.embed(common.embedder, texts, kind=common.kind, batch=common.batch, progress=counter.advance)
        except EmbeddingError:
            return len(texts) - len(store.missing(common.embedder, texts, common.kind))


__all__ = ["check", "elsewhere", "opened", "shared"]
