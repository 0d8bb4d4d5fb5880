"""A data set's folder: read, checked as a whole, hashed."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from ragbench.datasets.files import DatasetError, read_lines, read_text
from ragbench.datasets.records import (
    ChunkRecord,
    Decision,
    Dialogue,
    PastQuestion,
    QuestionRecord,
    RatedAnswer,
    Record,
)
from ragbench.types import Chunk, Question

LANGUAGES = ("en", "ru")
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")

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

    @classmethod
    def read(cls, place: Path, language: str) -> Records:
        """All tables of a folder; chunks and questions must be there, unless it is one of dialogues or decisions."""
        dialogues = _read(place / f"dialogues.{language}.jsonl", Dialogue)
        decisions = _read(place / f"decisions.{language}.jsonl", Decision)
        required = not (dialogues or decisions)
        return cls(
            chunks=_read(place / f"chunks.{language}.jsonl", ChunkRecord, required=required),
            questions=_read(place / f"questions.{language}.jsonl", QuestionRecord, required=required),
            dialogues=dialogues,
            decisions=decisions,
            history=_read(place / f"history.{language}.jsonl", PastQuestion),
            ratings=_read(place / f"ratings.{language}.jsonl", RatedAnswer),
        )


@dataclass(frozen=True)
class Dataset:
    """A knowledge base with questions and all that people know about them, in one language.

    Every table is sorted by id, so nothing depends on the order of lines. `content_hash` is the SHA-256 of all records
    after normalisation: the same data gives the same hash whatever its line ends, byte-order mark or order.
    `left_out` counts, by reason, what was passed over on the way in.
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
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name with its language, as it is written on a page and after `--dataset`."""
        return f"{self.name}:{self.language}"


def load(name: str, folder: Path) -> Dataset:
    """The data set `name` below `folder`; `name:ru` asks for one of its languages, else its first is taken.

    Raises DatasetError, naming file, line and field, and what is legal.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    title, licence, languages = described(place)
    language = language or languages[0]
    if language not in languages:
        raise DatasetError(f"data set {name} has no language {language!r}; it has {', '.join(languages)}")
    records = Records.read(place, language)
    _check_references(records, language)
    return Dataset(
        name=name,
        language=language,
        title=title.get(language) or next(iter(title.values()), name),
        licence=licence,
        chunks=tuple(Chunk(**record.model_dump()) for record in records.chunks),
        questions=tuple(Question(language=language, **record.model_dump()) for record in records.questions),
        dialogues=tuple(records.dialogues),
        decisions=tuple(records.decisions),
        history=tuple(records.history),
        ratings=tuple(records.ratings),
        content_hash=_hash(language, records),
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


def described(place: Path) -> tuple[dict[str, str], str, list[str]]:
    """(language → title, licence, languages) of dataset.toml; raises DatasetError where it cannot be read."""
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
    return titles, str(table.get("licence", "not stated")), languages


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
    given = repr(fault["input"])
    return f"{place} = {given[:80]}{'…' if len(given) > 80 else ''}: {fault['msg']}"


def _check_references(records: Records, language: str) -> None:
    chunks = {record.id for record in records.chunks}
    questions = {record.id for record in records.questions}
    named: list[tuple[str, str, Iterable[str], set[str], str]] = [
        *(("questions", record.id, record.relevant, chunks, "chunk") for record in records.questions),
        *(("dialogues", d.id, turn.relevant, chunks, "chunk") for d in records.dialogues for turn in d.turns),
        *(("decisions", record.id, record.context, chunks, "chunk") for record in records.decisions),
        *(("ratings", record.id, record.context, chunks, "chunk") for record in records.ratings),
        *(("ratings", record.id, [record.question_id], questions, "question") for record in records.ratings),
    ]
    for table, identifier, ids, there, what in named:
        for missing in sorted(set(ids) - there):
            raise DatasetError(
                f"{table}.{language}.jsonl, {identifier}: names the {what} {missing!r}, which is not there"
            )


def _hash(language: str, records: Records) -> str:
    digest = hashlib.sha256(language.encode())
    for table in fields(records):
        for record in getattr(records, table.name):
            line = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, allow_nan=False)
            digest.update(f"{table.name}\0{line}\n".encode())
    return digest.hexdigest()
