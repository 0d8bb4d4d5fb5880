"""Journals as JSON lines, so that a reader without a key can make a published report again."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from ragbench.core.expectations import expectation
from ragbench.core.folders import whole
from ragbench.core.settings.secrets import Mask, exact_masker, masked
from ragbench.llm.journal import COLUMNS, Entry, Row
from ragbench.llm.reply import MOST_TOKENS
from ragbench.llm.request import key_of

MAX_LINE = 32 * 1024 * 1024
MOST_SIGNS = 4_000_000
"""Brackets, braces, colons and commas of a line: what is made of one takes up to a hundred bytes."""
MOST_COST, MOST_SECONDS = 1e6, 7 * 24 * 3600.0
"""Of one reply."""
_CHECKER = TypeAdapter(Entry)


class JournalFileError(ValueError):
    """A line that is not an entry; the message names file, line and fault."""


def write(path: Path, rows: Iterable[Row]) -> int:
    """Write one line an entry, gzipped if the name ends in .gz; how many. The file is there whole or not at all.

    Secrets are masked; an entry whose request held one gets the key of the request as it is written.
    """
    count, mask = 0, exact_masker()
    with whole(path) as temporary, temporary.open("wb") as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else None
        out: IO[bytes] | gzip.GzipFile = packed or raw
        for row in rows:
            line = json.dumps(_masked(row, mask), ensure_ascii=False, allow_nan=False, sort_keys=True)
            out.write(line.encode() + b"\n")
            count += 1
        if packed is not None:
            packed.close()
    return count


def _masked(row: Row, mask: Mask) -> Row:
    hidden: Row = masked(dict(row), mask)
    if hidden == dict(row):
        return hidden
    identity = {name: hidden[name] for name in ("judge", "endpoint", "model")}
    return {**hidden, "key": key_of(identity, hidden["request"])}


def read(path: Path) -> Iterator[Row]:
    """The entries of a file, each checked: every field of its type, and the key that its request really has.

    Raises JournalFileError; a key that was made up, or a request that was changed, is such a fault.
    """
    if not path.is_file():
        fault = "this is a folder; a file is expected" if path.is_dir() else "there is no such file"
        raise JournalFileError(f"{path}: {fault}")
    with closing(gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as lines:
        number = 0
        while line := _next(lines, f"{path.name}, line {number + 1}"):
            number += 1
            if line.strip():
                yield _entry(line, f"{path.name}, line {number}")


def _next(lines: IO[bytes] | gzip.GzipFile, place: str) -> bytes:
    try:
        return lines.readline(MAX_LINE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise JournalFileError(f"{place}: cannot be read: {error}") from None


def _entry(line: bytes, place: str) -> Row:
    if len(line) > MAX_LINE:
        raise JournalFileError(f"{place}: more than {MAX_LINE} bytes")
    if sum(map(line.count, (b"[", b"{", b":", b","))) > MOST_SIGNS:
        raise JournalFileError(f"{place}: more values than a reply and its question have")
    try:
        fields = json.loads(line, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        raise JournalFileError(f"{place}: not a JSON object") from None
    if not isinstance(fields, dict) or set(fields) != set(COLUMNS):
        raise JournalFileError(f"{place}: an entry has exactly the fields {', '.join(COLUMNS)}")
    try:
        entry: Entry = _CHECKER.validate_json(line, strict=True)
    except ValidationError as error:
        fault = error.errors()[0]
        raise JournalFileError(f"{place}: {'.'.join(map(str, fault['loc']))}: {expectation(fault)}") from None
    counted = (entry.input_tokens, entry.output_tokens)
    if not all(0 <= count <= MOST_TOKENS for count in counted) or not 0 <= entry.cost <= MOST_COST:
        raise JournalFileError(f"{place}: its tokens or its cost are not what a call can take")
    if not 0 <= entry.seconds <= MOST_SECONDS or not all(0 <= n < 2**31 for n in (entry.version, entry.repeat)):
        raise JournalFileError(f"{place}: its seconds, version or repeat are not what a call can have")
    if _holds_null(fields):
        raise JournalFileError(f"{place}: a null character, which no database keeps")
    identity = {"judge": entry.judge, "endpoint": entry.endpoint, "model": entry.model}
    asked = (entry.request.get("prompt"), entry.request.get("version"), entry.request.get("repeat"))
    if key_of(identity, entry.request) != entry.key or asked != (entry.prompt, entry.version, entry.repeat):
        raise JournalFileError(f"{place}: the key is not that of the request")
    return entry.as_row()


def _refused(name: str) -> float:
    raise ValueError(name)


def _finite(digits: str) -> float:
    return value if math.isfinite(value := float(digits)) else _refused(digits)


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, (*value, *value.values())))
    return any(map(_holds_null, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value
