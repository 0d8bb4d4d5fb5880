"""`ragbench load`: files into a data set of the project."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from ragbench.cli.options import Columns, LanguageCode, read_columns
from ragbench.cli.output import say
from ragbench.core.errors import BenchError, suggest
from ragbench.core.settings import Settings
from ragbench.core.trust import open_settings

if TYPE_CHECKING:
    from ragbench.core.types import Dataset

# Tables whose rows go to the frame of that name.
TABLES = ("questions", "passages", "dialogues", "decisions", "history", "ratings")
# What holds questions with their passages: a folder of BEIR, or a file.
SETS = ("beir", "squad", "msmarco", "voproshalych", "dataset")
KINDS = ("documents", *TABLES, *SETS, "database")
SCORED = ("answers", "traces")
TRIAL = 1_000  # rows of an own table that a dry run looks at


def main(
    kind: Annotated[str, typer.Argument(help=f"What it is: {', '.join(KINDS)}.")],
    path: Annotated[str, typer.Argument(help="A file or folder; of database the NAME.")],
    name: Annotated[str, typer.Option("--name", help="Of the data set; else as the path.")] = "",
    columns: Columns = [],  # noqa: B006  typer reads it
    language: LanguageCode = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read it; write nothing.")] = False,
) -> None:
    """Bring documents, questions and other tables into a data set below data/.

    What the set has already stays: questions go to the base that was loaded before. Rows with ids
    that are there are replaced. Rows that cannot be used are left out, counted and named.

    Examples: `ragbench load documents docs --name help`,
    `ragbench load questions faq.csv --name help -c reference=answer_text`,
    `ragbench load beir scifact --dry-run`
    """
    check_kind(kind, path)
    settings = open_settings()
    name = name or Path(path).resolve().name.partition(".")[0]
    folder = settings.path(settings.data_folder) / name
    check_target(name, folder)
    present = read_present(folder, language)
    limit = TRIAL if dry_run else None
    added = read_added(kind, path, settings, read_columns(columns), language, present, limit)
    for note in added.notes:
        say(note)
    if present is not None:
        check_language(path, added, folder, present, language)
        added = merge(present, added, by_page=kind == "documents")
    print(f"{folder}: {describe(added)}")
    if dry_run:
        print_first(added)
        print("nothing was written (--dry-run)")
        return
    from ragbench.data import write_dataset

    write_dataset(added, folder)
    print(f"next: {next_command(added, name)}")


def next_command(dataset: Dataset, name: str) -> str:
    """Return the command that goes on from a data set."""
    name = shlex.quote(name)
    if dataset.passages.empty:
        return f"ragbench load documents FOLDER --name {name}, for passages to search"
    if dataset.questions.empty:
        return f"ragbench load questions FILE --name {name}, or ragbench draft {name}"
    return f"ragbench run -d {name}"


def check_language(
    path: str, added: Dataset, folder: Path, present: Dataset, requested: str
) -> None:
    """Refuse to put Russian rows among English ones, or the other way, unless that is said."""
    if not requested and added.language != present.language:
        raise BenchError(
            f"{path} is {added.language}, and {folder} is {present.language}: --language "
            f"{added.language} keeps it beside, --language {present.language} puts it there"
        )


def check_kind(kind: str, path: str) -> None:
    """Refuse a kind that is none, and a path that is not there."""
    if kind in SCORED:
        raise BenchError(f"{kind} are scored where they lie: ragbench score {path}")
    if kind not in KINDS:
        hint = suggest(kind, KINDS) or f"; there are {', '.join(KINDS)}"
        raise BenchError(f"there is no kind {kind!r}{hint}")
    if kind != "database" and not Path(path).exists():
        raise BenchError(f"there is no {path}; check its name")


def check_target(name: str, folder: Path) -> None:
    """Refuse a name that leads out of the folder of data, and a folder with files of its own."""
    from ragbench.data.datasets import role_of_file

    if name != Path(name).name or name.startswith("."):
        raise BenchError(f"--name {name!r}: a data set's name is that of a folder, such as help")
    for path in sorted(folder.glob("*")):
        role, language = role_of_file(path)
        if role and not (language and path.suffix == ".jsonl"):
            raise BenchError(f"{path} is no file of ours; write another --name")


def read_present(folder: Path, language: str) -> Dataset | None:
    """Return the data set that is there in a language; None where it is not."""
    from ragbench.data import read_dataset
    from ragbench.data.datasets import role_of_file

    languages = {role_of_file(path)[1] for path in folder.glob("*.jsonl")} - {""}
    if not languages or (language and language not in languages):
        return None
    return read_dataset(folder, language)


def read_added(
    kind: str,
    path: str,
    settings: Settings,
    columns: Mapping[str, str],
    language: str,
    present: Dataset | None,
    limit: int | None,
) -> Dataset:
    """Read what is added. limit: rows of an own table."""
    from ragbench.data import read_dataset, read_documents
    from ragbench.data.answers import unfold
    from ragbench.data.building import Builder
    from ragbench.data.files import iter_batches, naming

    if kind == "database":
        from ragbench.store import read_database

        return read_database(path, settings, language or settings.language, limit)
    if kind in SETS:
        return read_dataset(Path(path).resolve(), language, columns=columns)
    # A table of passages has columns of its own.
    if settings.columns and not columns and kind != "passages":
        columns = settings.columns
        say("columns are those of [columns] in ragbench.toml; --column FIELD=COLUMN names others")
    builder = Builder(columns)
    if kind == "documents":
        passages, notes = read_documents(path)
        builder.keep("passages", rows_of(passages))
        builder.notes += notes
        return builder.build(Path(path).name, language)
    if present is not None and kind != "passages":
        # Questions name passages, or their pages, of the base.
        builder.keep("passages", rows_of(present.passages))
    with naming(Path(path)):
        for table in iter_batches(Path(path)):
            table.rows = unfold(table.rows)
            builder.add(kind, table)
    return builder.build(Path(path).name, language)


def rows_of(frame: pd.DataFrame) -> list[tuple]:
    """Return the rows of a frame."""
    return list(frame.itertuples(index=False, name=None))


def merge(present: Dataset, added: Dataset, *, by_page: bool) -> Dataset:
    """Return both sets as one; what is added takes the place of rows with its ids.

    by_page: passages take the place of all of their page, since an edited document has new ids.
    """
    passages = without(present.passages, added.passages, "url" if by_page else "passage_id")
    extras = dict(present.extras)
    for name, frame in added.extras.items():
        extras[name] = frame
        if name in present.extras:
            extras[name] = join(without(present.extras[name], frame, frame.columns[0]), frame)
    questions = without(present.questions, added.questions, "question_id")
    labels = without(present.labels, added.questions, "question_id")
    same = present.passages["passage_id"].isin(added.passages["passage_id"])
    n_replaced = len(present.questions) - len(questions)
    n_gone = len(present.passages) - len(passages) - int(same.sum())
    if n_replaced or n_gone:
        say(f"{n_replaced} questions and {n_gone} passages that were there are replaced")
    return replace(
        present,
        passages=join(passages, added.passages),
        questions=join(questions, added.questions),
        labels=join(labels, added.labels),
        extras=extras,
    )


def without(frame: pd.DataFrame, added: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the rows whose key is not added."""
    return frame[~frame[key].isin(added[key])]


def join(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return both frames below each other."""
    return pd.concat([part for part in (first, second) if len(part)] or [first], ignore_index=True)


def describe(dataset: Dataset) -> str:
    """Count what a data set has."""
    labelled = dataset.labels["question_id"].nunique()
    parts = [
        f"{len(dataset.passages):,} passages",
        f"{len(dataset.questions):,} questions ({labelled:,} with relevant passages)",
    ]
    for name, frame in dataset.extras.items():
        parts.append(f"{name} {frame[frame.columns[0]].nunique():,}")
    return f"{', '.join(parts)}; language {dataset.language}"


def print_first(dataset: Dataset) -> None:
    """Print the first passages and questions, with what is relevant."""
    for row in dataset.passages.head(2).itertuples():
        print(f"  passage {row.passage_id}: {row.text[:70]!r}")
    relevant = dataset.labels.groupby("question_id")["passage_id"].agg(", ".join).to_dict()
    for row in dataset.questions.head(2).itertuples():
        labelled = relevant.get(row.question_id, "no relevant passage")
        print(f"  question {row.question_id}: {row.text[:70]!r} → {labelled}")
