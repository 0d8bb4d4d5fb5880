"""What a table is by its first rows: answers, questions, dialogues, decisions, ratings, traces, passages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ragbench.old import data as datasets
from ragbench.old.core import annexes
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.types import Question, Sample
from ragbench.old.data import trec
from ragbench.old.data.cells import TABLE, Forms, classed
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import LeftOut
from ragbench.old.data.folder import BASE
from ragbench.old.data.joined_tables import RIGHT, read_all
from ragbench.old.data.payloads import passage_of, turns_of
from ragbench.old.data.records import QuestionRecord
from ragbench.old.data.rows import read_rows
from ragbench.old.data.vocabulary import ASKED, NO_TEXT, field_of, raters_of

DOCUMENTS = "LangChain documents"
"""What the reader of traces calls a file of passages, which is no beginning by itself."""
MOST_ROWS = 20
"""Rows that tell what a table is."""
MOST_TRIED, MOST_LOADED = 50 * 2**20, 1000
"""Bytes of files that are read whole to see whether they can be loaded, and rows that are enough where they can."""
_FIGURE = re.compile(r"[+-]?\d*[.,]\d{3,}")
RATED = ("", "value", "rater")
"""Fields that a column of one rater's may be called."""


def is_told(cell: Any) -> bool:
    """Whether a cell may be a question or an answer: some words."""
    return isinstance(cell, str) and len(cell.split()) > 2


def is_golden(path: Path) -> bool:
    """Whether a file is called as questions with right answers are, and not as what a system answered."""
    words = re.sub(r"[\W_]+", "_", path.name.split(".")[0].casefold())
    is_so_called = any(f"{words}_".startswith(f"{name}_") for name in TABLE["rows"]["golden"])
    return is_so_called and not {*words.split("_")} & {*TABLE["rows"]["answered"]}


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
    """The columns of raters: two or more of marks, no lists and no figures like 0.428571, or of words of few classes,
    where each holds some that another does, and no other column of marks stands there. Beside two may ids, names of
    models, comments, texts and figures stand, beside more of them ids alone; where a column names what was measured,
    or holds nothing but one sign in some rows, there is none."""
    if len(rows) == 1 or "metric" in map(field_of, rows[0]):
        return []
    few: dict[str, set[Any]] = {}
    for name in rows[0]:
        cells = [row.get(name) for row in rows]
        may_be = bool(name) and field_of(name) in RATED and not NO_TEXT.search(name) and _are_marks(cells)
        with suppress(ValueError):  # a longer text is no mark
            own = {classed(cell) for cell in cells if may_be} - {None}
            if own and (2 * len(own) <= len(rows) or not _has_words(own)):
                few[name] = own
    alike = [name for name, own in few.items() if any(own & few[other] for other in few if other != name)]
    is_one = len({*itertools.chain(*map(few.__getitem__, alike))}) == 1  # a sign, where nobody marked a row
    if is_one and any(all(classed(row.get(name)) is None for name in alike) for row in rows):
        return []
    are_beside = all(_has_words(own) for name, own in few.items() if name not in alike)
    is_whole = len(alike) >= sum(field_of(name) != "id" for name in rows[0])
    return alike if are_beside and (len(alike) == 2 or (is_whole and alike)) else []


def _are_marks(cells: Iterable[Any]) -> bool:
    """Whether what stands in cells may be a person's: no list, and no number with three digits behind its point."""
    return not any(isinstance(cell, list | Mapping) or _FIGURE.fullmatch(f"{cell}") for cell in cells)


def _has_words(classes: Iterable[Any]) -> bool:
    return any(isinstance(one, str) for one in classes)


def require_loadable(kind: str, paths: Sequence[Path]) -> None:
    """Raises ValueError where `ragbench load` refuses these files: where neither their first rows can be loaded nor, of
    files that are not large, all of them."""
    if kind not in ("traces", "dialogues", "decisions"):
        return
    read = annexes.taken("readers", kind).read if kind == "traces" else getattr(datasets.foreign_sets, kind)
    given = [paths] if kind == "traces" else paths
    with suppress(ValueError):
        read(*given, most=MOST_LOADED)
        return
    if sum(path.stat().st_size for path in paths) <= MOST_TRIED:
        read(*given)


