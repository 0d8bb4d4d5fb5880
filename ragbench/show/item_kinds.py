"""Which items the numbers of a page are made of, by what the page says that it describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragbench.show import decision_items, source_items, talk_items, trial_items
from ragbench.show.items import Items
from ragbench.show.material import Material

KINDS: Mapping[str, tuple[Callable[[Material], Items], tuple[str, ...]]] = {
    "decisions": (decision_items.items, decision_items.MEASURES),
    "dialogues": (talk_items.items, talk_items.MEASURES),
    "judges": (trial_items.items, trial_items.MEASURES),
    "sources": (source_items.items, source_items.MEASURES),
}
"""By what is described: the items, and the page's measures whose numbers are made of them."""


def items_of(material: Material) -> Items | None:
    """The page's items; None for a page whose numbers are made of questions."""
    kind = _kind(material)
    return KINDS[kind][0](material) if kind in KINDS else None


def has_items(material: Material, metric: str) -> bool:
    """Whether a measure's number is made of values of single items, or questions, that a table of them shows."""
    kind = _kind(material)
    if kind in KINDS:
        return metric in KINDS[kind][1]
    return metric in set(material.measurement.scores["metric"])


def _kind(material: Material) -> str:
    return "decisions" if material.facts.get("describes_decisions") else str(material.facts.get("describes") or "")
