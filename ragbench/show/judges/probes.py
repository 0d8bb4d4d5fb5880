"""What sways a judge: every probe with effect, limit and verdict; the ladder; where judge and people part."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

from ragbench.show.basics import cells, chart
from ragbench.show.basics.entries import entry, ordered, rows_of
from ragbench.show.basics.links import behind, link
from ragbench.show.basics.marks import GLYPHS, SYMBOLS
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.judges import words
from ragbench.show.judges.replies import calibration
from ragbench.show.judges.words import UNMEASURED
from ragbench.show.page import charted, view

LADDER = ("reference", "paraphrase", "partial", "off_topic", "contradiction")
HEIGHT = 300
MOST_SERIES = 7


@view("probes")
def probes(material: Material, present: frozenset[str]) -> Markup:
    """What sways each judge: effect, limit and verdict of every probe."""
    _ = material.text
    judges = words.judges_of(material)
    if not judges:
        return Markup("")
    if not words.kept(material, "probes"):
        return Markup("<p>{}</p>").format(_("Nothing was tried."))
    return Markup("").join(_probes(material, present, name, len(judges) > 1) for name in judges)


def _probes(material: Material, present: frozenset[str], judge: str, several: bool) -> Markup:
    _ = material.text
    tried = {str(row["probe"]) for row in words.kept(material, "effects", judge)}
    titles = (_("probe"), _("effect"), _("limit"), _("p (Holm)"), _("verdict"), _("n"))
    body, untried = [], []
    for row in words.kept(material, "probes", judge):
        name, meaning = words.probe(material, row["probe"])
        if row["verdict"] == UNMEASURED and row["probe"].endswith(words.CHANGES):
            continue  # for the reason that stands beside the probe itself
        if row["verdict"] == UNMEASURED:
            untried.append(f"{name}: {words.missing(material, row['why'])}")
            continue
        body.append(
            cells.row(
                [
                    Markup("<th scope=row>{} <small>{}</small></th>").format(name, meaning),
                    cells.cell(titles[1], _effect(material, present, row, tried)),
                    cells.cell(titles[2], _limit(material, row)),
                    cells.cell(titles[3], _.p_value(row["p_adjusted"])),
                    cells.cell(titles[4], words.chip(material, row["verdict"]), "rb-word"),
                    cells.cell(titles[5], _.integer(int(row["n"]))),
                ]
            )
        )
    heads = [cells.head(title) for title in titles]
    table = (
        cells.table(_("Probes of {judge}", judge=clean(judge)), heads, body, "rb-wide rb-measures")
        if body
        else Markup("")
    )
    title = Markup("<h3>{}</h3>").format(words.bold(judge)) if several else Markup("")
    rest = Markup("")
    if untried:
        rest = Markup('<p class="rb-meta">{} {}</p>').format(_("Not tried:"), "; ".join(untried) + ".")
    return title + table + rest


def _effect(material: Material, present: frozenset[str], row: words.Row, tried: set[str]) -> Markup:
    """The effect, leading to the answers that it is made of."""
    number = words.number(material, row, signed=not _is_share(row))
    probe = str(row["probe"]).removesuffix(words.CHANGES)
    address = (
        link(material, present, metric=probe, system=clean(row["judge"]), sort="worst") if probe in tried else None
    )
    return number if address is None else Markup('<a href="{}">{}</a>').format(address, number)


def _is_share(row: words.Row) -> bool:
    return row["probe"] in ("repeats", "blank", "key", "ladder", "disguise") or row["probe"].endswith(words.CHANGES)


def _limit(material: Material, row: words.Row) -> str:
    _ = material.text
    low, high = row["limit_low"], row["limit_high"]
    digits = 2 if all(math.isnan(end) or math.isclose(end, round(end, 2)) for end in (low, high)) else 3
    if not math.isnan(low) and not math.isnan(high):
        return f"±{_.number(high, digits)}"
    return f"≤ {_.number(high, digits)}" if math.isnan(low) else f"≥ {_.number(low, digits)}"


@view("ladder")
def ladder(material: Material, present: frozenset[str]) -> Markup:
    """Scores of answers from the best to the worst, and how the answers were made; empty where none were."""
    _ = material.text
    if not words.kept(material, "ladder"):
        return Markup("")
    judges = words.judges_of(material)
    legend = Markup("").join(
        Markup('<li><span class="rb-s{0}" aria-hidden="true">{1}</span>{2}</li>').format(
            _series(place), GLYPHS[_series(place)], shown(name)
        )
        for place, name in enumerate(judges)
    )
    title = _ladder_title(material)
    drawn = Markup(
        '<figure><figcaption><span class="rb-title">{}</span><ul class="rb-legend">{}</ul></figcaption>{}'
        '<p class="rb-axis">{}</p></figure>'
    ).format(
        title,
        legend if len(judges) > 1 else "",
        chart.plot(ladder_figure(material), title),
        _("mean score as a share of the scale"),
    )
    return drawn + _examples(material)


def _ladder_title(material: Material) -> str:
    _ = material.text
    said = []
    for name in words.judges_of(material):
        row = words.by_name(words.kept(material, "ladder", name), "rung")["in_order"]
        if not math.isnan(row["value"]):
            said.append(_("{judge}: {share}", judge=clean(name), share=_.percent(row["value"])))
    return _("All five answers stand in order: {shares} of the questions", shares=_.enumeration(said))


@charted("ladder", "ladder")
def ladder_figure(material: Material) -> dict[str, Any]:
    """A line a judge over the rungs."""
    names = [chart.plain(words.rung(material, rung)) for rung in LADDER]
    traces = []
    for place, judge in enumerate(words.judges_of(material)):
        rows = words.by_name(words.kept(material, "ladder", judge), "rung")
        values = [rows[rung] for rung in LADDER if rung in rows]
        if not values:
            continue
        number = _series(place)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": names,
                "y": [_json(row["value"]) for row in values],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [_json(row["high"] - row["value"]) for row in values],
                    "arrayminus": [_json(row["value"] - row["low"]) for row in values],
                    "color": f"@series-{number}",
                    "thickness": 1.5,
                    "width": 0,
                },
                "line": {"color": f"@series-{number}", "width": 1.5},
                "marker": {"color": f"@series-{number}", "size": 8, "symbol": SYMBOLS[number]},
                "name": chart.plain(judge),
                "hovertemplate": "%{x}: %{y:.3f}<extra>" + chart.plain(judge) + "</extra>",
            }
        )
    layout = chart.layout(material.text, HEIGHT)
    layout["xaxis"] = chart.axis(type="category", showgrid=False)
    layout["yaxis"] = chart.axis(range=[-0.03, 1.03], dtick=0.25)
    return {"data": traces, "layout": layout}


def _examples(material: Material) -> Markup:
    _ = material.text
    rows = rows_of(material.kept("texts", "variant"))
    items = Markup("").join(
        Markup("<li><b>{}</b> {}</li>").format(words.rung(material, row["variant"]), shown(row["text"], 500))
        for row in rows
    )
    return Markup('<details class="rb-fold"><summary>{}</summary><ul class="rb-hits">{}</ul></details>').format(
        _("How the answers are made: those of the first question"), items
    )


@view("reliability")
def reliability(material: Material, present: frozenset[str]) -> Markup:
    """Share of answers that people call good by the judge's score, with sensitivity, specificity, Brier score."""
    _ = material.text
    if not len(material.kept("reliability")):
        return Markup("")  # the view of agreement says why
    title = _("How many answers people call good, by the judge's score")
    drawn = Markup(
        '<figure><figcaption><span class="rb-title">{}</span></figcaption>{}<p class="rb-axis">{}</p></figure>'
    ).format(
        title,
        chart.plot(reliability_figure(material), title),
        _("score as a share of the scale; on the line: calibrated"),
    )
    return drawn + calibration(material)


