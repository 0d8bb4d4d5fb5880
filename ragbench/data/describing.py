"""What a file or a folder is, as the reader takes it: `ragbench init` says it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ragbench.core.errors import BenchError
from ragbench.data.columns import check_answers, choose_columns
from ragbench.data.datasets import role_of_file
from ragbench.data.documents import DOCUMENT_ENDINGS, find_documents
from ragbench.data.files import TABLE_ENDINGS, Table, ending_of, iter_batches, naming
from ragbench.data.traces import is_trace_export
from ragbench.data.trec import read_qrels, read_run
from ragbench.data.values import read_numbers
from ragbench.data.vocabulary import FIELDS, KINDS


@dataclass(frozen=True)
class Description:
    """What the reader takes a path for. kind "" with a reason: it is not read.

    columns: field → column of a table.
    """

    path: Path
    kind: str
    columns: dict[str, str] = field(default_factory=dict)
    reason: str = ""


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
        raise BenchError(
            f"is none of {', '.join((*TABLE_ENDINGS, *DOCUMENT_ENDINGS))}; save it as one"
        )
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
        if table.rows and is_trace_export(table.rows):
            return Description(path, "traces")
        columns = choose_columns(table, {}, FIELDS)
        there = {*columns.paths, *table.columns}
        kinds = [kind for kind, fields in KINDS if there.issuperset(fields)]
        kind = role_of_file(path)[0] or next(iter(kinds), "")
        if not kind and "id" in columns.paths and _holds_numbers(table, columns.unread):
            kind = "numbers"
        if not kind:
            check_answers(columns, table)
    return Description(path, kind, {name: paths[0] for name, paths in columns.paths.items()})


def _holds_numbers(table: Table, columns: list[str]) -> bool:
    try:
        for column in columns:
            read_numbers([row.get(column) for row in table.rows], column)
    except BenchError:
        return False
    return bool(columns)
