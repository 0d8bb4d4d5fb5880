"""Lists of a page: of entries that unfold, and of the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.language import Translator
from ragbench.show.basics.templates import html

if TYPE_CHECKING:
    import pandas as pd

FIRST = 3
"""So many of a list are read at once; the others are folded."""
SYSTEMS = 5
"""Of so many systems the lists stand one below the other; those of the others are folded."""

entry, ordered = html.entry, html.entries


def shortened(_: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Markup] = ordered) -> Markup:
    """A list of entries, or of the rows that `drawn` makes a table of: the first few, and the others folded."""
    if len(made) <= FIRST + 1:  # a fold is no shorter than what it would hide
        return drawn(made)
    more = _.plural("{n} more", "{n} more", len(made) - FIRST)
    return html.all(drawn(made[:FIRST]), html.fold(more, drawn(made[FIRST:])))


def one_by_one(_: Translator, made: Sequence[Markup]) -> Markup:
    """What is shown or said of every system, one below the other; of very many the later ones folded."""
    if len(made) <= SYSTEMS + 1:
        return html.all(*made)
    more = _.plural("{n} more", "{n} more", len(made) - SYSTEMS)
    return html.all(*made[:SYSTEMS], html.fold(more, html.all(*made[SYSTEMS:])))


def rows_of(table: pd.DataFrame, system: str | None = None) -> list[Mapping[Any, Any]]:
    """The rows of a table, of one system where it is named."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return list(table.to_dict("records")) if len(table) else []
