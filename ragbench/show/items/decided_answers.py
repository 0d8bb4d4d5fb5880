"""Every decision to show an answer or not: the answer, its label, what each judge decided and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.metrics.decisions import Cell
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.material import Material
from ragbench.show.items.contents import Detail, Entry, Items, Measured, Parting, Section, number, with_values

ORDER = (
    Cell.FALSE_POSITIVE, Cell.FALSE_NEGATIVE, Cell.FAILED_POSITIVE, Cell.FAILED_NEGATIVE, Cell.TRUE_NEGATIVE,
    Cell.TRUE_POSITIVE,
)  # fmt: skip
"""How a decision can fall, the worst first."""

RIGHT = frozenset({"true_positive", "true_negative"})
SHARES = ("decision_cost", "balanced_accuracy", "accuracy", "decision_precision", "decision_recall", "f1_score")
MEASURES = (*SHARES, "avg_latency_ms")
Row = Mapping[Any, Any]


def items(material: Material) -> Items:
    """The labelled answers, in the data set's order."""
    _ = material.text
    by_system: dict[str, dict[str, Row]] = {}
    first: dict[str, Row] = {}
    for row in rows_of(material.kept("decisions")):
        sample = str(row["sample"])
        by_system.setdefault(str(row["system"]), {})[sample] = row
        first.setdefault(sample, row)
    ids = list(first)
    found = {name: [rows.get(sample) for sample in ids] for name, rows in by_system.items()}
    return Items(
        title=_("Every decision"),
        words={
            "search": _("Search questions and answers"),
            "question": _("question and answer"),
            "system": _("judge"),
            "count": _("{shown} of {all} decisions"),
            "nothing": _("No decision fits."),
            "grid": _("Decisions; arrow keys move, Enter opens"),
        },
        ids=ids,
        texts=[f"{row['question']}\n{row['answer']}" for row in first.values()],
        measures=_measures(material, found),
        partings=[
            Parting(
                "label",
                _("people say"),
                ["show" if row["label"] else "hide" for row in first.values()],
                {"show": _("show"), "hide": _("don't show")},
            )
        ],
        read=lambda place: _read(material, first[ids[place]], {name: rows[place] for name, rows in found.items()}),
        sort="worst",
    )


def cell_link(place: Cell) -> str:
    """What the column of outcomes is narrowed to for one cell of the matrix."""
    return f"={ORDER.index(place)}"


def _measures(material: Material, found: Mapping[str, Sequence[Row | None]]) -> list[Measured]:
    _ = material.text
    codes = {place.name.lower(): float(code) for code, place in enumerate(ORDER)}
    right = {place.name.lower(): float(place.name.lower() in RIGHT) for place in ORDER}

    def column(value: Any) -> dict[str, list[float | None]]:
        return {name: [None if row is None else value(row) for row in rows] for name, rows in found.items()}

    made = [
        Measured("accuracy", _("agrees with the label"), column(lambda row: right.get(row["cell"])), digits=0,
                 words=(_("wrong"), _("right")), of=SHARES),
        Measured("outcome", _("decision"), column(lambda row: codes.get(row["cell"])), digits=0,
                 words=[_outcome(material, place) for place in ORDER], paired=False),
        Measured("score", _("score"), column(lambda row: number(row["score"])), paired=False),
        Measured("distance", _("distance of the score from the label"), column(_distance), lower=True),
        Measured("ms", _("milliseconds"), column(lambda row: number(row["ms"])), digits=1, lower=True,
                 of=("avg_latency_ms",)),
    ]  # fmt: skip
    return with_values(made)


def _distance(row: Row) -> float | None:
    """|score − label|: near 1 where a judge was sure and wrong; None for a score that is no share."""
    score = number(row["score"])
    return None if score is None or not 0 <= score <= 1 else abs(score - float(row["label"]))


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


def _read(material: Material, first: Row, rows: Mapping[str, Row | None]) -> Detail:
    _ = material.text
    sections: list[Section] = [
        (_("Answer"), str(first["answer"] or "") or _("(empty)")),
        (_("people say"), _("show") if first["label"] else _("don't show")),
    ]
    if first["rationale"]:
        sections.append((_("Why people decided so"), str(first["rationale"])))
    if len(first["contexts"]):
        sections.append((_("Passages"), [Entry(str(text), shared=True) for text in first["contexts"]]))
    return Detail(
        str(first["question"]), sections, {name: _side(material, row) for name, row in rows.items() if row is not None}
    )


def _side(material: Material, row: Row) -> list[Section]:
    _ = material.text
    said = _outcome(material, Cell[str(row["cell"]).upper()]) if row["cell"] else _("unmeasured")
    score = number(row["score"])
    if score is not None:
        said = f"{said} · {_('score')} {_.number(score)}"
    found: list[Section] = [(_("decision"), said)]
    if row["reason"]:
        found.append((_("What the judge says"), str(row["reason"])))
    return found
