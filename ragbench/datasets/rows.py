"""Rows of a file whatever its form: a JSON list, JSON Lines, CSV, Parquet; each with the place that errors name."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ragbench.datasets.cells import held
from ragbench.datasets.files import (
    FIELD_BYTES,
    MAX_ROWS,
    MAX_WEIGHT_OF_ROWS,
    OBJECT_BYTES,
    DatasetError,
    lines_of,
    normalise,
    parse_json,
    read_lines,
    read_text,
    require_file,
    too_heavy,
)
from ragbench.expectations import expectation, shown

DELIMITERS = (",", ";", "\t")
MAX_DECODED_BYTES = 2**29
"""Of a Parquet file, as objects: a few kilobytes of a repeated text may stand for more than any memory holds."""
DECODER_BYTES = 5 * 2**27
"""That its decoding may take, in a process of its own."""
FAULT = 3  # the decoder's status where it says on one line what is wrong
SHOWN_CHARACTERS = 60
SHOWN_NAMES = 12
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
Row = TypeVar("Row", bound=BaseModel)
Placed = tuple[str, dict[str, Any]]


def read_rows(path: Path, *, keep_empty: bool = False) -> Iterator[Placed]:
    """(place, row) of each row; the place is `FILE, item 3` in JSON, `line 3` in JSON Lines, CSV, `row 3` in Parquet.

    A JSON file holds a list of objects, or one object, which is a row of its own. CSV is separated by commas,
    semicolons or tabs; its empty cells are left out of the row (keep_empty: they are empty texts, and a row of nothing
    else is a row). Texts are in NFC. All but Parquet may be gzipped.
    Raises DatasetError with file and place for what cannot be read.
    """
    endings = [ending.lower() for ending in path.suffixes]
    if ".jsonl" in endings:
        return ((f"{path.name}, line {number}", item) for number, item in read_lines(path))
    if ".json" in endings:
        return _json(path)
    if ".csv" in endings or ".tsv" in endings:
        return _csv(path, keep_empty)
    if ".parquet" in endings:
        return _parquet(path)
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
    text = " ".join(shown(value).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _json(path: Path) -> Iterator[Placed]:
    content = parse_json(read_text(path), path.name)
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise DatasetError(f"{path.name}: {cut(content)}: a JSON list of objects is expected")
    if not content:
        raise DatasetError(f"{path.name}: an empty list; at least one item is expected")
    if len(content) > MAX_ROWS:
        raise DatasetError(f"{path.name}: more than {MAX_ROWS:,} items; split it into smaller data sets")
    for number, item in enumerate(content, 1):
        if not isinstance(item, dict):
            raise DatasetError(f"{path.name}, item {number}: {cut(item)}: a JSON object is expected")
        yield f"{path.name}, item {number}", item


def _csv(path: Path, keep_empty: bool) -> Iterator[Placed]:
    text = read_text(path)
    head = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=head.count)
    csv.field_size_limit(2**24)
    weighed = sys.getsizeof(text)
    reader = csv.reader(lines_of(text), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise DatasetError(f"{path.name}, line 1: the column {twice!r} stands there twice")
        for number, cells in enumerate(reader, 2):
            place = f"{path.name}, line {reader.line_num}"
            if not cells or not (keep_empty or any(cell.strip() for cell in cells)):
                continue
            if len(cells) != len(names):
                raise DatasetError(f"{place}: {len(cells)} cells, but the header names {len(names)} columns")
            if number > MAX_ROWS:
                raise DatasetError(f"{path.name}: more than {MAX_ROWS:,} rows; split it")
            weighed += OBJECT_BYTES + FIELD_BYTES * len(cells)
            if weighed > MAX_WEIGHT_OF_ROWS:
                raise too_heavy(path)
            yield place, {name: cell for name, cell in zip(names, cells, strict=True) if keep_empty or cell.strip()}
    except StopIteration:
        raise DatasetError(f"{path.name}: an empty file; a header line and at least one row are expected") from None
    except csv.Error as error:
        raise DatasetError(f"{path.name}, line {reader.line_num}: not CSV: {error}") from None


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file as they are, decoded by `parquet_decoder` where nothing it asks for can hurt.

    Raises DatasetError for what cannot be read, and for too much.
    """
    import pyarrow as pa

    require_file(path)
    decoder = Path(__file__).with_name("parquet_decoder.py")
    limits = [str(limit) for limit in (MAX_ROWS, MAX_DECODED_BYTES, DECODER_BYTES)]
    rows: list[dict[str, Any]] = []
    broken = ""
    with subprocess.Popen(  # noqa: S603 - our own program, and a path that is one argument
        [sys.executable, "-P", str(decoder), str(path.resolve()), *limits],
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},  # another would ask for address space in advance
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            with pa.ipc.open_stream(child.stdout) as stream:
                for batch in stream:
                    rows += batch.to_pylist()
        except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
            broken = str(error)
        except BaseException:
            child.kill()
            raise
        said = child.stderr.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        if child.wait() or broken:
            ended = f"cannot be read: its decoding ended with {child.returncode} ({broken})"
            raise DatasetError(f"{path.name}: {said if child.returncode == FAULT else ended}")
    return rows


def _parquet(path: Path) -> Iterator[Placed]:
    for number, row in enumerate(parquet_rows(path), 1):
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
