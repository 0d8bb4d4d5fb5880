"""Data sets: a folder, a file or objects into passages, questions and labels, and back.

And what a file or a folder is, as `ragbench init` says it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragbench.core.errors import BenchError, suggest
from ragbench.core.folders import replaced
from ragbench.core.numbers import read_numbers
from ragbench.core.types import Dataset, Passage
from ragbench.data.answers import unfold
from ragbench.data.building import Builder
from ragbench.data.columns import check_answers, choose_columns
from ragbench.data.documents import DOCUMENT_ENDINGS, find_documents, read_documents
from ragbench.data.files import (
    BATCH,
    TABLE_ENDINGS,
    Table,
    ending_of,
    iter_batches,
    naming,
    table_of,
)
from ragbench.data.traces import is_trace_export
from ragbench.data.trec import read_qrels, read_run
from ragbench.data.vocabulary import FIELDS, FILES, KINDS

LANGUAGES = ("en", "ru")
# Where the sample data lie: in an installed package, and in a checkout.
PACKAGE = Path(__file__).parents[1]
SHIPPED = (PACKAGE / "shipped" / "data", PACKAGE.parent / "data")


@dataclass(frozen=True)
class Description:
    """What the reader takes a path for. kind "" with a reason: it is not read.

    columns: field → column of a table.
    """

    path: Path
    kind: str
    columns: dict[str, str] = field(default_factory=dict)
    reason: str = ""


def read_dataset(
    source: str | Path,
    language: str = "",
    data_folder: str | Path = "data",
    columns: Mapping[str, str] | None = None,
) -> Dataset:
    """Read a data set.

    source: a name below `data_folder` ("campus", "campus:ru" for a language), a folder, or a file.
    A folder holds chunks and questions (labels, dialogues, decisions, history, ratings) as any
    table, perhaps in several languages, or is of BEIR. A file is a table of questions, perhaps with
    passages. language: which of a folder's is preferred. columns: field → column, where names are
    not known. Raises BenchError where nothing is there, or it could only be read by guessing.
    """
    path, named_language = find_dataset(str(source), Path(data_folder))
    builder = Builder(columns or {})
    if path.is_dir():
        language = _read_folder(path, named_language, named_language or language, builder)
    else:
        language = named_language
        read_file(path, "questions", builder)
        builder.notes.append("the passages are only those of the file, which is easier to search")
    return builder.build(path.name.split(".")[0], language)


def find_dataset(source: str, data_folder: Path) -> tuple[Path, str]:
    """Return the path of a data set and the language that its name ends with, or ""."""
    name, _, language = source.rpartition(":")
    if language not in LANGUAGES:
        name, language = source, ""
    for folder in (data_folder, Path(), *SHIPPED):
        if (folder / name).exists():
            return folder / name, language
    names = dict.fromkeys(
        path.name for folder in (data_folder, *SHIPPED) for path in sorted(folder.glob("*/"))
    )
    raise BenchError(
        f"there is no data set {name!r}: no such path, and in {data_folder}/ there is "
        f"{', '.join(names) or 'none'}{suggest(name, names)}"
    )


def role_of_file(path: Path) -> tuple[str, str]:
    """Return the frame that a file holds, by its name, and its language: chunks.ru.jsonl."""
    stem, language = [*path.name.lower().split("."), ""][:2]
    roles = [
        role for role, stems in FILES.items() if stem in stems and ending_of(path) in TABLE_ENDINGS
    ]
    return "".join(roles), language if language in LANGUAGES else ""


def _read_folder(folder: Path, required: str, preferred: str, builder: Builder) -> str:
    """Read the files of a folder in one language, and return which; "" where no name says it."""
    roles = {path: role_of_file(path) for path in sorted(folder.iterdir())}
    tables = [path for path in roles if ending_of(path) in TABLE_ENDINGS]
    if len(tables) == 1 and not roles[tables[0]][0]:
        roles = {tables[0]: ("questions", "")}
    languages = sorted({language for role, language in roles.values() if role and language})
    if not any(role for role, _ in roles.values()):
        raise BenchError(
            f"{folder}: holds {', '.join(path.name for path in tables) or 'no table'}; "
            "name one chunks.jsonl, another questions.jsonl"
        )
    if required and required not in languages:
        raise BenchError(
            f"{folder}: is there in {', '.join(languages) or 'one'}, not in {required}"
        )
    language = preferred if preferred in languages else "".join(languages[:1])
    # Passages first: others name them by id.
    for role in FILES:
        for path, role_of_path in roles.items():
            if role_of_path in {(role, ""), (role, language)}:
                read_file(path, role, builder)
    judged = [*folder.glob("qrels/test.tsv*"), *folder.glob("qrels/*.tsv*"), *folder.glob("qrels*")]
    for path in [path for path in judged if path.is_file()][:1]:
        _add_qrels(path, builder)
    return language


def read_file(path: Path, role: str, builder: Builder) -> None:
    """Read a table into the builder as rows of a frame."""
    with naming(path):
        for table in iter_tables(path):
            builder.add(role, table)


def iter_tables(path: Path) -> Iterator[Table]:
    """Yield the batches of a table; SQuAD, MS MARCO and BEIR become rows as others have them."""
    for table in iter_batches(path):
        table.rows = unfold(table.rows)
        for row in table.rows:
            if row.keys() >= {"_id", "text"} and row.get("title"):  # BEIR searches both
                row["text"] = f"{row['title']} {row['text']}"
        yield table


def _add_qrels(path: Path, builder: Builder) -> None:
    """Label by judgements; questions without any are those of other splits, and go."""
    qrels = read_qrels(path).frame
    asked = set(qrels["question_id"])
    builder.rows["questions"] = [row for row in builder.rows["questions"] if row[0] in asked]
    there = {row[0]: row[1] for row in builder.rows["questions"]}
    # ArguAna and Quora ask with passages: BEIR takes the question itself out of what was found. An
    # id alone may be the number of a line in two files.
    passages = builder.passages
    same = {name for name in there.keys() & passages.keys() if there[name] in passages[name][1]}
    if same:
        builder.notes.append(
            f"{len(same):,} questions are passages themselves, which are no answer to them"
        )
    for question_id, passage_id, grade in qrels.itertuples(index=False):
        is_itself = question_id == passage_id and question_id in same
        if question_id in there and not is_itself:
            builder.labels[question_id, passage_id] = (grade, len(builder.labels))


def from_objects(questions: Any, documents: Any = None, language: str = "") -> Dataset:
    """Make a data set of objects in Python, or of files.

    questions: texts, dicts, `Question`s, a frame or a file. Columns go by their names; `relevant`
    holds the id or the url of a document, a list of them, or {id: grade}. documents: texts (whose
    ids are their positions), dicts, `Passage`s, {id: text}, a frame, a file, or a folder.
    """
    builder = Builder()
    if isinstance(documents, str | Path) and Path(documents).is_dir():
        documents = read_documents(documents)[0]
    if isinstance(documents, Mapping) and all(isinstance(text, str) for text in documents.values()):
        documents = [Passage(text, str(key)) for key, text in documents.items()]
    if documents is not None:
        builder.add("passages", replace(table_of(documents, "text"), start=0))
    if questions is not None:
        builder.add("questions", table_of(questions))
    return builder.build("objects", language)


def write_dataset(parts: Iterable[Dataset], folder: str | Path) -> None:
    """Write the parts of a data set as a folder, a file a frame, put in its place when all is done.

    Its language is that of the last part. What else lies in the folder stays, such as other
    languages of the set.
    """
    folder = Path(folder)
    with replaced(folder) as new:
        written = new.with_name("written")
        written.mkdir()
        for part in parts:
            for name, frame in part.frames.items():
                for start in range(0, len(frame), BATCH):  # pandas holds what it writes as text
                    frame.iloc[start : start + BATCH].to_json(
                        written / FILES[name][0],
                        mode="a",
                        orient="records",
                        lines=True,
                        force_ascii=False,
                        double_precision=15,
                    )
        if folder.exists():
            shutil.copytree(folder, new, symlinks=True, dirs_exist_ok=True)
        ending = f".{part.language}.jsonl"
        for path in new.glob(f"*{ending}"):
            if role_of_file(path)[0]:
                path.unlink()
        for path in written.iterdir():
            path.rename(new / f"{path.name}{ending}")


def describe_file(path: str | Path) -> Description:
    """Return what the reader takes a file or a folder for."""
    path = Path(path)
    try:
        if path.is_dir():
            return Description(path, _kind_of_folder(path))
        for kind, read in {"qrels": read_qrels, "run": read_run}.items():
            with suppress(BenchError):
                read(path)
                return Description(path, kind)
        if ending_of(path) in TABLE_ENDINGS:
            return _describe_table(path)
        if path.suffix.lower() in DOCUMENT_ENDINGS:
            return Description(path, "document")
        endings = ", ".join((*TABLE_ENDINGS, *DOCUMENT_ENDINGS))
        return Description(path, "", reason=f"is none of {endings}; save it as one")
    except BenchError as error:
        return Description(path, "", reason=str(error).removeprefix(f"{path.name}: "))


def _kind_of_folder(folder: Path) -> str:
    """Return beir, campus for another data set, or document."""
    roles = {role_of_file(path)[0] for path in folder.iterdir()} - {""}
    if roles:
        return "beir" if any(folder.glob("qrels*")) else "campus"
    find_documents(folder)
    return "document"


def _describe_table(path: Path) -> Description:
    with naming(path):
        table = next(iter_batches(path))
        if is_trace_export(table.rows):
            return Description(path, "traces")
        columns = choose_columns(table, {}, FIELDS)
        there = {*columns.paths, *table.columns}
        kinds = (kind for kind, fields in KINDS if there.issuperset(fields))
        kind = role_of_file(path)[0] or next(kinds, "")
        if not kind and "id" in columns.paths and columns.unread:
            with suppress(BenchError):
                for column in columns.unread:
                    read_numbers([row.get(column) for row in table.rows], column)
                kind = "numbers"
        if not kind:
            check_answers(columns, table)
    return Description(path, kind, {name: paths[0] for name, paths in columns.paths.items()})