@charted("reliability", "reliability")
def reliability_figure(material: Material) -> dict[str, Any]:
    """Share of good answers in each bin of scores with its interval, and the line on which a calibrated judge lies."""
    line = {
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip",
        "line": {"color": "@muted", "width": 1, "dash": "dot"},
    }  # fmt: skip
    traces: list[dict[str, Any]] = [line]
    for place, judge in enumerate(words.judges_of(material)):
        rows, number = words.kept(material, "reliability", judge), _series(place)
        if not rows:
            continue
        hovers = [chart.plain(material.text.plural("{n} answer", "{n} answers", int(row["n"]))) for row in rows]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [_json(row["score"]) for row in rows],
                "y": [_json(row["value"]) for row in rows],
                "text": hovers,
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [_json(row["high"] - row["value"]) for row in rows],
                    "arrayminus": [_json(row["value"] - row["low"]) for row in rows],
                    "color": f"@series-{number}",
                    "thickness": 1.5,
                    "width": 0,
                },
                "marker": {
                    "color": f"@series-{number}",
                    "symbol": SYMBOLS[number],
                    "size": [7 + min(11.0, math.sqrt(int(row["n"]))) for row in rows],
                },
                "name": chart.plain(judge),
                "hovertemplate": "%{x:.2f} → %{y:.2f}, %{text}<extra>" + chart.plain(judge) + "</extra>",
            }
        )
    layout = chart.layout(material.text, HEIGHT + 20)
    layout["xaxis"] = chart.axis(range=[-0.04, 1.04], dtick=0.25)
    layout["yaxis"] = chart.axis(range=[-0.04, 1.04], dtick=0.25)
    return {"data": traces, "layout": layout}


@view("disagreements")
def disagreements(material: Material, present: frozenset[str], count: int = 5) -> Markup:
    """The `count` answers on which each judge and people are furthest apart."""
    _ = material.text
    parts = []
    for judge in words.judges_of(material):
        rows = [row for row in words.kept(material, "answers", judge) if not math.isnan(row["people"] - row["score"])]
        rows.sort(key=lambda row: (-abs(row["people"] - row["score"]), str(row["sample"])))
        if not rows:
            continue
        place = words.judges_of(material).index(judge)
        title = _.html("Where <b>{judge}</b> and people part most", judge=shown(judge))
        parts.append(
            Markup("<h3>{}</h3>").format(title)
            + ordered(_disagreement(material, f"apart{place}", row) for row in rows[:count])
        )
    more = behind(material, present, _("Every judged answer with its values")) if parts else Markup("")
    return Markup("").join(parts) + more


def _disagreement(material: Material, prefix: str, row: words.Row) -> Markup:
    _ = material.text
    marks = _("people {people}, judge {score}", people=_.number(row["people"], 2), score=_.number(row["score"], 2))
    lines = [
        (_("question"), row["question"]),
        (_("answer"), row["answer"]),
        (_("system"), row["system"]),
        (_("reference"), row["reference"]),
        (_("people"), row["ratings"]),
        (_("the judge's reason"), row["reason"]),
    ]
    items = Markup("").join(
        Markup('<li><p class="rb-lead">{}</p><p>{}</p></li>').format(name, shown(text, 600))
        for name, text in lines
        if text
    )
    return entry(
        anchor(prefix, str(row["sample"])),
        shown(row["question"] or row["sample"], 110),
        Markup('<span class="rb-number">{}</span>').format(marks),
        Markup('<ul class="rb-hits">{}</ul>').format(items),
    )


def _series(place: int) -> int:
    return 1 + place % MOST_SERIES


def _json(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
