"""What a foreign file turned out to hold: the tables of a data set, what was left out and why, and what to know."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from ragbench.old.core.types import Chunk
from ragbench.old.data.columns import AmbiguousError
from ragbench.old.data.files import DatasetError, LeftOut
from ragbench.old.data.folder import Records
from ragbench.old.data.payloads import Passage
from ragbench.old.data.records import ChunkRecord, Record, checked
from ragbench.old.data.shelf import RECENT, Shelf

R = TypeVar("R", bound=Record)
DRAWN = ("questions", "dialogues", "decisions", "history")


@dataclass
class Brought(Records):
    """The tables of a data set out of a file that somebody else wrote, in lists or, where they may be long, on shelves.

    left_out: reason → count of what was passed over. notes: sentences on how things were understood. runs: words of
    `ragbench run` for what the fields are enough for, {dataset} standing for the name; empty: all notebooks.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)

    @property
    def tables(self) -> Mapping[str, int]:
        """Table → number of rows, of the tables that have any."""
        return {table.name: len(rows) for table in fields(Records) if (rows := getattr(self, table.name))}

    @property
    def texts(self) -> Iterator[str]:
        """The texts whose language is the data set's."""
        if self.chunks:
            return (chunk.text for chunk in self.chunks)
        if self.questions:
            return (question.text for question in self.questions)
        if self.dialogues:
            return (turn.question for dialogue in self.dialogues for turn in dialogue.turns)
        return (
            text
            for decision in self.decisions
            for text in (decision.question, decision.answer, *decision.passages.values())
        )


class Known(NamedTuple):
    """A passage by its name among the chunks. url: its page, where it has a text and a page."""

    name: str
    url: str | None
    has_text: bool


class Chunks:
    """Passages that a file carries, each under one name: its own id, else one made of its text (`Chunk.nameless`).

    A second text under an id is a passage of its own, named by both. One without a text is named and no chunk.
    there: chunks that are there already. shelf: all that have a text. changed: how many have an id that another text
    had before.
    """

    def __init__(self, there: Iterable[ChunkRecord] = ()) -> None:
        self.shelf, self.changed = Shelf(ChunkRecord, by_key=True), 0
        self._named = Shelf[str]()
        self._recent: dict[int, Known] = {}  # by the hash of id and text
        for chunk in there:
            self._put(chunk, chunk.id)

    def known(self, passage: Chunk | Passage) -> Known:
        """A passage among the chunks, which is put there. Raises DatasetError for what no chunk may have."""
        key = hash((passage.id, passage.text))
        if (known := self._recent.get(key)) is None:
            known = self._of(passage)
            if len(self._recent) >= RECENT:
                self._recent.clear()
            if known.has_text:  # else its text may come yet
                self._recent[key] = known
        return known

    def _of(self, passage: Chunk | Passage) -> Known:
        is_nameless = isinstance(passage, Chunk) and passage.is_nameless
        given = None if is_nameless else passage.id
        chunk = None if given is None else self.shelf.get(given)
        if not passage.text:
            return Known(given or "", None if chunk is None else chunk.url, chunk is not None)
        made = Chunk.nameless(passage.text).id
        is_changed = chunk is not None and Chunk.nameless(chunk.text).id != made
        if is_changed:
            given = named_by("passage", str(given), passage.text)
        if chunk is None or is_changed:
            about = {"id": given or self._named.get(made) or made, "text": passage.text}
            more = {"url": passage.url, "title": passage.title}
            chunk = checked(ChunkRecord, about | more, "its passages")
            if self._put(chunk, given):
                self.changed += is_changed
            else:
                chunk = self.shelf.get(chunk.id) or chunk
        return Known(chunk.id, chunk.url, True)

    def _put(self, chunk: ChunkRecord, given: str | None) -> bool:
        is_new = self.shelf.put(chunk.id, chunk)
        if given is not None:
            self._named.put(Chunk.nameless(chunk.text).id, given)
        return is_new

    def ids(self) -> Shelf[str]:
        """Of the texts that came with an id and without one: made of the text → given, the first of several."""
        given_ids = Shelf[str]()
        for name, given in self._named.items():
            if self.shelf.has(name):
                given_ids.put(name, given)
        return given_ids

    @property
    def notes(self) -> list[str]:
        """A sentence where a text stands under an id that another has."""
        many = f"{self.changed:,} text{'s' * (self.changed != 1)}"
        return [f"{many} under an id that another has: each is a passage of its own"] if self.changed else []


@contextmanager
def passing_over(left_out: LeftOut | None, place: str) -> Iterator[None]:
    """Count what cannot be used as a row that is left out, and go on; without `left_out` it is raised, and so are two
    columns that could be one field, which are so in every row."""
    try:
        yield
    except DatasetError as error:
        if left_out is None or isinstance(error, AmbiguousError):
            raise
        left_out.fault(error, place)


def drawn(
    brought: Brought, logged: Mapping[str, Shelf[dict[str, Any]]] | None, number: int
) -> Mapping[str, Shelf[dict[str, Any]]] | None:
    """Leave `number` records at most in each table of what is measured, the whole base besides; the log of the rest.

    They are drawn by a hash of their ids: the same ones every time, whatever the order of the file.
    """
    for table in DRAWN:
        rows: Sequence[Any] = getattr(brought, table)
        names = set(heapq.nsmallest(number, (row.id for row in rows), key=lambda row_id: named_by("", row_id)))
        if len(names) < len(rows):
            brought.left_out[f"{table} that were not drawn (--sample {number})"] += len(rows) - len(names)
            setattr(brought, table, _of(rows, names))
    asked = {question.id for question in brought.questions}
    brought.ratings = _of(brought.ratings, {rated.id for rated in brought.ratings if rated.question_id in asked})
    return logged and {system: rows.part(asked) for system, rows in logged.items()}


def _of(rows: Sequence[R], names: Container[str]) -> Sequence[R]:
    return rows.part(names) if isinstance(rows, Shelf) else [row for row in rows if row.id in names]


def named_by(prefix: str, *texts: str) -> str:
    """An identifier made of what it stands for: the same texts get the same one, whatever their place in a file."""
    return f"{prefix}-{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:12]}"
