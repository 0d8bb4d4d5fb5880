"""The verdict table: what was measured, what differs, and what that is worth."""

from __future__ import annotations

import math

from markupsafe import Markup

from ragbench.bench.basics.verdicts import beside
from ragbench.counts import brackets, missing
from ragbench.language import DASH
from ragbench.show.basics.cells import cell, head, row, under
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.links import behind, link, metric_name
from ragbench.show.basics.marks import chip, named, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.comparison import bands
from ragbench.show.page import view
from ragbench.types import Comparison


@view("table")
def table(material: Material, present: frozenset[str]) -> Markup:
    """Values, differences, corrected p and verdict words, metric by metric."""
    _ = material.text
    if not material.metrics:
        return Markup("<p>{}</p>").format(_("Nothing was measured."))
    notes = Notes(material)
    build = _wide if len(material.systems) <= 2 else _long
    made = build(material, notes, present)
    return Markup(
        '<div class="rb-scroll" tabindex="0" role="region" aria-label="{}"><table class="rb-grid {}">{}</table></div>{}'
    ).format(
        _("Values and comparisons"),
        "rb-long" if build is _long else "rb-wide",
        made,
        _measured(material) + notes.html() + bands.draw(material, present) + behind(material, present),
    )


def _wide(material: Material, notes: Notes, present: frozenset[str]) -> Markup:
    _ = material.text
    challenger = material.challengers[0] if material.baseline is not None and material.challengers else None
    heads = [head(_("metric"))]
    heads += [head(named(material, name), "rb-name") for name in material.systems]
    if challenger is not None:
        heads += [head(_difference_title(material)), head(p_title(material), "rb-short")]
        heads.append(head(_("verdict"), "rb-word"))
    heads += _count_heads(material)
    rows = []
    for metric in material.metrics:
        cells = [_metric_head(material, metric, present)]
        cells += [_value(material, name, metric, notes, present) for name in material.systems]
        comparison = None if challenger is None else material.comparison(challenger, metric)
        if challenger is not None:
            cells += _compared(material, comparison, metric, notes, present)
        cells += _counts(material, metric, comparison, material.systems)
        rows.append(_row(material, cells, comparison, metric))
    return Markup("<thead><tr>{}</tr></thead><tbody>{}</tbody>").format(Markup("").join(heads), Markup("").join(rows))


def _long(material: Material, notes: Notes, present: frozenset[str]) -> Markup:
    _ = material.text
    heads = [head(_("system")), head(_value_title(material))]
    heads += [head(_difference_title(material)), head(p_title(material), "rb-short")]
    heads.append(head(_("verdict"), "rb-word"))
    heads += _count_heads(material)
    bodies = [Markup("<thead><tr>{}</tr></thead>").format(Markup("").join(heads))]
    for metric in material.metrics:
        rows = [
            Markup('<tr class="rb-group"><th scope=rowgroup colspan={} id="{}">{}</th></tr>').format(
                len(heads), anchor("metric", metric), _metric_name(material, metric, present)
            )
        ]
        for name in material.systems:
            comparison = material.comparison(name, metric)
            cells = [
                Markup("<th scope=row>{}</th>").format(named(material, name)),
                _value(material, name, metric, notes, present, label=_value_title(material)),
            ]
            if name == material.baseline:
                cells.append(Markup('<td colspan=3 class="rb-word rb-quiet">{}</td>').format(_("baseline")))
            else:
                cells += _compared(material, comparison, metric, notes, present)
            cells += _counts(material, metric, comparison, (name,))
            rows.append(_row(material, cells, comparison, metric))
        bodies.append(Markup("<tbody>{}</tbody>").format(Markup("").join(rows)))
    return Markup("").join(bodies)


def _metric_head(material: Material, metric: str, present: frozenset[str]) -> Markup:
    name = _metric_name(material, metric, present)
    return Markup('<th scope=row id="{}">{}</th>').format(anchor("metric", metric), name)


def _metric_name(material: Material, metric: str, present: frozenset[str]) -> Markup:
    declared = material.declaration(metric)
    published = declared.published if declared is not None and declared.published else ""
    lower = material.text("lower is better") if material.lower_is_better(metric) else ""
    said = ", ".join(part for part in (published, lower) if part)
    small = Markup(" <small>{}</small>").format(said) if said else ""
    return metric_name(material, present, metric) + small


def _value_title(material: Material) -> str:
    _ = material.text
    level = next((e.estimate.level for e in material.measurement.estimates), 0.95)
    return _("mean, {level} interval", level=_.percent(level))


