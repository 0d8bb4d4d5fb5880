"""A data set's folder: read, checked as a whole, hashed."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from ragbench.datasets.files import DatasetError, read_lines, read_text
from ragbench.datasets.records import (
    ChunkRecord,
    Decision,
    Dialogue,
    DocumentRecord,
    PastQuestion,
    QuestionRecord,
    RatedAnswer,
    Record,
)
from ragbench.expectations import expectation, shown
from ragbench.language import LANGUAGES
from ragbench.types import Chunk, Question

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
ADDED = ("dialogues", "decisions")
"""Tables that are measured by themselves, and often added to a data set that has been measured on already."""

BASE = ("chunks", "questions")
MODELS: Mapping[str, type[Record]] = {
    "dialogues": Dialogue,
    "decisions": Decision,
    "documents": DocumentRecord,
    "chunks": ChunkRecord,
    "questions": QuestionRecord,
    "history": PastQuestion,
    "ratings": RatedAnswer,
}
"""Of a line of each table, in the order in which they are read."""

R = TypeVar("R", bound=Record)


@dataclass
class Records:
    """The tables of one folder in one language, each sorted by id."""

    chunks: list[ChunkRecord] = field(default_factory=list)
    questions: list[QuestionRecord] = field(default_factory=list)
    dialogues: list[Dialogue] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    history: list[PastQuestion] = field(default_factory=list)
    ratings: list[RatedAnswer] = field(default_factory=list)
    documents: list[DocumentRecord] = field(default_factory=list)

    @classmethod
    def read(cls, place: Path, language: str) -> Records:
        """All tables of a folder, each of which may be missing: pages that need it are not made then.

        Raises DatasetError for chunks and questions whose file is there and empty, unless there are dialogues or
        decisions (or, of questions, documents that the base was cut from), and for a folder without any table.
        """
        found: dict[str, list[Any]] = {}
        for table, model in MODELS.items():
            path = place / f"{table}.{language}.jsonl"
            spared = (*ADDED, "documents") if table == "questions" else ADDED
            required = table in BASE and path.is_file() and not any(found[other] for other in spared)
            found[table] = _read(path, model, required=required)
        if not any(found.values()):
            files = ", ".join(f"{table}.{language}.jsonl" for table in MODELS)
            raise DatasetError(f"the data set {place.name} is empty: none of {files} is there")
        return cls(**found)


@dataclass(frozen=True)
class Dataset:
    """A knowledge base with questions and all that people know about them, in one language.

    Every table is sorted by id, so nothing depends on the order of lines. `content_hash` is the SHA-256 of all records
    after normalisation: the same data gives the same hash whatever its line ends, byte-order mark or order. Dialogues
    and decisions have hashes of their own, see `hash_with`: to add some changes nothing of what is measured without
    them. `left_out` counts, by reason, what was passed over on the way in. `without_vector` names past questions that
    cannot be asked by the vectors that are stored beside them.
    """

    name: str
    language: str
    title: str
    licence: str
    chunks: tuple[Chunk, ...]
    questions: tuple[Question, ...]
    dialogues: tuple[Dialogue, ...]
    decisions: tuple[Decision, ...]
    history: tuple[PastQuestion, ...]
    ratings: tuple[RatedAnswer, ...]
    content_hash: str
    documents: tuple[DocumentRecord, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    without_vector: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """The name with its language, as it is written on a page and after `--dataset`."""
        return f"{self.name}:{self.language}"

    def hash_with(self, *tables: Literal["dialogues", "decisions"]) -> str:
        """The content hash of what is measured on these tables, too; where they hold nothing, `content_hash`."""
        added: dict[str, Sequence[Record]] = {name: records for name in tables if (records := getattr(self, name))}
        return _digest(self.content_hash, added) if added else self.content_hash


def load(name: str, folder: Path, reader: str = "") -> Dataset:
    """The data set `name` below `folder`; `name:ru` asks for one of its languages.

    reader: the language of who reads what is measured, taken where none is asked for and the data set has it; else the
    first of its languages is.

    Raises DatasetError, naming file, line and field, and what is legal.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    language = language_in(place, language, reader)
    about = _described(place)
    records = Records.read(place, language)
    _check_references(records, language)
    hashed = {table.name: getattr(records, table.name) for table in fields(records) if table.name not in ADDED}
    others: dict[str, Any] = {table: tuple(getattr(records, table)) for table in MODELS if table not in BASE}
    return Dataset(
        name=name,
        language=language,
        title=about.titles.get(language) or next(iter(about.titles.values()), name),
        licence=about.licence,
        chunks=tuple(Chunk(**record.model_dump()) for record in records.chunks),
        questions=tuple(Question(language=language, **record.model_dump()) for record in records.questions),
        **others,
        content_hash=_digest(language, hashed),
        left_out=about.left_out,
    )


