"""Rankings by their depth: curves, systems read to the same number of words, and what nobody has judged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragbench.old.core.gaps import lacking
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.metric import parse
from ragbench.old.core.parts import (
    Cell,
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
from ragbench.old.core.types import Estimate
from ragbench.old.tiers.retrieval.reading import DEPTH, TABLE, means
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.differences import Compared, Notes
from ragbench.old.views.basics.marks import behind, chip, legend, named, shared_legend
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.view import view

HEIGHT = 230  # pixels, by eye: a curve's slope is seen, its table is on the same screen
NAMED = 3  # systems whose numbers fit a title
FEW_DEPTHS = 12
WIDE = 25  # depths up to which the axis is even; beyond, equal factors are equal steps


@view("curves")
def curves(material: Material, present: frozenset[str]) -> Content:
    """Recall and NDCG by depth, with an interval at each; empty for rankings of depth 1."""
    _, table = material.text, material.measurement.estimates_by("k")
    if not table:
        return ()
    lead = _(
        "Recall is the share of the relevant passages that are among the first k; NDCG also counts how far up they "
        "are. Where a curve has become flat, a longer list brings nothing more."
    )
    axis = _(
        "by depth k ({population}); the band is a {level} interval at each depth by itself, not around the whole curve",
        population=material.population(estimate.estimate.n for estimate in table),
        level=_.percent(table[0].estimate.level),
    )
    plots = [_plot(material, table, metric) for metric in _metrics(table)]
    return (
        Text(_("How deep one must look"), "h2"),
        Text(lead, "rb-lede"),
        Figure(finding(material), plots, shared_legend(material), axis, "rb-panels"),
        _numbers(material, table),
        behind(material, present),
    )


def finding(material: Material) -> str:
    """The figure's title: what the deepest ranking reaches, system by system."""
    _ = material.text
    if len(material.systems) > NAMED:
        return _("Recall and NDCG by depth")
    rows = [estimate for estimate in material.measurement.estimates_by("k") if estimate.metric == "recall"]
    last = {estimate.system: estimate.estimate for estimate in rows}
    said = [
        _("{system} {value}", system=clean(name), value=_.number(last[name].value))
        for name in material.systems
        if name in last
    ]
    deepest = max((int(estimate.where["k"]) for estimate in rows), default=0)
    return _("Recall at {k}: {values}", k=_.integer(deepest), values=", ".join(said))


def _plot(material: Material, table: Sequence[NamedEstimate], metric: str) -> Plot:
    layout = chart.layout(material.text, HEIGHT, xaxis=_depths(table), yaxis=chart.scale(one.estimate for one in table))
    label = material.text("{metric} by depth. The numbers stand in the table below.", metric=f"{metric}@k")
    return Plot({"data": _traces(material, table, metric), "layout": layout}, label, f"{metric}@k")


def _traces(material: Material, table: Sequence[NamedEstimate], metric: str) -> list[dict[str, Any]]:
    rows = {
        system: {int(o.where["k"]): o.estimate for o in table if (o.metric, o.system) == (metric, system)}
        for system in material.systems
    }
    return chart.lines(material, rows, lambda k: f"{metric}@{k}")


def _depths(table: Sequence[NamedEstimate]) -> dict[str, Any]:
    deepest = max(int(estimate.where["k"]) for estimate in table)
    axis = chart.axis(showgrid=False)
    if deepest > WIDE:
        ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick <= deepest / 1.3] + [deepest]
        return axis | {"type": "log", "tickvals": ticks, "ticktext": [str(tick) for tick in ticks]}
    step = 1 if deepest <= FEW_DEPTHS else 5
    return axis | {"tickvals": [1, *(tick for tick in range(2, deepest + 1) if tick % step == 0)]}


def _numbers(material: Material, table: Sequence[NamedEstimate]) -> Content:
    """The curves as a table: one row a depth, one column a system and metric."""
    _, estimates = (
        material.text,
        {(estimate.system, estimate.metric, int(estimate.where["k"])): estimate.estimate for estimate in table},
    )
    columns = [(system, metric) for metric in _metrics(table) for system in material.systems]
    heads = [Column("k", "count")]
    heads += [Column(Lines((f"{m}@k", named(material, s))), "interval", head="rb-name") for s, m in columns]
    rows = [
        (
            k,
            *(
                Cell(Value.of(estimates[s, m, k]) if (s, m, k) in estimates else "", label=f"{m}@{k}, {clean(s)}")
                for s, m in columns
            ),
        )
        for k in sorted({k for _system, _metric, k in estimates})
    ]
    made = Table(tuple(heads), tuple(rows), _("Recall and NDCG by depth"), language=_.language)
    return Section([made], _("The numbers of the curves"))


