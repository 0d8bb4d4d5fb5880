"""Docstrings as reStructuredText: they are plain prose with single backticks, and `name: meaning` for each argument."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

ARGUMENT = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<rest>\S.*)$")
CODE = "::"
INLINE = re.compile(r"(`[^`]+`)")


def written(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """What Sphinx calls for every docstring: replaces its lines."""
    found = pieces("\n".join(lines))
    lines[:] = [line for names, text in found for line in (*_written(names, text), "")]


def pieces(docstring: str) -> Iterator[tuple[str, str]]:
    """A docstring's parts in their order, each with what it is: "" for a paragraph, the arguments' names for their
    meaning, CODE for lines that are set in."""
    for paragraph in docstring.strip("\n").split("\n\n"):
        if all(line.startswith("    ") for line in paragraph.split("\n")):
            yield CODE, paragraph
            continue
        whole: list[tuple[str, str]] = []
        for line in paragraph.split("\n"):
            found = ARGUMENT.match(line)
            if found:
                whole.append((found["names"], found["rest"]))
            elif whole and not (whole[-1][0] and whole[-1][1].endswith(".") and not line.startswith(" ")):
                whole[-1] = (whole[-1][0], f"{whole[-1][1]} {line.strip()}")
            else:
                whole.append(("", line.strip()))
        yield from whole


def _written(names: str, text: str) -> list[str]:
    if names == CODE:
        return ["::", "", *text.split("\n")]
    return [(f"* **{names}**: " if names else "") + _escaped(text)]


def _escaped(text: str) -> str:
    """Code in RST's two backticks, and no sign of the prose taken for markup."""
    parts = INLINE.split(text)
    return "".join(
        f"`{part}`" if number % 2 else re.sub(r"([\\*|]|_\b)", r"\\\1", part) for number, part in enumerate(parts)
    )
