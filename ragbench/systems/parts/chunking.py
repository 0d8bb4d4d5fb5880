"""Passages cut into pieces before they are searched, and the passages that pieces stand for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragbench.datasets import Dataset
from ragbench.judge import words
from ragbench.settings import ChunkerSettings
from ragbench.systems.callables import of_table, told
from ragbench.systems.retrieval import KINDS_SHOWN, RetrievalError
from ragbench.types import Chunk, Hit

SHOWN = 60  # characters of a passage


@dataclass(frozen=True)
class Pieces:
    """A data set whose chunks are pieces, and which chunk of the whole one each is of.

    A passage is as good as its best piece (MaxP: Dai and Callan 2019): labels stay those of passages. uncut: id of a
    passage at which the function failed, and which stays whole → why.
    """

    name: str
    settings: ChunkerSettings
    dataset: Dataset
    whole: dict[str, Chunk]
    uncut: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> dict[str, Any]:
        """JSON values for the page."""
        own = self.settings.model_dump(include={"kind", "size", "overlap", "callable"}, exclude_defaults=True)
        found = {"chunker": {"name": self.name, **own}, "pieces": len(self.dataset.chunks)}
        if not self.uncut:
            return found
        why = sorted(set(self.uncut.values()))[:KINDS_SHOWN]
        return {
            **found,
            "uncut": len(self.uncut),
            "uncut_of": len(set(map(id, self.whole.values()))),
            "uncut_first": why,
        }

    def depth(self, k: int) -> int:
        """How many pieces it takes to be sure of k passages: those of the k − 1 that have most, and one more."""
        most = sorted(Counter(chunk.id for chunk in self.whole.values()).values(), reverse=True)
        return sum(most[: k - 1]) + 1

    def passages(self, hits: Sequence[Hit]) -> list[Hit]:
        """Each passage once, at the place and with the text of its best piece."""
        found: dict[str, Hit] = {}
        for hit in hits:
            whole = self.whole[hit.chunk.id]
            found.setdefault(whole.id, replace(hit, chunk=replace(whole, text=hit.chunk.text)))
        return list(found.values())


def cut(name: str, settings: ChunkerSettings, dataset: Dataset) -> Pieces:
    """The pieces of all passages; one that gives none, or at which a function fails, is a piece by itself. Raises
    RetrievalError where a function cannot be called, or fails at all."""
    split = _function(name, settings) if settings.callable else (_sentences if settings.kind == "sentences" else _words)
    digest, pieces, whole = hashlib.sha256(dataset.content_hash.encode()), [], {}
    uncut: dict[str, str] = {}
    for chunk in dataset.chunks:
        try:
            texts = [text for text in split(chunk.text, settings) if text.strip()] or [chunk.text]
        except RetrievalError as error:
            texts, uncut[chunk.id] = [chunk.text], str(error)
        for number, text in enumerate(texts, 1):
            piece = replace(chunk, id=f"{chunk.id}#{number:04}", text=text)
            digest.update(f"\0{piece.id}\0{text}".encode("utf-8", "surrogatepass"))
            pieces.append(piece)
            whole[piece.id] = chunk
    if uncut and len(uncut) == len(dataset.chunks):
        raise RetrievalError(f"{next(iter(uncut.values()))}; so it did at all {len(uncut):,}")
    content = f"{dataset.content_hash[:16]}-{digest.hexdigest()}"
    return Pieces(name, settings, replace(dataset, chunks=tuple(pieces), content_hash=content), whole, uncut)


def _words(text: str, settings: ChunkerSettings) -> Iterator[str]:
    found, step = text.split(), settings.size - settings.overlap
    for start in range(0, max(1, len(found) - settings.overlap), step):
        yield " ".join(found[start : start + settings.size])


def _sentences(text: str, settings: ChunkerSettings) -> Iterator[str]:
    held: list[str] = []
    for sentence in words.sentences(text):
        if held and sum(len(one.split()) for one in (*held, sentence)) > settings.size:
            yield " ".join(held)
            held = []
        held.append(sentence)
    yield " ".join(held)


def _function(name: str, settings: ChunkerSettings) -> Callable[[str, ChunkerSettings], list[str]]:
    place = f"chunkers.{name}.callable = {settings.callable!r}"
    function = of_table(f"chunkers.{name}", str(settings.callable), "a text", settings.timeout_seconds, RetrievalError)

    def split(text: str, _: ChunkerSettings) -> list[str]:
        try:
            given = function(text)
            pieces = [given] if isinstance(given, str) else list(given)
        except Exception as error:
            raise RetrievalError(f"{place} failed at the passage {text[:SHOWN]!r}: {told(error)}") from error
        if not all(isinstance(one, str) for one in pieces):
            raise RetrievalError(f"{place} gave {given!r:.80} for the passage {text[:SHOWN]!r}: texts are expected")
        return pieces

    return split
