"""Decision sets: answers that a production judge should show to the user, or should not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ragbench.data.brought import Brought, named_by
from ragbench.data.cells import Forms
from ragbench.data.files import DatasetError
from ragbench.data.question_sets import Name, Text, flag
from ragbench.data.records import Decision
from ragbench.data.rows import checked, cut, read_rows
from ragbench.data.samples import contexts_of
from ragbench.data.shelf import Shelf


def _shown(value: Any) -> bool:
    found = flag(value)
    if found is None:
        raise ValueError("true or false, yes or no, 1 or 0 is expected")
    return bool(found)


class Item(BaseModel):
    """An answer, and whether it should be shown; its context is read by itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Name = None
    question: Text
    answer: Text = None
    ground_truth_show: Annotated[bool, BeforeValidator(_shown)]
    rationale: Text = None


def read(path: Path) -> Brought:
    """The decisions of a file; their contexts are passages of their own, and none of the knowledge base.

    A context is a text, a list of texts, or either of them as a cell of a table holds it (`ragbench.data.cells`).
    An answer that is empty stays (it should not be shown). Items without an id get one made of their texts; an item
    that repeats question, answer and context is left out and counted, and one that contradicts itself is an error.
    Raises DatasetError naming file, item, field, value and what was expected.
    """
    brought = Brought()
    forms = Forms()
    decisions = Shelf(Decision)
    without = 0
    for place, row in read_rows(path, held=False):
        item = checked(Item, row, place)
        if item.question is None:
            raise DatasetError(f"{place}: question = {cut(row.get('question'))}: a question is expected")
        texts = [one.text.strip() for one in contexts_of(row.get("context"), f"{place}, context", forms) or ()]
        passages = {named_by("context", one): one for one in texts if one}
        identifier = item.id or named_by("decision", item.question, item.answer or "", *passages.values())
        made = {
            "id": identifier,
            "question": item.question,
            "answer": item.answer or "",
            "context": tuple(passages),
            "show": item.ground_truth_show,
            "rationale": item.rationale,
            "passages": passages,
        }
        decision = checked(Decision, made, place)
        if not decisions.put(identifier, decision, place):
            first, shown = decisions.place(identifier).rsplit(", ", 1)[1], (decisions.get(identifier) or decision).show
            if item.id is not None:
                raise DatasetError(f"{place}: id = {identifier!r} stands in {first} already; ids are unique")
            if shown != item.ground_truth_show:
                raise DatasetError(
                    f"{place}: ground_truth_show = {item.ground_truth_show}: {first} says {shown} of the same texts"
                )
            brought.left_out["item that repeats question, answer and context"] += 1
            continue
        without += not passages
    if not decisions:
        raise DatasetError(f"{path.name}: holds no items; at least one is expected")
    brought.decisions = decisions
    brought.notes += forms.notes
    if without:
        brought.notes.append(
            f"{without} of {len(decisions)} decisions carry no context: the offline judge decides none of them"
        )
    return brought
