"""Rows of a file whatever its form: a JSON list, JSON Lines, CSV, Parquet; each with the place that errors name."""

from __future__ import annotations

import csv
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ragbench.core.expectations import expectation, shown
from ragbench.core.settings.secrets import excerpt
from ragbench.data.cells import held
from ragbench.data.files import (
    STRICT,
    DatasetError,
    Load,
    lines_of,
    normalise,
    normalised,
    parse_json,
    read_lines,
    read_text,
    require_file,
    text_blocks,
)
from ragbench.data.json_values import Values
from ragbench.data.limits import (
    BATCH_BYTES,
    BATCH_ROWS,
    FIELD_BYTES,
    MAX_DECODED_BYTES,
    MAX_LINE_BYTES,
    MAX_ROWS,
    MAX_STREAMED_BYTES,
    MAX_STREAMED_ROWS,
    OBJECT_BYTES,
    VALUE_BYTES,
)

DELIMITERS = (",", ";", "\t")
SHOWN_CHARACTERS = 60
SHOWN_NAMES = 12
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
Row = TypeVar("Row", bound=BaseModel)
Placed = tuple[str, dict[str, Any]]


def read_rows(path: Path, *, keep_empty: bool = False, held: bool = True) -> Iterator[Placed]:
    """(place, row) of each row; the place is `FILE, item 3` in JSON, `line 3` in JSON Lines, CSV, `row 3` in Parquet.

    A JSON file holds a list of objects, or one object, which is a row of its own. CSV is separated by commas,
    semicolons or tabs; its empty cells are left out of the row (keep_empty: they are empty texts, and a row of nothing
    else is a row). Texts are in NFC. All but Parquet may be gzipped. held: who reads the rows keeps them all, so that
    they must fit into memory together; else they go by, in memory that does not grow with their number.
    Raises DatasetError with file and place for what cannot be read.
    """
    endings = [ending.lower() for ending in path.suffixes]
    if ".jsonl" in endings:
        return ((f"{path.name}, line {number}", item) for number, item in read_lines(path, held=held))
    if ".json" in endings:
        return _json(path, held)
    if ".csv" in endings or ".tsv" in endings:
        return _csv(path, keep_empty, held)
    if ".parquet" in endings:
        return _parquet(path, held)
    raise DatasetError(f"{path.name}: ends in none of .json, .jsonl, .csv, .tsv, .parquet; such files can be read")


def checked(model: type[Row], item: Mapping[str, Any], place: str) -> Row:
    """The row as `model` understands it. Raises DatasetError: place, field, value, and what was expected."""
    try:
        return model.model_validate(item)
    except ValidationError as error:
        there = f"; it has {cut_list(item)}" if error.errors()[0]["type"] == "missing" else ""
        raise DatasetError(f"{place}: {fault(error)}{there}") from None


def fault(error: ValidationError) -> str:
    """The first fault of a row in one line: field, value, what was expected."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("function-", "str", "int")))
    if first["type"] == "missing":
        return f"{field} is missing; it is expected in every item"
    message = expectation(first)
    return f"{field} = {cut(first['input'])}: {message}" if field else message


def cut_list(names: Iterable[str]) -> str:
    """Names of fields as an error shows them: the first ones, and how many more there are."""
    found = [cut(name)[1:-1] for name in names]
    more = f" and {len(found) - SHOWN_NAMES} more" if len(found) > SHOWN_NAMES else ""
    return ", ".join(found[:SHOWN_NAMES]) + more if found else "no field"


def cut(value: Any) -> str:
    """A value as an error shows it: on one line, not longer than a few words."""
    return excerpt(shown(value), SHOWN_CHARACTERS)


def _json(path: Path, held: bool) -> Iterator[Placed]:
    content: Any
    if held or not _is_list(path):
        content = parse_json(read_text(path), path.name)
        if isinstance(content, dict):
            content = [content]
        if not isinstance(content, list):
            raise DatasetError(f"{path.name}: {cut(content)}: a JSON list of objects is expected")
    else:
        content = _elements(path)
    load = Load(path, "items", held=held)
    for item in content:
        load.add(0)
        place = f"{path.name}, item {load.number}"
        if not isinstance(item, dict):
            raise DatasetError(f"{place}: {cut(item)}: a JSON object is expected")
        yield place, item
    if not load.number:
        raise DatasetError(f"{path.name}: an empty list; at least one item is expected")


def _is_list(path: Path) -> bool:
    start = next((text.lstrip() for text in text_blocks(path, 2**12) if text.strip()), "")
    return start.startswith("[")


def _elements(path: Path) -> Iterator[Any]:
    """The elements of a JSON list of any length, one at a time."""
    values = Values(path, normalised(text_blocks(path)), STRICT)
    values.next()
    for place, item in values.list():
        try:
            json.dumps(item, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DatasetError(f"{place}: a text holds half of a character (a lone surrogate)") from None
        yield item
    if values.next():
        raise values.fault("not JSON: the list ends before the file does")


def _csv(path: Path, keep_empty: bool, held: bool) -> Iterator[Placed]:
    lines = lines_of(path)
    head = next(lines, "")
    delimiter = max(DELIMITERS, key=head.count)
    csv.field_size_limit(MAX_LINE_BYTES)
    load = Load(path, "rows", held=held)
    reader = csv.reader(itertools.chain([head] if head else [], lines), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DatasetError(f"{path.name}, line 1: the column {twice!r} stands there twice")
        for cells in reader:
            place = f"{path.name}, line {reader.line_num}"
            if not cells or not (keep_empty or any(cell.strip() for cell in cells)):
                continue
            if len(cells) != len(names):
                raise DatasetError(f"{place}: {len(cells)} cells, but the header names {len(names)} columns")
            letters = sum(map(sys.getsizeof if held else len, cells))
            load.add(OBJECT_BYTES + FIELD_BYTES * len(cells) + letters if held else letters)
            yield place, {name: cell for name, cell in zip(names, cells, strict=True) if keep_empty or cell.strip()}
    except StopIteration:
        raise DatasetError(f"{path.name}: an empty file; a header line and at least one row are expected") from None
    except csv.Error as error:
        raise DatasetError(f"{path.name}, line {reader.line_num}: not CSV: {error}") from None


def parquet_rows(path: Path, *, held: bool = True) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as they are. held: as for `read_rows`.

    Raises DatasetError for what cannot be read, and for too much: by what the file says of itself, before anything is
    decoded, and by what was decoded, before it becomes objects.
    """
    require_file(path)
    room = _Room(*(MAX_ROWS, MAX_DECODED_BYTES) if held else (MAX_STREAMED_ROWS, MAX_STREAMED_BYTES))
    for batch in _batches(path, room):
        yield from batch.to_pylist()


