"""Files of traces: their formats found out, their parts joined, and what was found told.

Parts may be anywhere in the files, so that all wait on the disk until the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ragbench.data.brought import Brought
from ragbench.data.files import DatasetError, LeftOut, Load
from ragbench.data.payloads import Passage
from ragbench.data.records import ChunkRecord
from ragbench.data.rows import read_rows
from ragbench.data.shelf import Shelf, stored, temporary
from ragbench.extras.traces.assembly import Assembly
from ragbench.extras.traces.formats import FORMATS, Format, format_of, parts, unknown
from ragbench.extras.traces.spans import Trace

_TRACE = TypeAdapter(Trace)


class Parts:
    """The parts of traces, in a temporary file. What is held of it in memory does not grow with the traces."""

    def __init__(self) -> None:
        self._file = temporary(
            "CREATE TABLE traces (number INTEGER PRIMARY KEY, id TEXT UNIQUE)",
            "CREATE TABLE parts (id TEXT, place TEXT, part TEXT)",
            "CREATE INDEX of_trace ON parts (id)",
        )

    def add(self, part: Trace, place: str) -> None:
        """A part of a trace, found at this place."""
        stored(self._file, "INSERT OR IGNORE INTO traces (id) VALUES (?)", (part.id,))
        stored(self._file, "INSERT INTO parts VALUES (?, ?, ?)", (part.id, place, json.dumps(_TRACE.dump_python(part))))

    def traces(self, left_out: LeftOut) -> Iterator[Trace]:
        """The traces, each whole, in the order in which they came first; steps that stand there twice are left out."""
        for (name,) in self._file.execute("SELECT id FROM traces ORDER BY number"):
            whole: Trace | None = None
            seen: set[str] = set()
            for place, raw in self._file.execute("SELECT place, part FROM parts WHERE id = ? ORDER BY rowid", (name,)):
                part = _TRACE.validate_python(json.loads(raw))
                spans = []
                for span in part.spans:
                    if span.id in seen:
                        left_out.add("step that stands there twice", place)
                    else:
                        seen.add(span.id)
                        spans.append(span)
                part = replace(part, spans=tuple(spans))
                whole = part if whole is None else whole.joined(part)
            assert whole is not None
            yield whole


def read(
    paths: Sequence[Path], *, base: Mapping[str, ChunkRecord] | None = None, ratings: Sequence[str] = ()
) -> tuple[Brought, Mapping[str, Shelf[dict[str, Any]]]]:
    """The data set in files of traces, and what their system is logged to have retrieved and answered.

    Each file has one format, found out by its first record. Files are read together: spans, scores and documents may be
    in files of their own. base: the chunks of a whole knowledge base by id. ratings: names of the scores that users
    gave; else those whose name says so. Files are streamed, and their traces wait on the disk until all of their parts
    are there: memory does not grow with them, but for the longest trace and dialogue.
    Raises DatasetError for a file that is of no format, for broken JSON, and where nothing is found.
    """
    gathered = _Found()
    for number, path in enumerate(paths):
        gathered.read(path, f"{path.name.split('.')[0]}-" if number else "")
    assembly = Assembly(base or {}, ratings, gathered.left_out)
    for document in gathered.documents:
        assembly.document(Passage(**document))
    for trace in gathered.parts.traces(gathered.left_out):
        assembly.trace(trace)
    return assembly.brought(gathered.told), {"logged": assembly.lines} if assembly.lines else {}


def tool(path: Path) -> str:
    """What wrote an export of traces, by its first record; empty for any other file."""
    try:
        first = next(read_rows(path, held=False, left_out=LeftOut()), None)
    except DatasetError:
        return ""
    known = format_of(first[1]) if first else None
    return known.NAME if known in FORMATS else ""


@dataclass
class _Found:
    """Parts of traces, documents, and what was passed over."""

    parts: Parts = field(default_factory=Parts)
    documents: Shelf[dict[str, Any]] = field(default_factory=Shelf)
    left_out: LeftOut = field(default_factory=LeftOut)
    told: list[str] = field(default_factory=list)

    def read(self, path: Path, prefix: str) -> None:
        """Add what a file holds. prefix: of the names of what has none of its own."""
        of: Format | None = None
        load = Load(path, "records", held=False)
        for number, (place, record) in enumerate(read_rows(path, held=False, left_out=self.left_out), 1):
            here = format_of(record)
            if of is None:
                of = here
            if of is None:
                raise unknown(path, place, record)
            if here is not of:
                self.left_out.add(f"record without the marks of {of.NAME}", place)
                continue
            load.add(0)
            try:
                for part in parts(of, record, f"{prefix}{number}"):
                    if isinstance(part, Passage):
                        self.documents.put(str(len(self.documents)), asdict(part))
                    else:
                        self.parts.add(part, place)
            except DatasetError as error:
                self.left_out.add(str(error), place)
        if of is None:
            raise DatasetError(f"{path.name}: holds no record that can be read; {dict(self.left_out.told)}")
        self.told.append(f"{path.name} was read as {of.NAME}: {load.number:,} records")
