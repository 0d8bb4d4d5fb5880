"""Where the time goes between a question and its judged answer: quantiles by stage."""

from __future__ import annotations

import math

from markupsafe import Markup

from ragbench.show.answers.writers import Row, quantiles
from ragbench.show.basics.marks import spread
from ragbench.show.basics.material import Material
from ragbench.show.page import view

OPEN = "…"


@view("stages")
def stages(material: Material, present: frozenset[str]) -> Markup:
    """Latency by stage: embed, search, write, judge; empty where none was measured."""
    table = material.kept("stages")
    if not len(table):
        return Markup("")
    _ = material.text
    names = {
        "embed": _("embedding the question"),
        "search": _("searching"),
        "call": _("the whole call of the system"),
        "generate": _("writing the answer"),
        "answer": _("all until the answer"),
        "judge": _("judging it (not part of the answer)"),
    }
    lede = _(
        "Each stage is timed by itself: search one question at a time, models by what their endpoint took. Readings "
        "are taken once for the same inputs and kept, so that the same inputs give the same page."
    )
    drawn = quantiles(material, table.to_dict("records"), "part", names, _("milliseconds"), _ms)
    return Markup('<h2>{}</h2><p class="rb-lede">{}</p>{}').format(_("Where the time goes"), lede, drawn)


def _ms(material: Material, row: Row) -> Markup:
    """A quantile with its interval, whose open end is an ellipsis."""
    _ = material.text
    digits = 2 if row["value"] < 10 else 1 if row["value"] < 1000 else 0
    low, high = (_.number(row[end], digits) if _known(row[end]) else OPEN for end in ("low", "high"))
    return spread(f"{_.number(row['value'], digits)} {_.ends(low, high)}")


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
