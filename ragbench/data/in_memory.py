"""Questions and documents that a caller has in memory to a data set: data frames, lists, mappings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from ragbench.core.language import LANGUAGES
from ragbench.core.segmentation import language_of
from ragbench.core.types import Chunk
from ragbench.data.brought import Brought
from ragbench.data.cells import held
from ragbench.data.files import DatasetError
from ragbench.data.folder import MODELS, Dataset, Records, of_records
from ragbench.data.records import ChunkRecord, QuestionRecord, Record
from ragbench.data.rows import checked, cut, flag, rows_of
from ragbench.data.samples import turns_of
from ragbench.data.vocabulary import FIELDS, key

NAME = "given"
"""What a data set is called that has no name of its own."""
QUESTIONS: Mapping[str, Sequence[str]] = {
    "id": FIELDS["id"],
    "text": ("text", *FIELDS["user_input"]),
    "reference": tuple(name for name in FIELDS["reference"] if name != "gold"),  # here it names passages
    "relevant": ("relevant", "relevant_chunk_ids", "relevant_ids", "relevant_documents", "reference_context_ids",
                 "gold", "chunk_id", "doc_id", "document_id"),
    "texts": ("reference_contexts", "relevant_texts", "chunk_text"),
    "relevant_urls": ("relevant_urls",),
    "kind": ("kind", "category", "type"),
}  # fmt: skip
"""What a field of a question may be called, the present name first; the others go by their own names."""
DOCUMENTS: Mapping[str, Sequence[str]] = {
    "id": ("id", "chunk_id", "doc_id", "document_id", "_id", "docno", "passage_id"),
    "text": ("text", "page_content", "content", "contents", "chunk_text", "passage", "document", "body"),
    "url": ("url", "source", "confluence_url"),
}
PAST: Mapping[str, Sequence[str]] = {
    "id": ("id",), "question": FIELDS["user_input"], "answer": FIELDS["response"], "url": ("url", "confluence_url"),
    "score": ("score", "user_score", "rating"), "user": ("user", "user_id"),
    "asked_at": ("asked_at", "timestamp", "time", "created_at"),
}  # fmt: skip
LABELLED_ALONE = "questions, and of passages only those that they name"
"""The title of a data set without documents: retrieval from so small a base is easier."""


def dataset(tables: Mapping[str, Any]) -> Dataset:
    """A data set of tables that stand in memory.

    tables: `questions`, a data frame or a list of mappings or texts: question, and at will id, reference, kind,
        cluster, answerable, and what is relevant: ids, places in the list of documents, or texts of passages, with
        grades as {id: grade}. `documents`, a data frame, a list of texts, mappings or documents of a framework, or a
        mapping from id to text; those without ids are known by their place, from 0. `history`, `dialogues`, `decisions`
        and `ratings` as their files have them; a dialogue may also be a list of messages. `name`, `language`, `title`
        and `licence` are texts.
    Raises DatasetError naming table, row, field and value, and tables that there are not.
    """
    legal = ("questions", "documents", "history", "dialogues", "decisions", "ratings")
    about = {key: str(tables[key]) for key in ("name", "language", "title", "licence") if tables.get(key)}
    if strange := [key for key in tables if key not in (*legal, "name", "language", "title", "licence")]:
        raise DatasetError(f"dataset: there is no table {strange[0]!r}; tables are {', '.join(legal)}")
    brought = Brought()
    named = tables.get("documents")
    chunks = {chunk.id: chunk for chunk in _documents(named)} if named is not None else {}
    questions = list(_questions(tables.get("questions"), chunks, brought.left_out, labelled_alone=named is None))
    brought.chunks, brought.questions = _sorted(chunks.values()), _sorted(questions)
    for name in ("history", "dialogues", "decisions", "ratings"):
        setattr(brought, name, _sorted(_others(name, tables.get(name), brought.left_out)))
    if not any(len(getattr(brought, name)) for name in MODELS):
        raise DatasetError("dataset: it holds neither questions nor documents, dialogues or a log")
    language = about.get("language") or language_of(brought.texts)
    if language not in LANGUAGES:
        raise DatasetError(f"dataset: language = {language!r}: one of {', '.join(LANGUAGES)} is expected")
    name = about.get("name", NAME)
    title = about.get("title") or (LABELLED_ALONE if named is None and chunks else name)
    known = {table.name: getattr(brought, table.name) for table in fields(Records)}
    return of_records(
        Records(**known), name, language, title, about.get("licence", "not stated"), dict(brought.left_out)
    )


def _sorted(records: Iterable[Any]) -> list[Any]:
    return sorted(records, key=lambda record: record.id)


def rows(given: Any, place: str, text: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, row) of each row of a table in memory: names as they are, without what is not given.

    text: what a row that is a text alone is called. Raises DatasetError for what is no row.
    """
    if isinstance(given, Mapping):
        given = [given]
    if isinstance(given, str) or (not isinstance(given, Iterable) and not hasattr(given, "columns")):
        raise DatasetError(f"{place}: {cut(given)}: a data frame or a list is expected")
    index = list(getattr(given, "index", ())) if hasattr(given, "columns") else []
    for number, entry in enumerate(rows_of(given)):
        where = f"{place}, row {number + 1}"
        if isinstance(entry, str) and text:
            entry = {text: entry}
        elif is_dataclass(entry) and not isinstance(entry, type):
            entry = {each.name: getattr(entry, each.name) for each in fields(entry)}
        if not isinstance(entry, Mapping):
            raise DatasetError(f"{where}: {cut(entry)}: a mapping is expected")
        row = {str(key): plain(value) for key, value in entry.items() if not _is_missing(value)}
        yield where, {"\0place": str(index[number] if index else number), **row}


