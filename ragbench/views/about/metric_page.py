"""What a report says of one metric: how it is made and read, what happens at its edges, where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ragbench.core.language import Translator
from ragbench.core.metric import Metric
from ragbench.core.parts import Content, Lines, Link, Name, Phrase, Section, Styled, Text, joined, terms
from ragbench.views.about import own_metrics
from ragbench.views.basics.text import shown
from ragbench.views.sentences import declared

Places = Mapping[str, Mapping[str, str]]


def parts(
    metric: Metric, _: Translator, places: Places, titles: Mapping[str, str], signed: Mapping[str, str]
) -> Content:
    """The page's body below its title.

    places: the pages of the report that show the metric, with its labels there and their anchors. titles: of pages.
    signed: what the report's numbers of this metric were signed with, by label.
    """
    rows = [
        (_("Formula"), Styled(_(metric.formula), look="formula") if metric.formula else ""),
        (_("Scale"), scale(metric, _)),
        (_("Direction"), direction(metric, _)),
        (_("At the edges"), _(metric.edges) if metric.edges else ""),
        (_("Several references"), _(metric.several) if metric.several else ""),
        (_("Under the same name elsewhere"), _(metric.differs) if metric.differs else ""),
        *((title, Lines([shown(line) for line in lines])) for title, lines in declared.told(metric, _).items()),
        (_("Signature of sacrebleu"), _signed(metric, signed)),
        (_("Measured on"), grain(metric, _)),
        (_("It needs"), _needs(metric, _)),
        (_("Cut-offs"), ", ".join(f"@{_.integer(k)}" for k in metric.cutoffs)),
        (_("Options"), ", ".join(metric.legal_options)),
        (_("In this project"), own_metrics.said(metric.own, _)),
        (_("In the specification's tables"), metric.published or ""),
        (_("Source"), _(metric.source)),
        (_("In this report"), _places(metric, places, titles)),
    ]
    told = terms([(name, text) for name, text in rows if text])
    prompts = own_metrics.prompts({"own": metric.own, "prompts": {one.name: one.texts for one in metric.prompts}}, _)
    return Section([(Text(metric.meaning(_, _.language), "rb-sense"), told, prompts)], look="rb")


def scale(metric: Metric, _: Translator) -> str:
    """From where to where values can lie."""
    low, high = metric.bounds
    if low is None and high is None:
        return _("without bounds")
    if high is None:
        return _("{low} and above", low=_number(low, _))
    if low is None:
        return _("{high} and below", high=_number(high, _))
    return _("from {low} to {high}", low=_number(low, _), high=_number(high, _))


def direction(metric: Metric, _: Translator) -> str:
    """Which way is good."""
    if metric.better is None:
        return _("it describes; neither more nor less is good in itself")
    return _("higher is better") if metric.better == "higher" else _("lower is better")


def grain(metric: Metric, _: Translator) -> str:
    """What one value is made of."""
    return {
        "ranking": _("the ranking of each question"),
        "sample": _("each answer"),
        "turns": _("each dialogue, or the repeats of each question"),
        "table": _("all of a system at once"),
    }[metric.grain]


def _signed(metric: Metric, signed: Mapping[str, str]) -> Phrase:
    """By label where a report measured with several options; what the metric has by itself where none measured it."""
    known = dict(signed) or ({metric.label: metric.signature} if metric.signature else {})
    return (
        ""
        if not known
        else Lines(
            [
                (f"{label}: " if len(known) > 1 else "", Styled(Name(shown(text), "|"), "code"))
                for label, text in known.items()
            ]
        )
    )


def _needs(metric: Metric, _: Translator) -> str:
    names = {"judge": _("a judge"), "embedder": _("an embedder")}
    return ", ".join([*metric.fields, *(names[need] for need in metric.needs)])


def _places(metric: Metric, places: Places, titles: Mapping[str, str]) -> Phrase:
    lines = []
    for page, labels in places.items():
        address = f"../{quote(page)}.html"
        named = [Link(shown(label), f"{address}#{target}") for label, target in labels.items()]
        lines.append((Link(shown(titles.get(page, page)), address), ": ", joined(", ", named)))
    return Lines(lines) if lines else ""


def _number(value: float | None, _: Translator) -> str:
    if value is None:
        return ""
    if abs(value) >= 1e9:
        return f"10{str(len(str(int(value))) - 1).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    return _.number(value, 0 if value == int(value) else 2)
