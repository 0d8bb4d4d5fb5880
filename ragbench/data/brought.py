"""What a foreign file turned out to hold: the tables of a data set, what was left out and why, and what to know."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ragbench.data.files import DatasetError, LeftOut
from ragbench.data.folder import Records
from ragbench.data.records import Record
from ragbench.data.shelf import Shelf
from ragbench.data.vocabulary import AmbiguousError

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
