"""JSON of a value that is too large to be held: its text in pieces, letter by letter that of the value as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any


def of_json(value: Any, indent: int = 1, clean: Callable[[Any], Any] = lambda value: value) -> Iterator[str]:
    """The text of a JSON value. An iterator among the values of a mapping is a list that is read as it is written.

    clean: what each value goes through before. Raises ValueError for NaN.
    """

    def text(part: Any, depth: int) -> str:
        written = json.dumps(clean(part), ensure_ascii=False, indent=indent, allow_nan=False)
        return written.replace("\n", "\n" + " " * (indent * depth))  # a text of JSON holds no end of a line

    if not isinstance(value, Mapping) or not any(isinstance(member, Iterator) for member in value.values()):
        yield text(value, 0)
        return
    opening = "{"
    for key, content in value.items():
        yield f"{opening}\n{' ' * indent}{json.dumps(clean(key), ensure_ascii=False)}: "
        opening = ","
        if isinstance(content, Iterator):
            yield from _listed((text(each, 2) for each in content), indent)
        else:
            yield text(content, 1)
    yield "\n}"


def _listed(texts: Iterator[str], indent: int) -> Iterator[str]:
    opening = "["
    for text in texts:
        yield f"{opening}\n{' ' * (2 * indent)}{text}"
        opening = ","
    yield "[]" if opening == "[" else f"\n{' ' * indent}]"
