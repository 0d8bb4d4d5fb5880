"""Answers that judges decided on or were tried on: what people gave each, what every judge gave it, and why.

Rated answers come first, then the answers that were made to try the judge, then the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragbench.old.core.language import DASH
from ragbench.old.core.types import Status
from ragbench.old.metrics.decisions import Cell
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics.verdict_tables import statuses
from ragbench.old.tiers.judges.judge_findings import JudgedRow
from ragbench.old.tiers.judges.probes import EffectRow, TrialRow
from ragbench.old.tiers.judges.tier_judge_pipeline import DecisionRow
from ragbench.old.views.basics.marks import OUTCOMES, SHARES, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean
from ragbench.old.views.items.contents import (
    Detail,
    Entry,
    Items,
    Measured,
    Parting,
    Row,
    Section,
    measuring,
    number,
    told,
)
from ragbench.old.views.sentences import judge_trust

ANSWER, MADE, PAIR = "answer", "made", "pair"
BETWEEN = ("repeats", "padding", "scale_order", "language", "prompt_language", "injected")
"""Probes that compare two scores of an answer."""


@dataclass
class _Item:
    """One answer (or pair), as its first row tells it, and what each judge made of it."""

    kind: str
    row: Row
    rows: dict[str, Row] = field(default_factory=dict)
    effects: dict[str, list[EffectRow]] = field(default_factory=dict)

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


def trials(material: Material) -> Items:
    """All that was judged, with the answers first on which judge and people are furthest apart."""
    _, trials = material.text, _found(material)
    listed = list(trials.values())
    return Items(
        title=_("Every judged answer"),
        kind="judges",
        ids=list(trials),
        texts=[f"{trial.known('question')}\n{trial.answer}" for trial in listed],
        measures=_trial_measures(material, listed),
        partings=[_parting(material, listed)],
        read=lambda place: _trial_read(material, listed[place]),
    )


def _found(material: Material) -> dict[str, _Item]:
    trials: dict[str, _Item] = {}
    for rated in judge_trust.kept(material, JudgedRow, "answers"):
        trials.setdefault(f"{ANSWER}.{rated['sample']}", _Item(ANSWER, rated)).rows[rated["judge"]] = rated
    for made in judge_trust.kept(material, TrialRow, "trials"):
        trials.setdefault(f"{made['kind']}.{made['id']}", _Item(made["kind"], made)).rows[made["judge"]] = made
    for effect in judge_trust.kept(material, EffectRow, "effects"):
        if trial := trials.get(f"{effect['kind']}.{effect['id']}"):
            trial.effects.setdefault(effect["judge"], []).append(effect)
    return trials


def _trial_measures(material: Material, listed: Sequence[_Item]) -> list[Measured]:
    _, measured = material.text, measuring(material.systems, listed)
    lost: dict[str, dict[str, list[int]]] = {}
    for place, trial in enumerate(listed):
        for judge, row in trial.rows.items():
            status = str(row.get("status") or Status.OK.value)
            if status != Status.OK.value:
                lost.setdefault(judge, {}).setdefault(status, []).append(place)
    probes = dict.fromkeys(str(row["probe"]) for row in judge_trust.kept(material, EffectRow, "effects"))
    score = measured("score", _("score, share of the scale"), _Item.score, paired=False, of=("error_rate",),
                     missing=lost)  # fmt: skip
    failed = [measured("failed", _("probes it failed"), _Item.failed, digits=0, lower=True)]
    failed += [
        measured(name, _("probe: {name}", name=judge_trust.probe(material, name)[0]),
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
    kinds |= {trial.variant: judge_trust.rung(material, trial.variant) for trial in listed if trial.variant}
    return Parting("what", _("what was judged"), [trial.variant or trial.kind for trial in listed], kinds)


def _trial_read(material: Material, trial: _Item) -> Detail:
    _, people = material.text, ""
    if trial.people is not None:
        said = (
            _("{value} of the scale", value=_.number(trial.people, 2)),
            judge_trust.ratings(material, trial.known("ratings")),
        )
        people = " · ".join(filter(None, said))
    pair = [Entry(text, shared=True) for text in (trial.answer, trial.known("other"))]
    sections = told(
        (_("The two answers"), pair) if trial.kind == PAIR else (_("Answer"), trial.answer or _("(empty)")),
        (_("Made to try the judge"), judge_trust.rung(material, trial.variant) if trial.variant else ""),
        (_("Reference"), trial.known("reference")),
        (_("people"), people),
        (_("system"), trial.known("system")),
    )
    return Detail(
        trial.known("question"), sections, {judge: _trial_side(material, trial, judge) for judge in trial.rows}
    )


def _trial_side(material: Material, trial: _Item, judge: str) -> list[Section]:
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


def _probe(material: Material, row: EffectRow) -> str:
    """`padding: 0.50 → 0.90 · failed it`."""
    _ = material.text
    said = name = judge_trust.probe(material, str(row["probe"]))[0]
    if row["probe"] in BETWEEN and not math.isnan(row["before"]):
        said = f"{name}: {_.number(row['before'], 2)} → {_.number(row['after'], 2)}"
    elif row["probe"] == "ladder":
        said = _("{probe}: {share} of its pairs stand in order", probe=name, share=_.percent(row["value"]))
    return f"{said} · {_('failed it') if row['failed'] else _('passed it')}"


CELLS = [place.name.lower() for place in OUTCOMES]


def decisions(material: Material) -> Items:
    """The labelled answers, in the data set's order."""
    _ = material.text
    by_sample: dict[str, dict[str, Row]] = {}
    for row in rows_of(DecisionRow, material.kept("decisions")):
        by_sample.setdefault(row["sample"], {})[row["system"]] = row
    listed = list(by_sample.values())
    answers = [next(iter(by_judge.values())) for by_judge in listed]
    label = {"show": _("show"), "hide": _("don't show")}
    return Items(
        title=_("Every decision"),
        kind="decisions",
        ids=list(by_sample),
        texts=[f"{row['question']}\n{row['answer']}" for row in answers],
        measures=_measures(material, listed),
        partings=[Parting("label", _("people say"), ["show" if r["label"] else "hide" for r in answers], label)],
        read=lambda place: _read(material, answers[place], listed[place]),
    )


