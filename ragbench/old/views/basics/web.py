"""Parts as HTML, for a page and for JupyterLab: by the macros of `report/template/views/pieces.html.j2`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import without_nan
from ragbench.old.core.parts import TEMPLATES
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
    Group,
    Item,
    Link,
    Mark,
    Name,
    Note,
    Number,
    Phrase,
    Piece,
    Plot,
    Row,
    Section,
    Styled,
    System,
    Text,
    Under,
    Value,
    flat,
)
from ragbench.old.core.parts.style import Spoken
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.still import drawn as still
from ragbench.old.views.basics.text import FROM_RIGHT, clean

if TYPE_CHECKING:
    import jinja2

    from ragbench.old.core.language import Translator


GLYPHS = ("●", "●", "◆", "■", "▲", "○", "◇", "□")
"""Signs of systems by the number of their colour."""
TERMS = ("rb-facts", "rb-provenance")
"""Tables of names and what they are."""


class Web(Spoken):
    """How parts are written on a page. script: whether one draws the figures; else they are drawn already."""

    between = ""
    between_marks = ""  # its style sheet sets them apart

    def __init__(self, _: Translator, *, script: bool = True) -> None:
        super().__init__(_)
        self.script = script

    def together(self, parts: Iterable[str]) -> Markup:
        """Pieces one after the other."""
        return Markup("").join(parts)

    def text(self, text: str) -> Markup:
        """A text, every sign of it escaped."""
        return escape(clean(text))

    def emphasis(self, markup: Markup) -> Markup:
        """A sentence of the catalogue, whose places are escaped already."""
        return markup

    def place(self, phrase: Phrase) -> str:
        """What stands in a place of a sentence: an interval is no quieter there than its number."""
        return html.number(Spoken(self._).phrase(phrase)) if isinstance(phrase, Value) else self.phrase(phrase)

    def tag(self, tag: str) -> Markup:
        """Words that stand out in a sentence of the catalogue."""
        return Markup(tag)  # noqa: S704 - one of our own

    def said(self, words: str) -> Markup:
        """Words of the catalogue, which may hold entities."""
        return Markup(words)  # noqa: S704 - our own

    def p(self, value: float) -> Markup:
        """A p on a line."""
        return html.number(super().p(value))

    def plain_number(self, number: Number, digits: int, signed: bool) -> Markup:
        """A number on a line."""
        return html.number(super().plain_number(number, digits, signed))

    def value(self, value: Value, digits: int, signed: bool) -> Markup:
        """`0.703 [0.645, 0.758]`, the interval quieter."""
        number, space, interval = super().value(value, digits, signed).partition(" ")
        if value.stacked and space:
            return html.lines([html.all(html.number(number), self.phrase(value.beside)), html.small(interval)])
        return html.spread(number, interval) if space else html.number(number)

    def chip(self, chip: Chip) -> Markup:
        """A verdict in words, with its sign."""
        return html.chip(chip.look, chip.sign, self.phrase(chip.words))

    def styled(self, styled: Styled, content: str) -> Markup:
        """A phrase that stands out, or back."""
        if styled.title:
            return html.titled(content, self.phrase(styled.title))
        return html.styled(styled.tag, content, styled.look)

    def link(self, link: Link, content: str) -> Markup:
        """A phrase that leads somewhere."""
        return html.link(link.address, content, link.look)

    def system(self, system: System) -> Markup:
        """The sign that stands for a system in figures, in its colour, and its name."""
        name = self.phrase(system.name.strip()) if system.named else ""
        return html.sign(system.series, GLYPHS[1 if system.dot else system.series], name)

    def mark_of(self, mark: Mark, content: str) -> Markup:
        """The value of a system that is told by its sign, and by name to who hears the page."""
        sign = html.sign(mark.of.series, GLYPHS[mark.of.series], "")
        return html.value(self.phrase(mark.of.name.strip()), sign, content, mark.look)

    def call(self, call: Call) -> Markup:
        """The call of a footnote."""
        return html.call(call.anchor, call.label, call.letter)

    def piece(self, piece: Piece, digits: int, signed: bool) -> str:
        """A piece of a phrase."""
        if isinstance(piece, Name):
            parts = re.split(f"(?<=[{re.escape(piece.at)}])", piece.name.strip())
            return Markup("<wbr>").join(map(self.text, parts))
        return super().piece(piece, digits, signed)

    def lines(self, lines: Sequence[str]) -> Markup:
        """Phrases one below the other."""
        return html.lines(lines)

    def drawing(self, drawing: Drawing) -> Markup:
        """A drawing that needs no script."""
        made: Markup = getattr(html, drawing.name)(**drawing.values)
        return made

    def blocks(self, parts: Any) -> Markup:
        """Parts one below the other."""
        return Markup("").join(map(self.block, flat(parts)))

    def paragraph(self, text: Text) -> Markup:
        """A paragraph or a heading."""
        content = self.phrase(text.content)
        if text.look in ("h2", "h3"):
            return html.heading(content, int(text.look[1]))
        return html.p(content, text.look)

    def table(self, grid: Grid) -> Markup:
        """A table that scrolls by itself, and turns into cards on a narrow page; of terms, a list of them."""
        if grid.look.startswith(TERMS):
            terms = [tuple(self.phrase(cell) for cell in row) for row in grid.cells]
            return html.terms(terms, grid.look)
        heads = [html.head(self.phrase(column.title), _head(column)) for column in grid.columns]
        labels = [self.phrase(column.label or column.title) for column in grid.columns]
        digits = iter([grid.digits] * len(grid.rows) if isinstance(grid.digits, int) else grid.digits)
        bodies: list[list[Markup]] = [[]]
        for row in grid.rows:
            if isinstance(row, Group) and row.apart and bodies[-1]:
                bodies.append([])
            bodies[-1] += self._rows(grid, row, labels, 3 if isinstance(row, Group | Under) else next(digits))
        return html.bodies(self.phrase(grid.title), heads, bodies, grid.look)

    def _rows(self, grid: Grid, row: Any, labels: Sequence[str], digits: int) -> list[Markup]:
        width = len(grid.columns)
        if isinstance(row, Under):
            return [html.under(self.phrase(row.content), width)]
        if isinstance(row, Group) and not row.title:
            return []
        if isinstance(row, Group):
            first = width - sum(map(_span, row.cells))
            beside = self._cells(grid, row.cells, labels, digits, first)
            return [html.group(self.phrase(row.title), first, row.look, row.anchor, beside)]
        own = row if isinstance(row, Row) else Row(row)
        cells, head = own.cells, list[Markup]()
        if grid.named:
            head = [html.row_head(self.cell(grid.columns[0], cells[0], digits), _look(cells[0]), own.anchor)]
        made = [*head, *self._cells(grid, cells[len(head) :], labels, digits, len(head))]
        if not own.under:
            return [html.row(made)]
        return [html.row(made, "rb-over"), html.under(self.phrase(own.under), width)]

    def _cells(self, grid: Grid, cells: Sequence[Any], labels: Sequence[str], digits: int, first: int) -> list[Markup]:
        """The cells from a column on."""
        made, place = list[Markup](), first
        for cell in cells:
            column, content = grid.columns[place], self.cell(grid.columns[place], cell, digits)
            if isinstance(cell, Cell) and not content:
                made.append(html.blank(cell.span if cell.span > 1 else 0))
            elif _span(cell) > 1:
                made.append(html.wide_cell(content, cell.span))
            elif "rb-drawn" in column.look:
                made.append(html.drawn_cell(content))
            else:
                made.append(html.cell(self._label(cell) or labels[place], content, _look(cell) or column.look))
            place += _span(cell)
        return made

    def _label(self, cell: Any) -> str:
        return self.phrase(cell.label) if isinstance(cell, Cell) and cell.label else ""

    def figure(self, figure: Figure) -> Markup:
        """Charts under their finding, with their signs and with what is drawn of what."""
        drawn = [] if figure.drawn else [self._plot(plot) for plot in figure.plots]
        body: Markup = html.all(*drawn, self.blocks(flat(figure.drawn)))
        body = html.div(body, figure.look) if figure.look else body
        if not figure.title:
            signs = self.block(Entries(figure.legend, "rb-legend")) if figure.legend is not None else ""
            return html.all(signs, body, self.block(Text(figure.axis, "rb-axis")) if figure.axis else "")
        legend = None if figure.legend is None else html.items([self.phrase(sign) for sign in figure.legend])
        return html.figure(self.phrase(figure.title), legend, body, self.phrase(figure.axis))

    def _plot(self, plot: Plot) -> Markup:
        made = html.plot(plot.chart, clean(plot.label)) if self.script else still(chart.in_notebook(plot.chart))
        signs = self.block(Entries(plot.legend, "rb-legend")) if plot.legend else ""
        return html.panel(self.phrase(plot.title), html.all(signs, made)) if plot.title else made

    def entries(self, entries: Entries) -> Markup:
        """A list, of entries that unfold or of phrases."""
        tag = "ol" if entries.ordered else "ul"
        return html.listing(map(self.entry, entries.entries), entries.look, tag)

    def entry(self, entry: Any) -> Markup:
        """One of a list."""
        if isinstance(entry, Note):
            return html.note(entry.anchor, entry.letter, self.phrase(entry.text))
        if not isinstance(entry, Entry):
            item = entry if isinstance(entry, Item) else Item(entry)
            return html.item(self.content(item.content), item.look, item.anchor)
        marks = None if entry.marks is None else self.phrase(entry.marks)
        return html.entry(entry.anchor, self.phrase(entry.summary), marks, self.blocks(entry.body))

    def drawn(self, drawn: Drawn) -> Markup:
        """What is made for a page."""
        return Markup(drawn.markup)  # noqa: S704 - of our own templates

    def section(self, section: Section) -> Markup:
        """Parts that belong together, folded where they have a title."""
        body = self.blocks(section.parts)
        if not section.title:
            return html.div(body, section.look)
        look = section.look or "rb-fold"
        return html.fold(self.phrase(section.title), body, kind=look, id=section.anchor, open=section.open)


def _head(column: Column) -> str:
    return column.look if column.head is None else column.head


def _span(cell: Any) -> int:
    return cell.span if isinstance(cell, Cell) else 1


def _look(cell: Any) -> str:
    return cell.look if isinstance(cell, Cell) else ""


_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"})


def drawn(name: str, text: Translator, **values: Any) -> Markup:
    """The template `name` with its values; `_` in it is the translator."""
    made = _environment().get_template(f"{name}.html.j2").render(_=text, **values)
    return Markup(made)  # noqa: S704 - the template has escaped what it was given


class _Pieces:
    """The macros of `pieces.html.j2`, each a function that gives HTML; templates import them as well."""

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        made: Callable[..., Markup] = getattr(_environment().get_template("pieces.html.j2").module, name)
        setattr(self, name, made)
        return made


html = _Pieces()


def payload(value: Any) -> Markup:
    """JSON that can stand inside a script element: its signs of markup are escaped. What is NaN becomes null."""
    text = json.dumps(without_nan(value), ensure_ascii=False, sort_keys=True, allow_nan=False)
    return Markup(text.translate(_ESCAPES))  # noqa: S704 - JSON whose signs of markup are escaped


def way(text: Any) -> Markup:
    """The attribute of what holds a text that is written from the right: its first letter tells how it runs, and what
    stands around it stays as it is."""
    return Markup(' dir="auto"' if FROM_RIGHT.search(str(text)) else "")  # noqa: S704 - our own


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(TEMPLATES / "views"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["payload"] = payload
    made.globals["way"] = way
    return made
