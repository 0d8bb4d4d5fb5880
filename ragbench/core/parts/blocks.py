"""The parts that a view returns: Text, Table, Figure, Entries; and Section, which holds some of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ragbench.core.parts.cells import Phrase, Piece

Kind = Literal["text", "number", "interval", "p", "verdict", "count"]


class Part:
    """Anything that a view returns."""


@dataclass(frozen=True)
class Text(Part):
    """A paragraph, or a heading. look: `h2`, `h3`, or what a page calls such a paragraph: rb-lede, rb-meta."""

    content: Phrase
    look: str = ""


@dataclass(frozen=True)
class Column:
    """What stands in a column.

    kind: text; number: a float; interval: a Value; p: a float; verdict: its words; count: an int, words, or several of
    them as ints or Estimates. A cell that is a piece is written as such. signed: numbers with a plus. firm: never
    folded on a terminal. look: of its cells and head on a page; head: of its head where that is another. label: what a
    card of a narrow page calls it, where the title is too long for that.
    """

    title: Phrase
    kind: Kind = "text"
    signed: bool = False
    firm: bool = False
    look: str = ""
    head: str | None = None
    label: Phrase = ""


@dataclass(frozen=True)
class Cell(Piece):
    """A cell that is not like the others of its column. span: of how many columns it is. label: see `Column`."""

    content: Phrase
    look: str = ""
    span: int = 1
    label: Phrase = ""


@dataclass(frozen=True)
class Row:
    """A row with more than its cells. anchor: of its first. under: what is said below it, in all its width."""

    cells: Sequence[Any]
    anchor: str = ""
    under: Phrase = ""


@dataclass(frozen=True)
class Group:
    """A title over the rows that follow. cells: what stands beside it. apart: whether a body of its own begins; so
    it does, and nothing more, where there is no title."""

    title: Phrase
    anchor: str = ""
    look: str = "rb-group"
    cells: Sequence[Any] = ()
    apart: bool = False


@dataclass(frozen=True)
class Under:
    """A row of one text in all the table's width."""

    content: Phrase


@dataclass(frozen=True, repr=False)
class Grid(Part):
    """The content of a table: rows under columns; a cell of None is a dash.

    title: what all rows have in common. notes: what must be read with the numbers, caveats among it: it goes wherever
    they go. digits: decimals of all numbers, or of each row's. language: of numbers, where people read them. look: how
    a page lays it out. named: whether a row begins with its name.
    """

    columns: tuple[Column, ...]
    rows: tuple[Any, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    digits: int | Sequence[int] = 3
    language: str = "en"
    look: str = "rb-wide"
    named: bool = True

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def cells(self) -> list[Sequence[Any]]:
        """The cells of its rows, without groups and what is said between rows; a cell over several columns counts for
        the first of them."""
        return [self._even(cells) for row in self.rows if (cells := cells_of(row)) is not None]

    def _even(self, cells: Sequence[Any]) -> Sequence[Any]:
        spread = [part for cell in cells for part in (cell, *[""] * (getattr(cell, "span", 1) - 1))]
        return [*spread, *[""] * (len(self.columns) - len(spread))]


def cells_of(row: Any) -> Sequence[Any] | None:
    """The cells of a row; None of what is none."""
    return None if isinstance(row, Group | Under) else row.cells if isinstance(row, Row) else row


@dataclass(frozen=True)
class Plot:
    """A chart in Plotly's words, with colours by name. label: what it shows, for those who do not see it.

    title: what stands above it where a figure has several. legend: its own signs, where charts do not share them.
    """

    chart: Mapping[str, Any]
    label: str
    title: Phrase = ""
    legend: Sequence[Phrase] = ()


@dataclass(frozen=True)
class Figure(Part):
    """Charts under a finding. legend: the signs in them, none if None. axis: what is drawn of what.

    look: of the charts beside each other on a page. drawn: what stands on a page in place of the charts, where style
    sheets alone draw it.
    """

    title: Phrase
    plots: Sequence[Plot] = ()
    legend: Sequence[Phrase] | None = None
    axis: Phrase = ""
    look: str = ""
    drawn: Content = ()


@dataclass(frozen=True)
class Entry(Part):
    """What unfolds: a summary, marks beside it, and a body. anchor: where links to it lead."""

    anchor: str
    summary: Phrase
    marks: Phrase | None
    body: Content


@dataclass(frozen=True)
class Item:
    """One of a list that does not unfold. content: a phrase, or parts. look: what a page calls it."""

    content: Any
    look: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Note:
    """A footnote, with the letter that calls it."""

    anchor: str
    letter: str
    text: Phrase


@dataclass(frozen=True)
class Entries(Part):
    """A list: of entries that unfold, or of phrases and blocks that are read at once.

    look: what a page calls it. ordered: whether it counts.
    """

    entries: Sequence[Any]
    look: str = ""
    ordered: bool = False


@dataclass(frozen=True)
class Drawn(Part):
    """What is made for a page alone, as its markup. instead: what says the same wherever else the view is written."""

    markup: str
    instead: Content = ()


@dataclass(frozen=True)
class Section(Part):
    """Parts that belong together. title: under which they are folded. look: what a page calls what holds them."""

    parts: Content
    title: Phrase = ""
    look: str = ""
    anchor: str = ""
    open: bool = False


Parts = Sequence[Part]
Content = Part | Sequence["Content"]
"""A part, or parts one after the other, of however many lists."""


def flat(parts: Any) -> Iterator[Part]:
    """Parts one after the other, of however many lists; without what says nothing."""
    if isinstance(parts, Part) or (isinstance(parts, str) and parts):
        yield parts  # type: ignore[misc]  # what is written already
    elif isinstance(parts, Iterable) and not isinstance(parts, str):
        for part in parts:
            yield from flat(part)


Kinds = TypeVar("Kinds", bound=Part)


def every(parts: Content, kind: type[Kinds]) -> Iterator[Kinds]:
    """The parts of a kind, those in sections and entries among them."""
    for part in flat(parts):
        if isinstance(part, kind):
            yield part
        if isinstance(part, Section | Figure):
            yield from every(part.parts if isinstance(part, Section) else part.drawn, kind)
        elif isinstance(part, Entries):
            for entry in part.entries:
                if isinstance(entry, Entry):
                    yield from every(entry.body, kind)
