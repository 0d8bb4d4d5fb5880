"""Systems that cut passages differently, read to the same number of words: what of the labelled text they show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.core.counts import lacking
from ragbench.core.language import DASH
from ragbench.core.types import Estimate
from ragbench.views.basics import chart, lines
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import behind
from ragbench.views.basics.marks import chip, legend, named, small
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import clean, shown
from ragbench.views.comparison.verdict_table import Columns
from ragbench.views.view import charted, view

HEIGHT = 240
METRIC = "recall"


@view("reading")
def reading(material: Material, present: frozenset[str]) -> Markup:
    """Recall by words read, drawn and compared; empty where all systems cut passages in the same way."""
    _, curves = material.text, _curves(material)
    if not any(curves.values()):
        return Markup("")
    words = [estimate.estimate.value for estimate in material.measurement.estimates_by("first")]
    k, level = _.integer(int(material.facts["k"])), next(iter(next(iter(curves.values())).values())).level
    lead = _(
        "The systems cut passages differently, so that the same k is not the same to read: the first {k} hold {least} "
        "to {most} words on average. Here every ranking is read to the same number of words and left there, in the "
        "midst of a piece, too; what is shown twice is read twice and counts once.",
        k=k,
        least=_.integer(round(min(words))),
        most=_.integer(round(max(words))),
    )
    axis = _(
        "words read; the band is a {level} interval at each number by itself, not around the whole curve",
        level=_.percent(level),
    )
    figure = {"data": _lines(material), "layout": chart.layout(_, HEIGHT, xaxis=_words(material), yaxis=_scale(curves))}
    label = _("Share of the labelled text by words read. The numbers stand in the table below.")
    notes = Notes(material, "reading-note")
    return html.all(
        html.heading(_("How much one must read"), 2),
        html.lede(lead),
        html.figure(finding(material), legend(material), chart.plot(figure, label), axis),
        _table(material, notes),
        _differences(material, notes),
        notes.html(),
        behind(material, present),
    )


def finding(material: Material) -> str:
    """The figure's title: whose recall is highest at the same k, and whose at each number of words."""
    _ = material.text
    leaders: dict[str, list[str]] = {}
    for words in material.facts["words"]:
        name = _highest({s: material.estimate(s, METRIC, words=words) for s in material.systems})
        if name:
            leaders.setdefault(name, []).append(_.integer(words))
    by_words = "; ".join(f"{clean(name)} ({', '.join(numbers)})" for name, numbers in leaders.items())
    first = _highest({s: _at_k(material, s) for s in material.systems})
    if not first:
        return _("Highest recall at the same number of words: {leaders}", leaders=by_words)
    k = _.integer(int(material.facts["k"]))
    if list(leaders) == [first]:
        return _("Highest recall at the same k = {k} and at every number of words: {system}", k=k, system=clean(first))
    return _(
        "Highest recall at the same k = {k}: {system}; at the same number of words: {leaders}",
        k=k,
        system=clean(first),
        leaders=by_words,
    )


@charted("reading")
def notebook_figure(material: Material) -> dict[str, Any] | None:
    """The same figure for JupyterLab; None where there is none."""
    curves = _curves(material)
    if not any(curves.values()):
        return None
    layout = chart.layout(material.text, HEIGHT + 40, title={"text": chart.plain(finding(material)), "x": 0})
    layout |= {"showlegend": True, "legend": {"orientation": "h", "y": -0.2}}
    layout["margin"] = {"l": 8, "r": 16, "t": 60, "b": 40}
    return {"data": _lines(material), "layout": layout | {"xaxis": _words(material), "yaxis": _scale(curves)}}


def _curves(material: Material) -> dict[str, dict[int, Estimate]]:
    curves: dict[str, dict[int, Estimate]] = {name: {} for name in material.systems}
    for estimate in material.measurement.estimates_by("words"):
        if estimate.system in curves:
            curves[estimate.system][int(estimate.where["words"])] = estimate.estimate
    return curves


def _lines(material: Material) -> list[dict[str, Any]]:
    _ = material.text
    return lines.lines(material, _curves(material), lambda n: _.plural("{n} word read", "{n} words read", n))


