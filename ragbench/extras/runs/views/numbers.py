"""The numbers of a run of which nothing else is kept."""

from __future__ import annotations

from typing import Any

from ragbench.core.parts import Column, Content, Group, Row, Table, Value
from ragbench.extras.runs.views.unpaired import missing, why
from ragbench.views.basics.marks import Untyped, rows_of
from ragbench.views.basics.material import Material, digits_of
from ragbench.views.basics.text import anchor, shown
from ragbench.views.view import view


@view("numbers")
def numbers(material: Material, present: frozenset[str]) -> Content:
    """Every number with its interval, its questions and its unit, and why it must not be compared."""
    _ = material.text
    kept_rows = rows_of(Untyped, material.kept("numbers"))
    units = {"chunk": _("passages"), "url": _("pages")}
    rows = list[Any]()
    for group in dict.fromkeys((number["notebook"], number["system"]) for number in kept_rows):
        rows.append(Group(" · ".join(map(shown, group))))
        for number in (value for value in kept_rows if (value["notebook"], value["system"]) == group):
            digits = digits_of(number[key] for key in ("value", "low", "high"))
            low, high = (None if missing(number[key]) else number[key] for key in ("low", "high"))
            cells = (
                shown(number["metric"]),
                Value(number["value"], low, high, digits=digits, bare=True),
                None if missing(number["n"]) else int(number["n"]),
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
    topics = rows_of(Untyped, material.kept("topic_coverage"))
    if not topics:
        return ()
    heads = (_("topic"), _("questions"), _("distinct passages"), _("pages"))
    names = ("topic_id", "question_count", "unique_chunks", "unique_urls")
    body = [[None if missing(topic[name]) else int(topic[name]) for name in names] for topic in topics]
    return Table.of(_, _("What was found for each topic"), heads, body)
