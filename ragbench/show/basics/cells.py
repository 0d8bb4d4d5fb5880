"""Cells of tables, which turn into cards on a narrow page: each knows what it is called there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.show.basics.templates import html

head, cell, row, under, table, grid = html.head, html.cell, html.row, html.under, html.table, html.grid


def grouped(width: int, rows: Iterable[tuple[Markup, Markup | Sequence[Markup | str]]]) -> Iterator[Any]:
    """Rows, each given with the title of its group, which stands above the first of them."""
    before = None
    for title, line in rows:
        if title != before:
            yield html.group(title, width)
        before = title
        yield line
