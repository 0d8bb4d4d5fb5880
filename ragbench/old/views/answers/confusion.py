"""Decisions to show an answer or not: how they fall, the cases behind each cell, and what a threshold would cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.old.core.language import DASH
from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Figure,
    Lines,
    Link,
    Number,
    P,
    Phrase,
    Plot,
    Section,
    Styled,
    System,
    Table,
    Text,
    Value,
    beside,
    bold,
)
from ragbench.old.metrics.decisions import Cell
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.judges.deciders import CostRow, ThresholdRow
from ragbench.old.tiers.judges.tier_judge_pipeline import DecisionRow, PairRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.marks import (
    SYMBOLS,
    behind,
    cell_link,
    chip,
    left,
    link,
    named,
    rows_of,
    series,
    shortened,
)
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.sentences.judge_trust import COST, is_constant
from ragbench.old.views.sentences.judges import undecided
from ragbench.old.views.view import view

SUMMARY, EXCERPT = 110, 900  # characters: a line, an answer
PANEL = 180  # pixels, by eye: picture and its sentence on one screen
ERRORS = (Cell.FALSE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE)
RIGHT = (Cell.TRUE_POSITIVE, Cell.TRUE_NEGATIVE)


@view("confusion")
def confusion(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """Labels against decisions for each judge, with at most `count` cases behind each cell, surest errors first."""
    rows = material.kept("decisions")
    if not len(rows):
        return Text(material.text("The data set has no labelled decisions to compare a judge with."))
    judges = [name for name in material.systems if not is_constant(material, name)] or list(material.systems)
    drawn = [_judge(material, present, name, rows_of(DecisionRow, rows, name), count) for name in judges]
    return (drawn, behind(material, present, material.text("Every decision with its values")))


def _judge(
    material: Material, present: frozenset[str], name: str, rows: Sequence[Mapping[str, Any]], count: int
) -> Content:
    _ = material.text
    by_cell = {each: [case for case in rows if case["cell"] == each.name.lower()] for each in Cell}
    prefix = f"cases{material.systems.index(name)}"
    wrong, right = (
        [Section(_cases(material, prefix, each, by_cell[each], count)) for each in places if by_cell[each]]
        for places in (ERRORS, RIGHT)
    )
    nothing = undecided(material).get(name)
    unmeasured = 0 if nothing else sum(not case["cell"] for case in rows)
    said = _.plural(
        "{n} case is unmeasured: it has no passage, and this judge decides by nothing else.",
        "{n} cases are unmeasured: they have no passage, and this judge decides by nothing else.",
        unmeasured,
    )
    return (
        Text(bold(named(material, name)), "h3"),
        Text(nothing) if nothing else _matrix(material, present, name, by_cell),
        Text(said, "rb-meta") if unmeasured else (),
        Section(wrong, look="rb-panels") if wrong else (),
        Section([Section(right, look="rb-panels")], _("Cases that were decided rightly")) if right else (),
    )


def _matrix(material: Material, present: frozenset[str], name: str, by_cell: Mapping[Cell, Sequence[Any]]) -> Content:
    _ = material.text
    failed = any(by_cell[each] for each in (Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE))
    heads = [_("people say"), _("judge shows"), _("judge holds back")] + ([_("call failed")] if failed else [])
    lines = [
        (_("show"), (Cell.TRUE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE)),
        (_("don't show"), (Cell.FALSE_POSITIVE, Cell.TRUE_NEGATIVE, Cell.FAILED_NEGATIVE)),
    ]
    body = []
    for label, places in lines:
        whole = sum(len(by_cell[each]) for each in places)
        cells: list[Phrase] = [label]
        for each in places[: len(heads) - 1]:
            number = len(by_cell[each])
            kind = "rb-good" if each in RIGHT else "rb-worse" if number else "rb-quiet"
            share = material.text.percent(number / whole) if whole else DASH
            address = link(material, present, metric="outcome", system=clean(name), outcome=cell_link(each))
            content = beside(bold(number, kind), share)
            cells.append(Link(content, address if number else None))
        body.append(cells)
    return Table.of(_, _("Labels and decisions of {judge}", judge=shown(name)), heads, body, "rb-wide rb-confusion")


def _cases(material: Material, prefix: str, place: Cell, rows: Sequence[Mapping[str, Any]], count: int) -> Content:
    _ = material.text
    titles = {
        Cell.FALSE_POSITIVE: _("Shown, and should not be"),
        Cell.FALSE_NEGATIVE: _("Held back, and should be shown"),
        Cell.FAILED_POSITIVE: _("Not decided, and should be shown"),
        Cell.FAILED_NEGATIVE: _("Not decided, and should not be shown"),
        Cell.TRUE_POSITIVE: _("Shown, as it should be"),
        Cell.TRUE_NEGATIVE: _("Held back, as it should be"),
    }
    sure = sorted(rows, key=lambda case: (-_surer(place, case["score"]), str(case["sample"])))
    return (
        Text(f"{titles[place]}: {_.integer(len(rows))}", "rb-lead rb-cases"),
        shortened(_, [_case(material, f"{prefix}-{int(place)}", case) for case in sure[:count]]),
        left(material, len(rows), count),
    )


def _surer(place: Cell, score: float | None) -> float:
    """How sure the judge was of what it did: the surest errors come first."""
    if score is None or not math.isfinite(score):
        return -math.inf
    return -score if place in (Cell.FALSE_NEGATIVE, Cell.TRUE_NEGATIVE) else score


def _case(material: Material, prefix: str, case: Mapping[str, Any]) -> Entry:
    _ = material.text
    marks: Phrase = ""
    if case["score"] is not None and math.isfinite(case["score"]):
        marks = Styled((_("score"), " ", Number(float(case["score"]), 2)), look="rb-mark")
    parts = [(_("Answer"), case["answer"] or _("(empty)")), (_("Why people decided so"), case["rationale"]),
             (_("What the judge says"), reason_in(case["reason"] or "", _))]  # fmt: skip
    body = [(Text(name, "rb-lead"), Entries([[Text(shown(text, EXCERPT))]], "rb-hits")) for name, text in parts if text]
    if len(case["contexts"]):
        passages = [[Text(shown(text, EXCERPT))] for text in case["contexts"]]
        body.append((Text(_("Passages"), "rb-lead"), Entries(passages, "rb-hits", ordered=True)))
    summary = Lines((shown(case["question"], SUMMARY), Styled(shown(case["answer"], SUMMARY) or _("(empty)"), "small")))
    return Entry(anchor(prefix, str(case["sample"])), summary, marks, body)


@view("pairs")
def pairs(material: Material, present: frozenset[str]) -> Content:
    """Every two judges by McNemar's test: the cases that only one of them decided rightly."""
    _ = material.text
    rows = rows_of(PairRow, material.kept("pairs"))
    if not rows:
        return Text(_("There is only one judge: nothing is compared."))
    heads = (_("judges"), _("both right"), _("only the first"), _("only the second"), _("neither"),
             _("p (McNemar)"), _("p (max-T)"))  # fmt: skip
    body = []
    for pair in rows:
        name = (named(material, pair["first"]), " · ", named(material, pair["second"]))
        counts = (pair["both"], pair["only_first"], pair["only_second"], pair["neither"])
        body.append([name, *counts, P(pair["p"]), P(pair["p_adjusted"])])
    note = _(
        "McNemar's test reads only the cases on which one of the two judges was right and the other wrong, and "
        "takes these cases as independent. Where answers to the same question are drawn together, the verdicts in the "
        "table above count."
    )
    return (Table.of(_, _("Judges in pairs"), heads, body), Text(note, "rb-meta"))


