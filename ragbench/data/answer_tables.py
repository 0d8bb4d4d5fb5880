"""Tables of answers, as other tools write them, to a data set, and to what each system is logged to have answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.core.types import Chunk
from ragbench.data.brought import Brought
from ragbench.data.cells import Forms
from ragbench.data.files import DatasetError
from ragbench.data.records import ChunkRecord, QuestionRecord
from ragbench.data.rows import checked, cut
from ragbench.data.samples import streamed
from ragbench.data.shelf import RECENT, Shelf

SYSTEM = "logged"


def read(path: Path) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """The data set in a table of answers, and system → lines of what it retrieved and answered, question by question.

    Every context becomes a chunk, one without an id that of its text; `reference_contexts` are the relevant ones.
    The answers of several systems to one question must agree on its text and reference; relevant is what any of them
    labels. The table is streamed: memory does not grow with its rows.
    Raises DatasetError naming file, sample, field and what was expected.
    """
    chunks, labels = _Chunks(Shelf()), dict[str, dict[str, float]]()
    found = _read(path, chunks, labels)
    ids = chunks.ids()
    return _read(path, _Chunks(ids), labels) if ids or labels else found


def _read(
    path: Path, chunks: _Chunks, labels: dict[str, dict[str, float]]
) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """labels: what is relevant to questions that not all of their rows label alike; those that turn up are added."""
    questions = Shelf(QuestionRecord)
    logged: dict[str, Shelf[dict[str, Any]]] = {}
    seen, forms = Shelf[None](), Forms()
    labelled = False
    for _, sample in streamed(path, forms):
        place = f"{path.name}, sample {sample.id}"
        system = sample.system or SYSTEM
        if not seen.put(f"{system}\0{sample.id}", None):
            raise DatasetError(f"the id {sample.id!r} stands twice; ids name the samples of a system, once each")
        if sample.user_input is None or not sample.user_input.strip():
            raise DatasetError(f"{place}: user_input = {cut(sample.user_input)}: a question is expected")
        retrieved = chunks.named(sample.contexts or (), place)
        wanted = chunks.named(sample.reference_contexts or (), place)
        relevant = dict.fromkeys(map(chunks.id_of, [*labels.get(sample.id, ()), *wanted]), 1.0)
        made = {
            "id": sample.id,
            "text": sample.user_input,
            "reference": sample.reference,
            "references": sample.references,
            "cluster": sample.cluster,
            "relevant": relevant,
            "relevant_urls": {},
            "answerable": True if relevant else None,
        }
        question = checked(QuestionRecord, made, place)
        if not questions.put(question.id, question):
            known = questions.get(question.id) or question
            if any(getattr(known, one) != getattr(question, one) for one in ("text", "reference", "references")):
                raise DatasetError(
                    f"{place}: user_input and reference differ between systems; one question is expected"
                )
            if known.relevant != question.relevant:
                labels[question.id] = {**known.relevant, **question.relevant}
        labelled = labelled or bool(relevant)
        if sample.contexts is not None or sample.response is not None:
            line: dict[str, Any] = {"id": sample.id, "retrieved": retrieved}
            if sample.response is not None:
                line["answer"] = sample.response
            if sample.shown is not None:
                line["shown"] = sample.shown
            if system not in logged:
                logged[system] = Shelf()
            logged[system].put(sample.id, line)
    if not questions:
        raise DatasetError(f"{path.name}: holds no samples; at least one is expected")
    brought = Brought(chunks=chunks.shelf, questions=questions, notes=[*forms.unread, *forms.notes])
    if not labelled:
        brought.notes.append(
            "no reference_contexts: nothing says which chunks are relevant, so retrieval has no labels"
        )
    return brought, logged


class _Chunks:
    """The contexts of a table as chunks. shelf: all of them. given: ids by what their texts alone would be named."""

    def __init__(self, given: Shelf[str]) -> None:
        self.shelf = Shelf(ChunkRecord, by_key=True)
        self._given, self._named = given, Shelf[str]()
        self._recent: dict[str, int] = {}  # id → hash of its text

    def named(self, contexts: Sequence[Chunk], place: str) -> list[str]:
        """The ids of contexts among all chunks: their own where one was given, else one made of the text."""
        found = []
        for number, context in enumerate(contexts, 1):
            if not context.text.strip():
                raise DatasetError(f"{place}: contexts.{number} = {context.text!r}: a text is expected")
            identifier = self.id_of(context.id)
            if self._recent.get(identifier) != hash(context.text):
                self._take(identifier, context, place)
            found.append(identifier)
        return list(dict.fromkeys(found))

    def id_of(self, name: str) -> str:
        """The id that the text of a chunk has elsewhere, where this one is made of its text."""
        return (self._given.get(name) if self._given else None) or name

    def ids(self) -> Shelf[str]:
        """Of the texts that came with an id and without one: made of the text → given, the first of several."""
        found = Shelf[str]()
        for name, given in self._named.items():
            if self.shelf.has(name):
                found.put(name, given)
        return found

    def _take(self, identifier: str, context: Chunk, place: str) -> None:
        made = checked(ChunkRecord, {"id": identifier, "text": context.text}, place)
        is_new = self.shelf.put(identifier, made)
        if not context.is_nameless:
            if not is_new and (self.shelf.get(identifier) or made).text != context.text:
                raise DatasetError(f"{place}: the context {identifier!r} has another text elsewhere; one is expected")
            self._named.put(Chunk.nameless(context.text).id, identifier)
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[identifier] = hash(context.text)