def _scale(curves: Mapping[str, Mapping[int, Estimate]]) -> dict[str, Any]:
    return lines.scale(estimate for rows in curves.values() for estimate in rows.values())


def _words(material: Material) -> dict[str, Any]:
    ticks = list(material.facts["words"])
    text = [material.text.integer(tick) for tick in ticks]
    return chart.axis(showgrid=False, type="log", tickvals=ticks, ticktext=text)


def _at_k(material: Material, system: str) -> Estimate | None:
    return material.estimate(system, METRIC, k=int(material.facts["k"]))


def _highest(estimates: Mapping[str, Estimate | None]) -> str:
    """The system with the highest value, of equal ones the first; empty where none was measured."""
    known = {
        name: estimate.value
        for name, estimate in estimates.items()
        if estimate is not None and math.isfinite(estimate.value)
    }
    return max(known, key=lambda name: known[name], default="")


def _table(material: Material, notes: Notes) -> Markup:
    """A row a system: recall at the same k, how many words that is, and recall at the same numbers of words."""
    _, k = material.text, int(material.facts["k"])
    at_k, length = _("recall at k = {k}", k=_.integer(k)), _("words of the first {k}", k=_.integer(k))
    labels = {words: _.plural("{n} word", "{n} words", words) for words in material.facts["words"]}
    heads = [html.head(title) for title in (_("system"), at_k, length, *labels.values())]
    rows = []
    for name in material.systems:
        cells = [html.row_head(named(material, name)), html.cell(at_k, _value(material, _at_k(material, name), notes))]
        first = material.estimate(name, "words", first=k)
        cells.append(html.cell(length, DASH if first is None else html.number(_.integer(round(first.value)))))
        for words, label in labels.items():
            comparison = material.comparison(name, METRIC, words=words)
            verdict = [] if comparison is None else [chip(material, comparison)]
            marked = notes.unidentified(name, METRIC)
            value = _value(material, material.estimate(name, METRIC, words=words), notes, marked, *verdict)
            cells.append(html.cell(label, value))
        rows.append(html.row(cells))
    return html.table(_("Recall at the same k and at the same number of words"), heads, rows)


def _value(material: Material, estimate: Estimate | None, notes: Notes, *more: Markup) -> Markup | str:
    """A value, its interval below it, and what more there is: columns have to be narrow."""
    if estimate is None or not math.isfinite(estimate.value):
        return DASH
    _ = material.text
    missing = small(lacking(estimate, _, material.digits(METRIC)))
    interval = html.small(_.interval(estimate.low, estimate.high))
    return html.lines([html.number(_.number(estimate.value)) + notes.mark(estimate) + missing, interval, *more])


def _differences(material: Material, notes: Notes) -> Markup:
    """Folded: the differences to the baseline at each number of words, with intervals and verdicts."""
    compared = material.measurement.comparisons_by("words")
    if not compared:
        return Markup("")
    _ = material.text
    family = next((finding.comparison.family for finding in compared if finding.comparison.family), "")
    columns = Columns.of(material, notes, family, corrected=bool(family))
    heads = [html.head(_("system")), *columns.heads()]
    rows: list[Markup] = []
    for words in material.facts["words"]:
        rows.append(html.group(_.plural("{n} word", "{n} words", words), len(heads)))
        for name in material.challengers:
            comparison = material.comparison(name, METRIC, words=words)
            if comparison is not None:
                rows.append(
                    columns.row(
                        [html.row_head(named(material, name)), *columns.cells(comparison, METRIC)], comparison, METRIC
                    )
                )
    title = _("Differences to {baseline} at the same number of words", baseline=clean(material.baseline))
    told = html.meta(
        _.plural(
            "They are a family of their own: p, verdicts and intervals hold together over this {n} comparison.",
            "They are a family of their own: p, verdicts and intervals hold together over these {n} comparisons.",
            len(compared),
        )
    )
    return html.fold(title, html.table(shown(title), heads, rows, "rb-long") + told)
