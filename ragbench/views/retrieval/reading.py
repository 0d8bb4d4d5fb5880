"""Systems that cut passages differently, read to the same number of words: what of the labelled text they show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ragbench.core.counts import lacking
from ragbench.core.parts import (
    Column,
    Content,
    Figure,
    Group,
    Lines,
    Number,
    Phrase,
    Plot,
    Section,
    Table,
    Text,
    Value,
    small,
)
from ragbench.core.types import Estimate
from ragbench.views.basics import chart
from ragbench.views.basics.compared import Compared
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.links import behind
from ragbench.views.basics.marks import chip, legend, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.view import view

HEIGHT = 240
METRIC = "recall"


@view("reading")
def reading(material: Material, present: frozenset[str]) -> Content:
    """Recall by words read, drawn and compared; empty where all systems cut passages in the same way."""
    _, curves = material.text, _curves(material)
    if not any(curves.values()):
        return ()
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
    return (
        Text(_("How much one must read"), "h2"),
        Text(lead, "rb-lede"),
        Figure(finding(material), [Plot(figure, label)], legend(material), axis),
        _table(material, notes),
        _differences(material, notes),
        *notes.parts(),
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


def _curves(material: Material) -> dict[str, dict[int, Estimate]]:
    curves: dict[str, dict[int, Estimate]] = {name: {} for name in material.systems}
    for estimate in material.measurement.estimates_by("words"):
        if estimate.system in curves:
            curves[estimate.system][int(estimate.where["words"])] = estimate.estimate
    return curves


def _lines(material: Material) -> list[dict[str, Any]]:
    _ = material.text
    return chart.lines(material, _curves(material), lambda n: _.plural("{n} word read", "{n} words read", n))


def _scale(curves: Mapping[str, Mapping[int, Estimate]]) -> dict[str, Any]:
    return chart.scale(estimate for rows in curves.values() for estimate in rows.values())


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


def _table(material: Material, notes: Notes) -> Content:
    """A row a system: recall at the same k, how many words that is, and recall at the same numbers of words."""
    _, k = material.text, int(material.facts["k"])
    at_k, length = _("recall at k = {k}", k=_.integer(k)), _("words of the first {k}", k=_.integer(k))
    labels = {words: _.plural("{n} word", "{n} words", words) for words in material.facts["words"]}
    columns = [Column(_("system")), Column(at_k, "interval"), Column(length, "number")]
    columns += [Column(label, "interval") for label in labels.values()]
    rows = []
    for name in material.systems:
        first = material.estimate(name, "words", first=k)
        read = None if first is None else Number(round(first.value), 0)
        cells = [named(material, name), _value(material, _at_k(material, name), notes), read]
        for words in labels:
            compared = material.comparison(name, METRIC, words=words)
            more = [notes.unidentified(name, METRIC), *([] if compared is None else [chip(material, compared)])]
            cells.append(_value(material, material.estimate(name, METRIC, words=words), notes, *more))
        rows.append(tuple(cells))
    title = _("Recall at the same k and at the same number of words")
    return Table(tuple(columns), tuple(rows), title, language=_.language)


def _value(material: Material, measured: Estimate | None, notes: Notes, *more: Phrase) -> Phrase | None:
    """A value, its interval below it, and what more there is: columns have to be narrow."""
    if measured is None or not math.isfinite(measured.value):
        return None
    missing = small(lacking(measured, material.text, material.digits(METRIC)))
    value = Value.of(measured, 3, stacked=True, beside=(notes.mark(measured), missing))
    return Lines([value, *more])


def _differences(material: Material, notes: Notes) -> Content:
    """Folded: the differences to the baseline at each number of words, with intervals and verdicts."""
    differences = material.measurement.comparisons_by("words")
    if not differences:
        return ()
    _ = material.text
    family = next((each.comparison.family for each in differences if each.comparison.family), "")
    compared = Compared.of(material, notes, family, corrected=bool(family))
    rows = list[Any]()
    for words in material.facts["words"]:
        rows.append(Group(_.plural("{n} word", "{n} words", words)))
        for name in material.challengers:
            own = material.comparison(name, METRIC, words=words)
            if own is not None:
                rows.append(compared.row([named(material, name), *compared.cells(own, METRIC)], own, METRIC))
    title = _("Differences to {baseline} at the same number of words", baseline=clean(material.baseline))
    told = Text(
        _.plural(
            "They are a family of their own: p, verdicts and intervals hold together over this {n} comparison.",
            "They are a family of their own: p, verdicts and intervals hold together over these {n} comparisons.",
            len(differences),
        ),
        "rb-meta",
    )
    columns = (Column(_("system")), *compared.columns)
    return Section([Table(columns, tuple(rows), title, language=_.language, look="rb-long"), told], title)
