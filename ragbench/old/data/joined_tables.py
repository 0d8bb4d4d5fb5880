"""Several tables of answers: each what one system answered, or some of them the questions of the others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from ragbench.old.core.types import Sample
from ragbench.old.data.cells import Forms
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import DatasetError, LeftOut
from ragbench.old.data.samples import READ, Given, read_samples, streamed, unique
from ragbench.old.data.systems_of_answers import Ids, named_by_files
from ragbench.old.data.vocabulary import field_of

OF_QUESTIONS = ("user_input", "reference", "references", "reference_contexts", "language", "cluster")
"""Of the fields of a sample, what is said of a question, whoever answers it."""
RIGHT = re.compile(r"(^|[\W_])ground[\W_]?truth([\W_]|$)", re.IGNORECASE)
"""How files of right answers are called."""


@dataclass(frozen=True, eq=False)
class _Table:
    """read: field → the column that it was read from."""

    name: str
    samples: Sequence[Sample]
    read: Mapping[str, str]

    @property
    def has_questions(self) -> bool:
        """Whether any of its rows has one."""
        return any(sample.user_input for sample in self.samples)


def read_all(paths: Sequence[Path], forms: Forms | None = None, columns: Given | None = None) -> list[Sample]:
    """The samples of several tables: each is what one system answered, called as its file, where no row names one; or
    some hold answers without questions, and the others their questions, by the same ids, or in the same order where
    none has ids. Beside others the answers of a file that is called ground_truth are the right ones, where no
    column was named for them. Raises DatasetError."""
    if len(paths) == 1:
        return read_samples(paths[0], forms, columns)
    tables = _tables(paths, forms, columns)
    asking = _asking(tables)
    answering = [table for table in tables if table not in asking or table.samples[0].response is not None]
    questions = [sample for table in asking for sample in table.samples]
    is_apart = any(sample.contexts for sample in questions) and any(table.has_questions for table in answering)
    if not asking or not answering or (is_apart and all(table.has_questions for table in tables)):
        return unique([sample for table in tables for sample in table.samples])
    samples, lost = [], LeftOut()
    for table in answering:
        of_each = _questions_of(table, asking, questions)
        for sample, question in zip(table.samples, of_each, strict=True):
            if question is None or question.user_input != (sample.user_input or question.user_input):
                lost.add("answer whose id no question has", f"{table.name}, {sample.id}")
            else:
                samples.append(_with(sample, question))
    if not samples:
        raise DatasetError(f"{answering[0].name}: none of its answers has the id of a question of {asking[0].name}")
    if forms is not None:
        forms.left_out.join(lost)
        joined = "with the same ids" if "id" in asking[0].read else "in the same order"
        forms.unread.append(f"{', '.join(table.name for table in asking)}: questions of the answers {joined}")
    return unique(samples)


def _tables(paths: Sequence[Path], forms: Forms | None, columns: Given | None) -> list[_Table]:
    """Raises DatasetError for a column that was named and that none of them has."""
    ids, tables, lacking = Ids(), [], []
    right = [path for path in paths if RIGHT.search(path.name)] if columns is None or "answer" not in columns else []
    right = right if len(right) < len(paths) else []
    for system, path in named_by_files(paths):
        known = Columns(columns, READ, strict=False)
        read = streamed(path, forms, known, held=True, system=system, ids=ids)
        samples = unique([sample for _, sample in read])
        is_said = any(sample.user_input is not None or sample.response is not None for sample in samples)
        if field_of(known.read.get("reference")) == "response" and not is_said:
            # the column that holds the right answers elsewhere holds a system's here
            samples = [replace(own, response=own.reference, reference=None, references=()) for own in samples]
        elif path in right and all(own.user_input and own.reference is None for own in samples):
            samples = [replace(own, response=None, reference=own.response, contexts=None) for own in samples]
        tables.append(_Table(path.name, samples, known.read))
        lacking.append(known.lacking)
    if nowhere := set.intersection(*map(set, lacking)):
        raise DatasetError(f"{', '.join(path.name for path in paths)}: none has a column {lacking[0][min(nowhere)]}")
    return tables


def _asking(tables: Sequence[_Table]) -> list[_Table]:
    """The tables that hold the questions of others: no answers, or, where one has no questions, beside references.
    Raises DatasetError where they are with answers alone, which may be the right ones or another system's."""
    unasked = [table for table in tables if not table.has_questions]
    asking = [
        table for table in tables
        if all(own.user_input and (own.response is None or (unasked and own.reference)) for own in table.samples)
    ]  # fmt: skip
    if unasked and not asking and (others := [table for table in tables if table not in unasked]):
        given = shlex.quote(f"reference={others[0].read.get('response', 'COLUMN')}")
        raise DatasetError(
            f"{unasked[0].name}: has no questions, and {others[0].name} has them with answers: if these are the right "
            f"ones, say so, --column {given}; else give a file of the questions, too"
        )
    return asking


def _questions_of(table: _Table, asking: Sequence[_Table], questions: Sequence[Sample]) -> Sequence[Sample | None]:
    """The question of each answer of a table, by its id, or by its place where nothing has ids; an answer with a
    question of its own is it. Raises DatasetError where neither tells."""
    with_ids = {"id" in own.read for own in (table, *asking)}
    if not table.has_questions:
        if len(with_ids) > 1 or (with_ids == {False} and len(table.samples) != len(questions)):
            raise DatasetError(
                f"{table.name}: {len(table.samples)} answers and {len(questions)} questions of {asking[0].name} that "
                "nothing joins: ids are expected in both, or in neither, and as many rows then, in the same order"
            )
        if with_ids == {False}:
            return questions
    asked = {question.id: question for question in questions}
    return [asked.get(own.id, own if own.user_input else None) for own in table.samples]


def _with(sample: Sample, question: Sample) -> Sample:
    """An answer with what it lacks of its question."""
    names = [own.name for own in fields(Sample)] if question.response is None else OF_QUESTIONS
    lacking = {name: getattr(question, name) for name in names if getattr(sample, name) in (None, ())}
    return replace(sample, **lacking, id=question.id)
