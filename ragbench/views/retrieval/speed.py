"""How fast a question is answered, what an index gains and loses, and whether the same question finds the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from ragbench.core.language import DASH
from ragbench.core.measurement import NamedEstimate
from ragbench.core.types import Estimate
from ragbench.views.answers.stages import milliseconds
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import named, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, shown
from ragbench.views.sentences.descriptions import known
from ragbench.views.view import view

SLOWEST = 10
BUILT = ("index", "m", "ef_construction", "ef_search")
"""What tells the place of a finding on HNSW; exact search is told by `index` alone, and a hybrid's by `part` too."""


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
    _, made = material.text, material.measurement
    if not made.estimates_by("step", "probability") and not made.estimates_by("index"):
        return Markup("")
    text = _.plural(
        "{n} question was timed, after a few that do not count. The clock was read once for these inputs and its "
        "readings are kept, so that the same inputs give the same page; {parameter} reads it again.",
        "{n} questions were timed one by one, after a few that do not count. The clock was read once for these inputs "
        "and its readings are kept, so that the same inputs give the same page; {parameter} reads it again.",
        int(material.facts.get("timed_questions", 0)),
        parameter="\N{NO-BREAK SPACE}".join(("fresh_timings", "=", "True")),
    )
    if any(
        isinstance(system, Mapping) and system.get("kind") == "http" for system in material.facts.get("systems", ())
    ):
        text += " " + _(
            "A system over HTTP was timed while it was asked, with as many requests in flight as its table allows; "
            "each time is kept with its reply."
        )
    return html.lede(text)


def _latencies(material: Material) -> Markup:
    _, rows = material.text, material.measurement.estimates_by("step", "probability")
    if not rows:
        return Markup("")
    parts = {
        "rewrite": _("rewriting the question"),
        "embed": _("embedding the question"),
        "search": _("searching"),
        "rerank": _("reranking the first passages"),
        "both": _("all together"),
        "call": _("the whole call"),
        "first_token": _("part of it, up to the first piece of the answer"),
    }
    probabilities = sorted({float(row.where["probability"]) for row in rows})
    shares = [_("median") if p == 0.5 else _("{share} are no slower", share=_.percent(p)) for p in probabilities]
    heads = [_("milliseconds"), *shares, _("n")]
    by_part: dict[tuple[str, str], dict[float, Estimate]] = {}
    for row in rows:
        by_part.setdefault((row.system, str(row.where["step"])), {})[float(row.where["probability"])] = row.estimate
    made = []
    for (system, part), by in by_part.items():
        count = html.link("#slowest", _.integer(by[probabilities[0]].n))
        values = (_time(material, by[p]) for p in probabilities)
        made.append((named(material, system), [parts.get(part, part), *values, count]))
    said = _("Quantiles with {level} order-statistic intervals.", level=_.percent(rows[0].estimate.level))
    if any(row.estimate.note for row in rows):
        said += " " + _("An open end (…) is one that these readings cannot bound; more timed questions could.")
    return html.grouped(_("Latency"), heads, made) + html.meta(said)


def _time(material: Material, estimate: Estimate) -> Markup:
    return milliseconds(material, estimate.value, estimate.low, estimate.high)


def _slowest(material: Material, present: frozenset[str]) -> Markup:
    """The questions that took longest, with their readings."""
    _, table = material.text, material.kept("latencies")
    blocks = []
    for system in dict.fromkeys(table["system"].astype(str)) if len(table) else ():
        own = table[(table["system"] == system) & (table["part"] != "first_token")]
        sums = own.groupby("sample", sort=False)["ms"].sum(min_count=1).dropna()
        totals = {str(sample): float(ms) for sample, ms in sums.items()}
        slowest = sorted(totals, key=lambda sample: (-totals[sample], sample))[:SLOWEST]
        numbered = [(sample, _.number(totals[sample], 1)) for sample in slowest]
        blocks.append(_questions(material, named(material, system), numbered, present))
    title = _("The questions that took longest, in milliseconds")
    return html.fold(title, *blocks, id="slowest") if blocks else Markup("")


def _questions(
    material: Material, title: Markup, numbered: Iterable[tuple[str, str]], present: frozenset[str]
) -> Markup:
    """Questions, each with a number, leading to all that is known of it."""
    lines = []
    for sample, number in numbered:
        text = shown(material.question_rows[sample]["text"], 200) if sample in material.question_rows else shown(sample)
        address = f"#{anchor('q', sample)}" if "questions" in present else None
        lines.append(html.span(html.link(address, text)) + html.number(number))
    return html.lead(title) + html.list(lines, "rb-list-of")


