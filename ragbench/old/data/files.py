"""Reading files that others wrote: text in any usual wrapping, with limits on what one file may ask for.

Memory is limited where something is held, never where rows go by. What goes by is limited by its number alone, so that
a small packed file cannot fill a disk.
"""

from __future__ import annotations

import ast
import bz2
import codecs
import gzip
import io
import itertools
import json
import lzma
import re
import signal
import subprocess
import sys
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, cast

from ragbench.old.core import settings
from ragbench.old.core.expectations import kind, shown
from ragbench.old.core.names import meant
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.data.encodings import UTF_8, UnknownEncodingError, encoding_of

BLOCK_BYTES = 2**20
"""Of a file that goes by, read at once."""
MAX_BYTES = 96 * 2**20
"""Of a file that is held as a whole, unpacked: its text, its values and their copies stay below a gigabyte."""
MAX_WEIGHT = 2**29
"""Of one JSON text, as objects: `{},` takes three bytes of it and a hundred of memory."""
MAX_LINE_BYTES = 2**24
"""Of one line or cell, held while it is read."""
MAX_ELEMENT = 96 * 2**20
"""Characters of one element of a JSON list, held while it is read."""
MAX_PRINTED = 2**20
"""Letters of one line that is read as Python prints an object: its tree takes some hundred times as much memory."""
MAX_COLUMNS = 10_000
"""Of a table or an object of JSON: each name is held against all that a field may be called."""
MAX_ROWS = 1_000_000
"""Of the rows of a file that are held together: as objects, a row takes up to 600 bytes beside its texts."""
MAX_WEIGHT_OF_ROWS = 3 * 2**28
"""Of the same rows, in bytes of memory."""
MAX_STREAMED_ROWS = 20_000_000
"""Of the rows of a file that go by one after the other, on their way to the disk."""
MAX_STREAMED_BYTES = 2**36
"""Of the same rows, unpacked: what a few kilobytes of gzip or Parquet may stand for."""
MAX_DECODED_BYTES = 2**29
"""Of a Parquet file whose rows are held: a few kilobytes of a repeated text may stand for more than any memory."""
BATCH_ROWS, BATCH_BYTES = 256, 2**26
"""Of a Parquet file that are decoded at once: so many rows, and fewer where each may repeat a long text."""
OBJECT_BYTES, LIST_BYTES, FIELD_BYTES, VALUE_BYTES = 150, 72, 100, 56
"""That an object, a list, the field of an object, and any other value take at most, beside their letters."""
LATEST = 253_402_300_800
"""Seconds since 1970 of the end of the year 9999, after which no calendar here has a moment."""


_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""How a packed file begins."""
PACKINGS = ("", ".gz", ".bz2", ".xz", ".zst", ".zip")
"""Endings of packed files."""
OF_OFFICE = {"[Content_Types].xml", "mimetype"}
"""What a zip holds that is a workbook or a document."""
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class DatasetError(ValueError):
    """A file, an item or a field is not what a data set may hold; the message names all three."""


class TooMuchError(DatasetError):
    """More rows than memory takes, for a reader that holds them all."""


@dataclass
class LeftOut:
    """What was passed over: how often for each reason, and where first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, place: str = "", number: int = 1) -> None:
        """One more for this reason, or as many, at this place."""
        self.counts[reason] += number
        self.first.setdefault(reason, place)

    def fault(self, error: Exception, place: str) -> None:
        """One more row that an error says cannot be used: equal faults are counted together, whatever the value."""
        said = str(error).removeprefix(place).lstrip(",: ")
        what, equals, rest = said.partition(" = ")
        value, colon, why = rest.rpartition(": ")
        if equals and colon:
            self.add(f"row with {re.sub(r'.[0-9]+.?$', '', what)}: {why}", f"{place}, {what} = {value}")
        else:
            self.add(f"row with {said}", place)

    def join(self, others: LeftOut) -> None:
        """What was passed over elsewhere, too."""
        for reason, number in others.counts.items():
            self.add(reason, others.first[reason], number)

    @property
    def said(self) -> str:
        """All of it in a sentence; empty where nothing was passed over."""
        return "; ".join(f"{number:,} × {why}" for why, number in self.told.items())

    @property
    def told(self) -> Counter[str]:
        """The counts by reason, each reason with the place where it was met first."""
        return Counter(
            {f"{why} (first: {self.first[why]})" if self.first[why] else why: n for why, n in self.counts.items()}
        )


