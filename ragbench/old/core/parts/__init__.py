"""What views and commands return: Text, Table, Figure, Entries; and one way each to write them for an output.

`plain` writes for a terminal, `markdown`, `latex` and `exact` (CSV, data frames) for files; a page's HTML is written by
`ragbench.old.views.basics.web`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ragbench.old.core import folders, terminal
from ragbench.old.core.language import DASH, Translator, translator
from ragbench.old.core.parts.blocks import (
    Call,
    Cell,
    Chip,
    Column,
    Content,
    Drawing,
    Drawn,
    Entries,
    Entry,
    Figure,
    Grid,
    Group,
    Item,
    Kind,
    Lines,
    Link,
    Mark,
    Name,
    Note,
    Number,
    P,
    Part,
    Parts,
    Phrase,
    Piece,
    Plot,
    Row,
    Section,
    Sentence,
    Styled,
    System,
    Text,
    Under,
    Value,
    beside,
    bold,
    cells_of,
    every,
    filled,
    flat,
    joined,
    small,
    within,
)
from ragbench.old.core.parts.latex import Latex
from ragbench.old.core.parts.markdown import Markdown, Plain
from ragbench.old.core.parts.markdown import markdown as markdown_of
from ragbench.old.core.parts.style import Spoken, Style, spoken
from ragbench.old.core.types import Estimate

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "Call",
    "Cell",
    "Chip",
    "Column",
    "Content",
    "Drawing",
    "Drawn",
    "Entries",
    "Entry",
    "Figure",
    "Group",
    "Item",
    "Latex",
    "Lines",
    "Link",
    "Mark",
    "Markdown",
    "Name",
    "Note",
    "Number",
    "P",
    "Part",
    "Parts",
    "Phrase",
    "Plain",
    "Plot",
    "Row",
    "Section",
    "Sentence",
    "Spoken",
    "Style",
    "Styled",
    "System",
    "Table",
    "Text",
    "Under",
    "Value",
    "beside",
    "bold",
    "every",
    "filled",
    "flat",
    "joined",
    "markdown_of",
    "small",
    "spoken",
    "terms",
    "within",
]


class Table(Grid):
    """Rows of cells under columns, which shows itself at a prompt and in JupyterLab."""

    @classmethod
    def of(
        cls, _: Translator, title: str, heads: Sequence[Any], rows: Iterable[Any], look: str = "rb-wide", **more: Any
    ) -> Table:
        """A table whose columns are of the kind of their first cells. heads: titles, or titles with a look."""
        rows = tuple(rows)
        columns = []
        for place, head in enumerate(heads):
            head = head if isinstance(head, tuple) else (head, "")
            kinds = (
                kind_of(cells[place]) for row in rows if (cells := cells_of(row)) is not None and place < len(cells)
            )
            columns.append(Column(head[0], next(filter(None, kinds), "text"), look=head[1]))
        return cls(tuple(columns), rows, title, look=look, language=_.language, **more)

    @classmethod
    def grouped(
        cls, _: Translator, title: str, heads: Sequence[Any], rows: Iterable[tuple[Phrase, Any]], look: str = "rb-long"
    ) -> Table:
        """The same of rows that are each given with the title of their group, which stands above the first of them."""
        made, before = list[Any](), None
        for group, row in rows:
            made += [row] if group == before else [Group(group), row]
            before = group
        return cls.of(_, title, heads, made, look)

    def column(self, title: str) -> list[Any]:
        """The cells of a column. Raises ValueError for a title that there is not."""
        place = [column.title for column in self.columns].index(title)
        return [row[place] for row in self.cells]

    def to_pandas(self) -> pd.DataFrame:
        """The cells as they are, nothing rounded: of an interval a column an end; None where nothing is known.

        `attrs["title"]` and `attrs["notes"]` are what must be read with the numbers.
        """
        import pandas as pd

        def plain(cell: Any) -> Any:
            if isinstance(cell, tuple):
                counts = [plain(part) for part in cell]
                return counts[0] if len(set(counts)) == 1 else " / ".join(map(str, counts))
            return cell.n if isinstance(cell, Estimate) else cell

        made = pd.DataFrame({column.title: [plain(cell) for cell in cells] for column, cells in columns(self)})
        made.attrs |= {"title": self.title, "notes": list(self.notes)}
        return made

    def with_notes(self, *notes: str) -> Table:
        """The table with more to be read with it; empty texts are none."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))

    def say(self) -> None:
        """Print the table and its notes on the terminal; nothing of one without rows."""
        if not self.rows:
            return
        if self.title:
            terminal.say(f"{self.title}:")
        style = Style()
        titles = [style.phrase(column.title) for column in self.columns]
        left = {title for title, column in zip(titles, self.columns, strict=True) if column.kind in ("text", "verdict")}
        firm = {title for title, column in zip(titles, self.columns, strict=True) if column.firm}
        terminal.table(titles, style.written(self), left=left, firm=firm)
        for note in self.notes:
            terminal.say(note)

    def __repr__(self) -> str:
        """The first ten lines of what `print` shows."""
        return terminal.brief(str(self))

    def __str__(self) -> str:
        return Plain(translator(self.language)).table(self)

    def _repr_html_(self) -> str:
        """The table as HTML, every text escaped, its notes as paragraphs below."""
        style = Spoken(translator(self.language))
        titles = [style.phrase(column.title) for column in self.columns]
        return str(template("table.html.j2").module.table(titles, style.written(self), self.title, self.notes))

    def markdown(self) -> str:
        """The table in Markdown, every sign of it escaped, its notes as paragraphs below."""
        return Markdown(translator(self.language)).table(self) + "\n"

    def latex(self, name: str) -> str:
        """The table for an article, see `ragbench.old.core.parts.latex`; name: its label."""
        return Latex(translator(self.language)).table(self, name)

    def csv(self, *, raw: bool = False) -> str:
        """The table as `write_csv` writes it."""
        made = io.StringIO()
        self.write_csv(made, raw=raw)
        return made.getvalue()

    def write_csv(self, out: TextIO, *, raw: bool = False, head: bool = True) -> None:
        """The table for other programs (RFC 4180), without its notes: each line is a row.

        Numbers are whole and have a point in every language; an interval is a column an end, and one each for its
        number and for the word or reason beside it where any cell has one; what is not known is empty. Texts that a
        spreadsheet would execute begin with an apostrophe unless `raw`, numbers are always numbers. Lines end with both
        signs, so that a text with either of them is quoted: unquoted, a carriage return would begin a line, and what
        follows it a cell. head: whether titles come first.
        """
        style = Exact(raw=raw)
        lines = csv.writer(out, lineterminator="\r\n")
        columns_with_cells: Sequence[Any] = list(columns(self))
        lines.writerows([[style.text(column.title) for column, _cells in columns_with_cells]] if head else [])
        for row in zip(*(cells for _column, cells in columns_with_cells), strict=True):
            lines.writerow(
                [style.cell(column, cell, 0) for (column, _cells), cell in zip(columns_with_cells, row, strict=True)]
            )