def _measures(material: Material, listed: Sequence[Mapping[str, Row]]) -> list[Measured]:
    _, measured = material.text, measuring(material.systems, listed)

    def cell(by_judge: Mapping[str, Row], judge: str) -> int | None:
        """The place of how it fell among the worst; None where nothing is known."""
        known = by_judge[judge]["cell"] if judge in by_judge else None
        return CELLS.index(known) if known in CELLS else None

    def right(by_judge: Mapping[str, Row], judge: str) -> float | None:
        place = cell(by_judge, judge)
        return None if place is None else float(CELLS[place] in ("true_positive", "true_negative"))

    def score(by_judge: Mapping[str, Row], judge: str, column: str = "score") -> float | None:
        return number(by_judge[judge][column]) if judge in by_judge else None

    def distance(by_judge: Mapping[str, Row], judge: str) -> float | None:
        """|score − label|: near 1 where a judge was sure and wrong; None for a score that is no share."""
        known = score(by_judge, judge)
        return None if known is None or not 0 <= known <= 1 else abs(known - float(by_judge[judge]["label"]))

    words = [_outcome(material, place) for place in OUTCOMES]
    made = [
        measured("accuracy", _("agrees with the label"), right, digits=0, words=(_("wrong"), _("right")), of=SHARES),
        measured("outcome", _("decision"), cell, digits=0, words=words, paired=False),
        measured("score", _("score"), score, paired=False),
        measured("distance", _("distance of the score from the label"), distance, lower=True),
        measured("ms", _("milliseconds"), lambda by_judge, judge: score(by_judge, judge, "ms"), digits=1, lower=True,
                 of=("avg_latency_ms",)),
    ]  # fmt: skip
    return [measure for measure in made if measure.known]


def _outcome(material: Material, place: Cell) -> str:
    _ = material.text
    words = {
        Cell.FALSE_POSITIVE: _("shown wrongly"),
        Cell.FALSE_NEGATIVE: _("held back wrongly"),
        Cell.FAILED_POSITIVE: _("not decided, should be shown"),
        Cell.FAILED_NEGATIVE: _("not decided, should not be shown"),
        Cell.TRUE_POSITIVE: _("shown rightly"),
        Cell.TRUE_NEGATIVE: _("held back rightly"),
    }
    return words[place]


def _read(material: Material, answer: Row, rows: Mapping[str, Row]) -> Detail:
    _ = material.text
    sections = told(
        (_("Answer"), str(answer["answer"] or "") or _("(empty)")),
        (_("people say"), _("show") if answer["label"] else _("don't show")),
        (_("Why people decided so"), str(answer["rationale"] or "")),
        (_("Passages"), [Entry(str(text), shared=True) for text in answer["contexts"]]),
    )
    return Detail(str(answer["question"]), sections, {name: _side(material, row) for name, row in rows.items()})


def _side(material: Material, row: Row) -> list[Section]:
    _, score = material.text, number(row["score"])
    said = _outcome(material, Cell[str(row["cell"]).upper()]) if row["cell"] else _("unmeasured")
    if score is not None:
        said = f"{said} · {_('score')} {_.number(score)}"
    return told((_("decision"), said), (_("What the judge says"), reason_in(str(row["reason"] or ""), _)))
