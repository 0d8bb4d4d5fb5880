"""Files into rows, batch by batch: CSV, TSV, JSON, JSON Lines, Parquet, Excel; plain or packed."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import itertools
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from ragbench.core.errors import BenchError
from ragbench.data.values import DECODER, Row, as_list, is_missing, unpack
from ragbench.data.vocabulary import LISTS, field_of, normalize

PACKINGS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
PACKED = (".gz", ".bz2", ".xz")
JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
TEXT_CELLS = (".csv", ".tsv", ".xlsx", ".xls", ".ods")  # whose lists are texts in cells
TABLE_ENDINGS = (*JSON_ENDINGS, *TEXT_CELLS, ".parquet")
BATCH = 10_000  # rows that are in memory at once
MAX_ROWS = 1_000_000  # of a table that is read whole
MAX_BYTES = 2**29  # of such a table, unpacked; and of a thousand rows of Parquet
MAX_VALUE = 2**26  # characters of a line, and of JSON that is not one object a line
SAMPLE = 2**22  # bytes that tell the encoding


@dataclass(frozen=True)
class LeftOut:
    """A row that could not be used: `place` is its line, row or trace."""

    place: str
    reason: str


@dataclass
class Table:
    """Rows of a file, and those that could not be one. start: number of the first row, from 1."""

    rows: list[Row] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    start: int = 1

    @property
    def columns(self) -> list[str]:
        """The columns of all rows, in the order in which they were seen."""
        return list(dict.fromkeys(itertools.chain.from_iterable(self.rows)))


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of the file before what goes wrong while it is read."""
    try:
        yield
    except FileNotFoundError:
        raise BenchError(f"there is no file {path}; check its name") from None
    except UnicodeError:
        raise BenchError(f"{path.name}: is not UTF-8 throughout; save it as UTF-8") from None
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise BenchError(f"{path.name}: cannot be read ({error}); fetch or save it again") from None
    except RecursionError:
        raise BenchError(f"{path.name}: is nested too deeply; write flat objects") from None
    except BenchError as error:
        raise BenchError(f"{path.name}: {str(error).removeprefix(f'{path.name}: ')}") from None


def ending_of(path: Path) -> str:
    """Return the ending of a file's name without that of its packing: `.csv` of a.csv.gz."""
    name = Path(path.name.lower())
    return name.with_suffix("").suffix if name.suffix in PACKED else name.suffix


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, unpacked; what it is packed by is told by its first bytes."""
    with path.open("rb") as file:
        head = file.peek()
    for magic, unpacker in PACKINGS.items():
        if head.startswith(magic):
            return unpacker(path)
    return path.open("rb")


def open_text(path: Path) -> TextIO:
    """Open a text file: UTF-8, UTF-16 with its mark, or cp1251 if it holds Russian words."""
    with open_bytes(path) as file:
        encoding = encoding_of(file.read(SAMPLE))
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="")


def encoding_of(head: bytes) -> str:
    """Return the encoding of a text by its first bytes. Refuses those that nothing tells."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        # An incremental decoder takes a letter that is cut at the end.
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
        encoding = "utf-8-sig"
    except UnicodeDecodeError:
        text = head.decode("cp1251", "replace")
        encoding = "cp1251"
        words = re.findall(r"[^\W\d_]*[^\W\d_a-zA-Z][^\W\d_]*", text)
        # In other encodings Russian words have capitals within, or letters of two alphabets.
        russian = [word for word in words if re.fullmatch("[А-ЯЁ]?[а-яё]+", word)]
        if len(russian) < 0.9 * len(words):
            encoding = ""
    if not encoding or "\0" in text:
        raise BenchError("is neither UTF-8, UTF-16 nor cp1251; save it as UTF-8")
    return encoding


def read_table(source: str | Path) -> Table:
    """Read a whole table. Raises BenchError where it is too large for the memory."""
    path = Path(source)
    table = Table()
    with naming(path):
        with open_bytes(path) as file:
            file.seek(MAX_BYTES)
            is_too_large = bool(file.read(1))
        for batch in iter_batches(path):
            table.rows += batch.rows
            table.left_out += batch.left_out
            if is_too_large or len(table.rows) > MAX_ROWS:
                raise BenchError(
                    f"has more than {MAX_ROWS:,} rows or {MAX_BYTES:,} bytes; split it"
                )
    return table


