"""How numbers are read: the band of the threshold set that they lie in, rules of thumb, another program's settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ragbench.core import stand_ins
from ragbench.core.language import DASH, Translator
from ragbench.core.metric import Metric
from ragbench.core.parts import Entries, Name, Part, Phrase, Section, Styled, Text, bold, filled
from ragbench.core.reading import Met
from ragbench.core.settings import Band
from ragbench.core.types import Comparison, Estimate
from ragbench.tiers.basics import bands, withholding
from ragbench.views.basics.links import metric_name
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences import declared


def of(material: Material) -> dict[str, Band]:
    """The bands that the page is held to, by label."""
    kept = material.facts.get("thresholds", {}).get("bands", {})
    return {label: Band(**known) for label, known in kept.items()}


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


def marked(material: Material, reached: Met) -> Phrase:
    """The band's word where the whole interval lies in it; else the bands that it spans, in quiet letters."""
    if not reached.stretches:
        return ""
    named = reached.stretches[0].word if reached.whole else "spanned"
    kind = f" rb-band-{named}" if named in ("attention", "good", "excellent", "spanned") else ""
    return Styled(bands.said(reached, material.text), look=f"rb-band{kind}")


def below(material: Material, metric: str, estimate: Estimate, system: str) -> Phrase:
    """What stands below a number of a page: its band; empty where it has none."""
    words = marked(material, reached(material, metric, estimate, system, material.facts))
    return (" ", Styled(words, look="rb-words")) if words else ""


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


def signatures(material: Material, known: Mapping[str, str]) -> list[Part]:
    """How sacrebleu would have to be set to give the same numbers, label by label; none where it gives none."""
    _ = material.text
    return [
        Text(
            filled(
                _("<b>{metric}</b> as by sacrebleu: <code>{signature}</code>"),
                metric=shown(label),
                signature=Name(shown(signature), "|"),
            ),
            "rb-meta",
        )
        for label, signature in known.items()
    ]


def parts(material: Material, present: frozenset[str]) -> list[Part]:
    """Below a table of values: signatures, and folded what its numbers are held to and how others read such numbers."""
    told = _thresholds(material, present) + _readings(material)
    folded = [Section(told, material.text("How to read these numbers"))] if told else []
    return [*signatures(material, material.facts.get("signatures", {})), *folded]


def _thresholds(material: Material, present: frozenset[str]) -> list[Part]:
    """The thresholds of the page's set, a line a number that has one; none where none has."""
    _ = material.text
    known = {label: band for label, band in of(material).items() if label in material.metrics}
    if not known:
        return []
    items = list[Phrase]()
    for label, band in known.items():
        good, best = limits(_, band)
        said = [f"{_('good')}: {good}"] + ([f"{_('excellent')}: {best}"] if band.excellent is not None else [])
        items.append((bold(metric_name(material, present, label)), " · ", "; ".join(said)))
    rule = Text(stated(material, clean(material.facts.get("thresholds", {}).get("set", ""))), "rb-meta")
    return [Text(_("Thresholds"), "rb-lead"), rule, Entries(items, "rb-glossary rb-limits")]


def _readings(material: Material) -> list[Part]:
    """By metric how others read such numbers, each with whose it is; none where nobody wrote of any.

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
    items = list[Phrase]()
    for name, metric in read.items():
        known = declared.bands(metric, _) if name in banded else []
        if metric.reading is not None and (known or metric.reading.rules):
            words = " ".join([*([f"{'; '.join(known)}."] if known else []), *map(_, metric.reading.rules)])
            items.append((bold(clean(name)), " · ", words, " ", Styled(_(metric.reading.source), "small")))
    if not items:
        return []
    rule = _(
        "Bands that the named source published: one is stated only where the whole interval lies in it; otherwise the "
        "bands that the interval spans are named."
    )
    head = [Text(_("Rules of thumb"), "rb-lead"), *([Text(rule, "rb-meta")] if banded else [])]
    return [*head, Entries(items, "rb-glossary")]