def read_text(path: Path, *, limit: int = MAX_BYTES) -> str:
    """The whole text of a plain or packed file, without byte-order mark, in NFC, with LF line ends.

    The encoding is found out: see `encodings`. Raises DatasetError for a missing or damaged file, one that unpacks to
    more than `limit` bytes, or an encoding that nothing tells for sure.
    """
    return "".join(text_blocks(path, limit=limit))


def read_lines(
    path: Path, *, held: bool = True, left_out: LeftOut | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, plain or packed, each with its line number from 1; blank lines are skipped.

    held: who reads them keeps them all, so that they must fit into memory together. left_out: what is no JSON object
    is counted there, and NaN is None; without it anything else raises DatasetError with file and line.
    """
    load = Load(path, "lines", held=held)
    for number, text in text_lines(path):
        place = f"{path.name}, line {number}"
        load.add(weight(text or "") if held else len(text or ""))
        try:
            if text is None:
                raise DatasetError(f"{place}: longer than {MAX_LINE_BYTES:,} characters")
            if not text.strip():
                continue
            item = parse_json(text, place, STRICT if left_out is None else LENIENT)
            if not isinstance(item, dict):
                raise DatasetError(f"{place}: {kind(item)} where an object is expected")
        except DatasetError as error:
            if left_out is None:
                raise
            said = str(error).removeprefix(f"{place}: ")
            told = said if said.endswith("is expected") else f"line with: {said}"
            left_out.add(next((why for start, why in _WHY.items() if said.startswith(start)), told), place)
        else:
            yield number, item


_WHY = {
    "longer": "line that is too long",
    "nested": "record that is nested too deeply",
    "not JSON": "line that is not JSON",
    "Exceeds": "line that is not JSON",
    "a list": 'a list where an object is expected: name its parts, {"question": …, "answer": …}',
}
"""How what is said of a line begins, and the same in words that do not differ from line to line."""


def first_sign(path: Path) -> str:
    """The first sign of a text, unpacked, that is not blank; empty where there is none."""
    return next((text.lstrip() for text in text_blocks(path, 2**12) if text.strip()), "")[:1]


def text_lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """The lines of a plain or packed file with their numbers from 1, without their ends; None for one of more than
    MAX_LINE_BYTES characters, which is passed over. Raises DatasetError for what cannot be read."""
    rest, is_long, numbers = "", False, itertools.count(1)
    for block in text_blocks(path):
        *whole, rest = (rest + block).split("\n")
        for line in whole:
            if not is_long:
                yield next(numbers), None if len(line) > MAX_LINE_BYTES else line
            is_long = False
        if len(rest) > MAX_LINE_BYTES:
            if not is_long:
                yield next(numbers), None
            rest, is_long = "", True
    if rest and not is_long:
        yield next(numbers), rest


def text_blocks(path: Path, size: int | None = None, limit: int | None = None) -> Iterator[str]:
    """The text of a plain or packed file in blocks of about `size` bytes (None: BLOCK_BYTES), without byte-order mark,
    in NFC, with LF line ends.

    Raises DatasetError for what cannot be read, for a byte that is not of the file's encoding, for more than `limit`
    bytes, and for more blanks in a row than a text that is held may have letters: nobody who counts rows would see
    their end.
    """
    encoding = _encoding(path)
    decoder = codecs.getincrementaldecoder(encoding)()
    ends = io.IncrementalNewlineDecoder(decoder, translate=True)
    line, known, blanks, rest = 1, 0, 0, ""
    with unpacked(path) as stream:
        while True:
            try:
                raw = stream.read(size or BLOCK_BYTES)
            except DAMAGED as error:
                raise DatasetError(f"{path.name}, line {line}: cannot be read: {error}") from None
            begun = known - len(decoder.getstate()[0])
            known += len(raw)
            if limit is not None and known > limit:
                raise DatasetError(
                    f"{path.name}: more than {limit:,} bytes once unpacked; split it, or write it as JSON Lines, "
                    "which is read line by line"
                )
            try:
                text = ends.decode(raw, final=not raw)
            except UnicodeError as error:  # some encodings know no places
                start = getattr(error, "start", None)
                line += getattr(error, "object", b"")[:start].count(b"\n")
                name = "UTF-8" if encoding == UTF_8 else encoding
                what = f"not {name}: {error}" if start is None else f"byte {begun + start} is not {name}"
                raise DatasetError(f"{path.name}, line {line}: {what}; save the file as UTF-8 and try again") from None
            blanks = blanks + len(text) if not text or text.isspace() else 0
            if blanks > MAX_BYTES:
                raise DatasetError(f"{path.name}: more than {MAX_BYTES:,} blanks in a row once unpacked")
            line += text.count("\n")
            text = rest + (text.removeprefix("\ufeff") if known == len(raw) else text)
            # nothing before the last letter of ASCII is joined to what follows it
            end = next((n for n in range(len(text) - 1, 0, -1) if text[n].isascii()), 0) if raw else len(text)
            text, rest = text[:end], text[end:]
            if text:
                yield unicodedata.normalize("NFC", text)
            if not raw:
                return


@dataclass
class Load:
    """How many rows of a file were read, and how much memory they take with who keeps them (held), else letters.

    most_bytes: of what was decoded, where that is what is counted.
    """

    path: Path
    rows: str
    held: bool = True
    most_bytes: int = 0
    number: int = 0
    bytes: int = 0

    def add(self, weighed: int, number: int = 1) -> None:
        """More rows of so many bytes. Raises DatasetError where they are too many, or too much."""
        self.number += number
        self.bytes += weighed
        most = MAX_ROWS if self.held else MAX_STREAMED_ROWS
        if self.number > most:
            raise TooMuchError(f"{self.path.name}: more than {most:,} {self.rows}; split it into smaller data sets")
        if self.most_bytes and self.bytes > self.most_bytes:
            raise DatasetError(f"{self.path.name}: more than {self.most_bytes:,} bytes once decoded; split it")
        if self.held and self.bytes > MAX_WEIGHT_OF_ROWS:
            raise TooMuchError(
                f"{self.path.name}: its rows may take more than {MAX_WEIGHT_OF_ROWS:,} bytes of memory; split it into "
                "smaller data sets"
            )
        if self.bytes > MAX_STREAMED_BYTES:
            raise DatasetError(f"{self.path.name}: more than {MAX_STREAMED_BYTES:,} letters once unpacked; split it")


def parse_json(text: str, place: str, decoder: json.JSONDecoder | None = None) -> Any:
    """The JSON value of `text`; by STRICT, which refuses NaN, infinities and repeated keys."""
    if not text.strip():
        raise DatasetError(f"{place}: an empty file; JSON is expected")
    if len(text) > MAX_WEIGHT // OBJECT_BYTES and weight(text) > MAX_WEIGHT:
        raise DatasetError(
            f"{place}: may take more than {MAX_WEIGHT:,} bytes of memory; split it, or write it as JSON Lines"
        )
    try:
        value = (decoder or STRICT).decode(text)
        if "\\u" in text and _ESCAPED_HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise DatasetError(f"{place}: a text holds half of a character (the lone surrogate {half})") from None
    except RecursionError:
        raise DatasetError(f"{place}: nested too deeply") from None
    except json.JSONDecodeError as error:
        if text.startswith("{'") and len(text) <= MAX_PRINTED:
            with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
                return ast.literal_eval(text)  # as Python prints a row
        raise DatasetError(f"{place}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise DatasetError(f"{place}: {error}") from None


def weight(text: str) -> int:
    """Bytes that the values of a JSON text take in memory, at most about; told from its signs alone."""
    letters = 4 * len(text) if "\\u" in text else sys.getsizeof(text)  # one wide letter makes its whole text wide
    structure = OBJECT_BYTES * text.count("{") + LIST_BYTES * text.count("[") + FIELD_BYTES * text.count(":")
    return letters + structure + VALUE_BYTES * text.count(",")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a plain or packed file with LF. Raises DatasetError as `text_lines`, and for a long line."""
    for number, line in text_lines(path):
        if line is None:
            raise DatasetError(f"{path.name}, line {number}: longer than {MAX_LINE_BYTES:,} characters")
        yield f"{line}\n"


def normalise(text: str) -> str:
    """Unicode NFC with LF line ends."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def head(path: Path, most: int) -> bytes:
    """The first bytes of a file, as they are. Raises DatasetError where no file is, or nobody may read it."""
    try:
        if path.is_dir():
            raise DatasetError(f"{path}: this is a folder; a file is expected")
        if not path.is_file():
            raise DatasetError(f"{path}: there is no such file{meant_beside(path)}")
        with path.open("rb") as file:
            return file.read(most)
    except PermissionError:
        raise DatasetError(f"{path}: you may not read it; give yourself the right (chmod u+r), or a copy") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}") from None


def member(path: Path) -> str:
    """The name of the only file that a zip holds; empty where the file is none, or a workbook or a document.

    Raises DatasetError for a zip with several files, naming them, or without any.
    """
    if head(path, 4) != b"PK\x03\x04":
        return ""
    try:
        with zipfile.ZipFile(path) as packed:
            inside = packed.namelist()
    except zipfile.BadZipFile as error:
        raise DatasetError(f"{path.name}: cannot be read: {error}") from None
    names = [name for name in inside if not re.search(r"/$|(^|/)(\.|__MACOSX/)", name)]
    if len(names) != 1 and OF_OFFICE.isdisjoint(names):
        raise DatasetError(
            f"{path.name}: a zip of one file is expected, found {cut_list(names) if names else 'none'}; unpack it"
        )
    return "" if OF_OFFICE.intersection(names) else names[0]


def unpacked(path: Path) -> io.BufferedIOBase:
    """The bytes of a plain or packed file. Raises DatasetError where no file is, or nobody may read it."""
    start, inner = head(path, 6), member(path)
    packing = "zip" if inner else next((name for magic, name in PACKED.items() if start.startswith(magic)), "")
    try:
        if packing == "zip":
            return cast(io.BufferedIOBase, zipfile.ZipFile(path).open(inner))
        if packing == "zstd":
            import pyarrow

            return io.BufferedReader(cast(io.RawIOBase, pyarrow.CompressedInputStream(str(path), "zstd")))
        opened: dict[str, Any] = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
        return cast(io.BufferedIOBase, opened[packing](path, "rb") if packing else path.open("rb"))
    except (OSError, RuntimeError) as error:  # the latter of a zip with a password, or of a packing that Python lacks
        raise DatasetError(f"{path}: cannot be read: {error}; unpack it") from None


def _encoding(path: Path) -> str:
    with unpacked(path) as stream:
        try:
            blocks = iter(lambda: stream.read(BLOCK_BYTES), b"")
            probed = itertools.islice(blocks, MAX_BYTES // BLOCK_BYTES)  # what is packed may have no end
            return encoding_of(probed, lambda: settings.load().encoding)
        except UnknownEncodingError as error:
            raise DatasetError(f"{path.name}: {error}") from None
        except DAMAGED as error:
            raise DatasetError(f"{path.name}: cannot be read: {error}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return mapping


STRICT = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
"""Refuses NaN, infinities and repeated keys."""
LENIENT = json.JSONDecoder(parse_constant=lambda _: None)
"""Takes NaN and infinities for nothing."""


def require_narrow(columns: Sized, place: str) -> None:
    """Raises DatasetError for a row of too many columns."""
    if len(columns) > MAX_COLUMNS:
        raise DatasetError(f"{place}: more than {MAX_COLUMNS:,} columns; split it")


def empty_table(path: Path) -> DatasetError:
    """What is said of a table without a line."""
    return DatasetError(f"{path.name}: an empty file; a header line and at least one row are expected")


SHOWN_CHARACTERS = 60  # with the rest of its sentence two lines of a terminal
SHOWN_NAMES = 12  # columns of a usual table


def cut(value: Any) -> str:
    """A value as an error shows it: on one line, not longer than a few words."""
    return excerpt(shown(value), SHOWN_CHARACTERS)


def meant_beside(path: Path) -> str:
    """A question whether a file of the same folder was meant; empty where none has a near name."""
    there: list[str] = []
    with suppress(OSError, ValueError):  # no folder, or no path at all
        there += (own.name for own in path.parent.iterdir())
    return meant(path.name, there)


def cut_list(names: Iterable[str]) -> str:
    """Names of fields as an error shows them: the first ones, and how many more there are."""
    named = [cut(name)[1:-1] for name in names]
    more = f" and {len(named) - SHOWN_NAMES} more" if len(named) > SHOWN_NAMES else ""
    return ", ".join(named[:SHOWN_NAMES]) + more if named else "no field"


def parquet_rows(path: Path, *, held: bool = True) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as they are. held: as for `read_rows`.

    Raises DatasetError for what cannot be read, and for too much: by what the file says of itself, before anything is
    decoded, and by what was decoded, before it becomes objects.
    """
    for batch in _batches(path, Load(path, "rows", held, MAX_DECODED_BYTES if held else MAX_STREAMED_BYTES)):
        yield from batch.to_pylist()


def look_at_parquet(paths: Sequence[Path], most_bytes: int) -> None:
    """Raises DatasetError for files that cannot be read, or that hold too much together; nothing of them is held."""
    load = Load(Path("its tables"), "rows", False, most_bytes)
    for path in paths:
        for _ in _batches(path, load):
            pass


def _batches(path: Path, load: Load) -> Iterator[Any]:
    """The file's rows, a few at a time: a text that is kept once may stand a million times for a few bits."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            about = file.metadata
            groups = [about.row_group(n) for n in range(about.num_row_groups)]
            chunks = [group.column(n) for group in groups for n in range(group.num_columns)]
            sizes = [VALUE_BYTES * chunk.num_values + chunk.total_uncompressed_size for chunk in chunks]
            replace(load).add(sum(sizes), about.num_rows)
            longest = max([1, *(chunk.total_uncompressed_size for chunk in chunks)])
            for batch in file.iter_batches(max(1, min(BATCH_ROWS, BATCH_BYTES // longest)), use_threads=False):
                load.add(sum(map(_weight, batch.columns)), batch.num_rows)
                yield batch
    except DatasetError:
        raise
    except Exception as error:  # of several libraries, each with its own
        raise DatasetError(f"{path.name}: cannot be read: {excerpt(error, 300)}") from None


def _weight(column: Any) -> int:
    """Bytes that a column's values take as objects, at most about; a dictionary's are counted each time they stand."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind, own = column.type, VALUE_BYTES * len(column)
    if pa.types.is_nested(kind):
        return own + sum(map(_weight, column.flatten() if pa.types.is_struct(kind) else [column.flatten()]))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        letters, size = (int(compute.sum(f(column)).as_py() or 0) for f in (compute.utf8_length, compute.binary_length))
        return own + (size if letters == size else 4 * letters)
    return own + int(column.nbytes)


SECONDS = 300
"""Of computing that a reader in a process of its own takes for one file."""
_APART = """
import base64, functools, io, itertools, json, resource, sys

def pdf(content):
    from pdfminer.high_level import extract_text
    yield extract_text(io.BytesIO(base64.b64decode(content)))

@functools.cache
def sheets(path):
    import python_calamine
    book = python_calamine.load_workbook(path)
    return {name: book.get_sheet_by_name(name) for name in book.sheet_names}

def workbook(path, names, most):
    for name in names or sheets(path):
        rows = ((name, *row) for row in enumerate(sheets(path)[name].iter_rows(), 1) if any(c != "" for c in row[1]))
        yield from itertools.islice(rows, most or None)

size, seconds, most = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for line in sys.stdin:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + 1 + seconds, hard))
    reader, *given = json.loads(line)
    why = ""
    try:
        for row in globals()[reader](*given):
            if len(row) > most:
                raise ValueError(f"a text of more than {most:,} characters; split it")
            print(json.dumps([row], default=lambda moment: moment.isoformat()))
    except MemoryError:
        sys.exit(1)
    except Exception as error:
        why = str(error) or type(error).__name__
        why = "a password protects it; save it without one" if "Password" in type(error).__name__ else why
    print(json.dumps(why), flush=True)
"""


class Apart:
    """Reads files in a process of its own, one after the other, within SECONDS and so many bytes of memory: a few bytes
    of a file may stand for gigabytes, and a library that has no room ends the process that it is in.

    The process ends with this one, when nothing more can come, or by `close`.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._program: subprocess.Popen[bytes] | None = None

    def read(self, reader: str, *given: Any) -> Iterator[Any]:
        """What `pdf` (its text) or `workbook` (rows: sheet, number from 1, cells) gives. Raises ValueError."""
        if self._program is None or self._program.poll() is not None:
            command = [sys.executable, "-P", "-c", _APART, *map(str, (self.size, SECONDS, MAX_BYTES))]
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            self._program = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True)  # noqa: S603
        asked, said = cast(IO[bytes], self._program.stdin), cast(IO[bytes], self._program.stdout)
        try:
            asked.write(json.dumps([reader, *given]).encode() + b"\n")
            asked.flush()
            for line in said:
                if isinstance(answer := json.loads(line), str):
                    break
                yield answer[0]
            else:
                is_slow = self._program.wait() == -signal.SIGXCPU
                too_much = f"{SECONDS} seconds to read" if is_slow else f"{self.size:,} bytes of memory"
                answer = f"would take more than {too_much}; split it"
        except BaseException:  # half of an answer would be taken for the next one's
            self.close()
            raise
        if answer:
            raise ValueError(answer)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._program is not None:
            self._program.kill()
            self._program.communicate()
