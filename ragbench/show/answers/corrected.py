"""Judged means beside what people would give: how many labels there are, and how much the judge adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.marks import chip, named, small
from ragbench.show.basics.material import Material
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.show.page import view
from ragbench.types import Verdict


@view("corrected")
def corrected(material: Material, present: frozenset[str]) -> Markup:
    """Judged means beside what people would give; see `ragbench.bench.corrected`."""
    _ = material.text
    rows = rows_of(material.kept("corrected"))
    if not rows:
        return html.meta(
            _("No labels by people were given: judged means are the judge's own, with its errors in them.")
        )
    return _means(material, rows) + _differences(material)


def _means(material: Material, rows: list[Mapping[Any, Any]]) -> Markup:
    _ = material.text
    heads = (_("mean"), _("judge alone"), _("corrected by people"), _("people alone"), _("labels"), _("correlation"),
             _("worth in labels"))  # fmt: skip
    body = []
    for one in rows:
        values: list[Markup | str] = [
            html.beside(shown(one["metric"]), _name(material, str(one["system"]))),
            _spread(material, one, "judge"),
            _spread(material, one, "") + _why(material, one),
            _spread(material, one, "people"),
            _("{labels} of {items}", labels=_.integer(int(one["labels"])), items=_.integer(int(one["items"]))),
            _.number(one["correlation"], 2),
            _.number(one["n_effective"], 0) if one["n_effective"] == one["n_effective"] else DASH,
        ]
        body.append(values)
    return html.grid(_("Means corrected by people's labels"), heads, body) + _notes(material, rows)


def _name(material: Material, system: str) -> Markup:
    return named(material, system) if system in material.systems else shown(system)


def _spread(material: Material, one: Mapping[Any, Any], prefix: str) -> Markup:
    _ = material.text
    value = one[prefix or "value"]
    low, high = (one[f"{prefix}_{end}" if prefix else end] for end in ("low", "high"))
    return html.spread(_.number(value), _.interval(low, high))


def _why(material: Material, one: Mapping[Any, Any]) -> Markup:
    """Why the judge was left aside, where it was."""
    _ = material.text
    reasons = {
        "weak_judge": _("people alone: the judge does not follow them"),
        "few": _("people alone: too few labels, or all answers are labelled"),
        "no_spread": _("people alone: labels or scores do not differ"),
        "ceiling": _("people alone: nearly all labels lie at one end of the scale"),
        "empty": _("no label is of an answer that was judged"),
    }
    return small(reasons.get(str(one["note"] or ""), ""))


def _notes(material: Material, rows: list[Mapping[Any, Any]]) -> Markup:
    _ = material.text
    said = [
        _(
            "Corrected: labels on some answers and the judge's scores on all of them make one estimate of the mean "
            "that people would give (PPI++, cross-fitted). The labelled answers have to be drawn at random. “Worth in "
            "labels” is how many labels alone would give an interval as narrow."
        )
    ]
    agreed = [one for one in rows if one["alpha"] == one["alpha"]]
    if agreed:
        values = sorted(float(one["alpha"]) for one in agreed)
        said.append(
            _(
                "People agree with each other with a Krippendorff's α of {low} to {high} where several labelled the "
                "same answer; their mean counts.",
                low=_.number(values[0], 2),
                high=_.number(values[-1], 2),
            )
        )
    return html.meta(" ".join(said))


def _differences(material: Material) -> Markup:
    _ = material.text
    rows = rows_of(material.kept("corrected_differences"))
    if not rows:
        return Markup("")
    heads = (_("difference"), _("as people would see it"), _("p (Holm)"), _("verdict"), _("labels"))
    body = []
    for one in rows:
        compared = html.all(_name(material, str(one["challenger"])), " − ", shown(one["baseline"]))
        difference = _.number(one["difference"], signed=True), _.interval(one["low"], one["high"], signed=True)
        body.append(
            [
                html.beside(shown(one["metric"]), compared),
                html.spread(*difference),
                _.p_value(one["p_adjusted"]),
                chip(material, Verdict(one["verdict"])),
                _.integer(int(one["labels"])),
            ]
        )
    return html.grid(_("Differences corrected by people's labels"), heads, body)
