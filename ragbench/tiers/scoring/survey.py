"""A file of answers that is too large to be held: what is known after it has gone by once, and its samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ragbench.core.types import Sample
from ragbench.data.cells import Forms
from ragbench.data.files import DatasetError
from ragbench.data.samples import Given, streamed

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
    """What the file holds; see `ragbench.data.samples.read_samples`, whose errors it raises, but for its limit."""
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
