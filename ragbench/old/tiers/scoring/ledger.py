"""Scores of tables of any length: numbers in memory, texts in a file until read; what a page lists of very many."""

from __future__ import annotations

import copyreg
import dataclasses
import io
import pickle
import tempfile
import zlib
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import islice
from math import isnan, nan
from operator import attrgetter
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Array, Chunk, Sample, Score
from ragbench.old.data.cells import Forms
from ragbench.old.data.files import DatasetError
from ragbench.old.data.samples import Given, streamed
from ragbench.old.metrics import rulings
from ragbench.old.tiers.basics.findings import NOTHING

SYSTEM = "answers"
FASTEST = 1
"""Of zlib: explanations are of few words, so that even this keeps a quarter of them."""


@dataclass(frozen=True)
class Row:
    """One metric's score of one sample.

    repeats: the single scores of a sample that was scored several times, of which `score` is the mean; else empty.
    """

    sample: Sample
    metric: Metric
    score: Score
    repeats: tuple[Score, ...] = ()

    @property
    def singles(self) -> tuple[Score, ...]:
        """Every single score, one where nothing was repeated."""
        return self.repeats or (self.score,)

    @property
    def flags(self) -> dict[str, None]:
        """The texts of the sample that seem to address a judge."""
        return {flag: None for score in self.singles for flag in rulings.suspected(score.detail)}


def system_name(sample: Sample) -> str:
    """The system that a sample belongs to."""
    return sample.system or SYSTEM


@dataclass
class Values:
    """The values of one metric over a system's samples, NaN where there is none, in the order in which they came."""

    ids: list[str] = field(default_factory=list)
    values: array[float] = field(default_factory=lambda: array("d"))

    def by_id(self) -> Array:
        """The values by the ids of their samples: no number depends on the order of the rows."""
        return np.array(self.values)[sorted(range(len(self.ids)), key=self.ids.__getitem__)]

    def on(self, ids: Sequence[str]) -> Array:
        """One value for each of these samples: the first that was measured, NaN for those that were not."""
        known: dict[str, float] = {}
        for identifier, value in zip(self.ids, self.values, strict=True):
            if isnan(known.get(identifier, nan)):
                known[identifier] = value
        return np.array([known.get(identifier, nan) for identifier in ids])


@dataclass
class Answers:
    """A system's samples. clusters: by id, None for what names none. flagged: ids of those that address a judge. void:
    by metric, ids of those that it says nothing of, as there is nothing in them to measure."""

    clusters: dict[str, str | None] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    flagged: set[str] = field(default_factory=set)
    void: dict[str, set[str]] = field(default_factory=dict)

    def nothing(self, label: str, ids: Sequence[str]) -> NDArray[np.bool_]:
        """Which of these samples it was not asked, or has nothing to measure of."""
        void = self.void.get(label, set())
        return np.array([sample in void or sample not in self.clusters for sample in ids], dtype=bool)


@dataclass
class Columns:
    """What numbers are made of: of each system, in order of appearance, the values by metric.

    metrics: in the order in which they came. clusters: of all systems. missing: why values are not there, how often.
    panels: whether any score is that of several judges. repeats: how often a sample was scored at most.
    """

    systems: dict[str, Answers] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    clusters: dict[str, str | None] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)
    panels: bool = False
    repeats: int = 1

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Columns:
        """Those of rows that are all there."""
        made = cls()
        for row in rows:
            made.add(row)
        return made

    def add(self, row: Row) -> None:
        """One score more."""
        sample, score = row.sample, row.score
        name = system_name(sample)
        if (own := self.systems.get(name)) is None:
            own = self.systems[name] = Answers()
        if (column := own.values.get(row.metric.label)) is None:
            column = own.values[row.metric.label] = Values()
            self.metrics[row.metric.label] = row.metric
        column.ids.append(sample.id)
        column.values.append(score.value)
        own.clusters[sample.id] = self.clusters[sample.id] = sample.cluster
        self.panels = self.panels or "judges" in score.detail
        self.repeats = max(self.repeats, len(row.repeats))
        if isnan(score.value):
            self.missing[score.reason] += 1
            if score.status in NOTHING:
                own.void.setdefault(row.metric.label, set()).add(sample.id)
        if row.flags:
            own.flagged.add(sample.id)


def _by_fields(kind: type) -> Callable[[Any], tuple[type, tuple[Any, ...]]]:
    read = attrgetter(*(each.name for each in fields(kind)))
    return lambda record: (kind, read(record))


class _Pickler(pickle.Pickler):
    """Takes frozen classes by their fields: as pickle itself takes them is slower than most metrics."""

    dispatch_table = copyreg.dispatch_table | {kind: _by_fields(kind) for kind in (Sample, Score, Chunk)}


def _dumped(value: object) -> bytes:
    out = io.BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(value)
    return out.getvalue()


