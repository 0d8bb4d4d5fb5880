"""Which questions two systems of a table of answers have in common: where each of several answered some of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragbench.core.language import Translator
from ragbench.tiers.scoring.ledger import Columns


def unpaired(systems: Sequence[str], columns: Columns, text: Translator) -> list[str]:
    """Which systems share no question with the first, in a sentence; none where all do."""
    _, first = text, set(_ids(systems[0], columns)) if systems else set()
    names = [name for name in systems[1:] if first and (own := _ids(name, columns)) and first.isdisjoint(own)]
    if not names:
        return []
    return [
        _(
            "Not compared with {baseline}, as both answered no question of the same id: {systems}.",
            baseline=systems[0],
            systems=_.enumeration(names),
        )
    ]


def _ids(system: str, columns: Columns) -> Collection[str]:
    own = columns.systems.get(system)
    return () if own is None else own.clusters.keys()
