"""Texts that lie too near to each other, and texts that lie apart from all others: each with its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ragbench.show.basics.lists import entry, ordered, rows_of
from ragbench.show.basics.marks import named
from ragbench.show.basics.material import Material
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
    return Markup("").join(_closest(material, name, count) for name in material.systems) or _nothing(material)


@view("outliers")
def outliers(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The texts that lie farthest from their nearest neighbour."""
    return Markup("").join(_outliers(material, name, count) for name in material.systems) or _nothing(material)


def _nothing(material: Material) -> Markup:
    return Markup("<p>{}</p>").format(material.text("Nothing was measured."))


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
    title = Markup("<h3>{}: {}</h3>").format(_bold(material, system), text)
    place = material.systems.index(system)
    rows = rows_of(material.kept("closest"), system)[:count]
    return title + ordered(_pair(material, f"near{place}", row) for row in rows)


def _pair(material: Material, prefix: str, row: Mapping[str, Any]) -> Markup:
    _ = material.text
    both = [material.texts.get(str(row[side]), {}) for side in ("first", "second")]
    label = Markup('<span class="rb-worse">{}</span>').format(_("nearly the same")) if row["near"] else ""
    return entry(
        anchor(prefix, f"{row['first']}--{row['second']}"),
        Markup("{}<br>{}").format(*(shown(one.get("text"), LINE) for one in both)),
        Markup("{} {}").format(label, _number(material, row["distance"])),
        Markup('<ul class="rb-hits">{}</ul>').format(Markup("").join(text(one) for one in both)),
    )


def _outliers(material: Material, system: str, count: int) -> Markup:
    _ = material.text
    title = _.html("<b>{system}</b>: farthest from their nearest neighbour", system=_name(material, system))
    place = material.systems.index(system)
    rows = rows_of(material.kept("outliers"), system)[:count]
    return Markup("<h3>{}</h3>").format(title) + ordered(_outlier(material, f"far{place}", row) for row in rows)


def _outlier(material: Material, prefix: str, row: Mapping[str, Any]) -> Markup:
    _ = material.text
    own, nearest = (material.texts.get(str(row[side]), {}) for side in ("text", "nearest"))
    return entry(
        anchor(prefix, str(row["text"])),
        shown(own.get("text"), SUMMARY),
        _number(material, row["distance"]),
        Markup('<ul class="rb-hits">{}</ul><p class="rb-lead">{}</p><ul class="rb-hits">{}</ul>').format(
            text(own), _("Its nearest neighbour"), text(nearest)
        ),
    )


def text(one: Mapping[str, Any]) -> Markup:
    """A text with what is known of where it stands."""
    places = [shown(one.get(key), 80) for key in ("id", "title", "section", "url")]
    return Markup('<li><p>{}</p><p class="rb-meta">{}</p></li>').format(
        shown(one.get("text"), EXCERPT), Markup(" · ").join(part for part in dict.fromkeys(places) if part)
    )


def _bold(material: Material, system: str) -> Markup:
    return Markup("<b>{}</b>").format(_name(material, system))


def _name(material: Material, system: str) -> Markup:
    return named(material, system) if len(material.systems) > 1 else shown(system)


def _number(material: Material, value: float) -> Markup:
    return Markup('<span class="rb-number">{}</span>').format(material.text.number(float(value)))


def _threshold(material: Material, system: str) -> float | None:
    return known(material, system).get("near_distance")
