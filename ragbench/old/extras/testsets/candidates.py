"""Drafted questions as they are kept beside the data set: those that passed and those that did not, each with why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ragbench.old.core.folders import write
from ragbench.old.core.settings import secrets
from ragbench.old.data.folder import lines_of_table
from ragbench.old.data.records import Closed, Dialogue, QuestionRecord, Turn

Filter = Literal[
    "reply", "language", "quotes", "one_passage", "copied", "duplicate", "not_answered", "answered", "known", "unclear"
]
FILTERS: Sequence[Filter] = (
    "reply", "language", "quotes", "one_passage", "copied", "duplicate", "not_answered", "answered", "known", "unclear",
)  # fmt: skip
"""In the order in which they are held against a draft; the first that it does not pass drops it."""


class Shown(NamedTuple):
    """Where in a passage a quote stands, in characters."""

    passage: str
    start: int
    end: int


class Candidate(Closed):
    """A draft, and what became of it.

    id: the question's; attempt: from 0, which of the drafts that were made for it. passages: what it was written from.
    first: question and answer that a follow-up follows. dropped: the filter that it did not pass; None: it is kept.
    why: in the words of whoever decided.
    """

    id: str
    attempt: int
    kind: str
    style: str
    judge: str
    passages: tuple[str, ...]
    question: str = ""
    answer: str = ""
    first: tuple[str, str] | None = None
    quotes: tuple[Shown, ...] = ()
    dropped: Filter | None = None
    why: str = ""

    def record(self) -> QuestionRecord | Dialogue:
        """What goes into the data set, marked as not reviewed."""
        if self.first is not None:
            asked, answered = self.first
            turns = (
                Turn(question=asked, answer=answered, relevant={self.passages[0]: 1.0}),
                Turn(question=self.question, answer=self.answer, relevant=dict.fromkeys(self.quoted, 1.0)),
            )
            return Dialogue(id=self.id, turns=turns, draft="unreviewed")
        spans: dict[str, list[tuple[int, int]]] = {}
        for quote in self.quotes:
            spans.setdefault(quote.passage, []).append((quote.start, quote.end))
        return QuestionRecord(
            id=self.id, text=self.question, reference=self.answer or None, relevant=dict.fromkeys(self.quoted, 1.0),
            spans={name: sorted(set(own)) for name, own in spans.items()}, answerable=bool(self.quotes),
            kind=self.kind, source=f"draft:{self.style}", draft="unreviewed",
        )  # fmt: skip

    @property
    def quoted(self) -> tuple[str, ...]:
        """The passages in which its quotes stand."""
        return tuple(dict.fromkeys(quote.passage for quote in self.quotes))


def path_of(place: Path, language: str) -> Path:
    """Where the drafts of a data set's folder are kept."""
    return place / f"drafts.{language}.jsonl"


def read(place: Path, language: str) -> list[Candidate]:
    """The drafts that are kept there; none where there is no file. Raises DatasetError, naming file and line."""
    return records_of(path_of(place, language), Candidate)


def keep(place: Path, language: str, candidates: Iterable[Candidate]) -> None:
    """Write these among those that are kept already; a draft of the same id and attempt takes its place."""
    keep_records(path_of(place, language), Candidate, candidates, lambda draft: (draft.id, draft.attempt))


Record = TypeVar("Record", bound=Closed)


def records_of(path: Path, model: type[Record]) -> list[Record]:
    """The records of a file; none where there is no file. Raises DatasetError, naming file and line."""
    return [record for _, record in lines_of_table(path, model)]


def keep_records(path: Path, model: type[Record], records: Iterable[Record], key: Callable[[Record], Any]) -> None:
    """Write these among those that are kept already, in the order of their keys; secrets are masked."""
    known = {key(record): record for record in (*records_of(path, model), *records)}
    mask = secrets.exact_masker()
    rows = (secrets.masked(known[name].model_dump(mode="json"), mask) for name in sorted(known))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write(path, text.encode("utf-8"))