def iter_batches(path: Path) -> Iterator[Table]:
    """Yield the rows of a table in batches, so that memory is flat. Raises BenchError for none."""
    with naming(path):
        rows = _iter_rows(path)
        start = 1
        packed: list[str] = []
        while batch := list(itertools.islice(rows, BATCH)):
            left_out = [row for row in batch if isinstance(row, LeftOut)]
            table = Table([row for row in batch if isinstance(row, dict)], left_out, start)
            if start == 1 and not table.rows:
                raise BenchError(f"holds no rows; {left_out[0].place}: {left_out[0].reason}")
            if start == 1 and ending_of(path) in TEXT_CELLS:
                packed = packed_columns(table)
            for row in table.rows:
                row.update({column: unpack(row.get(column)) for column in packed})
            yield table
            start += len(table.rows)
        if start == 1:
            raise BenchError("holds no rows; write a row below the names of the columns")


def packed_columns(table: Table) -> list[str]:
    """Return the columns in which every cell holds JSON: TruLens and Langfuse pack them all.

    One answer that looks like JSON stays a text.
    """
    packed = []
    for column in table.columns:
        cells = [row.get(column) for row in table.rows]
        filled = [cell for cell in cells if not is_missing(cell)]
        if filled and all(unpack(cell) is not cell for cell in filled):
            packed.append(column)
    return packed


def _iter_rows(path: Path) -> Iterator[Row | LeftOut]:
    ending = ending_of(path)
    if ending not in TABLE_ENDINGS:
        raise BenchError(f"is no file that ends with {', '.join(TABLE_ENDINGS)}; save it as one")
    if ending == ".parquet":
        return _parquet_rows(path)
    if ending in JSON_ENDINGS:
        return _json_rows(path)
    return _csv_rows(path) if ending in {".csv", ".tsv"} else _workbook_rows(path)


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(MAX_VALUE):
        if len(line) == MAX_VALUE:
            raise BenchError(f"a line has more than {MAX_VALUE:,} characters; split it")
        yield line


def _csv_rows(path: Path) -> Iterator[Row | LeftOut]:
    with open_text(path) as file:
        lines = _lines(file)
        head = next(lines, "")
        excel = re.fullmatch("sep=(.)", head.strip(), re.IGNORECASE)
        if excel:
            delimiter = excel[1]  # Excel names its delimiter in a line before the header
        else:
            delimiter = "\t" if ending_of(path) == ".tsv" else delimiter_of(head)
            lines = itertools.chain([head], lines)
        csv.field_size_limit(MAX_VALUE)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            columns = next(reader, [])
            check_columns(columns)
            for cells in reader:
                if len(cells) > len(columns):
                    # Every cell behind an unquoted delimiter would stand in the wrong column.
                    count = f"{len(cells)} cells for {len(columns)} columns"
                    reason = f"{count}; quote cells that hold {delimiter!r}"
                    yield LeftOut(f"line {reader.line_num}", reason)
                elif any(cells):  # Excel leaves rows of empty cells at the end
                    row = dict(zip(columns, cells, strict=False))
                    row.pop("", None)  # pandas' index, or a delimiter at the end of each line
                    yield row
        except csv.Error as error:
            raise BenchError(f"line {reader.line_num}: {error}; quote cells as CSV does") from None


def delimiter_of(head: str) -> str:
    """Return the mark between the columns of a header. Raises BenchError where two may be it."""
    bare = re.sub(r'"[^"]*"', "", head)
    present = [mark for mark in ",;\t" if mark in bare]
    if len(present) > 1:
        line = f"{head.strip()[:80]!r} may be parted by {' or '.join(map(repr, present))}"
        raise BenchError(f"its first line {line}; write sep={present[0]} as a line before it")
    return "".join(present) or ","


def check_columns(columns: list[str]) -> None:
    """Refuse two columns with one name."""
    repeated = [column for column in columns if column and columns.count(column) > 1]
    if repeated:
        raise BenchError(f"two columns are called {repeated[0]!r}; rename one of them")


def _json_rows(path: Path) -> Iterator[Row | LeftOut]:
    with open_text(path) as file:
        parsed = map(_parse_line, itertools.count(1), _lines(file))
        values: Iterator[Any] = filter(None, parsed)
        first: list[Any] = list(itertools.islice(values, 2))
        if first and isinstance(first[0], LeftOut):
            first = _parse_whole(path)  # an object of several lines
            values = iter(())
        # A value alone in its file may hold the rows, or columns; one of many is a row.
        if len(first) == 1:
            first = unwrap(first[0]) if isinstance(first[0], dict) else as_list(first[0])
        for value in itertools.chain(first, values):
            if not isinstance(value, dict | LeftOut):
                raise BenchError("holds no objects; write a list of objects, or one object a line")
            yield value


