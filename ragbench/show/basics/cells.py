"""Cells of tables, which turn into cards on a narrow page: each knows what it is called there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.show.basics.templates import html


def head(text: Markup | str, kind: str = "") -> Markup:
    """The head of a column."""
    return html.head(text, kind)


def cell(label: Markup | str, content: Markup | str, kind: str = "") -> Markup:
    """A cell with its column's name for narrow pages."""
    return html.cell(label, content, kind)


def row(cells: Sequence[Markup], kind: str = "") -> Markup:
    """A row of cells."""
    return html.row(cells, kind)


def under(text: Markup | str, width: int) -> Markup:
    """A row below another, over its whole width, with what is to be said of it."""
    return html.under(text, width)


def table(label: str, heads: Sequence[Markup], rows: Sequence[Markup], kind: str = "rb-wide") -> Markup:
    """A table that scrolls by itself where the page is too narrow; `label` names it for those who cannot see it."""
    return html.table(label, heads, rows, kind)


def grid(
    label: str,
    heads: Sequence[str | tuple[str, str]],
    rows: Iterable[Markup | Sequence[Markup | str]],
    kind: str = "rb-wide",
    *,
    named: bool = True,
) -> Markup:
    """The same from texts. heads: texts, or a text and its class. rows: made rows, or values, of which the first is
    the row's name if they are `named`."""
    return html.grid(label, heads, rows, kind, named)


def grouped(width: int, rows: Iterable[tuple[Markup, Markup | Sequence[Markup | str]]]) -> Iterator[Any]:
    """Rows, each given with the title of its group, which stands above the first of them."""
    before = None
    for title, row in rows:
        if title != before:
            yield html.group(title, width)
        before = title
        yield row