@view("costs")
def costs(material: Material, present: frozenset[str]) -> Content:
    """The score from which on to show an answer, chosen on one half of the cases and held to the other."""
    _ = material.text
    rows = rows_of(ThresholdRow, material.kept("thresholds"))
    if not rows:
        return Text(_("No judge gives scores that differ on enough cases: there is no threshold to choose."))
    plots = [
        Plot(
            costs_figure(material, row["system"]),
            _("cost by threshold, {name}", name=row["system"]),
            named(material, row["system"]),
        )
        for row in rows
    ]
    halves = (_("half on which it is chosen"), _("half on which it is scored"))
    title = _("Mean cost of a decision, by the score from which an answer is shown")
    legend = [System(half, place, dot=True) for place, half in enumerate(halves)]
    axis = _("score from which an answer is shown")
    return (Figure(title, plots, legend, axis, "rb-panels"), _costs_table(material, rows))


def costs_figure(material: Material, name: str) -> dict[str, Any]:
    """Two steps of mean cost by threshold, and a mark at the one that was chosen."""
    own = rows_of(CostRow, material.kept("costs"), name)
    finite = [row["threshold"] for row in own if math.isfinite(row["threshold"])]
    low, high = min([0.0, *finite]), max([1.0, *finite])

    def line(points: Sequence[tuple[float, float]], **more: Any) -> dict[str, Any]:
        at = [round(min(max(float(threshold), low), high), 6) for threshold, _cost in points]
        costs = [round(float(cost), 6) for _threshold, cost in points]
        return {"type": "scatter", "hovertemplate": "%{x:.2f}: %{y:.3f}<extra></extra>", "x": at, "y": costs, **more}

    traces = [
        line(
            [(row["threshold"], row["cost"]) for row in own if row["half"] == half],
            mode="lines",
            line={"color": f"@series-{number}", "width": 2, "dash": dash},
        )
        for number, (half, dash) in enumerate((("chosen", "dot"), ("scored", "solid")))
    ]
    [chosen] = rows_of(ThresholdRow, material.kept("thresholds"), name)
    cost = material.estimate(name, COST, threshold="chosen")
    if cost is not None:
        mark = {"color": "@series-1", "size": 10, "symbol": SYMBOLS[series(material, name)]}
        traces.append(line([(chosen["threshold"], cost.value)], mode="markers", marker=mark))
    layout = chart.layout(material.text, PANEL, margin={"l": 8, "r": 8, "t": 6, "b": 26, "pad": 0})
    layout["xaxis"] = chart.axis(range=[low - 0.02, high + 0.02], nticks=6)
    layout["yaxis"] = chart.axis(rangemode="tozero", nticks=5)
    return {"data": traces, "layout": layout}


