"""Every answer that a judge was tried on: what people gave it, what the judge gave it and why, where it was swayed.

Rated answers come first, then the answers that were made to try the judge, then the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragbench.core.language import DASH
from ragbench.core.types import Status
from ragbench.metrics.explanation import reason_in
from ragbench.tiers.basics.reasons import statuses
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.items.contents import Detail, Entry, Items, Measured, Parting, Row, Section, measuring, number, told
from ragbench.views.judges import words

MEASURES = ("consistency_score", "error_rate")
ANSWER, MADE, PAIR = "answer", "made", "pair"
BETWEEN = ("repeats", "padding", "scale_order", "language", "prompt_language", "injected")
"""Probes that compare two scores of an answer."""


@dataclass
class _Item:
    """One answer (or pair), as its first row tells it, and what each judge made of it."""

    kind: str
    row: Row
    rows: dict[str, Row] = field(default_factory=dict)
    effects: dict[str, list[Row]] = field(default_factory=dict)

    def known(self, *columns: str) -> str:
        """What the first of the columns that it has says."""
        return next((clean(self.row[name]) for name in columns if name in self.row), "")

    @property
    def variant(self) -> str:
        """How it was made; empty for one that was not made to try the judge."""
        return self.known("variant") if self.kind == MADE else ""

    @property
    def answer(self) -> str:
        return self.known("answer", "text")

    @property
    def people(self) -> float | None:
        return number(self.row["people"]) if self.kind == ANSWER else None

    def score(self, judge: str) -> float | None:
        return number(self.rows[judge]["score"]) if judge in self.rows else None

    def apart(self, judge: str) -> float | None:
        score = self.score(judge)
        return None if score is None or self.people is None else abs(score - self.people)

    def failed(self, judge: str) -> float | None:
        """How many probes the judge fell to; None where none was tried."""
        return float(sum(bool(row["failed"]) for row in self.effects[judge])) if judge in self.effects else None

    def held(self, judge: str, probe: str) -> float | None:
        """1 where the judge held against the probe, 0 where it fell to it, None where that was not tried."""
        return next((float(not row["failed"]) for row in self.effects.get(judge, ()) if row["probe"] == probe), None)


def items(material: Material) -> Items:
    """All that was judged, with the answers first on which judge and people are furthest apart."""
    _, found = material.text, _found(material)
    listed = list(found.values())
    return Items(
        title=_("Every judged answer"),
        kind="judges",
        ids=list(found),
        texts=[f"{one.known('question')}\n{one.answer}" for one in listed],
        measures=_measures(material, listed),
        partings=[_parting(material, listed)],
        read=lambda place: _read(material, listed[place]),
    )


def _found(material: Material) -> dict[str, _Item]:
    found: dict[str, _Item] = {}
    for table in ("answers", "trials"):
        for row in words.kept(material, table):
            kind, name = (ANSWER, row["sample"]) if table == "answers" else (str(row["kind"]), row["id"])
            found.setdefault(f"{kind}.{name}", _Item(kind, row)).rows[str(row["judge"])] = row
    for row in words.kept(material, "effects"):
        if one := found.get(f"{row['kind']}.{row['id']}"):
            one.effects.setdefault(str(row["judge"]), []).append(row)
    return found


def _measures(material: Material, listed: Sequence[_Item]) -> list[Measured]:
    _, measured = material.text, measuring(material.systems, listed)
    lost: dict[str, dict[str, list[int]]] = {}
    for place, one in enumerate(listed):
        for judge, row in one.rows.items():
            status = str(row.get("status") or Status.OK.value)
            if status != Status.OK.value:
                lost.setdefault(judge, {}).setdefault(status, []).append(place)
    probes = dict.fromkeys(str(row["probe"]) for row in words.kept(material, "effects"))
    score = measured("score", _("score, share of the scale"), _Item.score, paired=False, of=("error_rate",),
                     missing=lost)  # fmt: skip
    failed = [measured("failed", _("probes it failed"), _Item.failed, digits=0, lower=True)]
    failed += [
        measured(name, _("probe: {name}", name=words.probe(material, name)[0]),
                 lambda one, judge, probe=name: one.held(judge, probe), digits=0,
                 words=(_("failed it"), _("passed it")), of=("consistency_score",) if name == "repeats" else ())
        for name in probes
    ]  # fmt: skip
    people = measured("people", _("people, share of the scale"), lambda one, _judge: one.people, paired=False)
    if not people.known:
        return [failed[0], score, *failed[1:]]
    return [measured("apart", _("distance from people"), _Item.apart, lower=True), score, people, *failed]


def _parting(material: Material, listed: Sequence[_Item]) -> Parting:
    """What an item is."""
    _ = material.text
    rated = any(one.people is not None for one in listed)
    kinds = {ANSWER: _("rated answer") if rated else _("answer"), PAIR: _("pair of answers")}
    kinds |= {one.variant: words.rung(material, one.variant) for one in listed if one.variant}
    return Parting("what", _("what was judged"), [one.variant or one.kind for one in listed], kinds)


def _read(material: Material, one: _Item) -> Detail:
    _, people = material.text, ""
    if one.people is not None:
        said = (_("{value} of the scale", value=_.number(one.people, 2)), words.ratings(material, one.known("ratings")))
        people = " · ".join(filter(None, said))
    pair = [Entry(text, shared=True) for text in (one.answer, one.known("other"))]
    sections = told(
        (_("The two answers"), pair) if one.kind == PAIR else (_("Answer"), one.answer or _("(empty)")),
        (_("Made to try the judge"), words.rung(material, one.variant) if one.variant else ""),
        (_("Reference"), one.known("reference")),
        (_("people"), people),
        (_("system"), one.known("system")),
    )
    return Detail(one.known("question"), sections, {judge: _side(material, one, judge) for judge in one.rows})


def _side(material: Material, one: _Item, judge: str) -> list[Section]:
    _, row, score = material.text, one.rows[judge], one.score(judge)
    status = str(row.get("status") or "")
    value = _("not measured: {status}", status=statuses(material.text).get(status, status) or DASH)
    given = (_("score, share of the scale"), value if score is None else _.number(score))
    if one.kind == PAIR:
        orders = [(_("in this order"), row["first"]), (_("in the opposite order"), row["second"])]
        given = (_("Which is better"), "; ".join(f"{name}: {_winner(material, each)}" for name, each in orders))
    return told(
        given,
        (_("the judge's reason"), clean(reason_in(row["reason"], _))),
        (_("Probes"), [Entry(_probe(material, each)) for each in one.effects.get(judge, ())]),
    )


def _winner(material: Material, value: Any) -> str:
    _, known = material.text, number(value)
    if known is None:
        return _("no choice")
    return _("the first answer") if known > 0 else _("the second answer") if known < 0 else _("tie")


def _probe(material: Material, row: Row) -> str:
    """`padding: 0.50 → 0.90 · failed it`."""
    _ = material.text
    said = name = words.probe(material, str(row["probe"]))[0]
    if row["probe"] in BETWEEN and not math.isnan(row["before"]):
        said = f"{name}: {_.number(row['before'], 2)} → {_.number(row['after'], 2)}"
    elif row["probe"] == "ladder":
        said = _("{probe}: {share} of its pairs stand in order", probe=name, share=_.percent(row["value"]))
    return f"{said} · {_('failed it') if row['failed'] else _('passed it')}"
