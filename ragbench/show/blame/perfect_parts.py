"""What the whole would be worth if one part were perfect, with the interval of what would be gained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.show.basics import cells
from ragbench.show.basics.footnotes import Notes
from ragbench.show.basics.marks import named, spread
from ragbench.show.basics.material import Material
from ragbench.show.blame.parts import GOOD, Blamed, end
from ragbench.show.page import view
from ragbench.types import Comparison, Verdict

Row = Mapping[Any, Any]


@view("perfect_parts")
def perfect_parts(material: Material, present: frozenset[str]) -> Markup:
    """What the whole would be worth if one part were perfect; empty where nothing was measured again."""
    table = material.kept("blame_counterfactuals")
    if not len(table):
        return Markup("")
    _ = material.text
    blamed = Blamed(material)
    correctness = str(blamed.facts.get("correctness", ""))
    found: dict[str, dict[str, dict[str, Row]]] = {}
    for row in table.to_dict("records"):
        found.setdefault(row["system"], {}).setdefault(row["part"], {})[row["measure"]] = row
    notes = Notes(material, "perfect-note")
    level = _.percent(float(table["level"].iloc[0]))
    titles = {
        GOOD: _("good answers"),
        "gain": _("gain, {level} interval", level=level),
        correctness: correctness,
        "score_gain": _("gain in {metric}, {level} interval", metric=correctness, level=level),
    }
    heads = [cells.head(_("if this were perfect")), *(cells.head(title) for title in titles.values())]
    rows: list[Markup] = []
    for system in blamed.systems:
        lead = Markup('<tr class="rb-group"><th scope=rowgroup colspan={}>{}</th></tr>')
        rows.append(lead.format(len(heads), named(material, system)))
        for part, measures in found.get(system, {}).items():
            rows.append(_row(material, part, measures, correctness, titles, notes))
    return Markup('<h3>{}</h3><p class="rb-lede">{}</p>{}{}<ul class="rb-notes">{}</ul>').format(
        _.html("<b>What one perfect part would be worth</b>"),
        _(
            "One part is put right, the others work on as they are, and the answers are judged again. Only questions "
            "that can be answered count."
        ),
        cells.table(_("One perfect part at a time"), heads, rows, "rb-long"),
        notes.html(),
        Markup("").join(Markup("<li>{}</li>").format(line) for line in _explained(material, table)),
    )


def _row(
    material: Material,
    part: str,
    measures: Mapping[str, Row],
    correctness: str,
    titles: Mapping[str, str],
    notes: Notes,
) -> Markup:
    _ = material.text
    line = [Markup("<th scope=row>{}</th>").format(_name(material, part, measures))]
    for measure, gain in ((GOOD, "gain"), (correctness, "score_gain")):
        row = measures.get(measure)
        if row is None or not math.isfinite(row["value"]) or not math.isfinite(row["difference"]):
            line += [cells.cell(titles[measure], DASH), cells.cell(titles[gain], DASH)]
            continue
        digits = 3
        moved = f"{_.number(row['actual'], digits)} → {_.number(row['value'], digits)}"
        number = f"{_.number(row['difference'], digits, signed=True)} "
        number += _.interval(end(row["low"]), end(row["high"]), digits, signed=True)
        line.append(cells.cell(titles[measure], Markup('<span class="rb-number">{}</span>').format(moved)))
        line.append(cells.cell(titles[gain], spread(number) + notes.mark(_comparison(row))))
    return cells.row(line)


def _comparison(row: Row) -> Comparison:
    return Comparison(
        "", "", row["difference"], row["low"], row["high"], row["level"], row["method"], math.nan, "", math.nan,
        Verdict.NOT_SHOWN, int(row["n"]), int(row["n_dropped"]), note=row["note"],
    )  # fmt: skip


def _name(material: Material, part: str, measures: Mapping[str, Row]) -> Markup:
    _ = material.text
    name = {
        "retrieval": _("retrieval"),
        "ranking": _("ranking"),
        "generator": _("generator"),
        "judge": _("production judge"),
    }.get(part, part)
    row = next(iter(measures.values()))
    if row["reason"]:
        return Markup("{} <small>{}</small>").format(name, _("answers by itself: it cannot be given other passages"))
    changed = _.plural("{n} question changed", "{n} questions changed", int(row["changed"]))
    dropped = int(row["n_dropped"])
    if dropped:
        changed += ", " + _.plural("{n} left out: not measured", "{n} left out: not measured", dropped)
    return Markup("{} <small>{}</small>").format(name, changed)


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
