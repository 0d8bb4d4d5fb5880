"""Files of traces: their formats found out, their spans joined, and what was found told.

The spans of a trace may be anywhere in the files, so that all wait on the disk until the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.data.brought import Brought
from ragbench.data.files import DatasetError, LeftOut, cut_list
from ragbench.data.records import ChunkRecord
from ragbench.data.rows import read_rows
from ragbench.data.shelf import Shelf
from ragbench.extras.traces.assembly import Assembly
from ragbench.extras.traces.formats import FORMATS, format_of, parts


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
    left_out, told = LeftOut(), []
    assembly = Assembly(base or {}, ratings, left_out)
    for number, path in enumerate(paths):
        known, records = "", 0
        for row, (place, record) in enumerate(read_rows(path, held=False, left_out=left_out), 1):
            here = format_of(record)
            known = known or here
            if not known:
                raise DatasetError(
                    f"{place}: of no format that is known; it has {cut_list(record)}. Known are "
                    f"{', '.join(FORMATS)}. Tables with other names: `ragbench load answers {path.name} --name NAME`"
                )
            if here != known:
                left_out.add(f"record without the marks of {known}", place)
                continue
            records += 1
            try:
                for part in parts(known, record, f"{path.name.split('.')[0]}-{row}" if number else f"{row}"):
                    assembly.take(part, place)
            except DatasetError as error:
                left_out.add(str(error), place)
        if not known:
            raise DatasetError(f"{path.name}: holds no record that can be read; {dict(left_out.told)}")
        told.append(f"{path.name} was read as {known}: {records:,} records")
    brought = assembly.brought(told)
    return brought, {"logged": assembly.lines} if assembly.lines else {}


def tool(path: Path) -> str:
    """What wrote an export of traces, by its first record; empty for any other file."""
    try:
        first = next(read_rows(path, held=False, left_out=LeftOut()), None)
    except DatasetError:
        return ""
    known = format_of(first[1]) if first else ""
    return known if known in FORMATS else ""
