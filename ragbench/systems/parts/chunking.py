"""Passages cut into pieces before they are searched, each of which knows where it stands."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ragbench.core import segmentation
from ragbench.core.settings import ChunkerSettings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Chunk, Piece
from ragbench.data import Dataset
from ragbench.systems.callables import of_table, told
from ragbench.systems.retrieval import KINDS_SHOWN, RetrievalError

_WORD = re.compile(r"\S+")

Cut = tuple[int, int, str]
"""Where a piece stands in its passage, in characters, and its text."""

SHOWN = 60  # characters of a passage


@dataclass(frozen=True)
class Pieces:
    """A data set whose chunks are pieces of those of another one; labels stay those of the whole ones.

    passages: how many those are. uncut: id of a passage at which the function failed, and which stays whole → why.
    """

    name: str
    settings: ChunkerSettings
    dataset: Dataset
    passages: int
    uncut: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> dict[str, Any]:
        """JSON values for the page."""
        settings = self.settings
        own: dict[str, Any] = (
            {"callable": settings.callable} if settings.callable else {"kind": settings.kind, "size": settings.size}
        )
        own |= {"overlap": settings.overlap} if settings.overlap else {}
        facts = {"chunker": {"name": self.name, **own}, "pieces": len(self.dataset.chunks)}
        if not self.uncut:
            return facts
        why = sorted(set(self.uncut.values()))[:KINDS_SHOWN]
        return {**facts, "uncut": len(self.uncut), "uncut_of": self.passages, "uncut_first": why}


def cut(name: str, settings: ChunkerSettings, dataset: Dataset) -> Pieces:
    """The pieces of all passages; one that gives none, or at which a function fails, is a piece by itself.

    They are cut anew by every process: 85,000 of 20,000 passages in 1 s by words and in 2.5 s by sentences, where 0.6 s
    go into their records alone, read or cut; and what a function of yours would give today, nobody knows but itself.
    Raises RetrievalError where a function cannot be called, or fails at all: raises, gives no texts, or one that does
    not stand in its passage.
    """
    split = _function(name, settings) if settings.callable else (_sentences if settings.kind == "sentences" else _words)
    digest, pieces = hashlib.sha256(dataset.content_hash.encode()), list[Chunk]()
    uncut: dict[str, str] = {}
    for chunk in dataset.chunks:
        try:
            spans = {(start, end): text for start, end, text in split(chunk, settings)}
        except RetrievalError as error:
            spans, uncut[chunk.id] = {}, str(error)
        for (start, end), text in (spans or {(0, len(chunk.text)): chunk.text}).items():
            identifier = f"{chunk.id}#{start:05}-{end:05}"  # in the order of the text, the same in every cutting
            digest.update(f"\0{identifier}\0{text}".encode("utf-8", "surrogatepass"))
            pieces.append(Piece(identifier, text, chunk.url, chunk.title, chunk.section, chunk.id, start, end))
    if uncut and len(uncut) == len(dataset.chunks):
        raise RetrievalError(f"{next(iter(uncut.values()))}; so it did at all {len(uncut):,}")
    content = f"{dataset.content_hash[:16]}-{digest.hexdigest()}"
    whole = len(dataset.chunks)
    return Pieces(name, settings, replace(dataset, chunks=tuple(pieces), content_hash=content), whole, uncut)


def _words(chunk: Chunk, settings: ChunkerSettings) -> Iterator[Cut]:
    spans, step = [word.span() for word in _WORD.finditer(chunk.text)], settings.size - settings.overlap
    for first in range(0, max(1, len(spans) - settings.overlap), step):
        held = spans[first : first + settings.size]
        yield from _joined(chunk, held)


def _sentences(chunk: Chunk, settings: ChunkerSettings) -> Iterator[Cut]:
    held: list[tuple[int, int]] = []
    for start, end in segmentation.spans(chunk.text):
        if held and len(chunk.text[held[0][0] : end].split()) > settings.size:
            yield from _joined(chunk, held)
            held = []
        held.append((start, end))
    yield from _joined(chunk, held)


def _joined(chunk: Chunk, held: list[tuple[int, int]]) -> Iterator[Cut]:
    """Neighbours as one piece, with what stands between them."""
    if held:
        start, end = held[0][0], held[-1][1]
        yield start, end, chunk.text[start:end]


def _function(name: str, settings: ChunkerSettings) -> Callable[[Chunk, ChunkerSettings], list[Cut]]:
    place = f"chunkers.{name}.callable = {settings.callable!r}"
    function = of_table(f"chunkers.{name}", str(settings.callable), "a text", settings.timeout_seconds, RetrievalError)

    def split(chunk: Chunk, _: ChunkerSettings) -> list[Cut]:
        text, shown = chunk.text, excerpt(chunk.text, SHOWN)
        try:
            given = function(text)
            pieces = [given] if isinstance(given, str) else list(given)
        except Exception as error:
            raise RetrievalError(f"{place} failed at the passage {shown!r}: {told(error)}") from error
        if not all(isinstance(piece, str) for piece in pieces):
            raise RetrievalError(
                f"{place} gave {excerpt(repr(given), 80)} for the passage {shown!r}: texts are expected"
            )
        try:
            return list(located(text, filter(str.strip, pieces)))
        except LookupError as error:
            raise RetrievalError(
                f"{place} gave {excerpt(error.args[0], SHOWN)!r}, which does not stand in the passage {chunk.id}, "
                f"{shown!r}, or not behind the piece before it: pieces are parts of the passage, word for word "
                "and in its order (white space may differ), so that one can see how much of the labelled text they show"
            ) from None

    return split


def located(text: str, pieces: Iterable[str]) -> Iterator[Cut]:
    """Each piece with its place: the first behind the piece before it, else, as they overlap, behind that one's start.

    White space may differ. Raises LookupError with the first piece that is in neither place.
    """
    start = end = 0
    for piece in pieces:
        span = _found(text, piece, end) or _found(text, piece, start)
        if span is None:
            raise LookupError(piece)
        start, end = span
        yield start, end, piece


def _found(text: str, piece: str, start: int) -> tuple[int, int] | None:
    bare = piece.strip()
    there = text.find(bare, start)  # as most are
    if there >= 0:
        return there, there + len(bare)
    match = re.compile(r"\s+".join(map(re.escape, bare.split()))).search(text, start)
    return None if match is None else match.span()