def look_at_parquet(paths: Sequence[Path], max_rows: int, max_bytes: int) -> None:
    """Raises DatasetError for files that cannot be read, or that hold too much together; nothing of them is held."""
    room = _Room(max_rows, max_bytes)
    for path in paths:
        for _ in _batches(path, room):
            pass


@dataclass
class _Room:
    """What may be decoded: rows, and bytes in memory; and how much has been."""

    most_rows: int
    most_bytes: int
    rows: int = 0
    bytes: int = 0

    def check(self, rows: int, size: int) -> None:
        """Raises ValueError where so many more are too many."""
        if self.rows + rows > self.most_rows:
            raise ValueError(f"more than {self.most_rows:,} rows; split it")
        if self.bytes + size > self.most_bytes:
            raise ValueError(f"more than {self.most_bytes:,} bytes once decoded; split it")

    def take(self, rows: int, size: int) -> None:
        self.check(rows, size)
        self.rows, self.bytes = self.rows + rows, self.bytes + size


def _batches(path: Path, room: _Room) -> Iterator[Any]:
    """The file's rows, a few at a time: a text that is kept once may stand a million times for a few bits."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            about = file.metadata
            groups = [about.row_group(n) for n in range(about.num_row_groups)]
            chunks = [group.column(n) for group in groups for n in range(group.num_columns)]
            sizes = [VALUE_BYTES * one.num_values + one.total_uncompressed_size for one in chunks]
            room.check(about.num_rows, sum(sizes))
            at_once = max(1, min(BATCH_ROWS, BATCH_BYTES // max([1, *(one.total_uncompressed_size for one in chunks)])))
            for batch in file.iter_batches(at_once, use_threads=False):
                room.take(batch.num_rows, sum(map(_weight, batch.columns)))
                yield batch
    except Exception as error:  # of several libraries, each with its own
        said = str(error) if type(error) is ValueError else f"cannot be read: {error}"
        raise DatasetError(f"{path.name}: {excerpt(said, 300)}") from None


def _weight(column: Any) -> int:
    """Bytes that a column's values take as objects, at most about; a dictionary's are counted each time they stand."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    own = VALUE_BYTES * len(column)
    if pa.types.is_map(kind):
        return own + _weight(column.keys) + _weight(column.items)
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind):
        return own + _weight(column.flatten())
    if pa.types.is_struct(kind):
        return own + sum(map(_weight, column.flatten()))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        letters, size = (int(compute.sum(f(column)).as_py() or 0) for f in (compute.utf8_length, compute.binary_length))
        return own + (size if letters == size else 4 * letters)
    return own + int(column.nbytes)


def _parquet(path: Path, held: bool) -> Iterator[Placed]:
    for number, row in enumerate(parquet_rows(path, held=held), 1):
        yield (
            f"{path.name}, row {number}",
            {
                name: normalise(value) if isinstance(value, str) else value
                for name, value in row.items()
                if value is not None and value == value  # a column of numbers holds NaN where a cell is empty
            },
        )


def listed(value: Any) -> Any:
    """A list out of a cell: as it is, as JSON or Python write it, or texts parted by semicolons; None is empty."""
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    found = held(value)
    if found is not None:
        return found[0]
    if value.lstrip().startswith("["):
        raise ValueError("a list is expected, as JSON or Python write it")
    return [part.strip() for part in value.split(";") if part.strip()]


def decimal(text: str) -> float:
    """The number in a cell's text, also with a decimal comma. Raises ValueError for anything else."""
    return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text.strip()) else text)


def rows_of(given: Any) -> Iterator[Any]:
    """The rows of a table of pandas or of pyarrow, of an evaluation data set of ragas, of one pydantic model, else what
    is given, one by one; pydantic's models as the fields that they were given."""
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    elif not isinstance(given, list | tuple):
        read = next((getattr(given, name) for name in ("to_pylist", "to_list") if hasattr(given, name)), None)
        given = given if read is None else read()
    for one in [given] if hasattr(given, "model_dump") else given:
        yield one.model_dump(exclude_none=True) if hasattr(one, "model_dump") else one
