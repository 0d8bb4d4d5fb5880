"""Values inside a row: by path, unpacked where a cell holds JSON; numbers as people write them."""

from __future__ import annotations

import ast
import hashlib
import json
import unicodedata
from collections.abc import Iterable
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.data.vocabulary import LISTS, normalize

Row = dict[str, Any]


def is_missing(value: Any) -> bool:
    """Whether a cell says nothing: None, NaN (which alone differs from itself), or no text."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def clean(text: str) -> str:
    """Return a text in composed form (NFC): the same letters are the same text."""
    return unicodedata.normalize("NFC", text)


def name_by_text(text: str) -> str:
    """Return a short name that is made of a text, and stays while the text does."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _check_keys(pairs: list[tuple[str, Any]]) -> Row:
    # Python's json keeps the last of two equal keys, and a value would be lost in silence.
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in row if names.count(name) > 1)
        raise BenchError(f"the key {repeated!r} stands twice in one object; keep one of the two")
    return row


# NaN and Infinity are no JSON, but Python and pandas write them; they are missing values here.
DECODER = json.JSONDecoder(object_pairs_hook=_check_keys, parse_constant=lambda _: None)


def unpack(cell: Any) -> Any:
    """Return the list, object or text that a cell holds as JSON or as Python prints it.

    Other cells come back as they are. Some exports quote twice, so a text is looked at once more.
    """
    if hasattr(cell, "tolist"):
        return cell.tolist()
    for _ in range(2):
        text = cell.strip() if isinstance(cell, str) else ""
        if text[:1] not in {"[", "{", '"'}:
            return cell
        try:
            cell = DECODER.decode(text)
            continue
        except (json.JSONDecodeError, RecursionError):
            pass
        try:
            return ast.literal_eval(text) if text[0] != '"' else cell
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return cell
    return cell


def as_list(cell: Any) -> list[Any]:
    """Return the items of a list, packed or not; anything else as the one item, nothing as none."""
    value = unpack(cell)
    if is_missing(value):
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def find(value: Any, path: str) -> Any:
    """Return what stands at a path such as `inputs.question`, or None.

    Names may hold dots themselves (`input.value`): the longest name that is there is tried first.
    """
    value = unpack(value)
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]  # the usual case
    names = {normalize(name): name for name in value}
    wanted = normalize(path)
    for name in sorted(names, key=len, reverse=True):
        inner = value[names[name]]
        if wanted == name:
            return inner
        found = find(inner, wanted[len(name) + 1 :]) if wanted.startswith(f"{name}.") else None
        if found is not None:
            return found
    return None


def first_found(value: Any, paths: Iterable[str]) -> Any:
    """Return the value at the first path that holds one, or None."""
    for path in paths:
        found = find(value, path)
        if not is_missing(found):
            return found
    return None


def read_truth(cell: Any) -> bool | None:
    """Read yes or no, in English and Russian; None where the cell says neither."""
    word = str(cell).strip().lower()
    if word in LISTS["true"]:
        return True
    return False if word in LISTS["false"] else None
