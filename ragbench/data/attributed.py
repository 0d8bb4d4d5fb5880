"""What a field of a table says of an answer's parts: nuggets that it should hold, and places that cite passages.

What is no such field is kept as it stands, so that the metric says of its row what is wrong, and the others are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.types import Citation
from ragbench.data.cells import held
from ragbench.data.rows import cut

VITAL = "vital"
TEXTS, MARKS = ("text", "nugget", "fact"), ("importance", "label", "grade")
STARTS, ENDS, NAMES = ("start", "start_index"), ("end", "end_index"), ("passage", "id", "chunk_id", "citations", "ids")


def nuggets_of(value: Any) -> dict[str, str] | None:
    """The nuggets of a field with their importances: a list of texts, which are vital, or of objects, a mapping of
    texts to importances, or one of these as a text; a line of any other text is a nugget. None where nothing was given.
    """
    value = _opened(value)
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = [{"text": text, "importance": importance} for text, importance in value.items()]
    found: dict[str, str] = {}
    for one in value if isinstance(value, list | tuple) else [{"text": cut(value), "importance": "?"}]:
        given = one if isinstance(one, Mapping) else {"text": one}
        text, importance = _first(given, TEXTS), str(_first(given, MARKS) or VITAL).strip().casefold()
        if not isinstance(text, str) or not text.strip():
            text, importance = cut(one), "?"
        text = text.strip()
        found[text] = importance if found.get(text, importance) == importance else f"{found[text]}, {importance}"
    return found


def citations_of(value: Any) -> tuple[Citation, ...] | None:
    """The citations of a field: a list of objects with start, end and a passage's id or number, or several of them.

    None where nothing was given.
    """
    value = _opened(value)
    if value is None:
        return None
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        given = one if isinstance(one, Mapping) else {}
        start, end, names = (_first(given, keys) for keys in (STARTS, ENDS, NAMES))
        if not (isinstance(start, int) and isinstance(end, int)) or names is None:
            start, end, names = -1, -1, cut(one)
        found += [Citation(start, end, str(name)) for name in (names if isinstance(names, list) else [names])]
    return tuple(sorted(found, key=lambda one: (one.start, one.end)))


def _opened(value: Any) -> Any:
    """The value that a cell holds; its lines where it holds none."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        inside = held(value)
    except ValueError:
        inside = None
    return [line for line in value.splitlines() if line.strip()] if inside is None else inside[0]


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)
