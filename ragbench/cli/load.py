"""`ragbench load`: files into a data set of the project."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from ragbench.cli.options import Columns, LanguageCode, read_columns
from ragbench.cli.output import say
from ragbench.core.errors import BenchError, suggest
from ragbench.core.frames import EXTRAS
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
    parts = read_added(kind, path, settings, read_columns(columns), language, present, limit)
    if present is not None:
        (added,) = parts
        check_language(path, added, folder, present, language)
        parts = [merge(present, added, by_page=kind == "documents")]
    counts: Counter[str] = Counter()
    parts = counted(parts, counts, folder)
    if dry_run:
        print_first(next(parts))
        for _ in parts:
            pass  # read, and counted
        print("nothing was written (--dry-run)")
        return
    from ragbench.data import write_dataset

    write_dataset(parts, folder)
    print(f"next: {next_command(counts, name)}")


def next_command(counts: Mapping[str, int], name: str) -> str:
    """Return the command that goes on from a data set."""
    name = shlex.quote(name)
    if not counts["passages"]:
        return f"ragbench load documents FOLDER --name {name}, for passages to search"
    if not counts["questions"]:
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
) -> Iterable[Dataset]:
    """Read what is added: of a table for a new set part by part. limit: rows of an own table."""
    from ragbench.data import read_dataset, read_documents
    from ragbench.data.building import Builder
    from ragbench.data.datasets import read_file
    from ragbench.data.parts import read_parts

    if kind == "database":
        from ragbench.store import read_database

        return [read_database(path, settings, language or settings.language, limit)]
    if kind in SETS:
        return [read_dataset(Path(path).resolve(), language, columns=columns)]
    # A table of passages has columns of its own.
    if settings.columns and not columns and kind != "passages":
        columns = settings.columns
        say("columns are those of [columns] in ragbench.toml; --column FIELD=COLUMN names others")
    builder = Builder(columns)
    if kind == "documents":
        passages, notes = read_documents(path)
        builder.keep("passages", rows_of(passages))
        builder.notes += notes
        return [builder.build(Path(path).name, language)]
    if present is None and kind in ("questions", "passages"):
        return read_parts(Path(path), kind, builder, language)
    if present is not None and kind != "passages":
        # Questions name passages, or their pages, of the base.
        builder.keep("passages", rows_of(present.passages))
    read_file(Path(path), kind, builder)
    return [builder.build(Path(path).name, language)]


def rows_of(frame: pd.DataFrame) -> list[tuple]:
    """Return the rows of a frame."""
    return list(frame.itertuples(index=False, name=None))


def merge(present: Dataset, added: Dataset, *, by_page: bool) -> Dataset:
    """Return both sets as one; what is added takes the place of rows with its ids.

    by_page: passages take the place of all of their page, since an edited document has new ids.
    """
    frames = added.frames
    counts: dict[str, int] = {}
    for name, frame in present.frames.items():
        new = frames.get(name, frame[:0])
        key = "url" if by_page and name == "passages" else frame.columns[0]
        # A question that is added again has new labels, or none.
        replacing = added.questions if name == "labels" else new
        kept = frame[~frame[key].isin(replacing[key])]
        counts[name] = len(frame) - len(kept)
        filled = [part for part in (kept, new) if len(part)] or [kept]
        frames[name] = pd.concat(filled, ignore_index=True)
    same = present.passages["passage_id"].isin(added.passages["passage_id"])
    n_gone = counts["passages"] - int(same.sum())
    if counts["questions"] or n_gone:
        say(f"{counts['questions']} questions and {n_gone} passages that were there are replaced")
    base = {name: frames.pop(name) for name in ("passages", "questions", "labels")}
    return replace(present, **base, extras=frames, notes=added.notes)


def counted(parts: Iterable[Dataset], counts: Counter[str], folder: Path) -> Iterator[Dataset]:
    """Yield the parts, add up what they have, and print the sums in the end."""
    for part in parts:
        counts.update(count(part))
        yield part
    for note in part.notes:
        say(note)
    print(f"{folder}: {describe(counts, part.language)}")


def count(dataset: Dataset) -> dict[str, int]:
    """Count passages, questions, questions with labels, and others, such as dialogues."""
    return {name: frame.iloc[:, 0].nunique() for name, frame in dataset.frames.items()}


def describe(counts: Mapping[str, int], language: str) -> str:
    """Say what a data set has."""
    base = "{passages:,} passages, {questions:,} questions ({labels:,} with relevant passages)"
    extras = [f", {name} {counts[name]:,}" for name in counts if name in EXTRAS]
    return f"{base.format_map(counts)}{''.join(extras)}; language {language}"


def print_first(dataset: Dataset) -> None:
    """Print the first passages and questions, with what is relevant."""
    for row in dataset.passages.head(2).itertuples():
        print(f"  passage {row.passage_id}: {row.text[:70]!r}")
    relevant = dataset.labels.groupby("question_id")["passage_id"].agg(", ".join).to_dict()
    for row in dataset.questions.head(2).itertuples():
        labelled = relevant.get(row.question_id, "no relevant passage")
        print(f"  question {row.question_id}: {row.text[:70]!r} → {labelled}")
