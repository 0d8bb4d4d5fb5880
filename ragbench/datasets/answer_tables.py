"""Tables of answers, as other tools write them, to a data set, and to what each system is logged to have answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.datasets.brought import Brought, named_by
from ragbench.datasets.cells import Forms
from ragbench.datasets.files import DatasetError
from ragbench.datasets.records import ChunkRecord, QuestionRecord
from ragbench.datasets.rows import checked, cut
from ragbench.datasets.samples import read_samples
from ragbench.types import Chunk

SYSTEM = "logged"


def read(path: Path) -> tuple[Brought, Mapping[str, list[dict[str, Any]]]]:
    """The data set in a table of answers, and system → lines of what it retrieved and answered, question by question.

    Every context becomes a chunk (equal texts the same); `reference_contexts` are the relevant ones. The answers of
    several systems to one question must agree on its text and reference.
    Raises DatasetError naming file, sample, field and what was expected.
    """
    brought = Brought()
    chunks: dict[str, ChunkRecord] = {}
    questions: dict[str, QuestionRecord] = {}
    logged: dict[str, list[dict[str, Any]]] = {}
    forms = Forms()
    for sample in read_samples(path, forms):
        place = f"{path.name}, sample {sample.id}"
        if sample.user_input is None or not sample.user_input.strip():
            raise DatasetError(f"{place}: user_input = {cut(sample.user_input)}: a question is expected")
        retrieved = _chunks(sample.contexts or (), chunks, place)
        wanted = _chunks(sample.reference_contexts or (), chunks, place)
        made = {
            "id": sample.id,
            "text": sample.user_input,
            "reference": sample.reference,
            "cluster": sample.cluster,
            "relevant": dict.fromkeys(wanted, 1.0),
            "answerable": True if wanted else None,
        }
        question = checked(QuestionRecord, made, place)
        known = questions.setdefault(question.id, question)
        if (known.text, known.reference) != (question.text, question.reference):
            raise DatasetError(f"{place}: user_input and reference differ between systems; one question is expected")
        if sample.contexts is not None or sample.response is not None:
            line: dict[str, Any] = {"id": sample.id, "retrieved": retrieved}
            if sample.response is not None:
                line["answer"] = sample.response
            if sample.shown is not None:
                line["shown"] = sample.shown
            logged.setdefault(sample.system or SYSTEM, []).append(line)
    if not questions:
        raise DatasetError(f"{path.name}: holds no samples; at least one is expected")
    brought.chunks = sorted(chunks.values(), key=lambda chunk: chunk.id)
    brought.questions = list(questions.values())
    brought.notes += [*forms.unread, *forms.notes]
    if not any(question.relevant for question in brought.questions):
        brought.notes.append(
            "no reference_contexts: nothing says which chunks are relevant, so retrieval has no labels"
        )
    return brought, logged


def _chunks(contexts: Sequence[Chunk], chunks: dict[str, ChunkRecord], place: str) -> list[str]:
    """The ids of contexts among all chunks: their own where one was given, else one made of the text."""
    found = []
    for number, context in enumerate(contexts, 1):
        if not context.text.strip():
            raise DatasetError(f"{place}: contexts.{number} = {context.text!r}: a text is expected")
        identifier = named_by("context", context.text) if context.id == str(number) else context.id
        made = checked(ChunkRecord, {"id": identifier, "text": context.text}, place)
        if chunks.setdefault(identifier, made).text != made.text:
            raise DatasetError(f"{place}: the context {identifier!r} has another text elsewhere; one is expected")
        found.append(identifier)
    return list(dict.fromkeys(found))
