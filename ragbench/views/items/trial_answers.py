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
from ragbench.tiers.basics.verdicts import statuses
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.items.contents import Detail, Entry, Items, Measured, Parting, Row, Section, measuring, number, told
from ragbench.views.sentences import judge_words as words

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
    _, trials = material.text, _found(material)
    listed = list(trials.values())
    return Items(
        title=_("Every judged answer"),
        kind="judges",
        ids=list(trials),
        texts=[f"{trial.known('question')}\n{trial.answer}" for trial in listed],
        measures=_measures(material, listed),
        partings=[_parting(material, listed)],
        read=lambda place: _read(material, listed[place]),
    )


def _found(material: Material) -> dict[str, _Item]:
    trials: dict[str, _Item] = {}
    for table in ("answers", "trials"):
        for row in words.kept(material, table):
            kind, name = (ANSWER, row["sample"]) if table == "answers" else (str(row["kind"]), row["id"])
            trials.setdefault(f"{kind}.{name}", _Item(kind, row)).rows[str(row["judge"])] = row
    for row in words.kept(material, "effects"):
        if trial := trials.get(f"{row['kind']}.{row['id']}"):
            trial.effects.setdefault(str(row["judge"]), []).append(row)
    return trials


def _measures(material: Material, listed: Sequence[_Item]) -> list[Measured]:
    _, measured = material.text, measuring(material.systems, listed)
    lost: dict[str, dict[str, list[int]]] = {}
    for place, trial in enumerate(listed):
        for judge, row in trial.rows.items():
            status = str(row.get("status") or Status.OK.value)
            if status != Status.OK.value:
                lost.setdefault(judge, {}).setdefault(status, []).append(place)
    probes = dict.fromkeys(str(row["probe"]) for row in words.kept(material, "effects"))
    score = measured("score", _("score, share of the scale"), _Item.score, paired=False, of=("error_rate",),
                     missing=lost)  # fmt: skip
    failed = [measured("failed", _("probes it failed"), _Item.failed, digits=0, lower=True)]
    failed += [
        measured(name, _("probe: {name}", name=words.probe(material, name)[0]),
                 lambda trial, judge, probe=name: trial.held(judge, probe), digits=0,
                 words=(_("failed it"), _("passed it")), of=("consistency_score",) if name == "repeats" else ())
        for name in probes
    ]  # fmt: skip
    people = measured("people", _("people, share of the scale"), lambda trial, _judge: trial.people, paired=False)
    if not people.known:
        return [failed[0], score, *failed[1:]]
    return [measured("apart", _("distance from people"), _Item.apart, lower=True), score, people, *failed]


def _parting(material: Material, listed: Sequence[_Item]) -> Parting:
    """What an item is."""
    _ = material.text
    rated = any(trial.people is not None for trial in listed)
    kinds = {ANSWER: _("rated answer") if rated else _("answer"), PAIR: _("pair of answers")}
    kinds |= {trial.variant: words.rung(material, trial.variant) for trial in listed if trial.variant}
    return Parting("what", _("what was judged"), [trial.variant or trial.kind for trial in listed], kinds)


def _read(material: Material, trial: _Item) -> Detail:
    _, people = material.text, ""
    if trial.people is not None:
        said = (
            _("{value} of the scale", value=_.number(trial.people, 2)),
            words.ratings(material, trial.known("ratings")),
        )
        people = " · ".join(filter(None, said))
    pair = [Entry(text, shared=True) for text in (trial.answer, trial.known("other"))]
    sections = told(
        (_("The two answers"), pair) if trial.kind == PAIR else (_("Answer"), trial.answer or _("(empty)")),
        (_("Made to try the judge"), words.rung(material, trial.variant) if trial.variant else ""),
        (_("Reference"), trial.known("reference")),
        (_("people"), people),
        (_("system"), trial.known("system")),
    )
    return Detail(trial.known("question"), sections, {judge: _side(material, trial, judge) for judge in trial.rows})


def _side(material: Material, trial: _Item, judge: str) -> list[Section]:
    _, row, score = material.text, trial.rows[judge], trial.score(judge)
    status = str(row.get("status") or "")
    value = _("not measured: {status}", status=statuses(material.text).get(status, status) or DASH)
    given = (_("score, share of the scale"), value if score is None else _.number(score))
    if trial.kind == PAIR:
        orders = [(_("in this order"), row["first"]), (_("in the opposite order"), row["second"])]
        given = (_("Which is better"), "; ".join(f"{name}: {_winner(material, each)}" for name, each in orders))
    return told(
        given,
        (_("the judge's reason"), clean(reason_in(row["reason"], _))),
        (_("Probes"), [Entry(_probe(material, each)) for each in trial.effects.get(judge, ())]),
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
