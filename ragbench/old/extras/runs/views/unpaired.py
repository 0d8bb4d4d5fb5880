"""Numbers of which nothing else is kept, and of runs that cannot be paired: shown, never set against each other."""

from __future__ import annotations

from typing import Any

from ragbench.old.core.language import DASH, Translator
from ragbench.old.core.parts import (
    Cell,
    Chip,
    Column,
    Content,
    Group,
    P,
    Phrase,
    Row,
    Table,
    Text,
    Value,
    filled,
    small,
)
from ragbench.old.core.types import BY_CONSTRUCTION, Verdict
from ragbench.old.extras.runs.run_tables import NumberRow, SummaryRow, TopicRow, counted, known, run_facts, sides
from ragbench.old.tiers.basics.verdict_tables import planned_of, said_of
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material, digits_of
from ragbench.old.views.basics.text import anchor, shown
from ragbench.old.views.view import view

EXCERPT = 160  # two lines of a page


@view("summaries")
def summaries(material: Material, present: frozenset[str]) -> Content:
    """Numbers of runs that nothing pairs; empty where every number is paired."""
    _ = material.text
    summarized = rows_of(SummaryRow, material.kept("summarized"))
    if not summarized:
        return ()
    runs = list(dict.fromkeys(str(row["run"]) for row in summarized))
    other = runs[0] if len(runs) == 1 else _("other run")
    columns = (
        Column(_("metric")), Column("A", "interval"), Column(other, "interval"),
        Column(_("difference, two samples"), "interval", signed=True, label=_("difference")), Column(_("p"), "p"),
        Column(_("verdict"), "verdict", look="rb-word"),
    )  # fmt: skip
    rows = list[Any]()
    grouped: dict[tuple[str, ...], list[SummaryRow]] = {}
    for summary in summarized:
        of = (summary["notebook"], summary["first"], summary["second"], summary["run"])
        grouped.setdefault(of, []).append(summary)
    for (notebook, *systems, run), own in grouped.items():
        title = [shown(notebook), " / ".join(dict.fromkeys(map(shown, systems)))]
        title += [shown(f"A, {run}")] if len(runs) > 1 else []
        rows.append(Group(" · ".join(title)))
        rows += [_summary_row(material, row) for row in own]
    note = _("These numbers are compared as two independent samples, because nothing pairs them question by question. "
             "A difference that is not shown here may well be there.")  # fmt: skip
    notes: list[Phrase] = [note, *_other_data(material)]
    table = Table(columns, tuple(rows), _("Numbers without pairs"), language=_.language, look="rb-long")
    return (table, [Text(said, "rb-meta") for said in notes])


def _other_data(material: Material) -> list[Phrase]:
    """A warning where the runs name different data: what differs may be the questions."""
    _ = material.text
    named = [_.enumeration(list(run.get("datasets") or ())) or DASH for run in run_facts(material.facts)["runs"]]
    if len(set(named)) == 1:
        return []
    told = _.enumeration(
        [f"{run['letter']} {name}" for run, name in zip(run_facts(material.facts)["runs"], named, strict=True)]
    )
    return [
        filled(
            _("The runs name different data: {data}. A difference may be that of the questions alone."),
            data=shown(told),
        )
    ]


def _summary_row(material: Material, summary: SummaryRow) -> Row:
    _ = material.text
    digits = digits_of(number for side in sides(summary) for number in side[:3])
    cells: list[Any] = [shown(summary["metric"])]
    for side in sides(summary):
        beside = small("" if side.n is None else f"n {_.integer(side.n)}")
        cells.append((Value(*side[:3], digits=digits, bare=True), beside))
    if summary["why"]:
        cells.append(Cell(why(material, summary["why"]), span=3))
    else:
        verdict = Chip.of(Verdict(summary["verdict"]), verdict_of(summary, _))
        difference = Value(summary["difference"], summary["low"], summary["high"], digits=digits, signed=True)
        cells += [difference, P(summary["p"]), verdict]
    named = f"{summary['notebook']} {summary['first']} {summary['second']} {summary['run']} {summary['metric']}"
    return Row(cells, anchor("summary", named), _unshown(material, summary, digits))


