"""A long table of questions or passages as parts of a data set, so that memory stays flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ragbench.core.errors import BenchError
from ragbench.core.progress import progress
from ragbench.core.types import Dataset
from ragbench.data.building import Builder
from ragbench.data.datasets import iter_tables
from ragbench.data.files import BATCH, naming


class StoredRows(dict[str, tuple[str, ...]]):
    """Rows of this part by id, in memory; ids and texts of earlier parts, on disk."""

    def __init__(self) -> None:
        super().__init__()
        self.database = sqlite3.connect("")  # a file that goes when it is closed
        self.database.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")

    def setdefault(self, key: str, row: tuple[str, ...]) -> tuple[str, ...]:
        """Add a row whose id is new; return the first of the id, of an earlier part (id, text)."""
        stored = self.database.execute("SELECT * FROM rows WHERE id = ?", [key]).fetchone()
        return stored or super().setdefault(key, row)

    def start_part(self) -> None:
        """Store ids and texts of this part, and forget its rows."""
        rows = [row[:2] for row in self.values()]
        try:
            self.database.executemany("INSERT INTO rows VALUES (?, ?)", rows)
        except sqlite3.OperationalError as error:
            raise BenchError(f"{error}; set SQLITE_TMPDIR to a folder with more room") from None
        self.clear()


def read_parts(path: Path, kind: str, builder: Builder, language: str = "") -> Iterator[Dataset]:
    """Yield the parts of a table; the last is empty, and has the notes and language of all.

    Raises BenchError for a question's id that stands in two parts.
    """
    questions = StoredRows()
    passages = StoredRows()
    builder.passages = passages
    builder.part = 1
    with naming(path):
        for table in progress(iter_tables(path), f"{BATCH:,} rows each"):
            builder.add(kind, table)
            for row in builder.rows["questions"]:
                if questions.setdefault(row[0], row) is not row:
                    raise BenchError(f"two questions have the id {row[0]!r}; give each its own")
            if questions or passages:
                yield builder.build(path.name, language)
                builder.part += 1
                questions.start_part()
                passages.start_part()
                builder.labels.clear()
                builder.pages.clear()
        yield builder.build(path.name, language)
