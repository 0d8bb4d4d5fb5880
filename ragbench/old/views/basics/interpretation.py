"""How numbers are read: the band that they lie in, what their declaration tells, and how far to trust them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ragbench.old.core import stand_ins
from ragbench.old.core.language import DASH, Translator
from ragbench.old.core.metric import GOALS, Metric
from ragbench.old.core.metric_reading import Met, Peer, Stretch
from ragbench.old.core.parts import Entries, Name, Part, Phrase, Section, Styled, Text, Value, bold, filled, spoken
from ragbench.old.core.settings import Band
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.tiers.basics import bands, withholding
from ragbench.old.views.basics.marks import metric_name
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown


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
        known = declared_bands(metric, _) if name in banded else []
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


Ends = tuple[float | None, float | None]
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def declared(metric: Metric, _: Translator) -> dict[str, list[str]]:
    """How its values are read, when it is of use, what for, and how far it may be trusted: lines by title; no title
    without a line."""
    by_title = {
        _("Rules of thumb"): _rules(metric, _),
        _("When to use it"): [_(when) for when in metric.when],
        _("Goals"): [f"{_(GOALS[purpose.goal])}: {_(purpose.why)}" for purpose in metric.purposes],
        _("Trust"): trusted(metric, _),
    }
    return {title: lines for title, lines in by_title.items() if lines}


def _rules(metric: Metric, _: Translator) -> list[str]:
    """The bands, the rules, and whose they are."""
    if metric.reading is None:
        return []
    source = _(metric.reading.source)
    by = _("By {source}; a threshold set that names the metric goes first.", source=source)
    return [
        *declared_bands(metric, _),
        *map(_, metric.reading.rules),
        by if metric.reading.bands else _("By {source}.", source=source),
    ]


def declared_bands(metric: Metric, _: Translator) -> list[str]:
    """`above 0.4: acceptable (for short texts)`, a band that its source published each, the worst first."""
    return [] if metric.reading is None else stretches(metric.reading.bands, _, metric.bounds)


def stretches(known: Sequence[Stretch], _: Translator, bounds: Ends = (-math.inf, math.inf)) -> list[str]:
    """Where each lies, and what is said of it. bounds: the ends of the scale."""
    return [
        f"{where(stretch, bounds, _)}: {_(stretch.word)}{f' ({_(stretch.meaning)})' if stretch.meaning else ''}"
        for stretch in known
    ]


def where(stretch: Stretch, bounds: Ends, _: Translator) -> str:
    """Where a stretch lies; the ends of the scale go without saying."""
    low, high = _.exact(stretch.low), _.exact(stretch.high)
    if stretch.low == stretch.high:
        return low
    if stretch.high == bounds[1]:
        return _("{value} or more", value=low) if stretch.ends[0] == "[" else _("above {value}", value=low)
    if stretch.low == bounds[0]:
        return _("{value} or less", value=high) if stretch.ends[1] == "]" else _("below {value}", value=high)
    return {
        "[]": _("from {low} to {high}", low=low, high=high),
        "[)": _("from {low} to below {high}", low=low, high=high),
        "(]": _("above {low}, to {high}", low=low, high=high),
        "()": _("between {low} and {high}", low=low, high=high),
    }[stretch.ends]


def trusted(metric: Metric, _: Translator) -> list[str]:
    """What is known of how far the metric's numbers may be trusted, a sentence each; what is not known is said too."""
    if metric.is_users:
        return [_("A function of your own: nothing is known of it here.")]
    said = [_kind(metric, _), *(_peer(peer, metric, _) for peer in metric.peers)]
    if not metric.peers:
        said.append(_("No other program's numbers were compared with it."))
    if "judge" in metric.needs:
        said.append(_order(metric, _))
        said.append(_("No other judge was held against people's labels here; tier_judge does that with yours."))
    if metric.reading is not None and metric.reading.trust:
        said.append(_("By its source: {trusted}", trusted=_(metric.reading.trust)))
    return said


def _kind(metric: Metric, _: Translator) -> str:
    if metric.needs == ("judge", "embedder"):
        return _("A judge and an embedder decide: the number is as good as they are, and another one gives another.")
    if "judge" in metric.needs:
        return _("A judge decides: the number is as good as the judge is, and another judge gives another.")
    if "embedder" in metric.needs:
        return _(
            "Computed from an embedder's vectors, no judge: equal texts give equal numbers, another embedder others."
        )
    return _("Computed, no judge: equal inputs give equal numbers.")


def _peer(peer: Peer, metric: Metric, _: Translator) -> str:
    texts = {"program": peer.program, "on": _(peer.on), "options": peer.options, "within": _power(peer.within, _)}
    if not peer.within:
        return _("Equal to {program} in every digit ({on}).", **texts)
    if peer.options:
        return _("With {options} equal to {program} to {within} ({on}).", **texts)
    return _("Equal to {program} to {within} ({on}).", **texts)


def _order(metric: Metric, _: Translator) -> str:
    """What was measured of the offline judge, on labels by people."""
    known = stand_ins.LEXICAL.get(metric.name)
    if known is None:
        return _("Whether the offline judge orders systems by it as people's labels do was not measured.")
    tau = spoken(_).phrase(Value(known.tau, known.low, known.high, digits=2))
    if stand_ins.holds(metric.name):
        return _("The offline judge orders systems by it as people's labels do: Kendall's τ {tau}.", tau=tau)
    if stand_ins.reversed_by(metric.name):
        return _("The offline judge orders systems by it the other way round than people's labels do: Kendall's τ "
                 "{tau}.", tau=tau)  # fmt: skip
    return _("Of the offline judge it is not shown that it orders systems by it as people's labels do: Kendall's τ "
             "{tau}.", tau=tau)  # fmt: skip


def _power(value: float, _: Translator) -> str:
    """`3 · 10⁻⁷`."""
    exponent = math.floor(math.log10(value) + 1e-9) if value else 0
    factor = round(value / 10.0**exponent)
    power = f"10{str(exponent).translate(RAISED)}"
    return power if factor == 1 else f"{factor} · {power}"
