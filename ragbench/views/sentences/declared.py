"""What a metric's declaration tells people, in words: its bands, and how far its numbers may be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragbench.core import stand_ins
from ragbench.core.language import Translator
from ragbench.core.metric import GOALS, Metric
from ragbench.core.reading import Peer, Stretch

Ends = tuple[float | None, float | None]
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def told(metric: Metric, _: Translator) -> dict[str, list[str]]:
    """How its values are read, when it is of use, what for, and how far it may be trusted: lines by title; no title
    without a line."""
    by_title = {
        _("Rules of thumb"): _rules(metric, _),
        _("When to use it"): [_(when) for when in metric.when],
        _("Goals"): [f"{_(GOALS[purpose.goal])}: {_(purpose.why)}" for purpose in metric.purposes],
        _("Trust"): trust(metric, _),
    }
    return {title: lines for title, lines in by_title.items() if lines}


def _rules(metric: Metric, _: Translator) -> list[str]:
    """The bands, the rules, and whose they are."""
    if metric.reading is None:
        return []
    source = _(metric.reading.source)
    by = _("By {source}; a threshold set that names the metric goes first.", source=source)
    return [
        *bands(metric, _),
        *map(_, metric.reading.rules),
        by if metric.reading.bands else _("By {source}.", source=source),
    ]


def bands(metric: Metric, _: Translator) -> list[str]:
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


def trust(metric: Metric, _: Translator) -> list[str]:
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
    tau = f"{_.number(known.tau, 2)} {_.interval(known.low, known.high, 2)}"
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
