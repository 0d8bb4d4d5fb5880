"""How metrics go together over single answers: Spearman's ρ of every two, as a picture and as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ragbench.core.counts import lacking
from ragbench.core.measurement import NamedEstimate
from ragbench.core.parts import Figure, Part, Plot, Section, Table, Text, Value, small, spoken
from ragbench.core.types import Estimate
from ragbench.views.basics import chart
from ragbench.views.basics.compared import level
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.view import view

PEOPLE = "people"
FIRST_ROWS = 12
CELL, MARGIN, LABEL = 26, 160, 26
MOST_NUMBERS = 14


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
    folded = [Section([_table(material, defined, notes)], whole)] if len(defined) > FIRST_ROWS else []
    return [
        Figure(title, [Plot(figure(material), said)], axis=axis),
        _table(material, defined[:FIRST_ROWS], notes),
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


def _table(material: Material, rows: list[NamedEstimate], notes: Notes) -> Table:
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
    values = [[1.0 if label == other else _value(known, label, other) for other in labels] for label in labels]
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


def _value(known: Mapping[frozenset[str], Estimate], metric: str, other: str) -> float | None:
    rho = known.get(frozenset((metric, other)))
    return None if rho is None else round(rho.value, 4)


def _hover(material: Material, rho: Estimate | None, first: str, other: str) -> str:
    _ = material.text
    if rho is None:
        return chart.plain(first)
    value = spoken(_).phrase(Value.of(rho))
    return f"{chart.plain(first)} · {chart.plain(other)}<br>ρ {value}, n {_.integer(rho.n)}"
