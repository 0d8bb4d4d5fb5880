"""The verdict table: what was measured, what differs, and what that is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragbench.core.counts import brackets, missing
from ragbench.core.language import DASH
from ragbench.core.stand_ins import marked
from ragbench.core.types import Comparison
from ragbench.tiers.basics.families import merged, said
from ragbench.tiers.basics.verdicts import beside
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import behind, link, metric_name
from ragbench.views.basics.marks import chip, named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.comparison import bands
from ragbench.views.sentences import repeats
from ragbench.views.view import view


@dataclass(frozen=True)
class Columns:
    """The columns of a table that compares: their titles, and the cells of a difference, its p and its verdict."""

    material: Material
    notes: Notes
    value: str
    difference: str
    p: str

    @classmethod
    def of(cls, material: Material, notes: Notes, family: str, *, corrected: bool = True) -> Columns:
        """Those of a family of comparisons, with the level of the page's intervals."""
        _ = material.text
        level = _.percent(next((e.estimate.level for e in material.measurement.estimates), 0.95))
        value, difference = _("mean, {level} interval", level=level), _("difference, {level} interval", level=level)
        return cls(material, notes, value, difference, corrected_title(material, family) if corrected else _("p"))

    def heads(self) -> list[Markup]:
        """The heads of a difference, its p and its verdict."""
        verdict = html.head(self.material.text("verdict"), "rb-word")
        return [html.head(self.difference), html.head(self.p, "" if "," in self.p else "rb-short"), verdict]

    def cells(self, comparison: Comparison, metric: str, address: str | None = None, judge: str = "") -> list[Markup]:
        """Their cells. address: where the difference leads to. judge: what the judge alone says of it."""
        _ = self.material.text
        number = html.link(address, spread(self.material.difference(comparison, metric)))
        return [
            html.cell(_("difference"), number + self.notes.mark(comparison) + small(judge)),
            html.cell(
                self.p, html.number(_.p_value(comparison.p if comparison.p_adjusted is None else comparison.p_adjusted))
            ),
            html.cell(_("verdict"), chip(self.material, comparison), "rb-word"),
        ]

    def baseline(self) -> Markup:
        """What stands there for the system that others are compared with."""
        return html.wide_cell(self.material.text("baseline"), 3)

    def row(
        self, cells: Sequence[Markup], comparison: Comparison | None, metric: str, *, brief: bool = False
    ) -> Markup:
        """A row, and below it what a comparison without a verdict could have shown; brief: that alone."""
        more = [] if comparison is None else beside(comparison, self.material.text, self.material.digits(metric))
        more = more[:1] if brief else more
        return html.row(cells, "rb-over") + html.under("; ".join(more), len(cells)) if more else html.row(cells)


@view("table")
def table(material: Material, present: frozenset[str]) -> Markup:
    """Values, differences, corrected p and verdict words, metric by metric."""
    _ = material.text
    if not material.metrics:
        return html.p(_("Nothing was measured."))
    adjusted = [c.comparison for c in material.measurement.comparisons if c.comparison.p_adjusted is not None]
    family = "; ".join(dict.fromkeys(comparison.family for comparison in adjusted))
    columns = Columns.of(material, Notes(material), family, corrected=bool(adjusted))
    if len(material.systems) <= 2:
        heads, bodies, kind = *_wide(columns, present), "rb-wide"
    else:
        heads, bodies, kind = *_long(columns, present), "rb-long"
    return html.all(
        html.bodies(_("Values and comparisons"), heads, bodies, kind),
        _measured(material),
        _families(material),
        repeats.table(material),
        columns.notes.html(),
        bands.draw(material, present),
        behind(material, present),
    )


def _families(material: Material) -> Markup:
    """What p, verdicts and the intervals of differences are adjusted for; folded, the interval of each by itself."""
    _ = material.text
    made = [c for c in material.measurement.comparisons if c.comparison.family]
    told = list(filter(None, dict.fromkeys(said(c.comparison.family, _) for c in made)))
    same = merged((c.comparison for c in made), _)
    wider = [c for c in made if c.comparison.alone != (c.comparison.low, c.comparison.high)]
    if not wider:
        told_all = _("Differences: {families}.", families="; ".join(told)) if told else ""
        return html.meta(" ".join(filter(None, (told_all, same)))) if told else Markup()
    several = len(material.challengers) > 1
    rows = [
        (
            shown(c.metric),
            *([shown(c.comparison.challenger)] if several else []),
            _.number(c.comparison.difference, material.digits(c.metric), signed=True),
            _.interval(*c.comparison.alone, material.digits(c.metric), signed=True),
        )
        for c in wider
    ]
    title = _("Interval of each difference by itself")
    heads = [_("metric"), *([_("system")] if several else []), _("difference"), _("interval")]
    told_all = _("Differences: {families}; their intervals hold together.", families="; ".join(told))
    return html.meta(" ".join(filter(None, (told_all, same)))) + html.fold(title, html.grid(title, heads, rows))


