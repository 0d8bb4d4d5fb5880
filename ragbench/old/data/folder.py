"""A data set's folder: read, checked as a whole, hashed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from ragbench.old.core import folders
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.listings import Listing
from ragbench.old.core.types import Chunk, Question
from ragbench.old.data.files import DatasetError, TooMuchError, read_lines, read_text
from ragbench.old.data.records import (
    ChunkRecord,
    Closed,
    Decision,
    Dialogue,
    DocumentRecord,
    PastQuestion,
    QuestionRecord,
    RatedAnswer,
    Record,
    fault,
)
from ragbench.old.data.shelf import Shelf

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
PART = "a run holds its whole data set; load a part of it by --sample"

R = TypeVar("R", bound=Record)
Line = TypeVar("Line", bound=Closed)


@dataclass
class Records:
    """The tables of one folder in one language, each sorted by id."""

    chunks: Sequence[ChunkRecord] = field(default_factory=list)
    questions: Sequence[QuestionRecord] = field(default_factory=list)
    dialogues: Sequence[Dialogue] = field(default_factory=list)
    decisions: Sequence[Decision] = field(default_factory=list)
    history: Sequence[PastQuestion] = field(default_factory=list)
    ratings: Sequence[RatedAnswer] = field(default_factory=list)
    documents: Sequence[DocumentRecord] = field(default_factory=list)

    @classmethod
    def read(cls, place: Path, language: str) -> Records:
        """All tables of a folder, each of which may be missing: pages that need it are not made then.

        Raises DatasetError for questions whose file is there and empty, unless there are dialogues, decisions or
        documents that the base was cut from, for a folder without any table, and for more than memory takes.
        """
        tables: dict[str, list[Any]] = {}
        try:
            for table, model in MODELS.items():
                tables[table] = _read(place / f"{table}.{language}.jsonl", model)
        except TooMuchError as error:
            raise TooMuchError(f"data set {place.name}, {error}: {PART}") from None
        _require(place, language, {table: len(records) for table, records in tables.items()})
        return cls(**tables)


@dataclass(frozen=True, repr=False)
class Dataset:
    """A knowledge base with questions and all that people know about them, in one language.

    Every table is sorted by id, so nothing depends on the order of lines. `content_hash` is the SHA-256 of all records
    after normalisation: the same data gives the same hash whatever its line ends, byte-order mark or order. Dialogues
    and decisions have hashes of their own, see `hash_with`: to add some changes nothing of what is measured without
    them. `left_out` counts, by reason, what was passed over on the way in. `without_vector` names past questions that
    cannot be asked by the vectors that are stored beside them. `whole`: of a sample (`ragbench.old.data.subsets`) how many
    lines its tables have in all.
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
    whole: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Tables of it are shown in a line."""
        for name in MODELS:
            object.__setattr__(self, name, Listing(getattr(self, name)))

    def taken(self) -> dict[str, Any] | None:
        """Of a sample what it is: {"n": 20, "of": 157, "table": "questions"}, of several tables the one of which most
        was left out; None where it is all there is."""
        left = {name: len(getattr(self, name)) for name in self.whole}
        less = [name for name, number in left.items() if number < self.whole[name]]
        name = min(less, key=lambda name: left[name] / self.whole[name], default=None)
        return None if name is None else {"n": left[name], "of": self.whole[name], "table": name}

    def __repr__(self) -> str:
        """The name, and how much there is of each table."""
        counts = {name: len(getattr(self, name)) for name in MODELS}
        return f"{self.label}: {', '.join(f'{count:,} {name}' for name, count in counts.items() if count) or 'nothing'}"

    @property
    def label(self) -> str:
        """The name with its language, as it is written on a page and after `--dataset`."""
        return f"{self.name}:{self.language}"

    def hash_with(self, *tables: Literal["dialogues", "decisions"]) -> str:
        """The content hash of what is measured on these tables, too; where they hold nothing, `content_hash`."""
        added: dict[str, Sequence[Record]] = {name: records for name in tables if (records := getattr(self, name))}
        return _digest(self.content_hash, added) if added else self.content_hash


@dataclass(frozen=True)
class Written:
    """A data set on the disk that was checked as a whole, and not held.

    content_hash: that of `Dataset`; whole_hash: with its dialogues and decisions. counts: table → number of records.
    """

    content_hash: str
    whole_hash: str
    counts: Mapping[str, int]


def load(name: str, folder: Path, reader: str = "") -> Dataset:
    """The data set `name` below `folder`; `name:ru` asks for one of its languages.

    reader: the language of who reads what is measured, taken where none is asked for and the data set has it; else the
    first of its languages is.

    Raises DatasetError, naming file, line and field, and what is legal.
    """
    name, _, language = name.partition(":")
    return load_folder(place_of(name, folder), name, language, reader)


def load_folder(place: Path, name: str, language: str = "", reader: str = "") -> Dataset:
    """The data set in a folder, by the name that it is known by; see `load`."""
    language = language_in(place, language, reader)
    about = _described(place)
    title = about.titles.get(language) or next(iter(about.titles.values()), name)
    return of_records(Records.read(place, language), name, language, title, about.licence, about.left_out)


def of_records(
    records: Records, name: str, language: str, title: str, licence: str, left_out: Mapping[str, int]
) -> Dataset:
    """The data set of these tables, each sorted by id. Raises DatasetError for what one names and another lacks."""
    content_hash, _ = _hashes(language, {t.name: getattr(records, t.name) for t in fields(records)}, _Lengths())
    others: dict[str, Any] = {table: tuple(getattr(records, table)) for table in MODELS if table not in BASE}
    return Dataset(
        name=name,
        language=language,
        title=title,
        licence=licence,
        chunks=tuple(Chunk(**vars(record)) for record in records.chunks),
        questions=tuple(Question(language=language, **record.model_dump()) for record in records.questions),
        **others,
        content_hash=content_hash,
        left_out=left_out,
    )


def check(name: str, folder: Path) -> Written:
    """What `load` checks, line by line: memory does not grow with the lines, which stand in the order of their ids.

    Raises DatasetError as `load` does.
    """
    name, _, language = name.partition(":")
    place = place_of(name, folder)
    language = language_in(place, language)
    counts = Counter[str]()

    def records(table: str) -> Iterator[Record]:
        last = ""
        for where, record in lines_of_table(place / f"{table}.{language}.jsonl", MODELS[table], held=False):
            if record.id <= last:
                raise DatasetError(f"{where}: the id {record.id!r} stands there twice")
            last = record.id
            counts[table] += 1
            yield record

    content_hash, whole_hash = _hashes(language, {t.name: records(t.name) for t in fields(Records)}, Shelf[int]())
    _require(place, language, counts)
    return Written(content_hash, whole_hash if any(counts[table] for table in ADDED) else content_hash, counts)


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
        f"there is no data set {name!r} in {folder.name}/; {listed}. "
        "`ragbench load questions FILE --name NAME` brings one"
    )


def language_in(place: Path, language: str = "", reader: str = "") -> str:
    """The language of a data set's folder that is asked for; without one the reader's if it is there, else the first.

    Raises DatasetError for a language that is asked for and not there.
    """
    languages = _described(place).languages
    if language and language not in languages:
        raise DatasetError(f"data set {place.name} has no language {language!r}; it has {', '.join(languages)}")
    return language or (reader if reader in languages else languages[0])


def records_named(name: str, folder: Path) -> tuple[Path, str, Records]:
    """The folder, the language and the records of a data set that is named as `kb`, or `kb:ru` for one of its
    languages. Raises DatasetError for one that is not there."""
    place = place_of(name.partition(":")[0], folder)
    language = language_in(place, name.partition(":")[2])
    return place, language, Records.read(place, language)


@dataclass(frozen=True)
class _About:
    titles: Mapping[str, str]
    licence: str
    languages: list[str]
    left_out: Mapping[str, int]


def _described(place: Path) -> _About:
    path = place / "dataset.toml"
    written = read_text(path)
    try:
        table = folders.toml(written)
    except (ValueError, RecursionError) as error:
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


def lines_of_table(path: Path, model: type[Line], *, held: bool = True) -> Iterator[tuple[str, Line]]:
    """(place, record) of each line of a table's file; none where it is not there. held: as for `read_lines`."""
    if not path.is_file():
        return
    for number, item in read_lines(path, held=held):
        place = f"{path.name}, line {number}"
        try:
            yield place, model.model_validate(item)
        except ValidationError as error:
            raise DatasetError(f"{place}: {fault(error, model)}") from None


