"""What sways a judge: every probe with effect, limit and verdict; the ladder; where judge and people part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Figure,
    Link,
    P,
    Plot,
    Section,
    Styled,
    System,
    Table,
    Text,
    bold,
    filled,
)
from ragbench.old.core.types import Estimate
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.judges.judge_findings import JudgedRow, ProbeRow, VariantRow
from ragbench.old.tiers.judges.probes import EffectRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.marks import SYMBOLS, behind, link, rows_of, shortened
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.judges.replies import (
    calibration,
    classes,
    pairwise,
    panel,
    people,
    repeatability,
    replies,
    rivals,
)
from ragbench.old.views.sentences import judge_trust
from ragbench.old.views.sentences.judge_trust import CONSTRUCTED, FOUND, OPEN, PASSED, UNMEASURED
from ragbench.old.views.view import view

__all__ = [
    "classes",
    "disagreements",
    "ladder",
    "pairwise",
    "panel",
    "people",
    "probes",
    "reliability",
    "repeatability",
    "replies",
    "rivals",
]


LADDER = ("reference", "paraphrase", "partial", "off_topic", "contradiction")
SHARES = ("repeats", "blank", "key", "ladder", "disguise")
"""Probes whose effect is no difference; so are all that count changes."""
HEIGHT = 220  # pixels, by eye: a curve's slope is seen
MOST_SERIES = 7  # colours of the palette that are told apart without a legend


@view("probes")
def probes(material: Material, present: frozenset[str]) -> Content:
    """What sways each judge: effect, limit and verdict of every probe, those without a fault folded."""
    judges = judge_trust.judges_of(material)
    if judges and not judge_trust.kept(material, ProbeRow, "probes"):
        return Text(material.text("Nothing was tried."))
    return (*(_probes(material, present, name, len(judges) > 1) for name in judges),)


def _probes(material: Material, present: frozenset[str], judge: str, several: bool) -> Content:
    _ = material.text
    tried = {str(row["probe"]) for row in judge_trust.kept(material, EffectRow, "effects", judge)}
    heads = [_("probe"), _effects(material, judge), _("limit"), (_("p (Bonferroni)"), "rb-short")]
    heads += [(_("verdict"), "rb-word"), _("n")]
    made: dict[str, list[list[Any]]] = {FOUND: [], OPEN: [], PASSED: [], CONSTRUCTED: []}
    untried = []
    for row in judge_trust.kept(material, ProbeRow, "probes", judge):
        name, meaning = judge_trust.probe(material, row["probe"])
        effect = material.estimate(judge, "effect", probe=row["probe"])
        if row["verdict"] == UNMEASURED or effect is None:
            if not row["probe"].endswith(judge_trust.CHANGES):  # for the reason that stands beside the probe itself
                untried.append(f"{name}: {judge_trust.missing(material, row['why'])}")
            continue
        made[row["verdict"]].append(
            [
                (name, " ", Styled(meaning, "small")),
                _effect(material, present, row, effect, tried),
                _limit(material, row),
                P(row["p_adjusted"]),
                judge_trust.chip(material, row["verdict"]),
                effect.n,
            ]
        )
    title = _("Probes of {judge}", judge=clean(judge))
    tables = {verdict: Table.of(_, title, heads, rows, "rb-wide rb-measures") for verdict, rows in made.items() if rows}
    titles = {
        OPEN: _("Neither shown nor ruled out ({n})", n=_.integer(len(made[OPEN]))),
        PASSED: _("Ruled out ({n})", n=_.integer(len(made[PASSED]))),
        CONSTRUCTED: _("By construction ({n})", n=_.integer(len(made[CONSTRUCTED]))),
    }
    first = next(iter(tables), "")
    return (
        Text(bold(shown(judge)), "h3") if several else (),
        tables.get(first, ()),
        *(Section([made_of], titles[verdict]) for verdict, made_of in tables.items() if verdict != first),
        Text(" ".join((_("Not tried:"), "; ".join(untried) + ".")), "rb-meta") if untried else (),
    )


def _effects(material: Material, judge: str) -> str:
    """What the column of effects is called: with the level of its intervals, which are those of the whole family."""
    _ = material.text
    effects = (
        material.estimate(judge, "effect", probe=row["probe"])
        for row in judge_trust.kept(material, ProbeRow, "probes", judge)
    )
    level = next((effect.level for effect in effects if effect is not None and effect.low is not None), None)
    return _("effect") if level is None else _("effect, {level} interval", level=_.percent(level, 2))


def _effect(material: Material, present: frozenset[str], row: ProbeRow, effect: Estimate, tried: set[str]) -> Link:
    """The effect, leading to the answers that it is made of."""
    changes = row["probe"].endswith(judge_trust.CHANGES)
    number = judge_trust.number(material, effect, signed=not (changes or row["probe"] in SHARES))
    probe = str(row["probe"]).removesuffix(judge_trust.CHANGES)
    address = link(material, present, metric=probe, system=clean(row["judge"]), sort="worst")
    return Link(number, address if probe in tried else None)


def _limit(material: Material, row: ProbeRow) -> str:
    _ = material.text
    low, high = row["limit_low"], row["limit_high"]
    digits = 2 if all(math.isnan(end) or math.isclose(end, round(end, 2)) for end in (low, high)) else 3
    if not math.isnan(low) and not math.isnan(high):
        return f"±{_.number(high, digits)}"
    return (
        f"≤\N{NO-BREAK SPACE}{_.number(high, digits)}"
        if math.isnan(low)
        else f"≥\N{NO-BREAK SPACE}{_.number(low, digits)}"
    )


@view("ladder")
def ladder(material: Material, present: frozenset[str]) -> Content:
    """Scores of answers from the best to the worst, and how the answers were made; empty where none were."""
    _ = material.text
    figure = ladder_figure(material)
    if figure is None:
        return ()
    judges = judge_trust.judges_of(material)
    signs = [System(clean(name), _series(place)) for place, name in enumerate(judges)]
    said = [
        _("{judge}: {share}", judge=clean(name), share=_.percent(estimate.value))
        for name in judges
        if (estimate := material.estimate(name, "in_order", trial="ladder")) is not None
        and not math.isnan(estimate.value)
    ]
    title = _("All five answers stand in order: {shares} of the questions", shares=_.enumeration(said))
    axis = _("mean score as a share of the scale")
    texts = [
        (bold(judge_trust.rung(material, row["variant"])), " ", shown(row["text"], 500))
        for row in rows_of(VariantRow, material.kept("texts", "variant"))
    ]
    made = Section([Entries(texts, "rb-hits")], _("How the answers are made: those of the first question"))
    drawn = Figure("", [Plot(figure, title)], signs if len(judges) > 1 else [], axis)
    return Section([drawn, made], title)


def ladder_figure(material: Material) -> dict[str, Any] | None:
    """A line a judge over the rungs."""
    traces = []
    for place, judge in enumerate(judge_trust.judges_of(material)):
        estimates = {rung: material.estimate(judge, rung, trial="ladder") for rung in LADDER}
        points = [
            (chart.plain(judge_trust.rung(material, rung)), estimate)
            for rung, estimate in estimates.items()
            if estimate is not None
        ]
        if points:
            line = {"color": f"@series-{_series(place)}", "width": 1.5}
            traces.append({**_points(place, judge, points, "%{x}: %{y:.3f}"), "mode": "lines+markers", "line": line})
            traces[-1]["marker"]["size"] = 8
    if not traces:
        return None
    layout = chart.layout(material.text, HEIGHT)
    layout["xaxis"] = chart.axis(type="category", showgrid=False)
    layout["yaxis"] = chart.axis(range=[-0.03, 1.03], dtick=0.25)
    return {"data": traces, "layout": layout}


def _points(place: int, judge: str, points: Sequence[tuple[Any, Estimate]], hover: str) -> dict[str, Any]:
    """Estimates of a judge with their intervals, in its colour and with its sign."""
    colour = f"@series-{_series(place)}"
    nan = math.nan
    highs = [(nan if estimate.high is None else estimate.high) - estimate.value for _x, estimate in points]
    lows = [estimate.value - (nan if estimate.low is None else estimate.low) for _x, estimate in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [x for x, _one in points],
        "y": [estimate.value for _x, estimate in points],
        "error_y": {"type": "data", "symmetric": False, "array": highs, "arrayminus": lows, "color": colour,
                    "thickness": 1.5, "width": 0},
        "marker": {"color": colour, "symbol": SYMBOLS[_series(place)]},
        "name": chart.plain(judge),
        "hovertemplate": f"{hover}<extra>{chart.plain(judge)}</extra>",
    }  # fmt: skip


@view("reliability")
def reliability(material: Material, present: frozenset[str]) -> Content:
    """Share of answers that people call good by the judge's score, with sensitivity, specificity, Brier score."""
    _ = material.text
    figure = reliability_figure(material)
    if figure is None:
        return ()  # the view of agreement says why
    title = _("How many answers people call good, by the judge's score")
    axis = _("score as a share of the scale; on the line: calibrated")
    drawn = Figure(title, [Plot(figure, title)], axis=axis)
    return Section([drawn, calibration(material)], material.text("Calibration"))


