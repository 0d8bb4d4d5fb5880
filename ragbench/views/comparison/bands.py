"""How numbers are read: the band of the threshold set that they lie in, rules of thumb, another program's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from ragbench.core import stand_ins
from ragbench.core.language import DASH, Translator
from ragbench.core.metric import Metric
from ragbench.core.reading import Met
from ragbench.core.settings import Band
from ragbench.core.types import Comparison, Estimate
from ragbench.tiers.basics import bands, withholding
from ragbench.views.basics.links import metric_name
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import shown
from ragbench.views.sentences import declared


def of(material: Material) -> dict[str, Band]:
    """The bands that the page is held to, by label."""
    entries = material.facts.get("thresholds", {}).get("bands", {})
    return {label: Band(**known) for label, known in entries.items()}


def reached(
    material: Material,
    metric: str,
    estimate: Estimate,
    system: str = "",
    facts: Mapping[str, Any] = MappingProxyType({}),
) -> Met:
    """The bands that a number's interval reaches, worst first: of the page's set where it names the metric, else those
    that the metric's source published; none without an interval, none of what only stand-ins made, and none where too
    much of what was retrieved is unknown. facts: of the page that the number is on."""
    made = stand_ins.of(facts, system, metric)
    if bands.unearned(material.declaration(metric), made) or withholding.why(facts, [system], metric):
        return Met((), whole=False)
    return bands.met(bands.stretches(material.declaration(metric), of(material).get(metric)), estimate)


def direction(material: Material, metric: str, compared: Sequence[Comparison]) -> str | None:
    """Which way is good: as the set has it, also of a number that by itself describes, else as declared or compared."""
    band, declared = of(material).get(metric), material.declaration(metric)
    if band is not None:
        return band.better
    if declared is not None:
        return declared.better
    return next((comparison.better for comparison in compared), None)


def marked(material: Material, reached: Met) -> Markup:
    """The band's word where the whole interval lies in it; else the bands that it spans, in quiet letters."""
    if not reached.stretches:
        return Markup("")
    named = reached.stretches[0].word if reached.whole else "spanned"
    kind = f" rb-band-{named}" if named in ("attention", "good", "excellent", "spanned") else ""
    return html.span(bands.said(reached, material.text), f"rb-band{kind}")


def below(material: Material, metric: str, estimate: Estimate, system: str) -> Markup:
    """What stands below a number of a page: its band; empty where it has none."""
    words = marked(material, reached(material, metric, estimate, system, material.facts))
    return html.span(words, "rb-words") if words else Markup("")


def limits(_: Translator, band: Band) -> tuple[str, str]:
    """From where on a number is good, and excellent, as somebody wrote it down: nothing is rounded."""
    lower = band.better == "lower"
    good, best = _.exact(band.good), _.exact(band.excellent)
    return (
        _("{value} or less", value=good) if lower else _("{value} or more", value=good),
        DASH if band.excellent is None else _("below {value}", value=best) if lower else _("above {value}", value=best),
    )


def stated(material: Material, name: str) -> str:
    """When a band of a set is stated."""
    return material.text(
        "A band of the threshold set “{name}” is stated only where the whole interval lies in it; otherwise all "
        "bands that the interval touches are named.",
        name=name,
    )


def signatures(material: Material, known: Mapping[str, str]) -> Markup:
    """How sacrebleu would have to be set to give the same numbers, label by label; empty where it gives none."""
    lines = [
        material.text.html(
            "<b>{metric}</b> as by sacrebleu: <code>{signature}</code>",
            metric=shown(label),
            signature=shown(signature).replace("|", Markup("|<wbr>")),
        )
        for label, signature in known.items()
    ]
    return html.all(*map(html.meta, lines))


def draw(material: Material, present: frozenset[str]) -> Markup:
    """Below a table of values: signatures, and folded what its numbers are held to and how others read such numbers."""
    _ = material.text
    signed = signatures(material, material.facts.get("signatures", {}))
    told = _thresholds(material, present) + _readings(material)
    if not told:
        return signed
    return signed + html.fold(_("How to read these numbers"), told)


def _thresholds(material: Material, present: frozenset[str]) -> Markup:
    """The thresholds of the page's set, a line a number that has one; empty where none has."""
    _ = material.text
    known = {label: band for label, band in of(material).items() if label in material.metrics}
    if not known:
        return Markup("")
    items = []
    for label, band in known.items():
        good, best = limits(_, band)
        said = [f"{_('good')}: {good}"] + ([f"{_('excellent')}: {best}"] if band.excellent is not None else [])
        items.append(html.b(metric_name(material, present, label)) + " · " + "; ".join(said))
    name = str(material.facts.get("thresholds", {}).get("set", ""))
    return html.all(
        html.lead(_("Thresholds")), html.meta(shown(stated(material, name))), html.list(items, "rb-glossary rb-limits")
    )


def _readings(material: Material) -> Markup:
    """By metric how others read such numbers, each with whose it is; empty where nobody wrote of any.

    Bands are only those that numbers of the page are marked by: a set that names the metric has the word.
    """
    _ = material.text
    read: dict[str, Metric] = {}
    banded: dict[str, None] = {}
    for label in material.metrics:
        metric = material.declaration(label)
        if metric is not None and metric.reading is not None:
            read.setdefault(metric.name, metric)
            if metric.bands and label not in of(material):
                banded.setdefault(metric.name)
    items = []
    for name, metric in read.items():
        known = declared.bands(metric, _) if name in banded else []
        if metric.reading is not None and (known or metric.reading.rules):
            words = " ".join([*([f"{'; '.join(known)}."] if known else []), *map(_, metric.reading.rules)])
            items.append(html.all(html.b(shown(name)), " · ", words, " ", html.small(_(metric.reading.source))))
    if not items:
        return Markup("")
    rule = _(
        "Bands that the named source published: one is stated only where the whole interval lies in it; otherwise the "
        "bands that the interval spans are named."
    )
    return html.all(html.lead(_("Rules of thumb")), html.meta(rule) if banded else "", html.list(items, "rb-glossary"))