def _indexes(material: Material) -> Markup:
    """By embedder exact search, and HNSW at each ef_search."""
    _, measured = material.text, material.measurement
    exact = [*measured.estimates_by("index"), *measured.estimates_by("index", "part")]
    if not exact:
        return Markup("")
    notes = Notes(material, "index-note")
    heads = (_("search"), _("recall against exact search"), _("median, ms"), _("times as fast"), _("n"))
    made: list[tuple[Markup, list[Markup | str]]] = []
    for first in exact:
        part, median = first.where.get("part"), first.estimate
        of_it = [
            finding
            for finding in measured.placed
            if isinstance(finding, NamedEstimate) and finding.system == first.system
        ]
        indexed = [
            finding for finding in of_it if set(BUILT) <= set(finding.where) and finding.where.get("part") == part
        ]
        recalls = [finding for finding in indexed if finding.metric == "recall_against_exact"]
        built = [
            f"m = {finding.where['m']}, ef_construction = {finding.where['ef_construction']}" for finding in indexed[:1]
        ]
        if own_index := known(material, first.system).get("own_index"):
            built.insert(0, _("your own index {name}, asked in place", name=str(own_index)))
        searched = known(material, first.system).get("embedder") if part is None else f"{first.system} · {part}"
        beside = "; ".join([", ".join(_sharing(material, first, exact)), *built]).removeprefix("; ")
        title = html.all(shown(searched), " ", html.small(shown(beside)))
        made.append((title, [_("exact"), _.number(1.0), _time(material, median), DASH, _.integer(median.n)]))
        for recall_at in recalls:
            recall, own = recall_at.estimate, material.estimate(recall_at.system, "median_latency", **recall_at.where)
            assert own is not None, "both are read at the same place"
            share = spread(f"{_.number(recall.value)} {_.interval(recall.low, recall.high)}") + notes.mark(recall)
            times = _.number(median.value / own.value, 1) if own.value > 0 else DASH
            count = html.link("#missed" if recall.value < 1 else None, _.integer(own.n))
            way = f"HNSW, ef_search = {recall_at.where['ef_search']}"
            made.append((title, [way, share, _time(material, own), times, count]))
    lead = _.html(
        "The same vectors searched exactly and by an HNSW index, each question by itself. Recall is the share "
        "of the exactly nearest {k} that the index found; ef_search is how many candidates it keeps in view.",
        k=_.integer(int(material.facts.get("k", 0))),
    )
    if (scanned := max(estimate.estimate.n for estimate in exact)) < int(material.facts.get("timed_questions", 0)):
        lead += " " + _(
            "Exact search reads every vector, whatever is asked, and was timed on {n} of the questions.",
            n=_.integer(scanned),
        )
    return html.all(
        html.heading(_.html("<b>Exact search against an index</b>")),
        html.lede(lead),
        html.grouped(_("Exact search against an index"), heads, made),
        notes.html(),
    )


def _sharing(material: Material, first: NamedEstimate, exact: Sequence[NamedEstimate]) -> list[str]:
    """The systems that search these vectors and stand in no row of their own, after the one that does; none where that
    is alone, or is a part."""
    identity, rows = known(material, first.system).get("embedder_identity"), {estimate.system for estimate in exact}
    others = [name for name in material.systems if name not in rows and identity and "part" not in first.where]
    same = [name for name in others if known(material, name).get("embedder_identity") == identity]
    return [first.system, *same] if same else []


def _misses(material: Material, present: frozenset[str]) -> Markup:
    """The questions of which an index missed most, by embedder; nothing where it missed nothing."""
    _, table = material.text, material.kept("misses")
    if not len(table):
        return Markup("")
    blocks = []
    for (system, part), own in table.groupby(["system", "part"], sort=False):
        least = int(own["ef_search"].min())
        worst = own[own["ef_search"] == least].sort_values(["recall", "sample"], kind="stable").head(SLOWEST)
        of_part = f" · {part}" if part else ""
        title = html.all(named(material, str(system)), f"{of_part} HNSW, ef_search = {least}")
        numbered = [(str(row["sample"]), _.number(row["recall"])) for row in rows_of(worst)]
        blocks.append(_questions(material, title, numbered, present))
    return html.fold(_("The questions of which the index missed most"), *blocks, id="missed") if blocks else Markup("")


def _repeats(material: Material) -> Markup:
    """How often everything was asked anew; nothing where the measure was not asked for."""
    _, name, repeats = material.text, "retrieval_consistency", int(material.facts.get("repeats", 1))
    if name not in material.metrics:
        return Markup("")
    said: list[Markup | str] = [
        _.plural(
            "Every question was asked {n} time, embedded and searched anew each time.",
            "Every question was asked {n} times, embedded and searched anew each time.",
            repeats,
        )
    ]
    if repeats < 2:
        said = [
            _.html("Every question was asked once, so {metric} is not measured: it needs repeats.", metric=shown(name))
        ]
    for system in material.systems if repeats > 1 else ():
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
    return html.heading(_.html("<b>The same question again</b>")) + html.lede(Markup(" ").join(said))
