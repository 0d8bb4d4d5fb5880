"""The parts that a view returns (Text, Table, Figure, Entries, Section), and the texts and typed values in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from ragbench.old.core.types import Comparison, Estimate, Verdict

MARKS = {Verdict.BETTER: "▲", Verdict.WORSE: "▼", Verdict.SLIGHTLY_BETTER: "△", Verdict.SLIGHTLY_WORSE: "▽",
         Verdict.SAME: "≈", Verdict.NOT_SHOWN: "○", Verdict.CANNOT_BE_SHOWN: "∅",
         Verdict.CANNOT_BE_TOLD: "?"}  # fmt: skip


class Piece:
    """Anything that a sentence or a cell is made of besides plain texts."""


Phrase = str | int | Piece | Sequence["Phrase"]
"""A text (with emphasis of the catalogue's own where it is Markup), a count, a piece, or several in a row."""


@dataclass(frozen=True)
class Number(Piece):
    """A number. digits: its decimals; those of its table, else three, if None. percent: a share, as per cent,
    without decimals where they are not said."""

    value: float | None
    digits: int | None = None
    signed: bool = False
    percent: bool = False


@dataclass(frozen=True)
class Value(Piece):
    """A number and its interval, or one of both.

    why: the reason where there is no interval. verdict, word: what was said of it where nothing else in the row says.
    stacked: with the interval below the number, where columns have to be narrow. bare: without a dash where an interval
    would stand. beside: what stands behind the number, before its
    interval. open: whether an end that is not known is an open one, and no lack of an interval. best: of its column, so
    that it stands out.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""
    verdict: Verdict | None = None
    word: str = ""
    digits: int | None = None
    signed: bool = False
    percent: bool = False
    stacked: bool = False
    bare: bool = False
    beside: Phrase = ()
    open: bool = False
    best: bool = False

    @classmethod
    def of(cls, measured: Estimate | Comparison, digits: int | None = None, **more: Any) -> Value:
        """An estimate, or a difference with its sign, as it was measured."""
        if isinstance(measured, Comparison):
            return cls(measured.difference, measured.low, measured.high, digits=digits, signed=True, **more)
        return cls(measured.value, measured.low, measured.high, digits=digits, **more)


@dataclass(frozen=True)
class P(Piece):
    """The p of a test."""

    value: float | None

    @classmethod
    def of(cls, compared: Comparison) -> P:
        """The p that a verdict is from: the corrected one where there is one."""
        return cls(compared.p if compared.p_adjusted is None else compared.p_adjusted)


@dataclass(frozen=True)
class Chip(Piece):
    """A verdict in words, with its sign. look: how a page colours it."""

    words: str
    sign: str
    look: str

    @classmethod
    def of(cls, verdict: Verdict, words: str) -> Chip:
        """Of a comparison."""
        return cls(words, MARKS[verdict], verdict.name.lower().replace("_", "-"))


@dataclass(frozen=True)
class Styled(Piece):
    """A phrase that stands out, or back. tag: b, small, code or span; look: how a page shows it; title: said of it."""

    content: Phrase
    tag: str = "span"
    look: str = ""
    title: str = ""


@dataclass(frozen=True)
class Link(Piece):
    """A phrase that leads somewhere; the phrase alone where there is nowhere to lead to."""

    content: Phrase
    address: str | None
    look: str = ""


@dataclass(frozen=True)
class System(Piece):
    """A system by the sign of its marks in its colour, and by its name where it is `named`; dot: the same sign whatever
    the colour."""

    name: str
    series: int
    named: bool = True
    dot: bool = False


@dataclass(frozen=True)
class Name(Piece):
    """A long name without spaces, such as a metric's: a line may break behind the signs `at` in it."""

    name: str
    at: str = "_(=,"


@dataclass(frozen=True)
class Mark(Piece):
    """The value of one system beside others, told apart by the sign alone."""

    content: Phrase
    of: System
    look: str = "rb-mark"


@dataclass(frozen=True)
class Call(Piece):
    """A call of a footnote."""

    anchor: str
    label: str
    letter: str


@dataclass(frozen=True)
class Lines(Piece):
    """Phrases one below the other."""

    lines: Sequence[Phrase]


@dataclass(frozen=True)
class Drawing(Piece):
    """A small drawing of numbers that stand beside it: of interest to the eye alone.

    name, values: which of the page's drawings, and what it is made from.
    """

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Sentence(Piece):
    """A sentence of the catalogue with its places. text: with words in <b> that stand out, and of <code>; `{name}` is a
    place, `places` what stands there."""

    text: str
    places: Mapping[str, Phrase]


def filled(text: str, **places: Phrase) -> Sentence:
    """A sentence with what stands in its places."""
    return Sentence(text, places)


def small(words: Phrase) -> Phrase:
    """Words beside a number, quieter; nothing for none."""
    return (" ", Styled(words, "small")) if words else ""


def beside(value: Phrase, words: Phrase) -> Styled:
    """A number with what is said beside it, quieter, on one line."""
    return Styled((value, " ", Styled(words, look="rb-interval")), look="rb-number")


def bold(content: Phrase, look: str = "") -> Styled:
    """A phrase that stands out."""
    return Styled(content, "b", look)


def joined(between: str, phrases: Iterable[Phrase]) -> Phrase:
    """Phrases with a text between them; those that say nothing are left out."""
    there = [phrase for phrase in phrases if phrase not in ("", ())]
    return tuple(part for place, phrase in enumerate(there) for part in ((between, phrase) if place else (phrase,)))


Sort = TypeVar("Sort", bound=Piece)


def within(phrase: Any, kind: type[Sort]) -> Iterator[Sort]:
    """The pieces of a kind in a phrase, from its beginning."""
    if isinstance(phrase, kind):
        yield phrase
    elif isinstance(phrase, Piece):
        for field in fields(phrase):  # type: ignore[arg-type]
            yield from within(getattr(phrase, field.name), kind)
    elif isinstance(phrase, Sequence) and not isinstance(phrase, str):
        for part in phrase:
            yield from within(part, kind)


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
