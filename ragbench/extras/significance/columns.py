"""Columns of the tables that people bring: names, labels and numbers, every fault with the cell's place."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.data.cells import plain
from ragbench.data.files import PACKINGS, DatasetError
from ragbench.data.rows import TABLES, cut, cut_list, decimal, read_rows
from ragbench.data.vocabulary import field_of

if TYPE_CHECKING:
    from ragbench.core.types import Array

NOT_MEASURED = {"nan", "na", "n/a", "null", "none"}
FLAGS = {"true": 1.0, "false": 0.0}
ENDINGS = {*PACKINGS, *TABLES} - {""}


@dataclass(frozen=True)
class Table:
    """The rows of a file that hold anything, each with its place.

    columns: by their first place in any row, so that they do not depend on the order of the rows.
    """

    path: Path
    places: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]

    @classmethod
    def read(cls, path: Path) -> Table:
        """A table as `ragbench.data.rows` reads it. Raises DatasetError for what cannot be read, or no rows."""
        placed_rows = [
            (place, row) for place, row in read_rows(path, keep_empty=True) if not all(map(_blank, row.values()))
        ]
        if not placed_rows:
            raise DatasetError(f"{path}: holds no rows; a header and at least one row are expected")
        first: dict[str, int] = {}
        for _, row in placed_rows:
            for number, name in enumerate(row):
                first[name] = min(number, first.get(name, number))
        columns = sorted(first, key=lambda name: (first[name], name))
        return cls(path, [place for place, _ in placed_rows], [row for _, row in placed_rows], columns)

    @property
    def name(self) -> str:
        """The file's name without its endings."""
        name = self.path
        while name.suffix.lower() in ENDINGS:
            name = name.with_suffix("")
        return name.name

    def require(self, names: Sequence[str]) -> None:
        """Raises DatasetError for a column that there is not, with those there are."""
        if missing := [name for name in names if name not in self.columns]:
            raise DatasetError(f"{self.path}: has no column {', '.join(missing)}; it has {cut_list(self.columns)}")

    def called(self, field: str) -> str:
        """The column that is this field of the vocabulary, one with the field's own name first; its name if none is."""
        there = [name for name in self.columns if field_of(name) == field]
        return min(there, key=lambda name: name != field, default=field)

    def labels(self, column: str) -> list[str | None]:
        """Texts, whole numbers as their digits (7.0 too); None for an empty cell."""
        return [
            _label(row.get(column), f"{place}, {column}") for place, row in zip(self.places, self.rows, strict=True)
        ]

    def numbers(self, column: str) -> Array:
        """Finite numbers, true and false as 1 and 0; NaN where nothing was measured. DatasetError for other cells."""
        import numpy as np

        cells = zip(self.places, self.rows, strict=True)
        return np.array([_number(row.get(column), f"{place}, {column}") for place, row in cells])

    def keys(self, column: str) -> dict[str, int]:
        """The row of each name in a column. Raises DatasetError for an empty name and for one that stands twice."""
        row_by_name: dict[str, int] = {}
        for row, name in enumerate(self.labels(column)):
            if name is None:
                raise DatasetError(f"{self.places[row]}, {column}: is empty; every row needs its name")
            if name in row_by_name:
                raise DatasetError(
                    f"{self.places[row]}, {column} = {cut(name)}: stands in "
                    f"{self.places[row_by_name[name]]} too; keep one"
                )
            row_by_name[name] = row
        return row_by_name


def numbers_of_both(first: Table, second: Table, taken: Collection[str | None]) -> tuple[list[str], dict[str, str]]:
    """The columns of numbers of two tables, and every other column with the reason. Raises DatasetError for no column.

    taken: columns that hold something else.
    """
    numeric, left_out = [], {}
    for name in [*first.columns, *(name for name in second.columns if name not in first.columns)]:
        if name not in taken:
            faults = [fault for table in (first, second) if (fault := _no_numbers(table, name))]
            if faults:
                left_out[name] = "; ".join(faults)
            else:
                numeric.append(name)
    if not numeric:
        shared = [name for name in first.columns if name in second.columns and name not in taken]
        raise DatasetError(
            f"{first.path} and {second.path} share no column of numbers; shared: {', '.join(shared) or 'none'}"
        )
    return numeric, left_out


def _no_numbers(table: Table, column: str) -> str:
    """Why a column is none of numbers, whatever the order of the rows; empty if it is one."""
    if column not in table.columns:
        return f"{table.path} has no such column"
    others = sorted(cut(row[column]) for row in table.rows if column in row and not _is_number(row[column]))
    return (
        f"{table.path} has no number in {len(others)} of {len(table.rows)} rows, such as {others[0]}" if others else ""
    )


def _is_number(cell: Any) -> bool:
    try:
        _number(cell, "")
    except DatasetError:
        return False
    return True


def _blank(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def _label(cell: Any, place: str) -> str | None:
    if _blank(cell):
        return None
    if isinstance(cell, list | dict):
        raise DatasetError(f"{place} = {cut(cell)}: a text or a number is expected")
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return plain(str(cell).strip())


def _number(cell: Any, place: str) -> float:
    if _blank(cell):
        return math.nan
    value = math.inf
    try:
        if not isinstance(cell, str):
            value = float(cell)
        elif (text := cell.strip().casefold()) in NOT_MEASURED:
            return math.nan
        elif "_" not in text:
            value = FLAGS[text] if text in FLAGS else decimal(text)
    except (TypeError, ValueError, OverflowError):
        pass
    if not math.isfinite(value):
        raise DatasetError(
            f"{place} = {cut(cell)}: a finite number is expected; leave the cell empty where nothing was measured"
        )
    return value
