"""Items as a folded list, for JupyterLab, where no data lies beside a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.show.basics.marks import named, sign
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import drawn
from ragbench.show.basics.text import anchor, clean, shortened
from ragbench.show.items.contents import Items, Judged, Measured, Section

TEXT, LINE, NAME = 400, 1000, 80


def draw(material: Material, items: Items, limit: int) -> Markup:
    """The first `limit` items, each with its values and what is known of it."""
    _, number = material.text, len(items.ids)
    more = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", number - limit)
    return drawn(
        "items",
        _,
        title=f"{items.title} ({_.integer(number)})",
        systems=[(clean(name), sign(material, name), named(material, name)) for name in material.systems],
        items=[_item(material, items, place) for place in range(min(limit, number))],
        more=more if number > limit else "",
    )


def _item(material: Material, items: Items, place: int) -> dict[str, Any]:
    found, name = items.read(place), items.ids[place]
    sides = found.sides.items() if items.listed else ()
    return {
        "id": shortened(name, NAME),
        "anchor": anchor("q", name),
        "text": shortened(items.texts[place], TEXT) or shortened(name, NAME),
        "marks": _values(material, items.chosen, place),
        "values": [(one.name, _values(material, one, place)) for one in items.measures],
        "sections": list(_sections(found.sections)),
        "sides": [(named(material, system), list(_sections(of))) for system, of in sides if of],
    }


def _values(material: Material, one: Measured, place: int) -> list[str]:
    """The value of every system in words."""
    _, found = material.text, [one.values.get(name) for name in material.systems]
    values = [None if known is None else known[place] for known in found]
    if one.words:
        return [_.number(None) if value is None else one.words[int(value)] for value in values]
    return [_.number(value, one.digits) for value in values]


def _sections(sections: Sequence[Section]) -> Iterator[tuple[str, str | list[tuple[str, str]]]]:
    for lead, body in sections:
        if isinstance(body, str):
            yield shortened(lead, TEXT), shortened(body, LINE)
        elif not isinstance(body, Judged):
            yield shortened(lead, TEXT), [(shortened(one.text, LINE), shortened(one.meta, TEXT)) for one in body]
