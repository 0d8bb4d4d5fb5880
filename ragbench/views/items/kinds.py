"""Which items the numbers of a page are made of, by what the page says that it describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragbench.views.basics.material import Material
from ragbench.views.items import decided_answers, passages, questions, trial_answers, turns
from ragbench.views.items.contents import Items

KINDS: Mapping[str, tuple[Callable[[Material], Items], tuple[str, ...]]] = {
    "decisions": (decided_answers.items, decided_answers.MEASURES),
    "dialogues": (turns.items, turns.MEASURES),
    "judges": (trial_answers.items, trial_answers.MEASURES),
    "sources": (passages.items, passages.MEASURES),
}
"""By what is described: the items, and the page's measures whose numbers are made of them."""


def items_of(material: Material) -> Items:
    """The page's items: questions where it does not say that its numbers are made of something else."""
    kind = _kind(material)
    return KINDS[kind][0](material) if kind in KINDS else questions.items(material)


def has_items(material: Material, metric: str) -> bool:
    """Whether a measure's number is made of values of single items, or questions, that a table of them shows."""
    kind = _kind(material)
    if kind in KINDS:
        return metric in KINDS[kind][1]
    return metric in material.scored


def _kind(material: Material) -> str:
    return "decisions" if material.facts.get("describes_decisions") else str(material.facts.get("describes") or "")
