"""The answer: a sentence for each challenger, and the facts it stands on."""

from __future__ import annotations

from ragbench.core.parts import Part, Section
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.material import Material
from ragbench.views.sentences.facts import facts
from ragbench.views.sentences.findings import sentences
from ragbench.views.view import view


@view("answer")
def answer(material: Material, present: frozenset[str]) -> list[Part]:
    """The answer in a sentence for each challenger, and the facts it stands on."""
    return [Section(one_by_one(material.text, sentences(material)), look="rb-says"), *facts(material)]
