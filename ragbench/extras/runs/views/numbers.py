"""The numbers of a run of which nothing else is kept."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.extras.runs.views.unpaired import missing, why
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.marks import spread
from ragbench.views.basics.material import Material, digits_of
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, shown
from ragbench.views.view import view


@view("numbers")
def numbers(material: Material, present: frozenset[str]) -> Markup:
    """Every number with its interval, its questions and its unit, and why it must not be compared."""
    _ = material.text
    kept_rows = rows_of(material.kept("numbers"))
    heads = [html.head(title) for title in (_("metric"), _("value"), "n", _("unit"))]
    units = {"chunk": _("passages"), "url": _("pages")}
    rows = []
    for group in dict.fromkeys((number["notebook"], number["system"]) for number in kept_rows):
        rows.append(html.group(Markup(" · ").join(map(shown, group)), len(heads)))
        for value in (number for number in kept_rows if (number["notebook"], number["system"]) == group):
            digits = digits_of(value[key] for key in ("value", "low", "high"))
            low, high = (None if missing(value[key]) else value[key] for key in ("low", "high"))
            interval = "" if low is None else f" {_.interval(low, high, digits)}"
            named = " ".join((*group, str(value["metric"])))
            rows.append(
                html.row(
                    [
                        html.row_head(shown(value["metric"]), "", anchor("number", named)),
                        html.cell(_("value"), spread(f"{_.number(value['value'], digits)}{interval}")),
                        html.cell("n", _.number(None) if missing(value["n"]) else _.integer(int(value["n"]))),
                        html.cell(_("unit"), units.get(value["unit"] or "", "")),
                    ],
                    "rb-over" if value["reason"] else "",
                )
            )
            if value["reason"]:
                rows.append(html.under(why(material, value["reason"]), len(heads)))
    return html.table(_("Numbers"), heads, rows, "rb-long") + _topics(material)


def _topics(material: Material) -> Markup:
    """What was retrieved for each topic of questions; nothing of a run that does not say."""
    _ = material.text
    topics = rows_of(material.kept("topic_coverage"))
    if not topics:
        return Markup("")
    heads = (_("topic"), _("questions"), _("distinct passages"), _("pages"))
    names = ("topic_id", "question_count", "unique_chunks", "unique_urls")
    body = [
        [_.number(None) if missing(topic[name]) else _.integer(int(topic[name])) for name in names] for topic in topics
    ]
    return html.grid(_("What was found for each topic"), heads, body)