def plain(value: Any) -> Any:
    """A cell as Python has it: numbers and arrays of NumPy as numbers and lists, moments as texts."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return value.isoformat() if hasattr(value, "isoformat") else value


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("NaT", "<NA>")


def first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of the names that the row has; None where it has none of them."""
    folded = {column.casefold().replace(" ", "_").replace("-", "_"): value for column, value in row.items()}
    there = {key(column): value for column, value in row.items()} | folded
    return next((there[name] for name in (*names, *map(key, names)) if name in there), None)


def _documents(given: Any) -> Iterator[ChunkRecord]:
    if isinstance(given, Mapping):
        given = [
            {**document, "id": name} if isinstance(document, Mapping) else {"id": name, "text": document}
            for name, document in given.items()
        ]
    seen: set[str] = set()
    for where, row in rows(given, "documents", "text"):
        name = first(row, DOCUMENTS["id"])
        made = {
            "id": row["\0place"] if name is None else str(name),
            "text": first(row, DOCUMENTS["text"]),
            "url": first(row, DOCUMENTS["url"]),
            **{key: row.get(key) for key in ("title", "section", "document", "start", "end")},
        }
        if made["id"] in seen:
            raise DatasetError(f"{where}: the id {made['id']!r} stands there twice")
        seen.add(made["id"])
        if made["text"] is None:
            raise DatasetError(f"{where}: it has no text; one of {', '.join(DOCUMENTS['text'])} is expected")
        yield checked(ChunkRecord, made, where)


