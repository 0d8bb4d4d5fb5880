"""Texts that lie too near to each other, and texts that lie apart from all others: each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.show.basics.entries import entry, ordered, rows_of
from ragbench.show.basics.marks import named
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import anchor, shown
from ragbench.show.page import view
from ragbench.show.sentences.descriptions import fact, known

if TYPE_CHECKING:
    pass

SUMMARY = 110
LINE = 74  # of a pair, whose texts stand one below the other
EXCERPT = 600


@view("closest")
def closest(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The closest pairs of texts of each embedder, near-duplicates marked."""
    return html.all(*(_closest(material, name, count) for name in material.systems)) or _nothing(material)


@view("outliers")
def outliers(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The texts that lie farthest from their nearest neighbour."""
    return html.all(*(_outliers(material, name, count) for name in material.systems)) or _nothing(material)


def _nothing(material: Material) -> Markup:
    return html.p(material.text("Nothing was measured."))


def _closest(material: Material, system: str, count: int) -> Markup:
    _ = material.text
    within = fact(material, system, "near_duplicates")
    threshold = _.number(_threshold(material, system))
    text = _("no two texts are nearly the same (within {distance}); these come closest", distance=threshold)
    if within:
        text = _.plural(
            "{n} pair of texts is nearly the same (within {distance})",
            "{n} pairs of texts are nearly the same (within {distance})",
            within,
            distance=threshold,
        )
    title = html.heading(html.all(html.b(_name(material, system)), ": ", text))
    place = material.systems.index(system)
    rows = rows_of(material.kept("closest"), system)[:count]
    return title + ordered(_pair(material, f"near{place}", row) for row in rows)


def _pair(material: Material, prefix: str, row: Mapping[str, Any]) -> Markup:
    _ = material.text
    both = [material.texts.get(str(row[side]), {}) for side in ("first", "second")]
    label = html.span(_("nearly the same"), "rb-worse") if row["near"] else ""
    return entry(
        anchor(prefix, f"{row['first']}--{row['second']}"),
        html.below(*(shown(one.get("text"), LINE) for one in both)),
        html.all(label, " ", _number(material, row["distance"])),
        html.passages([text(one) for one in both]),
    )


def _outliers(material: Material, system: str, count: int) -> Markup:
    _ = material.text
    title = _.html("<b>{system}</b>: farthest from their nearest neighbour", system=_name(material, system))
    place = material.systems.index(system)
    rows = rows_of(material.kept("outliers"), system)[:count]
    return html.heading(title) + ordered(_outlier(material, f"far{place}", row) for row in rows)


def _outlier(material: Material, prefix: str, row: Mapping[str, Any]) -> Markup:
    own, nearest = (material.texts.get(str(row[side]), {}) for side in ("text", "nearest"))
    lead = html.lead(material.text("Its nearest neighbour"))
    return entry(
        anchor(prefix, str(row["text"])),
        shown(own.get("text"), SUMMARY),
        _number(material, row["distance"]),
        html.all(html.passages([text(own)]), lead, html.passages([text(nearest)])),
    )


def text(one: Mapping[str, Any]) -> tuple[Markup, Markup]:
    """A text, and what is known of where it stands."""
    places = [shown(one.get(key), 80) for key in ("id", "title", "section", "url")]
    return shown(one.get("text"), EXCERPT), Markup(" · ").join(part for part in dict.fromkeys(places) if part)


def _name(material: Material, system: str) -> Markup:
    return named(material, system) if len(material.systems) > 1 else shown(system)


def _number(material: Material, value: float) -> Markup:
    return html.number(material.text.number(float(value)))


def _threshold(material: Material, system: str) -> float | None:
    return known(material, system).get("near_distance")
