"""Ways from a number to the questions that it was made of."""

from __future__ import annotations

from urllib.parse import urlencode

from markupsafe import Markup

from ragbench.show.material import Material


def link(material: Material, present: frozenset[str], **wish: str | None) -> str | None:
    """The address of the table of questions as it is wished for; None where the page does not hold it.

    wish: metric, system, against (the system beside it), slice (`kind:well_formed`), sort (`worst`, `lost`, `order`).
    """
    if "questions" not in present:
        return None
    return "#questions?" + urlencode({key: value for key, value in wish.items() if value})


def behind(material: Material, present: frozenset[str]) -> Markup:
    """The way from numbers to the questions they were made of; empty where the page does not list them."""
    if "questions" not in present:
        return Markup("")
    text = material.text("Every question with its values")
    return Markup('<p class="rb-meta rb-behind"><a href="#questions">{}</a></p>').format(text)
