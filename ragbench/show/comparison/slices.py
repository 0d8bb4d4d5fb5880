"""Parts of the questions by themselves: what every system reaches there, what differs, and which questions they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.bench.basics.verdicts import beside
from ragbench.counts import lacking
from ragbench.language import DASH
from ragbench.show.basics import cells
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.links import link
from ragbench.show.basics.marks import chip, named, small, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.comparison.verdict_table import corrected_title
from ragbench.show.comparison.worst_questions import value_of
from ragbench.show.page import view
from ragbench.types import Comparison, Estimate

FEWEST = 20
Slice = tuple[str, str | None]
Rows = Mapping[str, tuple[Estimate, Comparison | None]]


@view("slices")
def slices(material: Material, present: frozenset[str]) -> Markup:
    """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
    made = material.measurement.estimates_by("slice")
    if not made:
        return Markup("")
    _ = material.text
    metric = made[0].metric
    found: dict[Slice, dict[str, tuple[Estimate, Comparison | None]]] = {}
    for one in made:
        dimension, _colon, value = str(one.where["slice"]).partition(":")
        pair = (one.estimate, material.comparison(one.system, metric, **one.where))
        found.setdefault((dimension, value or None), {})[one.system] = pair
    notes = Notes(material, "slice-note")
    return Markup('<h2>{heading}</h2><p class="rb-lede">{lead}</p>{table}{family}{notes}{questions}').format(
        heading=_("Where it is good, and where not"),
        lead=_.html(
            "{metric} on parts of the questions, each by itself. A slice of fewer than {n} questions is shown "
            "without a verdict.",
            metric=Markup("<b>{}</b>").format(shown(metric)),
            n=_.integer(FEWEST),
        ),
        table=_table(material, metric, found, notes, present),
        family=_family(material, found),
        notes=notes.html(),
        questions=_listed(material, metric, found, present),
    )


def _table(
    material: Material, metric: str, found: Mapping[Slice, Rows], notes: Notes, present: frozenset[str]
) -> Markup:
    _ = material.text
    is_wide = len(material.systems) <= 2
    level = next((estimate.level for rows in found.values() for estimate, _against in rows.values()), 0.95)
    titles = {
        "value": _("mean, {level} interval", level=_.percent(level)),
        "difference": _("difference, {level} interval", level=_.percent(level)),
        "p": corrected_title(material, _family_name(found)) if _family_name(found) else _("p"),
    }
    heads = [cells.head(_("slice"))]
    heads += [cells.head(named(material, s), "rb-name") for s in material.systems] if is_wide else []
    heads += [] if is_wide else [cells.head(titles["value"])]
    if material.baseline is not None:
        heads += [cells.head(titles["difference"]), cells.head(titles["p"], "rb-short")]
        heads.append(cells.head(_("verdict"), "rb-word"))
    heads.append(cells.head(_("n")))
    rows: list[Markup] = []
    dimension = ""
    for part, by_system in found.items():
        if part[0] != dimension:
            dimension = part[0]
            rows.append(_group(dimension_name(material, dimension), len(heads)))
        make = _wide if is_wide else _long
        count = _count(material, metric, part, by_system, present)
        rows += make(material, metric, part, by_system, titles, notes, len(heads), count)
    return cells.table(_("Values and comparisons by slice"), heads, rows, "rb-wide" if is_wide else "rb-long")


def _group(title: str, width: int) -> Markup:
    return Markup('<tr class="rb-group"><th scope=rowgroup colspan={}>{}</th></tr>').format(width, title)


def _wide(
    material: Material,
    metric: str,
    part: Slice,
    rows: Rows,
    titles: Mapping[str, str],
    notes: Notes,
    width: int,
    count: Markup,
) -> list[Markup]:
    made = [Markup("<th scope=row>{}</th>").format(slice_name(material, part))]
    made += [_value(material, metric, rows.get(name), shown(name), notes) for name in material.systems]
    comparison = next((rows[name][1] for name in material.challengers if name in rows), None)
    if material.baseline is not None:
        made += _compared(material, metric, comparison, titles, notes)
    made.append(count)
    return _with_under(material, metric, comparison, made, width)


def _long(
    material: Material,
    metric: str,
    part: Slice,
    rows: Rows,
    titles: Mapping[str, str],
    notes: Notes,
    width: int,
    count: Markup,
) -> list[Markup]:
    found = []
    lead = Markup('<tr class="rb-slice"><th scope=rowgroup colspan={}>{}</th>{}</tr>')
    found.append(lead.format(width - 1, slice_name(material, part), count))
    for name in material.systems:
        made = [Markup("<th scope=row>{}</th>").format(named(material, name))]
        made.append(_value(material, metric, rows.get(name), titles["value"], notes))
        if name == material.baseline:
            made.append(Markup('<td colspan=3 class="rb-word rb-quiet">{}</td>').format(material.text("baseline")))
        else:
            made += _compared(material, metric, _against(rows, name), titles, notes)
        made.append(Markup("<td></td>"))
        found += _with_under(material, metric, _against(rows, name), made, width)
    return found


def _against(rows: Rows, system: str) -> Comparison | None:
    return rows[system][1] if system in rows else None


def _with_under(
    material: Material, metric: str, comparison: Comparison | None, made: list[Markup], width: int
) -> list[Markup]:
    said = [] if comparison is None else beside(comparison, material.text, material.digits(metric))
    return [cells.row(made, "rb-over"), cells.under("; ".join(said), width)] if said else [cells.row(made)]


