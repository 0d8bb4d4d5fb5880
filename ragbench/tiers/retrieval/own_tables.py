"""A user's own tables as a data set: chunks, past questions, and the page shown with each as its proxy label."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from ragbench.core.settings import OWN_TABLES, ChunkTable, QuestionTable, Settings
from ragbench.core.types import Chunk, Question
from ragbench.data import Dataset, DatasetError, PastQuestion, normalise

if TYPE_CHECKING:
    from ragbench.store import Source

REAL = "real users"
"""What questions of a log name as their source."""
SCORES = get_args(get_args(PastQuestion.model_fields["score"].annotation)[0])


def read(name: str, settings: Settings) -> Dataset:
    """The data set `db:NAME`: the tables of `[databases.NAME]`, read in read-only transactions.

    A question's relevant page is the URL that was shown with its answer, which is a proxy label; questions without one
    stay in the history only. Rows without an id or a text are left out and counted, by reason, in `left_out`. So are
    chunks without a vector where `without_embedding = "leave_out"`. Where an embedder takes the vectors of questions
    from their table, and it has some, those without one are in the history only, too: `without_vector`.
    Raises StoreError for tables and columns that are not there, DatasetError where nothing is left.
    """
    from ragbench.store import Source

    with Source.open(name, settings) as source:
        tables = source.tables
        left_out: Counter[str] = Counter()
        leave_out = tables.without_embedding == "leave_out"
        embedded = _embedded(source, tables.chunks, tables.chunks.text) if leave_out else None
        chunks = tuple(
            Chunk(identifier, text, url=_text(row[2]), title=_text(row[3]))
            for identifier, text, row in _kept(source.chunks(), "chunk", embedded, left_out)
        )
        asked = tables.questions
        rows = _kept(source.questions(), "question", None, left_out)
        history = tuple(_past(identifier, text, row, left_out) for identifier, text, row in rows)
        stored = [
            embedder
            for embedder in settings.embedders.values()
            if embedder.database == name and embedder.queries is None
        ]
        embedded = _embedded(source, asked, asked.question) if asked is not None and stored else None
    unasked = frozenset(past.id for past in history if embedded is not None and past.question not in embedded)
    if unasked:
        left_out["question without a vector (it stays in the history)"] = len(unasked)
    if not chunks:
        raise DatasetError(f"{OWN_TABLES}{name}: the table {tables.chunks.table} holds no chunk with a text")
    made = Dataset(
        name=f"{OWN_TABLES}{name}",
        language=tables.language,
        title=tables.title or name,
        licence=tables.licence,
        chunks=chunks,
        questions=tuple(_question(past, tables.language) for past in history if past.url and past.id not in unasked),
        dialogues=(),
        decisions=(),
        history=history,
        ratings=(),
        content_hash="",
        left_out=dict(left_out),
        without_vector=unasked,
    )
    return replace(made, content_hash=_hash(made))


def _embedded(source: Source, table: ChunkTable | QuestionTable, column: str) -> set[str | None] | None:
    """The texts that have a vector; None where all count.

    A table of questions without any vector is asked by vectors made anew.
    """
    if table.embedding is None:
        return None
    rows, without = source.counts(table)
    if not without or (without == rows and table is source.tables.questions):
        return None
    return {_text(text) for text in source.vectors(table, column)[0]}


def _kept(
    rows: Iterator[tuple[Any, ...]], kind: str, known: set[str | None] | None, left_out: Counter[str]
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """The id, the cleaned text and all of each row that says something; the others are counted."""
    seen: set[str] = set()
    for row in rows:
        identifier, text = row[0], _text(row[1])
        if identifier is None or text is None:
            left_out[f"{kind} without an id or a text"] += 1
        elif str(identifier) in seen:
            left_out[f"{kind} whose id stands there twice"] += 1
        elif known is not None and text not in known:
            left_out[f"{kind} without a vector"] += 1
        else:
            seen.add(str(identifier))
            yield str(identifier), text, row


def _past(identifier: str, question: str, row: tuple[Any, ...], left_out: Counter[str]) -> PastQuestion:
    _id, _question, answer, url, score, user, asked_at, stop_point = row
    if score is not None and score not in SCORES:
        left_out["score that is not 1 to 5 (the question stays)"] += 1
    return PastQuestion.model_construct(
        id=identifier,
        question=question,
        answer=None if answer is None else normalise(str(answer)),
        url=_text(url),
        score=score if score in SCORES else None,
        user=None if user is None else str(user),
        asked_at=asked_at.isoformat() if hasattr(asked_at, "isoformat") else _text(asked_at),
        stop_point=stop_point is True,
    )


def _question(past: PastQuestion, language: str) -> Question:
    return Question(
        id=past.id,
        text=past.question,
        reference=past.answer,
        relevant_urls={past.url: 1.0} if past.url else {},
        language=language,
        source=REAL,
    )


def _text(value: Any) -> str | None:
    cleaned = normalise(str(value).replace("\0", "")).strip() if value is not None else ""
    return cleaned or None


def _hash(dataset: Dataset) -> str:
    digest = hashlib.sha256(dataset.language.encode())
    for chunk in dataset.chunks:
        digest.update(json.dumps(["chunk", chunk.id, chunk.text, chunk.url, chunk.title], ensure_ascii=False).encode())
    for past in dataset.history:
        digest.update(json.dumps(["question", *past.model_dump().values()], ensure_ascii=False).encode())
    return digest.hexdigest()
