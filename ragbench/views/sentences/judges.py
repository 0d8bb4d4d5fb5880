"""What is said of those who judged, wherever their numbers are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core import answered_by
from ragbench.core.parts import Part, Phrase, Text, filled
from ragbench.core.settings import OFFLINE
from ragbench.core.stand_ins import of
from ragbench.tiers.scoring import judge_assignment
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean


def known(material: Material) -> list[Mapping[str, Any]]:
    """The judges as the facts list them."""
    return [judge for judge in material.facts.get("judges") or () if isinstance(judge, Mapping) and judge.get("name")]


def stand_ins(material: Material) -> list[str]:
    """The names of judges that only stand in for a model."""
    return [stand_in.name for stand_in in of(material.facts) if stand_in.part == "judge"]


def answered(material: Material, role: answered_by.Role, kinship: answered_by.Kinship) -> list[str]:
    """What is to be said of the models that answered under another name than they were asked by, and with "other" of
    those whose replies were imported."""
    of_role = [model for model in answered_by.of(material.facts) if model.role == role]
    notes = [model for model in of_role if not model.warns and (model.kinship == kinship or model.unsent)]
    models = [model for model in of_role if model.warns] if kinship == "other" else notes
    return [clean(answered_by.sentence(model, material.text)) for model in models]


def baseline(material: Material) -> str:
    """What is to be said wherever an offline judge's numbers are shown."""
    if set(stand_ins(material)) - {OFFLINE}:
        return material.text("Offline judges are a baseline: they ask no model. A model may judge otherwise.")
    return material.text(
        "The lexical judge is an offline baseline: it compares words, letters, numbers and negations, and understands "
        "nothing. A model may judge otherwise."
    )


def uneven(material: Material) -> list[str]:
    """What is to be said of each mean of a panel whose judges measured different answers."""
    return judge_assignment.said(judge_assignment.of_facts(material.facts), material.text, material.systems)


def incomplete(material: Material) -> list[Part]:
    """The warning that some scores of the page are made of fewer judges than its panel has; empty without any."""
    panels = judge_assignment.of_facts(material.facts).values()
    few = sum(panel.incomplete for panel in panels)
    if not few:
        return []
    text = material.text.plural(
        "{n} of the judged values is made of fewer judges than the panel has. What a judge failed on is left to the "
        "others: “Who judged” says whose means that moves.",
        "{n} of the judged values are made of fewer judges than the panel has. What a judge failed on is left to the "
        "others: “Who judged” says whose means that moves.",
        few,
    )
    return [Text(text, "rb-standin")]


def statuses(material: Material, counts: Mapping[str, int]) -> str:
    """How replies ended that held no score, the most frequent first."""
    _ = material.text
    words = {
        "judge_error": _("no reply"),
        "parse_error": _("a reply of the wrong shape"),
        "timeout": _("no reply in time"),
        "refused": _("refused"),
        "truncated": _("a reply that was cut off"),
        "verdict_mismatch": _("verdicts that do not fit the question"),
        "empty_input": _("nothing to decide by"),
        "missing_field": _("no decision in the file"),
    }
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _.enumeration([f"{words.get(status, status)} ({_.integer(count)})" for status, count in ordered])


def undecided(material: Material) -> dict[str, Phrase]:
    """By judge that decided nothing at all a sentence that says so, and how its replies ended; of such a judge nothing
    else can be said."""
    _ = material.text
    sentences = dict[str, Phrase]()
    for judge in material.facts.get("systems") or ():
        if isinstance(judge, Mapping) and (counts := judge.get("undecided")):
            sentences[str(judge["name"])] = filled(
                _(
                    "<b>{judge} gave no usable decision</b> on any of {n} cases: {statuses}. Nothing else can be said "
                    "of it."
                ),
                judge=clean(str(judge["name"])),
                n=_.integer(sum(counts.values())),
                statuses=statuses(material, counts),
            )
    return sentences


def corrected(material: Material) -> list[str]:
    """A sentence for each metric whose means people's labels correct: how, and what the judge alone says."""
    _ = material.text
    said = []
    for metric in material.corrected:
        digits = material.digits(metric)
        estimates = {name: material.estimate(name, metric, mean="judge") for name in material.systems}
        values = [
            f"{clean(name)} {_.number(estimate.value, digits)} {_.interval(estimate.low, estimate.high, digits)}"
            for name, estimate in estimates.items()
            if estimate is not None
        ]
        said.append(
            _(
                "{metric}: corrected by people's labels, which n counts; the judge alone: {values}.",
                metric=clean(metric),
                values=", ".join(values),
            )
        )
    return said