def reliability_figure(material: Material) -> dict[str, Any] | None:
    """Share of good answers in each bin of scores with its interval, and the line on which a calibrated judge lies."""
    estimates = material.measurement.estimates_by("bin", "score")
    if not estimates:
        return None
    line = {
        "type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip",
        "line": {"color": "@muted", "width": 1, "dash": "dot"},
    }  # fmt: skip
    traces: list[dict[str, Any]] = [line]
    for place, judge in enumerate(judge_trust.judges_of(material)):
        points = [(estimate.where["score"], estimate.estimate) for estimate in estimates if estimate.system == judge]
        if not points:
            continue
        counts = [estimate.n for _x, estimate in points]
        trace = _points(place, judge, points, "%{x:.2f} → %{y:.2f}, %{text}")
        trace["text"] = [chart.plain(material.text.plural("{n} answer", "{n} answers", n)) for n in counts]
        trace["marker"]["size"] = [7 + min(11.0, math.sqrt(n)) for n in counts]
        traces.append(trace)
    layout = chart.layout(material.text, HEIGHT)
    layout["xaxis"] = chart.axis(range=[-0.04, 1.04], dtick=0.25)
    layout["yaxis"] = chart.axis(range=[-0.04, 1.04], dtick=0.25)
    return {"data": traces, "layout": layout}


