"""The table of a page that describes and does not judge: measures with their meanings, and their values by system."""

from __future__ import annotations

import math
from typing import Any

from ragbench.core.counts import counted
from ragbench.core.parts import Column, Content, Group, Link, Phrase, Row, Styled, Table, Text, small
from ragbench.views.basics import bands
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import has_items, link, metric_name
from ragbench.views.basics.marks import measured, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean
from ragbench.views.view import view

COLUMNS = 6
"""So many systems have a column each; of more each has a row, as names of forty signs need the width."""


@view("measures")
def measures(material: Material, present: frozenset[str]) -> Content:
    """Values with intervals and meanings, of a page that describes and does not compare."""
    _ = material.text
    if not material.metrics:
        return Text(_("Nothing was measured."))
    notes, title = Notes(material), _("Values of the metrics")
    if len(material.systems) > COLUMNS:
        columns = [Column(_("system")), Column(_("value"), "interval")]
        rows = [row for metric in material.metrics for row in _body(material, metric, notes, present)]
    else:
        columns = [Column(_("metric"))]
        columns += [Column(named(material, name), "interval", head="rb-name", label=clean(name))
                    for name in material.systems]  # fmt: skip
        rows = [_row(material, metric, notes, present) for metric in material.metrics]
    look = "rb-long" if len(material.systems) > COLUMNS else "rb-wide rb-measures"
    made = Table(tuple(columns), tuple(rows), title, language=_.language, look=look)
    return (made, notes.parts(), bands.parts(material, present))


def _row(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> Row:
    """A metric with a cell for each system."""
    values = [_value(material, present, system, metric, notes) for system in material.systems]
    return Row([_named(material, metric, present), *values], anchor("measure", metric))


def _body(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> list[Any]:
    """A metric with a row for each system; one row for all where they have the same value."""
    head = Group(_named(material, metric, present), anchor("measure", metric), apart=True)
    told = {name: _value(material, present, name, metric, notes) for name in material.systems}
    if len({repr(material.estimate(name, metric)) for name in told}) == 1:
        return [head, (material.text("all systems"), next(iter(told.values())))]
    return [head, *((named(material, name), value) for name, value in told.items())]


def _named(material: Material, metric: str, present: frozenset[str]) -> Phrase:
    """A metric's name and what it means."""
    declared = material.declaration(metric)
    known = (
        _undeclared(material).get(metric, "")
        if declared is None
        else declared.meaning(material.text, material.text.language)
    )
    return (metric_name(material, present, metric), " ", Styled(known, "small") if known else "")


def _undeclared(material: Material) -> dict[str, str]:
    """Meanings of fields of the specification that are not measures of the catalogue."""
    _ = material.text
    return {
        "n_topics": _("How many topics the questions were grouped into."),
        "total_questions": _("How many questions were asked."),
        "avg_chunks_per_topic": _("Mean number of distinct passages that were retrieved for a topic."),
    }


def _value(material: Material, present: frozenset[str], system: str, metric: str, notes: Notes) -> Phrase | None:
    estimate = material.estimate(system, metric)
    if estimate is None:
        return None
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    return (
        Link(measured(material, estimate, metric), address if has_items(material, metric) else None),
        notes.mark(estimate),
        notes.unidentified(system, metric),
        small(material.text("not measured") if math.isnan(estimate.value) else ""),
        small(counted(estimate, material.text, material.digits(metric))),
        bands.below(material, metric, estimate, system),
    )
