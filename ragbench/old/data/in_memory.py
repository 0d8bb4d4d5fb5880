"""Questions and documents that a caller has in memory to a data set: data frames, lists, mappings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.segmentation import language_of
from ragbench.old.data.brought import Brought
from ragbench.old.data.cells import TABLE, by_row, fields_of, is_frame, missing, native, opened, rows_of
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import DatasetError, cut, cut_list
from ragbench.old.data.folder import MODELS, Dataset, Records, of_records
from ragbench.old.data.foreign_sets import Questions
from ragbench.old.data.payloads import passage_of, turns_of
from ragbench.old.data.records import ChunkRecord, Record, checked
from ragbench.old.data.vocabulary import READS

NAME = "given"
"""What a data set is called that has no name of its own."""
RELEVANT = "reference_context_ids"
OF_A_QUESTION, OF_THE_PAST = (
    {column: field for field, own in TABLE[beside].items() for column in own} for beside in ("beside_questions", "past")
)
"""Names of columns that mean another field beside questions, and of past ones, than they do elsewhere."""
PAST = {"user_input": "question", "response": "answer", "url": "url", "user_score": "score", "user": "user",
        "time": "asked_at", "id": "id"}  # fmt: skip
"""Fields of the vocabulary that a past question has, and what its record calls them."""
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
    brought.chunks = _sorted(chunks.values())
    if (asked := tables.get("questions")) is not None:
        found = _questions(asked, chunks, brought.left_out)
        brought.chunks, brought.questions = [*found.chunks], _sorted(found.questions)
        brought.left_out += found.left_out
    for name in ("history", "dialogues", "decisions", "ratings"):
        setattr(brought, name, _sorted(_others(name, tables.get(name), brought.left_out)))
    if not any(len(getattr(brought, name)) for name in MODELS):
        raise DatasetError("dataset: it holds neither questions nor documents, dialogues or a log")
    language = about.get("language") or language_of(brought.texts)
    if language not in LANGUAGES:
        raise DatasetError(f"dataset: language = {language!r}: one of {', '.join(LANGUAGES)} is expected")
    name = about.get("name", NAME)
    title = about.get("title") or (LABELLED_ALONE if named is None and brought.chunks else name)
    known = {table.name: getattr(brought, table.name) for table in fields(Records)}
    return of_records(
        Records(**known), name, language, title, about.get("licence", "not stated"), dict(brought.left_out)
    )


def _sorted(records: Iterable[Any]) -> list[Any]:
    return sorted(records, key=lambda record: record.id)


def rows(given: Any, place: str, text: str = "") -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(place, index, row) of each row of a table in memory: names as they are, without what is not given; the index is
    that of a data frame, else the row's number from 0.

    text: what a row that is a text alone is called. Raises DatasetError for what is no row.
    """
    if isinstance(given, Mapping):
        given = by_row(given) or [{**given}]
    index = list(getattr(given, "index", ())) if is_frame(given) else []
    for number, entry in enumerate(rows_of(given, place=place)):
        where = f"{place}, row {number + 1}"
        if isinstance(entry, str) and text:
            entry = {text: entry}
        own = entry if isinstance(entry, Mapping) else fields_of(entry)
        if own is None:
            raise DatasetError(f"{where}: {cut(entry)}: a mapping is expected")
        row = {str(key): plain(value) for key, value in own.items() if not missing(value)}
        yield where, str(index[number] if index else number), row


def plain(value: Any) -> Any:
    """A cell as Python has it: numbers and arrays of NumPy as numbers and lists, moments as texts."""
    value = native(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _documents(given: Any) -> Iterator[ChunkRecord]:
    if isinstance(given, Mapping):
        given = by_row(given) or [
            {**document, "id": name} if isinstance(document, Mapping) else {"id": name, "text": document}
            for name, document in given.items()
        ]
    seen: set[str] = set()
    for where, index, row in rows(given, "documents", "text"):
        passage = passage_of(row)
        if passage is None or passage.text is None:
            raise DatasetError(f"{where}: it has no text: text, page_content or content; it has {cut_list(row)}")
        name = index if passage.id is None else passage.id
        if name in seen:
            raise DatasetError(f"{where}: the id {name!r} stands there twice")
        seen.add(name)
        more = {key: row.get(key) for key in ("section", "document", "start", "end")}
        made = {**more, "id": name, "text": passage.text, "url": passage.url, "title": passage.title}
        yield checked(ChunkRecord, made, where)


def _questions(given: Any, documents: Mapping[str, ChunkRecord], left_out: Counter[str]) -> Brought:
    """The questions, and the base: the documents, or where there are none the passages that questions name by texts."""
    places = {} if any(map(str.isdigit, documents)) else {str(place): name for place, name in enumerate(documents)}
    known = Columns(only=READS["given"], takes=OF_A_QUESTION)
    reading = Questions(known, documents, None, also=places)
    plainly = ("answerable", "spans", "language")
    for where, index, row in rows(given, "questions", "text"):
        fields = {"id": index, **known.of({name: value for name, value in row.items() if name not in plainly}, where)}
        fields |= {name: _labels(fields[name]) for name in (RELEVANT, "relevant_urls") if name in fields}
        reading.take({**fields, **{name: row[name] for name in ("answerable", "spans") if name in row}}, row, where)
        left_out.update(f"field {name}, which means nothing here" for name in row if name in known.unread)
    return reading.finish()


def _labels(given: Any) -> Any:
    """Names with their grades, or a list of names or texts, also in a cell; one by itself is a list of one."""
    given = opened(given)
    if isinstance(given, Mapping):
        return {plain(name): plain(grade) for name, grade in given.items()}
    return list(map(plain, given if isinstance(given, list | tuple | set) else [given]))


def _others(table: str, given: Any, left_out: Counter[str]) -> Iterator[Record]:
    """The records of a table that is measured by itself; fields that its records do not know are left out, counted."""
    if given is None:
        return
    model = MODELS[table]
    if table == "dialogues" and not is_frame(given):
        given = [_dialogue(dialogue) for dialogue in given]
    known = Columns(only=PAST, takes=OF_THE_PAST)
    for where, index, row in rows(given, table):
        own: dict[str, Any] = {
            "id": index,
            **{name: value for name, value in row.items() if name in model.model_fields},
        }
        strange = row.keys() - model.model_fields.keys()
        if table == "history":
            own |= {PAST[name]: value for name, value in known.of(row, where).items()}
            strange &= known.unread.keys()
        left_out.update(f"field {name}, which means nothing here" for name in strange)
        own |= {name: str(own[name]) for name in ("id", "user") if name in own}
        yield checked(model, own, where)


def _dialogue(dialogue: Any) -> Any:
    """A dialogue as a record has it: of messages, of questions, or of pairs of a question and its answer."""
    if isinstance(dialogue, Mapping) or not isinstance(dialogue, list | tuple):
        return dialogue
    pairs: Iterable[Any] = turns_of(list(dialogue)) or dialogue
    turns = [pair if isinstance(pair, tuple | list) else (pair, None) for pair in pairs]
    return {"turns": [{"question": asked, "answer": answer} for asked, answer, *_ in turns]}