def _read(path: Path, model: type[R]) -> list[R]:
    records: dict[str, R] = {}
    for place, record in lines_of_table(path, model):
        if record.id in records:
            raise DatasetError(f"{place}: the id {record.id!r} stands there twice")
        records[record.id] = record
    return [records[identifier] for identifier in sorted(records)]


def _require(place: Path, language: str, counts: Mapping[str, int]) -> None:
    """Raises DatasetError for a base table whose file is there and empty, and for a folder without any table."""
    for table in BASE:
        path = place / f"{table}.{language}.jsonl"
        spared = (*ADDED, "documents" if table == "questions" else "questions")
        if path.is_file() and not counts[table] and not any(counts[other] for other in spared):
            raise DatasetError(f"{path.name}: holds no lines; at least one is expected")
    if not any(counts.values()):
        files = ", ".join(f"{table}.{language}.jsonl" for table in MODELS)
        raise DatasetError(f"the data set {place.name} is empty: none of {files} is there")


class _Lengths(dict[str, int]):
    """Those of texts, in characters, in memory; a Shelf has them on the disk."""

    put = dict.setdefault


def _hashes(language: str, tables: Mapping[str, Iterable[Record]], texts: _Lengths | Shelf[int]) -> tuple[str, str]:
    """The hash without and with ADDED. Raises DatasetError for a record that names what no earlier table has."""
    checked = {table: _checked(table, language, records, texts) for table, records in tables.items()}
    content_hash = _digest(language, {table: records for table, records in checked.items() if table not in ADDED})
    return content_hash, _digest(content_hash, {table: checked[table] for table in ADDED})


