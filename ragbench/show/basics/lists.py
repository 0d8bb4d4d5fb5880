"""Lists of a page: of items, of entries that unfold, of the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    import pandas as pd


def listed(items: Iterable[Markup]) -> Markup:
    """The items of an HTML list."""
    return Markup("").join(Markup("<li>{}</li>").format(item) for item in items)


def entry(identifier: str, summary: Markup, marks: Markup, body: Markup) -> Markup:
    """A folded entry of a list: what it is, its numbers, and what unfolds."""
    return Markup(
        '<li id="{}"><details><summary><span class="rb-asked">{}</span><span class="rb-marks">{}</span></summary>{}'
        "</details></li>"
    ).format(identifier, summary, marks, body)


def ordered(items: Iterable[Markup]) -> Markup:
    """A list of folded entries."""
    return Markup('<ol class="rb-questions">{}</ol>').format(Markup("").join(items))


def rows_of(table: pd.DataFrame, system: str | None = None) -> list[Mapping[Any, Any]]:
    """The rows of a table, of one system where it is named."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return list(table.to_dict("records")) if len(table) else []
