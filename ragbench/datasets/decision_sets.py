"""Decision sets: answers that a production judge should show to the user, or should not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ragbench.datasets.brought import Brought, named_by
from ragbench.datasets.files import DatasetError
from ragbench.datasets.question_sets import Name, Text, flag
from ragbench.datasets.records import ChunkRecord, Decision
from ragbench.datasets.rows import checked, listed, read_rows


def _shown(value: Any) -> bool:
    found = flag(value)
    if found is None:
        raise ValueError("true or false, yes or no, 1 or 0 is expected")
    return bool(found)


def _contexts(value: Any) -> list[str]:
    found = listed(value) if not isinstance(value, str) or value.lstrip().startswith("[") else [value]
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in found):
        raise ValueError("a text, or a list of texts, is expected")
    return [one.strip() for one in found if one.strip()]


class Item(BaseModel):
    """An answer with the context it was written from, and whether it should be shown."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Name = None
    question: Text
    answer: Text = None
    context: Annotated[list[str], BeforeValidator(_contexts)] = []
    ground_truth_show: Annotated[bool, BeforeValidator(_shown)]
    rationale: Text = None


def read(path: Path) -> Brought:
    """The decisions of a file; every context becomes a chunk, equal ones the same.

    An answer that is empty stays (it should not be shown). Items without an id get one made of their texts; an item
    that repeats question, answer and context is left out and counted, and one that contradicts itself is an error.
    Raises DatasetError naming file, item, field, value and what was expected.
    """
    brought = Brought()
    chunks: dict[str, ChunkRecord] = {}
    seen: dict[str, tuple[str, bool]] = {}
    for place, row in read_rows(path):
        item = checked(Item, row, place)
        if item.question is None:
            raise DatasetError(f"{place}: question = {row.get('question')!r}: a question is expected")
        contexts = [ChunkRecord(id=named_by("context", text), text=text) for text in item.context]
        identifier = item.id or named_by("decision", item.question, item.answer or "", *item.context)
        if identifier in seen:
            first, shown = seen[identifier]
            if item.id is not None:
                raise DatasetError(f"{place}: id = {identifier!r} stands in {first} already; ids are unique")
            if shown != item.ground_truth_show:
                raise DatasetError(
                    f"{place}: ground_truth_show = {item.ground_truth_show}: {first} says {shown} of the same texts"
                )
            brought.left_out["item that repeats question, answer and context"] += 1
            continue
        seen[identifier] = (place.rsplit(", ", 1)[1], item.ground_truth_show)
        chunks |= {chunk.id: chunk for chunk in contexts}
        brought.decisions.append(
            Decision(
                id=identifier,
                question=item.question,
                answer=item.answer or "",
                context=tuple(dict.fromkeys(chunk.id for chunk in contexts)),
                show=item.ground_truth_show,
                rationale=item.rationale,
            )
        )
    if not brought.decisions:
        raise DatasetError(f"{path.name}: holds no items; at least one is expected")
    brought.chunks = sorted(chunks.values(), key=lambda chunk: chunk.id)
    without = sum(not decision.context for decision in brought.decisions)
    if without:
        brought.notes.append(f"{without} of {len(brought.decisions)} decisions carry no context")
    return brought
