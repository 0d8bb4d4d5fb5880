"""How fast a question is answered, what an index gains and loses, and whether the same question finds the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragbench.old.core.measurement import NamedEstimate
from ragbench.old.core.parts import (
    Content,
    Entries,
    Link,
    Number,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    Value,
    filled,
    joined,
)
from ragbench.old.core.types import Estimate
from ragbench.old.views.basics import marks
from ragbench.old.views.basics.differences import Notes
from ragbench.old.views.basics.marks import milliseconds, named
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, shown
from ragbench.old.views.sentences.descriptions import known
from ragbench.old.views.view import view

SLOWEST = 10  # as many as somebody looks at
BUILT = ("index", "m", "ef_construction", "ef_search")
"""What tells the place of a finding on HNSW; exact search is told by `index` alone, and a hybrid's by `part` too."""


@view("speed")
def speed(material: Material, present: frozenset[str]) -> Content:
    """Latency, index against exact search, and what repeats gave; empty where none was measured."""
    parts = [
        _latencies(material),
        _slowest(material, present),
        _indexes(material),
        _misses(material, present),
        _repeats(material),
    ]
    if not any(parts):
        return ()
    return (Text(material.text("How fast, how exact, how steady"), "h2"), _kept(material), *parts)


def _kept(material: Material) -> Content:
    """That readings are kept, and how many questions were timed."""
    _, made = material.text, material.measurement
    if not made.estimates_by("step", "probability") and not made.estimates_by("index"):
        return ()
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
    return Text(text, "rb-lede")


def _latencies(material: Material) -> Content:
    _, rows = material.text, material.measurement.estimates_by("step", "probability")
    if not rows:
        return ()
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
        count = Link(by[probabilities[0]].n, "#slowest")
        values = (_time(by[p]) for p in probabilities)
        made.append((named(material, system), [parts.get(part, part), *values, count]))
    said = _("Quantiles with {level} order-statistic intervals.", level=_.percent(rows[0].estimate.level))
    if any(row.estimate.note for row in rows):
        said += " " + _("An open end (…) is one that these readings cannot bound; more timed questions could.")
    return (Table.grouped(_, _("Latency"), heads, made), Text(said, "rb-meta"))


def _time(estimate: Estimate) -> Value | None:
    return milliseconds(estimate.value, estimate.low, estimate.high)


def _slowest(material: Material, present: frozenset[str]) -> Content:
    """The questions that took longest, with their readings."""
    _, table = material.text, material.kept("latencies")
    blocks = []
    for system in dict.fromkeys(table["system"].astype(str)) if len(table) else ():
        own = table[(table["system"] == system) & (table["part"] != "first_token")]
        sums = own.groupby("sample", sort=False)["ms"].sum(min_count=1).dropna()
        totals = {str(sample): float(ms) for sample, ms in sums.items()}
        slowest = sorted(totals, key=lambda sample: (-totals[sample], sample))[:SLOWEST]
        numbered = [(sample, Number(totals[sample], 1)) for sample in slowest]
        blocks.append(_questions(material, named(material, system), numbered, present))
    title = _("The questions that took longest, in milliseconds")
    return Section([*blocks], title, anchor="slowest") if blocks else ()


def _questions(
    material: Material, title: Phrase, numbered: Iterable[tuple[str, Number]], present: frozenset[str]
) -> Content:
    """Questions, each with a number, leading to all that is known of it."""
    lines = []
    for sample, number in numbered:
        text = shown(material.question_rows[sample]["text"], 200) if sample in material.question_rows else shown(sample)
        address = f"#{anchor('q', sample)}" if "questions" in present else None
        lines.append((Styled(Link(text, address)), number))
    return (Text(title, "rb-lead"), Entries(lines, "rb-list-of"))


