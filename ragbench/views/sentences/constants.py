"""Judges that decide without looking, and whether a judge is worth more than the better of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.parts import Part, Phrase, Text, filled
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

COST = "decision_cost"


def is_constant(material: Material, name: str) -> bool:
    """Whether the system decides without looking."""
    known: Sequence[Any] = material.facts.get("systems", ())
    return any(
        isinstance(system, Mapping) and system.get("name") == name and system.get("kind") == "reference"
        for system in known
    )


def sentence(material: Material, name: str) -> list[Part]:
    """Whether a judge is better or worse than deciding nothing; empty on pages that decide nothing.

    Worse than one constant judge is worse than the better of them; better it is only where it is better than all.
    """
    comparisons = [
        finding for finding in material.measurement.comparisons_by("constant") if finding.comparison.challenger == name
    ]
    if not comparisons:
        return []
    _ = material.text
    verdicts, metric = {finding.comparison.verdict for finding in comparisons}, comparisons[0].metric
    places: dict[str, Phrase] = {"judge": shown(name), "metric": shown(metric), **_values(material, name, metric)}
    if any(verdict.is_worse for verdict in verdicts):
        said = filled(_("<b>{judge} is worse than deciding nothing.</b>"), **places)
    elif all(verdict.is_better for verdict in verdicts):
        said = filled(_("{judge} is better than deciding nothing."), **places)
    else:
        said = filled(_("<b>{judge} is not shown to be better than deciding nothing.</b>"), **places)
    more: list[Phrase] = [filled(_("Its {metric} is {own}; that of {best} is {value}."), **places)]
    if metric == COST:
        more.append(" ")
        more.append(
            _(
                "An answer shown wrongly costs {shown}, one held back wrongly {hidden}.",
                shown=_.number(float(material.facts["cost_shown"]), 2),
                hidden=_.number(float(material.facts["cost_hidden"]), 2),
            )
        )
    return [Text((said, " ", *more), "rb-more")]


def _values(material: Material, name: str, metric: str) -> dict[str, Phrase]:
    """The judge's value, the better of the constant judges (both where they are equal), and its value."""
    _ = material.text
    values = {each: estimate.value for each in material.systems if (estimate := material.estimate(each, metric))}
    idle = {each: value for each, value in values.items() if is_constant(material, each)}
    best = (min if material.lower_is_better(metric) else max)(idle.values())
    digits = material.digits(metric)
    return {
        "own": _.number(values.get(name), digits),
        "best": shown(_.enumeration([each for each, value in idle.items() if value == best])),
        "value": _.number(best, digits),
    }
