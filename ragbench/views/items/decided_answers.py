"""Every decision to show an answer or not: the answer, its label, what each judge decided and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragbench.metrics.decisions import Cell
from ragbench.metrics.explanation import reason_in
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.links import OUTCOMES, SHARES
from ragbench.views.basics.material import Material
from ragbench.views.items.contents import Detail, Entry, Items, Measured, Parting, Row, Section, measuring, number, told

CELLS = [place.name.lower() for place in OUTCOMES]


def items(material: Material) -> Items:
    """The labelled answers, in the data set's order."""
    _ = material.text
    by_sample: dict[str, dict[str, Row]] = {}
    for row in rows_of(material.kept("decisions")):
        by_sample.setdefault(str(row["sample"]), {})[str(row["system"])] = row
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
