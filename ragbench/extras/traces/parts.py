"""Parts of traces on their way in: they may be anywhere in the files, so that all wait on the disk until the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from pydantic import TypeAdapter

from ragbench.data.files import LeftOut
from ragbench.data.shelf import stored, temporary
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
