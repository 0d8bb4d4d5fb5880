"""What the whole would be worth if one part were perfect, with the interval of what would be gained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any

from ragbench.core.parts import Content, Entries, Group, Phrase, Section, Styled, Table, Text, Value, filled
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.first_failures import GOOD, Blamed
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.view import view

Row = Mapping[Any, Any]


@view("perfect_parts")
def perfect_parts(material: Material, present: frozenset[str]) -> Content:
    """What the whole would be worth if one part were perfect; empty where nothing was measured again."""
    table = material.kept("blame_counterfactuals")
    if not len(table):
        return ()
    _ = material.text
    blamed = Blamed(material)
    correctness = str(blamed.facts.get("correctness", ""))
    by_system: dict[str, dict[str, dict[str, Row]]] = {}
    for row in table.to_dict("records"):
        by_system.setdefault(row["system"], {}).setdefault(row["part"], {})[row["measure"]] = row
    notes = Notes(material, "perfect-note")
    level = _.percent(float(material.facts.get("level", 0.95)))
    titles = [
        _("good answers"),
        _("gain, {level} interval", level=level),
        correctness,
        _("gain in {metric}, {level} interval", metric=correctness, level=level),
    ]
    heads = [_("if this were perfect"), *titles]
    rows: list[list[Any]] = [
        [
            Group(named(material, system)),
            *(_row(material, system, part, by, correctness, notes) for part, by in by_system.get(system, {}).items()),
        ]
        for system in blamed.systems
    ]
    of = material.population(
        estimate.estimate.n
        for estimate in material.measurement.estimates_by("perfect")
        if math.isfinite(estimate.estimate.value)
    )
    lede = _(
        "One part is made perfect, the others stay as they are, and the answers are judged again. Only questions "
        "that can be answered count."
    )
    return (
        Text(filled(_("<b>What one perfect part would gain</b>")), "h3"),
        Text(lede, "rb-lede"),
        one_by_one(
            _, rows, lambda some: [Table.of(_, _("One perfect part at a time"), heads, chain(*some), "rb-long")]
        ),
        Text(_("means over the questions that can be answered ({population})", population=of), "rb-axis"),
        *notes.parts(),
        Section([Entries(_explained(material, table), "rb-notes")], _("How to read these numbers")),
    )


def _row(
    material: Material, system: str, part: str, measures: Mapping[str, Row], correctness: str, notes: Notes
) -> list[Any]:
    _ = material.text
    line: list[Any] = [_name(material, system, part, measures)]
    for measure in (GOOD, correctness):
        mean = material.estimate(system, measure, perfect=part)
        gain = material.comparison(system, measure, perfect=part)
        if mean is None or gain is None or not math.isfinite(mean.value) or not math.isfinite(gain.difference):
            line += [None, None]
            continue
        line.append(f"{_.number(measures[measure]['actual'])} → {_.number(mean.value)}")
        line.append((Value.of(gain), notes.mark(gain), notes.unidentified(system, measure, {"perfect": part})))
    return line


def _name(material: Material, system: str, part: str, measures: Mapping[str, Row]) -> Phrase:
    _ = material.text
    name = {
        "retrieval": _("retrieval"),
        "ranking": _("ranking"),
        "generator": _("generator"),
        "judge": _("production judge"),
    }.get(part, part)
    measure, row = next(iter(measures.items()))
    if row["reason"]:
        return (name, " ", Styled(_("answers by itself: it cannot be given other passages"), "small"))
    changed = _.plural("{n} question changed", "{n} questions changed", int(row["changed"]))
    gain = material.comparison(system, measure, perfect=part)
    if gain is not None and gain.n_dropped:
        changed += ", " + _.plural("{n} left out: not measured", "{n} left out: not measured", gain.n_dropped)
    return (name, " ", Styled(changed, "small"))


def _explained(material: Material, table: Any) -> list[str]:
    """What perfect means for each part that there is."""
    _ = material.text
    meanings = {
        "retrieval": _("Retrieval: answered anew from all passages that are labelled as relevant."),
        "ranking": _(
            "Ranking: answered anew from as many passages as before, the relevant ones of those retrieved first."
        ),
        "generator": _(
            "Generator: the reference stands in for the answer wherever a relevant passage was read; it is judged like "
            "any answer, and claims nothing beyond the passages by definition."
        ),
        "judge": _("Production judge: every good answer is shown."),
    }
    return [meanings[part] for part in dict.fromkeys(table["part"]) if part in meanings]
