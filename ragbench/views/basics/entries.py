"""Lists of a page: of entries that unfold, and of the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragbench.core.language import Translator
from ragbench.core.parts import Content, Entries, Part, Parts, Section, Text

if TYPE_CHECKING:
    import pandas as pd

FIRST = 3
"""So many of a list are read at once; the others are folded."""
SYSTEMS = 3
"""Of so many systems the lists stand one below the other; those of the others are folded."""


def ordered(entries: Sequence[Any]) -> Parts:
    """Entries that unfold, in their order."""
    return [Entries(entries, "rb-questions", ordered=True)]


def shortened(
    _: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Parts] = ordered, first: int = FIRST
) -> list[Part]:
    """A list of entries, or of the rows that `drawn` makes a table of: the `first` of them, and the others folded."""
    if len(made) <= first + 1:  # a fold is no shorter than what it would hide
        return list(drawn(made))
    more = _.plural("{n} more", "{n} more", len(made) - first)
    return [*drawn(made[:first]), Section(drawn(made[first:]), more)]


def one_by_one(_: Translator, made: Sequence[Any], drawn: Callable[[Sequence[Any]], Parts] | None = None) -> list[Part]:
    """What is shown or said of every system, one below the other; of very many the later ones folded.

    made: of each its parts, or what `drawn` makes parts of.
    """
    return shortened(_, made, drawn or (lambda some: [part for parts in some for part in parts]), SYSTEMS)


def with_examples(
    _: Translator, heading: str, lines: Sequence[str], examples: Sequence[Content], more: Content = ()
) -> Section:
    """What is said of a kind of texts, and folded the first of them."""
    folded = Section((Entries(examples, "rb-hits"), more), _("Examples")) if examples else ()
    return Section((Text(heading, "h3"), list(map(Text, lines)), folded), look="rb-oddity")


def example(identifier: str, text: str, other: str, beside: str) -> list[Part]:
    """A text, what stands beside it, and the ids of both."""
    more = [Text(beside, "rb-more")] if beside else []
    return [Text(text), *more, Text(" · ".join(filter(None, (identifier, other))), "rb-meta")]


def rows_of(table: pd.DataFrame, system: str | None = None) -> list[Mapping[Any, Any]]:
    """The rows of a table, of one system where it is named."""
    if system is not None and len(table):
        table = table[table["system"] == system]
    return list(table.to_dict("records")) if len(table) else []
