"""Texts that lie too near to each other, and texts that lie apart from all others: each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.views.basics.entries import entry, one_by_one, rows_of, shortened
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, shown
from ragbench.views.sentences.descriptions import fact, known
from ragbench.views.view import view

SUMMARY = 110
LINE = 74  # of a pair, whose texts stand one below the other
EXCERPT = 600


@view("closest")
def closest(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The closest pairs of texts of each embedder, near-duplicates marked."""
    made = [_closest(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


@view("outliers")
def outliers(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The texts that lie farthest from their nearest neighbour."""
    made = [_outliers(material, name, count) for name in material.systems]
    return one_by_one(material.text, made) or _nothing(material)


def _nothing(material: Material) -> Markup:
    return html.p(material.text("Nothing was measured."))


def _closest(material: Material, system: str, count: int) -> Markup:
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
    title = html.heading(html.all(html.b(name(material, system)), ": ", text))
    made = []
    for row in rows_of(material.kept("closest"), system)[:count]:
        both = [material.texts.get(str(row[side]), {}) for side in ("first", "second")]
        identifier = anchor(f"near{material.systems.index(system)}", f"{row['first']}--{row['second']}")
        label = html.span(_("nearly the same"), "rb-worse") if row["near"] else ""
        marks = html.all(label, " ", html.number(_.number(float(row["distance"]))))
        summary = html.below(*(shown(neighbour.get("text"), LINE) for neighbour in both))
        made.append(entry(identifier, summary, marks, html.passages([passage(neighbour) for neighbour in both])))
    return title + shortened(_, made)


def _outliers(material: Material, system: str, count: int) -> Markup:
    _, made = material.text, []
    for row in rows_of(material.kept("outliers"), system)[:count]:
        own, nearest = (material.texts.get(str(row[side]), {}) for side in ("text", "nearest"))
        identifier = anchor(f"far{material.systems.index(system)}", str(row["text"]))
        lead = html.lead(_("Its nearest neighbour"))
        body = html.all(html.passages([passage(own)]), lead, html.passages([passage(nearest)]))
        distance = html.number(_.number(float(row["distance"])))
        made.append(entry(identifier, shown(own.get("text"), SUMMARY), distance, body))
    title = _.html("<b>{system}</b>: farthest from their nearest neighbour", system=name(material, system))
    return html.heading(title) + shortened(_, made)


def passage(text: Mapping[str, Any]) -> tuple[Markup, Markup]:
    """A text, and what is known of where it stands."""
    places = [shown(text.get(key), 80) for key in ("id", "title", "section", "url")]
    return shown(text.get("text"), EXCERPT), Markup(" · ").join(part for part in dict.fromkeys(places) if part)


def name(material: Material, system: str) -> Markup:
    """A system by its name, with its sign where there are several."""
    return named(material, system) if len(material.systems) > 1 else shown(system)
