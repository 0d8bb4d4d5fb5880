"""How fast a question is answered, what an index gains and loses, and whether the same question finds the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

from ragbench.language import DASH
from ragbench.show.basics import cells
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.marks import named, spread
from ragbench.show.basics.material import Material
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
    _ = material.text
    return Markup("<h2>{}</h2>{}{}").format(
        _("How fast, how exact, how steady"), _kept(material), Markup("").join(parts)
    )


def _kept(material: Material) -> Markup:
    """That readings are kept, and how many questions were timed."""
    if not len(material.kept("quantiles")) and not len(material.kept("indexes")):
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
    return Markup('<p class="rb-lede">{}</p>').format(text)


def _latencies(material: Material) -> Markup:
    table = material.kept("quantiles")
    if not len(table):
        return Markup("")
    _ = material.text
    rows = table.to_dict("records")
    probabilities = sorted({row["probability"] for row in rows})
    titles = {p: _quantile(material, p) for p in probabilities}
    heads = [cells.head(_("milliseconds")), *(cells.head(titles[p]) for p in probabilities), cells.head(_("n"))]
    found: dict[tuple[str, str], dict[float, Any]] = {}
    for row in rows:
        found.setdefault((row["system"], row["part"]), {})[row["probability"]] = row
    made, before = [], None
    for (system, part), by in found.items():
        if system != before:
            before = system
            made.append(
                Markup('<tr class="rb-group"><th scope=rowgroup colspan={}>{}</th></tr>').format(
                    len(heads), named(material, system)
                )
            )
        values = [cells.cell(titles[p], _ms(material, by[p])) for p in probabilities]
        count = cells.cell(_("n"), Markup('<a href="#slowest">{}</a>').format(_.integer(by[probabilities[0]]["n"])))
        made.append(cells.row([Markup("<th scope=row>{}</th>").format(_part(material, part)), *values, count]))
    level = _.percent(float(table["level"].iloc[0]))
    said = _("Quantiles with {level} order-statistic intervals.", level=level)
    if (table["note"] != "").any():
        said += " " + _("An open end (…) cannot be bounded by any of the readings: more timed questions would.")
    return cells.table(_("Latency"), heads, made, "rb-long") + Markup('<p class="rb-meta">{}</p>').format(said)


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


def _ms(material: Material, row: Mapping[Any, Any], name: str = "") -> Markup:
    """A quantile in milliseconds with its interval, whose open end is an ellipsis."""
    _ = material.text
    if name:
        row = {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
    if not math.isfinite(row["value"]):
        return escape(DASH)
    digits = 2 if row["value"] < 10 else 1 if row["value"] < 1000 else 0
    low, high = (_.number(row[end], digits) if math.isfinite(row[end]) else OPEN for end in ("low", "high"))
    return spread(f"{_.number(row['value'], digits)} {_.ends(low, high)}")


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
        items = Markup("").join(_question(material, sample, _.number(totals[sample], 1), present) for sample in slowest)
        blocks.append(
            Markup('<p class="rb-lead">{}</p><ul class="rb-list-of">{}</ul>').format(named(material, system), items)
        )
    return Markup('<details class="rb-fold" id="slowest"><summary>{}</summary>{}</details>').format(
        _("The questions that took longest, in milliseconds"), Markup("").join(blocks)
    )


def _question(material: Material, sample: str, number: str, present: frozenset[str]) -> Markup:
    """A question with a number, leading to all that is known of it."""
    text = shown(material.question_rows[sample]["text"], 200) if sample in material.question_rows else shown(sample)
    if "questions" in present:
        text = Markup('<a href="#{}">{}</a>').format(anchor("q", sample), text)
    return Markup('<li><span>{}</span><span class="rb-number">{}</span></li>').format(text, number)


def _indexes(material: Material) -> Markup:
    table = material.kept("indexes")
    if not len(table):
        return Markup("")
    _ = material.text
    notes = Notes(material, "index-note")
    heads = [
        cells.head(_("search")),
        cells.head(_("recall against exact search")),
        cells.head(_("median, ms")),
        cells.head(_("times as fast")),
        cells.head(_("n")),
    ]
    made, before, exact = [], None, math.nan
    for row in table.to_dict("records"):
        if row["system"] != before:
            before = row["system"]
            made.append(
                Markup('<tr class="rb-group"><th scope=rowgroup colspan={}>{}</th></tr>').format(
                    len(heads), _embedder(material, row["system"])
                )
            )
        if row["index"] == "exact":
            exact = row["ms"]
        made.append(_index(material, row, exact, notes))
    lead = _.html(
        "The same vectors searched exactly and by an HNSW index, each question by itself. Recall is the share "
        "of the exactly nearest {k} that the index found; ef_search is how many candidates it keeps in view.",
        k=_.integer(int(material.facts.get("k", 0))),
    )
    return Markup('<h3>{}</h3><p class="rb-lede">{}</p>{}{}').format(
        _.html("<b>Exact search against an index</b>"),
        lead,
        cells.table(_("Exact search against an index"), heads, made, "rb-long"),
        notes.html(),
    )


def _embedder(material: Material, system: str) -> Markup:
    """The embedder whose vectors are searched, and how its index was built."""
    rows = material.kept("indexes").query("system == @system").to_dict("records")
    built = next((f"m = {int(r['m'])}, ef_construction = {int(r['ef_construction'])}" for r in rows if r["m"] > 0), "")
    return Markup("{} <small>{}</small>").format(shown(rows[0]["embedder"]), built)


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
        title = Markup("{} HNSW, ef_search = {}").format(named(material, system), least)
        items = Markup("").join(
            _question(material, str(row["sample"]), _.number(row["recall"]), present)
            for row in worst.to_dict("records")
        )
        blocks.append(Markup('<p class="rb-lead">{}</p><ul class="rb-list-of">{}</ul>').format(title, items))
    return Markup('<details class="rb-fold" id="missed"><summary>{}</summary>{}</details>').format(
        _("The questions of which the index missed most"), Markup("").join(blocks)
    )


def _index(material: Material, row: Mapping[Any, Any], exact: float, notes: Notes) -> Markup:
    _ = material.text
    is_exact = row["index"] == "exact"
    name = _("exact") if is_exact else f"HNSW, ef_search = {int(row['ef_search'])}"
    recall = escape(_.number(1.0))
    if not is_exact:
        low, high = (row[f"recall_{end}"] if math.isfinite(row[f"recall_{end}"]) else None for end in ("low", "high"))
        clusters = int(row["clusters"]) if row["clusters"] and row["clusters"] > 0 else None
        made = Estimate(
            row["recall"], low, high, row["level"], row["method"], int(row["n"]), clusters=clusters,
            note=row["recall_note"],
        )  # fmt: skip
        recall = spread(f"{_.number(made.value)} {_.interval(made.low, made.high)}") + notes.mark(made)
    count = escape(_.integer(int(row["n"])))
    if not is_exact and made.value < 1:
        count = Markup('<a href="#missed">{}</a>').format(count)
    times = DASH if is_exact or not row["ms"] > 0 else _.number(exact / row["ms"], 1)
    return cells.row(
        [
            Markup("<th scope=row>{}</th>").format(name),
            cells.cell(_("recall against exact search"), recall),
            cells.cell(_("median, ms"), _ms(material, row, "ms")),
            cells.cell(_("times as fast"), times),
            cells.cell(_("n"), count),
        ]
    )


def _repeats(material: Material) -> Markup:
    """How often everything was asked anew; nothing where the measure was not asked for."""
    name = "retrieval_consistency"
    if name not in material.metrics:
        return Markup("")
    _ = material.text
    repeats = int(material.facts.get("repeats", 1))
    if repeats < 2:
        text = _.html(
            "Every question was asked once, so {metric} is not measured: it needs repeats.", metric=shown(name)
        )
        return Markup('<h3>{}</h3><p class="rb-lede">{}</p>').format(_.html("<b>The same question again</b>"), text)
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
    return Markup('<h3>{}</h3><p class="rb-lede">{}</p>').format(
        _.html("<b>The same question again</b>"), Markup(" ").join(said)
    )
