"""Reading files that others wrote: text in any usual wrapping, with limits on what one file may ask for."""

from __future__ import annotations

import codecs
import gzip
import io
import itertools
import json
import re
import sys
import unicodedata
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench import settings
from ragbench.datasets.encodings import PROBED_BYTES, UTF_8, UnknownEncodingError, encoding_of
from ragbench.expectations import kind

MAX_BYTES = 96 * 2**20
"""Of a file that is read as a whole, unpacked: its text, its values and their copies stay below a gigabyte."""
MAX_WEIGHT = 2**29
"""Of one JSON text, as objects: `{},` takes three bytes of it and a hundred of memory."""
MAX_WEIGHT_OF_ROWS = 3 * 2**28
"""Of the rows of one file that is read row by row: who reads it may keep them all."""
OBJECT_BYTES, LIST_BYTES, FIELD_BYTES, VALUE_BYTES = 150, 72, 100, 56
"""That an object, a list, the field of an object, and any other value take at most, beside their letters."""
MAX_LINE_BYTES = 2**24
MAX_ROWS = 1_000_000
"""Of one file: as objects, a row takes up to 600 bytes beside its texts."""
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
GZIP_MAGIC = b"\x1f\x8b"


class DatasetError(ValueError):
    """A file, an item or a field is not what a data set may hold; the message names all three."""


