"""Files of traces: their formats found out, their parts joined, and what was found told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragbench.datasets.brought import Brought
from ragbench.datasets.files import DatasetError
from ragbench.datasets.limits import MAX_ROWS, MAX_WEIGHT_OF_ROWS
from ragbench.datasets.records import ChunkRecord
from ragbench.datasets.traces.assembly import Assembly
from ragbench.datasets.traces.elements import LeftOut, records
from ragbench.datasets.traces.formats import Format, format_of, unknown
from ragbench.datasets.traces.spans import Passage, Span, Trace

SPAN_BYTES = 700
"""That a span takes at most, beside the letters of its texts."""


def read(
    paths: Sequence[Path], *, base: Mapping[str, ChunkRecord] | None = None, ratings: Sequence[str] = ()
) -> tuple[Brought, Mapping[str, list[dict[str, Any]]]]:
    """The data set in files of traces, and what their system is logged to have retrieved and answered.

    Each file has one format, found out by its first record. Files are read together: spans, scores and documents may be
    in files of their own. base: the chunks of a whole knowledge base by id. ratings: names of the scores that users
    gave; else those whose name says so. Files are streamed; what is kept of a trace are its texts, once each.
    Raises DatasetError for a file that is of no format, for broken JSON, and where nothing is found.
    """
    found = _Found()
    for number, path in enumerate(paths):
        found.read(path, f"{path.name.split('.')[0]}-" if number else "")
    assembly = Assembly(base or {}, ratings, found.left_out)
    for document in found.documents:
        assembly.document(document)
    for name in [*found.traces]:
        assembly.trace(found.traces.pop(name))  # what was taken in is held no longer
    return assembly.brought(found.told), {"logged": assembly.lines} if assembly.lines else {}


@dataclass
class _Found:
    """Traces by id, documents, and what was passed over."""

    traces: dict[str, Trace] = field(default_factory=dict)
    documents: list[Passage] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    told: list[str] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)
    _spans: set[tuple[str, str]] = field(default_factory=set)
    _weight: int = 0

    def read(self, path: Path, prefix: str) -> None:
        """Add what a file holds. prefix: of the names of what has none of its own."""
        of: Format | None = None
        seen: Counter[str] = Counter()
        for number, (place, record) in enumerate(records(path, self.left_out), 1):
            here = format_of(record)
            if of is None:
                of = here
            if of is None:
                raise unknown(path, place, record)
            if here is not of:
                self.left_out.add(f"record without the marks of {of.NAME}", place)
                continue
            seen["records"] += 1
            try:
                for part in of.parts(record, f"{prefix}{number}"):
                    if isinstance(part, Passage):
                        self.documents.append(self._kept(part))
                    else:
                        self._add(part, place)
            except DatasetError as error:
                self.left_out.add(str(error), place)
            if self._weight > MAX_WEIGHT_OF_ROWS or len(self.traces) > MAX_ROWS:
                raise DatasetError(f"{place}: more traces than memory takes ({len(self.traces):,}); load fewer files")
        if of is None:
            raise DatasetError(f"{path.name}: holds no record that can be read; {dict(self.left_out.told)}")
        self.told.append(f"{path.name} was read as {of.NAME}: {seen['records']:,} records")

    def _add(self, part: Trace, place: str) -> None:
        spans = []
        for span in part.spans:
            if (part.id, span.id) in self._spans:
                self.left_out.add("step that stands there twice", place)
            else:
                self._spans.add((part.id, span.id))
                spans.append(self._span(span))
        part = replace(
            part, spans=tuple(spans), question=self._text(part.question), answer=self._text(part.answer),
            relevant=None if part.relevant is None else tuple(map(self._kept, part.relevant)),
        )  # fmt: skip
        known = self.traces.get(part.id)
        self.traces[part.id] = part if known is None else known.joined(part)

    def _span(self, span: Span) -> Span:
        self._weight += SPAN_BYTES
        question, answer = self._text(span.question), self._text(span.answer)
        passages = None if span.passages is None else tuple(map(self._kept, span.passages))
        if question is span.question and answer is span.answer and passages is None:
            return span
        return replace(span, question=question, answer=answer, passages=passages)

    def _kept(self, passage: Passage) -> Passage:
        self._weight += SPAN_BYTES // 4
        text = self._text(passage.text)
        return passage if text is passage.text else replace(passage, text=text)

    def _text(self, text: str | None) -> str | None:
        """The text, the same object for equal ones: passages stand in many traces."""
        if text is None:
            return None
        known = self._texts.setdefault(text, text)
        if known is text:
            self._weight += 2 * len(text)
        return known
