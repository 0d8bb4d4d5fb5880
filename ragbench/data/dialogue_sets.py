"""Dialogues: the questions of one conversation in their order, with the answers that were expected."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, StrictStr

from ragbench.data.brought import Brought, named_by
from ragbench.data.cells import opened
from ragbench.data.files import DatasetError, LeftOut, cut, cut_list
from ragbench.data.payloads import question_of
from ragbench.data.question_sets import Name
from ragbench.data.records import Dialogue, Turn
from ragbench.data.rows import checked, read_rows, wrapped
from ragbench.data.samples import Given, turns_of
from ragbench.data.shelf import Shelf
from ragbench.data.vocabulary import Columns

READ = ("id", "questions", "expected_answers", "messages", "user_input", "response", "reference", "session", "cluster")


class Item(BaseModel):
    """A dialogue as two lists, an answer for each question."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: Name = None
    questions: list[StrictStr]
    expected_answers: list[StrictStr | None] = []


def read(path: Path, *, columns: Given | None = None) -> Brought:
    """The dialogues of a table: a list of messages each (OpenAI's `messages`, ShareGPT's `conversations`), or two lists
    of `questions` and `expected_answers`, or a row a turn that names its session.

    Each is a session of its own: turns of different dialogues are never compared. Without answers they are not known.
    Rows that cannot be used are left out and counted. Raises DatasetError where none can be.
    """
    brought, left_out, known = Brought(), LeftOut(), Columns(columns, READ)
    dialogues, sessions = Shelf(Dialogue), dict[str, list[Turn]]()
    for place, row in read_rows(path, held=False, left_out=left_out, spread=False):
        for where, inner in _unwrapped(row, place):
            try:
                fields = known.of(inner, where)
                if "session" in fields and not fields.keys() & {"messages", "questions"} and "user_input" in fields:
                    said = fields.get("reference", fields.get("response"))
                    turn = Turn(question=str(fields["user_input"]), answer=None if said is None else str(said))
                    sessions.setdefault(str(fields["session"]), []).append(turn)
                    continue
                identifier, turns = _dialogue(fields, inner, where)
                if not dialogues.put(identifier, Dialogue(id=identifier, turns=turns)):
                    if "id" in fields:
                        raise DatasetError(f"{where}: id = {identifier!r}: stands there twice; ids are unique")
                    brought.left_out["dialogue that stands there twice"] += 1
            except DatasetError as error:
                left_out.fault(error, where)
    for name, own in sessions.items():
        dialogues.put(name, Dialogue(id=name, turns=tuple(own)))
    brought.left_out += left_out.told
    if not dialogues:
        raise DatasetError(f"{path.name}: holds no dialogues: {left_out.said or 'at least one is expected'}")
    brought.dialogues = dialogues
    brought.notes += known.notes()
    if alone := sum(len(dialogue.turns) == 1 for dialogue in dialogues):
        brought.notes.append(f"{alone} of {len(dialogues)} dialogues have one turn: nothing can be measured of them")
    return brought


def _unwrapped(row: Mapping[str, Any], place: str) -> list[tuple[str, Mapping[str, Any]]]:
    if (inner := wrapped(row)) is None:
        return [(place, row)]
    return [
        (f"{place}, dialogue {number}", dialogue)
        for number, dialogue in enumerate(inner, 1)
        if isinstance(dialogue, Mapping)
    ]


def _dialogue(fields: Mapping[str, Any], row: Mapping[str, Any], place: str) -> tuple[str, tuple[Turn, ...]]:
    given_turns = opened(fields.get("messages"))
    if isinstance(given_turns, list) and all(isinstance(question, str) for question in given_turns):
        fields = {**fields, "questions": given_turns, "expected_answers": opened(fields.get("reference")) or []}
    said = turns_of(fields.get("messages", fields.get("user_input")))
    if said is None and "questions" not in fields:
        raise DatasetError(
            f"{place}: messages, or questions, is missing; one is expected in every item; it has {cut_list(row)}"
        )
    given = {"id": fields.get("id"), "questions": fields.get("questions", []), "expected_answers": []}
    if said is not None:
        given |= {"questions": [turn.question for turn in said], "expected_answers": [turn.answer for turn in said]}
    else:
        answers = fields.get("expected_answers", opened(fields.get("reference"))) or []
        lists = {"questions": opened(fields["questions"]), "expected_answers": answers}
        given |= {  # of CoQA each is an object
            name: [question_of(part) if isinstance(part, Mapping) else part for part in own]
            if isinstance(own, list)
            else own
            for name, own in lists.items()
        }
    item = checked(Item, given, place)
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
    replies = answers or [None] * len(asked)
    turns = tuple(
        Turn(question=q.strip(), answer=(a or "").strip() or None) for q, a in zip(asked, replies, strict=True)
    )
    return item.id or named_by("dialogue", *asked), turns