class Ledger(Sequence[Row]):
    """Rows that are kept in a file without a name, which goes with them; those that came together lie together."""

    def __init__(self) -> None:
        self.columns = Columns()
        self._file = tempfile.TemporaryFile(prefix="ragbench-")  # noqa: SIM115 - it lives as long as the rows
        self._starts: list[int] = []
        self._ids: list[tuple[str, ...]] = []
        self._places: list[tuple[int, int]] = []
        self._number = 0
        self._held: tuple[int, list[Row]] = (-1, [])

    def add(self, rows: Sequence[Row]) -> None:
        """Keep these, too."""
        for row in rows:
            self.columns.add(row)
        samples = {id(row.sample): row.sample for row in rows}
        order = {key: place for place, key in enumerate(samples)}
        scores = [(order[id(row.sample)], row.metric.label, row.score, row.repeats) for row in rows]
        packed = zlib.compress(_dumped((list(samples.values()), scores)), FASTEST)
        self._places.append((self._file.seek(0, 2), len(packed)))
        self._file.write(packed)
        self._starts.append(self._number)
        self._ids.append(tuple(sample.id for sample in samples.values()))
        self._number += len(rows)

    def of(self, identifier: str) -> list[Row]:
        """The rows of one sample, by every system that answered it."""
        parts = [part for part, ids in enumerate(self._ids) if identifier in ids]
        return [row for part in parts for row in self._part(part) if row.sample.id == identifier]

    def _part(self, part: int) -> list[Row]:
        if self._held[0] != part:
            start, length = self._places[part]
            self._file.seek(start)
            samples, scores = pickle.loads(zlib.decompress(self._file.read(length)))  # noqa: S301 - our own file
            metrics = self.columns.metrics
            rows = [Row(samples[place], metrics[label], *rest) for place, label, *rest in scores]
            self._held = (part, rows)
        return self._held[1]

    def __iter__(self) -> Iterator[Row]:
        for part in range(len(self._places)):
            yield from self._part(part)

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [self[position] for position in range(*place.indices(self._number))]
        place = range(self._number)[place]
        part = bisect_right(self._starts, place) - 1
        return self._part(part)[place - self._starts[part]]


def columns_of(rows: Sequence[Row]) -> Columns:
    """What numbers are made of, of rows wherever they are."""
    return rows.columns if isinstance(rows, Ledger) else Columns.of(rows)


LARGE = 2**22
"""Bytes of a file from which on it goes by: below, its samples fit into any memory, and are read once."""
PART = 100
"""Samples that are held together: of more, all metrics at once hold more memory, and no less time is taken."""


@dataclasses.dataclass(frozen=True)
class Survey:
    """What a file of answers holds.

    ids: of its samples in their order, those of all systems. systems: their names in order of appearance, without
    samples that name none. union: a sample that has every field that any of them has; its texts are of no use.
    columns: which column is which field.
    """

    path: Path
    ids: tuple[str, ...]
    systems: tuple[str, ...]
    union: Sample
    columns: Given | None = None

    def __contains__(self, sample: object) -> bool:
        return any(own_sample == sample for own_sample in self)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Sample]:
        """The samples once more, one by one; see `parts`."""
        return (sample for part in self.parts() for sample in part)

    def parts(self, size: int = PART) -> Iterator[tuple[Sample, ...]]:
        """The samples once more, so many at a time. Raises DatasetError where the file has changed meanwhile."""
        samples, left = (sample for _, sample in streamed(self.path, Forms(), self.columns)), len(self.ids)
        while part := tuple(islice(samples, size)):
            left -= len(part)
            if left < 0:
                break
            yield part
        if left:
            raise DatasetError(f"{self.path.name}: it was changed while it was read; run again")


def is_large(path: Path) -> bool:
    """Whether a file goes by in parts: what can be read once alone, such as a pipe, never does."""
    return path.is_file() and path.stat().st_size >= LARGE


def surveyed(path: Path, forms: Forms | None = None, columns: Given | None = None) -> Survey:
    """What the file holds; see `ragbench.old.data.samples.read_samples`, whose errors it raises, but for its limit."""
    ids: list[str] = []
    seen: dict[str | None, set[str]] = {}
    union = Sample("")
    missing = {field.name for field in dataclasses.fields(Sample)} - {"id"}
    for _, sample in streamed(path, forms, columns):
        own = seen.setdefault(sample.system, set())
        if sample.id in own:
            raise DatasetError(f"the id {sample.id!r} stands twice; ids name the samples of a system, once each")
        own.add(sample.id)
        ids.append(sample.id)
        if given := {name: value for name in missing if (value := getattr(sample, name)) is not None}:
            union, missing = dataclasses.replace(union, **given), missing - given.keys()
    return Survey(path, tuple(ids), tuple(filter(None, seen)), union, columns)
