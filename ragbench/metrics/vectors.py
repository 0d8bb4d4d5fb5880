"""Texts to vectors for metrics: the texts of a whole table in one batch, and the cosine between two of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragbench.metrics.explanation import sentence
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


def named(embedder: Embedder | Sequence[Embedder]) -> list[Embedder]:
    """The embedders by whose names values are kept. Raises ValueError for none, and for two under one name."""
    found = list(embedder) if isinstance(embedder, Sequence) else [embedder]
    if not found or len({each.name for each in found}) < len(found):
        raise ValueError("at least one embedder is needed, each under its own name")
    return found


def by_embedder(values: Mapping[str, float]) -> dict[str, Any]:
    """The sentence that names each embedder's value."""
    each = [{"text": "{name} {value}", "values": {"name": name, "value": value}} for name, value in values.items()]
    return sentence("By the embedders: {scores}.", scores=each)


@dataclass
class _Wanted:
    texts: tuple[str, ...]
    kind: Kind
    vectors: asyncio.Future[Vectors]
    embed: Callable[..., Vectors]


class _Waiting:
    """How many measurements are under way, and which of them wait for vectors."""

    def __init__(self) -> None:
        self.running = 0
        self.wanted: list[_Wanted] = []


class Batch:
    """An embedder that waits until every measurement under way has said what it needs, and then embeds it all at once.

    Measurements run through `gather`; each asks for vectors at most once at a time. Equal texts are embedded once.
    beside: another batch whose measurements these are too, for metrics that take several embedders.
    """

    def __init__(self, embedder: Embedder, beside: Batch | None = None) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self.identity = embedder.identity
        self._waiting: _Waiting = _Waiting() if beside is None else beside._waiting

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> Vectors:
        """At once, as the embedder itself."""
        return self.embedder.embed(texts, kind=kind)

    async def gather(self, works: Sequence[Callable[[], Coroutine[Any, Any, Result]]]) -> list[Result]:
        """The results of the measurements in order; their texts are embedded in one batch."""
        self._waiting.running += len(works)
        return await together([self._one(work) for work in works])

    async def wait_for(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """The vectors, once all others are done or wait as well."""
        wanted = _Wanted(tuple(texts), kind, asyncio.get_running_loop().create_future(), self.embedder.embed)
        self._waiting.wanted.append(wanted)
        self._embed_if_all_wait()
        return await wanted.vectors

    async def _one(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        try:
            return await work()
        finally:
            self._waiting.running -= 1
            self._embed_if_all_wait()

    def _embed_if_all_wait(self) -> None:
        waiting = self._waiting
        waiting.wanted = [wanted for wanted in waiting.wanted if not wanted.vectors.cancelled()]
        if not waiting.wanted or len(waiting.wanted) < waiting.running:
            return
        alike: dict[tuple[Kind, Callable[..., Vectors]], list[_Wanted]] = {}
        for wanted in sorted(waiting.wanted, key=lambda each: each.kind):
            alike.setdefault((wanted.kind, wanted.embed), []).append(wanted)
        waiting.wanted = []
        for (kind, embed), ready in alike.items():
            _embed_all(embed, ready, kind)


def _embed_all(embed: Callable[..., Vectors], ready: Sequence[_Wanted], kind: Kind) -> None:
    place = {text: n for n, text in enumerate(dict.fromkeys(text for wanted in ready for text in wanted.texts))}
    if not place:
        return
    try:
        found = embed(list(place), kind=kind)
    except Exception as error:
        for wanted in ready:
            wanted.vectors.set_exception(error)
        return
    for wanted in ready:
        wanted.vectors.set_result(found[[place[text] for text in wanted.texts]])
