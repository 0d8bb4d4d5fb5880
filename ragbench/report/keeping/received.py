"""Runs from elsewhere: what is read whole of them is small, whatever it is packed into."""

from __future__ import annotations

from pathlib import Path

from ragbench.core import folders
from ragbench.data import files as reading
from ragbench.data.limits import MAX_ROWS
from ragbench.data.rows import look_at_parquet

MOST_TEXT, MOST_WEIGHT = 2**25, 2**27
"""Bytes of a JSON file or a notebook, and what its values take in memory: `{},` takes three of the ones and a hundred
of the others."""
MOST_IN_TABLES = 2**29
"""Bytes of memory that all its tables take."""
TEXTS = (".json", ".ipynb")


def text(path: Path) -> str:
    """The text of a JSON file of a run. Raises ValueError for one that a run does not have."""
    try:
        content = folders.text(path, MOST_TEXT)
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text in UTF-8") from None
    if reading.weight(content) > MOST_WEIGHT:
        raise ValueError(f"{path.name} has more values than a run has: they would take {MOST_WEIGHT:,} bytes")
    return content


def check(folder: Path) -> None:
    """Raises ValueError for a run whose files take more memory than a run does, and for tables that are none."""
    for path in sorted(path for path in folder.rglob("*") if path.suffix in TEXTS and path.is_file()):
        text(path)
    try:
        look_at_parquet(sorted(folder.rglob("*.parquet")), MAX_ROWS * 10, MOST_IN_TABLES)
    except reading.DatasetError as error:
        raise ValueError(f"a table of the run is too large, or none: {error}") from None
