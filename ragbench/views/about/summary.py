"""What an index says of a page: the answer, and for a few metrics the values with their verdicts."""

from __future__ import annotations

from ragbench.core.counts import lacking
from ragbench.core.parts import Content, Entries, Mark, Phrase, Section, Styled, System, bold, small
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.marks import chip, measured, series, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences.facts import facts
from ragbench.views.sentences.findings import sentences
from ragbench.views.view import view


@view("summary")
def summary(material: Material, present: frozenset[str], brief: bool = False) -> Content:
    """What an index says of the page: the answer and a few metrics with verdicts; if brief, the answer."""
    says = Section([one_by_one(material.text, sentences(material))], look="rb-says")
    if brief:
        return says
    lines = [
        (bold(shown(metric)), " ", Styled(_values(material, metric), look="rb-row")) for metric in material.key_metrics
    ]
    return (says, Entries(shared_legend(material), "rb-legend"), Entries(lines, "rb-keys"), facts(material))


def _values(material: Material, metric: str) -> list[Phrase]:
    """The values of every system on a metric, each with its verdict."""
    values = list[Phrase]()
    for name in material.systems:
        estimate, comparison = material.estimate(name, metric), material.comparison(name, metric)
        if estimate is None:
            continue
        missing = small(lacking(estimate, material.text, material.digits(metric)))
        verdict = (" ", chip(material, comparison)) if comparison is not None else ""
        system = System(clean(name), series(material, name))
        values.append(Mark((measured(material, estimate, metric), missing, verdict), system, "rb-key"))
    return values
