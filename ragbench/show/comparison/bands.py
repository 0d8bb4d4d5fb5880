"""How numbers are read: the band of the threshold set that they lie in, rules of thumb, another program's settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ragbench.language import DASH, Translator
from ragbench.metric import Reading
from ragbench.settings import Band
from ragbench.show.basics.links import metric_name
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.types import Comparison, Estimate


def word(material: Material, name: str) -> str:
    """The word of a band."""
    _ = material.text
    return {"attention": _("attention"), "good": _("good"), "excellent": _("excellent")}[name]


def of(material: Material) -> dict[str, Band]:
    """The bands that the page is held to, by label."""
    found = material.facts.get("thresholds", {}).get("bands", {})
    return {label: Band(**known) for label, known in found.items()}


def reached(material: Material, metric: str, estimate: Estimate) -> tuple[str, ...]:
    """The bands that a number's interval reaches, worst first; none without a band or an interval."""
    band = of(material).get(metric)
    if band is None or estimate.low is None or estimate.high is None or math.isnan(estimate.value):
        return ()
    return band.spanned(estimate.low, estimate.high)


def direction(material: Material, metric: str, compared: Sequence[Comparison]) -> str | None:
    """Which way is good: as the set has it, also of a number that by itself describes, else as declared or compared."""
    band, declared = of(material).get(metric), material.declaration(metric)
    if band is not None:
        return band.better
    if declared is not None:
        return declared.better
    return next((one.better for one in compared), None)


def marked(material: Material, reached: Sequence[str]) -> Markup:
    """The band's word where the whole interval lies in it; else the bands that it spans, in quiet letters."""
    if not reached:
        return Markup("")
    named = [word(material, name) for name in reached]
    if len(reached) == 1:
        return html.span(named[0], f"rb-band rb-band-{reached[0]}")
    return html.span(material.text("{low} … {high}", low=named[0], high=named[-1]), "rb-band rb-band-spanned")


def below(material: Material, metric: str, estimate: Estimate) -> Markup:
    """What stands below a number of a page: its band by the set that the page is held to; empty where it has none."""
    words = reached(material, metric, estimate)
    return html.span(marked(material, words), "rb-words") if words else Markup("")


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
    declared = [one for label in material.metrics if (one := material.declaration(label)) is not None]
    readings = {one.name: one.reading for one in declared if one.reading is not None}
    told = _thresholds(material, present) + _rules(material, readings)
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


def _rules(material: Material, readings: Mapping[str, Reading]) -> Markup:
    """Rules of thumb by metric, each with whose it is; empty where there are none."""
    _ = material.text
    if not readings:
        return Markup("")
    items = [
        html.all(html.b(shown(name)), " · ", " ".join(map(_, one.rules)), " ", html.small(_(one.source)))
        for name, one in readings.items()
    ]
    return html.lead(_("Rules of thumb")) + html.list(items, "rb-glossary")
