"""What a report says of one metric: how it is made and read, what happens at its edges, where it stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ragbench.old.core.gaps import counted
from ragbench.old.core.language import Translator
from ragbench.old.core.metric import Metric
from ragbench.old.core.parts import (
    Column,
    Content,
    Group,
    Lines,
    Link,
    Name,
    Phrase,
    Row,
    Section,
    Styled,
    Table,
    Text,
    joined,
    small,
    terms,
)
from ragbench.old.views.basics import interpretation
from ragbench.old.views.basics.differences import Notes
from ragbench.old.views.basics.marks import has_items, link, measured, metric_name, named
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.view import view

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
        *(
            (title, Lines([shown(line) for line in lines]))
            for title, lines in interpretation.declared(metric, _).items()
        ),
        (_("Signature of sacrebleu"), _signed(metric, signed)),
        (_("Measured on"), grain(metric, _)),
        (_("It needs"), _needs(metric, _)),
        (_("Cut-offs"), ", ".join(f"@{_.integer(k)}" for k in metric.cutoffs)),
        (_("Options"), ", ".join(metric.legal_options)),
        (_("In this project"), said(metric.own, _)),
        (_("In the specification's tables"), metric.published or ""),
        (_("Source"), _(metric.source)),
        (_("In this report"), _places(metric, places, titles)),
    ]
    told = terms([(name, text) for name, text in rows if text])
    asked = prompts({"own": metric.own, "prompts": {one.name: one.texts for one in metric.prompts}}, _)
    return Section([(Text(metric.meaning(_, _.language), "rb-sense"), told, asked)], look="rb")


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


COLUMNS = 6
"""So many systems have a column each; of more each has a row, as names of forty signs need the width."""


@view("measures")
def measures(material: Material, present: frozenset[str]) -> Content:
    """Values with intervals and meanings, of a page that describes and does not compare."""
    _ = material.text
    if not material.metrics:
        return Text(_("Nothing was measured."))
    notes, title = Notes(material), _("Values of the metrics")
    if len(material.systems) > COLUMNS:
        columns = [Column(_("system")), Column(_("value"), "interval")]
        rows = [row for metric in material.metrics for row in _body(material, metric, notes, present)]
    else:
        columns = [Column(_("metric"))]
        columns += [Column(named(material, name), "interval", head="rb-name", label=clean(name))
                    for name in material.systems]  # fmt: skip
        rows = [_row(material, metric, notes, present) for metric in material.metrics]
    look = "rb-long" if len(material.systems) > COLUMNS else "rb-wide rb-measures"
    made = Table(tuple(columns), tuple(rows), title, language=_.language, look=look)
    return (made, notes.parts(), interpretation.parts(material, present))


def _row(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> Row:
    """A metric with a cell for each system."""
    values = [_value(material, present, system, metric, notes) for system in material.systems]
    return Row([_named(material, metric, present), *values], anchor("measure", metric))


def _body(material: Material, metric: str, notes: Notes, present: frozenset[str]) -> list[Any]:
    """A metric with a row for each system; one row for all where they have the same value."""
    head = Group(_named(material, metric, present), anchor("measure", metric), apart=True)
    told = {name: _value(material, present, name, metric, notes) for name in material.systems}
    if len({repr(material.estimate(name, metric)) for name in told}) == 1:
        return [head, (material.text("all systems"), next(iter(told.values())))]
    return [head, *((named(material, name), value) for name, value in told.items())]


def _named(material: Material, metric: str, present: frozenset[str]) -> Phrase:
    """A metric's name and what it means."""
    declared = material.declaration(metric)
    known = (
        _undeclared(material).get(metric, "")
        if declared is None
        else declared.meaning(material.text, material.text.language)
    )
    return (metric_name(material, present, metric), " ", Styled(known, "small") if known else "")


def _undeclared(material: Material) -> dict[str, str]:
    """Meanings of fields of the specification that are not measures of the catalogue."""
    _ = material.text
    return {
        "n_topics": _("How many topics the questions were grouped into."),
        "total_questions": _("How many questions were asked."),
        "avg_chunks_per_topic": _("Mean number of distinct passages that were retrieved for a topic."),
    }


def _value(material: Material, present: frozenset[str], system: str, metric: str, notes: Notes) -> Phrase | None:
    estimate = material.estimate(system, metric)
    if estimate is None:
        return None
    address = link(material, present, metric=clean(metric), system=clean(system), sort="worst")
    return (
        Link(measured(material, estimate, metric), address if has_items(material, metric) else None),
        notes.mark(estimate),
        notes.unidentified(system, metric),
        small(material.text("not measured") if math.isnan(estimate.value) else ""),
        small(counted(estimate, material.text, material.digits(metric))),
        interpretation.below(material, metric, estimate, system),
    )


LONGEST = 20_000  # a whole prompt


def said(own: Mapping[str, Any], _: Translator) -> str:
    """What a project declares of a metric beside its meaning, in a line; empty for one of the house as it is."""
    parts = []
    if "scale" in own:
        parts.append(_("scale: {scale}", scale=criterion_scale(own["scale"], _)))
        parts.append(_("higher is better") if own["higher_is_better"] else _("lower is better"))
        parts.append(_("the judge is shown: {fields}", fields=", ".join(own["shown"])))
    if own.get("examples"):
        parts.append(_.plural("{n} example in the prompt", "{n} examples in the prompt", int(own["examples"])))
    if "module" in own:
        digest = own["function"] or "?"
        parts.append(_("function of the module {module}, version {digest}", module=own["module"], digest=digest))
    if "prompt" in own:
        parts.append(_("prompt of this project: {names}", names=", ".join(own["prompt"])))
    if "judges" in own:
        parts.append(_("judges of its own: {names}", names=", ".join(own["judges"])))
    return "; ".join(parts)


def criterion_scale(given: Any, _: Translator) -> str:
    """A criterion's scale in words."""
    if isinstance(given, str):
        return _("yes or no")
    if isinstance(given[0], str):
        return " < ".join(given)
    return _("from {low} to {high}", low=_.exact(given[0]), high=_.exact(given[1]))


def prompts(told: Mapping[str, Any], _: Translator) -> Content:
    """The prompts in full, folded, in the page's language where they have it; empty where a project changed none."""
    if not {"scale", "prompt"} & told["own"].keys():
        return ()
    made = []
    for name, texts in told["prompts"].items():
        text = texts.get(_.language) or next(iter(texts.values()))
        lines = Lines([shown(line, LONGEST) for line in text.splitlines()])
        made.append(Section([Text(lines)], _("The prompt {name}", name=name)))
    return made
