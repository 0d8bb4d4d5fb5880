"""What annexes say of a data set, below what the core says of it."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.core.annexes import offered, taken
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.view import view


@view("further")
def further(material: Material, present: frozenset[str]) -> Markup:
    """What annexes found out about the data set: of drafted questions, what each filter dropped."""
    return html.all(*(taken("examined", name).drawn(material) for name in offered("examined")))
