"""Data sets: a folder, a file or objects into passages, questions and labels, and back."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ragbench.core.errors import BenchError, suggest
from ragbench.core.types import Dataset, Passage
from ragbench.data.answers import rows_of_objects, unfold
from ragbench.data.building import Builder
from ragbench.data.documents import read_documents
from ragbench.data.files import TABLE_ENDINGS, Table, ending_of, iter_batches, naming
from ragbench.data.trec import read_qrels
from ragbench.data.vocabulary import FILES

LANGUAGES = ("en", "ru")
# Where the sample data lie: in an installed package, and in a checkout.
PACKAGE = Path(__file__).parents[1]
SHIPPED = (PACKAGE / "shipped" / "data", PACKAGE.parent / "data")


def read_dataset(
    source: str | Path,
    language: str = "",
    data_folder: str | Path = "data",
    columns: Mapping[str, str] | None = None,
) -> Dataset:
    """Read a data set.

    Parameters
    ----------
    source
        A name below `data_folder` ("campus", "campus:ru" for a language), a folder, or a file. A
        folder holds chunks and questions (labels, dialogues, decisions, history, ratings) as any
        table, perhaps in several languages, or is of BEIR. A file is a table of questions, perhaps
        with passages.
    language
        Which of the languages of a folder is preferred.
    columns
        Field → column, where names are not known.

    Raises BenchError where nothing is there, or it could only be read by guessing.
    """
    path, named_language = find_dataset(str(source), Path(data_folder))
    builder = Builder(columns or {})
    if path.is_dir():
        language = _read_folder(path, named_language, named_language or language, builder)
    else:
        language = named_language
        _read_file(path, "questions", builder)
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
    names = [path.name for path in sorted(data_folder.glob("*/"))]
    there = f"in {data_folder}/ there is {', '.join(names) or 'none'}{suggest(name, names)}"
    raise BenchError(f"there is no data set {name!r}: no such path, and {there}")


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
    languages = sorted({language for role, language in roles.values() if role} - {""})
    if required and required not in languages:
        raise BenchError(
            f"{folder}: is not there in {required}, but in {', '.join(languages) or 'one'}"
        )
    language = preferred if preferred in languages else "".join(languages[:1])
    # Passages first: others name them by id.
    for role in FILES:
        for path, role_of_path in roles.items():
            if role_of_path in {(role, ""), (role, language)}:
                _read_file(path, role, builder)
    if not any(role for role, _ in roles.values()):
        tables = [path for path in roles if ending_of(path) in TABLE_ENDINGS]
        if len(tables) != 1:
            names = ", ".join(path.name for path in tables) or "no table"
            raise BenchError(
                f"{folder}: holds {names}; name one chunks.jsonl, another questions.jsonl"
            )
        _read_file(tables[0], "questions", builder)
    judged = [*folder.glob("qrels/test.tsv*"), *folder.glob("qrels/*.tsv*"), *folder.glob("qrels*")]
    for path in [path for path in judged if path.is_file()][:1]:
        _add_qrels(path, builder)
    return language


def _read_file(path: Path, role: str, builder: Builder) -> None:
    with naming(path):
        for table in iter_batches(path):
            table.rows = [question for row in table.rows for question in unfold(row)]
            for row in table.rows:
                if "_id" in row and row.get("title"):  # BEIR searches the title with its text
                    row["text"] = f"{row['title']} {row['text']}"
            builder.add(role, table)


def _add_qrels(path: Path, builder: Builder) -> None:
    """Label by judgements; questions without any are those of other splits, and go."""
    qrels = read_qrels(path).frame
    asked = set(qrels["question_id"])
    questions = [row for row in builder.rows["questions"] if row[0] in asked]
    builder.rows["questions"] = questions
    unknown = asked - {row[0] for row in questions}
    if unknown:
        builder.notes.append(
            f"{len(unknown):,} judged queries have no text, such as {min(unknown)!r}"
        )
    # ArguAna and Quora ask with passages: BEIR takes the question itself out of what was found.
    same = asked & builder.passages.keys()
    if same:
        builder.notes.append(
            f"{len(same):,} questions are passages themselves, which are no answer to them"
        )
    for question_id, passage_id, grade in qrels.itertuples(index=False):
        if question_id != passage_id and question_id not in unknown:
            builder.labels[question_id, passage_id] = (grade, len(builder.labels))


def from_objects(
    questions: Any, documents: Any = None, name: str = "objects", language: str = ""
) -> Dataset:
    """Make a data set of objects in Python.

    Parameters
    ----------
    questions
        Texts, dicts, `Question`s or a frame. Columns go by their names; `relevant` holds the id or
        the url of a document, a list of them, or {id: grade}.
    documents
        Texts (whose ids are their positions), dicts, `Passage`s, {id: text}, a frame, or a folder.
    """
    builder = Builder()
    if isinstance(documents, str | Path):
        documents = read_documents(documents)[0]
    if isinstance(documents, Mapping) and all(isinstance(text, str) for text in documents.values()):
        documents = [Passage(text, str(key)) for key, text in documents.items()]
    if documents is not None:
        builder.add("passages", Table(rows_of_objects(documents, "text"), start=0))
    if len(questions):
        builder.add("questions", Table(rows_of_objects(questions)))
    return builder.build(name, language)


def limit_dataset(dataset: Dataset, limit: int) -> Dataset:
    """Return the data set with so many of its questions, whose ids have the smallest hashes.

    They stay the same when others are added.
    """
    names = dataset.questions["question_id"]
    hashes = names.map(lambda name: hashlib.sha256(name.encode()).hexdigest())
    is_chosen = hashes.rank() <= limit
    is_kept = dataset.labels["question_id"].isin(names[is_chosen])
    return replace(
        dataset,
        questions=dataset.questions[is_chosen].reset_index(drop=True),
        labels=dataset.labels[is_kept].reset_index(drop=True),
    )


def write_dataset(dataset: Dataset, folder: str | Path) -> None:
    """Write a data set as a folder, a file a frame, beside its place, and put it there whole.

    What else lies in the folder stays, such as other languages of the set.
    """
    folder = Path(folder)
    frames = {"chunks": dataset.passages, "questions": dataset.questions, "labels": dataset.labels}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=".") as scratch:
        new = Path(scratch, "new")
        new.mkdir()
        if folder.exists():
            shutil.copytree(folder, new, symlinks=True, dirs_exist_ok=True)
        for path in new.glob(f"*.{dataset.language}.jsonl"):
            if role_of_file(path)[0]:
                path.unlink()
        for stem, frame in {**frames, **dataset.extras}.items():
            lines = frame.to_json(
                orient="records", lines=True, force_ascii=False, double_precision=15
            )
            if len(frame):
                (new / f"{stem}.{dataset.language}.jsonl").write_text(lines, encoding="utf-8")
        if folder.exists():
            folder.rename(Path(scratch, "old"))
        new.rename(folder)
