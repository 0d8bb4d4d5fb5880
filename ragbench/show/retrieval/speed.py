"""How fast a question is answered, what an index gains and loses, and whether the same question finds the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.show.answers.stages import milliseconds
from ragbench.show.basics.cells import grid, grouped
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.marks import named, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import anchor, shown
from ragbench.show.page import view
from ragbench.types import Estimate

SLOWEST = 10
OPEN = "…"


@view("speed")
def speed(material: Material, present: frozenset[str]) -> Markup:
    """Latency, index against exact search, and what repeats gave; empty where none was measured."""
    parts = [
        _latencies(material),
        _slowest(material, present),
        _indexes(material),
        _misses(material, present),
        _repeats(material),
    ]
    if not any(parts):
        return Markup("")
    return html.all(html.heading(material.text("How fast, how exact, how steady"), 2), _kept(material), *parts)


def _kept(material: Material) -> Markup:
    """That readings are kept, and how many questions were timed."""
    if not material.measurement.estimates_by("step", "probability") and not len(material.kept("indexes")):
        return Markup("")
    _ = material.text
    text = _.plural(
        "{n} question was timed, after a few that do not count. The clock was read once for these inputs and its "
        "readings are kept, so that the same inputs give the same page; {parameter} reads it again.",
        "{n} questions were timed one by one, after a few that do not count. The clock was read once for these inputs "
        "and its readings are kept, so that the same inputs give the same page; {parameter} reads it again.",
        int(material.facts.get("timed_questions", 0)),
        parameter="\N{NO-BREAK SPACE}".join(("fresh_timings", "=", "True")),
    )
    return html.lede(text)


def _latencies(material: Material) -> Markup:
    rows = material.measurement.estimates_by("step", "probability")
    if not rows:
        return Markup("")
    _ = material.text
    probabilities = sorted({float(row.where["probability"]) for row in rows})
    heads = [_("milliseconds"), *(_quantile(material, p) for p in probabilities), _("n")]
    found: dict[tuple[str, str], dict[float, Estimate]] = {}
    for row in rows:
        found.setdefault((row.system, str(row.where["step"])), {})[float(row.where["probability"])] = row.estimate
    made = []
    for (system, part), by in found.items():
        count = html.link("#slowest", _.integer(by[probabilities[0]].n))
        values = (milliseconds(material, by[p].value, by[p].low, by[p].high) for p in probabilities)
        made.append((named(material, system), [_part(material, part), *values, count]))
    said = _("Quantiles with {level} order-statistic intervals.", level=_.percent(rows[0].estimate.level))
    if any(row.estimate.note for row in rows):
        said += " " + _("An open end (…) cannot be bounded by any of the readings: more timed questions would.")
    return grid(_("Latency"), heads, grouped(len(heads), made), "rb-long") + html.meta(said)


def _quantile(material: Material, probability: float) -> str:
    _ = material.text
    if probability == 0.5:
        return _("median")
    return _("{share} are faster", share=_.percent(probability))


def _part(material: Material, part: str) -> str:
    _ = material.text
    names = {
        "embed": _("embedding the question"),
        "search": _("searching"),
        "both": _("both together"),
        "call": _("the whole call"),
    }
    return names.get(part, part)


def _slowest(material: Material, present: frozenset[str]) -> Markup:
    """The questions that took longest, with their readings."""
    table = material.kept("latencies")
    if not len(table):
        return Markup("")
    _ = material.text
    blocks = []
    for system in dict.fromkeys(table["system"].astype(str)):
        own = table[table["system"] == system]
        sums = own.groupby("sample", sort=False)["ms"].sum(min_count=1).dropna()
        totals = {str(sample): float(ms) for sample, ms in sums.items()}
        slowest = sorted(totals, key=lambda sample: (-totals[sample], sample))[:SLOWEST]
        found = [(sample, _.number(totals[sample], 1)) for sample in slowest]
        blocks.append(_questions(material, named(material, system), found, present))
    return html.fold(_("The questions that took longest, in milliseconds"), *blocks, id="slowest")


def _questions(material: Material, title: Markup, found: list[tuple[str, str]], present: frozenset[str]) -> Markup:
    """Questions, each with a number, leading to all that is known of it."""
    lines = []
    for sample, number in found:
        text = shown(material.question_rows[sample]["text"], 200) if sample in material.question_rows else shown(sample)
        address = f"#{anchor('q', sample)}" if "questions" in present else None
        lines.append(html.span(html.link(address, text)) + html.number(number))
    return html.lead(title) + html.list(lines, "rb-list-of")


def _indexes(material: Material) -> Markup:
    table = material.kept("indexes")
    if not len(table):
        return Markup("")
    _ = material.text
    notes = Notes(material, "index-note")
    heads = (_("search"), _("recall against exact search"), _("median, ms"), _("times as fast"), _("n"))
    made, exact = [], math.nan
    for row in table.to_dict("records"):
        if row["index"] == "exact":
            exact = row["ms"]
        made.append((_embedder(material, row["system"]), _index(material, row, exact, notes)))
    lead = _.html(
        "The same vectors searched exactly and by an HNSW index, each question by itself. Recall is the share "
        "of the exactly nearest {k} that the index found; ef_search is how many candidates it keeps in view.",
        k=_.integer(int(material.facts.get("k", 0))),
    )
    return html.all(
        html.heading(_.html("<b>Exact search against an index</b>")),
        html.lede(lead),
        grid(_("Exact search against an index"), heads, grouped(len(heads), made), "rb-long"),
        notes.html(),
    )


def _embedder(material: Material, system: str) -> Markup:
    """The embedder whose vectors are searched, and how its index was built."""
    rows = material.kept("indexes").query("system == @system").to_dict("records")
    built = next((f"m = {int(r['m'])}, ef_construction = {int(r['ef_construction'])}" for r in rows if r["m"] > 0), "")
    return html.all(shown(rows[0]["embedder"]), " ", html.small(built))


def _misses(material: Material, present: frozenset[str]) -> Markup:
    """The questions of which an index missed most, by embedder; nothing where it missed nothing."""
    table = material.kept("misses")
    if not len(table):
        return Markup("")
    _ = material.text
    blocks = []
    for system in dict.fromkeys(table["system"].astype(str)):
        own = table[table["system"] == system]
        least = int(own["ef_search"].min())
        worst = own[own["ef_search"] == least].sort_values(["recall", "sample"], kind="stable").head(SLOWEST)
        title = html.all(named(material, system), f" HNSW, ef_search = {least}")
        found = [(str(row["sample"]), _.number(row["recall"])) for row in worst.to_dict("records")]
        blocks.append(_questions(material, title, found, present))
    return html.fold(_("The questions of which the index missed most"), *blocks, id="missed")


def _index(material: Material, row: Mapping[Any, Any], exact: float, notes: Notes) -> list[Markup | str]:
    _ = material.text
    count = _.integer(int(row["n"]))
    time = milliseconds(material, row["ms"], row["ms_low"], row["ms_high"])
    if row["index"] == "exact":
        return [_("exact"), _.number(1.0), time, DASH, count]
    low, high = (row[f"recall_{end}"] if math.isfinite(row[f"recall_{end}"]) else None for end in ("low", "high"))
    clusters = int(row["clusters"]) if row["clusters"] and row["clusters"] > 0 else None
    made = Estimate(
        row["recall"], low, high, row["level"], row["method"], int(row["n"]), clusters=clusters,
        note=row["recall_note"],
    )  # fmt: skip
    return [
        f"HNSW, ef_search = {int(row['ef_search'])}",
        spread(f"{_.number(made.value)} {_.interval(made.low, made.high)}") + notes.mark(made),
        time,
        _.number(exact / row["ms"], 1) if row["ms"] > 0 else DASH,
        html.link("#missed" if made.value < 1 else None, count),
    ]


def _repeats(material: Material) -> Markup:
    """How often everything was asked anew; nothing where the measure was not asked for."""
    name = "retrieval_consistency"
    if name not in material.metrics:
        return Markup("")
    _ = material.text
    repeats = int(material.facts.get("repeats", 1))
    title = html.heading(_.html("<b>The same question again</b>"))
    if repeats < 2:
        text = _.html(
            "Every question was asked once, so {metric} is not measured: it needs repeats.", metric=shown(name)
        )
        return title + html.lede(text)
    said = [
        _.plural(
            "Every question was asked {n} time, embedded and searched anew each time.",
            "Every question was asked {n} times, embedded and searched anew each time.",
            repeats,
        )
    ]
    for system in material.systems:
        estimate = material.estimate(system, name)
        if estimate is None:
            continue
        if math.isnan(estimate.value):
            text = _.html("<b>{system}</b>: not measured, what was logged cannot be asked again.", system=shown(system))
        else:
            text = _.html(
                "<b>{system}</b>: the first {k} were the same in the same order in {value} of the repeats.",
                system=shown(system),
                k=_.integer(int(material.facts.get("k", 0))),
                value=spread(material.value(estimate, name)),
            )
        said.append(text)
    return title + html.lede(Markup(" ").join(said))