def are_scored_together(*tables: Path) -> bool:
    """Whether `ragbench score` reads these together."""
    with suppress(ValueError):
        return bool(read_all(tables, Forms()))
    return False


def asked_in(rows: Iterable[tuple[str, str | None]], read: Mapping[str, str]) -> dict[str, str]:
    """Id → question of (id, question), as tables are joined by them: by the questions where no id was read."""
    plain = ((name, " ".join(f"{question}".split()).casefold()) for name, question in rows)
    return {name if "id" in read else question: question for name, question in plain}


@dataclass(eq=False)
class Group:
    """Tables of answers that are scored together. asked: as of `asked_in`; named: (system, id) of rows that name both;
    have_references: whether any row has one."""

    have_ids: bool
    paths: list[Path] = field(default_factory=list)
    asked: dict[str, str] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)
    named: set[tuple[str, str]] = field(default_factory=set)
    have_references: bool = False

    def is_for(self, asked: Mapping[str, str], named: Set[tuple[str, str]]) -> bool:
        """Whether a table can be compared with these: they share a question under an id that names no other, and no
        system answers twice under one id."""
        shared = ((name, question) for name, question in asked.items() if question in self.questions)
        are_comparable = any(self.asked.get(name, question) == question for name, question in shared)
        return are_comparable and self.named.isdisjoint(named)


