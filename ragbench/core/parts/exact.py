"""A table's cells for other programs: CSV that no spreadsheet executes, and columns of plain values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ragbench.core.language import translator
from ragbench.core.parts.blocks import Cell, Column, Grid, Group, Number, P, Piece, Row, Value, within
from ragbench.core.parts.style import Spoken, Style
from ragbench.core.types import Estimate

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, the full-width signs of East Asian programs among it."""
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~])?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, with what an escape says; line ends and tabs stay."""


class Exact(Style):
    """How cells are written for other programs: each as what it is, nothing rounded.

    raw: texts as they are, also those that a spreadsheet would execute.
    """

    nothing = ""

    def __init__(self, *, raw: bool) -> None:
        self.raw = raw

    def cell(self, column: Column, cell: Any, digits: int) -> str:
        """A cell by its own kind: a column may hold counts and words."""
        if isinstance(cell, str):
            return self.text(cell)
        if isinstance(cell, Estimate | tuple):
            return self.counts(cell if isinstance(cell, tuple) else (cell,), digits)
        if cell is None or cell != cell:
            return self.nothing
        return str(cell) if isinstance(cell, int | float) else self.text(str(cell))

    def text(self, text: str) -> str:
        """A text; with an apostrophe before it if a spreadsheet would take it for a formula.

        White space before the sign does not help: programs strip it. What steers a terminal is left out, unless `raw`.
        """
        text = text if self.raw else _STEERING.sub("", text)
        active = text.startswith(ACTIVE) or text.lstrip().startswith(ACTIVE)
        return f"'{text}" if active and not self.raw else text


def columns(grid: Grid) -> Iterator[tuple[Column, list[Any]]]:
    """The columns of a table with their cells as plain values: of values with intervals one for each of what they hold,
    and before all others the groups that rows stand in, where there are any."""
    words = Spoken(translator(grid.language))
    groups, current = list[str](), ""
    for row in grid.rows:
        if isinstance(row, Group):
            current = words.phrase(row.title).strip()
        elif isinstance(row, Row | tuple | list):
            groups.append(current)
    if any(groups):
        yield Column(""), list(groups)
    for place, column in enumerate(grid.columns):
        cells = [row[place] for row in grid.cells]
        title = words.phrase(column.title).strip()
        if column.kind != "interval":
            yield Column(title, column.kind), [_plain(cell, words) for cell in cells]
            continue
        values = [next(within(cell, Value), None) or _without_interval(cell, words) for cell in cells]
        numbers = {"": [value.value for value in values], "low": [value.low for value in values],
                   "high": [value.high for value in values]}  # fmt: skip
        for end, own in numbers.items():
            if end or any(number is not None for number in own):
                yield Column(f"{title} {end}".strip(), "number"), own
        notes = [value.word or value.why or None for value in values]
        if any(notes):
            yield Column(f"{title} note"), notes


def _without_interval(cell: Any, words: Spoken) -> Value:
    """A number by itself in a column of intervals, or the words that stand in place of one."""
    for number in within(cell, Number):
        return Value(number.value)
    said = "" if cell is None else words.phrase(cell.content if isinstance(cell, Cell) else cell).strip()
    return Value(why="" if said == words.nothing else said)


def _plain(cell: Any, words: Spoken) -> Any:
    """A number as it is, and of any other phrase what it says."""
    cell = cell.content if isinstance(cell, Cell) else cell
    if isinstance(cell, Number | P):
        return cell.value
    composed = isinstance(cell, tuple) and any(isinstance(part, str | Piece) for part in cell)
    return words.phrase(cell).strip() if composed or isinstance(cell, Piece) else cell
