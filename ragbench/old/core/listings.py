"""Collections that show themselves in a few lines, where Python would write out all that they hold."""

from __future__ import annotations

from typing import Any, SupportsIndex, TypeVar, overload

Item = TypeVar("Item")
WIDTH, LINES = 100, 10
"""Signs of a line, and lines, at most."""


class Listing(tuple[Item, ...]):
    """A tuple that says how many it holds and begins its first; a part of it is a listing, too."""

    __slots__ = ()

    @overload
    def __getitem__(self, place: SupportsIndex) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Listing[Item]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Item | Listing[Item]:
        return Listing(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    def __repr__(self) -> str:
        """`(157 in all: Question(id='q001', text='Which documents must I bring…)`."""
        if len(self) < 2:
            return super().__repr__()
        first = repr(self[0])
        return f"({len(self):,} in all: {first if len(first) <= WIDTH else f'{first[: WIDTH - 1]}…'}, …)"


class Tables(dict[str, Any]):
    """Data frames by name, each told by its size."""

    def __repr__(self) -> str:
        """A line a table: `answers: 40 rows of 6`; all of them in one where there are many."""
        told = [f"{name}: {len(table):,} rows of {len(table.columns)}" for name, table in self.items()]
        return "\n".join([*told[: LINES - 1], *filter(None, ["; ".join(told[LINES - 1 :])])]) or "{}"
