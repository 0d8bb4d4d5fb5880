"""Every answer that a judge was tried on: what people gave it, what the judge gave it and why, where it was swayed.

Rated answers come first, then the answers that were made to try the judge, then the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragbench.language import DASH
from ragbench.metrics.explanation import reason_in
from ragbench.show.basics.material import Material
from ragbench.show.basics.statuses import statuses
from ragbench.show.basics.text import clean
from ragbench.show.items.contents import Detail, Entry, Items, Measured, Parting, Section, number
from ragbench.show.judges import words
from ragbench.types import Status

MEASURES = ("consistency_score", "error_rate")
ANSWER, MADE, PAIR = "answer", "made", "pair"
BETWEEN = ("repeats", "padding", "scale_order", "language", "injected")
"""Probes that compare two scores of an answer."""

Row = Mapping[Any, Any]


@dataclass
class _Item:
    """One answer (or pair), and what each judge made of it."""

    kind: str
    variant: str
    question: str
    answer: str
    other: str
    reference: str
    people: float | None
    ratings: str
    system: str
    rows: dict[str, Row] = field(default_factory=dict)
    effects: dict[str, list[Row]] = field(default_factory=dict)

    def score(self, judge: str) -> float | None:
        return number(self.rows[judge]["score"]) if judge in self.rows else None

    def apart(self, judge: str) -> float | None:
        score = self.score(judge)
        return None if score is None or self.people is None else abs(score - self.people)

    def failed(self, judge: str) -> int:
        return sum(bool(row["failed"]) for row in self.effects.get(judge, ()))

    def held(self, judge: str, probe: str) -> float | None:
        """1 where the judge held against the probe, 0 where it fell to it, None where that was not tried."""
        return next((float(not row["failed"]) for row in self.effects.get(judge, ()) if row["probe"] == probe), None)


def items(material: Material) -> Items:
    """All that was judged, with the answers first on which judge and people are furthest apart."""
    _ = material.text
    found = _found(material)
    ids, listed = list(found), list(found.values())
    return Items(
        title=_("Every judged answer"),
        words={
            "search": _("Search questions and answers"),
            "question": _("question and answer"),
            "system": _("judge"),
            "count": _("{shown} of {all} judged answers"),
            "nothing": _("No judged answer fits."),
            "grid": _("Judged answers; arrow keys move, Enter opens"),
        },
        ids=ids,
        texts=[f"{one.question}\n{one.answer}" for one in listed],
        measures=_measures(material, listed),
        partings=_partings(material, listed),
        read=lambda place: _read(material, listed[place]),
        sort="worst",
    )


def _found(material: Material) -> dict[str, _Item]:
    found: dict[str, _Item] = {}
    for row in words.kept(material, "answers"):
        name = f"{ANSWER}.{row['sample']}"
        if name not in found:
            found[name] = _Item(ANSWER, "", clean(row["question"]), clean(row["answer"]), "", clean(row["reference"]),
                                number(row["people"]), clean(row["ratings"]), clean(row["system"]))  # fmt: skip
        found[name].rows[str(row["judge"])] = row
    for row in words.kept(material, "trials"):
        name = f"{row['kind']}.{row['id']}"
        if name not in found:
            found[name] = _Item(str(row["kind"]), str(row["variant"]), clean(row["question"]), clean(row["text"]),
                                clean(row["other"]), clean(row["reference"]), None, "", "")  # fmt: skip
        found[name].rows[str(row["judge"])] = row
    for row in words.kept(material, "effects"):
        name = f"{row['kind']}.{row['id']}"
        if name in found:
            found[name].effects.setdefault(str(row["judge"]), []).append(row)
    return found


def _measures(material: Material, listed: Sequence[_Item]) -> list[Measured]:
    _ = material.text
    judges = material.systems
    statuses: dict[str, dict[str, list[int]]] = {}
    for place, one in enumerate(listed):
        for judge, row in one.rows.items():
            status = str(row.get("status") or Status.OK.value)
            if status != Status.OK.value:
                statuses.setdefault(judge, {}).setdefault(status, []).append(place)
    apart = Measured("apart", _("apart from people"), {j: [one.apart(j) for one in listed] for j in judges}, lower=True)
    found = [
        Measured("score", _("score, share of the scale"), {j: [one.score(j) for one in listed] for j in judges},
                 paired=False, of=("error_rate",), missing=statuses),
        Measured("failed", _("probes it fell to"), {j: [_count(one, j) for one in listed] for j in judges}, digits=0,
                 lower=True),
    ]  # fmt: skip
    found += _probes(material, listed)
    people = [one.people for one in listed]
    if any(value is not None for value in people):
        rated = Measured("people", _("people, share of the scale"), dict.fromkeys(judges, people), paired=False)
        return [apart, found[0], rated, *found[1:]]
    return [found[1], found[0], *found[2:]]


def _probes(material: Material, listed: Sequence[_Item]) -> list[Measured]:
    """For every probe whether an answer fell to it; None where it was not tried on that answer."""
    _ = material.text
    names = dict.fromkeys(str(row["probe"]) for row in words.kept(material, "effects"))
    verdicts = (_("fell to it"), _("held"))
    return [
        Measured(name, _("probe: {name}", name=words.probe(material, name)[0]),
                 {judge: [one.held(judge, name) for one in listed] for judge in material.systems}, digits=0,
                 words=verdicts, of=("consistency_score",) if name == "repeats" else ())
        for name in names
    ]  # fmt: skip


def _count(one: _Item, judge: str) -> float | None:
    return float(one.failed(judge)) if judge in one.effects else None


def _partings(material: Material, listed: Sequence[_Item]) -> list[Parting]:
    """What an item is."""
    _ = material.text
    kinds = {ANSWER: _("rated answer"), PAIR: _("pair of answers")}
    kinds |= {one.variant: words.rung(material, one.variant) for one in listed if one.kind == MADE}
    if not any(one.people is not None for one in listed):
        kinds[ANSWER] = _("answer")
    what = [one.variant if one.kind == MADE else one.kind for one in listed]
    return [Parting("what", _("what was judged"), what, kinds)]


def _read(material: Material, one: _Item) -> Detail:
    _ = material.text
    sections: list[Section] = []
    if one.kind == PAIR:
        sections.append((_("The two answers"), [Entry(one.answer, shared=True), Entry(one.other, shared=True)]))
    else:
        sections.append((_("Answer"), one.answer or _("(empty)")))
    if one.variant and one.kind == MADE:
        sections.append((_("Made to try the judge"), words.rung(material, one.variant)))
    if one.reference:
        sections.append((_("Reference"), one.reference))
    if one.people is not None:
        said = _("{value} of the scale", value=_.number(one.people, 2))
        sections.append((_("people"), f"{said} · {one.ratings}" if one.ratings else said))
    if one.system:
        sections.append((_("system"), one.system))
    return Detail(one.question, sections, {judge: _side(material, one, judge) for judge in one.rows})


def _side(material: Material, one: _Item, judge: str) -> list[Section]:
    _ = material.text
    row, score = one.rows[judge], one.score(judge)
    found: list[Section] = []
    if one.kind == PAIR:
        orders = [(_("in this order"), row["first"]), (_("in the opposite order"), row["second"])]
        found.append((_("Which is better"), "; ".join(f"{name}: {_winner(material, each)}" for name, each in orders)))
    else:
        found.append((_("score, share of the scale"), _score(material, score, str(row.get("status") or ""))))
    if reason := reason_in(clean(row["reason"]), _):
        found.append((_("the judge's reason"), reason))
    lines = [_probe(material, each) for each in one.effects.get(judge, ())]
    if lines:
        found.append((_("Probes"), [Entry(line) for line in lines]))
    return found


def _score(material: Material, score: float | None, status: str) -> str:
    _ = material.text
    if score is not None:
        return _.number(score)
    return _("not measured: {status}", status=statuses(material).get(status, status) or DASH)


def _winner(material: Material, value: Any) -> str:
    _ = material.text
    known = number(value)
    if known is None:
        return _("no choice")
    return _("the first answer") if known > 0 else _("the second answer") if known < 0 else _("tie")


def _probe(material: Material, row: Row) -> str:
    """`padding: 0.50 → 0.90 · fell to it`."""
    _ = material.text
    name = words.probe(material, str(row["probe"]))[0]
    said = name
    if row["probe"] in BETWEEN and not math.isnan(row["before"]):
        said = f"{name}: {_.number(row['before'], 2)} → {_.number(row['after'], 2)}"
    elif row["probe"] == "ladder":
        said = _("{probe}: {share} of its pairs stand in order", probe=name, share=_.percent(row["value"]))
    return f"{said} · {_('fell to it') if row['failed'] else _('held')}"
