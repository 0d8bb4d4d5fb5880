"""What annexes say of a data set, below what the core says of it."""

from __future__ import annotations

from ragbench.core.annexes import offered, taken
from ragbench.core.parts import Content
from ragbench.views.basics.material import Material
from ragbench.views.view import view


@view("further")
def further(material: Material, present: frozenset[str]) -> Content:
    """What annexes found out about the data set: of drafted questions, what each filter dropped."""
    return [taken("examined", name).parts(material) for name in offered("examined")]
