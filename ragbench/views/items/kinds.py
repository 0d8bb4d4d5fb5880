"""Which items the numbers of a page are made of, by what the page says that it describes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragbench.views.basics.links import kind_of
from ragbench.views.basics.material import Material
from ragbench.views.items import decided_answers, passages, questions, trial_answers, turns
from ragbench.views.items.contents import Items

KINDS: Mapping[str, Callable[[Material], Items]] = {
    "decisions": decided_answers.items,
    "dialogues": turns.items,
    "judges": trial_answers.items,
    "sources": passages.items,
}


def items_of(material: Material) -> Items:
    """The page's items: questions where it does not say that its numbers are made of something else."""
    return KINDS.get(kind_of(material), questions.items)(material)
