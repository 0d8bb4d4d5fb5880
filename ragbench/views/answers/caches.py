"""A cache of answers: how often it would serve at each threshold, and the answers that it would serve wrongly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.language import DASH
from ragbench.core.parts import (
    Content,
    Entries,
    Entry,
    Figure,
    Lines,
    Link,
    Number,
    Phrase,
    Plot,
    Styled,
    Table,
    Text,
    Value,
    bold,
    filled,
)
from ragbench.core.types import Estimate
from ragbench.metrics.cache import Serving, cache_hit_rate, wrong_hit_rate
from ragbench.views.answers.savings import savings
from ragbench.views.basics import chart
from ragbench.views.basics.entries import rows_of, shortened
from ragbench.views.basics.links import behind, left, link, served_link
from ragbench.views.basics.marks import named, series, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.sentences.continuity import kind_name
from ragbench.views.view import view

PANEL = 190
SUMMARY, EXCERPT = 100, 600
BAND = 0.16
WORTHS = (Serving.RIGHT, Serving.DOUBTFUL, Serving.WRONG, Serving.UNKNOWN)
Curve = Sequence[tuple[float, Estimate]]
"""Thresholds and the rate at each."""
RANK = {Serving.WRONG: 0, Serving.DOUBTFUL: 1, Serving.UNKNOWN: 2, Serving.RIGHT: 3}


@view("cache")
def cache(material: Material, present: frozenset[str]) -> Content:
    """How often a cache would serve, and serve wrongly, at each threshold and at the one that is used."""
    _ = material.text
    kinds = _kinds(material)
    if not kinds:
        return Text(_("There is no cache: no past question has the score that is asked for."))
    plots = []
    for kind in kinds:
        name = kind_name(material, kind)
        plots.append(Plot(figure(material, kind), _("hits by threshold, {kind}", kind=name), name))
    lines = _(
        "Solid: share of the questions that the cache would serve. Dotted: share that it would serve wrongly, "
        "undecided hits (doubtful or not known) left out; the band is what that share would be if all undecided "
        "hits were right, or wrong. The upright line is the threshold."
    )
    title, axis = _("What a cache would serve, by the cosine it asks for"), _("cosine above which the cache answers")
    systems = shared_legend(material)
    return (
        Figure(title, plots, systems, axis, "rb-panels"),
        Text(lines, "rb-meta"),
        _table(material, present, kinds),
        savings(material),
    )


def _kinds(material: Material) -> list[str]:
    rows = material.kept("caches")
    return list(dict.fromkeys(rows["asked"])) if len(rows) else []


def figure(material: Material, kind: str) -> dict[str, Any]:
    """Hit rate and wrong hits by threshold, an embedder a colour."""
    layout = chart.layout(material.text, PANEL, margin={"l": 8, "r": 8, "t": 6, "b": 26, "pad": 0})
    curves: dict[tuple[str, str], list[tuple[float, Estimate]]] = {}
    for estimate in material.measurement.estimates_by("asked", "threshold"):
        if estimate.where["asked"] == kind:
            curves.setdefault((estimate.system, estimate.metric), []).append(
                (float(estimate.where["threshold"]), estimate.estimate)
            )
    lowest = min((at for own in curves.values() for at, _ in own), default=0.5)
    layout["xaxis"] = chart.axis(range=[lowest, 1.0], nticks=6)
    layout["yaxis"] = chart.axis(range=[-0.02, 1.02], nticks=5, tickformat=".0%")
    threshold = float(material.facts.get("threshold", 0))
    layout["shapes"] = [
        {"type": "line", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1, "line": {"color": "@muted", "width": 1}}
    ]
    traces = []
    for name in material.systems:
        traces += _band(material, name, curves.get((name, wrong_hit_rate.label), ()))
        for metric in (cache_hit_rate.label, wrong_hit_rate.label):
            own = curves.get((name, metric), ())
            if any(math.isfinite(estimate.value) for _, estimate in own):
                traces.append(_line(material, name, own, metric))
    return {"data": traces, "layout": layout}


def _band(material: Material, name: str, own: Curve) -> list[dict[str, Any]]:
    """Between the shares of wrong answers with all undecided hits right, and wrong; none where they are one line."""
    ends = [(round(at, 4), e.floor, e.ceiling) for at, e in own if e.floor is not None and e.ceiling is not None]
    if all(least == most for _, least, most in ends):
        return []
    there = [at for at, _, _ in ends]
    least, most = ([round(float(end[place]), 6) for end in ends] for place in (1, 2))
    return [
        {
            "type": "scatter", "mode": "lines", "x": there + there[::-1], "y": most + least[::-1], "fill": "toself",
            "fillcolor": f"@series-{series(material, name)}", "opacity": BAND, "line": {"width": 0},
            "hoverinfo": "skip",
        }
    ]  # fmt: skip


def _line(material: Material, name: str, own: Curve, metric: str) -> dict[str, Any]:
    _ = material.text
    wrong = metric == wrong_hit_rate.label
    word = _("served wrongly") if wrong else _("served")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": chart.plain(f"{name}, {word}"),
        "x": [round(at, 4) for at, _estimate in own],
        "y": [round(estimate.value, 6) for _at, estimate in own],
        "line": {"color": f"@series-{series(material, name)}", "width": 2, "dash": "dot" if wrong else "solid"},
        "text": [
            f"<b>{chart.plain(name)}</b> {_.number(at, 2)}<br>{word}: {_.percent(estimate.value, 1)} "
            + _.ends(_percent(material, estimate.low), _percent(material, estimate.high))
            + (f"<br>{_percents(material, estimate)}" if wrong else "")
            for at, estimate in own
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _percents(material: Material, estimate: Estimate) -> str:
    """The ends of the share of wrong answers in a sentence."""
    return material.text(
        "{least} … {most} if all undecided hits were right … wrong",
        least=_percent(material, estimate.floor),
        most=_percent(material, estimate.ceiling),
    )


def _percent(material: Material, share: float | None) -> str:
    return material.text.percent(math.nan if share is None else share, 1)


def _table(material: Material, present: frozenset[str], kinds: Sequence[str]) -> Content:
    _ = material.text
    heads = (_("embedder"), (_("asked"), "rb-word"), _("questions"), _("served"), _("right"), _("doubtful"),
             _("wrong"), _("not known"), _("wrong-hit rate"))  # fmt: skip
    body = []
    for kind in kinds:
        for row in [each for each in rows_of(material.kept("caches")) if each["asked"] == kind]:
            served = _behind(material, present, row, int(row["hits"]), metric="similarity", sort="best")
            rate, wrong = (
                material.estimate(str(row["system"]), metric.label, asked=kind)
                for metric in (cache_hit_rate, wrong_hit_rate)
            )
            body.append(
                [
                    named(material, str(row["system"])),
                    kind_name(material, kind),
                    int(row["n"]),
                    Lines((served, Value.of(rate) if rate else DASH)),
                    *(_worth(material, present, row, each) for each in WORTHS),
                    _wrong_rate(material, wrong) if wrong else DASH,
                ]
            )
    note = _(
        "Under a wrong-hit rate: what it would be if all undecided hits (doubtful or not known) were right … wrong."
    )
    return (Table.of(_, _("The cache at its threshold"), heads, body), Text(note, "rb-meta"))


def _worth(material: Material, present: frozenset[str], row: Mapping[str, Any], worth: Serving) -> Phrase:
    """How many hits would be so, leading to them where there are any."""
    number = int(row[worth.value])
    if not row[worth.value]:
        return number
    return _behind(material, present, row, number, metric="serving", outcome=served_link(worth))


def _behind(material: Material, present: frozenset[str], row: Mapping[str, Any], number: int, **wish: str) -> Link:
    """A number that leads to the questions of its kind."""
    address = link(material, present, system=clean(row["system"]), slice=f"what:{row['asked']}", **wish)
    return Link(number, address)


def _wrong_rate(material: Material, wrong: Estimate) -> Phrase:
    """The rate with its interval, and below it what it would be with all undecided hits right, and wrong."""
    _ = material.text
    if wrong.floor == wrong.ceiling:
        return Value.of(wrong)
    return Lines((Value.of(wrong), Styled(f"{_.number(wrong.floor)} … {_.number(wrong.ceiling)}", "small")))


@view("hits")
def hits(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """What the cache would serve, at most `count` for each embedder, wrong answers first."""
    if not _kinds(material):
        return ()
    more = behind(material, present, material.text("Every question and dialogue with its values"))
    return ([_hits(material, name, count) for name in material.systems], more)


def _hits(material: Material, name: str, count: int) -> Content:
    _ = material.text
    threshold = float(material.facts.get("threshold", 0))
    served = [hit for hit in rows_of(material.kept("nearest"), name) if hit["similarity"] > threshold]
    served.sort(
        key=lambda hit: (RANK[Serving(hit["serving"])], -hit["similarity"], str(hit["asked"]), str(hit["sample"]))
    )
    counts = {each.value: sum(hit["serving"] == each for hit in served) for each in Serving}
    title = filled(
        _("<b>{embedder}</b>: {wrong} of {hits} hits would be wrong, {doubtful} doubtful, {unknown} not known"),
        embedder=named(material, name) if len(material.systems) > 1 else shown(name),
        hits=len(served),
        **counts,
    )
    prefix = f"hit{material.systems.index(name)}"
    items = shortened(material.text, [_hit(material, prefix, hit) for hit in served[:count]]) if served else ()
    return (Text(title, "h3"), items, left(material, len(served), count))


def _hit(material: Material, prefix: str, hit: Mapping[str, Any]) -> Entry:
    _ = material.text
    words = {
        Serving.RIGHT: Styled(_("right"), look="rb-quiet"),
        Serving.DOUBTFUL: bold(_("doubtful")),
        Serving.WRONG: bold(_("wrong"), "rb-worse"),
        Serving.UNKNOWN: Styled(_("not known"), look="rb-quiet"),
    }
    marks = (words[Serving(hit["serving"])], " ", Number(float(hit["similarity"])))
    summary = Lines((shown(hit["question"], SUMMARY), Styled(shown(hit["cached_question"], SUMMARY), "small")))
    asked: Phrase = shown(hit["answer"], EXCERPT)
    if not asked and (disliked := shown(hit["disliked"], EXCERPT)):
        asked = filled(_("Disliked by its user: {answer}"), answer=disliked)
    parts = (
        (_("Asked"), hit["question"], asked, ", ".join(hit["pages"])),
        (_("Out of the cache"), hit["cached_question"], shown(hit["cached_answer"], EXCERPT), hit["cached_page"]),
    )
    body = [
        (
            Text(title, "rb-lead"),
            Entries(
                [[Text(shown(question, EXCERPT)), Text(answer or DASH), Text(shown(page, 200), "rb-meta")]], "rb-hits"
            ),
        )
        for title, question, answer, page in parts
    ]
    return Entry(anchor(prefix, f"{hit['asked']}-{hit['sample']}"), summary, marks, body)
