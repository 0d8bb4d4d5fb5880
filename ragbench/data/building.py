"""Rows into the frames of a data set: passages, questions, labels, and what stands beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.frames import EXTRAS, GROUPED_LABELS, PASSAGES, QUESTIONS, frame_of
from ragbench.core.numbers import read_numbers
from ragbench.core.types import Dataset, Passage
from ragbench.data.columns import choose_columns, text_of
from ragbench.data.files import LeftOut, Table
from ragbench.data.messages import is_dialogue, read_turns
from ragbench.data.passages import read_grades, read_labels, read_passages, read_references
from ragbench.data.values import Row, as_list, clean, find, name_by_text, read_truth
from ragbench.data.vocabulary import FIELDS, NEEDED

BASE = (PASSAGES, QUESTIONS, GROUPED_LABELS)
FRAMES = {frame.name: frame for frame in (*BASE, *EXTRAS.values())}
FIRST_PAGE = 1000  # number of the first group that is a page
Rows = list[tuple[Any, ...]]


@dataclass
class Builder:
    """Gathers the rows of a data set by frame, and what is left out.

    named: field → column, where names are not known. passages: by id. labels: question and passage
    → grade and group. pages: question and url. seen: the columns of the table. part: number of the
    part of a table that is read in parts; 0: read whole. balance: Russian minus Latin letters.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=lambda: {frame.name: [] for frame in BASE})
    passages: dict[str, tuple[str, ...]] = field(default_factory=dict)
    labels: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    pages: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: str = ""
    part: int = 0
    balance: int = 0

    def add(self, name: str, table: Table) -> None:
        """Take in the rows of a table for a frame: as `write_dataset` wrote them, or by fields."""
        names = FRAMES[name].names
        self.left_out += table.left_out
        self.seen = f"the columns are {', '.join(table.columns)}"
        is_written = set(names) <= set(table.columns)
        columns = choose_columns(table, self.named, () if is_written else FIELDS)
        for number, row in enumerate(table.rows, table.start):
            values = columns.values(row)
            try:
                if is_written:
                    rows = [tuple(_as_written(row[column]) for column in names)]
                else:
                    key = "passage_id" if name == "passages" else "id"
                    row_id = text_of(values, key) or text_of(values, "id") or str(number)
                    rows = self.read_row(name, values, row_id)
                self.keep(name, rows)
            except BenchError as error:
                self.left_out.append(LeftOut(f"row {number}", str(error)))

    def keep(self, name: str, rows: Rows) -> None:
        """Take in rows of a frame. Refuses a passage whose id has another text already."""
        for row in rows:
            if name == "labels":
                self.labels.setdefault(row[:2], row[2:])
            elif name != "passages":
                self.rows.setdefault(name, []).append(row)
            elif self.passages.setdefault(row[0], row)[1] != row[1]:
                raise BenchError(f"the passage {row[0]!r} has two texts; give each its own id")

    def read_row(self, name: str, values: Row, row_id: str) -> Rows:
        """Return the rows of a frame that one row of a table makes. Raises BenchError for none."""
        if name == "dialogues":
            return read_dialogue(values, row_id)
        frame = FRAMES[name]
        cells: Row = {frame.key[0]: row_id}
        if name in EXTRAS:
            cells |= self.read_contexts(values)
        if name == "questions":
            cells |= self.read_question(values, text_of(values, "question_id") or row_id)
        for column in frame.columns:
            if column.type == "text" and column.name not in cells:
                cells[column.name] = text_of(values, column.name) or ""
            elif column.name not in cells:
                value = values.get(column.name)
                cells[column.name] = read_truth(value) if column.type == "truth" else value
        check_needed(name, cells, values)
        ratings: Row = {text_of(values, "rater") or "": values["value"]}
        if name == "ratings":
            ratings = read_labels(values["labels"]) or ratings
        rows = []
        for rater, rating in ratings.items():
            cells |= {"rater": rater, "value": rating}
            rows.append(tuple(cells[column] for column in frame.names))
        return rows

    def read_question(self, values: Row, name: str) -> Row:
        """Return cells of a question; its labels, and passages that its row carries, are kept."""
        text = text_of(values, "question") or text_of(values, "text")
        check_needed("questions", {"text": text}, values)  # before anything of it is kept
        references = read_references(values["reference"])
        answerable = read_truth(values["answerable"])
        labels = read_grades(values["reference_context_ids"])
        for passage in read_passages(values["contexts"]) or ():
            self.carry(passage)
        for passage in read_passages(values["reference_contexts"], values["passage_id"]) or ():
            passage_id = self.carry(passage, text_of(values, "url") or "")
            if answerable is not False:
                labels.append((passage_id, 1.0, len(labels)))
        self.keep("labels", [(name, *label) for label in labels])
        self.pages += [(name, str(url)) for url in as_list(values["relevant_urls"])]
        if answerable is None:
            # An empty list of relevant passages says that there is none.
            answerable = bool(labels or references or values["reference_context_ids"] is None)
        return {
            "question_id": name,
            "text": text,
            "unit": text_of(values, "cluster") or name,
            "reference": next(iter(references), ""),
            "references": references,
            "answerable": answerable,
        }

    def carry(self, passage: Passage, url: str = "") -> str:
        """Keep a passage of a question's row; return its id, made of its text if it has none."""
        text = passage.text or ""
        name = passage.id or f"p-{name_by_text(text)}"
        if text:
            self.keep("passages", [(name, text, passage.url or url, passage.title, "")])
        return name

    def read_contexts(self, values: Row) -> Row:
        """Return texts and ids of what was shown; an id of the base stands for its text."""
        texts, ids = [], []
        for passage in read_passages(values["contexts"], values["context_ids"]) or ():
            known = self.passages.get(
                passage.id or passage.text or "", (passage.id, passage.text or "")
            )
            ids.append(known[0])
            texts.append(known[1])
        return {"contexts": tuple(texts), "context_ids": tuple(ids)}

    def label_pages(self) -> None:
        """Label the passages of relevant pages: of a page, any passage will do.

        Other parts may have more passages of a page: its url is the label until all are read.
        """
        ids_by_url: dict[str, list[str]] = {}
        passages = () if self.part else self.passages.values()
        for row in passages:
            ids_by_url.setdefault(row[2], []).append(row[0])
        urls = ids_by_url.keys() - self.passages.keys()
        named = [(question_id, name) for question_id, name in self.labels if name in urls]
        for number, (question_id, url) in enumerate([*self.pages, *named], FIRST_PAGE):
            _, group = self.labels.pop((question_id, url), (1.0, number))
            # A page without passages stays a label of what the base lacks.
            keys = [(question_id, passage_id) for passage_id in ids_by_url.get(url, [url])]
            if not self.labels.keys() & keys:  # else a passage of it is labelled already
                self.labels |= dict.fromkeys(keys, (1.0, group))

    def build(self, name: str, language: str = "") -> Dataset:
        """Make the data set. Raises BenchError where it has neither questions nor passages."""
        self.label_pages()
        self.rows["passages"] = list(self.passages.values())
        self.rows["labels"] = [(*key, *label) for key, label in self.labels.items()]
        unknown = {passage_id for _, passage_id in self.labels} - self.passages.keys()
        notes = list(self.notes)
        if unknown and self.passages:
            notes.append(
                f"{len(unknown):,} labelled ids are not in the base, such as {min(unknown)}"
            )
        for row in self.left_out[:1]:
            first = f"the first {row.place}: {row.reason}"
            notes.append(f"{len(self.left_out):,} rows left out, {first}")
        if self.part < 2 and not any(self.rows.values()):  # later parts may be empty
            raise BenchError(f"no row can be used; {'; '.join([*notes, self.seen])}")
        texts = "".join(row[1] for row in self.rows["questions"] or self.rows["passages"]).lower()
        self.balance += len(re.findall("[а-яё]", texts)) - len(re.findall("[a-z]", texts))
        frames = {}
        for key, rows in self.rows.items():
            frame = pd.DataFrame(rows, columns=FRAMES[key].names)
            rows.clear()  # the frame holds them
            for column in FRAMES[key].columns:
                if column.type == "number":  # a column as a whole tells what a comma is
                    frame[column.name] = read_numbers(frame[column.name], f"{key}: {column.name}")
            frames[key] = frame_of(frame, FRAMES[key])
        base = {frame.name: frames.pop(frame.name) for frame in BASE}
        language = language or ("ru" if self.balance > 0 else "en")
        return Dataset(name, language, **base, extras=frames, notes=tuple(notes))


