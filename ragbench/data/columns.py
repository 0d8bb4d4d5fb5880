"""Which column is which field: by the user's word, by a format's record, by a synonym.

Anything else is refused.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragbench.core.errors import BenchError, suggest
from ragbench.data.files import Table
from ragbench.data.values import Row, clean, find, first_found, is_missing
from ragbench.data.vocabulary import FIELDS, FORMATS, SAMPLE_FIELDS, field_of, normalize


@dataclass
class Columns:
    """The paths of each field, the record of the format, and the columns that nothing reads."""

    paths: dict[str, list[str]]
    format: dict[str, Any]
    unread: list[str]

    def values(self, row: Row) -> Row:
        """Return what a row holds, by field, None where nothing; of people's labels, by column."""
        values: Row = dict.fromkeys(FIELDS)
        for name, paths in self.paths.items():
            values[name] = first_found(row, paths)
        values["labels"] = {path: find(row, path) for path in self.paths.get("labels", [])}
        return values


def choose_columns(
    table: Table, named: Mapping[str, str], fields: Sequence[str] = SAMPLE_FIELDS
) -> Columns:
    """Find the column of each field.

    named: field → column or path, as the user gave it; people's labels may be several, parted by
    commas. fields: those that are looked for.
    Raises BenchError for a field or a column that is not there, and for two columns that could be
    one field.
    """
    seen = table.columns
    names = {normalize(column) for column in seen}
    fitting = [record for record in FORMATS if names.issuperset(map(normalize, record["known_by"]))]
    # DeepEval's data set has the columns of its test cases and more: the narrower record is meant.
    record: dict[str, Any] = max(fitting, key=lambda record: len(record["known_by"]), default={})
    # The user's word first, then the record of a format, then synonyms.
    paths: dict[str, list[str]] = {}
    for name, column in named.items():
        paths[check_field(name)] = [check_column(path, table) for path in column.split(",")]
    for name in fields:
        if name in record and name not in paths and _has_value(table, record[name]):
            paths[name] = record[name]
    read: set[str] = set()
    for candidates in paths.values():
        read |= {_column_of(path, seen) for path in candidates}
    taken = read | {column for column in seen if normalize(column) in record.get("ignore", ())}
    for name in fields:
        columns = [column for column in seen if field_of(column) == name and column not in taken]
        if name in paths or not columns:
            continue
        if len(columns) > 1 and name != "labels" and _values_differ(table, columns):
            option = shlex.quote(f"{name}={columns[-1]}")
            both = " and ".join(columns)
            raise BenchError(f"{both} could both be the {name}; say which: --column {option}")
        paths[name] = columns
        read.update(columns)
    return Columns(paths, record, [column for column in seen if column not in read])


def check_field(name: str) -> str:
    """Return the canonical name of a field, by itself or a synonym. Refuses any other."""
    known = field_of(name)
    if known is None:
        there = f"the fields are {', '.join(SAMPLE_FIELDS)}{suggest(name, FIELDS)}"
        raise BenchError(f"there is no field {name!r}; {there}")
    return known


def check_column(column: str, table: Table) -> str:
    """Return the column or path. Refuses one that is not there."""
    if column not in table.columns and not _has_value(table, [column]):
        raise BenchError(f"has no column {column!r}; it has {', '.join(table.columns)}")
    return column


def check_answers(columns: Columns, table: Table) -> None:
    """Refuse a table in which nothing is known as a question, an answer or a dialogue.

    The refusal has options to type, for the columns that hold sentences.
    """
    if not {"question", "answer", "messages"} & columns.paths.keys():
        seen = table.columns
        offered = [name for name in seen if any(" " in str(row.get(name)) for row in table.rows)]
        pairs = zip(("question", "answer"), offered or ["COLUMN"], strict=False)
        options = [f"--column {shlex.quote(f'{name}={column}')}" for name, column in pairs]
        raise BenchError(
            f"has the columns {', '.join(seen)}, and none is known as a question or an answer; "
            f"say which: {' '.join(options)}"
        )


def text_of(values: Mapping[str, Any], name: str) -> str | None:
    """Return the text of a field, None for an empty cell. Refuses an object: which part?"""
    value = values.get(name)
    if isinstance(value, dict | list):
        parts = f" with {', '.join(map(str, value))}" if isinstance(value, dict) else ""
        option = shlex.quote(f"{name}=COLUMN.PART")
        what = f"its {name} is a {type(value).__name__}{parts}, no text"
        raise BenchError(f"{what}; name a part: --column {option}")
    return None if is_missing(value) else clean(str(value))


def _has_value(table: Table, paths: list[str]) -> bool:
    return any(first_found(row, paths) is not None for row in table.rows)


def _column_of(path: str, columns: list[str]) -> str:
    """Return the column that a path begins in."""
    begin = f"{normalize(path)}."
    return next(column for column in columns if begin.startswith(f"{normalize(column)}."))


def _values_differ(table: Table, columns: list[str]) -> bool:
    """Whether columns say different things in any row; copies of one column are no doubt."""
    for row in table.rows:
        cells = [row.get(column) for column in columns]
        if len({str(cell) for cell in cells if not is_missing(cell)}) > 1:
            return True
    return False