def _parse_line(number: int, line: str) -> Any:
    """Return the value of a line, a LeftOut where it is no JSON, None where it is empty."""
    try:
        return DECODER.decode(line) if line.strip() else None
    except json.JSONDecodeError as error:
        return LeftOut(f"line {number}", f"is no JSON ({error.msg})")
    except BenchError as error:
        raise BenchError(f"line {number}: {error}") from None


def _parse_whole(path: Path) -> list[Any]:
    """Return the values of a text, one after the other; each may have several lines."""
    with open_text(path) as file:
        text = file.read(MAX_VALUE).rstrip()
        if file.read(1):
            raise BenchError(f"has more than {MAX_VALUE:,} characters; write one object a line")
    values = []
    end = 0
    try:
        while end < len(text):
            while text[end].isspace():
                end += 1
            value, end = DECODER.raw_decode(text, end)
            values.append(value)
    except json.JSONDecodeError as error:
        raise BenchError(f"line {error.lineno}: is no JSON ({error.msg}); correct it") from None
    return values


def unwrap(value: Row) -> list[Any]:
    """Return the rows of an object: under a name such as `results`, as columns, or itself."""
    if {field_of(name) for name in value} & {"question", "answer", "messages"}:
        return rows_of_columns(value) or [value]
    wrappers = [name for name, inner in value.items() if _holds_rows(name, inner)]
    if len(wrappers) > 1:
        raise BenchError(f"holds rows in {' and in '.join(wrappers)}; save each as a file")
    # MLflow's traces keep their steps under `data`: there the object is the row.
    if not wrappers or "info" in value:
        return [value]
    inner = value[wrappers[0]]
    return inner if isinstance(inner, list) else unwrap(inner)  # promptfoo has results in results


def _holds_rows(name: str, inner: Any) -> bool:
    first = inner[0] if isinstance(inner, list) and inner else inner
    return normalize(name) in LISTS["wrappers"] and isinstance(first, dict)


def table_of(source: Any, text_field: str = "question") -> Table:
    """Return the rows of a file, a list, columns, a frame, or what turns itself into one.

    text_field: what a text in a list is. Raises BenchError for a list of anything else.
    """
    if isinstance(source, str | Path):
        return read_table(source)
    if hasattr(source, "to_pandas"):  # Hugging Face, ragas, polars
        source = source.to_pandas()
    if hasattr(source, "iterrows"):
        frame = source.reset_index() if source.index.name else source
        source = frame.astype(object).where(frame.notna(), None).to_dict("records")
    if isinstance(source, Mapping):
        source = rows_of_columns({name: list(column) for name, column in source.items()})
    rows = []
    for item in source:
        row = {text_field: item} if isinstance(item, str) else item
        row = vars(row) if is_dataclass(row) else row
        if not isinstance(row, dict):
            raise BenchError(f"{str(item)[:60]!r} is no row; give dicts: {{{text_field!r}: …}}")
        rows.append(row)
    if not rows:
        raise BenchError("there are no rows; give a list of dicts")
    return Table(rows)


def rows_of_columns(table: Row) -> list[Row]:
    """Return the rows of {"question": [...], "answer": [...]}; none where it is no such table."""
    columns = list(table.values())
    if any(field_of(name) == "messages" for name in table):
        return []
    if not all(isinstance(column, list) for column in columns) or len({*map(len, columns)}) != 1:
        return []
    return [dict(zip(table, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow as pa  # heavy, and few files need it
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        check_columns(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=1000):
            if batch.nbytes > MAX_BYTES:
                raise BenchError(f"a thousand rows hold more than {MAX_BYTES:,} bytes; split them")
            yield from batch.to_pylist(maps_as_pydicts="strict")
    except pa.ArrowException as error:
        raise BenchError(f"is no Parquet file ({error}); write it again") from None


def _workbook_rows(path: Path) -> Iterator[Row]:
    import pandas as pd
    import python_calamine  # few files need it

    check_unpacked(path)
    try:
        # As texts: pandas would read the answer "NA" as missing.
        sheets = pd.read_excel(
            path, sheet_name=None, dtype=str, keep_default_na=False, engine="calamine"
        )
    except (python_calamine.CalamineError, ValueError) as error:
        raise BenchError(f"is no workbook ({error}); save it as CSV") from None
    filled = [name for name, sheet in sheets.items() if len(sheet)]
    if len(filled) > 1:
        raise BenchError(f"has rows on the sheets {', '.join(filled)}; save one of them as CSV")
    for name in filled:
        yield from sheets[name].to_dict("records")


def check_unpacked(path: Path) -> None:
    """Refuse a zip archive, as workbooks and documents are, that unpacks to too many bytes."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > MAX_BYTES:
            raise BenchError(f"unpacks to more than {MAX_BYTES:,} bytes; split it")
