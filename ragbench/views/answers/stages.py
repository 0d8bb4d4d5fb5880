"""Where the time goes between a question and its judged answer: quantiles by stage."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from ragbench.core.language import DASH
from ragbench.views.answers.writers import quantiles
from ragbench.views.basics.marks import spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.view import view

OPEN = "…"


@view("stages")
def stages(material: Material, present: frozenset[str]) -> Markup:
    """Latency by stage: embed, search, write, judge; empty where none was measured."""
    table = material.measurement.estimates_by("stage", "probability")
    if not table:
        return Markup("")
    _ = material.text
    names = {
        "rewrite": _("rewriting the question"),
        "embed": _("embedding the question"),
        "search": _("searching"),
        "rerank": _("reranking the first passages"),
        "call": _("the whole call of the system"),
        "first_token": _("part of it, up to the first piece of the answer"),
        "generate": _("writing the answer"),
        "answer": _("all up to the answer"),
        "judge": _("judging it (not part of the answer)"),
    }
    lede = _(
        "Each stage is timed by itself: search one question at a time, models by what their endpoint took, logged "
        "answers by their log. Readings are taken once for the same inputs and kept, so that the same inputs give the "
        "same page."
    )
    drawn = quantiles(material, table, "stage", names, _("milliseconds"), milliseconds)
    return html.all(html.heading(_("Where the time goes"), 2), html.lede(lede), drawn)


def milliseconds(material: Material, value: float, low: float | None, high: float | None) -> Markup:
    """A quantile with its interval, whose open end is an ellipsis; a dash where nothing was read."""
    _ = material.text
    if not math.isfinite(value):
        return escape(DASH)
    digits = 2 if value < 10 else 1 if value < 1000 else 0
    ends = (OPEN if end is None or not math.isfinite(end) else _.number(end, digits) for end in (low, high))
    return spread(f"{_.number(value, digits)} {_.ends(*ends)}")
