"""One item of a page with all that is known of it: what it needed, and what every system made of it, side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragbench.core import terminal
from ragbench.core.names import nearest
from ragbench.tiers.basics.verdicts import statuses
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.basics.web import Web, drawn, html
from ragbench.views.items.claims import SHARE, Claim, Place, pieces, placed
from ragbench.views.items.contents import Claimed, Entry, Items, Judged, Measured, Section
from ragbench.views.items.kinds import items_of
from ragbench.views.view import style

WIDTH = 80


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `page.explain` returns: it shows itself in JupyterLab, and prints as plain lines.

    item: its id. title: its text. about: id and slices. sections: what is known of the item itself, under headings.
    values: by system, (metric, value in words). sides: by system, what it found, answered, and how that was judged.
    """

    material: Material
    item: str
    title: str
    about: str
    sections: Sequence[Section]
    values: dict[str, list[tuple[str, str]]]
    sides: dict[str, Sequence[Section]]

    def _repr_html_(self) -> str:
        sides = [
            (Web(self.material.text).phrase(named(self.material, name)), self.values[name], sections)
            for name, sections in self.sides.items()
        ]
        _ = self.material.text
        own = {"title": self.title, "about": self.about, "shared": self.sections, "sides": sides}
        body = drawn("explanation", _, **own, marked=_marked, share=_.percent(SHARE))
        return str(style("questions.css") + html.div(body, "rb"))

    def __repr__(self) -> str:
        """The first ten lines of what `print` shows."""
        return terminal.brief(str(self))

    def __str__(self) -> str:
        lines = [*_wrapped(self.title), *_wrapped(self.about), *_lines(self.sections)]
        for name, sections in self.sides.items():
            values = " · ".join(f"{metric} {value}" for metric, value in self.values[name])
            lines += ["", *_wrapped(f"== {name}"), *_wrapped(values), *_lines(sections)]
        return "\n".join(lines)


def explanation(material: Material, item: str) -> Explanation:
    """All that is known of the item of that id. Raises ValueError, naming the nearest ids, for any other."""
    items = items_of(material)
    places = {clean(name): place for place, name in enumerate(items.ids)}  # as people see them
    if (place := places.get(clean(item))) is None:
        near = ", ".join(nearest(item, places)) or "none: this page has no items"
        raise ValueError(f"there is no item {item!r}; the nearest are {near}")
    detail = items.read(place)
    slices = [
        f"{parting.name}: {parting.words.get(value, value)}"
        for parting in items.partings
        if (value := parting.values[place])
    ]
    return Explanation(
        material,
        item,
        clean(detail.title or items.texts[place]) or clean(item),
        " · ".join([clean(item), *map(clean, slices)]),
        [_section(material, section) for section in detail.sections],
        {name: _values(material, items, place, name) for name in material.systems},
        {name: [_section(material, section) for section in detail.sides.get(name, ())] for name in material.systems},
    )


def _values(material: Material, items: Items, place: int, system: str) -> list[tuple[str, str]]:
    return [(clean(measure.name), _value(material, measure, place, system)) for measure in items.measures]


def _value(material: Material, measure: Measured, place: int, system: str) -> str:
    known = measure.values.get(system)
    value = None if known is None else known[place]
    if value is not None:
        return measure.words[int(value)] if measure.words else material.text.number(value, measure.digits)
    status = next((status for status, rows in measure.missing.get(system, {}).items() if place in rows), "")
    return statuses(material.text).get(status, status) or material.text.number(None)


def _section(material: Material, section: Section) -> Section:
    """The section with clean texts, and with the gain of every passage in its mark."""
    lead, body = section
    if isinstance(body, str):
        return clean(lead), clean(body)
    if isinstance(body, Claimed):
        return clean(lead), Claimed(clean(body.text), tuple(_claim(claim) for claim in body.claims))
    if isinstance(body, Judged):
        verdicts = [(clean(title), [_entry(material, entry) for entry in lines]) for title, lines in body.verdicts]
        return clean(lead), Judged(body.value, clean(body.said), verdicts)
    return clean(lead), [_entry(material, entry) for entry in body]


def _entry(material: Material, entry: Entry) -> Entry:
    _ = material.text
    gain = "" if entry.gain is None else _("gain {value}", value=f"{entry.gain:g}")
    mark = ", ".join(filter(None, (clean(entry.mark), gain)))
    claims = tuple(_claim(each) for each in entry.claims)
    return entry._replace(text=clean(entry.text), meta=clean(entry.meta), mark=mark, claims=claims)


def _claim(claim: Claim) -> Claim:
    return Claim(clean(claim.statement), clean(claim.verdict), claim.kind, clean(claim.judged))


def _marked(text: str, claims: Sequence[Claim]) -> tuple[list[tuple[str, Place | None]], list[Claim]]:
    """The pieces of a text with the claims that stand in them, and the claims that stand in none."""
    places, left = placed(text, claims)
    return list(pieces(text, places)), left


def _lines(sections: Sequence[Section]) -> Iterator[str]:
    for lead, body in sections:
        if isinstance(body, Judged):
            yield from _wrapped(f"{lead}: {body.value}", "  ")
            yield from _wrapped(body.said, "    ")
            for title, entries in body.verdicts:
                yield from _wrapped(title, "    ")
                yield from _listed(entries, "      ", numbered=False)
            continue
        yield from _wrapped(lead, "  ")
        if isinstance(body, str | Claimed):
            yield from _wrapped(body if isinstance(body, str) else body.text, "    ")
        else:
            yield from _listed(body, "    ", numbered=any(entry.mark for entry in body))


def _listed(entries: Sequence[Entry], indent: str, *, numbered: bool) -> Iterator[str]:
    for number, entry in enumerate(entries, 1):
        said = " · ".join(filter(None, (entry.mark, entry.meta)))
        lead = f"{number}." if numbered else "-"
        yield from _wrapped(f"{lead} {entry.text}" if entry.text else f"{lead} {said}", indent)
        if entry.text:
            yield from _wrapped(said, f"{indent}   ")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of the terminal's usual width; nothing for an empty text."""
    said = terminal.plain(" ".join(text.split()))
    return textwrap.wrap(said, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  " if indent else "")
