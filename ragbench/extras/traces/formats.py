"""The formats that are known, and the marks by which a record is told to be of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ragbench.data.files import DatasetError
from ragbench.data.payloads import Passage
from ragbench.data.rows import cut_list
from ragbench.extras.traces import langchain, langfuse, langsmith, mlflow, opentelemetry, phoenix, tables
from ragbench.extras.traces.spans import Trace


class Reader(Protocol):
    """What a module of a vendor has. NAME: what people call it."""

    @property
    def NAME(self) -> str: ...  # noqa: N802 - a constant of a module

    def parts(self, record: Mapping[str, Any], name: str, /) -> Iterator[Trace | Passage]:
        """What a record holds; name: an id for what has none of its own."""
        ...


class Format(Reader, Protocol):
    """MARKS: sets of names of fields; a record that has all of one set is of this format."""

    @property
    def MARKS(self) -> Sequence[set[str]]: ...  # noqa: N802


FORMATS: tuple[Format, ...] = (opentelemetry, phoenix, langfuse, langsmith, mlflow, langchain)


def format_of(record: Mapping[str, Any]) -> Reader | None:
    """The format whose marks the record has, else a table's; None where it is neither."""
    names = record.keys()
    reader: Reader | None = next(
        (candidate for candidate in FORMATS if any(names >= marks for marks in candidate.MARKS)), None
    )
    return reader or (tables if tables.is_one(record) else None)


def unknown(path: Path, place: str, record: Mapping[str, Any]) -> DatasetError:
    """What is said of a file whose first record is of no format."""
    looked = "; ".join(
        f"{reader.NAME}: {' or '.join('+'.join(sorted(marks)) for marks in reader.MARKS)}" for reader in FORMATS
    )
    return DatasetError(
        f"{place}: of no format that is known; it has {cut_list(record)}. Looked for were {looked}. "
        f"Tables with other names: `ragbench load answers {path.name} --name NAME`"
    )
