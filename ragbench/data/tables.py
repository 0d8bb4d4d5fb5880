"""Tables of raters and of scores, for commands that compare them; and what a file is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.data.columns import check_answers, check_column, choose_columns
from ragbench.data.datasets import role_of_file
from ragbench.data.documents import DOCUMENT_ENDINGS, find_documents
from ragbench.data.files import TABLE_ENDINGS, Table, ending_of, iter_batches, naming, read_table
from ragbench.data.traces import is_trace_export
from ragbench.data.trec import read_qrels, read_run
from ragbench.data.values import read_numbers, says_nothing
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


def read_ratings(
    path: str | Path, item: str = "", rater: str = "", value: str = "", raters: Sequence[str] = ()
) -> pd.DataFrame:
    """Read people's ratings: a row an item, a column a rater; texts, NaN where one gave none.

    item, rater, value: columns of a table with a rating a row. raters: the columns of a table with
    an item a row. Raises BenchError where columns have to be named, and for two ratings of one
    rater on one item.
    """
    with naming(Path(path)):
        table = read_table(path)
        named = {"id": item, "rater": rater, "value": value}
        named = {name: column for name, column in named.items() if column}
        paths = choose_columns(table, named, ("id", "rater", "value")).paths
        columns = list(raters) or [*paths.get("rater", []), *paths.get("value", [])]
        if len(columns) < 2:
            others = [column for column in table.columns if [column] != paths.get("id")]
            raise BenchError(
                f"has the columns {', '.join(table.columns)}; say which hold ratings: --raters "
                f"{shlex.quote(','.join(others[:2]))}, or --item, --rater and --value where each "
                "rating is a row"
            )
        for column in columns:
            check_column(column, table)
        cells = _by_id(table, paths)[columns]
        ratings = cells.map(lambda cell: np.nan if says_nothing(cell) else str(cell).strip())
        if not raters:
            ratings = ratings.set_index(columns[0], append=True)
        check_once(ratings)
    return ratings if raters else ratings[columns[1]].unstack()


def _by_id(table: Table, paths: dict[str, list[str]]) -> pd.DataFrame:
    """Return the rows of a table under their ids; under their numbers where no column has them."""
    frame = pd.DataFrame(table.rows)
    ids = frame[paths["id"][0]] if "id" in paths else frame.index + 1
    return frame.set_index(pd.Index(ids.astype(str), name="id"))


def check_once(frame: pd.DataFrame) -> None:
    """Refuse an id that stands twice."""
    is_repeated = frame.index.duplicated()
    if is_repeated.any():
        raise BenchError(f"{frame.index[is_repeated][0]!r} stands twice; keep one row of it")


def read_scores(path: str | Path, item: str = "") -> pd.DataFrame:
    """Read scores: a row a question, a column of numbers a metric; the index is the id.

    Columns that hold no numbers are left out; `.attrs["left_out"]` says why, by column. Raises
    BenchError where no column has numbers, or an id stands twice.
    """
    scores, left_out = {}, {}
    with naming(Path(path)):
        table = read_table(path)
        columns = choose_columns(table, {"id": item} if item else {}, ("id",))
        cells = _by_id(table, columns.paths)
        check_once(cells)
        for column in columns.unread:
            try:
                scores[column] = read_numbers(cells[column], column)
            except BenchError as error:
                left_out[column] = str(error)
        if not scores:
            raise BenchError(f"has no column of numbers; {'; '.join(left_out.values())}")
    frame = pd.DataFrame(scores, index=cells.index)
    frame.attrs["left_out"] = left_out
    return frame


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
        if not kind and "id" in columns.paths and not read_scores(path).attrs["left_out"]:
            kind = "numbers"
        if not kind:
            check_answers(columns, table)
    return Description(path, kind, {name: paths[0] for name, paths in columns.paths.items()})
