"""Dialogues: the questions of one conversation in their order, with the answers that were expected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, StrictStr

from ragbench.data.brought import Brought, named_by
from ragbench.data.files import DatasetError
from ragbench.data.question_sets import Name
from ragbench.data.records import Dialogue, Turn
from ragbench.data.rows import Placed, checked, cut, read_rows
from ragbench.data.shelf import Shelf

WRAPPED = "dialogues"


class Item(BaseModel):
    """A dialogue as two lists, an answer for each question."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: Name = None
    questions: list[StrictStr]
    expected_answers: list[StrictStr | None] = []


def read(path: Path) -> Brought:
    """The dialogues of a file: one object, a list of them, or an object with such a list under `dialogues`.

    Each is a session of its own: turns of different dialogues are never compared. Without `expected_answers` the
    answers are not known. Raises DatasetError naming file, item, field, value and what was expected.
    """
    brought = Brought()
    alone = 0
    dialogues = Shelf(Dialogue)
    for place, row in _unwrapped(read_rows(path, held=False)):
        item = checked(Item, row, place)
        asked, answers = item.questions, item.expected_answers
        if not asked:
            raise DatasetError(f"{place}: questions = []: at least one question is expected")
        if answers and len(answers) != len(asked):
            raise DatasetError(
                f"{place}: expected_answers has {len(answers)} answers to {len(asked)} questions; as many are expected"
            )
        for number, question in enumerate(asked):
            if not question.strip():
                raise DatasetError(f"{place}: questions.{number} = {cut(question)}: a question is expected")
        identifier = item.id or named_by("dialogue", *asked)
        replies = answers or [None] * len(asked)
        turns = tuple(
            Turn(question=q.strip(), answer=(a or "").strip() or None) for q, a in zip(asked, replies, strict=True)
        )
        if not dialogues.put(identifier, Dialogue(id=identifier, turns=turns)):
            if item.id is not None:
                raise DatasetError(f"{place}: id = {identifier!r} stands there twice; ids are unique")
            brought.left_out["dialogue that stands there twice"] += 1
            continue
        alone += len(turns) == 1
    if not dialogues:
        raise DatasetError(f"{path.name}: holds no dialogues; at least one is expected")
    brought.dialogues = dialogues
    if alone:
        brought.notes.append(f"{alone} of {len(dialogues)} dialogues have one turn: nothing can be measured of them")
    return brought


def _unwrapped(rows: Iterator[Placed]) -> Iterator[Placed]:
    for place, row in rows:
        inner = row.get(WRAPPED)
        if isinstance(inner, list):
            for number, item in enumerate(inner, 1):
                if not isinstance(item, dict):
                    raise DatasetError(f"{place}: {WRAPPED}.{number} = {cut(item)}: a JSON object is expected")
                yield f"{place}, dialogue {number}", item
        else:
            yield place, row
