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
    found = rows_of(material.kept("numbers"))
    heads = [html.head(title) for title in (_("metric"), _("value"), "n", _("unit"))]
    units = {"chunk": _("passages"), "url": _("pages")}
    rows = []
    for group in dict.fromkeys((one["notebook"], one["system"]) for one in found):
        rows.append(html.group(Markup(" · ").join(map(shown, group)), len(heads)))
        for one in (one for one in found if (one["notebook"], one["system"]) == group):
            digits = digits_of(one[key] for key in ("value", "low", "high"))
            low, high = (None if missing(one[key]) else one[key] for key in ("low", "high"))
            interval = "" if low is None else f" {_.interval(low, high, digits)}"
            named = " ".join((*group, str(one["metric"])))
            rows.append(
                html.row(
                    [
                        html.row_head(shown(one["metric"]), "", anchor("number", named)),
                        html.cell(_("value"), spread(f"{_.number(one['value'], digits)}{interval}")),
                        html.cell("n", _.number(None) if missing(one["n"]) else _.integer(int(one["n"]))),
                        html.cell(_("unit"), units.get(one["unit"] or "", "")),
                    ],
                    "rb-over" if one["reason"] else "",
                )
            )
            if one["reason"]:
                rows.append(html.under(why(material, one["reason"]), len(heads)))
    return html.table(_("Numbers"), heads, rows, "rb-long") + _topics(material)


def _topics(material: Material) -> Markup:
    """What was retrieved for each topic of questions; nothing of a run that does not say."""
    _ = material.text
    found = rows_of(material.kept("topic_coverage"))
    if not found:
        return Markup("")
    heads = (_("topic"), _("questions"), _("distinct passages"), _("pages"))
    names = ("topic_id", "question_count", "unique_chunks", "unique_urls")
    body = [[_.number(None) if missing(one[name]) else _.integer(int(one[name])) for name in names] for one in found]
    return html.grid(_("What was found for each topic"), heads, body)
