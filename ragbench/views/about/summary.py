"""What an index says of a page: the answer, and for a few metrics the values with their verdicts."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.core.counts import lacking
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.marks import chip, named, sign, small
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import shown
from ragbench.views.comparison.headline import facts
from ragbench.views.sentences.findings import sentences
from ragbench.views.view import view


@view("summary")
def summary(material: Material, present: frozenset[str], brief: bool = False) -> Markup:
    """What an index says of the page: the answer and a few metrics with verdicts; if brief, the answer."""
    says = html.div(one_by_one(material.text, sentences(material)), "rb-says")
    if brief:
        return says
    lines = [(shown(metric), _values(material, metric)) for metric in material.key_metrics]
    systems = [named(material, name) for name in material.systems] if len(material.systems) > 1 else []
    return html.all(says, html.list(systems, "rb-legend"), html.keys(lines), facts(material))


def _values(material: Material, metric: str) -> Markup:
    """The values of every system on a metric, each with its verdict."""
    values = []
    for name in material.systems:
        estimate, comparison = material.estimate(name, metric), material.comparison(name, metric)
        if estimate is None:
            continue
        missing = small(lacking(estimate, material.text, material.digits(metric)))
        verdict = html.all(" ", chip(material, comparison)) if comparison is not None else ""
        values.append(html.key(shown(name), sign(material, name), material.value(estimate, metric), missing, verdict))
    return html.all(*values)