def _metrics(table: Sequence[NamedEstimate]) -> Sequence[str]:
    return list(dict.fromkeys(estimate.metric for estimate in table))


WITHOUT_IDEAL = ("mrr", "hit_rate", "precision")
"""Metrics that more relevant passages can only raise: the two values are bounds of them."""
MOST_NAMED = 5  # as many as a sentence can list


@view("unjudged")
def unjudged(material: Material, present: frozenset[str]) -> Content:
    """What part of the first k was judged, and the values if what was not is irrelevant, relevant, or left out."""
    table = unjudged_table(material)
    return () if table is None else Section((list(map(Text, table.notes)), replace(table, notes=())), table.title)


def unjudged_table(material: Material) -> Table | None:
    """The same as a table with its sentences as notes, for what leaves the page; None where all that is known is of no
    ranking."""
    rows = means(material.kept(TABLE))
    if not rows:
        return None
    _, at = material.text, str(material.facts.get("judged_at") or _depth(rows))
    sampled = any(not math.isnan(row["inferred"]) for row in rows)
    heads: list[Any] = [
        _("metric"), (_("system"), "rb-name"), (f"judged@{at}", "rb-number"),
        (_("as printed"), "rb-number"), (_("if relevant"), "rb-number"),
        (_("judged alone"), "rb-number"), *([("infAP", "rb-number")] if sampled else []),
    ]  # fmt: skip
    lines = [
        [
            shown(row["metric"]), shown(row["system"]), Number(row["judged"], percent=True),
            *(Number(row[name]) for name in _columns(sampled)),
        ]
        for row in rows
    ]  # fmt: skip
    return Table.of(_, _("What nobody has judged"), heads, lines, notes=tuple(said(material, rows, at)))


def _depth(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far the metrics look; "k" where each looks as far as its own name says."""
    depths = {parse(row["metric"]).cutoff or DEPTH for row in rows}
    return str(depths.pop()) if len(depths) == 1 else "k"


def _columns(sampled: bool) -> tuple[str, ...]:
    return ("irrelevant", "relevant", "condensed", *(["inferred"] if sampled else []))


def said(material: Material, rows: Sequence[Mapping[str, Any]], at: str) -> list[str]:
    """How much was judged, how to read the columns, and whether the order of systems hangs on what was not."""
    _ = material.text
    shares = [row["judged"] for row in rows if not math.isnan(row["judged"])]
    low, high = (_.percent(end, 0) for end in (min(shares, default=0.0), max(shares, default=0.0)))
    first = _(
        "Of the first {k} that a system retrieved, {share} were judged; the others count as irrelevant, and nobody has "
        "looked at them.",
        k=at, share=low if low == high else _("from {low} to {high}", low=low, high=high),
    )  # fmt: skip
    second = _(
        "The values if all of them were relevant, and of the judged ones alone (Sakai 2007), stand beside the "
        "printed ones; a metric that is divided by the best possible one can lie outside of both."
    )
    return list(filter(None, (first, second, _order(rows, _))))


def _order(rows: Sequence[Mapping[str, Any]], _: Translator) -> str:
    metric = rows[0]["metric"]
    own = [row for row in rows if row["metric"] == metric]
    if len(own) < 2 or parse(metric).name not in WITHOUT_IDEAL:
        return ""
    best, *others = sorted(own, key=lambda row: -row["irrelevant"])
    rivals = [row["system"] for row in others if row["relevant"] > best["irrelevant"]]
    if not rivals:
        return _("Whatever they are, {system} is first on {metric}.", system=best["system"], metric=metric)
    if len(rivals) > MOST_NAMED:
        return _.plural(
            "On {metric}, {n} other could be before {system} if what it retrieved and nobody judged is relevant.",
            "On {metric}, {n} others could be before {system} if what they retrieved and nobody judged is relevant.",
            len(rivals), metric=metric, system=best["system"],
        )  # fmt: skip
    return _(
        "On {metric}, {rivals} could be before {system} if what it retrieved and nobody judged is relevant.",
        metric=metric, rivals=_.enumeration(rivals), system=best["system"],
    )  # fmt: skip


READING_HEIGHT = 240  # as above, with a line more of ticks
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
    figure = {
        "data": _lines(material),
        "layout": chart.layout(_, READING_HEIGHT, xaxis=_words(material), yaxis=_scale(curves)),
    }
    label = _("Share of the labelled text by words read. The numbers stand in the table below.")
    notes = Notes(material, "reading-note")
    return (
        Text(_("How much one must read"), "h2"),
        Text(lead, "rb-lede"),
        Figure(reading_finding(material), [Plot(figure, label)], legend(material), axis),
        _table(material, notes),
        _differences(material, notes),
        *notes.parts(),
        behind(material, present),
    )


def reading_finding(material: Material) -> str:
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