def _indexes(material: Material) -> Content:
    """By embedder exact search, and HNSW at each ef_search."""
    _, measured = material.text, material.measurement
    exact = [*measured.estimates_by("index"), *measured.estimates_by("index", "part")]
    if not exact:
        return ()
    notes = Notes(material, "index-note")
    heads = (_("search"), _("recall against exact search"), _("median, ms"), _("times as fast"), _("n"))
    made = list[tuple[Phrase, list[Any]]]()
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
        title = (shown(searched), " ", Styled(shown(beside), "small"))
        made.append((title, [_("exact"), Number(1.0), _time(median), None, median.n]))
        for recall_at in recalls:
            recall, own = recall_at.estimate, material.estimate(recall_at.system, "median_latency", **recall_at.where)
            assert own is not None, "both are read at the same place"
            share = (Value.of(recall), notes.mark(recall))
            times = Number(median.value / own.value, 1) if own.value > 0 else None
            count = Link(own.n, "#missed" if recall.value < 1 else None)
            way = f"HNSW, ef_search = {recall_at.where['ef_search']}"
            made.append((title, [way, share, _time(own), times, count]))
    lead: Phrase = filled(
        _(
            "The same vectors searched exactly and by an HNSW index, each question by itself. Recall is the share "
            "of the exactly nearest {k} that the index found; ef_search is how many candidates it keeps in view."
        ),
        k=_.integer(int(material.facts.get("k", 0))),
    )
    if (scanned := max(estimate.estimate.n for estimate in exact)) < int(material.facts.get("timed_questions", 0)):
        told = _(
            "Exact search reads every vector, whatever is asked, and was timed on {n} of the questions.",
            n=_.integer(scanned),
        )
        lead = (lead, " ", told)
    return (
        Text(filled(_("<b>Exact search against an index</b>")), "h3"),
        Text(lead, "rb-lede"),
        Table.grouped(_, _("Exact search against an index"), heads, made),
        *notes.parts(),
    )


def _sharing(material: Material, first: NamedEstimate, exact: Sequence[NamedEstimate]) -> list[str]:
    """The systems that search these vectors and stand in no row of their own, after the one that does; none where that
    is alone, or is a part."""
    identity, rows = known(material, first.system).get("embedder_identity"), {estimate.system for estimate in exact}
    others = [name for name in material.systems if name not in rows and identity and "part" not in first.where]
    same = [name for name in others if known(material, name).get("embedder_identity") == identity]
    return [first.system, *same] if same else []


def _misses(material: Material, present: frozenset[str]) -> Content:
    """The questions of which an index missed most, by embedder; nothing where it missed nothing."""
    _, table = material.text, material.kept("misses")
    if not len(table):
        return ()
    blocks = []
    for (system, part), own in table.groupby(["system", "part"], sort=False):
        least = int(own["ef_search"].min())
        worst = own[own["ef_search"] == least].sort_values(["recall", "sample"], kind="stable").head(SLOWEST)
        of_part = f" · {part}" if part else ""
        title = (named(material, str(system)), f"{of_part} HNSW, ef_search = {least}")
        numbered = [(sample, Number(recall)) for sample, recall in zip(worst["sample"], worst["recall"], strict=True)]
        blocks.append(_questions(material, title, numbered, present))
    return Section([*blocks], _("The questions of which the index missed most"), anchor="missed") if blocks else ()


def _repeats(material: Material) -> Content:
    """How often everything was asked anew; nothing where the measure was not asked for."""
    _, name, repeats = material.text, "retrieval_consistency", int(material.facts.get("repeats", 1))
    if name not in material.metrics:
        return ()
    said: list[Phrase] = [
        _.plural(
            "Every question was asked {n} time, embedded and searched anew each time.",
            "Every question was asked {n} times, embedded and searched anew each time.",
            repeats,
        )
    ]
    if repeats < 2:
        said = [
            filled(
                _("Every question was asked once, so {metric} is not measured: it needs repeats."), metric=shown(name)
            )
        ]
    for system in material.systems if repeats > 1 else ():
        estimate = material.estimate(system, name)
        if estimate is None:
            continue
        if math.isnan(estimate.value):
            text = filled(
                _("<b>{system}</b>: not measured, what was logged cannot be asked again."), system=shown(system)
            )
        else:
            text = filled(
                _("<b>{system}</b>: the first {k} were the same in the same order in {value} of the repeats."),
                system=shown(system),
                k=_.integer(int(material.facts.get("k", 0))),
                value=marks.measured(material, estimate, name),
            )
        said.append(text)
    return (Text(filled(_("<b>The same question again</b>")), "h3"), Text(joined(" ", said), "rb-lede"))
