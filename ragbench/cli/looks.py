"""What lies in a folder, and what each of its tables is by its first rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ragbench import data as datasets
from ragbench.core import annexes
from ragbench.data import documents
from ragbench.data.files import LeftOut
from ragbench.data.payloads import passage_of
from ragbench.data.rows import read_rows
from ragbench.data.samples import turns_of
from ragbench.data.vocabulary import Columns, marked, raters_of

OWN = ("ragbench.toml", "ragbench.schema.json", "dataset.toml", "pyproject.toml", "package.json")
DOCUMENTS = "LangChain documents"
"""What the reader of traces calls a file of passages, which is no beginning by itself."""
MOST_ROWS, DEEPEST = 20, 6
"""Rows that tell what a table is, and folders within each other that are looked into."""


class Look(NamedTuple):
    """What a table is by its first rows: its columns, the first row, what wrote it, and its kind (`_kind`)."""

    known: Columns
    row: dict[str, Any]
    tool: str
    kind: str


def looked_at(path: Path) -> Look:
    """Raises ValueError where there is no row, and OSError."""
    known, left_out = Columns(), LeftOut()
    rows = list(itertools.islice(read_rows(path, keep_empty=True, held=False, left_out=left_out), MOST_ROWS))
    if not rows or not rows[0][1]:
        raise ValueError(f"{path.name}: no row can be used: {left_out.said or 'none holds anything'}")
    place, row = rows[0]
    for _ in known.answers(row, place):
        pass
    tool = _tool(path)
    return Look(known, row, tool, _kind([row for _, row in rows], known.read, tool))


def _kind(rows: Sequence[Mapping[str, Any]], read: Mapping[str, str], tool: str) -> str:
    """What a table is by its first rows; empty for one that nothing can be begun with."""
    row = rows[0]
    if "paragraphs" in row and "user_input" not in read:
        return "squad"
    if "benchmark_metadata" in row:
        return "result"
    if "schema_version" in row and any(name.endswith("_metrics") for name in row):
        return "history"
    if tool and tool != DOCUMENTS:
        return "traces"
    if "shown" in read and {"user_input", "response"} <= read.keys():
        return "decisions"
    if "response" in read:
        return "answers"
    turns = turns_of(row.get(read.get("messages") or read.get("user_input", ""))) or ()
    if "messages" in read or "questions" in read:
        return "answers" if len(turns) == 1 and turns[0].answer else "dialogues"
    if any(turn.answer for turn in turns[-1:]):
        return "answers"
    if "user_input" in read:
        return "questions"
    if {"rater", "value"} <= read.keys() or len(raters_of(row)) > 1 or _is_of_raters(rows):
        return "ratings"
    passage = passage_of(row)
    return "passages" if passage is not None and passage.text and (passage.id or tool) else ""


def _is_of_raters(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all columns beside an id hold marks, and each some that another has, too: those of one scale."""
    given = [{str(row.get(name)) for row in rows} for name in marked(rows[0])]
    others = (any(own & other for other in given if other is not own) for own in given)
    return bool(given) and all(map(marked, rows)) and all(others)


def split_of(path: Path) -> str:
    """The judgements of a BEIR folder that are taken: test where there are such, else the first there are."""
    for name in ("test", "dev", "validation", "train"):
        try:
            datasets.beir.files(path, name)
        except datasets.DatasetError:
            continue
        return name
    return "test"


def _tool(path: Path) -> str:
    """What wrote a file that an annex can read; empty for any other file."""
    tools = (annexes.taken("readers", name)(path) for name in annexes.offered("readers"))
    return next(filter(None, tools), "")


def is_beir(path: Path) -> bool:
    try:
        datasets.beir.files(path, None)
    except datasets.DatasetError:
        return False
    return True


def files_of(folder: Path, depth: int = 0) -> Iterator[Path]:
    """What lies in a folder and below it, its own first; what is hidden or of programs is passed over."""
    try:
        there = sorted(path for path in folder.iterdir() if not path.name.startswith(".") and path.name not in OWN)
    except OSError:
        yield folder
        return
    yield from (path for path in there if not path.is_dir())
    for path in there if depth < DEEPEST else ():
        is_linked, is_own = depth and path.is_symlink(), (path / "latest").exists()  # of runs
        if path.is_dir() and path.name not in documents.PASSED_OVER and not is_linked and not is_own:
            yield from files_of(path, depth + 1)


def is_part(path: Path, place: Path, parts: Sequence[str] = ()) -> bool:
    """Whether a file lies below a folder, or below what is called so in it, whatever its ending."""
    inside = path.relative_to(place).parts if path.is_relative_to(place) else ()
    return bool(inside) and (not parts or inside[0].split(".")[0] in parts)
