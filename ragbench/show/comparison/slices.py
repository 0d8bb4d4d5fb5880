"""Parts of the questions by themselves: what every system reaches there, what differs, and which questions they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.counts import lacking
from ragbench.language import DASH
from ragbench.measurement import estimate_of
from ragbench.show.basics import cells
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.links import link
from ragbench.show.basics.marks import chip, named, small, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.comparison.verdict_table import corrected_title
from ragbench.show.comparison.worst_questions import value_of
from ragbench.show.page import view
from ragbench.show.sentences.findings import power
from ragbench.types import Comparison, Verdict

FEWEST = 20
TEXTS = ("baseline", "challenger", "method", "test")
NUMBERS = ("difference", "low", "high", "level", "p", "effect_size")
Slice = tuple[str, str | None]
Rows = Mapping[str, Mapping[Any, Any]]


@view("slices")
def slices(material: Material, present: frozenset[str]) -> Markup:
    """Values and verdicts on parts of the questions, and the questions of each; empty without parts."""
    table = material.kept("slices")
    if not len(table):
        return Markup("")
    _ = material.text
    metric = str(table["metric"].iloc[0])
    found: dict[Slice, dict[str, Mapping[Any, Any]]] = {}
    for row in table.to_dict("records"):
        found.setdefault((str(row["dimension"]), _text(row["slice"])), {})[str(row["system"])] = row
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
    level = next((row["estimate_level"] for rows in found.values() for row in rows.values()), 0.95)
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
    row = next((rows[name] for name in material.challengers if name in rows), None)
    if material.baseline is not None:
        made += _compared(material, metric, row, titles, notes)
    made.append(count)
    return _with_under(material, metric, row, made, width)


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
            made += _compared(material, metric, rows.get(name), titles, notes)
        made.append(Markup("<td></td>"))
        found += _with_under(material, metric, rows.get(name) if name != material.baseline else None, made, width)
    return found


def _with_under(
    material: Material, metric: str, row: Mapping[Any, Any] | None, made: list[Markup], width: int
) -> list[Markup]:
    comparison = comparison_of(row)
    if comparison is None or not comparison.verdict.unshown:
        return [cells.row(made)]
    said = power(material, comparison, metric)
    return [cells.row(made, "rb-over"), cells.under("; ".join(said), width)] if said else [cells.row(made)]


def _value(material: Material, metric: str, row: Mapping[Any, Any] | None, label: Any, notes: Notes) -> Markup:
    if row is None or not math.isfinite(row["estimate_value"]):
        return cells.cell(label, DASH)
    estimate = estimate_of({key.removeprefix("estimate_"): value for key, value in row.items()})
    missing = small(lacking(estimate, material.text, material.digits(metric)))
    return cells.cell(label, spread(material.value(estimate, metric)) + notes.mark(estimate) + missing)


def _compared(
    material: Material, metric: str, row: Mapping[Any, Any] | None, titles: Mapping[str, str], notes: Notes
) -> list[Markup]:
    _ = material.text
    comparison = comparison_of(row)
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
    n = max((int(row["estimate_n"]) for row in rows.values()), default=0)
    system = next((name for name in material.challengers if name in rows), next(iter(rows), ""))
    wish = {"metric": clean(metric), "system": clean(system), "slice": f"{part[0]}:{clean(part[1])}", "sort": "worst"}
    address = link(material, present, **wish) or f"#{place(part)}"
    return cells.cell(material.text("n"), Markup('<a href="{}">{}</a>').format(address, material.text.integer(n)))


def _family_name(found: Mapping[Slice, Rows]) -> str:
    names = (_text(row["comparison_family"]) for rows in found.values() for row in rows.values())
    return next((name for name in names if name), "")


def _family(material: Material, found: Mapping[Slice, Rows]) -> Markup:
    """Over what p is corrected, and what was left out."""
    _ = material.text
    said = []
    number = sum(comparison_of(row) is not None for rows in found.values() for row in rows.values())
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


def comparison_of(row: Mapping[Any, Any] | None) -> Comparison | None:
    """The comparison that a row of the table holds; None where the slice was not compared."""
    if row is None or _text(row["verdict"]) is None:
        return None
    known: dict[str, Any] = {name: str(row[f"comparison_{name}"] or "") for name in TEXTS}
    known |= {name: float(row[f"comparison_{name}"]) for name in NUMBERS}
    return Comparison(
        **known,
        verdict=Verdict(row["verdict"]),
        n=int(row["comparison_n"]),
        n_dropped=int(row["comparison_n_dropped"]),
        better=row["comparison_better"],
        p_adjusted=_number(row["comparison_p_adjusted"]),
        clusters=_whole(row["comparison_clusters"]),
        minimum_detectable=_number(row["comparison_minimum_detectable"]),
        questions_needed=_whole(row["comparison_questions_needed"]),
        groups_needed=_whole(row["comparison_groups_needed"]),
        family=_text(row["comparison_family"]) or "",
        note=_text(row["comparison_note"]) or "",
    )


def _number(value: Any) -> Any:
    return None if value is None or not math.isfinite(value) else float(value)


def _whole(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value) or None
