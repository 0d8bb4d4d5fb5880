"""How phrases and cells are written: one function a kind of value, which each output has in its own way."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from ragbench.old.core.language import DASH, Translator, beside_zero, decimals, sign
from ragbench.old.core.parts.blocks import (
    Call,
    Cell,
    Chip,
    Column,
    Drawing,
    Drawn,
    Entries,
    Entry,
    Figure,
    Grid,
    Item,
    Lines,
    Link,
    Mark,
    Name,
    Note,
    Number,
    P,
    Part,
    Phrase,
    Piece,
    Section,
    Sentence,
    Styled,
    System,
    Text,
    Value,
    flat,
)
from ragbench.old.core.types import Estimate

OPEN = "…"
_TOKENS = re.compile(r"(\{\w+\}|</?(?:b|code)>)")


class Style:
    """How cells are written on a terminal: no sign between thousands, four decimals of a p."""

    nothing: str = DASH
    between = "\n\n"
    """What stands between parts."""
    between_marks = "; "
    """What stands between the marks of systems beside each other."""

    def cell(self, column: Column, cell: Any, digits: int) -> str:
        """A cell as its column's kind is written, or as the piece that it is."""
        cell = cell.content if isinstance(cell, Cell) else cell
        if isinstance(cell, Estimate) or (
            isinstance(cell, tuple) and all(isinstance(part, int | Estimate | None) for part in cell)
        ):
            return self.counts(cell if isinstance(cell, tuple) else (cell,), digits)
        if column.kind in ("number", "p") and isinstance(cell, float):
            cell = P(cell) if column.kind == "p" else Number(cell)
        if column.kind == "count" and isinstance(cell, str):
            return cell
        return self.nothing if cell is None else self.phrase(cell, digits, column.signed)

    def phrase(self, phrase: Phrase, digits: int = 3, signed: bool = False) -> str:
        """A phrase of any kind. digits, signed: of numbers that do not say so themselves."""
        if isinstance(phrase, Markup):
            return self.emphasis(phrase)
        if isinstance(phrase, str):
            return self.text(phrase)
        if isinstance(phrase, int):
            return self.count(phrase)
        if isinstance(phrase, Piece):
            return self.piece(phrase, digits, signed)
        written = [self.phrase(part, digits, signed) for part in phrase]
        if self.between_marks and phrase and all(isinstance(part, Mark) for part in phrase):
            return self.between_marks.join(written)
        return self.together(written)

    def piece(self, piece: Piece, digits: int, signed: bool) -> str:
        """A piece of a phrase."""
        match piece:
            case Value():
                return self.value(piece, digits if piece.digits is None else piece.digits, piece.signed or signed)
            case Number():
                return self.plain_number(piece, digits if piece.digits is None else piece.digits, signed)
            case P():
                return self.nothing if _unknown(piece.value) else self.p(piece.value)  # type: ignore[arg-type]
            case Chip():
                return self.chip(piece)
            case Styled():
                return self.styled(piece, self.phrase(piece.content, digits, signed))
            case Link():
                return self.link(piece, self.phrase(piece.content, digits, signed))
            case System():
                return self.system(piece)
            case Mark():
                return self.mark_of(piece, self.phrase(piece.content, digits, signed))
            case Sentence():
                return self.sentence(piece)
            case Name():
                return self.text(piece.name)
            case Call():
                return self.call(piece)
            case Lines():
                return self.lines([self.phrase(line, digits, signed) for line in piece.lines])
            case Drawing():
                return self.drawing(piece)
            case Cell():
                return self.phrase(piece.content, digits, signed)
        raise TypeError(f"{piece!r} is no piece of a phrase")

    def sentence(self, sentence: Sentence) -> str:
        """A sentence with its places filled."""
        return self.together(
            self.place(sentence.places[token[1:-1]])
            if token.startswith("{")
            else self.tag(token)
            if token.startswith("<")
            else self.said(token)
            for token in _TOKENS.split(sentence.text)
        )

    def place(self, phrase: Phrase) -> str:
        """What stands in a place of a sentence."""
        return self.phrase(phrase)

    def tag(self, tag: str) -> str:
        """Where words of a sentence begin, or end, to stand out."""
        return ""

    def said(self, words: str) -> str:
        """Words of the catalogue."""
        return self.text(words)

    def together(self, parts: Iterable[str]) -> str:
        """Pieces one after the other."""
        return "".join(parts)

    def value(self, value: Value, digits: int, signed: bool) -> str:
        """`0.703 [0.645, 0.758] (better)`, or what is there of it."""
        if value.value is not None and value.value != value.value:
            return self.nothing
        known = value.open or not (_unknown(value.low) or _unknown(value.high))
        ends = self.interval(value, digits, signed) if known else self.without(value)
        number = "" if value.value is None else self.sized(value, value.value, digits, signed)
        number = self.styled(Styled("", "b"), number) if value.best else number
        number += self.phrase(value.beside)
        return " ".join(filter(None, (number, ends, self.mark(value))))

    def interval(self, value: Value, digits: int, signed: bool) -> str:
        """Both ends of the interval."""
        if not (value.percent or value.open):
            return self.ends(value.low, value.high, digits, signed)  # type: ignore[arg-type]
        return self.bracketed(
            *(
                OPEN if end is None or not math.isfinite(end) else self.sized(value, end, digits, signed)
                for end in (value.low, value.high)
            )
        )

    def sized(self, of: Value | Number, number: float, digits: int, signed: bool) -> str:
        """A number, or a share as per cent."""
        return self.percent(number, of.digits or 0) if of.percent else self.number(number, digits, signed)

    def plain_number(self, number: Number, digits: int, signed: bool) -> str:
        """A number that has no interval."""
        if _unknown(number.value):
            return self.nothing
        return self.sized(number, number.value, digits, number.signed or signed)  # type: ignore[arg-type]

    def number(self, value: float, digits: int, signed: bool) -> str:
        """A number with a true minus sign, as the sentences below a table have it, and a plus if `signed`."""
        return f"{sign(value, digits, signed)}{abs(value):.{digits}f}"

    def percent(self, share: float, digits: int) -> str:
        """A share as per cent."""
        return f"{share:.{digits}%}"

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        """Both ends of an interval."""
        return self.bracketed(*(self.end(end, digits, signed) for end in (low, high)))

    def bracketed(self, low: str, high: str) -> str:
        """Both ends, as they are written already."""
        return f"{low} … {high}"

    def end(self, value: float, digits: int, signed: bool) -> str:
        """One end; of a difference see `ragbench.old.core.language.decimals`."""
        shown = decimals(value, digits) if signed else digits
        return beside_zero(value) if shown is None else self.number(value, shown, signed)

    def without(self, value: Value) -> str:
        """What stands in place of an interval."""
        return "" if value.bare and not value.why else f"{self.nothing} {value.why}".strip()

    def mark(self, value: Value) -> str:
        """What was said of the number."""
        return f"({value.word})" if value.word else ""

    def p(self, value: float) -> str:
        """The p of a test; none is written as 0 that is not."""
        return "<0.0001" if 0 < value < 0.0001 else self.number(value, 4, False)

    def count(self, value: int) -> str:
        """A whole number."""
        return str(value)

    def counts(self, numbers: Sequence[Estimate | int | None], digits: int) -> str:
        """How many values the numbers of a row stand on; once where all stand on as many."""
        each = [
            self.nothing
            if number is None
            else self.count(number)
            if isinstance(number, int)
            else self.counted(number, digits)
            for number in numbers
        ]
        return " / ".join(each if len(set(each)) > 1 else each[:1])

    def counted(self, estimate: Estimate, digits: int) -> str:
        """How many values a number stands on."""
        return self.count(estimate.n)

    def text(self, text: str) -> str:
        """A text."""
        return text

    def emphasis(self, markup: Markup) -> str:
        """A sentence of the catalogue with words that stand out."""
        return self.text(markup.striptags())

    def chip(self, chip: Chip) -> str:
        """A verdict in words."""
        return f"{chip.sign} {chip.words}"

    def styled(self, styled: Styled, content: str) -> str:
        """A phrase that stands out, or back."""
        return content

    def link(self, link: Link, content: str) -> str:
        """A phrase that leads somewhere."""
        return content

    def system(self, system: System) -> str:
        """A system by its name: its sign means nothing where nothing is drawn."""
        return self.text(system.name) if system.named else ""

    def mark_of(self, mark: Mark, content: str) -> str:
        """`v1 0.500`."""
        return f"{self.text(mark.of.name)} {content}".strip()

    def call(self, call: Call) -> str:
        """The call of a footnote."""
        return f" ({call.letter})"

    def lines(self, lines: Sequence[str]) -> str:
        """Phrases that stand below each other on a page."""
        return " ".join(lines)

    def drawing(self, drawing: Drawing) -> str:
        """What only shows numbers that stand beside it."""
        return ""

    def written(self, grid: Grid) -> list[list[str]]:
        """Every cell of a table as a text."""
        digits = [grid.digits] * len(grid.cells) if isinstance(grid.digits, int) else grid.digits
        return [
            [self.cell(column, cell, own) for column, cell in zip(grid.columns, row, strict=True)]
            for row, own in zip(grid.cells, digits, strict=True)
        ]

    def blocks(self, parts: Any) -> str:
        """Parts one below the other; those without content are left out."""
        return self.between.join(text for part in flat(parts) if (text := self.block(part)))

    def block(self, part: Part) -> str:
        """One part."""
        match part:
            case Text():
                return self.paragraph(part)
            case Grid():
                return self.table(part)
            case Figure():
                return self.figure(part)
            case Entries():
                return self.entries(part)
            case Section():
                return self.section(part)
            case Drawn():
                return self.drawn(part)
        return self.phrase(part)  # type: ignore[arg-type]  # a phrase by itself

    def paragraph(self, text: Text) -> str:
        """A paragraph or a heading."""
        return self.phrase(text.content)

    def table(self, grid: Grid) -> str:
        """A table with its notes."""
        raise NotImplementedError("this style writes cells, and no tables")

    def figure(self, figure: Figure) -> str:
        """What is said of a figure where none can be drawn: its finding, and what is drawn of what."""
        said = [Text(figure.title), Text(figure.axis)] if figure.axis else [Text(figure.title)]
        return self.blocks([*said, *flat(figure.drawn)])

    def entries(self, entries: Entries) -> str:
        """A list."""
        return "\n".join(map(self.entry, entries.entries))

    def entry(self, entry: Any) -> str:
        """One of a list: what unfolds on a page is read at once."""
        if isinstance(entry, Note):
            return self.item(f"({entry.letter}) {self.phrase(entry.text)}")
        entry = entry.content if isinstance(entry, Item) else entry
        if not isinstance(entry, Entry):
            return self.item(self.content(entry))
        said = " ".join(filter(None, (self.phrase(entry.summary), self.phrase(entry.marks or ""))))
        return self.item(said, *map(self.block, flat(entry.body)))

    def content(self, entry: Any) -> str:
        """What one of a list holds: a phrase, or parts."""
        parts = isinstance(entry, Sequence) and any(isinstance(part, Part) for part in entry)
        return self.blocks(entry) if parts else self.phrase(entry)

    def item(self, said: str, *more: str) -> str:
        """A list's entry, and below it what belongs to it."""
        below = [f"  {line}" for text in more for line in text.splitlines()]
        return "\n".join([f"- {said}", *below])

    def drawn(self, drawn: Drawn) -> str:
        """What stands in place of what only a page can show."""
        return self.blocks(flat(drawn.instead))

    def section(self, section: Section) -> str:
        """Parts that belong together, under their title."""
        return self.blocks([*([Text(section.title, "h4")] if section.title else ()), *flat(section.parts)])


class Spoken(Style):
    """How cells are written for people, in their language's form."""

    def __init__(self, _: Translator) -> None:
        self._ = _

    def number(self, value: float, digits: int, signed: bool) -> str:
        """A number with a true minus sign."""
        return self._.number(value, digits, signed=signed)

    def percent(self, share: float, digits: int) -> str:
        """A share as per cent in the language's form."""
        return self._.percent(share, digits)

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        """`[0.645, 0.758]`."""
        return self._.interval(low, high, digits, signed=signed)

    def bracketed(self, low: str, high: str) -> str:
        """`[64%, 81%]`."""
        return self._.ends(low, high)

    def p(self, value: float) -> str:
        """`0.499` or `< 0.001`."""
        return self._.p_value(value)

    def count(self, value: int) -> str:
        """A whole number with the language's thousands separator."""
        return self._.integer(value)


@lru_cache(maxsize=8)
def spoken(_: Translator) -> Spoken:
    """The style of a language: what is written in sentences, and beside the marks of a figure."""
    return Spoken(_)


def _unknown(value: Any) -> bool:
    return value is None or value != value
