"""Records that lie beside a data set, a line each, which later ones of the same key replace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from ragbench.core.folders import write
from ragbench.core.settings import secrets
from ragbench.data.folder import lines_of_table
from ragbench.data.records import Closed

Record = TypeVar("Record", bound=Closed)


def read(path: Path, model: type[Record]) -> list[Record]:
    """The records of a file; none where there is no file. Raises DatasetError, naming file and line."""
    return [record for _, record in lines_of_table(path, model)]


def keep(path: Path, model: type[Record], records: Iterable[Record], key: Callable[[Record], Any]) -> None:
    """Write these among those that are kept already, in the order of their keys; secrets are masked."""
    known = {key(record): record for record in (*read(path, model), *records)}
    mask = secrets.exact_masker()
    rows = (secrets.masked(known[name].model_dump(mode="json"), mask) for name in sorted(known))
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write(path, text.encode("utf-8"))
