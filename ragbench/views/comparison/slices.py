"""Parts of the questions by themselves: what every system reaches there, what differs, and which questions they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ragbench.core.counts import lacking
from ragbench.core.parts import (
    Cell,
    Column,
    Entries,
    Group,
    Link,
    Part,
    Phrase,
    Row,
    Section,
    Styled,
    Table,
    Text,
    bold,
    filled,
    small,
)
from ragbench.core.types import Comparison
from ragbench.tiers.basics.design import FEWEST
from ragbench.views.basics.compared import Compared
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import link
from ragbench.views.basics.marks import measured, named, value_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.sentences.slice_names import dimension_name, slice_name
from ragbench.views.view import view

Slice = tuple[str, str | None]


@view("slices")
def slices(material: Material, present: frozenset[str]) -> list[Part]:
    """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
    made = material.measurement.estimates_by("slice")
    if not made:
        return []
    _ = material.text
    metric = made[0].metric
    parts: list[Slice] = []
    for where in dict.fromkeys(str(estimate.where["slice"]) for estimate in made):
        dimension, _colon, value = where.partition(":")
        parts.append((dimension, value or None))
    differences = [named.comparison for named in material.measurement.comparisons_by("slice")]
    family = next((difference.family for difference in differences if difference.family), "")
    compared = Compared.of(material, Notes(material, "slice-note"), family, corrected=bool(family))
    lead: list[Phrase] = [
        filled(
            _(
                "{metric} on parts of the questions, each by itself. A slice with fewer than {n} questions gets no "
                "verdict."
            ),
            metric=bold(shown(metric)),
            n=FEWEST,
        )
    ]
    if metric in material.corrected:
        lead += [" ", _("No labels by people correct these parts: they are the values of the judge alone.")]
    listed = () if "questions" in present else (_questions(material, metric, part) for part in parts)
    return [
        Text(_("Where it is good, and where not"), "h2"),
        Text(lead, "rb-lede"),
        *one_by_one(_, material.systems, lambda some: [_table(compared, metric, parts, some, present)]),
        *_family(material, len(differences)),
        *compared.notes.parts(),
        *listed,
    ]


def _where(part: Slice) -> str:
    return part[0] if part[1] is None else f"{part[0]}:{part[1]}"


def _table(
    compared: Compared, metric: str, parts: Sequence[Slice], systems: Sequence[str], present: frozenset[str]
) -> Table:
    material = compared.material
    _, is_wide = material.text, len(material.systems) <= 2
    columns = [Column(_("slice"))]
    if is_wide:
        columns += [Column(named(material, s), "interval", head="rb-name", label=clean(s)) for s in material.systems]
    else:
        columns.append(Column(compared.value, "interval"))
    columns += [*([] if material.baseline is None else compared.columns), Column(_("n"), "count")]
    rows = list[Any]()
    for dimension, own in groupby(parts, key=lambda part: part[0]):
        rows.append(Group(dimension_name(material, dimension)))
        for part in own:
            count = _count(material, metric, part, present)
            rows += [_wide(compared, metric, part, count)] if is_wide else _long(compared, metric, part, systems, count)
    title = _("Values and comparisons by slice")
    return Table(tuple(columns), tuple(rows), title, language=_.language, look="rb-wide" if is_wide else "rb-long")


def _wide(compared: Compared, metric: str, part: Slice, count: Phrase) -> Row:
    material = compared.material
    cells = [slice_name(material, part), *(_value(compared, metric, part, name) for name in material.systems)]
    comparison = next((_against(material, metric, part, name) for name in material.challengers), None)
    if material.baseline is not None:
        cells += _compared(compared, metric, comparison)
    return compared.row([*cells, count], comparison, metric, brief=True)


def _long(compared: Compared, metric: str, part: Slice, systems: Sequence[str], count: Phrase) -> list[Any]:
    material = compared.material
    rows: list[Any] = [Group(slice_name(material, part), look="rb-slice", cells=(count,))]
    for name in systems:
        comparison = _against(material, metric, part, name)
        cells = [named(material, name), _value(compared, metric, part, name)]
        cells += [compared.baseline()] if name == material.baseline else _compared(compared, metric, comparison)
        rows.append(compared.row([*cells, Cell("")], comparison, metric, brief=True))
    return rows


def _against(material: Material, metric: str, part: Slice, system: str) -> Comparison | None:
    return material.comparison(system, metric, slice=_where(part))


def _value(compared: Compared, metric: str, part: Slice, system: str) -> Phrase | None:
    material = compared.material
    estimate = material.estimate(system, metric, slice=_where(part))
    if estimate is None or not math.isfinite(estimate.value):
        return None
    missing = small(lacking(estimate, material.text, material.digits(metric)))
    marks = (compared.notes.mark(estimate), compared.notes.unidentified(system, metric))
    return (measured(material, estimate, metric), marks, missing)


def _compared(compared: Compared, metric: str, difference: Comparison | None) -> list[Any]:
    if difference is not None:
        return compared.cells(difference, metric)
    return [None, None, Cell(compared.material.text("too few questions"), "rb-word rb-quiet")]


def _count(material: Material, metric: str, part: Slice, present: frozenset[str]) -> Link:
    """The number of questions, leading to them: to the page's table of questions, else to the list below."""
    estimates = {name: material.estimate(name, metric, slice=_where(part)) for name in material.systems}
    n = max((e.n for e in estimates.values() if e is not None), default=0)
    there = [name for name in (*material.challengers, *material.systems) if estimates[name] is not None]
    wish = {"metric": clean(metric), "system": clean(there[0]), "slice": f"{part[0]}:{clean(part[1])}"}
    return Link(n, link(material, present, **wish, sort="worst") or f"#{place(part)}")


def _family(material: Material, number: int) -> list[Part]:
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
    return [Text(" ".join(said), "rb-meta")] if said else []


def _questions(material: Material, metric: str, part: Slice) -> Section:
    """The questions of a slice with their values, folded."""
    _ = material.text
    rows = {name: row for name, row in material.question_rows.items() if _text(row.get(part[0])) == part[1]}
    lines = [
        (
            Styled(shown(row["text"], 200)),
            " ",
            Styled([value_of(material, name, metric, system) for system in material.systems], look="rb-marks"),
        )
        for name, row in rows.items()
    ]
    count = _.plural("{n} question", "{n} questions", len(rows))
    title = (dimension_name(material, part[0]), ": ", slice_name(material, part), f", {count}")
    return Section([Entries(lines, "rb-list-of")], title, anchor=place(part))


def place(part: Slice) -> str:
    """The anchor of a slice's questions."""
    return f"slice--{part[0]}" if part[1] is None else anchor(f"slice-{part[0]}", part[1])


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value) or None
