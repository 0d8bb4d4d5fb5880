"""Lists of a page: of entries that unfold, and of the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.core.language import Translator
from ragbench.views.basics.templates import html

if TYPE_CHECKING:
    import pandas as pd

FIRST = 3
"""So many of a list are read at once; the others are folded."""
SYSTEMS = 3
"""Of so many systems the lists stand one below the other; those of the others are folded."""

entry, ordered = html.entry, html.entries


def shortened(
    _: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Markup] = ordered, first: int = FIRST
) -> Markup:
    """A list of entries, or of the rows that `drawn` makes a table of: the `first` of them, and the others folded."""
    if len(made) <= first + 1:  # a fold is no shorter than what it would hide
        return drawn(made)
    more = _.plural("{n} more", "{n} more", len(made) - first)
    return html.all(drawn(made[:first]), html.fold(more, drawn(made[first:])))


def one_by_one(
    _: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Markup] = lambda some: html.all(*some)
) -> Markup:
    """What is shown or said of every system, one below the other; of very many the later ones folded."""
    return shortened(_, made, drawn, SYSTEMS)


def rows_of(table: pd.DataFrame, system: str | None = None) -> list[Mapping[Any, Any]]:
    """The rows of a table, of one system where it is named."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return list(table.to_dict("records")) if len(table) else []
