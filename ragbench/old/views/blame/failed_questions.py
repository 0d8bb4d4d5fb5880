"""The questions behind each part that failed, and what the whole would be worth if one part were perfect."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any

from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Group,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    Value,
    bold,
    filled,
)
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.views.basics.differences import Notes
from ragbench.old.views.basics.marks import named, one_by_one, shortened
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import (
    ANSWERABLE,
    GOOD,
    REFUSED,
    STEPS,
    UNANSWERABLE,
    UNMEASURED,
    Blamed,
    Row,
    instead,
    relevant,
    wanted,
)
from ragbench.old.views.basics.text import anchor, shown
from ragbench.old.views.view import view

ANSWER, REASON = 500, 300  # a paragraph each


@view("blame_questions")
def questions(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """The first `count` questions of every part that failed, with answer, passages and reason."""
    blamed = Blamed(material)
    if not blamed.systems:
        return ()
    _ = material.text
    answers = {
        (row["system"], row["sample"]): row for row in material.kept("answers").to_dict("records") if row["repeat"] == 0
    }
    blocks = list[Content]()
    for system in blamed.systems:
        folds = []
        for part in (*STEPS[ANSWERABLE], *STEPS[UNANSWERABLE], UNMEASURED):
            rows = [row for row in blamed.rows if row["system"] == system and row["part"] == part]
            if rows and part not in (GOOD, REFUSED):
                folds.append(_fold(blamed, system, part, rows, answers, count))
        if folds:
            title = filled(_("Failures of <b>{system}</b>, part by part"), system=named(material, system))
            blocks += [Text(title, "h3"), *folds]
    return blocks


def _fold(
    blamed: Blamed, system: str, part: str, rows: list[Row], answers: Mapping[tuple[str, str], Row], count: int
) -> Content:
    _ = blamed.material.text
    more = _.plural("{n} more question is not shown.", "{n} more questions are not shown.", len(rows) - count)
    return Section(
        [
            Text(blamed.meaning(part), "rb-meta"),
            shortened(_, [_item(blamed, row, answers.get((system, row["sample"]), {})) for row in rows[:count]]),
            Text(more, "rb-meta") if len(rows) > count else (),
        ],
        f"{blamed.name(part)} · {_.integer(len(rows))}",
        anchor=f"blame{blamed.systems.index(system)}-{part}",
    )


def _item(blamed: Blamed, row: Row, answer: Row) -> Entry:
    """The question with its answer, reference, reason and passages."""
    material = blamed.material
    _ = material.text
    sample = str(row["sample"])
    question: Mapping[str, Any] = material.question_rows.get(sample, {})
    needed = relevant(question)
    said = [
        _pair(_("Answer"), answer.get("response"), ANSWER),
        _pair(_("Reference"), question.get("reference"), ANSWER),
        _pair(_("Why"), _why(blamed, row), REASON),
        _pair(_("The judge, or what failed"), reason_in(row["reason"] or "", _), REASON),
    ]
    body = (
        said,
        instead(material, sample, row["system"]),
        wanted(material, sample, needed, question) if needed else (),
        Text(shown(sample, 80), "rb-meta"),
    )
    place = anchor(f"blame{blamed.systems.index(row['system'])}", sample)
    return Entry(place, shown(question.get("text") or sample, 400), None, body)


def _pair(title: str, text: Any, limit: int) -> Content:
    content = shown(text, limit)
    return Text((bold(title), " ", content)) if content else ()


def _why(blamed: Blamed, row: Row) -> str:
    """The numbers that the blame was told from."""
    _, facts = blamed.material.text, blamed.facts
    said = []
    if math.isfinite(row["read"]) and row["group"] == ANSWERABLE:
        read = _.integer(int(row["read"]))
        if math.isfinite(row["rank"]):
            rank = _.integer(int(row["rank"]))
            said.append(_("the first relevant passage is at rank {rank}, {read} were read", rank=rank, read=read))
        else:
            said.append(_("no relevant passage was retrieved, {read} were read", read=read))
    if row["refused"] == 1:
        said.append(_("the answer is a refusal"))
    for name, column, limit in (
        (facts.get("correctness"), "correctness", "right_from"),
        (facts.get("faithfulness"), "faithfulness", "faithful_from"),
    ):
        if math.isfinite(row[column]):
            said.append(
                _(
                    "{metric} {value}, wanted {limit}",
                    metric=name,
                    value=_.number(row[column], 2),
                    limit=_.number(float(facts.get(limit, 0)), 2),
                )
            )
    if row["shown"] == 0:
        said.append(_("the answer was not shown"))
    return "; ".join(said)


@view("perfect_parts")
def perfect_parts(material: Material, present: frozenset[str]) -> Content:
    """What the whole would be worth if one part were perfect; empty where nothing was measured again."""
    table, blamed = material.kept("blame_counterfactuals"), Blamed(material)
    if not len(table) or blamed.unlabelled:
        return ()
    _ = material.text
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
