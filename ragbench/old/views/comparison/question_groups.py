"""The questions behind a comparison: kinds of them, the worst of them, and how metrics go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ragbench.old.core.gaps import lacking
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.parts import (
    Cell,
    Column,
    Entries,
    Entry,
    Figure,
    Group,
    Link,
    Part,
    Phrase,
    Plot,
    Row,
    Section,
    Sentence,
    Styled,
    Table,
    Text,
    Value,
    bold,
    filled,
    small,
    spoken,
)
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.tiers.basics.design import FEWEST
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.differences import Compared, Notes, level
from ragbench.old.views.basics.marks import legend, link, measured, named, one_by_one, ordered, value_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import instead, loss, lowest, relevant, wanted
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.sentences.data_sets import dimension_name, slice_name
from ragbench.old.views.view import view

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


@view("worst")
def worst(material: Material, present: frozenset[str], count: int = 10) -> list[Part]:
    """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
    _ = material.text
    metric = material.primary
    if metric is None or not material.question_rows:
        return [Text(_("There are no questions to show."))]
    blocks: list[Part] = [Entries(legend(material), "rb-legend")] if len(material.systems) > 1 else []
    for name in material.challengers if material.baseline is not None else material.systems:
        blocks += _list(material, name, metric, lowest(material, name, metric, count), "worst", present)
        if material.baseline is not None:
            blocks += _list(material, name, metric, losses(material, name, metric, count), "lost", present)
    return blocks


@view("ways")
def ways(material: Material, present: frozenset[str]) -> list[Part]:
    """Instead of those lists, the ways to where they stand in the table of all questions; empty without the table."""
    metric = material.primary
    if metric is None or "questions" not in present:
        return []
    lines = []
    for name in material.challengers:
        wish = {"metric": clean(metric), "system": clean(name), "against": clean(material.baseline or "")}
        for sort in ("worst", "lost"):
            address = link(material, present, **wish, sort=sort)
            lines.append(Link(_title(material, name, metric, sort), address))
    return [Entries(lines)]


def _title(material: Material, system: str, metric: str, sort: str) -> Sentence:
    """What the questions of a list have in common."""
    _ = material.text
    places = {"system": shown(system), "metric": shown(metric), "baseline": shown(material.baseline)}
    if sort == "lost":
        return filled(_("Where <b>{system}</b> lost most {metric} against {baseline}"), **places)
    if material.lower_is_better(metric):
        return filled(_("Highest {metric} of <b>{system}</b>"), **places)
    return filled(_("Lowest {metric} of <b>{system}</b>"), **places)


def losses(material: Material, system: str, metric: str, count: int) -> list[str]:
    """Samples on which the system lost most against the baseline; none on which it did not lose."""
    keyed = sorted((-loss(material, sample, metric, system), sample) for sample in material.question_rows)
    return [sample for lost, sample in keyed[:count] if lost < 0]


def _list(
    material: Material, system: str, metric: str, samples: list[str], prefix: str, present: frozenset[str]
) -> list[Part]:
    _ = material.text
    title = _title(material, system, metric, prefix)
    empty = _("Every question has the same value.") if prefix == "worst" else _("It lost on no question.")
    entries = [_item(material, sample, system, metric, prefix, present) for sample in samples]
    return [Text(title, "h3"), *(ordered(entries) if entries else [Text(empty)])]


def _item(material: Material, sample: str, system: str, metric: str, prefix: str, present: frozenset[str]) -> Entry:
    row = material.question_rows[sample]
    names = [system] if material.baseline is None else [material.baseline, system]
    marks = [value_of(material, sample, metric, name) for name in names]
    more = Link(material.text("all values"), f"#{anchor('q', sample)}") if "questions" in present else ""
    body = [
        *instead(material, sample, system),
        *wanted(material, sample, relevant(row), row),
        Text((shown(sample, 80), " ", more), "rb-meta"),
    ]
    return Entry(anchor(f"{prefix}{material.systems.index(system)}", sample), shown(row["text"], 400), marks, body)


PEOPLE = "people"
FIRST_ROWS = 12  # a third of a screen; the rest unfolds
CELL, MARGIN, LABEL = 26, 160, 26  # pixels of a line and of turned names; their characters
MOST_NUMBERS = 14  # a number of two decimals fits in a cell up to there


@view("correlations")
def correlations(material: Material, present: frozenset[str]) -> list[Part]:
    """Spearman's ρ of every two metrics over the answers, with intervals; with people's scores where known."""
    _ = material.text
    rows = pairs(material)
    if not rows:
        return [
            Text(_("There are fewer than two metrics, or no answer was measured by two: nothing goes together here."))
        ]
    defined = [row for row in rows if math.isfinite(row.estimate.value)]
    title = _("Which metrics order the answers alike")
    said = _("{title}. The table below holds the same numbers.", title=title)
    axis = _("Spearman's ρ over answers: red towards 1, blue towards −1; columns in the order of the rows")
    notes = Notes(material, "rho-note")
    whole = _.plural("All {n} pair", "All {n} pairs", len(defined))
    folded = [Section([_correlation_table(material, defined, notes)], whole)] if len(defined) > FIRST_ROWS else []
    return [
        Figure(title, [Plot(figure(material), said)], axis=axis),
        _correlation_table(material, defined[:FIRST_ROWS], notes),
        Text(_said(material, rows, defined), "rb-meta"),
        *folded,
        *notes.parts(),
    ]


