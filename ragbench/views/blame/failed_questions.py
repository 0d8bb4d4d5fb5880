"""The questions behind each part: what was asked and answered, what was read, and why this part is to blame."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ragbench.core.parts import Content, Entry, Section, Text, bold, filled
from ragbench.metrics.explanation import reason_in
from ragbench.views.basics.entries import shortened
from ragbench.views.basics.first_failures import ANSWERABLE, GOOD, REFUSED, STEPS, UNANSWERABLE, UNMEASURED, Blamed, Row
from ragbench.views.basics.hits import instead, relevant, wanted
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, shown
from ragbench.views.view import view

ANSWER, REASON = 500, 300


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
