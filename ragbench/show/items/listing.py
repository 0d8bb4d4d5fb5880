"""Items as a folded list, for JupyterLab, where no data lies beside a page."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ragbench.show.basics.marks import named
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, shown
from ragbench.show.items.views import Items, Measured, Section

TEXT, LINE = 400, 1000


def draw(material: Material, items: Items, limit: int) -> Markup:
    """The first `limit` items, each with its values and what is known of it."""
    _ = material.text
    number = len(items.ids)
    drawn = Markup("").join(_item(material, items, place) for place in range(min(limit, number)))
    more = Markup("")
    if number > limit:
        left = number - limit
        text = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", left)
        more = Markup("<p>{}</p>").format(text)
    return Markup(
        '<details class="rb-all" id="questions"><summary>{} ({})</summary><ol class="rb-questions">{}</ol>{}</details>'
    ).format(items.title, _.integer(number), drawn, more)


def _item(material: Material, items: Items, place: int) -> Markup:
    found = items.read(place)
    body = _sections(found.sections)
    for system, sections in found.sides.items():
        if sections:
            body += Markup('<p class="rb-lead">{}</p>{}').format(named(material, system), _sections(sections))
    marks = Markup(" ").join(
        Markup('<span class="rb-mark">{}</span>').format(text)
        for system in material.systems
        if (text := _value(material, items.measures[0], system, place))
    )
    return Markup(
        '<li id="{}"><details><summary><span class="rb-asked">{}</span><span class="rb-marks">{}</span></summary>{}'
        '<p class="rb-meta">{}</p></details></li>'
    ).format(
        anchor("q", items.ids[place]),
        shown(items.texts[place], TEXT) or shown(items.ids[place], 80),
        marks,
        body,
        shown(items.ids[place], 80),
    )


def _value(material: Material, one: Measured, system: str, place: int) -> str:
    values = one.values.get(system)
    value = None if values is None else values[place]
    if value is None:
        return ""
    return one.words[int(value)] if one.words else material.text.number(value, one.digits)


def _sections(sections: Sequence[Section]) -> Markup:
    return Markup("").join(
        Markup('<p class="rb-lead">{}</p>{}').format(shown(lead), _body(body)) for lead, body in sections
    )


def _body(body: object) -> Markup:
    if isinstance(body, str):
        return Markup('<p class="rb-text">{}</p>').format(shown(body, LINE))
    assert isinstance(body, Sequence)
    lines = Markup("").join(
        Markup('<li><p>{}</p><p class="rb-meta">{}</p></li>').format(shown(one.text, LINE), shown(one.meta, TEXT))
        for one in body
    )
    return Markup('<ul class="rb-hits">{}</ul>').format(lines)
