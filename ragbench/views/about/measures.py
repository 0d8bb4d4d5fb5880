"""The table of a page that describes and does not judge: measures with their meanings, and their values by system."""

from __future__ import annotations

import math

from markupsafe import Markup

from ragbench.core.counts import counted
from ragbench.core.language import DASH
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import link, metric_name
from ragbench.views.basics.marks import named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.comparison import bands
from ragbench.views.items.kinds import has_items
from ragbench.views.view import view

COLUMNS = 6
"""So many systems have a column each; of more each has a row, as names of forty signs need the width."""


@view("measures")
def measures(material: Material, present: frozenset[str]) -> Markup:
    """Values with intervals and meanings, of a page that describes and does not compare."""
    _ = material.text
    if not material.metrics:
        return html.p(_("Nothing was measured."))
    notes, title = Notes(material), _("Values of the metrics")
    if len(material.systems) > COLUMNS:
        bodies = [_body(material, metric, notes, present) for metric in material.metrics]
        made = html.bodies(title, [html.head(_("system")), html.head(_("value"))], bodies, "rb-long")
    else:
        heads = [html.head(named(material, name), "rb-name") for name in material.systems]
        rows = [_row(material, metric, notes, present) for metric in material.metrics]
        made = html.table(title, [html.head(_("metric")), *heads], rows, "rb-wide rb-measures")
    return made + notes.html() + bands.draw(material, present)


def _row(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> Markup:
    """A metric with a cell for each system."""
    cells = [_value(material, present, system, metric, notes, shown(system)) for system in material.systems]
    return html.named_row(anchor("measure", metric), _named(material, metric, present), cells)


def _body(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> list[Markup]:
    """A metric with a row for each system; one row for all where they have the same value."""
    _ = material.text
    rows = [html.group(_named(material, metric, present), 2, name=anchor("measure", metric))]
    told = {name: _value(material, present, name, metric, notes, _("value")) for name in material.systems}
    if len({repr(material.estimate(name, metric)) for name in told}) == 1:
        return [*rows, html.row([html.row_head(_("all systems")), next(iter(told.values()))])]
    return [*rows, *(html.row([html.row_head(named(material, name)), cell]) for name, cell in told.items())]


def _named(material: Material, metric: str, present: frozenset[str]) -> Markup:
    """A metric's name and what it means."""
    declared = material.declaration(metric)
    known = (
        _undeclared(material).get(metric, "")
        if declared is None
        else declared.meaning(material.text, material.text.language)
    )
    return html.all(metric_name(material, present, metric), " ", html.small(known) if known else "")


def _undeclared(material: Material) -> dict[str, str]:
    """Meanings of fields of the specification that are not measures of the catalogue."""
    _ = material.text
    return {
        "n_topics": _("How many topics the questions were grouped into."),
        "total_questions": _("How many questions were asked."),
        "avg_chunks_per_topic": _("Mean number of distinct passages that were retrieved for a topic."),
    }


def _value(
    material: Material, present: frozenset[str], system: str, metric: str, notes: Notes, label: str | Markup
) -> Markup:
    estimate = material.estimate(system, metric)
    if estimate is None:
        return html.cell(label, DASH)
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    content = html.link(address if has_items(material, metric) else None, spread(material.value(estimate, metric)))
    content += notes.mark(estimate) + notes.unidentified(system, metric)
    if math.isnan(estimate.value):
        content += small(material.text("not measured"))
    content += small(counted(estimate, material.text, material.digits(metric)))
    return html.cell(label, content + bands.below(material, metric, estimate, system))
