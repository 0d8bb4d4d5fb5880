"""Docstrings as reStructuredText: they are plain prose with single backticks, and `name: meaning` for each argument."""

from __future__ import annotations

import re
from typing import Any

ARGUMENT = re.compile(r"^(?P<names>\w+(?:, \w+)*): (?P<rest>\S.*)$")
INLINE = re.compile(r"(`[^`]+`)")


def written(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """What Sphinx calls for every docstring: replaces its lines."""
    lines[:] = restructured(lines)


def restructured(lines: list[str]) -> list[str]:
    """A paragraph a paragraph, an argument an item of a list; what stands in backticks is code."""
    made: list[str] = []
    for paragraph in "\n".join(lines).strip().split("\n\n"):
        whole: list[str] = []
        for line in paragraph.split("\n"):
            found = ARGUMENT.match(line)
            if found and not line.startswith(" "):
                whole.append(f"* **{found['names']}**: {_escaped(found['rest'])}")
            elif whole:
                whole[-1] += f" {_escaped(line.strip())}"
            else:
                whole.append(_escaped(line.strip()))
        for one in whole:
            made += [one, ""]
    return made


def _escaped(text: str) -> str:
    parts = INLINE.split(text)
    return "".join(f"`{part}`" if number % 2 else re.sub(r"([\\*|]|_\b)", r"\\\1", part) for number, part in enumerate(parts))
