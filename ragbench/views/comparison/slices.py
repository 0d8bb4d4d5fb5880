"""Parts of the questions by themselves: what every system reaches there, what differs, and which questions they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ragbench.core.counts import lacking
from ragbench.core.language import DASH
from ragbench.core.types import Comparison
from ragbench.tiers.basics.slices import FEWEST
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import link
from ragbench.views.basics.marks import named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.comparison.verdict_table import Columns
from ragbench.views.comparison.worst_questions import value_of
from ragbench.views.view import view

Slice = tuple[str, str | None]


@view("slices")
def slices(material: Material, present: frozenset[str]) -> Markup:
    """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
    made = material.measurement.estimates_by("slice")
    if not made:
        return Markup("")
    _ = material.text
    metric = made[0].metric
    parts: list[Slice] = []
    for where in dict.fromkeys(str(estimate.where["slice"]) for estimate in made):
        dimension, _colon, value = where.partition(":")
        parts.append((dimension, value or None))
    compared = [finding.comparison for finding in material.measurement.comparisons_by("slice")]
    family = next((comparison.family for comparison in compared if comparison.family), "")
    columns = Columns.of(material, Notes(material, "slice-note"), family, corrected=bool(family))
    lead = _.html(
        "{metric} on parts of the questions, each by itself. A slice with fewer than {n} questions gets no verdict.",
        metric=html.b(shown(metric)),
        n=_.integer(FEWEST),
    )
    if metric in material.corrected:
        lead += " " + _("No labels by people correct these parts: they are the values of the judge alone.")
    listed = () if "questions" in present else (_questions(material, metric, part) for part in parts)
    return html.all(
        html.heading(_("Where it is good, and where not"), 2),
        html.lede(lead),
        one_by_one(_, material.systems, lambda some: _table(columns, metric, parts, some, present)),
        _family(material, len(compared)),
        columns.notes.html(),
        *listed,
    )


def _where(part: Slice) -> str:
    return part[0] if part[1] is None else f"{part[0]}:{part[1]}"


def _table(
    columns: Columns, metric: str, parts: Sequence[Slice], systems: Sequence[str], present: frozenset[str]
) -> Markup:
    material = columns.material
    _, is_wide = material.text, len(material.systems) <= 2
    heads = [html.head(_("slice"))]
    heads += [html.head(named(material, s), "rb-name") for s in material.systems] if is_wide else []
    heads += [] if is_wide else [html.head(columns.value)]
    heads += [] if material.baseline is None else columns.heads()
    heads.append(html.head(_("n")))
    rows: list[Markup] = []
    for dimension, own in groupby(parts, key=lambda part: part[0]):
        rows.append(html.group(dimension_name(material, dimension), len(heads)))
        for part in own:
            count = _count(material, metric, part, present)
            if is_wide:
                rows.append(_wide(columns, metric, part, count))
            else:
                rows += _long(columns, metric, part, systems, count, len(heads))
    return html.table(_("Values and comparisons by slice"), heads, rows, "rb-wide" if is_wide else "rb-long")


def _wide(columns: Columns, metric: str, part: Slice, count: Markup) -> Markup:
    material = columns.material
    cells = [html.row_head(slice_name(material, part))]
    cells += [_value(columns, metric, part, name, shown(name)) for name in material.systems]
    comparison = next((_against(material, metric, part, name) for name in material.challengers), None)
    if material.baseline is not None:
        cells += _compared(columns, metric, comparison)
    return columns.row([*cells, count], comparison, metric, brief=True)


def _long(
    columns: Columns, metric: str, part: Slice, systems: Sequence[str], count: Markup, width: int
) -> list[Markup]:
    material = columns.material
    rows = [html.slice(slice_name(material, part), width - 1, count)]
    for name in systems:
        comparison = _against(material, metric, part, name)
        cells = [html.row_head(named(material, name)), _value(columns, metric, part, name, columns.value)]
        cells += [columns.baseline()] if name == material.baseline else _compared(columns, metric, comparison)
        rows.append(columns.row([*cells, html.blank()], comparison, metric, brief=True))
    return rows


def _against(material: Material, metric: str, part: Slice, system: str) -> Comparison | None:
    return material.comparison(system, metric, slice=_where(part))


def _value(columns: Columns, metric: str, part: Slice, system: str, label: str) -> Markup:
    material = columns.material
    estimate = material.estimate(system, metric, slice=_where(part))
    if estimate is None or not math.isfinite(estimate.value):
        return html.cell(label, DASH)
    missing = small(lacking(estimate, material.text, material.digits(metric)))
    marks = columns.notes.mark(estimate) + columns.notes.unidentified(system, metric)
    return html.cell(label, spread(material.value(estimate, metric)) + marks + missing)


def _compared(columns: Columns, metric: str, comparison: Comparison | None) -> list[Markup]:
    if comparison is not None:
        return columns.cells(comparison, metric)
    _ = columns.material.text
    few = html.cell(_("verdict"), _("too few questions"), "rb-word rb-quiet")
    return [html.cell(_("difference"), DASH), html.cell(columns.p, DASH), few]


def _count(material: Material, metric: str, part: Slice, present: frozenset[str]) -> Markup:
    """The number of questions, leading to them: to the page's table of questions, else to the list below."""
    estimates = {name: material.estimate(name, metric, slice=_where(part)) for name in material.systems}
    n = max((e.n for e in estimates.values() if e is not None), default=0)
    there = [name for name in (*material.challengers, *material.systems) if estimates[name] is not None]
    wish = {"metric": clean(metric), "system": clean(there[0]), "slice": f"{part[0]}:{clean(part[1])}"}
    address = link(material, present, **wish, sort="worst") or f"#{place(part)}"
    return html.cell(material.text("n"), html.link(address, material.text.integer(n)))


def _family(material: Material, number: int) -> Markup:
    """Over how many comparisons p is corrected, and what was left out."""
    _ = material.text
    said = []
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
    return html.meta(" ".join(said)) if said else Markup("")


def _questions(material: Material, metric: str, part: Slice) -> Markup:
    """The questions of a slice with their values, folded."""
    _ = material.text
    rows = {name: row for name, row in material.question_rows.items() if _text(row.get(part[0])) == part[1]}
    lines = [
        (shown(row["text"], 200), html.all(*(value_of(material, name, metric, system) for system in material.systems)))
        for name, row in rows.items()
    ]
    count = _.plural("{n} question", "{n} questions", len(rows))
    title = html.all(dimension_name(material, part[0]), ": ", slice_name(material, part), f", {count}")
    return html.fold(title, html.marked_list(lines), id=place(part))


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
    kinds = {"well_formed": _("well-formed"), "colloquial": _("colloquial"), "misspelt": _("misspelt")}
    return shown(kinds.get(value, value) if dimension == "kind" else value, 60)


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value) or None
