"""The records of a file, one at a time: JSON Lines, JSON arrays of any length, objects one after the other, tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragbench.core.expectations import kind
from ragbench.data.files import DatasetError, require_file, text_blocks, text_lines
from ragbench.data.json_values import Values
from ragbench.data.rows import read_rows

TABLES = (".csv", ".tsv", ".parquet")
LINES = (".jsonl", ".ndjson")
WRAPPERS = ("data", "traces", "runs", "spans", "examples", "observations", "scores", "goldens", "testCases",
            "test_cases", "samples", "documents")  # fmt: skip
"""Names under which an object that is no record itself holds a list of records."""
STREAMED = ("resourceSpans", "resource_spans")
"""Names of a list whose elements are records only with the name."""

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
        found: Iterator[tuple[str, Any]] = read_rows(path, held=False)
    elif any(ending in LINES for ending in endings) or _is_of_lines(path):
        found = _lines(path, left_out)
    else:
        found = _records(Values(path, text_blocks(path), _decoder()))
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


def _records(values: Values) -> Iterator[tuple[str, Any]]:
    """(place, value) of the top-level values, and of the elements of their lists of records."""
    while sign := values.next():
        if sign == "[":
            yield from values.list()
        elif sign == "{":
            yield from _of_object(values)
        else:
            yield values.value()
        if values.next() == ",":  # between objects that somebody joined
            values.skip()


def _of_object(values: Values) -> Iterator[tuple[str, Any]]:
    """The elements of the lists of records of an object; the object itself where it holds none."""
    held: dict[str, Any] = {}
    place, streamed = values.place(), False
    for _ in values.items("}"):
        name = values.value()[1]
        if not isinstance(name, str) or values.next() != ":":
            raise values.fault("not JSON: a name and a colon are expected")
        values.skip()
        if values.next() == "[" and name in (*STREAMED, *WRAPPERS) and not held.keys() & {"id", "info"}:
            streamed = True
            yield from ((where, {name: [value]} if name in STREAMED else value) for where, value in values.list())
        else:
            held[name] = values.value()[1]
    if not streamed:
        yield place, held
