"""The answer in a sentence a challenger, the forest of paired differences, and the table of verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragbench.core.counts import brackets, missing
from ragbench.core.language import DASH
from ragbench.core.parts import (
    Cell,
    Column,
    Group,
    Link,
    Number,
    Part,
    Phrase,
    Section,
    Table,
    Text,
    Value,
    small,
)
from ragbench.core.stand_ins import marked
from ragbench.core.types import Comparison
from ragbench.tiers.basics.findings import merged, said
from ragbench.views.basics import bands
from ragbench.views.basics.compared import Compared
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.forest import Panel, drawn
from ragbench.views.basics.links import behind, link, metric_name
from ragbench.views.basics.marks import measured, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.sentences import repeats
from ragbench.views.sentences.facts import facts
from ragbench.views.sentences.findings import sentences
from ragbench.views.view import view


@view("table")
def table(material: Material, present: frozenset[str]) -> list[Part]:
    """Values, differences, corrected p and verdict words, metric by metric."""
    _ = material.text
    if not material.metrics:
        return [Text(_("Nothing was measured."))]
    adjusted = [c.comparison for c in material.measurement.comparisons if c.comparison.p_adjusted is not None]
    family = "; ".join(dict.fromkeys(comparison.family for comparison in adjusted))
    compared = Compared.of(material, Notes(material), family, corrected=bool(adjusted))
    made = _wide(compared, present) if len(material.systems) <= 2 else _long(compared, present)
    return [
        made,
        Text(_measured(material), "rb-meta"),
        *_families(material),
        *repeats.table(material),
        *compared.notes.parts(),
        *bands.parts(material, present),
        *behind(material, present),
    ]


def _families(material: Material) -> list[Part]:
    """What p, verdicts and the intervals of differences are adjusted for; folded, the interval of each by itself."""
    _ = material.text
    made = [c for c in material.measurement.comparisons if c.comparison.family]
    families = "; ".join(filter(None, dict.fromkeys(said(c.comparison.family, _) for c in made)))
    same = merged((c.comparison for c in made), _)
    wider = [c for c in made if c.comparison.alone != (c.comparison.low, c.comparison.high)]
    if not wider:
        told = _("Differences: {families}.", families=families)
        return [Text(" ".join(filter(None, (told, same))), "rb-meta")] if families else []
    several = len(material.challengers) > 1
    title = _("Interval of each difference by itself")
    columns = [
        Column(_("metric")),
        *([Column(_("system"))] if several else []),
        Column(_("difference"), "number", signed=True),
        Column(_("interval"), "interval", signed=True),
    ]
    rows = [
        (
            clean(c.metric),
            *([clean(c.comparison.challenger)] if several else []),
            Number(c.comparison.difference),
            Value(None, *c.comparison.alone),
        )
        for c in wider
    ]
    digits = [material.digits(c.metric) for c in wider]
    told = _("Differences: {families}; their intervals hold together.", families=families)
    return [
        Text(" ".join(filter(None, (told, same))), "rb-meta"),
        Section([Table(tuple(columns), tuple(rows), title, digits=digits, language=_.language)], title),
    ]


def _wide(compared: Compared, present: frozenset[str]) -> Table:
    """A row a metric, a column a system."""
    material = compared.material
    _, challenger = material.text, material.challengers[0] if material.baseline and material.challengers else None
    columns = [Column(_("metric"))]
    columns += [
        Column(named(material, name), "interval", head="rb-name", label=clean(name)) for name in material.systems
    ]
    columns += [*(compared.columns if challenger is not None else []), *_count_columns(material)]
    rows = []
    for metric in material.metrics:
        cells: list[Any] = [_metric_name(material, metric, present)]
        cells += [_value(compared, name, metric, present) for name in material.systems]
        comparison = None if challenger is None else material.comparison(challenger, metric)
        if challenger is not None:
            cells += _compared(compared, comparison, metric, present)
        cells += _counts(material, metric, comparison, material.systems)
        rows.append(compared.row(cells, comparison, metric, anchor("metric", metric)))
    return Table(tuple(columns), tuple(rows), _("Values and comparisons"), language=_.language)


def _long(compared: Compared, present: frozenset[str]) -> Table:
    """A row a system, under its metric."""
    material = compared.material
    _, rows = material.text, list[Any]()
    columns = [Column(_("system")), Column(compared.value, "interval"), *compared.columns, *_count_columns(material)]
    for metric in material.metrics:
        rows.append(Group(_metric_name(material, metric, present), anchor("metric", metric), apart=True))
        for name in material.systems:
            comparison = material.comparison(name, metric)
            cells = [named(material, name), _value(compared, name, metric, present)]
            cells += (
                [compared.baseline()] if name == material.baseline else _compared(compared, comparison, metric, present)
            )
            rows.append(compared.row([*cells, *_counts(material, metric, comparison, (name,))], comparison, metric))
    return Table(tuple(columns), tuple(rows), _("Values and comparisons"), language=_.language, look="rb-long")


def _metric_name(material: Material, metric: str, present: frozenset[str]) -> Phrase:
    declared = material.declaration(metric)
    published = declared.published if declared is not None and declared.published else ""
    lower = material.text("lower is better") if material.lower_is_better(metric) else ""
    words = material.text("not shown to order systems as people do") if metric in marked(material.facts) else ""
    beside = ", ".join(part for part in (published, lower, words) if part)
    return (metric_name(material, present, metric), small(beside))


def _value(compared: Compared, system: str, metric: str, present: frozenset[str]) -> Phrase | None:
    material = compared.material
    estimate = material.estimate(system, metric)
    if estimate is None:
        return None
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    return (
        Link(measured(material, estimate, metric), address),
        compared.notes.mark(estimate),
        compared.notes.unidentified(system, metric),
        bands.below(material, metric, estimate, system),
        small(material.judge_alone(system, metric)),
        small(material.text("not measured") if math.isnan(estimate.value) else ""),
    )


def _compared(compared: Compared, difference: Comparison | None, metric: str, present: frozenset[str]) -> list[Any]:
    if difference is None:
        return compared.cells(None, metric)
    material = compared.material
    wish = {"metric": clean(metric), "system": clean(difference.challenger), "against": clean(difference.baseline)}
    judge = material.difference_alone(difference.challenger, metric)
    return compared.cells(difference, metric, link(material, present, **wish, sort="lost"), judge)


def _count_columns(material: Material) -> list[Column]:
    _ = material.text
    return [Column(_("n"), "count"), *([Column(_("unmeasured"), "count")] if material.unmeasured else [])]


def _counts(material: Material, metric: str, comparison: Comparison | None, systems: Sequence[str]) -> list[Any]:
    """n: pairs where two systems are compared, else measured questions. Unmeasured: of each system, where any are."""
    _ = material.text
    estimates = [e for name in systems if (e := material.estimate(name, metric)) is not None]
    counts = [comparison.n] if comparison is not None else sorted({e.n for e in estimates})
    cells: list[Any] = [tuple(counts) or DASH]
    if material.unmeasured:
        lacked = [missing(e, _, material.digits(metric)) for e in estimates]
        text = " / ".join(lacked if len(set(lacked)) > 1 else lacked[:1]) or DASH
        cells.append(Cell(text, "" if any(e.n_unmeasured for e in estimates) else "rb-quiet"))
    return cells


def _measured(material: Material) -> str:
    """The sentence below the table: that nothing is missing, or how much is."""
    _ = material.text
    if not material.unmeasured:
        return _("Every value was measured: nothing is left out of a mean.")
    text = _.plural(
        "{n} value could not be measured; it is in no mean.",
        "{n} values could not be measured; they are in no mean.",
        material.unmeasured,
    )
    return f"{text} {brackets((e.estimate for e in material.measurement.estimates), _)}"


@view("answer")
def answer(material: Material, present: frozenset[str]) -> list[Part]:
    """The answer in a sentence for each challenger, and the facts it stands on."""
    return [Section(one_by_one(material.text, sentences(material)), look="rb-says"), *facts(material)]


@view("forest")
def forest(material: Material, present: frozenset[str]) -> list[Part]:
    """The difference of every challenger from the baseline, by key metric, where metrics are compared."""
    panels = []
    for metric in material.key_metrics:
        rows = tuple(c for name in material.challengers if (c := material.comparison(name, metric)) is not None)
        lower = material.text("lower is better") if material.lower_is_better(metric) else ""
        panels.append(Panel((shown(metric), small(lower)), metric, material.digits(metric), rows))
    panels = [panel for panel in panels if panel.rows]
    if not panels:
        return []
    key = material.text(
        "mean difference per question from {baseline}, in the metric's unit ({population}); same bounds, same scale",
        baseline=clean(panels[0].rows[0].baseline),
        population=material.population(row.n for panel in panels for row in panel.rows),
    )
    return [*drawn(material, panels), Text(key, "rb-axis")]