def pairs(material: Material) -> list[NamedEstimate]:
    """Pairs of metrics: those with people's scores first, then by strength, the undefined last."""

    def strength(row: NamedEstimate) -> tuple[bool, float, list[str]]:
        value = abs(row.estimate.value) if math.isfinite(row.estimate.value) else -1.0
        return (PEOPLE not in row.where.values(), -value, _sides(row))

    return sorted(material.measurement.estimates_by("one", "other"), key=strength)


def _sides(row: NamedEstimate) -> list[str]:
    return [str(row.where[side]) for side in ("one", "other")]


def _said(material: Material, rows: list[NamedEstimate], defined: list[NamedEstimate]) -> str:
    _ = material.text
    said = [_("Each interval holds by itself and nothing is tested here: read the table as a map, not as findings.")]
    if len(defined) < len(rows):
        said.append(
            _.plural(
                "{n} pair has no ρ: one of its metrics gave all answers the same value, or too few.",
                "{n} pairs have no ρ: one of their metrics gave all answers the same value, or too few.",
                len(rows) - len(defined),
            )
        )
    return " ".join(said)


def _correlation_table(material: Material, rows: list[NamedEstimate], notes: Notes) -> Table:
    _ = material.text
    title = _("ρ, {level} interval", level=level(material))
    made = [
        (
            *(name(material, side) for side in _sides(row)),
            (Value.of(row.estimate), notes.mark(row.estimate), small(lacking(row.estimate, _))),
            row.estimate.n,
        )
        for row in rows
    ]
    return Table.of(_, _("Correlations of metrics"), [_("metric"), (_("and"), "rb-word"), title, _("n")], made)


def name(material: Material, metric: str) -> str:
    """A metric's name, or the word for what people thought."""
    return material.text("people's scores") if metric == PEOPLE else shown(metric)


def figure(material: Material) -> dict[str, Any]:
    """A square of colours, one row and one column a metric; a metric without any ρ has none."""
    _ = material.text
    rows = [row for row in pairs(material) if math.isfinite(row.estimate.value)]
    order = [PEOPLE, *material.metrics]
    there = {side for row in rows for side in _sides(row)}
    labels = [metric for metric in order if metric in there]
    known = {frozenset(_sides(row)): row.estimate for row in rows}
    values = [[1.0 if label == other else _correlation(known, label, other) for other in labels] for label in labels]
    words = [name(material, label) for label in labels]
    ticks = [chart.plain(word, LABEL) for word in words]
    named = list(zip(labels, words, strict=True))
    hover = [
        [_hover(material, known.get(frozenset((label, other))), first, second) for other, second in named]
        for label, first in named
    ]
    few = len(labels) <= MOST_NUMBERS
    trace = {
        "type": "heatmap",
        "z": values,
        "x": list(range(len(labels))),
        "y": list(range(len(labels))),
        "text": [[_.number(cell, 2) for cell in row] for row in values] if few else None,
        "texttemplate": "%{text}" if few else None,
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
        "zmin": -1,
        "zmax": 1,
        "colorscale": [[0, "@series-2"], [0.5, "@paper"], [1, "@series-1"]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
    }
    places = list(range(len(labels)))
    marks = {"tickmode": "array", "tickvals": places, "ticktext": ticks, "showgrid": False}
    layout = chart.layout(
        material.text,
        CELL * len(labels) + MARGIN,
        margin={"l": 8, "r": 16, "t": 6, "b": 8, "pad": 0},
        xaxis=chart.axis(**marks, tickangle=-60),
        yaxis=chart.axis(**marks, autorange="reversed"),
        meta={"narrow": {"height": CELL * len(labels), "xaxis": {"showticklabels": False}}},
    )
    return {"data": [{key: value for key, value in trace.items() if value is not None}], "layout": layout}


def _correlation(known: Mapping[frozenset[str], Estimate], metric: str, other: str) -> float | None:
    rho = known.get(frozenset((metric, other)))
    return None if rho is None else round(rho.value, 4)


def _hover(material: Material, rho: Estimate | None, first: str, other: str) -> str:
    _ = material.text
    if rho is None:
        return chart.plain(first)
    value = spoken(_).phrase(Value.of(rho))
    return f"{chart.plain(first)} · {chart.plain(other)}<br>ρ {value}, n {_.integer(rho.n)}"
