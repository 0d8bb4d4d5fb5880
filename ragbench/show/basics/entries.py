"""Lists of a page: of entries that unfold, and of the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ragbench.show.basics.templates import html

if TYPE_CHECKING:
    import pandas as pd


entry, ordered = html.entry, html.entries


def rows_of(table: pd.DataFrame, system: str | None = None) -> list[Mapping[Any, Any]]:
    """The rows of a table, of one system where it is named."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return list(table.to_dict("records")) if len(table) else []
