"""What an index says of a page: the answer, and for a few metrics the values with their verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from ragbench.counts import lacking
from ragbench.show.basics.marks import chip, named, sign, small
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.show.comparison.headline import facts
from ragbench.show.sentences.findings import sentences
from ragbench.show.view import view

KEY_METRICS = 5


@view("summary")
def summary(material: Material, present: frozenset[str], brief: bool = False) -> Markup:
    """What an index says of the page: the answer and a few metrics with verdicts; if brief, the answer."""
    says = html.div(html.all(*sentences(material)), "rb-says")
    if brief:
        return says
    lines = [(shown(metric), _values(material, metric)) for metric in key_metrics(material)]
    systems = [named(material, name) for name in material.systems] if len(material.systems) > 1 else []
    return html.all(says, html.list(systems, "rb-legend"), html.keys(lines), facts(material))


def key_metrics(material: Material) -> list[str]:
    """The primary metric, then of each other kind the one with the last cut-off, as many as an index has room for.

    A measurement can name its own in the fact `key_metrics`.
    """
    return leading(material.metrics, material.primary, material.facts.get("key_metrics"))


def leading(metrics: Sequence[str], primary: str | None, named: Iterable[str] | None) -> list[str]:
    """Of a page's metrics those that stand for it: the primary, then those that it names itself, else as `key_metrics`
    says."""
    wanted = [name for name in named or () if name in metrics]
    wanted = wanted or list({re.split(r"[@(]", metric)[0]: metric for metric in metrics}.values())
    return list(dict.fromkeys([*([primary] if primary is not None else []), *wanted]))[:KEY_METRICS]


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
