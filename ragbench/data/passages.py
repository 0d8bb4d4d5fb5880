"""Cells into passages, references, labels and groups of relevant ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.types import Passage
from ragbench.data.files import rows_of_columns
from ragbench.data.values import Row, as_list, clean, find, first_found, is_missing, unpack
from ragbench.data.vocabulary import LISTS

HOW_TO_WRITE = (
    "write contexts as a list of texts: [document.page_content for document in documents]"
)


def read_passages(cell: Any, ids: Any = None, parted_by: str = "") -> tuple[Passage, ...] | None:
    """Return the passages of a cell: a list of texts or objects, packed or not, or one text.

    ids: their ids in the same order, where another column has them. parted_by: the mark between
    passages that are written as one text. Without both, the row says nothing of passages: None.
    Raises BenchError for what looks like a list and cannot be read as one, for an object without
    text and id, and for an image.
    """
    names = [str(name) for name in as_list(ids)]
    value = unpack(cell)
    if is_missing(value):
        return tuple(Passage(None, name) for name in names) or None
    if isinstance(value, str):
        text = value.strip()
        if text[0] + text[-1] in {"[]", "{}"}:
            raise BenchError(f"contexts {text[:60]!r} cannot be read as a list; {HOW_TO_WRITE}")
        value = value.split(parted_by) if parted_by else [value]
    elif isinstance(value, dict):
        # Hugging Face turns a list of objects into columns: {"passage_text": [...], "url": [...]}.
        value = rows_of_columns(value) or [value]
    # Without items of their own, ids of another length could belong to any passage.
    if names and len(names) != len(value):
        raise BenchError(f"{len(value)} passages have {len(names)} ids; give as many of both")
    pairs = zip(value, names or [""] * len(value), strict=True)
    return tuple(_passage(item, name) for item, name in pairs if not is_missing(item))


def count_empty(cell: Any) -> int:
    """Count the items of a list of passages that hold nothing."""
    items = unpack(cell)
    return sum(map(is_missing, items)) if isinstance(items, list) else 0


def _passage(item: Any, name: str) -> Passage:
    if isinstance(item, Passage):
        return item
    if isinstance(item, str):
        if item.startswith("data:image/"):
            # To a judge of texts it would be a passage that supports nothing.
            raise BenchError(
                "a passage is an image, and only texts can be judged; take the row out"
            )
        return Passage(clean(item), name)
    # LangChain's dumpd keeps a document under `kwargs`, Haystack's pipelines under `document`.
    inner = first_found(item, ("kwargs", "document"))
    item = inner if isinstance(inner, dict) else item
    texts = {}
    for part in ("text", "id", "url", "title"):
        value = first_found(item, LISTS[f"passage_{part}s"])
        texts[part] = clean(str(value)) if isinstance(value, str | int) else None
    text, name = texts.pop("text"), name or texts["id"] or ""
    if text is None and not name:
        seen = ", ".join(map(str, item)) if isinstance(item, dict) else repr(item)[:60]
        raise BenchError(f"a passage has no text; it has {seen}; {HOW_TO_WRITE}")
    return Passage(text, name, texts["url"] or "", texts["title"] or "")


def read_references(cell: Any) -> tuple[str, ...]:
    """Return one reference answer or several; SQuAD keeps them as {"text": [...]}.

    Raises BenchError for an object in which no text is known.
    """
    references = []
    for item in as_list(find(cell, "text")) or as_list(cell):
        text = find(item, "text") if isinstance(item, dict) else item
        if isinstance(item, dict | list) and not isinstance(text, str):
            raise BenchError(
                "its reference is no text; name its part: --column reference=COLUMN.PART"
            )
        if not is_missing(text):
            references.append(clean(str(text)))
    return tuple(dict.fromkeys(references))


def read_grades(cell: Any) -> list[tuple[str, float, int]]:
    """Return (passage id, grade, number of its group) of relevant ids; of a group any will do.

    A list needs each of its ids, AutoRAG's [[a, b], [c]] one of each group; an object has grades.
    Raises BenchError for ids that are objects, and grades that are no numbers.
    """
    value = unpack(cell)
    grades = []
    items = value.items() if isinstance(value, dict) else as_list(value)
    for number, item in enumerate(items):
        name, grade = item if isinstance(value, dict) else (item, 1)
        if isinstance(grade, bool) or not isinstance(grade, int | float):
            raise BenchError(f"the grade {grade!r} is no number; write {{id: grade}}")
        for passage_id in name if isinstance(name, list) else [name]:
            if isinstance(passage_id, dict):
                raise BenchError(
                    "its relevant ids are objects; write a list of ids, or {id: grade}"
                )
            grades.append((str(passage_id), float(grade), number))
    return grades


def read_id_groups(cell: Any) -> tuple[tuple[str, ...], ...] | None:
    """Return the groups of relevant ids, without grades of 0 and below; None for an empty cell."""
    groups: dict[int, tuple[str, ...]] = {}
    for name, grade, number in read_grades(cell):
        if grade > 0:
            groups[number] = (*groups.get(number, ()), name)
    return None if is_missing(unpack(cell)) else tuple(groups.values())


def read_labels(cells: Mapping[str, Any]) -> Row:
    """Return people's ratings by rater; a column of one rating is its own rater."""
    labels: Row = {}
    for column, cell in cells.items():
        value = unpack(cell)
        labels.update(value if isinstance(value, dict) else {column: value})
    return {rater: rating for rater, rating in labels.items() if not is_missing(rating)}
