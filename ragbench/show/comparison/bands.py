"""How numbers are read: the band of the threshold set that they lie in, rules of thumb, another program's settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from ragbench.language import DASH, Translator
from ragbench.metric import Reading
from ragbench.settings import Band
from ragbench.show.basics.links import metric_name
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.types import Estimate


def word(material: Material, name: str) -> str:
    """The word of a band."""
    _ = material.text
    return {"attention": _("attention"), "good": _("good"), "excellent": _("excellent")}[name]


def marked(material: Material, reached: Sequence[str]) -> Markup:
    """The band's word where the whole interval lies in it; else the bands that it spans, in quiet letters."""
    if not reached:
        return Markup("")
    named = [word(material, name) for name in reached]
    if len(reached) == 1:
        return Markup('<span class="rb-band rb-band-{}">{}</span>').format(reached[0], named[0])
    text = material.text("{low} … {high}", low=named[0], high=named[-1])
    return Markup('<span class="rb-band rb-band-spanned">{}</span>').format(text)


def below(material: Material, metric: str, estimate: Estimate) -> Markup:
    """What stands below a number of a page: its band by the set that the page is held to; empty where it has none."""
    band = _bands(material).get(metric)
    if band is None or estimate.low is None or estimate.high is None or math.isnan(estimate.value):
        return Markup("")
    return Markup('<span class="rb-words">{}</span>').format(
        marked(material, band.spanned(estimate.low, estimate.high))
    )


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
        "A band of the threshold set “{name}” is stated only where the whole interval lies in it; otherwise the bands "
        "that the interval spans are named.",
        name=name,
    )


def signatures(material: Material, known: Mapping[str, str]) -> Markup:
    """How sacrebleu would have to be set to give the same numbers, label by label; empty where it gives none."""
    lines = [
        Markup('<p class="rb-meta">{}</p>').format(
            material.text.html(
                "<b>{metric}</b> as by sacrebleu: <code>{signature}</code>",
                metric=shown(label),
                signature=shown(signature).replace("|", Markup("|<wbr>")),
            )
        )
        for label, signature in known.items()
    ]
    return Markup("").join(lines)


def draw(material: Material, present: frozenset[str]) -> Markup:
    """Below a table of values: signatures, and folded what its numbers are held to and how others read such numbers."""
    _ = material.text
    signed = signatures(material, material.facts.get("signatures", {}))
    declared = [one for label in material.metrics if (one := material.declaration(label)) is not None]
    readings = {one.name: one.reading for one in declared if one.reading is not None}
    told = _thresholds(material, present) + _rules(material, readings)
    if not told:
        return signed
    return signed + Markup('<details class="rb-fold"><summary>{}</summary>{}</details>').format(
        _("How to read these numbers"), told
    )


def _thresholds(material: Material, present: frozenset[str]) -> Markup:
    """The thresholds of the page's set, a line a number that has one; empty where none has."""
    _ = material.text
    known = {label: band for label, band in _bands(material).items() if label in material.metrics}
    if not known:
        return Markup("")
    items = []
    for label, band in known.items():
        good, best = limits(_, band)
        said = [f"{_('good')}: {good}"] + ([f"{_('excellent')}: {best}"] if band.excellent is not None else [])
        items.append(Markup("<b>{}</b> · {}").format(metric_name(material, present, label), "; ".join(said)))
    name = str(material.facts.get("thresholds", {}).get("set", ""))
    return Markup('<p class="rb-lead">{}</p><p class="rb-meta">{}</p><ul class="rb-glossary rb-limits">{}</ul>').format(
        _("Thresholds"), shown(stated(material, name)), html.items(items)
    )


def _rules(material: Material, readings: Mapping[str, Reading]) -> Markup:
    """Rules of thumb by metric, each with whose it is; empty where there are none."""
    _ = material.text
    if not readings:
        return Markup("")
    items = html.items(
        Markup("<b>{}</b> · {} <small>{}</small>").format(
            shown(name), Markup(" ").join(escape(_(rule)) for rule in one.rules), _(one.source)
        )
        for name, one in readings.items()
    )
    return Markup('<p class="rb-lead">{}</p><ul class="rb-glossary">{}</ul>').format(_("Rules of thumb"), items)


def _bands(material: Material) -> dict[str, Band]:
    found = material.facts.get("thresholds", {}).get("bands", {})
    return {label: Band(**known) for label, known in found.items()}