def _costs_table(material: Material, rows: Sequence[ThresholdRow]) -> Content:
    _ = material.text
    heads = (_("judge"), _("threshold"), _("cost with it"), _("cost of the judge's own decisions"), _("difference"),
             _("verdict"), _("cost of showing all"), _("cost of showing none"))  # fmt: skip
    body = []
    for row in rows:
        threshold, name = row["threshold"], row["system"]
        said = {-math.inf: _("show all"), math.inf: _("show none")}.get(threshold) or _.number(threshold, 3)
        costs = [material.estimate(name, COST, threshold=key) for key in ("chosen", "own")]
        line: list[Any] = [Value.of(e, 3) if e else None for e in costs]
        gain = material.comparison(name, COST, threshold="chosen")
        if gain is not None:
            line += [Value.of(gain, 3), chip(material, gain)]
        constants = [Number(row["show_all"], 3), Number(row["show_none"], 3)]
        body.append([named(material, name), said, *line, *constants])
    note = _(
        "An answer shown wrongly costs {shown}, one held back wrongly {hidden}. The threshold of least cost is chosen "
        "on {chosen} cases and scored on the other {scored}; answers to one question are never parted. A call that "
        "failed shows nothing.",
        shown=_.number(float(material.facts.get("cost_shown", 1)), 2),
        hidden=_.number(float(material.facts.get("cost_hidden", 1)), 2),
        chosen=_.integer(int(rows[0]["n_chosen"])),
        scored=_.integer(int(rows[0]["n_scored"])),
    )
    return (Table.of(_, _("Costs"), heads, body), Text(note, "rb-meta"))
