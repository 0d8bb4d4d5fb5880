"""Decision sets: answers that a production judge should show to the user, or should not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ragbench.data.brought import Brought, named_by
from ragbench.data.cells import Forms, flag
from ragbench.data.files import DatasetError, cut
from ragbench.data.question_sets import Name, Text
from ragbench.data.records import Decision
from ragbench.data.rows import checked, read_rows
from ragbench.data.samples import Given, contexts_of
from ragbench.data.shelf import Shelf
from ragbench.data.vocabulary import Columns


def _shown(value: Any) -> bool:
    shown = flag(value)
    if shown is None:
        raise ValueError("true or false, yes or no, 1 or 0 is expected")
    return bool(shown)


class Item(BaseModel):
    """An answer, and whether it should be shown; its context is read by itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Name = None
    question: Text
    answer: Text = None
    ground_truth_show: Annotated[bool, BeforeValidator(_shown)]
    rationale: Text = None


READ = ("id", "user_input", "response", "contexts", "shown", "rationale")
CALLED = {"user_input": "question", "response": "answer", "shown": "ground_truth_show"}


def read(path: Path, *, columns: Given | None = None) -> Brought:
    """The decisions of a table; their contexts are passages of their own, and none of the knowledge base.

    A context is a text, a list of texts, or either of them as a cell of a table holds it (`ragbench.data.cells`).
    An answer that is empty stays (it should not be shown). Items without an id get one made of their texts; an item
    that repeats question, answer and context, contradicts one before or cannot be used is left out and counted.
    columns: which column is which field, where the vocabulary does not tell. Raises DatasetError where none is left.
    """
    brought, forms, known = Brought(), Forms(), Columns(columns, READ)
    decisions = Shelf(Decision)
    for place, row in read_rows(path, held=False, left_out=forms.left_out):
        fields = known.of(row, place)
        try:
            decision = _decision(fields, place, forms)
            if not decisions.put(decision.id, decision, place):
                first = decisions.place(decision.id).rsplit(", ", 1)[1]
                shown = (decisions.get(decision.id) or decision).show
                if "id" in fields:
                    raise DatasetError(f"{place}: id = {decision.id!r}: stands in {first} already; ids are unique")
                if shown != decision.show:
                    raise DatasetError(
                        f"{place}: ground_truth_show = {decision.show}: {first} says {shown} of the same texts"
                    )
                brought.left_out["item that repeats question, answer and context"] += 1
        except DatasetError as error:
            forms.left_out.fault(error, place)
    brought.left_out += forms.left_out.told
    if not decisions:
        raise DatasetError(f"{path.name}: holds no decisions: {forms.left_out.said or 'at least one is expected'}")
    brought.decisions = decisions
    brought.notes += [*known.notes(), *forms.notes]
    if without := sum(not decided.passages for decided in decisions):
        brought.notes.append(
            f"{without} of {len(decisions)} decisions carry no context: the offline judge decides none of them"
        )
    return brought


def _decision(fields: Mapping[str, Any], place: str, forms: Forms) -> Decision:
    item = checked(Item, {CALLED.get(name, name): value for name, value in fields.items()}, place)
    if item.question is None:
        raise DatasetError(f"{place}: question = {cut(fields.get('user_input'))}: a question is expected")
    texts = [context.text.strip() for context in contexts_of(fields.get("contexts"), f"{place}, context", forms) or ()]
    passages = {named_by("context", text): text for text in texts if text}
    made = {
        "id": item.id or named_by("decision", item.question, item.answer or "", *passages.values()),
        "question": item.question,
        "answer": item.answer or "",
        "context": tuple(passages),
        "show": item.ground_truth_show,
        "rationale": item.rationale,
        "passages": passages,
    }
    return checked(Decision, made, place)
