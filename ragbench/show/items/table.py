"""Every question, or other item, behind the numbers: in a page a table to search, filter and sort; else a folded list.

The list is for JupyterLab, where no data lies beside a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.show.basics.marks import GLYPHS, named, series, sign
from ragbench.show.basics.material import Material
from ragbench.show.basics.statuses import statuses
from ragbench.show.basics.templates import drawn, html
from ragbench.show.basics.text import anchor, clean, shortened
from ragbench.show.items.contents import Items, Judged, Measured, Section
from ragbench.show.items.data import slug
from ragbench.show.items.kinds import items_of
from ragbench.show.view import view

TEXT, LINE, NAME = 400, 1000, 80


@view("questions")
def questions(material: Material, present: frozenset[str], limit: int = 2000) -> Markup:
    """Every question, or other item, with its values; of a list at most `limit`.

    In a page (which knows that it holds this view) a table whose data lies beside the page; elsewhere a list.
    """
    items = items_of(material)
    if not (items.ids and items.measures and material.systems):
        return html.p(items.empty) if items.empty else Markup("")
    return _table(material, items) if "questions" in present else _list(material, items, limit)


def _table(material: Material, items: Items) -> Markup:
    """What the script needs before the data is there: words, numbers' form, signs of the systems."""
    _ = material.text
    setting = {
        "language": _.language,
        "metric": clean(items.chosen.name),
        "sort": items.sort,
        "baseline": clean(material.baseline),
        "signs": [[series(material, name), GLYPHS[series(material, name)]] for name in material.systems],
    }
    count = _.plural("{n} row.", "{n} rows.", len(items.ids))
    own = {"kind": items.kind, "statuses": statuses(material)}
    return drawn("items", _, title=items.title, parts=slug(material), setting=setting, count=count, **own)


def _list(material: Material, items: Items, limit: int) -> Markup:
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