def _unshown(material: Material, summary: SummaryRow, digits: int) -> str:
    """What a comparison that shows no difference could have shown; empty of any other."""
    _, detectable = material.text, known(summary["minimum_detectable"])
    if summary["why"] or summary["verdict"] != str(Verdict.NOT_SHOWN) or detectable is None:
        return ""
    text = _("a difference of {difference} or more would have been shown", difference=_.number(detectable, digits))
    needed = counted(summary["questions_needed"])
    counts = [side.n for side in sides(summary) if side.n is not None]
    if needed is not None and counts:
        text += "; " + planned_of(known(summary["margin"]), needed, min(counts), _)
    return text


def verdict_of(row: SummaryRow, _: Translator) -> str:
    """The verdict of a row in words, with what withholds it."""
    return said_of(Verdict(row["verdict"]), 0, None, _, str(row.get("withheld") or ""))


def why(material: Material, reason: str) -> str:
    """Why two numbers are not set against each other, in words."""
    return shown(reason_said(reason, material.text), EXCERPT)


def reason_said(reason: str, _: Translator) -> str:
    """Why a number is not set against another, in words."""
    words = {
        "outside_scale": _("not comparable: a value lies outside of its scale"),
        "mixed_units": _("not comparable: passages and pages are mixed in one number"),
        "unfilled_prompt": _("not comparable: the judge was asked with an unfilled prompt"),
        "other_definition": _("not comparable: another quantity under the same name"),
        "unknown_unit": _("not comparable: nothing says what was ranked"),
        "other_unit": _("not comparable: one ranks passages, the other pages"),
        "other_scale": _("not comparable: one is on another scale than the other"),
        "other_depth": _("not comparable: one looks at another depth than the other, or does not say at which"),
        "other_labels": _("not comparable: people's labels correct one, the other is the judge's alone"),
        "no_interval": _("no interval: too little is known of how sure the values are"),
        "describes": _("a number that describes: neither direction is good"),
        "unmeasured": _("not measured"),
        BY_CONSTRUCTION: _("by construction: it could not have been otherwise"),
    }
    return words[reason] if reason in words else _("not comparable: {reason}", reason=reason)


@view("numbers")
def numbers(material: Material, present: frozenset[str]) -> Content:
    """Every number with its interval, its questions and its unit, and why it must not be compared."""
    _ = material.text
    kept_rows = rows_of(NumberRow, material.kept("numbers"))
    units = {"chunk": _("passages"), "url": _("pages")}
    rows = list[Any]()
    for group in dict.fromkeys((number["notebook"], number["system"]) for number in kept_rows):
        rows.append(Group(" · ".join(map(shown, group))))
        for number in (value for value in kept_rows if (value["notebook"], value["system"]) == group):
            low, high = known(number["low"]), known(number["high"])
            digits = digits_of((number["value"], low, high))
            cells = (
                shown(number["metric"]),
                Value(number["value"], low, high, digits=digits, bare=True),
                counted(number["n"]),
                units.get(number["unit"] or "", ""),
            )
            named = " ".join((*group, str(number["metric"])))
            under = why(material, number["reason"]) if number["reason"] else ""
            rows.append(Row(cells, anchor("number", named), under))
    columns = (Column(_("metric")), Column(_("value"), "interval"), Column("n", "count"), Column(_("unit")))
    table = Table(columns, tuple(rows), _("Numbers"), language=_.language, look="rb-long")
    return (table, _topics(material))


def _topics(material: Material) -> Content:
    """What was retrieved for each topic of questions; nothing of a run that does not say."""
    _ = material.text
    topics = rows_of(TopicRow, material.kept("topic_coverage"))
    if not topics:
        return ()
    heads = (_("topic"), _("questions"), _("distinct passages"), _("pages"))
    body = [
        [*map(counted, (topic["topic_id"], topic["question_count"], topic["unique_chunks"], topic["unique_urls"]))]
        for topic in topics
    ]
    return Table.of(_, _("What was found for each topic"), heads, body)
