"""A cache of answers: how often it would serve at each threshold, and the answers that it would serve wrongly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.core.language import DASH
from ragbench.core.types import Estimate
from ragbench.metrics.cache import Serving, cache_hit_rate, wrong_hit_rate
from ragbench.views.answers.savings import savings
from ragbench.views.basics import chart
from ragbench.views.basics.entries import entry, rows_of, shortened
from ragbench.views.basics.links import behind, left, link
from ragbench.views.basics.marks import legend, named, series
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.items.turns import served_link
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
def cache(material: Material, present: frozenset[str]) -> Markup:
    """How often a cache would serve, and serve wrongly, at each threshold and at the one that is used."""
    _ = material.text
    kinds = _kinds(material)
    if not kinds:
        return html.p(_("There is no cache: no past question has the score that is asked for."))
    panels = []
    for kind in kinds:
        name = kind_name(material, kind)
        panels.append(html.panel(name, chart.plot(figure(material, kind), _("hits by threshold, {kind}", kind=name))))
    lines = _(
        "Solid: share of the questions that the cache would serve. Dotted: share that it would serve wrongly, "
        "undecided hits (doubtful or not known) left out; the band is what that share would be if all undecided "
        "hits were right, or wrong. The upright line is the threshold."
    )
    title, axis = _("What a cache would serve, by the cosine it asks for"), _("cosine above which the cache answers")
    systems = legend(material) if len(material.systems) > 1 else ""
    return html.all(
        html.figure(title, systems, html.panels(panels), axis),
        html.meta(lines),
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


def _table(material: Material, present: frozenset[str], kinds: Sequence[str]) -> Markup:
    _ = material.text
    heads = (_("embedder"), (_("asked"), "rb-word"), _("questions"), _("served"), _("right"), _("doubtful"),
             _("wrong"), _("not known"), _("wrong-hit rate"))  # fmt: skip
    body = []
    for kind in kinds:
        for row in [each for each in rows_of(material.kept("caches")) if each["asked"] == kind]:
            served = _behind(material, present, row, _.integer(int(row["hits"])), metric="similarity", sort="best")
            rate, wrong = (
                material.estimate(str(row["system"]), metric.label, asked=kind)
                for metric in (cache_hit_rate, wrong_hit_rate)
            )
            body.append(
                [
                    named(material, str(row["system"])),
                    kind_name(material, kind),
                    _.integer(int(row["n"])),
                    html.below(served, _spread(material, rate) if rate else DASH),
                    *(_worth(material, present, row, each) for each in WORTHS),
                    _wrong_rate(material, wrong) if wrong else DASH,
                ]
            )
    note = _(
        "Under a wrong-hit rate: what it would be if all undecided hits (doubtful or not known) were right … wrong."
    )
    return html.grid(_("The cache at its threshold"), heads, body) + html.meta(note)


def _worth(material: Material, present: frozenset[str], row: Mapping[str, Any], worth: Serving) -> Markup | str:
    """How many hits would be so, leading to them where there are any."""
    number = material.text.integer(int(row[worth.value]))
    if not row[worth.value]:
        return number
    return _behind(material, present, row, number, metric="serving", outcome=served_link(worth))


def _behind(material: Material, present: frozenset[str], row: Mapping[str, Any], number: str, **wish: str) -> Markup:
    """A number that leads to the questions of its kind."""
    address = link(material, present, system=clean(row["system"]), slice=f"what:{row['asked']}", **wish)
    return html.link(address, number)


def _wrong_rate(material: Material, wrong: Estimate) -> Markup:
    """The rate with its interval, and below it what it would be with all undecided hits right, and wrong."""
    _ = material.text
    if wrong.floor == wrong.ceiling:
        return _spread(material, wrong)
    return html.two_lines(_spread(material, wrong), f"{_.number(wrong.floor)} … {_.number(wrong.ceiling)}")


def _spread(material: Material, estimate: Estimate) -> Markup:
    _ = material.text
    return html.spread(_.number(estimate.value), _.interval(estimate.low, estimate.high))


@view("hits")
def hits(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """What the cache would serve, at most `count` for each embedder, wrong answers first."""
    if not _kinds(material):
        return Markup("")
    more = behind(material, present, material.text("Every question and dialogue with its values"))
    return html.all(*(_hits(material, name, count) for name in material.systems), more)


def _hits(material: Material, name: str, count: int) -> Markup:
    _ = material.text
    threshold = float(material.facts.get("threshold", 0))
    served = [hit for hit in rows_of(material.kept("nearest"), name) if hit["similarity"] > threshold]
    served.sort(
        key=lambda hit: (RANK[Serving(hit["serving"])], -hit["similarity"], str(hit["asked"]), str(hit["sample"]))
    )
    counts = {each.value: sum(hit["serving"] == each for hit in served) for each in Serving}
    title = _.html(
        "<b>{embedder}</b>: {wrong} of {hits} hits would be wrong, {doubtful} doubtful, {unknown} not known",
        embedder=named(material, name) if len(material.systems) > 1 else shown(name),
        hits=_.integer(len(served)),
        **{each: _.integer(count) for each, count in counts.items()},
    )
    prefix = f"hit{material.systems.index(name)}"
    items = shortened(material.text, [_hit(material, prefix, hit) for hit in served[:count]]) if served else ""
    return html.all(html.heading(title), items, left(material, len(served), count))


def _hit(material: Material, prefix: str, hit: Mapping[str, Any]) -> Markup:
    _ = material.text
    words = {
        Serving.RIGHT: html.span(_("right"), "rb-quiet"),
        Serving.DOUBTFUL: html.b(_("doubtful")),
        Serving.WRONG: html.b(_("wrong"), "rb-worse"),
        Serving.UNKNOWN: html.span(_("not known"), "rb-quiet"),
    }
    marks = html.all(words[Serving(hit["serving"])], " ", html.number(_.number(float(hit["similarity"]))))
    summary = html.two_lines(shown(hit["question"], SUMMARY), shown(hit["cached_question"], SUMMARY))
    asked = shown(hit["answer"], EXCERPT)
    if not asked and (disliked := shown(hit["disliked"], EXCERPT)):
        asked = _.html("Disliked by its user: {answer}", answer=disliked)
    parts = (
        (_("Asked"), hit["question"], asked, ", ".join(hit["pages"])),
        (_("Out of the cache"), hit["cached_question"], shown(hit["cached_answer"], EXCERPT), hit["cached_page"]),
    )
    body = [
        html.lead(title) + html.exchange(shown(question, EXCERPT), answer or DASH, shown(page, 200))
        for title, question, answer, page in parts
    ]
    return entry(anchor(prefix, f"{hit['asked']}-{hit['sample']}"), summary, marks, html.all(*body))
