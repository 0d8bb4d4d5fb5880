"""What is done before a search: passages cut into pieces that know where they stand, and questions rewritten."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ragbench.old.core import segmentation
from ragbench.old.core.settings import ChunkerSettings, GeneratorSettings, RewriterSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Chunk, Piece, Question
from ragbench.old.data import Dataset
from ragbench.old.llm import Decoding, Outlook, Request
from ragbench.old.systems.callables import of_table, told
from ragbench.old.systems.chat import ChatGenerator
from ragbench.old.systems.generation import Generation, Task
from ragbench.old.systems.retrieval import KINDS_SHOWN, RetrievalError

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


VERSION = 1
"""Part of every journal key: raised when a text below changes."""
PROMPTS = {
    ("rewrite", "en"): "Put the question below so that a search finds what answers it: whole words instead of "
    "abbreviations, no greetings, nothing that was not asked. Write the new question alone, on one line.",
    (
        "rewrite",
        "ru",
    ): "Перепишите вопрос ниже так, чтобы поиск нашёл ответ на него: полные слова вместо сокращений, без "
    "приветствий, ничего, о чём не спрашивали. Напишите только новый вопрос, одной строкой.",
    (
        "hyde",
        "en",
    ): "Write a short passage, as it might stand in a handbook, that answers the question below. Write the "
    "passage alone.",
    ("hyde", "ru"): "Напишите короткий отрывок, какой мог бы стоять в справочнике и отвечает на вопрос ниже. Напишите "
    "только отрывок.",
    (
        "queries",
        "en",
    ): "Write {number} different questions that ask the same as the question below in other words, one a "
    "line, without numbers.",
    (
        "queries",
        "ru",
    ): "Напишите {number} разных вопроса, которые спрашивают о том же, что и вопрос ниже, другими словами: "
    "каждый на своей строке, без номеров.",
}
_NUMBER = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s*")


@dataclass(frozen=True)
class Rewritten:
    """texts: what is searched for; empty where it failed, and `reason` says why. milliseconds: of the writing."""

    texts: tuple[str, ...]
    reason: str
    milliseconds: float


class Rewriter(Protocol):
    """One of `[rewriters.NAME]`. description: JSON values for the page."""

    @property
    def description(self) -> Mapping[str, Any]: ...

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """One a question, in order. Raises ModelError where a provider refuses altogether."""
        ...


class ModelRewriter(ChatGenerator):
    """The model of a generator with another prompt; replies are paid for once, and kept in the journal."""

    def __init__(self, name: str, rewriter: RewriterSettings, settings: GeneratorSettings, **more: Any) -> None:
        super().__init__(str(rewriter.generator), settings.model_copy(update={"prompt": None}), **more)
        self.title, self.rewriter = name, rewriter

    @property
    def description(self) -> Mapping[str, Any]:
        known = {"name": self.title, "kind": self.rewriter.kind, "model": self.settings.model}
        return known | ({"number": self.rewriter.number} if self.rewriter.kind == "queries" else {})

    def request(self, task: Task) -> Request:
        """One message: what to write, then the question."""
        question, settings = task.question, self.settings
        wanted = PROMPTS[self.rewriter.kind, self._spoken(question.text, question.language)]
        return Request(
            messages=(("user", f"{wanted.format(number=self.rewriter.number)}\n\n{question.text}"),),
            prompt=self.rewriter.kind,
            version=VERSION,
            decoding=Decoding(settings.temperature, settings.top_p, settings.max_tokens, settings.seed),
        )

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """As `Rewriter.rewrite`, all at once; of several queries the question itself is the first."""
        written = self.generate([Task(question, ()) for question in questions])
        return [self._read(question, generation) for question, generation in zip(questions, written, strict=True)]

    def foreseen(self, questions: Sequence[Question]) -> tuple[list[Rewritten | None], Outlook]:
        """What the journal has for each question, None for what would be asked, and what that would take."""
        known, outlook = self.dry_run([Task(question, ()) for question in questions])
        made = [
            None if generation is None else self._read(q, generation)
            for q, generation in zip(questions, known, strict=True)
        ]
        return made, outlook

    def _read(self, question: Question, generation: Generation) -> Rewritten:
        texts = self._texts(question.text, generation.answer or "")
        reason = "" if texts else generation.reason or f"{self.title}: the model wrote nothing to search for"
        return Rewritten(texts, reason, (generation.seconds or 0.0) * 1000)

    def _texts(self, question: str, answer: str) -> tuple[str, ...]:
        if self.rewriter.kind != "queries":
            return (answer.strip(),) if answer.strip() else ()
        lines = [text for line in answer.splitlines() if (text := _NUMBER.sub("", line).strip())]
        return tuple(dict.fromkeys((question, *lines[: self.rewriter.number]))) if lines else ()


class FunctionRewriter:
    """Your function of the question, called once a question, always anew; it gives a text or several."""

    def __init__(self, name: str, settings: RewriterSettings) -> None:
        self.name, self.path = name, str(settings.callable)
        self._function = of_table(
            f"rewriters.{name}", self.path, "a question", settings.timeout_seconds, RetrievalError
        )

    @property
    def description(self) -> Mapping[str, Any]:
        return {"name": self.name, "callable": self.path}

    def rewrite(self, questions: Sequence[Question]) -> list[Rewritten]:
        """As `Rewriter.rewrite`, one after the other."""
        return [self._one(question.text) for question in questions]

    def _one(self, text: str) -> Rewritten:
        begun, reason = time.perf_counter(), ""
        texts: tuple[Any, ...] = ()
        try:
            given = self._function(text)
            texts = (given,) if isinstance(given, str) else tuple(given)
            if not texts or not all(isinstance(query, str) and query.strip() for query in texts):
                texts, reason = (
                    (),
                    f"{self.path} gave {excerpt(repr(given), 80)}: a text or several are expected, none of them empty",
                )
        except Exception as error:
            reason = told(error)
        return Rewritten(tuple(dict.fromkeys(texts)), reason, (time.perf_counter() - begun) * 1000)