class Answers:
    """Tables of answers, in groups that are scored together, and of the questions that they are joined to: each was
    read once, alone. lone: answers without questions, by their ids; unnamed: those without either, and how many;
    asked: questions, as of `asked_in`."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self.lone: dict[Path, set[str]] = {}
        self.unnamed: dict[Path, int] = {}
        self.asked: dict[Path, dict[str, str]] = {}
        self._of: dict[tuple[bool, str], list[Group]] = {}

    def take(self, path: Path, samples: Sequence[Sample], read: Mapping[str, str]) -> None:
        """Put a table to the first group that it can be compared with, else into one of its own."""
        have_ids = "id" in read
        if not any(own.user_input or own.reference for own in samples):
            self.lone |= {path: {own.id for own in samples}} if have_ids else {}
            self.unnamed |= {} if have_ids else {path: len(samples)}
            return
        asked = asked_in(((own.id, own.user_input) for own in samples), read)
        named = {(own.system, own.id) for own in samples if own.system and have_ids}
        likely = dict.fromkeys(own for one in asked.values() for own in self._of.get((have_ids, one), ()))
        if (group := next((own for own in likely if own.is_for(asked, named)), None)) is None:
            self.groups.append(group := Group(have_ids))
        for question in {*asked.values()} - group.questions:
            self._of.setdefault((have_ids, question), []).append(group)
        group.paths.append(path)
        group.asked |= asked
        group.questions |= {*asked.values()}
        group.named |= named
        group.have_references |= any(own.reference or own.references for own in samples)

    def ask(self, path: Path, questions: Iterable[QuestionRecord], read: Mapping[str, str]) -> None:
        """Questions that answers may be to."""
        self.asked[path] = asked_in(((own.id, own.text) for own in questions), read)

    def take_references(self, path: Path, read: Mapping[str, str]) -> None:
        """Put right answers to those who have none, and whose ids, or questions, they have."""
        asked, is_alone = self.asked[path], not {"response", "contexts", "context_ids"} & read.keys()
        if not (is_alone and "reference" in read) and not ("response" in read and RIGHT.search(path.name)):
            return
        for group in self.groups:
            shared = group.asked.keys() & asked.keys() if group.have_ids == ("id" in read) else ()
            are_theirs = bool(shared) and all(group.asked[name] == asked[name] for name in shared)
            if are_theirs and not group.have_references and are_scored_together(*group.paths, path):
                group.paths.append(path)
                group.have_references = True

    def in_order(self, path: Path) -> Path | None:
        """Questions without ids that answers without anything may be to, in their order; None where there are none."""
        likely = (own for own, asked in self.asked.items() if len(asked) == self.unnamed.get(path))
        return next((own for own in likely if are_scored_together(path, own)), None)

    def scored(self) -> list[list[Path]]:
        """The tables of each `ragbench score`: of answers without questions with those that have their ids."""
        joined: dict[Path, list[Path]] = {}
        for path, ids in self.lone.items():
            likely = (own for own, asked in self.asked.items() if ids & asked.keys())
            own = next((own for own in likely if are_scored_together(path, own)), Path("QUESTIONS"))
            joined.setdefault(own, []).append(path)
        return [*(group.paths for group in self.groups), *([*own, asked] for asked, own in joined.items())]


class Bases:
    """Tables of passages. of: questions → the one that has what they name. called: others that are called so."""

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.called: list[Path] = []
        self.of: dict[Path, Path] = {}
        self._read: dict[Path, dict[str, datasets.ChunkRecord]] = {}

    @property
    def first(self) -> Path | None:
        """The one that the first questions name, else the first there is; None without any."""
        return next(iter([*self.of.values(), *self.paths]), None)

    def questions(self, path: Path) -> datasets.Brought:
        """The questions of a table, with the first base that has what they name. Raises ValueError where none has."""
        faults = list[ValueError]()
        for base in (*self.paths, *self.called, *([] if self.paths else [None])):
            try:
                brought = datasets.foreign_sets.questions(path, base=self._passages(base) if base else None)
            except ValueError as error:
                faults.append(error)
            else:
                self.of |= {path: base} if base else {}
                return brought
        raise faults[0]

    def labels_in(self, row: Mapping[str, Any]) -> Iterator[str]:
        """The columns that label a question with passages of a base, and are called so nowhere else."""
        for base in (*self.paths, *self.called) if row.keys() & datasets.foreign_sets.LABELS else ():
            yield from datasets.foreign_sets.labels_in([row], self._passages(base))

    def _passages(self, base: Path) -> dict[str, datasets.ChunkRecord]:
        if base not in self._read:
            self._read[base] = datasets.beir.passages([base], LeftOut())
        return self._read[base]


def runs_of(qrels: Sequence[Path], runs: Sequence[Path]) -> dict[Path, list[Path]]:
    """Judgements → the runs that have a query of theirs, of those that have any; large files, and those with faults,
    may have each. Every file is read once."""
    asked = {path: _queries(path, trec.read_qrels) for path in qrels}
    answered = {path: _queries(path, lambda run: trec.read_run(run).queries) for path in runs}
    may = {own: [run for run, theirs in answered.items() if not queries or not theirs or queries & theirs]
           for own, queries in asked.items()}  # fmt: skip
    return {own: theirs for own, theirs in may.items() if theirs}


def _queries(path: Path, read: Callable[[Path], Iterable[str]]) -> set[str]:
    """The queries of a file; none where nobody knows them."""
    with suppress(ValueError):
        return {*read(path)} if path.stat().st_size < MOST_TRIED else set()
    return set()


def languages(place: Path) -> list[str]:
    """Those of the tables of a data set in a folder, which nothing may describe yet."""
    return [code for code in LANGUAGES if all((place / f"{table}.{code}.jsonl").is_file() for table in BASE)]


def holds_tables(place: Path) -> bool:
    """Whether a folder is a data set, described or not."""
    return (place / "dataset.toml").is_file() or bool(languages(place))


def unit(asked: Sequence[QuestionRecord | Question]) -> Literal["", "chunk", "url"]:
    """How questions name what is relevant; empty where none does."""
    if any(question.relevant for question in asked):
        return "chunk"
    return "url" if any(question.relevant_urls for question in asked) else ""
