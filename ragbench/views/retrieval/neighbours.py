"""Texts that lie too near to each other, and texts that lie apart from all others: each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.parts import Content, Entries, Entry, Item, Lines, Number, Phrase, Styled, Text, bold, filled
from ragbench.views.basics.entries import one_by_one, rows_of, shortened
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, shown
from ragbench.views.sentences.descriptions import fact, known
from ragbench.views.view import view

SUMMARY = 110
LINE = 74  # of a pair, whose texts stand one below the other
EXCERPT = 600


@view("closest")
def closest(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The closest pairs of texts of each embedder, near-duplicates marked."""
    made = [_closest(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


@view("outliers")
def outliers(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The texts that lie farthest from their nearest neighbour."""
    made = [_outliers(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


def _nothing(material: Material) -> Content:
    return Text(material.text("Nothing was measured."))


def _closest(material: Material, system: str, count: int) -> Content:
    _, within = material.text, fact(material, system, "near_duplicates")
    threshold = _.number(known(material, system).get("near_distance"))
    text = _("no two texts are nearly the same (within {distance}); these come closest", distance=threshold)
    if within:
        text = _.plural(
            "{n} pair of texts is nearly the same (within {distance})",
            "{n} pairs of texts are nearly the same (within {distance})",
            within,
            distance=threshold,
        )
    title = Text((bold(name(material, system)), ": ", text), "h3")
    made = []
    for row in rows_of(material.kept("closest"), system)[:count]:
        both = [material.texts.get(str(row[side]), {}) for side in ("first", "second")]
        identifier = anchor(f"near{material.systems.index(system)}", f"{row['first']}--{row['second']}")
        label = Styled(_("nearly the same"), look="rb-worse") if row["near"] else ""
        marks = (label, " ", Number(float(row["distance"])))
        summary = Lines([shown(neighbour.get("text"), LINE) for neighbour in both])
        made.append(Entry(identifier, summary, marks, [Entries([passage(neighbour) for neighbour in both], "rb-hits")]))
    return (title, shortened(_, made))


def _outliers(material: Material, system: str, count: int) -> Content:
    _, made = material.text, []
    for row in rows_of(material.kept("outliers"), system)[:count]:
        own, nearest = (material.texts.get(str(row[side]), {}) for side in ("text", "nearest"))
        identifier = anchor(f"far{material.systems.index(system)}", str(row["text"]))
        lead = Text(_("Its nearest neighbour"), "rb-lead")
        body = (Entries([passage(own)], "rb-hits"), lead, Entries([passage(nearest)], "rb-hits"))
        distance = Number(float(row["distance"]))
        made.append(Entry(identifier, shown(own.get("text"), SUMMARY), distance, body))
    title = filled(_("<b>{system}</b>: farthest from their nearest neighbour"), system=name(material, system))
    return (Text(title, "h3"), shortened(_, made))


def passage(text: Mapping[str, Any]) -> Item:
    """A text, and what is known of where it stands."""
    places = [shown(text.get(key), 80) for key in ("id", "title", "section", "url")]
    where = " · ".join(filter(None, dict.fromkeys(places)))
    return Item([Text(shown(text.get("text"), EXCERPT)), Text(where, "rb-meta")])


def name(material: Material, system: str) -> Phrase:
    """A system by its name, with its sign where there are several."""
    return named(material, system) if len(material.systems) > 1 else shown(system)