def available(folder: Path) -> list[str]:
    """Names of the data sets below `folder`."""
    return sorted(path.parent.name for path in folder.glob("*/dataset.toml") if NAME.fullmatch(path.parent.name))


def place_of(name: str, folder: Path) -> Path:
    """The folder of the data set `name`. Raises DatasetError, naming those there are, if it is not below `folder`."""
    place = folder / name
    if NAME.fullmatch(name) and (place / "dataset.toml").is_file():
        if folder.resolve() not in place.resolve().parents:
            raise DatasetError(f"the data set {name} is a link that leads out of {folder}")
        return place
    there = available(folder)
    listed = f"there are {', '.join(there)}" if there else "there are none"
    raise DatasetError(
        f"there is no data set {name!r} in {folder.name}/; {listed}. `ragbench load squad FILE --name NAME` brings one"
    )


def language_in(place: Path, language: str = "", reader: str = "") -> str:
    """The language of a data set's folder that is asked for; without one the reader's if it is there, else the first.

    Raises DatasetError for a language that is asked for and not there.
    """
    languages = _described(place).languages
    if language and language not in languages:
        raise DatasetError(f"data set {place.name} has no language {language!r}; it has {', '.join(languages)}")
    return language or (reader if reader in languages else languages[0])


@dataclass(frozen=True)
class _About:
    """What dataset.toml says."""

    titles: Mapping[str, str]
    licence: str
    languages: list[str]
    left_out: Mapping[str, int]


def _described(place: Path) -> _About:
    path = place / "dataset.toml"
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DatasetError(f"{path.name} of {place.name}: not TOML: {error}") from None
    title = table.get("title", place.name)
    languages = table.get("languages")
    if not isinstance(languages, list) or not languages or any(item not in LANGUAGES for item in languages):
        raise DatasetError(
            f"{path.name} of {place.name}: languages = {languages!r}: a list of {', '.join(LANGUAGES)} is expected"
        )
    titles = title if isinstance(title, dict) else {language: str(title) for language in languages}
    left_out = table.get("left_out", {})
    if not isinstance(left_out, dict) or not all(isinstance(count, int) for count in left_out.values()):
        raise DatasetError(f"{path.name} of {place.name}: left_out = {left_out!r}: a count for each reason is expected")
    return _About(titles, str(table.get("licence", "not stated")), languages, left_out)


def _read(path: Path, model: type[R], *, required: bool = False) -> list[R]:
    if not path.is_file() and not required:
        return []
    found: dict[str, R] = {}
    for number, item in read_lines(path):
        try:
            record = model.model_validate(item)
        except ValidationError as error:
            raise DatasetError(f"{path.name}, line {number}: {_explain(error, model)}") from None
        if record.id in found:
            raise DatasetError(f"{path.name}, line {number}: the id {record.id!r} stands there twice")
        found[record.id] = record
    if not found and required:
        raise DatasetError(f"{path.name}: holds no lines; at least one is expected")
    return [found[identifier] for identifier in sorted(found)]


def _explain(error: ValidationError, model: type[Record]) -> str:
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"there is no field {place!r}; legal: {', '.join(model.model_fields)}"
    if fault["type"] == "missing":
        return f"the field {place!r} is missing"
    given = shown(fault["input"])
    return f"{place} = {given[:80]}{'…' if len(given) > 80 else ''}: {expectation(fault)}"


def _check_references(records: Records, language: str) -> None:
    chunks = {record.id for record in records.chunks}
    questions = {record.id for record in records.questions}
    named: list[tuple[str, str, Iterable[str], set[str], str]] = [
        *(("questions", record.id, record.relevant, chunks, "chunk") for record in records.questions),
        *(("dialogues", d.id, turn.relevant, chunks, "chunk") for d in records.dialogues for turn in d.turns),
        *(("decisions", d.id, set(d.context) - set(d.passages), chunks, "chunk") for d in records.decisions),
        *(("ratings", record.id, record.context, chunks, "chunk") for record in records.ratings),
        *(("ratings", record.id, [record.question_id], questions, "question") for record in records.ratings),
    ]
    for table, identifier, ids, there, what in named:
        for missing in sorted(set(ids) - there):
            raise DatasetError(
                f"{table}.{language}.jsonl, {identifier}: names the {what} {missing!r}, which is not there"
            )


def _digest(start: str, tables: Mapping[str, Iterable[Record]]) -> str:
    digest = hashlib.sha256(start.encode())
    for name, records in tables.items():
        for record in records:
            line = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, allow_nan=False)
            digest.update(f"{name}\0{line}\n".encode())
    return digest.hexdigest()
