"""The records of a file, one at a time: JSON Lines, JSON arrays of any length, objects one after the other, tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragbench.datasets.files import DatasetError, require_file, text_blocks, text_lines
from ragbench.datasets.rows import read_rows
from ragbench.expectations import kind

TABLES = (".csv", ".tsv", ".parquet")
LINES = (".jsonl", ".ndjson")
WRAPPERS = ("data", "traces", "runs", "spans", "examples", "observations", "scores", "goldens", "testCases",
            "test_cases", "samples", "documents")  # fmt: skip
"""Names under which an object that is no record itself holds a list of records."""
STREAMED = ("resourceSpans", "resource_spans")
"""Names of a list whose elements are records only with the name."""
MAX_ELEMENT = 96 * 2**20
"""Characters of one record."""
NEAR_THE_END = 16
"""Characters: a fault so close to the end of what was read may be none once more is read."""

Record = dict[str, Any]


@dataclass
class LeftOut:
    """What was passed over: how often for each reason, and where first."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, place: str = "") -> None:
        """One more for this reason, at this place."""
        self.counts[reason] += 1
        self.first.setdefault(reason, place)

    @property
    def told(self) -> Counter[str]:
        """The counts by reason, each reason with the place where it was met first."""
        return Counter(
            {f"{why} (first: {self.first[why]})" if self.first[why] else why: n for why, n in self.counts.items()}
        )


def records(path: Path, left_out: LeftOut) -> Iterator[tuple[str, Record]]:
    """(place, record) of each record of a file, plain or gzipped; NaN and infinities of JSON are None.

    Of JSON Lines a line that cannot be read is left out and counted; elements that are no objects are, too. Nothing is
    held but the record that is being read. Raises DatasetError with file and line for JSON that is broken elsewhere.
    """
    require_file(path)
    endings = [ending.lower() for ending in path.suffixes]
    if any(ending in TABLES for ending in endings):
        found: Iterator[tuple[str, Any]] = read_rows(path)
    elif any(ending in LINES for ending in endings) or _is_of_lines(path):
        found = _lines(path, left_out)
    else:
        found = _Elements(path).read()
    empty = True
    for place, value in found:
        empty = False
        for number, record in enumerate(_unwrapped(value), 1):
            if isinstance(record, dict):
                yield place, record
            else:
                where = place if record is value else f"{place}, item {number}"
                left_out.add(f"{kind(record)} where an object is expected", where)
    if empty and not left_out.counts:
        raise DatasetError(f"{path.name}: holds no records; at least one is expected")


def _unwrapped(value: Any) -> Iterator[Any]:
    """The records in an object that holds a list of them and is none itself; else the value."""
    if isinstance(value, dict) and not value.keys() & {"id", "name", "info", "page_content", "user_input", "input"}:
        for name in WRAPPERS:
            if isinstance(inner := value.get(name), list):
                yield from inner
                return
    yield value


def _is_of_lines(path: Path) -> bool:
    """Whether the first line that is not blank is an object by itself."""
    start = next((text.lstrip() for text in text_blocks(path, 2**12) if text.strip()), "")
    if not start.startswith("{"):
        return False
    for _, text in text_lines(path):
        if text is None:
            return False
        if text:
            try:
                return isinstance(_decoder().decode(text), dict)
            except (ValueError, RecursionError):
                return False
    return False


def _lines(path: Path, left_out: LeftOut) -> Iterator[tuple[str, Any]]:
    decode = _decoder().decode
    for number, text in text_lines(path):
        place = f"{path.name}, line {number}"
        if text is None:
            left_out.add("line that is too long", place)
        elif text:
            try:
                value = decode(text)
            except RecursionError:
                left_out.add("record that is nested too deeply", place)
            except ValueError:
                left_out.add("line that is not JSON", place)
            else:
                yield place, value


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_nothing)


def _nothing(_: str) -> None:
    """What NaN and the infinities are taken for."""


class _Elements:
    """Reads JSON values as far as they are needed: top-level values, and the elements of their lists of records."""

    def __init__(self, path: Path) -> None:
        self.name, self._blocks, self._decode = path.name, text_blocks(path), _decoder().raw_decode
        self._text, self._at, self._ended = "", 0, False
        self._line, self._counted = 1, 0

    def read(self) -> Iterator[tuple[str, Any]]:
        """(place, value) of each element."""
        while sign := self._next():
            if sign == "[":
                yield from self._list()
            elif sign == "{":
                yield from self._object()
            else:
                yield self._value()
            if self._next() == ",":  # between objects that somebody joined
                self._at += 1

    def _list(self, name: str = "") -> Iterator[tuple[str, Any]]:
        for _ in self._items("]"):
            place, value = self._value()
            yield place, {name: [value]} if name else value

    def _object(self) -> Iterator[tuple[str, Any]]:
        """The elements of the lists of records of an object; the object itself where it holds none."""
        held: dict[str, Any] = {}
        place, streamed = self._place(), False
        for _ in self._items("}"):
            name = self._value()[1]
            if not isinstance(name, str) or self._next() != ":":
                raise self._fault("not JSON: a name and a colon are expected")
            self._at += 1
            if self._next() == "[" and name in (*STREAMED, *WRAPPERS) and not held.keys() & {"id", "info"}:
                streamed = True
                yield from self._list(name if name in STREAMED else "")
            else:
                held[name] = self._value()[1]
        if not streamed:
            yield place, held

    def _items(self, closing: str) -> Iterator[None]:
        """Stops before each item up to the closing sign."""
        self._at += 1
        if self._next() != closing:
            while True:
                yield
                sign = self._next()
                if sign != ",":
                    break
                self._at += 1
            if sign != closing:
                raise self._fault(
                    f"not JSON: a comma or {closing} is expected" if sign else "the file ends within a list"
                )
        self._at += 1

    def _next(self) -> str:
        """The next sign that is no blank, not consumed; empty at the end of the file."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in " \t\r\n":
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _value(self) -> tuple[str, Any]:
        """The place and the value that begins at the next sign."""
        self._next()
        place, wanted = self._place(), 1
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except RecursionError:
                raise self._fault("nested too deeply") from None
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._text) - NEAR_THE_END or error.msg.startswith("Unterminated")
                if not cut or self._ended:
                    self._at = error.pos
                    raise self._fault(f"not JSON: {error.msg}") from None
            except ValueError as error:
                raise self._fault(str(error)) from None
            else:
                if self._ended or end < len(self._text) or not isinstance(value, int | float):
                    self._at = end
                    return place, value  # a number that ends with the block may go on in the next
            if len(self._text) - self._at > MAX_ELEMENT:
                raise self._fault(f"a record of more than {MAX_ELEMENT:,} characters")
            for _ in range(wanted):
                self._more()
            wanted *= 2

    def _more(self) -> bool:
        """Another block, what lies before this place forgotten; False at the end of the file."""
        self._place()
        block = next(self._blocks, "")
        self._text, self._at, self._counted = self._text[self._at :] + block, 0, 0
        self._ended = not block
        return bool(block)

    def _place(self) -> str:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return f"{self.name}, line {self._line}"

    def _fault(self, what: str) -> DatasetError:
        return DatasetError(f"{self._place()}: {what}")
