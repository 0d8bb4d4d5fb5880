"""A user's own tables as a data set: chunks, past questions, and the page shown with each as its proxy label."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from ragbench.old.core.settings import OWN_TABLES, ChunkTable, QuestionTable, Settings
from ragbench.old.core.types import Chunk, Question
from ragbench.old.data import Dataset, DatasetError, PastQuestion, normalise, vocabulary
from ragbench.old.data.files import cut_list
from ragbench.old.data.records import REAL
from ragbench.old.store.foreign import holds_vectors, no_vectors

if TYPE_CHECKING:
    from ragbench.old.store import Source

SCORES = get_args(get_args(PastQuestion.model_fields["score"].annotation)[0])


def read(name: str, settings: Settings) -> Dataset:
    """The data set `db:NAME`: the tables of `[databases.NAME]`, read in read-only transactions.

    A question's relevant page is the URL that was shown with its answer, which is a proxy label; questions without one
    stay in the history only. Rows without an id or a text are left out and counted, by reason, in `left_out`. So are
    chunks without a vector where `without_embedding = "leave_out"`. Where an embedder takes the vectors of questions
    from their table, and it has some, those without one are in the history only, too: `without_vector`.
    Raises StoreError for tables and columns that are not there, EmbeddingError for vectors of several widths,
    DatasetError where nothing is left.
    """
    from ragbench.old.store import Source

    with Source.open(name, settings) as source:
        tables = source.tables
        left_out: Counter[str] = Counter()
        source.check_vectors(tables.chunks)
        if tables.questions is not None:
            source.check_vectors(tables.questions)
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


@dataclass(frozen=True)
class Guess:
    """What tables of a database are taken for: setting → column, of the chunks and of the questions, by the names that
    they have. said: in words. unused: tables and columns that are not used, and why."""

    chunks: dict[str, Any] | None = None
    questions: dict[str, Any] | None = None
    said: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def is_stored(self) -> bool:
        """Whether the vectors of chunks and of questions stand in the tables."""
        return all(table is not None and table.get("embedding") for table in (self.chunks, self.questions))


def guess(there: Mapping[tuple[str, str], Mapping[str, str]]) -> Guess:
    """there: (schema, table) → column → type. Passages are the texts beside vectors, if there are any, questions those
    that are called so; a table without ids or texts is named with its columns."""
    asked = {place: found for place, columns in there.items() if (found := _of_table(place, columns, _ASKED))}
    questions = max(asked.values(), key=_worth, default=None)
    held = {
        place: found
        for place, columns in there.items()
        if (found := _of_table(place, columns, _HELD)) and found is not questions and place not in asked
    }
    chunks = max(held.values(), key=_worth, default=None)
    said, unused = [], []
    for what, table in (("passages", chunks), ("questions of users", questions)):
        if table is not None:
            told = ", ".join(f"{name} = {value}" for name, value in table.items() if name not in ("table", "in_schema"))
            columns = there[table["in_schema"], table["table"]]
            others = [name for name, kind in columns.items() if holds_vectors(kind) and name != table.get("embedding")]
            also = f"; there are vectors in {cut_list(others)}, too" if others else ""
            said.append(f"table {table['table']}: {what} ({told}{also})")
            if "embedding" not in table and (wrong := [name for name in columns if vocabulary.key(name) in _VECTORS]):
                table["embedding"] = ""
                unused.append(no_vectors(table["table"], wrong[0], columns[wrong[0]]))
    used = [(table["in_schema"], table["table"]) for table in (chunks, questions) if table is not None]
    unused += [f"table {name if schema == 'public' else f'{schema}.{name}'} ({cut_list(columns)})"
               for (schema, name), columns in there.items() if (schema, name) not in used]  # fmt: skip
    return Guess(chunks, questions, tuple(said), tuple(unused))


def of_collection(chunks: dict[str, Any], collections: Sequence[str]) -> list[str]:
    """Take the first collection of several for the passages, and say so."""
    if not collections:
        return []
    chunks["collection"] = collections[0]
    others = cut_list(collections[1:])
    return [f"of the collections in {chunks['table']} {collections[0]}, the largest; there are also {others}"]


_OF_ROWS = ("embedding_uuid", "langchain_id", "node_id", "chunk_uuid", "passage_uuid")
"""What pgai, LangChain and LlamaIndex call a passage, beside an `id` of its document or of its row."""
_ID = (*_OF_ROWS, "id", "uuid", *vocabulary.PARTS.ids)
_VECTORS = {"embedding", "vector", "vec", "emb"}
_HELD: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "id": (_ID, ("chunk_id", "id")), "text": ((*vocabulary.PARTS.texts, "document"), ("chunk_text", "contexts")),
    "url": (vocabulary.PARTS.addresses, ("url",)), "title": (vocabulary.PARTS.titles, ()),
}  # fmt: skip
_ASKED: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "id": (_ID, ("id",)), "question": ((), ("user_input",)), "answer": ((), ("response",)),
    "url": (vocabulary.PARTS.addresses, ("url",)), "score": ((), ("user_score", "value")), "user": ((), ("user",)),
    "asked_at": ((), ("time",)), "stop_point": (("stop_point",), ()),
}  # fmt: skip
"""Setting → names of its column, the likelier first, and fields of the vocabulary."""
_OF_TEXT = ("text", "question", "answer", "url", "title")


def _of_table(
    place: tuple[str, str], columns: Mapping[str, str], wanted: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> dict[str, Any] | None:
    """Setting → column; None for a table without ids, or without texts."""
    found: dict[str, Any] = {"table": place[1], "in_schema": place[0]}
    of_its_own = f"{vocabulary.key(place[1])}_id"  # article_id of articles
    for setting, (names, of) in wanted.items():
        told = [*names, of_its_own] if setting == "id" else names
        order = {vocabulary.key(name): rank for rank, name in reversed([*enumerate(told)])}
        legal = [
            name for name, kind in columns.items()
            if (vocabulary.key(name) in order or vocabulary.field_of(name) in of) and name not in found.values()
            and (setting not in _OF_TEXT or kind.startswith(("text", "character", "citext")))
        ]  # fmt: skip
        if legal:
            found[setting] = min(legal, key=lambda name: order.get(vocabulary.key(name), len(order)))
    of_text = str(found.get("text", found.get("question", "")))
    if vectors := [name for name, kind in columns.items() if holds_vectors(kind)]:
        found["embedding"] = min(
            vectors,
            key=lambda name: (
                vocabulary.key(name) not in _VECTORS,
                of_text not in name,
                "[]" in columns[name],
                "sparse" in columns[name],
            ),
        )
    return found if "id" in found and found.keys() & {"text", "question"} else None


def _worth(table: Mapping[str, Any]) -> tuple[bool, int]:
    return "embedding" in table, len(table)
