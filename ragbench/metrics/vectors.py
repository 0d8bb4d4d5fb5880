"""Texts to vectors for metrics: the texts of a whole table in one batch, and the cosine between two of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragbench.metrics.inquiry import together
from ragbench.types import Array, Embedder, Vectors

Result = TypeVar("Result")
Kind = Literal["passage", "query"]


async def vectors(embedder: Embedder, texts: Sequence[str], kind: Kind) -> Vectors:
    """(texts, width) vectors; out of the common batch where the embedder is a `Batch`."""
    if isinstance(embedder, Batch):
        return await embedder.wait_for(texts, kind)
    return embedder.embed(texts, kind=kind)


def cosine(first: Array | Vectors, second: Array | Vectors) -> float:
    """The cosine of the angle between two vectors, −1 to 1; exactly 1.0 for equal ones."""
    one, other = first.astype(float), second.astype(float)
    between = float(one @ other) / math.sqrt(float(one @ one) * float(other @ other))
    return min(1.0, max(-1.0, between))


@dataclass
class _Wanted:
    texts: tuple[str, ...]
    kind: Kind
    vectors: asyncio.Future[Vectors]


class Batch:
    """An embedder that waits until every measurement under way has said what it needs, and then embeds it all at once.

    Measurements run through `gather`; each asks for vectors at most once at a time. Equal texts are embedded once.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self.identity = embedder.identity
        self._running = 0
        self._wanted: list[_Wanted] = []

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> Vectors:
        """At once, as the embedder itself."""
        return self.embedder.embed(texts, kind=kind)

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, Result]]]) -> list[Result]:
        """The results of the measurements in order; their texts are embedded in one batch."""
        self._running += len(works)
        return await together([self._one(work) for work in works])

    async def wait_for(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The vectors, once all others are done or wait as well."""
        wanted = _Wanted(tuple(texts), kind, asyncio.get_running_loop().create_future())
        self._wanted.append(wanted)
        self._embed_if_all_wait()
        return await wanted.vectors

    async def _one(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        try:
            return await work()
        finally:
            self._running -= 1
            self._embed_if_all_wait()

    def _embed_if_all_wait(self) -> None:
        self._wanted = [wanted for wanted in self._wanted if not wanted.vectors.cancelled()]
        if not self._wanted or len(self._wanted) < self._running:
            return
        ready, self._wanted = self._wanted, []
        kinds: tuple[Kind, ...] = ("passage", "query")
        for kind in kinds:
            self._embed_all([wanted for wanted in ready if wanted.kind == kind], kind)

    def _embed_all(self, ready: Sequence[_Wanted], kind: Kind) -> None:
        place = {text: n for n, text in enumerate(dict.fromkeys(text for wanted in ready for text in wanted.texts))}
        if not place:
            return
        try:
            found = self.embedder.embed(list(place), kind=kind)
        except Exception as error:
            for wanted in ready:
                wanted.vectors.set_exception(error)
            return
        for wanted in ready:
            wanted.vectors.set_result(found[[place[text] for text in wanted.texts]])
