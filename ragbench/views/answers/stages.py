"""Where the time goes between a question and its judged answer: quantiles by stage."""

from __future__ import annotations

from ragbench.core.parts import Content, Text
from ragbench.views.answers.writers import quantiles
from ragbench.views.basics.material import Material
from ragbench.views.basics.times import milliseconds
from ragbench.views.view import view

OPEN = "…"


@view("stages")
def stages(material: Material, present: frozenset[str]) -> Content:
    """Latency by stage: embed, search, write, judge; empty where none was measured."""
    table = material.measurement.estimates_by("stage", "probability")
    if not table:
        return ()
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
    return (Text(_("Where the time goes"), "h2"), Text(lede, "rb-lede"), drawn)