def _wide(columns: Columns, present: frozenset[str]) -> tuple[list[Markup], list[list[Markup]]]:
    """Heads, and one body: a row a metric, a column a system."""
    material = columns.material
    challenger = material.challengers[0] if material.baseline is not None and material.challengers else None
    heads = [html.head(material.text("metric"))]
    heads += [html.head(named(material, name), "rb-name") for name in material.systems]
    heads += [*(columns.heads() if challenger is not None else []), *_count_heads(material)]
    rows = []
    for metric in material.metrics:
        cells = [html.row_head(_metric_name(material, metric, present), "", anchor("metric", metric))]
        cells += [_value(columns, name, metric, present, shown(name)) for name in material.systems]
        comparison = None if challenger is None else material.comparison(challenger, metric)
        if challenger is not None:
            cells += _compared(columns, comparison, metric, present)
        cells += _counts(material, metric, comparison, material.systems)
        rows.append(columns.row(cells, comparison, metric))
    return heads, [rows]


def _long(columns: Columns, present: frozenset[str]) -> tuple[list[Markup], list[list[Markup]]]:
    """Heads, and a body a metric: a row a system."""
    material = columns.material
    heads = [html.head(material.text("system")), html.head(columns.value), *columns.heads(), *_count_heads(material)]
    bodies = []
    for metric in material.metrics:
        rows = [html.group(_metric_name(material, metric, present), len(heads), name=anchor("metric", metric))]
        for name in material.systems:
            comparison = material.comparison(name, metric)
            cells = [html.row_head(named(material, name)), _value(columns, name, metric, present, columns.value)]
            if name == material.baseline:
                cells.append(columns.baseline())
            else:
                cells += _compared(columns, comparison, metric, present)
            rows.append(columns.row([*cells, *_counts(material, metric, comparison, (name,))], comparison, metric))
        bodies.append(rows)
    return heads, bodies


def _metric_name(material: Material, metric: str, present: frozenset[str]) -> Markup:
    declared = material.declaration(metric)
    published = declared.published if declared is not None and declared.published else ""
    lower = material.text("lower is better") if material.lower_is_better(metric) else ""
    words = material.text("not shown to order systems as people do") if metric in marked(material.facts) else ""
    return metric_name(material, present, metric) + small(", ".join(part for part in (published, lower, words) if part))


def corrected_title(material: Material, family: str) -> str:
    """`p (Holm)`: the name of a corrected p by what its family says of the correction."""
    names = {"max-t": "max-T", "holm": "Holm", "benjamini": "Benjamini–Hochberg"}
    by = [name for key, name in names.items() if key in family.lower()]
    if len(by) > 1:  # too long for a line, which breaks between the names alone
        return f"p ({', '.join(by)})".replace("p (", "p\u00a0(").replace("-", "\u2011")
    return f"p ({by[0]})" if by else material.text("p (corrected)")


def _value(columns: Columns, system: str, metric: str, present: frozenset[str], label: str) -> Markup:
    material = columns.material
    estimate = material.estimate(system, metric)
    if estimate is None:
        return html.cell(label, DASH)
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    content = html.link(address, spread(material.value(estimate, metric)))
    content += (
        columns.notes.mark(estimate)
        + columns.notes.unidentified(system, metric)
        + bands.below(material, metric, estimate, system)
    )
    content += small(material.judge_alone(system, metric))
    return html.cell(label, content + small(material.text("not measured") if math.isnan(estimate.value) else ""))


def _compared(columns: Columns, comparison: Comparison | None, metric: str, present: frozenset[str]) -> list[Markup]:
    if comparison is None:
        return [html.cell(title, DASH) for title in (columns.difference, columns.p, columns.material.text("verdict"))]
    wish = {"metric": clean(metric), "system": clean(comparison.challenger), "against": clean(comparison.baseline)}
    address = link(columns.material, present, **wish, sort="lost")
    return columns.cells(comparison, metric, address, columns.material.difference_alone(comparison.challenger, metric))


def _count_heads(material: Material) -> list[Markup]:
    titles = [material.text("n"), *([material.text("unmeasured")] if unmeasured(material) else [])]
    return [html.head(title) for title in titles]


def _counts(material: Material, metric: str, comparison: Comparison | None, systems: Sequence[str]) -> list[Markup]:
    """n: pairs where two systems are compared, else measured questions. Unmeasured: of each system, where any are."""
    _ = material.text
    estimates = [e for name in systems if (e := material.estimate(name, metric)) is not None]
    measured = [comparison.n] if comparison is not None else sorted({e.n for e in estimates})
    cells = [html.cell(_("n"), " / ".join(_.integer(count) for count in measured) or DASH)]
    if unmeasured(material):
        lacked = [missing(e, _, material.digits(metric)) for e in estimates]
        text = " / ".join(lacked if len(set(lacked)) > 1 else lacked[:1]) or DASH
        cells.append(html.cell(_("unmeasured"), text, "" if any(e.n_unmeasured for e in estimates) else "rb-quiet"))
    return cells


def unmeasured(material: Material) -> int:
    """How many values of the page could not be measured."""
    return sum(e.estimate.n_unmeasured for e in material.measurement.estimates)


def _measured(material: Material) -> Markup:
    """The sentence below the table: that nothing is missing, or how much is."""
    _ = material.text
    count = unmeasured(material)
    if not count:
        return html.meta(_("Every value was measured: nothing is left out of a mean."))
    text = _.plural(
        "{n} value could not be measured; it is in no mean.",
        "{n} values could not be measured; they are in no mean.",
        count,
    )
    return html.meta(f"{text} {brackets((e.estimate for e in material.measurement.estimates), _)}")