@view("disagreements")
def disagreements(material: Material, present: frozenset[str], count: int = 5) -> Content:
    """The `count` answers on which each judge and people are furthest apart."""
    _ = material.text
    parts = list[Content]()
    for place, judge in enumerate(judge_trust.judges_of(material)):
        rows = [
            row
            for row in judge_trust.kept(material, JudgedRow, "answers", judge)
            if not math.isnan(row["people"] - row["score"])
        ]
        rows.sort(key=lambda row: (-abs(row["people"] - row["score"]), str(row["sample"])))
        if rows:
            parts.append(Text(filled(_("Where <b>{judge}</b> and people disagree most"), judge=shown(judge)), "h3"))
            parts.append(shortened(_, [_disagreement(material, f"apart{place}", row) for row in rows[:count]]))
    if parts:
        parts.append(behind(material, present, _("Every judged answer with its values")))
    return parts


def _disagreement(material: Material, prefix: str, row: JudgedRow) -> Entry:
    _ = material.text
    marks = _("people {people}, judge {score}", people=_.number(row["people"], 2), score=_.number(row["score"], 2))
    lines = {
        _("question"): row["question"],
        _("answer"): row["answer"],
        _("system"): row["system"],
        _("reference"): row["reference"],
        _("people"): judge_trust.ratings(material, row["ratings"]),
        _("the judge's reason"): reason_in(row["reason"] or "", _),
    }
    told = [[Text(name, "rb-lead"), Text(shown(text, 600))] for name, text in lines.items() if text]
    name, summary = anchor(prefix, str(row["sample"])), shown(row["question"] or row["sample"], 110)
    return Entry(name, summary, Styled(marks, look="rb-number"), [Entries(told, "rb-hits")])


def _series(place: int) -> int:
    return 1 + place % MOST_SERIES