def check_needed(name: str, cells: Row, values: Row) -> None:
    """Refuse a row of a frame that lacks what each row needs."""
    needed = NEEDED[name]
    if cells[needed] in ("", None):
        option = f"--column {needed}=COLUMN"
        raise BenchError(f"{needed} is {values[needed]!r}; write one, or name another: {option}")


def read_dialogue(values: Row, name: str) -> Rows:
    """Return the turns of a dialogue: messages, turns, or questions with expected answers."""
    turns = as_list(values["messages"])
    if is_dialogue(turns):
        turns = [vars(turn) for turn in read_turns(turns)]
    pairs = zip_longest(as_list(values["questions"]), as_list(values["expected_answers"]))
    turns += [{"question": question, "answer": answer} for question, answer in pairs]
    if not turns:
        raise BenchError("it has no messages; name their column: --column messages=COLUMN")
    rows: Rows = []
    for number, turn in enumerate(turns, 1):
        relevant = {
            passage_id: grade for passage_id, grade, _ in read_grades(find(turn, "relevant"))
        }
        question, answer = (clean(str(find(turn, part) or "")) for part in ("question", "answer"))
        if not question:
            raise BenchError("a turn has no question")
        rows.append((name, number, question, answer, relevant))
    return rows


def _as_written(cell: Any) -> Any:
    return tuple(cell) if isinstance(cell, list) else cell
