"""Tables of raters and of scores, as `agree` and `significance` read them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.numbers import read_numbers, says_nothing
from ragbench.data.columns import check_column, choose_columns
from ragbench.data.files import Table, naming, read_table


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
        raise BenchError(
            f"{frame.index[is_repeated][0]!r} stands twice; keep one row of it, such as a mean"
        )


def read_scores(path: str | Path, item: str = "", unit: str = "") -> pd.DataFrame:
    """Read scores: a row a question, a column of numbers a metric; the index is the id.

    Columns that hold no numbers are left out; `.attrs["left_out"]` says why, by column. unit: the
    column of what was drawn independently, `.attrs["units"]`. Raises BenchError where no column has
    numbers, or an id stands twice.
    """
    scores, left_out = {}, {}
    with naming(Path(path)):
        table = read_table(path)
        columns = choose_columns(table, {"id": item} if item else {}, ("id",))
        cells = _by_id(table, columns.paths)
        check_once(cells)
        units = cells[check_column(unit, table)].astype(str) if unit else cells.index.to_series()
        if unit and (units == "").any():
            raise BenchError(
                f"{unit} is empty in {(units == '').sum()} rows; name the unit of each"
            )
        for column in columns.unread:
            if column == unit:
                continue
            try:
                scores[column] = read_numbers(cells[column], column)
            except BenchError as error:
                left_out[column] = str(error)
        if not scores:
            raise BenchError(f"has no column of numbers; {'; '.join(left_out.values())}")
    frame = pd.DataFrame(scores, index=cells.index)
    frame.attrs["left_out"] = left_out
    frame.attrs["units"] = units.to_dict()
    return frame
