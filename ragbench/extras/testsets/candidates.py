"""Drafted questions as they are kept beside the data set: those that passed and those that did not, each with why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ragbench.data.records import Closed, Dialogue, QuestionRecord, Turn
from ragbench.extras.testsets import kept_lines

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
    return kept_lines.read(path_of(place, language), Candidate)


def keep(place: Path, language: str, candidates: Iterable[Candidate]) -> None:
    """Write these among those that are kept already; a draft of the same id and attempt takes its place."""
    kept_lines.keep(path_of(place, language), Candidate, candidates, lambda draft: (draft.id, draft.attempt))