def terms(pairs: Iterable[tuple[Phrase, Phrase]], look: str = "rb-provenance") -> Table:
    """Names and what they are."""
    return Table((Column(""), Column("")), tuple(pairs), look=look, named=False)


def kind_of(cell: Any) -> Kind | None:
    """The kind of column that a cell stands in; None where it does not tell."""
    cell = cell.content if isinstance(cell, Cell) else cell
    if isinstance(cell, bool) or cell is None or cell == DASH:
        return None
    kinds: tuple[tuple[type, Kind], ...] = (
        (Value, "interval"), (P, "p"), (Chip, "verdict"), (Number, "number"),
    )  # fmt: skip
    if isinstance(cell, int):
        return "count"
    return next((kind for piece, kind in kinds if any(within(cell, piece))), "text")


TEMPLATES = Path(__file__).parents[2] / "report" / "template"
"""Templates of pages, and the style sheets and scripts beside them."""


@lru_cache
def text_of(*names: str) -> str:
    """Files beside the templates, one after the other."""
    return "\n".join(folders.text(TEMPLATES / name) for name in names)


@lru_cache(maxsize=8)
def template(name: str) -> Any:
    """The template of that file name. Its filter `shown` cleans a text of data, line by line."""
    from jinja2 import Environment, FileSystemLoader

    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, lstrip_blocks=True, trim_blocks=True)
    made.filters["shown"] = shown
    return made.get_template(name)


def shown(text: object) -> str:
    """A text of data in its lines, without secrets, each sign that nobody sees shown as its number; not escaped."""
    return "\n".join(terminal.plain(line) for line in str(text).splitlines())


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
