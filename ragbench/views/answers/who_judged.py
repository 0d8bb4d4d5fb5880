"""Who judged a page's answers, and what that took."""

from __future__ import annotations

from ragbench.core.parts import Content
from ragbench.views.basics.material import Material
from ragbench.views.sentences.who_judged import said
from ragbench.views.view import view


@view("judges")
def judges(material: Material, present: frozenset[str]) -> Content:
    """Who judged, how often each gave no score, what its replies took, and how much each sways a panel."""
    return said(material)