def _questions(
    given: Any, chunks: dict[str, ChunkRecord], left_out: Counter[str], *, labelled_alone: bool
) -> Iterator[QuestionRecord]:
    """labelled_alone: passages that questions name by their texts are the base, and are added to `chunks`."""
    if given is None:
        return
    by_text = {chunk.text.strip(): chunk.id for chunk in chunks.values()}
    known = {name for names in QUESTIONS.values() for name in names}
    plainly = ("relevant_urls", "spans", "cluster", "source")
    for where, row in rows(given, "questions", "text"):
        relevant = _relevant(first(row, QUESTIONS["relevant"]), where)
        for text in _listed(first(row, QUESTIONS["texts"]), where):
            name = by_text.get(str(text).strip())
            if name is None and labelled_alone:
                made = Chunk.nameless(str(text))
                name = by_text[str(text).strip()] = made.id
                chunks[name] = checked(ChunkRecord, {"id": name, "text": made.text}, where)
            if name is not None:
                relevant.setdefault(name, 1.0)
        relevant = {name if name in chunks else by_text.get(name.strip(), name): of for name, of in relevant.items()}
        if lacking := [name for name in relevant if name not in chunks]:
            there = "there are no documents: give them as documents=" if labelled_alone else _such_as(chunks)
            raise DatasetError(f"{where}: names the passage {cut(lacking[0])}, which is not there; {there}")
        name, answerable = first(row, QUESTIONS["id"]), row.get("answerable")
        urls = row.get("relevant_urls") or {}
        made_of = {
            "id": row["\0place"] if name is None else str(name),
            "text": first(row, QUESTIONS["text"]),
            "reference": first(row, QUESTIONS["reference"]),
            "relevant": relevant,
            "answerable": flag(answerable) if answerable is not None else True if relevant else None,
            "kind": first(row, QUESTIONS["kind"]),
            **{key: row[key] for key in plainly if row.get(key) is not None},
            "relevant_urls": urls if isinstance(urls, Mapping) else dict.fromkeys(_listed(urls, where), 1.0),
        }
        if made_of["text"] is None:
            raise DatasetError(f"{where}: it has no question; one of {', '.join(QUESTIONS['text'])} is expected")
        for strange in row.keys() - known - {*plainly, "answerable", "language", "\0place"}:
            left_out[f"field {strange}, which means nothing here"] += 1
        yield checked(QuestionRecord, made_of, where)


def _such_as(chunks: Mapping[str, ChunkRecord]) -> str:
    return f"there are {len(chunks):,}, such as {', '.join(map(repr, list(chunks)[:3]))}"


def _relevant(given: Any, where: str) -> dict[str, float]:
    read = held(given) if isinstance(given, str) else None
    given = given if read is None else read[0]
    if isinstance(given, Mapping):
        return {str(plain(name)): float(grade) for name, grade in given.items() if grade and grade > 0}
    return dict.fromkeys(map(str, _listed(given, where)), 1.0)


def _listed(given: Any, where: str) -> list[Any]:
    """A list of names or texts; one by itself is a list of one, and a cell may hold a list as a text."""
    if given is None:
        return []
    try:
        read = held(given) if isinstance(given, str) else None
    except ValueError as error:
        raise DatasetError(f"{where}: {error}") from None
    values = given if read is None else read[0]
    return list(map(plain, values)) if isinstance(values, list | tuple | set) else [values]


def _others(table: str, given: Any, left_out: Counter[str]) -> Iterator[Record]:
    """The records of a table that is measured by itself; fields that its records do not know are left out, counted."""
    if given is None:
        return
    model = MODELS[table]
    if table == "dialogues" and not hasattr(given, "columns"):
        given = [_dialogue(dialogue) for dialogue in given]
    for where, row in rows(given, table):
        place = row.pop("\0place")
        renamed = {own: content for own, names in PAST.items() if (content := first(row, names)) is not None}
        own = {**row, **(renamed if table == "history" else {})}
        own["id"] = str(own.get("id", place))
        for strange in own.keys() - model.model_fields.keys():
            left_out[f"field {strange}, which means nothing here"] += 1
        if table == "history" and own.get("user") is not None:
            own["user"] = str(own["user"])
        yield checked(model, {key: value for key, value in own.items() if key in model.model_fields}, where)


def _dialogue(dialogue: Any) -> Any:
    """A dialogue as a record has it: of messages, of questions, or of pairs of a question and its answer."""
    if isinstance(dialogue, Mapping) or not isinstance(dialogue, list | tuple):
        return dialogue
    pairs: Iterable[Any] = turns_of(list(dialogue)) or dialogue
    turns = [pair if isinstance(pair, tuple | list) else (pair, None) for pair in pairs]
    return {"turns": [{"question": asked, "answer": answer} for asked, answer, *_ in turns]}