def _value(
    material: Material, metric: str, pair: tuple[Estimate, Comparison | None] | None, label: Any, notes: Notes
) -> Markup:
    if pair is None or not math.isfinite(pair[0].value):
        return cells.cell(label, DASH)
    estimate = pair[0]
    missing = small(lacking(estimate, material.text, material.digits(metric)))
    return cells.cell(label, spread(material.value(estimate, metric)) + notes.mark(estimate) + missing)


def _compared(
    material: Material, metric: str, comparison: Comparison | None, titles: Mapping[str, str], notes: Notes
) -> list[Markup]:
    _ = material.text
    if comparison is None:
        return [
            cells.cell(_("difference"), DASH),
            cells.cell(titles["p"], DASH),
            cells.cell(_("verdict"), _("too few questions"), "rb-word rb-quiet"),
        ]
    p = comparison.p if comparison.p_adjusted is None else comparison.p_adjusted
    return [
        cells.cell(_("difference"), spread(material.difference(comparison, metric)) + notes.mark(comparison)),
        cells.cell(titles["p"], Markup('<span class="rb-number">{}</span>').format(_.p_value(p))),
        cells.cell(_("verdict"), chip(material, comparison), "rb-word"),
    ]


def _count(material: Material, metric: str, part: Slice, rows: Rows, present: frozenset[str]) -> Markup:
    """The number of questions, leading to them: to the page's table of questions, else to the list below."""
    n = max((estimate.n for estimate, _against in rows.values()), default=0)
    system = next((name for name in material.challengers if name in rows), next(iter(rows), ""))
    wish = {"metric": clean(metric), "system": clean(system), "slice": f"{part[0]}:{clean(part[1])}", "sort": "worst"}
    address = link(material, present, **wish) or f"#{place(part)}"
    return cells.cell(material.text("n"), Markup('<a href="{}">{}</a>').format(address, material.text.integer(n)))


def _family_name(found: Mapping[Slice, Rows]) -> str:
    return next((c.family for rows in found.values() for _estimate, c in rows.values() if c and c.family), "")


def _family(material: Material, found: Mapping[Slice, Rows]) -> Markup:
    """Over what p is corrected, and what was left out."""
    _ = material.text
    said = []
    number = sum(c is not None for rows in found.values() for _estimate, c in rows.values())
    if number:
        said.append(
            _.plural(
                "The slices are a family of their own: p is corrected over this {n} comparison, not together with the "
                "metrics above. Read it as a place to look, not as a second proof.",
                "The slices are a family of their own: p is corrected over these {n} comparisons, not together with "
                "the metrics above. Read them as places to look, not as a second proof.",
                number,
            )
        )
    for dimension, count in dict(material.facts.get("slices_left_out") or {}).items():
        said.append(
            _.plural(
                "By {dimension}, {n} smaller slice is not shown.",
                "By {dimension}, {n} smaller slices are not shown.",
                int(count),
                dimension=dimension_name(material, str(dimension)).lower(),
            )
        )
    return Markup('<p class="rb-meta">{}</p>').format(" ".join(said)) if said else Markup("")


def _listed(material: Material, metric: str, found: Mapping[Slice, Rows], present: frozenset[str]) -> Markup:
    """The questions of every slice, where there is no table of questions that could show them."""
    if "questions" in present:
        return Markup("")
    return Markup("").join(_questions(material, metric, part) for part in found)


def _questions(material: Material, metric: str, part: Slice) -> Markup:
    """The questions of a slice with their values, folded."""
    _ = material.text
    samples = [name for name, row in material.question_rows.items() if _text(row.get(part[0])) == part[1]]
    items = Markup("").join(_question(material, metric, sample) for sample in samples)
    count = _.plural("{n} question", "{n} questions", len(samples))
    return Markup(
        '<details class="rb-fold" id="{}"><summary>{}: {}, {}</summary><ul class="rb-list-of">{}</ul></details>'
    ).format(place(part), dimension_name(material, part[0]), slice_name(material, part), count, items)


def _question(material: Material, metric: str, sample: str) -> Markup:
    text = shown(material.question_rows[sample]["text"], 200)
    marks = Markup("").join(value_of(material, sample, metric, name) for name in material.systems)
    return Markup('<li><span>{}</span><span class="rb-marks">{}</span></li>').format(text, marks)


def place(part: Slice) -> str:
    """The anchor of a slice's questions."""
    return f"slice--{part[0]}" if part[1] is None else anchor(f"slice-{part[0]}", part[1])


def dimension_name(material: Material, dimension: str) -> str:
    """What questions are sliced by, for people."""
    _ = material.text
    names = {"kind": _("Kind of question"), "language": _("Language"), "source": _("Source")}
    return names.get(dimension, dimension)


def slice_name(material: Material, part: Slice) -> Markup:
    """The name of a slice: as the data has it, the kinds of the sample data in words."""
    _ = material.text
    dimension, value = part
    if value is None:
        return shown(_("not given"))
    kinds = {
        "well_formed": _("well-formed"),
        "colloquial": _("colloquial"),
        "misspelt": _("misspelt"),
    }
    return shown(kinds.get(value, value) if dimension == "kind" else value, 60)


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value) or None
