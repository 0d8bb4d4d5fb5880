"""What a table is by its first rows: answers, questions, dialogues, decisions, ratings, traces, passages."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ragbench import data as datasets
from ragbench.core import annexes
from ragbench.data import trec
from ragbench.data.cells import Forms, classed
from ragbench.data.columns import Columns
from ragbench.data.files import LeftOut
from ragbench.data.joined_tables import read_all
from ragbench.data.payloads import passage_of, turns_of
from ragbench.data.rows import read_rows
from ragbench.data.vocabulary import ASKED, NO_TEXT, field_of, raters_of

DOCUMENTS = "LangChain documents"
"""What the reader of traces calls a file of passages, which is no beginning by itself."""
MOST_ROWS = 20
"""Rows that tell what a table is."""
MOST_TRIED = 50 * 2**20
"""Bytes of files that are read whole to see whether they can be loaded."""
RATED = ("", "value", "rater")
"""Fields that a column of one rater's may be called."""


def is_told(cell: Any) -> bool:
    """Whether a cell may be a question or an answer: some words."""
    return isinstance(cell, str) and len(cell.split()) > 2


class Look(NamedTuple):
    """What a table is by its first rows: columns, the first with any content, raters, what wrote it, kind (`_kind`),
    what is asked in a file of JSON that is one row alone, else empty, and whether a passage there has an id."""

    known: Columns
    row: dict[str, Any]
    raters: list[str]
    tool: str
    kind: str
    asked: str
    is_named: bool

    @property
    def are_people(self) -> bool:
        """Whether the columns of marks beside questions are two raters', and no program's figures."""
        is_called = self.raters == raters_of(self.row)
        is_told = not self.known.format and not any(ASKED.search(name) for name in self.raters)
        return len(self.raters) > 1 and (is_called or (len(self.raters) == 2 and is_told))


def looked_at(path: Path) -> Look:
    """Raises ValueError where there is no row, and OSError."""
    known, left_out = Columns(), LeftOut()
    rows = list(itertools.islice(read_rows(path, keep_empty=True, held=False, left_out=left_out), MOST_ROWS))
    if not rows or not rows[0][1]:
        raise ValueError(f"{path.name}: no row can be used: {left_out.said or 'none holds anything'}")
    tools = (annexes.taken("readers", name).tool(path) for name in annexes.offered("readers"))
    tool = next(filter(None, tools), "")
    told: dict[int, list[Mapping[str, Any]]] = {}
    if tool in ("", DOCUMENTS):  # what is no table may be traces
        known.systems.meet(own for _, own in rows)
        told[0] = list(known.answers(rows[0][1], rows[0][0]))
        asking = [at for at, (_, own) in enumerate(rows) if {"user_input", "messages"} & {*map(field_of, own)}]
        for at in asking:  # the first may lack an answer
            with suppress(ValueError):
                told[at - min(asking)] = list(known.answers(rows[at][1], rows[at][0]))
        rows = rows[min(asking, default=0) :]
    row = rows[0][1]
    raters = named if len(named := raters_of(row)) > 1 else marked([own for _, own in rows])
    asked = row.get(known.read.get("user_input") or known.read.get("messages", ""))
    asked = str(asked) if asked and len(rows) == 1 and path.suffix == ".json" else ""
    passage = passage_of(row)
    is_named = passage is not None and bool(passage.id)
    return Look(
        known, row, raters, tool, _kind(row, next(iter(told.get(0, ())), {}), known.read, tool, raters), asked, is_named
    )


def _kind(
    row: Mapping[str, Any], told: Mapping[str, Any], read: Mapping[str, str], tool: str, raters: Sequence[str]
) -> str:
    """What a table is by a row of it, its fields, what is read and its raters' columns; empty for one that nothing can
    be begun with."""
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
    turns = turns_of(told.get("messages", told.get("user_input")), {}) or ()
    if {"messages", "questions"} & read.keys() or ({"role", "session"} <= read.keys() and "user_input" not in read):
        alone = "answers" if turns and turns[0].answer else "questions"
        return alone if len(turns) == 1 else "dialogues"
    if any(turn.answer for turn in turns[-1:]):
        return "answers"
    if "user_input" in read:
        return "questions"
    if {"rater", "value"} <= read.keys() or raters:
        return "ratings"
    passage = passage_of(row)
    return "passages" if passage is not None and passage.text and (passage.id or tool) else ""


def marked(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of raters: two or more of marks, or of words of few classes, where each holds some that another does,
    and no other column of marks stands there. Beside two may ids, names of models, comments, texts and figures stand,
    beside more of them ids alone; where a column names what was measured there is none."""
    if "metric" in map(field_of, rows[0]):
        return []
    few: dict[str, set[Any]] = {}
    for name in rows[0]:
        with suppress(ValueError):  # a longer text is no mark
            own = {classed(row.get(name)) for row in rows} - {None}
            is_few = 2 * len(own) <= len(rows) or not _has_words(own)
            if name and own and is_few and field_of(name) in RATED and not NO_TEXT.search(name):
                few[name] = own
    alike = [name for name, own in few.items() if any(own & few[other] for other in few if other != name)]
    are_beside = all(_has_words(own) for name, own in few.items() if name not in alike)
    is_whole = len(alike) >= sum(field_of(name) != "id" for name in rows[0])
    return alike if are_beside and (len(alike) == 2 or (is_whole and alike)) else []


def _has_words(classes: Iterable[Any]) -> bool:
    return any(isinstance(one, str) for one in classes)


def require_loadable(kind: str, paths: Sequence[Path]) -> None:
    """Raises ValueError where `ragbench load` refuses these files; large ones are not tried."""
    if sum(path.stat().st_size for path in paths) > MOST_TRIED:
        return
    if kind == "traces":
        annexes.taken("readers", kind).read(paths)
    elif kind in ("dialogues", "decisions"):
        getattr(datasets.foreign_sets, kind)(*paths)


def are_scored_together(*tables: Path) -> bool:
    """Whether `ragbench score` reads these together."""
    with suppress(ValueError):
        return bool(read_all(tables, Forms()))
    return False


def may_answer(run: Path, qrels: Path) -> bool:
    """Whether a run has a query of these judgements; large files, and those with faults, may."""
    with suppress(ValueError):
        if run.stat().st_size + qrels.stat().st_size < MOST_TRIED:
            return not {*trec.read_run(run).queries}.isdisjoint(trec.read_qrels(qrels))
    return True
