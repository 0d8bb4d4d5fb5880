"""Tables of answers, as other tools write them, to a data set, and to what each system is logged to have answered."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.old.core.types import Chunk, Sample
from ragbench.old.data.brought import Brought, Chunks, passing_over
from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import QuestionRecord, RatedAnswer, checked
from ragbench.old.data.samples import Given, streamed
from ragbench.old.data.shelf import Shelf

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
    chunks, rated, forms, questions = Chunks(), Rated(), Forms(), Shelf(QuestionRecord)
    logged: dict[str, Shelf[dict[str, Any]]] = {}
    for place, sample in streamed(path, forms, columns, ratings=True):
        with passing_over(forms.left_out, place):
            retrieved = _take(sample, chunks, questions)
            if sample.contexts is None and sample.response is None:
                continue
            line: dict[str, Any] = {"id": sample.id, "retrieved": retrieved}
            line |= {} if sample.response is None else {"answer": sample.response}
            line |= {} if sample.shown is None else {"shown": sample.shown}
            if sample.labels and sample.response is not None:
                rated.take(sample, chunks)
            logged.setdefault(sample.system or SYSTEM, Shelf()).put(sample.id, line)
    if not questions:
        raise DatasetError(f"{path.name}: no row can be used: {forms.left_out.said}")
    if given := chunks.ids():

        def of(names: Iterable[str]) -> list[str]:
            return list(dict.fromkeys(given.get(name) or name for name in names))

        chunks.shelf = chunks.shelf.changed(lambda chunk: None if given.has(chunk.id) else chunk)
        questions = questions.changed(
            lambda asked: asked.model_copy(update={"relevant": dict.fromkeys(of(asked.relevant), 1.0)})
        )
        rated.shelf = rated.shelf.changed(lambda own: own.model_copy(update={"context": tuple(of(own.context))}))
        logged = {
            system: lines.changed(lambda line: {**line, "retrieved": of(line["retrieved"])})
            for system, lines in logged.items()
        }
    notes = [*forms.unread, *forms.notes, *chunks.notes]
    brought = Brought(chunks=chunks.shelf, questions=questions, notes=notes)
    brought.ratings = rated.shelf
    brought.left_out = forms.left_out.told
    names = [system.replace(",", ";").replace("{", "{{").replace("}", "}}") for system in logged]
    measured = ",".join(f"{{dataset}}-{name}" for name in names)
    measured = measured if all(re.fullmatch(r"[\w.-]+", name) for name in names) else shlex.quote(measured)
    brought.runs += [f"rag_metrics -s {measured}"] if not chunks.shelf and logged else []
    if rated.shelf:
        brought.runs += [*([] if brought.runs else [""]), f"tier_judge{rated.scale(notes)}"]
    if not any(question.relevant for question in questions):
        brought.notes.append(UNLABELLED)
    if not chunks.shelf:
        brought.notes.append(NO_PASSAGES)
    return brought, logged


def _take(sample: Sample, chunks: Chunks, questions: Shelf[QuestionRecord]) -> list[str]:
    """What was retrieved for a sample, whose question is taken; what is relevant to it is what any of its rows labels.
    Raises DatasetError."""
    if sample.user_input is None or not sample.user_input.strip():
        raise DatasetError("no question; `ragbench score ANSWERS QUESTIONS` joins those of another file by their ids")
    retrieved = _named(chunks, sample.contexts)
    made = {
        "id": sample.id, "text": sample.user_input, "reference": sample.reference,
        "references": sample.references, "cluster": sample.cluster,
    }  # fmt: skip
    known = questions.get(sample.id)
    relevant = dict.fromkeys([*(known.relevant if known else ()), *_named(chunks, sample.reference_contexts)], 1.0)
    labels = {"relevant": relevant, "answerable": True if relevant else None}
    question = checked(QuestionRecord, {**made, **labels}, "its question")
    if known is None:
        questions.put(sample.id, question)
    elif any(getattr(known, field) != getattr(question, field) for field in ("text", "reference", "references")):
        raise DatasetError("a question or a reference that differs from another system's under its id")
    elif known.relevant != relevant:
        questions.change(sample.id, known.model_copy(update=labels))
    return retrieved


def _named(chunks: Chunks, contexts: Sequence[Chunk] | None) -> list[str]:
    """The names of contexts among all chunks, each once."""
    return list(dict.fromkeys(chunks.known(context).name for context in contexts or ()))


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
            "context": tuple(_named(chunks, [context for context in sample.contexts or () if context.text])),
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
