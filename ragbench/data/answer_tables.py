"""Tables of answers, as other tools write them, to a data set, and to what each system is logged to have answered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.core.types import Chunk, Sample
from ragbench.data.brought import Brought
from ragbench.data.cells import Forms
from ragbench.data.files import DatasetError
from ragbench.data.records import ChunkRecord, QuestionRecord, RatedAnswer
from ragbench.data.rows import checked
from ragbench.data.samples import Given, streamed
from ragbench.data.shelf import RECENT, Shelf

SCALES = ((0, 1), (1, 5), (0, 5), (1, 10), (0, 10), (0, 100))
"""Ends of the scales that people label on."""
SYSTEM = "logged"
LOGGED = "-s {dataset}-logged"
UNLABELLED = "no reference_contexts: nothing says which chunks are relevant, so retrieval has no labels"
NO_PASSAGES = "no passages: what was retrieved cannot be measured. Give them in a column: --column contexts=COLUMN"


def read(path: Path, columns: Given | None = None) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """The data set in a table of answers, and system → lines of what it retrieved and answered, question by question.

    Every context becomes a chunk, one without an id that of its text; `reference_contexts` are the relevant ones.
    The answers of several systems to one question must agree on its text and reference; relevant is what any of them
    labels. What people gave the answers tries judges: the `ratings` of the data set. The table is streamed: memory does
    not grow with its rows. columns: as of `read_samples`. Rows that cannot be used are left out and counted. Raises
    DatasetError where none can be.
    """
    chunks, labels = Chunks(Shelf()), dict[str, dict[str, float]]()
    first_pass = _read(path, columns, chunks, labels)
    ids = chunks.ids()
    return _read(path, columns, Chunks(ids), labels) if ids or labels else first_pass


def _read(
    path: Path, columns: Given | None, chunks: Chunks, labels: dict[str, dict[str, float]]
) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """labels: what is relevant to questions that not all of their rows label alike; those that turn up are added."""
    questions = Shelf(QuestionRecord)
    logged: dict[str, Shelf[dict[str, Any]]] = {}
    forms = Forms()
    labelled = False
    rated = Rated()
    for place, sample in streamed(path, forms, columns, ratings=True):
        try:
            question, retrieved = _question(sample, chunks, labels)
            known = question if questions.put(question.id, question) else questions.get(question.id) or question
            if any(getattr(known, field) != getattr(question, field) for field in ("text", "reference", "references")):
                raise DatasetError("a question or a reference that differs from another system's under its id")
        except DatasetError as error:
            forms.left_out.fault(error, place)
            continue
        if known.relevant != question.relevant:
            labels[question.id] = {**known.relevant, **question.relevant}
        labelled = labelled or bool(question.relevant)
        if sample.contexts is not None or sample.response is not None:
            line: dict[str, Any] = {"id": sample.id, "retrieved": retrieved}
            if sample.response is not None:
                line["answer"] = sample.response
            if sample.shown is not None:
                line["shown"] = sample.shown
            if sample.labels and sample.response is not None:
                rated.take(sample, chunks)
            logged.setdefault(sample.system or SYSTEM, Shelf()).put(sample.id, line)
    if not questions:
        raise DatasetError(f"{path.name}: no row can be used: {forms.left_out.said}")
    notes = [*forms.unread, *forms.notes]
    brought = Brought(chunks=chunks.shelf, questions=questions, notes=notes)
    brought.ratings = rated.shelf
    brought.left_out = forms.left_out.told
    brought.runs += [f"rag_metrics {LOGGED}"] if not chunks.shelf and logged else []
    if rated.shelf:
        brought.runs += [*([] if brought.runs else [""]), f"tier_judge{rated.scale(notes)}"]
    if not labelled:
        brought.notes.append(UNLABELLED)
    if not chunks.shelf:
        brought.notes.append(NO_PASSAGES)
    return brought, logged


def _question(
    sample: Sample, chunks: Chunks, labels: Mapping[str, dict[str, float]]
) -> tuple[QuestionRecord, list[str]]:
    if sample.user_input is None or not sample.user_input.strip():
        raise DatasetError("no question; `ragbench score ANSWERS QUESTIONS` joins those of another file by their ids")
    retrieved = chunks.named(sample.contexts or ())
    wanted = chunks.named(sample.reference_contexts or ())
    relevant = dict.fromkeys(map(chunks.id_of, [*labels.get(sample.id, ()), *wanted]), 1.0)
    made = {
        "id": sample.id, "text": sample.user_input, "reference": sample.reference,
        "references": sample.references, "cluster": sample.cluster,
        "relevant": relevant, "relevant_urls": {}, "answerable": True if relevant else None,
    }  # fmt: skip
    return checked(QuestionRecord, made, "its question"), retrieved


class Chunks:
    """The contexts of a table as chunks. shelf: all of them. given: ids by what their texts alone would be named."""

    def __init__(self, given: Shelf[str]) -> None:
        self.shelf = Shelf(ChunkRecord, by_key=True)
        self._given, self._named = given, Shelf[str]()
        self._recent: dict[str, int] = {}  # id → hash of its text

    def named(self, contexts: Sequence[Chunk]) -> list[str]:
        """The ids of contexts among all chunks: their own where one was given, else one made of the text."""
        identifiers = []
        for context in contexts:
            identifier = self.id_of(context.id)
            if self._recent.get(identifier) != hash(context.text):
                self._take(identifier, context)
            identifiers.append(identifier)
        return list(dict.fromkeys(identifiers))

    def id_of(self, name: str) -> str:
        """The id that the text of a chunk has elsewhere, where this one is made of its text."""
        return (self._given.get(name) if self._given else None) or name

    def ids(self) -> Shelf[str]:
        """Of the texts that came with an id and without one: made of the text → given, the first of several."""
        given_ids = Shelf[str]()
        for name, given in self._named.items():
            if self.shelf.has(name):
                given_ids.put(name, given)
        return given_ids

    def _take(self, identifier: str, context: Chunk) -> None:
        if not context.text:  # named only: it may stand elsewhere with its text
            return
        made = checked(ChunkRecord, {"id": identifier, "text": context.text}, "its passages")
        is_new = self.shelf.put(identifier, made)
        if not context.is_nameless:
            if not is_new and (self.shelf.get(identifier) or made).text != context.text:
                raise DatasetError("a passage whose id has another text elsewhere")
            self._named.put(Chunk.nameless(context.text).id, identifier)
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[identifier] = hash(context.text)


class Rated:
    """The answers that people labelled. shelf: all of them, each once, with what every person gave it."""

    def __init__(self) -> None:
        self.shelf = Shelf(RatedAnswer)
        self._low, self._high = math.inf, -math.inf

    def take(self, sample: Sample, chunks: Chunks) -> None:
        """Take what people gave an answer; of each person once. Raises DatasetError."""
        name = f"{sample.system}: {sample.id}" if sample.system else sample.id
        known, labels = self.shelf.get(name), sample.labels or {}
        made = {
            "id": name, "question_id": sample.id, "answer": sample.response, "system": sample.system,
            "context": tuple(chunks.named([context for context in sample.contexts or () if context.text])),
            "ratings": {**(known.ratings if known else {}), **labels},
        }  # fmt: skip
        rated = checked(RatedAnswer, made, "its labels")
        if not self.shelf.put(name, rated):
            self.shelf.change(name, rated)
        self._low, self._high = min(self._low, *labels.values()), max(self._high, *labels.values())

    def scale(self, notes: list[str]) -> str:
        """The option that names the scale, which is not told: the shortest usual one that holds all labels."""
        low, high = next(ends for ends in SCALES if ends[0] <= self._low and self._high <= ends[1])
        notes.append(f"labels go from {self._low:g} to {self._high:g}: taken for a scale from {low} to {high}")
        return "" if (low, high) == (1, 5) else f" -p people_scale={low},{high}"