def _difference_title(material: Material) -> str:
    _ = material.text
    level = next((c.comparison.level for c in material.measurement.comparisons), 0.95)
    return _("difference, {level} interval", level=_.percent(level))


def p_title(material: Material) -> str:
    """`p (Holm)` where p was corrected, `p` where it was not."""
    adjusted = [c.comparison for c in material.measurement.comparisons if c.comparison.p_adjusted is not None]
    if not adjusted:
        return material.text("p")
    return corrected_title(material, adjusted[0].family)


def corrected_title(material: Material, family: str) -> str:
    """`p (Holm)`: the name of a corrected p by what its family says of the correction."""
    names = {"max-t": "max-T", "holm": "Holm", "benjamini": "Benjamini–Hochberg"}
    by = dict.fromkeys(name for key, name in names.items() if key in family.lower())
    return f"p ({', '.join(by)})" if by else material.text("p (corrected)")


def _value(
    material: Material, system: str, metric: str, notes: Notes, present: frozenset[str], label: str | None = None
) -> Markup:
    estimate = material.estimate(system, metric)
    name = shown(system) if label is None else label
    if estimate is None:
        return cell(name, DASH)
    content = spread(material.value(estimate, metric))
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    if address is not None:
        content = Markup('<a href="{}">{}</a>').format(address, content)
    content += notes.mark(estimate) + bands.below(material, metric, estimate)
    if math.isnan(estimate.value):
        content += Markup(" <small>{}</small>").format(material.text("not measured"))
    return cell(name, content)


def _compared(
    material: Material, comparison: Comparison | None, metric: str, notes: Notes, present: frozenset[str]
) -> list[Markup]:
    _ = material.text
    titles = (_difference_title(material), p_title(material), _("verdict"))
    if comparison is None:
        return [cell(title, DASH) for title in titles]
    p = comparison.p if comparison.p_adjusted is None else comparison.p_adjusted
    number = spread(material.difference(comparison, metric))
    wish = {"metric": clean(metric), "system": clean(comparison.challenger), "against": clean(comparison.baseline)}
    address = link(material, present, **wish, sort="lost")
    if address is not None:
        number = Markup('<a href="{}">{}</a>').format(address, number)
    return [
        cell(_("difference"), number + notes.mark(comparison)),
        cell(titles[1], Markup('<span class="rb-number">{}</span>').format(_.p_value(p))),
        cell(titles[2], chip(material, comparison), "rb-word"),
    ]


def _row(material: Material, cells: list[Markup], comparison: Comparison | None, metric: str) -> Markup:
    """A row, and below it what a comparison without a verdict could have shown."""
    more = [] if comparison is None else beside(comparison, material.text, material.digits(metric))
    return row(cells, "rb-over") + under("; ".join(more), len(cells)) if more else row(cells)


def _count_heads(material: Material) -> list[Markup]:
    _ = material.text
    return [head(_("n"))] + ([head(_("unmeasured"))] if unmeasured(material) else [])


def _counts(material: Material, metric: str, comparison: Comparison | None, systems: tuple[str, ...]) -> list[Markup]:
    """n: pairs where two systems are compared, else measured questions. Unmeasured: of each system, where any are."""
    _ = material.text
    found = [e for name in systems if (e := material.estimate(name, metric)) is not None]
    measured = [comparison.n] if comparison is not None else sorted({e.n for e in found})
    cells = [cell(_("n"), " / ".join(_.integer(count) for count in measured) or DASH)]
    if unmeasured(material):
        lacked = [missing(e, _, material.digits(metric)) for e in found]
        text = " / ".join(lacked if len(set(lacked)) > 1 else lacked[:1]) or DASH
        cells.append(cell(_("unmeasured"), text, "" if any(e.n_unmeasured for e in found) else "rb-quiet"))
    return cells


def unmeasured(material: Material) -> int:
    """How many values of the page could not be measured."""
    return sum(e.estimate.n_unmeasured for e in material.measurement.estimates)


def _measured(material: Material) -> Markup:
    """The sentence below the table: that nothing is missing, or how much is."""
    _ = material.text
    count = unmeasured(material)
    if not count:
        text = _("Every value was measured: nothing is left out of a mean.")
    else:
        text = _.plural(
            "{n} value could not be measured; it is in no mean.",
            "{n} values could not be measured; they are in no mean.",
            count,
        )
        text += " " + brackets((e.estimate for e in material.measurement.estimates), _)
    return Markup('<p class="rb-meta">{}</p>').format(text)
