"""Records that nobody could hold in memory, on a shelf: a temporary file that is gone when nobody reads it any more."""

from __future__ import annotations

import json
import operator
import sqlite3
import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ragbench.old.data.files import DatasetError

R = TypeVar("R")
CACHE_KIB = 32 * 1024
"""Of memory that a shelf takes; what is more is in the temporary file."""


RECENT = 200_000
"""Texts that a reader knows without a look at its shelf, by a hash of each: the same ones stand in many rows."""
PUT = "INSERT OR IGNORE INTO shelf VALUES (?, ?, ?)"
_ENCODED = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class Shelf(Sequence[R], Generic[R]):
    """Records, each under its key, in the order in which they came, or (by_key) in that of their keys.

    model: what a line is read as; without one records are mappings. A shelf takes CACHE_KIB of memory at most, however
    many records are on it, and the rest of the folder for temporary files (TMPDIR).
    """

    def __init__(self, model: type[R] | None = None, *, by_key: bool = False) -> None:
        self._model, self._order = model, "key" if by_key else "rowid"
        self._count = 0
        self._lines = temporary("CREATE TABLE shelf (key TEXT PRIMARY KEY, line TEXT NOT NULL, place TEXT)")

    def put(self, key: str, record: R, place: str | None = None) -> bool:
        """Put a record there, unless one stands under its key already: False then, and nothing has changed.

        place: where the record was found, for the errors of those that come after it.
        """
        done = stored(self._lines, PUT, (key, line_of(record), place))
        self._count += done.rowcount
        return bool(done.rowcount)

    def change(self, key: str, record: R) -> None:
        """Put a record in the place of the one that stands under its key."""
        stored(self._lines, "UPDATE shelf SET line = ? WHERE key = ?", (line_of(record), key))

    def get(self, key: str) -> R | None:
        """The record under a key; None where there is none."""
        line = self._under(key, "line")
        return None if line is None else self._read(line)

    def has(self, key: str) -> bool:
        """Whether a record stands under a key."""
        return self._under(key, "1") is not None

    def place(self, key: str) -> str:
        """Where in its file the record under a key was found."""
        return str(self._under(key, "place")).rpartition(", ")[2]

    def lines(self, *, by_key: bool = False) -> Iterator[str]:
        """The records as JSON, a line each."""
        return (line for (line,) in self._rows("line", by_key))

    def placed(self) -> Iterator[tuple[str, R]]:
        """(place, record) of each."""
        return ((place, self._read(line)) for place, line in self._rows("place, line"))

    def items(self) -> Iterator[tuple[str, R]]:
        """(key, record) of each."""
        return ((key, self._read(line)) for key, line in self._rows("key, line"))

    def changed(self, change: Callable[[R], R | None]) -> Shelf[R]:
        """A shelf with what becomes of each record under its key; without those of which nothing does."""
        made = Shelf(self._model, by_key=self._order == "key")
        for key, record in self.items():
            if (other := change(record)) is not None:
                made.put(key, other)
        return made

    def part(self, keys: Container[str]) -> Shelf[R]:
        """A shelf with the records under these keys alone."""
        made = Shelf(self._model, by_key=self._order == "key")
        for row in self._rows("key, line, place"):
            if row[0] in keys:
                made._count += stored(made._lines, PUT, row).rowcount
        return made

    def _rows(self, columns: str, by_key: bool = False) -> sqlite3.Cursor:
        order = "key" if by_key else self._order
        return self._lines.execute(f"SELECT {columns} FROM shelf ORDER BY {order}")  # noqa: S608 - ours

    def _under(self, key: str, column: str) -> Any:
        row = self._lines.execute(f"SELECT {column} FROM shelf WHERE key = ?", (key,)).fetchone()  # noqa: S608 - ours
        return None if row is None else row[0]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[R]:
        return map(self._read, self.lines())

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(self._count))]
        number = range(self._count)[place]
        ask = f"SELECT line FROM shelf ORDER BY {self._order} LIMIT 1 OFFSET ?"  # noqa: S608 - ours
        return self._read(self._lines.execute(ask, (number,)).fetchone()[0])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def _read(self, line: str) -> R:
        if self._model is None:
            return json.loads(line)
        return self._model.model_validate_json(line)  # type: ignore[attr-defined]


def line_of(record: Any) -> str:
    """A record as a line of a data set's file, without its end."""
    if isinstance(record, BaseModel):
        return record.model_dump_json(exclude_defaults=True)
    return _ENCODED(record)


def temporary(*tables: str) -> sqlite3.Connection:
    """A database of SQLite with these tables in a temporary file that has no name: closed, it is gone."""
    made = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", f"PRAGMA cache_size = -{CACHE_KIB}"):
        made.execute(statement)
    for table in tables:
        made.execute(table)
    made.execute("BEGIN")
    return made


def stored(file: sqlite3.Connection, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
    """The statement, executed. Raises DatasetError where the temporary file has no room."""
    try:
        return file.execute(statement, values)
    except sqlite3.OperationalError as error:
        raise DatasetError(
            f"{tempfile.gettempdir()}: {error}; what is read is kept there for its time. Make room, or name another "
            "folder: TMPDIR=/var/tmp ragbench load …"
        ) from None
