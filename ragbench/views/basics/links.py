"""Ways from a number to the questions that it was made of, and from a metric to what it means."""

from __future__ import annotations

from urllib.parse import urlencode

from ragbench.core.parts import Link, Name, Part, Phrase, Text
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean

METRIC_PAGES = "metrics"
"""The folder of the pages on metrics, beside the pages of a report; a page that has it says so in `present`."""


def link(material: Material, present: frozenset[str], **wish: str | None) -> str | None:
    """The address of the table of questions as it is wished for; None where the page does not hold it.

    wish: metric, system, against (the system beside it), slice (`kind:well_formed`), sort (`worst`, `lost`, `order`),
    outcome (`better`, `measured`, `=0` for the first of a measure's words).
    """
    if "questions" not in present:
        return None
    return "#questions?" + urlencode({key: value for key, value in wish.items() if value})


def behind(material: Material, present: frozenset[str], text: str = "") -> list[Part]:
    """The way from numbers to the questions they were made of, in the words of `text` where these are others; none
    where the page does not list them."""
    if "questions" not in present:
        return []
    text = text or material.text("Every question with its values")
    return [Text(Link(text, "#questions"), "rb-meta rb-behind")]


def metric_name(material: Material, present: frozenset[str], label: str) -> Phrase:
    """A metric's label, leading to its own page where the report has such pages."""
    declared = material.declaration(label)
    if METRIC_PAGES not in present or declared is None:
        return Name(clean(label))
    return Link(Name(clean(label)), f"{METRIC_PAGES}/{declared.name}.html", "rb-metric")


def row_anchor(metric: str, describes: bool) -> str:
    """The anchor of a metric's row on a page that compares, or on one that describes."""
    return anchor("measure" if describes else "metric", metric)


def left(material: Material, number: int, count: int) -> list[Part]:
    """How many of `number` a list of the first `count` leaves to the tables of the run; none where it holds all."""
    if number <= count:
        return []
    _ = material.text
    more = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", number - count)
    return [Text(more, "rb-meta")]