def _checked(table: str, language: str, records: Iterable[Record], texts: _Lengths | Shelf[int]) -> Iterator[Record]:
    for record in records:
        place = f"{table}.{language}.jsonl, {record.id}"
        if isinstance(record, ChunkRecord | QuestionRecord):
            texts.put(f"{table[:-1]} {record.id}", len(record.text))
        for what, names in _references(record):
            for missing in sorted(name for name in names if texts.get(f"{what} {name}") is None):
                raise DatasetError(f"{place}: names the {what} {missing!r}, which is not there")
        if isinstance(record, QuestionRecord):
            _check_spans(record, place, texts)
        yield record


def _check_spans(record: QuestionRecord, place: str, texts: _Lengths | Shelf[int]) -> None:
    """Refuse spans that do not stand in the text of a relevant chunk."""
    for name, spans in record.spans.items():
        if name not in record.relevant:
            legal = ", ".join(record.relevant) or "nothing"
            raise DatasetError(f"{place}: spans of {name!r}: it is not relevant; `relevant` has {legal}")
        whole = texts.get(f"chunk {name}") or 0
        if wrong := next(((start, end) for start, end in spans if not start < end <= whole), None):
            raise DatasetError(
                f"{place}: spans of {name!r}: {[*wrong]} is no part of its text; a start below its end is expected, in "
                f"characters from 0 to {whole}"
            )


def _references(record: Record) -> Iterator[tuple[str, Iterable[str]]]:
    if isinstance(record, QuestionRecord):
        yield "chunk", [*record.relevant, *record.irrelevant, *record.pooled]
    elif isinstance(record, Dialogue):
        yield "chunk", [name for turn in record.turns for name in turn.relevant]
    elif isinstance(record, Decision):
        yield "chunk", set(record.context) - set(record.passages)
    elif isinstance(record, RatedAnswer):
        yield "chunk", record.context
        yield "question", [record.question_id]


def _digest(start: str, tables: Mapping[str, Iterable[Record]]) -> str:
    digest = hashlib.sha256(start.encode())
    for name, records in tables.items():
        for record in records:
            line = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, allow_nan=False)
            digest.update(f"{name}\0{line}\n".encode())
    return digest.hexdigest()