def read_text(path: Path, *, limit: int = MAX_BYTES) -> str:
    """The whole text of a plain or gzipped file, without byte-order mark, in NFC, with LF line ends.

    The encoding is found out: see `encodings`. Raises DatasetError for a missing or damaged file, one that unpacks to
    more than `limit` bytes, or an encoding that nothing tells for sure.
    """
    encoding = _encoding(path)
    with _open(path) as stream:
        try:
            raw = stream.read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DatasetError(f"{path.name}: cannot be read: {error}") from None
    if len(raw) > limit:
        raise DatasetError(
            f"{path.name}: more than {limit:,} bytes once unpacked; split it, or write it as JSON Lines, "
            "which is read line by line"
        )
    return normalise(_decode(raw, path.name, encoding))


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file, plain or gzipped, each with its line number from 1; blank lines are skipped.

    Lines are streamed (of UTF-16 and its like the whole file is read first). Raises DatasetError with file and line
    for anything that is not a JSON object.
    """
    weighed = 0
    for number, text in text_lines(path):
        place = f"{path.name}, line {number}"
        if text is None:
            raise DatasetError(f"{place}: longer than {MAX_LINE_BYTES:,} bytes")
        if number > MAX_ROWS:
            raise DatasetError(f"{path.name}: more than {MAX_ROWS:,} lines; split it into smaller data sets")
        weighed += weight(text)
        if weighed > MAX_WEIGHT_OF_ROWS:
            raise too_heavy(path)
        if text:
            item = parse_json(text, place)
            if not isinstance(item, dict):
                raise DatasetError(f"{place}: a JSON object is expected, found {kind(item)}")
            yield number, item


def text_lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """The lines of a plain or gzipped file with their numbers from 1, stripped; None for one of more than
    MAX_LINE_BYTES, which is passed over.

    Lines are streamed (of UTF-16 and its like the whole file is read first). Raises DatasetError with file and line
    for what cannot be read.
    """
    encoding = _encoding(path)
    wide = encoding != UTF_8 and "\n{".encode(encoding) != b"\n{"
    with io.BytesIO(read_text(path).encode()) if wide else _open(path) as stream:
        number = 0
        while True:
            place = f"{path.name}, line {number + 1}"
            raw = _line(stream, place)
            if not raw:
                return
            number += 1
            whole = len(raw) <= MAX_LINE_BYTES
            yield number, _decode(raw, place, UTF_8 if wide else encoding).strip() if whole else None
            while not whole and raw and not raw.endswith(b"\n"):
                raw = _line(stream, place)


def text_blocks(path: Path, size: int = 2**20) -> Iterator[str]:
    """The text of a plain or gzipped file in blocks of about `size` bytes, without byte-order mark.

    Raises DatasetError for what cannot be read, and for a byte that is not of the file's encoding.
    """
    encoding = _encoding(path)
    decoder = codecs.getincrementaldecoder(encoding)()
    with _open(path) as stream:
        first = True
        while True:
            try:
                raw = stream.read(size)
                text = decoder.decode(raw, final=not raw)
            except (OSError, EOFError, zlib.error) as error:
                raise DatasetError(f"{path.name}: cannot be read: {error}") from None
            except UnicodeError as error:
                raise DatasetError(f"{path.name}: not {encoding}: {error}; save the file as UTF-8") from None
            if text:
                yield text.removeprefix("\ufeff") if first else text
                first = False
            if not raw:
                return


def _line(stream: io.BufferedIOBase, place: str) -> bytes:
    try:
        return stream.readline(MAX_LINE_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{place}: cannot be read: {error}") from None


def too_heavy(path: Path) -> DatasetError:
    """What is said of a file whose rows take too much memory together."""
    return DatasetError(
        f"{path.name}: its rows may take more than {MAX_WEIGHT_OF_ROWS:,} bytes of memory; split it into smaller data "
        "sets"
    )


def require_file(path: Path) -> None:
    """Raises DatasetError for a path where no file is, and says so where a folder is."""
    if path.is_dir():
        raise DatasetError(f"{path}: this is a folder; a file is expected")
    if not path.is_file():
        raise DatasetError(f"{path}: there is no such file")


def parse_json(text: str, place: str) -> Any:
    """The JSON value of `text`, its strings in NFC; NaN, infinities and repeated keys are refused."""
    if not text.strip():
        raise DatasetError(f"{place}: an empty file; JSON is expected")
    if len(text) > MAX_WEIGHT // OBJECT_BYTES and weight(text) > MAX_WEIGHT:
        raise DatasetError(
            f"{place}: may take more than {MAX_WEIGHT:,} bytes of memory; split it, or write it as JSON Lines"
        )
    try:
        value = json.loads(normalise(text), parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
        if _ESCAPED_HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise DatasetError(f"{place}: a text holds half of a character (the lone surrogate {half})") from None
    except RecursionError:
        raise DatasetError(f"{place}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise DatasetError(f"{place}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise DatasetError(f"{place}: {error}") from None


def weight(text: str) -> int:
    """Bytes that the values of a JSON text take in memory, at most about; told from its signs alone."""
    letters = 4 * len(text) if "\\u" in text else sys.getsizeof(text)  # one wide letter makes its whole text wide
    structure = OBJECT_BYTES * text.count("{") + LIST_BYTES * text.count("[") + FIELD_BYTES * text.count(":")
    return letters + structure + VALUE_BYTES * text.count(",")


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one at a time; an `io.StringIO` would take four bytes for every letter."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def normalise(text: str) -> str:
    """Unicode NFC with LF line ends."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))


def _open(path: Path) -> io.BufferedIOBase:
    require_file(path)
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == GZIP_MAGIC
        return gzip.open(path, "rb") if packed else path.open("rb")
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}") from None


def _encoding(path: Path) -> str:
    with _open(path) as stream:
        try:
            blocks = iter(lambda: stream.read(PROBED_BYTES), b"")
            probed = itertools.islice(blocks, MAX_BYTES // PROBED_BYTES)  # what is packed may have no end
            return encoding_of(probed, lambda: settings.load().encoding)
        except UnknownEncodingError as error:
            raise DatasetError(f"{path.name}: {error}") from None
        except (OSError, EOFError, zlib.error) as error:
            raise DatasetError(f"{path.name}: cannot be read: {error}") from None


def _decode(raw: bytes, place: str, encoding: str) -> str:
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == UTF_8 else encoding
        raise DatasetError(f"{place}: byte {error.start} is not {name}; save the file as UTF-8 and try again") from None
    except UnicodeError as error:  # of an encoding that knows no places
        raise DatasetError(f"{place}: not {encoding}: {error}; save the file as UTF-8 and try again") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found
