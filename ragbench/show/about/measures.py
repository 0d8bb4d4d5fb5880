"""The table of a page that describes and does not judge: one row a measure with its meaning, one column a system."""

from __future__ import annotations

import math

from markupsafe import Markup

from ragbench.counts import counted
from ragbench.language import DASH
from ragbench.show.basics.cells import cell, table
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.links import link, metric_name
from ragbench.show.basics.marks import named, small, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.comparison import bands
from ragbench.show.items.kinds import has_items
from ragbench.show.page import view


@view("measures")
def measures(material: Material, present: frozenset[str]) -> Markup:
    """Values with intervals and meanings, of a page that describes and does not compare."""
    _ = material.text
    if not material.metrics:
        return Markup("<p>{}</p>").format(_("Nothing was measured."))
    notes = Notes(material)
    heads = [Markup('<th scope=col class="rb-name">{}</th>').format(named(material, name)) for name in material.systems]
    rows = [_row(material, metric, notes, present) for metric in material.metrics]
    first = Markup("<th scope=col>{}</th>").format(_("measure"))
    made = table(_("Measures"), [first, *heads], rows, "rb-wide rb-measures")
    return made + notes.html() + bands.draw(material, present)


def _row(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> Markup:
    declared = material.declaration(metric)
    known = _undeclared(material).get(metric, "") if declared is None else material.text(declared.summary)
    meaning = Markup("<small>{}</small>").format(known) if known else ""
    cells = Markup("").join(_value(material, present, name, metric, notes) for name in material.systems)
    return Markup('<tr><th scope=row id="{}">{} {}</th>{}</tr>').format(
        anchor("measure", metric), metric_name(material, present, metric), meaning, cells
    )


def _undeclared(material: Material) -> dict[str, str]:
    """Meanings of fields of the specification that are not measures of the catalogue."""
    _ = material.text
    return {
        "n_topics": _("How many topics the questions were parted into."),
        "total_questions": _("How many questions were asked."),
        "avg_chunks_per_topic": _("Mean number of distinct passages that were retrieved for a topic."),
    }


def _value(material: Material, present: frozenset[str], system: str, metric: str, notes: Notes) -> Markup:
    estimate = material.estimate(system, metric)
    if estimate is None:
        content = Markup("{}").format(DASH)
    else:
        content = spread(material.value(estimate, metric))
        address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
        if address is not None and has_items(material, metric):
            content = Markup('<a href="{}">{}</a>').format(address, content)
        content += notes.mark(estimate) + bands.below(material, metric, estimate)
        if math.isnan(estimate.value):
            content += small(material.text("not measured"))
        content += small(counted(estimate, material.text, material.digits(metric)))
    return cell(shown(system), content)
